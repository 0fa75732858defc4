"""Which operations keep each rounding: what is rounded to whole numbers, and what computes it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from native import parse
from xdsl.context import Context
from xdsl.dialects import arith

from weft.dialects.tir.float_flags import CONTRACT, NONE
from weft.transforms.tir.keep_roundings import FEW, KeepRoundingsPass

KERNEL = """
tir.prim_func @k(%x: memref<{count}xf32>, %y: memref<{count}x{type}>) {{
  tir.for %i = 0 to {count} {{
    tir.block @y(%v: spatial {count}) = [%i] reads(%x[%v] : memref<{count}xf32>)
        writes(%y[%v] : memref<{count}x{type}>) {{
      %0 = memref.load %x[%v] : memref<{count}xf32>
      %1 = arith.mulf %0, %0 fastmath<contract> : f32
      {body}
      memref.store %z, %y[%v] : memref<{count}x{type}>
    }}
  }}
}}
"""


def is_kept(body: str, type: str = "f32", count: int = 100) -> bool:
    """Whether the product of a kernel loses its leave to become a part of another operation."""
    module = parse(KERNEL.format(body=body, type=type, count=count))
    KeepRoundingsPass().apply(Context(), module)
    module.verify()
    (product,) = [op for op in module.walk() if isinstance(op, arith.MulfOp)]
    assert product.fastmath in (CONTRACT, NONE)
    return product.fastmath == NONE


ROUNDING: Mapping[str, str] = {
    **{name: f"%z = math.{name} %1 : f32" for name in ("floor", "ceil", "round", "roundeven", "trunc")},
    **{name: f"%z = arith.{name} %1 : f32 to i32" for name in ("fptosi", "fptoui")},
}


@pytest.mark.parametrize("name", ROUNDING)
def test_what_is_rounded_to_a_whole_number_is_rounded_before(name: str) -> None:
    assert is_kept(ROUNDING[name], "i32" if name.startswith("fpto") else "f32")


@pytest.mark.parametrize(
    "between",
    [
        "arith.addf %1, %0 : f32",  # which is kept already
        "arith.addf %0, %1 fastmath<contract> : f32",
        "arith.divf %0, %1 : f32",
        "arith.negf %1 : f32",
        "arith.maximumf %0, %1 : f32",
        "arith.minimumf %1, %0 : f32",
        "arith.maxnumf %0, %1 : f32",
        "arith.minnumf %1, %0 : f32",
        "math.sqrt %1 : f32",
        "math.absf %1 : f32",
        "math.ceil %1 : f32",
    ],
)
def test_so_is_what_it_is_computed_of(between: str) -> None:
    assert is_kept(f"%2 = {between}\n      %z = math.floor %2 : f32")


def test_what_nobody_rounds_is_left_where_there_are_more_numbers_than_sizes() -> None:
    copy = "%z = arith.addf %1, %0 fastmath<contract> : f32"
    assert is_kept(copy, count=FEW) and not is_kept(copy, count=FEW + 1)


SUM = """
tir.prim_func @k(%x: memref<8xf32>, %s: memref<1xf32>, %y: memref<1xf32>) {
  tir.for %k = 0 to 8 {
    tir.block @sum(%vk: reduce 8) = [%k] reads(%x[%vk] : memref<8xf32>) writes(%s[0] : memref<1xf32>) {
      %z = arith.constant 0 : index
      %0 = memref.load %s[%z] : memref<1xf32>
      %1 = memref.load %x[%vk] : memref<8xf32>
      %2 = arith.addf %0, %1 fastmath<contract,reassoc> : f32
      memref.store %2, %s[%z] : memref<1xf32>
    } init(%wk) {
      %z = arith.constant 0 : index
      %3 = arith.constant 0.0 : f32
      memref.store %3, %s[%z] : memref<1xf32>
    }
  }
  tir.block @y() = [] reads(%s[0] : memref<1xf32>) writes(%y[0] : memref<1xf32>) {
    %z = arith.constant 0 : index
    %0 = memref.load %s[%z] : memref<1xf32>
    %1 = arith.mulf %0, %0 fastmath<contract> : f32
    memref.store %1, %y[%z] : memref<1xf32>
  }
}
"""


def test_few_numbers_that_are_made_of_sums_are_no_sizes() -> None:
    module = parse(SUM)
    KeepRoundingsPass().apply(Context(), module)
    (product,) = [op for op in module.walk() if isinstance(op, arith.MulfOp)]
    assert product.fastmath == CONTRACT
