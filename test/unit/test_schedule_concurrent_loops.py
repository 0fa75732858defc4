"""What is scheduled within loops whose iterations run at the same time still verifies, or is refused at once."""

from __future__ import annotations

import numpy as np
import pytest
from tvmscript_texts import function, only

from weft.dialects.schedule.loops import SplitOp
from weft.dialects.tir.core import ForOp, PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.kernel import build_kernel
from weft.tir import Schedule, ScheduleError, from_source
from weft.transforms.tir.scheduling import rehearsal

PRODUCT = """
@T.prim_func
def f(ha: T.handle, hb: T.handle, hc: T.handle):
    n = T.var("int32")
    m = T.var("int32")
    A = T.match_buffer(ha, (n, m), "int32")
    B = T.match_buffer(hb, (m, 6), "int32")
    C = T.match_buffer(hc, (n, 6), "int32")
    for i, j, k in T.grid(n, 6, m):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


@pytest.mark.parametrize("kind", ["vectorize", "parallel"])
@pytest.mark.parametrize("factor", [3, 4, 5])
def test_a_loop_in_a_concurrent_one_is_split_by_what_does_not_divide_it(kind: str, factor: int) -> None:
    schedule = Schedule(function(PRODUCT), debug_mask="all")
    _, j, _ = schedule.get_loops("C")
    outer, inner = schedule.split(j, [None, 2])
    getattr(schedule, kind)(outer)
    schedule.split(inner, [None, 1, factor, 1])
    assert "where" in str(schedule.mod)
    kernel = build_kernel(only(schedule), start="schedule", codegen_level=1)
    for n, m in ((1, 1), (5, 4), (2, 0)):
        a = np.arange(n * m, dtype=np.int32).reshape(n, m)
        b = np.arange(m * 6, dtype=np.int32).reshape(m, 6) - 7
        (c,) = kernel(a, b)
        np.testing.assert_array_equal(c, a @ b)


ACROSS = """
@T.prim_func
def f(ha: T.handle, hc: T.handle):
    n = T.var("int32")
    A = T.match_buffer(ha, (n,), "int32")
    C = T.match_buffer(hc, (n,), "int32")
    for i in T.parallel((n + 6) // 7):
        for j in range(7):
            with T.block("C"):
                vi = T.axis.spatial(n, i * 7 + j)
                T.where(i * 7 + j < n)
                C[vi] = A[vi] + 1
"""


def test_what_the_verifier_does_not_see_is_refused_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = Schedule(function(ACROSS))
    before = str(schedule.mod)
    (_, inner) = schedule.get_loops("C")

    def torn(state: rehearsal.State, op: SplitOp) -> list[ForOp]:
        """As a split that lets two iterations meet would leave the function."""
        loop = state.loop(op.inputs[0])
        loop.size = 8
        return [loop, loop]

    monkeypatch.setitem(rehearsal.APPLY, SplitOp, torn)
    with pytest.raises(ScheduleError, match=r"schedule\.split: there, .*block @C"):
        schedule.split(inner, [None, 2])
    assert str(schedule.mod) == before


def test_what_was_wrong_before_is_no_reason_to_refuse() -> None:
    text = ACROSS.replace("C[vi] = A[vi] + 1", "C[vi] = C[vi] + A[vi + 1]")
    made = from_source(text)
    assert isinstance(made, PrimFuncOp)
    for mask in ("none", "all"):
        schedule = Schedule(made, debug_mask=mask)
        schedule.split(schedule.get_loops("C")[1], [None, 2])
        assert len(schedule.copy().get_loops("C")) == 3


WINDOWS = """
@T.prim_func
def f(A: T.Buffer[(19,), "float32"], W: T.Buffer[(5, 4), "float32"], B: T.Buffer[(8, 4), "float32"]):
    P = T.alloc_buffer((19,), "float32", scope="shared")
    for i in range(19):
        with T.block("P"):
            vi = T.axis.spatial(19, i)
            P[vi] = A[vi] * T.float32(2)
    for t in T.thread_binding(2, thread="vthread.x"):
        for x in T.thread_binding(4, thread="threadIdx.x"):
            for r in range(5):
                for i, j in T.grid(2, 2):
                    with T.block("B"):
                        vi = T.axis.spatial(8, x * 2 + i)
                        vj = T.axis.spatial(4, t * 2 + j)
                        vr = T.axis.reduce(5, r)
                        with T.init():
                            B[vi, vj] = T.float32(0)
                        B[vi, vj] = B[vi, vj] + P[vi * 2 + vr] * W[vr, vj]
"""


def test_virtual_threads_may_fill_the_same_window_again_and_again() -> None:
    schedule = Schedule(function(WINDOWS), debug_mask="all")
    schedule.compute_at("P", schedule.get_loops("B")[2])
    a, w = np.arange(19, dtype=np.float32), np.arange(20, dtype=np.float32).reshape(5, 4)
    expected = 2 * np.stack([a[2 * i : 2 * i + 5] @ w for i in range(8)])
    np.testing.assert_array_equal(Interpreter(only(schedule))([a, w])[0], expected)


def test_virtual_threads_may_not_fill_it_with_something_else_each_time() -> None:
    text = WINDOWS.replace("P[vi] = A[vi] * T.float32(2)", "P[vi // 2] = A[vi] * T.float32(2)")
    schedule = Schedule(function(text.replace("P[vi * 2 + vr]", "P[vi]")), debug_mask="all")
    with pytest.raises(ScheduleError, match="@P"):
        schedule.compute_at("P", schedule.get_loops("B")[2])
