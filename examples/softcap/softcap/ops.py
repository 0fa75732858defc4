"""The dialect `softcap`: the operators, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from weft.dialects import te
from weft.dialects.relay.base import (
    Fusion,
    FusionPattern,
    Pointwise,
    RelayOp,
    int_list,
    ints,
    normalize_axis,
    real,
    shape_of,
    tensor,
)
from weft.dialects.relay.blocking import PLAIN, Blocks


class SameFloats(RelayOp):
    """What both operators share: one tensor of floats in, one of the same type out."""

    data = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "$data attr-dict `:` type($data) `->` type($result)"

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        if not isinstance(data.element_type, AnyFloat):
            raise VerifyException(f"expected a tensor of floats, got {data}")
        return [data]


@irdl_op_definition
class SoftcapOp(SameFloats):
    """Squeeze every element smoothly into (-cap, cap).

    `y = 2.0 * np.tanh(x / 2.0)`

    ```mlir
    %y = softcap.softcap %x {cap = 2.0 : f64} : tensor<2x4xf32> -> tensor<2x4xf32>
    ```
    """

    name = "softcap.softcap"
    ONNX: ClassVar[tuple[str, ...]] = ("com.example.Softcap",)

    cap = real()

    traits = traits_def(Pure(), FusionPattern(Fusion.ELEMWISE), Pointwise())

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        cap = self.cap.value.data
        return te.compute(x.shape, lambda *i: te.tanh(x[i] / cap) * cap, "softcap")


@irdl_op_definition
class RmsNormOp(SameFloats):
    """Every element divided by the root of the mean of squares along `axes`.

    `y = x / np.sqrt(np.mean(x * x, axis=(1,), keepdims=True) + 1e-5)`

    ```mlir
    %y = softcap.rms_norm %x {axes = array<i64: 1>} : tensor<2x4xf32> -> tensor<2x4xf32>
    ```
    """

    name = "softcap.rms_norm"

    axes = int_list()
    epsilon = real(1e-5)

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))

    def reduced(self) -> list[int]:
        """The axes, counted from the front."""
        return sorted(normalize_axis(axis, len(shape_of(self.data))) for axis in ints(self.axes))

    def infer(self) -> Sequence[Attribute]:
        axes = self.reduced()
        if not axes or len(set(axes)) != len(axes):
            raise VerifyException(f"'axes' is empty, or lists an axis twice: {list(ints(self.axes))}")
        return super().infer()

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        axes, epsilon = self.reduced(), self.epsilon.value.data
        along = {axis: te.reduce_axis(x.shape[axis], f"k{axis}") for axis in axes}

        def square(*i: te.IterVar) -> te.Expr:
            value = x[tuple(along.get(d, index) for d, index in enumerate(i))]
            return te.sum(value * value, list(along.values()))

        total = te.compute([1 if d in along else n for d, n in enumerate(x.shape)], square, "squares")
        count = prod(x.shape[axis] for axis in axes)

        def divided(*i: te.IterVar) -> te.Expr:
            mean = total[tuple(0 if d in along else index for d, index in enumerate(i))] / count
            return x[i] / te.sqrt(mean + epsilon)

        return te.compute(x.shape, divided, "rms_norm")

    def channel_block(self, blocks: Blocks) -> int:
        """Over height and width, which stand at the same place in blocks of channels."""
        shape = shape_of(self.data)
        return blocks.channel_block(shape[1]) if len(shape) == 4 and set(self.reduced()) <= {2, 3} else PLAIN

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        new = RmsNormOp(blocks.get(self.data, block, self), axes=self.reduced(), epsilon=self.epsilon)
        blocks.replace(self, new, block)


Softcap = Dialect("softcap", [SoftcapOp, RmsNormOp], [])
