"""What the variables of a row stand for put into its replacement, its guards and its `let`: compiled into functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from .build import add, linear, multiple_within, multiply, parts, rebuild, scale
from .convert import evaluate, substitute
from .nodes import Const, IntExpr, NonNegative, Op, Product, Sum, Var, Zero, const, var
from .pattern import Common, Literal, Lower, Questions, Whole

Env: TypeAlias = "dict[IntExpr, IntExpr]"
"""What each variable of a pattern matched."""
_BOUND = var("the lower bound", kind=Literal)


def value_of(expr: IntExpr) -> int:
    """The value of what a literal matched."""
    assert isinstance(expr, Const)
    return expr.value


Builder: TypeAlias = "Callable[[Env], IntExpr]"


def builder(expr: IntExpr) -> Builder:
    """A function that builds `expr` with its variables replaced."""
    if isinstance(expr, Var):
        return lambda env: env[expr]
    if isinstance(expr, Const):
        return lambda env: expr
    if isinstance(expr, Sum):
        pieces = [(builder(atom), factor) for atom, factor in expr.sorted_terms]
        start = const(expr.constant)
        (first, number), *others = pieces

        def build(env: Env) -> IntExpr:
            result = scale(first(env), number)
            for piece, factor in others:
                result = add(result, piece(env), factor)
            return add(result, start) if start.value else result

        return build
    assert isinstance(expr, Op)
    kind, args = type(expr), [builder(arg) for arg in expr.args]
    if kind is Product and len(args) == 2:
        left, right = args
        return lambda env: multiply(left(env), right(env))
    return lambda env: rebuild(kind, [arg(env) for arg in args])


def constant_builder(expr: IntExpr) -> Callable[[Env], int]:
    """A function that computes `expr`, whose variables are all constants: a sum without detour, since guards are."""
    if isinstance(expr, NonNegative | Zero):
        inner, is_zero = constant_builder(expr.args[0]), isinstance(expr, Zero)
        return lambda env: (inner(env) == 0) if is_zero else (inner(env) >= 0)
    if isinstance(expr, Var):
        return lambda env: value_of(env[expr])
    if isinstance(expr, Sum):
        pieces, start = [(constant_builder(atom), factor) for atom, factor in expr.sorted_terms], expr.constant

        def total(env: Env) -> int:
            result = start
            for piece, factor in pieces:
                result += piece(env) * factor
            return result

        return total
    if isinstance(expr, Product) and len(expr.args) == 2:
        left, right = map(constant_builder, expr.args)
        return lambda env: left(env) * right(env)
    return lambda env: evaluate(expr, {v: value_of(env[v]) for v in expr.variables})


def binder(variable: Var, formula: IntExpr) -> Callable[[Env, Questions], bool]:
    """A function that binds `variable`; false where it has no value."""
    if isinstance(formula, Common):
        lhs, rhs = (builder(arg) for arg in formula.args)

        def bind_common(env: Env, ask: Questions) -> bool:
            (a, terms), (b, more) = parts(lhs(env)), parts(rhs(env))
            shared = {x: c for x, c in terms.items() if more.get(x) == c}
            env[variable] = linear(a if a == b else 0, shared)
            return bool(shared)

        return bind_common
    if isinstance(formula, Whole):
        dividend, divisor = (builder(arg) for arg in formula.args)

        def bind_whole(env: Env, ask: Questions) -> bool:
            if type(by := divisor(env)) is not Sum or (found := multiple_within(dividend(env), by)) is None:
                return False
            env[variable] = found
            return True

        return bind_whole
    inner = next((e for e in _walk(formula) if isinstance(e, Lower)), None)
    if inner is None:
        compute = builder(formula)

        def bind(env: Env, ask: Questions) -> bool:
            env[variable] = compute(env)
            return True

        return bind
    argument, stand_in = builder(inner.args[0]), _BOUND
    whole = builder(_replace(formula, inner, stand_in))

    def bind_lower(env: Env, ask: Questions) -> bool:
        if (bound := ask.low(argument(env))) is None:
            return False
        env[stand_in] = const(bound)
        env[variable] = whole(env)
        return True

    return bind_lower


def _walk(expr: IntExpr) -> list[IntExpr]:
    args = expr.args if isinstance(expr, Op) else tuple(expr.terms) if isinstance(expr, Sum) else ()
    return [expr, *(e for arg in args for e in _walk(arg))]


def _replace(expr: IntExpr, old: IntExpr, new: IntExpr) -> IntExpr:
    return substitute(expr, {old: new})
