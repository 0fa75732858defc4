"""Reductions of open extents whose loops are cut: what they begin with comes once, before all parts."""

from __future__ import annotations

import numpy as np
import pytest

from weft.dialects.tir.core import PrimFuncOp
from weft.kernel import build_kernel
from weft.tir import from_source

HEAD = """@T.prim_func
def k(hX: T.handle, hB: T.handle):
    n = T.var("int32")
    m = T.var("int32")
    X = T.match_buffer(hX, (n, m), "int32")
    B = T.match_buffer(hB, (n,), "int32")
"""
BLOCK = """{space}with T.block("B"):
{space}    v = T.axis.spatial(n, {v})
{space}    r = T.axis.reduce(m, {r})
{space}    T.where({where})
{space}    with T.init():
{space}        B[v] = 7
{space}    B[v] = B[v] + X[v, r]
"""
LOOPS = {
    "elements": ("for i, j, k in T.grid((n + 3) // 4, 4, m):", "i * 4 + j", "k", "i * 4 + j < n"),
    "steps between": ("for i, k, j in T.grid((n + 3) // 4, m, 4):", "i * 4 + j", "k", "i * 4 + j < n"),
    "steps": ("for i, k, j in T.grid(n, (m + 3) // 4, 4):", "i", "k * 4 + j", "k * 4 + j < m"),
    "steps outside": ("for k, j, i in T.grid((m + 3) // 4, 4, n):", "i", "k * 4 + j", "k * 4 + j < m"),
    "both": (
        "for i, ii, k, j in T.grid((n + 1) // 2, 2, (m + 3) // 4, 4):",
        "i * 2 + ii",
        "k * 4 + j",
        "k * 4 + j < m and i * 2 + ii < n",
    ),
}
UNROLLED = """    for i in range((n + 3) // 4):
        for j in T.unroll(4):
            for k in range(m):
"""
SIZES = ((0, 3), (5, 0), (5, 4), (4, 7), (1, 1), (9, 8))


def check(text: str) -> None:
    func = from_source(text)
    assert isinstance(func, PrimFuncOp)
    kernel = build_kernel(func, start="tir", codegen_level=0)
    for shape in SIZES:
        x = np.random.default_rng(0).integers(-9, 10, shape).astype(np.int32)
        for kernel.threads in (1, 3):
            np.testing.assert_array_equal(kernel(x)[0], 7 + x.sum(axis=1), f"{shape}")


@pytest.mark.parametrize("name", LOOPS)
def test_a_guarded_reduction_of_open_extents_begins_once(name: str) -> None:
    loops, v, r, where = LOOPS[name]
    check(HEAD + f"    {loops}\n" + BLOCK.format(space=" " * 8, v=v, r=r, where=where))


def test_so_does_one_of_unrolled_elements() -> None:
    check(HEAD + UNROLLED + BLOCK.format(space=" " * 16, v="i * 4 + j", r="k", where="i * 4 + j < n"))
