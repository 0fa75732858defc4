"""Walk along rows in vectors: what is computed element by element, and what is added up along them.

A row of a softmax or a norm is short, or leaves a rest: 49, 77, 197 elements. LLVM's vectoriser takes what is left over
one by one, which may cost more than all vectors before. So the innermost loop of each block that goes straight along
its row is split by the lanes of a register, of which the last are masked off, or, where it adds up, takes so many steps
at a time (`lowering/tir_to_loops/lane_reductions.py`).

What goes straight between multiples of a number alone, as where the last axes of what is read are seen as one, is split
by that first: 30 elements that are 3 times 10 are 3 vectors of 10 lanes. What decides branches, as a concatenation, is
cut where they are decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr

from ....dialects.support.dtypes import byte_width
from ....dialects.tir.affine import uses
from ....dialects.tir.core import BlockOp, ForKind, ForOp, IterKind, blocks_under, enclosing_loops, memref_of
from ..analysis.deciding import deciding_iterators
from ..analysis.strides import flat_accesses, steps_along, steps_within
from ..scheduling.recorded import in_lanes, in_parts, set_kind, split
from .choosing import is_chosen
from .op_cost import side_by_side
from .registers import VectorRegisters

WASTED = 16
"""Where several registers are taken at a time, at most one in so many elements may be there for nothing."""

LEAST_LANES = 4
"""Fewer lanes than these are not worth a vector; nor are rows of half a vector, of which LLVM takes several at once."""


DIVIDED = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod)


def vectorize_rows(top: ForOp, registers: VectorRegisters) -> None:
    """Take the innermost loops of the blocks under `top`, a loop over rows, in vectors where they go straight along."""
    for block in blocks_under(top):
        loop = enclosing_loops(block)[-1]
        if loop is top:
            continue
        if _decides(block, loop) and is_chosen("parts", block):
            in_parts(loop)
        else:
            vectorize_along(block, registers)


def _decides(block: BlockOp, loop: ForOp) -> bool:
    """Whether the side of a branch that an element is computed on depends on `loop`, of a known extent."""
    iterator = _along(block, loop)
    return (
        iterator is not None
        and isinstance(loop.size, int)
        and block.kinds[iterator] == IterKind.SPATIAL
        and block.iters[iterator] in deciding_iterators(block)
    )


def vectorize_along(block: BlockOp, registers: VectorRegisters) -> None:
    """Take the innermost loop of `block` in vectors, if it goes straight along a row that is long enough."""
    loop, lanes = enclosing_loops(block)[-1], _lanes(block, registers)
    if loop.for_kind != ForKind.SERIAL or loop.annotations is not None:
        return
    iterator = _along(block, loop)
    if lanes < LEAST_LANES or 2 * loop.likely_trips <= lanes or iterator is None:
        return
    if not _is_straight(block, iterator, steps_along(block, iterator)):
        size = _straight_within(block, iterator)
        if size is not None and is_chosen("vectorize", block):
            _vectorize(split(loop, [size])[-1], lanes)
    elif block.kinds[iterator] == IterKind.REDUCE:
        if block.init is None and is_chosen("lanes", block):
            in_lanes(loop, lanes)
    elif is_chosen("vectorize", block):
        _vectorize(loop, lanes * _side_by_side(block, loop, lanes))


def _side_by_side(block: BlockOp, loop: ForOp, lanes: int) -> int:
    """How many registers of so many lanes are taken at a time, of a row that is known to fill them."""
    trips, most = loop.likely_trips, 1 if loop.is_symbolic else side_by_side(block.body.block.ops)
    counts = (most >> bits for bits in range(most.bit_length()))
    return next(n for n in counts if n == 1 or -trips % (n * lanes) * WASTED <= trips)


def _straight_within(block: BlockOp, iterator: int) -> int | None:
    """Of how many neighbours along an iterator of elements each access goes straight, where it is divided by a number
    that divides its extent; the most there are."""
    extent = block.sizes[iterator]
    if not isinstance(extent, int) or block.kinds[iterator] != IterKind.SPATIAL:
        return None
    sizes = {size for by in divisors(block, iterator) if LEAST_LANES <= (size := gcd(by, extent)) < extent}
    for size in sorted(sizes, reverse=True):
        if _is_straight(block, iterator, steps_within(block, iterator, size)):
            return size
    return None


def divisors(block: BlockOp, iterator: int) -> set[int]:
    """The numbers by which accesses of `block` divide what depends on an iterator."""
    dim = AffineExpr.dimension(iterator)
    indices = (index for access in block.accesses() if access.map is not None for index in access.map.results)
    parts = [part for index in indices for part in index.dfs() if isinstance(part, AffineBinaryOpExpr)]
    divided = [part for part in parts if part.kind in DIVIDED and uses(part.lhs, dim)]
    return {part.rhs.value for part in divided if isinstance(part.rhs, AffineConstantExpr)}


def _vectorize(loop: ForOp, lanes: int) -> None:
    if loop.is_symbolic or loop.likely_trips > lanes:
        loop = split(loop, [lanes])[-1]
    set_kind(loop, ForKind.VECTORIZED)


def _lanes(block: BlockOp, registers: VectorRegisters) -> int:
    """Of a register that holds what the block computes with, the widest of its elements."""
    buffers = {access.buffer for access in block.accesses()}
    widest = max((memref_of(b).element_type for b in buffers), key=byte_width)
    return registers.lanes(widest)


def _along(block: BlockOp, loop: ForOp) -> int | None:
    """The one iterator that is bound to `loop`, and to nothing else."""
    bound = [
        n for n, b in enumerate(block.bindings.data.results) if loop.var in {block.loop_vars[d] for d in b.used_dims()}
    ]
    if len(bound) != 1 or len(block.bindings.data.results[bound[0]].used_dims()) != 1:
        return None
    return bound[0]


def _is_straight(block: BlockOp, iterator: int, steps: Sequence[int | None]) -> bool:
    """Whether all accesses go from neighbour to neighbour along an iterator, by these `steps`, or stand still, and one
    of them goes; what is written goes where the iterator is of elements, and stands still where it is of steps."""
    if block.conditions or block.iters[iterator] in deciding_iterators(block):
        return False
    written = 0 if block.kinds[iterator] == IterKind.REDUCE else 1
    for access, step in zip(flat_accesses(block), steps, strict=True):
        if step not in (0, 1) or (access.is_write and step != written):
            return False
    return 1 in steps
