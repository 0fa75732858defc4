"""What is shown of the operands of integer arithmetic, and of conversions to integers, so that they need no care."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.ir import Operation

from weft.dialects.support.parser import parse_module
from weft.lowering.total_arith import Misfit, is_by_literal, may_divide_by_zero, may_overflow, may_shift_out, misfit
from weft.transforms.infra.registry import new_ir_context

LOOP = """
  %first = arith.constant {low} : index
  %end = arith.constant {high} : index
  %step = arith.constant 1 : index
  scf.for %i = %first to %end step %step {{
    %n = arith.index_cast %i : index to i32
    %z = arith.{operation} : i32
  }}
"""


def last_of(lines: str) -> Operation:
    """The last operation of `arith` among `lines`, over integers `%x` and `%b`, and floats `%f` and `%h`."""
    text = f"func.func @k(%x: i32, %b: i8, %f: f32, %h: f16) {{\n{lines}\n  func.return\n}}"
    return [op for op in parse_module(text, new_ir_context()).walk() if op.name.startswith("arith.")][-1]


@pytest.mark.parametrize(
    ("low", "high", "operation", "asked", "may"),
    [
        (0, 32, "shli %x, %n", may_shift_out, False),
        (0, 33, "shli %x, %n", may_shift_out, True),
        (-1, 32, "shrui %x, %n", may_shift_out, True),
        (1, 9, "divsi %x, %n", may_divide_by_zero, False),
        (0, 9, "divsi %x, %n", may_divide_by_zero, True),
        (-9, 0, "divsi %x, %n", may_divide_by_zero, False),
        (-9, 1, "remsi %x, %n", may_divide_by_zero, True),
        (0, 9, "remsi %x, %n", may_overflow, False),
        (-9, -1, "remsi %x, %n", may_overflow, False),
        (-9, 0, "remsi %x, %n", may_overflow, True),
        (-9, 0, "divui %x, %n", may_overflow, False),
        (-9, 0, "divsi %n, %x", may_overflow, False),  # the dividend is not the least integer
        (1 - (1 << 31), 0, "divsi %n, %x", may_overflow, False),
        (-(1 << 31), 0, "divsi %n, %x", may_overflow, True),
    ],
)
def test_the_variable_of_a_loop_shows_what_need_not_be_seen_to(
    low: int, high: int, operation: str, asked: Callable[[Operation], bool], may: bool
) -> None:
    assert asked(last_of(LOOP.format(low=low, high=high, operation=operation))) is may


@pytest.mark.parametrize(
    ("test", "other", "may"),
    [
        ("eq, %x, %zero", "%one", False),
        ("ne, %x, %zero", "%one", True),
        ("eq, %x, %one", "%one", True),  # another number is replaced
        ("eq, %x, %zero", "%zero", True),
        ("eq, %y, %zero", "%one", True),  # another value is asked about
    ],
)
def test_a_number_that_was_replaced_is_none_to_divide_by(test: str, other: str, may: bool) -> None:
    lines = f"""
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %y = arith.addi %x, %one : i32
      %c = arith.cmpi {test} : i32
      %d = arith.select %c, {other}, %x : i32
      %z = arith.divui %y, %d : i32
    """
    assert may_divide_by_zero(last_of(lines)) is may


@pytest.mark.parametrize(("value", "is_literal"), [("%c", True), ("%x", False)])
def test_a_literal_is_one_in_however_many_lanes_it_stands(value: str, is_literal: bool) -> None:
    lines = f"""
      %c = arith.constant 7 : i32
      %p = vector.broadcast {value} : i32 to vector<4xi32>
      %q = vector.broadcast %p : vector<4xi32> to vector<2x4xi32>
      %z = arith.divsi %q, %q : vector<2x4xi32>
    """
    assert is_by_literal(last_of(lines)) is is_literal


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        ("-128.5", "127.5", Misfit(low=False, high=False, nan=True)),  # which are rounded towards zero
        ("-129.0", "127.5", Misfit(low=True, high=False, nan=True)),
        ("-128.5", "128.0", Misfit(low=False, high=True, nan=True)),
    ],
)
def test_floats_that_are_cut_to_less_than_one_beyond_a_type_fit(low: str, high: str, shown: Misfit) -> None:
    lines = f"""
      %low = arith.constant {low} : f32
      %high = arith.constant {high} : f32
      %below = arith.cmpf ogt, %low, %f : f32
      %a = arith.select %below, %low, %f : f32
      %above = arith.cmpf ogt, %a, %high : f32
      %cut = arith.select %above, %high, %a : f32
      %z = arith.fptosi %cut : f32 to i8
    """
    assert misfit(last_of(lines)) == shown


def test_a_bound_that_may_be_no_number_shows_nothing() -> None:
    """The comparison of NaN with a number fails: the number is left, which is on no side of it."""
    lines = """
      %low = arith.constant 0.0 : f32
      %nan = arith.constant 0x7FC00000 : f32
      %1 = arith.maximumf %low, %f : f32
      %2 = arith.cmpf ogt, %f, %1 : f32
      %3 = arith.select %2, %f, %1 : f32
      %4 = arith.cmpf ogt, %1, %f : f32
      %5 = arith.select %4, %1, %f : f32
      %z = arith.fptoui %5 : f32 to i8
    """
    assert misfit(last_of(lines)) == Misfit(low=True, high=True, nan=True)


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        # The greatest integers are rounded to one that is none of them any more.
        ("%1 = arith.sitofp %x : i32 to f32\n%z = arith.fptosi %1 : f32 to i32", Misfit(True, True, False)),
        ("%1 = arith.uitofp %x : i32 to f32\n%z = arith.fptoui %1 : f32 to i32", Misfit(False, True, False)),
        ("%1 = arith.sitofp %b : i8 to f32\n%z = arith.fptosi %1 : f32 to i8", Misfit(False, False, False)),
        ("%1 = arith.uitofp %b : i8 to f16\n%z = arith.fptoui %1 : f16 to i8", Misfit(False, False, False)),
        ("%1 = arith.sitofp %b : i8 to f32\n%z = arith.fptoui %1 : f32 to i8", Misfit(True, False, False)),
        ("%1 = arith.sitofp %x : i32 to f16\n%z = arith.fptosi %1 : f16 to i64", Misfit(True, True, True)),
    ],
)
def test_floats_of_integers_lie_between_these_unless_they_are_rounded(lines: str, shown: Misfit) -> None:
    assert misfit(last_of(lines)) == shown
