"""Replace operators that differ between training and inference by arithmetic.

    %t = relay.nn.batch_norm %x, %gamma, %beta, %mean, %var       %scale = gamma / sqrt(var + epsilon)
    %y = relay.tuple_get %t[0]                               ->   %shift = beta - mean * scale
                                                                  %y = x * scale + shift

    %t = relay.nn.dropout %x                                 ->   %x
    %y = relay.tuple_get %t[0]

`nn.layer_norm`, `nn.group_norm` and `nn.instance_norm` become mean, variance, square root, division, then scale and
offset; `nn.l2_normalize` becomes `x / sqrt(max(sum(x * x), eps))`. Only result 0 of batch norm and dropout is replaced:
the others are the statistics, and the mask. An operator that is written as others,
as those of `relay.qnn`, becomes these. With constant statistics `fold-constant`
makes scale and shift constants, and `fold-scale-axis` moves the scale into a convolution.

As in the operators' own definitions, half-width floats are widened to f32 first: squares and epsilons leave their
range. The scale and shift of batch norm are narrowed before they meet the data, all else behind the last step.

Counterpart of TVM's `SimplifyInference`, whose `l2_normalize` takes epsilon as float32; here it has the type of the
sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ...dialects.relay.base import DYNAMIC, is_static, is_true, normalize_axis, shape_of, tensor
from ...dialects.relay.core import FuncOp, TupleGetOp
from ...dialects.relay.decomposition import Writer, WrittenOut
from ...dialects.relay.nn_common import accumulator
from ...dialects.relay.ops.broadcast import AddOp, DivideOp, MaximumOp, MultiplyOp, SubtractOp
from ...dialects.relay.ops.elementwise import CastOp
from ...dialects.relay.ops.nn.activation import DropoutOp
from ...dialects.relay.ops.nn.norm import BatchNormOp, GroupNormOp, InstanceNormOp, L2NormalizeOp, LayerNormOp
from ...dialects.relay.ops.reduce import MeanOp, SumOp, VarianceOp
from ...dialects.relay.ops.transcendental import SqrtOp
from ...dialects.relay.ops.transform import ExpandDimsOp, ReshapeOp
from ...dialects.support.dtypes import dtype_name
from ..infra import FunctionPass, RewriteDriver, report_changed
from .dataflow.pattern import is_op, is_tuple_get_item, wildcard
from .dataflow.rows import Row, Site
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
        report_changed(RewriteDriver((*ROWS, EraseUnreadDropout(), WriteOut())).rewrite(func))


def widened(emit: Emitter, value: SSAValue) -> SSAValue:
    """`value` in the type in which sums of its elements are formed."""
    element = tensor(value).element_type
    wide = accumulator(element)
    return value if wide == element else emit(CastOp(value, dtype=dtype_name(wide)))


def narrowed(emit: Emitter, value: SSAValue, like: SSAValue) -> SSAValue:
    """`value` with elements of the type of those of `like`."""
    element = tensor(like).element_type
    return value if tensor(value).element_type == element else emit(CastOp(value, dtype=dtype_name(element)))


def along_axis(emit: Emitter, vector: SSAValue, axis: int, rank: int) -> SSAValue:
    """A vector in a shape that broadcasts along `axis` of a tensor of rank `rank`: `[C]` -> `[C, 1, 1]`."""
    trailing = rank - 1 - axis
    return emit(ExpandDimsOp(vector, axis=1, num_newaxis=trailing)) if trailing else vector


x, gamma, beta, mean, variance = (wildcard() for _ in range(5))


def batch_normalized(site: Site) -> SSAValue:
    """`x * scale + shift`, with what the statistics of training have become: two vectors."""
    assert isinstance(site.op, TupleGetOp)
    norm = site.op.tuple.owner
    assert isinstance(norm, BatchNormOp)
    return by_statistics(site.emit, norm)


def by_statistics(emit: Emitter, norm: BatchNormOp) -> SSAValue:
    """The data of a batch norm as it is in inference: `x * scale + shift`."""
    rank = len(shape_of(norm.data))
    spread = widened(emit, norm.moving_var)
    element = tensor(spread).element_type
    axis = normalize_axis(norm.axis.value.data, rank)
    epsilon = emit.constant(norm.epsilon.value.data, element)
    deviation = emit(SqrtOp(emit(AddOp(spread, epsilon))))
    numerator = widened(emit, norm.gamma) if is_true(norm.scale) else emit.constant(1, element)
    scale = emit(DivideOp(numerator, deviation))
    offset = emit(MultiplyOp(widened(emit, norm.moving_mean), scale))
    minuend = widened(emit, norm.beta) if is_true(norm.center) else emit.constant(0, element)
    shift = narrowed(emit, emit(SubtractOp(minuend, offset)), norm.beta)
    scale = narrowed(emit, scale, norm.gamma)
    scaled = emit(MultiplyOp(norm.data, along_axis(emit, scale, axis, rank)))
    return emit(AddOp(scaled, along_axis(emit, shift, axis, rank)))


Norm = LayerNormOp | InstanceNormOp | GroupNormOp


def norm_at(site: Site) -> tuple[Norm, int, int]:
    """The operator at the root, the axis of its channels, and its rank."""
    assert isinstance(site.op, Norm)
    rank = len(shape_of(site[x]))
    return site.op, normalize_axis(site.op.axis.value.data, rank), rank


def normalized(site: Site, data: SSAValue, axes: Sequence[int]) -> SSAValue:
    """`(data - mean) / sqrt(variance + epsilon)`, mean and variance over `axes`."""
    emit, (norm, _, _) = site.emit, norm_at(site)
    average = emit(MeanOp(data, axis=axes, keepdims=True))
    spread = emit(VarianceOp(data, average, axis=axes, keepdims=True))
    epsilon = emit.constant(norm.epsilon.value.data, tensor(data).element_type)
    deviation = emit(SqrtOp(emit(AddOp(spread, epsilon))))
    return emit(DivideOp(emit(SubtractOp(data, average)), deviation))


def scaled_and_moved(site: Site, value: SSAValue) -> SSAValue:
    """`value * gamma + beta`, in the type of the data."""
    emit, (norm, axis, rank) = site.emit, norm_at(site)
    if is_true(norm.scale):
        value = emit(MultiplyOp(value, along_axis(emit, widened(emit, site[gamma]), axis, rank)))
    if is_true(norm.center):
        value = emit(AddOp(value, along_axis(emit, widened(emit, site[beta]), axis, rank)))
    return narrowed(emit, value, site[x])


def layer_normalized(site: Site) -> SSAValue:
    """Over one axis."""
    _, axis, _ = norm_at(site)
    return scaled_and_moved(site, normalized(site, widened(site.emit, site[x]), [axis]))


def instance_normalized(site: Site) -> SSAValue:
    """Over all axes but the first and that of the channels."""
    _, axis, rank = norm_at(site)
    others = [d for d in range(1, rank) if d != axis]
    return scaled_and_moved(site, normalized(site, widened(site.emit, site[x]), others))


def group_normalized(site: Site) -> SSAValue:
    """With the channels seen as `[groups, channels / groups]`, over all axes but the first and the groups."""
    norm, axis, _ = norm_at(site)
    assert isinstance(norm, GroupNormOp)
    shape, groups = shape_of(site[x]), norm.num_groups.value.data
    is_empty = 0 in shape and is_static(site[x].type)
    if is_static(site[x].type):
        split, joined = [*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :]], [*shape]
    else:  # 0 keeps a dimension, -4 takes one apart, -3 joins two
        channels, behind = shape_of(norm.result)[axis], [0] * (len(shape) - axis - 1)
        size = -1 if channels == DYNAMIC else channels // groups
        split, joined = [*([0] * axis), -4, groups, size, *behind], [*([0] * axis), -3, *behind]
    grouped = site.emit(ReshapeOp(widened(site.emit, site[x]), newshape=split, allowzero=is_empty))
    value = normalized(site, grouped, [d for d in range(1, len(shape) + 1) if d != axis])
    return scaled_and_moved(site, site.emit(ReshapeOp(value, newshape=joined, allowzero=is_empty)))


def l2_normalized(site: Site) -> SSAValue:
    norm = site.op
    assert isinstance(norm, L2NormalizeOp)
    emit, data = site.emit, widened(site.emit, site[x])
    squares = emit(MultiplyOp(data, data))
    total = emit(SumOp(squares, axis=norm.axes(len(shape_of(data))), keepdims=True))
    least = emit.constant(norm.eps.value.data, tensor(data).element_type)
    return narrowed(emit, emit(DivideOp(data, emit(SqrtOp(emit(MaximumOp(total, least)))))), site[x])


batch_norm = is_op("nn.batch_norm")(x, gamma, beta, mean, variance)

ROWS = (
    Row("batch_norm(x)[0] = x * scale + shift", is_tuple_get_item(batch_norm, 0), batch_normalized),
    Row("dropout(x)[0] = x", is_tuple_get_item(is_op("nn.dropout")(x), 0), lambda s: s[x]),
    Row("layer_norm(x) = (x - mean) / sqrt(variance + epsilon) * gamma + beta, along an axis",
        is_op("nn.layer_norm")(x, gamma, beta), layer_normalized),
    Row("instance_norm(x) = (x - mean) / sqrt(variance + epsilon) * gamma + beta, for each instance and channel",
        is_op("nn.instance_norm")(x, gamma, beta), instance_normalized),
    Row("group_norm(x) = (x - mean) / sqrt(variance + epsilon) * gamma + beta, for each instance and group",
        is_op("nn.group_norm")(x, gamma, beta), group_normalized),
    Row("l2_normalize(x) = x / sqrt(max(sum(x * x), eps))", is_op("nn.l2_normalize")(x), l2_normalized),
)  # fmt: skip
"""Tried in this order; none relies on it."""


class WriteOut(RewritePattern):
    """An operator that is written as others becomes these."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: WrittenOut, rewriter: PatternRewriter, /) -> None:
        writer = Writer()
        result = op.canonical(writer)
        rewriter.replace(op, writer.ops, [result])


class EraseUnreadDropout(RewritePattern):
    """A dropout of which nothing is read goes: it has a state, and is no dead code to anyone else."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DropoutOp, rewriter: PatternRewriter, /) -> None:
        if op.result.first_use is None:
            rewriter.erase(op)
