"""Passes from blocks to statements in loops: what a function computes stays as it is, and what cannot be is refused."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.support.verifier import verify
from weft.dialects.tir.buffers import AllocBufferOp, memref_of
from weft.dialects.tir.core import BlockOp, ForOp, PrimFuncOp
from weft.dialects.tir.loop_iterators import speaks_of_loops
from weft.script import tir as T
from weft.tir import Interpreter, structural_equal

LOWERING = (
    "LowerInitBlock", "PlanAndUpdateBufferAllocationLocation", "ConvertBlocksToOpaque", "CompactBufferAllocation",
    "LowerOpaqueBlock", "Simplify",
)  # fmt: skip
STEPS = (*LOWERING[:-1], "FlattenBuffer", LOWERING[-1])


@T.prim_func
def tiled(A: T.Buffer[(50, 6), "float32"], C: T.Buffer[(50,), "float32"]):
    B = T.alloc_buffer((50,), "float32")
    for o in range(4):
        for i in range(16):
            with T.block("rows"):
                vi = T.axis.spatial(50, o * 16 + i)
                T.where(o * 16 + i < 50)
                B[vi] = A[vi, vi % 6] * T.float32(3)
        for i, k in T.grid(16, 6):
            with T.block("sum"):
                vi = T.axis.spatial(50, o * 16 + i)
                vk = T.axis.reduce(6, k)
                T.where(o * 16 + i < 50)
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + B[vi] * A[vi, vk]


@T.prim_func
def windowed(A: T.Buffer[(50, 6), "float32"], C: T.Buffer[(50,), "float32"]):
    B = T.alloc_buffer((54, 6), "float32")
    for i in range(50):
        for j, k in T.grid(5, 6):
            with T.block("padded"):
                vi = T.axis.spatial(54, i + j)
                vk = T.axis.spatial(6, k)
                B[vi, vk] = T.if_then_else(2 <= vi and vi < 52, A[T.max(T.min(vi - 2, 49), 0), vk], T.float32(-9))
        for j, k in T.grid(5, 6):
            with T.block("max"):
                vi, vj, vk = T.axis.remap("SRR", [i, j, k])
                with T.init():
                    C[vi] = T.float32(-9)
                C[vi] = T.max(C[vi], B[vi + vj, vk])


FUNCTIONS = {"tiled": tiled, "windowed": windowed}


def after(func: PrimFuncOp, *names: str) -> PrimFuncOp:
    """A function after passes, verified after each."""
    module = ModuleOp([func.clone()])
    for name in names:
        module = getattr(weft.tir.transform, name)()(module)
        verify(module)
    (changed,) = module.ops
    assert isinstance(changed, PrimFuncOp)
    return changed


@pytest.mark.parametrize("func", FUNCTIONS.values(), ids=FUNCTIONS)
def test_each_step_from_blocks_to_statements_keeps_what_is_computed(func: PrimFuncOp) -> None:
    x = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32)
    expected = np.asarray(Interpreter(func)([x])[0], np.float32)
    for number in range(len(STEPS)):
        changed = after(func, *STEPS[: number + 1])
        np.testing.assert_array_equal(Interpreter(changed)([x])[0], expected, STEPS[number])
        assert structural_equal(after(changed, STEPS[number]), changed), f"{STEPS[number]} has more to do"
    weft.build(changed)(x, out := np.zeros(50, np.float32))
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    blocks = [op for op in changed.walk() if isinstance(op, BlockOp)]
    assert all(speaks_of_loops(block) and not block.conditions for block in blocks)


@pytest.mark.parametrize(("name", "shape"), [("tiled", (16,)), ("windowed", (5, 6))])
def test_a_buffer_holds_what_one_iteration_uses(name: str, shape: tuple[int, ...]) -> None:
    changed = after(FUNCTIONS[name], *LOWERING)
    (alloc,) = [op for op in changed.walk() if isinstance(op, AllocBufferOp)]
    assert memref_of(alloc.buffer).get_shape() == shape


def test_statements_are_the_same_as_those_written_without_blocks() -> None:
    @T.prim_func
    def plain(A: T.Buffer[(8, 4), "float32"], C: T.Buffer[(8, 4), "float32"]):
        for i, j in T.grid(8, 4):
            if i + j < 9:
                C[i, j] = A[i, j] + T.float32(1)

    @T.prim_func
    def blocks(A: T.Buffer[(8, 4), "float32"], C: T.Buffer[(8, 4), "float32"]):
        for i, j, _k in T.grid(8, 4, 1):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(i + j < 9)
                C[vi, vj] = A[vi, vj] + T.float32(1)

    assert not structural_equal(blocks, plain)
    assert structural_equal(after(blocks, "ConvertBlocksToOpaque", "LowerOpaqueBlock"), plain)


def test_what_cannot_be_said_by_loops_is_refused_and_left_as_it_was() -> None:
    for name, message in (("ConvertBlocksToOpaque", "has an init"), ("LowerOpaqueBlock", "has iterators of its own")):
        module = ModuleOp([tiled.clone()])
        before = str(module)
        with pytest.raises(weft.Diagnostic, match=message):
            getattr(weft.tir.transform, name)()(module)
        assert str(module) == before


@T.prim_func
def launched(A: T.Buffer[(8, 16), "float32"], C: T.Buffer[(8, 16), "float32"]):
    B = T.alloc_buffer((8, 16), "float32")
    for i in T.thread_binding(8, thread="blockIdx.x"):
        for t in T.thread_binding(4, thread="threadIdx.x"):
            for k in range(4):
                with T.block("to"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(16, t * 4 + k)
                    B[vi, vj] = A[vi, vj] * T.float32(2)
        for k in range(4):
            for t in T.thread_binding(4, thread="threadIdx.x"):
                with T.block("from"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.spatial(16, t * 4 + k)
                    C[vi, vj] = B[vi, vj] + T.float32(1)


def test_an_axis_of_a_launch_becomes_one_loop_and_keeps_what_is_computed() -> None:
    changed = after(launched, "UnifyThreadBinding")
    threads = [op.thread.data for op in changed.walk() if isinstance(op, ForOp) and op.thread is not None]
    assert threads == ["blockIdx.x", "threadIdx.x"]
    x = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
    for seed in (None, 0):
        np.testing.assert_array_equal(np.asarray(Interpreter(changed)([x], seed)[0], np.float32), x * 2 + 1)
    assert structural_equal(after(changed, "UnifyThreadBinding"), changed)
