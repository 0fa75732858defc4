"""`hoist-expression` on statements: branches with two sides, chosen values and what they need leave loops."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# pyright: reportArgumentType=false
# ruff: noqa: F821

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft
from weft import te, tir, transform
from weft.dialects.support.verifier import verify
from weft.ir import assert_structural_equal, structural_equal
from weft.script import tir as T
from weft.tir import Interpreter
from weft.transform import HoistedConditionals, HoistedLetBindings
from weft.transforms.tir import hoisted_branches

What = HoistedConditionals


def hoisted(func: tir.PrimFunc, conditionals: int = What.All, lets: int = HoistedLetBindings.All) -> tir.PrimFunc:
    config = {"tir.HoistExpression": {"hoisted_conditionals": int(conditionals), "hoisted_let_bindings": int(lets)}}
    with transform.PassContext(config=config):
        return tir.transform.HoistExpression()(tir.IRModule({"main": func}))["main"]


@T.prim_func
def two_sides(A: T.Buffer[(4, 8), "float32"]):
    for i, j in T.grid(4, 8):
        if i < 3:
            A[i, j] = 1.0
        else:
            A[i, j] = 2.0


@T.prim_func
def two_sides_outside(A: T.Buffer[(4, 8), "float32"]):
    for i in range(4):
        if i < 3:
            for j in range(8):
                A[i, j] = 1.0
        else:
            for j in range(8):
                A[i, j] = 2.0


@T.prim_func
def beside(A: T.Buffer[(4, 8), "float32"], B: T.Buffer[(4, 8), "float32"], n: T.int32):
    for i, j in T.grid(4, 8):
        B[i, j] = 5.0
        if n != 0:
            A[i, j] = 1.0


@T.prim_func
def beside_outside(A: T.Buffer[(4, 8), "float32"], B: T.Buffer[(4, 8), "float32"], n: T.int32):
    if n != 0:
        for i, j in T.grid(4, 8):
            B[i, j] = 5.0
            A[i, j] = 1.0
    else:
        for i, j in T.grid(4, 8):
            B[i, j] = 5.0


@T.prim_func
def decided(A: T.Buffer[(8, 4), "float32"]):
    for i, j in T.grid(8, 4):
        if i < 5:
            A[i, j] = 0.0
        else:
            if i < 4:
                A[i, j] = 1.0
            else:
                A[i, j] = 2.0


@T.prim_func
def decided_outside(A: T.Buffer[(8, 4), "float32"]):
    for i in range(8):
        if i < 5:
            for j in range(4):
                A[i, j] = 0.0
        else:
            for j in range(4):
                A[i, j] = 2.0


@T.prim_func
def chosen(A: T.Buffer[(4, 8), "float32"]):
    for i, j in T.grid(4, 8):
        A[i, j] = T.if_then_else(i < 2, 1.0, 2.0) + T.if_then_else(j < 2, 1.0, 2.0)


@T.prim_func
def chosen_outside(A: T.Buffer[(4, 8), "float32"]):
    for i in range(4):
        if i < 2:
            for j in range(8):
                A[i, j] = T.float32(1.0) + T.if_then_else(j < 2, 1.0, 2.0)
        else:
            for j in range(8):
                A[i, j] = T.float32(2.0) + T.if_then_else(j < 2, 1.0, 2.0)


@T.prim_func
def chosen_by_two(A: T.Buffer[(4, 8), "float32"]):
    for i, j in T.grid(4, 8):
        A[i, j] = T.if_then_else(j < 2 and i < 2, 1.0, 2.0)


@T.prim_func
def chosen_by_two_outside(A: T.Buffer[(4, 8), "float32"]):
    for i in range(4):
        if i < 2:
            for j in range(8):
                A[i, j] = T.if_then_else(j < 2, 1.0, 2.0)
        else:
            for j in range(8):
                A[i, j] = T.float32(2.0)


@T.prim_func
def asked_of_a_choice(A: T.Buffer[(4, 8), "float32"]):
    for i, j in T.grid(4, 8):
        if j < T.if_then_else(i < 2, i, 5):
            A[i, j] = 1.0


@T.prim_func
def asked_of_a_choice_outside(A: T.Buffer[(4, 8), "float32"]):
    for i in range(4):
        if i < 2:
            for j in range(8):
                if j < i:
                    A[i, j] = 1.0
        else:
            for j in range(8):
                if j < 5:
                    A[i, j] = 1.0


@T.prim_func
def named(A: T.Buffer[(4, 8), "float32"]):
    for i, j in T.grid(4, 8):
        x = T.cast(i + 1, "float32")
        if x * x > 5.0:
            A[i, j] = 1.0
        else:
            A[i, j] = 2.0


@T.prim_func
def named_outside(A: T.Buffer[(4, 8), "float32"]):
    for i in range(4):
        x = T.cast(i + 1, "float32")
        if x * x > 5.0:
            for j in range(8):
                A[i, j] = 1.0
        else:
            for j in range(8):
                A[i, j] = 2.0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (two_sides, two_sides_outside),
        (beside, beside_outside),
        (decided, decided_outside),
        (chosen, chosen_outside),
        (chosen_by_two, chosen_by_two_outside),
        (asked_of_a_choice, asked_of_a_choice_outside),
        (named, named_outside),
    ],
    ids=[
        "two sides",
        "a statement beside",
        "known from the side",
        "chosen values",
        "a part of what chooses",
        "a choice in a condition",
        "what a branch needs",
    ],
)
def test_what_a_loop_does_not_change_stands_around_it(before: tir.PrimFunc, after: tir.PrimFunc) -> None:
    made = hoisted(before)
    assert_structural_equal(made, after)
    numbers = [1] if len(list(before.params)) == 3 else []
    outs = [
        [np.zeros([int(d) for d in buffer.shape], np.float32) for buffer in before.buffer_map.values()]
        for _ in range(2)
    ]
    for function, given in zip((before, made), outs, strict=True):
        weft.build(function)(*given, *numbers)
    for one, other in zip(*outs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("func", "conditionals", "lets"),
    [
        (two_sides, What.All & ~What.IfElseStmt, HoistedLetBindings.All),
        (chosen, What.All & ~What.IfElseExpr, HoistedLetBindings.All),
        (named, What.All, HoistedLetBindings.LetExpr),
    ],
    ids=["branches", "chosen values", "what a branch needs"],
)
def test_what_is_not_asked_for_stays(func: tir.PrimFunc, conditionals: int, lets: int) -> None:
    assert structural_equal(hoisted(func, conditionals, lets), func)


@T.prim_func
def guarded(A: T.Buffer[(4, 8), "int32"], m: T.int32, n: T.int32):
    for i, j in T.grid(4, 8):
        if j < n:
            if m // n > 2:
                A[i, j] = 1
            else:
                A[i, j] = 2


@T.prim_func
def of_data(A: T.Buffer[(4, 8), "int32"], B: T.Buffer[(4,), "int32"]):
    for i, j in T.grid(4, 8):
        if B[i] > 2:
            A[i, j] = 1
        else:
            A[i, j] = 2


@pytest.mark.parametrize("func", [guarded, of_data], ids=["divides by what may be zero", "reads memory"])
def test_conditions_that_loops_guard_stay(func: tir.PrimFunc) -> None:
    assert structural_equal(hoisted(func), func)


@T.prim_func
def begun_within(X: T.Buffer[(3,), "int32"], Y: T.Buffer[(3,), "int32"]):
    B = T.alloc_buffer((3,), "int32")
    for i, k, j in T.grid(3, 2, 4):
        if j < 3:
            if k == 0 and j == 0:
                B[i] = 0
            B[i] = B[i] + X[i]
    for i in range(3):
        Y[i] = B[i]


@T.prim_func
def begun_on_one_side(X: T.Buffer[(3,), "int32"], Y: T.Buffer[(3,), "int32"]):
    B = T.alloc_buffer((3,), "int32")
    for i, k, j in T.grid(3, 2, 4):
        if k == 0:
            if j < 3:
                if j == 0:
                    B[i] = 0
                B[i] = B[i] + X[i]
        else:
            if j < 3:
                B[i] = B[i] + X[i]
    for i in range(3):
        Y[i] = B[i]


@pytest.mark.parametrize("func", [begun_within, begun_on_one_side])
@pytest.mark.parametrize("hoist", [tir.transform.HoistExpression, tir.transform.HoistIfThenElse])
def test_what_is_left_is_valid_and_computes_the_same(func: tir.PrimFunc, hoist: Callable[[], Any]) -> None:
    module = hoist()(tir.IRModule({"main": func}))
    verify(module)
    data = np.arange(3, dtype=np.int32)
    np.testing.assert_array_equal(Interpreter(module["main"])([data], None)[0], data * 6)


@T.prim_func
def asked_of_four(A: T.Buffer[(4,), "int32"], n: T.int32, m: T.int32, p: T.int32, q: T.int32):
    for i in range(4):
        if n > 0:
            A[i] = A[i] + 1
        if m > 0:
            A[i] = A[i] + 2
        if p > 0:
            A[i] = A[i] + 4
        if q > 0:
            A[i] = A[i] + 8


@pytest.mark.parametrize(("most", "around", "loops"), [(64, 16, 15), (3, 16, 4), (64, 2, 4)])
def test_conditions_do_not_double_a_loop_without_end(
    monkeypatch: pytest.MonkeyPatch, most: int, around: int, loops: int
) -> None:
    monkeypatch.setattr(hoisted_branches, "MOST_BRANCHES", most)
    monkeypatch.setattr(hoisted_branches, "MOST_AROUND", around)
    made = hoisted(asked_of_four)
    assert made.script().count("for ") == loops
    found = np.zeros(4, np.int32)
    weft.build(made, threads=1)(found, 1, 0, 1, 1)
    assert found.tolist() == [13] * 4


@pytest.mark.parametrize("hoist", [tir.transform.HoistExpression, tir.transform.HoistIfThenElse])
def test_loops_that_the_verifier_refuses_anyway_are_hoisted_out_of(hoist: Callable[[], Any]) -> None:
    """Threads that perhaps write one element: whether they do depends on sizes."""
    ib, n, thread = tir.ir_builder.create(), te.var("n"), te.thread_axis("threadIdx.x")
    data = ib.pointer("float32", name="data")
    ib.scope_attr(thread, "thread_extent", 32)
    with ib.for_range(0, n, "j") as j, ib.if_scope(n < 3):
        data[thread * j] = data[thread * j] + 0.5
    module = tir.IRModule({"main": tir.PrimFunc([data], ib.get())})
    made = hoist()(module)["main"]
    assert not structural_equal(made, module["main"])


def test_what_is_known_is_told_to_an_analyzer_once_for_each_side(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    plain = hoisted_branches.Analyzer

    def analyzer() -> object:
        made.append(None)
        return plain()

    monkeypatch.setattr(hoisted_branches, "Analyzer", analyzer)
    asked = "".join(f"{' ' * (8 + depth)}if i * {depth + 1} + n < {100 + 7 * depth}:\n" for depth in range(12))
    func = T.from_source(
        "@T.prim_func\ndef f(A: T.Buffer[(64, 64), 'float32'], n: T.int32):\n"
        f"    for i, j in T.grid(64, 64):\n{asked}{' ' * 24}A[i, j] = 1.0\n"
    )
    hoisted(func)
    assert 0 < len(made) <= 2 * 12
