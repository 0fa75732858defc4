"""How operators on two tensors are computed with integers: rules of `fake-quantization-to-integer`.

Each operand has its own scale, or several, one for each slice along an axis.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ...dialects.relay.base import RelayOp, shape_of
from ...dialects.relay.ops.broadcast import AddOp, MaximumOp, MinimumOp, MultiplyOp, SubtractOp
from ...dialects.relay.ops.elementwise import CastOp
from ...dialects.relay.ops.qnn import arithmetic
from .affine_values import Affine, NotQuantizedError, along, requantize
from .quantized_rules import RULES as RULES
from .quantized_rules import Quantized, Site, on, register

BINARY: dict[type[RelayOp], type[RelayOp]] = {
    AddOp: arithmetic.QnnAddOp,
    SubtractOp: arithmetic.QnnSubtractOp,
    MultiplyOp: arithmetic.QnnMulOp,
}


def _from_the_end(value: SSAValue, affine: Affine) -> int:
    """The axis of several scales, as a negative number; 0 of a single one."""
    rank = len(shape_of(value))
    return 0 if affine.is_single else affine.axis % rank - rank


def _both(site: Site) -> tuple[Quantized, Quantized]:
    """Both operands; a constant by the scale of the other one.

    Raises:
        NotQuantizedError: a constant beside what has several scales, and not their small steps of 32 bits.
    """
    first = 0 if site.op.operands[0] in site.values else 1
    value, affine = site.operand(first)
    other = site.op.operands[1 - first]
    exact = affine.dtype == "int32" and shape_of(other) == shape_of(value)
    if other not in site.values and not (affine.is_single or exact):
        raise NotQuantizedError("a constant stands beside numbers that have a scale for each slice")
    given = site.or_constant(1 - first, affine, affine.axis)
    return ((value, affine), given) if first == 0 else (given, (value, affine))


@register(*BINARY)
def combined(site: Site) -> Quantized:
    """Sums of products and biases stay sums in 32 bits; else an operator on quantised tensors."""
    (left, mine), (right, other) = _both(site)
    along_last, along_other = _from_the_end(left, mine), _from_the_end(right, other)
    sums = isinstance(site.op, AddOp) and mine.dtype == "int32" and not mine.zero.any()
    if sums and along_last == along_other and mine.same(replace(other, axis=mine.axis)):
        value = site.emit(AddOp(left, right))
        return value, replace(mine, axis=len(shape_of(value)) + along_last if along_last else -1)
    wanted = site.goal().single("the result")
    if not (mine.is_single and other.is_single):
        if isinstance(site.op, MultiplyOp):
            return _scaled_product(site, (left, mine), (right, other), wanted)
        return _scaled_sum(site, (left, mine), (right, other), wanted)
    mine, other = mine.single("the left side"), other.single("the right side")
    if mine.dtype != other.dtype:
        raise NotQuantizedError(f"its operands are of {mine.dtype} and {other.dtype}")
    wanted = Affine(wanted.scale, wanted.zero, mine.dtype) if wanted.dtype == mine.dtype else mine
    parameters = [each for affine in (mine, other, wanted) for each in affine.parameters(site.emit)]
    return site.emit(BINARY[type(site.op)](left, right, *parameters)), wanted


def _scaled_sum(site: Site, left: Quantized, right: Quantized, wanted: Affine) -> Quantized:
    """A sum or difference of numbers that have scales for each slice: in 32 bits, by the scale of the result."""
    wide = Affine(wanted.scale, wanted.zero * 0, "int32")
    total = site.emit(on(site.op, *(requantize(site.emit, *each, wide) for each in (left, right))))
    return requantize(site.emit, total, wide, wanted), wanted


def _scaled_product(site: Site, left: Quantized, right: Quantized, wanted: Affine) -> Quantized:
    """A product of numbers that have scales for each slice along one axis: in 32 bits, by products of the scales."""
    import numpy as np

    axes = {_from_the_end(*each) for each in (left, right)} - {0}
    if len(axes) != 1:
        raise NotQuantizedError("its sides have scales along different axes")
    value = site.emit(MultiplyOp(*(_around_zero(site, *each) for each in (left, right))))
    scale = (left[1].scale.reshape(-1) * right[1].scale.reshape(-1)).astype(np.float32)
    affine = Affine(scale, np.zeros((), np.int32), "int32", len(shape_of(value)) + axes.pop())
    return requantize(site.emit, value, affine, wanted), wanted


def _around_zero(site: Site, value: SSAValue, affine: Affine) -> SSAValue:
    """Integers in 32 bits, less their zero point."""
    zero = along(affine.zero, len(shape_of(value)), affine.axis)
    return site.emit(SubtractOp(site.emit(CastOp(value, dtype="int32")), site.emit.constant(zero, i32, "zero_point")))


@register(MinimumOp, MaximumOp)
def extreme(site: Site) -> Quantized:
    ((left, mine), (right, other)), wanted = _both(site), site.goal().single("the result")
    sides = (requantize(site.emit, left, mine, wanted), requantize(site.emit, right, other, wanted))
    return site.emit(on(site.op, *sides)), wanted
