"""Rules for memref: a memref is the address of its first element, an access is one `llvm.getelementptr`.

    %0 = memref.load %m[%i, %j, %k] : memref<4x8x16xf32>
->  %p = llvm.getelementptr inbounds %m[%i, %j, %k] : (!llvm.ptr, i64, i64, i64) -> !llvm.ptr,
                                                       !llvm.array<8 x array<16 x f32>>
    %0 = llvm.load %p : !llvm.ptr -> f32

Strides are static; where they do not nest, as in a transpose, the offset is computed with multiplications. Offsets and
the sizes of views may be dynamic.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, BoolAttr, IntegerAttr, MemRefType, i64
from xdsl.ir import Attribute, SSAValue

from ...dialects.extensions import llvm as llvmx
from ...dialects.extensions.memref import PrefetchOp
from ...dialects.rt.constants import ConstantOp
from ...dialects.support.interned import integer_attribute
from ..abi import ALIGNMENT, CONSTANTS_TABLE
from .function import OVERFLOW, FunctionLowering, Rules
from .types import (
    PTR,
    SHARED_PTR,
    LoweringError,
    alignment,
    array_type,
    as_memref,
    byte_size,
    is_shared_memory,
    memory_type,
    num_elements,
    static_strides,
    stepped_type,
    value_type,
)

RULES = Rules()

_NSW = OVERFLOW[1]

STACK_LIMIT = 1 << 18
"""Bytes of the largest allocation on the stack: threads have 2 MiB or more for all that is on it at a time."""


def address(lowering: FunctionLowering, base: SSAValue, indices: Sequence[SSAValue], inside: bool = True) -> SSAValue:
    """The address of an element of a memref; whether it is known to be an element that there is, is `inside`."""
    type = as_memref(base.type)
    pointer = lowering.get(base)
    stepped = stepped_type(type)
    if stepped is not None:
        return lowering.element_pointer(pointer, [_index(lowering, index) for index in indices], stepped, inside)
    distance = distance_between(lowering, [_index(lowering, index) for index in indices], static_strides(type))
    return lowering.element_pointer(pointer, [distance], memory_type(type.element_type), inside)


def distance_between(
    lowering: FunctionLowering, indices: Sequence[int | SSAValue], strides: Sequence[int]
) -> int | SSAValue:
    """The sum of `indices[d] * strides[d]`, as far as possible computed here."""
    known, total = 0, None
    for index, stride in zip(indices, strides, strict=True):
        if isinstance(index, int):
            known += index * stride
        elif stride:
            term = index if stride == 1 else lowering.add(llvm.MulOp, (index, lowering.integer(stride)), i64, _NSW)
            total = term if total is None else lowering.add(llvm.AddOp, (total, term), i64, _NSW)
    if total is None:
        return known
    return lowering.add(llvm.AddOp, (total, lowering.integer(known)), i64, _NSW) if known else total


def _index(lowering: FunctionLowering, index: SSAValue) -> int | SSAValue:
    static = lowering.static(index)
    return lowering.get(index) if static is None else static


def _mixed(lowering: FunctionLowering, static: Sequence[int], dynamic: Sequence[SSAValue]) -> list[int | SSAValue]:
    remaining = iter(dynamic)
    return [_index(lowering, next(remaining)) if number == DYNAMIC_INDEX else number for number in static]


def is_set(flag: BoolAttr | None) -> bool:
    """The value of an optional flag."""
    return flag is not None and bool(flag.value.data)


@RULES.rule(memref.LoadOp)
def load_rule(lowering: FunctionLowering, op: memref.LoadOp) -> None:
    pointer = address(lowering, op.memref, op.indices)
    lowering.set(op.res, lowering.load(pointer, op.res.type, _vector_alignment(op.res.type)))


@RULES.rule(memref.StoreOp)
def store_rule(lowering: FunctionLowering, op: memref.StoreOp) -> None:
    pointer = address(lowering, op.memref, op.indices)
    streaming = is_set(op.nontemporal)
    lowering.store(lowering.get(op.value), pointer, op.value.type, _vector_alignment(op.value.type), streaming)


def _vector_alignment(type: Attribute) -> int | None:
    """Memory of vectors is aligned as their elements are, which the access has to say."""
    align = alignment(type)
    return align if align != byte_size(type) else None


@RULES.rule(PrefetchOp)
def prefetch_rule(lowering: FunctionLowering, op: PrefetchOp) -> None:
    pointer = address(lowering, op.memref, op.indices, inside=False)
    kind = {"rw": int(bool(op.isWrite)), "hint": op.localityHint.value.data, "cache": int(bool(op.isDataCache))}
    properties = {key: integer_attribute(value, 32) for key, value in kind.items()}
    lowering.add_op(llvmx.PrefetchOp.create(operands=(pointer,), properties=properties))


@RULES.rule(memref.AllocaOp)
def alloca_rule(lowering: FunctionLowering, op: memref.AllocaOp) -> None:
    """An allocation on the stack stands in the function's entry, wherever it stood: its extents are static. One that is
    too large for the stack of a thread is made on the heap, and given back when the function returns."""
    type = as_memref(op.memref.type)
    if op.dynamic_sizes:
        raise LoweringError(op, f"{type} has a dynamic extent; only static allocations can be made on the stack")
    align = max(ALIGNMENT, op.alignment.value.data if op.alignment else 0)
    size = num_elements(type) * byte_size(type.element_type)
    if size <= STACK_LIMIT:
        lowering.set(op.memref, lowering.stack(array_type(type), align))
    else:
        lowering.set(op.memref, lowering.heap(-(-size // align) * align, align))


@RULES.rule(memref.AllocOp)
def alloc_rule(lowering: FunctionLowering, op: memref.AllocOp) -> None:
    type = as_memref(op.memref.type)
    align = max(ALIGNMENT, op.alignment.value.data if op.alignment else 0)
    if op.dynamic_sizes:
        size = _dynamic_bytes(lowering, op, type)
        rounded = lowering.add(llvm.AddOp, (size, lowering.integer(align - 1)), i64, OVERFLOW[3])
        size = lowering.add(llvm.AndOp, (rounded, lowering.integer(-align)), i64)
    else:
        size = lowering.integer(max(align, -(-num_elements(type) * byte_size(type.element_type) // align) * align))
    pointer = lowering.call_runtime("aligned_alloc", [lowering.integer(align), size], PTR)
    lowering.set(op.memref, pointer)


def _dynamic_bytes(lowering: FunctionLowering, op: memref.AllocOp, type: MemRefType) -> SSAValue:
    """Extent of the outermost dimension times its stride: only that dimension may be dynamic."""
    if any(extent == DYNAMIC_INDEX for extent in type.get_shape()[1:]) or len(op.dynamic_sizes) != 1:
        raise LoweringError(op, f"{type} has a dynamic extent that is not the outermost")
    stride = static_strides(type)[0] * byte_size(type.element_type)
    extent = lowering.get(op.dynamic_sizes[0])
    lowering.set_extent(op.memref, 0, op.dynamic_sizes[0])
    return lowering.add(llvm.MulOp, (extent, lowering.integer(stride)), i64, OVERFLOW[3])


@RULES.rule(memref.DeallocOp)
def dealloc_rule(lowering: FunctionLowering, op: memref.DeallocOp) -> None:
    lowering.call_runtime_procedure("free", [lowering.get(op.memref)])


@RULES.rule(memref.GetGlobalOp)
def get_global_rule(lowering: FunctionLowering, op: memref.GetGlobalOp) -> None:
    """The address of a global; of one that is marked with an index, the pointer at that place of the table."""
    name = op.name_.root_reference.data
    index = lowering.symbols.constant_index.get(name)
    if is_shared_memory(op.memref.type):
        pointer = lowering.add(llvm.AddressOfOp, (), SHARED_PTR, {"global_name": op.name_})
    elif index is None:
        pointer = lowering.symbol_address(name)
    else:
        lowering.symbols.use_constants_table()
        table = lowering.symbol_address(CONSTANTS_TABLE)
        entry = lowering.element_pointer(table, [index], PTR)
        pointer = lowering.add(llvm.LoadOp, (entry,), PTR, {"ordering": IntegerAttr(0, i64)})
    lowering.set(op.memref, pointer)


@RULES.rule(ConstantOp)
def constant_rule(lowering: FunctionLowering, op: ConstantOp) -> None:
    name = lowering.symbols.constant(as_memref(op.result.type), op.value)
    lowering.set(op.result, lowering.symbol_address(name))


@RULES.rule(memref.CastOp)
def cast_rule(lowering: FunctionLowering, op: memref.CastOp) -> None:
    lowering.set(op.dest, lowering.get(op.source))


@RULES.rule(memref.MemorySpaceCastOp)
def memory_space_cast_rule(lowering: FunctionLowering, op: memref.MemorySpaceCastOp) -> None:
    """From the memory that threads of a GPU share to what any pointer may point to; else nothing is to be done."""
    source, wanted = lowering.get(op.source), value_type(op.dest.type)
    lowering.set(op.dest, source if source.type == wanted else lowering.add(llvmx.AddrSpaceCastOp, (source,), wanted))


@RULES.rule(memref.CollapseShapeOp, memref.ExpandShapeOp)
def reshape_rule(lowering: FunctionLowering, op: memref.CollapseShapeOp | memref.ExpandShapeOp) -> None:
    lowering.set(op.result, lowering.get(op.src))


@RULES.rule(memref.AssumeAlignmentOp)
def assume_alignment_rule(lowering: FunctionLowering, op: memref.AssumeAlignmentOp) -> None:
    lowering.set(op.result, lowering.get(op.memref))


@RULES.rule(memref.SubviewOp)
def subview_rule(lowering: FunctionLowering, op: memref.SubviewOp) -> None:
    """The address of the view's first element; steps and sizes are the result's type."""
    source = as_memref(op.source.type)
    static_strides(as_memref(op.result.type))
    _keep_extents(lowering, op)
    offsets = _mixed(lowering, op.static_offsets.get_values(), op.offsets)
    stepped = stepped_type(source)
    if stepped is None:
        offsets = [distance_between(lowering, offsets, static_strides(source))]
        stepped = memory_type(source.element_type)
    lowering.set(op.result, lowering.element_pointer(lowering.get(op.source), offsets, stepped))


@RULES.rule(memref.ReinterpretCastOp)
def reinterpret_cast_rule(lowering: FunctionLowering, op: memref.ReinterpretCastOp) -> None:
    """The offset is counted from the source's base, which is its first element where its own offset is zero."""
    source = as_memref(op.source.type)
    if source.get_offset() != 0:
        raise LoweringError(op, f"{source} does not start at its base, so that an offset from there is not known")
    static_strides(as_memref(op.result.type))
    _keep_extents(lowering, op)
    offsets = _mixed(lowering, op.static_offsets.get_values(), op.offsets)
    lowering.set(
        op.result,
        lowering.element_pointer(lowering.get(op.source), offsets, memory_type(source.element_type)),
    )


def _keep_extents(lowering: FunctionLowering, op: memref.SubviewOp | memref.ReinterpretCastOp) -> None:
    """Dynamic sizes of a view are asked for by `memref.dim`, as far as its rank is that of the sizes."""
    sizes, remaining = op.static_sizes.get_values(), iter(op.sizes)
    dynamic = {place: next(remaining) for place, size in enumerate(sizes) if size == DYNAMIC_INDEX}
    if len(as_memref(op.result.type).get_shape()) == len(sizes):
        for place, size in dynamic.items():
            lowering.set_extent(op.result, place, size)


@RULES.rule(memref.ViewOp)
def view_rule(lowering: FunctionLowering, op: memref.ViewOp) -> None:
    shift = _index(lowering, op.byte_shift)
    for dimension, size in enumerate(op.sizes):
        lowering.set_extent(op.result, dimension, size)
    static_strides(as_memref(op.result.type))
    lowering.set(op.result, lowering.byte_offset(lowering.get(op.source), shift))


@RULES.rule(memref.DimOp)
def dim_rule(lowering: FunctionLowering, op: memref.DimOp) -> None:
    type, dimension = as_memref(op.source.type), lowering.static(op.index)
    if dimension is None or not 0 <= dimension < len(type.get_shape()):
        raise LoweringError(op, "the dimension is not a constant within the rank")
    extent = type.get_shape()[dimension]
    if extent != DYNAMIC_INDEX:
        lowering.set_constant(op.result, IntegerAttr(extent, i64), i64)
        return
    source = lowering.extent(op.source, dimension)
    if source is None:
        raise LoweringError(op, f"dimension {dimension} of {type} is dynamic, and its extent is not known here")
    lowering.alias(op.result, source)


@RULES.rule(memref.RankOp)
def rank_rule(lowering: FunctionLowering, op: memref.RankOp) -> None:
    lowering.set_constant(op.rank, IntegerAttr(len(as_memref(op.source.type).get_shape()), i64), i64)


@RULES.rule(memref.CopyOp)
def copy_rule(lowering: FunctionLowering, op: memref.CopyOp) -> None:
    """One `memcpy` of what both sides hold densely, within loops over the dimensions in front of that."""
    source, destination = as_memref(op.source.type), as_memref(op.destination.type)
    shape, strides = source.get_shape(), (static_strides(source), static_strides(destination))
    properties = {"isVolatile": BoolAttr.from_bool(False)}
    if list(shape) == [DYNAMIC_INDEX] and all(list(stride) == [1] for stride in strides):
        if (extent := lowering.extent(op.source, 0)) is None:
            raise LoweringError(op, f"{source} has a dynamic extent, which is not known here")
        size = lowering.integer(byte_size(source.element_type))
        count = lowering.add(llvm.MulOp, (lowering.get(extent), size), i64, OVERFLOW[3])
        ends = lowering.get(op.destination), lowering.get(op.source)
        lowering.add_op(llvmx.MemcpyOp.create(operands=(*ends, count), properties=properties))
        return
    if num_elements(source) == 0:
        return
    inner, elements = len(shape), 1
    while inner and all(stride[inner - 1] == elements for stride in strides):
        inner -= 1
        elements *= shape[inner]
    bytes = lowering.integer(elements * byte_size(source.element_type))
    stored = memory_type(source.element_type)

    def copy_at(indices: list[SSAValue]) -> None:
        to, start = (
            lowering.element_pointer(lowering.get(side), [distance_between(lowering, indices, stride[:inner])], stored)
            for side, stride in ((op.destination, strides[1]), (op.source, strides[0]))
        )
        lowering.add_op(llvmx.MemcpyOp.create(operands=(to, start, bytes), properties=properties))

    lowering.loop_nest(shape[:inner], copy_at)


@RULES.rule(memref.ExtractAlignedPointerAsIndexOp)
def pointer_rule(lowering: FunctionLowering, op: memref.ExtractAlignedPointerAsIndexOp) -> None:
    lowering.set(op.aligned_pointer, lowering.add(llvm.PtrToIntOp, (lowering.get(op.source),), i64))
