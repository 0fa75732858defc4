"""Pipelined loops: what overlapping iterations compute is what iterations one after the other do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cuda_emulation import Emulator
from tvmscript_texts import function
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import AllocBufferOp, ForOp, OuterBlockOp, PrimFuncOp
from weft.tir import Interpreter, Schedule
from weft.transforms.infra.execution import run
from weft.transforms.tir.analysis.software_pipelines import PipelineAnnotationError
from weft.transforms.tir.compact_buffer_allocation import CompactBufferAllocationPass
from weft.transforms.tir.convert_blocks_to_opaque import ConvertBlocksToOpaquePass
from weft.transforms.tir.inject_software_pipeline import InjectSoftwarePipelinePass
from weft.transforms.tir.lower_init_block import LowerInitBlockPass
from weft.transforms.tir.plan_and_update_buffer_allocation_location import (
    PlanAndUpdateBufferAllocationLocationPass,
)
from weft.transforms.tir.simplify import SimplifyPass
from weft.transforms.tir.thread_sync import ThreadSyncPass
from weft.transforms.tir.unify_thread_binding import UnifyThreadBindingPass
from weft.transforms.tir.unroll_loop import UnrollLoopPass

pytestmark = pytest.mark.sampled(5)

CHAIN = """
@T.prim_func
def f(A: T.Buffer[({n}, 3), "float32"], D: T.Buffer[({n}, 3), "float32"]):
    for i in T.serial({start}, {end}, annotations={{"software_pipeline_stage": {stages}, "software_pipeline_order": {orders}}}):
        with T.block():
            B = T.alloc_buffer((3,), "float32")
            C = T.alloc_buffer((3,), "float32")
            for j in range(3):
                with T.block("double"):
                    B[j] = A[i, j] * T.float32(2)
            for j in range(3):
                with T.block("turn"):
                    C[2 - j] = B[j] + T.float32(1)
            for j in range(3):
                with T.block("both"):
                    D[i, j] = C[j] + B[j]
"""  # noqa: E501


def chain(stages: tuple[int, ...], orders: tuple[int, ...], n: int, start: int = 0) -> PrimFuncOp:
    return function(CHAIN.format(n=n, start=start, end=n, stages=list(stages), orders=list(orders)))


def injected(func: PrimFuncOp) -> PrimFuncOp:
    module = ModuleOp([func.clone()])
    run(InjectSoftwarePipelinePass(), module)
    module.verify()
    (made,) = module.ops
    assert isinstance(made, PrimFuncOp)
    return made


def wanted(A: np.ndarray[Any, np.dtype[np.float32]]) -> np.ndarray[Any, np.dtype[np.float32]]:
    return (2 * A)[:, ::-1] + 1 + 2 * A


TIMES = [
    ((0, 0, 0), (0, 1, 2)),
    ((0, 0, 1), (1, 2, 0)),
    ((0, 1, 1), (2, 0, 1)),
    ((0, 1, 2), (2, 1, 0)),
    ((1, 1, 3), (0, 2, 1)),
    ((0, 3, 3), (1, 0, 2)),
]
"""Stages and places of three statements, of which each uses what those before it write."""


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize(("stages", "orders"), TIMES)
def test_overlapping_iterations_compute_the_same(stages: tuple[int, ...], orders: tuple[int, ...], n: int) -> None:
    A = np.arange(n * 3, dtype=np.float32).reshape(n, 3) ** 2
    np.testing.assert_array_equal(Interpreter(injected(chain(stages, orders, n)))([A])[0], wanted(A))


@pytest.mark.parametrize(("stages", "orders"), [((0, 0, 0), (0, 2, 1)), ((1, 0, 1), (0, 1, 2)), ((0, 2, 1), (0, 1, 2))])
def test_no_statement_runs_before_what_it_uses(stages: tuple[int, ...], orders: tuple[int, ...]) -> None:
    with pytest.raises(PipelineAnnotationError, match=r"and would run before it: at stage \d, place \d"):
        injected(chain(stages, orders, 4))


def test_a_loop_need_not_begin_at_zero() -> None:
    A = np.arange(27, dtype=np.float32).reshape(9, 3)
    text = CHAIN.format(n=9, start=4, end=9, stages=[0, 1, 3], orders=[2, 1, 0]).replace("D[i, j]", "D[i - 4, j]")
    func = function(text.replace('D: T.Buffer[(9, 3), "float32"]', 'D: T.Buffer[(5, 3), "float32"]'))
    np.testing.assert_array_equal(Interpreter(injected(func))([A])[0], wanted(A)[4:])


def test_times_without_statements_are_no_loop() -> None:
    A = np.arange(12, dtype=np.float32).reshape(4, 3)
    func = injected(chain((2, 2, 2), (0, 1, 2), 4))
    assert all(not op.body.block.is_empty for op in func.walk() if isinstance(op, ForOp))
    module = ModuleOp([func.clone()])
    run(UnrollLoopPass(), module)
    module.verify()
    (made,) = module.ops
    assert isinstance(made, PrimFuncOp)
    np.testing.assert_array_equal(Interpreter(made)([A])[0], wanted(A))


def test_machine_code_of_a_pipeline() -> None:
    func = injected(chain((0, 1, 2), (0, 1, 2), 7))
    A = np.random.default_rng(0).standard_normal((7, 3)).astype(np.float32)
    D = np.zeros((7, 3), np.float32)
    weft.build(func, target="llvm")(A, D)
    np.testing.assert_allclose(D, wanted(A), rtol=1e-6)


def test_there_are_as_many_versions_as_iterations_use_at_one_time() -> None:
    def versions(stages: tuple[int, ...], orders: tuple[int, ...]) -> list[int]:
        allocs = [op for op in injected(chain(stages, orders, 8)).walk() if isinstance(op, AllocBufferOp)]
        shapes = [op.buffer.type.get_shape() for op in allocs]
        return [shape[0] if len(shape) == 2 else 1 for shape in shapes]

    assert versions((0, 0, 0), (0, 1, 2)) == [1, 1]
    assert versions((0, 1, 2), (0, 1, 2)) == [3, 2]
    assert versions((0, 1, 2), (2, 1, 0)) == [2, 1]
    assert versions((0, 0, 3), (0, 1, 2)) == [4, 4]


CARRIED = """
@T.prim_func
def f(A: T.Buffer[(8,), "float32"], D: T.Buffer[(8,), "float32"]):
    S = T.alloc_buffer((1,), "float32")
    with T.block("zero"):
        S[0] = T.float32(0)
    for i in T.serial(8, annotations={{"software_pipeline_stage": {stages}, "software_pipeline_order": {orders}}}):
        with T.block("add"):
            S[0] = S[0] + A[i]
        with T.block("out"):
            D[i] = S[0]
"""


def test_what_iterations_hand_on_is_not_overtaken() -> None:
    A = np.arange(8, dtype=np.float32)
    late = function(CARRIED.format(stages=[0, 1], orders=[1, 0]))
    np.testing.assert_array_equal(Interpreter(injected(late))([A])[0], A.cumsum())
    for stages, orders in (([0, 1], [0, 1]), ([0, 2], [1, 0])):
        with pytest.raises(PipelineAnnotationError, match="did in an earlier iteration of %i"):
            injected(function(CARRIED.format(stages=stages, orders=orders)))


PRODUCT = """
@T.prim_func
def f(A: T.Buffer[(16, 24), "float32"], B: T.Buffer[(24, 16), "float32"], C: T.Buffer[(16, 16), "float32"]):
    for i, j, k in T.grid(16, 16, 24):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def pipelined_product() -> PrimFuncOp:
    """Copies to shared memory run beside the products of what was copied before."""
    schedule = Schedule(function(PRODUCT))
    i, j, k = schedule.get_loops("C")
    (bx, tx), (by, ty), (ko, ki) = (schedule.split(loop, [None, 4]) for loop in (i, j, k))
    schedule.reorder(bx, by, tx, ty, ko, ki)
    for loop, axis in ((bx, "blockIdx.x"), (by, "blockIdx.y"), (tx, "threadIdx.x"), (ty, "threadIdx.y")):
        schedule.bind(loop, axis)
    block = schedule.get_block("C")
    schedule.reverse_compute_at(schedule.cache_write(block, 0, "local"), ty)
    for number in (0, 1):
        copy = schedule.cache_read(block, number, "shared")
        schedule.compute_at(copy, ko)
        x, y = schedule.get_loops(copy)[-2:]
        schedule.bind(x, "threadIdx.x")
        schedule.bind(y, "threadIdx.y")
    schedule.decompose_reduction(block, ko)
    schedule.annotate(ko, "software_pipeline_stage", [0, 0, 1])
    schedule.annotate(ko, "software_pipeline_order", [0, 1, 2])
    module = schedule.mod.clone()
    for each in (
        PlanAndUpdateBufferAllocationLocationPass(),
        LowerInitBlockPass(),
        ConvertBlocksToOpaquePass(),
        CompactBufferAllocationPass(),
        InjectSoftwarePipelinePass(),
        SimplifyPass(),
        UnifyThreadBindingPass(),
        ThreadSyncPass(),
    ):
        run(each, module)
        module.verify()
    (made,) = module.ops
    assert isinstance(made, PrimFuncOp)
    return made


def test_a_gpu_copies_the_next_tiles_while_it_multiplies(driver: Emulator) -> None:
    func = pipelined_product()
    shared = [op.buffer.type for op in func.walk() if isinstance(op, AllocBufferOp) and op.scope.data == "shared"]
    assert [each.get_shape() for each in shared] == [(2, 4, 4)] * 2
    rng = np.random.default_rng(0)
    A, B = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((16, 24), (24, 16)))
    for seed in (None, 1, 2):
        np.testing.assert_array_equal(Interpreter(func)([A, B], seed)[0], A @ B)
    mod = weft.build(func, target="cuda")
    driver.register(mod[func.sym_name.data].executable.ir)
    given: Any = np.zeros((16, 16), np.float32)
    mod(A, B, given)
    np.testing.assert_array_equal(given, A @ B)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("[0, 1, 2]", "[0, 1]", "has 2 numbers, and there are 3 statements"),
        ("[0, 0, 0]", "[0, -1, 0]", "negative stage"),
        ("[0, 1, 2]", "[0, 1, 1]", "two statements one place"),
        (', "software_pipeline_order": [0, 1, 2]', "", "says no 'software_pipeline_order'"),
    ],
)
def test_annotations_that_do_not_fit_are_refused_and_nothing_changes(old: str, new: str, why: str) -> None:
    text = CHAIN.format(n=4, start=0, end=4, stages=[0, 0, 0], orders=[0, 1, 2])
    assert old in text
    func = function(text.replace(old, new))
    before = str(func)
    with pytest.raises(PipelineAnnotationError, match=why):
        run(InjectSoftwarePipelinePass(), ModuleOp([func]))
    assert str(func) == before


@pytest.mark.parametrize("is_empty", [True, False])
def test_a_loop_that_does_nothing_is_refused(is_empty: bool) -> None:
    func = chain((0, 0, 0), (0, 1, 2), 4)
    (loop,) = [op for op in func.region.block.ops if isinstance(op, ForOp)]
    if is_empty:
        for op in list(loop.body.block.ops)[::-1]:
            op.detach()
    else:
        loop.trip_count = 0
    with pytest.raises(PipelineAnnotationError, match="does nothing"):
        injected(func)


def test_iterations_that_run_at_once_are_no_pipeline() -> None:
    text = CHAIN.format(n=4, start=0, end=4, stages=[0, 0, 0], orders=[0, 1, 2]).replace("T.serial", "T.parallel")
    with pytest.raises(PipelineAnnotationError, match="run at once, in no pipeline"):
        injected(function(text.replace('(3,), "float32")', '(3,), "float32", scope="local")')))


def test_an_open_number_of_iterations_is_refused() -> None:
    text = CHAIN.format(n=4, start=0, end="n", stages=[0, 1, 1], orders=[0, 1, 2])
    text = text.replace("def f(A: T.Buffer[(4, 3)", "def f(n: T.int64, A: T.Buffer[(n, 3)").replace("[(4,", "[(n,")
    with pytest.raises(Diagnostic, match="known only when the function is called"):
        injected(function(text.replace("T.serial(0, n", "T.serial(n")))


NESTED = """
@T.prim_func
def f(A: T.Buffer[(6, 4), "float32"], D: T.Buffer[(6, 4), "float32"]):
    for i in T.serial(6, annotations={{"software_pipeline_stage": {stages}, "software_pipeline_order": {orders}}}):
        with T.block():
            B = T.alloc_buffer((4,), "float32")
            for j in range(4):
                with T.block("copy"):
                    B[j] = A[i, j]
            for j in T.serial(4, annotations={{"software_pipeline_stage": {inner}, "software_pipeline_order": [0, 1]}}):
                with T.block():
                    C = T.alloc_buffer((1,), "float32")
                    with T.block("double"):
                        C[0] = B[j] * T.float32(2)
                    with T.block("out"):
                        D[i, j] = C[0] + T.float32(1)
"""
"""A pipeline whose last statement is another one: `D = 2 * A + 1`."""


def test_a_pipeline_in_a_pipeline_is_three_statements_of_it() -> None:
    text = NESTED.format(stages=[0, 1, 1, 1], orders=[0, 1, 2, 3], inner=[0, 2])
    A = np.arange(24, dtype=np.float32).reshape(6, 4)
    func = injected(function(text))
    np.testing.assert_array_equal(Interpreter(func)([A])[0], 2 * A + 1)
    np.testing.assert_array_equal(Interpreter(injected(func))([A])[0], 2 * A + 1)


def test_memory_of_a_pipeline_within_is_apart_for_each_iteration_of_the_one_around() -> None:
    text = NESTED.format(stages=[0, 0, 1, 1], orders=[0, 2, 1, 3], inner=[0, 1])
    A = np.arange(24, dtype=np.float32).reshape(6, 4)
    func = injected(function(text))
    allocs = {op.buffer.name_hint: op.buffer.type.get_shape() for op in func.walk() if isinstance(op, AllocBufferOp)}
    assert allocs == {"B": (2, 4), "C": (2, 2, 1)}
    np.testing.assert_array_equal(Interpreter(func)([A])[0], 2 * A + 1)
    D = np.zeros((6, 4), np.float32)
    weft.build(func, target="llvm")(A, D)
    np.testing.assert_array_equal(D, 2 * A + 1)


def test_what_a_pipeline_becomes_is_an_outer_block_of_three_statements() -> None:
    (outer,) = (op for op in injected(chain((0, 1, 2), (0, 1, 2), 7)).region.block.ops)
    assert isinstance(outer, OuterBlockOp)
    kinds = [type(op) for op in outer.body.block.ops]
    assert kinds == [AllocBufferOp, AllocBufferOp, OuterBlockOp, OuterBlockOp, OuterBlockOp]
    assert all(isinstance(op.body.block.first_op, ForOp) for op in outer.body.block.ops if isinstance(op, OuterBlockOp))
