"""Index maps as splits and fusions: what is found is checked against all points of the domain."""

from __future__ import annotations

from itertools import product
from time import perf_counter

import pytest

from weft.dialects.tir.analyzer import Analyzer, IntExpr, all_of, const, evaluate, var
from weft.dialects.tir.analyzer.iter_forms import inverse_affine_iter_map
from weft.dialects.tir.analyzer.iter_map import detect_iter_map, normalize_iter_map_to_expr
from weft.dialects.tir.analyzer.nodes import TRUE

i, j, k, x, y, z = map(var, "ijkxyz")

Domains = dict[IntExpr, int]


def _points(domains: Domains, predicate: IntExpr) -> list[dict[IntExpr, int]]:
    points = [dict(zip(domains, v, strict=True)) for v in product(*(range(n) for n in domains.values()))]
    return [p for p in points if evaluate(predicate, p)]


def _images(indices: list[IntExpr], domains: Domains, predicate: IntExpr) -> list[tuple[int, ...]]:
    return [tuple(evaluate(index, p) for index in indices) for p in _points(domains, predicate)]


MAPS: list[tuple[list[IntExpr], Domains, IntExpr, list[tuple[int, int, int]]]] = [
    ([x, y], {x: 3, y: 4}, TRUE, [(3, 0, 1), (4, 0, 1)]),
    ([x + 5], {x: 3}, TRUE, [(3, 5, 1)]),
    ([y * 3 + x + 1], {x: 3, y: 4}, TRUE, [(12, 1, 1)]),
    ([x * 4 + y * 2], {x: 3, y: 2}, TRUE, [(6, 0, 2)]),
    ([x // 3, x % 3 * 2 + 7], {x: 24}, TRUE, [(8, 0, 1), (3, 7, 2)]),
    ([x // 6, x % 6 // 2, x % 2], {x: 24}, TRUE, [(4, 0, 1), (3, 0, 1), (2, 0, 1)]),
    ([x * 2 // 4, x * 2 % 4], {x: 8}, TRUE, [(4, 0, 1), (2, 0, 2)]),
    ([(x * 10 + y) // 5, (x * 10 + y) % 5], {x: 3, y: 10}, TRUE, [(6, 0, 1), (5, 0, 1)]),
    ([(x * 3 + y) // 4, (x * 3 + y) % 4], {x: 8, y: 3}, TRUE, [(6, 0, 1), (4, 0, 1)]),
    ([y // 3 * 6 + x // 5 * 3 + y % 3, x % 5], {x: 10, y: 9}, TRUE, [(18, 0, 1), (5, 0, 1)]),
    ([x * 10 + y], {x: 13, y: 10}, x * 10 + y < 128, [(128, 0, 1)]),
    ([x * 10 + y], {x: 13, y: 10}, x * 10 + y > 5, [(124, 6, 1)]),
    ([x * 10 + y], {x: 13, y: 10}, all_of(x * 10 + y > 5, x * 10 + y < 128), [(122, 6, 1)]),
    ([i * 8 + j * 2 + k], {i: 11, j: 5, k: 2}, all_of(1 <= j * 2 + k, j * 2 + k < 9), [(88, 1, 1)]),
    ([i], {i: 48}, i < 10, [(10, 0, 1)]),
    ([i + j], {i: 1, j: 9}, j <= 24, [(9, 0, 1)]),
]

TURNED: list[tuple[list[IntExpr], Domains, IntExpr, list[tuple[int, int, int]]]] = [
    ([x * 4 + y * 2 + z * 12 - 1], {x: 3, y: 2, z: 5}, TRUE, []),
    ([x * 12 + y * 2], {x: 1, y: 6}, TRUE, []),
    ([(x + y) // 4, (x + y) % 4], {x: 1, y: 8}, TRUE, []),
    ([(x * 6 + y) // 4 * 3, (x * 6 + y) % 4], {x: 4, y: 6}, TRUE, []),
]


@pytest.mark.parametrize("indices, domains, predicate, expected", MAPS, ids=str)
def test_a_map_is_found_and_takes_each_value(
    indices: list[IntExpr], domains: Domains, predicate: IntExpr, expected: list[tuple[int, int, int]]
):
    found = detect_iter_map(indices, domains, predicate, bijective=True)
    assert found, found.reason
    numbers = [tuple(evaluate(e, {}) for e in (f.extent, f.base, f.scale)) for f in found.indices]
    assert numbers == expected
    images = _images(indices, domains, predicate)
    boxes = product(*(range(base, base + extent * step, step) for extent, base, step in expected))
    assert sorted(images) == sorted(boxes)
    for index, sum_ in zip(indices, found.indices, strict=True):
        normalized = normalize_iter_map_to_expr(sum_)
        assert all(evaluate(normalized, p) == evaluate(index, p) for p in _points(domains, predicate))


@pytest.mark.parametrize("keep_trivial", [False, True])
@pytest.mark.parametrize("indices, domains, predicate, expected", [*MAPS, *TURNED], ids=str)
def test_the_inverse_of_a_bijection_leads_back(
    indices: list[IntExpr],
    domains: Domains,
    predicate: IntExpr,
    expected: list[tuple[int, int, int]],
    keep_trivial: bool,
):
    found = detect_iter_map(indices, domains, predicate, bijective=True, keep_trivial=keep_trivial)
    assert found, found.reason
    outputs = [var(f"o{number}") for number in range(len(indices))]
    back = inverse_affine_iter_map(found.indices, outputs)
    assert set(back) == {v for v, extent in domains.items() if extent > 1 or v in back}
    for point in _points(domains, predicate):
        values = {o: evaluate(index, point) for o, index in zip(outputs, indices, strict=True)}
        assert {v: evaluate(each, values) for v, each in back.items()} == {v: point[v] for v in back}


def test_a_condition_that_never_holds_gives_no_map():
    for never in (all_of(x > 5, x < 0), x >= 3, const(0)):
        found = detect_iter_map([x], {x: 3}, never)
        assert not found and "never fulfilled" in found.reason


NO_MAPS: list[tuple[list[IntExpr], Domains, IntExpr]] = [
    ([x, x], {x: 3}, TRUE),
    ([y * 3 + x, y], {x: 3, y: 4}, TRUE),
    ([y, x + 1, y], {x: 3, y: 4}, TRUE),
    ([y * 4 + x], {x: 3, y: 4}, TRUE),
    ([x * y], {x: 3, y: 4}, TRUE),
    ([x // 4, x % 4], {x: 10}, TRUE),
    ([x // (y + 1)], {x: 10, y: 3}, TRUE),
    ([i, j, k], {i: 8, j: 8, k: 8}, i * 64 + j * 8 + k < 100),
    ([i * 8 + j, k], {i: 8, j: 8, k: 8}, i * 64 + j * 8 + k < 100),
    ([5 * x + 2 * y], {x: 4, y: 3}, TRUE),
    ([x % 6, x // 2], {x: 24}, TRUE),
]


@pytest.mark.parametrize("indices, domains, predicate", NO_MAPS, ids=str)
def test_what_is_no_map_says_why(indices: list[IntExpr], domains: Domains, predicate: IntExpr):
    found = detect_iter_map(indices, domains, predicate)
    assert not found and found.reason and not found.indices


def test_a_part_that_is_left_out_makes_a_map_surjective_only():
    assert detect_iter_map([x // 4], {x: 16})
    assert not detect_iter_map([x // 4], {x: 16}, bijective=True)
    assert detect_iter_map([x], {x: 4, y: 5})
    assert detect_iter_map([x + y], {x: 3, y: 4})
    assert not detect_iter_map([x + y], {x: 3, y: 4}, bijective=True)
    assert not detect_iter_map([x], {x: 4, y: 5}, bijective=True)
    assert not detect_iter_map([x, z], {x: 3, y: 4, z: 1}, bijective=True)
    assert not detect_iter_map([(x * 8 + y) % 4], {x: 4, y: 8}, bijective=True)


def test_extents_may_be_symbols():
    m, n = var("m"), var("n")
    analyzer = Analyzer()
    analyzer.assume(m >= 1, n >= 1)
    fused = detect_iter_map([x * n + y], {x: m, y: n}, bijective=True, analyzer=analyzer)
    assert fused, fused.reason
    assert analyzer.can_prove_equal(fused.indices[0].extent, m * n)
    split = detect_iter_map([x // n, x % n], {x: m * n}, bijective=True, analyzer=analyzer)
    assert split, split.reason
    assert [s.extent for s in split.indices] == [m, n]
    assert not detect_iter_map([x // n, x % n], {x: m}, analyzer=analyzer)


PADDED: list[tuple[list[IntExpr], Domains, list[tuple[int, int, int]]]] = [
    ([x // 15], {x: 26}, [(2, 0, 1)]),
    ([(x + 16) // 32], {x: 176}, [(6, 0, 1)]),
    ([(x + 71) // 32], {x: 45}, [(2, 2, 1)]),
    ([x // 3 % 5, x % 3], {x: 26}, [(5, 0, 1), (3, 0, 1)]),
    ([(x + 80) // 2 % 16, (x + 80) % 2], {x: 176}, [(16, 0, 1), (2, 0, 1)]),
    ([(x + 10) % 3, (x + 10) // 3 % 4, (x + 10) // 12 % 5], {x: 240}, [(3, 0, 1), (4, 0, 1), (5, 0, 1)]),
    ([(x * 5 + y + 3) % 4 * 2 + 7], {x: 3, y: 5}, [(4, 7, 2)]),
    ([(x // 3 + 1) // 2], {x: 10}, [(3, 0, 1)]),
]


@pytest.mark.parametrize("indices, domains, expected", PADDED, ids=str)
def test_iterators_are_padded_where_divisors_do_not_divide_them(
    indices: list[IntExpr], domains: Domains, expected: list[tuple[int, int, int]]
):
    assert not detect_iter_map(indices, domains)
    found = detect_iter_map(indices, domains, padded=True)
    assert found, found.reason
    assert [(e.extent, e.base, e.scale) for e in found.indices] == [tuple(map(const, each)) for each in expected]
    ranges = [range(base, base + extent * scale, scale) for extent, base, scale in expected]
    assert set(_images(indices, domains, TRUE)) == set(product(*ranges))
    forms = [normalize_iter_map_to_expr(each) for each in found.indices]
    assert _images(forms, domains, TRUE) == _images(indices, domains, TRUE)


def test_padding_is_where_no_iteration_is():
    found = detect_iter_map([(x + 5) // 8], {x: 14}, padded=True)
    values = [evaluate(found.padding, {x: value}) for value in range(-5, 19)]
    assert values == [not 0 <= value < 14 for value in range(-5, 19)]


@pytest.mark.parametrize(
    "indices, domains",
    [
        ([(80 + x) // 32, (80 + x) % 32], {x: 176}),
        ([(x + 1) % 3, x % 6], {x: 26}),
        ([(x + 10) % 3, (x + 10) // 3 % 4, (x + 10) // 12 % 5, (x + 10) // 60], {x: 240}),
        ([(x + 1) % 3, x // 3 % 4], {x: 240}),
    ],
    ids=str,
)
def test_padding_that_would_leave_gaps_gives_no_map(indices: list[IntExpr], domains: Domains):
    assert not detect_iter_map(indices, domains, padded=True)


def test_many_conditions_that_hold_within_each_other_are_looked_at_once():
    names = [var(f"v{number}") for number in range(12)]
    sums = [names[0]]
    for each in names[1:]:
        sums.append(sums[-1] * 2 + each)
    conditions = all_of(*(sum_ >= 1 for sum_ in sums[1:]))
    started = perf_counter()
    detect_iter_map([sums[-1]], dict.fromkeys(names, 2), conditions)
    assert perf_counter() - started < 5
