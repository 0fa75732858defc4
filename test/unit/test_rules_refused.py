"""What schedule rules do with functions that their primitives refuse: nothing."""

# The body of the function here is read by @T.prim_func, and is no Python to be checked.
# pyright: basic, reportIndexIssue=false, reportInvalidTypeForm=false, reportUndefinedVariable=false
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false, reportOperatorIssue=false

from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from weft.dialects.tir.core import ForOp, PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.script import tir as T
from weft.transforms.infra.remarks import collect, missed
from weft.transforms.tir import schedule_rules
from weft.transforms.tir.schedule.errors import ScheduleError
from weft.transforms.tir.schedule_rules import REFUSED, ScheduleRulesPass
from weft.transforms.tir.scheduling.recorded import split


@T.prim_func
def begun_by_a_condition(A: T.Buffer((5, 6), "int32"), C: T.Buffer((5, 4), "int32")):
    B = T.alloc_buffer((5, 4), "int32")
    for i, j, k in T.grid(5, 4, 6):
        with T.block("B"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            if vk == 0:
                B[vi, vj] = 0
            B[vi, vj] = B[vi, vj] + A[vi, vk]
    for i, j in T.grid(5, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] * B[vi, 3 - vj]


@T.prim_func
def stored_twice(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
            B[vi] = A[vi] + 1.0
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] * 2.0


def ruled(func: PrimFuncOp, pass_: ScheduleRulesPass | None = None) -> tuple[PrimFuncOp, list[str]]:
    """A copy that rules have scheduled, and the remarks."""
    module = ModuleOp([func.clone()])
    with collect() as remarks:
        (pass_ or ScheduleRulesPass()).apply(Context(), module)
    module.verify()
    made = module.body.block.first_op
    assert isinstance(made, PrimFuncOp)
    return made, [remark.message for remark in remarks]


def test_rows_are_not_moved_where_an_element_is_written_twice() -> None:
    made, remarks = ruled(begun_by_a_condition)
    assert not any(REFUSED in each for each in remarks)
    a = np.arange(30, dtype=np.int32).reshape(5, 6)
    (c,) = Interpreter(made)([a], None)
    sums = np.repeat(a.sum(axis=1)[:, None], 4, axis=1)
    np.testing.assert_array_equal(c, sums * sums)


def test_what_is_stored_twice_is_not_computed_where_it_is_read() -> None:
    made, remarks = ruled(stored_twice)
    assert not any(REFUSED in each for each in remarks)
    a = np.arange(8, dtype=np.float32)
    (c,) = Interpreter(made)([a], None)
    np.testing.assert_array_equal(c, 2 * (a + 1))


def test_what_a_rule_should_not_have_begun_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def begin(func: PrimFuncOp, *_: object) -> None:
        loop = next(op for op in func.walk() if isinstance(op, ForOp))
        split(loop, [2])
        raise ScheduleError("too late")

    monkeypatch.setattr(schedule_rules, "missed", missed)  # no test else may have rules like this
    monkeypatch.setattr(schedule_rules, "schedule_by_rules", begin)
    made, remarks = ruled(begun_by_a_condition, ScheduleRulesPass(record_to=str(tmp_path)))
    assert made.is_structurally_equivalent(begun_by_a_condition)
    assert remarks == [f"{REFUSED}: too late"]
    record = (tmp_path / "begun_by_a_condition.mlir").read_text()
    assert "schedule.sequence" in record and "schedule.split" not in record and "get_block" not in record


@T.prim_func
def accumulated(A: T.Buffer((64, 4096), "float32"), B: T.Buffer((16,), "float32")):
    for z in range(16):
        with T.block("start"):
            vz = T.axis.spatial(16, z)
            B[vz] = T.float32(0)
    for i, j in T.grid(64, 4096):
        with T.block("call"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A, B)
            T.writes(B)
            T.evaluate(T.call_extern("int32", "accumulate", B.data, T.address_of(A[vi, vj])))


def test_calls_with_buffers_are_not_run_at_once() -> None:
    made, remarks = ruled(accumulated)
    assert made.is_structurally_equivalent(accumulated)
    assert remarks == ["block @call does not stand in loops of its own"]


@T.prim_func
def annotated(A: T.Buffer((8, 4), "int8"), B: T.Buffer((8, 4), "int8")):
    for i in T.serial(8, annotations={"asked": 1}):
        for j in range(4):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]


def test_loops_of_which_something_is_asked_stay() -> None:
    made, remarks = ruled(annotated)
    assert made.is_structurally_equivalent(annotated)
    assert remarks == ["block @copy does not stand in loops of its own"]
