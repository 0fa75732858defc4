"""Sums that undo a broadcast, to a shape or to that of another tensor."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import (
    Fusion,
    FusionPattern,
    RelayOp,
    Tensor,
    broadcast_shapes,
    compatible,
    int_list,
    ints,
    shape_of,
    shape_text,
    tensor,
)
from ..nn_common import accumulator, narrow
from .reduce import Reduction

if TYPE_CHECKING:
    from ..gradient import Gradient, Terms


class _CollapseOp(RelayOp, ABC):
    """A sum that undoes a broadcast."""

    traits = traits_def(Pure(), FusionPattern(Fusion.COMM_REDUCE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def collapsed(self, data: Tensor, shape: Sequence[int]) -> Tensor:
        """The result's type.

        Raises:
            VerifyException: a tensor of `shape` does not broadcast to the data's shape.
        """
        if len(shape) > len(data.get_shape()) or not compatible(
            data, TensorType(data.element_type, broadcast_shapes(shape, data.get_shape()))
        ):
            raise VerifyException(
                f"{data} cannot be collapsed to shape {shape_text(shape)}, which does not broadcast to it"
            )
        return TensorType(data.element_type, shape)

    def collapse(self, x: te.Tensor, shape: Sequence[int]) -> te.Tensor:
        """The sum of `x` over the axes along which a tensor of `shape` would be repeated. An extent that is not known
        to be 1 is the data's.

        Raises:
            VerifyException: it cannot be.
        """
        lead = x.rank - len(shape)
        for n, m in zip(shape, x.shape[lead:], strict=True):
            if not te.same(n, 1) and not te.agree(n, m):
                raise VerifyException(f"{m} elements cannot be collapsed to {n}")
        summed = [d for d in range(x.rank) if d < lead or (te.same(shape[d - lead], 1) and not te.same(x.shape[d], 1))]
        reduction = Reduction(x.rank, tuple(summed), keepdims=True)
        axes = reduction.reduce_axes(x.shape)
        element = accumulator(x.element_type)

        def body(*i: te.IterVar) -> te.Expr:
            kept = (*(te.const(0, te.index),) * lead, *i)
            return te.sum(te.cast(x[reduction.indices(kept, axes)], element), axes)

        return narrow(te.compute(shape, body, "collapse_sum"), x.element_type)


@irdl_op_definition
class CollapseSumToOp(_CollapseOp):
    """The sum over what a broadcast from `shape` has repeated.

    `y = np.sum(x, axis=(0, 1), keepdims=True)[0]`

    ```mlir
    %y = relay.collapse_sum_to %x {shape = array<i64: 1, 4>} : (tensor<2x3x4xf32>) -> tensor<1x4xf32>
    ```
    """

    name = "relay.collapse_sum_to"

    data = operand_def(TensorType)
    result = result_def(TensorType)

    shape = int_list()

    def infer(self) -> Sequence[Attribute]:
        return [self.collapsed(tensor(self.data), ints(self.shape))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        return self.collapse(inputs[0], ints(self.shape))

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad]


@irdl_op_definition
class CollapseSumLikeOp(_CollapseOp):
    """The sum over what a broadcast from the shape of another tensor has repeated.

    `y = np.sum(x, axis=(0, 1), keepdims=True)[0]`

    ```mlir
    %y = relay.collapse_sum_like %x, %like : (tensor<2x3x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    ```
    """

    name = "relay.collapse_sum_like"

    data = operand_def(TensorType)
    like = operand_def(TensorType)
    result = result_def(TensorType)

    def infer(self) -> Sequence[Attribute]:
        return [self.collapsed(tensor(self.data), shape_of(self.like))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        return self.collapse(inputs[0], inputs[1].shape)

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad, None]


OPS: list[type[Operation]] = [CollapseSumToOp, CollapseSumLikeOp]
"""The sums."""
