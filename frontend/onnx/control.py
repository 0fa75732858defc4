"""Operators that have graphs: If, Loop and Scan.

What is known at import is decided there: the branch of an If, also of one that would decide a rank, and the turns of
a loop, whose graph stands as often as it is run. Else an If becomes a `relay.if`, and a Loop a function that calls
itself:

    relay.func private @loop(%seen, %i, %go_on, %carried) {
      %c = %i < trip count and %go_on
      relay.if %c {
        ...                              // the body
        relay.call @loop(%seen, %i + 1, condition, carried)
      } else { relay.yield %carried }

where `%seen` is what the body sees of the graphs around it. A loop that gathers the results of its turns must have a
number of turns that is known: the shape of what it gives depends on that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, shape_of
from ...dialects.relay.control import IfOp
from ...dialects.relay.core import FuncOp, YieldOp
from ...dialects.relay.types import either
from ...dialects.support.advice import give_shapes
from .emitter import Emitter
from .errors import Malformed, Unsupported
from .looping import CONDITION, COUNT, Loop, Turn, scalar
from .node import Node, rank_of
from .parts import TOLD_SEQUENCE
from .scanning import Rows, scan
from .sequences import is_sequence, sequence_of, sequence_of_rows
from .told import Told, unless

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

    from .scope import Poison, Scope

WITH_GRAPHS = ("If", "Loop", "Scan")
"""The operators that are imported here."""

MAX_UNROLLED = 64
"""The turns of a loop that are written one after the other, where it could be a function that calls itself."""

UNROLLED = 16
"""So many turns are written one after the other where they could be those of a scan: kernels are fused across them."""

MAX_TURNS = 4096
"""The turns of a loop, or of a scan, that are written one after the other at most."""

ENDLESS_TURNS = 1 << 62
"""So many turns are no bound: exporters write the greatest integer where only a condition ends a loop."""


class Host(Protocol):
    """What imports the nodes of a graph."""

    emitter: Emitter

    def open(self, graph: GraphProto, opsets: Mapping[str, int], outer: Scope | None) -> Scope: ...

    def lookup(self, name: str, scope: Scope, what: str) -> SSAValue | Poison: ...

    def convert_all(self, nodes: Sequence[NodeProto], scope: Scope) -> None: ...

    def add_function(self, name: str, function: FuncOp) -> str: ...

    def count_expanded(self, nodes: int, place: str) -> None: ...


def convert_graphs(host: Host, node: Node, scope: Scope) -> Sequence[SSAValue | None]:
    """The outputs of an operator that has graphs.

    Raises:
        Unsupported: what it does depends on the run in a way that Weft has no counterpart of.
    """
    match node.proto.op_type:
        case "If":
            return _If(host, node, scope).convert()
        case "Loop":
            return _Loop(host, node, scope).convert()
        case _:
            return _Scan(host, node, scope).convert()


class _WithGraphs:
    def __init__(self, host: Host, node: Node, scope: Scope):
        self.host = host
        self.node = node
        self.scope = scope
        self.emitter = host.emitter

    def run(self, graph: GraphProto, arguments: Sequence[SSAValue], what: str) -> list[SSAValue]:
        """What a graph gives on `arguments`, its nodes written here."""
        self.host.count_expanded(len(graph.node), self.node.proto.name)
        if len(graph.input) != len(arguments):
            raise Malformed(f"{what} takes {len(graph.input)} inputs, but is given {len(arguments)}")
        inner = self.host.open(graph, self.scope.opsets, self.scope)
        inner.place = self.scope.place
        for value, argument in zip(graph.input, arguments, strict=True):
            inner.values[value.name] = argument
        self.host.convert_all(graph.node, inner)
        outputs = [self.host.lookup(value.name, inner, f"the output of {what}") for value in graph.output]
        results = [value for value in outputs if isinstance(value, SSAValue)]
        if len(results) != len(outputs):
            raise Unsupported(f"{what} holds such operators")
        return results

    def insert(self, op: Operation) -> Operation:
        self.emitter.insert(op)
        return op


class _If(_WithGraphs):
    def convert(self) -> Sequence[SSAValue | None]:
        given = self.node.input(0)
        known = self.emitter.evaluate(given)
        graphs = [self.node.graph(name) for name in ("then_branch", "else_branch")]
        if known is not None and known.size == 1:
            return self.run(graphs[0 if known.item() else 1], [], "the branch that is taken")
        condition = scalar(self.node, given, CONDITION)
        if _squeezes_or_not(*graphs):
            (squeezed,), (kept,) = (self.run(graph, [], f"the branch '{graph.name}'") for graph in graphs)
            if rank_of(squeezed) == rank_of(kept):
                return [kept]  # there is no axis to squeeze
            is_wrong = Told(self.node, self.node.reshape(self.node.emit("logical_not", condition), [1]))
            return [unless(self.node, is_wrong, squeezed)]
        arms: list[Block] = []
        types: list[list[Attribute]] = []
        for graph in graphs:
            with self.emitter.within(Block()) as block:
                results = self.run(graph, [], f"the branch '{graph.name}'")
                if any(result in (*self.emitter.parts, *self.emitter.growing) for result in results):
                    raise Unsupported(f"{TOLD_SEQUENCE}, which a branch gives")
                self.insert(YieldOp(*results))
            arms.append(block)
            types.append([result.type for result in results])
        common = [either(*each) for each in zip(*types, strict=True)] if len(types[0]) == len(types[1]) else [None]
        found = [type for type in common if type is not None]
        if len(found) != len(common):
            shown = (", ".join(map(str, each)) for each in types)
            raise Unsupported(f"its branches give values of different types, {' and '.join(shown)}", give_shapes())
        return self.insert(IfOp(condition, found, Region(arms[0]), Region(arms[1]))).results


def _squeezes_or_not(then: GraphProto, otherwise: GraphProto) -> bool:
    """Whether branches are what PyTorch writes for `x.squeeze(axis)` of an axis whose extent it does not know: `x`
    without the axis where its extent is 1, else `x`. The rank decides what may follow, and is known at import: it is
    that of the first branch, and the run fails where the other one would be taken. Where that drops no axis, both
    branches are `x`."""
    last: list[NodeProto] = []
    for graph, kind in ((then, "Squeeze"), (otherwise, "Identity")):
        nodes = [node for node in graph.node if node.op_type != "Constant"]
        if [node.op_type for node in nodes] != [kind] or [out.name for out in graph.output] != [*nodes[0].output]:
            return False
        last += nodes
    return last[0].input[0] == last[1].input[0]


class _Loop(_WithGraphs):
    def convert(self) -> Sequence[SSAValue | None]:
        graph = self.node.graph("body")
        carried = [self.node.value_at(index) for index in range(2, len(self.node.inputs))]
        gathered = len(graph.output) - 1 - len(carried)
        if gathered < 0 or len(graph.input) != len(carried) + 2:
            raise Malformed(f"the body does not fit {len(carried)} values that are carried from turn to turn")
        trip, condition = (self.node.optional(index) for index in (0, 1))
        turns = None if trip is None else self.emitter.evaluate(trip)
        count = None if turns is None else int(turns.reshape(-1)[0])
        goes_on = True if condition is None else self._known(condition)
        no_turn = goes_on is False or (count is not None and count <= 0)
        if no_turn and not gathered:
            return carried
        if not no_turn and count is not None and goes_on and count <= MAX_TURNS:
            if count > UNROLLED and (outputs := self._scanned(graph, count, carried)) is not None:
                return outputs
            few = gathered or count <= MAX_UNROLLED
            if few and (outputs := self._unrolled(graph, count, carried)) is not None:
                return outputs
        if count is not None and count >= ENDLESS_TURNS:
            trip = None
        return self._as_function(graph, trip, None if goes_on else condition, carried)

    def _known(self, condition: SSAValue) -> bool | None:
        array = self.emitter.evaluate(condition)
        return None if array is None else bool(array.reshape(-1)[0])

    def _scanned(self, graph: GraphProto, count: int, carried: Sequence[SSAValue]) -> Sequence[SSAValue] | None:
        """The turns as a scan; nothing where they are not alike."""
        import numpy as np

        numbers, goes_on = self.node.constant(np.arange(count)), self.node.constant(np.array(True))

        def body(rows: Rows, held: Rows) -> tuple[Rows, Rows] | None:
            again, *outputs = self.run(graph, [rows[0], goes_on, *held], "the body")
            return (outputs[: len(held)], outputs[len(held) :]) if self._known(again) else None

        gathered = [False] * (len(graph.output) - 1 - len(carried))
        found = scan(self.node, self.host.add_function, [numbers], [False], carried, body, gathered)
        return None if found is None else [*found[0], *found[1]]

    def _unrolled(self, graph: GraphProto, count: int, carried: Sequence[SSAValue]) -> Sequence[SSAValue] | None:
        """The turns one after the other; nothing where whether it goes on is known at run time only."""
        import numpy as np

        rows: list[list[SSAValue]] = []
        goes_on = self.node.constant(np.array(True))
        for turn in range(count):
            number = self.node.constant(np.array(turn, np.int64))
            goes_on, *outputs = self.run(graph, [number, goes_on, *carried], "the body")
            carried, row = outputs[: len(carried)], outputs[len(carried) :]
            rows.append(row)
            known = self._known(goes_on)
            if known is None:
                return None
            if not known:
                break
        return [*carried, *(_stacked(self.node, column, 0) for column in zip(*rows, strict=True))]

    def _as_function(
        self, graph: GraphProto, trip: SSAValue | None, condition: SSAValue | None, carried: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """A function that calls itself, and a call of it. A sequence to whose end each turn puts a tensor is no longer
        carried then: such tensors are rows, of which the sequence is read afterwards."""
        count = len(carried)
        places = [i for i, value in enumerate(carried) if is_sequence(value)]
        begun = [sequence_of(self.node, i + 2) for i in places]

        def body(turn: SSAValue, goes_on: SSAValue, held: Sequence[SSAValue]) -> Turn:
            rest = iter(held)
            given = [self._growing() if i in places else next(rest) for i in range(count)]
            again, *outputs = self.run(graph, [turn, goes_on, *given], "the body")
            grown = [self.emitter.growing.get(outputs[i], ()) for i in places]
            if any(len(each) != 2 or each[0] is not given[i] for i, each in zip(places, grown, strict=True)):
                raise Unsupported(f"{TOLD_SEQUENCE}, to which a turn does not add one at its end")
            rows = [*outputs[count:], *(row for _, row in grown)]
            results = [value for i, value in enumerate(outputs[:count]) if i not in places]
            return Turn(results, scalar(self.node, again, CONDITION), [(None, row) for row in rows])

        turns = None if trip is None else scalar(self.node, trip, COUNT)
        first = None if condition is None else scalar(self.node, condition, CONDITION)
        tensors = [value for i, value in enumerate(carried) if i not in places]
        results, rows = Loop(self.node, self.host.add_function, turns, first, tensors, body).write()
        rest, gathered = iter(results), len(rows) - len(places)
        pairs = zip(places, begun, rows[gathered:], strict=True)
        made = {i: sequence_of_rows(self.node, before, added) for i, before, added in pairs}
        return [*(made[i] if i in made else next(rest) for i in range(count)), *rows[:gathered]]

    def _growing(self) -> SSAValue:
        """A sequence that turns make longer, before a turn has."""
        sequence = self.emitter.tuple([])
        self.emitter.growing[sequence] = (sequence,)
        return sequence


class _Scan(_WithGraphs):
    def convert(self) -> Sequence[SSAValue | None]:
        node, graph = self.node, self.node.graph("body")
        scanned = node.integer("num_scan_inputs")
        is_of_batches = node.version < 9
        if is_of_batches and node.optional(0) is not None:
            raise Unsupported("lengths of batches that are scanned", "export the model with opset 9 or newer")
        values = [node.input(i) for i in range(int(is_of_batches), len(node.inputs))]
        state, inputs = values[: len(values) - scanned], values[len(values) - scanned :]
        gathered = len(graph.output) - len(state)
        if scanned < 1 or scanned > len(values) or gathered < 0:
            raise Malformed(f"{scanned} inputs of {len(values)} are scanned")
        if is_of_batches:
            return self._of_batches(graph, state, inputs, node.integers("directions", [0] * scanned))
        axes = node.integers("scan_input_axes", [0] * scanned)
        axes = [node.axis(axis, len(shape_of(value))) for axis, value in zip(axes, inputs, strict=True)]
        return self._scanned(graph, state, inputs, axes, node.integers("scan_input_directions", [0] * scanned))

    def _of_batches(
        self, graph: GraphProto, state: Sequence[SSAValue], inputs: Sequence[SSAValue], backwards: Sequence[int]
    ) -> Sequence[SSAValue]:
        """The revision of opset 8: each batch, which stands before all else, is scanned by itself."""
        values = [*state, *inputs]
        extents = {shape_of(value)[0] if shape_of(value) else 0 for value in values}
        if DYNAMIC in extents:
            raise Unsupported("scans a number of batches that only a run says", give_shapes())
        if len(extents) != 1 or not 0 < (count := extents.pop()) <= MAX_TURNS:
            raise Malformed("what is scanned has not equally many batches, or none")
        batches: list[Sequence[SSAValue]] = []
        for batch in range(count):
            parts = [self._row(value, 0, batch) for value in values]
            given, rows = parts[: len(state)], parts[len(state) :]
            batches.append(self._scanned(graph, given, rows, [0] * len(rows), backwards))
        return [_stacked(self.node, each, 0) for each in zip(*batches, strict=True)]

    def _scanned(
        self,
        graph: GraphProto,
        state: Sequence[SSAValue],
        inputs: Sequence[SSAValue],
        axes: Sequence[int],
        backwards: Sequence[int],
    ) -> Sequence[SSAValue]:
        node = self.node
        gathered = len(graph.output) - len(state)
        to_axes = node.integers("scan_output_axes", [0] * gathered)
        reversed_outputs = node.integers("scan_output_directions", [0] * gathered)

        def scanned_rows() -> Sequence[SSAValue] | None:
            given = [self._first(value, axis) for value, axis in zip(inputs, axes, strict=True)]

            def body(parts: Rows, held: Rows) -> tuple[Rows, Rows]:
                outputs = self.run(graph, [*held, *parts], "the body")
                return outputs[: len(state)], outputs[len(state) :]

            back_in, back_out = ([bool(each) for each in way] for way in (backwards, reversed_outputs))
            found = scan(node, self.host.add_function, given, back_in, state, body, back_out)
            return None if found is None else [*found[0], *self._moved(found[1], to_axes)]

        if any(shape_of(value)[axis] == DYNAMIC for axis, value in zip(axes, inputs, strict=True)):
            return scanned_rows() or self._open(graph, state, inputs, axes, backwards)
        lengths = {shape_of(value)[axis] for axis, value in zip(axes, inputs, strict=True)}
        if len(lengths) != 1:
            raise Malformed(f"what is scanned is of the lengths {', '.join(map(str, sorted(lengths)))}")
        (length,) = lengths
        if not 0 < length <= UNROLLED and (found := scanned_rows()) is not None:
            return found
        if not 0 < length <= MAX_TURNS:
            raise Unsupported(f"it scans {length} rows; from 1 to {MAX_TURNS} are imported")
        rows: list[list[SSAValue]] = []
        for turn in range(length):
            places = [length - 1 - turn if back else turn for back in backwards]
            parts = [self._row(*each) for each in zip(inputs, axes, places, strict=True)]
            outputs = self.run(graph, [*state, *parts], "the body")
            state, row = outputs[: len(state)], outputs[len(state) :]
            rows.append(row)
        columns = [list(column) for column in zip(*rows, strict=True)]
        gathered_values: list[SSAValue] = []
        for column, axis, back in zip(columns, to_axes, reversed_outputs, strict=True):
            axis = node.axis(axis, len(shape_of(column[0])) + 1)
            gathered_values.append(_stacked(node, column[::-1] if back else column, axis))
        return [*state, *gathered_values]

    def _open(
        self,
        graph: GraphProto,
        state: Sequence[SSAValue],
        inputs: Sequence[SSAValue],
        axes: Sequence[int],
        backwards: Sequence[int],
    ) -> Sequence[SSAValue]:
        """As many turns as there are rows, where that is known at run time only; the run fails where one input has more
        or fewer than another."""
        import numpy as np

        node = self.node
        length = node.dims(inputs[0])[axes[0]]
        inputs = [self._no_longer(value, axis, length) for axis, value in zip(axes, inputs, strict=True)]
        turns = node.extent(length)
        last = node.emit("subtract", turns, node.constant(np.array(1, np.int64)))
        gathered = len(graph.output) - len(state)
        back_out = node.integers("scan_output_directions", [0] * gathered)

        def body(turn: SSAValue, goes_on: SSAValue, held: Sequence[SSAValue]) -> Turn:
            behind = node.emit("subtract", last, turn) if any((*backwards, *back_out)) else turn
            parts: list[SSAValue] = []
            for value, axis, back in zip(inputs, axes, backwards, strict=True):
                mode = "clip" if te.same(node.dims(value)[axis], length) else "error"
                parts.append(node.emit("take", value, behind if back else turn, axis=axis, mode=mode))
            outputs = self.run(graph, [*held, *parts], "the body")
            rows = zip(back_out, outputs[len(held) :], strict=True)
            return Turn(outputs[: len(held)], None, [(behind if back else None, row) for back, row in rows])

        results, rows = Loop(node, self.host.add_function, turns, None, state, body).write()
        return [*results, *self._moved(rows, node.integers("scan_output_axes", [0] * gathered))]

    def _no_longer(self, value: SSAValue, axis: int, length: te.Dim) -> SSAValue:
        """A value of which the run fails where it is longer than `length` along an axis."""
        if te.same(own := self.node.dims(value)[axis], length):
            return value
        whole, needed = (Told(self.node, self.node.shape_value([n])) for n in (length, own))
        return unless(self.node, whole < needed, value)

    def _first(self, value: SSAValue, axis: int) -> SSAValue:
        """A value with one of its axes first."""
        rank = len(shape_of(value))
        order = [axis, *(each for each in range(rank) if each != axis)]
        return value if axis == 0 else self.node.emit("transpose", value, axes=order)

    def _moved(self, rows: Sequence[SSAValue], axes: Sequence[int]) -> list[SSAValue]:
        """Values with the first axis of each where `axes` say."""
        moved: list[SSAValue] = []
        for row, axis in zip(rows, axes, strict=True):
            rank = len(shape_of(row))
            order = list(range(1, rank))
            order.insert(self.node.axis(axis, rank), 0)
            moved.append(row if order == list(range(rank)) else self.node.emit("transpose", row, axes=order))
        return moved

    def _row(self, value: SSAValue, axis: int, place: int) -> SSAValue:
        row = self.node.emit("strided_slice", value, begin=[place], end=[place + 1], strides=[1], axes=[axis])
        return self.node.emit("squeeze", row, axis=[axis])


def _stacked(node: Node, rows: Sequence[SSAValue], axis: int) -> SSAValue:
    """Tensors one after the other, along a new axis."""
    return node.emit("stack", node.emitter.tuple(list(rows)), axis=axis)
