"""`weft.arith` of the expressions of `weft.te` and `weft.tir`: they are asked about as they are written, and answers
are such expressions; against all values of small variables."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from weft import arith, te, tir
from weft.dialects.support.arguments import ArgumentError
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.te.expr import Binary, Cast, Const, Expr, Select, Slot, Unary
from weft.dialects.te.integer_forms import integer_form
from weft.dialects.te.kinds import BinaryKind as B
from weft.dialects.te.kinds import UnaryKind as U

i, j = tir.Var("i", "int32"), tir.Var("j", "int32")
wide = tir.Var("wide", "int64")
byte = tir.Var("byte", "int8")
flag = tir.Var("flag", "bool")
x, y = te.var("x"), te.var("y")


def same(a: object, b: object) -> bool:
    return bool(tir.structural_equal(a, b))


@pytest.mark.parametrize(
    ("written", "simple"),
    [
        (i * 2 + j - i, i + j),
        (7 + i - 9 + j, i + j - 2),
        (j - i * 3, j - i * 3),
        (te.floordiv(i * 8 + 3, 4), i * 2),
        (i + wide - i, wide),
        (tir.Not(i < 3), tir.LE(3, i)),
        ((i < 3) & (i < 5), i < 3),
        (te.max(i, i + 1), i + 1),
        (te.if_then_else(i < i + 1, i, j), i),
        (x * 3 - x, x * 2),
        (te.min(x, x + 2) + y, x + y),
        (i - te.min(i + j, 5), te.max(i - 5, 0 - j)),
        (i - te.max(5, i + j), te.min(i - 5, 0 - j)),
        (0 - te.min(i, j), 0 - te.min(i, j)),
        (tir.Cast("float32", i + j - i), tir.Cast("float32", j)),
        (te.exp(tir.Cast("float32", 1 + i - 1)), te.exp(tir.Cast("float32", i))),
    ],
)
def test_simplified_nodes_are_nodes_in_the_order_in_which_they_were_written(written: Expr, simple: Expr):
    found = arith.Analyzer().simplify(written)
    assert isinstance(found, Expr) and found.type == written.type
    assert same(found, simple), f"{found}, not {simple}"


def test_what_is_simple_already_stays_the_object_that_it_is():
    for each in (i + j, 3 < j, tir.GE(i, j), i * 4 + 1, tir.Cast("int64", i), te.min(i, j), i):
        assert arith.Analyzer().simplify(each) is each


def test_elements_of_one_place_are_one_number_and_calls_that_may_do_more_are_not():
    A: Any = tir.decl_buffer((16,), "int32", name="A")
    analyzer = arith.Analyzer()
    assert same(analyzer.simplify(A[i + 1 - 1] * 2 - A[i]), A[i])
    assert analyzer.can_prove_equal(A[i + j], A[j + i])
    assert not analyzer.can_prove_equal(A[i], A[j])
    pure = [tir.call_pure_extern("int32", "twice", i) for _ in range(2)]
    assert analyzer.can_prove_equal(*pure)
    counting = [tir.call_extern("int32", "next_number", i) for _ in range(2)]
    assert not analyzer.can_prove_equal(*counting)


def test_integers_in_places_of_elements_are_simplified():
    A: Any = tir.decl_buffer((16, 16), "float32", name="A")
    assert same(arith.Analyzer().simplify(A[i + j - i, 2 * i - i] + 1.0), A[j, i] + 1.0)


def test_a_narrow_number_wraps_and_an_index_does_not():
    analyzer = arith.Analyzer()
    assert not analyzer.can_prove(byte + 1 > byte)  # 127 + 1 is -128
    assert analyzer.can_prove(tir.Cast("int32", byte) + 1 > tir.Cast("int32", byte))
    assert analyzer.can_prove(i + 1 > i)
    assert analyzer.const_int_bound(tir.Cast("uint8", i)) == (0, 255)
    assert analyzer.const_int_bound(byte) == (-128, 127)


def test_facts_are_given_as_nodes():
    analyzer = arith.Analyzer()
    analyzer.bind(i, arith.Range(0, 4))
    analyzer.update(j, arith.ConstIntBound(0, 3))
    assert analyzer.const_int_bound(i * 4 + j) == (0, 15)
    assert analyzer.modular_set(i * 4 + 2) == (4, 2)
    assert same(analyzer.simplify(te.floordiv(i * 4 + j, 4)), i)
    with analyzer.constraint_scope(te.all(x >= 0, x < 8)):
        assert analyzer.can_prove(x * 2 < 15)
    assert not analyzer.can_prove(x * 2 < 15)
    found = analyzer.int_set(x + y, {x: arith.IntervalSet(0, 9)})
    assert same(found.min_value, y) and same(found.max_value, y + 9)


def test_a_variable_of_an_extent_may_be_negative_and_a_size_may_not():
    size = te.size_var("size")
    assert not arith.Analyzer().can_prove(x >= 0)
    assert arith.Analyzer().can_prove(size >= 0)
    assert isinstance(x > 0, Expr), "nothing says that it is"
    assert (x + 1 > x) is True


def test_solutions_are_over_the_nodes_that_were_given():
    found = arith.solve_linear_equations([tir.EQ(x + y, 20), tir.EQ(x - y, 10)], [x, y])
    assert same(found.src_to_dst[x], 15) and same(found.src_to_dst[y], 5)
    ranges = arith.solve_linear_inequalities([tir.LE(x, 6), tir.GE(x, y)], [x], {y: arith.Range(0, 5)}).ranges
    assert same(ranges[x].min, y) and same(ranges[x].extent, 7)
    factor, rest = arith.detect_linear_equation(i * 4 + j * 6 + 7, [i])
    assert same(factor, 4) and same(rest, j * 6 + 7)
    low, high = arith.detect_clip_bound(te.all(i < j * 6, i - 1 > 0), [i])
    assert same(low, 2) and same(high, j * 6 - 1)
    assert arith.deduce_bound(i, i + j, {}, {}).is_nothing()
    (region,) = arith.estimate_region_lower_bound([arith.Range(i * 4, i * 4 + 4)], {i: arith.Range(0, 8)}, 1)
    assert same(region.min_value, 0) and same(region.max_value, 31)


def test_maps_of_iterators_are_of_nodes():
    domains = {i: arith.Range(0, 8), j: arith.Range(0, 4)}
    found = arith.detect_iter_map([i * 4 + j], domains)
    assert arith.Analyzer().can_prove_equal(found.indices[0], i * 4 + j)
    inverse = arith.inverse_affine_iter_map(found.indices, [x])
    assert same(inverse[i], x // 4 % 8) or same(inverse[i], x // 4)


def test_the_analyzers_own_expressions_are_answered_in_kind():
    a = arith.var("a")
    assert arith.Analyzer().simplify(a + a) is a * 2
    mixed = i + a
    assert isinstance(mixed, Expr)
    assert arith.Analyzer().can_prove_equal(mixed - i, a)


OPERATORS = [B.ADD, B.SUB, B.MUL, B.FLOORDIV, B.FLOORMOD, B.DIV, B.TRUNCMOD, B.MIN, B.MAX]
COMPARISONS = [B.EQ, B.NE, B.LT, B.LE, B.GT, B.GE]


def _random(chance: random.Random, depth: int, leaves: list[Expr]) -> Expr:
    if depth == 0 or chance.random() < 0.15:
        return chance.choice([*leaves, Const(chance.randint(-4, 6), i.type)])
    if chance.random() < 0.15:
        return te.if_then_else(
            _condition(chance, depth - 1, leaves), *(_random(chance, depth - 1, leaves) for _ in "ab")
        )
    kind = chance.choice(OPERATORS)
    lhs = _random(chance, depth - 1, leaves)
    divides = kind in (B.FLOORDIV, B.FLOORMOD, B.DIV, B.TRUNCMOD)
    rhs = Const(chance.choice([-3, 2, 3, 4, 5]), i.type) if divides else _random(chance, depth - 1, leaves)
    return Binary(kind, lhs, rhs, i.type)


def _condition(chance: random.Random, depth: int, leaves: list[Expr]) -> Expr:
    made = Binary(chance.choice(COMPARISONS), _random(chance, depth, leaves), _random(chance, depth, leaves), flag.type)
    return tir.Not(made) if chance.random() < 0.2 else made


def _value(expr: Expr, values: dict[Expr, int]) -> int:
    """What an expression is, by what its kinds say."""
    match expr:
        case Slot():
            return values[expr]
        case Const(value):
            return int(value)
        case Cast(operand):
            return _value(operand, values)
        case Unary(U.NOT, operand):
            return 1 - _value(operand, values)
        case Select(condition, then, otherwise):
            return _value(then if _value(condition, values) else otherwise, values)
        case Binary(kind, lhs, rhs):
            return int(_combined(kind, _value(lhs, values), _value(rhs, values)))
        case _:
            raise AssertionError(expr)


def _combined(kind: B, a: int, b: int) -> int:
    match kind:
        case B.DIV:
            return int(a / b)
        case B.TRUNCMOD:
            return a - int(a / b) * b
        case _:
            return {
                B.ADD: int.__add__, B.SUB: int.__sub__, B.MUL: int.__mul__, B.FLOORDIV: int.__floordiv__,
                B.FLOORMOD: int.__mod__, B.MIN: min, B.MAX: max, B.EQ: int.__eq__, B.NE: int.__ne__, B.LT: int.__lt__,
                B.LE: int.__le__, B.GT: int.__gt__, B.GE: int.__ge__, B.AND: int.__and__, B.OR: int.__or__,
            }[kind](a, b)  # fmt: skip


def test_the_name_of_a_let_is_its_own():
    five, six = Const(5, i.type), Const(6, i.type)
    simplify = arith.Analyzer().simplify
    assert same(simplify(tir.Let(j, i + 1, tir.Let(i, five, j + i))), i + 6)
    assert same(simplify(tir.Let(j, 1, tir.Let(j, j + 1, j))), Const(2, i.type))
    assert same(simplify(arith.substitute(tir.Let(i, five, j + i), {j: i})), i + 5)
    assert same(simplify(arith.substitute(tir.Let(i, five, j + i), {i: six})), j + 5)


@pytest.mark.parametrize(("dtype", "values"), [("int8", (100, 127, -128)), ("uint8", (200, 255, 3))])
def test_the_sides_of_a_comparison_of_narrow_numbers_do_not_wrap(dtype: str, values: tuple[int, ...]):
    a, b = te.var("a", dtype), te.var("b", dtype)
    asked = te.floordiv(b, Const(8, b.type)) < a
    found = arith.Analyzer().simplify(asked)
    for at_a in values:
        for at_b in values:
            point = {a: Const(at_a, a.type), b: Const(at_b, b.type)}
            value = arith.Analyzer().simplify(arith.substitute(found, point))
            assert bool(int(value)) == (at_b // 8 < at_a), (found, at_a, at_b)


def test_random_expressions_keep_their_value_through_the_analyzer_and_back():
    chance = random.Random(7)
    for number in range(120):
        make = _condition if number % 3 == 0 else _random
        expr = make(chance, 3, [i, j])
        analyzer = arith.Analyzer()
        if number % 2:
            analyzer.bind(i, arith.Range(0, 6))
        simple = analyzer.simplify(expr)
        for a, b in itertools.product(range(0 if number % 2 else -6, 6), range(-5, 6)):
            values = {i: a, j: b}
            assert _value(expr, values) == _value(simple, values), f"{expr}\n{simple}\n{values}"


@pytest.mark.parametrize(
    ("written", "simple"),
    [
        (tir.Ramp(i, 1, 4) + tir.Ramp(j, 2, 4), tir.Ramp(i + j, 3, 4)),
        (j - tir.Ramp(i, 1, 2), tir.Ramp(j - i, -1, 2)),
        (te.floordiv(tir.Ramp(i * 8, 1, 4), 4), tir.Broadcast(i * 2, 4)),
        (te.floormod(tir.Ramp(i * 8 + 4, 1, 4), 8), tir.Ramp(4, 1, 4)),
        (tir.Broadcast(i, 4) * 2, tir.Broadcast(i * 2, 4)),
        (tir.Ramp(i, 1, 4) < tir.Ramp(i + 1, 1, 4), tir.Broadcast(te.const(True, "bool"), 4)),
    ],
)
def test_lanes_are_simplified_as_numbers(written: Expr, simple: Expr):
    found = arith.Analyzer().simplify(written)
    assert found.type == written.type and same(found, simple), f"{found}, not {simple}"


def test_lanes_that_are_not_evenly_spaced_stay():
    for each in (te.floordiv(tir.Ramp(i * 8, 3, 4), 4), te.floormod(tir.Ramp(i, 1, 4), 8)):
        assert same(arith.Analyzer().simplify(each), each)
    with pytest.raises(TypeError, match="different types"):
        _ = tir.Ramp(i, 1, 4) + tir.Ramp(i, 1, 2)


def test_a_name_within_an_expression_stands_for_its_value():
    named = tir.Let(j, i + 1, j * 2 - i)
    assert same(arith.Analyzer().simplify(named), i + 2)
    assert arith.Analyzer().const_int_bound(tir.Let(i, 7, i + 1)) == (8, 8)
    other = tir.Var("other", "int32")
    assert same(named, tir.Let(other, i + 1, other * 2 - i))
    A: Any = tir.decl_buffer((16,), "int32", name="A")
    assert same(arith.Analyzer().simplify(tir.Let(j, i + 1, A[j - 1] + 0 * j)), A[i])
    assert same(arith.substitute(A[j] + i, {j: i + 1}), A[i + 1] + i)
    with pytest.raises(UsageError, match="'byte' is a int8, and its value a int32"):
        tir.Let(byte, i, byte)
    analyzer = arith.Analyzer()
    analyzer.bind(j, 3)
    assert same(analyzer.simplify(A[j + 1]), A[4])


@pytest.mark.parametrize(
    ("made", "value", "dtype"),
    [
        (te.const(127, "int8") + 1, -128, "int8"),
        (te.const(0, "uint8") - 1, 255, "uint8"),
        (te.truncdiv(te.const(-7, "int32"), 2), -3, "int32"),
        (te.truncmod(te.const(-7, "int32"), 2), -1, "int32"),
        (te.const(-7, "int32") // 2, -4, "int32"),
        (te.const(1, "int32") << 31, -(1 << 31), "int32"),
        (te.const(3, "int32") < 4, True, "bool"),
        (te.const(0.1, "float32") + 0.2, 0.30000001192092896, "float32"),
        (te.const(60000.0, "float16") + 60000.0, float("inf"), "float16"),
        (te.round(te.const(2.5, "float32")), 2.0, "float32"),
        (tir.Cast("int8", te.const(200, "int32")), -56, "int8"),
        (tir.Cast("int32", te.const(-1.5, "float32")), -1, "int32"),
        (tir.Cast("float32", te.const(True, "bool")), 1.0, "float32"),
    ],
)
def test_literals_are_computed_as_the_machine_would(made: Expr, value: float, dtype: str):
    assert isinstance(made, Const) and made.value == value and made.dtype == dtype


def test_what_has_no_literal_is_left_to_the_machine():
    for each in (
        tir.Cast("int32", te.const(1e30, "float32")),
        te.const(1.0, "float32") / 0.0,
        te.const(1, "int32") << 40,
    ):
        assert not isinstance(each, Const)
    assert (i + 0) is i and (1 * i) is i and te.all(flag, te.const(True, "bool")) is flag
    floating = tir.Var("f", "float32")
    assert (floating + 0.0) is not floating, "-0.0 + 0.0 is 0.0"


def test_a_number_without_a_sign_may_be_negative_as_one_with_a_sign():
    u = tir.Var("u", "uint64")
    assert not arith.Analyzer().can_prove(tir.Cast("int64", u) >= 0)
    assert arith.Analyzer().can_prove(u >= 0)


def test_functions_of_narrow_numbers_and_large_constants_have_the_type_of_what_was_given():
    b, c, u = tir.Var("b", "int8"), tir.Var("c", "int32"), tir.Var("u", "uint64")
    wide = tir.Cast("int32", b)
    assert arith.max(wide + 100, 3).dtype == "int32"
    assert arith.floordiv(wide + 100, 3).dtype == "int32"
    assert str(arith.Not(wide > 1000)) == "not T.Cast('int32', b) > 1000"
    assert str(arith.all(wide > 1000, c > 3)) == "T.Cast('int32', b) > 1000 and c > 3"
    assert str(arith.Not(u > te.const(2**64 - 1, "uint64"))) == f"not u > {2**64 - 1}"
    assert arith.shift_left(wide, 4).dtype == "int32"


def test_what_is_divided_by_the_literal_zero_stays():
    n = tir.Var("n", "int32")
    for divided in (n // 0, n % 0, te.truncdiv(n, 0), te.truncmod(n, 0)):
        assert str(arith.Analyzer().simplify(divided + 3)) == f"{divided} + 3"
    assert str(arith.Analyzer().simplify((n // 0) * 2 - n // 0)) == "n // 0"


def test_a_call_that_may_do_more_is_made_as_often_as_it_was_written():
    n = tir.Var("n", "int32")
    call, pure = tir.call_extern("int32", "f", n), tir.call_pure_extern("int32", "g", n)
    for written in (call * 0, 0 * call, call % 1, 0 // call, te.all(call > 0, te.const(False, "bool"))):
        assert "f" in str(written)
    assert str(pure * 0) == "T.int32(0)"
    for written in (call - call, te.min(call, call), (call + n) * 0, (call + n) - n):
        assert str(arith.Analyzer().simplify(written)) == str(written)
    assert str(arith.Analyzer().simplify(call + (n * 2 - n))) == f"{call} + n"


@pytest.mark.parametrize("lanes", [0, -1])
def test_a_vector_has_a_lane(lanes: int):
    with pytest.raises(ArgumentError, match="one lane or more"):
        tir.Ramp(tir.Var("n", "int32"), 1, lanes)
    with pytest.raises(ArgumentError, match="one lane or more"):
        tir.Broadcast(tir.Var("n", "int32"), lanes)


def test_bounds_are_integers():
    n = tir.Var("n", "int32")
    with pytest.raises(ArgumentError, match="no integer"):
        arith.Analyzer().bind(n, te.const(1.5, "float32"))
    with pytest.raises(ArgumentError, match="and not 0"):
        arith.Analyzer().update(n, arith.ConstIntBound(0.5, 2))  # pyright: ignore[reportArgumentType]


def test_an_element_depends_on_the_variables_of_its_index():
    i, n, table = te.var("i"), te.var("n"), te.placeholder((8,), "int32", name="table")
    over = {i: arith.IntervalSet(0, 7)}
    assert arith.eval_set(table[i], over).is_everything()
    assert arith.eval_set(table[n], over).is_single_point()
    assert arith.detect_linear_equation(table[i] + i * 2, [i]) == []
    assert len(arith.detect_linear_equation(table[n] + i * 2, [i])) == 2
    assert arith.deduce_bound(i, table[i] + i > 0, {}, {}).is_nothing()
    assert not arith.deduce_bound(i, table[n] + i > 0, {}, {}).is_nothing()
    assert arith.detect_clip_bound(te.all(table[i] + i > 0, i < 5), [i]) == []
    spans = {i: arith.Range(0, 8)}
    assert not arith.detect_iter_map([table[i] + i], spans).indices
    assert arith.detect_iter_map([table[n] + i], spans).indices
    assert str(arith.narrow_predicate_expression(table[i] > 0, spans)) in ("False", "T.bool(False)", "T.int32(0)")


def test_narrowed_comparisons_of_nodes_stay_as_they_were_written():
    i, n, flag = tir.Var("i", "int32"), tir.Var("n", "int32"), tir.Var("flag", "bool")
    zero, seven = te.const(0, "int32"), te.const(7, "int32")
    for given, wanted in (
        (flag, flag),
        (i > n, i > 7),
        (n >= i, zero >= i),
        (n < i // 4, seven < i // 4),
        (i + n < 10, i + 7 < 10),
        (i - n < 10, i < 10),
        (tir.Not(i < n), tir.Not(i < 7)),
        (tir.EQ(n, i), te.all(seven <= i, i <= 0)),
        (tir.NE(i, n), te.any(i < 0, seven < i)),
        (tir.EQ((i + n) // 4, 0), te.all((i + 7) // 4 <= 0, zero <= i // 4)),
        (tir.EQ(i // n, 0), te.const(False, "bool")),
        (tir.Not(tir.EQ(i // n, 0)), te.const(False, "bool")),
    ):
        tir.assert_structural_equal(arith.narrow_predicate_expression(given, {n: arith.Range(0, 8)}), wanted)


def test_what_narrowed_nodes_hold_for_the_condition_holds_for():
    i, n = tir.Var("i", "int32"), tir.Var("n", "int32")
    sides = [i, n, i + n, i - n, n - i, n // 3 + i, (i - n) // 2, i % 3, n * i, te.const(2, "int32"), tir.Max(n, i)]
    kinds = [tir.LT, tir.LE, tir.GT, tir.GE, tir.EQ, tir.NE]
    found = 0
    for number, (kind, a, b) in enumerate(itertools.product(kinds, sides, sides)):
        forms = (kind(a, b), tir.Not(kind(a, b)), tir.Or(tir.Not(tir.And(kind(a, b), i > n)), i < 3))
        for given in forms if number % 5 == 0 else ():
            narrow = integer_form(arith.narrow_predicate_expression(given, {n: arith.Range(-2, 4)}))
            form = integer_form(given)
            assert integer_form(n) not in narrow.variables
            for at in range(-6, 9):
                if arith.evaluate(narrow, {integer_form(i): at}):
                    found += 1
                    values = ({integer_form(i): at, integer_form(n): each} for each in range(-2, 4))
                    assert all(arith.evaluate(form, each) for each in values), (given, narrow, at)
    assert found > 800


def test_literals_beyond_the_default_types_are_of_wider_ones():
    for value, dtype in ((2**31 - 1, "int32"), (-(2**31), "int32"), (2**31, "int64"), (-(2**31) - 1, "int64")):
        made = te.const(value)
        assert isinstance(made, Const) and (made.dtype, made.value) == (dtype, value)
    for value, dtype in ((3.4e38, "float32"), (3.5e38, "float64"), (-3.5e38, "float64"), (float("inf"), "float32")):
        assert te.const(value).dtype == dtype


def test_what_is_read_is_not_known_where_a_narrowed_condition_is_asked() -> None:
    i, n = tir.Var("i", "int32"), tir.Var("n", "int32")
    table = tir.decl_buffer((4,), "int32", name="table")
    free = {n: arith.Range(0, 8)}

    def narrow(condition: Expr) -> str:
        return str(arith.narrow_predicate_expression(condition, free))

    assert narrow(table.vload(0) > 0) == "False"
    assert narrow(tir.Not(table.vload(0) > 0)) == "False"
    assert narrow(tir.Or(table.vload(i) > 0, i <= n)) == "i <= 0"
    assert narrow(tir.EQ(i, 4)) == "i == 4"


def test_literals_of_integers_are_true_or_false() -> None:
    assert te.const(3, "int32") and not te.const(0, "int32") and te.const(1, "int32") < 20
    with pytest.raises(ValueError, match="no truth value"):
        assert te.const(1.0)


def test_extents_take_numbers_that_the_analyzer_finds() -> None:
    extent = arith.Analyzer().simplify(256 + 2)
    made = te.compute((extent, 2), lambda i, j: te.const(1.0, "float32"))
    assert made.shape == (258, 2) == te.placeholder((extent, 2)).shape


def test_common_subexpressions_are_the_largest_that_are_written_alike():
    x, y = tir.Var("x", "int32"), tir.Var("y", "int32")
    once = (x + y) * 2
    expr = once + (x + y) * 2 + (x + y)
    assert [(key is once, times) for key, times in arith.detect_common_subexpr(expr, 2).items()] == [(True, 2)]
    assert [(str(key), times) for key, times in arith.detect_common_subexpr(expr, 3).items()] == [("x + y", 3)]
    assert not arith.detect_common_subexpr(expr, 4)


def test_reads_variables_numbers_and_calls_that_do_more_are_no_common_subexpressions():
    x, y, A = tir.Var("x", "int32"), te.var("y"), te.placeholder((4,), "float32", name="A")
    called = tir.call_extern("int32", "next", x)
    assert not arith.detect_common_subexpr(A[y] + A[y], 2)
    assert not arith.detect_common_subexpr(x + x, 2)
    assert not arith.detect_common_subexpr(called + called, 2)
    assert len(arith.detect_common_subexpr(te.exp(A[0]) + te.const(0.0) * -0.0 + te.const(0.0), 2)) == 0


def test_an_expression_that_shares_its_parts_is_searched_once():
    expr = tir.Var("x", "int32")
    for _ in range(60):
        expr = expr * expr
    assert list(arith.detect_common_subexpr(expr, 2).values()) == [2]


@pytest.mark.parametrize(("given", "threshold"), [(1, 2), (tir.Var("x", "int32"), 0)])
def test_common_subexpressions_are_of_expressions_and_a_positive_threshold(given: object, threshold: int):
    with pytest.raises(ArgumentError, match="detect_common_subexpr"):
        arith.detect_common_subexpr(given, threshold)
