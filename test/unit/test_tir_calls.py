"""Calls under TVM's names: operators of expressions, builtins as functions, and `tir.Call`."""

# Kinds of nodes are no classes to type checkers.
# pyright: basic, reportArgumentType=false

import pytest

import weft
from weft import te, tir
from weft.dialects.support.diagnostics import UsageError

x, n, pointer = tir.Var("x", "float32"), tir.Var("n", "int32"), tir.Var("p", "handle")
buffer = tir.decl_buffer((16, 16), name="A")


@pytest.mark.parametrize(
    ("made", "name", "dtype"),
    [
        (te.exp(x), "exp", "float32"),
        (te.abs(x), "fabs", "float32"),
        (te.power(x, 2.0), "pow", "float32"),
        (te.shift_left(n, 2), "shift_left", "int32"),
        (te.bitwise_and(n, 7), "bitwise_and", "int32"),
        (tir.reinterpret("float32", n), "reinterpret", "float32"),
        (tir.call_extern("int32", "f", n), "call_extern", "int32"),
        (tir.call_packed("f", n), "tvm_call_packed", "int32"),
        (tir.undef("float16"), "undef", "float16"),
        (tir.assume(n > 0), "assume", "bool"),
        (tir.tvm_struct_get(pointer, 0, 1, "int64"), "tvm_struct_get", "int64"),
        (tir.ptx_mma("int32", "m8n8k32", "row", "col", pointer, 0), "ptx_mma", "int32"),
    ],
)
def test_a_call_has_an_operator(made: te.Expr, name: str, dtype: str) -> None:
    assert made.op.name == f"tir.{name}" and made.dtype == dtype and isinstance(made, tir.Call)


@pytest.mark.parametrize("made", [x + 1.0, tir.And(n > 0, n < 4), -x, tir.Not(n > 0), tir.Cast("int32", x), x])
def test_what_tvm_has_classes_of_is_no_call(made: te.Expr) -> None:
    assert not isinstance(made, tir.Call) and not hasattr(made, "op")


@pytest.mark.parametrize("name", ["tvm_tuple", "ptx_commit_group", "lookup_param", "tvm_mma_sync"])
def test_a_builtin_is_written_as_it_stands(name: str) -> None:
    assert name in dir(tir)
    made = getattr(tir, name)(pointer, 0, "row", buffer.data)
    text = made.script(verbose_expr=True)
    assert text == f'p = T.var("handle")\nA = T.var("handle")\nT.{name}(p, 0, "row", A)'


def test_a_builtin_is_refused_by_what_has_none() -> None:
    function = tir.PrimFunc([buffer], tir.Evaluate(tir.tvm_fill_fragment(buffer.data, 16, 16, 16, 0, 0)))
    assert "tvm_fill_fragment" in function.script()
    with pytest.raises(weft.Diagnostic, match="a function of C that is called has to be in the process"):
        weft.build(function)
    with pytest.raises(weft.Diagnostic, match=r"there is no T\.tvm_tuple"):
        tir.PrimFunc([buffer], tir.BufferStore(buffer, tir.Cast("float32", tir.tvm_tuple("p")), [0, 0]))


def test_what_only_some_devices_have_is_read_from_tvmscript() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer[(8,), "float32"]):
    T.evaluate(T.start_profile_intrinsic(3, dtype="handle"))
    T.evaluate(T.ptx_mma("m8n8k4", "row", "col", A.data, 0, A.data, 0, A.data, 0, False, dtype="float32"))
"""
    function = tir.from_source(text)
    assert '"ptx_mma", ' in (shown := function.script()) and '"start_profile_intrinsic", 3)' in shown
    assert tir.structural_equal(tir.from_source(shown), function)
    with pytest.raises(weft.Diagnostic, match="a function of C that is called has to be in the process"):
        weft.build(function)


def test_what_a_typed_builtin_gives_is_said_first() -> None:
    assert tir.vectorlow("int8x8", x).op.name == "tir.vectorlow" and tir.vectorlow("int8x8", x).dtype == "int8x8"
    with pytest.raises(UsageError, match="takes first the dtype of what it gives"):
        tir.ptx_mma(pointer, 0)
    with pytest.raises(UsageError, match="int9"):
        tir.mma_fill("int9", 8, pointer, 0)


def test_a_call_is_made_by_the_name_of_its_operator() -> None:
    made = tir.Call("float32", "tir.exp", [x])
    assert tir.structural_equal(made, te.exp(x)) and made.op.name == "tir.exp"
    again = tir.Call("float32", made.op, [x])
    assert tir.structural_equal(again, made)
    assert tir.Call("int32", "tir.call_extern", ["f", n]).script() == tir.call_extern("int32", "f", n).script()
    assert tir.Call("handle", "tir.tvm_tuple", [n, 1]).script() == "T.tvm_tuple(n, 1)"
    assert tir.Call("int32", "tir.mma_fill", [8, pointer, 0]).script() == 'T.mma_fill("int32", 8, p, 0)'
    with pytest.raises(UsageError, match="no function of scalars is named"):
        tir.Call("int32", "tir.nothing", [n])
    with pytest.raises(UsageError, match="is of numbers"):
        tir.Call("float32", "tir.exp", ["x"])
