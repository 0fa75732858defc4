"""Schedules of tensor expressions: what each primitive does, and that the result stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from te_run import assert_scheduled
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import te
from weft.building import schedule_to_module
from weft.dialects.te.reduction import Reduce
from weft.dialects.tir.core import AllocBufferOp, BlockOp, ForKind, ForOp, PrimFuncOp, enclosing_loops
from weft.kernel import build_kernel
from weft.lowering.te_schedule.refused import REFUSED
from weft.lowering.te_schedule.translation import translate
from weft.tir import Interpreter, ScheduleError

pytestmark = pytest.mark.sampled(3)


def matmul(n: int = 16, m: int = 24, depth: int = 32) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    a = te.placeholder((n, depth), name="A")
    b = te.placeholder((depth, m), name="B")
    k = te.reduce_axis((0, depth), "k")
    return a, b, te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def chain() -> tuple[te.Tensor, te.Tensor, te.Tensor, te.Tensor]:
    a = te.placeholder((20, 24), name="A")
    b = te.compute((20, 24), lambda i, j: a[i, j] * 2.0, name="B")
    c = te.compute((20, 24), lambda i, j: b[i, j] + 1.0, name="C")
    return a, b, c, te.compute((20, 24), lambda i, j: te.exp(c[i, j]) - b[i, j], name="D")


def loops_of(module: ModuleOp, block: str) -> list[tuple[int, str]]:
    """Iterations and kind of the loops around a block, outermost first."""
    (found,) = [op for op in module.walk() if isinstance(op, BlockOp) and op.block_name == block]
    return [(loop.trip_count, loop.for_kind.value) for loop in enclosing_loops(found)]


S, P, V, U = (kind.value for kind in (ForKind.SERIAL, ForKind.PARALLEL, ForKind.VECTORIZED, ForKind.UNROLLED))


def test_an_unscheduled_computation_runs_stage_by_stage() -> None:
    a, _, _, d = chain()
    module = assert_scheduled(te.create_schedule(d.op), [a, d])
    assert [loops_of(module, name) for name in "BCD"] == [[(20, S), (24, S)]] * 3


def test_split_by_a_factor_and_by_a_number_of_parts() -> None:
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    outer, inner = s[c].split(i, factor=4)
    parts, rest = s[c].split(j, nparts=3)
    assert s[c].leaf_iter_vars == [outer, inner, parts, rest, *c.op.reduce_axis]
    assert [axis.extent for axis in s[c].leaf_iter_vars] == [4, 4, 3, 8, 32]
    assert loops_of(assert_scheduled(s, [a, b, c]), "C") == [(4, S), (4, S), (3, S), (8, S), (32, S)]


def test_a_split_that_leaves_a_rest_computes_no_more_and_no_less() -> None:
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    s[c].split(s[c].op.axis[0], factor=5)
    s[c].split(s[c].op.reduce_axis[0], factor=7)
    s[c].split(s[c].op.axis[1], nparts=5)
    assert_scheduled(s, [a, b, c])


def test_tile_is_two_splits_and_a_reorder() -> None:
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    loops = s[c].tile(*c.op.axis, x_factor=4, y_factor=8)
    assert s[c].leaf_iter_vars[:4] == [*loops]
    assert loops_of(assert_scheduled(s, [a, b, c]), "C") == [(4, S), (3, S), (4, S), (8, S), (32, S)]


def test_no_loops_are_fused_to_one_of_one_iteration() -> None:
    x, k = te.placeholder((10,), "int32", name="x"), te.reduce_axis((0, 10), "k")
    y = te.compute((), lambda: te.sum(x[k], axis=k), name="y")
    s = te.create_schedule(y.op)
    single = s[y].fuse(*y.op.axis)
    assert isinstance(s[y].relations[0], te.Singleton) and s[y].leaf_iter_vars == [single, k]
    outer, _ = s[y].split(single, nparts=4)
    with pytest.raises(ScheduleError, match="singleton was split or fused before"):
        s[y].unroll(single)
    s[y].parallel(outer)
    function = next(op for op in weft.lower(s, [x, y]).ops if isinstance(op, PrimFuncOp))
    (got,) = Interpreter(function)([np.arange(10, dtype=np.int32)])
    assert got == 45


def test_fused_loops_are_one_and_can_be_split_again() -> None:
    a, _, _, d = chain()
    s = te.create_schedule(d.op)
    fused = s[d].fuse(*s[d].op.axis)
    assert fused.extent == 480
    outer, inner = s[d].split(fused, factor=32)
    s[d].parallel(outer)
    s[d].vectorize(inner)
    assert loops_of(assert_scheduled(s, [a, d]), "D") == [(15, P), (32, V)]


def test_a_reduction_begins_before_the_outermost_of_its_loops() -> None:
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    (k,) = s[c].op.reduce_axis
    s[c].reorder(i, k, j)
    s[c].vectorize(j)
    module = assert_scheduled(s, [a, b, c])
    assert loops_of(module, "C") == [(16, S), (32, S), (24, V)]
    assert loops_of(module, "C_init") == [(16, S), (24, V)]


def test_a_stage_is_computed_in_a_loop_of_its_reader() -> None:
    a, b, c, d = chain()
    s = te.create_schedule(d.op)
    i, j = s[d].op.axis
    outer, _ = s[d].split(j, factor=8)
    s[d].parallel(i)
    s[c].compute_at(s[d], outer)
    s[b].compute_at(s[d], i)
    s[b].vectorize(s[b].op.axis[1])
    module = assert_scheduled(s, [a, d])
    assert loops_of(module, "C") == [(20, P), (3, S), (1, S), (8, S)]
    assert loops_of(module, "B") == [(20, P), (1, S), (24, V)]
    assert {op.scope.data for op in module.walk() if isinstance(op, AllocBufferOp)} == {"local"}


def test_where_a_stage_is_computed_may_be_said_before_its_reader_is_split() -> None:
    a, b, c, d = chain()
    s = te.create_schedule(d.op)
    s[b].compute_at(s[c], c.op.axis[0])
    s[c].compute_at(s[d], d.op.axis[0])
    with pytest.raises(ScheduleError, match="block @B is read outside"):
        weft.lower(s, [a, d])
    s[b].compute_at(s[d], d.op.axis[0])
    s[d].split(d.op.axis[1], factor=4)
    assert_scheduled(s, [a, d])


def test_a_stage_stays_in_the_inner_part_of_a_loop_that_is_split_and_in_one_that_is_fused() -> None:
    a, _, c, d = chain()
    s = te.create_schedule(d.op)
    i, j = d.op.axis
    s[c].compute_at(s[d], i)
    _, inner = s[d].split(i, factor=4)
    attachment = s[c].attachment
    assert attachment is not None and attachment.loop is inner
    assert_scheduled(s, [a, d])
    fused = s[d].fuse(inner, j)
    assert attachment.loop is fused
    assert_scheduled(s, [a, d])


def test_a_loop_in_which_a_stage_is_computed_must_stay() -> None:
    x = te.placeholder((8, 12), name="x")
    y = te.compute((8, 12), lambda i, j: x[i, j] + 1.0, name="y")
    k = te.reduce_axis((0, 12), "k")
    z = te.compute((8,), lambda i: te.sum(y[i, k], axis=k), name="z")
    s = te.create_schedule(z.op)
    s[y].compute_at(s[z], k)
    s.rfactor(z, s[z].split(k, factor=4)[1])
    with pytest.raises(ScheduleError, match="k is no loop of 'z'"):
        weft.lower(s, [x, z])


def test_an_inlined_stage_is_gone_and_a_root_stage_is_back() -> None:
    a, b, c, d = chain()
    s = te.create_schedule(d.op)
    s[b].compute_inline()
    s[c].compute_inline()
    module = assert_scheduled(s, [a, d])
    assert {op.block_name for op in module.walk() if isinstance(op, BlockOp)} == {"D"}
    s[c].compute_root()
    module = assert_scheduled(s, [a, d])
    assert {op.block_name for op in module.walk() if isinstance(op, BlockOp)} == {"C", "D"}


def test_cache_read_copies_what_its_readers_read() -> None:
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    copy = s.cache_read(b, "local", [c])
    assert copy.name == "B.local"
    i, j = s[c].op.axis
    j_outer, j_inner = s[c].split(j, factor=8)
    s[c].reorder(j_outer, i, j_inner)
    s[copy].compute_at(s[c], j_outer)
    module = assert_scheduled(s, [a, b, c])
    assert loops_of(module, "B.local") == [(3, S), (32, S), (8, S)]


def test_only_the_readers_that_are_named_read_the_copy() -> None:
    a, b, c, d = chain()
    s = te.create_schedule(d.op)
    copy = s.cache_read(b, "global", c)
    assert [stage.tensor.name for stage in s.readers(b)] == ["B.global", "D"]
    assert [stage.tensor.name for stage in s.readers(copy)] == ["C"]
    assert_scheduled(s, [a, d])
    with pytest.raises(ScheduleError, match="'D' does not read 'A'"):
        s.cache_read(a, "local", [d])


def test_cache_write_leaves_the_stage_a_copy_with_its_axes() -> None:
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    cache = s.cache_write(c, "local")
    assert not s[c].op.reduce_axis and len(s[cache].op.reduce_axis) == 1
    i_outer, j_outer, _, j_inner = s[c].tile(*c.op.axis, x_factor=4, y_factor=8)
    s[cache].compute_at(s[c], j_outer)
    x, y = s[cache].op.axis
    k_outer, k_inner = s[cache].split(s[cache].op.reduce_axis[0], factor=4)
    s[cache].reorder(k_outer, k_inner, x, y)
    s[cache].unroll(x)
    s[cache].vectorize(y)
    s[c].vectorize(j_inner)
    s[c].parallel(i_outer)
    module = assert_scheduled(s, [a, b, c])
    assert loops_of(module, "C.local") == [(4, P), (3, S), (8, S), (4, S), (4, U), (8, V)]
    assert loops_of(module, "C.local_init") == [(4, P), (3, S), (4, U), (8, V)]


@pytest.mark.parametrize("factor", [4, 5])
@pytest.mark.parametrize("factor_axis", [0, 1, 2, -1])
def test_rfactor_reduces_parts_apart(factor: int, factor_axis: int) -> None:
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.reduce_axis[0], factor=factor)
    parts = s.rfactor(c, inner if factor_axis else outer, factor_axis)
    sizes = [16, 24]
    sizes.insert(factor_axis if factor_axis >= 0 else 2, factor if factor_axis else -(-32 // factor))
    assert list(parts.shape) == sizes
    assert len(s[c].op.reduce_axis) == 1
    s[parts].parallel(s[parts].op.axis[0])
    assert_scheduled(s, [a, b, c])


def test_rfactor_of_a_whole_axis_leaves_no_reduction_in_the_parts() -> None:
    x = te.placeholder((8, 6), name="x")
    k, m = te.reduce_axis((0, 8), "k"), te.reduce_axis((1, 6), "m")
    y = te.compute((1,), lambda _: te.max(x[k, m], axis=[k, m]), name="y")
    s = te.create_schedule(y.op)
    fused = s[y].fuse(*s[y].op.reduce_axis)
    parts = s.rfactor(y, fused)
    assert parts.shape == (40, 1) and not s[parts].op.reduce_axis
    assert_scheduled(s, [x, y])


@pytest.mark.parametrize("start", [0, 1])
def test_rfactor_leaves_the_other_loops_to_the_parts(start: int) -> None:
    x = te.placeholder((8, 6), name="x")
    k, m = te.reduce_axis((0, 8), "k"), te.reduce_axis((start, 6), "m")
    y = te.compute((1,), lambda _: te.sum(x[k, m], axis=[k, m]), name="y")
    s = te.create_schedule(y.op)
    parts = s.rfactor(y, k)
    assert (s[parts].op.reduce_axis == (m,)) == (start == 0)
    s[parts].split(s[parts].op.reduce_axis[0], factor=4)
    assert_scheduled(s, [x, y])


def test_a_loop_of_one_iteration_is_whatever_is_asked_of_it() -> None:
    x = te.placeholder((1, 8, 1), name="x")
    y = te.compute((1, 8, 1), lambda i, j, k: x[i, j, k] + 1.0, name="y")
    z = te.compute((1, 8, 1), lambda i, j, k: y[i, j, k] * 2.0, name="z")
    s = te.create_schedule(z.op)
    i, j, k = s[z].op.axis
    outer, inner = s[z].split(i, factor=4)
    s[z].reorder(j, inner, outer, k)
    s[y].compute_at(s[z], outer)
    s[z].vectorize(k)
    s[z].fuse(inner, outer)
    assert_scheduled(s, [x, z])
    s[y].compute_at(s[z], k)
    assert_scheduled(s, [x, z])


def test_a_stage_that_several_read_is_computed_where_it_serves_all() -> None:
    a = te.placeholder((16, 16), name="A")
    b = te.compute((16, 16), lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute((16, 16), lambda i, j: b[i, j] * b[15 - i, j], name="C")
    s = te.create_schedule([c.op])
    s[b].compute_at(s[c], c.op.axis[0])
    s[b].set_scope("global")
    assert_scheduled(s, [a, c])


def test_several_outputs_are_computed() -> None:
    a, b, c, d = chain()
    s = te.create_schedule([c.op, d.op])
    s[b].compute_inline()
    assert_scheduled(s, [a, c, d])
    with pytest.raises(ScheduleError, match="'C' is an output of the schedule, and no argument"):
        weft.lower(s, [a, d])


def test_a_pragma_sets_a_kind_or_annotates() -> None:
    a, _, _, d = chain()
    s = te.create_schedule(d.op)
    i, j = s[d].op.axis
    s[d].pragma(i, "auto_unroll_max_step", 16)
    s[d].pragma(j, "unroll")
    assert s[d].iter_var_attrs[i].pragma_keys[0].value == "auto_unroll_max_step"
    assert "pragma_auto_unroll_max_step = 16" in str(schedule_to_module(s, [a, d]))
    assert loops_of(weft.lower(s, [a, d]), "D") == [(20, S), (24, U)]


def test_pragmas_have_loops_unrolled() -> None:
    a, _, _, d = chain()
    s = te.create_schedule(d.op)
    s[d].pragma(d.op.axis[0], "auto_unroll_max_step", 480)
    assert loops_of(weft.lower(s, [a, d]), "D") == [(20, U), (24, U)]
    s[d].pragma(d.op.axis[1], "unroll_explicit", True)
    assert str(weft.lower(s, [a, d])).count("tir.block @D(") == 24


def test_a_bound_loop_is_refused_for_processors_and_stands_in_the_text() -> None:
    a, _, _, d = chain()
    s = te.create_schedule(d.op)
    s[d].bind(d.op.axis[0], te.thread_axis("blockIdx.x"))
    assert 'thread_binding "blockIdx.x"' in str(weft.lower(s, [a, d]))
    with pytest.raises(weft.Diagnostic, match="no such threads"):
        weft.build(s, [a, d])


def test_the_translation_is_a_schedule_that_can_be_applied_again() -> None:
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    s[c].tile(*c.op.axis, x_factor=4, y_factor=8)
    done = translate(s, [a, b, c], "matmul")
    assert "schedule.split" in str(done.trace.op)
    again = weft.tir.Schedule(te.create_prim_func([a, b, c], name="matmul"))
    done.trace.apply_to_schedule(again)
    assert str(done.mod) == str(again.mod)


def test_a_schedule_may_be_lowered_twice() -> None:
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    s[c].tile(*c.op.axis, x_factor=4, y_factor=8)
    assert str(weft.lower(s, [a, b, c])) == str(weft.lower(s, [a, b, c]))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_has_no_meaning_is_refused_by_name(name: str) -> None:
    _, _, c = matmul()
    s = te.create_schedule(c.op)
    with pytest.raises(ScheduleError, match=f"{name} has no meaning here: "):
        getattr(s[c], name)(c.op.axis[0], 1)


MISTAKES: list[tuple[Callable[[te.Schedule, te.Tensor], Any], str]] = [
    (lambda s, c: s[te.placeholder((1,))], "there is no stage of 'placeholder'"),
    (lambda s, c: s[c].split(te.reduce_axis(3), 4), "rv is no loop of 'C'"),
    (lambda s, c: s[c].split(c.op.axis[0]), "either a factor"),
    (lambda s, c: s[c].split(c.op.axis[0], 2, 3), "either a factor"),
    (lambda s, c: s[c].split(c.op.axis[0], 0), "positive integer"),
    (lambda s, c: s[c].fuse(c.op.axis[1], c.op.axis[0]), "does not come directly in"),
    (lambda s, c: s[c].fuse(*c.op.axis, c.op.axis[0]), "i does not come directly in j"),
    (lambda s, c: s[c].reorder(c.op.axis[0], c.op.axis[0]), "names a loop twice"),
    (lambda s, c: s[c].tile(c.op.axis[0], te.reduce_axis(3), 2, 2), "rv is no loop of 'C'"),
    (lambda s, c: s[c].tile(c.op.axis[0], c.op.axis[1], 2, 0), "positive integer"),
    (lambda s, c: s[c].tile(c.op.axis[0], c.op.axis[0], 2, 2), "tile names a loop twice"),
    (lambda s, c: s[c].vectorize(c.op.reduce_axis[0]), "the loop k reduces"),
    (lambda s, c: s[c].parallel(c.op.reduce_axis[0]), "the loop k reduces"),
    (lambda s, c: s[c].compute_inline(), "'C' is an output"),
    (lambda s, c: s[c].compute_at(s[c], c.op.axis[0]), "'C' is an output"),
    (lambda s, c: s[s.stages[0].tensor].compute_inline(), "is an input"),
    (lambda s, c: s[c].set_scope("local"), "the caller's memory"),
    (lambda s, c: s.cache_write(s.stages[0].tensor, "local"), "nothing writes it"),
    (lambda s, c: s.cache_write([c, s.stages[0].tensor], "local"), "nothing writes it"),
    (lambda s, c: s.cache_write([c, c], "local"), "cache_write names a tensor twice"),
    (lambda s, c: s.cache_write(c, "nowhere"), "nowhere"),
    (lambda s, c: s.cache_read(s.stages[0].tensor, "local", []), "names those that are to read"),
    (lambda s, c: s.rfactor(c, c.op.axis[0]), "does not reduce"),
    (lambda s, c: s.rfactor(c, c.op.reduce_axis[0], 4), "no dimension 4"),
    (lambda s, c: s.create_group(c, s.stages[0].tensor), "cannot be in a group: it is an output"),
    (lambda s, c: s.create_group(s.stages[0].tensor, c), "no stages between"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_a_mistake_is_refused_with_its_reason(mistake: Callable[[te.Schedule, te.Tensor], Any], message: str) -> None:
    """And changes nothing, not even by what is right in it."""
    _, _, c = matmul()
    s = te.create_schedule(c.op)
    before = _state(s)
    with pytest.raises(ScheduleError, match=message):
        mistake(s, c)
    assert _state(s) == before


def _state(schedule: te.Schedule) -> list[object]:
    return [(stage.tensor, stage.compute, *stage.actions, *stage.kinds) for stage in schedule.stages]


def test_a_loop_that_was_split_is_no_loop_any_more() -> None:
    _, _, c = matmul()
    s = te.create_schedule(c.op)
    s[c].split(c.op.axis[0], 4)
    with pytest.raises(ScheduleError, match="i was split or fused before"):
        s[c].parallel(c.op.axis[0])


def test_a_reduction_cannot_be_inlined() -> None:
    _, _, c = matmul()
    d = te.compute(c.shape, lambda i, j: c[i, j] + 1.0, name="D")
    s = te.create_schedule(d.op)
    with pytest.raises(ScheduleError, match="'C' reduces, and cannot be computed inline"):
        s[c].compute_inline()


def test_a_stage_cannot_be_computed_in_one_that_does_not_read_it() -> None:
    a, b, c, d = chain()
    s = te.create_schedule(d.op)
    s[c].compute_at(s[b], b.op.axis[0])
    with pytest.raises(ScheduleError, match="which does not read it"):
        weft.lower(s, [a, d])


def test_large_stages_in_loops_of_others_stay_off_the_stack() -> None:
    a = te.placeholder((4, 512, 512), name="A")
    b = te.compute(a.shape, lambda i, j, k: a[i, j, k] + 1.0, name="B")
    c = te.compute(a.shape, lambda i, j, k: b[i, k, j] * 2.0, name="C")
    s = te.create_schedule(c.op)
    s[b].compute_at(s[c], c.op.axis[0])
    module = weft.lower(s, [a, c])
    assert [op.scope.data for op in module.walk() if isinstance(op, AllocBufferOp)] == ["global"]
    assert not [op for op in module.walk() if isinstance(op, ForOp) and op.trip_count == 0]


def test_stages_of_symbolic_extents_are_scheduled_for_all_sizes() -> None:
    n = te.var("n")
    a, b = te.placeholder((n, 8), name="A"), te.placeholder((8, 6), name="B")
    k = te.reduce_axis((0, 8), "k")
    c = te.compute((n, 6), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[0], factor=4)
    s[c].reorder(outer, c.op.axis[1], inner)
    s[c].parallel(outer)
    assert "to (%n + 3) floordiv 4" in str(weft.lower(s, [a, b, c], simple_mode=True))
    module = weft.lower(s, [a, b, c])
    (function,) = module.ops
    assert isinstance(function, PrimFuncOp)
    kernel = build_kernel(function, start="schedule")
    for rows in (0, 1, 4, 7):
        x, y = (np.random.default_rng(rows).standard_normal(shape, np.float32) for shape in ((rows, 8), (8, 6)))
        np.testing.assert_allclose(np.asarray(kernel(x, y)[0], np.float32), x @ y, rtol=1e-5, atol=1e-5)
    result = np.empty((rows, 6), np.float32)
    weft.build(s, [a, b, c], threads=1)(x, y, result)
    np.testing.assert_allclose(result, x @ y, rtol=1e-5, atol=1e-5)


def test_rows_of_a_stage_may_lie_apart() -> None:
    a, b, _, d = chain()
    s = te.create_schedule(d.op)
    s[b].storage_align(b.op.axis[0], 32, 4)
    module = assert_scheduled(s, [a, d])
    assert "buffer_dim_align = [[0 : i64, 0 : i64, 32 : i64, 4 : i64]]" in str(module)
    assert "* 36" in weft.build(s, [a, d], "c").get_source()
    with pytest.raises(ScheduleError, match="'D' is an output"):
        s[d].storage_align(d.op.axis[0], 32, 4)
    with pytest.raises(ScheduleError, match="i is no dimension of 'D'"):
        s[d].storage_align(b.op.axis[0], 32, 4)


def test_stages_say_where_they_are_computed_and_what() -> None:
    x = te.placeholder((8, 4), name="x")
    doubled = te.compute((8, 4), lambda i, j: x[i, j] * 2.0, name="doubled")
    k = te.reduce_axis((0, 4), name="k")
    total = te.compute((8,), lambda i: te.sum(doubled[i, k], axis=k), name="total")
    s = te.create_schedule([total])
    assert s[doubled].attach_type == s[total].attach_type == 1
    s[doubled].compute_at(s[total], s[total].op.axis[0])
    assert s[doubled].attach_type == 4
    s[doubled].compute_inline()
    assert s[doubled].attach_type == 2
    (formula,) = s[total].op.body
    assert isinstance(formula, Reduce) and formula.axis == (k,) and s[x].op.body == []


def scaled(n: int) -> tuple[te.Tensor, te.Tensor]:
    a = te.placeholder((n, 12), name="A")
    return a, te.compute((n, 12), lambda i, j: a[i, j] * 2, name="C")


@pytest.mark.parametrize(("n", "dims"), [(16, (4, 12, 4)), (17, (5, 12, 4))], ids=["even", "a rest"])
@pytest.mark.parametrize("at_a_loop", [False, True])
def test_cache_write_keeps_the_loops_that_there_are(n: int, dims: tuple[int, ...], at_a_loop: bool) -> None:
    a, c = scaled(n)
    s = te.create_schedule(c.op)
    i, j = c.op.axis
    outer, inner = s[c].split(i, factor=4)
    s[c].reorder(outer, j, inner)
    cache = s.cache_write(c, "global")
    assert tuple(cache.shape) == dims
    assert [axis.name for axis in s[c].leaf_iter_vars] == ["i", "j"]
    if at_a_loop:
        outer, _ = s[c].split(i, factor=4)
        s[cache].compute_at(s[c], outer)
    assert_scheduled(s, [a, c])


def test_cache_write_keeps_loops_that_were_fused_and_what_is_reduced() -> None:
    a, b, c = matmul()
    s = te.create_schedule(c.op)
    s[c].split(c.op.reduce_axis[0], factor=5)
    s[c].split(s[c].fuse(*c.op.axis), nparts=4)
    cache = s.cache_write(c, "global")
    assert tuple(cache.shape) == (4, 96)
    assert_scheduled(s, [a, b, c])

    a, b, c = matmul()
    s = te.create_schedule(c.op)
    s[c].split(c.op.axis[0], factor=5)
    with pytest.raises(ScheduleError, match="splits that leave a rest, since it reduces"):
        s.cache_write(c, "global")
    s = te.create_schedule(c.op)
    s[c].parallel(c.op.axis[0])
    with pytest.raises(ScheduleError, match="comes before what is asked of its loops"):
        s.cache_write(c, "global")


@pytest.mark.parametrize("parts", [None, 5])
def test_a_loop_that_is_of_elements_too_is_not_reduced_apart(parts: int | None) -> None:
    """Parts of all elements were summed for each: five times what it is."""
    a, k = te.placeholder((5, 7), name="A"), te.reduce_axis((0, 7), "k")
    b = te.compute((5,), lambda i: te.sum(a[i, k], k), name="B")
    s = te.create_schedule(b.op)
    loop = s[b].fuse(b.op.axis[0], k)
    if parts is not None:
        _, loop = s[b].split(loop, factor=parts)
    with pytest.raises(ScheduleError, match=r"i\.k\.fused of 'B' is one of elements, too"):
        s.rfactor(b, loop)


def test_cache_write_comes_before_a_fusion_of_elements_and_steps() -> None:
    A = te.placeholder((4, 6), name="A")
    k = te.reduce_axis((0, 6), name="k")
    B = te.compute((4,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    fused = s[B].fuse(B.op.axis[0], k)
    s[B].split(fused, 3)
    with pytest.raises(ScheduleError, match="cache_write of 'B' comes before a fusion of elements and steps"):
        s.cache_write(B, "local")
