"""Functions that give a number: `T.ret`, in text and made of nodes."""

# pyright: basic, reportAttributeAccessIssue=false, reportCallIssue=false, reportArgumentType=false
# pyright: reportReturnType=false

import numpy as np
import pytest

import weft
from weft import te, tir
from weft.dialects.tir.core import PrimFuncOp
from weft.runtime.tensors import InputError
from weft.script import tir as T
from weft.tir import Interpreter, assert_structural_equal, from_source


def test_a_function_gives_a_number() -> None:
    @T.prim_func
    def clipped(x: T.float32, low: T.float32) -> T.float32:
        y = x * 2.0
        if y < low:
            T.evaluate(T.ret(low))
        else:
            if y > 10.0:
                T.evaluate(T.ret(10.0, dtype="float32"))
        T.evaluate(T.ret(y))

    assert_structural_equal(from_source(clipped.script()), clipped)
    built = weft.build(clipped)
    assert [built(x, -1.0) for x in (-4.0, 1.5, 7.0)] == [-1.0, 3.0, 10.0]
    assert Interpreter(clipped)([np.float32(1.5), np.float32(0)])[0] == 3.0
    assert built.time_evaluator("clipped", number=1, repeat=1)(1.5, -1.0).min > 0
    with pytest.raises(InputError, match=r"'clipped' takes 2 arrays \(x, low\), got 3"):
        built(1.0, 2.0, 3.0)


def test_a_function_of_arrays_and_sizes_gives_a_number_and_writes() -> None:
    text = """
@T.prim_func
def total(a: T.handle, b: T.handle, n: T.int32):
    A = T.match_buffer(a, (n,), "int64")
    B = T.match_buffer(b, (n,), "int64")
    so_far = T.alloc_buffer((1,), "int64")
    so_far[0] = T.int64(0)
    for i in range(n):
        so_far[0] = so_far[0] + A[i]
        B[i] = so_far[0]
    T.evaluate(T.ret(so_far[0], dtype="int64"))
"""
    func = from_source(text)
    assert isinstance(func, PrimFuncOp)
    built = weft.build(func)
    x, sums = np.arange(5), np.zeros(5, np.int64)
    assert built(x, sums) == built(x, sums, 5) == 10
    np.testing.assert_array_equal(sums, np.cumsum(x))
    assert weft.build(func.specialize({func.params[-1]: 5}))(x, sums) == 10


def test_nodes_give_numbers_of_any_type() -> None:
    a, b = tir.Var("a", "int8"), tir.Var("b", "int8")
    ib = tir.ir_builder.create()
    with ib.if_scope(a > b):
        ib.emit(tir.Evaluate(tir.ret(a * b)))
    ib.emit(tir.Evaluate(tir.ret(te.const(-1, "int8"))))
    built = weft.build(tir.PrimFunc([a, b], ib.get()))
    assert [built(127, 2), built(1, 2)] == [-2, -1]
    assert weft.build(tir.PrimFunc([], tir.Evaluate(tir.ret(te.const(7, "int32")))))() == 7


def test_what_is_given_may_stand_in_a_block_and_in_what_is_chosen_when_the_text_is_read() -> None:
    func = from_source("""
@T.prim_func
def f(A: T.Buffer[(2,), "float16"], ret: T.float16):
    with T.block("root"):
        if True:
            T.evaluate(T.ret(A[1] + ret, dtype="float16"))
        T.evaluate(T.ret(A[0], dtype="float16"))
""")
    assert weft.build(func)(np.array([1, 2], np.float16), 0.5) == 2.5


def test_numbers_without_a_sign_have_none() -> None:
    a, b = tir.Var("a", "uint8"), tir.Var("b", "uint8")
    function = tir.PrimFunc([a, b], tir.Evaluate(tir.ret(a + b)))
    assert_structural_equal(from_source(function.script()), function)
    built = weft.build(function)
    assert [built(200, 10), built(200, 60)] == [210, 4]
