"""`split`: a loop becomes a nest of loops, whose iterations are its own in their order.

Before -> after `split(j, [None, 4])`:

```mlir
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @copy(%vi: spatial 4, %vj: spatial 8) = [%i, %j] reads(%x[%vi, %vj] : memref<4x8xf32>)
          writes(%y[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %y[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 2 {
      tir.for %j_1 = 0 to 4 {
        tir.block @copy(%vi: spatial 4, %vj: spatial 8) = [%i, %j * 4 + %j_1] reads(%x[%vi, %vj] : memref<4x8xf32>)
            writes(%y[%vi, %vj] : memref<4x8xf32>) {
          %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
          memref.store %0, %y[%vi, %vj] : memref<4x8xf32>
        }
      }
    }
  }
}
```

Where the factors do not divide the extent, a predicate keeps blocks inside. One factor may be left out: it is what the
others leave, of a symbol too. Inner loops may have as many iterations as a size says: it is positive at each call, from
then on (`assumed`). Counterpart of TVM's `split`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from math import prod

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.support.facts import while_unchanged
from ....dialects.tir.affine import linear, substitute
from ....dialects.tir.analyzer import from_affine, to_affine
from ....dialects.tir.core import BlockOp, ForOp, blocks_under, enclosing_loops
from ....dialects.tir.legality.known import Facts
from ....dialects.tir.legality.symbolic import unshown_divisor
from ....dialects.tir.symbols import Extent, as_affine, as_extent, assume, assumed_around, divisors_in, product
from ..analysis.producers import function_of
from .checks import (
    check_free,
    check_known_trips,
    check_live,
)
from .errors import ScheduleError
from .rebind import ValueExpr, assign, rebind


@while_unchanged
def check_split(loop: ForOp, factors: Sequence[Extent], outer: int | None = None) -> None:
    """Whether `loop` can be split by `factors`. With an `outer` one, one that is a symbol's has what the others leave.

    Raises:
        ScheduleError: a factor is not positive, the loop does not start at 0, or has a thread or annotations, or the
            loops would have fewer iterations than it has, or might, as that is a symbol; iterations that run at the
            same time would be more than it has; or what divides in a block is not shown to stay positive.
    """
    check_live(loop)
    check_free(loop)
    known = [factor for factor in factors if isinstance(factor, int)]
    is_left = outer is not None and len(known) < len(factors)
    if outer is not None and not is_left and prod((outer, *known)) < check_known_trips(loop):
        raise ScheduleError.at(
            loop,
            f"cannot split into {[outer, *factors]}: that is fewer than its {loop.size} iterations",
            hint="leave one factor out, for the loop to say",
        )
    if any(f < 1 for f in known) or (outer is not None and outer < 1):
        raise ScheduleError.at(loop, f"cannot split into {known}: factors must be positive")
    if is_left and loop.for_kind.is_concurrent:
        what = f"cannot split a {loop.for_kind.value} loop so that an inner one has what is left of a symbol"
        raise ScheduleError.at(loop, what, hint="choose the kinds of loops last")
    if outer is not None and loop.for_kind.is_concurrent and outer > -(-check_known_trips(loop) // prod(known)):
        raise ScheduleError.at(
            loop,
            f"cannot split a {loop.for_kind.value} loop into {[outer, *factors]}: what it repeats would run at the "
            "same time",
            hint="leave one factor out, for the loop to say, or choose the kinds of loops last",
        )
    if loop.start != 0:
        raise ScheduleError.at(loop, f"cannot split a loop that starts at {loop.start}")
    for block in blocks_under(loop):
        if any(divisors_in((*block.bindings.data.results, *block.conditions))):
            _check_divisors(block, loop, factors, outer)


def _check_divisors(block: BlockOp, loop: ForOp, factors: Sequence[Extent], outer: Extent | None) -> None:
    """What `block` is addressed by quotients by is still shown to be positive, with these loops in place of `loop`."""
    if outer is None:
        outer = _quotient_up(loop, reduce(product, map(as_affine, factors), as_affine(1)))
    others = [each.size for each in enclosing_loops(block) if each is not loop]
    if unshown_divisor(block, [*factors, outer, *others]) is not None:
        why = f"cannot split: it is not shown that what block @{block.block_name} is divided by stays positive"
        raise ScheduleError.at(loop, why, hint="split before loops are fused")


def split(loop: ForOp, factors: Sequence[Extent], outer: int | None = None) -> list[ForOp]:
    """Split `loop` into a nest: an outer loop and one inner loop for each of `factors`, outermost first.

    The outer loop has as many iterations as it takes, or `outer`, which may be more.

    Where the product of the factors does not divide the extent, blocks get a predicate that keeps them inside.

    Raises:
        ScheduleError: as `check_split` says.
    """
    check_split(loop, factors, outer)
    extent = loop.size
    inner: AffineExpr = AffineConstantExpr(1)
    for factor in factors:
        inner = product(inner, as_affine(factor))
    outer_extent = _quotient_up(loop, inner) if outer is None else outer
    if outer is None:
        assume(function_of(loop), [expr - 1 for expr in factors if not isinstance(expr, int)])
    divides = linear(product(as_affine(outer_extent), inner)) == linear(as_affine(extent))
    name = loop.var.name_hint or "i"
    loops = [loop, *(ForOp(f, name_hint=f"{name}_{n}") for n, f in enumerate(factors, 1))]
    loop.size = outer_extent
    loop.var.name_hint = f"{name}_0"
    contents = list(loop.body.block.ops)
    blocks = blocks_under(loop)
    for op in contents:
        op.detach()
    for around, nested in pairwise(loops):
        around.body.block.add_op(nested)
    loops[-1].body.block.add_ops(contents)
    expr: AffineExpr = AffineConstantExpr(0)
    for position, size in enumerate((1, *factors)):
        expr = product(expr, as_affine(size)) + AffineExpr.dimension(position)
    whole = ValueExpr(expr, tuple(each.var for each in loops))
    for block in blocks:
        uses = loop.var in block.loop_vars
        if uses:
            rebind(block, {loop.var: whole})
        if not divides and (uses or _counts_runs(block, blocks)):
            _add_condition(block, ValueExpr(as_affine(extent) + (expr * -1 - 1), whole.values))
    return loops


def _counts_runs(block: BlockOp, blocks: Sequence[BlockOp]) -> bool:
    """Whether it matters how often an instance of `block` runs: it goes on from what it wrote before, or undoes what
    another of the `blocks` writes."""
    written = set(block.writes)
    return block.is_reduction or any(
        not written.isdisjoint(other.reads if other is block else other.writes) for other in blocks
    )


def quotient_up(extent: Extent, divisor: int) -> Extent:
    """The least number of times that `divisor` fills `extent`."""
    if isinstance(extent, int):
        return -(-extent // divisor)
    return as_extent(linear(extent.ceil_div(divisor)).to_expr())


def _quotient_up(loop: ForOp, inner: AffineExpr) -> Extent:
    """How many times `inner`, which is positive, fills the extent of `loop`."""
    if isinstance(inner, AffineConstantExpr):
        return quotient_up(loop.size, inner.value)
    analyzer = Facts((), tuple(assumed_around(loop)), positive=(inner,)).about([loop.size]).analyzer()
    divisor = from_affine(inner)
    found = to_affine(analyzer.simplify((from_affine(as_affine(loop.size)) + divisor - 1) // divisor))
    assert found is not None
    return as_extent(found)


def _add_condition(block: BlockOp, condition: ValueExpr) -> None:
    """Let `block` run only where `condition >= 0`."""
    values = list(block.loop_vars)
    for value in condition.values:
        if value not in values:
            values.append(value)
    dims = [AffineExpr.dimension(values.index(v)) for v in condition.values]
    added = substitute(condition.expr, dims)
    assign(block, block.bindings.data.results, [*block.conditions, added], values)
