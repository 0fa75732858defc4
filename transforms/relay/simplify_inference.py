"""Replace operators that differ between training and inference by arithmetic.

    %t = relay.nn.batch_norm %x, %gamma, %beta, %mean, %var       %scale = gamma / sqrt(var + epsilon)
    %y = relay.tuple_get %t[0]                               ->   %shift = beta - mean * scale
                                                                  %y = x * scale + shift

    %t = relay.nn.dropout %x                                 ->   %x
    %y = relay.tuple_get %t[0]

`nn.layer_norm`, `nn.group_norm` and `nn.instance_norm` become mean, variance, square root, division, then scale and
offset; `nn.l2_normalize` becomes `x / sqrt(max(sum(x * x), eps))`. Only result 0 of batch norm and dropout is replaced:
the others are the statistics, and the mask. Group norm needs a static shape. With constant statistics `fold-constant`
makes scale and shift constants, and `fold-scale-axis` moves the scale into a convolution.

Counterpart of TVM's `SimplifyInference`, whose `l2_normalize` takes epsilon as float32; here it has the data's type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relay.base import is_static, is_true, normalize_axis, shape_of, tensor
from ...dialects.relay.core import FuncOp, TupleGetOp
from ...dialects.relay.ops.broadcast import AddOp, DivideOp, MaximumOp, MultiplyOp, SubtractOp
from ...dialects.relay.ops.nn.activation import DropoutOp
from ...dialects.relay.ops.nn.norm import BatchNormOp, GroupNormOp, InstanceNormOp, L2NormalizeOp, LayerNormOp
from ...dialects.relay.ops.reduce import MeanOp, SumOp, VarianceOp
from ...dialects.relay.ops.transcendental import SqrtOp
from ...dialects.relay.ops.transform import ExpandDimsOp, ReshapeOp
from ..infra import FunctionPass, RewriteDriver, remarks, report_changed
from .emitter import Emitter

NAME = "simplify-inference"


@dataclass(frozen=True)
class SimplifyInferencePass(FunctionPass):
    """No options."""

    name = NAME
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "SimplifyInference"

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(RewriteDriver(PATTERNS).rewrite(func))


def along_axis(emit: Emitter, vector: SSAValue, axis: int, rank: int) -> SSAValue:
    """A vector in a shape that broadcasts along `axis` of a tensor of rank `rank`: `[C]` -> `[C, 1, 1]`."""
    trailing = rank - 1 - axis
    return emit(ExpandDimsOp(vector, axis=1, num_newaxis=trailing)) if trailing else vector


class UnpackBatchNorm(RewritePattern):
    """`batch_norm(x)[0]` -> `x * scale + shift`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TupleGetOp, rewriter: PatternRewriter, /) -> None:
        norm = op.tuple.owner
        if not isinstance(norm, BatchNormOp) or op.index.value.data != 0:
            return
        rank, element = len(shape_of(norm.data)), tensor(norm.moving_var).element_type
        axis = normalize_axis(norm.axis.value.data, rank)
        emit = Emitter()
        epsilon = emit.constant(norm.epsilon.value.data, element)
        deviation = emit(SqrtOp(emit(AddOp(norm.moving_var, epsilon))))
        numerator = norm.gamma if is_true(norm.scale) else emit.constant(1, element)
        scale = emit(DivideOp(numerator, deviation))
        mean = emit(MultiplyOp(norm.moving_mean, scale))
        minuend = norm.beta if is_true(norm.center) else emit.constant(0, element)
        shift = emit(SubtractOp(minuend, mean))
        scaled = emit(MultiplyOp(norm.data, along_axis(emit, scale, axis, rank)))
        emit(AddOp(scaled, along_axis(emit, shift, axis, rank)))
        rewriter.replace(op, emit.ops)


class DropDropout(RewritePattern):
    """`dropout(x)[0]` -> `x`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TupleGetOp, rewriter: PatternRewriter, /) -> None:
        dropout = op.tuple.owner
        if isinstance(dropout, DropoutOp) and op.index.value.data == 0:
            rewriter.replace(op, [], [dropout.data])
            if dropout.result.first_use is None:  # stateful, and so not dead code to anyone else
                rewriter.erase(dropout)


def normalized(
    emit: Emitter, norm: LayerNormOp | InstanceNormOp | GroupNormOp, data: SSAValue, axes: Sequence[int]
) -> SSAValue:
    """`(data - mean) / sqrt(variance + epsilon)`, mean and variance over `axes`."""
    mean = emit(MeanOp(data, axis=axes, keepdims=True))
    variance = emit(VarianceOp(data, mean, axis=axes, keepdims=True))
    epsilon = emit.constant(norm.epsilon.value.data, tensor(data).element_type)
    deviation = emit(SqrtOp(emit(AddOp(variance, epsilon))))
    return emit(DivideOp(emit(SubtractOp(data, mean)), deviation))


def finish(
    emit: Emitter, norm: LayerNormOp | InstanceNormOp | GroupNormOp, value: SSAValue, rewriter: PatternRewriter
) -> None:
    """Replace `norm` by `value * gamma + beta`."""
    rank = len(shape_of(norm.data))
    axis = normalize_axis(norm.axis.value.data, rank)
    if is_true(norm.scale):
        value = emit(MultiplyOp(value, along_axis(emit, norm.gamma, axis, rank)))
    if is_true(norm.center):
        value = emit(AddOp(value, along_axis(emit, norm.beta, axis, rank)))
    rewriter.replace(norm, emit.ops, [value])


class UnpackLayerNorm(RewritePattern):
    """`layer_norm(x)` -> `(x - mean) / sqrt(variance + epsilon) * gamma + beta` along one axis"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LayerNormOp, rewriter: PatternRewriter, /) -> None:
        emit = Emitter()
        axis = normalize_axis(op.axis.value.data, len(shape_of(op.data)))
        finish(emit, op, normalized(emit, op, op.data, [axis]), rewriter)


class UnpackInstanceNorm(RewritePattern):
    """the same, over all axes but the first and `axis`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: InstanceNormOp, rewriter: PatternRewriter, /) -> None:
        emit = Emitter()
        rank = len(shape_of(op.data))
        axis = normalize_axis(op.axis.value.data, rank)
        finish(emit, op, normalized(emit, op, op.data, [d for d in range(1, rank) if d != axis]), rewriter)


class UnpackGroupNorm(RewritePattern):
    """the same, with the channels seen as `[groups, channels / groups]`, over all axes but the first and the groups"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GroupNormOp, rewriter: PatternRewriter, /) -> None:
        if not is_static(op.data.type):
            remarks.missed(NAME, op, "group norm of dynamic shape is not unpacked", "give the input a static shape")
            return
        emit = Emitter()
        shape, groups = shape_of(op.data), op.num_groups.value.data
        axis = normalize_axis(op.axis.value.data, len(shape))
        split = [*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :]]
        grouped = emit(ReshapeOp(op.data, newshape=split))
        value = normalized(emit, op, grouped, [d for d in range(1, len(split)) if d != axis])
        finish(emit, op, emit(ReshapeOp(value, newshape=shape)), rewriter)


class UnpackL2Normalize(RewritePattern):
    """`l2_normalize(x)` -> `x / sqrt(max(sum(x * x), eps))`"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: L2NormalizeOp, rewriter: PatternRewriter, /) -> None:
        emit = Emitter()
        data = tensor(op.data)
        squares = emit(MultiplyOp(op.data, op.data))
        total = emit(SumOp(squares, axis=op.axes(len(data.get_shape())), keepdims=True))
        least = emit.constant(op.eps.value.data, data.element_type)
        emit(DivideOp(op.data, emit(SqrtOp(emit(MaximumOp(total, least))))))
        rewriter.replace(op, emit.ops)


PATTERNS = (
    UnpackBatchNorm(), DropDropout(), UnpackLayerNorm(), UnpackInstanceNorm(), UnpackGroupNorm(), UnpackL2Normalize(),
)  # fmt: skip
