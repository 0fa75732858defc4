"""Loops of turns whose number is known when the model runs: a function that calls itself.

    relay.func private @loop(%seen, %turn, %turns, %goes_on, %carried, %rows) {
      relay.if %goes_on {
        ...                              // the body
        %following = %turn + 1
        %again = condition and %following < %turns
        %more = relay.set_row %rows, %turn, row
        relay.call @loop(%seen, %following, %turns, %again, carried, %more)
      } else { relay.yield %carried, %rows, %turn }

where `%seen` is what the body sees of the graphs around it. Whether there is another turn is computed with the turn
before, so that a turn is one segment of kernels where its body is. The rows that turns give stand in a tensor that has
room for all of them, where it is known before how many there may be; else it grows by one each turn.

What is carried from turn to turn keeps the extents that it has before the first turn as far as the body gives it back
with the same; a dimension that it gives back with another extent is open in all turns. Rows whose extents only a turn
tells are put behind one another, and have to agree when the graph runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, SymbolRefAttr, TensorType, TupleType, i1, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects import te
from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.relay.control import IfOp, SetRowOp
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, ReturnOp, YieldOp
from ...dialects.relay.extents import Known
from ...dialects.relay.slices import ENDLESS
from ...dialects.support.advice import give_shapes
from ...dialects.support.dtypes import dtype_name, numpy_dtype
from ...dialects.support.retyping import retype
from ...dialects.te.dims import data_var
from .errors import Malformed, Unsupported
from .node import Node
from .told import Told, of_either_sign

COUNT, CONDITION = TensorType(i64, []), TensorType(i1, [])

AddFunction: TypeAlias = Callable[[str, FuncOp], str]


@dataclass
class Turn:
    """What a body gives: whether it goes on, which it does where nothing is said; what it hands on; and rows, each with
    the place where it stands among the others, that of the turn where nothing is said."""

    results: list[SSAValue]
    goes_on: SSAValue | None = None
    rows: list[tuple[SSAValue | None, SSAValue]] = field(default_factory=list[tuple["SSAValue | None", SSAValue]])


@dataclass
class _Rows:
    """What the rows of all turns stand in. `buffer` is what there is before the first turn, with room for all or
    without any, `type` that of what there is in each turn; `told` says of each extent of a row whether it is known
    before the first."""

    buffer: SSAValue
    type: Attribute
    has_room: bool
    told: Sequence[bool]


Body: TypeAlias = Callable[[SSAValue, SSAValue, Sequence[SSAValue]], Turn]
"""Writes a turn: its number, whether it goes on so far, and what is carried."""


class Loop:
    """One loop of a node. `turns` are how many it makes at most, `condition` whether it makes the first."""

    def __init__(
        self,
        node: Node,
        add_function: AddFunction,
        turns: SSAValue | None,
        condition: SSAValue | None,
        carried: Sequence[SSAValue],
        body: Body,
    ):
        self.node = node
        self.emitter = node.emitter
        self.add_function = add_function
        self.turns = turns
        self.condition = condition
        self.carried = list(carried)
        self.body = body
        if any(isinstance(value.type, TupleType) for value in carried):
            raise Unsupported("a sequence or an optional value that turns hand on, as many as only a run tells")
        self.extents = self.emitter.follow_extents()
        self.dims = [list(self.emitter.dims(value)) for value in carried]
        """The extents of what is carried; none where a body gives another one back."""
        self.is_open = [[False] * len(each) for each in self.dims]

    def write(self) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        """What is carried, and the rows, after the last turn.

        Raises:
            Unsupported: a body gives values of other types than it takes, or rows backwards of extents that change.
        """
        import numpy as np

        node = self.node
        first = node.constant(np.array(0, np.int64))
        last = node.constant(np.array(np.iinfo(np.int64).max)) if self.turns is None else self.turns
        start = [first, last, self._goes_on(first, last, self.condition)]
        while True:
            before = dict(self.extents.values), list(self.extents.others)
            block, turn, inner = self._attempt()
            if not self._widen(turn.results):
                break
            self.extents.values, self.extents.others = before  # what followed from extents that are open after all
            for each in (inner, block):
                for op in reversed(list(each.ops)):
                    op.detach()
                    op.erase(safe_erase=False)
        return self._finish(block, inner, turn, start)

    def _goes_on(self, number: SSAValue, last: SSAValue, condition: SSAValue | None) -> SSAValue:
        """Whether the turn of this `number` is made."""
        if self.turns is None and condition is not None:
            return condition
        test = self.node.emit("less", number, last)
        return test if condition is None else self.node.emit("logical_and", condition, test)

    def _attempt(self) -> tuple[Block, Turn, Block]:
        """The body, with the extents that are open so far: the function's block, the turn, and the turn's block."""
        emitter = self.emitter
        assert emitter.extents is not None
        types = [
            TensorType(
                tensor(value).element_type,
                [n if isinstance(n, int) and not wide else DYNAMIC for n, wide in zip(dims, open_dims, strict=True)],
            )
            for value, dims, open_dims in zip(self.carried, self.dims, self.is_open, strict=True)
        ]
        with emitter.within(Block(arg_types=[COUNT, COUNT, CONDITION, *types])) as block:
            number, _, goes_on, *held = block.args
            for argument, name in zip(block.args, ("turn", "turns", "goes_on"), strict=False):
                argument.name_hint = name
            emitter.extents.known[number] = [Known((), (symbol := data_var("turn"),))]
            emitter.sources[symbol] = number, -1
            for argument, dims, wide in zip(held, self.dims, self.is_open, strict=True):
                found = [self._fresh(argument, d) if w else n for d, (n, w) in enumerate(zip(dims, wide, strict=True))]
                emitter.extents.known[argument] = [Known(tuple(found))]
            with emitter.within(Block()) as inner:
                turn = self.body(number, goes_on, held)
        return block, turn, inner

    def _fresh(self, value: SSAValue, axis: int) -> te.Dim:
        """A symbol for an extent of a value."""
        self.emitter.sources[symbol := te.var(f"{value.name_hint or 'n'}_{axis}")] = value, axis
        return symbol

    def _widen(self, results: Sequence[SSAValue]) -> bool:
        """Open the dimensions of which the body gives other extents back than it takes; whether there are any."""
        changed = False
        for value, result, dims, wide in zip(self.carried, results, self.dims, self.is_open, strict=True):
            given, wanted = result.type, value.type
            if not isinstance(given, TensorType) or not isinstance(wanted, TensorType):
                if given != wanted:
                    raise Unsupported(f"a turn that is given {wanted} hands on {given}", give_shapes())
                continue
            if tensor(result).element_type != tensor(value).element_type or len(shape_of(result)) != len(dims):
                raise Unsupported(f"a turn that is given {wanted} hands on {given}", give_shapes())
            for axis, extent in enumerate(self.emitter.dims(result)):
                if not wide[axis] and not te.same(extent, dims[axis]):
                    wide[axis] = changed = True
        return changed

    def _finish(
        self, block: Block, inner: Block, turn: Turn, start: list[SSAValue]
    ) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        import numpy as np

        emitter, node = self.emitter, self.node
        number, last, goes_on, *held = block.args
        again = turn.goes_on
        known = None if again is None else emitter.evaluate(again)
        if again is goes_on or (known is not None and bool(known.all())):
            again = None  # in a turn, that it is made is known
        all_turns = self.condition is None and self.turns is not None and again is None
        rows = [self._rows(place, row, block, inner) for place, row in turn.rows]
        held = [*held, *(block.insert_arg(each.type, len(block.args)) for each in rows)]
        types = [argument.type for argument in held]
        with emitter.within(inner):
            following = node.emit("add", number, node.constant(np.array(1, np.int64)))
            more, kept = self._goes_on(following, last, again), [*turn.results]
            for each, buffer, (place, row) in zip(rows, held[len(self.carried) :], turn.rows, strict=True):
                kept.append(self._with_row(each, buffer, number, place, row))
            result_types = [*types, COUNT]
            call = CallOp("loop", [following, last, more, *kept], result_types)
            emitter.insert(call)
            emitter.insert(YieldOp(*call.results))
        with emitter.within(Block()) as rest:
            emitter.insert(YieldOp(*held, number))
        with emitter.within(block):
            choice = IfOp(goes_on, result_types, Region(inner), Region(rest))
            emitter.insert(choice)
            emitter.insert(ReturnOp(*choice.results))
        seen = close(block)
        type = FunctionType.from_lists(block.arg_types, result_types)
        name = self.add_function("loop", FuncOp("loop", type, Region(block), private=True))
        call.callee = SymbolRefAttr(name)
        call.operands = [*block.args[: len(seen)], *call.operands]
        whole = CallOp(name, [*seen, *start, *self.carried, *(each.buffer for each in rows)], result_types)
        emitter.insert(whole)
        *found, made = whole.results
        for result, dims, wide in zip(found, self.dims, self.is_open, strict=False):
            self._know(result, [None if w else n for n, w in zip(dims, wide, strict=True)])
        gathered = found[len(self.carried) :]
        for result, each, (_, row) in zip(gathered, rows, turn.rows, strict=True):
            count = emitter.dims(each.buffer)[0] if each.has_room else None
            dims = zip(emitter.dims(row), each.told, strict=True)
            self._know(result, [count, *(dim if is_told else None for dim, is_told in dims)])
        return found[: len(self.carried)], [
            result if all_turns or not each.has_room else self._first(result, made)
            for result, each in zip(gathered, rows, strict=True)
        ]

    def _know(self, value: SSAValue, dims: Sequence[te.Dim | None]) -> None:
        """Say what the extents of a result are; each that is not known is a symbol of its own."""
        assert self.emitter.extents is not None
        found = [self._fresh(value, axis) if dim is None else dim for axis, dim in enumerate(dims)]
        self.emitter.extents.known[value] = [Known(tuple(found))]

    def _rows(self, place: SSAValue | None, row: SSAValue, block: Block, inner: Block) -> _Rows:
        """What the rows of all turns are to stand in, before the first. `inner` is a turn, `block` what is around it.

        Raises:
            Unsupported: rows may differ in their extents, and stand elsewhere than their turns do.
        """
        import numpy as np

        node, dims = self.node, self.emitter.dims(row)
        told = [self._is_told(dim, block, inner) for dim in dims]
        if place is not None and not all(told):
            raise Unsupported(
                "rows from the last to the first, whose extents may change from turn to turn", give_shapes()
            )
        has_room = self.turns is not None and all(told)
        element = tensor(row).element_type
        numbers = [dim if known else 0 for dim, known in zip(dims, told, strict=True)]
        extents = [number for number in numbers if isinstance(number, int)]
        if not has_room and len(extents) == len(numbers):
            none = node.constant(np.zeros((0, *extents), numpy_dtype(element)))
            return _Rows(none, TensorType(element, [DYNAMIC, *shape_of(row)]), has_room, told)
        zero = node.constant(np.array(0, np.int64))
        count = node.emit("maximum", self._turns(self.turns), zero) if has_room and self.turns is not None else zero
        parts = [node.reshape(each, [1]) for each in (count, *map(node.extent, numbers))]
        shape = node.emit("concatenate", self.emitter.tuple(parts), axis=0) if dims else parts[0]
        fill = node.constant(np.zeros((), numpy_dtype(element)))
        made = node.emit("dyn.full", fill, shape, dtype=dtype_name(element))
        retype(made, TensorType(element, [shape_of(made)[0] if has_room else DYNAMIC, *shape_of(row)]))
        return _Rows(made, made.type, has_room, told)

    def _is_told(self, dim: te.Dim, block: Block, inner: Block) -> bool:
        """Whether an extent is known before the first turn."""
        sources = [self.emitter.sources.get(symbol) for symbol in te.variables([dim])]
        inside: set[SSAValue] = {*block.args}
        return all(
            source is not None
            and not self._is_inside(source[0], inside)
            and not self._is_made_in(source[0], {block, inner})
            for source in sources
        )

    def _turns(self, turns: SSAValue) -> SSAValue:
        """How many turns are told, which of data may be a negative number: there are none then."""
        known = self.emitter.contents(turns)
        return turns if known and None not in known else of_either_sign(Told(self.node, turns)).value

    @staticmethod
    def _is_made_in(value: SSAValue, inside: set[Block]) -> bool:
        """Whether an operation in one of these blocks, or deeper, gives a value."""
        around = None if isinstance(value.owner, Block) else value.owner.parent_block()
        while around is not None and around not in inside:
            around = around.parent_block()
        return around is not None

    @staticmethod
    def _is_inside(value: SSAValue, arguments: set[SSAValue]) -> bool:
        """Whether a value is one of a function's arguments, or follows from such."""
        pending, seen = [value], set[SSAValue]()
        while pending:
            current = pending.pop()
            if current in arguments:
                return True
            if current not in seen and not isinstance(current.owner, Block):
                seen.add(current)
                pending += current.owner.operands
        return False

    def _with_row(
        self, rows: _Rows, buffer: SSAValue, number: SSAValue, place: SSAValue | None, row: SSAValue
    ) -> SSAValue:
        if rows.has_room:
            op = SetRowOp(buffer, number if place is None else place, row)
            self.emitter.insert(op)
            return op.result
        more = self.node.emit("expand_dims", row, axis=0)
        so_far = buffer if all(rows.told) else self._like(buffer, number, row)
        return self.node.emit("concatenate", self.emitter.tuple([so_far, more]), axis=0)

    def _like(self, buffer: SSAValue, number: SSAValue, row: SSAValue) -> SSAValue:
        """The rows so far, which have the extents of the first one as soon as there is one."""
        import numpy as np

        node, rank = self.node, len(shape_of(row))
        mine, wanted = (node.emit("shape_of", value, dtype="int64") for value in (buffer, row))
        mine = node.emit("take", mine, node.constant(np.arange(1, rank + 1)), axis=0)
        is_first = node.emit("equal", number, node.constant(np.array(0, np.int64)))
        dims = node.emit("where", is_first, wanted, mine)
        shape = node.emit("concatenate", self.emitter.tuple([node.reshape(number, [1]), dims]), axis=0)
        return node.emit("dyn.reshape", buffer, shape, allowzero=True)

    def _first(self, value: SSAValue, count: SSAValue) -> SSAValue:
        """As many rows as turns were made."""
        import numpy as np

        node, rank = self.node, len(shape_of(value))
        parts = [node.reshape(count, [1])]
        if rank > 1:
            parts.append(node.constant(np.full(rank - 1, ENDLESS, np.int64)))
        end = node.emit("concatenate", self.emitter.tuple(parts), axis=0) if rank > 1 else parts[0]
        begin, step = (node.constant(np.full(rank, each, np.int64)) for each in (0, 1))
        taken = node.emit("dyn.strided_slice", value, begin, end, step)
        retype(taken, TensorType(tensor(value).element_type, [DYNAMIC, *shape_of(value)[1:]]))
        self._know(taken, [None, *self.emitter.dims(value)[1:]])
        return taken


def scalar(node: Node, value: SSAValue, type: TensorType) -> SSAValue:
    """A single number without dimensions; the run fails where an open extent turns out not to be 1.

    Raises:
        Malformed: it is of another type, or no single number.
    """
    if value.type == type:
        return value
    if tensor(value).element_type != type.element_type:
        raise Malformed(f"{value.type} stands where {type} must be")
    if any(extent not in (1, DYNAMIC) for extent in shape_of(value)):
        raise Malformed(f"{value.type} is not a single number")
    return node.reshape(value, [])


def close(block: Block) -> list[SSAValue]:
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
