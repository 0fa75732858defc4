"""Multiplication of integers by real numbers, which are given as fixed-point ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import integer, tensor
from ..precision import Accuracy
from .elementwise import ElementwiseOp


@irdl_op_definition
class FixedPointMultiplyOp(ElementwiseOp):
    """The product with `multiplier * 2**(shift - 31)`, halves rounded up; computed in 64 bits.

    `y = ((x.astype(np.int64) * 1073741824 + (1 << 31)) >> 32).astype(np.int32)`

    ```mlir
    %y = relay.fixed_point_multiply %x {multiplier = 1073741824 : i64, shift = -1 : i64} : tensor<2x4xi32>
    ```
    """

    name = "relay.fixed_point_multiply"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    multiplier = integer()
    shift = integer()

    def infer(self) -> Sequence[Attribute]:
        data, multiplier, shift = tensor(self.data), self.multiplier.value.data, self.shift.value.data
        if data.element_type != i32:
            raise VerifyException(f"expected a tensor of i32, got {data}")
        if not 0 <= multiplier < 1 << 31:
            raise VerifyException(f"'multiplier' is a fraction of 31 bits, not {multiplier}")
        if not -31 <= shift <= 31:
            raise VerifyException(f"'shift' is between -31 and 31, not {shift}")
        return [data]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        multiplier, shift = self.multiplier.value.data, self.shift.value.data
        right = 31 + max(-shift, 0)

        def product(*i: te.IterVar) -> te.Expr:
            wide = te.binary(te.BinaryKind.SHL, te.cast(x[i], i64), te.const(max(shift, 0), i64)) * multiplier
            half = te.const(1 << (right - 1), i64)
            return te.cast(te.binary(te.BinaryKind.SHR, wide + half, te.const(right, i64)), i32)

        return te.compute(x.shape, product, "fixed_point_multiply")


OPS: list[type[Operation]] = [FixedPointMultiplyOp]
"""The operators on fixed-point numbers."""
