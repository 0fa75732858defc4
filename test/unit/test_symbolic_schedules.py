"""Random schedules of functions whose extents are symbols: what is accepted computes the same at every size, what is
refused changes nothing and says why at its place."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from native import parse
from random_schedules import Action, random_action
from tir_run import Stage
from xdsl.dialects.builtin import f32
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.utils.exceptions import VerifyException

import weft
from weft.dialects import te
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.te.dims import value_of
from weft.dialects.te.evaluate import evaluate
from weft.dialects.tir.analyzer import IntExpr
from weft.dialects.tir.core import AllocBufferOp, ForOp, PrimFuncOp, Scope, blocks_under, memref_of
from weft.dialects.tir.interpreter import Interpreter
from weft.dialects.tir.legality.function import not_proved
from weft.kernel import Kernel, build_kernel
from weft.lowering.relay_to_tir.te_to_tir import create_prim_func
from weft.tir.schedule.testing import verify_trace_roundtrip
from weft.transforms.tir.analysis.regions import required_region
from weft.transforms.tir.schedule.cache_read import cache_read
from weft.transforms.tir.schedule.errors import ScheduleError
from weft.transforms.tir.schedule.reindex import reindex
from weft.transforms.tir.schedule.reverse_compute_at import reverse_compute_at
from weft.transforms.tir.schedule.reverse_compute_inline import reverse_compute_inline
from weft.transforms.tir.schedule.rfactor import rfactor
from weft.transforms.tir.schedule.transform_block_layout import transform_block_layout
from weft.transforms.tir.schedule.transform_layout import transform_layout

pytestmark = pytest.mark.sampled(3)

SEEDS = int(os.environ.get("WEFT_SYMBOLIC_SCHEDULES", "10"))
SIZES = ((0, 0), (0, 3), (1, 1), (2, 7), (5, 4), (7, 0))
n, m = te.var("n"), te.var("m")


def diamond() -> Stage:
    x = te.placeholder((n, m), f32, "x")
    a = te.compute((n, m), lambda i, j: x[i, j] + 1.0, "a")
    b = te.compute((n, m), lambda i, j: te.exp(a[i, j]) * 0.1, "b")
    return [x], [te.compute((n, m), lambda i, j: b[i, j] + a[i, j], "c")]


def rows() -> Stage:
    x, k = te.placeholder((n, 6), f32, "x"), te.reduce_axis(6)
    total = te.compute((n,), lambda i: te.sum(x[i, k], k), "total")
    return [x], [te.compute((n, 6), lambda i, j: x[i, j] - total[i], "rest")]


def columns() -> Stage:
    x, k = te.placeholder((n, m), f32, "x"), te.reduce_axis(n)
    return [x], [te.compute((m,), lambda j: te.sum(x[k, j], k), "total")]


def dense() -> Stage:
    x, w, k = te.placeholder((n, m), f32, "x"), te.placeholder((m, 4), f32, "w"), te.reduce_axis(m)
    y = te.compute((n, 4), lambda i, j: te.sum(x[i, k] * w[k, j], k), "y")
    return [x, w], [te.compute((n, 4), lambda i, j: te.maximum(y[i, j], 0.0), "relu")]


def stencil() -> Stage:
    x = te.placeholder((n + 4,), f32, "x")
    a = te.compute((n + 4,), lambda i: x[i] * x[i], "a")
    b = te.compute((n + 2,), lambda i: a[i] + a[i + 1] + a[i + 2], "b")
    return [x], [te.compute((n,), lambda i: b[i] + b[i + 2], "c")]


NOT_AS_LOOPS = ("a thread's own buffer takes a room that is known only when",)
"""What machine code cannot be made of: memory on a thread's stack of any size."""

STAGES: tuple[Callable[[], Stage], ...] = (diamond, rows, columns, dense, stencil)


def another_action(random: Random, func: PrimFuncOp) -> Action:
    """One of the primitives that `random_action` does not try."""
    block = random.choice(blocks_under(func))
    loops = [op for op in func.walk() if isinstance(op, ForOp)]
    name, buffer = f"@{block.block_name}", random.choice([*block.reads, *block.writes])
    scope = random.choice([Scope.GLOBAL, Scope.LOCAL])
    rank = len(memref_of(buffer).get_shape())
    actions: list[Action] = [
        (f"cache reads of {name}", lambda: cache_read(buffer, scope, [block])),
        (f"reindex {name}", lambda: reindex(block, buffer)),
        (f"inline {name} into what it reads", lambda: reverse_compute_inline(block)),
        (f"transpose {name}", lambda: transform_block_layout(block, reversal(len(block.iters)))),
    ]
    if isinstance(buffer.owner, AllocBufferOp):  # callers would give others
        actions.append((f"transpose a buffer of {name}", lambda: transform_layout(buffer, reversal(rank))))
    if loops:
        loop, axis = random.choice(loops), random.choice([0, -1])
        actions += [
            (f"compute {name} behind {loop.var.name_hint}", lambda: reverse_compute_at(block, loop)),
            (f"factor {loop.var.name_hint}", lambda: rfactor(loop, axis)),
        ]
    return random.choice(actions)


def reversal(rank: int) -> AffineMap:
    return AffineMap(rank, 0, tuple(AffineExpr.dimension(d) for d in reversed(range(rank))))


def inputs(stage: Stage, sizes: tuple[int, int]) -> list[npt.NDArray[np.generic]]:
    random = np.random.default_rng(sum(sizes))
    known = dict(zip((n, m), sizes, strict=True))
    shapes = [tuple(value_of(dim, known) for dim in tensor.dims) for tensor in stage[0]]
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def assert_same(
    run: Callable[..., list[npt.NDArray[np.generic]]], stage: Stage, sizes: tuple[int, int], done: list[str]
) -> None:
    arrays = inputs(stage, sizes)
    expected = evaluate(stage[1], dict(zip(stage[0], arrays, strict=True)))
    for got, want in zip(run(arrays), expected, strict=True):
        wide = got.astype(np.float64), want.astype(np.float64)
        np.testing.assert_allclose(*wide, rtol=1e-4, atol=1e-4, err_msg=f"{done}, {sizes}")


def on_machine(kernel: Kernel) -> Callable[[list[npt.NDArray[np.generic]]], list[npt.NDArray[np.generic]]]:
    return lambda arrays: kernel(*arrays)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_an_accepted_schedule_computes_the_same_at_every_size(seed: int) -> None:
    random = Random(seed)
    stage = STAGES[seed % len(STAGES)]()
    func = create_prim_func("k", *stage)
    done: list[str] = []
    verified = True
    for _ in range(random.randint(3, 8)):
        action = another_action(random, func) if random.random() < 0.4 else random_action(random, func)
        if action is None:
            continue
        before = str(func)
        try:
            action[1]()
        except ScheduleError as error:
            assert str(func) == before, f"{action[0]} was refused, after {done}, but changed the function"
            assert error.message
            continue
        done.append(action[0])
        try:
            func.verify()
        except (Diagnostic, VerifyException) as error:
            assert 'scope "local"' in str(error), (done, str(error))  # a cache that waits for more
            verified = False
            continue
        verified = True
        assert str(parse(str(func))).strip().endswith("}"), done
        interpreter = Interpreter(func)
        for sizes in random.sample(SIZES, 2):
            assert_same(partial(interpreter, seed=seed), stage, sizes, done)
    if not verified:
        return
    try:
        kernel = build_kernel(func, threads=2, start="schedule", codegen_level=1)
    except Diagnostic as error:
        assert any(reason in error.message for reason in NOT_AS_LOOPS), (done, error.message)
        return
    for sizes in SIZES[1:5]:
        assert_same(on_machine(kernel), stage, sizes, done)


def test_what_needs_a_known_extent_says_so() -> None:
    func = create_prim_func("k", *rows())
    schedule = weft.tir.Schedule.on(func)
    block = schedule.get_block("rest")
    loop, _ = schedule.get_loops(block)
    before = str(func)
    for refused in (
        lambda: schedule.sample_perfect_tile(loop, 2),
        lambda: schedule.split(loop, [2, 4]),
        lambda: schedule.transform_block_layout(block, lambda i, j: (j, i)),
    ):
        with pytest.raises(ScheduleError, match="has an extent that is known only when the function is called") as info:
            refused()
        assert info.value.hint is not None
    assert str(func) == before


def test_a_split_of_a_symbol_makes_a_loop_of_its_quotient_and_a_predicate() -> None:
    func = create_prim_func("k", *rows())
    schedule = weft.tir.Schedule.on(func)
    loop, _ = schedule.get_loops(schedule.get_block("rest"))
    schedule.split(loop, [None, 4])
    text = str(func)
    assert "tir.for %i_1 = 0 to (%n + 3) floordiv 4 {" in text
    assert "= [%i_1 * 4 + %i_2, %j] where [%i_1 * -4 + %i_2 * -1 + %n + -1]" in text


def test_the_inner_loop_of_a_split_may_have_what_is_left_of_a_symbol() -> None:
    """`i` in 4 parts: each of `(n + 3) floordiv 4` rows, but for the last ones."""
    func = create_prim_func("k", *rows())
    schedule = weft.tir.Schedule.on(func)
    schedule.parallel(total := schedule.get_loops("total")[0])
    with pytest.raises(ScheduleError, match="cannot split a parallel loop so that an inner one has what is left"):
        schedule.split(total, [2, None])
    schedule.split(schedule.get_loops("rest")[0], [4, None])
    text = str(func)
    assert "= [%i_1 * ((%n + 3) floordiv 4) + %i_2, %j]" in text
    assert str(parse(text)) == str(parse(str(parse(text))))
    weft.tir.assert_structural_equal(weft.tir.from_source(func.script()), func)


@pytest.mark.parametrize("place", ["(i + n) // 2", "i * n", "i * (n // 4)"])
def test_iterations_that_a_symbol_may_lead_to_one_element_are_not_parallel(place: str) -> None:
    func = weft.tir.from_source(f"""
@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (n * 2 + 2,), "float32")
    for i in range(2):
        with T.block("b"):
            v = T.axis.spatial(n * 2 + 2, {place}, partial=True)
            A[v] = A[v] + T.float32(1)
""")
    schedule = weft.tir.Schedule(func)
    with pytest.raises(ScheduleError, match="it is not shown that no two iterations of %i meet"):
        schedule.parallel(schedule.get_loops("b")[0])


def test_a_part_that_nothing_bounds_is_the_whole_buffer() -> None:
    x = te.placeholder((n, 17), f32, "x")
    a = te.compute((n, 17), lambda i, j: te.exp(x[i, j]), "a")
    func = create_prim_func("k", [x], [te.compute((n * 17,), lambda i: a[i // 17, i % 17], "b")])
    (reader,) = [block for block in blocks_under(func) if block.block_name == "b"]
    ((buffer,),) = [[access.buffer for access in reader.touches() if not access.is_write]]
    (_, rows), (_, columns) = required_region(buffer, [reader], [])
    assert rows == AffineExpr.symbol(2) and columns == 17


def copies(m: str = "m") -> PrimFuncOp:
    func = weft.tir.from_source(f"""
@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int32, m: T.int32, k: T.int32):
    A = T.match_buffer(a, (n, {m}, k), "float32")
    B = T.match_buffer(b, (n, {m}, k), "float32")
    for i, j, l in T.grid(n, {m}, k):
        with T.block("b"):
            u, v, w = T.axis.remap("SSS", [i, j, l])
            B[u, v, w] = A[u, v, w] + T.float32(1)
""")
    assert isinstance(func, PrimFuncOp)
    return func


def test_loops_over_inner_symbols_are_fused_and_the_fused_loop_is_split_and_shared() -> None:
    schedule = weft.tir.Schedule.on(func := copies())
    fused = schedule.fuse(*schedule.get_loops("b"))
    assert "tir.for %i_j_l = 0 to %n * %m * %k {" in str(func)
    assert "= [%i_j_l floordiv %k floordiv %m, (%i_j_l floordiv %k) mod %m, %i_j_l mod %k]" in str(func)
    assert not not_proved(func)
    outer, inner = schedule.split(fused, [None, 4])
    schedule.parallel(outer)
    schedule.unroll(inner)
    assert not not_proved(func)
    assert str(parse(str(func))) == str(parse(str(parse(str(func)))))
    weft.tir.assert_structural_equal(weft.tir.from_source(func.script()), func)
    kernel = build_kernel(func, threads=2, start="schedule", codegen_level=1)
    for shape in ((2, 3, 5), (1, 1, 1), (0, 3, 2), (2, 0, 3), (3, 2, 0), (4, 4, 4), (1, 7, 3)):
        a = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        for (out,) in (kernel(a), Interpreter(func)([a])):
            np.testing.assert_array_equal(out, a + 1)


def test_quotients_by_sizes_that_are_written_otherwise_are_the_same() -> None:
    fused = """
@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int64, m: T.int64, k: T.int64):
    A = T.match_buffer(a, (n, m, k), "float32")
    B = T.match_buffer(b, (n, m, k), "float32")
    for i in range(n * m * k):
        with T.block("b"):
            u = T.axis.spatial(n, i // (m * k))
            v = T.axis.spatial(m, i % (m * k) // k)
            w = T.axis.spatial(k, i % k)
            B[u, v, w] = A[u, v, w] + T.float32(1)
"""
    schedule = weft.tir.Schedule.on(func := copies())
    schedule.fuse(*schedule.get_loops("b"))
    assert weft.tir.structural_equal(weft.tir.from_source(fused), func)
    assert not weft.tir.structural_equal(weft.tir.from_source(fused.replace("i // (m * k)", "i // k // n")), func)


def test_loops_whose_extents_may_be_below_0_are_not_fused() -> None:
    schedule = weft.tir.Schedule(copies("m - 3"))
    loops = schedule.get_loops("b")
    with pytest.raises(ScheduleError, match="cannot fuse: the loop's extent may be below 0"):
        schedule.fuse(*loops[:2])
    schedule.fuse(*loops[1:])


def test_a_fused_loop_of_elements_and_steps_begins_sums_of_no_steps() -> None:
    schedule = weft.tir.Schedule.on(func := create_prim_func("k", *columns()))
    schedule.fuse(*schedule.get_loops("total"))
    assert "[%i_k floordiv %n, %i_k mod %n]" in str(func)
    for sizes in SIZES:
        assert_same(Interpreter(func), columns(), sizes, [])
    kernel = build_kernel(func, threads=1, start="schedule", codegen_level=1)
    for sizes in SIZES:
        assert_same(on_machine(kernel), columns(), sizes, [])


DIVIDED = """
@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int64, x: T.int64):
    A = T.match_buffer(a, (n // x, x), "float32")
    B = T.match_buffer(b, (n // x, x), "float32")
    for i, j in T.grid(n // x, x):
        with T.block("b"):
            u, v = T.axis.remap("SS", [i, j])
            B[u, v] = A[u, v] + T.float32(1)
"""


def test_what_extents_are_divided_by_is_positive_at_each_call() -> None:
    func = weft.tir.from_source(DIVIDED)
    assert isinstance(func, PrimFuncOp)
    schedule = weft.tir.Schedule.on(func)
    outer, inner = schedule.split(schedule.fuse(*schedule.get_loops("b")), [None, 8])
    schedule.parallel(outer)
    schedule.vectorize(inner)
    func.verify()
    assert not not_proved(func)
    weft.tir.assert_structural_equal(weft.tir.from_source(func.script()), func)
    kernel = build_kernel(func, threads=2, start="schedule", codegen_level=1)
    for rows, x in ((7, 2), (8, 8), (3, 4), (0, 3), (30, 7)):
        a = np.random.default_rng(0).standard_normal((rows // x, x)).astype(np.float32)
        for (out,) in (kernel(a, sizes={"n": rows}), Interpreter(func)([a], sizes={"n": rows})):
            np.testing.assert_array_equal(out, a + 1)
    with pytest.raises(Diagnostic, match="the function is not for %x = 0"):
        kernel(np.zeros((3, 0), np.float32), sizes={"n": 3})


def test_a_function_whose_extents_are_divided_by_a_size_gives_its_parameters_and_is_split_by_one() -> None:
    func = weft.tir.from_source(DIVIDED)
    assert isinstance(func, PrimFuncOp)
    assert [str(buffer.shape[0]) for buffer in func.buffer_map.values()] == ["n // x", "n // x"]
    schedule = weft.tir.Schedule.on(func)
    schedule.split(schedule.get_loops("b")[0], [None, func.params[-1]])
    func.verify()
    weft.tir.assert_structural_equal(weft.tir.from_source(func.script()), func)
    for rows, x in ((7, 2), (0, 3), (30, 4)):
        a = np.random.default_rng(0).standard_normal((rows // x, x)).astype(np.float32)
        np.testing.assert_array_equal(Interpreter(func)([a], sizes={"n": rows})[0], a + 1)


@pytest.mark.parametrize("first", [4, None])
def test_what_is_split_by_several_factors_of_sizes_is_read_back_as_the_same(first: int | None) -> None:
    schedule = weft.tir.Schedule.on(func := copies())
    size = func.params[-1]
    outer, inner, _ = schedule.get_loops("b")
    schedule.split(outer, [None, size, first or func.params[-2]])
    schedule.split(inner, [None, size])
    func.verify()
    weft.tir.assert_structural_equal(weft.tir.from_source(func.script()), func)


def test_an_extent_that_may_be_divided_by_0_is_refused() -> None:
    func = weft.tir.from_source(DIVIDED)
    assert isinstance(func, PrimFuncOp)
    del func.attributes["assumed"]
    with pytest.raises(Diagnostic, match="an extent is divided by %x, which is not said to be positive"):
        func.verify()


def test_reductions_in_a_fused_loop_over_sums_of_sizes_begin_before_their_steps() -> None:
    func = weft.tir.from_source("""
@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int64, m: T.int64, k: T.int64):
    A = T.match_buffer(a, (m + 1, n + 3, k), "float32")
    B = T.match_buffer(b, (m + 1, n + 3), "float32")
    for l, i, j in T.grid(k, m + 1, n + 3):
        with T.block("b"):
            w, u, v = T.axis.remap("RSS", [l, i, j])
            with T.init():
                B[u, v] = T.float32(0)
            B[u, v] = B[u, v] + A[u, v, w]
""")
    assert isinstance(func, PrimFuncOp)
    schedule = weft.tir.Schedule.on(func)
    steps, *loops = schedule.get_loops("b")
    schedule.fuse(*loops)
    schedule.decompose_reduction("b", steps)
    assert not not_proved(func)
    kernel = build_kernel(func, threads=1, start="schedule", codegen_level=1)
    for shape in ((1, 3, 4), (3, 5, 0), (2, 4, 1)):
        a = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        for (out,) in (kernel(a), Interpreter(func)([a])):
            np.testing.assert_allclose(np.asarray(out, np.float32), a.sum(2), rtol=1e-4, atol=1e-5)


def only_one(n: IntExpr) -> IntExpr:
    return n


def second(n: IntExpr, x: IntExpr) -> IntExpr:
    return n * 0 + x


@pytest.mark.parametrize("factor", ["size", "function"])
def test_a_loop_is_split_by_what_sizes_say(factor: str) -> None:
    func = create_prim_func("k", *rows())
    given = weft.tir.from_source("""
@T.prim_func
def k(a: T.handle, b: T.handle, n: T.int64, x: T.int64):
    A = T.match_buffer(a, (n, 4), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i, k in T.grid(n, 4):
        with T.block("b"):
            u, v = T.axis.remap("SR", [i, k])
            with T.init():
                B[u] = T.float32(0)
            B[u] = B[u] + A[u, v]
""")
    schedule = weft.tir.Schedule(given)
    i, k = schedule.get_loops("b")
    with pytest.raises(ScheduleError, match="is none of the sizes of @k"):
        schedule.split(i, [None, func.params[2]])
    (func,) = [op for op in schedule.mod.ops if isinstance(op, PrimFuncOp)]
    with pytest.raises(ScheduleError, match="cannot split by a size and say how many"):
        schedule.split(i, [2, func.params[3]])
    with pytest.raises(ScheduleError, match="does not take 2 indices"):
        schedule.split(i, [None, only_one])
    outer, _, inner = schedule.split(i, [None, func.params[3] if factor == "size" else second, 2])
    schedule.parallel(outer)
    schedule.unroll(inner)
    schedule.decompose_reduction("b", k)
    func.verify()
    assert "tir.for parallel %i = 0 to (%n + -1) floordiv (%x * 2) + 1" in str(func)
    weft.tir.assert_structural_equal(weft.tir.from_source(func.script()), func)
    verify_trace_roundtrip(schedule, given)
    kernel = build_kernel(func, threads=2, start="schedule", codegen_level=1)
    for n, x in ((7, 2), (0, 1), (1, 1), (12, 3), (5, 9)):
        a = np.random.default_rng(0).standard_normal((n, 4)).astype(np.float32)
        for (out,) in (kernel(a, sizes={"x": x}), Interpreter(func)([a], sizes={"x": x})):
            np.testing.assert_allclose(np.asarray(out, np.float32), a.sum(1), rtol=1e-4, atol=1e-5)
    with pytest.raises(Diagnostic, match="the function is not for %x = 0"):
        kernel(np.zeros((3, 4), np.float32), sizes={"x": 0})


def test_a_fused_loop_is_split_by_sizes() -> None:
    schedule = weft.tir.Schedule.on(func := create_prim_func("k", *diamond()))
    size = func.params[-1]
    schedule.split(schedule.fuse(*schedule.get_loops("c")), [None, size, size])
    func.verify()
    for sizes in SIZES[2:5]:
        assert_same(Interpreter(func), diamond(), sizes, [])
