"""Operators that enlarge images."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import result_def
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ...base import (
    DYNAMIC,
    flag,
    is_true,
    real,
    string,
    tensor,
)
from ...layout import Layout, with_whole
from ...nn_common import MovingOp, ToldLayoutOp
from ...precision import Accuracy
from ...resample import Axis, Sampling, one_of, resampled

if TYPE_CHECKING:
    from ...gradient import Gradient, Terms


class _Upsampling(ToldLayoutOp, MovingOp, ABC):
    """What the upsampling operators share: `scales` gives the factor of each axis in `SPATIAL`."""

    SPATIAL: ClassVar[str] = "HW"

    result = result_def(TensorType)
    method = string("nearest_neighbor")

    def layout_and_scales(self) -> tuple[Layout, Sequence[float]]:
        raise NotImplementedError

    def sampling(self) -> Sampling:
        raise NotImplementedError

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        layout, scales = self.layout_and_scales()
        layout.check(data.get_shape(), "the data")
        self.sampling().check()
        extents = layout.extents(data.get_shape())
        for letter, scale in zip(self.SPATIAL, scales, strict=True):
            extents[letter] = _scaled(extents[letter], scale)
            if scale <= 0 or extents[letter] == 0:
                raise VerifyException(f"a scale of {scale} leaves nothing of axis {letter}")
        return [TensorType(data.element_type, layout.shape(extents))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        layout, scales = self.layout_and_scales()
        positions = map(layout.position, self.SPATIAL)
        axes = [Axis(at, _scaled(x.shape[at], scale)) for at, scale in zip(positions, scales, strict=True)]
        return resampled(x, axes, self.sampling(), x.element_type)

    def gradient(self, g: Gradient) -> Terms:
        layout = self.layout_and_scales()[0]
        return g.separable([layout.position(letter) for letter in self.SPATIAL])


def _scaled(extent: int, scale: float) -> int:
    if not te.is_number(extent):
        if scale != int(scale):
            raise TypeError(f"te: an extent is scaled by {scale}, and known only when the computation runs")
        return extent * int(scale)
    return extent if extent == DYNAMIC else round(extent * scale)


_UPSAMPLING_METHODS = {"nearest_neighbor": "nearest_neighbor", "bilinear": "linear", "bicubic": "cubic"}


def sampled(method: StringAttr, align_corners: bool) -> Sampling:
    """How images are sampled that are enlarged along two axes.

    Raises:
        VerifyException: the method is none.
    """
    name = one_of(method.data, tuple(_UPSAMPLING_METHODS), "method")
    return Sampling(_UPSAMPLING_METHODS[name], "align_corners" if align_corners else "asymmetric")


def sampled3d(method: StringAttr, coordinates: StringAttr) -> Sampling:
    """How images are sampled that are enlarged along three axes.

    Raises:
        VerifyException: the method is none.
    """
    name = one_of(method.data, ("nearest_neighbor", "trilinear"), "method")
    return Sampling("linear" if name == "trilinear" else name, coordinates.data)


@irdl_op_definition
class UpsamplingOp(_Upsampling):
    """Enlarge two spatial axes: nearest neighbour, bilinear or bicubic.

    `y[n, c, h, w] = x[n, c]` at `(h / scale_h, w / scale_w)`; with `align_corners`, the corners stay corners

    ```mlir
    %y = relay.nn.upsampling %x {scale_h = 2.0 : f64, scale_w = 2.0 : f64}
       : (tensor<1x2x3x3xf32>) -> tensor<1x2x6x6xf32>
    ```
    """

    name = "relay.nn.upsampling"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED

    scale_h = real(1.0)
    scale_w = real(1.0)
    align_corners = flag(False)

    def layout_and_scales(self) -> tuple[Layout, Sequence[float]]:
        layout = with_whole(self.layout.data, self.SPATIAL)
        return layout, (self.scale_h.value.data, self.scale_w.value.data)

    def sampling(self) -> Sampling:
        return sampled(self.method, is_true(self.align_corners))


@irdl_op_definition
class Upsampling3dOp(_Upsampling):
    """Enlarge three spatial axes: nearest neighbour or trilinear.

    `y[n, c, d, h, w] = x[n, c]` interpolated at `coordinate_transformation_mode(d, h, w)`

    ```mlir
    %y = relay.nn.upsampling3d %x {scale_d = 2.0 : f64} : (tensor<1x1x2x2x2xf32>) -> tensor<1x1x4x2x2xf32>
    ```
    """

    name = "relay.nn.upsampling3d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED
    SPATIAL: ClassVar[str] = "DHW"

    scale_d = real(1.0)
    scale_h = real(1.0)
    scale_w = real(1.0)
    layout = string("NCDHW")
    coordinate_transformation_mode = string("half_pixel")

    def layout_and_scales(self) -> tuple[Layout, Sequence[float]]:
        layout = with_whole(self.layout.data, self.SPATIAL)
        return layout, (self.scale_d.value.data, self.scale_h.value.data, self.scale_w.value.data)

    def sampling(self) -> Sampling:
        return sampled3d(self.method, self.coordinate_transformation_mode)


OPS: list[type[Operation]] = [UpsamplingOp, Upsampling3dOp]
"""The operators that enlarge."""
