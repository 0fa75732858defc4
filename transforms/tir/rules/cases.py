"""Unroll iterators that choose between formulas, and compute what the formulas share beside them, in registers.

A transformation of small tiles by a fixed matrix (Winograd's, say) is a block whose formula depends on where in the tile
an element stands: `y = select(i == 0, a + b, select(i == 1, a - b, ...))`. Once the loop along `i` is unrolled each
element has its own formula, and what all read is read once. Where such a block reads another one, as a transformation
along rows and then along columns does, the first is computed for one tile at a time, in the loops of the second; and
both in those of a block that does nothing but put the tiles where they belong:

```mlir
tir.for parallel %tile {
  tir.for unrolled %row, %column { tir.for vectorized %lane { half[%row, %column, %lane] = select(%row == 0, ...) } }
  tir.for unrolled %row, %column { tir.for vectorized %lane { y[%tile, %row, %column, %lane] = select(%column == 0, ...) } }
}
```
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ....dialects.support.walking import all_within, in_order
from ....dialects.tir.affine import linear
from ....dialects.tir.core import AllocBufferOp, BlockOp, ForKind, ForOp, Scope, enclosing_loops
from ..analysis.producers import consumers, written_buffer
from ..analysis.strides import iterator_ranges, strides
from ..scheduling.recorded import add_unit_loop, compute_at, reorder, set_kind, set_scope, split
from .choosing import is_chosen
from .spatial import MAX_VECTOR, PARALLEL_MIN_STEPS, PARALLEL_SHARES, fuse_known

MAX_CASES = 8
"""Of an iterator that is unrolled."""


def case_iterators(block: BlockOp) -> set[int]:
    """The iterators of `block` whose values choose between formulas: those that are compared with constants."""
    found: set[int] = set()
    for op in in_order(block.body):
        if isinstance(op, arith.SelectOp) and isinstance(test := op.cond.owner, arith.CmpiOp):
            sides = (test.lhs, test.rhs)
            if test.predicate.value.data == 0 and any(_is_constant(side) for side in sides):
                found.update(number for number, each in enumerate(block.iters) if each in sides)
    return {number for number in found if block.likely_extents[number] <= MAX_CASES}


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, IntegerAttr)


def schedule_cases(blocks: Sequence[BlockOp]) -> None:
    """Schedule those of `blocks` that have cases, each with what it alone reads and what puts its results in place."""
    moved: set[BlockOp] = set()
    for block in reversed(blocks):
        if block in moved or not case_iterators(block):
            continue
        readers = consumers(block)
        chain = _chain(readers[0] if len(readers) == 1 and _only_moves(readers[0]) else block)
        wanted = _unrolled(chain)
        if wanted is None or not _has_lanes(chain) or not is_chosen("cases", chain[0]):
            continue
        _apply(chain, wanted)
        moved.update(chain)


def _only_moves(block: BlockOp) -> bool:
    """Whether `block` has no cases of its own, and computes an element by itself."""
    return not block.is_reduction and not block.conditions and not case_iterators(block)


def _chain(block: BlockOp) -> list[BlockOp]:
    """`block`, the block with cases that it reads, the one that this reads, and so on, each read by nothing else."""
    chain = [block]
    while True:
        made = [
            writer
            for buffer in chain[-1].reads
            if isinstance(buffer.owner, AllocBufferOp)
            for writer in _writers(buffer)
            if case_iterators(writer) and consumers(writer) == chain[-1:]
        ]
        if len(made) != 1:
            return chain
        chain.append(made[0])


def _writers(buffer: SSAValue) -> list[BlockOp]:
    users = {use.operation for use in buffer.uses}
    return [op for op in users if isinstance(op, BlockOp) and buffer in op.writes]


def _unrolled(chain: Sequence[BlockOp]) -> dict[int, int | None] | None:
    """The iterators of the first block that are unrolled, or of which the remainder by a number is, for which the loop
    is divided; `None` where a case of another block is no part of an iterator of the first."""
    block, *rest = chain
    wanted: dict[int, int | None] = dict.fromkeys(sorted(case_iterators(block)))
    if not rest:
        return wanted
    inner = _unrolled(rest)
    if inner is None or any(size is not None for size in inner.values()):
        return None
    buffer = written_buffer(rest[0])
    for access in block.accesses():
        if access.buffer is not buffer:
            continue
        if access.map is None:
            return None
        for dimension in inner:
            form = linear(access.map.results[dimension], iterator_ranges(block)).to_expr()
            if isinstance(form, AffineConstantExpr):
                continue
            part = _part(form)
            if part is None or wanted.setdefault(*part) != part[1]:
                return None
    return wanted


def _part(expr: AffineExpr) -> tuple[int, int | None] | None:
    """The iterator that `expr` is, or is the remainder of, by which number."""
    if isinstance(expr, AffineDimExpr):
        return expr.position, None
    if isinstance(expr, AffineBinaryOpExpr) and expr.kind == AffineBinaryOpKind.Mod:
        if isinstance(expr.lhs, AffineDimExpr) and isinstance(expr.rhs, AffineConstantExpr):
            return expr.lhs.position, expr.rhs.value
    return None


def _has_lanes(chain: Sequence[BlockOp]) -> bool:
    """Whether the last iterator of each block is one vector."""
    for block in chain:
        last, extent = len(block.iters) - 1, block.sizes[-1]
        if not isinstance(extent, int) or not 4 <= extent <= MAX_VECTOR or extent & (extent - 1):
            return False
        if any(access.along(AffineExpr.dimension(last)) not in (0, 1) for access in strides(block)):
            return False
    return True


def _apply(chain: Sequence[BlockOp], wanted: dict[int, int | None]) -> None:
    block, *rest = chain
    numbers = [number for number, size in enumerate(block.sizes) if size != 1]
    outer: list[ForOp] = []
    inner: list[ForOp] = []
    *loops, lanes = zip(numbers, enclosing_loops(block), strict=True)
    for number, loop in loops:
        size = wanted.get(number)
        if number not in wanted:
            outer.append(loop)
        elif size is None or loop.likely_trips <= size:
            inner.append(loop)
        else:
            parts = split(loop, [size])
            outer.append(parts[0])
            inner.append(parts[1])
    reorder(*outer, *inner, lanes[1])
    work = prod(block.likely_extents)
    shared = prod(loop.likely_trips for loop in outer[:-1])
    if not outer:
        top = parallel = add_unit_loop((*inner, lanes[1])[0])
    elif shared >= PARALLEL_SHARES:
        parallel, top = fuse_known(outer[:-1]), outer[-1]
    else:
        top = parallel = fuse_known(outer)
    for each in rest:
        compute_at(each, top)
        set_scope(written_buffer(each), Scope.LOCAL)
    if work >= PARALLEL_MIN_STEPS and parallel.likely_trips > 1 and is_chosen("parallel", block):
        set_kind(parallel, ForKind.PARALLEL)
    under = set(all_within(top, ForOp))
    for each in chain:
        *tile, lane = [loop for loop in enclosing_loops(each) if loop in under]
        for loop in tile:
            set_kind(loop, ForKind.UNROLLED)
        set_kind(lane, ForKind.VECTORIZED)
