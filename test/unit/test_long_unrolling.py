"""Loops that are to be unrolled, and would be more code than can be compiled, stay loops, and that is said."""

from __future__ import annotations

import time

import numpy as np
import pytest
from tvmscript_texts import function

import weft
from weft.transforms.infra.remarks import collect

FUNCTION = """
@T.prim_func
def f(A: T.Buffer[(49000,), "int32"], B: T.Buffer[(49000,), "int32"]):
    for i in T.unroll({outer}):
        for j in T.unroll({inner}):
            with T.block("copy"):
                v = T.axis.spatial(49000, i * {inner} + j)
                B[v] = A[v] * 3
"""


@pytest.mark.parametrize(("outer", "inner"), [(49000, 1), (1, 49000), (700, 70)])
def test_a_nest_of_many_iterations_is_compiled_soon(outer: int, inner: int) -> None:
    start = time.process_time()
    with collect() as remarks:
        built = weft.build(function(FUNCTION.format(outer=outer, inner=inner)), target="llvm -mcpu=native")
    said = [each for each in remarks if "the loop is not unrolled: its iterations would be" in each.message]
    assert len(said) == 1  # of two loops the outer one
    assert time.process_time() - start < 10, "all iterations were written out"
    a, b = np.arange(49000, dtype=np.int32), np.zeros(49000, np.int32)
    built(a, b)
    np.testing.assert_array_equal(b, a * 3)
