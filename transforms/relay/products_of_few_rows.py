"""Rows for products of a batch whose first factors have few rows each: part of `simplify-expr`.

    batch_matmul(x, transpose(w))  ->  batch_matmul(x, w, transpose_b)     each element of `w` is read where it is
    batch_matmul(x, repeat(w))     ->  batch_matmul(x of all repeats, w)   and `w` once for all repeats

This is attention of one token, or of a few, to many that were there before; with `repeat`, several heads to one of the
keys (Ainslie et al., 2023, GQA). To move keys is as much work as to multiply by them, then. Where rows are many it is
not, and one kernel computes them tile by tile from transposed keys (`fusion/rows.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ...dialects.relay.base import DYNAMIC, ints, is_true, shape_of, tensor
from ...dialects.relay.core import ConstantOp
from ...dialects.relay.ops.nn.dense import BatchMatmulOp
from ...dialects.relay.ops.tiling import BroadcastToOp
from ...dialects.relay.ops.transform import ReshapeOp, TransposeOp
from .dataflow.pattern import is_op, wildcard
from .dataflow.rows import PredicatePattern, Row, Site
from .emitter import Emitter

DEPTH_OF_A_ROW = 16
"""Products that are summed up, for each row. The scores of a row are written and read several times where the factor is
not moved, and so no kernel for tiles of rows; a transposed factor is as often itself, in steps that are half as fast.
Measured on a Zen 5, 50 to 2000 keys of 32 to 128 elements, up to 12 rows."""

MERGED = (-3, 0, 0)
"""The new shape of a reshape that makes one dimension of the leading two, whatever is open."""

MANY_ROWS = 16
"""From here on, several tiles of rows read the factor anyway."""


@dataclass(frozen=True)
class Moved:
    """A second factor, or its transpose, whose leading dimensions are one after they were moved."""

    op: TransposeOp | BroadcastToOp
    extents: Sequence[int]
    """Those of the product's batch, and of the matrix."""
    newshape: Sequence[int]
    """Of the reshape that makes one of them, if any."""

    @staticmethod
    def of(value: SSAValue) -> Moved | None:
        made = value.owner.operands[0] if isinstance(value.owner, ReshapeOp) else value
        before, extents = shape_of(made), shape_of(value)
        if len(before) < 3 or before[-2:] != extents[-2:] or 0 in before:
            return None
        newshape = tuple(ints(value.owner.newshape)) if isinstance(value.owner, ReshapeOp) else ()
        if newshape != MERGED and max(before.count(DYNAMIC), extents.count(DYNAMIC)) > 1:
            return None
        if newshape != MERGED and DYNAMIC in extents[-2:] and prod(before[:-2]) != prod(extents[:-2]):
            return None  # an extent of the matrix is another one, too
        match made.owner:
            case TransposeOp() | BroadcastToOp() as op if not isinstance(op.operands[0].owner, ConstantOp):
                return Moved(op, extents, newshape)
            case _:
                return None


def product_of(site: Site) -> BatchMatmulOp:
    assert isinstance(site.op, BatchMatmulOp)
    return site.op


def moved(site: Site) -> Moved:
    found = Moved.of(site[factor])
    assert found is not None
    return found


def reshaped(emit: Emitter, value: SSAValue, extents: Sequence[int]) -> SSAValue:
    if tuple(shape_of(value)) == tuple(extents):
        return value
    return emit(ReshapeOp(value, newshape=[-1 if n == DYNAMIC else n for n in extents]))


def of_floats(site: Site) -> bool:
    op = product_of(site)
    return not is_true(op.transpose_a) and all(tensor(value).element_type == f32 for value in (op.x, op.y, op.result))


def standing_order(op: TransposeOp) -> tuple[int, ...]:
    """The axes of what is transposed, as they stand in the result but for those of the matrix."""
    *lead, row, column = op.permutation(len(shape_of(op.data)))
    return (*lead, column, row)


def has_few_rows(site: Site) -> bool:
    """Whether it is less to read a transposed factor where it is, which has whole rows there."""
    op = product_of(site)
    rows, depth = shape_of(op.x)[1:]
    turned = moved(site).op
    if is_true(op.transpose_b) or not of_floats(site) or not isinstance(turned, TransposeOp):
        return False
    axes = standing_order(turned)
    return axes[-1] == len(axes) - 1 and 0 < rows * DEPTH_OF_A_ROW <= depth


def as_it_stands(site: Site) -> SSAValue:
    """The product with the factor as it is before it is transposed."""
    op, factor = product_of(site), moved(site)
    assert isinstance(factor.op, TransposeOp)
    axes, value = standing_order(factor.op), factor.op.data
    if axes != tuple(range(len(axes))):
        value = site.emit(TransposeOp(value, axes=axes))
    batch, depth, columns = factor.extents
    if factor.newshape == MERGED:
        value = site.emit(ReshapeOp(value, newshape=MERGED))
    else:
        value = reshaped(site.emit, value, (batch, columns, depth))
    return site.emit(BatchMatmulOp(op.x, value, transpose_b=True, out_dtype=op.out_dtype))


def repeats_for_few_rows(site: Site) -> bool:
    """Whether a factor is repeated, matrix by matrix, for so few rows that one matrix can have them all."""
    op, factor = product_of(site), moved(site)
    if not isinstance(factor.op, BroadcastToOp) or not of_floats(site):
        return False
    before, after = shape_of(factor.op.operands[0]), shape_of(factor.op.results[0])
    batch, rows, _ = shape_of(op.x)
    if (
        len(before) != len(after)
        or len(after) < 4
        or after.count(DYNAMIC) > 1
        or before[-3] != 1
        or after[-3] < 2
        or rows < 1
        or batch < 1
    ):
        return False
    same = all(before[i] == after[i] for i in range(len(after)) if i != len(after) - 3)
    return same and batch == factor.extents[0] and after[-3] * rows < MANY_ROWS


def of_all_repeats(site: Site) -> SSAValue:
    """The product of all rows that a matrix is repeated for, with that matrix."""
    op, factor = product_of(site), moved(site)
    batch, rows, depth = shape_of(op.x)
    count = shape_of(factor.op.results[0])[-3]
    x = reshaped(site.emit, op.x, (batch // count, rows * count, depth))
    y = reshaped(site.emit, factor.op.operands[0], (batch // count, *factor.extents[1:]))
    return reshaped(site.emit, site.emit(BatchMatmulOp(x, y, **op.properties)), shape_of(op.result))


factor = PredicatePattern(lambda value: Moved.of(value) is not None, (ReshapeOp, TransposeOp, BroadcastToOp))
product = is_op("nn.batch_matmul")(wildcard(), factor)

PRODUCTS_OF_FEW_ROWS = (
    Row("batch_matmul(x, transpose(w)) = batch_matmul(x, w, transpose_b)", product, as_it_stands, has_few_rows),
    Row("batch_matmul(x, repeat(w)) = batch_matmul(x of all repeats, w)", product, of_all_repeats,
        repeats_for_few_rows),
)  # fmt: skip
