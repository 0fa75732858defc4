"""`te.InferBound`: the ranges of axes and loops, which the lowered loops have too."""

import pytest

import weft
from weft import te
from weft.transforms.tir.schedule.errors import ScheduleError


def copied(*shape: te.Expr | int) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    a = te.placeholder(shape, name="a")
    b = te.compute(shape, lambda *i: a[i] + 1.0, name="b")
    return a, b, te.compute(shape, lambda *i: b[i] * 2.0, name="c")


def extent(bounds: dict[te.IterVar, te.Bound], axis: te.IterVar) -> object:
    found = bounds[axis].extent
    return getattr(found, "value", found)


def test_a_stage_in_a_loop_computes_what_an_iteration_reads() -> None:
    m, n = te.var("m"), te.var("n")
    _, b, c = copied(m, n)
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[0], factor=8)
    s[b].compute_at(s[c], outer)
    bounds = te.InferBound(s)
    assert extent(bounds, b.op.axis[0]) == 8 and bounds[b.op.axis[1]].extent is n
    assert str(bounds[b.op.axis[0]].min) == "i0.outer * 8"
    assert bounds[outer].extent is (m + 7) // 8 and extent(bounds, inner) == 8


def test_a_stage_by_itself_computes_all() -> None:
    m = te.var("m")
    _, b, c = copied(m * 8)
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[0], factor=8)
    bounds = te.InferBound(s)
    assert bounds[b.op.axis[0]].extent is m * 8
    assert bounds[outer].extent is m and extent(bounds, inner) == 8


def test_windows_overlap() -> None:
    a = te.placeholder((14, 14), name="a")
    b = te.compute((14, 14), lambda i, j: a[i, j] + 1.0, name="b")
    c = te.compute((12, 12), lambda i, j: b[i, j] + b[i + 2, j] + b[i, j + 1], name="c")
    s = te.create_schedule(c.op)
    s[b].compute_at(s[c], c.op.axis[1])
    bounds = te.InferBound(s)
    assert [extent(bounds, axis) for axis in b.op.axis] == [3, 2]


def test_what_is_inlined_is_read_through() -> None:
    a = te.placeholder((16,), name="a")
    b = te.compute((16,), lambda i: a[i] + 1.0, name="b")
    c = te.compute((15,), lambda i: b[i + 1] + b[i], name="c")
    d = te.compute((5,), lambda i: c[i * 3], name="d")
    s = te.create_schedule(d.op)
    s[c].compute_inline()
    s[b].compute_at(s[d], d.op.axis[0])
    assert extent(te.InferBound(s), b.op.axis[0]) == 2


@pytest.mark.parametrize(("scope", "rows"), [("shared", 32), ("local", 2), ("", 2)])
def test_memory_that_threads_share_is_filled_for_all_of_them(scope: str, rows: int) -> None:
    _, b, c = copied(64, 64)
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[0], factor=32)
    thread, _ = s[c].split(inner, nparts=16)
    s[c].bind(outer, te.thread_axis("blockIdx.x"))
    s[c].bind(thread, te.thread_axis("threadIdx.x"))
    s[b].set_scope(scope)
    s[b].compute_at(s[c], thread)
    assert extent(te.InferBound(s), b.op.axis[0]) == rows


def test_loops_of_fused_and_divided_axes() -> None:
    _, b, c = copied(4, 6)
    s = te.create_schedule(c.op)
    fused = s[c].fuse(*c.op.axis)
    outer, inner = s[c].split(fused, factor=6)
    s[b].compute_at(s[c], outer)
    bounds = te.InferBound(s)
    assert [extent(bounds, each) for each in (fused, outer, inner, *b.op.axis)] == [24, 4, 6, 1, 6]


def test_the_ranges_are_those_of_the_loops() -> None:
    a, b, c = copied(32, 24)
    s = te.create_schedule(c.op)
    rows, _, inner, _ = s[c].tile(*c.op.axis, x_factor=8, y_factor=6)
    s[b].compute_at(s[c], rows)
    bounds = te.InferBound(s)
    text = str(weft.lower(s, [a, c], simple_mode=True))
    assert [extent(bounds, axis) for axis in (*b.op.axis, inner)] == [8, 24, 8]
    assert "= 0 to 8 {" in text and "= 0 to 24 {" in text


def test_bounds_are_those_in_the_inner_part_of_a_loop_that_was_split() -> None:
    _, b, c = copied(16)
    s = te.create_schedule(c.op)
    axis = c.op.axis[0]
    s[b].compute_at(s[c], axis)
    _, inner = s[c].split(axis, factor=4)
    bounds = te.InferBound(s)
    assert [getattr(bounds[axis].extent, "value", None) for axis in (b.op.axis[0], inner)] == [1, 4]


def test_a_loop_that_is_gone_is_told_of() -> None:
    k = te.reduce_axis((0, 16), "k")
    _, b, _ = copied(16)
    total = te.compute((), lambda: te.sum(b[k], axis=k), name="total")
    s = te.create_schedule(total.op)
    s[b].compute_at(s[total], k)
    s.rfactor(total, s[total].split(k, factor=4)[1])
    with pytest.raises(ScheduleError, match="k"):
        te.InferBound(s)


def test_a_cache_reduces_over_the_axes_of_what_it_caches() -> None:
    a = te.placeholder((8, 16), name="a")
    k = te.reduce_axis((0, 16), "k")
    c = te.compute((8,), lambda i: te.sum(a[i, k], axis=k), name="c")
    s = te.create_schedule(c.op)
    cache = s.cache_write(c, "local")
    s[cache].split(k, factor=4)
    assert s[cache].op.reduce_axis == (k,)
    assert "to 4" in str(weft.lower(s, [a, c], simple_mode=True))
