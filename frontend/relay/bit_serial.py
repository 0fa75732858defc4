"""Products of numbers of few bits, and numbers packed bit by bit: TVM's `nn.bitserial_dense`, `nn.bitserial_conv2d` and
`nn.bitpack`.

TVM sums them over single bits, by conjunctions and counts of ones (Umuroglu et al., 2017). What comes out is the
product of the numbers that the low bits make, so they are products of bytes here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .expr import Expr, Operand, as_value, const
from .operators import operator

WIDTHS = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
"""The element types that bits are packed in."""

MOST_BITS = 8


@checked
def bitpack(
    data: Operand,
    bits: int = 1,
    pack_axis: int = 1,
    bit_axis: int = 2,
    pack_type: str = "uint32",
    name: str = "BitPack",
) -> Expr:
    """The low bits of integers, those of neighbours along an axis in one element.

    `y[.., b, .., j, ..]` has bit `b` of `data[.., w * j + k, ..]` at place `w - 1 - k`, where `w` is the width of
    `pack_type`; `b` goes along a new axis.

    Args:
        data: integers; of the axis to pack as many as fill the elements.
        bits: how many of the low bits are wanted, at most 8.
        pack_axis: along which axis of `data` neighbours share an element.
        bit_axis: which axis of the result the bits go along.
        pack_type: "uint8", "uint16", "uint32" or "uint64".
        name: a name that TVM gives what is computed; of no meaning.

    Raises:
        UsageError: there are no such axes or types, too many bits, or elements that are not full.
    """
    data, width = Expr(as_value(data)), _width("nn.bitpack", pack_type)
    _check_bits("nn.bitpack", bits)
    rank = len(data.shape)
    if not 0 <= pack_axis < rank or not 0 <= bit_axis <= rank:
        raise UsageError(f"relay.nn.bitpack: axis {pack_axis} of {data!r} to pack, and its bits along {bit_axis}")
    if (extent := data.shape[pack_axis]) >= 0 and extent % width:
        raise UsageError(f"relay.nn.bitpack: {extent} elements do not fill ones of {width} bits")
    shape = [*([0] * pack_axis), -4, -1, width, -2]
    parted = operator("expand_dims")(operator("reshape")(operator("cast")(data, pack_type), shape), rank + 1)
    single = _bits(parted, _along(np.arange(bits), rank + 1, rank + 2, pack_type), pack_type)
    placed = operator("left_shift")(single, _along(np.arange(width)[::-1], pack_axis + 1, rank + 2, pack_type))
    packed = operator("sum")(placed, pack_axis + 1)
    order = list(range(rank))
    order.insert(bit_axis, rank)
    return operator("transpose")(packed, order)


@checked
def bitserial_dense(
    data: Operand,
    weight: Operand,
    units: int | None = None,
    data_bits: int = 1,
    weight_bits: int = 1,
    pack_dtype: str = "uint32",
    out_dtype: str = "int16",
    unipolar: bool = True,
) -> Expr:
    """`y[.., m, n] = sum_k x[.., m, k] * w[n, k]` of the numbers that the low bits of integers make.

    Args:
        data: integers `[.., K]`.
        weight: integers `[units, K]`, or bits of such `[units, weight_bits, K / w]` that `bitpack` has packed.
        units: how many columns the result has.
        data_bits: how many of the low bits of `data` count, as a number from 0; at most 8.
        weight_bits: how many of the low bits of `weight` count.
        pack_dtype: what the bits of `weight` are packed in, if they are.
        out_dtype: an integer type; of `data`, if it is empty.
        unipolar: whether a bit of a weight that is not set counts as -1; else as 0.

    Raises:
        UsageError: the bits, types or shapes do not fit.
    """
    name = "nn.bitserial_dense"
    weight = Expr(as_value(weight))
    if len(weight.shape) == 3:
        weight = _unpacked(name, weight, 2, 1, pack_dtype)
    x, w, sum_type, out_dtype = _factors(name, data, weight, data_bits, weight_bits, out_dtype, unipolar)
    return operator("cast")(operator("nn.dense")(x, w, units, out_dtype=sum_type), out_dtype)


@checked
def bitserial_conv2d(
    data: Operand,
    weight: Operand,
    strides: int | Sequence[int] = (1, 1),
    padding: int | Sequence[int] = (0, 0),
    channels: int | None = None,
    kernel_size: int | Sequence[int] = (3, 3),
    activation_bits: int = 1,
    weight_bits: int = 1,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    pack_dtype: str = "uint32",
    out_dtype: str = "int16",
    unipolar: bool = True,
) -> Expr:
    """`nn.conv2d` of the numbers that the low bits of integers make, what is around the data being 0.

    Args:
        data: integers, in `data_layout`.
        weight: integers in `kernel_layout`; or bits of such, along a last axis, that `bitpack` has packed along `I`.
        activation_bits: how many of the low bits of `data` count, as a number from 0; at most 8.
        weight_bits: how many of the low bits of `weight` count.
        pack_dtype: what the bits of `weight` are packed in, if they are.
        out_dtype: an integer type; of `data`, if it is empty.
        unipolar: whether a bit of a weight that is not set counts as -1; else as 0.

    Raises:
        UsageError: the bits, types or shapes do not fit.
    """
    name = "nn.bitserial_conv2d"
    weight = Expr(as_value(weight))
    if len(weight.shape) == 5:
        weight = _unpacked(name, weight, max(kernel_layout.find("I"), 0), 4, pack_dtype)
    x, w, sum_type, out_dtype = _factors(name, data, weight, activation_bits, weight_bits, out_dtype, unipolar)
    result = operator("nn.conv2d")(
        x, w, strides, padding, 1, 1, channels, kernel_size, data_layout, kernel_layout, "", sum_type
    )
    return operator("cast")(result, out_dtype)


@checked
def bitpack_bound(data: Operand) -> Expr:
    """`data` as it is: a bound between parts of a graph, which TVM has for processors of single bits."""
    return Expr(as_value(data))


def _factors(
    name: str, data: Operand, weight: Expr, data_bits: int, weight_bits: int, out_dtype: str, unipolar: bool
) -> tuple[Expr, Expr, str, str]:
    """Data and weights as numbers, the type of their sums, and that of the result. Sums are right modulo the width of
    the result, whatever overflows."""
    data = Expr(as_value(data))
    _check_bits(name, data_bits)
    _check_bits(name, weight_bits)
    out_dtype = out_dtype or data.dtype
    if "int" not in out_dtype or not all("int" in each.dtype for each in (data, weight)):
        raise UsageError(f"relay.{name} takes and gives integers, not {data!r} and {weight!r}, and {out_dtype}")
    highest = 2**weight_bits - 1
    x, w = _low(data, data_bits), _low(weight, weight_bits)
    if unipolar:  # each bit is 2 * bit - 1
        w = operator("subtract")(operator("multiply")(w, const(2, "int32")), const(highest, "int32"))
    sum_type = "int64" if out_dtype.endswith("64") else "int32"
    types = ("uint8", "int8") if highest < 128 and sum_type == "int32" else (sum_type, sum_type)
    x, w = (operator("cast")(each, type) for each, type in zip((x, w), types, strict=True))
    return x, w, sum_type, out_dtype


def _low(x: Expr, bits: int) -> Expr:
    """The number that the low bits of an integer make."""
    return operator("bitwise_and")(operator("cast")(x, "int32"), const(2**bits - 1, "int32"))


def _unpacked(name: str, packed: Expr, pack_axis: int, bit_axis: int, pack_dtype: str) -> Expr:
    """The numbers whose bits `bitpack` has packed along an axis, which is that of `packed`."""
    width, rank = _width(name, pack_dtype), len(packed.shape)
    if packed.dtype != pack_dtype or packed.shape[bit_axis] < 0:
        raise UsageError(
            f"relay.{name}: weights that are packed are of {pack_dtype}, a known number of bits, not {packed!r}"
        )
    parted = operator("expand_dims")(packed, pack_axis + 1)
    bit_axis += bit_axis > pack_axis
    single = _bits(parted, _along(np.arange(width)[::-1], pack_axis + 1, rank + 1, pack_dtype), pack_dtype)
    places = _along(np.arange(packed.shape[bit_axis - (bit_axis > pack_axis)]), bit_axis, rank + 1, "int32")
    numbers = operator("sum")(operator("left_shift")(operator("cast")(single, "int32"), places), bit_axis)
    pack_axis -= bit_axis < pack_axis
    return operator("reshape")(numbers, [*([0] * pack_axis), -3, -2])


def _bits(x: Expr, places: Expr, dtype: str) -> Expr:
    """The bits at some places of numbers."""
    return operator("bitwise_and")(operator("right_shift")(x, places), const(1, dtype))


def _along(numbers: np.ndarray, axis: int, rank: int, dtype: str) -> Expr:
    """A vector along an axis of tensors of that rank."""
    return const(numbers.reshape([-1 if each == axis else 1 for each in range(rank)]), dtype)


def _width(name: str, pack_type: str) -> int:
    if pack_type not in WIDTHS:
        raise UsageError(f"relay.{name} packs bits in one of {', '.join(WIDTHS)}, not in {pack_type}")
    return WIDTHS[pack_type]


def _check_bits(name: str, bits: int) -> None:
    if not 1 <= bits <= MOST_BITS:
        raise UsageError(f"relay.{name} takes 1 to {MOST_BITS} bits of numbers, not {bits}")


BIT_SERIAL = {
    "nn.bitpack": bitpack,
    "nn.bitserial_dense": bitserial_dense,
    "nn.bitserial_conv2d": bitserial_conv2d,
    "annotation.bitpack_start": bitpack_bound,
    "annotation.bitpack_end": bitpack_bound,
}
"""By their names without `relay.`."""
