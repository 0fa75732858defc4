"""Operators that have graphs: If, Loop and Scan.

What is known at import is decided there: the branch of an If, the turns of a loop, whose graph stands as often as it is
run. Else an If becomes a `relay.if`, and a Loop a function that calls itself:

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

from xdsl.dialects.builtin import FunctionType, SymbolRefAttr, TensorType, i1, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.relay.base import Tensor, is_static, shape_of, tensor
from ...dialects.relay.control import IfOp
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, ReturnOp, YieldOp
from ...dialects.support.advice import give_shapes
from .emitter import Emitter
from .errors import Malformed, Unsupported
from .node import Node

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

    from .scope import Poison, Scope

WITH_GRAPHS = ("If", "Loop", "Scan")
"""The operators that are imported here."""

MAX_UNROLLED = 64
"""The turns of a loop that are written one after the other, where it could be a function that calls itself."""

MAX_TURNS = 4096
"""The turns of a loop, or of a scan, that are written one after the other at most."""

COUNT, CONDITION = TensorType(i64, []), TensorType(i1, [])


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

    def scalar(self, value: SSAValue, type: Tensor) -> SSAValue:
        """A single number without dimensions."""
        if value.type == type:
            return value
        if tensor(value).element_type != type.element_type:
            raise Malformed(f"{value.type} stands where {type} must be")
        if any(extent != 1 for extent in shape_of(value)):
            raise Malformed(f"{value.type} is not a single number")
        return self.node.reshape(value, [])

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
        condition = self.scalar(given, CONDITION)
        arms: list[Block] = []
        types: list[list[Attribute]] = []
        for graph in graphs:
            with self.emitter.within(Block()) as block:
                results = self.run(graph, [], f"the branch '{graph.name}'")
                self.insert(YieldOp(*results))
            arms.append(block)
            types.append([result.type for result in results])
        if types[0] != types[1]:
            shown = (", ".join(map(str, each)) for each in types)
            raise Unsupported(f"its branches give values of different types, {' and '.join(shown)}", give_shapes())
        return self.insert(IfOp(condition, types[0], Region(arms[0]), Region(arms[1]))).results


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
        if goes_on is False or (count is not None and count <= 0):
            if gathered:
                raise Unsupported("it makes no turn, and so does not say what shape it gives")
            return carried
        if count is not None and goes_on and count <= (MAX_TURNS if gathered else MAX_UNROLLED):
            if (outputs := self._unrolled(graph, count, carried)) is not None:
                return outputs
        if gathered:
            raise Unsupported("what it gathers has as many rows as it makes turns, which is known at run time only")
        return self._as_function(graph, trip, condition, carried)

    def _known(self, condition: SSAValue) -> bool | None:
        array = self.emitter.evaluate(condition)
        return None if array is None else bool(array.reshape(-1)[0])

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
        """A function that calls itself, and a call of it."""
        import numpy as np

        node = self.node
        types = [value.type for value in carried]
        if not all(map(is_static, types)):
            raise Unsupported("values of unknown shape are carried from turn to turn", give_shapes())
        start = [
            node.constant(np.array(0, np.int64)),
            node.constant(np.array(np.iinfo(np.int64).max)) if trip is None else self.scalar(trip, COUNT),
            node.constant(np.array(True)) if condition is None else self.scalar(condition, CONDITION),
        ]
        with self.emitter.within(Block(arg_types=[COUNT, COUNT, CONDITION, *types])) as block:
            turn, last, goes_on, *held = block.args
            for argument, name in zip(block.args, ("turn", "last", "goes_on"), strict=False):
                argument.name_hint = name
            test = node.emit("logical_and", goes_on, node.emit("less", turn, last))
            with self.emitter.within(Block()) as body:
                again, *results = self.run(graph, [turn, goes_on, *held], "the body")
                if [result.type for result in results] != types:
                    given, wanted = ", ".join(str(r.type) for r in results), ", ".join(map(str, types))
                    raise Unsupported(f"a turn that is given ({wanted}) hands on ({given})", give_shapes())
                following = node.emit("add", turn, node.constant(np.array(1, np.int64)))
                call = CallOp("loop", [following, last, self.scalar(again, CONDITION), *results], types)
                self.insert(call)
                self.insert(YieldOp(*call.results))
            with self.emitter.within(Block()) as rest:
                self.insert(YieldOp(*held))
            self.insert(ReturnOp(*self.insert(IfOp(test, types, Region(body), Region(rest))).results))
        seen = _close(block)
        type = FunctionType.from_lists(block.arg_types, types)
        name = self.host.add_function("loop", FuncOp("loop", type, Region(block), private=True))
        call.callee = SymbolRefAttr(name)
        call.operands = [*block.args[: len(seen)], *call.operands]
        return self.insert(CallOp(name, [*seen, *start, *carried], types)).results


class _Scan(_WithGraphs):
    def convert(self) -> Sequence[SSAValue | None]:
        node, graph = self.node, self.node.graph("body")
        if node.version < 9:
            raise Unsupported("its revision of opset 8, which scans batches", "export the model with opset 9 or newer")
        scanned = node.integer("num_scan_inputs")
        values = node.present()
        state, inputs = values[: len(values) - scanned], values[len(values) - scanned :]
        gathered = len(graph.output) - len(state)
        if scanned < 1 or scanned > len(values) or gathered < 0:
            raise Malformed(f"{scanned} inputs of {len(values)} are scanned")
        axes = node.integers("scan_input_axes", [0] * scanned)
        axes = [node.axis(axis, len(shape_of(value))) for axis, value in zip(axes, inputs, strict=True)]
        backwards = node.integers("scan_input_directions", [0] * scanned)
        lengths = {node.static_shape(value)[axis] for axis, value in zip(axes, inputs, strict=True)}
        if len(lengths) != 1:
            raise Malformed(f"what is scanned is of the lengths {', '.join(map(str, sorted(lengths)))}")
        (length,) = lengths
        if not 0 < length <= MAX_TURNS:
            raise Unsupported(f"it scans {length} rows; from 1 to {MAX_TURNS} are imported")
        rows: list[list[SSAValue]] = []
        for turn in range(length):
            places = [length - 1 - turn if back else turn for back in backwards]
            parts = [self._row(*each) for each in zip(inputs, axes, places, strict=True)]
            outputs = self.run(graph, [*state, *parts], "the body")
            state, row = outputs[: len(state)], outputs[len(state) :]
            rows.append(row)
        to_axes = node.integers("scan_output_axes", [0] * gathered)
        reversed_outputs = node.integers("scan_output_directions", [0] * gathered)
        columns = [list(column) for column in zip(*rows, strict=True)]
        gathered_values: list[SSAValue] = []
        for column, axis, back in zip(columns, to_axes, reversed_outputs, strict=True):
            axis = node.axis(axis, len(shape_of(column[0])) + 1)
            gathered_values.append(_stacked(node, column[::-1] if back else column, axis))
        return [*state, *gathered_values]

    def _row(self, value: SSAValue, axis: int, place: int) -> SSAValue:
        row = self.node.emit("strided_slice", value, begin=[place], end=[place + 1], strides=[1], axes=[axis])
        return self.node.emit("squeeze", row, axis=[axis])


def _stacked(node: Node, rows: Sequence[SSAValue], axis: int) -> SSAValue:
    """Tensors one after the other, along a new axis."""
    return node.emit("stack", node.emitter.tuple(list(rows)), axis=axis)


def _close(block: Block) -> list[SSAValue]:
    """Make arguments, the first ones, of what a block sees of what is around it; constants it gets of its own. What the
    arguments stand for."""
    inside: set[SSAValue] = {*block.args}
    for op in block.walk():
        inside.update(op.results)
        inside.update(argument for region in op.regions for each in region.blocks for argument in each.args)
    seen: dict[SSAValue, SSAValue] = {}
    captured: list[SSAValue] = []
    for op in list(block.walk()):
        for place, operand in enumerate(op.operands):
            if operand in inside:
                continue
            if operand not in seen:
                if isinstance(owner := operand.owner, ConstantOp):
                    copy = owner.clone()
                    first = block.first_op
                    assert first is not None
                    block.insert_op_before(copy, first)
                    seen[operand] = copy.result
                else:
                    seen[operand] = argument = block.insert_arg(operand.type, len(captured))
                    argument.name_hint = operand.name_hint
                    captured.append(operand)
            op.operands[place] = seen[operand]
    return captured
