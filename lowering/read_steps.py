"""What a graph does, read off its function: the kernels that it calls, one after the other, and what they are given.

The function is the `func.func` that `materialize-memory` makes; what is in it is known here, operation by operation. A
function in which anything else stands, as one that was written by hand may be, has no steps; nor has a program that
branches and calls, whose steps are not known before it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith, func, memref
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
)
from xdsl.ir import Attribute, SSAValue

from ..dialects.rt.checks import RecordOp, RecordType
from ..dialects.rt.core import SLOT_BYTES, ShareOp, SlotsOp, SlotsType
from ..dialects.support.checks import RECORD_BYTES
from ..dialects.support.dtypes import byte_width
from ..dialects.support.hints import isa
from .abi import BUFFER, COUNTER_BYTES, INPUTS, SEGMENT_MARK, Argument, Parameter, Step
from .graph_to_memory.signature import read_signature


@dataclass(frozen=True)
class StepTable:
    """The steps of a graph, the bytes that are zero before the first, and what each kernel takes."""

    steps: tuple[Step, ...] = ()
    counter_bytes: int = 0
    parameters: Mapping[str, tuple[Parameter, ...]] = field(default_factory=dict[str, "tuple[Parameter, ...]"])


def read_steps(module: ModuleOp) -> StepTable:
    """The steps of a module's graph, in the phase `loops`; an empty table where it has none."""
    functions = [op for op in module.ops if isinstance(op, func.FuncOp)]
    mains = [f for f in functions if INPUTS in f.attributes and SEGMENT_MARK not in f.attributes]
    if not mains:
        return StepTable()
    main = next((function for function in mains if function.sym_name.data == "main"), mains[0])
    counters = main.attributes.get(COUNTER_BYTES)
    kernels = {f.sym_name.data: taken for f in functions if (taken := parameters_of(f)) is not None}
    try:
        steps = tuple(_Reading(module, main).steps())
    except _Unknown:
        return StepTable(parameters=kernels)
    return StepTable(steps, counters.value.data if isinstance(counters, IntegerAttr) else 0, kernels)


class _Unknown(Exception):
    """Something stands in the function that is no step."""


def parameters_of(function: func.FuncOp) -> tuple[Parameter, ...] | None:
    """What a kernel takes; nothing where it is no kernel, or one that takes extents."""
    if any(
        isa(type, MemRefType[Attribute]) and DYNAMIC_INDEX in type.get_shape() for type in function.function_type.inputs
    ):
        return None
    found: list[Parameter] = []
    for type in function.function_type.inputs:
        match type:
            case MemRefType() if isa(type, MemRefType[Attribute]):
                found.append(Parameter(BUFFER, _bytes(type)))
            case RecordType():
                found.append(Parameter("record", RECORD_BYTES))
            case SlotsType():
                found.append(Parameter("slots", type.count.data * SLOT_BYTES))
            case IndexType():
                found.append(Parameter("threads"))
            case _:
                return None
    return tuple(found) if found.count(Parameter("threads")) < 2 else None


def _bytes(type: MemRefType[Attribute]) -> int:
    return prod(type.get_shape()) * byte_width(type.element_type)


class _Reading:
    """The reading of one function."""

    def __init__(self, module: ModuleOp, main: func.FuncOp):
        inputs, outputs = read_signature(main.attributes)
        arguments = main.body.block.args
        if not isinstance(main.body.block.last_op, func.ReturnOp) or len(arguments) != len(inputs) + len(outputs) + 2:
            raise _Unknown
        self.main = main
        self.known: dict[SSAValue, Argument] = {}
        for number, value in enumerate(arguments[:-2]):
            is_input = number < len(inputs)
            at = number if is_input else number - len(inputs)
            self.known[value] = Argument("input" if is_input else "output", at, self._size(value))
        self.arena = arguments[-2]
        self.known[arguments[-1]] = Argument("threads")
        self.constants = {
            op.sym_name.data: index.value.data
            for op in module.ops
            if isinstance(op, memref.GlobalOp)
            and isinstance(index := op.attributes.get("weft.constant_index"), IntegerAttr)
        }

    @staticmethod
    def _size(value: SSAValue) -> int:
        if not isa(value.type, MemRefType[Attribute]):
            raise _Unknown
        return _bytes(value.type)

    def steps(self) -> Iterator[Step]:
        for op in self.main.body.block.ops:
            match op:
                case arith.ConstantOp() | func.ReturnOp():
                    pass
                case memref.ViewOp() if op.source is self.arena and not op.sizes:
                    self.known[op.result] = Argument("arena", _constant(op.byte_shift), self._size(op.result))
                case memref.GetGlobalOp() if (number := self.constants.get(op.name_.root_reference.data)) is not None:
                    self.known[op.memref] = Argument("constant", number, self._size(op.memref))
                case SlotsOp() if op.memory is self.arena:
                    size = op.result.type.count.data * SLOT_BYTES
                    self.known[op.result] = Argument("slots", op.offset.value.data, size)
                case RecordOp() if op.memory is self.arena:
                    self.known[op.result] = Argument("record", op.offset.value.data, RECORD_BYTES)
                case func.CallOp() if not op.results:
                    arguments = tuple(self._known(value) for value in op.arguments)
                    yield Step(op.callee.root_reference.data, layers_of(op.location), arguments)
                case ShareOp() if op.extent is None:
                    yield from self._copies(op)
                case _:
                    raise _Unknown

    def _copies(self, share: ShareOp) -> Iterator[Step]:
        """What one thread copies."""
        for op in share.body.block.ops:
            if not isinstance(op, memref.CopyOp):
                raise _Unknown
            yield Step("", layers_of(op.location), (self._known(op.source), self._known(op.destination)))

    def _known(self, value: SSAValue) -> Argument:
        if (argument := self.known.get(value)) is None:
            raise _Unknown
        return argument


def _constant(value: SSAValue) -> int:
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp) or not isinstance(owner.value, IntegerAttr):
        raise _Unknown
    return owner.value.value.data


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
