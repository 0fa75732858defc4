"""What the truth of a condition says of indices is what it says at every point."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, i1, i16, i32
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from weft.dialects.tir.affine import affine_of, over_dimensions
from weft.dialects.tir.analyzer import Analyzer, const, dim, substitute
from weft.dialects.tir.conditions import Conditions, Guard
from weft.transforms.tir.analysis.known_conditions import KnownConditions

EXTENTS = (5, 4)
POINTS = [(i, j) for i, j in product(*map(range, EXTENTS))]
COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
COMBINE: Mapping[str, tuple[type[arith.AndIOp | arith.OrIOp | arith.XOrIOp], Callable[[bool, bool], bool]]] = {
    "and": (arith.AndIOp, bool.__and__), "or": (arith.OrIOp, bool.__or__), "xor": (arith.XOrIOp, bool.__xor__),
}  # fmt: skip


@dataclass(frozen=True)
class Sum:
    """`i * rows + j * columns + more`."""

    rows: int
    columns: int
    more: int

    def at(self, point: tuple[int, int]) -> int:
        return point[0] * self.rows + point[1] * self.columns + self.more


@dataclass(frozen=True)
class Compared:
    """Two sums compared, as 32-bit integers or as indices."""

    predicate: str
    lhs: Sum
    rhs: Sum
    cast: bool


@dataclass(frozen=True)
class Combined:
    word: str
    lhs: Tree
    rhs: Tree


Tree: TypeAlias = "bool | Compared | Combined | None"
"""A condition; `None` is one that data decides."""


def truth(tree: Tree, point: tuple[int, int], data: bool) -> bool:
    """What a condition is at a point."""
    match tree:
        case Combined(word, lhs, rhs):
            return COMBINE[word][1](truth(lhs, point, data), truth(rhs, point, data))
        case Compared(predicate, lhs, rhs):
            a, b = lhs.at(point), rhs.at(point)
            if predicate.startswith("u"):
                a, b = a % (1 << 64), b % (1 << 64)
            return COMPARE[predicate[-2:]](a, b)
        case None:
            return data
        case bool():
            return tree


def emitted(tree: Tree, body: Block) -> SSAValue:
    """The operations that compute a condition, put into a body whose arguments are `i`, `j` and what data decides."""
    if tree is None:
        return body.args[2]
    if isinstance(tree, bool):
        op = arith.ConstantOp(IntegerAttr(int(tree), i1))
    elif isinstance(tree, Combined):
        op = COMBINE[tree.word][0](emitted(tree.lhs, body), emitted(tree.rhs, body))
    else:
        sides = [emitted_sum(side, body) for side in (tree.lhs, tree.rhs)]
        if tree.cast:
            casts = [arith.IndexCastOp(side, i32) for side in sides]
            body.add_ops(casts)
            sides = [cast.result for cast in casts]
        op = arith.CmpiOp(sides[0], sides[1], tree.predicate)
    body.add_op(op)
    return op.results[0]


def emitted_sum(sum: Sum, body: Block) -> SSAValue:
    constants = [arith.ConstantOp(IntegerAttr(n, IndexType())) for n in (sum.rows, sum.columns, sum.more)]
    rows, columns = (arith.MuliOp(body.args[d], constants[d].result) for d in (0, 1))
    both = arith.AddiOp(rows.result, columns.result)
    total = arith.AddiOp(both.result, constants[2].result)
    body.add_ops([*constants, rows, columns, both, total])
    return total.result


sums = st.builds(Sum, st.integers(-2, 2), st.integers(-2, 2), st.integers(-4, 6))
leaves = st.builds(Compared, st.sampled_from(PREDICATES), sums, sums, st.booleans()) | st.booleans()


def conditions(leaf: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.recursive(
        leaf, lambda inner: st.builds(Combined, st.sampled_from(list(COMBINE)), inner, inner), max_leaves=5
    )


def guard_of(tree: Tree, *, holds: bool) -> Guard:
    body = Block(arg_types=[IndexType(), IndexType(), i1])
    value = emitted(tree, body)
    dims = over_dimensions(body.args[:2])
    ranges = {AffineExpr.dimension(number): (0, extent - 1) for number, extent in enumerate(EXTENTS)}
    return Conditions(lambda index: affine_of(index, dims), ranges).of(value, holds)


@settings(max_examples=200, deadline=None)
@given(conditions(leaves | st.none()), st.booleans(), st.booleans())
def test_a_guard_says_when_a_condition_holds(tree: Tree, data: bool, holds: bool) -> None:
    guard = guard_of(tree, holds=holds)
    for point in POINTS:
        said = all(condition.eval(list(point), []) >= 0 for condition in guard.conditions)
        is_so = truth(tree, point, data) is holds
        assert said == is_so if guard.whole else said or not is_so


@settings(max_examples=100, deadline=None)
@given(leaves, st.sampled_from(list(COMBINE)), leaves, st.booleans())
def test_two_comparisons_are_all_of_a_condition(one: Tree, word: str, other: Tree, holds: bool) -> None:
    """Unless one is without a sign, and a side may be negative."""
    least = [
        min(map(side.at, POINTS))
        for leaf in (one, other)
        if isinstance(leaf, Compared)
        for side in (leaf.lhs, leaf.rhs)
    ]
    unsigned = any(isinstance(leaf, Compared) and leaf.predicate.startswith("u") for leaf in (one, other))
    assert guard_of(Combined(word, one, other), holds=holds).whole or (unsigned and min(least) < 0)


@pytest.mark.parametrize(("count", "is_whole"), [(4, True), (5, False)])
def test_of_a_condition_that_takes_many_expressions_nothing_is_known(count: int, is_whole: bool) -> None:
    sums = [Sum(1, 0, 0), Sum(0, 1, 0), Sum(1, 1, 0), Sum(1, -1, 0), Sum(-1, 2, 0)][:count]

    def all_above(least: int) -> Tree:
        compared: list[Tree] = [Compared("sge", each, Sum(0, 0, least + n % 2), False) for n, each in enumerate(sums)]
        return reduce(lambda one, other: Combined("and", one, other), compared)

    assert guard_of(Combined("or", all_above(1), all_above(-2)), holds=True).whole is is_whole


def known_in(body: Block, extents: tuple[int, int] = EXTENTS) -> KnownConditions:
    ranges = {AffineExpr.dimension(number): (0, extent - 1) for number, extent in enumerate(extents)}
    return KnownConditions(Region(body), over_dimensions(body.args[:2]), ranges)


@settings(max_examples=200, deadline=None)
@given(conditions(leaves | st.none()), st.booleans(), st.booleans())
def test_what_is_known_where_a_condition_holds_holds_there(tree: Tree, data: bool, holds: bool) -> None:
    value = emitted(tree, body := Block(arg_types=[IndexType(), IndexType(), i1]))
    known = known_in(body)
    facts, decided = known.facts(value, holds), known.decide(value, ())
    for point in POINTS:
        is_so = truth(tree, point, data)
        assert decided in (None, is_so)
        at = {dim(number): const(index) for number, index in enumerate(point)}
        if is_so is holds:
            assert all(Analyzer().can_prove(substitute(fact, at)) for fact in facts)


def test_an_index_that_32_bits_do_not_hold_is_no_integer_of_them() -> None:
    for extent, type, is_known in ((1 << 31, i32, True), ((1 << 31) + 1, i32, False), (1 << 17, i16, False)):
        body = Block(arg_types=[IndexType(), IndexType(), i1])
        body.add_op(cast := arith.IndexCastOp(body.args[0], type))
        assert (known_in(body, (extent, 1)).number(cast.result, ()) is not None) is is_known
