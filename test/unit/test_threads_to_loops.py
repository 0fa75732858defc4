"""A loop that threads run becomes another kind of loop only where none of its threads waits for another."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# pyright: reportArgumentType=false

import numpy as np
import pytest

from weft.script import tir as T
from weft.tir import Interpreter, Schedule, ScheduleError


@T.prim_func
def turned(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((8,), "float32", scope="shared")
    for z in range(8):
        with T.block("Z"):
            vz = T.axis.spatial(8, z)
            S[vz] = T.float32(0)
    for i in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("S"):
            vi = T.axis.spatial(8, i)
            S[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = S[7 - vi]


@T.prim_func
def apart(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((8,), "float32", scope="shared")
    for i in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("S"):
            vi = T.axis.spatial(8, i)
            S[vi] = A[vi]
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = S[vi]


@T.prim_func
def repeated(A: T.Buffer((4,), "int32"), C: T.Buffer((4, 2), "int32")):
    S = T.alloc_buffer((4,), "int32")
    for i in range(4):
        for j in T.thread_binding(2, thread="threadIdx.x"):
            with T.block("S"):
                vi = T.axis.spatial(4, i)
                S[vi] = A[vi]
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = S[vi]


@pytest.mark.parametrize("primitive", ["unroll", "vectorize", "parallel", "bind"])
def test_threads_that_wait_for_one_another_stay_threads(primitive: str) -> None:
    schedule = Schedule(turned)
    (loop,) = schedule.get_loops("C")
    before = str(schedule.mod)
    axis = ["blockIdx.x"] if primitive == "bind" else []
    with pytest.raises(ScheduleError, match="its threads wait for one another: block @S writes elements of %S"):
        getattr(schedule, primitive)(loop, *axis)
    assert str(schedule.mod) == before


@pytest.mark.parametrize("primitive", ["unroll", "vectorize", "parallel"])
def test_threads_that_need_no_other_become_a_loop(primitive: str) -> None:
    a = np.arange(8, dtype=np.float32)
    schedule = Schedule(apart, debug_mask="all")
    getattr(schedule, primitive)(schedule.get_loops("C")[0])
    np.testing.assert_array_equal(Interpreter(schedule.mod["main"])([a])[0], a)


def test_what_each_thread_writes_again_is_not_written_by_lanes() -> None:
    schedule = Schedule(repeated)
    with pytest.raises(ScheduleError, match=r"its threads wait for one another|writes the same element of %S"):
        schedule.vectorize(schedule.get_loops("C")[1])
    schedule.mod.verify()
