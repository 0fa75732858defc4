"""Nodes made as TVM's tests make them, and what is asked of them."""

# pyright: basic, reportIndexIssue=false, reportInvalidTypeForm=false, reportUndefinedVariable=false
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportOperatorIssue=false, reportGeneralTypeIssues=false, reportCallIssue=false, reportOptionalMemberAccess=false
# ruff: noqa: F821

import numpy as np
import pytest

import weft
from weft import te, tir
from weft.dialects.support.arguments import ArgumentError
from weft.dialects.support.diagnostics import UsageError
from weft.script import tir as T

POINTER = weft.ir.PointerType(weft.ir.PrimType("float32"), "local")


def test_memory_is_allocated_for_a_pointer_and_seen_by_the_buffers_that_are_there() -> None:
    memory, out = tir.Var("memory", POINTER), tir.decl_buffer((4, 4), "float32", name="out")
    rows = tir.decl_buffer((4, 4), "float32", name="rows", data=memory)
    i, j = tir.Var("i", "int32"), tir.Var("j", "int32")
    store = tir.SeqStmt([rows.vstore([j, i], tir.Cast("float32", i)), out.vstore([i, j], rows[j, i] + 1.0)])
    loops = tir.For(i, 0, 4, tir.ForKind.SERIAL, tir.For(j, 0, 4, "serial", store))
    allocated = tir.Allocate(memory, "float32", [16], tir.const(1, "uint1"), loops)
    assert allocated.buffer_var.same_as(memory) and allocated.buffer.scope() == "local" and allocated.body is loops
    result = np.zeros((4, 4), np.float32)
    weft.build(tir.PrimFunc([out], allocated))(result)
    assert (result == np.arange(4)[:, None] + 1).all()


def test_memory_that_is_there_under_a_condition_is_refused() -> None:
    nothing = tir.Evaluate(0)
    with pytest.raises(UsageError, match="under a condition"):
        tir.Allocate(tir.Var("memory", POINTER), "float32", [16], tir.Var("x", "int32") > 0, nothing)
    with pytest.raises(UsageError, match="dtype 'handle'"):
        tir.Allocate(tir.Var("x", "int32"), "float32", [16], True, nothing)


def test_constants_have_a_pointer_too() -> None:
    made = tir.AllocateConst(tir.Var("v", POINTER), "float32", [3], weft.nd.array(np.ones(3)), tir.Evaluate(0))
    assert made.data.dtype == np.float32 and made.dtype == "float32"


def test_what_is_said_of_a_loop_is_an_expression() -> None:
    said = tir.AttrStmt(tir.Var("i", "int32"), "pragma", 4, tir.Evaluate(0))
    assert isinstance(said.value, tir.IntImm) and said.value.value == 4
    assert tir.AttrStmt(tir.Var("i", "int32"), "pragma", "text", tir.Evaluate(0)).value == "text"


def test_loops_of_one_kind_are_alike_whatever_it_is_called() -> None:
    kinds = [tir.For(tir.Var("i", "int32"), 0, 4, kind, tir.Evaluate(0)) for kind in ("unroll", "unrolled", 3)]
    assert all(tir.structural_equal(kinds[0], each) for each in kinds)


def test_an_extent_is_asked_for_its_number() -> None:
    A = te.placeholder((4, te.var("n")), name="A")
    assert (
        A.shape[0].value == 4 == A.shape[0]
        and A.shape[0].dtype == "int64"
        and tir.decl_buffer((8,), "float32").shape[0].value == 8
    )


def test_what_is_said_of_a_formula_is_asked_for_its_number() -> None:
    made = te.compute((4,), lambda i: te.const(1.0, "float32"), attrs={"factor": 2, "text": "x", "flag": True})
    assert made.op.attrs == {"factor": 2, "text": "x", "flag": True} and made.op.attrs["factor"].value == 2


def test_tensors_are_combined_with_sizes_from_either_side() -> None:
    n, A = te.var("n"), te.placeholder((4,), name="A")
    for made in (n + A, A + n, n - A, n * A):
        assert isinstance(made, te.tensor.Tensor)
    with pytest.raises(ArgumentError, match="give an element"):
        _ = n < A


def test_an_element_of_a_tensor_is_made_by_name() -> None:
    B = te.placeholder((), name="B")
    read = tir.ProducerLoad(B, [])
    assert isinstance(read, tir.ProducerLoad) and read.producer is B and not isinstance(read, tir.BufferLoad)


@pytest.mark.parametrize("divide", [tir.floordiv, tir.floormod, tir.truncdiv, tir.truncmod])
def test_a_literal_is_not_divided_by_0(divide) -> None:
    with pytest.raises(RuntimeError, match="5 is divided by 0"):
        divide(tir.const(5, "int32"), tir.const(0, "int32"))


def test_literals_of_narrow_integers_wrap() -> None:
    assert int(tir.const(7, "int4") + tir.const(1, "int4")) == -8
    with pytest.raises(TypeError, match="a type to keep numbers in"):
        _ = tir.Var("x", "int4") + tir.const(1, "int4")


@T.prim_func
def rowsum(A: T.Buffer[(4, 8), "float32"], B: T.Buffer[(4,), "float32"]):
    for i, k in T.grid(4, 8):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


def test_a_schedule_gives_nodes() -> None:
    schedule = tir.Schedule(rowsum)
    block = schedule.get(schedule.get_block("B"))
    assert isinstance(block, tir.Block) and block.name_hint == "B"
    assert [each.buffer.name for each in (*block.writes, *block.reads)] == ["B", "A"]
    assert schedule.get_sref(schedule.get_block("B")).stmt.same_as(block)
    loop = schedule.get(schedule.get_loops("B")[1])
    assert isinstance(loop, tir.For) and loop.extent == 8 and loop.body.block is block
    assert schedule.get(schedule.get_block("root")).name_hint == "root"
    schedule.parallel(schedule.get_loops("B")[0])
    assert schedule.get(schedule.get_block("B")) is not block  # another tree


def test_one_step_of_a_reduction_may_be_any_loops() -> None:
    schedule = tir.Schedule(rowsum, debug_mask="all")
    unit = schedule.add_unit_loop(schedule.get_block("B"))
    parts = schedule.rfactor(unit, 1)
    assert schedule.get(parts).writes[0].buffer.shape == (4, 1)
    given, result = np.arange(32, dtype=np.float32).reshape(4, 8), np.zeros(4, np.float32)
    weft.build(schedule.mod)(given, result)
    assert (result == given.sum(1)).all()


def test_a_schedule_of_several_functions_is_told_which_to_work_on() -> None:
    schedule = tir.Schedule(tir.IRModule({"one": rowsum, "other": rowsum}))
    with pytest.raises(ValueError, match="does not know which function to be working on: there is @one, @other"):
        schedule.get_block("B")
    schedule.work_on("other")
    schedule.get_block("B")
    with pytest.raises(ValueError, match="there is no function @another"):
        schedule.get_block("B", "another")


def test_a_buffer_of_a_block_is_given_as_the_node_that_it_is() -> None:
    schedule, named = tir.Schedule(rowsum), tir.Schedule(rowsum)
    buffer = schedule.get(schedule.get_block("B")).reads[0].buffer
    schedule.transform_layout("B", buffer, lambda i, j: (j, i))
    named.transform_layout("B", "A", lambda i, j: (j, i))
    tir.assert_structural_equal(schedule.mod, named.mod)
    with pytest.raises(tir.ScheduleError, match="no buffer of the function as it is now"):
        schedule.transform_layout("B", buffer, lambda i, j: (j, i))


@pytest.mark.parametrize("several", [False, True])
def test_a_reduction_within_an_expression_is_refused_where_it_is_written(several: bool) -> None:
    A, k = te.placeholder((4, 8), name="A"), te.reduce_axis((0, 8), "k")
    with pytest.raises(UsageError, match="'B' reduces within an expression"):
        te.compute((4,), lambda i: (A[i, 0], te.sum(A[i, k], k) + 1) if several else te.sum(A[i, k], k) * 2, name="B")


def test_a_loop_of_elements_and_one_of_steps_are_one() -> None:
    A, k = te.placeholder((8,), name="A"), te.reduce_axis((0, 8), "k")
    B = te.compute((4,), lambda i: te.sum(A[k], k), name="B")
    s = te.create_schedule(B.op)
    outer, _ = s[B].split(s[B].fuse(*B.op.axis, *B.op.reduce_axis), factor=16)
    given, result = np.arange(8, dtype=np.float32), np.zeros(4, np.float32)
    weft.build(s, [A, B])(given, result)
    assert (result == given.sum()).all()
    with pytest.raises(tir.ScheduleError, match="reduces: its iterations cannot run at once"):
        s[B].parallel(outer)


@T.prim_func
def part(A: T.Buffer[(8,), "float32"], C: T.Buffer[(4,), "float32"]):
    B = T.alloc_buffer((8,), "float32")
    for i in range(4):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = B[vi]


def test_a_block_of_a_functions_own_buffers_need_not_say_what_is_partial() -> None:
    said = tir.from_source(part.script().replace("T.axis.spatial(8, i)", "T.axis.spatial(8, i, partial=True)"))
    assert "partial=True" in said.script() and tir.structural_equal(said, part)


def test_a_decision_is_asked_for_its_number() -> None:
    schedule = tir.Schedule(rowsum)
    schedule.sample_categorical([2, 4], [0.5, 0.5])
    (decision,) = schedule.trace.decisions.values()
    assert decision.value == decision in (0, 1)
