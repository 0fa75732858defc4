"""Nodes print themselves as TVMScript: expressions, buffers, regions, statements and blocks."""

# What the builder's words give is typed as what a function's text has there.
# pyright: basic, reportAttributeAccessIssue=false

import pytest

from weft import te, tir
from weft.dialects.support.diagnostics import UsageError
from weft.script.ir_builder import IRBuilder
from weft.script.ir_builder import tir as T

a, i = tir.Var("a", "float32"), tir.Var("i", "int32")
half = tir.decl_buffer((128, 128), "float16", name="A")
strided = tir.decl_buffer((4, 8), name="S", strides=[16, 1], scope="local")

PRINTED = {
    "a variable": (a, 'a = T.var("float32")\na'),
    "a size": (te.size_var("n") * 2, 'n = T.var("int32")\nn * 2'),
    "numbers of a type": (a * 2.0 + 0.5, 'a = T.var("float32")\na * T.float32(2) + T.float32(0.5)'),
    "a number alone": (te.const(-3, "int8"), "T.int8(-3)"),
    "a number of 32 bits": (i - 3, 'i = T.var("int32")\ni - 3'),
    "a condition": (tir.And(i < 3, tir.Not(i == 1)), 'i = T.var("int32")\ni < 3 and (not i == 1)'),
    "several conditions": (tir.Or(tir.Or(i < 1, i > 5), i == 3), 'i = T.var("int32")\ni < 1 or i > 5 or i == 3'),
    "a conversion": (tir.Cast("float64", a), 'a = T.var("float32")\nT.Cast("float64", a)'),
    "lanes": (tir.Ramp(i, 2, 8), 'i = T.var("int32")\nT.Ramp(i, 2, 8)'),
    "a lane for all": (tir.Broadcast(a, 4), 'a = T.var("float32")\nT.Broadcast(a, 4)'),
    "a named value": (tir.Let(i, 1, i + 1), 'i = T.var("int32")\nT.let(i, 1, i + 1)'),
    "a function": (te.exp(a), 'a = T.var("float32")\nT.exp(a)'),
    "any extent": (tir.Any(), "T.Any()"),
    "a buffer": (half, 'A = T.Buffer((128, 128), "float16")\nA'),
    "memory of its own layout": (strided, 'S = T.Buffer((4, 8), strides=(16, 1), scope="local")\nS'),
    "an element": (half[i, 1], 'i = T.var("int32")\nA = T.Buffer((128, 128), "float16")\nA[i, 1]'),
    "a part": (half[2:4, i], 'A = T.Buffer((128, 128), "float16")\ni = T.var("int32")\nA[2:4, i]'),
    "a store": (
        tir.BufferStore(half, half[1, 2] + 1, [0, 0]),
        'A = T.Buffer((128, 128), "float16")\nA[0, 0] = A[1, 2] + T.float16(1)',
    ),
    "a branch": (
        tir.IfThenElse(i < 2, tir.Evaluate(0), tir.Evaluate(1)),
        'i = T.var("int32")\nif i < 2:\n    T.evaluate(0)\nelse:\n    T.evaluate(1)',
    ),
    "a named value of a statement": (
        tir.LetStmt(i, te.const(3, "int32"), tir.Evaluate(i)),
        'i = T.var("int32")\nwith T.let(i, 3):\n    T.evaluate(i)',
    ),
}


@pytest.mark.parametrize("what", PRINTED)
def test_a_node_is_printed_behind_what_it_does_not_define(what: str) -> None:
    node, text = PRINTED[what]
    definitions = [line for line in text.splitlines() if " = T.var(" in line or " = T.Buffer(" in line]
    printed = node.script(verbose_expr=True)
    assert sorted(printed.splitlines()) == sorted(text.splitlines())
    assert printed.splitlines()[len(definitions) :] == text.splitlines()[len(definitions) :]
    assert node.script() == "\n".join(text.splitlines()[len(definitions) :])


def test_two_variables_of_a_name_are_told_apart() -> None:
    other = tir.Var("i", "int32")
    assert (i + other).script(verbose_expr=True) == 'i = T.var("int32")\ni_1 = T.var("int32")\ni + i_1'


def test_loops_that_hold_nothing_but_each_other_are_one_grid() -> None:
    with IRBuilder() as builder, T.grid(4, 8) as (j, k):
        builder.name_many(["j", "k"], [j, k])
        T.evaluate(j)
    assert builder.get().script() == "for j, k in T.grid(4, 8):\n    T.evaluate(j)"
    with IRBuilder() as builder, pytest.raises(UsageError, match="2 values have 1 names"):
        builder.name_many(["j"], [i, a])
    with IRBuilder() as builder, T.serial(4) as j, T.parallel(8):
        T.evaluate(builder.name("j", j))
    assert builder.get().script().startswith("for j in range(4):\n    for ")


def test_a_block_is_printed_as_it_is_realized_and_by_itself() -> None:
    with IRBuilder() as builder, T.block("double"):
        v = builder.name("v", T.axis.spatial(16, i))
        T.reads(half[v, 0])
        T.writes(half[v, 0:8])
        T.evaluate(0)
    lines = "T.reads(A[v, 0])\n    T.writes(A[v, 0:8])\n    T.evaluate(0)"
    realized = builder.get()
    assert realized.script() == f'with T.block("double"):\n    v = T.axis.spatial(16, i)\n    {lines}'
    alone = realized.block.script(verbose_expr=True)
    head = 'A = T.Buffer((128, 128), "float16")\nwith T.block("double", no_realize=True):'
    assert alone == f"{head}\n    v = T.axis.spatial(16)\n    {lines}"
