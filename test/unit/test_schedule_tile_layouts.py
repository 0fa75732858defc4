"""Blocks in the layout of an intrinsic's tiles, what lays results out as they were, and fragments of warps."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import numpy as np

from weft.script import tir as T
from weft.tir import Interpreter, Schedule


@T.prim_func
def doubled(X: T.Buffer[(4, 8), "float32"], Y: T.Buffer[(4, 8), "float32"]):
    for i, j in T.grid(4, 8):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] * T.float32(2)


def test_a_block_in_another_layout_accesses_buffers_of_that_layout_at_its_iterators() -> None:
    schedule = Schedule(doubled)
    block = schedule.get_block("Y")
    store = schedule.reindex(block, ("write", 0))
    for each in (block, store):
        if each is block:
            schedule.transform_layout(block, ("write", 0), lambda i, j: i * 8 + j)
        schedule.transform_block_layout(each, lambda i, j: i * 8 + j)
    assert "Y_reindex[v0] = X[v0 // 8, v0 % 8]" in schedule.mod.script()
    schedule.reverse_compute_inline(store)  # which writes at digits of its iterator
    assert "Y[v0 // 8, v0 % 8] = X[v0 // 8, v0 % 8]" in schedule.mod.script()
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    assert np.array_equal(Interpreter(schedule.mod["main"])([x])[0], x * 2)


@T.prim_func
def fragments(Y: T.Buffer[(2, 4, 4), "float32"]):
    F = T.alloc_buffer((4, 4), "float32", scope="wmma.accumulator")
    for t in T.thread_binding(2, thread="threadIdx.y"):
        for i, j in T.grid(4, 4):
            with T.block("fill"):
                vt, vi, vj = T.axis.remap("SSS", [t, i, j])
                F[vi, vj] = T.cast(vt * 16 + vi * 4 + vj, "float32")
        for i, j in T.grid(4, 4):
            with T.block("store"):
                vt, vi, vj = T.axis.remap("SSS", [t, i, j])
                Y[vt, vi, vj] = F[vi, vj]


def test_threads_that_do_not_run_together_have_fragments_of_their_own() -> None:
    (result,) = Interpreter(Schedule(fragments).mod["main"])([])
    assert np.array_equal(result.reshape(-1), np.arange(32, dtype=np.float32))
