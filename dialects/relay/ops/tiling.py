"""Operators that repeat elements: repeat, tile, broadcast_to."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation
from xdsl.irdl import operand_def, traits_def
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    broadcast_read,
    broadcast_shapes,
    int_list,
    integer,
    ints,
    normalize_axis,
    opt_integer,
    shape_of,
    shape_text,
)
from ..indexing import reshaped
from ..nn_common import optional_int
from ..precision import Accuracy
from .elementwise import DropsIdentity
from .transform import InjectiveOp

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Terms


def times(extent: int, factor: int) -> int:
    """An extent that may be dynamic, multiplied."""
    return DYNAMIC if extent == DYNAMIC else extent * factor


@irdl_op_definition
class RepeatOp(InjectiveOp):
    """Every element `repeats` times in a row along `axis`; without it, of the tensor seen as one row.

    `y = np.repeat(x, 2, axis=1)`

    ```mlir
    %y = relay.repeat %x {repeats = 2 : i64, axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x6xf32>
    ```
    """

    name = "relay.repeat"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    repeats = integer()
    axis = opt_integer()

    traits = traits_def(FusionPattern(Fusion.BROADCAST))

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        repeats = self.repeats.value.data
        if repeats < 1:
            raise VerifyException(f"'repeats' must be at least 1, got {repeats}")
        if self.axis is None:
            return [DYNAMIC if DYNAMIC in shape else prod(shape) * repeats]
        axis = normalize_axis(self.axis.value.data, len(shape))
        return [times(n, repeats) if d == axis else n for d, n in enumerate(shape)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        shape, repeats = self.result_shape(x.shape), self.repeats.value.data
        axis = optional_int(self.axis)
        x = reshaped(x, [prod(x.shape)]) if axis is None else x
        axis = normalize_axis(axis or 0, x.rank)
        return te.compute(shape, lambda *i: x[(*i[:axis], i[axis] // repeats, *i[axis + 1 :])], "repeat")

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        return np.repeat(inputs[0], self.repeats.value.data, axis=optional_int(self.axis))

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


@irdl_op_definition
class TileOp(InjectiveOp):
    """The whole tensor `reps` times along each dimension; the shorter of shape and `reps` is filled up with ones.

    `y = np.tile(x, (2, 1, 3))`

    ```mlir
    %y = relay.tile %x {reps = array<i64: 2, 1, 3>} : (tensor<2x3xf32>) -> tensor<2x2x9xf32>
    ```
    """

    name = "relay.tile"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    reps = int_list()

    traits = traits_def(FusionPattern(Fusion.BROADCAST))

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        reps = ints(self.reps)
        if any(r < 0 for r in reps):
            raise VerifyException(f"'reps' must not be negative, got {list(reps)}")
        rank = max(len(reps), len(shape))
        shape = (*(1,) * (rank - len(shape)), *shape)
        return [times(n, r) for n, r in zip(shape, (*(1,) * (rank - len(reps)), *reps), strict=True)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        shape = self.result_shape(x.shape)
        lead = len(shape) - x.rank
        return te.compute(
            shape,
            lambda *i: x[
                tuple(v if m == n else v % n for v, m, n in zip(i[lead:], shape[lead:], x.shape, strict=True))
            ],
            "tile",
        )

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        return np.tile(inputs[0], ints(self.reps))

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


class _BroadcastToShape(InjectiveOp, DropsIdentity):
    """Dimensions of extent one repeated, and further ones put in front."""

    traits = traits_def(FusionPattern(Fusion.BROADCAST))

    def broadcast(self, shape: Sequence[int], target: Sequence[int]) -> tuple[int, ...]:
        """`target`, to which data of `shape` broadcasts.

        Raises:
            VerifyException: it does not.
        """
        result = broadcast_shapes(shape, target)
        if len(result) != len(target) or any(
            DYNAMIC not in (m, n) and m != n for m, n in zip(result, target, strict=True)
        ):
            raise VerifyException(f"shape {shape_text(shape)} does not broadcast to {shape_text(target)}")
        return result


@irdl_op_definition
class BroadcastToOp(_BroadcastToShape):
    """Dimensions of extent one repeated, and further ones put in front, up to `shape`.

    `y = np.broadcast_to(x, (2, 3, 4))`

    ```mlir
    %y = relay.broadcast_to %x {shape = array<i64: 2, 3, 4>} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
    ```
    """

    name = "relay.broadcast_to"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    shape = int_list()

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.broadcast(shape, ints(self.shape))

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return te.compute(self.result_shape(x.shape), lambda *i: broadcast_read(x, i), "broadcast_to")

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        return np.broadcast_to(inputs[0], tuple(self.result_shape(inputs[0].shape)))

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad]


@irdl_op_definition
class BroadcastToLikeOp(_BroadcastToShape):
    """Dimensions of extent one repeated, and further ones put in front, up to the shape of another tensor.

    `y = np.broadcast_to(x, like.shape)`

    ```mlir
    %y = relay.broadcast_to_like %x, %like : (tensor<3x1xf32>, tensor<2x3x4xi32>) -> tensor<2x3x4xf32>
    ```
    """

    name = "relay.broadcast_to_like"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT

    data = operand_def(TensorType)
    like = operand_def(TensorType)

    def result_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.broadcast(shape, shape_of(self.like))

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, like = inputs
        return te.compute(self.broadcast(x.shape, like.shape), lambda *i: broadcast_read(x, i), "broadcast_to_like")

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad, None]


OPS: list[type[Operation]] = [
    RepeatOp, TileOp, BroadcastToOp, BroadcastToLikeOp,
]  # fmt: skip
"""The operators that repeat."""
