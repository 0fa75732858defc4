"""The code of one function that branches and calls: what becomes of its operations.

Every value has a place in the function's frame and owns one reference to what stands there. An operation that keeps an
operand, in a tuple, as an argument or as a result, takes that reference over where nothing needs the value afterwards,
and makes a new one where something does; an operation that only looks leaves it. What is not taken over is released
behind the last operation that needs the value, in every branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i1, i8, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.relay.base import flatten_types, is_static, tensor
from ...dialects.relay.control import ApplyOp, ClosureOp, IfOp, RefCreateOp, RefReadOp, RefWriteOp, SetRowOp
from ...dialects.relay.core import CallLoweredOp, CallOp, ConstantOp, FuncOp, ReturnOp, TupleGetOp, TupleOp, YieldOp
from ...dialects.relay.data import DEFAULT, ConstructOp, MatchOp, definition_of, unmatched
from ...dialects.relay.interpreter import NO_CASE, NO_ROW
from ...dialects.support.advice import give_shapes
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import byte_width
from ...dialects.support.element_types import item_bytes
from ...transforms.infra.walk import walk
from ...transforms.relay.function_types import without_extents
from ..graph_to_memory.bufferize_graph import why_not_lowered
from .assembly import EQUAL, GREATER, LESS, NOT_EQUAL, PTR
from .heap import DATA_AT, FRAMES_END_AT, TAG_AT, elements_at
from .lifetimes import last_uses
from .machine import WORD, Machine
from .open_sizes import Sizes, word


class FunctionCode:
    """The blocks of one function within the code of a machine."""

    def __init__(
        self,
        function: FuncOp,
        number: int,
        machine: Machine,
        codes: Mapping[str, FunctionCode],
        closures: Sequence[ClosureOp],
    ):
        """`codes` has those of all functions by name, once they are there; `closures` are those of all functions."""
        self.function = function
        self.number = number
        """What function values have that are made of it."""
        self.machine = machine
        self.codes = codes
        self.closures = closures
        self.asm = machine.asm
        self.entry = self.asm.new_block()
        values: list[SSAValue] = [*function.body.block.args]
        for op in walk(function):
            values.extend(op.results)
            values += [a for region in op.regions for b in region.blocks for a in b.args if op is not function]
        self.places = {value: number for number, value in enumerate(dict.fromkeys(values), start=1)}
        self.frame_bytes = WORD * (1 + len(self.places))
        """The frame: the number of the place to return to, then the values; a function's arguments come first."""

    def write(self, room_for_arguments: int) -> None:
        """Write the function. When it begins there is room for its arguments, and it makes room for its callees'."""
        asm, machine = self.asm, self.machine
        asm.location = self.function.location
        asm.start(self.entry)
        ready, grow = asm.new_block(), asm.new_block()
        needed = asm.integer(self.frame_bytes + room_for_arguments)
        frame = machine.frame()
        end, limit = (asm.add(llvm.PtrToIntOp(at, i64)).results[0] for at in (frame, machine.field(FRAMES_END_AT)))
        asm.branch_if(asm.compare(GREATER, asm.add(llvm.AddOp(end, needed)).results[0], limit), grow, ready)
        asm.start(grow)
        machine.grow(frame, needed)
        asm.branch(ready)
        asm.start(ready)
        self._block(self.function.body.block, [], lambda op, dying: self._return(op, dying), tail=True)

    # Values

    def _value(self, value: SSAValue) -> SSAValue:
        return self.asm.load(self.machine.frame(), WORD * self.places[value])

    def _set(self, value: SSAValue, new: SSAValue) -> None:
        self.asm.store(new, self.machine.frame(), WORD * self.places[value])

    def _retain(self, pointer: SSAValue) -> SSAValue:
        count = self.asm.load(pointer, 0, i64)
        self.asm.store(self.asm.add(llvm.AddOp(count, self.asm.integer(1))).results[0], pointer)
        return pointer

    def _release(self, values: Iterable[SSAValue]) -> None:
        for value in values:
            self.machine.release(self._value(value))

    def _take(self, values: Sequence[SSAValue], dying: list[SSAValue]) -> list[SSAValue]:
        """References of their own to values. Those that die are taken over, and are no longer among `dying`."""
        taken: list[SSAValue] = []
        for value in values:
            pointer = self._value(value)
            if value in dying:
                dying.remove(value)
            else:
                self._retain(pointer)
            taken.append(pointer)
        return taken

    def _keep(self, tag: int, values: Sequence[SSAValue], dying: list[SSAValue]) -> SSAValue:
        """A new value that refers to others."""
        fields = self._take(values, dying)
        return self.machine.new_value(tag, fields)

    # Blocks

    def _block(
        self,
        block: Block,
        inherited: Sequence[SSAValue],
        finish: Callable[[Operation, list[SSAValue]], None],
        *,
        tail: bool,
    ) -> None:
        """The operations of a block, in which the values `inherited` from around it die. `finish` is told of its end;
        with `tail`, what the block gives is what the function gives."""
        dying, unused = last_uses(block, inherited)
        self._release(unused)
        for op in block.ops:
            self.asm.location = op.location
            ending = dying.get(op, [])
            if isinstance(op, ReturnOp | YieldOp):
                finish(op, ending)
                return
            following = op.next_op
            last = tail and isinstance(following, ReturnOp | YieldOp) and [*following.operands] == [*op.results]
            self._operation(op, ending, last)
            if last and isinstance(op, IfOp | MatchOp | CallOp | ApplyOp):
                return
            self._release([*ending, *(result for result in op.results if result.first_use is None)])

    def _return(self, op: Operation, dying: list[SSAValue]) -> None:
        """Give results to whoever has called, and go back there."""
        results = self._take(op.operands, dying)
        for number, pointer in enumerate(results):
            self.asm.store(pointer, self.machine.results, WORD * number)
        self._release(dying)
        self.asm.branch(self.machine.dispatch, self.asm.load(self.machine.frame(), 0, i64))

    # Operations

    def _operation(self, op: Operation, dying: list[SSAValue], tail: bool) -> None:
        """Write an operation. What it takes over, or hands to its regions, is taken out of `dying`."""
        match op:
            case CallLoweredOp():
                self._segment(op)
            case ConstantOp():
                self._set(op.result, self.machine.constant(op))
            case TupleOp():
                self._set(op.result, self._keep(0, op.fields, dying))
            case RefCreateOp():
                self._set(op.result, self._keep(0, [op.value], dying))
            case ClosureOp():
                number = self.codes[op.callee.root_reference.data].number
                self._set(op.result, self._keep(number, op.captured, dying))
            case ConstructOp():
                tag = definition_of(op, op.result.type).names.index(op.constructor.data)
                self._set(op.result, self._keep(tag, op.fields, dying))
            case TupleGetOp():
                self._field(op.result, self._value(op.tuple), op.index.value.data)
            case RefReadOp():
                self._field(op.result, self._value(op.ref), 0)
            case RefWriteOp():
                (new,) = self._take([op.value], dying)
                cell = self._value(op.ref)
                old = self.asm.load(cell, DATA_AT)
                self.asm.store(new, cell, DATA_AT)
                self.machine.release(old)
            case SetRowOp():
                self._set_row(op, dying)
            case IfOp():
                self._if(op, dying, tail)
            case MatchOp():
                self._match(op, dying, tail)
            case CallOp():
                callee = self.codes[op.callee.root_reference.data]
                self._call(op, [(callee, self._take(op.arguments, dying))], None, dying, tail)
            case ApplyOp():
                self._apply(op, dying, tail)
            case _:
                raise why_not_lowered(op)

    def _field(self, result: SSAValue, pointer: SSAValue, number: int) -> None:
        self._set(result, self._retain(self.asm.load(pointer, DATA_AT + WORD * number)))

    def _segment(self, op: CallLoweredOp) -> None:
        """Run kernels on the elements of tensors."""
        asm, machine = self.asm, self.machine
        if machine.is_open:
            return self._open_segment(op)
        for number, argument in enumerate(op.arguments):
            asm.store(asm.load(self._value(argument), DATA_AT), machine.inputs, WORD * number)
        for number, result in enumerate(op.results):
            tensor = machine.new_tensor(static_bytes(result.type, op))
            self._set(result, tensor)
            asm.store(asm.load(tensor, DATA_AT), machine.outputs, WORD * number)
        machine.run_segment(op)

    def _open_segment(self, op: CallLoweredOp) -> None:
        """The same where extents are open: what they are follows from those of the tensors that are given."""
        asm, machine = self.asm, self.machine
        graph = machine.graph_of(op)
        boxes = [self._value(argument) for argument in op.arguments]
        data = [asm.load(box, DATA_AT) for box in boxes]

        def element(tensor: int, place: int) -> SSAValue:
            return word(asm, data[tensor], place, graph.inputs[tensor].dtype)

        def refuse(condition: SSAValue, text: str, index: SSAValue, extent: SSAValue) -> None:
            machine.refuse(condition, text, index, extent, op)

        sizes = Sizes(asm, graph, lambda tensor, axis: machine.dim(boxes[tensor], axis), element)
        sizes.check(refuse)
        for number, value in enumerate([*data, *sizes.words]):
            asm.store(value, machine.inputs, WORD * number)
        made: list[SSAValue] = []
        for number, spec in enumerate(graph.outputs):
            made.append(machine.new_open_tensor(sizes.dims(spec), item_bytes(spec.dtype)))
            asm.store(asm.load(made[-1], DATA_AT), machine.outputs, WORD * number)
        if (pools := sizes.pool_bytes()) is not None:
            machine.make_room(asm.plus(pools, asm.integer(machine.fixed_arena(op))))
        machine.run_segment(op)
        if decided := len(graph.extents.read):
            counts = made[-decided:]
            sizes.decide([asm.load(asm.load(box, DATA_AT), 0, i64) for box in counts])
            for spec, box in zip(graph.outputs, made[:-decided], strict=False):
                machine.set_dims(box, sizes.dims(spec))
            for box in counts:
                self.machine.release(box)
        for result, box in zip(op.results, made, strict=False):
            self._set(result, box)

    def _set_row(self, op: SetRowOp, dying: list[SSAValue]) -> None:
        """Change a row where it stands, if nobody else needs the tensor and its elements are its own; or in a copy."""
        asm, machine = self.asm, self.machine
        type = tensor(op.data)
        box, row, width = self._value(op.data), self._value(op.row), byte_width(type.element_type)
        place = asm.load(asm.load(self._value(op.place), DATA_AT), 0, i64)
        dims = [machine.dim(box, axis) for axis in range(len(type.get_shape()))]
        inside = asm.compare(LESS, place, dims[0])
        machine.refuse(asm.compare(EQUAL, inside, asm.integer(0, i1)), NO_ROW, place, dims[0], op)
        bytes = asm.integer(width)
        for axis, dim in enumerate(dims[1:]):
            given = machine.dim(row, axis)
            text = f"a row has {{index}} elements in dimension {axis} where rows have {{extent}}"
            machine.refuse(asm.compare_unequal(given, dim), text, given, dim, op)
            bytes = asm.times(bytes, dim)
        copy, ready = asm.new_block(), asm.new_block()
        if op.data in dying:
            dying.remove(op.data)
            self._set(op.result, box)
            alone, own = asm.new_block(), asm.new_block()
            asm.branch_if(asm.compare(EQUAL, asm.load(box, 0, i64), asm.integer(1)), alone, copy)
            asm.start(alone)
            elements = asm.at(box, elements_at(len(dims)))
            asm.branch_if(asm.compare(EQUAL, asm.load(box, DATA_AT), elements), own, copy)
            asm.start(own)
            asm.branch(ready)
            asm.start(copy)
            self._copy_tensor(op.result, box, dims, width)
            self.machine.release(box)
        else:
            asm.branch(copy)
            asm.start(copy)
            self._copy_tensor(op.result, box, dims, width)
        asm.branch(ready)
        asm.start(ready)
        start = asm.load(self._value(op.result), DATA_AT)
        distance = asm.times(bytes, place)
        target = asm.add(llvm.GEPOp.from_mixed_indices(start, [distance], i8)).results[0]
        asm.call("memcpy", [target, asm.load(row, DATA_AT), bytes], PTR)

    def _copy_tensor(self, result: SSAValue, box: SSAValue, dims: Sequence[SSAValue], width: int) -> None:
        """Let a value be a copy of a tensor."""
        asm = self.asm
        made = self.machine.new_open_tensor(dims, width)
        bytes = asm.integer(width)
        for dim in dims:
            bytes = asm.times(bytes, dim)
        asm.call("memcpy", [asm.load(made, DATA_AT), asm.load(box, DATA_AT), bytes], PTR)
        self._set(result, made)

    def _if(self, op: IfOp, dying: list[SSAValue], tail: bool) -> None:
        asm = self.asm
        byte = asm.load(asm.load(self._value(op.condition), DATA_AT), 0, i8)
        then, otherwise = asm.new_block(), asm.new_block()
        asm.branch_if(asm.compare(NOT_EQUAL, byte, asm.integer(0, i8)), then, otherwise)
        arms = [(then, op.then_region.block), (otherwise, op.else_region.block)]
        self._arms(op, arms, dying, tail)

    def _match(self, op: MatchOp, dying: list[SSAValue], tail: bool) -> None:
        asm = self.asm
        pointer = self._value(op.data)
        definition = definition_of(op, op.data.type)
        blocks = {name: asm.new_block() for name in op.names}
        tag = asm.add(llvm.ZExtOp(asm.load(pointer, TAG_AT, i32), i64)).results[0]
        missing = unmatched(op, definition)
        for name in missing:
            number = asm.integer(definition.names.index(name))
            self.machine.refuse(asm.compare(EQUAL, tag, number), NO_CASE.format(name=name), tag, number, op)
        if missing:
            blocks |= dict.fromkeys(missing, asm.new_block())
        targets = [blocks[name if name in blocks else DEFAULT] for name in definition.names]
        asm.select_among(tag, targets)
        if missing:  # what was refused
            asm.start(blocks[missing[0]])
            asm.add(llvm.UnreachableOp.create())
        reached = [(blocks[name], region.block) for name, region in zip(op.names, op.regions, strict=True)]
        self._arms(op, [arm for arm in reached if arm[0] in targets], dying, tail, pointer_of=op.data)

    def _arms(
        self,
        op: Operation,
        arms: Sequence[tuple[Block, Block]],
        dying: list[SSAValue],
        tail: bool,
        pointer_of: SSAValue | None = None,
    ) -> None:
        """The branches of an operation; the values that it is the last to need die in each of them."""
        after = self.asm.new_block()
        inherited = [*dying]
        dying.clear()

        def finish(end: Operation, ending: list[SSAValue]) -> None:
            if tail:
                return self._return(end, ending)
            for result, pointer in zip(op.results, self._take(end.operands, ending), strict=True):
                self._set(result, pointer)
            self._release(ending)
            self.asm.branch(after)

        for start, block in arms:
            self.asm.start(start)
            for number, argument in enumerate(block.args):
                assert pointer_of is not None
                self._field(argument, self._value(pointer_of), number)
            self._block(block, inherited, finish, tail=tail)
        if not tail:
            self.asm.start(after)

    def _apply(self, op: ApplyOp, dying: list[SSAValue], tail: bool) -> None:
        """Call whichever function a function value is made of: one of those that values of its type are made of."""
        asm = self.asm
        arguments = self._take(op.arguments, dying)
        closure = self._value(op.callee)
        number = asm.add(llvm.ZExtOp(asm.load(closure, TAG_AT, i32), i64)).results[0]
        calls: list[tuple[FunctionCode, list[SSAValue]]] = []
        blocks: list[Block] = []
        candidates = self._candidates(op.callee.type)
        if not candidates:
            self._release(dying)
            dying.clear()
        for position, (callee, captured) in enumerate(candidates, start=1):
            block, other = asm.new_block(), asm.new_block()
            if position == len(candidates):
                asm.branch(block)
            else:
                asm.branch_if(asm.compare(EQUAL, number, asm.integer(callee.number)), block, other)
            asm.start(block)
            fields = [self._retain(asm.load(closure, DATA_AT + WORD * place)) for place in range(captured)]
            calls.append((callee, [*fields, *arguments]))
            blocks.append(block)
            if position < len(candidates):
                asm.start(other)
        self._call(op, calls, blocks, dying, tail)

    def _candidates(self, type: Attribute) -> list[tuple[FunctionCode, int]]:
        """The functions that a value of a type may be made of, and how many of their arguments it holds. One of known
        extents may stand where extents are open."""
        found: dict[str, int] = {}
        wanted = without_extents(type)
        for closure in self.closures:
            if without_extents(closure.result.type) == wanted:
                found[closure.callee.root_reference.data] = len(closure.captured)
        return [(self.codes[name], captured) for name, captured in found.items()]

    def _call(
        self,
        op: CallOp | ApplyOp,
        calls: Sequence[tuple[FunctionCode, Sequence[SSAValue]]],
        blocks: Sequence[Block] | None,
        dying: list[SSAValue],
        tail: bool,
    ) -> None:
        """Go to a function, one in each of `blocks`, and go on where it returns. A call whose results are this
        function's takes its frame, and returns to where this function would."""
        asm, machine = self.asm, self.machine
        back = None if tail else machine.new_return()
        if not calls:  # no value of this type is ever made
            asm.add(llvm.UnreachableOp.create())
        for position, (callee, arguments) in enumerate(calls):
            if blocks is not None:
                asm.block = blocks[position]
            self._release(dying)
            frame = machine.frame()
            if back is not None:
                frame = asm.at(frame, self.frame_bytes)
                asm.store(asm.integer(back[0]), frame)
                machine.set_frame(frame)
            for number, argument in enumerate(arguments, start=1):
                asm.store(argument, frame, WORD * number)
            asm.branch(callee.entry)
        dying.clear()
        if back is not None:
            asm.start(back[1])
            machine.set_frame(asm.at(machine.frame(), -self.frame_bytes))
            for number, result in enumerate(op.results):
                self._set(result, asm.load(machine.results, WORD * number))


def static_bytes(type: Attribute, op: Operation) -> int:
    """The bytes of a tensor's elements.

    Raises:
        Diagnostic: its shape is not known.
    """
    if not is_static(type):
        raise Diagnostic.at(op, f"the result has the dynamic type {type}", hint=give_shapes())
    (tensor,) = flatten_types([type])
    return prod(tensor.get_shape()) * byte_width(tensor.element_type)
