"""Functions are read, and looked at, though they may not run; `check_well_formed=True` asks at once."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import numpy as np
import pytest

import weft
from weft import tir
from weft.dialects.support.checks import CheckError
from weft.dialects.support.diagnostics import Diagnostic
from weft.script import tir as T


@T.prim_func
def outside(A: T.Buffer[(2, 3), "float32"], B: T.Buffer[(3, 2), "float32"]):
    for i in range(3):
        with T.block("b"):
            vi = T.axis.spatial(3, i)
            B[vi, 0] = A[vi, 2]


@T.prim_func
def inside(A: T.Buffer[(3, 3), "float32"], B: T.Buffer[(3, 2), "float32"]):
    for i in range(3):
        with T.block("b"):
            vi = T.axis.spatial(3, i)
            B[vi, 0] = A[vi, 2]


@T.prim_func
def racing(B: T.Buffer[(1,), "float32"]):
    for i in T.parallel(3):
        with T.block("b"):
            vi = T.axis.reduce(3, i)  # noqa: F841
            B[0] = B[0] + T.float32(1)


def test_what_may_not_run_is_read_and_printed() -> None:
    assert "A[vi, 2]" in outside.script() and "T.parallel(3)" in racing.script()
    text = outside.script()
    again = tir.from_source(text)
    assert tir.structural_equal(again, outside)
    with pytest.raises(Diagnostic, match="reads %A outside"):
        tir.from_source(text, check_well_formed=True)


def test_what_compiles_it_verifies_it() -> None:
    with pytest.raises(Diagnostic, match="reads %A outside: index 2 in dimension 0"):
        weft.build(outside)
    with pytest.raises(Diagnostic, match="which is a reduction: its steps cannot run at the same time"):
        weft.lower(racing)
    schedule = T.Schedule(outside)
    schedule.split(schedule.get_loops(schedule.get_block("b"))[0], [None, 1])
    with pytest.raises(Diagnostic, match="reads %A outside"):
        weft.build(schedule.mod)
    with pytest.raises(CheckError, match="outside"):
        T.Interpreter(outside)([np.zeros((2, 3), np.float32)])


def test_passes_make_it_right() -> None:
    serial = tir.transform.ConvertForLoopsToSerial()(tir.IRModule({"main": racing}))["main"]
    result = np.zeros(1, np.float32)
    weft.build(serial)(result)
    assert result[0] == 3 and tir.analysis.verify_well_formed(serial)


def test_a_pass_refuses_what_is_outside() -> None:
    check = tir.analysis.OOBChecker()
    with pytest.raises(
        tir.ScheduleError, match="outside: index 2 in dimension 0 where %vi = 2, of extent 2, in the buffer A"
    ):
        check(tir.IRModule({"main": outside}))
    check(tir.IRModule({"main": inside}))


def test_what_has_no_meaning_is_refused_all_the_same() -> None:
    with pytest.raises(Diagnostic, match=r"there is no T\.nothing"):

        @T.prim_func
        def unread(B: T.Buffer[(1,), "float32"]):
            B[0] = T.nothing(1)


def test_what_a_block_in_a_block_declares_is_not_asked_for_either() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(4, 6), "float32"], B: T.Buffer[(4,), "float32"], n: T.int32):
    with T.block("outer"):
        vi = T.axis.S(1, 0)
        for j in range(4):
            with T.block("inner"):
                vj = T.axis.S(4, j)
                T.reads([A[vj, 5]])
                T.writes([B[vj]])
                B[vj] = A[vj, 0] + A[vj, 1]
"""
    assert "A[vj, 1]" in tir.from_source(text).script()
    with pytest.raises(Diagnostic, match="declares to read %A at one place, but its body reads at several"):
        tir.from_source(text, check_well_formed=True)
