"""`fuse`: directly nested loops become one.

Before -> after `fuse(i, j)`:

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
  tir.for %i_j = 0 to 32 {
    tir.block @copy(%vi: spatial 4, %vj: spatial 8) = [%i_j floordiv 8, %i_j mod 8]
        reads(%x[%vi, %vj] : memref<4x8xf32>) writes(%y[%vi, %vj] : memref<4x8xf32>) {
      %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
      memref.store %0, %y[%vi, %vj] : memref<4x8xf32>
    }
  }
}
```

Where inner extents are symbols, iterators are quotients and remainders by these: the fused loop runs only where none of
them is 0. Counterpart of TVM's `fuse`.
"""

from __future__ import annotations

from itertools import pairwise

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.support.facts import while_unchanged
from ....dialects.support.interned import index_attribute
from ....dialects.tir.affine import linear
from ....dialects.tir.analyzer import from_affine
from ....dialects.tir.core import ForOp, blocks_under
from ....dialects.tir.legality.known import Facts
from ....dialects.tir.symbols import as_affine, as_extent, assumed_around, product, quotient, remainder
from .checks import (
    check_free,
    check_kinds,
    check_live,
)
from .errors import ScheduleError
from .rebind import ValueExpr, rebind


@while_unchanged
def check_fuse(*loops: ForOp) -> None:
    """Whether `loops` can be fused.

    Raises:
        ScheduleError: a loop's body is more than the next loop, they are of several kinds, one has no iterations, or
            has a thread or annotations.
    """
    check_live(*loops)
    if len(loops) > 1:
        for loop in loops:
            check_free(loop)
            if loop.size == 0:
                raise ScheduleError.at(loop, "cannot fuse: the loop has no iterations")
        check_kinds(loops, loops[0].for_kind)
        for loop in loops[1:]:
            if not _is_natural(loop):
                why = "cannot fuse: the loop's extent may be below 0, and that of two such loops together above"
                raise ScheduleError.at(loop, why, hint="fuse loops over extents that are sizes, or their quotients")
    for first, second in pairwise(loops):
        if list(first.body.block.ops) != [second]:
            raise ScheduleError.at(second, "cannot fuse: the loops are not directly nested")


def _is_natural(loop: ForOp) -> bool:
    """Whether the extent of `loop` is shown not to be below 0."""
    if not loop.is_symbolic:
        return True
    known = Facts((), tuple(assumed_around(loop))).about([loop.size]).shared()
    return known.can_prove(from_affine(as_affine(loop.size)) >= 0)


def fuse(*loops: ForOp) -> ForOp:
    """Fuse directly nested loops (outermost first) into one.

    Raises:
        ScheduleError: as `check_fuse` says.
    """
    check_fuse(*loops)
    outer, *rest = loops
    if not rest:
        return outer
    extents = [as_affine(loop.size) for loop in loops]
    starts = [loop.start for loop in loops]
    fused = outer
    left: AffineExpr = AffineExpr.dimension(0)
    size: AffineExpr = AffineConstantExpr(1)
    replacement: dict[ForOp, AffineExpr] = {}
    for loop, extent, start in reversed(list(zip(loops, extents, starts, strict=True))):
        replacement[loop] = (left if loop is outer else remainder(left, extent)) + start
        left = quotient(left, extent)
        size = linear(product(extent, size)).to_expr()
    innermost = loops[-1]
    contents = list(innermost.body.block.ops)
    blocks = blocks_under(innermost)
    for op in contents:
        op.detach()
    rest[0].detach()
    fused.size = as_extent(size)
    fused.properties["min"] = index_attribute(0)
    fused.body.block.add_ops(contents)
    names = [loop.var.name_hint or "i" for loop in loops]
    for block in blocks:
        rebind(block, {loop.var: ValueExpr(expr, (fused.var,)) for loop, expr in replacement.items()})
    fused.var.name_hint = "_".join(names)
    return fused
