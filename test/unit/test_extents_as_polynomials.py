"""What divides extents, and what follows where two have to be equal, beside their values at numbers."""

import random
from itertools import product

import pytest

from weft.dialects import te
from weft.dialects.te.dim_equations import solved
from weft.dialects.te.dims import quotient, same, to_text, value_of

N, M, K = (te.var(name) for name in "nmk")
D = te.dims.data_var("d")


def any_extent(chance: random.Random, terms: int) -> te.Dim:
    """A sum of products of symbols and of what is none, `n // 4`."""
    atoms = [N, M, K, N // 4, (M + 3) // 5]
    total: te.Dim = 0
    for _ in range(terms):
        factors = [chance.randint(1, 4), *chance.choices(atoms, k=chance.randint(0, 2))]
        total = total + te.product(factors)
    return total


@pytest.mark.parametrize("seed", range(40))
def test_a_product_divided_by_one_factor_is_the_other(seed: int):
    chance = random.Random(seed)
    a, b = any_extent(chance, chance.randint(1, 3)), any_extent(chance, chance.randint(1, 3))
    assert same(quotient(te.product([a, b]), b), a)


@pytest.mark.parametrize("seed", range(40))
def test_a_quotient_is_one_at_all_numbers(seed: int):
    chance = random.Random(seed)
    a, b = any_extent(chance, 3), any_extent(chance, 2)
    if isinstance(b, int):
        return
    try:
        whole = quotient(a, b)
    except TypeError as error:
        assert "divides" in str(error)
        return
    for n, m, k in product((1, 3, 8), repeat=3):
        sizes = {N: n, M: m, K: k}
        if divisor := value_of(b, sizes):
            assert value_of(whole, sizes) == value_of(a, sizes) // divisor


def test_what_divides_but_for_a_number_is_rounded_down():
    assert same(quotient(N * M * K, M * 2), N * K // 2)
    assert same(quotient(N * M * 6 + N, N * 4), (M * 6 + 1) // 4)
    with pytest.raises(TypeError, match="divides"):
        quotient(N * M, K * 2)


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        (N * M * 16, M * K * 16, "k = n"),
        (N * M * 8, M * 32, "n = 4"),
        (N * M * 16, N * 16, "m = 1"),
        (N * M, N * K + N * 3, "m = (k + 3)"),
        (N * 2 + 2, M * 2, "m = (n + 1)"),
        (N * 2, 8, "n = 4"),
        (N * N, N * M, "m = n"),
        (N * 2, 7, None),  # there is none
        (N * M, K * D, None),
        (N * M * 3, N * 2, None),
        (N * D, M * D, None),  # the data may decide that there is nothing: then both are 0
        (N * M, 0, None),
    ],
)
def test_a_symbol_follows_from_products_that_are_equal(a: te.Dim, b: te.Dim, found: str | None):
    answer = solved(a, b)
    assert (answer and f"{answer[0].name} = {to_text(answer[1])}") == found


def test_a_literal_index_is_a_number_to_symbols():
    n, two = te.var("n"), te.const(2, te.index)
    assert n + two is n + 2 and n * two is n * 2 and (n - two) is n - 2
    assert (n + two == n + 1) is False and (n + two > n) is True
