"""What is known of an index expression before it runs: its affine form, and between which values it lies."""

from __future__ import annotations

from collections.abc import Mapping

from .expr import Binary, BinaryKind, Check, Const, Dim, Expr, IterVar, Select, Var, index

MAX_EXTENT = 1 << 48
"""No extent is larger: memory has no more elements."""


def affine(expr: Expr) -> tuple[dict[IterVar, int], int] | None:
    """`expr` as a sum of axes times integers and an integer; `None` where it is not of this form."""
    match expr:
        case Const(value) if expr.type == index:
            return {}, int(value)
        case IterVar():
            return {expr: 1}, expr.start
        case Binary(BinaryKind.ADD | BinaryKind.SUB as kind, lhs, rhs):
            if (a := affine(lhs)) is None or (b := affine(rhs)) is None:
                return None
            sign = 1 if kind == BinaryKind.ADD else -1
            terms = dict(a[0])
            for axis, factor in b[0].items():
                terms[axis] = terms.get(axis, 0) + sign * factor
            return terms, a[1] + sign * b[1]
        case Binary(BinaryKind.MUL, lhs, rhs):
            if (a := affine(lhs)) is None or (b := affine(rhs)) is None:
                return None
            if a[0] and b[0]:
                return None
            (terms, start), factor = (a, b[1]) if a[0] else (b, a[1])
            return {axis: n * factor for axis, n in terms.items()}, start * factor
        case _:
            return None


def affine_range(form: tuple[Mapping[IterVar, int], int]) -> tuple[int, int]:
    """Least and greatest value, both reached, of what `affine` has found; no axis is empty."""
    terms, start = form
    reach = [(axis.extent - 1) * factor for axis, factor in terms.items()]
    return start + sum(min(0, n) for n in reach), start + sum(max(0, n) for n in reach)


def bounds(expr: Expr) -> tuple[int, int] | None:
    """Least and greatest value of an index expression, both included; `None` where it depends on data."""
    match expr:
        case IterVar(_, int() as extent, _, start):
            return start, start + extent - 1
        case IterVar(_, _, _, start):
            return start, start + MAX_EXTENT
        case Var():
            return 0, MAX_EXTENT
        case Const(value, _) if not isinstance(value, float):
            return int(value), int(value)
        case Binary(kind, lhs, rhs, _):
            a, b = bounds(lhs), bounds(rhs)
            if a is None and b is not None:
                return _bounds_whatever(kind, lhs, b)
            if a is None or b is None:
                return None
            match kind:
                case BinaryKind.ADD:
                    return a[0] + b[0], a[1] + b[1]
                case BinaryKind.SUB:
                    return a[0] - b[1], a[1] - b[0]
                case BinaryKind.MUL:
                    products = [x * y for x in a for y in b]
                    return min(products), max(products)
                case BinaryKind.FLOORDIV if b[0] == b[1] > 0:
                    return a[0] // b[0], a[1] // b[0]
                case BinaryKind.FLOORMOD if b[0] == b[1] > 0:
                    return a if 0 <= a[0] and a[1] < b[0] else (0, b[0] - 1)
                case BinaryKind.MIN:
                    return min(a[0], b[0]), min(a[1], b[1])
                case BinaryKind.MAX:
                    return max(a[0], b[0]), max(a[1], b[1])
                case _:
                    return None
        case Check(_, _, extent, _):
            return 0, max((extent if isinstance(extent, int) else MAX_EXTENT) - 1, 0)
        case Select(_, then, otherwise, _):
            a, b = bounds(then), bounds(otherwise)
            return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))
        case _:
            return None


def _bounds_whatever(kind: BinaryKind, lhs: Expr, rhs: tuple[int, int]) -> tuple[int, int] | None:
    """Where `kind(lhs, rhs)` lies although `lhs` may be any integer: a remainder, or `max(min(_, high), low)`."""
    match kind, lhs:
        case BinaryKind.FLOORMOD, _ if rhs[0] > 0:
            return 0, rhs[1] - 1
        case BinaryKind.MAX, Binary(BinaryKind.MIN, _, most, _) if (high := bounds(most)) is not None:
            return rhs[0], max(high[1], rhs[1])
        case _:
            return None


def greatest(expr: Expr) -> Dim | None:
    """What an index expression is not above, as an expression of symbols, where its axes are not empty; `None` where
    nothing is known."""
    match expr:
        case IterVar(_, dim, _, start):
            return dim + (start - 1)
        case Binary(BinaryKind.ADD, lhs, rhs):
            a, b = greatest(lhs), greatest(rhs)
            return None if a is None or b is None else a + b
        case Binary(BinaryKind.MUL, factor, Const(int(times))) | Binary(BinaryKind.MUL, Const(int(times)), factor):
            most = greatest(factor) if times >= 0 else None
            return None if most is None else most * times
        case _:
            known = bounds(expr)
            return None if known is None or known[1] >= MAX_EXTENT else known[1]
