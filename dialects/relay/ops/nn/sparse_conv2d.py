"""Convolutions with weights that are mostly zeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ...base import DYNAMIC, LONG, Fusion, FusionPattern, int_list, ints, string, tensor
from ...precision import Accuracy
from ..image import clamped_index
from .sparse import SparseMatrixOp, checked_lengths, element_of

if TYPE_CHECKING:
    from ...gradient import Gradient, Terms

ORDERS = {"NHWC": "OHWI", "NCHW": "OIHW"}
"""Layouts of data, and in which order the weight is a matrix: a row for each output channel."""


@irdl_op_definition
class SparseConv2dOp(SparseMatrixOp):
    """Convolution with a sparse weight, in steps of one, whose result is as large as the data: there are `k - 1` rows
    and columns of zeros around it.

    The weight is a matrix with a row for each output channel, whose columns are in the order `OHWI` for data `NHWC`,
    and `OIHW` for `NCHW`; it is given by its blocks `[n, r, c]`, or `[n, r]` where they have one column.

    ```mlir
    %i = relay.constant dense<[0, 2, 1]> : tensor<3xi32>
    %p = relay.constant dense<[0, 2, 3]> : tensor<3xi32>
    %y = relay.nn.sparse_conv2d %x, %w, %i, %p
       : (tensor<1x4x4x3xf32>, tensor<3x2xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x4x4x4xf32>
    ```
    """

    name = "relay.nn.sparse_conv2d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.SUMMED
    RANKS: ClassVar[tuple[int, ...]] = (2, 3)

    dense_data = operand_def(TensorType)
    sparse_data = operand_def(TensorType)
    sparse_indices = operand_def(TensorType)
    sparse_indptr = operand_def(TensorType)
    result = result_def(TensorType)
    layout = string("NHWC")
    kernel_size = int_list([1, 1])

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))

    def channel_axis(self) -> int:
        """Which axis of the data holds the channels."""
        return self.layout.data.index("C")

    def side(self) -> int:
        """How many rows and columns of taps there are.

        Raises:
            VerifyException: these are not as many, or not an odd number.
        """
        sizes = set(ints(self.kernel_size))
        if len(sizes) != 1 or (side := min(sizes)) < 1 or side % 2 == 0:
            raise VerifyException(f"'kernel_size' must be one odd number, twice, got {list(ints(self.kernel_size))}")
        return side

    def terms(self) -> int:
        channels = tensor(self.dense_data).get_shape()[self.channel_axis()]
        return LONG if channels == DYNAMIC else channels * self.side() ** 2

    def infer(self) -> Sequence[Attribute]:
        if self.layout.data not in ORDERS:
            raise VerifyException(f"'layout' must be NHWC or NCHW, got {self.layout.data}")
        dense, (element, rows, block) = tensor(self.dense_data), self.matrix()
        shape = list(dense.get_shape())
        if len(shape) != 4 or dense.element_type != element:
            raise VerifyException(f"expected images {self.layout.data} of {element}, got {dense}")
        channels, taps = shape[self.channel_axis()], self.side() ** 2
        if channels != DYNAMIC and block[1] not in (0, DYNAMIC) and channels * taps % block[1]:
            raise VerifyException(f"{channels * taps} columns are no blocks of {block[1]}")
        shape[self.channel_axis()] = DYNAMIC if DYNAMIC in (rows, block[0]) else rows * block[0]
        return [TensorType(element, shape)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        dense, data, indices, indptr = inputs
        axis, side = self.channel_axis(), self.side()
        height, width = (*data.shape[1:], 1, 1)[:2]
        extents = list(dense.shape)
        channels = extents.pop(axis)
        columns, (images, rows, across) = channels * side * side, extents
        most = min(columns // width, data.shape[0])
        lengths = checked_lengths(indptr, most, self.name)
        steps, within = te.reduce_axis(most, "step"), te.reduce_axis(width, "within")
        zero = te.const(0.0, data.element_type)

        def element(n: te.Expr, o: te.Expr, y: te.Expr, x: te.Expr) -> te.Expr:
            there, column, value = element_of(data, indices, indptr, lengths, o // height, steps, (o % height, within))
            at = clamped_index(column * width + within, columns)
            channel, tap = (at // (side * side), at % (side * side)) if axis == 1 else (at % channels, at // channels)
            down, right = y + tap // side - side // 2, x + tap % side - side // 2
            if side > 1:
                there = there & (down >= 0) & (down < rows) & (right >= 0) & (right < across)
                down, right = clamped_index(down, rows), clamped_index(right, across)
            place = (n, channel, down, right) if axis == 1 else (n, down, right, channel)
            return te.sum(te.select(there, dense[place] * value, zero), (steps, within))

        outputs = (indptr.shape[0] - 1) * height
        if axis == 1:
            return te.compute((images, outputs, rows, across), element, "sparse_conv2d")
        return te.compute((images, rows, across, outputs), lambda n, y, x, o: element(n, o, y, x), "sparse_conv2d")

    def gradient(self, g: Gradient) -> Terms:
        g.static()
        dense, data, indices, indptr = g.inputs
        axis, side = self.channel_axis(), self.side()
        channels = dense.shape[axis]
        matrix = self.written_out(dense, data, indices, indptr, channels * side * side)
        taps = [channels, side, side] if axis == 1 else [side, side, channels]
        layouts = {"data_layout": self.layout.data, "kernel_layout": ORDERS[self.layout.data]}
        weight = matrix.reshape([matrix.shape[0], *taps])
        return g.through(dense.op("nn.conv2d", weight, padding=[side // 2, side // 2], **layouts))


OPS: list[type[Operation]] = [SparseConv2dOp]
"""The convolutions with sparse weights."""
