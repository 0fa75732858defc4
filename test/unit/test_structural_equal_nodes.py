"""Two nodes are one where only names differ, and what is one has one hash."""

from __future__ import annotations

import pytest

from weft import arith, te, tir
from weft.dialects.te.expr import Expr

x, y, z = (tir.Var(name, "int32") for name in "xyz")
n, m = te.size_var("n"), te.size_var("m")
f = tir.Var("f", "float32")


def one(a: object, b: object, map_free_vars: bool = False) -> bool:
    """Whether two nodes are one, asked both ways; what is one has one hash."""
    equal = tir.structural_equal(a, b, map_free_vars)
    assert equal == tir.structural_equal(b, a, map_free_vars)
    assert not equal or tir.structural_hash(a, map_free_vars) == tir.structural_hash(b, map_free_vars)
    return equal


def test_free_variables_are_themselves_or_are_mapped_one_to_one():
    assert one(x + y, x + y)
    assert not one(x, y)
    assert one(x, y, True)
    assert one(x + y, y + x, True)
    assert one(x + y + z, y + z + x, True)
    assert not one(x + x, y + x, True)
    assert not one(x, f, True)


def test_a_name_is_one_where_it_is_defined_and_nowhere_else():
    assert one(tir.Let(x, 1, x - 1), tir.Let(y, 1, y - 1))
    assert one(tir.Let(x, 1, x // z), tir.Let(y, 1, y // z))
    assert not one(tir.Let(x, 1, x - 1) + x, tir.Let(y, 1, y - 1) + y)
    assert not one(tir.Let(x, x, x - 1), tir.Let(y, y, y - 1))
    assert not one(tir.Let(x, z, x + 1) + tir.Let(y, z, x), tir.Let(y, z, y + 1) + tir.Let(x, z, y))
    assert not one(tir.Let(x, 1, tir.Let(y, 2, x)), tir.Let(x, 1, tir.Let(y, 2, y)))
    assert one(tir.Let(x, 1, tir.Let(x, 2, x)), tir.Let(x, 1, tir.Let(y, 2, y)))


def test_a_let_of_another_type_is_another():
    wide = tir.Var("x", "int64")
    assert not one(tir.Let(x, 1, f), tir.Let(wide, 1, f))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (tir.Cast("int32", f), tir.Cast("int64", f)),
        (tir.Cast("int64", n) + 1, tir.Cast("int32", n) + 1),
        (n > 1, tir.Cast("int32", n > 1)),
        (te.const(1, "bool"), te.const(1, "int32")),
        (te.const(0.0, "float32"), te.const(-0.0, "float32")),
        (f * 0.0, f * -0.0),
        (te.const(1, "int32"), te.const(1, "int64")),
        (tir.Ramp(x, 1, 4), tir.Ramp(x, 1, 8)),
    ],
)
def test_other_types_and_other_zeros_are_others(a: Expr, b: Expr):
    assert not one(a, b)


def test_what_is_no_number_is_one():
    assert one(te.const(float("nan"), "float32"), te.const(float("nan"), "float32"))


def test_extents_have_one_form():
    assert one(n + m - n, m)
    assert one(n * 2 + n, 3 * n)
    assert not one(n, m)
    assert one(n + 1, m + 1, True)


def test_axes_of_a_reduction_are_its_own():
    A = te.placeholder((8,), name="A")
    i, j = te.reduce_axis((0, 8), "i"), te.reduce_axis((0, 8), "j")
    shorter = te.reduce_axis((0, 7), "k")
    assert one(te.sum(A[i], i), te.sum(A[j], j))
    assert not one(te.sum(A[i], i), te.sum(A[shorter], shorter))
    assert not one(te.sum(A[i], i), te.max(A[j], j))


def test_statements_are_one_but_for_the_names_of_loops_and_memory():
    def loop(name: str, memory: str, extent: int, place: int) -> object:
        ib = tir.ir_builder.create()
        kept = ib.allocate("float32", (16,), memory)
        with ib.for_range(0, extent, name) as k:
            kept[k + place] = 1.0
        return ib.get()

    assert one(loop("i", "a", 4, 1), loop("j", "b", 4, 1))
    assert not one(loop("i", "a", 4, 1), loop("i", "a", 5, 1))
    assert not one(loop("i", "a", 4, 1), loop("i", "a", 4, 2))


def test_hashes_tell_nodes_apart():
    c, d = tir.call_extern("int32", "f", x), tir.call_extern("int32", "g", x)
    let = tir.Let(x, 1, x), tir.Let(x, 1, y), tir.Let(x, 2, x)
    chosen = tir.Select(x > y, x, y), tir.Select(x > y, y, x), tir.Cast("float32", x), tir.Cast("int8", x)
    floats = [te.const(value, "float32") for value in (0.0, -0.0, 0.5)]
    samples = [x, y, f, x + y, y + x, x - y, x + 1, x + 2, n, m, n + m, n > m, c, d, *let, *chosen, *floats]
    assert len({tir.structural_hash(each) for each in samples}) == len(samples)


def test_operations_that_are_one_have_one_hash():
    def scaled(name: str, factor: float) -> object:
        A = te.placeholder((8,), name=name)
        return te.create_prim_func([A, te.compute((8,), lambda i: A[i] * factor)])

    first, same, other = scaled("A", 2.0), scaled("B", 2.0), scaled("A", 3.0)
    assert tir.structural_equal(first, same)
    assert tir.structural_hash(first) == tir.structural_hash(same) != tir.structural_hash(other)
    with pytest.raises(TypeError):
        tir.structural_hash(object())


def test_expressions_of_the_analyzer_are_compared_by_their_form():
    a, b = arith.var("a"), arith.var("b")
    deep = tir.analysis.expr_deep_equal
    assert deep(a + b * 2, b * 2 + a) and not deep(a + b, a - b)
    assert deep(arith.const(3), 3) and deep(3, arith.const(3)) and not deep(arith.const(3), 4)
    assert deep(True, True) and not deep(True, False)
