"""Extents that are symbols: `n = te.var("n")`, and what can be made of it by index arithmetic, as `n * 4 + 1`.

A `Dim` is an integer or such an expression. What a symbol is worth is known when a computation runs; it is not
negative.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence

from .expr import Binary, BinaryKind, Const, Dim, Expr, Var, binary, const, index

_VALUES: dict[BinaryKind, Callable[[int, int], int]] = {
    BinaryKind.ADD: operator.add,
    BinaryKind.SUB: operator.sub,
    BinaryKind.MUL: operator.mul,
    BinaryKind.FLOORDIV: int.__floordiv__,
    BinaryKind.FLOORMOD: operator.mod,
    BinaryKind.MIN: min,
    BinaryKind.MAX: max,
}


def var(name: str) -> Var:
    """A symbol: an extent that is known when the computation runs. Counterpart of TVM's `te.var` and `te.size_var`."""
    return Var(name)


def as_dim(dim: object) -> Dim:
    """`dim`, if an extent can be that.

    Raises:
        TypeError: it is neither an integer nor index arithmetic on symbols and integers.
    """
    match dim:
        case bool():
            pass
        case int():
            return dim
        case Const(value) if dim.type == index:
            return int(value)
        case Expr() if _is_dim(dim):
            return dim
        case _:
            pass
    raise TypeError(f"te: an extent is an integer, or index arithmetic on te.var's, not {dim!r}")


def _is_dim(expr: Expr) -> bool:
    match expr:
        case Var():
            return True
        case Const():
            return expr.type == index
        case Binary(kind, lhs, rhs):
            return kind in _VALUES and _is_dim(lhs) and _is_dim(rhs)
        case _:
            return False


def dim_expr(dim: Dim) -> Expr:
    """An extent as an index expression."""
    return const(dim, index) if isinstance(dim, int) else dim


def product(dims: Iterable[Dim]) -> Dim:
    """The product of extents."""
    total: Dim = 1
    for dim in dims:
        if isinstance(total, int) and isinstance(dim, int):
            total *= dim
        else:
            total = as_dim(binary(BinaryKind.MUL, dim_expr(total), dim_expr(dim)))
    return total


def variables(dims: Iterable[Dim]) -> list[Var]:
    """The symbols in `dims`, each once, in order."""
    found: dict[Var, None] = {}
    stack: list[Dim] = list(dims)[::-1]
    while stack:
        match stack.pop():
            case Var() as symbol:
                found[symbol] = None
            case Binary(_, lhs, rhs):
                stack += [rhs, lhs]
            case _:
                pass
    return list(found)


def value_of(dim: Dim, sizes: Mapping[Var, int]) -> int:
    """What an extent is where symbols have `sizes`; not below zero.

    Raises:
        KeyError: a symbol has no size.
    """
    return max(0, _value(dim, sizes))


def _value(dim: Dim, sizes: Mapping[Var, int]) -> int:
    match dim:
        case int():
            return dim
        case Var():
            if dim not in sizes:
                raise KeyError(f"te: it does not follow from the inputs what '{dim.name}' is")
            return sizes[dim]
        case Const(value):
            return int(value)
        case Binary(kind, lhs, rhs):
            return _VALUES[kind](_value(lhs, sizes), _value(rhs, sizes))
        case _:
            raise TypeError(f"te: {type(dim).__name__} is no extent")


def linear(dim: Dim) -> tuple[dict[Var, int], int] | None:
    """`dim` as a sum of symbols times integers and an integer; `None` where it is not of this form."""
    match dim:
        case int():
            return {}, dim
        case Var():
            return {dim: 1}, 0
        case Const(value):
            return {}, int(value)
        case Binary(BinaryKind.ADD | BinaryKind.SUB as kind, lhs, rhs):
            if (a := linear(lhs)) is None or (b := linear(rhs)) is None:
                return None
            sign = 1 if kind == BinaryKind.ADD else -1
            terms = dict(a[0])
            for symbol, factor in b[0].items():
                terms[symbol] = terms.get(symbol, 0) + sign * factor
            return {s: f for s, f in terms.items() if f}, a[1] + sign * b[1]
        case Binary(BinaryKind.MUL, lhs, rhs):
            if (a := linear(lhs)) is None or (b := linear(rhs)) is None or (a[0] and b[0]):
                return None
            (terms, start), factor = (a, b[1]) if a[0] else (b, a[1])
            return {s: n * factor for s, n in terms.items() if factor}, start * factor
        case _:
            return None


def same(a: Dim, b: Dim) -> bool:
    """Whether two extents are surely equal."""
    if a is b or (isinstance(a, int) and isinstance(b, int)):
        return a == b if isinstance(a, int) else True
    one, other = linear(a), linear(b)
    return one is not None and one == other


def sizes_of(shapes: Sequence[tuple[Sequence[Dim], Sequence[int]]]) -> dict[Var, int]:
    """What the symbols are where extents have values: from those that are one, or a multiple plus a number."""
    sizes: dict[Var, int] = {}
    pairs = [pair for dims, values in shapes for pair in zip(dims, values, strict=False)]
    found = True
    while found:
        found = False
        for dim, value in pairs:
            form = linear(dim)
            if form is None:
                continue
            unknown = [symbol for symbol in form[0] if symbol not in sizes]
            if len(unknown) != 1:
                continue
            rest = value - form[1] - sum(f * sizes[s] for s, f in form[0].items() if s in sizes)
            quotient, remainder = divmod(rest, form[0][unknown[0]])
            if remainder == 0 and quotient >= 0:
                sizes[unknown[0]] = quotient
                found = True
    return sizes


def to_text(dim: Dim) -> str:
    """How a message writes an extent."""
    match dim:
        case int():
            return str(dim)
        case Var(name):
            return name
        case Const(value):
            return str(value)
        case Binary(kind, lhs, rhs):
            sign = _SIGNS.get(kind)
            one, other = to_text(lhs), to_text(rhs)
            return f"({one} {sign} {other})" if sign else f"{kind.value}({one}, {other})"
        case _:
            return type(dim).__name__


_SIGNS = {
    BinaryKind.ADD: "+", BinaryKind.SUB: "-", BinaryKind.MUL: "*", BinaryKind.FLOORDIV: "//", BinaryKind.FLOORMOD: "%",
}  # fmt: skip
