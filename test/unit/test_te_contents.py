"""What small tensors hold where extents are symbols, and what is asked of extents."""

import pytest
from xdsl.dialects.builtin import f32, i32, i64

from weft.dialects import te
from weft.dialects.te.assume import agree, assuming, at_most
from weft.dialects.te.contents import contents
from weft.dialects.te.dim_equations import never_equal, sizes_of, solved
from weft.dialects.te.dim_order import always_at_most, extreme, sign_always, sign_of, surely_at_most, upper_ends
from weft.dialects.te.dims import as_dim, ceil_divided, quotient, substituted, to_text, told_var, value_of

n, m = te.var("n"), te.var("m")


def held(*numbers: te.Dim) -> te.Tensor:
    """A vector of numbers."""

    def body(i: te.IterVar) -> te.Expr:
        chosen: te.Expr = te.const(0, i64)
        for place, number in enumerate(numbers):
            chosen = te.select(i.equal(place), te.cast(te.dim_expr(number), i64), chosen)
        return chosen

    return te.compute((len(numbers),), body)


def texts(tensor: te.Tensor) -> list[str | None]:
    found = contents(tensor)
    assert found is not None
    return [None if one is None else to_text(one) if isinstance(one, te.Expr) else str(one) for one in found]


def test_arithmetic_on_extents_gives_extents():
    x = held(n, n * m, 64)
    assert texts(te.compute((3,), lambda i: x[i] * te.const(4, i64) + te.const(1, i64))) == [
        "((n * 4) + 1)", "(((m * n) * 4) + 1)", "257",
    ]  # fmt: skip
    assert texts(te.compute((), lambda: x[1] // x[0])) == ["m"]
    assert texts(te.compute((), lambda: x[0] // x[1])) == [None]
    axis = te.reduce_axis(3)
    assert texts(te.compute((), lambda: te.prod(x[axis], axis))) == ["(((m * n) * n) * 64)"]


def test_comparisons_that_have_one_answer_choose():
    x = held(n, -1, 3)
    one = te.const(1, i64)
    chosen = te.compute((3,), lambda i: te.select(x[i].equal(te.const(-1, i64)), one, x[i]))
    assert texts(chosen) == ["n", "1", "3"]
    assert texts(te.compute((3,), lambda i: te.select(x[i] < te.const(7, i64), one, x[i]))) == [None, "1", "1"]


def test_what_data_decides_is_not_known():
    data = te.placeholder((2,), i64, "data")
    assert texts(te.compute((2,), lambda i: data[i] + te.const(1, i64))) == [None, None]
    assert contents(te.placeholder((n,), i64)) is None
    assert contents(te.placeholder((65,), f32)) is None


def test_numbers_are_those_that_their_types_hold():
    many, single = te.compute((), lambda: te.const((1 << 31) - 1, i32)), te.compute((), lambda: te.const(0.7, f32))
    assert texts(te.compute((), lambda: many() * te.const(3, i32))) == [None]
    assert texts(te.compute((), lambda: many() + te.const(1, i32) > te.const(0, i32))) == [None]
    assert texts(te.compute((), lambda: te.cast(te.floor(single() * te.const(10.0, f32)), i64))) == ["7"]  # no 6.99...


def test_extents_are_compared_divided_and_replaced():
    assert sign_of(n * 2 + 1) == 1 and sign_of(n - m) is None and sign_of(-n) == -1
    assert to_text(extreme(te.BinaryKind.MIN, n, n + 3)) == "n" and extreme(te.BinaryKind.MAX, 2, 5) == 5
    assert to_text(ceil_divided(n * 2 + 1, 2)) == "(n + 1)"
    assert to_text(quotient(n * m * 768, n)) == "(m * 768)"
    assert to_text(substituted(n * m + 3, {m: n + 1})) == "(((n * n) + n) + 3)"


def test_order_of_extents_holds_where_they_are_0_and_numbers_that_are_told_are_below_it():
    told = told_var("k")
    assert surely_at_most(1, n) and not always_at_most(1, n) and always_at_most(0, n)
    assert not always_at_most(0, told) and not surely_at_most(0, told)
    assert always_at_most(n, n + told * told)
    assert [sign_always(each) for each in (n + 1, n, -n, -n - 1, n - m)] == [1, None, None, -1, None]
    assert [to_text(end) for end in upper_ends(n - 4, 0)] == ["n"] == [to_text(end) for end in upper_ends(0, n - 4)]
    assert [to_text(end) for end in upper_ends(n + 4, 3)] == ["(n + 4)"] and upper_ends(n, m) == []
    assert [to_text(end) for end in upper_ends(n - 4, -2)] == ["(n + -2)"]


def test_sizes_are_those_that_extents_can_have():
    assert sizes_of([((n + m, n), (5, 2))]) == {n: 2, m: 3}
    assert [sizes_of([((n + 3,), (number,))]) for number in (5, 3, 2)] == [{n: 2}, {n: 0}, {}]
    assert sizes_of([((n * 2,), (5,))]) == {} == sizes_of([((n + m,), (5,))])
    assert solved(n + 3, 2) is None is solved(n + m + 3, 2) and solved(n + 3, 3) == (n, 0)
    assert solved(told_var("k") + 3, 2) is not None and not never_equal(told_var("k") + 3, 2)
    assert never_equal(n + 3, 2) and never_equal(n + m * n + 1, 0) and not never_equal(n + 3, 3)
    assert never_equal(n * 2, 3) and never_equal(n, n + 1) and not never_equal(n * 2, 4) and not never_equal(n, m)


def test_what_has_to_be_equal_is_noted_where_somebody_collects_it():
    assert not agree(n, m)
    with assuming() as asked:
        assert agree(n, m) and agree(n + 1, m * 2 - m + 1) and not agree(3, 4)
        assert at_most(n, 64) and at_most(n, n + 1) and not at_most(5, 4)
    assert [(to_text(a), to_text(b)) for a, b in asked.equal] == [("n", "m"), ("(n + 1)", "(m + 1)")]
    assert [(to_text(a), to_text(b)) for a, b in asked.at_most] == [("n", "64")]
    assert solved(n, m) == (m, n) and solved(n * 2, m * 2) == (m, n) and solved(n * 2, m * 3) is None


@pytest.mark.parametrize("total", [n + m, n * m])
def test_a_symbol_follows_from_the_other_extent(total: te.Dim):
    k = te.var("k")
    assert solved(k, total) == (k, total) == solved(total, k)


@pytest.mark.parametrize("below", [1, 2, 5, n * 2 + 3])
def test_quotients_of_what_may_be_below_zero_are_rounded_toward_zero(below: te.Dim) -> None:
    x, three = held(te.dim_expr(n) - below, -7), te.const(3, i64)
    with assuming():
        quotients = contents(te.compute((2,), lambda i: te.binary(te.BinaryKind.DIV, x[i], three)))
        rests = contents(te.compute((2,), lambda i: te.binary(te.BinaryKind.TRUNCMOD, x[i], three)))
    assert quotients is not None and rests is not None
    assert (quotients[1], rests[1]) == (-2, -1)
    for size in range(1, 9):
        number = size - (below if isinstance(below, int) else size * 2 + 3)
        for found, wanted in ((quotients[0], int(number / 3)), (rests[0], number - int(number / 3) * 3)):
            assert isinstance(found, te.Expr)
            assert value_of(as_dim(found + 99), {n: size}) == wanted + 99  # no extent is below zero


def test_no_extent_is_the_number_that_stands_for_unknown_ones() -> None:
    unknown = -(1 << 63)
    for dim in (n, n - m, n * m - 7):
        assert [unknown, dim].count(unknown) == 1
        assert (dim == unknown) is False and (dim != unknown) is True
