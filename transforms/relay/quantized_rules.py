"""How operators are computed with integers: the rules of `fake-quantization-to-integer`.

A rule is given an operator whose operands are quantised, or constants, and what the result of the region it stands in
is to be; it makes operators on integers, and says which numbers their result stands for. `register` adds a rule for an
operator of another package. Counterpart of TVM's `register_fake_quantization_to_integer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import SSAValue

from ...dialects.relay.base import RelayOp, Value, ints, is_true, normalize_axis, shape_of, tensor
from ...dialects.relay.core import TupleOp
from ...dialects.relay.ops import transcendental
from ...dialects.relay.ops.broadcast import MaximumOp, MinimumOp
from ...dialects.relay.ops.elementwise import AbsOp, CastOp, ClipOp, RoundOp
from ...dialects.relay.ops.image import Resize2dOp
from ...dialects.relay.ops.nn import adaptive_pool, pool
from ...dialects.relay.ops.nn.activation import LeakyReluOp, ReluOp
from ...dialects.relay.ops.nn.conv_transpose import Conv2dTransposeOp
from ...dialects.relay.ops.nn.convolution import Conv2dOp
from ...dialects.relay.ops.nn.convolution_base import ConvolutionBase
from ...dialects.relay.ops.nn.dense import BatchMatmulOp, BiasAddOp, DenseOp
from ...dialects.relay.ops.nn.padding import PadOp
from ...dialects.relay.ops.nn.spatial import BatchFlattenOp, DepthToSpaceOp
from ...dialects.relay.ops.qnn import functions, products
from ...dialects.relay.ops.reduce import MaxOp, MeanOp, MinOp
from ...dialects.relay.ops.slicing import ConcatenateOp, SplitOp, StridedSliceOp
from ...dialects.relay.ops.sort import TopkOp
from ...dialects.relay.ops.tiling import BroadcastToOp
from ...dialects.relay.ops.transform import ExpandDimsOp, ReshapeOp, SqueezeOp, TransposeOp
from ...dialects.support.dtypes import scalar_type
from ...dialects.support.plugins import note_change
from .affine_values import Affine, NotQuantizedError, along, known, requantize
from .emitter import Emitter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Quantized: TypeAlias = tuple[SSAValue, Affine]


@dataclass
class Site:
    """Where a rule is applied."""

    op: RelayOp
    values: Mapping[SSAValue, Quantized]
    """The integers that stand for original values."""
    wanted: Affine | None
    """Which numbers the integers of the result are to stand for; `None` where it is not said."""
    emit: Emitter

    def operand(self, index: int) -> Quantized:
        """An operand's integers.

        Raises:
            NotQuantizedError: it is not quantised.
        """
        value = self.op.operands[index]
        if value not in self.values:
            raise NotQuantizedError(f"operand {index} is not quantised")
        return self.values[value]

    def or_constant(self, index: int, like: Affine, axis: int = -1) -> Quantized:
        """An operand's integers; those of a constant, by the scale of another operand.

        Raises:
            NotQuantizedError: it is neither.
        """
        value = self.op.operands[index]
        if value in self.values:
            return self.values[value]
        return self.integers(self.constant(index), like, axis), like

    def constant(self, index: int) -> npt.NDArray[np.generic]:
        """The array of an operand that is a constant.

        Raises:
            NotQuantizedError: it is none.
        """
        array = known(self.op.operands[index])
        if array is None:
            raise NotQuantizedError(f"operand {index} is neither quantised nor a constant")
        return array

    def integers(self, array: npt.NDArray[np.generic], affine: Affine, axis: int) -> SSAValue:
        """A constant of integers that stand for floats."""
        return self.emit.constant(affine.of(array, axis), scalar_type(affine.dtype))

    def goal(self) -> Affine:
        """What the result is to be.

        Raises:
            NotQuantizedError: nobody says: it is not quantised, or something is computed with it before.
        """
        if self.wanted is None:
            raise NotQuantizedError("the scale of its result does not follow from its operands, and is not given")
        return self.wanted


Rule: TypeAlias = Callable[[Site], Quantized]

RULES: dict[type[RelayOp], Rule] = {}
"""The rules by the class of the operator."""

LOCAL: set[type[RelayOp]] = set()
"""Operators whose result's scale follows from their operands, so that they can be rewritten one by one."""


def register(*op_types: type[RelayOp], local: bool = False) -> Callable[[Rule], Rule]:
    """Make a function the rule for operators."""

    def add(rule: Rule) -> Rule:
        note_change(rule.__module__)
        RULES.update(dict.fromkeys(op_types, rule))
        LOCAL.update(op_types if local else ())
        return rule

    return add


KEEPING: set[type[RelayOp]] = {
    ReshapeOp, SqueezeOp, StridedSliceOp, TransposeOp, ExpandDimsOp, BatchFlattenOp, DepthToSpaceOp, MaxOp, MinOp,
    BroadcastToOp, Resize2dOp, TopkOp, SplitOp, ConcatenateOp, PadOp, ClipOp, ReluOp, MinimumOp, MaximumOp,
    pool.MaxPool2dOp,
}  # fmt: skip
"""Operators that choose among elements, or bound them: it is the same whether numbers are quantised before or after."""


def on(op: RelayOp, *operands: SSAValue, **changed: Value) -> RelayOp:
    """The same operator on other operands, with some properties changed."""
    return type(op)(*operands, **{**op.properties, **changed})


@register(
    ReshapeOp, SqueezeOp, StridedSliceOp, ExpandDimsOp, BatchFlattenOp, DepthToSpaceOp, MaxOp, MinOp,
    BroadcastToOp, local=True,
)  # fmt: skip
def moved(site: Site) -> Quantized:
    """Elements are moved, or chosen, which it makes no difference to what they stand for."""
    value, affine = site.operand(0)
    return site.emit(on(site.op, value)), affine.single("the data")


@register(TransposeOp, local=True)
def transposed(site: Site) -> Quantized:
    """As `moved`; scales of slices go along with their axis."""
    assert isinstance(site.op, TransposeOp)
    value, affine = site.operand(0)
    order = site.op.permutation(len(shape_of(value)))
    axis = order.index(affine.axis % len(order)) if order else 0
    return site.emit(on(site.op, value)), replace(affine, axis=axis)


@register(pool.MaxPool2dOp, local=True)
def maximum_pooled(site: Site) -> Quantized:
    value, affine = site.operand(0)
    return site.emit(on(site.op, value)), affine


@register(Resize2dOp)
def resized(site: Site) -> Quantized:
    assert isinstance(site.op, Resize2dOp)
    if site.op.method.data == "nearest_neighbor":
        return moved(site)
    # What weighs elements by numbers whose sum is one gives what is between: of integers as of what they stand for.
    value, affine = site.operand(0)
    between = site.emit(on(site.op, site.emit(CastOp(value, dtype="float32")), out_dtype=""))
    return _narrowed(site, site.emit(RoundOp(between)), affine.single("the data"))


@register(TopkOp)
def chosen(site: Site) -> Quantized:
    assert isinstance(site.op, TopkOp)
    if site.op.ret_type.data != "values":
        raise NotQuantizedError("it gives indices")
    return moved(site)


@register(SplitOp)
def split(site: Site) -> Quantized:
    return moved(site)


@register(
    pool.AvgPool2dOp,
    adaptive_pool.GlobalAvgPool2dOp,
    adaptive_pool.AdaptiveAvgPool1dOp,
    adaptive_pool.AdaptiveAvgPool2dOp,
)
def averaged(site: Site) -> Quantized:
    """In 32 bits, of integers that have the scale of the result already; that is the data's where nobody says it."""
    value, affine = site.operand(0)
    affine = affine.single("the data")
    wanted = affine if site.wanted is None else site.wanted.single("the result")
    if isinstance(site.op, pool.AvgPool2dOp):
        counted = is_true(site.op.count_include_pad) and any(ints(site.op.padding))
        if counted and int(wanted.zero):
            raise NotQuantizedError("it counts zeros around the data, which are no zeros of the integers")
    wide = Affine(wanted.scale, wanted.zero, "int32")
    same = affine.same(wanted)
    value = site.emit(CastOp(value, dtype="int32")) if same else requantize(site.emit, value, affine, wide)
    return _narrowed(site, site.emit(on(site.op, value)), wanted)


@register(MeanOp)
def mean(site: Site) -> Quantized:
    value, affine = site.operand(0)
    affine = affine.single("the data")
    return _narrowed(site, site.emit(on(site.op, site.emit(CastOp(value, dtype="int32")))), affine)


def _narrowed(site: Site, value: SSAValue, affine: Affine) -> Quantized:
    """Whole numbers as the type of `affine`."""
    import numpy as np

    if scalar_type(affine.dtype) == tensor(value).element_type:
        return value, affine
    bounds = np.iinfo(affine.dtype)
    clipped = site.emit(ClipOp(value, a_min=float(bounds.min), a_max=float(bounds.max)))
    return site.emit(CastOp(clipped, dtype=affine.dtype)), affine


@register(BiasAddOp, local=True)
def biased(site: Site) -> Quantized:
    """The bias with the scale of the data, of which there may be one for each channel."""
    assert isinstance(site.op, BiasAddOp)
    value, affine = site.operand(0)
    axis = normalize_axis(site.op.axis.value.data, len(shape_of(site.op.data)))
    if not affine.is_single and affine.axis != axis:
        raise NotQuantizedError("its scales are not those of the channels of the bias")
    if affine.dtype != "int32" or affine.zero.any():
        raise NotQuantizedError("sums of its data are not of 32 bits around zero")
    bias, given = site.or_constant(1, affine, 0)
    at_bias = Affine(affine.scale, affine.zero, affine.dtype, 0)
    return site.emit(on(site.op, value, requantize(site.emit, bias, given, at_bias))), affine


@register(Conv2dOp, Conv2dTransposeOp, local=True)
def convolved(site: Site) -> Quantized:
    op = site.op
    assert isinstance(op, ConvolutionBase)
    _, kernel, out = op.layouts()
    axis = kernel.position("O")
    if any(layout.is_blocked for layout in op.layouts()):
        raise NotQuantizedError("its channels stand in blocks")
    if op.group_count() > 1 and isinstance(op, Conv2dTransposeOp):
        raise NotQuantizedError("it has several groups")
    kept = {name: value for name, value in op.properties.items() if name != "out_dtype"}
    new = products.QnnConv2dOp if isinstance(op, Conv2dOp) else products.QnnConv2dTransposeOp
    return _product(site, new, kept, axis, out.position("C"))


@register(DenseOp, local=True)
def multiplied(site: Site) -> Quantized:
    kept = {name: value for name, value in site.op.properties.items() if name != "out_dtype"}
    return _product(site, products.QnnDenseOp, kept, 0, len(shape_of(site.op.results[0])) - 1)


@register(BatchMatmulOp, local=True)
def batch_multiplied(site: Site) -> Quantized:
    assert isinstance(site.op, BatchMatmulOp)
    if site.op.transposed() != (False, True):
        raise NotQuantizedError("its right side is not given transposed")
    return _product(site, products.QnnBatchMatmulOp, {}, None, -1)


def _product(site: Site, new: type[RelayOp], kept: Mapping[str, Value], axis: int | None, channels: int) -> Quantized:
    """A product in 32 bits, whose scale is the product of the scales. The second operand may have one for each slice
    along `axis`."""
    import numpy as np

    (data, left), (weight, right) = site.operand(0), site.operand(1)
    left = left.single("the data")
    if axis is None:
        right = right.single("the right side")
    elif not right.is_single and right.axis % len(shape_of(site.op.operands[1])) != axis:
        raise NotQuantizedError("the weight has scales along another axis than that of its outputs")
    with np.errstate(over="ignore", under="ignore"):
        scale = (left.scale * right.scale.reshape(-1 if not right.is_single else ())).astype(np.float32)
    if not (np.isfinite(scale) & (scale >= np.finfo(np.float32).tiny)).all():
        raise NotQuantizedError("the product of its scales is too large or too small for a scale")
    (ls, lz), (rs, rz) = left.parameters(site.emit), right.parameters(site.emit)
    result = site.emit(new(data, weight, lz, rz, ls, rs, **kept))
    return result, Affine(scale, np.zeros((), np.int32), "int32", channels)


@register(ConcatenateOp)
def joined(site: Site) -> Quantized:
    assert isinstance(site.op, ConcatenateOp)
    fields, wanted = site.op.data.owner, site.goal().single("the result")
    if not isinstance(fields, TupleOp):
        raise NotQuantizedError("its operand is no tuple of known fields")
    parts: list[SSAValue] = []
    for field in fields.fields:
        if field not in site.values:
            raise NotQuantizedError("a field is not quantised")
        value, affine = site.values[field]
        parts.append(requantize(site.emit, value, affine.single("a field"), wanted))
    return site.emit(on(site.op, site.emit(TupleOp(*parts)))), wanted


@register(ClipOp, local=True)
def clipped(site: Site) -> Quantized:
    import numpy as np

    assert isinstance(site.op, ClipOp)
    value, affine = site.operand(0)
    rank = len(shape_of(value))
    ends = [np.full(affine.scale.shape or (), end.value.data) for end in (site.op.a_min, site.op.a_max)]
    low, high = (along(affine.of(end, 0), rank, affine.axis) for end in ends)
    element = scalar_type(affine.dtype)
    if affine.is_single:
        return site.emit(ClipOp(value, a_min=float(low.item()), a_max=float(high.item()))), affine
    above = site.emit(MaximumOp(value, site.emit.constant(low, element)))
    return site.emit(MinimumOp(above, site.emit.constant(high, element))), affine


@register(ReluOp, local=True)
def rectified(site: Site) -> Quantized:
    value, affine = site.operand(0)
    zero = along(affine.zero, len(shape_of(value)), affine.axis)
    return site.emit(MaximumOp(value, site.emit.constant(zero, scalar_type(affine.dtype)))), affine


@register(PadOp, local=True)
def padded(site: Site) -> Quantized:
    value, affine = site.operand(0)
    affine = affine.single("the data")
    filling, given = site.or_constant(1, affine)
    return site.emit(on(site.op, value, requantize(site.emit, filling, given.single("the value"), affine))), affine


UNARY: dict[type[RelayOp], type[RelayOp]] = {
    transcendental.SqrtOp: functions.QnnSqrtOp,
    transcendental.RsqrtOp: functions.QnnRsqrtOp,
    transcendental.ExpOp: functions.QnnExpOp,
    transcendental.ErfOp: functions.QnnErfOp,
    transcendental.SigmoidOp: functions.QnnSigmoidOp,
    transcendental.TanhOp: functions.QnnTanhOp,
    transcendental.LogOp: functions.QnnLogOp,
    AbsOp: functions.QnnAbsOp,
    LeakyReluOp: functions.QnnLeakyReluOp,
}


@register(*UNARY)
def computed(site: Site) -> Quantized:
    """A function of the numbers that integers stand for."""
    (value, affine), wanted = site.operand(0), site.goal().single("the result")
    affine = affine.single("the data")
    wanted = Affine(wanted.scale, wanted.zero, wanted.dtype) if wanted.dtype == affine.dtype else affine
    parameters = [*affine.parameters(site.emit), *wanted.parameters(site.emit)]
    return site.emit(UNARY[type(site.op)](value, *parameters, **site.op.properties)), wanted
