"""Threads of a block that share a reduction: one after the other in the interpreter, lowered through shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cuda_emulation import Emulator
from tvmscript_texts import function
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import PrimFuncOp, StorageSyncOp
from weft.lowering.tir_to_gpu.convert_tir_to_gpu import ConvertTirToGPUPass
from weft.tir import Interpreter, Schedule, ScheduleError
from weft.transforms.infra.execution import run
from weft.transforms.tir.lower_cross_thread_reduction import LowerCrossThreadReductionPass
from weft.transforms.tir.thread_sync import ThreadSyncPass

pytestmark = pytest.mark.sampled(5)

SUM = """
@T.prim_func
def f(A: T.Buffer[(3, 19), "float32"], B: T.Buffer[(3,), "float32"]):
    for i, k in T.grid(3, 19):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
"""
GREATEST = """
@T.prim_func
def f(A: T.Buffer[(3, 19), "float32"], V: T.Buffer[(3,), "float32"], P: T.Buffer[(3,), "int64"]):
    for i, k in T.grid(3, 19):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                V[vi] = T.float32(-1000)
                P[vi] = T.int64(-1)
            v: T.float32 = T.Select(V[vi] >= A[vi, vk], V[vi], A[vi, vk])
            p: T.int64 = T.Select(V[vi] >= A[vi, vk], P[vi], T.Cast("int64", vk))
            V[vi] = v
            P[vi] = p
"""
SEVERAL = """
@T.prim_func
def f(
    A: T.Buffer[(3, 19), "float32"], S: T.Buffer[(3,), "float32"], Q: T.Buffer[(3,), "float32"],
    V: T.Buffer[(3,), "float32"], W: T.Buffer[(3,), "float32"], M: T.Buffer[(3,), "float32"],
):
    for i, k in T.grid(3, 19):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
                Q[vi] = T.float32(0)
                V[vi] = T.float32(-1000)
                W[vi] = T.float32(7777)
                M[vi] = T.float32(1)
            a: T.float32 = A[vi, vk]
            v: T.float32 = T.Select(V[vi] >= a, V[vi], a)
            w: T.float32 = T.Select(V[vi] >= a, W[vi], a)
            S[vi] = S[vi] + a
            Q[vi] = Q[vi] + a * a
            V[vi] = v
            W[vi] = w
            M[vi] = T.min(a, M[vi])
"""
"""Sums, a least, and a greatest that stands in two places: all of one step."""
SOFTMAX = """
@T.prim_func
def f(A: T.Buffer[(3, 19), "float32"], C: T.Buffer[(3, 19), "float32"]):
    M = T.alloc_buffer((3,), "float32", scope="shared")
    S = T.alloc_buffer((3,), "float32", scope="shared")
    for i in T.thread_binding(3, thread="blockIdx.x"):
        for o in range(3):
            for t in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("M"):
                    T.where(o * 8 + t < 19)
                    vi = T.axis.spatial(3, i)
                    vk = T.axis.reduce(19, o * 8 + t)
                    with T.init():
                        M[vi] = T.min_value("float32")
                    M[vi] = T.max(M[vi], A[vi, vk])
        for o in range(3):
            for t in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("S"):
                    T.where(o * 8 + t < 19)
                    vi = T.axis.spatial(3, i)
                    vk = T.axis.reduce(19, o * 8 + t)
                    with T.init():
                        S[vi] = T.float32(0)
                    S[vi] = S[vi] + T.exp(A[vi, vk] - M[vi])
        for o in range(3):
            for t in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("C"):
                    T.where(o * 8 + t < 19)
                    vi = T.axis.spatial(3, i)
                    vk = T.axis.spatial(19, o * 8 + t)
                    C[vi, vk] = T.exp(A[vi, vk] - M[vi]) / S[vi]
"""
A = np.stack([np.random.default_rng(row).permutation(19) for row in range(3)]).astype(np.float32) / 4
"""Numbers of which no two in a row are equal: which of two is taken may depend on the order."""


def scheduled(text: str, how: Callable[[Schedule], object]) -> PrimFuncOp:
    schedule = Schedule(function(text), debug_mask="all")
    how(schedule)
    func = schedule.mod.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


def inner_threads(schedule: Schedule) -> None:
    """Neighbouring threads take neighbouring steps; the last round has not one for each."""
    i, k = schedule.get_loops("B")
    schedule.bind(schedule.split(k, [None, 6])[1], "threadIdx.x")
    schedule.bind(i, "blockIdx.x")


def outer_threads(schedule: Schedule) -> None:
    """Each thread takes neighbouring steps; the last has none."""
    i, k = schedule.get_loops("B")
    schedule.bind(schedule.split(k, [6, None])[0], "threadIdx.x")
    schedule.bind(i, "blockIdx.x")


def two_axes(schedule: Schedule) -> None:
    """All steps at once, along two axes; elements along the third."""
    i, k = schedule.get_loops("B")
    y, x = schedule.split(k, [None, 5])
    schedule.bind(y, "threadIdx.y")
    schedule.bind(x, "threadIdx.x")
    schedule.bind(i, "threadIdx.z")


def elements_within(schedule: Schedule) -> None:
    """Elements one after the other in each thread."""
    i, k = schedule.get_loops("B")
    o, t = schedule.split(k, [None, 4])
    schedule.reorder(t, i, o)
    schedule.bind(t, "threadIdx.x")


SCHEDULES = [inner_threads, outer_threads, two_axes, elements_within]


def lowered(func: PrimFuncOp) -> PrimFuncOp:
    module = ModuleOp([func.clone()])
    run(LowerCrossThreadReductionPass(), module)
    module.verify()
    run(ThreadSyncPass(), module)
    module.verify()
    (made,) = module.ops
    assert isinstance(made, PrimFuncOp)
    return made


@pytest.mark.parametrize("how", SCHEDULES)
@pytest.mark.parametrize("text", [SUM, GREATEST, SEVERAL], ids=["sum", "greatest", "several"])
def test_what_threads_reduce_together_is_what_one_does(text: str, how: Callable[[Schedule], object]) -> None:
    wanted = Interpreter(function(text))([A])
    func = scheduled(text, how)
    made = lowered(func)
    for each in (func, made):
        for seed in (None, 1):
            for given, want in zip(Interpreter(each)([A], seed), wanted, strict=True):
                np.testing.assert_array_equal(given, want)


def test_each_barrier_between_the_parts_is_needed() -> None:
    func = lowered(scheduled(SUM, inner_threads))
    barriers = [op for op in func.walk() if isinstance(op, StorageSyncOp)]
    assert len(barriers) == 2  # behind the parts, and before the last two are added
    barriers[0].detach()
    with pytest.raises(Diagnostic, match=r"touches %B_parts|is read before it is written"):
        Interpreter(func)([A])


def test_what_all_threads_read_after_is_there() -> None:
    waiting = function(SOFTMAX)
    run(ThreadSyncPass(), ModuleOp([waiting]))
    for func in (waiting, lowered(function(SOFTMAX))):
        (given,) = Interpreter(func)([A], 1)
        weights = np.exp(A - A.max(1, keepdims=True))
        np.testing.assert_allclose(
            np.asarray(given, np.float32), weights / weights.sum(1, keepdims=True), rtol=1e-5, atol=1e-7
        )


def test_a_gpu_reduces_with_its_threads_in_any_order(driver: Emulator) -> None:
    mod = weft.build(scheduled(SUM, inner_threads), target="cuda")
    driver.register(mod["f"].executable.ir)
    for backwards in (False, True):
        driver.shuffle(backwards)
        given: Any = np.zeros(3, np.float32)
        mod(A, given)
        driver.shuffle(False)
        np.testing.assert_array_equal(given, A.sum(1))


def test_without_the_pass_no_kernel_is_made() -> None:
    with pytest.raises(Diagnostic, match="the threads of %k share the reduction of block @B, each for itself"):
        run(ConvertTirToGPUPass(), ModuleOp([scheduled(SUM, inner_threads).clone()]))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("B[vi] + A[vi, vk]", "B[vi] - A[vi, vk]", "combines by arith.subf, whose order may not be changed"),
        ("T.float32(0)", "T.float32(1)", "does not start at 0"),
        ("T.float32(0)", 'T.Cast("float32", vi)', "does not start from a number"),
        ("B[vi] = T.float32(0)", "B[2 - vi] = T.float32(0)", "begins another element than it goes on with"),
        ("B[vi] + A[vi, vk]", "T.exp(B[vi] + A[vi, vk])", "does not combine its result with one value"),
    ],
)
def test_a_reduction_whose_order_is_of_account_is_refused(old: str, new: str, why: str) -> None:
    func = scheduled(SUM.replace(old, new), inner_threads)
    before = str(func)
    with pytest.raises(Diagnostic, match=why):
        lowered(func)
    assert str(func) == before


def test_a_part_of_a_reduction_goes_on_from_what_the_part_before_has_left() -> None:
    part = """
    for i in range(3):
        for t in T.thread_binding({size}, thread="threadIdx.x"):
            with T.block("B"):
                vi = T.axis.spatial(3, i)
                vk = T.axis.reduce(19, t + {start})
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
"""
    func = function(SUM[: SUM.index("    for i")] + part.format(size=12, start=0) + part.format(size=7, start=12))
    for each in (func, lowered(func)):
        np.testing.assert_array_equal(Interpreter(each)([A], 1)[0], A.sum(1))


def test_threads_do_not_share_what_each_has_for_itself() -> None:
    text = SUM.replace("    for i, k", '    L = T.alloc_buffer((3,), "float32", scope="local")\n    for i, k')
    text = text.replace("B[vi]", "L[vi]") + (
        '    for i in range(3):\n        with T.block("out"):\n            vi = T.axis.spatial(3, i)\n'
        "            B[vi] = L[vi]\n"
    )
    schedule = Schedule(function(text))
    with pytest.raises(ScheduleError, match="its steps cannot run at the same time"):
        schedule.bind(schedule.get_loops("B")[1], "threadIdx.x")


def test_an_init_leaves_a_nest_before_threads_share_its_steps() -> None:
    schedule = Schedule(function(SUM))
    i, k = schedule.get_loops("B")
    schedule.bind(k, "threadIdx.x")
    with pytest.raises(ScheduleError, match="threads share the reduction of block @B, init included"):
        schedule.decompose_reduction("B", i)


def test_an_init_that_leaves_a_loop_of_threads_is_in_one_of_its_own() -> None:
    schedule = Schedule(function(SUM), debug_mask="all")
    i, _ = schedule.get_loops("B")
    schedule.bind(i, "threadIdx.x")
    schedule.decompose_reduction("B", i)
    assert schedule.mod.script().count('T.thread_binding(3, thread="threadIdx.x")') == 2
    func = schedule.mod.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    np.testing.assert_array_equal(Interpreter(func)([A], 1)[0], A.sum(1))


def test_results_of_several_kinds_are_factored_together() -> None:
    func = scheduled(SEVERAL, lambda schedule: schedule.rfactor(schedule.get_loops("B")[1], 0))
    for given, want in zip(Interpreter(func)([A]), Interpreter(function(SEVERAL))([A]), strict=True):
        np.testing.assert_array_equal(given, want)


def test_a_result_that_is_made_of_another_one_is_refused() -> None:
    func = scheduled(SEVERAL.replace("Q[vi] + a * a", "Q[vi] + V[vi]"), inner_threads)
    with pytest.raises(Diagnostic, match="with what there is of another so far"):
        lowered(func)


def test_others_may_stand_in_the_loop_of_the_threads() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(3, 19), "float32"], B: T.Buffer[(3,), "float32"], C: T.Buffer[(8,), "float32"]):
    R = T.alloc_buffer((24, 3), "float32", scope="local")
    for t in T.thread_binding(8, thread="threadIdx.x"):
        for i, o in T.grid(3, 3):
            with T.block("R"):
                vi = T.axis.spatial(3, i)
                vk = T.axis.spatial(24, t * 3 + o)
                R[vk, vi] = T.if_then_else(vk < 19, A[vi, T.min(vk, 18)], T.float32(0))
        for i, o in T.grid(3, 3):
            with T.block("B"):
                vi = T.axis.spatial(3, i)
                vk = T.axis.reduce(24, t * 3 + o)
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + R[vk, vi]
        with T.block("C"):
            vt = T.axis.spatial(8, t)
            C[vt] = A[0, vt]
"""
    func = function(text)
    for each in (func, lowered(func)):
        for seed in (None, 1):
            given, copied = Interpreter(each)([A], seed)
            np.testing.assert_array_equal(given, A.sum(1))
            np.testing.assert_array_equal(copied, A[0, :8])


def test_what_stands_in_the_loop_of_the_steps_too_is_refused() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(3, 16), "float32"], B: T.Buffer[(3,), "float32"], C: T.Buffer[(2,), "float32"]):
    for o in range(2):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            for i in range(3):
                with T.block("B"):
                    vi = T.axis.spatial(3, i)
                    vk = T.axis.reduce(16, o * 8 + t)
                    with T.init():
                        B[vi] = T.float32(0)
                    B[vi] = B[vi] + A[vi, vk]
        with T.block("C"):
            vo = T.axis.spatial(2, o)
            C[vo] = A[0, vo]
"""
    with pytest.raises(Diagnostic, match="@B, whose reduction the threads of %t share, is not all that stands in %o"):
        lowered(function(text))


@pytest.mark.parametrize(
    ("loop", "hint"),
    [
        ("T.vectorized(3)", "let the loop be serial"),
        ("T.parallel(3)", "let the loop be serial"),
        ('T.thread_binding(3, thread="vthread")', "inject-virtual-thread comes before"),
    ],
)
def test_iterations_at_one_time_cannot_have_the_memory_of_the_parts(loop: str, hint: str) -> None:
    text = f"""
@T.prim_func
def f(A: T.Buffer[(3, 16), "float32"], B: T.Buffer[(3,), "float32"]):
    for i in {loop}:
        for t in T.thread_binding(16, thread="threadIdx.x"):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, t])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
"""
    func = function(text)
    with pytest.raises(Diagnostic, match="stands in %i, whose iterations would have the parts' memory") as caught:
        lowered(func)
    assert caught.value.hint == hint
