"""`transform_layout` that leaves gaps, and of arguments; `IndexMap.non_surjective_inverse`, which finds the gaps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tvmscript_texts import refused, scheduled

import weft
from weft import arith, tir
from weft.dialects.support.arguments import ArgumentError
from weft.dialects.te.expr import Const
from weft.dialects.tir.analyzer import evaluate
from weft.dialects.tir.analyzer.index_map import Mapping
from weft.dialects.tir.analyzer.nodes import IntExpr
from weft.dialects.tir.interpreter import Interpreter
from weft.tir import IndexMap, from_source
from weft.transforms.tir.scheduling.index_maps import IndexMap as ScheduleMap

MAPS: list[tuple[Mapping, list[int]]] = [
    (lambda i: [i // 4, i % 4], [16]),
    (lambda i: [i // 4, i % 4], [3]),
    (lambda i: [(i + 1) // 4, (i + 1) % 4], [14]),
    (lambda i: [(i // 4) % 8, i // 32, i % 4], [116]),
    (lambda i: [((i + 5) // 4) % 8, (i + 5) // 32, (i + 5) % 4], [123]),
    (lambda i, j: [(i + 1) // 4, (j + 5) // 8, (i + 1) % 4, (j + 5) % 8], [14, 31]),
]


@pytest.mark.parametrize(("function", "shape"), MAPS)
def test_gaps_are_where_no_element_comes(function: Mapping, shape: list[int]) -> None:
    map = IndexMap.from_func(function)
    back, is_gap = map.non_surjective_inverse(shape)
    extents = [evaluate(extent, {}) for extent in map.map_shape(shape)]
    places = {tuple(evaluate(i, {}) for i in map.map_indices(at)): at for at in product(*map_ranges(shape))}
    for place in product(*map_ranges(extents)):
        values = dict(zip(back.initial_indices, place, strict=True))
        assert bool(evaluate(is_gap, values)) == (place not in places)
        if place in places:
            assert tuple(evaluate(i, values) for i in back.final_indices) == places[place]


def map_ranges(shape: list[int]) -> list[range]:
    return [range(extent) for extent in shape]


def test_maps_without_a_way_back_say_why() -> None:
    with pytest.raises(ArgumentError, match="is used twice"):
        IndexMap.from_func(lambda i: [i // 4, i % 4, i % 2]).non_surjective_inverse([14])
    with pytest.raises(ArgumentError, match="does not divide the extent 9"):
        IndexMap.from_func(lambda i, j: [(i * 3 + j) // 4, (i * 3 + j) % 4]).non_surjective_inverse([3, 3])
    with pytest.raises(ArgumentError, match="where the extents are"):
        IndexMap.from_func(lambda i: [i // 4, i % 4]).non_surjective_inverse([arith.size_var("n")])


COPIES = """@T.prim_func
def f(x: T.Buffer[(14,), "int32"], y: T.Buffer[(14,), "int32"]):
    b = T.alloc_buffer((14,), "int32")
    for i in range(14):
        with T.block("first"):
            v = T.axis.spatial(14, i)
            b[v] = x[v] * 2
    for i in range(14):
        with T.block("second"):
            v = T.axis.spatial(14, i)
            y[v] = b[v] + 1
"""
SUMS = """@T.prim_func
def f(x: T.Buffer[(14, 5), "float32"], y: T.Buffer[(14,), "float32"]):
    for i, k in T.grid(14, 5):
        with T.block("sum"):
            v, w = T.axis.remap("SR", [i, k])
            with T.init():
                y[v] = T.float32(0)
            y[v] = y[v] + x[v, w]
"""


def blocked(i: IntExpr) -> object:
    return [(i + 1) // 4, (i + 1) % 4]


PLANES = """
@T.prim_func
def f(x: T.Buffer[(3, 7), "int32"], y: T.Buffer[(3, 7), "int32"]):
    for i, j in T.grid(3, 7):
        with T.block("copy"):
            v, w = T.axis.remap("SS", [i, j])
            y[v, w] = x[v, w]
"""


PADS: list[float | ScheduleMap] = [7, lambda i, j: i * 10 + j]


@pytest.mark.parametrize("pad", PADS)
def test_a_writer_of_all_elements_writes_the_gaps_too(pad: float | ScheduleMap) -> None:
    schedule = scheduled(COPIES)
    schedule.transform_layout("first", "b", blocked, pad_value=pad)
    text = schedule.mod.script()
    assert 'b = T.alloc_buffer((4, 4), "int32")' in text and "for i0, i1 in T.grid(4, 4):" in text
    x = np.arange(14, dtype=np.int32)
    y = np.zeros(14, np.int32)
    weft.build(schedule.mod["f"])(x, y)
    np.testing.assert_array_equal(y, 2 * x + 1)
    again = scheduled(COPIES)
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)


@pytest.mark.parametrize("split", [False, True], ids=["chosen", "filled"])
def test_an_output_has_the_padding_in_its_gaps(split: bool) -> None:
    """A reduction whose loops are split is not rewritten: a block after it fills the gaps."""
    schedule = scheduled(SUMS)
    if split:
        schedule.split(schedule.get_loops("sum")[0], [7, 2])
    schedule.transform_layout("sum", "y", blocked, pad_value=7.0)
    assert ("sum_pad_y" in schedule.mod.script()) == split
    x = np.arange(70, dtype=np.float32).reshape(14, 5)
    wanted = np.pad(x.sum(1), (1, 1), constant_values=7).reshape(4, 4)
    y = np.zeros((4, 4), np.float32)
    weft.build(schedule.mod["f"])(x, y)
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(Interpreter(schedule.mod["f"])([x])[0], wanted)


def test_fewer_elements_than_a_divisor_leave_gaps() -> None:
    schedule = scheduled(PLANES)
    block = schedule.get_block("copy")

    def lay_out(pad_value: float | None) -> None:
        schedule.transform_layout(block, "y", lambda i, j: [i // 4, j, i % 4], pad_value=pad_value)

    refused(lambda: lay_out(None), schedule, "4 does not divide the extent 3")
    lay_out(5)
    x = np.arange(21, dtype=np.int32).reshape(3, 7)
    y = np.zeros((1, 7, 4), np.int32)
    weft.build(schedule.mod["f"])(x, y)
    np.testing.assert_array_equal(y, np.pad(x, ((0, 1), (0, 0)), constant_values=5).T[None])


def test_a_map_of_the_new_indices_gives_the_padding() -> None:
    schedule = scheduled(COPIES)
    schedule.transform_layout("second", "y", lambda i: [i // 4, i % 4], pad_value=lambda i, j: i * 10 + j)
    y = np.zeros((4, 4), np.int32)
    weft.build(schedule.mod["f"])(np.zeros(14, np.int32), y)
    assert y.ravel().tolist() == [1] * 14 + [32, 33]


def test_an_input_is_read_where_its_callers_put_it() -> None:
    schedule = scheduled(COPIES)
    schedule.transform_layout("first", "x", lambda i: [i // 4, i % 4], pad_value=0)
    x, y = np.arange(16, dtype=np.int32).reshape(4, 4), np.zeros(14, np.int32)
    weft.build(schedule.mod["f"])(x, y)
    assert y.tolist() == [2 * i + 1 for i in range(14)]


def test_padding_that_is_none_is_refused() -> None:
    schedule = scheduled(COPIES)
    block = schedule.get_block("first")
    gaps: list[tuple[float | Const | ScheduleMap | None, str]] = [
        (None, "a pad_value says what stands in the gaps"),
        (1.5, "are not padded with 1.5"),
        (1 << 40, "are not padded with"),
        (tir.IntImm("int8", 0), "are not padded with .*, of type i8"),
        (lambda i, j, k: i, "does not take 2 indices"),
    ]
    for value, reason in gaps:
        refused(
            lambda value=value: schedule.transform_layout(block, "b", blocked, pad_value=value),
            schedule,
            reason,
        )
    sums = scheduled(SUMS)
    block = sums.get_block("sum")
    refused(lambda: sums.transform_layout(block, "y", blocked, pad_value=0), sums, "are not padded with 0")


def test_gaps_that_no_index_tells_are_refused() -> None:
    """Of `i`, a digit shares an index with `j`: whether an element is in a gap is not said by indices alone."""
    schedule = scheduled(PLANES)
    block = schedule.get_block("copy")
    refused(
        lambda: schedule.transform_layout(block, "y", lambda i, j: [i // 2, i % 2 * 7 + j], pad_value=0),
        schedule,
        "does not give each index a place of its own",
    )
    schedule.transform_layout(block, "y", lambda i, j: [i // 2, i % 2, j], pad_value=5)
    x = np.arange(21, dtype=np.int32).reshape(3, 7)
    wanted = np.pad(x, ((0, 1), (0, 0)), constant_values=5).reshape(2, 2, 7)
    np.testing.assert_array_equal(Interpreter(schedule.mod["f"])([x])[0], wanted)


def test_gaps_of_a_thread_s_own_buffer_are_filled_by_its_writer_only() -> None:
    text = COPIES.replace('(14,), "int32")\n    for', '(14,), "int32", scope="local")\n    for', 1)
    twice = text.replace("b[v] = x[v] * 2", "b[v] = x[v] * 2\n            b[v] = b[v] + 1")
    schedule = scheduled(twice)
    block = schedule.get_block("first")
    reason = "what fills its gaps does not reach it"
    refused(lambda: schedule.transform_layout(block, "b", blocked, pad_value=0), schedule, reason)


def test_what_a_condition_leaves_out_of_a_text_is_meant() -> None:
    func = from_source("""@T.prim_func
def f(x: T.Buffer[(8,), "int32"]):
    for i in range(8):
        with T.block("b"):
            v = T.axis.spatial(8, i)
            T.where(i == 3)
            x[v] = 1
""")
    assert "T.axis.spatial(8, i, partial=True)" in func.script()
    x = np.zeros(8, np.int32)
    weft.build(func)(x)
    assert x.tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
