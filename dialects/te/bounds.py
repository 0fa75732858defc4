"""What is known of an index expression before it runs: its affine form, and between which values it lies.

An expression is read as one of the analyzer's, in which an axis has its values, a symbol those that an extent can have,
and what is computed from data any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..tir.analyzer import Analyzer, Flag, IntExpr, maximum, minimum, select, var
from ..tir.analyzer import Var as Variable
from ..tir.analyzer import const as integer
from ..tir.analyzer.build import floordiv, floormod, parts
from ..tir.symbols import MAX_EXTENT
from .expr import Binary, BinaryKind, Check, Const, Dim, Expr, IterVar, Select, Var, index


def affine(expr: Expr) -> tuple[dict[IterVar, int], int] | None:
    """`expr` as a sum of axes times integers and an integer; `None` where it is not of this form."""
    if expr.type != index:
        return None
    constant, atoms = parts(_Reader().read(expr))
    terms: dict[IterVar, int] = {}
    for atom, factor in atoms.items():
        if not isinstance(atom, Variable) or not isinstance(axis := atom.key, IterVar):
            return None
        terms[axis] = factor
        constant += axis.start * factor
    return terms, constant


def affine_range(form: tuple[Mapping[IterVar, int], int]) -> tuple[int, int]:
    """Least and greatest value, both reached, of what `affine` has found; no axis is empty."""
    terms, start = form
    reach = [(axis.extent - 1) * factor for axis, factor in terms.items()]
    return start + sum(min(0, n) for n in reach), start + sum(max(0, n) for n in reach)


def bounds(expr: Expr) -> tuple[int, int] | None:
    """Least and greatest value of an index expression, both included; `None` where it depends on data."""
    reader = _Reader()
    low, high = reader.analyzer.const_int_bound(reader.read(expr))
    return None if low is None or high is None else (low, high)


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


def is_over_axes(expr: Expr) -> bool:
    """Whether an index is arithmetic of axes, literals and symbols, with an axis among them."""
    match expr:
        case IterVar():
            return True
        case Binary(kind, lhs, rhs) if kind in _ARITHMETIC or kind in (BinaryKind.FLOORDIV, BinaryKind.FLOORMOD):
            return is_over_axes(lhs) or is_over_axes(rhs)
        case _:
            return False


class _Reader:
    """Reads expressions, each once."""

    def __init__(self) -> None:
        self.analyzer = Analyzer()  # it knows nothing: variables say between which values they lie
        self.known: dict[Expr, IntExpr] = {}

    def read(self, expr: Expr) -> IntExpr:
        if (known := self.known.get(expr)) is None:
            known = self.known[expr] = self._read(expr)
        return known

    def _read(self, expr: Expr) -> IntExpr:
        match expr:
            case IterVar(name, dim, _, start):
                return var(expr, name, bounds=(start, start + dim - 1 if isinstance(dim, int) else start + MAX_EXTENT))
            case Var(name):
                return var(expr, name, bounds=(0, MAX_EXTENT))
            case Const(value) if not isinstance(value, float):
                return integer(int(value))
            case Binary(kind, lhs, rhs) if kind in _ARITHMETIC:
                return _ARITHMETIC[kind](self.read(lhs), self.read(rhs))
            case Binary(BinaryKind.FLOORDIV | BinaryKind.FLOORMOD as kind, lhs, rhs):
                least, _ = self.analyzer.range(divisor := self.read(rhs))
                if least is None or least <= 0:  # by zero there is a result too
                    return var(expr, "x")
                return (floordiv if kind == BinaryKind.FLOORDIV else floormod)(self.read(lhs), divisor)
            case Check(_, _, extent, _):
                return var(expr, "x", bounds=(0, max((extent if isinstance(extent, int) else MAX_EXTENT) - 1, 0)))
            case Select(condition, then, otherwise, _):
                return select(var(condition, "c", Flag), self.read(then), self.read(otherwise))
            case _:
                return var(expr, "x")


_ARITHMETIC: dict[BinaryKind, Callable[[IntExpr, IntExpr], IntExpr]] = {
    BinaryKind.ADD: lambda lhs, rhs: lhs + rhs,
    BinaryKind.SUB: lambda lhs, rhs: lhs - rhs,
    BinaryKind.MUL: lambda lhs, rhs: lhs * rhs,
    BinaryKind.MIN: minimum,
    BinaryKind.MAX: maximum,
}
