"""Passes that leave out what is not needed: what a function computes stays as it is."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

from typing import cast

import numpy as np
import pytest
from tvmscript_texts import function
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.support.verifier import verify
from weft.dialects.tir.core import BlockOp, PrimFuncOp
from weft.script import tir as T
from weft.tir import Interpreter, structural_equal


@T.prim_func
def padded(A: T.Buffer[(10,), "float32"], B: T.Buffer[(10,), "float32"]):
    first = T.alloc_buffer((16,), "float32")
    second = T.alloc_buffer((16,), "float32")
    third = T.alloc_buffer((16,), "float32")
    unused = T.alloc_buffer((16,), "float32")  # noqa: F841
    for i, j in T.grid(4, 4):
        with T.block("pad"):
            vi = T.axis.spatial(16, i * 4 + j)
            T.where(i * 4 + j < 16)
            first[vi] = T.if_then_else(vi < 10, A[T.min(vi, 9)], T.float32(0))
            if vi >= 16:
                first[vi] = T.float32(9)
    for i in range(16):
        with T.block("twice"):
            vi = T.axis.spatial(16, i)
            second[vi] = T.exp(first[vi]) * T.exp(first[vi])
            assert vi < 16, "never"
    for i in range(16):
        with T.block("idle"):
            vi = T.axis.spatial(16, i)
            second[vi] = second[vi]
    for i in range(16):
        with T.block("more"):
            vi = T.axis.spatial(16, i)
            third[vi] = second[vi] + T.float32(1)
    for i in range(10):
        with T.block("out"):
            vi = T.axis.spatial(10, i)
            B[vi] = third[vi] - T.float32(1)


@T.prim_func
def blurred(A: T.Buffer[(4, 8), "float32"], B: T.Buffer[(4,), "float32"]):
    for i in T.parallel(4):
        for t in T.thread_binding(2, thread="vthread.x"):
            for k in range(4):
                with T.block("idle"):
                    vi, vt, vk = T.axis.remap("SSS", [i, t, k])
                    T.evaluate(A[vi, vt * 4 + vk])
        for k in range(8):
            with T.block("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                if vk < 8 and vi >= 0:
                    B[vi] = B[vi] + A[vi, vk]


@T.prim_func
def triangular(X: T.Buffer[(4, 4), "float32"], Y: T.Buffer[(4, 4), "float32"]):
    for i, j in T.grid(4, 4):
        with T.block("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj]
    for i in range(4):
        for j in T.unroll(4):
            with T.block("below"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(j < i)
                Y[vi, vj] = Y[vi, vj] * T.float32(2)


FUNCTIONS = {"padded": padded, "blurred": blurred}
PASSES = (
    "Simplify", "RemoveNoOp", "CommonSubexprElimTIR", "StorageRewrite", "SkipAssert", "InjectVirtualThread",
    "LoopPartition", "UnrollLoop", "ConvertForLoopsToSerial", "LowerInitBlock", "PlanAndUpdateBufferAllocationLocation",
)  # fmt: skip


def after(name: str, func: PrimFuncOp) -> PrimFuncOp:
    """A function after a pass, verified."""
    module = getattr(weft.tir.transform, name)()(ModuleOp([func.clone()]))
    verify(module)
    (changed,) = module.ops
    assert isinstance(changed, PrimFuncOp)
    return changed


def result(func: PrimFuncOp) -> np.ndarray:
    shape = (10,) if func.sym_name.data == "padded" else (4, 8)
    (array,) = Interpreter(func)([np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)])
    return np.asarray(array)


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("func", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_pass_keeps_what_is_computed_and_has_no_more_to_do(name: str, func: PrimFuncOp) -> None:
    changed = after(name, func)
    np.testing.assert_array_equal(result(changed), result(func))
    assert structural_equal(after(name, changed), changed)


def test_what_is_left_is_shorter() -> None:
    def count(func: PrimFuncOp, name: str) -> int:
        return sum(op.name == name for op in func.walk())

    clean = after("RemoveNoOp", after("Simplify", padded))
    assert (count(padded, "scf.if"), count(clean, "scf.if")) == (2, 1)
    assert (count(padded, "tir.block"), count(clean, "tir.block")) == (5, 4)
    assert (count(padded, "tir.alloc_buffer"), count(clean, "tir.alloc_buffer")) == (4, 3)
    assert count(after("StorageRewrite", clean), "tir.alloc_buffer") == 1
    assert (count(padded, "math.exp"), count(after("CommonSubexprElimTIR", padded), "math.exp")) == (1, 1)
    assert count(after("SkipAssert", padded), "tir.assert") == 0
    assert not any(block.conditions for block in clean.walk() if block.name == "tir.block")
    assert count(after("RemoveNoOp", blurred), "tir.for") == 2


IN_PLACE = """
@T.prim_func
def f(X: T.Buffer[(4, 4), "float32"], Y: T.Buffer[(4, 4), "float32"]):
    A = T.alloc_buffer((4, 4), "float32")
    B = T.alloc_buffer((4, 4), "float32")
    for i, j in T.grid(4, 4):
        A[i, j] = X[i, j] + T.float32(1)
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(4, 4):
        Y[i, j] = B[i, j] + B[i, 3 - j]
"""


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ("", "", 1),
        ('axis.remap("SS", [i, j])', 'axis.remap("SS", [j, i])', 1),
        ("A[vi, vj] * T.float32(2)", "T.if_then_else(vi < 2, A[vi, vj], -A[vi, vj])", 1),
        ("A[vi, vj] * T.float32(2)", "A[vi, 3 - vj]", 2),
        ("A[vi, vj] * T.float32(2)", "A[vi, vj] + A[vj, vi]", 2),
        ("B[i, j] + B[i, 3 - j]", "B[i, j] + A[i, 3 - j]", 2),
        ("            B[vi, vj] = A[vi, vj] * T.float32(2)",
         "            B[vi, vj] = T.float32(2)\n            B[vi, vj] = B[vi, vj] + A[vi, vj]", 2),
        ("            B[vi, vj] = A[vi, vj] * T.float32(2)",
         "            B[vi, vj] = A[vi, vj] * T.float32(2)\n"
         "    for i, j in T.grid(4, 4):\n        if j < 2:\n            A[i, j] = B[i, j]", 2),
    ],
)  # fmt: skip
def test_a_buffer_takes_the_place_of_one_that_is_read_for_the_last_time(old: str, new: str, count: int) -> None:
    func = T.from_source(IN_PLACE.replace(old, new) if old else IN_PLACE)
    assert isinstance(func, PrimFuncOp) and (not old or old in IN_PLACE)
    changed = after("StorageRewrite", func)
    assert str(changed).count("tir.alloc_buffer") == count
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    np.testing.assert_array_equal(Interpreter(changed)([x], 1)[0], Interpreter(func)([x])[0])


def test_passes_run_one_after_the_other_and_machine_code_agrees() -> None:
    func = padded
    for name in PASSES:
        func = after(name, func)
    x = np.linspace(-1, 1, 10, dtype=np.float32)
    weft.build(func)(x, out := np.zeros(10, np.float32))
    np.testing.assert_allclose(out, np.exp(x) ** 2, rtol=1e-5)


@T.prim_func
def promising(A: T.Buffer[(8,), "int32"], B: T.Buffer[(8,), "int32"]):
    for i in range(8):
        T.evaluate(T.assume(i < 6 or A[i] == 0))
    for i in range(8):
        with T.block("b"):
            vi = T.axis.spatial(8, i)
            T.assume(A[vi] < 100)
            B[vi] = A[vi] + 1
            if vi == 3:
                x = T.undef(dtype="int32")
                B[vi] = x * 2


def test_what_is_assumed_and_what_may_be_any_print_and_read_as_the_same() -> None:
    text = promising.script()
    assert "T.evaluate(T.assume(i < 6 or A[i] == 0))" in text and 'T.undef(dtype="int32") * 2' in text
    assert structural_equal(T.from_source(text), promising)


def test_the_interpreter_sees_a_false_assumption_and_an_element_that_may_be_any() -> None:
    with pytest.raises(weft.Diagnostic, match="what is assumed does not hold"):
        Interpreter(promising)([np.full(8, 1, np.int32)])
    with pytest.raises(weft.Diagnostic, match=r"does not write %B\[3\]"):
        Interpreter(promising)([np.zeros(8, np.int32)])


def test_no_code_is_made_for_what_is_assumed_and_for_what_may_be_any() -> None:
    bare = after("RemoveStoreUndef", after("RemoveAssume", promising))
    assert not {"tir.assume", "tir.undef", "scf.if"} & {op.name for op in bare.walk()}
    assert len([op for op in bare.walk() if op.name == "tir.for"]) == 1
    for func in (promising, bare):
        weft.build(func.clone())(np.arange(8, dtype=np.int32), out := np.zeros(8, np.int32))
        assert out.tolist() == list(range(1, 9))


@pytest.mark.parametrize("line", ["A[x] = 5", "A[0] = A[x]", "if x == 3: A[0] = 1"])
def test_a_value_that_may_be_any_decides_nothing(line: str) -> None:
    func = function(f"""
@T.prim_func
def f(A: T.Buffer[(8,), "int32"]):
    with T.block("b"):
        x = T.undef(dtype="int32")
        {line}
""")
    with pytest.raises(weft.Diagnostic, match="stored, and decides nothing"):
        after("RemoveStoreUndef", func)


def test_a_function_that_does_nothing_is_one_statement() -> None:
    empty = T.from_source('@T.prim_func\ndef main(A: T.Buffer[(8,), "int32"]):\n    T.evaluate(0)')
    assert isinstance(empty.body, weft.tir.Evaluate) and empty.body.script() == "T.evaluate(0)"
    builder = weft.tir.ir_builder.create()
    assert isinstance(builder.get(), weft.tir.Evaluate)
    assert weft.tir.structural_equal(
        weft.tir.PrimFunc([weft.tir.decl_buffer((8,), "int32", name="A")], builder.get()), empty
    )


def test_the_side_that_is_taken_leaves_no_use_of_its_value() -> None:
    func = function("""
@T.prim_func
def f(A: T.Buffer[(4,), "float32"], B: T.Buffer[(4,), "float32"]):
    for i in range(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            B[vi] = T.if_then_else(vi < 9, A[vi], T.float32(0))
""")
    made = weft.tir.transform.Simplify()(ModuleOp([func.clone()]))
    users = [use.operation for op in made.walk() for result in op.results for use in result.uses]
    assert users and all(made.is_ancestor(each) for each in users)
    assert not any(op.name == "scf.if" for op in made.walk())


def test_what_is_left_of_an_unrolled_loop_whose_last_iteration_never_runs_is_partial() -> None:
    changed = after("LoopPartition", after("UnrollLoop", triangular))
    left = [op for op in changed.walk() if isinstance(op, BlockOp) and op.block_name == "below"]
    assert [block.partial_iters for block in left] == [{1}] * 3
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    (y,) = Interpreter(changed)([x])
    np.testing.assert_array_equal(np.asarray(y), x + np.tril(x, -1))


@pytest.mark.parametrize(
    ("known", "asked", "sharper"),
    [
        ("i <= j", "j <= i", "j == i"),
        ("i <= j", "j >= i", "True"),
        ("i <= 0", "0 <= i", "i == 0"),
        ("i < j + 1", "i >= j", "i == j"),
        ("i != j", "i <= j", "i < j"),
        ("i != j", "j <= i", "j < i"),
        ("i != j", "i >= j", "i > j"),
        ("i <= j", "i != j", "i < j"),
        ("i >= j", "i != j", "i > j"),
        ("i <= j + 1", "j <= i", "j <= i"),
        ("i != j + 1", "i <= j", "i <= j"),
        ("i == j and j != 2", "i == 2", "False"),
        ("i == j and j != 2", "i != 2", "True"),
        ("i == j or j != 2", "i != 2", "i != 2"),
        ("i != j and j != 2", "i != 2", "i != 2"),
    ],
)
def test_a_comparison_in_a_branch_says_only_what_is_not_known(known: str, asked: str, sharper: str) -> None:
    text = """
from weft.script import tir as T

@T.prim_func
def f(A: T.Buffer[(1,), "int32"], i: T.int32, j: T.int32):
    if {known}:
        A[0] = T.if_then_else({asked}, 1, 2)
    else:
        A[0] = 3
"""
    before, wanted = (weft.tir.from_source(text.format(known=known, asked=each)) for each in (asked, sharper))
    if sharper in ("True", "False"):
        decided = "1" if sharper == "True" else "2"
        wanted = weft.tir.from_source(text.replace("T.if_then_else({asked}, 1, 2)", decided).format(known=known))
    after = weft.transform.Simplify()(weft.tir.IRModule.of(before))["f"]
    weft.tir.assert_structural_equal(after, wanted)
    functions = [Interpreter(cast(PrimFuncOp, each)) for each in (before, after)]
    for i, j in ((0, 0), (1, 0), (0, 1), (3, 2), (2, 3)):
        found = [each([], sizes={"i": i, "j": j})[0] for each in functions]
        np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize(
    ("asked", "shorter"),
    [
        ("i == 3 or j == 0 or i != 2", "j == 0 or i != 2"),
        ("i > 3 or i > 1 or i > 2", "i > 1"),
        ("(i == 0 or j == 3) and (i == 0 or j != 2)", "i == 0 or j == 3"),
        ("j != 2 and ((i == 1 or i == 4) and j == 3)", "(i == 1 or i == 4) and j == 3"),
        ("(i == 1 and j > 2) or j > 1", "j > 1"),
        ("(i == 0 or j < 3) and (i == 1 or j < 2)", "(i == 0 or j < 3) and (i == 1 or j < 2)"),
        ("(B[0] or i > 1) and (B[1] or i > 0)", "(B[0] or i > 1) and (B[1] or i > 0)"),
    ],
)
def test_an_and_of_ors_has_no_part_that_follows_from_another(asked: str, shorter: str) -> None:
    text = """
from weft.script import tir as T

@T.prim_func
def f(B: T.Buffer[(2,), "bool"], A: T.Buffer[(1,), "bool"], i: T.int32, j: T.int32):
    A[0] = {}
"""
    before, wanted = (weft.tir.from_source(text.format(each)) for each in (asked, shorter))
    after = weft.transform.Simplify(convert_boolean_to_and_of_ors=True)(weft.tir.IRModule.of(before))["f"]
    weft.tir.assert_structural_equal(after, wanted)
    functions = [Interpreter(cast(PrimFuncOp, each)) for each in (before, after)]
    for i, j in ((0, 0), (2, 0), (2, 1), (3, 2), (1, 3), (4, 3)):
        inputs = [np.array([i % 2, j % 2], np.bool_)]
        found = [each(inputs, sizes={"i": i, "j": j})[0] for each in functions]
        np.testing.assert_array_equal(found[0], found[1])


@T.prim_func
def summed(A: T.Buffer[(16,), "int32"], B: T.Buffer[(16,), "int32"]):
    for i in range(16):
        with T.block("begin"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi]
    for i, j in T.grid(16, 4):
        with T.block("sum"):
            vi = T.axis.spatial(16, i)
            vj = T.axis.opaque(4, j)
            if vj > 0:
                B[vi] = B[vi] + vi * vj


@T.prim_func
def overwritten(A: T.Buffer[(16,), "int32"], B: T.Buffer[(16,), "int32"]):
    for i in range(16):
        with T.block("first"):
            vi = T.axis.spatial(16, i)
            if vi < 11:
                B[vi] = A[vi]
    for i in range(16):
        with T.block("second"):
            vi = T.axis.spatial(16, i)
            if vi >= 9:
                B[vi] = 2


@pytest.mark.parametrize("func", [summed, overwritten], ids=lambda func: func.sym_name.data)
def test_more_is_done_in_place_of_a_branch_where_that_changes_nothing(func: PrimFuncOp) -> None:
    with weft.transform.PassContext(config={"tir.ReduceBranchingThroughOvercompute": {"use_dataflow_analysis": True}}):
        changed = after("ReduceBranchingThroughOvercompute", func)
    branches = [sum(op.name == "scf.if" for op in each.walk()) for each in (func, changed)]
    assert branches[1] < branches[0]
    x = np.random.default_rng(0).integers(-9, 9, 16).astype(np.int32)
    expected, given = (np.asarray(Interpreter(each)([x])[0]) for each in (func, changed))
    np.testing.assert_array_equal(given, expected)
