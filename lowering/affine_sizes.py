"""Affine expressions over a graph's symbols as the sizes that the runtime evaluates."""

from __future__ import annotations

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr, AffineSymExpr

from .sizes import Size

_KINDS = {
    AffineBinaryOpKind.Add: "+",
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.FloorDiv: "//",
    AffineBinaryOpKind.Mod: "%",
}


def sizes_of(map: AffineMapAttr) -> tuple[Size, ...]:
    """The results of a map from symbols."""
    return tuple(_size(expr) for expr in map.data.results)


def _size(expr: AffineExpr) -> Size:
    match expr:
        case AffineConstantExpr(value):
            return value
        case AffineSymExpr(position):
            return "n", position
        case AffineBinaryOpExpr(AffineBinaryOpKind.CeilDiv, lhs, rhs):
            return "*", -1, ("//", ("*", -1, _size(lhs)), _size(rhs))
        case AffineBinaryOpExpr(kind, lhs, rhs):
            return _KINDS[kind], _size(lhs), _size(rhs)
        case _:
            raise ValueError(f"{expr} is not over symbols")
