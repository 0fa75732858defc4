"""`weft.tir.IndexMap`: where elements go, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from weft import arith, te, tir
from weft.arith import IntExpr
from weft.dialects.support.arguments import ArgumentError
from weft.tir import IndexMap, Schedule
from weft.transforms.tir.schedule.errors import ScheduleError
from weft.transforms.tir.scheduling.index_maps import IndexMap as ScheduleMap


def blocked(i: arith.IntExpr, j: arith.IntExpr) -> list[arith.IntExpr]:
    return [j // 4, i, j % 4]


def turned(*indices: arith.IntExpr) -> tuple[arith.IntExpr, ...]:
    return indices[::-1]


def test_indices_and_shapes_are_mapped() -> None:
    map = IndexMap.from_func(blocked)
    assert map.map_indices([3, 9]) == [arith.const(2), arith.const(3), arith.const(1)]
    assert map.map_shape([5, 10]) == [arith.const(3), arith.const(5), arith.const(4)]
    n = arith.size_var("n")
    assert map.map_shape([n, 4])[1] == n
    with pytest.raises(ArgumentError, match="of 2 indices, and not of 1"):
        map.map_indices([1])
    with pytest.raises(ArgumentError, match="no least value from 0 on"):
        IndexMap.from_func(lambda i: i - 1).map_shape([4])


def test_indices_are_compared_by_pythons_operators_and_by_nodes() -> None:
    i, j = IndexMap.from_func(blocked).initial_indices
    met: Any = tir.And(i == 3, tir.Or(j < 1, tir.Not(j != 5)))
    assert str(met) == "(i == 3) && ((0 >= j) || (j == 5))"
    assert tir.And(tir.EQ(i, 3), tir.LT(j, 1)) is tir.And(i == 3, tir.GE(0, j))
    assert tir.FloorMod(tir.Add(i, 4), 4) is i % 4
    assert IndexMap.from_func(lambda k: [tir.Min(k, 3)]).map_indices([7]) == [arith.const(3)]
    both: Any = tir.EQ(i == 0, j == 0)
    assert str(both) == str((i == 0) == (j == 0)) == "(i == 0) == (j == 0)"
    for first, second in ((0, 0), (0, 1), (1, 0), (1, 2)):
        assert arith.evaluate(both, {i: first, j: second}) == ((first == 0) == (second == 0))
    assert tir.Add(i == 0, j) is tir.Add(j, (i == np.int64(0)).to_int_expr())
    assert i in (j, i) and i not in (j,) and {i: 1}[i] == 1 and (i, j) != (j, i)


def test_what_is_not_known_of_indices_has_no_truth() -> None:
    unknown: list[Callable[[IntExpr, IntExpr], object]] = [
        lambda i, j: 0 if i == 0 else i,
        lambda i, j: 0 if i != j else i,
        lambda i, j: 0 if i == np.int64(0) else i,
        lambda i, j: 0 if (i == 0) == (j == 0) else i,
        lambda i, j: [i, 3] if i // 4 == j // 4 else [j, i],
        lambda i, j: i if i in (j, i) else j,
        lambda i, j: i if i < 3 else j,
    ]
    for function in unknown:
        with pytest.raises(ArgumentError, match="is not known here"):
            IndexMap.from_func(function)
    known: Callable[[IntExpr, IntExpr], object] = lambda i, j: (i if i == i else j, j if i - i == 0 else i)  # noqa: E731
    assert str(IndexMap.from_func(known).final_indices) == "(i, j)"
    (i,) = IndexMap.from_func(lambda i: i).initial_indices
    with pytest.raises(ArgumentError, match="the truth of `i == 3`"):
        assert i == 3


def test_where_a_shape_leaves_gaps_is_what_nodes_say_of_it() -> None:
    map = IndexMap.from_func(lambda i: [(i + 1) // 4, (i + 1) % 4])
    inverse, gaps = map.non_surjective_inverse([14])
    i, j = inverse.initial_indices
    said: Any = tir.Or(tir.And(i == 0, j < 1), tir.And(i == 3, tir.EQ(3, j)))
    for first in range(4):
        for second in range(4):
            values: Any = {i: first, j: second}
            assert arith.evaluate(gaps, values) == arith.evaluate(said, values) == (first * 4 + second in (0, 15))


def test_fewer_elements_than_a_divisor_leave_gaps() -> None:
    map = IndexMap.from_func(lambda i: [i // 4, i % 4])
    for extent in (1, 3, 14):
        assert map.map_shape([extent]) == [arith.const(-(-extent // 4)), arith.const(4)]
        with pytest.raises(ArgumentError, match=f"no inverse there: 4 does not divide the extent {extent}"):
            map.inverse([extent])
    assert map.inverse([4]).map_indices([0, 3]) == [arith.const(3)]
    whole = IndexMap.from_func(lambda i: [(i + 1) // 4, (i + 1) % 4])
    assert whole.map_shape([15]) == [arith.const(4), arith.const(4)]


def test_a_map_is_turned_round_where_it_is_filled() -> None:
    map = IndexMap.from_func(blocked)
    back = map.inverse([6, 8])
    assert back.is_equivalent_to(IndexMap.from_func(lambda a, i, b: (i, a * 4 + b)))
    assert not back.is_equivalent_to(IndexMap.from_func(lambda a, i, b: (i, a * 4)))
    assert not back.is_equivalent_to(map) and not map.is_equivalent_to(IndexMap.from_func(lambda i, j: [i]))
    for i, j in np.ndindex(6, 8):
        assert back.map_indices(map.map_indices([i, j])) == [arith.const(i), arith.const(j)]
    with pytest.raises(ArgumentError, match="no inverse there"):
        map.inverse([6, 10])
    alone = IndexMap.from_func(lambda i, j: [j]).inverse([1, 4])
    assert alone.is_equivalent_to(IndexMap.from_func(lambda j: [arith.const(0), j]))


def test_arrays_are_rearranged() -> None:
    array = np.arange(20, dtype=np.int8).reshape(2, 10)
    got = IndexMap.from_func(blocked).map_ndarray(array).numpy()
    expected = np.pad(array, ((0, 0), (0, 2))).reshape(2, 3, 4).transpose(1, 0, 2)
    assert got.dtype == np.int8
    np.testing.assert_array_equal(got, expected)


def test_the_number_of_indices_is_told_or_given() -> None:
    reversed_map = IndexMap.from_func(turned, ndim=3)
    assert reversed_map.map_indices([1, 2, 3]) == [arith.const(v) for v in (3, 2, 1)]
    with pytest.raises(ArgumentError, match="any number of indices"):
        IndexMap.from_func(turned)
    with pytest.raises(ArgumentError, match="takes 2 indices, and not 3"):
        IndexMap.from_func(blocked, 3)
    with pytest.raises(ArgumentError, match="no integer expression"):
        IndexMap.from_func(lambda i: "i")


def last_first(*outer: IntExpr, row: IntExpr, column: IntExpr) -> list[IntExpr]:
    return [column, row, *outer]


def turned_by_name(*, row: IntExpr, column: IntExpr) -> list[IntExpr]:
    return [column, row]


def of_three(*, a: IntExpr, b: IntExpr, c: IntExpr) -> list[IntExpr]:
    return [a, b, c]


def test_the_last_indices_may_be_named() -> None:
    outer, two, three = cast("tuple[Any, Any, Any]", (last_first, turned_by_name, of_three))
    named = IndexMap.from_func(outer, ndim=4)
    assert [str(v) for v in named.initial_indices] == ["i0", "i1", "row", "column"]
    assert named.map_indices([1, 2, 3, 4]) == [arith.const(v) for v in (4, 3, 1, 2)]
    with pytest.raises(ArgumentError, match="any number of indices"):
        IndexMap.from_func(outer, ndim=1)
    with pytest.raises(ArgumentError, match="takes 2 indices, and not 3"):
        IndexMap.from_func(two, ndim=3)
    x = te.placeholder((6, 8), name="x")
    schedule = Schedule(te.create_prim_func([x, te.compute((6, 8), lambda i, j: x[i, j] + 1.0, name="y")]))
    schedule.transform_layout("y", ("read", 0), two)
    assert "memref<8x6xf32>" in str(schedule.mod)
    with pytest.raises(ScheduleError, match="does not take 2 indices"):
        schedule.transform_layout("y", ("read", 0), three)


def test_schedules_take_maps() -> None:
    x = te.placeholder((6, 8), name="x")
    y = te.compute((6, 8), lambda i, j: x[i, j] + 1.0, name="y")
    z = te.compute((6, 8), lambda i, j: y[i, j] * 2.0, name="z")
    texts: list[str] = []
    maps: list[ScheduleMap] = [IndexMap.from_func(blocked), lambda i, j: [j // 4, i, j % 4]]
    for map in maps:
        schedule = Schedule(te.create_prim_func([x, z]))
        schedule.transform_layout(schedule.get_block("y"), ("write", 0), map)
        texts.append(str(schedule.mod))
    assert texts[0] == texts[1] and "memref<2x6x4xf32>" in texts[0]
    schedule = Schedule(te.create_prim_func([x, z]))
    wrong: list[ScheduleMap] = [IndexMap.from_func(lambda i, j: [i * j]), lambda i, j: [i * j]]
    for map in wrong:
        with pytest.raises(ScheduleError, match="is not affine"):
            schedule.transform_layout(schedule.get_block("y"), ("write", 0), map)
