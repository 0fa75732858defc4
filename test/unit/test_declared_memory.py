"""Memory that statements realize, declare and name parts of, as nodes, by the builder and in TVMScript: on the
interpreter of `tir` and as machine code."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import ir, tir
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.tir.functions import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.script.ir_builder import IRBuilder
from weft.script.ir_builder import tir as T

REALIZED = """
@T.prim_func
def f(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (7, 5), "float32")
    C = T.match_buffer(c, (7, 5), "float32")
    B = T.Buffer([7, 5], elem_offset=0, align=64, offset_factor=1)
    D = T.Buffer([5], "float32")
    T.realize(B[0:7, 0:5], "")
    for i in T.parallel(0, 7):
        for j in T.serial(0, 5):
            B[i, j] = A[i, j] * 2.0
    T.realize(C[0:7, 0:5], "")
    for i in T.parallel(7):
        with T.realize(D[0:5], "local"):
            for j in T.serial(0, 5):
                D[j] = B[i, j] + 1.0
            for j in T.serial(0, 5):
                C[i, j] = D[j]
"""


def runs(func: PrimFuncOp, given: npt.NDArray[np.float32], expected: npt.NDArray[np.float32]) -> None:
    """Compare what the interpreter and machine code, on one thread and on three, compute."""
    (found,) = Interpreter(func)([given])
    np.testing.assert_allclose(np.asarray(found, np.float32), expected, rtol=1e-6)
    for threads in (1, 3):
        out = np.zeros(expected.shape, np.float32)
        weft.build(func, threads=threads)(given, out)
        np.testing.assert_allclose(out, expected, rtol=1e-6)


def test_realized_memory_is_the_functions_own_and_of_a_parameter_its_own() -> None:
    func = tir.from_source(REALIZED)
    assert isinstance(func, PrimFuncOp) and len(func.buffer_map) == 2
    assert 'D = T.alloc_buffer((5,), "float32", scope="local")' in func.script()
    tir.assert_structural_equal(tir.from_source(func.script()), func)
    a = np.random.default_rng(0).standard_normal((7, 5)).astype(np.float32)
    runs(func, a, a * 2 + 1)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("T.realize(B, '')", "T.realize is of a part of a buffer"),
        ("T.realize(B[0:7, 0:5], '', 1 > 2)", "memory is there"),
    ],
)
def test_what_is_no_realization_is_refused(said: str, message: str) -> None:
    with pytest.raises(Diagnostic, match=message):
        tir.from_source(REALIZED.replace('T.realize(B[0:7, 0:5], "")', said))


def part_of(found: object) -> tir.BufferRegion:
    """What an index with slices gives."""
    assert isinstance(found, tir.BufferRegion)
    return found


def nest(i: Any, j: Any, extents: tuple[int, int], body: tir.Stmt) -> tir.Stmt:
    return tir.For(i, 0, extents[0], "serial", tir.For(j, 0, extents[1], "serial", body))


def test_nodes_realize_memory_and_declare_other_shapes_of_it() -> None:
    A, B, C = (tir.decl_buffer((6, 4), "float32", name=name) for name in "ABC")
    flat = tir.decl_buffer((24,), "float32", name="flat", data=B.data)
    i, j = tir.Var("i", "int32"), tir.Var("j", "int32")
    first = nest(i, j, (6, 4), B.vstore([i, j], A[i, j] + 1.0))
    second = tir.DeclBuffer(flat, nest(i, j, (6, 4), C.vstore([i, j], flat.vload([i * 4 + j]) * 3.0)))
    body = tir.BufferRealize(B, [ir.Range(0, 6), ir.Range(0, 4)], True, tir.SeqStmt([first, second]))
    assert body.script().startswith('with T.realize(B[0:6, 0:4], ""):')
    assert "    with T.decl_buffer((24,), data=B.data) as flat:" in body.script()
    a = np.random.default_rng(1).standard_normal((6, 4)).astype(np.float32)
    runs(tir.PrimFunc([A, C], body), a, (a + 1) * 3)
    with pytest.raises(UsageError, match="the memory 'B' is there under a condition"):
        tir.BufferRealize(B, [ir.Range(0, 6), ir.Range(0, 4)], A[0, 0] > 0.0, first)
    with pytest.raises(UsageError, match="2 dimensions, and a part of it 1 ranges"):
        tir.BufferRealize(B, [ir.Range(0, 6)], True, first)


def test_a_block_has_names_for_parts_of_buffers() -> None:
    A, C = tir.decl_buffer((6, 4), "float32", name="A"), tir.decl_buffer((6, 2), "float32", name="C")
    P = tir.decl_buffer((3, 2), "float32", name="P")
    i, x, y = (tir.Var(name, "int32") for name in "ixy")
    vi, u, v = tir.IterVar((0, 2), "vi", 0), tir.IterVar((0, 3), "u", 0), tir.IterVar((0, 2), "v", 0)
    store = C.vstore([vi.var * 3 + u.var, v.var], P[u.var, v.var] * 2.0)
    within = nest(x, y, (3, 2), tir.BlockRealize([x, y], True, tir.Block([u, v], [], [], "within", store)))
    part = tir.MatchBufferRegion(P, part_of(A[vi.var * 3 : vi.var * 3 + 3, 1:3]))
    block = tir.Block([vi], [], [], "rows", within, match_buffers=[part])
    assert str(part) == "P = T.match_buffer(A[vi * 3:vi * 3 + 3, 1:3], (3, 2))"
    assert str(part) in block.script() and block.match_buffers == (part,)
    other = tir.Block([vi], [], [], "rows", within)
    assert not tir.structural_equal(block, other) and tir.structural_equal(block, block)
    func = tir.PrimFunc([A, C], tir.For(i, 0, 2, "serial", tir.BlockRealize([i], True, block)))
    a = np.random.default_rng(2).standard_normal((6, 4)).astype(np.float32)
    runs(func, a, a[:, 1:3] * 2)


def test_the_builder_has_words_for_all_of_them() -> None:
    A = T.Buffer((16, 16), "float32")
    with IRBuilder() as ib, T.realize(part_of(A[0:16, 0:16]), "shared"):
        T.evaluate(0)
    node = ib.get()
    expected = tir.BufferRealize(A, [ir.Range(0, 16), ir.Range(0, 16)], True, tir.Evaluate(0))
    assert tir.structural_equal(node, tir.AttrStmt(A, "realize_scope", tir.StringImm("shared"), expected))
    assert str(node).startswith('with T.realize(buffer[0:16, 0:16], "shared"):')
    with IRBuilder() as ib, T.decl_buffer((4, 4), data=T.ptr("float32")):
        T.evaluate(0)
    assert isinstance(ib.get(), tir.DeclBuffer)
    with IRBuilder() as ib, T.block("part", no_realize=True):
        T.match_buffer(A[0:4, 0:4], (4, 4))
        T.evaluate(0)
    assert isinstance(block := ib.get(), tir.Block) and len(block.match_buffers) == 1
    assert tir.IterVar((0, 8), "a", 0).script() == 'T.iter_var(a, T.Range(0, 8), "DataPar", "")'
    assert ir.Range(0, 10).script() == "T.Range(0, 10)"
    with pytest.raises(UsageError, match="a text cannot be cast to int32"):
        tir.StringImm("s").astype("int32")
