"""Python expressions as text with as few parentheses as they need, and names that Python allows."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from ...support.unique_names import free_name
from ..affine import Linear, linear

OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, ATOM = range(1, 13)
"""How tightly Python binds."""

BINDS = {
    "|": BIT_OR, "^": BIT_XOR, "&": BIT_AND, "<<": SHIFT, ">>": SHIFT, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT,
    "//": PRODUCT, "%": PRODUCT, "and": AND, "or": OR,
}  # fmt: skip


@dataclass(frozen=True)
class Text:
    """An expression, and how tightly its outermost operator binds."""

    text: str
    binds: int = ATOM

    def __str__(self) -> str:
        return self.text

    def within(self, level: int) -> str:
        """The text, in parentheses where it binds less tightly than `level`."""
        return self.text if self.binds >= level else f"({self.text})"


def infix(symbol: str, left: Text, right: Text) -> Text:
    """`left symbol right`; equal operators are taken from the left."""
    level = BINDS.get(symbol, COMPARE)
    loose = level if symbol in BINDS else level + 1
    return Text(f"{left.within(loose)} {symbol} {right.within(level + 1)}", level)


def quoted(text: str) -> str:
    """A text as a literal, in double quotes where that is simple."""
    literal = repr(text)
    return f'"{text}"' if literal == f"'{text}'" and '"' not in text else literal


def number(value: int) -> Text:
    return Text(str(value), ATOM if value >= 0 else SIGN)


def affine_text(expr: AffineExpr, names: Sequence[str], symbols: Sequence[str] = ()) -> Text:
    """An affine expression with dimension `i` called `names[i]`, and symbol `k` called `symbols[k]`."""
    match expr:
        case AffineConstantExpr(value):
            return number(value)
        case AffineDimExpr(position):
            return Text(names[position])
        case AffineSymExpr(position):
            return Text(symbols[position])
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add):
            terms = sorted(_terms(expr), key=_is_negative)
            text = affine_text(terms[0], names, symbols)
            for term in terms[1:]:
                text = _sum(text, term, names, symbols)
            return text
        case AffineBinaryOpExpr(kind, lhs, rhs):
            left = affine_text(lhs, names, symbols)
            match kind:
                case AffineBinaryOpKind.Mul:
                    return infix("*", left, affine_text(rhs, names, symbols))
                case AffineBinaryOpKind.FloorDiv:
                    return infix("//", left, affine_text(rhs, names, symbols))
                case AffineBinaryOpKind.Mod:
                    return infix("%", left, affine_text(rhs, names, symbols))
                case _:
                    return affine_text(linear(expr).to_expr(), names, symbols)  # a ceildiv has none in Python
        case _:
            raise ValueError(f"not over dimensions: {expr}")


def _terms(expr: AffineExpr) -> list[AffineExpr]:
    """What a sum is of, in order."""
    match expr:
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, lhs, rhs):
            return [*_terms(lhs), *_terms(rhs)]
        case _:
            return [expr]


def _is_negative(term: AffineExpr) -> bool:
    """Whether a term is subtracted rather than added."""
    match term:
        case AffineConstantExpr(value) | AffineBinaryOpExpr(AffineBinaryOpKind.Mul, _, AffineConstantExpr(value)):
            return value < 0
        case _:
            return False


def _sum(left: Text, rhs: AffineExpr, names: Sequence[str], symbols: Sequence[str]) -> Text:
    """`left + rhs`, a subtraction where `rhs` is negative."""
    match rhs:
        case AffineConstantExpr(value) if value < 0:
            return infix("-", left, number(-value))
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, inner, AffineConstantExpr(value)) if value < 0:
            return infix("-", left, affine_text(inner if value == -1 else inner * -value, names, symbols))
        case _:
            return infix("+", left, affine_text(rhs, names, symbols))


def condition_text(expr: AffineExpr, names: Sequence[str], symbols: Sequence[str] = ()) -> Text:
    """`expr >= 0` as people write it: `i * 4 + j < 30`."""
    form = linear(expr)
    left = Linear({atom: -factor for atom, factor in form.terms.items() if factor < 0}, 0)
    right = {atom: factor for atom, factor in form.terms.items() if factor > 0}
    if left.terms:
        end = Linear(right, form.constant + 1).to_expr()
        return infix("<", affine_text(left.to_expr(), names, symbols), affine_text(end, names, symbols))
    return infix("<=", number(-form.constant), affine_text(Linear(right, 0).to_expr(), names, symbols))


RESERVED = frozenset({"T", "range", *keyword.kwlist, *keyword.softkwlist})


def python_name(wanted: str) -> str:
    """A name that Python allows."""
    name = re.sub(r"\W", "_", wanted, flags=re.ASCII)
    return f"_{name}" if not name or name[0].isdigit() else name


def free_python_name(wanted: str, taken: AbstractSet[str]) -> str:
    """`wanted`, or that with a number, as a Python name that is not taken."""
    return free_name(python_name(wanted), RESERVED | taken)
