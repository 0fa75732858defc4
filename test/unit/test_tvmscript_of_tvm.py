"""Ways in which TVM prints functions, and which say here what Weft's own say."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import numpy as np
import pytest

import weft
from weft import te, tir
from weft.dialects.support.diagnostics import Diagnostic
from weft.script import tir as T


@T.prim_func
def named(a: T.handle, B: T.Buffer[(8, 4), "int32"]):
    first = te.var("first")
    row = te.var("row")
    A = T.match_buffer(a, (8, 4), "int32", strides=[row, 1], elem_offset=first, buffer_type="auto")
    for i, j in T.grid(8, 4):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.Cast("int32", row) + T.Cast("int32", first)


def test_a_variable_of_te_for_a_stride_is_that_of_a_dense_buffer() -> None:
    a, b = np.arange(32, dtype=np.int32).reshape(8, 4), np.zeros((8, 4), np.int32)
    weft.build(named)(a, b)
    np.testing.assert_array_equal(b, a + 4)
    assert len(named.params) == 2


@T.prim_func
def scaled(A: T.Buffer[(8,), "float32"], B: T.Buffer[(8,), "float32"], factor: T.float32):
    for i in range(8):
        with T.block("b"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[vi] * factor


def test_a_number_that_is_given_is_none_of_the_buffers_that_a_block_reads() -> None:
    a, b = np.ones(8, np.float32), np.zeros(8, np.float32)
    weft.build(scaled)(a, b, 3.0)
    np.testing.assert_array_equal(b, 3)
    assert tir.structural_equal(tir.from_source(scaled.script()), scaled)


@T.prim_func
def touched(A: T.Buffer[(4,), "float32"]):
    with T.block("b"):
        A[0] = T.float32(1)
        T.evaluate(A.data)


def test_memory_that_is_evaluated_may_be_read_and_written() -> None:
    reads, writes, given = tir.analysis.get_block_access_region(touched.body.block.body.block)
    assert [len(each) for each in (reads, writes, given)] == [0, 1, 1]
    assert "tvm_access_ptr" in touched.script()


@weft.register_func("test_of_tvm.double")
def double(x: np.ndarray, y: np.ndarray) -> None:
    y[...] = x * 2


@T.prim_func
def packed(A: T.Buffer[(2, 4), "float32"], B: T.Buffer[(2, 4), "float32"]):
    with T.block("call"):
        T.reads(A[0:2, 0:4])
        T.writes(B[0:2, 0:4])
        T.evaluate(
            T.tvm_call_packed(
                "test_of_tvm.double",
                T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(2, 4), 0, 2, 0.0, 0, dtype="handle"),
                T.tvm_stack_make_array(B.data, T.tvm_stack_make_shape(2, 4), 0, 2, 0.0, 0, dtype="handle"),
            )
        )


def test_an_array_that_is_made_of_a_buffer_is_the_buffer() -> None:
    a, b = np.ones((2, 4), np.float32), np.zeros((2, 4), np.float32)
    weft.build(packed)(a, b)
    np.testing.assert_array_equal(b, a * 2)


@pytest.mark.parametrize(
    ("shape", "strides", "offset"), [("4, 2", "0", "0"), ("2, 4", "0", "1"), ("2, 4", "A.data", "0")]
)
def test_an_array_of_another_shape_is_refused(shape: str, strides: str, offset: str) -> None:
    text = f"""
@T.prim_func
def f(A: T.Buffer[(2, 4), "float32"]):
    with T.block("call"):
        T.evaluate(T.tvm_call_packed("f", T.tvm_stack_make_array(
            A.data, T.tvm_stack_make_shape({shape}, dtype="handle"), {strides}, 2, 0.0, {offset}, dtype="handle")))
"""
    with pytest.raises(Diagnostic, match="an array is all of a buffer, of its own shape"):
        tir.from_source(text)


def test_a_call_that_is_handed_a_buffer_of_one_element_touches_that() -> None:
    function = T.from_source(
        """
@T.prim_func
def f(A: T.Buffer((4,), "float32"), C: T.Buffer((), "float32")):
    with T.block("whole"):
        T.reads(C[()], A[0:4])
        T.writes(C[()])
        T.evaluate(T.call_extern("sum4", C.data, C.elem_offset, A.data, A.elem_offset, dtype="int32"))
"""
    )
    assert "T.writes(C[()])" in function.script()
    T.assert_structural_equal(T.from_source(function.script()), function)


def test_operators_are_called_by_the_names_of_their_nodes() -> None:
    function = T.from_source(
        """
@T.prim_func
def f(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("b"):
            vi = T.axis.spatial(16, T.FloorMod(T.Add(i, T.Mul(0, 4)), 16))
            T.where(T.Sub(T.Mul(1, i), 1) < T.FloorDiv(14, 2))
            B[vi] = T.Min(T.Mul(A[vi], T.float32(2)), T.Max(T.Sub(A[vi], T.float32(1)), T.Div(A[vi], T.float32(4))))
    for i in range(4):
        B[T.Mul(i, 4) : T.Mul(i, 4) + 4] = A[0:4]
"""
    )
    expected = T.from_source(
        """
@T.prim_func
def f(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("b"):
            vi = T.axis.spatial(16, i)
            T.where(i < 8)
            B[vi] = T.min(A[vi] * T.float32(2), T.max(A[vi] - T.float32(1), A[vi] / T.float32(4)))
    for i in range(4):
        B[i * 4 : i * 4 + 4] = A[0:4]
"""
    )
    T.assert_structural_equal(function, expected)


def test_a_type_may_be_given_by_its_name_behind_what_is_reinterpreted() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = T.reinterpret(A[i], dtype="int32")
"""
    first = T.from_source(text.replace('A[i], dtype="int32"', '"int32", A[i]'))
    T.assert_structural_equal(T.from_source(text), first)
    with pytest.raises(Diagnostic, match="given dtype twice"):
        T.from_source(text.replace('A[i], dtype="int32"', '"int32", A[i], dtype="int32"'))


def test_a_part_may_be_of_a_buffer_whose_extents_are_sizes() -> None:
    text = """
@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int32, m: T.int32):
    A = T.match_buffer(a, (n * m, m), "float32")
    B = T.match_buffer(b, (n, 8), "float32")
    for i in range(n):
        with T.block("part"):
            vi = T.axis.spatial(n, i)
            T.reads()
            T.writes(A[vi * m : vi * m + m, 0:m])
            P = T.match_buffer(A[vi * m : vi * m + m, 0:m], (m, m), "float32", offset_factor=1)
            for j, k in T.grid(m, m):
                P[j, k] = T.float32(1)
    for i in range(n):
        with T.block("row"):
            vi = T.axis.spatial(n, i)
            T.writes(B[vi, 0:8])
            Q = T.match_buffer(B[vi, 0:8], (8,), "float32")
            T.evaluate(T.call_extern("fill", Q.data, Q.elem_offset, Q.strides[0], dtype="int32"))
"""
    found = T.from_source(text)
    part = 'P = T.match_buffer(A[vi * m : vi * m + m, 0:m], (m, m), "float32", offset_factor=1)'
    T.assert_structural_equal(found, T.from_source(text.replace(part, "").replace("P[j, k]", "A[vi * m + j, k]")))
    assert 'T.call_extern("int32", "fill", B.access_ptr("rw")' in found.script()
    with pytest.raises(Diagnostic, match="known only when the function is called"):
        T.from_source(text.replace("Q.strides[0]", "A.strides[0]"))
