"""Between integer expressions and xDSL's affine expressions; substitution and evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from .build import add, ceildiv, floordiv, floormod, linear, multiply, parts, rebuild
from .nodes import (
    All,
    Any_,
    BitAnd,
    Const,
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    NonNegative,
    Not,
    Op,
    PowerOfTwo,
    Product,
    Select,
    Sum,
    TruncDiv,
    TruncMod,
    Var,
    Zero,
    const,
    var,
)

_BUILD: dict[AffineBinaryOpKind, Callable[[IntExpr, IntExpr], IntExpr]] = {
    AffineBinaryOpKind.Mul: multiply,
    AffineBinaryOpKind.FloorDiv: floordiv,
    AffineBinaryOpKind.CeilDiv: ceildiv,
    AffineBinaryOpKind.Mod: floormod,
}


@cache
def dim(position: int) -> IntExpr:
    """The variable that stands for affine dimension `position`."""
    return var(("d", position), f"d{position}")


@cache
def sym(position: int) -> IntExpr:
    """The variable that stands for affine symbol `position`."""
    return var(("s", position), f"s{position}")


def from_affine(expr: AffineExpr) -> IntExpr:
    """`expr` as an integer expression over `dim` and `sym` variables."""
    if type(expr) is AffineDimExpr:
        return dim(expr.position)
    terms: dict[IntExpr, int] = {}
    return linear(_collect(expr, 1, terms), terms)


def _collect(expr: AffineExpr, factor: int, terms: dict[IntExpr, int]) -> int:
    """Add `factor * expr` to `terms`; what it is apart from them."""
    if type(expr) is AffineDimExpr:
        atom = dim(expr.position)
    elif type(expr) is AffineConstantExpr:
        return factor * expr.value
    elif type(expr) is AffineBinaryOpExpr:
        kind, rhs = expr.kind, expr.rhs
        if kind is AffineBinaryOpKind.Add:
            return _collect(expr.lhs, factor, terms) + _collect(rhs, factor, terms)
        if kind is AffineBinaryOpKind.Mul and type(rhs) is AffineConstantExpr:
            return _collect(expr.lhs, factor * rhs.value, terms)
        built = _BUILD[kind](from_affine(expr.lhs), from_affine(rhs))
        constant, inner = parts(built)
        for atom, multiple in inner.items():
            terms[atom] = terms.get(atom, 0) + factor * multiple
        return factor * constant
    else:
        assert type(expr) is AffineSymExpr
        atom = sym(expr.position)
    terms[atom] = terms.get(atom, 0) + factor
    return 0


def _affine(kind: AffineBinaryOpKind, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    return AffineBinaryOpExpr(kind, lhs, rhs)


_DIVISIONS: dict[type[IntExpr], AffineBinaryOpKind] = {
    FloorDiv: AffineBinaryOpKind.FloorDiv,
    FloorMod: AffineBinaryOpKind.Mod,
}


def to_affine(expr: IntExpr) -> AffineExpr | None:
    """`expr` as an affine expression, larger coefficients first, as nested loops give them; `None` where it holds what
    affine expressions cannot say, or a variable that is neither a dimension nor a symbol."""
    if "affine" not in expr.memo:
        expr.memo["affine"] = _to_affine(expr)
    return expr.memo["affine"]


def _to_affine(expr: IntExpr) -> AffineExpr | None:
    if isinstance(expr, Const):
        return AffineConstantExpr(expr.value)
    if isinstance(expr, Var):
        match expr.key:
            case ("d", int(position)):
                return AffineDimExpr(position)
            case ("s", int(position)):
                return AffineSymExpr(position)
            case _:
                return None
    if isinstance(expr, Sum):
        result: AffineExpr | None = None
        terms: list[tuple[AffineExpr, int]] = []
        for atom, factor in expr.sorted_terms:
            if (converted := to_affine(atom)) is None:
                return None
            terms.append((converted, factor))
        for atom, factor in sorted(terms, key=lambda t: (-abs(t[1]), str(t[0]))):
            term = atom if factor == 1 else _affine(AffineBinaryOpKind.Mul, atom, AffineConstantExpr(factor))
            result = term if result is None else _affine(AffineBinaryOpKind.Add, result, term)
        assert result is not None
        return _affine(AffineBinaryOpKind.Add, result, AffineConstantExpr(expr.constant)) if expr.constant else result
    if not isinstance(expr, FloorDiv | FloorMod | Product):
        return None
    operands = [to_affine(arg) for arg in expr.args]
    kind = _DIVISIONS.get(type(expr), AffineBinaryOpKind.Mul)
    result = operands[0]
    for operand in operands[1:]:
        if result is None or operand is None:
            return None
        result = _affine(kind, result, operand)
    return result


def substitute(expr: IntExpr, values: Mapping[IntExpr, IntExpr]) -> IntExpr:
    """`expr` with variables (or whole atoms) replaced."""
    known: dict[IntExpr, IntExpr] = dict(values)

    def visit(node: IntExpr) -> IntExpr:
        if (done := known.get(node)) is None:
            done = known[node] = map_children(node, visit)
        return done

    return visit(expr)


def map_children(expr: IntExpr, function: Callable[[IntExpr], IntExpr]) -> IntExpr:
    """`expr` with `function` applied to each atom of a sum, or operand of an operation."""
    if isinstance(expr, Sum):
        changed = False
        result: IntExpr = const(expr.constant)
        plain: dict[IntExpr, int] = {}
        pieces: list[tuple[IntExpr, int]] = []
        for atom, factor in expr.terms.items():
            new = function(atom)
            changed = changed or new is not atom
            if isinstance(new, Sum | Const):
                pieces.append((new, factor))
            else:
                plain[new] = plain.get(new, 0) + factor
        if not changed:
            return expr
        result = linear(expr.constant, plain)
        for new, factor in pieces:
            result = add(result, new, factor)
        return result
    if isinstance(expr, Op):
        args = tuple(function(arg) for arg in expr.args)
        return expr if args == expr.args else rebuild(type(expr), args)
    return expr


def _floored(a: int, b: int) -> int:
    return a // b


def _modulo(a: int, b: int) -> int:
    return a % b


def _both_bits(a: int, b: int) -> int:
    return a & b


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a >= 0) == (b > 0) else -quotient


def _rest(a: int, b: int) -> int:
    return a - b * _truncated(a, b)


def _is_natural(a: int) -> int:
    return int(a >= 0)


def _is_zero(a: int) -> int:
    return int(a == 0)


def _every(*conditions: int) -> int:
    return int(all(conditions))


def _some(*conditions: int) -> int:
    return int(any(conditions))


def _power(exponent: int) -> int:
    if exponent < 0:
        raise ValueError(f"2 ** {exponent} is no integer")
    return 1 << exponent


_EVALUATE: dict[type[IntExpr], Callable[..., int]] = {
    FloorDiv: _floored,
    FloorMod: _modulo,
    TruncDiv: _truncated,
    TruncMod: _rest,
    Min: min,
    Max: max,
    NonNegative: _is_natural,
    Zero: _is_zero,
    Not: _is_zero,
    All: _every,
    Any_: _some,
    BitAnd: _both_bits,
    PowerOfTwo: _power,
}


def evaluate(expr: IntExpr, values: Mapping[IntExpr, int]) -> int:
    """The value of `expr` where its variables have `values`.

    Raises:
        KeyError: a variable has no value.
        ZeroDivisionError: something is divided by zero (on the chosen side of a `Select`).
        ValueError: two to a negative power.
    """
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Var):
        return values[expr]
    if isinstance(expr, Sum):
        return expr.constant + sum(evaluate(atom, values) * factor for atom, factor in expr.terms.items())
    assert isinstance(expr, Op)
    if isinstance(expr, Select):
        return evaluate(expr.args[1] if evaluate(expr.args[0], values) else expr.args[2], values)
    operands = [evaluate(arg, values) for arg in expr.args]
    if isinstance(expr, Product):
        result = 1
        for operand in operands:
            result *= operand
        return result
    return _EVALUATE[type(expr)](*operands)
