"""`weft.arith`: TVM's names, and the behaviours that TVM's own tests of its arithmetic hold, on examples of our own."""

from __future__ import annotations

from itertools import product
from time import process_time

import pytest

from weft import arith, tir
from weft.arith import ConstIntBound, IntervalSet, IntExpr, ModularSet, Range
from weft.arith import floordiv as fdiv
from weft.arith import floormod as fmod
from weft.arith import truncdiv as tdiv
from weft.arith import truncmod as tmod
from weft.dialects.support.arguments import ArgumentError

a, b, c, d = (arith.var(name) for name in "abcd")
flag = arith.var("flag", "bool")
Select, least, most = arith.Select, arith.min, arith.max

NATURAL = (a >= 0, b >= 0, c >= 0)

FORMS: list[tuple[IntExpr, IntExpr | int, tuple[IntExpr, ...]]] = [
    # sums of choices
    (least(a, b) - least(a + 7, b + 7), -7, ()),
    (most(a + 3, b + 1) - most(a, b - 2), 3, ()),
    (least(a, b) * most(b, a), a * b, ()),
    (most(a, b * 3) + least(a, b * 3), a + b * 3, ()),
    (Select(flag, a, 0) + Select(flag, 4, b), Select(flag, a + 4, b), ()),
    # quotients and remainders that meet
    (a - tdiv(a, 6) * 6, tmod(a, 6), ()),
    (tdiv(a, 6) * 6 - a, -tmod(a, 6), ()),
    (a - tdiv(a + b, 6) * 6, tmod(a + b, 6) - b, ()),
    (a * 2 - fdiv(a - b, 3) * 6, (fmod(a - b, 3) + b) * 2, ()),
    (a * 7 - tdiv(a - b, 4) * 28, (tmod(a - b, 4) + b) * 7, ()),
    (fdiv(a + 9, 4) - fdiv(a, 4), fdiv(fmod(a, 4) + 9, 4), ()),
    (tdiv(a + 9, 4) - tdiv(a, 4), fdiv(fmod(a, 4) + 9, 4), (a >= 0,)),
    (tdiv(a, 12) * 12 + tmod(tdiv(a, 4), 3) * 4 + tmod(a, 4), a, ()),
    (fdiv(a * 3 + b, 12) * 12 + fdiv(fmod(a * 3 + b, 12), 4) * 4 + fmod(a * 3 + b, 4), a * 3 + b, (b >= 0, b < 3)),
    # a divisor is not zero, or there is no value
    (fdiv(a, a), 1, ()),
    (tmod(a * b, b), 0, ()),
    (tdiv(a * b, b), a, ()),
    (fdiv(a * c + b, c), a + fdiv(b, c), ()),
    (tdiv(a * c + b, c), a + tdiv(b, c), NATURAL),
    (tdiv(a + b + c, a), tdiv(b + c, a) + 1, NATURAL),
    (fdiv(-a, -b), fdiv(a, b), ()),
    (fmod(-a, -b), -fmod(a, b), ()),
    # division of choices, of what is close to a multiple, of divisions
    (fdiv(least(a * 8, b), 4), least(a * 2, fdiv(b, 4)), ()),
    (tdiv(most(b, a * 8), 4), most(tdiv(b, 4), a * 2), NATURAL),
    (fdiv(a * 170 + b, 8), a * 21, (a >= 0, a < 3, b >= 0, b < 3)),
    (fmod(a * 170 + b, 8), fmod(a * 2 + b, 8), ()),
    (fmod(a * -21, 6), fmod(a * 3, 6), ()),
    (tdiv(tdiv(tmod(a, 24), 2) * 2, 6), tdiv(tmod(a, 24), 6), ()),
    (tmod(tdiv(tmod(a, 24), 2) * 2, 4), tdiv(tmod(a, 4), 2) * 2, ()),
    (fmod(fmod(a + 24524, 24528) - 24512, 16), fmod(a + 12, 16), ()),
    (tmod(-a, 3), -tmod(a, 3), ()),
    (tdiv(-a, 3), -tdiv(a, 3), ()),
    (tmod(a * -6 + b, 3), tmod(b, 3), (a <= 0, b >= 0)),
    (tmod(a + 14, -7), tmod(a, 7), (a >= 0,)),
    # minimum and maximum
    (least(a * 5, 0), least(a, 0) * 5, ()),
    (most(a * -5, 0), least(a, 0) * -5, ()),
    (least(9 - a, 4), 9 - most(a, 5), ()),
    (most(9 - a, 4), 9 - least(a, 5), ()),
    (least(a * -3, 6), most(a, -2) * -3, ()),
    (least(tdiv(a + 7, 8) * 8, a), a, ()),
    (most(tdiv(a + 7, 8) * 8, a), tdiv(a + 7, 8) * 8, ()),
    (least(fdiv(a + 7, 8) * 8, most(a, 8)), most(a, 8), (a > 0,)),
    (least(tdiv(a, 9), tdiv(b, 9)), tdiv(least(a, b), 9), ()),
    (most(tdiv(a, -9), tdiv(b, -9)), tdiv(least(a, b), -9), ()),
    (least(fdiv(a, -9), fdiv(b, -9)), fdiv(most(a, b), -9), ()),
    # comparisons
    (tdiv(a, 6) * 6 < a, tmod(a, 6) > 0, ()),
    (tdiv(a, 6) * 6 >= a, tmod(a, 6) <= 0, ()),
    (tdiv(a, 6) * 6 < a - b, tmod(a, 6) > b, ()),
    (tdiv(a + 3, 6) * 6 >= a + b, tmod(a + 3, 6) + b <= 3, ()),
    (fdiv(a, 6) * 6 >= a, fmod(a, 6).equal(0), ()),
    (a * 9 <= -4, 0, (a >= 0,)),
    ((a + 1) * (b - 1) < 0, 1, (a >= 0, b <= 0)),
    # conditions
    (arith.all(a < 30, fmod(a, 7) < 2), arith.all(a < 30, fmod(a, 7) < 2), ()),
    (arith.all(a < 34, fmod(a, 7) < 2), arith.all(a < 30, fmod(a, 7) < 2), ()),
    (arith.all(a <= -8, fmod(a, 7) < 2), arith.all(a <= -13, fmod(a, 7) < 2), ()),
    (arith.all(fdiv(a, 6).equal(-2), fmod(a, 6).equal(5)), a.equal(-7), ()),
    (arith.any(a.equal(b), a.differs(b)), 1, ()),
    (Select(a < 5, Select(a > 1, 1, 0), 0), arith.all(a < 5, a > 1), ()),
    (Select(a < 5, 1, b > 2), arith.any(a < 5, b > 2), ()),
    # casts, shifts, names for values
    (arith.cast("int8", fmod(a, 100)), fmod(a, 100), ()),
    (arith.cast("bool", a - a), 0, ()),
    (arith.shift_left(1, 10) + arith.shift_right(a, 3), fdiv(a, 8) + 1024, ()),
    (arith.let(a, 4, a + b) * 2, b * 2 + 8, ()),
]


@pytest.mark.parametrize("before, after, given", FORMS, ids=lambda e: str(e)[:60])
def test_the_simple_form_is_found_and_has_the_same_value(
    before: IntExpr, after: IntExpr | int, given: tuple[IntExpr, ...]
):
    analyzer = arith.Analyzer()
    with analyzer.constraint_scope(arith.all(*given)):
        found = analyzer.rewrite_simplify(before)
        assert found is analyzer.canonical_simplify(after)
        assert found is analyzer.simplify(before, 3)
    for values in product((-25, -8, -3, 0, 1, 2, 5, 12), (-9, -1, 0, 1, 2, 7), (1, 3), (0, 1)):
        point = dict(zip((a, b, c, flag), values, strict=True))
        if all(arith.evaluate(condition, point) for condition in given):
            try:
                expected = arith.evaluate(before, point)
            except ZeroDivisionError:
                continue
            assert arith.evaluate(found, point) == expected, point


def test_the_bounds_of_a_variable_are_those_of_its_type():
    analyzer = arith.Analyzer()
    assert analyzer.const_int_bound(arith.var("x", "int8")) == (-128, 127)
    assert analyzer.const_int_bound(arith.var("x", "uint16")) == (0, 65535)
    assert analyzer.const_int_bound(arith.var("x", "bool")) == (0, 1)
    assert analyzer.const_int_bound(arith.var("x", "int64")) == (ConstIntBound.NEG_INF, ConstIntBound.POS_INF)
    assert analyzer.const_int_bound(arith.size_var("n")) == (0, ConstIntBound.POS_INF)
    assert analyzer.simplify((arith.var("x") + (-(2**31))).equal(0)) is arith.const(0)
    with pytest.raises(TypeError, match="'float32' is no integer type"):
        arith.var("x", "float32")


def test_two_variables_of_one_name_are_two():
    x, other = arith.var("x"), arith.var("x")
    assert x is not other and arith.Analyzer().simplify(x - other) is x - other
    assert least(x, other) is least(other, x)


def test_bounds_are_updated_and_replaced():
    analyzer, x = arith.Analyzer(), arith.var("x")
    analyzer.update(x, ConstIntBound(-9, 4))
    analyzer.update(x, ConstIntBound(-4, 11))
    assert analyzer.const_int_bound(x) == ConstIntBound(-4, 4)
    analyzer.update(x, ConstIntBound(ConstIntBound.NEG_INF, 4), override=True)
    assert analyzer.const_int_bound(x * 2 + 1) == ConstIntBound(None, 9)
    analyzer.update(x, ModularSet(4, 3))
    assert analyzer.modular_set(x * 2 + 1) == ModularSet(coeff=8, base=7)
    analyzer.update(x, ModularSet(3, 1), override=True)
    assert analyzer.modular_set(x) == ModularSet(coeff=3, base=1)
    with pytest.raises(TypeError, match="assume a condition"):
        analyzer.update(x + 1, ConstIntBound(0, 1))


def test_variables_are_bound_to_ranges_and_expressions():
    analyzer, x, y = arith.Analyzer(), arith.var("x"), arith.var("y")
    analyzer.bind(x, Range(2, 9))
    analyzer.bind(y, x * 4 + 1)
    assert analyzer.const_int_bound(y) == (9, 33)
    assert analyzer.modular_set(y) == (4, 1)
    assert analyzer.can_prove(y > x) and not analyzer.can_prove(x > 2)
    assert Range.from_min_extent(2, 7) == Range(2, 9) and Range(7) == Range(0, 7)


def test_constraints_end_with_their_scope():
    analyzer = arith.Analyzer()
    with analyzer.constraint_scope(fmod(a, 5).equal(3)):
        with analyzer.constraint_scope(fmod(a, 3).equal(2)):
            assert analyzer.modular_set(a) == (15, 8)
        assert analyzer.modular_set(a) == (5, 3)
    assert analyzer.modular_set(a) == (1, 0)
    assert analyzer.can_prove_equal(a * 2 - a, a) and not analyzer.can_prove_equal(a, b)


def test_the_set_of_values_has_symbolic_ends():
    analyzer = arith.Analyzer()
    analyzer.update(b, ConstIntBound(1, 100))
    assert analyzer.int_set(a * b, {a: IntervalSet(0, 10)}) == IntervalSet(0, b * 10)
    assert analyzer.int_set(a + b, {a: IntervalSet(0, 10)}) == IntervalSet(b, b + 10)
    assert analyzer.int_set(fmod(a, 10), {a: IntervalSet(13, 15)}) == IntervalSet(3, 5)
    assert analyzer.int_set(a * 2, {a: IntervalSet(0, arith.POS_INF)}) == IntervalSet(0, arith.POS_INF)
    assert analyzer.int_set(a, {a: IntervalSet.nothing()}).is_nothing()
    assert str(IntervalSet.everything()) == "[neg_inf, pos_inf]"
    assert str(IntervalSet.single_point(3)) == str(IntervalSet(3, 3)) == "[3, 3]"


def test_sets_are_united_and_intersected():
    low, high = IntervalSet(arith.NEG_INF, 0), IntervalSet(1, arith.POS_INF)
    assert arith.union_lower_bound([low, high]).is_everything()
    assert arith.union_lower_bound([IntervalSet(0, 3), IntervalSet(5, 7)]) == IntervalSet(0, 3)
    assert arith.union([IntervalSet(0, 3), IntervalSet(a, a + 1)]) == IntervalSet(least(0, a), most(3, a + 1))
    assert arith.intersect([IntervalSet(0, 9), IntervalSet(4, a)]) == IntervalSet(4, least(9, a))
    assert arith.intersect([low, high]).is_nothing() and arith.union([]).is_nothing()
    assert arith.eval_set(a + b, {a: IntervalSet(0, 3)}) == IntervalSet(b, b + 3)


def test_regions_are_estimated_as_boxes():
    i, j = arith.var("i"), arith.var("j")
    domain = {i: Range(64)}
    part = Range.from_min_extent
    assert arith.estimate_region_lower_bound([part(i * 4, 8)], domain) == [IntervalSet(0, 259)]
    assert arith.estimate_region_lower_bound([part(i * 4, 2)], domain) is None
    assert arith.estimate_region_upper_bound([part(i * 4, 2)], domain) == [IntervalSet(0, 253)]
    assert arith.estimate_region_lower_bound([part(i, 2), part(i + 2, 2)], domain) is None
    assert arith.estimate_region_upper_bound([part(i, 2), part(i + 2, 2)], domain) == [
        IntervalSet(0, 64),
        IntervalSet(2, 66),
    ]
    assert arith.estimate_region_strict_bound([part(20 - i * 4, 16)], {i: Range(4)}) == [IntervalSet(8, 35)]
    rows = {i: Range(16), j: Range(4)}
    assert arith.estimate_region_strict_bound([part(i * 4 + j, 3)], rows, i * 4 + j < 61) == [IntervalSet(0, 62)]


def test_a_region_with_a_symbolic_predicate_has_symbolic_ends():
    i, tile = arith.var("i"), arith.var("tile")
    index = tile * 8 + i
    found = arith.estimate_region_lower_bound(
        [Range.from_min_extent(index, 1)], {i: Range(10)}, arith.all(index >= 1, index < 224)
    )
    assert found is not None
    low, high = found[0].ends
    assert low is not None and high is not None
    analyzer = arith.Analyzer()
    for number, ends in ((0, (1, 9)), (10, (80, 89)), (27, (216, 223))):
        at = [analyzer.simplify(arith.let(tile, number, end)) for end in (low, high)]
        assert at == [arith.const(end) for end in ends]


def test_equations_and_bounds_have_the_forms_of_tvm():
    assert arith.detect_linear_equation(a * 4 + b * 6 + 7, [a]) == [arith.const(4), b * 6 + 7]
    assert arith.detect_linear_equation(a * a, [a]) == []
    assert arith.detect_clip_bound(arith.all(a < b * 6, a > 1), [a]) == [arith.const(2), b * 6 - 1]
    assert arith.detect_clip_bound(a < b, [a, b]) == []
    known = {b: IntervalSet(2, 3)}
    assert arith.deduce_bound(a, a * 4 + b < 20, known, known) == IntervalSet(arith.NEG_INF, 4)
    assert arith.deduce_bound(a, a.equal(b), {}, {}) == IntervalSet(b, b)
    assert arith.deduce_bound(a, fmod(a, 16) < 10, {}, {}).is_nothing()


def test_division_by_the_constant_zero_is_refused():
    for divide in (fdiv, fmod, tdiv, tmod):
        with pytest.raises(ZeroDivisionError):
            divide(a, 0)


def test_numbers_beyond_64_bits_are_exact():
    analyzer, huge = arith.Analyzer(), 1 << 90
    x = arith.var("x", "int64")
    assert analyzer.simplify(fdiv(x * huge + 5, huge)) is x
    assert analyzer.simplify(fmod(x * huge * 3 + huge + 7, huge)) is arith.const(7)
    with analyzer.constraint_scope(arith.all(x >= huge, x < huge * 2)):
        assert analyzer.const_int_bound(x * x) == (huge**2, (2 * huge - 1) ** 2)
        assert analyzer.simplify(fdiv(x, huge)) is arith.const(1)


def _nest(depth: int) -> IntExpr:
    expr = a
    for level in range(depth):
        expr = least(most(fdiv(expr * 3 + b, 2 + level % 3), expr - level), fmod(expr, 7 + level) + c)
    return expr


def test_the_time_for_a_deep_nest_grows_with_its_depth_and_not_with_its_paths():
    """Each level uses the one below three times: there are 3 ** 24 paths through it."""
    started = process_time()
    arith.Analyzer().simplify(_nest(24))
    assert process_time() - started < 20


def test_index_maps_are_detected_turned_round_and_divided():
    x, y, out = arith.var("x"), arith.var("y"), [arith.var(f"out{n}") for n in range(2)]
    domains = {x: Range(8), y: Range(12)}
    found = arith.detect_iter_map([x * 3 + y // 4, y % 4], domains, check_level="bijective")
    assert not found.errors and [s.args[0].extent for s in found.indices] == [arith.const(24), arith.const(4)]
    back = arith.inverse_affine_iter_map(found.indices, out)
    assert back == {x: out[0] // 3, y: out[0] % 3 * 4 + out[1]}
    assert arith.iter_map_simplify([x * 4 // 8], domains) == [x // 2]
    (failed,) = arith.detect_iter_map([x, x], domains).errors
    assert failed == "x is used twice"
    with pytest.raises(ValueError, match="'all' is no check level: surjective, bijective"):
        arith.detect_iter_map([x], domains, check_level="all")

    (outer, inner), (above, below) = arith.subspace_divide([x * 12 + y], domains, [y], x < 5)
    assert (outer.source, outer.extent) == (x, arith.const(8))
    assert (inner.source, inner.extent) == (y, arith.const(12))
    assert above.extent is arith.Analyzer().simplify(x < 5) and below.extent is arith.const(1)
    assert arith.subspace_divide([x * 12 + y], domains, [x]) == []
    assert arith.subspace_divide([x * 12 + y], domains, [y], x + y < 5) == []


def test_conditions_shorten_fused_iterators_one_within_another():
    x, y, z = arith.var("x"), arith.var("y"), arith.var("z")
    domains, rows = {x: Range(2), y: Range(4), z: Range(3)}, x * 4 + y
    place = rows * 3 + z
    found = arith.detect_iter_map([place // 4, place % 4], domains, arith.all(rows < 6, place < 16))
    assert [s.args[0].extent for s in found.indices] == [arith.const(4), arith.const(4)]
    assert arith.detect_iter_map([place // 4, place % 4], domains, place < 15).errors


def test_iterators_that_overlap_reach_all_values_but_not_once():
    x, y = arith.var("x"), arith.var("y")
    domains = {x: Range(3), y: Range(8)}
    (index,) = arith.detect_iter_map([x * 7 + y], domains).indices
    assert index.args[0].extent is arith.const(22)
    assert arith.detect_iter_map([x * 7 + y], domains, check_level="bijective").errors
    assert arith.detect_iter_map([x * -7 + y], domains).errors
    assert arith.detect_iter_map([x * 9 + y], domains).errors


def test_iterators_are_padded_unless_a_map_is_to_be_bijective():
    x = arith.var("x")
    domains = {x: Range(14)}
    found = arith.detect_iter_map([x // 4, x % 4], domains)
    assert not found.indices  # the padded iterator is used twice: one of the two is 2 or 3 where there is nothing
    (index,) = (found := arith.detect_iter_map([(x + 5) // 8], domains)).indices
    assert index.args[0].extent is arith.const(3)
    padding = [arith.evaluate(found.padding_predicate, {x: value}) for value in (-5, -1, 0, 13, 14, 18)]
    assert padding == [1, 1, 0, 0, 1, 1]
    assert arith.detect_iter_map([(x + 5) // 8], domains, check_level="bijective").errors


def test_sums_of_digits_are_made_as_in_tvm():
    x, y = arith.var("x"), arith.var("y")
    digits = [arith.IterSplitExpr(arith.IterMark(x, 4), 1, 4, 3), arith.IterSplitExpr(arith.IterMark(y, 3), 1, 3, 1)]
    whole = arith.IterMark(arith.IterSumExpr(digits, 0), 12)
    (found,) = arith.detect_iter_map([x * 3 + y + 2], {x: Range(4), y: Range(3)}).indices
    assert arith.normalize_iter_map_to_expr(arith.IterSumExpr(digits, 2)) == x * 3 + y + 2
    made = arith.IterSumExpr([arith.IterSplitExpr(whole, 1, 12, 1)], 2)
    tir.assert_structural_equal(found, made)
    assert not tir.structural_equal(found, arith.IterSumExpr([arith.IterSplitExpr(whole, 1, 11, 1)], 2))


def test_trivial_iterators_are_kept_when_asked_for():
    x, y = arith.var("x"), arith.var("y")
    domains = {x: Range(1), y: Range(16)}
    (pair, _) = arith.subspace_divide([x * 16 + y], domains, [y], simplify_trivial_iterators=False)
    assert [mark.source for mark in pair] == [x, y]


def test_expressions_are_converted_by_name() -> None:
    assert arith.evaluate((a + 300).astype("uint8"), {a: 0}) == 44 and arith.const(True).astype("int8") == arith.const(
        1
    )
    with pytest.raises(ArgumentError, match="no integer type"):
        a.astype("float32")


def test_that_two_forms_are_equal_is_a_condition() -> None:
    analyzer = arith.Analyzer()
    with analyzer.constraint_scope(a == b, b != 3):
        assert analyzer.can_prove_equal(a, b) and analyzer.can_prove(a == b) and not analyzer.can_prove(a == 3)
    with pytest.raises(ArgumentError, match="no condition: False"), analyzer.constraint_scope(False):
        pass
    with analyzer.constraint_scope(True, a.equal(4)):
        assert analyzer.can_prove_equal(a, 4) and not analyzer.can_prove(a == 5) and analyzer.can_prove(a != 5)


def test_iterators_are_made_of_integers() -> None:
    mark = arith.IterMark(a, 16)
    digit = arith.IterSplitExpr(mark, 4, 4, 1)
    assert arith.normalize_iter_map_to_expr(digit) == fdiv(a, 4)


def test_a_condition_is_narrowed_to_one_without_free_parameters() -> None:
    i, n, flag = arith.var("i"), arith.var("n"), arith.var("flag", "bool")
    free = {n: Range(0, 8)}
    for given, wanted in (
        (flag, flag),
        (i > n, i > 7),
        (i.equal(n), arith.all(i <= 0, i >= 7)),
        (i.differs(n), arith.any(i < 0, i > 7)),
        ((i + n) // 4 > 0, i // 4 > 0),
        (i - n < 10, i < 10),
        (arith.floordiv(i, n).equal(0), arith.const(0)),
        (arith.any(arith.floordiv(i, n) > 0, i <= n), i <= 0),
    ):
        assert arith.narrow_predicate_expression(given, free) == wanted
    assert arith.narrow_predicate_expression(i > n, {n: IntervalSet(0, None)}) == arith.const(0)


def test_what_a_narrowed_condition_holds_for_the_condition_holds_for() -> None:
    i, n = arith.var("i"), arith.var("n")
    for given in (i % 3 > n, (i - n) // 2 < 1, i * n > 2, arith.max(i, n) < 5, arith.all(i > n, i % 2 < n)):
        narrow = arith.narrow_predicate_expression(given, {n: Range(-2, 4)})
        for at in range(-9, 10):
            if arith.evaluate(narrow, {i: at}):
                assert all(arith.evaluate(given, {i: at, n: each}) for each in range(-2, 4))
