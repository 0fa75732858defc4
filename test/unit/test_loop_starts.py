"""Loops that do not start at 0 run the iterations that they say, whatever their kind is."""

from __future__ import annotations

import numpy as np
from tvmscript_texts import function

import weft
from weft.dialects.tir.interpreter import Interpreter

FUNCTION = """
@T.prim_func
def f(A: T.Buffer[(40, 8), "int32"], B: T.Buffer[(40, 8), "int32"], C: T.Buffer[(40,), "int32"]):
    for i in T.parallel(3, 43):
        for j in range(2, 10):
            with T.block("copy"):
                vi = T.axis.spatial(40, i - 3)
                vj = T.axis.spatial(8, j - 2)
                B[vi, vj] = A[vi, vj] * 3
    for i in T.parallel(5, 45):
        for j in range(1, 9):
            with T.block("sum"):
                vi = T.axis.spatial(40, i - 5)
                vj = T.axis.reduce(8, j - 1)
                with T.init():
                    C[vi] = 0
                C[vi] = C[vi] + A[vi, vj]
"""


def test_a_loop_that_threads_share_starts_where_it_says() -> None:
    func = function(FUNCTION)
    a = np.arange(320, dtype=np.int32).reshape(40, 8) % 37
    expected = Interpreter(func)([a])
    built = weft.build(func, target="llvm -mcpu=native")
    room = [np.full((42, *each.shape[1:]), -1, np.int32) for each in expected]
    given = [each[1:-1] for each in room]
    built(a, *given)
    for want, got, around in zip(expected, given, room, strict=True):
        np.testing.assert_array_equal(got, want)
        assert (around[[0, -1]] == -1).all(), "memory of others was written"


BELOW_ZERO = """
@T.prim_func
def f(A: T.Buffer[(3, 3), "int32"], B: T.Buffer[(5,), "int32"], C: T.Buffer[(3,), "int32"]):
    for i, j in T.grid(3, 3):
        with T.block("put"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[(vi - vj - 4) % 5] = A[vi, vj]
            C[(vi - vj - 4) // 3 + 2] = A[vi, vj] // 3
"""


def test_quotients_and_remainders_of_what_may_be_below_zero_are_rounded_down() -> None:
    differences = np.subtract.outer(np.arange(3), np.arange(3)).astype(np.int32)
    b, c = np.zeros(5, np.int32), np.zeros(3, np.int32)
    weft.build(function(BELOW_ZERO), target="llvm -mcpu=native")(differences - 4, b, c)
    assert b.tolist() == [-5, -4, -3, -2, -6] and c.tolist() == [-2, -1, 0]
