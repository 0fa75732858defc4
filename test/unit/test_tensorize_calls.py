"""Tensor intrinsics that call functions outside: these are handed the tile where it lies."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# pyright: reportArgumentType=false

import numpy as np
import pytest
from tvmscript_texts import function

import weft
from weft import Diagnostic
from weft.dialects.tir.core import PrimFuncOp
from weft.script import tir as T
from weft.tir import Interpreter, Schedule, ScheduleError, TensorIntrin


@T.prim_func
def rows(A: T.Buffer((2, 4), "float32"), C: T.Buffer((2, 4), "float32")):
    for i, j in T.grid(2, 4):
        with T.block("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]


@T.prim_func
def row(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("copy"):
            vi = T.axis.spatial(4, i)
            C[vi] = A[vi]


@T.prim_func
def copied(A: T.Buffer((6, 8), "float32"), C: T.Buffer((6, 8), "float32")):
    for i, j in T.grid(6, 8):
        with T.block("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]


@T.prim_func
def narrow(A: T.Buffer((6, 4), "float32"), C: T.Buffer((6, 4), "float32")):
    for i, j in T.grid(6, 4):
        with T.block("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]


def calling(shape: str, call: str) -> PrimFuncOp:
    func = function(f"""
@T.prim_func
def called(A: T.Buffer(({shape}), "float32"), C: T.Buffer(({shape}), "float32")):
    with T.block("called"):
        T.reads(A)
        T.writes(C)
        T.evaluate({call})
""")
    return func


def assert_copies(schedule: Schedule) -> None:
    func = schedule.mod["main"]
    schedule.mod.verify()
    a = np.random.default_rng(0).standard_normal(schedule.mod["main"].buffer_map[func.params[0]].shape, np.float32)
    np.testing.assert_array_equal(Interpreter(func)([a])[0], a)
    weft.build(func)(a, out := np.zeros_like(a))
    np.testing.assert_array_equal(out, a)


@pytest.mark.parametrize(
    "handed",
    ["C.data, A.data", "T.address_of(C[0]), T.address_of(A[0])", "T.address_of(C[C.elem_offset // 4]), A.data"],
)
def test_a_call_is_handed_the_tile_where_it_lies(handed: str) -> None:
    called = calling("4,", f'T.call_extern("memcpy", {handed}, T.int64(4 * 4), dtype="int32")')
    TensorIntrin.register("test_row", row, called, override=True)
    schedule = Schedule(copied, debug_mask="all")
    _, j = schedule.get_loops("copy")
    _, inner = schedule.split(j, [None, 4])
    schedule.tensorize(inner, "test_row")
    assert str(schedule.mod).count("tir.address_of") == 2
    assert_copies(schedule)


def test_strides_are_those_of_the_tile_and_offsets_are_none() -> None:
    call = 'T.call_extern("int32", "memcpy", C.data, A.data, T.int64(A.strides[0]), A.elem_offset)'
    func = calling("2, 4", call)
    assert "arith.constant 4 : i64" in str(func)
    with pytest.raises(Diagnostic, match="a stride is of one of 2 dimensions"):
        calling("2, 4", call.replace("A.strides[0]", "A.strides[2]"))


def test_rows_that_lie_apart_are_not_handed_over_as_one_tile() -> None:
    called = calling("2, 4", 'T.call_extern("int32", "memcpy", C.data, A.data, T.int64(32))')
    TensorIntrin.register("test_rows", rows, called, override=True)
    schedule = Schedule(copied)
    i, j = schedule.get_loops("copy")
    (i_0, i_1), (j_0, j_1) = schedule.split(i, [None, 2]), schedule.split(j, [None, 4])
    schedule.reorder(i_0, j_0, i_1, j_1)
    before = str(schedule.mod)
    with pytest.raises(ScheduleError, match="do not lie one after another in %C"):
        schedule.tensorize(i_1, "test_rows")
    assert str(schedule.mod) == before
    schedule = Schedule(narrow, debug_mask="all")
    _, inner = schedule.split(schedule.get_loops("copy")[0], [None, 2])
    schedule.tensorize(inner, "test_rows")
    assert_copies(schedule)


def test_rows_that_are_aligned_are_not_handed_over() -> None:
    called = calling("4,", 'T.call_extern("int32", "memcpy", C.data, A.data, T.int64(16))')
    TensorIntrin.register("test_row", row, called, override=True)
    schedule = Schedule(narrow)
    copy = schedule.cache_write("copy", 0, "global")
    schedule.storage_align("copy", 0, 0, 8, 1)
    _, inner = schedule.get_loops(copy)
    with pytest.raises(ScheduleError, match="buffer_dim_align"):
        schedule.tensorize(inner, "test_row")


def test_a_function_of_python_is_handed_whole_buffers_only() -> None:
    def turn(given: np.ndarray, taken: np.ndarray) -> None:
        taken[:] = given

    weft.register_func("test_tensorize_turn", turn, override=True)
    called = calling("6, 4", 'T.call_packed("test_tensorize_turn", A, C)')
    TensorIntrin.register("test_packed", narrow, called, override=True)
    schedule = Schedule(narrow)
    schedule.tensorize(schedule.get_loops("copy")[0], "test_packed")
    assert "tir.call packed" in str(schedule.mod)
    assert_copies(schedule)
    called = calling("4,", 'T.call_packed("test_tensorize_turn", A, C)')
    TensorIntrin.register("test_packed", row, called, override=True)
    schedule = Schedule(copied)
    _, inner = schedule.split(schedule.get_loops("copy")[1], [None, 4])
    with pytest.raises(ScheduleError, match="hands %A to a function of Python, and it is a part of %A"):
        schedule.tensorize(inner, "test_packed")


@pytest.mark.parametrize("native", [False, True])
def test_a_function_of_python_cannot_write_to_what_is_only_read(native: bool) -> None:
    def turn(given: np.ndarray, taken: np.ndarray) -> None:
        taken[:] = 1
        given[0] = 7

    weft.register_func("test_tensorize_turn", turn, override=True)
    called = calling("4,", 'T.call_packed("test_tensorize_turn", A, C)')
    a, c = np.zeros(4, np.float32), np.zeros(4, np.float32)
    with pytest.raises(weft.CheckError, match="read-only"):
        _ = weft.build(called)(a, c) if native else Interpreter(called)([a])
    assert not a.any()


@T.prim_func
def between(A: T.Buffer((6, 8), "float32"), C: T.Buffer((6, 8), "float32")):
    X = T.alloc_buffer((6, 8), "float32")
    Y = T.alloc_buffer((6, 8), "float32")
    for i, j in T.grid(6, 8):
        with T.block("first"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(6, 8):
        with T.block("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj]
    for i, j in T.grid(6, 8):
        with T.block("last"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = Y[vi, vj] * T.float32(0.5)


def test_what_reads_a_result_of_a_call_stays_where_it_is() -> None:
    called = calling("4,", 'T.call_extern("int32", "memcpy", C.data, A.data, T.int64(16))')
    TensorIntrin.register("test_row", row, called, override=True)
    schedule = Schedule(between, debug_mask="all")
    _, inner = schedule.split(schedule.get_loops("copy")[1], [None, 4])
    schedule.tensorize(inner, "test_row")
    with pytest.raises(ScheduleError, match="%Y is written by a call, and where is not seen"):
        schedule.reverse_compute_at("last", schedule.get_loops("called")[0])
    schedule.compute_at("first", schedule.get_loops("called")[0])
    assert_copies(schedule)
    schedule = Schedule(between)
    schedule.tensorize(schedule.split(schedule.get_loops("copy")[1], [None, 4])[1], "test_row")
    schedule.fuse_iters("first", 0)
    with pytest.raises(ScheduleError, match="%X is handed to a call, which takes it as it is"):
        schedule.fuse_buffer_dims("first", ("write", 0), 0)
