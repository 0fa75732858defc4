"""Compute with bytes what is written with the floats that they stand for, where that is the same.

    %a = relay.qnn.dequantize %x, %sx, %zx        %0 = relay.qnn.conv2d %x, %w, %zx, %zw, %sx, %sw    // in 32 bits
    %b = relay.qnn.dequantize %w, %sw, %zw   ->   %c = relay.qnn.dequantize %0, %sx * %sw, 0
    %c = relay.nn.conv2d %a, %b

`qnn.dequantize` moves behind products of bytes, whose sums in 32 bits are exact, behind a bias of the product's scale
and `relu`, and behind what only moves or chooses elements. Where it meets `qnn.quantize`, the two are one factor:

    y = clip(round(float(sum) * (sx * sw / sy)) + zy)

which is how ONNX's `QLinearConv` and ONNX Runtime's kernels compute it, so a model with `DequantizeLinear` and
`QuantizeLinear` around its operators gives what the same model of `QLinearConv` does. Sums are those of real numbers,
not of rounded floats: results differ from the model as it is written where a number is near half a step. A
concatenation that is quantised at once is one of quantised parts.

Left as they are: products of weights with a zero point other than 0, of scales or zero points that are no constants,
and those whose sums 32 bits might not hold, by the sizes of the weight's elements; and transposed convolutions of data
whose zero point is not the byte that is multiplied as 0.

A product of floats and a constant weight of bytes reads the bytes, a quarter of the memory, and is scaled at the end:

    %b = relay.qnn.dequantize %w, %sw, 0              %0 = relay.nn.dense %x, %w {out_dtype = "float32"}
    %c = relay.nn.dense %x, %b                   ->   %c = relay.multiply %0, %sw

where the zero point is 0, or 128 of `uint8`, and scales are one, or one for each column of the result. It differs from
the model as it is written by the rounding of weights to floats.

`fake-quantization-to-integer` goes further, as TVM's pass does: it also computes sums, means and functions with
integers, whose results may be steps apart. TVM has no pass like this one; its `use_qat` mode is the nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from ...dialects.relay.base import DYNAMIC, RelayOp, shape_of, tensor
from ...dialects.relay.core import ConstantOp, FuncOp, TupleOp
from ...dialects.relay.ops.broadcast import AddOp, MultiplyOp
from ...dialects.relay.ops.elementwise import CastOp, ClipOp, RoundOp
from ...dialects.relay.ops.nn import pool
from ...dialects.relay.ops.nn.activation import ReluOp
from ...dialects.relay.ops.nn.byte_products import flipped
from ...dialects.relay.ops.nn.conv_transpose import Conv2dTransposeOp
from ...dialects.relay.ops.nn.convolution import Conv2dOp
from ...dialects.relay.ops.nn.dense import BatchMatmulOp, BiasAddOp, DenseOp
from ...dialects.relay.ops.nn.spatial import BatchFlattenOp, DepthToSpaceOp
from ...dialects.relay.ops.qnn.fixed_point import integer_range
from ...dialects.relay.ops.qnn.products import QnnConv2dOp, QnnConv2dTransposeOp, QnnDenseOp
from ...dialects.relay.ops.qnn.quantization import DequantizeOp, QuantizeOp
from ...dialects.relay.ops.slicing import ConcatenateOp, StridedSliceOp
from ...dialects.relay.ops.transform import ExpandDimsOp, ReshapeOp, SqueezeOp, TransposeOp
from ...dialects.support.dtypes import dtype_name, scalar_type
from ..infra import FunctionPass, remarks, report_changed
from ..infra.walk import walk
from .affine_values import Affine, NotQuantizedError, affine_of, along, known
from .dead_code_elimination import eliminate_dead_code
from .emitter import Emitter
from .quantized_pairs import RULES
from .quantized_rules import Quantized, Site

NAME = "sink-dequantize"

BYTES = ("int8", "uint8")

MOST = 2**30
"""What sums of products, and a bias, may reach, each, so that 32 bits hold both."""


@dataclass(frozen=True)
class SinkDequantizePass(FunctionPass):
    """Compute with bytes what is written with the floats that they stand for, where products of bytes are summed fast.

    `data` is the type of the left factor of the processor's instructions, the right one being `int8`; bytes of the
    other sign are moved by 128, with their zero point."""

    name = NAME
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)

    data: str | None = None

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        blocks = [block for op in walk(func) for region in op.regions for block in region.blocks]
        changed = any([self._rewrite(op) for block in blocks for op in list(block.ops)])
        if changed:
            eliminate_dead_code(func)
        report_changed(changed)

    def _rewrite(self, op: Operation) -> bool:
        """Move the dequantisations that lead to an operation behind it."""
        match op:
            case QuantizeOp() if isinstance(source := op.data.owner, DequantizeOp):
                return _join(op, source)
            case QuantizeOp() if isinstance(joined := op.data.owner, ConcatenateOp) and joined.result.has_one_use():
                return _quantize_parts(op, joined)
            case ConcatenateOp():
                return _concatenate(op)
            case RelayOp() if (guard := SAME.get(type(op))) is not None:
                return self._sink(op, guard) or (isinstance(op, DenseOp) and _weigh_by_bytes(op))
            case _:
                return False

    def _sink(self, op: RelayOp, guard: Callable[[Site], None]) -> bool:
        """Compute an operator with integers, and dequantise its result."""
        emit = Emitter()
        values: dict[SSAValue, Quantized] = {}
        for operand in op.operands:
            if (source := _source(operand)) is not None and (affine := _known(source)) is not None:
                values[operand] = source.data, affine
        if op.operands[0] not in values:
            return False
        try:
            guard(Site(op, values, None, emit))
            if guard is _exact_product:
                values[op.operands[0]] = self._as_multiplied(emit, *values[op.operands[0]])
                if isinstance(op, Conv2dTransposeOp) and values[op.operands[0]][1].zero.any():
                    raise NotQuantizedError("the zero point of its data is not 0, and what it adds differs by place")
            value, affine = RULES[type(op)](Site(op, values, None, emit))
        except NotQuantizedError as obstacle:
            remarks.missed(NAME, op, f"it is computed with floats: {obstacle}")
            emit.erase()
            return False
        _put(op, emit, _dequantized(emit, value, affine))
        return True

    def _as_multiplied(self, emit: Emitter, value: SSAValue, affine: Affine) -> Quantized:
        """The left side of a product in the type that the instruction takes."""
        if self.data in (None, affine.dtype):
            return value, affine
        moved = flipped(value, lambda array: emit(ConstantOp.from_numpy(array)), emit.insert)
        return moved, replace(affine, dtype=self.data, zero=affine.zero + (128 if self.data == "uint8" else -128))


def _weigh_by_bytes(op: DenseOp) -> bool:
    """Multiply floats by the bytes of a constant weight, and scale the sums."""
    source = _source(op.weight)
    affine = None if source is None else _known(source)
    if source is None or affine is None or not _is_constant(source.data):
        return False
    middle = 128 if affine.dtype == "uint8" and affine.zero.any() else 0
    obstacle = None
    if affine.dtype not in BYTES or tensor(op.data).element_type != f32 or tensor(op.result).element_type != f32:
        obstacle = f"its factors are {tensor(op.data).element_type} and {affine.dtype}"
    elif (affine.zero != middle).any():
        obstacle = "the zero point of its weight is not in the middle"
    elif affine.scale.size > 1 and affine.axis != 0:
        obstacle = "its weight has a scale for each step of the sum"
    if obstacle is not None:
        remarks.missed(NAME, op, f"its weight becomes floats: {obstacle}")
        return False
    emit = Emitter()
    weight = (
        flipped(source.data, lambda array: emit(ConstantOp.from_numpy(array)), emit.insert) if middle else source.data
    )
    sums = emit(DenseOp(op.data, weight, units=op.units, out_dtype="float32"))
    scale = affine.scale.reshape(() if affine.scale.size == 1 else -1)
    _put(op, emit, emit(MultiplyOp(sums, emit.constant(scale, f32, "scale"))))
    return True


def _is_constant(value: SSAValue) -> bool:
    """Whether a value is a constant, or one that was moved."""
    while isinstance(value.owner, TransposeOp | ReshapeOp | SqueezeOp | ExpandDimsOp):
        value = value.owner.operands[0]
    return isinstance(value.owner, ConstantOp)


def _source(value: SSAValue) -> DequantizeOp | None:
    """What dequantises a value to f32."""
    owner = value.owner
    return owner if isinstance(owner, DequantizeOp) and owner.out_dtype.data == "float32" else None


def _known(op: QuantizeOp | DequantizeOp) -> Affine | None:
    """Which numbers the integers of a border stand for, where constants say it."""
    try:
        return affine_of(op)
    except NotQuantizedError:
        return None


def _dequantized(emit: Emitter, value: SSAValue, affine: Affine) -> SSAValue:
    axis = -1 if affine.is_single else affine.axis
    return emit(DequantizeOp(value, *affine.parameters(emit), axis=axis))


def _put(op: RelayOp, emit: Emitter, result: SSAValue) -> None:
    """Let what was made take the place of an operation."""
    emit.insert_before(op)
    op.results[0].replace_all_uses_with(result)
    remarks.passed(NAME, op, "it is computed with integers")


def _join(op: QuantizeOp, source: DequantizeOp) -> bool:
    """`quantize` of what was quantised: the same integers, or those of sums by one factor."""
    import numpy as np

    given, wanted = _known(source), _known(op)
    if given is None or wanted is None or source.out_dtype.data != "float32":
        return False
    emit = Emitter()
    if given.same(wanted):
        _put(op, emit, source.data)
        return True
    if given.dtype != "int32" or wanted.dtype == "int32" or given.zero.any():
        return False
    if not wanted.is_single:
        remarks.missed(NAME, op, "it has a scale for each slice")
        return False
    with np.errstate(over="ignore", under="ignore"):
        factor = along(given.scale / wanted.scale.reshape(()), len(shape_of(source.data)), given.axis)
    if not np.isfinite(factor).all():
        remarks.missed(NAME, op, "its scale is too small for one factor")
        return False
    real = emit(CastOp(source.data, dtype="float32"))
    whole = emit(RoundOp(emit(MultiplyOp(real, emit.constant(factor, f32, "factor")))))
    if wanted.zero.any():
        whole = emit(AddOp(whole, emit.constant(wanted.zero.reshape(()), f32, "zero_point")))
    least, greatest = integer_range(scalar_type(wanted.dtype))
    _put(op, emit, emit(CastOp(emit(ClipOp(whole, a_min=least, a_max=greatest)), dtype=wanted.dtype)))
    return True


def _concatenate(op: ConcatenateOp) -> bool:
    """Parts that have one scale are joined as integers."""
    made = op.data.owner
    fields = made.fields if isinstance(made, TupleOp) else ()
    sources = [_source(field) for field in fields]
    affines = [None if source is None else _known(source) for source in sources]
    first = affines[0] if affines else None
    if first is None or not first.is_single or any(each is None or not each.same(first) for each in affines):
        return False
    emit = Emitter()
    joined = emit(TupleOp(*(source.data for source in sources if source is not None)))
    value = emit(ConcatenateOp(joined, **op.properties))
    _put(op, emit, _dequantized(emit, value, first))
    return True


def _quantize_parts(op: QuantizeOp, source: ConcatenateOp) -> bool:
    """Quantise what is concatenated before: so each part is quantised where it is computed."""
    wanted, fields = _known(op), source.data.owner
    if wanted is None or not wanted.is_single or not isinstance(fields, TupleOp):
        return False
    emit = Emitter()
    parts = [QuantizeOp(field, op.output_scale, op.output_zero_point, **op.properties) for field in fields.fields]
    joined = emit(TupleOp(*map(emit, parts)))
    _put(op, emit, emit(ConcatenateOp(joined, **source.properties)))
    for part in parts:
        if isinstance(maker := part.data.owner, DequantizeOp):
            _join(part, maker)
    return True


# What is the same on integers, and when


def _anything(site: Site) -> None:
    """It costs nothing."""


def _bytes(site: Site) -> None:
    """
    Raises:
        NotQuantizedError: integers are no narrower than the floats.
    """
    if (dtype := site.operand(0)[1].dtype) not in BYTES:
        raise NotQuantizedError(f"its data is of {dtype}")


def _exact_product(site: Site) -> None:
    """
    Raises:
        NotQuantizedError: a product is not one of bytes, which are multiplied as they are, or might not fit 32 bits.
    """
    (_, left), (weight, right) = site.operand(0), site.operand(1)
    if left.dtype not in BYTES or right.dtype not in BYTES:
        raise NotQuantizedError(f"it is a product of {left.dtype} and {right.dtype}")
    if right.zero.any():
        raise NotQuantizedError("the zero point of its weight is not 0")
    match site.op:
        case Conv2dOp() | Conv2dTransposeOp():
            kept = (site.op.layouts()[1].position("O"),)
        case BatchMatmulOp():
            kept = (0, 1)
        case _:
            kept = (0,)
    if not _holds_sums(weight, kept):
        raise NotQuantizedError("32 bits might not hold its sums")


def _holds_sums(weight: SSAValue, kept: Sequence[int]) -> bool:
    """Whether sums of bytes times those of a weight, along all of its axes but those that are `kept`, stay below
    `MOST`: for any weight of this shape, or for the one that it is."""
    import numpy as np

    shape = shape_of(weight)
    summed = tuple(n for n in range(len(shape)) if n not in {axis % len(shape) for axis in kept})
    extents = [shape[n] for n in summed]
    if DYNAMIC in extents:
        return False
    if prod(extents) * 255 * 255 < MOST:
        return True
    if (array := known(weight)) is None:
        return False
    return int(np.abs(array, dtype=np.int16).sum(axis=summed, dtype=np.int64).max(initial=0)) * 255 < MOST


def _is_product(value: SSAValue) -> bool:
    """Whether a value is a product of bytes below `MOST`, and nothing was added to it yet."""
    made = value.owner
    while isinstance(made, ReshapeOp | SqueezeOp | ExpandDimsOp | BatchFlattenOp):
        made = made.operands[0].owner
    if not isinstance(made, QnnConv2dOp | QnnConv2dTransposeOp | QnnDenseOp):
        return False
    factors = (dtype_name(tensor(each).element_type) for each in (made.data, made.weight))
    return all(each in BYTES for each in factors) and _holds_sums(made.weight, (made.kernel_axis(),))


def _exact_bias(site: Site) -> None:
    """
    Raises:
        NotQuantizedError: a bias has another scale than the product, or might not fit 32 bits with it.
    """
    import numpy as np

    (sums, product), (bias, given) = site.operand(0), site.operand(1)
    array = known(bias)
    if product.dtype != "int32" or not replace(given, axis=product.axis).same(product):
        raise NotQuantizedError("its scale is not that of a product")
    if not _is_product(sums) or array is None or np.abs(array.astype(np.int64)).max(initial=0) >= MOST:
        raise NotQuantizedError("32 bits might not hold its sums")


SAME: dict[type[RelayOp], Callable[[Site], None]] = {
    Conv2dOp: _exact_product,
    Conv2dTransposeOp: _exact_product,
    BatchMatmulOp: _exact_product,
    DenseOp: _exact_product,
    BiasAddOp: _exact_bias,
    ReluOp: _anything,
    ReshapeOp: _anything,
    SqueezeOp: _anything,
    ExpandDimsOp: _anything,
    BatchFlattenOp: _anything,
    TransposeOp: _bytes,
    StridedSliceOp: _bytes,
    DepthToSpaceOp: _bytes,
    pool.MaxPool2dOp: _bytes,
}
"""The operators that a dequantisation moves behind, and what asks whether it may."""
