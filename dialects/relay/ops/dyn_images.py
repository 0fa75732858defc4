"""Operators on images that are told by operands what others are told by properties: `relay.dyn`."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import (
    DYNAMIC,
    RelayOp,
    Value,
    flag,
    is_true,
    real,
    shape_of,
    string,
    tensor,
)
from ..layout import Layout, with_whole
from ..nn_common import result_element
from ..precision import Accuracy
from ..resample import Sampling
from .dyn_common import OfData, count_of, integers, numbers, open_tensor
from .image import Resize2dOp
from .nn.upsampling import Upsampling3dOp, UpsamplingOp, sampled, sampled3d

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Term, Terms


class _DynResampling(OfData, ABC):
    """Images that are resampled along each spatial axis by itself."""

    SPATIAL: ClassVar[str]

    def axes(self) -> Layout:
        """The axes of the data.

        Raises:
            VerifyException: the layout has others.
        """
        return with_whole(cast(StringAttr, self.properties["layout"]).data, self.SPATIAL)

    PLAIN: ClassVar[Mapping[str, Value]] = {}
    """The properties with which zeros outside of the images are what they are."""

    def along(self, told: Sequence[Term], axis: int) -> Sequence[Term]:
        """What tells the operator to resample a single axis, while the others have one element, and keep it."""
        raise NotImplementedError

    def gradient(self, g: Gradient) -> Terms:
        """What resampling does along an axis is read off what it makes of the unit vectors, when it runs."""
        import numpy as np

        data, *told = g.inputs
        letters = self.axes()
        batch, grad, rank = letters.position("N"), g.grad, len(data.shape)
        for number, letter in enumerate(self.SPATIAL):
            axis = letters.position(letter)
            if (extent := data.shape[axis]) == DYNAMIC:
                raise VerifyException("its gradient needs to know how many rows and columns the images have")
            units = np.eye(extent).reshape([extent if d in (batch, axis) else 1 for d in range(rank)])
            given = g.constant(units, data.type.element_type)
            made = given.op(type(self), *self.along(told, number), **{**self.properties, **self.PLAIN})
            grad = grad.cast(made.type.element_type)
            order = [*(d for d in range(rank) if d != axis), axis]
            product = grad.transpose(order).op("nn.dense", made.reshape([extent, -1]))
            grad = product.transpose([order.index(d) for d in range(rank)])
        return [grad.cast(data.type.element_type).op("reshape_like", data), *[None] * len(told)]


class _DynUpsampling(_DynResampling, ABC):
    """Images enlarged by factors."""

    def along(self, told: Sequence[Term], axis: int) -> Sequence[Term]:
        return [scale if number == axis else scale.ones() for number, scale in enumerate(told)]

    def open_type(self) -> Attribute:
        for value in self.told():
            if shape_of(value) not in ((), (1,)):
                raise VerifyException(f"a scale must be one number, got {value.type}")
        rank = len(self.TOLD) + 2
        if len(shape_of(self.operands[0])) != rank:
            raise VerifyException(f"expected images of rank {rank}, got {self.operands[0].type}")
        return open_tensor(tensor(self.operands[0]).element_type, rank)


@irdl_op_definition
class DynUpsamplingOp(_DynUpsampling):
    """Images enlarged along two axes.

    ```mlir
    %s = relay.constant dense<2.0> : tensor<f32>
    %y = relay.dyn.nn.upsampling %x, %s, %s : (tensor<1x1x2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<1x1x4x6xf32>
    ```
    """

    name = "relay.dyn.nn.upsampling"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED
    TOLD: ClassVar[tuple[str, ...]] = ("scale_h", "scale_w")
    SPATIAL: ClassVar[str] = "HW"

    data = operand_def(TensorType)
    scale_h = operand_def(TensorType)
    scale_w = operand_def(TensorType)
    result = result_def(TensorType)

    layout = string("NCHW")
    method = string("nearest_neighbor")
    align_corners = flag(False)

    def told_by(self, *values: NDArray) -> RelayOp:
        h, w = (float(value.item()) for value in values)
        return UpsamplingOp(self.data, scale_h=h, scale_w=w, **self.properties)

    def sampling(self) -> Sampling:
        """How the images are sampled."""
        return sampled(self.method, is_true(self.align_corners))


@irdl_op_definition
class DynUpsampling3dOp(_DynUpsampling):
    """Images enlarged along three axes.

    ```mlir
    %s = relay.constant dense<2.0> : tensor<f32>
    %y = relay.dyn.nn.upsampling3d %x, %s, %s, %s
       : (tensor<1x1x1x2x3xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1x1x2x4x6xf32>
    ```
    """

    name = "relay.dyn.nn.upsampling3d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED
    TOLD: ClassVar[tuple[str, ...]] = ("scale_d", "scale_h", "scale_w")
    SPATIAL: ClassVar[str] = "DHW"

    data = operand_def(TensorType)
    scale_d = operand_def(TensorType)
    scale_h = operand_def(TensorType)
    scale_w = operand_def(TensorType)
    result = result_def(TensorType)

    layout = string("NCDHW")
    method = string("nearest_neighbor")
    coordinate_transformation_mode = string("half_pixel")

    def told_by(self, *values: NDArray) -> RelayOp:
        d, h, w = (float(value.item()) for value in values)
        return Upsampling3dOp(self.data, scale_d=d, scale_h=h, scale_w=w, **self.properties)

    def sampling(self) -> Sampling:
        """How the images are sampled."""
        return sampled3d(self.method, self.coordinate_transformation_mode)


@irdl_op_definition
class DynResize2dOp(_DynResampling):
    """Images resampled to a size; `roi` is the part that is taken, or empty.

    ```mlir
    %s = relay.constant dense<[4, 6]> : tensor<2xi64>
    %r = relay.constant dense<[0.0, 0.0, 1.0, 1.0]> : tensor<4xf32>
    %y = relay.dyn.image.resize2d %x, %s, %r : (tensor<1x1x2x3xf32>, tensor<2xi64>, tensor<4xf32>) -> tensor<1x1x4x6xf32>
    ```
    """  # noqa: E501

    name = "relay.dyn.image.resize2d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED
    TOLD: ClassVar[tuple[str, ...]] = ("size", "roi")
    SPATIAL: ClassVar[str] = "HW"
    PLAIN: ClassVar[Mapping[str, Value]] = {"extrapolation_value": 0.0, "out_dtype": ""}

    data = operand_def(TensorType)
    size = operand_def(TensorType)
    roi = operand_def(TensorType)
    result = result_def(TensorType)

    layout = string("NCHW")
    method = string("linear")
    coordinate_transformation_mode = string("half_pixel")
    rounding_method = string("")
    cubic_alpha = real(-0.5)
    cubic_exclude = flag(False)
    extrapolation_value = real(0.0)
    out_dtype = string("")

    def told_by(self, *values: NDArray) -> RelayOp:
        roi = [float(value) for value in values[1].reshape(-1)]
        return Resize2dOp(self.data, size=numbers(values[0]), **({"roi": roi} if roi else {}), **self.properties)

    def compute_symbolic(self, told: Sequence[Sequence[te.Dim | float]], *data: te.Tensor) -> te.Tensor:
        size, roi = told
        if any(isinstance(v, te.Expr) for v in roi):
            raise TypeError("te: the region is known only when it runs")
        static = Resize2dOp(self.data, size=[1, 1], **self.properties)
        try:
            return static.resampled(data[0], integers(size), [float(v) for v in roi if not isinstance(v, te.Expr)])
        finally:
            static.erase()

    def along(self, told: Sequence[Term], axis: int) -> Sequence[Term]:
        size, roi = told
        one = size.slice_along(0, axis, axis + 1).ones()
        parts = [size.slice_along(0, d, d + 1) if d == axis else one for d in range(2)]
        return [parts[0].concatenated(parts[1:], 0), roi]

    def open_type(self) -> Attribute:
        if len(shape_of(self.data)) != 4 or count_of(self.size, "the size") != 2 or len(shape_of(self.roi)) != 1:
            raise VerifyException(f"expected images, two extents, and a region, got {self.data.type}, {self.size.type}")
        return open_tensor(result_element(tensor(self.data).element_type, self.out_dtype.data), 4)


OPS: list[type[Operation]] = [DynUpsamplingOp, DynUpsampling3dOp, DynResize2dOp]
"""The operators that are told by data what they give."""
