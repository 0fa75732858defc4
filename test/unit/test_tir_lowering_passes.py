"""Passes from blocks to statements in loops: what a function computes stays as it is, and what cannot be is refused."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.verifier import verify
from weft.dialects.tir.buffers import AllocBufferOp, memref_of
from weft.dialects.tir.core import BlockOp, ForKind, ForOp, PrimFuncOp
from weft.dialects.tir.loop_iterators import speaks_of_loops
from weft.script import tir as T
from weft.tir import Interpreter, structural_equal
from weft.transforms.infra.remarks import collect

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


@T.prim_func
def sides(A: T.Buffer[(6, 20), "int32"], C: T.Buffer[(6, 20), "int32"]):
    for i in range(6):
        near = T.alloc_buffer((6, 20), "int32")
        far = T.alloc_buffer((30, 20), "int32")
        band = T.alloc_buffer((64, 64), "int32")
        for j in range(20):
            if j < 7 or 15 <= j:
                near[i, j] = A[i, j] * 2
            else:
                far[i * 5, j] = A[i, j] + 1
        for j, k in T.grid(4, 8):
            with T.block("band"):
                T.where(j * 8 + k < 20)
                band[i * 2 + j * 8 + k, j * 8 + k] = A[i, j * 8 + k] * 3
        for j in range(20):
            C[i, j] = (
                band[i * 2 + j, j]
                + T.if_then_else(7 <= j and j < 15, far[i * 5, j], 0)
                + T.if_then_else(j < 7, near[i, j], 5)
            )


def test_what_branches_and_predicates_keep_from_a_buffer_is_no_part_of_it() -> None:
    module = weft.tir.transform.CompactBufferAllocation()(weft.tir.IRModule.of(sides))
    compact = module["sides"]
    found = [tuple(memref_of(op.buffer).get_shape()) for op in compact.walk() if isinstance(op, AllocBufferOp)]
    assert found == [(1, 20), (1, 8), (20, 20)]
    given = np.random.default_rng(0).integers(0, 99, (6, 20)).astype(np.int32)
    results = [np.zeros((6, 20), np.int32) for _ in range(3)]
    for func, result in zip((sides, compact), results, strict=False):
        weft.build(func)(given, result)
    results[2] = np.asarray(Interpreter(compact)([given])[0], np.int32)
    place = np.arange(20)
    expected = given * 3 + np.where((7 <= place) & (place < 15), given + 1, 0) + np.where(place < 7, given * 2, 5)
    assert all((each == expected).all() for each in results)


def test_loops_of_one_iteration_do_not_hide_what_a_buffer_needs() -> None:
    @T.prim_func
    def tiles(A: T.Buffer[(4, 20), "float32"], C: T.Buffer[(4, 16), "float32"]):
        for i, r in T.grid(4, 1):
            B = T.alloc_buffer((4, 24), "float32")
            for t, v in T.grid(6, 3):
                with T.block("copy"):
                    w = T.axis.spatial(4, i)
                    x = T.axis.spatial(24, t * 3 + v, partial=True)
                    T.where(t * 3 + v < 17)
                    B[w, x] = A[w, x]
            for j in range(16):
                with T.block("sum"):
                    vi, vj, vr = T.axis.remap("SSR", [i, j, r])
                    with T.init():
                        C[vi, vj] = T.float32(0)
                    C[vi, vj] = C[vi, vj] + B[vi, vj + vr * 3 + 1]

    opaque = after(tiles, "LowerInitBlock", "ConvertBlocksToOpaque")
    compact = after(opaque, "CompactBufferAllocation")
    assert [memref_of(op.buffer).get_shape() for op in compact.walk() if isinstance(op, AllocBufferOp)] == [(1, 17)]
    given = np.random.default_rng(0).standard_normal((4, 20), np.float32)
    (result,) = Interpreter(compact)([given])
    assert (np.asarray(result) == given[:, 1:17]).all()


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


@T.prim_func
def in_lanes(A: T.Buffer[(3, 8), "float32"], B: T.Buffer[(8,), "float32"], C: T.Buffer[(3, 8), "float32"], n: T.int32):
    for i in range(3):
        for j in T.vectorized(4):
            C[i, j] = A[i, j] * A[i, 7] + B[j]
            if i < n:
                C[i, j + 4] = T.if_then_else(j < 2, A[i, j], B[i]) + C[i, j]
            else:
                C[i, j + 4] = T.float32(1)


@T.prim_func
def lanes_around_steps(
    A: T.Buffer[(3, 8), "float32"], B: T.Buffer[(8,), "float32"], C: T.Buffer[(3, 8), "float32"], n: T.int32
):
    L = T.alloc_buffer((4,), "float32", scope="local")
    for i in range(3):
        for o in T.vectorized(2):
            for j in T.vectorized(1, 3):
                L[o * 2 + j - 1] = B[j]
                for k in range(5):
                    L[o * 2 + j - 1] = L[o * 2 + j - 1] * T.float32(0.5) + A[i, k + o]
                C[i, o * 2 + j - 1] = L[o * 2 + j - 1]
                C[i, o * 2 + j + 3] = C[i, o * 2 + j - 1]


@T.prim_func
def one_element_of_each_iterations_own(
    A: T.Buffer[(3, 8), "float32"], B: T.Buffer[(8,), "float32"], C: T.Buffer[(3, 8), "float32"], n: T.int32
):
    L = T.alloc_buffer((1,), "float32", scope="local")
    for i in range(3):
        for j in T.vectorized(8):
            L[0] = A[i, j]
            C[i, j] = L[0] + B[j]


@T.prim_func
def some_lanes(
    A: T.Buffer[(3, 8), "float32"], B: T.Buffer[(8,), "float32"], C: T.Buffer[(3, 8), "float32"], n: T.int32
):
    for i in range(3):
        for j in T.vectorized(8):
            if i + j < n:
                C[i, j] = A[i, j]
            else:
                C[i, j] = B[j]


@pytest.mark.parametrize(
    ("func", "left"),
    [(in_lanes, None), (lanes_around_steps, None), (one_element_of_each_iterations_own, "elements of their own"),
     (some_lanes, "not all of its iterations take a branch")],
)  # fmt: skip
def test_lanes_compute_what_the_iterations_do(func: PrimFuncOp, left: str | None) -> None:
    with collect() as remarks:
        changed = after(func, "VectorizeLoop")
    assert structural_equal(after(changed, "VectorizeLoop"), changed)
    assert not any(loop.for_kind == ForKind.VECTORIZED for loop in changed.walk() if isinstance(loop, ForOp))
    said = [each.message for each in remarks if "becomes serial" in each.message]
    assert (left is None and not said) or (left is not None and left in said[0])
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal(shape).astype(np.float32) for shape in ((3, 8), (8,)))
    for n in (0, 2, 9):
        (given,), (expected,) = (Interpreter(each)([x, y], sizes={"n": n}) for each in (changed, func))
        np.testing.assert_array_equal(given, expected)


def test_lanes_are_a_statement_on_vectors() -> None:
    @T.prim_func
    def loop(A: T.Buffer[(2, 4), "float32"], C: T.Buffer[(2, 4), "float32"]):
        for i in range(2):
            for j in T.vectorized(4):
                C[i, j] = A[i, 3 - j] * T.float32(2)

    @T.prim_func
    def vectors(A: T.Buffer[(2, 4), "float32"], C: T.Buffer[(2, 4), "float32"]):
        for i in range(2):
            C[i, T.ramp(0, 1, 4)] = A[i, T.ramp(3, -1, 4)] * T.broadcast(T.float32(2), 4)

    assert structural_equal(after(loop, "VectorizeLoop", "Simplify"), after(vectors, "Simplify"))


def test_a_block_with_iterators_of_its_own_has_no_lanes_yet() -> None:
    module = ModuleOp([tiled.clone()])
    for loop in module.walk():
        if isinstance(loop, ForOp) and loop.size == 16:
            loop.for_kind = ForKind.VECTORIZED
    before = str(module)
    with pytest.raises(Diagnostic, match="block @rows has iterators of its own, or a predicate"):
        weft.tir.transform.VectorizeLoop()(module)
    assert str(module) == before


@pytest.mark.parametrize("kind", ["range", "T.parallel", "T.unroll", "T.vectorized"])
def test_what_a_tile_of_an_open_extent_leaves_is_partial_and_becomes_statements(kind: str) -> None:
    func = T.from_source(f"""
@T.prim_func
def f(A: T.Buffer[(n,), "float32"], C: T.Buffer[(n,), "float32"], n: T.int32):
    for o in range((n + 1) // 2):
        for i in {kind}(2):
            with T.block("b"):
                vo, vi = T.axis.remap("SS", [o, i])
                T.where(o * 2 + i < n)
                C[vo * 2 + vi] = A[vo * 2 + vi] + T.float32(1)
""")
    assert isinstance(func, PrimFuncOp)
    cut = after(func, "LoopPartition")
    assert len([op for op in cut.walk() if isinstance(op, BlockOp)]) == 2
    lowerings: list[tuple[str, ...]] = [(), ("ConvertBlocksToOpaque",), ("ConvertBlocksToOpaque", "LowerOpaqueBlock")]
    if kind in ("T.parallel", "T.vectorized"):
        lowerings = [()]  # a quotient of a size is not seen to be the same in two iterations
    for changed in [after(cut, *names) for names in lowerings]:
        for n in range(6):
            x = np.arange(n, dtype=np.float32)
            np.testing.assert_array_equal(Interpreter(changed)([x])[0], x + 1)
