"""Quantization that is simulated: numbers stay floats, and an operand may say which type they are like.

What says it is one of TVM's codes: 0 for none, where the data is left, 1 for `int8`, 2 for `uint8`, 3 for `int32`.
"""

from __future__ import annotations

from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError, did_you_mean
from .expr import Expr, Operand, as_value, const
from .operators import operator

CODES = {"disable": 0, "int8": 1, "uint8": 2, "int32": 3}
BOUNDS = {"int8": (-128, 127), "uint8": (0, 255), "int32": (-(2**31), 2**31 - 1)}


@checked
def simulated_quantize(
    data: Operand, output_scale: Operand, output_zero_point: Operand, axis: int = -1, out_dtype: str | Expr = "int8"
) -> Expr:
    """`round(data / scale) + zero_point`, no more and no less than the type holds, as floats.

    Raises:
        UsageError: there is no such type, or scale or zero point are not one number, or one for each along `axis`.
    """
    data = Expr(as_value(data))
    scale, zero = (_along(data, each, axis) for each in (output_scale, output_zero_point))
    whole = operator("round")(operator("divide")(data, scale)) + zero
    result, code = data, _code(out_dtype)
    for name, (low, high) in BOUNDS.items():
        held = operator("clip")(whole, float(low), float(high))
        result = operator("where")(operator("equal")(code, const(CODES[name])), held, result)
    return result


@checked
def simulated_dequantize(
    data: Operand, input_scale: Operand, input_zero_point: Operand, axis: int = -1, in_dtype: str | Expr = "int8"
) -> Expr:
    """`(data - zero_point) * scale`, of data that is floats.

    Raises:
        UsageError: there is no such type, or scale or zero point are not one number, or one for each along `axis`.
    """
    data = Expr(as_value(data))
    scale, zero = (_along(data, each, axis) for each in (input_scale, input_zero_point))
    disabled = operator("equal")(_code(in_dtype), const(CODES["disable"]))
    return operator("where")(disabled, data, (data - zero) * scale)


def _code(dtype: str | Expr) -> Expr:
    if isinstance(dtype, Expr):
        if dtype.shape != ():
            raise UsageError(f"the type is said by one number, and not by {dtype!r}")
        return dtype.astype("int32")
    if dtype not in CODES:
        raise UsageError(f"there is no type '{dtype}' to simulate", hint=did_you_mean(dtype, CODES))
    return const(CODES[dtype])


def _along(data: Expr, given: Operand, axis: int) -> Expr:
    """A number, or one for each along `axis`, in the data's type and with its dimensions."""
    value = Expr(as_value(given, data.checked_type)).astype(data.dtype)
    rank = len(data.shape)
    if value.shape == ():
        return value
    if len(value.shape) != 1 or not -rank <= axis < rank:
        raise UsageError(f"{value!r} is not one number, nor one for each along axis {axis} of {data!r}")
    if value.shape[0] not in (1, -1, data.shape[axis]) and data.shape[axis] != -1:
        raise UsageError(f"{value!r} does not have one number for each along axis {axis} of {data!r}")
    if value.shape[0] == -1 != data.shape[axis]:
        value = _for_each(value, data.shape[axis])
    return operator("expand_dims")(value, 1, rank - 1 - axis % rank)


def _for_each(value: Expr, count: int) -> Expr:
    """`count` numbers, of as many, or of one: how many there are is known when the program runs, which then fails where
    they are others."""
    has = operator("take")(operator("shape_of")(value, "int32"), const(0))
    outside = operator("where")(operator("equal")(has, const(1)), const(0), const(2**31 - 1))
    each = operator("where")(operator("equal")(has, const(count)), const(list(range(count)), "int32"), outside)
    return operator("take")(value, each, 0, mode="error")
