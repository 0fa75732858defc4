"""`merge`: what it computes, and which loops it refuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import ForKind, ForOp, PrimFuncOp, blocks_under, enclosing_loops
from weft.dialects.tir.interpreter import Interpreter
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.schedule.errors import ScheduleError
from weft.transforms.tir.schedule.merge import merge
from weft.transforms.tir.schedule.set_kind import set_kind


def block(name: str, reads: str, writes: str, extents: str = "spatial 8, spatial 4", at: str = "%i, %j") -> str:
    """A nest that adds an element to itself."""
    first, second = extents.split(", ")
    rows, columns = first.split()[1], second.split()[1]
    return f"""
      tir.for %i = 0 to {rows} {{
        tir.for %j = 0 to {columns} {{
          tir.block @{name}(%a: {first}, %b: {second}) = [{at}]
              reads({reads} : memref<8x4xf32>) writes({writes} : memref<8x4xf32>) {{
            %0 = memref.load {reads} : memref<8x4xf32>
            %1 = arith.addf %0, %0 : f32
            memref.store %1, {writes} : memref<8x4xf32>
          }}
        }}
      }}"""


def function(*nests: str) -> PrimFuncOp:
    text = f"""tir.prim_func @f(%x: memref<8x4xf32>, %y: memref<8x4xf32>, %z: memref<8x4xf32>) {{{"".join(nests)}
    }}"""
    module = parse_module(text, new_ir_context(), "f.mlir")
    module.verify()
    func = module.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


def tops(func: PrimFuncOp) -> list[ForOp]:
    return [op for op in func.region.block.ops if isinstance(op, ForOp)]


def computed(func: PrimFuncOp) -> list[object]:
    return list(Interpreter(func)([np.arange(32, dtype="f4").reshape(8, 4)]))


WRITE = block("write", "%x[%a, %b]", "%y[%a, %b]")


@pytest.mark.parametrize(
    "second", [block("row", "%y[%a, %b]", "%z[%a, %b]"), block("other", "%x[%a, %b]", "%z[%a, %b]")]
)
def test_rows_that_need_their_own_row_are_merged_and_so_are_their_columns(second: str) -> None:
    func = function(WRITE, second)
    before = computed(func)
    top = merge(*tops(func))
    assert tops(func) == [top]
    inner = [op for op in top.body.block.ops if isinstance(op, ForOp)]
    assert len(inner) == 2
    merge(*inner)
    func.verify()
    assert {len(enclosing_loops(each)) for each in blocks_under(func)} == {2}
    for a, b in zip(computed(func), before, strict=True):
        np.testing.assert_array_equal(a, b)


def test_three_loops_become_one() -> None:
    func = function(WRITE, block("p", "%y[%a, %b]", "%z[%a, %b]"), block("q", "%z[%a, %b]", "%z[%a, %b]"))
    before = computed(func)
    merge(*tops(func))
    for a, b in zip(computed(func), before, strict=True):
        np.testing.assert_array_equal(a, b)


def shifted() -> PrimFuncOp:
    """Reads a row that another iteration writes."""
    return function(WRITE, block("later", "%y[%a, %b]", "%z[%a, %b]", at="%i * -1 + 7, %j"))


def crossed() -> PrimFuncOp:
    """Reads columns as rows."""
    return function(
        block("write", "%x[%a, %b]", "%y[%a, %b]", "spatial 4, spatial 4"),
        block("later", "%y[%b, %a]", "%z[%a, %b]", "spatial 4, spatial 4"),
    )


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (shifted, "that another of the other loop does$"),
        (crossed, "that another of the other loop does$"),
        (lambda: function(WRITE, block("p", "%y[%a, %b]", "%z[%a, %b]", "spatial 4, spatial 4")), "the same values"),
        (lambda: function(WRITE), "two loops or more"),
    ],
)
def test_what_would_change_results_is_refused(make: Callable[[], PrimFuncOp], why: str) -> None:
    func = make()
    before = str(func)
    with pytest.raises(ScheduleError, match=why):
        merge(*tops(func))
    assert str(func) == before


def test_loops_that_do_not_follow_one_another_are_refused() -> None:
    func = function(WRITE, block("p", "%x[%a, %b]", "%z[%a, %b]"), block("q", "%y[%a, %b]", "%y[%a, %b]"))
    first, second, third = tops(func)
    for wrong in ((first, third), (second, first), (first, first)):
        with pytest.raises(ScheduleError, match="something is between"):
            merge(*wrong)


def test_loops_of_kinds_are_refused() -> None:
    func = function(WRITE, block("p", "%y[%a, %b]", "%z[%a, %b]"))
    set_kind(tops(func)[1], ForKind.PARALLEL)
    with pytest.raises(ScheduleError, match="is parallel, not serial"):
        merge(*tops(func))
