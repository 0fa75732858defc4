"""Planes that the planes of a result see, as its channels: what makes a convolution along two axes one along three."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ...base import DYNAMIC, int_list, ints, tensor
from ...nn_common import MovingOp
from ...planes import Planes

if TYPE_CHECKING:
    from ...base import NDArray
    from ...gradient import Gradient, Terms


@irdl_op_definition
class SeePlanesOp(MovingOp):
    """Of volumes whose planes are images, the planes that each plane of a convolution's result sees, as channels.

    `planes` are six numbers: the planes of a volume, how many are seen, stride, dilation, and the planes of zeros
    before and after each volume. `held` is the first of them, `made` what a convolution makes of so many.

    `y[n * made + d, k * C + c, ...] = x[n * held + d * stride + k * dilation - before, c, ...]`

    ```mlir
    %y = relay.nn.contrib_see_planes %x {planes = array<i64: 3, 2, 1, 1, 1, 0>}
       : (tensor<6x2x4x4xf32>) -> tensor<6x4x4x4xf32>
    ```
    """

    name = "relay.nn.contrib_see_planes"

    data = operand_def(TensorType)
    result = result_def(TensorType)

    planes = int_list()

    def seeing(self) -> Planes:
        """
        Raises:
            VerifyException: there are no such planes.
        """
        found = Planes.of(ints(self.planes))
        if found is None:
            raise VerifyException("'planes' has six numbers, not 0")
        return found

    def infer(self) -> Sequence[Attribute]:
        data, seeing = tensor(self.data), self.seeing()
        shape = data.get_shape()
        if len(shape) < 2:
            raise VerifyException(f"expected images and channels, got {len(shape)} dimensions")
        if shape[1] == DYNAMIC:
            raise VerifyException("the number of channels is not known")
        images = seeing.volumes(shape[0]) * seeing.made
        return [TensorType(data.element_type, [images, seeing.seen * shape[1], *shape[2:]])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        seeing, channels = self.seeing(), x.shape[1]
        volumes, padded = seeing.volumes(x.shape[0]), seeing.pad_stage(x, 0, {}, {})

        def body(*at: te.IterVar) -> te.Expr:
            image, channel, *rest = at
            return padded[(seeing.place(volumes, image, channel // channels), channel % channels, *rest)]

        shape = (volumes * seeing.made, seeing.seen * channels, *x.shape[2:])
        return te.compute(shape, body, "see_planes")

    def numpy(self, *inputs: NDArray) -> NDArray:
        return self.seeing().see(inputs[0])

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


OPS: list[type[Operation]] = [SeePlanesOp]
"""The operators on planes."""
