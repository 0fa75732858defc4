"""`solve_linear_equations` and `solve_linear_inequalities` keep the solutions of the systems that they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from random import Random

import pytest

from weft import arith, te
from weft.arith import IntConstraints, IntConstraintsTransform, IntExpr, Range
from weft.dialects.support.arguments import ArgumentError

Point = tuple[int, ...]


def solutions(system: IntConstraints, box: Mapping[IntExpr, range], parameters: Mapping[IntExpr, int]) -> set[Point]:
    """The points of a box for which a system holds."""
    found: set[Point] = set()
    for point in product(*(box[v] for v in system.variables)):
        values = {**parameters, **dict(zip(system.variables, point, strict=True))}
        spans = [v >= each.min for v, each in system.ranges.items()]
        spans += [v <= each.last for v, each in system.ranges.items()]
        if all(arith.evaluate(each, values) for each in (*system.relations, *spans)):
            found.add(point)
    return found


def assert_same(
    solved: IntConstraintsTransform, box: Mapping[IntExpr, range], parameters: Mapping[IntExpr, int]
) -> None:
    """Each solution of one system is one of the other, there and back."""
    source, target = solved.src, solved.dst
    wanted = solutions(source, box, parameters)
    if target.is_nothing:
        assert not wanted
        return
    images: set[Point] = set()
    for point in wanted:
        values = {**parameters, **dict(zip(source.variables, point, strict=True))}
        image = tuple(arith.evaluate(solved.dst_to_src[v], values) for v in target.variables)
        images.add(image)
        there = {**parameters, **dict(zip(target.variables, image, strict=True))}
        assert tuple(arith.evaluate(solved.src_to_dst[v], there) for v in source.variables) == point
    around = {v: range(-14, 15) for v in target.variables}
    if len(around) < 3:
        assert solutions(target, around, parameters) == images


def random_system(random: Random, variables: Sequence[IntExpr], count: int, equal: float) -> list[IntExpr]:
    relations: list[IntExpr] = []
    for _ in range(count):
        total = arith.const(random.randint(-4, 4))
        for v in variables:
            total = total + v * random.randint(-3, 3)
        relations.append(total.equal(0) if random.random() < equal else total >= 0)
    return relations


@pytest.mark.parametrize("seed", range(12))
def test_equations_have_the_solutions_of_what_they_become(seed: int) -> None:
    random = Random(seed)
    x = [arith.var(name) for name in "xyz"][: random.randint(1, 3)]
    spans = {v: Range(-3, 4) for v in x}
    relations = random_system(random, x, random.randint(1, 3), 0.7)
    solved = arith.solve_linear_equations(relations, x, spans)
    assert_same(solved, {v: range(-3, 4) for v in x}, {})
    if len(x) > 1:
        solved = arith.solve_linear_equations(relations, x[:-1], spans)
        for parameter in (-2, 0, 3):
            assert_same(solved, {v: range(-3, 4) for v in x}, {x[-1]: parameter})


@pytest.mark.parametrize("seed", range(12))
def test_inequalities_have_the_solutions_of_what_they_become(seed: int) -> None:
    random = Random(seed)
    x = [arith.var(name) for name in "xyz"][: random.randint(1, 3)]
    spans = {v: Range(-3, 4) for v in x}
    relations = random_system(random, x, random.randint(1, 3), 0.2)
    box = {v: range(-3, 4) for v in x}
    wanted = solutions(IntConstraints(tuple(x), spans, tuple(relations)), box, {})
    solved = arith.solve_linear_inequalities(relations, x, spans)
    assert isinstance(solved, IntConstraints)
    assert (set() if solved.is_nothing else solutions(solved, {v: range(-5, 6) for v in x}, {})) == wanted
    deskewed = arith.solve_linear_inequalities(relations, x, spans, deskew_range=True)
    assert isinstance(deskewed, IntConstraintsTransform)
    assert_same(deskewed, box, {})


def test_a_single_solution_has_no_variable_left() -> None:
    x, y = arith.var("x"), arith.var("y")
    solved = arith.solve_linear_equations([(x + y).equal(20), (x - y).equal(10)], [x, y])
    assert solved.dst.variables == () and solved.dst.relations == ()
    assert (solved.src_to_dst[x], solved.src_to_dst[y]) == (arith.const(15), arith.const(5))
    wrong = arith.solve_linear_equations([(x + y).equal(0), (x - y).equal(0), x.equal(5)], [x, y])
    assert wrong.dst.is_nothing and not wrong.src_to_dst
    odd = arith.solve_linear_equations([(2 * x + 2 * y * 2).equal(y * 4 + 6), (2 * x).equal(5 + y * 0)], [x, y])
    assert odd.dst.is_nothing
    same = arith.solve_linear_equations([(x + y).equal(20)])
    assert same.src == same.dst and same.src.variables == ()


def test_ranges_speak_of_the_variables_that_follow() -> None:
    x, y = arith.var("x"), arith.var("y")
    spans = {x: Range(-100, 100), y: Range(0, 10)}
    problem = [x + y <= 20, x - y >= 10]
    solved = arith.solve_linear_inequalities(problem, [x, y], spans)
    assert isinstance(solved, IntConstraints)
    assert solved.ranges[y] == Range(0, 6) and solved.ranges[x] == Range.from_min_extent(y + 10, 11)
    moved = arith.solve_linear_inequalities(problem, [x, y], spans, deskew_range=True)
    assert isinstance(moved, IntConstraintsTransform)
    a, b = moved.dst.variables
    assert moved.dst.relations == (a + 2 * b <= 10,) and moved.dst.ranges == {a: Range(11), b: Range(6)}
    assert moved.src_to_dst[x] == a + b + 10 and moved.dst_to_src[a] == x - y - 10


def test_relations_that_are_not_linear_stay_relations_and_are_in_no_range() -> None:
    x, y = arith.var("x"), arith.var("y")
    spans = {x: Range(-3, 5), y: Range(-3, 5)}
    for relation in ((3 * y + x // 2).equal(4), x * y + y >= 2, (x * y).equal(y + 3)):
        box = {v: range(-3, 5) for v in spans}
        wanted = solutions(IntConstraints((x, y), spans, (relation,)), box, {})
        solved = arith.solve_linear_inequalities([relation], [x, y], spans)
        assert isinstance(solved, IntConstraints)
        assert solutions(solved, {v: range(-6, 8) for v in spans}, {}) == wanted
        moved = arith.solve_linear_inequalities([relation], [x, y], spans, deskew_range=True)
        assert isinstance(moved, IntConstraintsTransform)
        assert_same(moved, box, {})
        assert not any({x, y} & each.variables for each in moved.src_to_dst.values())


def test_what_depends_on_an_unknown_without_being_arithmetic_of_it_is_refused() -> None:
    i, table = te.var("i"), te.placeholder((8,), "int32", name="table")
    for solve in (arith.solve_linear_equations, arith.solve_linear_inequalities):
        with pytest.raises(ArgumentError, match="depends on what is solved for"):
            solve([table[i] + i >= 5], [i])
