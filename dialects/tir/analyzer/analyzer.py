"""The analyzer: what is known of integer expressions, how they are simplified, and what can be proved of them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from ...support.arguments import ArgumentError, checked
from .answers import ConstIntBound, IntervalSet, ModularSet
from .answers import Range as Domain
from .bounds import Bounds
from .build import add, all_of, negate, parts, scale, select, truth
from .convert import map_children, substitute
from .facts import ANY_RANGE, Facts, Range, congruent, intersect
from .intset import Interval, interval
from .modular import Remainders
from .nodes import (
    All,
    Any_,
    Const,
    ExprLike,
    IntExpr,
    NonNegative,
    Not,
    Select,
    Sum,
    Var,
    Zero,
    as_expr,
    const,
)
from .prove import Proof, worth_proving
from .rules import applicable

MAX_ROUNDS = 100
"""Simplification makes expressions smaller in each round; more rounds than this are an error in a rule."""


class SimplificationDoesNotEnd(RuntimeError):
    """An error in the table of rules."""


class Analyzer:
    """Facts about integers, and answers that follow from them. An expression over unknowns may have any integer value.

    `rewrite_simplify` and `canonical_simplify` are names of `simplify`: expressions are canonical as they are built,
    so that there is nothing between the two to choose.
    """

    @checked
    def __init__(self, ranges: Mapping[IntExpr, Range] | None = None):
        self.facts = Facts()
        self._bindings: dict[IntExpr, IntExpr] = {}
        if ranges is not None:
            self.facts.ranges.update(ranges)
            if any(isinstance(expr, Sum) for expr in ranges):
                raise TypeError("the range of a sum is an assumption: bind or assume it")
        self._keeps_variables = False
        self.forget()

    @staticmethod
    def of(ranges: Mapping[IntExpr, Range], keeps_variables: bool = False) -> Analyzer:
        """The analyzer that knows the ranges of variables. With `keeps_variables`, one of a single value stands where
        it stood, unless it is divided: a binding names its loop though that runs once."""
        made = Analyzer()
        made.facts.ranges.update(ranges)
        made._keeps_variables = keeps_variables
        return made

    @property
    def remembered(self) -> int:
        """Of how many expressions the simplest form is remembered."""
        return len(self._simple)

    def forget(self) -> None:
        """Drop the answers that are remembered; the facts stay."""
        self._bounds: Bounds = Bounds(self.facts)
        self._remainders: Remainders = Remainders(self.facts, self._bounds)
        self._simple: dict[IntExpr, IntExpr] = {}
        self._answers: dict[IntExpr, bool] = {}

    # facts

    def bind(self, variable: ExprLike, value: ExprLike | range | Domain | tuple[ExprLike, ExprLike]) -> None:
        """Say what `variable` is: an expression, a `Range` or `range`, or least and greatest value (both included, any
        expressions)."""
        variable = as_expr(variable)
        if isinstance(value, Domain):
            value = (value.min, value.last)
        if isinstance(value, range):
            if value.step != 1:
                raise ValueError(f"a range with step {value.step} cannot be bound")
            value = (value.start, value.stop - 1)
        if isinstance(value, tuple):
            low, high = value
            self.assume(variable >= low, variable <= high)
        else:
            self._bindings[variable] = as_expr(value)
            self.forget()

    def update(self, variable: ExprLike, known: ConstIntBound | ModularSet, override: bool = False) -> None:
        """Say between which values an atom lies, or which remainder it has, besides what is known; or, with `override`,
        in place of what its type, `update` and assumptions about it alone said.

        Raises:
            ArgumentError: a bound or a remainder is no integer.
        """
        for each in known:
            if not (each is None or isinstance(each, int)):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ArgumentError(f"a bound or a remainder is an integer, and not {each!r}")
        atom = as_expr(variable)
        if isinstance(atom, Sum | Const):
            raise TypeError(f"bounds are of a variable, not of {atom}: assume a condition")
        if isinstance(known, ModularSet):
            if override:
                self.facts.modular.pop(atom, None)
            self.facts.restrict_modular(atom, congruent(*known))
        else:
            if override:
                self.facts.ranges.pop(atom, None)
                self.facts.replaced |= {atom}
            self.facts.restrict(atom, (known.min_value, known.max_value))
        self.forget()

    def assume(self, *conditions: ExprLike) -> None:
        """Take `conditions` for true from here on.

        Raises:
            ArgumentError: one is Python's `False`, which nothing could be asked under.
        """
        for condition in conditions:
            if condition is False:
                raise ArgumentError("no condition: False", hint="nothing is to be asked where nothing holds")
            self.facts.assume(truth(as_expr(condition)))
        self.forget()

    @contextmanager
    def assuming(self, *conditions: ExprLike) -> Generator[None]:
        """Take `conditions` for true within the `with` block."""
        saved = (self.facts, self._bindings, self._bounds, self._remainders, self._simple, self._answers)
        self.facts = self.facts.copy()
        self._bindings = dict(self._bindings)
        try:
            self.assume(*conditions)
            yield
        finally:
            self.facts, self._bindings, self._bounds, self._remainders, self._simple, self._answers = saved

    constraint_scope = assuming

    # bounds and remainders

    def range(self, expr: IntExpr) -> Range:
        """Least and greatest value, both included (not always tight); `None` where there is no bound."""
        return self._bounds.of(expr)

    def const_int_bound(self, expr: ExprLike) -> ConstIntBound:
        """`range` of the expression as it is and simplified, whichever says more."""
        expr = substitute(as_expr(expr), self._bindings) if self._bindings else as_expr(expr)
        bounds = self.range(expr)
        if (simple := self.simplify(expr)) is not expr:
            bounds = intersect(bounds, self.range(simple))
        return ConstIntBound(*bounds)

    def modular_set(self, expr: ExprLike) -> ModularSet:
        """`(m, b)`, such that the value is `m * k + b` for some `k`; with `m == 0` it is `b`."""
        expr = as_expr(expr)
        return ModularSet(*self._remainders.of(substitute(expr, self._bindings) if self._bindings else expr))

    def interval(self, expr: ExprLike, over: Mapping[IntExpr, tuple[ExprLike | None, ExprLike | None]]) -> Interval:
        """Least and greatest value while the variables of `over` take all values between theirs, as expressions of the
        other variables; `None` where there is no bound."""
        ends = {v: (None if a is None else as_expr(a), None if b is None else as_expr(b)) for v, (a, b) in over.items()}
        return interval(self, as_expr(expr), ends)

    def int_set(
        self, expr: ExprLike, over: Mapping[Any, IntervalSet | tuple[ExprLike | None, ExprLike | None]]
    ) -> IntervalSet:
        """The values while the variables of `over` take all values of their sets: from one expression of the other
        variables to another, both included."""
        sets = {as_expr(v): each if isinstance(each, IntervalSet) else IntervalSet(*each) for v, each in over.items()}
        if any(each.is_nothing() for each in sets.values()):
            return IntervalSet.nothing()
        return IntervalSet(*self.interval(expr, {v: each.ends for v, each in sets.items()}))

    def low(self, expr: IntExpr) -> int | None:
        return self._bounds.of(expr)[0]

    # simplification

    def simplify(self, expr: ExprLike, steps: int = 2) -> IntExpr:
        """The smallest form that the rules find: equal in value wherever the facts hold. There is one kind of `steps`,
        done until nothing changes."""
        expr = as_expr(expr)
        if type(expr) is Const:
            return expr
        if (found := self._simple.get(expr)) is not None:
            return found
        if self._is_plain(expr):
            self._simple[expr] = expr
            return expr
        current = expr
        for _ in range(MAX_ROUNDS):
            after = self._round(current)
            if after is current:
                break
            if (found := self._simple.get(after)) is not None:
                current = found
                break
            current = after
        else:
            raise SimplificationDoesNotEnd(f"{expr}: after {MAX_ROUNDS} rounds {current}")
        self._simple[expr] = self._simple[current] = current
        return current

    def rewrite_simplify(self, expr: ExprLike) -> IntExpr:
        """`simplify`."""
        return self.simplify(expr)

    def canonical_simplify(self, expr: ExprLike) -> IntExpr:
        """`simplify`."""
        return self.simplify(expr)

    def _is_plain(self, expr: IntExpr) -> bool:
        """Whether `expr` is a sum of variables of which nothing says one value: no rule has anything to do there."""
        if self._bindings or self.facts.has_sums:
            return False
        ranges = self.facts.ranges
        for atom in expr.terms if type(expr) is Sum else (expr,):
            if type(atom) is not Var:
                return False
            low, high = ranges.get(atom, ANY_RANGE)
            if low is not None and low == high and not self._keeps_variables:
                return False
        return True

    def _round(self, expr: IntExpr) -> IntExpr:
        """One step: the operands simplified, then one rule at the root."""
        kind = type(expr)
        if kind is Const:
            return expr
        if isinstance(expr, Var):
            if (value := self._bindings.get(expr)) is not None:
                return value
        elif isinstance(expr, Select):
            expr = self._simplify_select(expr)
        else:
            expr = map_children(expr, self.simplify)
        low, high = self._bounds.of(expr)
        if low is not None and low == high and not (self._keeps_variables and isinstance(expr, Sum | Var)):
            return const(low)
        if self.facts.modular:
            coefficient, base = self._remainders.of(expr)
            if not coefficient:
                return const(base)
        for row, rewrite in applicable(expr):
            if (result := rewrite(expr, self)) is not None:
                self.applied(row.name, expr, result)
                return result
        return expr

    def applied(self, name: str, before: IntExpr, after: IntExpr) -> None:
        """Called for each rule that was applied: for tests and traces."""

    def _simplify_select(self, expr: Select) -> IntExpr:
        condition, then, otherwise = expr.args
        condition = self.simplify(condition)
        if not isinstance(condition, Const):
            with self.assuming(condition):
                then = self.simplify(then)
            with self.assuming(negate(condition)):
                otherwise = self.simplify(otherwise)
        return select(condition, then, otherwise)

    # proofs

    def holds(self, condition: IntExpr) -> bool:
        """Whether `condition` follows from facts and bounds, without simplifying it."""
        if type(condition) is Const:
            return condition.value != 0
        if (found := self._answers.get(condition)) is None:
            found = self._answers[condition] = self._decide(condition)
        return found

    def _decide(self, condition: IntExpr) -> bool:
        if condition in self.facts.known:
            return True
        if isinstance(condition, All):
            return all(map(self.holds, condition.args))
        if isinstance(condition, Any_):
            return any(map(self.holds, condition.args))
        if isinstance(condition, NonNegative):
            return self._at_least_zero(condition.args[0])
        if isinstance(condition, Zero):
            expr = condition.args[0]
            if self._remainders.of(expr) == (0, 0):
                return True
            return self._at_least_zero(expr) and self._at_least_zero(scale(expr, -1))
        if isinstance(condition, Not) and isinstance(condition.args[0], Zero):
            expr = condition.args[0].args[0]
            m, b = self._remainders.of(expr)
            if b % m if m else b:
                return True
            return self._at_least_zero(expr - 1) or self._at_least_zero(-expr - 1)
        return False

    def _at_least_zero(self, expr: IntExpr) -> bool:
        low, high = self._bounds.of(expr)
        if low is not None and low >= 0:
            return True
        if (high is not None and high < 0) or not worth_proving(expr, self.facts):
            return False
        return Proof(self).found(expr)

    def can_prove(self, condition: ExprLike) -> bool:
        """Whether `condition` holds wherever the facts do."""
        condition = truth(as_expr(condition))
        return self.holds(condition) or self.holds(self.simplify(condition))

    def can_prove_equal(self, lhs: ExprLike, rhs: ExprLike) -> bool:
        """Whether both have the same value wherever the facts hold."""
        difference = self.simplify(as_expr(lhs) - rhs)
        return difference is const(0) or self.can_prove(difference.equal(0))

    def can_prove_less(self, lhs: ExprLike, rhs: ExprLike) -> bool:
        """Whether `lhs < rhs` wherever the facts hold."""
        return self.can_prove(as_expr(lhs) < rhs)

    def can_prove_greater_equal(self, lhs: ExprLike, rhs: ExprLike) -> bool:
        """Whether `lhs >= rhs` wherever the facts hold."""
        return self.can_prove(as_expr(lhs) >= rhs)

    def divides(self, divisor: ExprLike, expr: ExprLike) -> bool:
        """Whether `expr` is a multiple of `divisor` wherever the facts hold."""
        divisor, expr = self.simplify(divisor), self.simplify(expr)
        if isinstance(divisor, Const) and divisor.value:
            m, b = self._remainders.of(expr)
            if m % divisor.value == 0 and b % divisor.value == 0:
                return True
        return self.can_prove(
            all_of(divisor.differs(0), (expr % divisor).equal(0)) if divisor is not const(0) else as_expr(0)
        )


# linear expressions


def coefficient(expr: IntExpr, variable: IntExpr) -> int:
    """What `variable` is multiplied with in `expr`, as far as it stands outside other operations."""
    return parts(expr)[1].get(variable, 0)


def without(expr: IntExpr, variable: IntExpr) -> IntExpr:
    """`expr` less its multiple of `variable`."""
    factor = coefficient(expr, variable)
    return add(expr, variable, -factor) if factor else expr


def is_linear_in(expr: IntExpr, variable: IntExpr) -> bool:
    """Whether `expr` is a multiple of `variable` and terms that do not depend on it."""
    return not any(atom is not variable and variable in atom.variables for atom in parts(expr)[1])


def depends_only_on(expr: IntExpr, variables: frozenset[Var] | set[Var]) -> bool:
    """Whether no other variable occurs in `expr`."""
    return expr.variables <= variables
