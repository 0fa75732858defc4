"""What TVM has by name of functions, blocks, loops, tensors and stages."""

# pyright: basic, reportIndexIssue=false, reportInvalidTypeForm=false, reportUndefinedVariable=false
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportOperatorIssue=false, reportGeneralTypeIssues=false, reportCallIssue=false
# ruff: noqa: F821

import subprocess
import sys

import pytest

import weft
from weft import Diagnostic, te, tir
from weft.building import schedule_to_module
from weft.dialects.support.diagnostics import UsageError
from weft.script import tir as T


@T.prim_func
def scaled(a: T.handle, n: T.int32, B: T.Buffer[(4, 8), "float32"]):
    A = T.match_buffer(a, (n * 4, 8), "float32")
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi * n, vj] * T.float32(2)


def test_the_parameters_of_a_function_are_nodes() -> None:
    first, second, size = scaled.params
    assert scaled.params == (first, second, size) and [each.dtype for each in (first, second)] == ["handle"] * 2
    assert isinstance(size, tir.SizeVar) and size.name == "n"
    buffer = scaled.buffer_map[first]
    assert (buffer.name, buffer.dtype, buffer.shape[1]) == ("A", "float32", 8)
    assert te.var is not None and buffer.shape[0] is size * 4
    assert scaled.buffer_map[second].shape == (4, 8)


def test_a_function_that_changes_has_other_parameters() -> None:
    func = scaled.clone()
    before = func.params
    func.region.block.args[0].name_hint = "X"
    assert before != func.params and func.buffer_map[func.params[0]].name == "X"


def test_functions_are_told_by_their_class() -> None:
    assert isinstance(scaled, tir.PrimFunc) and not isinstance(3, tir.PrimFunc)
    module = tir.IRModule({"main": scaled})
    module["other"] = scaled
    module["main"] = scaled
    assert sorted(module.functions) == ["main", "other"] and scaled.same_as(scaled)
    module.verify()


def test_blocks_and_loops_are_the_same_where_they_are_one() -> None:
    schedule = tir.Schedule(scaled)
    block = schedule.get_block("B")
    i, j = schedule.get_loops(block)
    assert schedule.get(block).same_as(schedule.get(schedule.get_block("B")))
    assert schedule.get(i).same_as(schedule.get(schedule.get_loops(block)[0])) and not schedule.get(i).same_as(j)
    body = schedule.mod["main"].body.block.body
    weft.ir.assert_structural_equal(schedule.get(i), body)
    assert tir.structural_equal(body.body, schedule.get(j)) and not tir.structural_equal(body, schedule.get(j))
    outer, inner = schedule.split(i, [tir.IntImm("int64", 2), None])
    assert schedule.get(outer).extent == schedule.get(inner).extent == 2
    assert tir.Var("x", "int32").same_as(3) is False


def test_tensors_say_what_computes_them() -> None:
    x = te.placeholder((4,), name="x")
    y = te.compute((4,), lambda i: x[i] + 1.0, name="y")
    z = te.extern((4,), [y], lambda ins, outs: tir.call_packed("copy", ins[0], outs[0]))
    assert isinstance(x.op, te.PlaceholderOp) and not isinstance(x.op, te.ComputeOp)
    assert isinstance(y.op, te.ComputeOp) and isinstance(z.op, te.ExternOp)
    assert y.op.same_as(y.op) and not y.op.same_as(x.op) and x.op.shape == (4,) and x.op.dtype == "float32"


def test_a_stage_says_what_was_said_of_its_loops() -> None:
    x = te.placeholder((64,), name="x")
    y = te.compute((64,), lambda i: x[i] + 1.0, name="y")
    s = te.create_schedule(y.op)
    outer, inner = s[y].split(y.op.axis[0], factor=8)
    s[y].vectorize(inner)
    s[y].pragma(outer, "step", 3)
    attrs = s[y].iter_var_attrs
    assert attrs[inner].iter_type == te.IterVar.Vectorized
    assert attrs[outer].iter_type == te.IterVar.DataPar == outer.iter_type
    assert attrs[outer].pragma_keys == ["step"] and attrs[outer].pragma_values == [3]
    assert s[y].all_iter_vars == [y.op.axis[0], outer, inner]
    s[y].bind(outer, te.thread_axis("threadIdx.x"))
    assert s[y].iter_var_attrs[outer].bind_thread == "threadIdx.x"


def test_a_thread_is_a_number_in_an_expression() -> None:
    thread = te.thread_axis("threadIdx.x")
    assert isinstance(thread * 16 + 1, tir.Add) and thread.dtype == "int32"
    x = te.placeholder((64,), name="x")
    with pytest.raises(Diagnostic, match=r"computes with the variable 'threadIdx\.x', which has no value"):
        te.compute((64,), lambda i: x[i] + thread)


def test_loops_are_nodes_by_tvms_argument_names() -> None:
    i, x = tir.Var("i", "int32"), tir.decl_buffer((4,), "float32", name="x")
    loop = tir.For(loop_var=i, min_val=0, extent=4, kind=tir.ForKind.PARALLEL, body=x.vstore([i], 1.0))
    assert isinstance(tir.For(te.var("i"), 0, 4, "serial", tir.Evaluate(te.const(0))), tir.Stmt)
    assert loop.kind == "parallel" and loop.extent.value == 4 and loop.min.value == 0
    assert "T.parallel(0, 4)" in tir.PrimFunc([x], loop).script() or "T.parallel(4)" in tir.PrimFunc([x], loop).script()


def test_nodes_are_written_whatever_else_is_loaded() -> None:
    code = "from weft import tir; print(tir.Var('x', 'int32') + 1)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "x + 1\n"


def test_numbers_are_converted_in_whatever_holds_them() -> None:
    x = te.var("x")
    one, (half, same), named = weft.convert([1, (0.5, x), {"yes": True}])
    assert one.dtype == "int32" and isinstance(one, tir.IntImm) and one.value == 1
    assert half.dtype == "float32" and isinstance(half, tir.FloatImm) and same is x
    assert named["yes"].dtype == "bool" and weft.convert("text") == "text" and weft.convert(None) is None
    assert weft.convert(1 << 40).dtype == "int64"


def test_a_te_schedule_is_a_module_before_passes_change_it() -> None:
    x = te.placeholder((16,), name="x")
    y = te.compute((16,), lambda i: x[i] * 2.0, name="y")
    schedule = te.create_schedule(y.op)
    module = schedule_to_module(schedule, [x, y], "twice")
    again = schedule_to_module(schedule, [x, y], "twice", None)
    assert str(again) == str(module) and str(weft.lower(schedule, [x, y], "twice", {}, True)) == str(module)
    with pytest.raises(UsageError, match="none is bound to y"):
        weft.lower(schedule, [x, y], "twice", {y: tir.decl_buffer((16,))})
    assert "@twice" in str(module) and tir.structural_equal(module, weft.lower(schedule, [x, y], "twice"))


def test_variables_are_of_types() -> None:
    number, address = weft.ir.PrimType("float16"), weft.ir.PointerType(weft.ir.PrimType("int32"), "shared")
    assert tir.Var("x", number).dtype == "float16" and tir.Var("p", address).dtype == "handle"
    assert (number.script(), address.script()) == ("T.float16", 'T.Ptr("int32", "shared")')
    assert number.script(verbose_expr=True) == "T.float16" and address.script(verbose_expr=True) == address.script()
    assert number == weft.ir.PrimType("float16") and address != weft.ir.PointerType(weft.ir.PrimType("int32"))
    with pytest.raises(UsageError, match="no element type for dtype 'float17'"):
        weft.ir.PrimType("float17")
    assert tir.StringImm('a "b"').script() == '"a \\"b\\""'


def test_a_function_is_built_for_the_target_that_it_says() -> None:
    told = scaled.with_attr("target", weft.Target("c -mcpu=x86-64"))
    assert told.attrs["target"] == "c -mcpu=x86-64"
    assert tir.from_source(told.script()).script() == told.script()
    c = weft.build(told, target="llvm")
    assert "Made by Weft" in c.get_source("c")
    with pytest.raises(UsageError, match="unknown target kind 'nothing'"):
        weft.build(scaled.with_attr("target", "nothing"))


@pytest.mark.parametrize(
    ("text", "bits", "lanes", "code"),
    [("float32", 32, 1, 2), ("uint8", 8, 1, 1), ("int64", 64, 1, 0), ("bool", 1, 1, 1), ("bfloat16x4", 16, 4, 4)],
)
def test_a_dtype_knows_its_parts(text: str, bits: int, lanes: int, code: int) -> None:
    dtype = weft.DataType(text)
    assert dtype == text and (dtype.bits, dtype.lanes, dtype.type_code) == (bits, lanes, code)
    assert weft.runtime.DataType is weft.DataType


def test_a_dtype_that_there_is_not_is_refused() -> None:
    with pytest.raises(TypeError, match="did you mean 'float32'"):
        weft.DataType("float31x4")
