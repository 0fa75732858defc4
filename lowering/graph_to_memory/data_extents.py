"""Extents of a graph that data decides: which they are, and how much memory is enough for what depends on them.

As arguments of the graph these symbols are what they are at most; their memory is taken for that.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
    AffineSymExpr,
)

from ...dialects.relay.core import FuncOp
from ...dialects.tir.affine import linear
from ..relay_to_tir.graph_symbols import EXTENTS
from ..sizes import Size, read_extents, symbols_of


class DataExtents:
    """The symbols of a graph, by number, that data decides, or that follow from such (`loose`)."""

    def __init__(self, function: FuncOp):
        said = function.attributes.get(EXTENTS)
        extents = read_extents(said.data if isinstance(said, StringAttr) else "")
        self.defined: dict[int, Size] = dict(extents.defined)
        self.loose = {number for number, _ in extents.read}
        for number, size in extents.defined:
            if not self.loose.isdisjoint(symbols_of(size)):
                self.loose.add(number)

    def most(self, expr: AffineExpr) -> AffineExpr:
        """What an extent is at most, where loose symbols are from 0 to what they are as arguments."""
        return linear(self._bound(expr, True)).to_expr() if self.loose else expr

    def _bound(self, expr: AffineExpr, upper: bool) -> AffineExpr:
        """The greatest value of an expression, or the least."""
        match expr:
            case AffineSymExpr(position) if position in self.loose and not upper:
                return AffineExpr.constant(0)
            case AffineBinaryOpExpr(AffineBinaryOpKind.Add, lhs, rhs):
                return self._bound(lhs, upper) + self._bound(rhs, upper)
            case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, lhs, AffineConstantExpr(factor)):
                return self._bound(lhs, upper if factor >= 0 else not upper) * factor
            case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, lhs, AffineConstantExpr(divisor)):
                return self._bound(lhs, upper) // divisor
            case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, _, AffineConstantExpr(divisor)) if self._is_loose(expr):
                return AffineExpr.constant(divisor - 1 if upper else 0)
            case _:
                return expr

    def _is_loose(self, expr: AffineExpr) -> bool:
        match expr:
            case AffineSymExpr(position):
                return position in self.loose
            case AffineBinaryOpExpr(_, lhs, rhs):
                return self._is_loose(lhs) or self._is_loose(rhs)
            case _:
                return False
