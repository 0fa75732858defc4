"""Threads that share memory, in the interpreter: they wait for one another, and races between barriers are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiled_product import TILED
from tvmscript_texts import function
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.te.expr import Const
from weft.dialects.tir.core import ForOp, PrimFuncOp, StorageSyncOp
from weft.tir import Interpreter, Schedule, ScheduleError, assert_structural_equal, from_source
from weft.transforms.infra.execution import run
from weft.transforms.tir.inject_virtual_thread import InjectVirtualThreadPass
from weft.transforms.tir.thread_sync import ThreadSyncPass


def synced(func: PrimFuncOp) -> PrimFuncOp:
    module = ModuleOp([func.clone()])
    run(ThreadSyncPass(), module)
    (made,) = module.ops
    assert isinstance(made, PrimFuncOp)
    made.verify()
    return made


def arrays() -> list[Any]:
    return list(np.random.default_rng(0).standard_normal((2, 8, 8)).astype(np.float32))


@pytest.fixture(scope="module")
def tiled() -> PrimFuncOp:
    return function(TILED)


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_threads_that_wait_compute_a_product_in_any_order(tiled: PrimFuncOp, seed: int | None) -> None:
    a, b = arrays()
    (c,) = Interpreter(synced(tiled))([a, b], seed=seed)
    np.testing.assert_allclose(np.asarray(c, np.float32), a @ b, rtol=1e-5, atol=1e-6)


def test_threads_wait_where_iterations_have_the_same_memory_one_after_the_other() -> None:
    """Of each row a thread touches its own element alone; the rows lie in the same four elements of shared memory."""
    text = """
@T.prim_func
def turned(A: T.Buffer[(8, 4), "float32"], B: T.Buffer[(8, 4), "float32"]):
    S = T.alloc_buffer((8, 4), "float32", scope="shared")
    for t in T.thread_binding(4, thread="threadIdx.x"):
        for k in range(8):
            with T.block("fill"):
                vk, vt = T.axis.remap("SS", [k, t])
                S[vk, (vk + vt) % 4] = A[vk, vt]
            with T.block("take"):
                vk, vt = T.axis.remap("SS", [k, t])
                B[vk, vt] = S[vk, (vk + vt) % 4]
"""
    made = synced(function(text))
    loop = next(op for op in made.walk() if isinstance(op, ForOp) and op.var.name_hint == "k")
    assert any(isinstance(op, StorageSyncOp) for op in loop.walk())


def test_threads_that_do_not_wait_are_found(tiled: PrimFuncOp) -> None:
    with pytest.raises(Diagnostic, match=r"%As\[0, 1\] is read before it is written"):
        Interpreter(tiled)(arrays())


@pytest.mark.parametrize("number", [0, 1])
def test_every_barrier_is_needed(tiled: PrimFuncOp, number: int) -> None:
    func = synced(tiled)
    barriers = [op for op in func.walk() if isinstance(op, StorageSyncOp)]
    assert len(barriers) == 2
    barriers[number].detach()
    with pytest.raises(Diagnostic, match=r"touches %|is read before it is written"):
        Interpreter(func)(arrays())


def test_a_barrier_that_some_threads_do_not_come_to_is_found() -> None:
    func = function("""
@T.prim_func
def f(C: T.Buffer[(8,), "float32"]):
    for ty in T.thread_binding(2, thread="threadIdx.y"):
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            with T.block("b"):
                v = T.axis.spatial(8, ty * 4 + tx)
                C[v] = 1.0
            T.tvm_storage_sync("shared")
""")
    np.testing.assert_array_equal(Interpreter(func)([])[0], np.ones(8))


def test_barriers_are_read_and_written_as_tvmscript(tiled: PrimFuncOp) -> None:
    func = synced(tiled)
    text = func.script()
    assert text.count('T.tvm_storage_sync("shared")') == 2
    assert_structural_equal(function(text), func)
    with pytest.raises(AssertionError):
        assert_structural_equal(func, tiled)


def test_what_a_block_of_threads_leaves_is_lost_to_the_next() -> None:
    func = function("""
@T.prim_func
def f(A: T.Buffer[(4,), "float32"], C: T.Buffer[(2, 4), "float32"]):
    S = T.alloc_buffer((4,), "float32", scope="shared")
    for bx in T.thread_binding(2, thread="blockIdx.x"):
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            with T.block("load"):
                vb = T.axis.spatial(2, bx)
                v = T.axis.spatial(4, tx)
                T.where(bx < 1)
                S[v] = A[v]
            with T.block("copy"):
                vb = T.axis.spatial(2, bx)
                v = T.axis.spatial(4, tx)
                C[vb, v] = S[v]
""")
    with pytest.raises(Diagnostic, match=r"%S\[0\] is read before it is written"):
        Interpreter(func)([np.ones(4, np.float32)])


SHARED_COPY = """
@T.prim_func
def f(A: T.Buffer[(64,), "float32"], B: T.Buffer[(64,), "float32"]):
    A_shared = T.alloc_buffer((64,), "float32", scope="shared")
    A_local = T.alloc_buffer((64,), "float32", scope="local")
    for i in range(64):
        with T.block("A_shared"):
            v = T.axis.spatial(64, i)
            A_shared[v] = A[v] * T.float32(2)
    for i in range(64):
        with T.block("A_local"):
            v = T.axis.spatial(64, i)
            A_local[v] = A_shared[v]
    for bx in T.thread_binding(4, thread="blockIdx.x"):
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            for i in range(4):
                with T.block("B"):
                    v = T.axis.spatial(64, bx * 16 + tx * 4 + i)
                    B[v] = A_local[v] + T.float32(1)
"""
"""What is cached for threads before any of it is computed where they run."""


def test_each_thread_fills_all_of_what_its_block_shares() -> None:
    schedule = Schedule(from_source(SHARED_COPY), debug_mask="all")
    thread = schedule.get_loops("B")[1]
    schedule.compute_at("A_local", thread)
    schedule.compute_at("A_shared", thread)
    filled, kept = schedule.get_loops("A_shared")[-1], schedule.get_loops("A_local")[-1]
    extents = [schedule.get(each).extent for each in (filled, kept)]
    assert [extent.value for extent in extents if isinstance(extent, Const)] == [16, 4]
    schedule.bind(schedule.split(filled, [None, 4])[1], "threadIdx.x")
    given = np.arange(64, dtype=np.float32)
    (result,) = Interpreter(synced(schedule.mod["f"]))([given], seed=1)
    assert (np.asarray(result) == given * 2 + 1).all()


VIRTUAL = """
@T.prim_func
def f(A: T.Buffer[(8, 4), "float32"], B: T.Buffer[(8, 4), "float32"]):
    S = T.alloc_buffer((8, 4), "float32", scope="shared")
    for vx in T.thread_binding(2, thread="vthread.x"):
        for k in range(8):
            for i in range(4):
                with T.block("S"):
                    vk, vi = T.axis.remap("SS", [k, i])
                    S[vk, vi] = A[vk, vi] * T.float32(3)
            for i in range(2):
                with T.block("B"):
                    vk = T.axis.spatial(8, k)
                    vi = T.axis.spatial(4, vx * 2 + i)
                    B[vk, vi] = S[vk, 3 - vi]
"""
"""Both virtual threads fill all rows, and read what the other one has filled too."""


def test_threads_that_all_write_the_same_do_not_meet() -> None:
    func = from_source(VIRTUAL)
    assert isinstance(func, PrimFuncOp)
    given = np.arange(32, dtype=np.float32).reshape(8, 4)
    (result,) = Interpreter(func)([given], seed=1)
    assert (np.asarray(result) == given[:, ::-1] * 3).all()


def test_what_all_threads_of_a_block_write_may_lie_where_several_blocks_write() -> None:
    func = from_source("""
@T.prim_func
def f(A: T.Buffer[(16, 4), "float32"], B: T.Buffer[(16, 8), "float32"]):
    S = T.alloc_buffer((16, 4), "float32", scope="shared")
    for b in T.thread_binding(4, thread="blockIdx.x"):
        for vx in T.thread_binding(2, thread="vthread.x"):
            for k in range(8):
                for i in range(4):
                    with T.block("S"):
                        vk = T.axis.spatial(16, b // 2 * 8 + k)
                        vi = T.axis.spatial(4, i)
                        S[vk, vi] = A[vk, vi]
                for i in range(2):
                    with T.block("B"):
                        vk = T.axis.spatial(16, b // 2 * 8 + k)
                        vi = T.axis.spatial(8, b % 2 * 4 + vx * 2 + i)
                        B[vk, vi] = S[vk, vi // 2]
""")
    assert isinstance(func, PrimFuncOp)
    given = np.arange(64, dtype=np.float32).reshape(16, 4)
    (result,) = Interpreter(func)([given], seed=1)
    assert (np.asarray(result) == given.repeat(2, axis=1)).all()


@pytest.mark.parametrize(
    "old, new",
    [
        ("S[vk, vi] = A", "S[vk % 4, vi] = A"),  # a row is written twice, and another thread may be at the first
        ("S[vk, vi] = A[vk, vi] * T.float32(3)", "S[vk, vi] = S[vk, vi] + A[vk, vi]"),
        ('vk, vi = T.axis.remap("SS", [k, i])', "vk = T.axis.spatial(8, k); vi = T.axis.spatial(4, (i + vx) % 4)"),
        ("B[vk, vi] = S[vk, 3 - vi]", "B[vk, vi] = S[vk, 3 - vi]\n                    A[vk, vi] = T.float32(0)"),
    ],
)  # fmt: skip
def test_threads_that_write_what_differs_are_refused(old: str, new: str) -> None:
    assert old in VIRTUAL
    with pytest.raises(Diagnostic):
        from_source(VIRTUAL.replace(old, new), check_well_formed=True)


def test_threads_do_not_share_out_what_is_their_own() -> None:
    schedule = Schedule(from_source(SHARED_COPY))
    thread = schedule.get_loops("B")[1]
    schedule.compute_at("A_local", thread)
    with pytest.raises(ScheduleError, match="does in it what is that thread's"):
        schedule.bind(schedule.get_loops("A_local")[-1], "threadIdx.x")
    schedule.compute_at("A_shared", thread)
    with pytest.raises(ScheduleError, match="another loop of its nest is bound to"):
        schedule.bind(schedule.get_loops("A_shared")[-1], "threadIdx.x")


def test_what_is_on_its_way_to_threads_is_read_but_not_compiled() -> None:
    with pytest.raises(Diagnostic, match="do not stand in the same parallel loops"):
        weft.build(from_source(SHARED_COPY), target="c")


def test_a_loop_of_the_same_threads_is_the_same_thread() -> None:
    """The inner loop runs the iteration of the thread that is there: each element is written by one."""
    func = function("""
@T.prim_func
def f(A: T.Buffer[(4,), "float32"], C: T.Buffer[(4,), "float32"]):
    S = T.alloc_buffer((4,), "float32", scope="shared")
    for tx in T.thread_binding(4, thread="threadIdx.x"):
        for k in range(2):
            for t in T.thread_binding(4, thread="threadIdx.x"):
                with T.block("load"):
                    v = T.axis.spatial(4, t)
                    S[v] = A[v]
        with T.block("turn"):
            v = T.axis.spatial(4, tx)
            C[v] = S[3 - v]
""")
    a = np.arange(4, dtype=np.float32)
    for seed in (None, 3):
        np.testing.assert_array_equal(Interpreter(synced(func))([a], seed=seed)[0], a[::-1])


def test_threads_are_bound_before_a_copy_is_moved_to_them() -> None:
    twice = function("""
@T.prim_func
def f(A: T.Buffer[(4, 8), "float32"], B: T.Buffer[(4, 8), "float32"]):
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
""")
    schedule = Schedule(twice, debug_mask="all")
    copy = schedule.cache_write("B", 0, "local")
    rows, columns = schedule.get_loops("B")
    schedule.bind(rows, "blockIdx.x")
    schedule.bind(columns, "threadIdx.x")
    with pytest.raises(Diagnostic, match="do not stand in the same parallel loops"):
        weft.build(schedule.mod, target="c")
    schedule.reverse_compute_at(copy, columns)
    schedule.mod.verify()


OF_WARPS = """
@T.prim_func
def f(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32")):
    for way in T.thread_binding(2, thread="{outer}"):
        for lane in T.thread_binding(2, thread="threadIdx.x"):
            with T.block("own"):
                B = T.alloc_buffer((2, 8), "float32", scope="warp")
                for j in range(8):
                    with T.block("to"):
                        B[lane, j] = A[way * 2 + lane, j] + 1.0
                T.tvm_storage_sync("shared")
                for j in range(8):
                    with T.block("from"):
                        C[way * 2 + lane, j] = B[1 - lane, j] * 2.0
"""


@pytest.mark.parametrize("outer", ["blockIdx.x", "threadIdx.y", "vthread", "cthread"])
@pytest.mark.parametrize("seed", [None, 1])
def test_lanes_read_what_others_of_their_warp_wrote(outer: str, seed: int | None) -> None:
    func = function(OF_WARPS.format(outer=outer))
    a = np.arange(32, dtype=np.float32).reshape(4, 8)
    (c,) = Interpreter(func)([a], seed=seed)
    np.testing.assert_array_equal(c, (a.reshape(2, 2, 8)[:, ::-1].reshape(4, 8) + 1) * 2)
    module = ModuleOp([func.clone()])
    run(InjectVirtualThreadPass(), module)
    (virtual,) = module.ops
    assert isinstance(virtual, PrimFuncOp)
    np.testing.assert_array_equal(Interpreter(virtual)([a], seed=seed)[0], c)


def test_virtual_threads_share_memory_of_a_warp_that_is_allocated_around_them() -> None:
    alloc = 'B = T.alloc_buffer((2, 8), "float32", scope="warp")\n'
    head, loops = OF_WARPS.format(outer="vthread").replace(f"                {alloc}", "").split("    for way", 1)
    around = f"{head}    {alloc}    for way{loops}"
    with pytest.raises(Diagnostic, match="iteration 1 of %way, a thread_binding loop, touches %B"):
        Interpreter(function(around))([np.zeros((4, 8), np.float32)])
