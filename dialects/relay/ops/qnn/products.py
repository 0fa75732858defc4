"""Convolutions and matrix products of quantised tensors, in 32 bits: their scale is the product of the operands'."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, TensorType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from ....support.dtypes import numpy_dtype
from ....support.operations import irdl_op_definition
from ...base import DYNAMIC, RelayOp, int_list, integer, opt_int_list, shape_of, string, tensor
from ...core import ConstantOp
from ...decomposition import Emit
from ...layout import Layout, unblocked
from ...nn_common import Window
from ..broadcast import MultiplyOp, SubtractOp
from ..elementwise import named_type
from ..nn.byte_products import is_unsigned_byte
from ..nn.conv_transpose import Conv2dTransposeOp
from ..nn.convolution import Conv2dOp
from ..nn.dense import BatchMatmulOp, DenseOp
from ..nn.padding import PadOp
from ..reduce import SumOp
from ..transform import ExpandDimsOp, ReshapeOp
from .fixed_point import QnnOp, along, cast, centred, check_parameters, check_quantized, integer_range


class _QnnProduct(QnnOp, ABC):
    """A product of two tensors less their zero points. Their scales are for who requantises the result."""

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    input_zero_point = operand_def(TensorType)
    kernel_zero_point = operand_def(TensorType)
    input_scale = operand_def(TensorType)
    kernel_scale = operand_def(TensorType)
    result = result_def(TensorType)

    out_dtype = string("int32")

    @abstractmethod
    def product(self, data: SSAValue, weight: SSAValue) -> RelayOp:
        """The product of two tensors of integers."""

    def kernel_axis(self) -> int:
        """The dimension of the weight that may have a scale and a zero point for each slice."""
        return 0

    def check(self) -> None:
        check_quantized(self.data, "the data")
        check_quantized(self.weight, "the weight")
        if named_type(self.out_dtype.data) != i32:
            raise VerifyException(f"'out_dtype' is {self.out_dtype}; sums are of int32")
        check_parameters(self.input_scale, self.input_zero_point, None, "the data")
        shape, axis = shape_of(self.weight), self.kernel_axis()
        if axis >= len(shape):
            raise VerifyException(f"{self.weight.type} has no axis {axis}")
        check_parameters(self.kernel_scale, self.kernel_zero_point, shape[axis], "the weight")

    def canonical(self, emit: Emit) -> SSAValue:
        data, weight = self.data, self.weight
        if not (is_zero(self.input_zero_point) and is_zero(self.kernel_zero_point)):
            data = centred(emit, data, along(emit, self.input_zero_point, data, -1))
            weight = centred(emit, weight, along(emit, self.kernel_zero_point, weight, self.kernel_axis()))
        return emit(self.product(data, weight))

    def known_zero(self) -> int | None:
        """The zero point of data of bytes, where it is known and one of its numbers."""
        if any(is_unsigned_byte(tensor(each).element_type) is None for each in (self.data, self.weight)):
            return None
        owner = self.input_zero_point.owner
        known = owner.numpy() if isinstance(owner, ConstantOp) else None
        if known is None or known.size != 1:
            return None
        least, greatest = integer_range(tensor(self.data).element_type)
        zero = int(known.reshape(-1)[0])
        return zero if least <= zero <= greatest else None

    def default_layout(self, layout: str) -> str | None:
        """That of the product which it is of integers."""
        product = self.product(self.data, self.weight)
        found = product.default_layout(layout)
        product.erase()
        return found

    def plain_properties(self) -> dict[str, Attribute]:
        """The properties, for the product of tensors that are not quantised."""
        return {name: value for name, value in self.properties.items() if name != "out_dtype"}


def is_zero(value: SSAValue) -> bool:
    """Whether a zero point is known to be zero: then bytes can be multiplied as they are."""
    known = value.owner.numpy() if isinstance(value.owner, ConstantOp) else None
    return known is not None and not known.any()


def added_by(emit: Emit, zero: int, weight: SSAValue, axes: Sequence[int]) -> SSAValue:
    """What the zero point of the data adds to each result: its product with the sum of the weights along `axes`."""
    import numpy as np

    sums = emit(SumOp(cast(emit, weight, i32), axis=axes))
    return emit(MultiplyOp(sums, emit(ConstantOp.from_numpy(np.array(zero, np.int32)))))


@irdl_op_definition
class QnnConv2dOp(_QnnProduct):
    """A convolution along two spatial axes of quantised images, in 32 bits; what is padded is zero.

    `y[n, o, h, w] = sum_{i, kh, kw} (x[n, i, h*sh + kh*dh - ph, w*sw + kw*dw - pw] - zx) * (weight[o, i, kh, kw] - zw)`

    ```mlir
    %z = relay.constant dense<3> : tensor<i32>
    %s = relay.constant dense<0.5> : tensor<f32>
    %y = relay.qnn.conv2d %x, %w, %z, %z, %s, %s {channels = 6 : i64, kernel_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>}
       : (tensor<1x4x5x5xi8>, tensor<6x4x3x3xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x6x5x5xi32>
    ```
    """  # noqa: E501

    name = "relay.qnn.conv2d"
    LAYOUTS: ClassVar[tuple[str, ...]] = ("data_layout", "kernel_layout")

    strides = int_list([1, 1])
    padding = int_list([0, 0])
    dilation = int_list([1, 1])
    groups = integer(1)
    channels = opt_prop_def(IntegerAttr.constr(i64))
    kernel_size = opt_int_list()
    data_layout = string("NCHW")
    kernel_layout = string("OIHW")
    out_layout = string("")

    def kernel_axis(self) -> int:
        return max(self.kernel_layout.data.find("O"), 0)

    def check(self) -> None:
        super().check()
        for text, letters, what in (
            (self.data_layout.data, "NCHW", "data_layout"),
            (self.kernel_layout.data, "OIHW", "kernel_layout"),
            (self.out_layout.data or "NCHW", "NCHW", "out_layout"),
        ):
            unblocked(text, letters, what)

    def product(self, data: SSAValue, weight: SSAValue) -> RelayOp:
        return Conv2dOp(data, weight, **self.plain_properties(), out_dtype="int32")

    def canonical(self, emit: Emit) -> SSAValue:
        zero = self.known_zero()
        if not zero or not is_zero(self.kernel_zero_point) or DYNAMIC in shape_of(self.weight):
            return super().canonical(emit)
        plain = Conv2dOp(self.data, self.weight, **self.plain_properties(), out_dtype="int32")
        data_layout, kernel, out = plain.layouts()
        window = plain.window(shape_of(self.weight))
        plain.erase()
        return self._less_sums(emit, zero, (data_layout, kernel, out), window)

    def _less_sums(self, emit: Emit, zero: int, layouts: tuple[Layout, Layout, Layout], window: Window) -> SSAValue:
        """The convolution of bytes as they are, padded with the zero point, less what that adds to each result: its
        product with the sum of the weights."""
        import numpy as np

        layout, kernel, out = layouts
        data, properties = self.data, self.plain_properties()
        amounts = dict(zip("HW", zip(window.before, window.after, strict=True), strict=True))
        if any(each for pair in amounts.values() for each in pair):
            number = emit(ConstantOp.from_numpy(np.array(zero, numpy_dtype(tensor(data).element_type))))
            widths = [each for name in layout.names for each in amounts.get(name, (0, 0))]
            data = emit(PadOp(data, number, pad_width=widths))
            properties.pop("padding")
        product = emit(Conv2dOp(data, self.weight, **properties, out_dtype="int32"))
        axes = [number for number, name in enumerate(kernel.names) if name != "O"]
        added = added_by(emit, zero, self.weight, axes)
        shape = [shape_of(self.weight)[kernel.position("O")] if name == "C" else 1 for name in out.names]
        return emit(SubtractOp(product, emit(ReshapeOp(added, newshape=shape))))


@irdl_op_definition
class QnnConv2dTransposeOp(_QnnProduct):
    """The transpose of a convolution of quantised images, in 32 bits.

    `y[n, o, h*sh + kh*dh - ph, w*sw + kw*dw - pw] = sum_{i, kh, kw} (x[n, i, h, w] - zx) * (weight[i, o, kh, kw] - zw)`

    ```mlir
    %z = relay.constant dense<3> : tensor<i32>
    %s = relay.constant dense<0.5> : tensor<f32>
    %y = relay.qnn.conv2d_transpose %x, %w, %z, %z, %s, %s {strides = array<i64: 2, 2>}
       : (tensor<1x4x3x3xi8>, tensor<4x6x2x2xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x6x6x6xi32>
    ```
    """  # noqa: E501

    name = "relay.qnn.conv2d_transpose"
    LAYOUTS: ClassVar[tuple[str, ...]] = ("data_layout", "kernel_layout")

    strides = int_list([1, 1])
    padding = int_list([0, 0])
    dilation = int_list([1, 1])
    output_padding = int_list([0, 0])
    groups = integer(1)
    channels = opt_prop_def(IntegerAttr.constr(i64))
    kernel_size = opt_int_list()
    data_layout = string("NCHW")
    kernel_layout = string("IOHW")
    out_layout = string("")

    def kernel_axis(self) -> int:
        return max(self.kernel_layout.data.find("O"), 0)

    def product(self, data: SSAValue, weight: SSAValue) -> RelayOp:
        return Conv2dTransposeOp(data, weight, **self.plain_properties(), out_dtype="int32")


@irdl_op_definition
class QnnDenseOp(_QnnProduct):
    """The product of quantised data and a matrix of weights, given transposed, in 32 bits.

    `y = (x - z) @ (w - z).T`

    ```mlir
    %z = relay.constant dense<3> : tensor<i32>
    %s = relay.constant dense<0.5> : tensor<f32>
    %y = relay.qnn.dense %x, %w, %z, %z, %s, %s {units = 3 : i64}
       : (tensor<2x4xi8>, tensor<3x4xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<2x3xi32>
    ```
    """

    name = "relay.qnn.dense"

    units = opt_prop_def(IntegerAttr.constr(i64))

    def product(self, data: SSAValue, weight: SSAValue) -> RelayOp:
        return DenseOp(data, weight, **self.plain_properties(), out_dtype="int32")

    def canonical(self, emit: Emit) -> SSAValue:
        zero = self.known_zero()
        if not zero or not is_zero(self.kernel_zero_point):
            return super().canonical(emit)
        total = emit(self.product(self.data, self.weight))
        return emit(SubtractOp(total, added_by(emit, zero, self.weight, [1])))


@irdl_op_definition
class QnnBatchMatmulOp(QnnOp):
    """The products of quantised matrices, the second ones given transposed, in 32 bits.

    `r = (x - z) @ (y - z).transpose(0, 2, 1)`

    ```mlir
    %z = relay.constant dense<3> : tensor<i32>
    %s = relay.constant dense<0.5> : tensor<f32>
    %r = relay.qnn.batch_matmul %x, %y, %z, %z, %s, %s
       : (tensor<2x3x4xi8>, tensor<2x5x4xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<2x3x5xi32>
    ```
    """

    name = "relay.qnn.batch_matmul"

    x = operand_def(TensorType)
    y = operand_def(TensorType)
    x_zero_point = operand_def(TensorType)
    y_zero_point = operand_def(TensorType)
    x_scale = operand_def(TensorType)
    y_scale = operand_def(TensorType)
    result = result_def(TensorType)

    out_dtype = string("int32")

    def check(self) -> None:
        check_quantized(self.x, "the left operand")
        check_quantized(self.y, "the right operand")
        if named_type(self.out_dtype.data) != i32:
            raise VerifyException(f"'out_dtype' is {self.out_dtype}; sums are of int32")
        check_parameters(self.x_scale, self.x_zero_point, None, "the left operand")
        check_parameters(self.y_scale, self.y_zero_point, None, "the right operand")

    def canonical(self, emit: Emit) -> SSAValue:
        """The product of bytes as they are, less what the zero points add to it:
        `x @ y.T - x_zero_point * sum_k (y - y_zero_point) - y_zero_point * sum_k x`, modulo 2^32 as the product is."""
        total = emit(BatchMatmulOp(self.x, self.y, out_dtype="int32"))
        x_zero, y_zero = (
            None if is_zero(zero) else along(emit, zero, data, -1)
            for zero, data in ((self.x_zero_point, self.x), (self.y_zero_point, self.y))
        )
        if x_zero is not None:
            y = cast(emit, self.y, i32) if y_zero is None else centred(emit, self.y, y_zero)
            sums = emit(ExpandDimsOp(emit(SumOp(y, axis=[2])), axis=1))
            total = emit(SubtractOp(total, emit(MultiplyOp(sums, x_zero))))
        if y_zero is not None:
            sums = emit(SumOp(cast(emit, self.x, i32), axis=[2], keepdims=True))
            total = emit(SubtractOp(total, emit(MultiplyOp(sums, y_zero))))
        return total


OPS: list[type[Operation]] = [QnnConv2dOp, QnnConv2dTransposeOp, QnnDenseOp, QnnBatchMatmulOp]
"""The products of quantised tensors."""
