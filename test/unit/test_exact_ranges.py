"""Exact ranges are what trying all values gives."""

import random
from itertools import product

from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from weft.dialects.tir.affine import expr_range
from weft.dialects.tir.exact_ranges import exact_range

RANGES = ((0, 3), (2, 7), (-5, 4), (6, 6))


def some_expr(chooser: random.Random, depth: int) -> AffineExpr:
    if depth == 0 or chooser.random() < 0.15:
        if chooser.random() < 0.2:
            return AffineConstantExpr(chooser.randrange(-6, 7))
        return AffineDimExpr(chooser.randrange(len(RANGES)))
    part = some_expr(chooser, depth - 1)
    match chooser.randrange(5):
        case 0 | 1:
            return part + some_expr(chooser, depth - 1)
        case 2:
            return part * chooser.choice([-8, -3, -1, 2, 4, 5])
        case 3:
            return part // chooser.randrange(1, 9)
        case _:
            return part % chooser.randrange(1, 9)


def tried(expr: AffineExpr) -> tuple[int, int]:
    values = [expr.eval(point, []) for point in product(*(range(low, high + 1) for low, high in RANGES))]
    return min(values), max(values)


def test_what_is_found_are_the_least_and_the_greatest_value() -> None:
    chooser = random.Random(3)
    found = 0
    for _ in range(1500):
        expr = some_expr(chooser, chooser.randrange(1, 4))
        if (range_ := exact_range(expr, RANGES)) is not None:
            assert range_ == tried(expr), str(expr)
            found += 1
    assert found > 900


def test_digits_of_a_joined_loop_are_found() -> None:
    i, j = AffineDimExpr(0), AffineDimExpr(1)
    ranges = [(0, 97), (0, 3)]
    assert exact_range(i // 49, ranges) == (0, 1)
    assert exact_range((i // 7) % 7 * 4 + j, ranges) == (0, 27)
    assert exact_range(i * 4 + j, ranges) == (0, 391)
    assert exact_range((i * 4) % 8, ranges) == (0, 4)


def test_a_dimension_in_two_parts_and_one_without_values_are_left_to_the_analyzer() -> None:
    i = AffineDimExpr(0)
    assert exact_range(i + i // 2, [(0, 9)]) is None
    assert exact_range(i, [(1, 0)]) is None
    assert expr_range(i + i // 2, {i: (0, 9)}) is not None
