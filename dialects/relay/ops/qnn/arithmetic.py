"""Sums, differences and products of quantised tensors that broadcast, and tensors put together."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import TensorType, TupleType, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from ....support.operations import irdl_op_definition
from ...base import describe, flatten_types, integer, normalize_axis, shape_of, tensor
from ...core import TupleGetOp, TupleOp
from ...decomposition import Emit
from ...reordering import Order, Reordered, reordered_axis
from ..broadcast import AddOp, MultiplyOp, SubtractOp
from ..slicing import ConcatenateOp
from .fixed_point import (
    QnnOp,
    along,
    cast,
    centred,
    check_parameters,
    check_quantized,
    clipped,
    extent_along,
    requantized,
    times_ratio,
)


class _QnnBinary(QnnOp, ABC):
    """Two tensors of one type, each with its scale and zero point."""

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    lhs_scale = operand_def(TensorType)
    lhs_zero_point = operand_def(TensorType)
    rhs_scale = operand_def(TensorType)
    rhs_zero_point = operand_def(TensorType)
    output_scale = operand_def(TensorType)
    output_zero_point = operand_def(TensorType)
    result = result_def(TensorType)

    lhs_axis = integer(-1)
    rhs_axis = integer(-1)

    def __init_subclass__(cls, formula: str | None = None) -> None:
        super().__init_subclass__()
        if formula is not None:
            parameters = ", ".join(["tensor<f32>, tensor<i32>"] * 3)
            describe(
                cls,
                f'y = np.clip({formula}, -128, 127).astype("int8")',
                "%s = relay.constant dense<0.5> : tensor<f32>\n%t = relay.constant dense<0.3> : tensor<f32>\n"
                "%u = relay.constant dense<0.25> : tensor<f32>\n%z = relay.constant dense<3> : tensor<i32>\n"
                f"%y = {cls.name} %a, %b, %s, %z, %t, %z, %u, %z\n"
                f"   : (tensor<2x4xi8>, tensor<4xi8>, {parameters}) -> tensor<2x4xi8>",
            )

    def reordered(self, order: Order) -> Reordered | None:
        """With one scale for each operand."""
        single = all(shape_of(value) in ((), (1,)) for value in self.operands[2:])
        return Reordered([order], along=(0, 1)) if single and len(shape_of(self.lhs)) == len(order) else None

    def check(self) -> None:
        check_quantized(self.lhs, "the left operand")
        if tensor(self.lhs).element_type != tensor(self.rhs).element_type:
            raise VerifyException(f"operands of element types {self.lhs.type} and {self.rhs.type}")
        for value, scale, zero, axis, what in (
            (self.lhs, self.lhs_scale, self.lhs_zero_point, self.lhs_axis, "the left operand"),
            (self.rhs, self.rhs_scale, self.rhs_zero_point, self.rhs_axis, "the right operand"),
        ):
            check_parameters(scale, zero, extent_along(value, axis.value.data, scale, zero), what)
        check_parameters(self.output_scale, self.output_zero_point, None, "the output")

    def operands_in_scale(self, emit: Emit) -> tuple[SSAValue, SSAValue]:
        """The operands in 32 bits, with the scale and the zero point of the result."""
        wanted = self.output_scale, self.output_zero_point
        left = self.lhs_scale, self.lhs_zero_point
        right = self.rhs_scale, self.rhs_zero_point
        return (
            requantized(emit, self.lhs, left, wanted, i32, self.lhs_axis.value.data),
            requantized(emit, self.rhs, right, wanted, i32, self.rhs_axis.value.data),
        )

    def zero(self, emit: Emit) -> SSAValue:
        """The zero point of the result."""
        return along(emit, self.output_zero_point, self.lhs, -1)


class _Sum(_QnnBinary, ABC):
    """Both operands in the scale of the result, which are then added or subtracted."""

    FIRST: ClassVar[type[AddOp | SubtractOp]]
    THEN: ClassVar[type[AddOp | SubtractOp]]

    def canonical(self, emit: Emit) -> SSAValue:
        total = emit(self.FIRST(*self.operands_in_scale(emit)))
        return clipped(emit, emit(self.THEN(total, self.zero(emit))), tensor(self.lhs).element_type)


@irdl_op_definition
class QnnAddOp(_Sum, formula="np.floor((a - z) * (s / u) + 0.5) + np.floor((b - z) * (t / u) + 0.5) + z"):
    """The sum, of operands requantised to the scale and zero point of the result."""

    name = "relay.qnn.add"
    FIRST: ClassVar[type[AddOp | SubtractOp]] = AddOp
    THEN: ClassVar[type[AddOp | SubtractOp]] = SubtractOp


@irdl_op_definition
class QnnSubtractOp(_Sum, formula="np.floor((a - z) * (s / u) + 0.5) - np.floor((b - z) * (t / u) + 0.5) + z"):
    """The difference, of operands requantised to the scale and zero point of the result."""

    name = "relay.qnn.subtract"
    FIRST: ClassVar[type[AddOp | SubtractOp]] = SubtractOp
    THEN: ClassVar[type[AddOp | SubtractOp]] = AddOp


@irdl_op_definition
class QnnMulOp(_QnnBinary, formula="np.floor((a - z) * (b - z) * (s * t / u) + 0.5) + z"):
    """The product in 32 bits, requantised."""

    name = "relay.qnn.mul"

    def canonical(self, emit: Emit) -> SSAValue:
        sides: list[SSAValue] = []
        scales: list[SSAValue] = []
        for value, scale, zero, axis in (
            (self.lhs, self.lhs_scale, self.lhs_zero_point, self.lhs_axis.value.data),
            (self.rhs, self.rhs_scale, self.rhs_zero_point, self.rhs_axis.value.data),
        ):
            sides.append(centred(emit, value, along(emit, zero, value, axis)))
            scales.append(along(emit, scale, value, axis))
        product, factor = emit(MultiplyOp(*sides)), emit(MultiplyOp(*scales))
        wide = times_ratio(emit, product, factor, along(emit, self.output_scale, self.lhs, -1), "UPWARD")
        moved = emit(AddOp(wide, cast(emit, self.zero(emit), i64)))
        return clipped(emit, moved, tensor(self.lhs).element_type)


@irdl_op_definition
class QnnConcatenateOp(QnnOp):
    """Quantised tensors one behind the other along `axis`, each requantised to the scale and zero point of the result.

    `y = np.concatenate([a, b], axis=0)`

    ```mlir
    %s = relay.constant dense<0.5> : tensor<f32>
    %z = relay.constant dense<3> : tensor<i32>
    %t = relay.tuple(%a, %b) : (tensor<2x4xi8>, tensor<1x4xi8>) -> tuple<tensor<2x4xi8>, tensor<1x4xi8>>
    %ss = relay.tuple(%s, %s) : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
    %zz = relay.tuple(%z, %z) : (tensor<i32>, tensor<i32>) -> tuple<tensor<i32>, tensor<i32>>
    %y = relay.qnn.concatenate %t, %ss, %zz, %s, %z {axis = 0 : i64}
       : (tuple<tensor<2x4xi8>, tensor<1x4xi8>>, tuple<tensor<f32>, tensor<f32>>, tuple<tensor<i32>, tensor<i32>>, tensor<f32>, tensor<i32>) -> tensor<3x4xi8>
    ```
    """  # noqa: E501

    name = "relay.qnn.concatenate"

    data = operand_def(TupleType)
    input_scales = operand_def(TupleType)
    input_zero_points = operand_def(TupleType)
    output_scale = operand_def(TensorType)
    output_zero_point = operand_def(TensorType)
    result = result_def(TensorType)

    axis = integer(0)

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"axis": reordered_axis(self.axis.value.data, order)})

    def check(self) -> None:
        types = [flatten_types([value.type]) for value in (self.data, self.input_scales, self.input_zero_points)]
        if not types[0] or len({len(each) for each in types}) != 1:
            counts = ", ".join(str(len(each)) for each in types)
            raise VerifyException(f"tensors, scales and zero points are not of one number: {counts}")
        if len({each.element_type for each in types[0]}) != 1:
            raise VerifyException(f"tensors of different element types, {self.data.type}")
        check_parameters(self.output_scale, self.output_zero_point, None, "the output")

    def canonical(self, emit: Emit) -> SSAValue:
        wanted = self.output_scale, self.output_zero_point
        parts: list[SSAValue] = []
        for number, type in enumerate(flatten_types([self.data.type])):
            part, scale, zero = (
                emit(TupleGetOp(value, number)) for value in (self.data, self.input_scales, self.input_zero_points)
            )
            check_quantized(part, "the data")
            check_parameters(scale, zero, None, "the data")
            parts.append(requantized(emit, part, (scale, zero), wanted, type.element_type))
        normalize_axis(self.axis.value.data, len(shape_of(parts[0])))
        return emit(ConcatenateOp(emit(TupleOp(*parts)), axis=self.axis))


OPS: list[type[Operation]] = [QnnAddOp, QnnSubtractOp, QnnMulOp, QnnConcatenateOp]
"""The operators on quantised tensors, element by element."""
