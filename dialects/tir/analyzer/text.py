"""How integer expressions are shown: `4 * i + j floordiv 8 - 1`, in the words of affine maps where they have one."""

from __future__ import annotations

from .nodes import (
    PRINTERS,
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
)

_INFIX = {
    FloorDiv: " floordiv ",
    FloorMod: " mod ",
    TruncDiv: " truncdiv ",
    TruncMod: " truncmod ",
    Product: " * ",
    BitAnd: " & ",
    All: " && ",
    Any_: " || ",
}
_LOOSER = (BitAnd, All, Any_, NonNegative, Zero, Not)
"""What stands in parentheses within sums and comparisons."""
_CALLS = {Min: "min", Max: "max", Select: "select", PowerOfTwo: "pow2"}


def _term(atom: IntExpr, factor: int) -> str:
    text = to_text(atom) if factor == 1 and not isinstance(atom, _LOOSER) else _operand(atom)
    return text if factor == 1 else f"{factor} * {text}"


def _operand(expr: IntExpr) -> str:
    text = to_text(expr)
    plain = isinstance(expr, Const | Var) or (isinstance(expr, Op) and type(expr) in _CALLS)
    return text if plain else f"({text})"


def _sides(expr: IntExpr) -> tuple[str, str]:
    """`expr` as a difference `left - right` of sums without negative terms."""
    left: list[str] = []
    right: list[str] = []
    constant = 0
    if isinstance(expr, Sum):
        constant = expr.constant
        for atom, factor in sorted(expr.sorted_terms, key=lambda t: -abs(t[1])):
            (left if factor > 0 else right).append(_term(atom, abs(factor)))
    else:
        left.append(_term(expr, 1))
    if constant:
        (left if constant > 0 else right).append(str(abs(constant)))
    return " + ".join(left) or "0", " + ".join(right) or "0"


def to_text(expr: IntExpr) -> str:
    """`expr` as text."""
    if isinstance(expr, Const):
        return str(expr.value)
    if isinstance(expr, Var):
        return expr.name
    if isinstance(expr, Sum):
        result = ""
        for atom, factor in sorted(expr.sorted_terms, key=lambda t: -abs(t[1])):
            sign = ("-" if factor < 0 else "") if not result else " - " if factor < 0 else " + "
            result += sign + _term(atom, abs(factor))
        return result + (f" {'-' if expr.constant < 0 else '+'} {abs(expr.constant)}" if expr.constant else "")
    assert isinstance(expr, Op)
    kind = type(expr)
    if kind in _INFIX:
        return _INFIX[kind].join(_operand(arg) for arg in expr.args)
    if kind in _CALLS:
        return f"{_CALLS[kind]}({', '.join(to_text(arg) for arg in expr.args)})"
    inner = expr.args[0]
    if kind is NonNegative:
        left, right = _sides(inner)
        return f"{left} >= {right}"
    if kind is Zero:
        left, right = _sides(inner)
        return f"{left} == {right}"
    if kind is Not and isinstance(inner, Zero):
        left, right = _sides(inner.args[0])
        return f"{left} != {right}"
    return f"not ({to_text(inner)})"


PRINTERS.append(to_text)
