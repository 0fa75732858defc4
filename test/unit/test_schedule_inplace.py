"""`cache_inplace`: a block that changes a buffer does so in a copy."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import numpy as np
import pytest

import weft
from weft.dialects.tir.core import BlockOp
from weft.script import tir as T
from weft.tir import Interpreter, Schedule, ScheduleError, Trace, structural_equal
from weft.transforms.tir.schedule.cache_inplace import cache_inplace


@T.prim_func
def rows(X: T.Buffer[(6, 8), "float32"], Y: T.Buffer[(6, 8), "float32"]):
    for i, j in T.grid(6, 8):
        with T.block("begin"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj]
    for i, j in T.grid(6, 4):
        with T.block("add"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj * 2] = Y[vi, vj * 2 + 1] + Y[vi, vj * 2]


@T.prim_func
def summed(X: T.Buffer[(6, 8), "float32"], Y: T.Buffer[(6,), "float32"]):
    for i in range(6):
        for k in range(8):
            with T.block("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + X[vi, vk]


@T.prim_func
def called(A: T.Buffer[(64,), "int32"]):
    for _i in range(1):
        with T.block("call"):
            T.reads(A[0:64])
            T.writes(A[0:64])
            T.evaluate(T.call_extern("change", A.data, dtype=""))


def changed(x: np.ndarray) -> np.ndarray:
    y = x.copy()
    y[:, ::2] += x[:, 1::2]
    return y


def test_a_block_changes_what_it_touches_in_a_copy() -> None:
    schedule = Schedule(rows, debug_mask="all")
    fill, back = schedule.cache_inplace("add", 0, "global")
    assert [schedule.operation(each).extents for each in (fill, back)] == [(6, 8)] * 2
    assert [[schedule.operation(loop).trip_count for loop in schedule.get_loops(each)] for each in (fill, back)] == [
        [6, 4, 1, 2]
    ] * 2
    x = np.arange(48, dtype=np.float32).reshape(6, 8)
    (y,) = Interpreter(schedule.mod["main"])([x])
    np.testing.assert_array_equal(np.asarray(y), changed(x))
    result = np.zeros_like(x)
    weft.build(schedule.mod, target="llvm")(x, result)
    np.testing.assert_array_equal(result, changed(x))
    again, read = Schedule(rows), Schedule(rows)
    exec("\n".join(schedule.trace.as_python()), {"sch": again})
    Trace.apply_json_to_schedule(schedule.trace.as_json(), read)
    assert structural_equal(again.mod, schedule.mod) and structural_equal(read.mod, schedule.mod)


def test_what_a_call_is_handed_is_copied_whole() -> None:
    schedule = Schedule(called)
    fill, back = schedule.cache_inplace(schedule.get_block("call"), "A", "local")
    text = schedule.mod.script()
    assert "A_local.access_ptr" in text and "A.access_ptr" not in text
    assert [schedule.operation(schedule.get_loops(each)[-1]).trip_count for each in (fill, back)] == [64, 64]
    schedule.cache_read(fill, 0, "global", [fill])
    schedule.cache_write(back, 0, "global")
    names = [schedule.operation(each).block_name for each in schedule.get_child_blocks(schedule.get_loops(fill)[0])]
    assert names == ["A_global", "A_local", "call", "A_local_1", "A_global_1"]


def test_what_only_reads_or_begins_a_buffer_is_refused() -> None:
    schedule = Schedule(rows)
    with pytest.raises(ScheduleError, match="@begin does not both read and write %X"):
        schedule.cache_inplace("begin", 0, "global")
    with pytest.raises(ScheduleError, match="reads 1 buffers, none of number 1"):
        schedule.cache_inplace("add", 1, "global")
    add = schedule.get_loops("add")[0]
    schedule.parallel(add)
    with pytest.raises(ScheduleError, match="whose iterations run at the same time"):
        schedule.cache_inplace("add", 0, "global")
    schedule = Schedule(summed)
    with pytest.raises(ScheduleError, match="none of number 1"):
        schedule.cache_inplace("sum", 1, "global")
    block = schedule.operation(schedule.get_block("sum"))
    assert isinstance(block, BlockOp)
    with pytest.raises(ScheduleError, match="@sum begins %Y itself"):
        cache_inplace(block, block.writes[0], "global")
