"""From real numbers to quantised ones, back, and from one scale to another."""

from __future__ import annotations

from typing import ClassVar
from typing import cast as assume

from xdsl.dialects.builtin import AnyFloat, TensorType, f32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from ....support.operations import irdl_op_definition
from ...base import Fusion, FusionPattern, integer, string, tensor
from ...decomposition import Emit
from ...precision import Accuracy
from ...reordering import Order, Reordered, reordered_axis
from ...resample import one_of
from ..elementwise import named_type
from .fixed_point import (
    ROUNDINGS,
    QnnOp,
    Rounding,
    cast,
    check_parameters,
    check_quantized,
    dequantized,
    extent_along,
    quantized,
    requantized,
    requantized_in_floats,
)

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32")


@irdl_op_definition
class QuantizeOp(QnnOp):
    """Real numbers as integers of a scale and a zero point, one for all or one for each slice along `axis`.

    `y = np.clip(np.round(x / s) + z, -128, 127).astype("int8")`

    ```mlir
    %s = relay.constant dense<0.5> : tensor<f32>
    %z = relay.constant dense<3> : tensor<i32>
    %y = relay.qnn.quantize %x, %s, %z {out_dtype = "int8"} : (tensor<2x4xf32>, tensor<f32>, tensor<i32>) -> tensor<2x4xi8>
    ```
    """  # noqa: E501

    name = "relay.qnn.quantize"

    data = operand_def(TensorType)
    output_scale = operand_def(TensorType)
    output_zero_point = operand_def(TensorType)
    result = result_def(TensorType)

    out_dtype = string("int8")
    axis = integer(-1)

    traits = traits_def(FusionPattern(Fusion.OPAQUE))

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"axis": reordered_axis(self.axis.value.data, order)})

    def check(self) -> None:
        one_of(self.out_dtype.data, INTEGERS, "out_dtype")
        if tensor(self.data).element_type != f32:
            raise VerifyException(f"expected a tensor of f32, got {self.data.type}")
        extent = extent_along(self.data, self.axis.value.data, self.output_scale, self.output_zero_point)
        check_parameters(self.output_scale, self.output_zero_point, extent, "the output")

    def canonical(self, emit: Emit) -> SSAValue:
        element = named_type(self.out_dtype.data)
        return quantized(emit, self.data, self.output_scale, self.output_zero_point, element, self.axis.value.data)


@irdl_op_definition
class DequantizeOp(QnnOp):
    """The real numbers that integers of a scale and a zero point stand for.

    `y = ((x - z) * s).astype("float32")`

    ```mlir
    %s = relay.constant dense<0.5> : tensor<f32>
    %z = relay.constant dense<3> : tensor<i32>
    %y = relay.qnn.dequantize %x, %s, %z : (tensor<2x4xi8>, tensor<f32>, tensor<i32>) -> tensor<2x4xf32>
    ```
    """

    name = "relay.qnn.dequantize"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.ROUNDED

    data = operand_def(TensorType)
    input_scale = operand_def(TensorType)
    input_zero_point = operand_def(TensorType)
    result = result_def(TensorType)

    axis = integer(-1)
    out_dtype = string("float32")

    traits = traits_def(FusionPattern(Fusion.OPAQUE))

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"axis": reordered_axis(self.axis.value.data, order)})

    def check(self) -> None:
        check_quantized(self.data, "the data")
        if not isinstance(named_type(self.out_dtype.data), AnyFloat):
            raise VerifyException(f"'out_dtype' is {self.out_dtype}, and no float")
        extent = extent_along(self.data, self.axis.value.data, self.input_scale, self.input_zero_point)
        check_parameters(self.input_scale, self.input_zero_point, extent, "the input")

    def canonical(self, emit: Emit) -> SSAValue:
        real = dequantized(emit, self.data, self.input_scale, self.input_zero_point, self.axis.value.data)
        return cast(emit, real, named_type(self.out_dtype.data))


@irdl_op_definition
class RequantizeOp(QnnOp):
    """Integers of one scale and zero point as those of others, by a product in fixed point, or of floats with a
    `compute_dtype` of "float32" or "float64". Halves go up, or away from zero with the rounding "TONEAREST".

    `y = np.clip(np.floor((x - z) * (s / t) + 0.5) + z, -128, 127).astype("int8")`

    ```mlir
    %s = relay.constant dense<0.25> : tensor<f32>
    %t = relay.constant dense<0.5> : tensor<f32>
    %z = relay.constant dense<3> : tensor<i32>
    %y = relay.qnn.requantize %x, %s, %z, %t, %z {out_dtype = "int8"}
       : (tensor<2x4xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x4xi8>
    ```
    """

    name = "relay.qnn.requantize"

    data = operand_def(TensorType)
    input_scale = operand_def(TensorType)
    input_zero_point = operand_def(TensorType)
    output_scale = operand_def(TensorType)
    output_zero_point = operand_def(TensorType)
    result = result_def(TensorType)

    axis = integer(-1)
    rounding = string("None")
    compute_dtype = string("None")
    out_dtype = string("int8")

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"axis": reordered_axis(self.axis.value.data, order)})

    def check(self) -> None:
        one_of(self.rounding.data, ROUNDINGS, "rounding")
        one_of(self.compute_dtype.data, ("None", "int64", "float32", "float64"), "compute_dtype")
        one_of(self.out_dtype.data, INTEGERS, "out_dtype")
        check_quantized(self.data, "the data")
        extent = extent_along(self.data, self.axis.value.data, *self.operands[1:])
        check_parameters(self.input_scale, self.input_zero_point, extent, "the input")
        check_parameters(self.output_scale, self.output_zero_point, extent, "the output")

    def canonical(self, emit: Emit) -> SSAValue:
        rounding = "UPWARD" if self.rounding.data == "None" else assume("Rounding", self.rounding.data)
        given, wanted = (self.input_scale, self.input_zero_point), (self.output_scale, self.output_zero_point)
        element, axis = named_type(self.out_dtype.data), self.axis.value.data
        if self.compute_dtype.data.startswith("float"):
            wide = named_type(self.compute_dtype.data)
            return requantized_in_floats(emit, self.data, given, wanted, element, axis, rounding, wide)
        return requantized(emit, self.data, given, wanted, element, axis, rounding)


OPS: list[type[Operation]] = [QuantizeOp, DequantizeOp, RequantizeOp]
"""The operators that quantise."""
