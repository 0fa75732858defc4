"""Extents of tensor expressions as those of `tir`: affine expressions of symbols, which have numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ...dialects import te
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.te.dim_order import always_at_most
from ...dialects.te.dims import to_text
from ...dialects.te.expr import BinaryKind as B
from ...dialects.tir.affine import linear
from ...dialects.tir.symbols import Extent, as_extent, product, quotient, remainder


@dataclass(frozen=True)
class Symbols:
    """The symbols of a computation, by the numbers that affine expressions have for them. An extent that is no affine
    expression of symbols has a number of its own, unless it is `products`: then symbols may be multiplied and divided
    by symbols, which their callers see to be positive."""

    numbers: Mapping[te.Expr, int] | Mapping[te.Var, int]
    products: bool = False

    def extent(self, dim: te.Dim) -> Extent:
        """An extent as `tir` has it.

        Raises:
            Diagnostic: it is no affine expression.
        """
        return dim if isinstance(dim, int) else as_extent(linear(self._affine(dim)).to_expr())

    def is_affine(self, dim: te.Dim) -> bool:
        """Whether `tir` has such an extent."""
        try:
            self.extent(dim)
        except Diagnostic:
            return False
        return True

    def difference(self, a: te.Dim, b: te.Dim) -> Extent:
        """`a - b` as `tir` has it.

        Raises:
            Diagnostic: one of them is no affine expression.
        """
        return as_extent(linear(self._affine(te.dim_expr(a)) - self._affine(te.dim_expr(b))).to_expr())

    def shape(self, tensor: te.Tensor) -> tuple[Extent, ...]:
        """The extents of a tensor's buffer."""
        return tuple(map(self.extent, tensor.dims))

    def _affine(self, dim: te.Expr) -> AffineExpr:
        if (number := cast("Mapping[te.Expr, int]", self.numbers).get(dim)) is not None:
            return AffineExpr.symbol(number)
        match dim:
            case te.Const(value):
                return AffineConstantExpr(int(value))
            case te.Binary(kind, lhs, rhs):
                a, b = self._affine(lhs), self._affine(rhs)
                if isinstance(a, AffineConstantExpr) and kind == B.MUL:
                    a, b = b, a
                match kind:
                    case B.ADD:
                        return a + b
                    case B.SUB:
                        return a - b
                    case B.MUL if isinstance(b, AffineConstantExpr):
                        return a * b
                    case B.FLOORDIV if isinstance(b, AffineConstantExpr) and b.value > 0:
                        return a // b
                    case B.FLOORMOD if isinstance(b, AffineConstantExpr) and b.value > 0:
                        return a % b
                    case B.MUL if self.products:
                        return product(a, b)
                    case B.FLOORDIV if self.products and not isinstance(b, AffineConstantExpr):
                        return quotient(a, b)
                    case B.FLOORMOD if self.products and not isinstance(b, AffineConstantExpr):
                        return remainder(a, b)
                    case _:
                        pass
            case _:
                pass
        raise Diagnostic(
            f"the extent {to_text(dim)} cannot be that of a loop or a buffer",
            hint="extents are sums of symbols times numbers, and quotients and remainders of such by numbers",
        )


def variables_of(tensors: Sequence[te.Tensor]) -> list[te.Var]:
    """The symbols in extents of tensors and of reductions, each once."""
    return te.variables(_dims(tensors))


def _dims(tensors: Sequence[te.Tensor]) -> list[te.Expr]:
    """The extents of tensors and of reductions that are no integers."""
    dims: list[te.Dim] = []
    for tensor in tensors:
        dims += tensor.dims
        if tensor.producer is not None:
            dims += (axis.dim for axis in tensor.producer.reduce_axes)
            if isinstance(filled := tensor.producer.body, te.Filled) and isinstance(filled.procedure, te.External):
                dims += filled.procedure.symbols
    return [dim for dim in dims if not isinstance(dim, int)]


def opaque_extents(outputs: Sequence[te.Tensor]) -> list[te.Expr]:
    """Extents of what computes `outputs` that are no affine expressions of symbols, such as the lesser of two, each
    once: whoever calls the function has to say what they are. None is ever below 0."""
    dims = _dims(te.topological_order(outputs))
    numbers = Symbols({symbol: number for number, symbol in enumerate(te.variables(dims))})
    found: dict[te.Expr, None] = {}
    for dim in dims:
        atoms = _opaque_within(dim, numbers)
        whole = [te.dim_expr(dim)] if not all(always_at_most(0, atom) for atom in atoms) else atoms
        found |= dict.fromkeys(whole)
    return list(found)


def _opaque_within(dim: te.Dim, numbers: Symbols) -> list[te.Expr]:
    """The parts of an extent that are no affine expressions."""
    found: list[te.Expr] = []
    pending = [dim]
    while pending:
        dim = pending.pop()
        if isinstance(dim, int) or numbers.is_affine(dim):
            continue
        match dim:
            case te.Binary(B.ADD | B.SUB, lhs, rhs):
                pending += [rhs, lhs]
            case te.Binary(B.MUL | B.FLOORDIV | B.FLOORMOD, lhs, te.Const()):
                pending.append(lhs)
            case _:
                found.append(dim)
    return found
