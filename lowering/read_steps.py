"""What a graph does, read off its function: the kernels that it calls, one after the other, and what they are given.

The function is the `func.func` that `materialize-memory` makes; what is in it is known here, operation by operation. A
function in which anything else stands, as one that was written by hand may be, has no steps; nor has a program that
branches and calls, whose steps are not known before it runs. Where extents are known when the graph is called, places
and sizes are read as expressions of the graph's symbols. Turns of a known number are read one after the other, those of
another number as a loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FusedLoc,
    IndexType,
    IntegerAttr,
    LocationAttr,
    MemRefType,
    ModuleOp,
    NameLoc,
    StringAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects.rt.checks import RecordOp, RecordType
from ..dialects.rt.core import SLOT_BYTES, ShareOp, SlotsOp, SlotsType
from ..dialects.support.checks import RECORD_BYTES
from ..dialects.support.dtypes import byte_width
from ..dialects.support.hints import isa
from ..dialects.tir.buffers import memref_of
from ..dialects.tir.core import PrimFuncOp
from .abi import (
    BUFFER,
    COUNTER_BYTES,
    GRAPH_SYMBOLS,
    INPUTS,
    OPEN_BUFFER,
    SEGMENT_MARK,
    SYMBOL_EXTENTS,
    Argument,
    Loop,
    Parameter,
    ProgramPart,
    Step,
    TensorSpec,
    thread_of_segment,
)
from .graph_to_memory.signature import read_signature
from .sizes import Size, product, read_extents


@dataclass(frozen=True)
class StepTable:
    """The steps of a graph, the bytes that are zero before the first, and what each kernel takes."""

    steps: tuple[Step | Loop, ...] = ()
    counter_bytes: int = 0
    parameters: Mapping[str, tuple[Parameter, ...]] = field(default_factory=dict[str, "tuple[Parameter, ...]"])
    parts: tuple[ProgramPart, ...] = ()
    """Those of a program that branches, as far as it is known what they do."""


def read_steps(module: ModuleOp) -> StepTable:
    """The steps of a module's graph, in the phase `loops`; an empty table where it has none."""
    functions = [op for op in module.ops if isinstance(op, func.FuncOp)]
    mains = [f for f in functions if INPUTS in f.attributes and SEGMENT_MARK not in f.attributes]
    if not mains:
        return _read_parts(module, functions)
    main = next((function for function in mains if function.sym_name.data == "main"), mains[0])
    counters = main.attributes.get(COUNTER_BYTES)
    kernels = {f.sym_name.data: taken for f in functions if (taken := parameters_of(f)) is not None}
    try:
        steps = tuple(_Reading(module, main).steps())
    except _Unknown:
        return StepTable(parameters=kernels)
    return StepTable(steps, counters.value.data if isinstance(counters, IntegerAttr) else 0, kernels)


def _read_parts(module: ModuleOp, functions: Sequence[func.FuncOp]) -> StepTable:
    """The steps of the parts of a program that branches."""
    segments = [f for f in functions if SEGMENT_MARK in f.attributes]
    if not segments:
        return StepTable()
    parts: list[ProgramPart] = []
    for segment in segments:
        try:
            reading = _Reading(module, segment)
            steps = tuple(reading.steps())
        except _Unknown:
            continue
        inputs, outputs = read_signature(segment.attributes)
        symbols = len(segment.body.block.args) - len(inputs) - len(outputs) - 2
        thread = thread_of_segment(segment.sym_name.data)
        parts.append(ProgramPart(thread, len(inputs), len(outputs), symbols, len(reading.counts), steps))
    kernels = {f.sym_name.data: taken for f in functions if (taken := parameters_of(f)) is not None}
    return StepTable(parameters=kernels, parts=tuple(parts))


class _Unknown(Exception):
    """Something stands in the function that is no step."""


def parameters_of(function: func.FuncOp) -> tuple[Parameter, ...] | None:
    """What a kernel takes; nothing where it is no kernel. Indices are extents, but for the number of threads, which
    stands behind the slots by which a processor's share work."""
    found: list[Parameter] = []
    types = function.function_type.inputs.data
    for number, type in enumerate(types):
        match type:
            case MemRefType() if isa(type, MemRefType[Attribute]):
                is_open = DYNAMIC_INDEX in type.get_shape()
                element = str(type.element_type)
                taken = Parameter(OPEN_BUFFER, 0, element) if is_open else Parameter(BUFFER, _bytes(type), element)
                found.append(taken)
            case RecordType():
                found.append(Parameter("record", RECORD_BYTES))
            case SlotsType():
                found.append(Parameter("slots", type.count.data * SLOT_BYTES))
            case IndexType():
                found.append(Parameter("threads" if number and isinstance(types[number - 1], SlotsType) else "extent"))
            case _:
                return None
    return tuple(found)


def shapes_given(function: PrimFuncOp) -> tuple[tuple[int, ...], ...]:
    """The shapes of the buffers that a function of the phase `tir` is given. Those of the kernel have one dimension."""
    buffers = [each for each in function.region.block.args if isinstance(each.type, MemRefType)]
    return tuple(tuple(memref_of(each).get_shape()) for each in buffers)


def with_shapes(parameters: Sequence[Parameter], shapes: Sequence[tuple[int, ...]]) -> tuple[Parameter, ...]:
    """What a kernel takes, told of the shapes of its buffers, of which there may be more than have shapes."""
    buffers = [number for number, each in enumerate(parameters) if each.kind in (BUFFER, OPEN_BUFFER)]
    given = dict(zip(buffers, shapes, strict=False))
    return tuple(
        replace(each, shape=given[number]) if number in given and each.kind == BUFFER else each
        for number, each in enumerate(parameters)
    )


def _bytes(type: MemRefType[Attribute]) -> int:
    return prod(type.get_shape()) * byte_width(type.element_type)


class _Reading:
    """The reading of one function."""

    def __init__(self, module: ModuleOp, main: func.FuncOp):
        inputs, outputs = read_signature(main.attributes)
        arguments = main.body.block.args
        named = main.attributes.get(GRAPH_SYMBOLS)
        symbols = len(named) if isa(named, ArrayAttr[Attribute]) else 0
        tensors = [*inputs, *outputs]
        if not isinstance(main.body.block.last_op, func.ReturnOp) or len(arguments) != len(tensors) + symbols + 2:
            raise _Unknown
        self.main = main
        self.numbers: dict[SSAValue, Size] = {
            value: ("n", number) for number, value in enumerate(arguments[len(tensors) : -2])
        }
        said = main.attributes.get(SYMBOL_EXTENTS)
        decided = len(read_extents(said.data if isinstance(said, StringAttr) else "").read)
        first = len(tensors) - decided
        self.counts: dict[SSAValue, Size] = {
            value: ("n", symbols + place) for place, value in enumerate(arguments[first : len(tensors)])
        }
        """The outputs that say what data has decided: a symbol each, behind those of the graph."""
        self.known: dict[SSAValue, Argument] = {}
        for number, (spec, value) in enumerate(zip(tensors, arguments, strict=False)):
            is_input = number < len(inputs)
            at = number if is_input else number - len(inputs)
            kind = "input" if is_input else "output"
            if self._is_open(value):
                self.known[value] = Argument(kind, sizes=(at, _open_bytes(spec, value)))
            else:
                self.known[value] = Argument(kind, at, self._size(value))
        self.depth = symbols + decided
        """The number of the next loop's turn."""
        self.arena = arguments[-2]
        self.known[arguments[-1]] = Argument("threads")
        self.constants = {
            op.sym_name.data: index.value.data
            for op in module.ops
            if isinstance(op, memref.GlobalOp)
            and isinstance(index := op.attributes.get("weft.constant_index"), IntegerAttr)
        }

    @staticmethod
    def _is_open(value: SSAValue) -> bool:
        return isa(value.type, MemRefType[Attribute]) and DYNAMIC_INDEX in value.type.get_shape()

    @staticmethod
    def _size(value: SSAValue) -> int:
        if not isa(value.type, MemRefType[Attribute]):
            raise _Unknown
        return _bytes(value.type)

    def steps(self) -> Iterator[Step | Loop]:
        yield from self._steps(self.main.body.block)

    def _steps(self, block: Block) -> Iterator[Step | Loop]:
        for op in block.ops:
            match op:
                case arith.ConstantOp(value=IntegerAttr() as value):
                    self.numbers[op.result] = value.value.data
                case func.ReturnOp() | scf.YieldOp():
                    pass
                case scf.ForOp() if not op.iter_args:
                    yield from self._turns(op)
                case _ if (size := self._computed(op)) is not None:
                    self.numbers[op.results[0]] = size
                case memref.ViewOp() if self._start(op.source) is not None:
                    self.known[op.result] = self._view(op)
                case memref.GetGlobalOp() if (number := self.constants.get(op.name_.root_reference.data)) is not None:
                    self.known[op.memref] = Argument("constant", number, self._size(op.memref))
                case memref.CastOp():
                    self.known[op.dest] = self._known(op.source)
                case memref.ReinterpretCastOp():
                    self.known[op.result] = self._beginning(op)
                case memref.LoadOp() if op.memref in self.counts:
                    self.numbers[op.res] = self.counts[op.memref]
                case arith.IndexCastOp():
                    self.numbers[op.result] = self._number(op.input)
                case SlotsOp() if (start := self._start(op.memory)) is not None:
                    size = op.result.type.count.data * SLOT_BYTES
                    self.known[op.result] = _memory("slots", _sum(start, op.offset.value.data), size)
                case RecordOp() if op.memory is self.arena:
                    self.known[op.result] = Argument("record", op.offset.value.data, RECORD_BYTES)
                case func.CallOp() if not op.results:
                    arguments = tuple(map(self._argument, op.arguments))
                    yield Step(op.callee.root_reference.data, layers_of(op.location), arguments)
                case ShareOp() if op.extent is None:
                    yield from self._alone(op)
                case _:
                    raise _Unknown

    def _turns(self, loop: scf.ForOp) -> Iterator[Step | Loop]:
        """The steps of a loop: one turn after the other where it is known how many there are."""
        first, last, step = (self._number(value) for value in (loop.lb, loop.ub, loop.step))
        (turn,) = loop.body.block.args
        if isinstance(first, int) and isinstance(last, int) and isinstance(step, int):
            for number in range(first, last, step):
                self.numbers[turn] = number
                yield from self._steps(loop.body.block)
        elif (first, step) == (0, 1):
            self.numbers[turn] = "n", self.depth
            self.depth += 1
            steps = tuple(self._steps(loop.body.block))
            self.depth -= 1
            yield Loop(last, steps)
        else:
            raise _Unknown

    def _start(self, memory: SSAValue) -> Size | None:
        """The byte of the arena at which memory begins, if it is a part of that."""
        if memory is self.arena:
            return 0
        known = self.known.get(memory)
        return _begin(known) if known is not None and known.kind == "arena" else None

    def _alone(self, share: ShareOp) -> Iterator[Step]:
        """What one thread does: copies, and memory that it clears."""
        for op in share.body.block.ops:
            match op:
                case memref.CopyOp():
                    yield Step("", layers_of(op.location), (self._known(op.source), self._known(op.destination)))
                case arith.ConstantOp(value=IntegerAttr() as value):
                    self.numbers[op.result] = value.value.data
                case memref.ViewOp() if self._start(op.source) is not None:
                    self.known[op.result] = self._view(op)
                case scf.ForOp() if (cleared := self._cleared(op)) is not None:
                    yield Step("", layers_of(op.location), (cleared,))
                case _ if (size := self._computed(op)) is not None:
                    self.numbers[op.results[0]] = size
                case _:
                    raise _Unknown

    def _cleared(self, loop: scf.ForOp) -> Argument | None:
        """The memory of which a loop makes every element zero, if it is one that does."""
        match list(loop.body.block.ops):
            case [memref.StoreOp() as store, scf.YieldOp()] if not loop.iter_args and isinstance(
                view := store.memref.owner, memref.ViewOp
            ):
                turns = self._number(loop.lb), self._number(loop.ub), self._number(loop.step)
                is_zero = self.numbers.get(store.value) == 0
                is_all = list(store.indices) == list(loop.body.block.args) and list(view.sizes) == [loop.ub]
                return self._known(store.memref) if is_zero and is_all and turns[::2] == (0, 1) else None
            case _:
                return None

    def _view(self, op: memref.ViewOp) -> Argument:
        """A part of the arena."""
        around = self._start(op.source)
        assert around is not None
        elements = self._number(op.sizes[0]) if op.sizes else prod(op.result.type.get_shape())
        size = product((elements, byte_width(op.result.type.element_type)))
        return _memory("arena", _sum(self._number(op.byte_shift), around), size)

    def _beginning(self, op: memref.ReinterpretCastOp) -> Argument:
        """So many elements of a buffer, from its beginning on."""
        if len(op.sizes) != 1 or op.offsets or op.strides or list(op.static_offsets.get_values()) != [0]:
            raise _Unknown
        whole, count = self._known(op.source), self._number(op.sizes[0])
        size = product((count, byte_width(op.result.type.element_type)))
        return Argument(whole.kind, device=whole.device, sizes=(_begin(whole), size))

    def _computed(self, op: Operation) -> Size | None:
        """The size that an operation computes, if it is one that computes sizes."""
        match op:
            case arith.AddiOp() | arith.SubiOp() | arith.MuliOp() | arith.RemUIOp() | arith.CmpiOp() if all(
                isinstance(self.numbers.get(value), int) for value in op.operands
            ):
                return self._computed_now(op)
            case arith.SelectOp():
                if isinstance(chosen := self._number(op.cond), int):
                    return self._number(op.lhs if chosen else op.rhs)
                lhs, rhs = self._number(op.lhs), self._number(op.rhs)  # what is chosen by is 0 or 1
                return "+", rhs, ("*", chosen, ("+", lhs, ("*", -1, rhs)))
            case arith.CmpiOp() if not op.predicate.value.data:  # 1 where the numbers are equal, else 0
                apart: Size = "+", self._number(op.lhs), ("*", -1, self._number(op.rhs))
                return "+", 1, ("*", -1, ("min", 1, ("max", apart, ("*", -1, apart))))
            case arith.AddiOp():
                return "+", self._number(op.lhs), self._number(op.rhs)
            case arith.SubiOp():
                return "+", self._number(op.lhs), ("*", -1, self._number(op.rhs))
            case arith.MuliOp():
                return "*", self._number(op.lhs), self._number(op.rhs)
            case arith.DivUIOp() | arith.FloorDivSIOp():
                return "//", self._number(op.lhs), self._number(op.rhs)
            case arith.RemUIOp() | arith.RemSIOp():
                return "%", self._number(op.lhs), self._number(op.rhs)
            case arith.MinSIOp():
                return "min", self._number(op.lhs), self._number(op.rhs)
            case arith.MaxSIOp():
                return "max", self._number(op.lhs), self._number(op.rhs)
            case _:
                return None

    def _computed_now(self, op: arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.RemUIOp | arith.CmpiOp) -> int:
        lhs, rhs = self.numbers[op.lhs], self.numbers[op.rhs]
        assert isinstance(lhs, int) and isinstance(rhs, int)
        match op:
            case arith.AddiOp():
                return lhs + rhs
            case arith.SubiOp():
                return lhs - rhs
            case arith.MuliOp():
                return lhs * rhs
            case arith.CmpiOp():
                if op.predicate.value.data:
                    raise _Unknown
                return int(lhs == rhs)
            case _:
                return lhs % rhs

    def _number(self, value: SSAValue) -> Size:
        if (size := self.numbers.get(value)) is None:
            raise _Unknown
        return size

    def _argument(self, value: SSAValue) -> Argument:
        """What a kernel is given."""
        if (size := self.numbers.get(value)) is not None:
            return Argument("extent", size) if isinstance(size, int) else Argument("extent", sizes=(size, 0))
        return self._known(value)

    def _known(self, value: SSAValue) -> Argument:
        if (argument := self.known.get(value)) is None:
            raise _Unknown
        return argument


def _begin(argument: Argument) -> Size:
    """Where memory begins."""
    return argument.at if argument.sizes is None else argument.sizes[0]


def _memory(kind: str, start: Size, size: Size) -> Argument:
    if isinstance(start, int) and isinstance(size, int):
        return Argument(kind, start, size)
    return Argument(kind, sizes=(start, size))


def _sum(lhs: Size, rhs: Size) -> Size:
    if isinstance(lhs, int) and isinstance(rhs, int):
        return lhs + rhs
    return lhs if rhs == 0 else ("+", lhs, rhs)


def _open_bytes(spec: TensorSpec, value: SSAValue) -> Size:
    """The bytes of a tensor with open extents."""
    if spec.extents is None or not isa(value.type, MemRefType[Attribute]):
        raise _Unknown
    return product([*(("max", 0, size) for size in spec.extents), byte_width(value.type.element_type)])


def layers_of(location: LocationAttr) -> tuple[str, ...]:
    """The names in a location, in order: of the layers of the model that are computed there."""
    names: dict[str, None] = {}
    pending: list[LocationAttr] = [location]
    while pending:
        current = pending.pop()
        match current:
            case NameLoc():
                names[current.desc.data] = None
            case FusedLoc():
                inner = current.locations
                assert isa(inner, ArrayAttr[LocationAttr])
                pending += reversed(inner.data)
            case _:
                pass
    return tuple(names)
