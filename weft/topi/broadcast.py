"""Functions of the elements of two tensors, with NumPy's rule for shapes (`tvm.topi.broadcast`).

Either may be a number; of two numbers in a formula they are `te`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from xdsl.dialects.builtin import i1

from ..dialects import te
from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.dtypes import dtype_name
from ..dialects.te import binary
from ..dialects.te.broadcast import arithmetic
from ..dialects.te.forms import const
from ..dialects.te.kinds import BinaryKind
from .relay_operators import computed


class BroadcastingFunction:
    """A function of two numbers, for each element of tensors whose shapes go together."""

    def __init__(self, kind: BinaryKind, of_truth_values: bool = False):
        self.kind = kind
        self.of_truth_values = of_truth_values
        """Whether it takes nothing else: of numbers the bits would be another function."""
        self.__name__ = kind.value

    @overload
    def __call__(self, lhs: te.Tensor, rhs: te.Tensor | te.ExprLike) -> te.Tensor: ...

    @overload
    def __call__(self, lhs: te.ExprLike, rhs: te.Tensor) -> te.Tensor: ...

    @overload
    def __call__(self, lhs: te.ExprLike, rhs: te.ExprLike) -> te.Expr: ...

    def __call__(self, lhs: te.Tensor | te.ExprLike, rhs: te.Tensor | te.ExprLike) -> te.Tensor | te.Expr:
        """The function of each element; of numbers, of these.

        Raises:
            UsageError: the shapes, or the types of the elements, do not go together.
        """
        for each in (lhs, rhs) if self.of_truth_values else ():
            number = each if isinstance(each, te.Tensor | te.Expr) else const(each)
            element = number.element_type if isinstance(number, te.Tensor) else number.type
            if element != i1:
                raise UsageError(
                    f"topi: logical_{self.kind.value} is of truth values, and not of {dtype_name(element)}",
                    hint="topi.not_equal(x, 0), or bitwise_and",
                )
        if isinstance(lhs, te.Tensor) or isinstance(rhs, te.Tensor):
            return arithmetic(self.kind, lhs, rhs)
        first = lhs if isinstance(lhs, te.Expr) else const(lhs, rhs.type if isinstance(rhs, te.Expr) else None)
        return binary(self.kind, first, rhs)


add, subtract = BroadcastingFunction(BinaryKind.ADD), BroadcastingFunction(BinaryKind.SUB)
multiply, divide = BroadcastingFunction(BinaryKind.MUL), BroadcastingFunction(BinaryKind.DIV)
floor_divide, floor_mod = BroadcastingFunction(BinaryKind.FLOORDIV), BroadcastingFunction(BinaryKind.FLOORMOD)
mod, power = BroadcastingFunction(BinaryKind.TRUNCMOD), BroadcastingFunction(BinaryKind.POW)
maximum, minimum = BroadcastingFunction(BinaryKind.MAX), BroadcastingFunction(BinaryKind.MIN)
left_shift, right_shift = BroadcastingFunction(BinaryKind.SHL), BroadcastingFunction(BinaryKind.SHR)
equal, not_equal = BroadcastingFunction(BinaryKind.EQ), BroadcastingFunction(BinaryKind.NE)
greater, greater_equal = BroadcastingFunction(BinaryKind.GT), BroadcastingFunction(BinaryKind.GE)
less, less_equal = BroadcastingFunction(BinaryKind.LT), BroadcastingFunction(BinaryKind.LE)
bitwise_and, bitwise_or = BroadcastingFunction(BinaryKind.AND), BroadcastingFunction(BinaryKind.OR)
bitwise_xor = BroadcastingFunction(BinaryKind.XOR)
logical_and, logical_or = BroadcastingFunction(BinaryKind.AND, True), BroadcastingFunction(BinaryKind.OR, True)
logical_xor = BroadcastingFunction(BinaryKind.XOR, True)


@checked
def broadcast_to(data: te.Tensor, shape: Sequence[int]) -> te.Tensor:
    """`data` repeated along dimensions of extent 1, and along new ones before it.

    Raises:
        Diagnostic: the shape is no such.
    """
    return computed("broadcast_to", data, tuple(shape))
