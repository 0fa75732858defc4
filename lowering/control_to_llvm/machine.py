"""What the functions of a program share while it runs: frames, values, segments; and how a program fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, SymbolRefAttr, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.relay.base import tensor
from ...dialects.relay.core import CallLoweredOp, ConstantOp, FuncOp
from ...dialects.support.checks import CHECK_FIELD, EXTENT_FIELD, INDEX_FIELD, RECORD_BYTES
from ...dialects.support.diagnostics import Diagnostic, Place
from ...dialects.support.hints import isa
from ..abi import COUNTER_BYTES, INPUTS, OUTPUTS
from ..check_sites import CHECKS, RECORDS
from ..entry.add_entry_point import entry_of_segment
from ..loops_to_llvm.convert_loops_to_llvm import ARENA_BYTES
from ..memory_to_loops.constants import ADDRESS
from .assembly import EQUAL, GREATER, NOT_EQUAL, PTR, SIGNED_GREATER, Assembly
from .heap import (
    BACK_AT,
    CHUNKS_AT,
    DATA_AT,
    DIMS_AT,
    ELEMENTS_AT,
    END,
    FIELDS_LIMIT,
    FIRST_AT,
    FRAMES_AT,
    FRAMES_END_AT,
    FRAMES_LIMIT,
    GROW,
    KEPT_AT,
    MACHINE_BYTES,
    NEW,
    RELEASE,
    ROOM_AT,
    ROOM_BYTES,
    ROOM_END_AT,
    elements_at,
)
from .open_sizes import OpenGraph

WORD = 8
HOSTED = "weft.hosted"
"""Attribute of a segment that the host runs, of which there is no code: its number."""
LINE = 64
"""What memory is aligned to."""
MEMORY_LIMIT = 1 << 47
"""The bytes of which there are never so many: what is added to fewer does not wrap."""
NO_MEMORY = "there is no memory for a value of {index} bytes"
TOO_DEEP = "the calls are nested too deep: their frames may take {extent} bytes together"


class Machine:
    """The code of what a program works with. `arguments` are those of its entry."""

    def __init__(
        self, asm: Assembly, arguments: Sequence[SSAValue], segments: Mapping[str, llvm.FuncOp], is_open: bool = False
    ):
        self.asm = asm
        self.segments = segments
        self.is_open = is_open
        """Whether the program has open extents: tensors say then which they have."""
        self.graphs = {name: OpenGraph.of(segment.attributes) for name, segment in segments.items()} if is_open else {}
        self.refusals: dict[tuple[str, Place | None], Block] = {}
        """Where a program goes that finds extents which do not fit, with two numbers."""
        self.given_inputs, self.given_outputs, self.arena, self.num_threads = arguments
        self.dispatch, self.finished = asm.new_block(i64), asm.new_block()
        """Where a function returns to, with the number of its caller's place; and the last such place."""
        self.no_memory, self.too_deep, self.fail = asm.new_block(i64), asm.new_block(), asm.new_block(i64)
        self.returns = [self.finished]
        self._layout()

    def _layout(self) -> None:
        """Where records stand, and how much is needed of what segments share."""
        self.record_sites: list[Attribute] = []
        self.first_status: dict[str, int] = {}
        self.arena_bytes, self.counters, self.records_at = 0, RECORD_BYTES, 0
        for position, (name, segment) in enumerate(self.segments.items()):
            checks, counters = segment.attributes.get(CHECKS), segment.attributes[COUNTER_BYTES]
            assert isa(counters, IntegerAttr)
            self.first_status[name] = len(self.record_sites)
            if isa(checks, ArrayAttr[Attribute]):
                records = segment.attributes[RECORDS]
                assert isa(records, IntegerAttr)
                if not self.record_sites:
                    self.records_at = records.value.data
                self.record_sites += checks.data
            self.counters = max(self.counters, counters.value.data) if position else counters.value.data
            arena = segment.attributes[ARENA_BYTES]
            assert isa(arena, IntegerAttr)
            self.arena_bytes = max(self.arena_bytes, arena.value.data)
        self.own_record = self.counters - RECORD_BYTES
        if not self.record_sites:
            self.records_at = self.own_record
        self.arena_bytes = max(self.arena_bytes, self.counters)

    def sites(self, main: FuncOp) -> ArrayAttr[Attribute]:
        """What the checks of all records say."""
        place = Place.of_location(main.location)
        where = _where(place)
        own = [DictionaryAttr({"text": StringAttr(text), **where}) for text in (NO_MEMORY, TOO_DEEP)]
        own += [DictionaryAttr({"text": StringAttr(text), **_where(place)}) for text, place in self.refusals]
        return ArrayAttr([*self.record_sites, ArrayAttr(own)])

    def begin(self, num_results: int, room: int) -> None:
        """Memory on the stack, and the first frame, of `room` bytes."""
        asm = self.asm
        tables = [1, 1]
        for segment in self.segments.values():
            for number, count in enumerate(_counts(segment)):
                tables[number] = max(tables[number], count)
        if self.is_open:
            words = (len(graph.inputs) + graph.symbols for graph in self.graphs.values())
            tables[0] = max([tables[0], *words])
            self.room = asm.stack(3 * WORD, "room")
            """The arena of segments, its bytes, and it once more where it is the program's own."""
            for number, value in enumerate((self.arena, asm.integer(self.arena_bytes), asm.null())):
                asm.store(value, self.room, WORD * number)
        self.state, self.cell = asm.stack(MACHINE_BYTES, "machine"), asm.stack(WORD, "frame")
        self.inputs, self.outputs = (
            asm.stack(WORD * n, name) for n, name in zip(tables, ("taken", "given"), strict=True)
        )
        self.results = asm.stack(WORD * max(1, num_results), "results")
        for offset in (BACK_AT, FIRST_AT):
            asm.store(self.state, self.state, offset)
        for offset in (FRAMES_AT, FRAMES_END_AT, CHUNKS_AT, *range(KEPT_AT, MACHINE_BYTES, WORD)):
            asm.store(asm.null(), self.state, offset)
        values = asm.stack(ROOM_BYTES, "values", LINE)
        for place, offset in ((values, ROOM_AT), (asm.at(values, ROOM_BYTES), ROOM_END_AT)):
            asm.store(place, self.state, offset)
        self.grow(asm.null(), asm.integer(room))
        asm.store(asm.integer(0), self.frame())

    def end(self, status: SSAValue) -> None:
        """Give back what there is, and return."""
        if self.is_open:
            self.asm.call("free", [self.asm.load(self.room, 2 * WORD)])
        self.asm.call(END, [self.state])
        self.asm.add(llvm.ReturnOp(status))

    def failures(self) -> None:
        """The blocks in which a program ends that fails."""
        asm = self.asm
        asm.start(self.no_memory)
        self._tell(1, self.no_memory.args[0], asm.integer(0))
        asm.start(self.too_deep)
        self._tell(2, asm.integer(FRAMES_LIMIT), asm.integer(FRAMES_LIMIT))
        for number, block in enumerate(self.refusals.values(), start=3):
            asm.start(block)
            self._tell(number, *block.args)
        asm.start(self.fail)
        self.end(self.fail.args[0])

    def _tell(self, number: int, index: SSAValue, extent: SSAValue) -> None:
        """Write the program's own record, and fail."""
        asm = self.asm
        record = asm.at(self.arena, self.own_record)
        for value, field in ((asm.integer(number), CHECK_FIELD), (index, INDEX_FIELD), (extent, EXTENT_FIELD)):
            asm.store(value, record, field)
        asm.branch(self.fail, asm.integer(1 + (self.own_record - self.records_at) // RECORD_BYTES))

    def frame(self) -> SSAValue:
        """The frame of the function that runs."""
        return self.asm.load(self.cell)

    def set_frame(self, frame: SSAValue) -> None:
        """Have another frame from now on."""
        self.asm.store(frame, self.cell)

    def field(self, offset: int) -> SSAValue:
        """A pointer in the machine."""
        return self.asm.load(self.state, offset)

    def grow(self, frame: SSAValue, needed: SSAValue) -> None:
        """Make room for so many bytes from a frame on, which is the one of the function that runs."""
        asm = self.asm
        moved = asm.pointer(GROW, [self.state, frame, needed, asm.integer(FRAMES_LIMIT)])
        asm.go_on_unless(asm.compare(EQUAL, moved, asm.null()), self.too_deep)
        self.set_frame(moved)

    def new_return(self) -> tuple[int, Block]:
        """A place to return to, and its number."""
        self.returns.append(block := self.asm.new_block())
        return len(self.returns) - 1, block

    def refuse(self, condition: SSAValue, text: str, index: SSAValue, extent: SSAValue, where: Operation) -> None:
        """Fail where a condition holds: with a text, two numbers, and the place of an operation."""
        key = text, Place.of_location(where.location)
        if key not in self.refusals:
            self.refusals[key] = self.asm.new_block(i64, i64)
        self.asm.go_on_unless(condition, self.refusals[key], index, extent)

    def _refuse_bytes(self, condition: SSAValue, bytes: SSAValue, held: Sequence[SSAValue] = ()) -> None:
        """Fail for want of memory where a condition holds, and give back what is held until then."""
        asm = self.asm
        if not held:
            return asm.go_on_unless(condition, self.no_memory, bytes)
        giving_back, after = asm.new_block(), asm.new_block()
        asm.branch_if(condition, giving_back, after)
        asm.start(giving_back)
        for pointer in held:
            asm.call("free", [pointer])
        asm.branch(self.no_memory, bytes)
        asm.start(after)

    def _check_bytes(self, bytes: SSAValue, held: Sequence[SSAValue] = ()) -> None:
        """Fail where these are more bytes than there ever are."""
        asm = self.asm
        self._refuse_bytes(asm.compare(GREATER, bytes, asm.integer(MEMORY_LIMIT - 1)), bytes, held)

    def memory(self, bytes: SSAValue, held: Sequence[SSAValue] = ()) -> SSAValue:
        """So many bytes on the heap, which whoever has them gives back, as is `held` where there are none."""
        asm = self.asm
        self._check_bytes(bytes, held)
        padded = asm.add(llvm.AddOp(bytes, asm.integer(LINE - 1))).results[0]
        whole = asm.add(llvm.AndOp(padded, asm.integer(-LINE))).results[0]
        pointer = asm.pointer("aligned_alloc", [asm.integer(LINE), whole])
        self._refuse_bytes(asm.compare(EQUAL, pointer, asm.null()), bytes, held)
        return pointer

    def make_room(self, bytes: SSAValue) -> None:
        """Have an arena of at least so many bytes."""
        asm = self.asm
        grow, ready = asm.new_block(), asm.new_block()
        asm.branch_if(asm.compare(GREATER, bytes, asm.load(self.room, WORD, i64)), grow, ready)
        asm.start(grow)
        asm.call("free", [asm.load(self.room, 2 * WORD)])
        for number, value in enumerate((self.arena, asm.integer(self.arena_bytes), asm.null())):
            asm.store(value, self.room, WORD * number)
        own = self.memory(bytes)
        for number, value in enumerate((own, bytes, own)):
            asm.store(value, self.room, WORD * number)
        asm.branch(ready)
        asm.start(ready)

    def _new(self, bytes: int | SSAValue, tag: int, fields: int) -> SSAValue:
        asm = self.asm
        size = asm.integer(bytes) if isinstance(bytes, int) else bytes
        assert fields < FIELDS_LIMIT, "no value refers to so many others"
        pointer = asm.pointer(NEW, [self.state, size, asm.integer(tag | fields << 32)])
        asm.go_on_unless(asm.compare(EQUAL, pointer, asm.null()), self.no_memory, size)
        return pointer

    def release(self, value: SSAValue) -> None:
        """Say that one less refers to a value."""
        self.asm.call(RELEASE, [self.state, value])

    def new_value(self, tag: int, fields: Sequence[SSAValue]) -> SSAValue:
        """A value that refers to others."""
        pointer = self._new(DATA_AT + WORD * max(1, len(fields)), tag, len(fields))
        for number, field in enumerate(fields):
            self.asm.store(field, pointer, DATA_AT + WORD * number)
        return pointer

    def new_tensor(self, bytes: int) -> SSAValue:
        """A tensor with memory of its own."""
        pointer = self._new(ELEMENTS_AT + bytes, 0, 0)
        self.asm.store(self.asm.at(pointer, ELEMENTS_AT), pointer, DATA_AT)
        return pointer

    def new_open_tensor(self, dims: Sequence[SSAValue], item_bytes: int) -> SSAValue:
        """A tensor of these extents, with room for one element where there is none."""
        asm, start = self.asm, elements_at(len(dims))
        bytes = asm.integer(item_bytes)
        for dim in dims:
            one = asm.integer(1)
            some = asm.select(asm.compare(SIGNED_GREATER, dim, one), dim, one)
            bytes = asm.times(bytes, some)
        self._check_bytes(bytes)
        pointer = self._new(asm.add(llvm.AddOp(bytes, asm.integer(start))).results[0], 0, 0)
        asm.store(asm.at(pointer, start), pointer, DATA_AT)
        self.set_dims(pointer, dims)
        return pointer

    def set_dims(self, tensor: SSAValue, dims: Sequence[SSAValue]) -> None:
        """Say what extents a tensor has."""
        for axis, dim in enumerate(dims):
            self.asm.store(dim, tensor, DIMS_AT + WORD * axis)

    def dim(self, tensor: SSAValue, axis: int) -> SSAValue:
        """An extent of a tensor."""
        return self.asm.load(tensor, DIMS_AT + WORD * axis, i64)

    def foreign_tensor(self, elements: SSAValue, dims: Sequence[SSAValue] = ()) -> SSAValue:
        """A tensor whose elements are somebody else's; in a program with open extents, with these."""
        pointer = self._new(elements_at(len(dims)), 0, 0)
        self.asm.store(elements, pointer, DATA_AT)
        self.set_dims(pointer, dims)
        return pointer

    def constant(self, op: ConstantOp) -> SSAValue:
        """A constant as a value."""
        name = op.attributes.get(ADDRESS)
        if not isinstance(name, SymbolRefAttr):
            raise Diagnostic.at(op, "it does not say where it is", hint="materialize-memory gives constants places")
        place = self.asm.call(name.root_reference.data, [], i64)
        assert place is not None
        shape = tensor(op.result).get_shape() if self.is_open else ()
        dims = [self.asm.integer(extent) for extent in shape]
        return self.foreign_tensor(self.asm.add(llvm.IntToPtrOp(place)).results[0], dims)

    def graph_of(self, op: CallLoweredOp) -> OpenGraph:
        """What the segment that is called says of its sizes.

        Raises:
            Diagnostic: there is no such segment.
        """
        if (graph := self.graphs.get(op.callee.root_reference.data)) is None:
            raise Diagnostic.at(op, f"there is no segment {op.callee}", hint="outline-open-segments makes them")
        return graph

    def fixed_arena(self, op: CallLoweredOp) -> int:
        """The bytes that the arena of a segment has before those that depend on sizes."""
        bytes = self.segments[op.callee.root_reference.data].attributes[ARENA_BYTES]
        assert isa(bytes, IntegerAttr)
        return bytes.value.data

    def run_segment(self, op: CallLoweredOp) -> None:
        """Run a segment on the tensors of the tables."""
        name = op.callee.root_reference.data
        if (segment := self.segments.get(name)) is None:
            raise Diagnostic.at(op, f"there is no segment {op.callee}", hint="outline-segments makes them")
        asm = self.asm
        is_hosted = HOSTED in segment.attributes  # in arenas of the host's, which knows a call by that of the program
        arena = asm.load(self.room) if self.is_open and not is_hosted else self.arena
        status = asm.call(entry_of_segment(name), [self.inputs, self.outputs, arena, self.num_threads], i64)
        assert status is not None
        zero = asm.integer(0)
        if is_hosted:
            asm.go_on_unless(asm.compare(NOT_EQUAL, status, zero), self.fail, status)
        elif CHECKS in segment.attributes:
            failed = asm.new_block()
            asm.go_on_unless(asm.compare(NOT_EQUAL, status, zero), failed)
            after = asm.block
            asm.start(failed)
            if self.is_open:  # the records of the arena are read that was given
                records = [asm.at(each, self.records_at) for each in (self.arena, arena)]
                asm.call("memcpy", [*records, asm.integer(self.counters - self.records_at)], PTR)
            asm.branch(self.fail, asm.add(llvm.AddOp(status, asm.integer(self.first_status[name]))).results[0])
            asm.block = after


def _where(place: Place | None) -> dict[str, Attribute]:
    """A place in the form of a site of checks."""
    if place is None:
        return {}
    line, column = (IntegerAttr(number, i64) for number in (place.line, place.column))
    return {"file": StringAttr(place.file), "line": line, "column": column}


def _counts(segment: llvm.FuncOp) -> tuple[int, int]:
    """How many tensors a segment takes and gives."""
    inputs, outputs = (segment.attributes[key] for key in (INPUTS, OUTPUTS))
    assert isa(inputs, ArrayAttr[Attribute]) and isa(outputs, ArrayAttr[Attribute])
    return len(inputs), len(outputs)
