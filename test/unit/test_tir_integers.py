"""Between which values integers lie that a body computes."""

from __future__ import annotations

import pytest
from xdsl.dialects import test
from xdsl.dialects.arith import (
    AddiOp,
    ConstantOp,
    DivUIOp,
    ExtSIOp,
    ExtUIOp,
    FloorDivSIOp,
    IndexCastOp,
    MaxSIOp,
    MinSIOp,
    MuliOp,
    RemUIOp,
    SelectOp,
    ShLIOp,
    SubiOp,
)
from xdsl.dialects.builtin import IndexType, IntegerAttr, i1, i8, i32
from xdsl.ir import Attribute, SSAValue

from weft.dialects.tir.checks import CheckOp
from weft.dialects.tir.integers import Range, ValueRanges, value_range

index = IndexType()
LEAST, GREATEST = -(1 << 63), (1 << 63) - 1


def data(type: Attribute = index) -> SSAValue:
    """A value of which nothing is known but its type."""
    return test.TestOp(result_types=[type]).results[0]


def number(value: int) -> SSAValue:
    return ConstantOp(IntegerAttr(value, index)).result


def test_the_type_says_what_is_known_of_data() -> None:
    assert [value_range(data(type), {}) for type in (index, i32, i8, i1)] == [
        (LEAST, GREATEST), (-(1 << 31), (1 << 31) - 1), (-128, 127), (0, 1),
    ]  # fmt: skip


i, j, x, c = data(), data(), data(), data(i1)
ITERATORS: dict[SSAValue, Range] = {i: (0, 3), j: (0, 7)}


def clipped(value: SSAValue) -> SSAValue:
    return MinSIOp(MaxSIOp(value, number(0)).result, number(9)).result


CASES: list[tuple[SSAValue, Range]] = [
    (AddiOp(MuliOp(i, number(8)).result, j).result, (0, 31)),
    (SubiOp(i, j).result, (-7, 3)),
    (SubiOp(i, i).result, (0, 0)),
    (clipped(x), (0, 9)),
    (RemUIOp(x, number(5)).result, (0, 4)),
    (DivUIOp(x, number(2)).result, (LEAST, GREATEST)),
    (DivUIOp(j, number(2)).result, (0, 3)),
    (FloorDivSIOp(SubiOp(i, j).result, number(4)).result, (-2, 0)),
    (SubiOp(x, MuliOp(FloorDivSIOp(x, number(6)).result, number(6)).result).result, (0, 5)),
    (SubiOp(j, MuliOp(FloorDivSIOp(j, number(6)).result, number(6)).result).result, (0, 5)),
    (SelectOp(c, i, AddiOp(j, number(2)).result).result, (0, 9)),
    (CheckOp(x, x, 10, "{index}").result, (0, 9)),
    (CheckOp(x, x, data(), "{index}").result, (0, (1 << 48) - 1)),
    (IndexCastOp(data(i8), index).result, (-128, 127)),
    (ExtSIOp(c, i32).result, (-1, 0)),
    (ExtUIOp(data(i8), i32).result, (0, 255)),
    (AddiOp(AddiOp(x, number(1)).result, number(-1)).result, (LEAST, GREATEST)),
]


@pytest.mark.parametrize(("value", "expected"), CASES)
def test_bounds_follow_from_the_operations(value: SSAValue, expected: Range) -> None:
    assert value_range(value, ITERATORS) == expected


def test_values_of_one_body_are_bounded_as_each_is_alone() -> None:
    for cases in (CASES, CASES[::-1]):
        ranges = ValueRanges(ITERATORS)
        assert [ranges.of(value) for value, _ in cases] == [bounds for _, bounds in cases]
    assert ranges.is_within(clipped(x), 10) and not ranges.is_within(clipped(x), 9)
    assert ranges.is_within(j, ITERATORS[j][1] + 1) and not ranges.is_within(j, ITERATORS[j][1])
    assert not ranges.is_within(x, 1 << 62) and not ranges.is_within(SubiOp(i, number(1)).result, 100)


def test_one_of_many_values_is_between_all_of_them() -> None:
    """As long as what chooses among the words of a random number's state."""
    value: SSAValue = j
    for _ in range(40):
        value = SelectOp(c, value, RemUIOp(AddiOp(value, number(3)).result, number(4)).result).result
    assert value_range(value, ITERATORS) == (0, max(ITERATORS[j][1], 3))


def test_a_result_that_wraps_may_be_anything() -> None:
    narrow = ConstantOp(IntegerAttr(100, i8)).result
    double = AddiOp(narrow, narrow).result
    assert value_range(double, {}) == (-128, 127)
    assert value_range(SubiOp(double, narrow).result, {}) == (100, 100)
    assert value_range(SubiOp(MaxSIOp(double, double).result, narrow).result, {}) == (-128, 127)


def test_long_chains_and_what_is_used_twice_are_read_once() -> None:
    small, product, clamped = i, j, x
    for _ in range(100):
        small = MaxSIOp(small, MinSIOp(small, number(3)).result).result
        product = MuliOp(product, product).result
        clamped = AddiOp(clipped(SubiOp(clamped, j).result), i).result
    assert value_range(small, ITERATORS) == (0, 3)
    assert value_range(product, ITERATORS) == (LEAST, GREATEST)
    assert value_range(clamped, ITERATORS) == (0, 12)


def test_a_shift_by_less_than_the_width_is_a_product() -> None:
    counts = {i: (0, 3), j: (0, 64)}
    assert value_range(ShLIOp(number(3), i).result, counts) == (3, 24)
    assert value_range(ShLIOp(number(1), j).result, counts) == (LEAST, GREATEST)
    narrow = ConstantOp(IntegerAttr(100, i8)).result
    assert value_range(ShLIOp(narrow, ConstantOp(IntegerAttr(1, i8)).result).result, {}) == (-128, 127)
