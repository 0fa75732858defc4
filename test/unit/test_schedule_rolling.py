"""`rolling_buffer`: what it makes of buffers and conditions, what it refuses, and what is computed then."""

from __future__ import annotations

import numpy as np
import pytest
from tir_run import Stage, assert_computes, prim_func
from tvmscript_texts import refused
from xdsl.dialects.builtin import f32

import weft
from weft import te
from weft.dialects import te as own_te
from weft.tir import Schedule, ScheduleError, assert_structural_equal, from_source

pytestmark = pytest.mark.sampled(5)


def _image() -> Stage:
    """Sums of neighbours, and sums of those."""
    x = own_te.placeholder((11, 14), f32, "x")
    first = own_te.compute((9, 12), lambda i, j: x[i, j] + x[i + 2, j + 2], "first")
    return [x], [own_te.compute((7, 10), lambda i, j: first[i, j] + first[i + 2, j + 2], "second")]


IMAGE = _image()


def tiled(stage: Stage, tile: tuple[int, ...]) -> Schedule:
    """The sums of sums in tiles, the first sums computed for each."""
    schedule = Schedule(prim_func(stage), debug_mask="all")
    second = schedule.get_block("second")
    halves = [schedule.split(loop, [None, n]) for loop, n in zip(schedule.get_loops(second), tile, strict=False)]
    schedule.reorder(*(outer for outer, _ in halves), *(inner for _, inner in halves))
    schedule.compute_at("first", halves[-1][0])
    return schedule


def test_the_rows_of_a_tile_that_the_next_needs_are_kept() -> None:
    schedule = tiled(IMAGE, (2, 10))
    schedule.rolling_buffer("first", 0)
    text = schedule.mod.script()
    assert 'first = T.alloc_buffer((4, 12), "float32")' in text
    assert "% 4" in text
    assert_computes(schedule.mod["k"], IMAGE)
    again = Schedule(prim_func(IMAGE))
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)
    assert_structural_equal(from_source(text), schedule.mod)


@pytest.mark.parametrize("tile", [(2, 4), (3, 5), (5, 3), (1, 1)])
def test_tiles_that_overlap_in_both_dimensions_compute_each_element_once(tile: tuple[int, int]) -> None:
    """A dimension whose tiles leave a rest has a predicate already; the second one keeps its extent."""
    schedule = tiled(IMAGE, tile)
    schedule.rolling_buffer("first", 0)
    assert f'first = T.alloc_buffer(({tile[0] + 2}, 12), "float32")' in schedule.mod.script()
    assert_computes(schedule.mod["k"], IMAGE)


def test_or_between_comparisons_is_a_condition_of_a_block() -> None:
    text = """@T.prim_func
def f(x: T.Buffer[(6,), "float32"]):
    for i, j in T.grid(3, 4):
        with T.block("b"):
            T.where({})
            v = T.axis.spatial(6, i * 2 + j - 2, partial=True)
            x[v] = T.float32(1)
"""
    wanted = from_source(text.format("0 <= i * 2 + j - 2 and i * 2 + j - 2 < 6 and (i < 1 or 2 <= j)"))
    other = from_source(text.format("0 <= i * 2 + j - 2 and i * 2 + j - 2 < 6 and T.Or(j > 1, i <= 0)"))
    assert_structural_equal(wanted, other)
    with pytest.raises(weft.Diagnostic, match="'or' stands between comparisons, not between several"):
        from_source(text.format("i < 1 or 2 <= j and j < 3"))


def test_what_does_not_overlap_or_is_not_alone_is_refused() -> None:
    schedule = Schedule(prim_func(IMAGE))
    first, second = schedule.get_block("first"), schedule.get_block("second")
    refused(lambda: schedule.rolling_buffer(first, 0), schedule, "shares no loop with what reads it")
    refused(lambda: schedule.rolling_buffer(first, 1), schedule, "writes 1 buffers, none of number 1")
    refused(lambda: schedule.rolling_buffer(second, 0), schedule, "is an argument of the function")
    whole = tiled(IMAGE, (7, 10))
    first = whole.get_block("first")
    refused(lambda: whole.rolling_buffer(first, 0), whole, "is in the next tile too")


def test_iterations_that_rely_on_one_another_do_not_run_at_once() -> None:
    schedule = tiled(IMAGE, (2, 10))
    schedule.rolling_buffer("first", 0)
    rows = schedule.get_loops("second")[0]
    refused(lambda: schedule.parallel(rows), schedule, "which is opaque: its steps cannot run at the same time")


TWO_TILES_BACK = """@T.prim_func
def f(x: T.Buffer[(16,), "float32"], y: T.Buffer[(12,), "float32"]):
    t = T.alloc_buffer((16,), "float32")
    for i in range(3):
        for j in range(8):
            with T.block("first"):
                v = T.axis.spatial(16, i * 4 + j)
                t[v] = x[v]
        for j in range(4):
            with T.block("second"):
                v = T.axis.spatial(12, i * 4 + j)
                y[v] = t[{}]
"""


def test_a_reader_of_what_was_overwritten_is_refused() -> None:
    late = Schedule(from_source(TWO_TILES_BACK.format("T.max(v - 5, 0)")))
    first = late.get_block("first")
    refused(lambda: late.rolling_buffer(first, 0), late, "is not shown to read %t in what one iteration writes")
    near = Schedule(from_source(TWO_TILES_BACK.format("v + 4")))
    near.rolling_buffer("first", 0)
    x = np.arange(16, dtype=np.float32)
    y = np.zeros(12, np.float32)
    weft.build(near.mod["f"])(x, y)
    np.testing.assert_array_equal(y, x[4:])


def test_a_stage_of_te_rolls() -> None:
    x = te.placeholder((12,), name="x")
    first = te.compute((10,), lambda i: x[i] + x[i + 2], name="first")
    second = te.compute((8,), lambda i: first[i] + first[i + 2], name="second")
    s = te.create_schedule(second.op)
    outer, _ = s[second].split(second.op.axis[0], factor=2)
    s[first].compute_at(s[second], outer)
    s[first].rolling_buffer()
    assert "memref<4xf32>" in str(weft.lower(s, [x, second], simple_mode=True))
    given, result = np.arange(12, dtype=np.float32) ** 2, np.zeros(8, np.float32)
    weft.build(s, [x, second])(given, result)
    wanted = given[:-2] + given[2:]
    np.testing.assert_array_equal(result, wanted[:-2] + wanted[2:])
    with pytest.raises(ScheduleError, match="'second' is an output"):
        s[second].rolling_buffer()


def test_a_block_that_does_not_reduce_begins_each_of_its_steps() -> None:
    text = """@T.prim_func
def f(x: T.Buffer[(4,), "float32"], y: T.Buffer[(4,), "float32"]):
    for i in range(4):
        with T.block("b"):
            v = T.axis.spatial(4, i)
            {}
"""
    begun = from_source(
        text.format("with T.init():\n                y[v] = x[v]\n            y[v] = y[v] + T.float32(1)")
    )
    assert_structural_equal(begun, from_source(text.format("y[v] = x[v]\n            y[v] = y[v] + T.float32(1)")))
