"""`RewriteLayout`, which lays weights out in the order in which they are read, and loops whose end is not known."""

# pyright: basic, reportAttributeAccessIssue=false, reportCallIssue=false, reportArgumentType=false

import numpy as np
import pytest
from tvmscript_texts import function

import weft
from weft import meta_schedule as ms
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.tir import Schedule, assert_structural_equal, structural_equal

PRODUCT = """
@T.prim_func
def f(A: T.Buffer[(16, 16), "float32"], B: T.Buffer[(16, 16), "float32"], C: T.Buffer[(16, 16), "float32"]):
    T.func_attr({"layout_free_buffers": [1]})
    for i0, j, k0, i1, k1 in T.grid(4, 16, 4, 4, 4):
        with T.block("product"):
            vi = T.axis.S(16, i0 * 4 + i1)
            vj = T.axis.S(16, j)
            vk = T.axis.R(16, k0 * 4 + k1)
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
COPY = """
    B_global = T.alloc_buffer((16, 4, 4))
    for a, b in T.grid(16, 16):
        with T.block("B_global"):
            va, vb = T.axis.remap("SS", [a, b])
            T.block_attr({"meta_schedule.layout_rewrite_preproc": True})
            B_global[vb, va // 4, va % 4] = B[va, vb]
"""
COPIED = PRODUCT.replace("[1]})\n", "[1]})" + COPY).replace("B[vk, vj]", "B_global[vj, vk // 4, vk % 4]")
A, B = (np.random.default_rng(seed).standard_normal((16, 16)).astype(np.float32) for seed in (0, 1))


def rewritten(schedule: Schedule) -> PrimFuncOp:
    schedule.enter_postproc()
    assert ms.postproc.RewriteLayout().apply(schedule)
    return schedule.mod["main"]


def check(func: PrimFuncOp) -> None:
    np.testing.assert_allclose(np.asarray(Interpreter(func)([A, B])[0]), A @ B, rtol=1e-4, atol=1e-4)
    out = np.zeros((16, 16), np.float32)
    weft.build(func)(A, B, out)
    np.testing.assert_allclose(out, A @ B, rtol=1e-4, atol=1e-4)


def test_weights_lie_as_the_loops_around_their_reader_go() -> None:
    schedule = Schedule(function(PRODUCT))
    made = rewritten(schedule)
    assert_structural_equal(made, function(COPIED))
    check(made)
    again = Schedule(function(PRODUCT))
    schedule.trace.apply_to_schedule(again)
    assert structural_equal(again.mod, schedule.mod)


def test_copies_of_weights_are_laid_out_with_them() -> None:
    schedule = Schedule(function(PRODUCT))
    outer, *_ = schedule.get_loops("product")
    schedule.cache_read("product", 1, "global")
    copy = schedule.cache_read("product", 1, "global")
    schedule.compute_at(copy, outer)
    made = rewritten(schedule)
    assert made.script().count("T.alloc_buffer((16, 4, 4)") == 3
    assert made.script().count("meta_schedule.layout_rewrite_preproc") == 1
    check(made)


@pytest.mark.parametrize(
    "given, other",
    [
        ('"layout_free_buffers": [1]', '"layout_free_buffers": []'),
        ("B[vk, vj]", "B[vk, vk]"),
    ],
)
def test_what_has_no_better_layout_stays(given: str, other: str) -> None:
    func = function(PRODUCT.replace(given, other))
    assert structural_equal(rewritten(Schedule(func)), func)


def test_a_number_of_no_buffer_is_refused() -> None:
    with pytest.raises(UsageError, match="layout_free_buffers: @f has no buffer of number 3"):
        rewritten(Schedule(function(PRODUCT.replace("[1]", "[3]"))))


LATE = """
@T.prim_func
def f(A: T.Buffer[(16,), "float32"]):
    for i in range(16):
        with T.block("row"):
            vi = T.axis.S(16, i)
            A[vi] = T.float32(0)
            for j in range(END):
                A[vi] = A[vi] + T.float32(1)
"""


def test_a_loop_that_another_ends_has_no_extent_that_is_known() -> None:
    allowed = ms.postproc.DisallowDynamicLoop()
    assert not allowed.apply(Schedule(function(LATE.replace("END", "vi"))))
    assert allowed.apply(Schedule(function(LATE.replace("range(END)", "range(T.index(7))"))))
