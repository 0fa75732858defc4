"""Compiles rows of the table into functions: matchers that pass what they bound on to what comes next, so that another
way to match is tried where a guard does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd
from typing import TypeAlias

from .build import add, linear, parts, rebuild
from .instantiate import Builder, Env, binder, builder, constant_builder, value_of
from .nodes import (
    All,
    Any_,
    Const,
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    Op,
    Product,
    Sum,
    TruncDiv,
    TruncMod,
    Var,
    const,
    is_condition,
    op,
    var,
)
from .pattern import Condition, Literal, Questions, Row, Wild

Next: TypeAlias = "Callable[[Env], IntExpr | None]"
Matcher: TypeAlias = "Callable[[IntExpr, Env, Next], IntExpr | None]"
Rewriter: TypeAlias = "Callable[[IntExpr, Questions], IntExpr | None]"

_SHARED = (Min, Max, All, Any_, Product)
_DIVISIONS = (FloorDiv, FloorMod, TruncDiv, TruncMod)


class _Compiler:
    """Makes matchers of patterns; `bound` are the variables that are known when a matcher runs."""

    def __init__(self) -> None:
        self.bound: set[IntExpr] = set()

    def match(self, pattern: IntExpr) -> Matcher:
        if isinstance(pattern, Var):
            return self._variable(pattern)
        if isinstance(pattern, Const):
            return lambda expr, env, then: then(env) if expr is pattern else None
        if isinstance(pattern, Sum):
            return self._sum(pattern.sorted_terms, pattern.constant)
        assert isinstance(pattern, Op)
        if isinstance(pattern, Product) and any(isinstance(factor, Literal) for factor in pattern.args):
            return self._sum(((pattern, 1),), 0)
        if type(pattern) in _SHARED:
            return self.shared(pattern)
        order = range(len(pattern.args) - 1, -1, -1) if type(pattern) in _DIVISIONS else range(len(pattern.args))
        inner = [(i, self.match(pattern.args[i])) for i in order]
        kind = type(pattern)
        if len(inner) == 1:
            matcher = inner[0][1]
            return lambda expr, env, then: matcher(expr.args[0], env, then) if type(expr) is kind else None
        if len(inner) == 2:
            (i, first), (j, second) = inner

            def match_two(expr: IntExpr, env: Env, then: Next) -> IntExpr | None:
                if type(expr) is not kind:
                    return None
                args = expr.args
                return first(args[i], env, lambda e: second(args[j], e, then))

            return match_two

        def match_all(expr: IntExpr, env: Env, then: Next) -> IntExpr | None:
            if type(expr) is not kind:
                return None
            args = expr.args

            def step(n: int, env: Env) -> IntExpr | None:
                if n == len(inner):
                    return then(env)
                i, matcher = inner[n]
                return matcher(args[i], env, lambda e: step(n + 1, e))

            return step(0, env)

        return match_all

    def _variable(self, pattern: Var) -> Matcher:
        if pattern in self.bound:
            return lambda expr, env, then: then(env) if env[pattern] is expr else None
        self.bound.add(pattern)
        kind = type(pattern)

        def bind(expr: IntExpr, env: Env, then: Next) -> IntExpr | None:
            if (kind is Literal and type(expr) is not Const) or (kind is Condition and not is_condition(expr)):
                return None
            env[pattern] = expr
            return then(env)

        return bind

    def shared(self, pattern: Op, rest_to: Callable[[Env, IntExpr | None], None] | None = None) -> Matcher:
        """Operands in any order; those left over go to the last operand of the pattern, or at the root to `rest_to`. A
        factor that is known to be a product is its factors."""
        kind = type(pattern)
        order = sorted(pattern.args, key=lambda a: a not in self.bound)
        known = [arg if arg in self.bound else None for arg in order]
        matchers = [self.match(arg) for arg in order]
        last = len(matchers) - 1

        def match(expr: IntExpr, env: Env, then: Next) -> IntExpr | None:
            if type(expr) is not kind or len(expr.args) <= last:
                return None

            def step(n: int, left: tuple[IntExpr, ...], env: Env) -> IntExpr | None:
                if n > last:
                    assert rest_to is not None
                    rest_to(env, rebuild(kind, left) if left else None)
                    return then(env)
                if not left:
                    return None
                if (known_arg := known[n]) is not None and type(value := env[known_arg]) is kind and n < last:
                    others = _without(left, value.args)
                    return None if others is None else step(n + 1, others, env)
                if n == last and rest_to is None:
                    return matchers[n](left[0] if len(left) == 1 else rebuild(kind, left), env, then)
                for i, arg in enumerate(left):
                    others = left[:i] + left[i + 1 :]
                    if (found := matchers[n](arg, env, lambda e, others=others: step(n + 1, others, e))) is not None:
                        return found
                return None

            return step(0, expr.args, env)

        return match

    def _sum(self, pattern: tuple[tuple[IntExpr, int], ...], shift: int) -> Matcher:
        atoms: list[tuple[tuple[Var, ...], int, IntExpr]] = []
        multiples: list[tuple[tuple[Var, ...], int, Var]] = []
        constants: list[tuple[Var, int]] = []
        rest: list[Var] = []
        for atom, factor in pattern:
            factors = atom.args if isinstance(atom, Product) else (atom,)
            literals = tuple(f for f in factors if isinstance(f, Literal))
            others = [f for f in factors if not isinstance(f, Literal)]
            if not others:
                constants.extend((literal, factor) for literal in literals)
            elif len(others) > 1 or not isinstance(others[0], Wild) or others[0] in self.bound:
                atoms.append((literals, factor, others[0] if len(others) == 1 else op(Product, *others)))
            elif literals or factor != 1:
                multiples.append((literals, factor, others[0]))
            else:
                rest.append(others[0])
        assert len(rest) <= 1 and len(constants) <= 1, pattern
        atoms.sort(key=lambda a: len(a[0]))
        steps = [self._term(*a) for a in atoms]
        if constants:
            steps.append(self._constant(*constants[0]))
        steps += [self._multiple(*m) for m in multiples]
        finish = self._variable(rest[0]) if rest else None

        def match(expr: IntExpr, env: Env, then: Next) -> IntExpr | None:
            def step(n: int, left: IntExpr, env: Env) -> IntExpr | None:
                if n < len(steps):
                    return steps[n](left, env, lambda value, e: step(n + 1, value, e))
                if finish is not None:
                    return finish(left, env, then)
                return then(env) if left is const(0) else None

            return step(0, add(expr, const(-shift)) if shift else expr, env)

        return match

    def _coefficient(self, literals: tuple[Var, ...], factor: int) -> Callable[[int, Env], bool]:
        """A check that a number is the product of `factor` and `literals`, at most one of them not known yet."""
        known = [v for v in literals if v in self.bound]
        unknown = [v for v in literals if v not in self.bound]
        assert len(unknown) <= 1
        self.bound.update(unknown)

        def check(number: int, env: Env) -> bool:
            product = factor
            for variable in known:
                product *= value_of(env[variable])
            if not unknown:
                return number == product
            if not product or number % product:
                return False
            env[unknown[0]] = const(number // product)
            return True

        return check

    def _term(self, literals: tuple[Var, ...], factor: int, atom: IntExpr) -> _Step:
        check = self._coefficient(literals, factor)
        matcher = self.match(atom)

        def take(left: IntExpr, env: Env, then: _Continue) -> IntExpr | None:
            terms = left.sorted_terms if type(left) is Sum else () if type(left) is Const else ((left, 1),)
            for term, number in terms:
                if not check(number, env):
                    continue

                def rest(e: Env, term: IntExpr = term, number: int = number) -> IntExpr | None:
                    return then(add(left, term, -number), e)

                if (found := matcher(term, env, rest)) is not None:
                    return found
            return None

        return take

    def _constant(self, literal: Var, sign: int) -> _Step:
        """The constant of a sum is `sign` times a literal."""
        assert abs(sign) == 1, literal
        matcher = self._variable(literal)

        def take(left: IntExpr, env: Env, then: _Continue) -> IntExpr | None:
            constant = parts(left)[0]
            return matcher(const(sign * constant), env, lambda e: then(add(left, const(-constant)), e))

        return take

    def _multiple(self, literals: tuple[Var, ...], factor: int, target: Var) -> _Step:
        unknown = [v for v in literals if v not in self.bound]
        known = [v for v in literals if v in self.bound]
        assert len(unknown) <= 1
        self.bound.update(unknown)
        matcher = self._variable(target)

        def take(left: IntExpr, env: Env, then: _Continue) -> IntExpr | None:
            product = factor
            for variable in known:
                product *= value_of(env[variable])
            if not product:
                return None
            constant, terms = parts(left)
            if not unknown:
                candidates = [product]
            else:
                sizes = {abs(c) // abs(product) for c in terms.values() if c % product == 0} - {1}
                whole = gcd(*terms.values()) if terms else constant
                candidates = [product * n for n in sorted(sizes | {abs(whole // product)} - {0, 1}, reverse=True)]
                if all(c < 0 for c in terms.values()):
                    candidates += [-n for n in candidates] + [-product]
            for number in candidates:
                if unknown:
                    env[unknown[0]] = const(number // product)
                taken, remaining = _split(constant, terms, number)
                if taken is const(0):
                    continue

                def rest(e: Env, remaining: IntExpr = remaining) -> IntExpr | None:
                    return then(remaining, e)

                if (found := matcher(taken, env, rest)) is not None:
                    return found
            return None

        return take


_Continue: TypeAlias = "Callable[[IntExpr, Env], IntExpr | None]"
_Step: TypeAlias = "Callable[[IntExpr, Env, _Continue], IntExpr | None]"


def _without(operands: tuple[IntExpr, ...], taken: Iterable[IntExpr]) -> tuple[IntExpr, ...] | None:
    """What is left of operands where some are taken out; `None` where one of those is not there."""
    left = list(operands)
    for each in taken:
        place = next((number for number, operand in enumerate(left) if operand is each), None)
        if place is None:
            return None
        del left[place]
    return tuple(left)


def _split(constant: int, terms: Mapping[IntExpr, int], number: int) -> tuple[IntExpr, IntExpr]:
    """A sum as `number * taken + remaining`."""
    taken: dict[IntExpr, int] = {}
    remaining: dict[IntExpr, int] = {}
    for atom, factor in terms.items():
        if factor % number:
            remaining[atom] = factor
        else:
            taken[atom] = factor // number
    quotient, rest = divmod(constant, number)
    return linear(quotient, taken), linear(rest, remaining)


_REST = var("rest of the operands")


def compile_row(row: Row) -> Rewriter:
    """A function that applies `row` at the root of an expression; `None` where it does not apply."""
    compiler = _Compiler()
    pattern = row.pattern
    kind = type(pattern)
    open_ended = kind in _SHARED and kind is not Product

    def keep_rest(env: Env, rest: IntExpr | None) -> None:
        if rest is None:
            env.pop(_REST, None)
        else:
            env[_REST] = rest

    if open_ended:
        assert isinstance(pattern, Op)
        matcher = compiler.shared(pattern, keep_rest)
    else:
        matcher = compiler.match(pattern)
    early: list[Callable[[Env], int]] = []
    late: list[Callable[[Env], int]] = []
    asked: list[Builder] = []
    for guard in row.guards:
        if not all(isinstance(v, Literal) for v in guard.variables):
            asked.append(builder(guard))
        elif guard.variables <= compiler.bound:
            early.append(constant_builder(guard))
        else:
            late.append(constant_builder(guard))
    lets = [binder(variable, formula) for variable, formula in row.let.items()]
    build = builder(row.replacement)
    cancels = None if row.cancels is None else tuple(map(builder, row.cancels))

    def rewrite(expr: IntExpr, ask: Questions) -> IntExpr | None:
        def finish(env: Env) -> IntExpr | None:
            for guard in early:
                if not guard(env):
                    return None
            for let in lets:
                if not let(env, ask):
                    return None
            for guard in late:
                if not guard(env):
                    return None
            if cancels is not None and cancels[1](env).measure[0] + row.strictly > cancels[0](env).measure[0]:
                return None
            result = build(env)
            if open_ended and (rest := env.get(_REST)) is not None:
                result = rebuild(kind, (result, rest))
            if result.measure >= expr.measure and not row.narrows:
                return None
            for condition in asked:
                if not ask.holds(condition(env)):
                    return None
            return result

        return matcher(expr, {}, finish)

    return rewrite
