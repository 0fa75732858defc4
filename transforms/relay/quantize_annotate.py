"""Say which values of a network of floats are bytes: what is multiplied is quantised, and dequantised again.

    %y = relay.nn.conv2d %x, %w    ->    %0 = relay.qnn.quantize %x, %s, 0 {simulated}
                                         %1 = relay.qnn.dequantize %0, %s, 0
                                         %2 = relay.qnn.dequantize %bytes, %sw, 0      // of the weight
                                         %y = relay.nn.conv2d %1, %2

So the network computes what it would with bytes, but with floats; `sink-dequantize`, which compilations have, makes
it compute with them. Annotated are convolutions in the plane and dense layers whose weights are constants, products of
batches of matrices, whose second factor may be data as well, and the operands of `max_pool2d` and `batch_flatten`
behind such. A value is quantised once for all in a block that read it.
Zero points are 0: bytes stand for the numbers from `-global-scale` to that. What is marked `simulated` may be given
another scale by calibration (`relay.quantize`). Weights become bytes at once, by the largest of their magnitudes, or,
as `power2`, the power of two above it; none of them is -128.

Does not: annotate sums of tensors, which stay floats between products; convolutions and dense layers whose weights are
given at run time.

Counterpart of TVM's `QuantizeAnnotate` and of what its `QuantizeCalibrate` does without data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import UnitAttr, f32, i8, i32
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.base import RelayOp, tensor
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.elementwise import ClipOp
from ...dialects.relay.ops.nn.activation import LEAST_NORMAL, ReluOp
from ...dialects.relay.ops.nn.convolution import Conv2dOp
from ...dialects.relay.ops.nn.dense import BatchMatmulOp, BiasAddOp, DenseOp
from ...dialects.relay.ops.nn.pool import MaxPool2dOp
from ...dialects.relay.ops.nn.spatial import BatchFlattenOp
from ...dialects.relay.ops.qnn.quantization import DequantizeOp, QuantizeOp
from ...dialects.support.diagnostics import UsageError
from ..infra import FunctionPass, remarks, report_changed
from ..infra.walk import walk
from .affine_values import known
from .emitter import Emitter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NAME = "quantize-annotate"

SIMULATED = "simulated"
"""Marks a `qnn.quantize` whose scale is a guess."""

STEPS = 128
"""Bytes stand for the numbers from `-scale * STEPS` to just below `scale * STEPS`."""

LEAST_SCALE = LEAST_NORMAL[f32]
"""What is below is 0 where numbers that are not normal are, and no scale."""

BETWEEN = (ReluOp, BiasAddOp, ClipOp)
"""What stands between a product and an operator that moves its results."""


@dataclass(frozen=True)
class QuantizeAnnotatePass(FunctionPass):
    """Options: `global-scale`, the largest magnitude of data; `weight-scale` is `power2` or `max`; `skip-conv-layers`,
    the numbers of convolutions in the order of the text, from 0, that stay; `skip-dense-layer`, whether all dense
    layers stay."""

    name = NAME
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "QuantizeAnnotate"

    global_scale: float = 8.0
    weight_scale: str = "power2"
    skip_conv_layers: tuple[int, ...] = ()
    skip_dense_layer: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weight_scale not in ("power2", "max"):
            raise UsageError(f"the option 'weight-scale' is power2 or max, not {self.weight_scale!r}")
        if not LEAST_SCALE * STEPS <= self.global_scale < 2.0**128:
            raise UsageError(f"the option 'global-scale' is above 0, and a float of 32 bits, not {self.global_scale}")

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        annotation = _Annotation(self)
        blocks = [block for op in walk(func) for region in op.regions for block in region.blocks]
        for op in [op for block in blocks for op in block.ops]:
            annotation.visit(op)
        report_changed(bool(annotation.done))


class _Annotation:
    """What is annotated of a function."""

    def __init__(self, options: QuantizeAnnotatePass):
        self.options = options
        self.convolutions = 0
        self.simulated: dict[tuple[SSAValue, Block | None], SSAValue] = {}
        """What stands for a value in a block: what one branch quantises, another does not see."""
        self.weights: dict[tuple[SSAValue, Block | None], SSAValue] = {}
        self.done: set[Operation] = set()

    def visit(self, op: Operation) -> None:
        match op:
            case Conv2dOp():
                number, self.convolutions = self.convolutions, self.convolutions + 1
                self._product(op, number in self.options.skip_conv_layers)
            case DenseOp():
                self._product(op, self.options.skip_dense_layer)
            case BatchMatmulOp():
                self._product(op, skipped=False)
            case MaxPool2dOp() | BatchFlattenOp() if self._is_behind_product(op.operands[0]):
                self._quantize(op)
            case _:
                pass

    def _product(self, op: RelayOp, skipped: bool) -> None:
        import numpy as np

        weight = known(op.operands[1])
        types = [tensor(value).element_type for value in (*op.operands, *op.results)]
        if skipped:
            why = "it is to be skipped"
        elif any(type != f32 for type in types):
            why = "it is no product of floats"
        elif weight is None and isinstance(op, BatchMatmulOp):
            for place in range(2):
                self._quantize(op, place)
            return
        elif weight is None:
            why = "its weight is no constant"
        elif not np.isfinite(weight).all():
            why = "no bytes stand for the infinite numbers or NaN of its weight"
        else:
            self._bytes_for(op, weight)
            return
        remarks.missed(NAME, op, f"its factors stay floats: {why}")

    def _bytes_for(self, op: RelayOp, weight: npt.NDArray[np.generic]) -> None:
        """Let a product read bytes."""
        self._quantize(op)
        if (key := (op.operands[1], op.parent)) not in self.weights:
            self.weights[key] = self._as_bytes(weight, op)
        op.operands[1] = self.weights[key]

    def _as_bytes(self, weight: npt.NDArray[np.generic], at: RelayOp) -> SSAValue:
        """What the bytes of a weight stand for, before an operation."""
        import numpy as np

        emit = Emitter()
        largest = float(np.abs(weight).max(initial=0.0)) or 1.0
        if self.options.weight_scale == "power2":
            scale = 2.0 ** np.ceil(np.log2(largest)) / STEPS
        else:
            scale = largest / (STEPS - 1)
        scale = np.float32(max(scale, LEAST_SCALE))
        values = np.clip(np.round(weight.astype(np.float64) / float(scale)), 1 - STEPS, STEPS - 1)
        held = emit.constant(values.astype(np.int8), i8, "weight")
        scales, zero = emit.constant(scale, f32, "scale"), emit.constant(0, i32, "zero_point")
        result = emit(DequantizeOp(held, scales, zero))
        emit.insert_before(at)
        return result

    def _quantize(self, op: RelayOp, place: int = 0) -> None:
        """Let an operator read an operand as bytes."""
        self.done.add(op)
        value = op.operands[place]
        if (key := (value, op.parent)) not in self.simulated:
            emit = Emitter()
            scale = emit.constant(self.options.global_scale / STEPS, f32, "scale")
            zero = emit.constant(0, i32, "zero_point")
            quantize = QuantizeOp(value, scale, zero, out_dtype="int8")
            quantize.attributes[SIMULATED] = UnitAttr()
            self.simulated[key] = emit(DequantizeOp(emit(quantize), scale, zero))
            emit.insert_before(op)
        op.operands[place] = self.simulated[key]

    def _is_behind_product(self, value: SSAValue) -> bool:
        while isinstance(value.owner, BETWEEN):
            value = value.owner.operands[0]
        return value.owner in self.done
