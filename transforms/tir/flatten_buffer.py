"""Let a function's own buffers have one dimension, as memory has.

Before -> after:

```mlir
%b = tir.alloc_buffer "global" : memref<4x8xf32>
memref.store %0, %b[%i, %j] : memref<4x8xf32>

%b = tir.alloc_buffer "global" : memref<32xf32>
memref.store %0, %b[%1] : memref<32xf32>          // %1 is %i * 8 + %j
```

A buffer with `axis_separators` gets as many dimensions as those leave memory; one whose rows lie apart
(`buffer_dim_align`) has the elements in between. Arguments keep their shapes, by which they are called: other shapes of
their memory are other names in the text (`T.Buffer(..., data=A.data)`), which mean the same elements. Does not: flatten
buffers whose rows are of open extents, those that calls or products of matrices are handed as they are, and those of
which the rows alone show that iterations touch different elements. Lowering to loops flattens all memory, whether this
ran or not. Counterpart of TVM's FlattenBuffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.context import Context
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, IndexType, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.support.hints import isa
from ...dialects.tir.alignment import BUFFER_DIM_ALIGN, alignments
from ...dialects.tir.axis_separators import AXIS_SEPARATORS
from ...dialects.tir.buffers import shape_of
from ...dialects.tir.core import AddressOfOp, AllocBufferOp, BlockOp, PrimFuncOp, accessing_blocks
from ...dialects.tir.symbols import Extent
from ..infra import PrimFuncPass, report_changed
from ..infra.remarks import missed
from .analysis.validity import fault_of


@dataclass(frozen=True)
class FlattenBufferPass(PrimFuncPass):
    """Let a function's own buffers have one dimension."""

    name = "flatten-buffer"
    tvm_name = "FlattenBuffer"

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        tried = func.clone()
        changed = any([_flatten(alloc) for alloc in _allocs(tried)])
        if changed and fault_of(tried, func) is not None:
            changed = any([_flatten_alone(func, number) for number in range(len(_allocs(func)))])
        elif changed:
            func.take_region(tried)
        report_changed(changed)


def _allocs(func: PrimFuncOp) -> list[AllocBufferOp]:
    return [op for op in func.walk() if isinstance(op, AllocBufferOp)]


def _flatten_alone(func: PrimFuncOp, number: int) -> bool:
    """Flatten one buffer, unless a valid function were none with it; whether that was done."""
    tried = func.clone()
    if not _flatten(_allocs(tried)[number]):
        return False
    if (fault := fault_of(tried, func)) is not None:
        missed("flatten-buffer", _allocs(func)[number], f"it would not be shown to be valid: {fault.message}")
        return False
    func.take_region(tried)
    return True


@dataclass(frozen=True)
class _Group:
    """Neighbouring dimensions that become one, and how far apart neighbours along each lie in it."""

    first: int
    strides: tuple[int, ...]
    size: Extent


def _flatten(alloc: AllocBufferOp) -> bool:
    """Flatten a buffer; whether it had more dimensions than memory."""
    shape = shape_of(alloc.buffer)
    separators = alloc.axis_separators
    if len(shape) <= len(separators) + 1 and shape:
        return False
    if any(not isinstance(extent, int) for n, extent in enumerate(shape) if n not in (0, *separators)):
        missed("flatten-buffer", alloc, "its rows have open extents", "specialize the function")
        return False
    accesses = [use.operation for use in alloc.buffer.uses if not isinstance(use.operation, BlockOp)]
    if any(not isinstance(op, memref.LoadOp | memref.StoreOp | AddressOfOp) for op in accesses):
        missed("flatten-buffer", alloc, "a call or a product is handed it as it is", "")
        return False
    blocks = accessing_blocks(alloc.buffer)
    groups = _groups(shape, separators, _row_strides(alloc.buffer, blocks, len(shape)))
    for op in dict.fromkeys(accesses):
        _move(op, groups)
    for block in blocks:
        _forget_alignment(block, alloc.buffer)  # which speaks of the dimensions that there are still
    _reshape(alloc, groups)
    for block in blocks:
        block.update_accesses()
    return True


def _row_strides(buffer: SSAValue, blocks: Sequence[BlockOp], rank: int) -> dict[int, tuple[int, int]]:
    """What blocks say of how far neighbours along dimensions lie apart: a factor and an offset for each."""
    found: dict[int, tuple[int, int]] = {}
    for block in blocks:
        for each in alignments(block.attributes.get(BUFFER_DIM_ALIGN), block.writes):
            if block.writes[each.buffer] is buffer and each.axis < rank - 1:
                found[each.axis] = (each.factor, each.offset)
    return found


def _groups(shape: Sequence[Extent], separators: Sequence[int], aligned: dict[int, tuple[int, int]]) -> list[_Group]:
    groups: list[_Group] = []
    for first, end in pairwise((0, *separators, len(shape))):
        strides: list[int] = []
        stride = 1
        for dim in range(end - 1, first - 1, -1):
            if dim in aligned and dim != end - 1:
                factor, offset = aligned[dim]
                stride += (offset - stride) % factor
            strides.insert(0, stride)
            extent = shape[dim]
            if dim > first:
                assert isinstance(extent, int)
                stride *= extent
        outer: Extent = shape[first] if end > first else 1
        size: Extent = outer * stride
        groups.append(_Group(first, tuple(strides), size))
    return groups


def _move(op: Operation, groups: Sequence[_Group]) -> None:
    """Let an access be at the place in memory that its indices mean."""
    assert op.parent is not None
    lead = 2 if isinstance(op, memref.StoreOp) else 1
    indices = list(op.operands)[lead:]
    places: list[SSAValue] = []
    for group in groups:
        ops: list[Operation] = []
        place: SSAValue | None = None
        for index, stride in zip(indices[group.first : group.first + len(group.strides)], group.strides, strict=True):
            if stride != 1:
                constant = arith.ConstantOp(IntegerAttr(stride, IndexType()))
                times = arith.MuliOp(index, constant.result)
                ops += [constant, times]
                index = times.result
            if place is not None:
                ops.append(added := arith.AddiOp(place, index))
                index = added.result
            place = index
        if place is None:
            ops.append(zero := arith.ConstantOp(IntegerAttr(0, IndexType())))
            place = zero.result
        if ops:
            op.parent.insert_ops_before(ops, op)
        places.append(place)
    op.operands = [*list(op.operands)[:lead], *places]


def _reshape(alloc: AllocBufferOp, groups: Sequence[_Group]) -> None:
    """Give a buffer the dimensions that memory has."""
    sizes = [group.size for group in groups]
    if alloc.value is not None:
        flat = TensorType(alloc.value.type.element_type, [size for size in sizes if isinstance(size, int)])
        alloc.properties["value"] = DenseIntOrFPElementsAttr(flat, alloc.value.data)
    alloc.set_shape(sizes)
    if alloc.axis_separators:
        alloc.attributes[AXIS_SEPARATORS] = ArrayAttr(IntegerAttr(n, i64) for n in range(1, len(groups)))


def _forget_alignment(block: BlockOp, buffer: SSAValue) -> None:
    """What is said of the rows of a buffer that becomes flat is in its indices now."""
    said = block.attributes.get(BUFFER_DIM_ALIGN)
    if isa(said, ArrayAttr[Attribute]):
        numbers = [each.buffer for each in alignments(said, block.writes)]
        kept = [entry for entry, number in zip(said, numbers, strict=True) if block.writes[number] is not buffer]
        if kept:
            block.attributes[BUFFER_DIM_ALIGN] = ArrayAttr(kept)
        else:
            del block.attributes[BUFFER_DIM_ALIGN]
