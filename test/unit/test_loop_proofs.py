"""What is proved of the variables of loops whose extents are symbols."""

from __future__ import annotations

import pytest
from native import parse
from xdsl.ir.affine import AffineExpr

from weft.dialects.tir.loops import ForOp
from weft.transforms.tir.analysis.proofs import always_holds

FUNCTION = """
tir.prim_func @f(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) shapes(%x[%n], %y[%n]) {
  tir.for %i = 0 to %n {
    tir.block @b(%v: spatial %n) = [%i] reads(%x[%v] : memref<?xf32>) writes(%y[%v] : memref<?xf32>) {
      %0 = memref.load %x[%v] : memref<?xf32>
      memref.store %0, %y[%v] : memref<?xf32>
    }
  }
}
"""
VARIABLE, SIZE = AffineExpr.dimension(0), AffineExpr.symbol(2)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (SIZE - VARIABLE - 1, True),
        (SIZE - VARIABLE - 2, False),
        (VARIABLE + SIZE, True),
        (VARIABLE * 2 + SIZE * 3 + 4, True),
        (VARIABLE - SIZE, False),
        (VARIABLE + SIZE - 1, True),  # where the loop runs, there is one at least
        (VARIABLE + SIZE - 2, False),
    ],
    ids=str,
)
def test_a_condition_holds_wherever_the_loop_runs(condition: AffineExpr, holds: bool) -> None:
    (loop,) = (op for op in parse(FUNCTION).walk() if isinstance(op, ForOp))
    assert always_holds(condition, [loop.var]) == holds
