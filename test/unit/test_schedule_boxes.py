"""Which values of an index follow each other in one iteration of outer loops, whose extents may be symbols."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from native import parse
from xdsl.ir.affine import AffineExpr

from weft.dialects.tir.affine import Linear
from weft.dialects.tir.blocks import BlockOp
from weft.transforms.tir.schedule.boxes import Part, box_of, part_of_sum

FUNCTION = """
tir.prim_func @f(%x: memref<?x4xf32>, %y: memref<?x4xf32>, %n: index) shapes(%x[%n, 4], %y[%n, 4]) {
  tir.for %i = 0 to %n {
    tir.for %k = 0 to 4 {
      tir.block @b(%vi: spatial %n, %vk: spatial 4) = [%i, %k]
          reads(%x[%vi, %vk] : memref<?x4xf32>) writes(%y[%vi, %vk] : memref<?x4xf32>) {
        %0 = memref.load %x[%vi, %vk] : memref<?x4xf32>
        memref.store %0, %y[%vi, %vk] : memref<?x4xf32>
      }
    }
  }
}
"""
ROW, COLUMN, SIZE, ZERO = (
    AffineExpr.dimension(0),
    AffineExpr.dimension(1),
    AffineExpr.symbol(2),
    AffineExpr.constant(0),
)


@pytest.mark.parametrize(
    ("index", "outer", "part"),
    [
        (ROW, 0, Part(ZERO, SIZE)),
        (ROW, 1, Part(AffineExpr.dimension(0), 1)),
        (COLUMN, 1, Part(ZERO, 4)),
        (COLUMN * 2, 0, None),
        (ROW * 2, 0, None),
        (ROW + COLUMN, 0, None),  # n + 3 values, which no extent says
        (ROW + COLUMN, 1, Part(AffineExpr.dimension(0), 4)),
        (ROW + COLUMN // 2, 1, Part(AffineExpr.dimension(0), 2)),
        (COLUMN % 3, 1, Part(ZERO, 3)),
    ],
    ids=str,
)
def test_the_values_of_an_index_in_one_iteration(index: AffineExpr, outer: int, part: Part | None) -> None:
    assert _box([index], outer) == (None if part is None else [part])


def _box(indices: Sequence[AffineExpr], outer: int) -> list[Part] | None:
    (block,) = (op for op in parse(FUNCTION).walk() if isinstance(op, BlockOp))
    return box_of(block, indices, list(block.loop_vars)[:outer])


def test_indices_take_together_what_each_takes_where_they_are_digits_of_a_loop() -> None:
    assert _box([COLUMN // 2 + ROW, COLUMN % 2], 1) == [Part(AffineExpr.dimension(0), 2), Part(ZERO, 2)]
    assert _box([COLUMN, COLUMN], 1) is None and _box([COLUMN // 2, COLUMN], 1) is None
    assert _box([COLUMN // 3, COLUMN % 3], 1) is None  # (1, 1) and (1, 2) are left out


@pytest.mark.parametrize(
    ("rows", "extent", "part"),
    [
        (Part(ZERO, 3), 5, Part(ZERO, 12)),
        (Part(AffineExpr.constant(2), 3), 5, Part(AffineExpr.constant(8), 12)),
        (Part(ZERO, SIZE), 5, None),
        (Part(ZERO, 3), SIZE, None),
    ],
    ids=str,
)
def test_the_values_of_a_place_in_rows(rows: Part, extent: int | AffineExpr, part: Part | None) -> None:
    """Four to a row: `row * 4 + column`, of some rows and all columns."""
    place = Linear({ROW: 4, COLUMN: 1}, 0)
    assert part_of_sum(place, [rows, Part(ZERO, 4)], [extent, 4], []) == part
