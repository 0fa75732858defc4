"""What a condition says of one variable: linear equations, clip bounds, deduced bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .analyzer import Analyzer
from .build import add, floordiv, linear, maximum, minimum, multiply, parts, scale
from .nodes import (
    FALSE,
    All,
    Const,
    FloorDiv,
    IntExpr,
    Max,
    Min,
    NonNegative,
    Not,
    Product,
    Zero,
    const,
    op,
)


def detect_linear_equation(expr: IntExpr, variables: Sequence[IntExpr]) -> list[IntExpr] | None:
    """`expr` as `sum(c[i] * variables[i]) + c[-1]`, no `c` depending on a variable; `None` where it is not linear."""
    wanted = set(variables)
    found: dict[IntExpr, IntExpr] = dict.fromkeys(variables, FALSE)
    constant, terms = parts(expr)
    rest = linear(constant, {})
    for atom, factor in terms.items():
        split = _split_product(atom, wanted)
        if split is None:
            return None
        variable, others = split
        if variable is None:
            rest = add(rest, atom, factor)
        else:
            found[variable] = add(found[variable], others, factor)
    return [*(found[v] for v in variables), rest]


def _split_product(atom: IntExpr, variables: set[IntExpr]) -> tuple[IntExpr | None, IntExpr] | None:
    """An atom as one of `variables` (or none) times what depends on none of them."""
    factors = atom.args if isinstance(atom, Product) else (atom,)
    inside = [f for f in factors if not f.variables.isdisjoint(variables)]
    if not inside:
        return None, atom
    if len(inside) > 1 or inside[0] not in variables:
        return None
    others = [f for f in factors if f is not inside[0]]
    if not others:
        return inside[0], const(1)
    return inside[0], others[0] if len(others) == 1 else op(Product, *others)


Clip = tuple["IntExpr | None", "IntExpr | None"]
"""Least and greatest value, both included; `None` where there is no bound."""


def detect_clip_bound(condition: IntExpr, variables: Sequence[IntExpr]) -> list[Clip] | None:
    """The bounds that a conjunction of comparisons gives each variable, by itself; `None` where one of its parts is no
    bound of exactly one of them with a coefficient of 1 or -1."""
    bounds: dict[IntExpr, Clip] = dict.fromkeys(variables, (None, None))
    conditions = list(condition.args) if isinstance(condition, All) else [condition]
    while conditions:
        part = Analyzer().simplify(conditions.pop())
        if isinstance(part, All):
            conditions.extend(part.args)
            continue
        if not isinstance(part, NonNegative | Zero):
            return None
        inner = part.args[0]
        if isinstance(part, NonNegative) and (split := _choice(inner)) is not None:
            conditions.extend(split)
            continue
        equation = detect_linear_equation(inner, variables)
        if equation is None:
            return None
        used = [(v, c) for v, c in zip(variables, equation[:-1], strict=True) if c is not FALSE]
        if len(used) != 1 or not isinstance(used[0][1], Const) or abs(used[0][1].value) != 1:
            return None
        ((variable, factor),) = used
        bound = scale(equation[-1], -factor.value) if isinstance(factor, Const) else FALSE
        low, high = bounds[variable]
        if isinstance(part, Zero) or factor is const(1):
            low = bound if low is None else maximum(low, bound)
        if isinstance(part, Zero) or factor == const(-1):
            high = bound if high is None else minimum(high, bound)
        bounds[variable] = (low, high)
    return [bounds[v] for v in variables]


def _choice(expr: IntExpr) -> list[IntExpr] | None:
    """`min(..) + r >= 0` and `r - max(..) >= 0` as one condition for each operand."""
    for atom, factor in parts(expr)[1].items():
        if (isinstance(atom, Min) and factor > 0) or (isinstance(atom, Max) and factor < 0):
            rest = add(expr, atom, -factor)
            return [add(rest, arg, factor) >= 0 for arg in atom.args]
    return None


NOTHING: Clip = (None, None)


def deduce_bound(
    variable: IntExpr,
    condition: IntExpr,
    hints: Mapping[IntExpr, tuple[int | None, int | None]],
    relax: Mapping[IntExpr, tuple[int | None, int | None]],
) -> Clip | None:
    """The values of `variable` for which `condition`, one comparison, holds whatever the variables of `relax` are.

    `hints` are ranges that decide signs. The bounds are expressions of the other variables. `None` where nothing can
    be said: the variable occurs more than once, or under an operation that is not undone; an equation that not all
    values of `relax` fulfil; a conjunction.
    """
    analyzer = Analyzer({**hints, **relax})
    if isinstance(condition, Not) and isinstance(condition.args[0], Zero):
        return None
    if isinstance(condition, Zero):
        return _deduce_equal(analyzer, variable, condition.args[0], relax)
    if not isinstance(condition, NonNegative):
        return None
    inner = condition.args[0]
    lowest, _ = analyzer.interval(_without(inner, variable), relax)
    if lowest is None:
        return None
    carrier = add(inner, _without(inner, variable), -1)
    ((atom, factor),) = parts(carrier)[1].items() if len(parts(carrier)[1]) == 1 else ((None, 0),)
    if atom is None:
        return None
    return _undo(analyzer, variable, atom, factor, lowest, relax)


def _without(expr: IntExpr, variable: IntExpr) -> IntExpr:
    """The terms of `expr` that do not depend on `variable`."""
    constant, terms = parts(expr)
    return linear(constant, {a: c for a, c in terms.items() if variable not in a.variables})


def _undo(
    analyzer: Analyzer,
    variable: IntExpr,
    atom: IntExpr,
    factor: int,
    rest: IntExpr,
    relax: Mapping[IntExpr, tuple[int | None, int | None]],
) -> Clip | None:
    """The bound of `variable` from `factor * atom + rest >= 0`."""
    if atom is variable:
        by: IntExpr = const(factor)
    elif isinstance(atom, Product) and atom.args.count(variable) == 1:
        others = [f for f in atom.args if f is not variable]
        by = const(factor)
        for other in others:
            by = multiply(by, other)
        if variable in by.variables or not by.variables.isdisjoint(relax):
            return None
    elif isinstance(atom, FloorDiv) and isinstance(atom.args[1], Const) and atom.args[1].value > 0:
        return _undo_division(analyzer, variable, atom, factor, rest, relax)
    else:
        return None
    if analyzer.can_prove(by > 0):  # variable >= ceil(-rest / by)
        return analyzer.simplify(scale(floordiv(rest, by), -1)), None
    if analyzer.can_prove(by < 0):  # variable <= floor(rest / -by)
        return None, analyzer.simplify(floordiv(rest, scale(by, -1)))
    return None


def _undo_division(
    analyzer: Analyzer,
    variable: IntExpr,
    atom: FloorDiv,
    factor: int,
    rest: IntExpr,
    relax: Mapping[IntExpr, tuple[int | None, int | None]],
) -> Clip | None:
    number, divisor = atom.args
    if factor > 0:  # number >= divisor * ceil(-rest / factor)
        bound = multiply(divisor, scale(floordiv(rest, const(factor)), -1))
        inner = add(number, bound, -1)
    else:  # number <= divisor * (floor(rest / -factor) + 1) - 1
        bound = multiply(divisor, add(floordiv(rest, const(-factor)), const(1)))
        inner = add(add(bound, const(-1)), number, -1)
    inner = analyzer.simplify(inner)
    lowest, _ = analyzer.interval(_without(inner, variable), relax)
    remaining = {a: c for a, c in parts(inner)[1].items() if variable in a.variables}
    if lowest is None or len(remaining) != 1:
        return None
    ((atom_, factor_),) = remaining.items()
    return _undo(analyzer, variable, atom_, factor_, lowest, relax)


def _deduce_equal(
    analyzer: Analyzer, variable: IntExpr, inner: IntExpr, relax: Mapping[IntExpr, tuple[int | None, int | None]]
) -> Clip | None:
    equation = detect_linear_equation(inner, [variable])
    if equation is None or not isinstance(equation[0], Const):
        return None
    factor, rest = equation[0].value, analyzer.simplify(equation[1])
    if not factor or not rest.variables.isdisjoint(relax) or not analyzer.divides(abs(factor), rest):
        return None
    value = analyzer.simplify(floordiv(scale(rest, -1), const(factor)))
    return value, value
