"""Functions of quantised numbers as tables: TVM's `relay.qnn.op.canonicalizations`.

    scale, zero = relay.const(0.1), relay.const(0)
    lookup = relay.qnn.op.canonicalizations.create_integer_lookup_op
    y = lookup(x, np.tanh, scale, zero, scale, zero, in_dtype="int8", out_dtype="int8")

There are few integers of eight bits, so what a function of floats makes of each can be looked up. The row of a table is
the integer's bits, read without a sign.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt

from ...dialects.relay.interpreter import evaluate_function
from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError
from .expr import Expr, Function, const
from .operators import operator

NDArray = npt.NDArray[np.generic]
Formula = Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]

INDEXED = ("int8", "uint8", "int16", "uint16")
"""The types of which there is a table with a row for each integer."""


def run_const_expr(expr: Expr) -> NDArray:
    """What an expression without variables comes to, in the interpreter."""
    return np.asarray(evaluate_function(Function([], expr), [])[0])


@checked
def create_integer_lookup_table(
    floating_point_func: Formula,
    input_scale: Expr,
    input_zero_point: Expr,
    output_scale: Expr,
    output_zero_point: Expr,
    in_axis: int = -1,
    out_axis: int = -1,
    in_dtype: str = "uint8",
    out_dtype: str = "uint8",
) -> NDArray:
    """The quantised result of the function for each integer of `in_dtype`, of 8 or 16 bits, in the order of its bits.

    Raises:
        UsageError: a dtype is none of integers, or of too many bits.
    """
    for name, known in ((in_dtype, INDEXED), (out_dtype, (*INDEXED, "int32"))):
        if name not in known:
            raise UsageError(f"there is no table of '{name}'; the types are {', '.join(known)}")
    bits = np.dtype(in_dtype).itemsize * 8
    integers = np.arange(2**bits, dtype=f"uint{bits}").view(in_dtype)
    dequantize, quantize = operator("qnn.dequantize"), operator("qnn.quantize")
    floats = run_const_expr(dequantize(const(integers, in_dtype), input_scale, input_zero_point, axis=in_axis))
    results = const(np.asarray(floating_point_func(floats.astype(np.float32)), np.float32))
    return run_const_expr(quantize(results, output_scale, output_zero_point, axis=out_axis, out_dtype=out_dtype))


@checked
def create_integer_lookup_op(
    input_arg: Expr,
    floating_point_func: Formula,
    in_scale: Expr,
    in_zero_point: Expr,
    out_scale: Expr,
    out_zero_point: Expr,
    in_axis: int = -1,
    out_axis: int = -1,
    in_dtype: str = "uint8",
    out_dtype: str = "uint8",
) -> Expr:
    """The function of quantised data, as `take` from its table. Scales and zero points are constants of one element.

    Raises:
        UsageError: as `create_integer_lookup_table`.
        AttributeError: a scale or a zero point is no constant.
        ValueError: one has several elements: a table is the same along all axes.
    """
    scales = [const(each.data.item(), "float32") for each in (in_scale, out_scale)]
    zeros = [const(each.data.item(), "int32") for each in (in_zero_point, out_zero_point)]
    table = create_integer_lookup_table(
        floating_point_func, scales[0], zeros[0], scales[1], zeros[1], in_axis, out_axis, in_dtype, out_dtype
    )
    rows = operator("reinterpret")(input_arg, f"uint{np.dtype(in_dtype).itemsize * 8}")
    return operator("take")(const(table, out_dtype), rows, axis=0, mode="fast")


canonicalizations = SimpleNamespace(
    create_integer_lookup_op=create_integer_lookup_op,
    create_integer_lookup_table=create_integer_lookup_table,
    run_const_expr=run_const_expr,
)
