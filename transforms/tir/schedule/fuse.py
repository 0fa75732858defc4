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

Does not: fuse loops over an inner one whose extent is a symbol. Counterpart of TVM's `fuse`.
"""

from __future__ import annotations

from itertools import pairwise

from xdsl.ir.affine import AffineExpr

from ....dialects.support.facts import while_unchanged
from ....dialects.support.interned import index_attribute
from ....dialects.tir.affine import linear
from ....dialects.tir.core import ForOp, blocks_under
from ....dialects.tir.symbols import as_affine, as_extent
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
            if loop.is_symbolic:
                why = "cannot fuse: how the loop outside moves on depends on an extent that is a symbol"
                raise ScheduleError.at(loop, why, hint="only the outermost of the fused loops may have such")
    for first, second in pairwise(loops):
        if list(first.body.block.ops) != [second]:
            raise ScheduleError.at(second, "cannot fuse: the loops are not directly nested")


def fuse(*loops: ForOp) -> ForOp:
    """Fuse directly nested loops (outermost first) into one.

    Raises:
        ScheduleError: as `check_fuse` says.
    """
    check_fuse(*loops)
    outer, *rest = loops
    if not rest:
        return outer
    extents = [1, *(loop.trip_count for loop in rest)]
    starts = [loop.start for loop in loops]
    fused = outer
    variable = AffineExpr.dimension(0)
    replacement: dict[ForOp, AffineExpr] = {}
    stride = 1
    for position in range(len(loops) - 1, -1, -1):
        part = variable // stride if stride > 1 else variable
        replacement[loops[position]] = (part % extents[position] if position else part) + starts[position]
        stride *= extents[position]
    innermost = loops[-1]
    contents = list(innermost.body.block.ops)
    blocks = blocks_under(innermost)
    for op in contents:
        op.detach()
    rest[0].detach()
    fused.size = as_extent(linear(as_affine(loops[0].size) * stride).to_expr())
    fused.properties["min"] = index_attribute(0)
    fused.body.block.add_ops(contents)
    names = [loop.var.name_hint or "i" for loop in loops]
    for block in blocks:
        rebind(block, {loop.var: ValueExpr(expr, (fused.var,)) for loop, expr in replacement.items()})
    fused.var.name_hint = "_".join(names)
    return fused
