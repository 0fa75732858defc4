"""What each scalar operation of a block's body is worth, as a Python expression over NumPy scalars.

The interpreter of `tir` (`interpreter.py`) writes Python: one assignment for each operation, whose right side stands in
the tables here. Values are

* integers and indices: Python's `int`, in the range of their type as a signed one; `i1` is 0 or 1;
* floats: scalars of the type's own NumPy dtype, so that every step rounds as the machine does.

Integers wrap. Every operation has a result for all operands: divided by zero, integers give 0; shifted by the width or
more, they lose all bits but the sign; floats that an integer type does not hold become its nearest integer, and NaN 0
(docs/arithmetic.md). xDSL's own functions for `arith` and `math`
compute in double precision and raise Python's errors where a float overflows, so they are no oracle here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from ..support.conversion import converted
from ..support.dtypes import numpy_dtype
from ..support.hints import isa

Number: TypeAlias = Any
"""An `int`, or a NumPy scalar of a float type."""


class Namespace(dict[str, Any]):
    """The names that written Python sees; objects get one when they are first needed."""

    def __init__(self) -> None:
        super().__init__(HELPERS)
        self._kept: list[object] = []

    def name(self, value: object) -> str:
        """A name for `value`."""
        self._kept.append(value)
        name = f"k{len(self._kept)}"
        self[name] = value
        return name


def width_of(type: Attribute) -> int:
    """Bits of an integer or index type.

    Raises:
        TypeError: it is another type.
    """
    if isinstance(type, IndexType):
        return 64
    if isa(type, IntegerType):
        return type.width.data
    raise TypeError(f"{type} is no integer")


def wrapped(text: str, type: Attribute) -> str:
    """`text`, any integer, brought into the range of `type`."""
    width = width_of(type)
    if width == 1:
        return f"({text} & 1)"
    half = 1 << (width - 1)
    return f"((({text}) + {half} & {2 * half - 1}) - {half})"


def _signed(x: str, type: Attribute) -> str:
    return f"(-{x})" if width_of(type) == 1 else x


def _unsigned(x: str, type: Attribute) -> str:
    return f"({x} & {(1 << width_of(type)) - 1})"


Writer: TypeAlias = Callable[[Operation, Sequence[str], Namespace], str]


def expression(op: Operation, operands: Sequence[str], names: Namespace) -> str | None:
    """The Python expression of `op`'s only result, where its operands are the variables `operands`; `None` for an
    operation that is not known, or not on scalars."""
    types = [value.type for value in (*op.operands, *op.results)]
    if len(op.results) != 1 or not all(isinstance(t, IntegerType | IndexType | AnyFloat) for t in types):
        return None
    writer = WRITERS.get(op.name)
    return None if writer is None else writer(op, operands, names)


# Integers.


def _wrapping(template: str) -> Writer:
    return lambda op, x, names: wrapped(template.format(*x), op.results[0].type)


def _on_unsigned(template: str) -> Writer:
    """Of operands taken as unsigned."""

    def write(op: Operation, x: Sequence[str], names: Namespace) -> str:
        operands = [_unsigned(v, value.type) for v, value in zip(x, op.operands, strict=True)]
        return wrapped(template.format(*operands, width=width_of(op.operands[0].type)), op.results[0].type)

    return write


def _on_signed(template: str) -> Writer:
    """Of operands taken as signed."""

    def write(op: Operation, x: Sequence[str], names: Namespace) -> str:
        type = op.operands[0].type
        operands = [_signed(v, type) for v in x]
        return wrapped(template.format(*operands, width=width_of(type)), op.results[0].type)

    return write


_COMPARE_INTEGERS = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
"""By the number of the predicate: two on any integers, four on signed ones, four on unsigned ones."""


def _predicate(op: Operation) -> int:
    predicate = op.properties["predicate"]
    assert isinstance(predicate, IntegerAttr)
    return predicate.value.data


def _cmpi(op: Operation, x: Sequence[str], names: Namespace) -> str:
    predicate = _predicate(op)
    sign = _signed if predicate < 6 else _unsigned
    lhs, rhs = (sign(v, op.operands[0].type) for v in x)
    return f"(1 if {lhs} {_COMPARE_INTEGERS[predicate]} {rhs} else 0)"


def _constant(op: Operation, x: Sequence[str], names: Namespace) -> str:
    value, type = op.properties["value"], op.results[0].type
    if isinstance(value, IntegerAttr):
        return str(eval(wrapped(str(value.value.data), type)))
    assert isinstance(value, FloatAttr)
    return names.name(numpy_dtype(type).type(value.value.data))


def _divided(a: int, b: int) -> int:
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return a - b * _divided(a, b) if b else 0


def _floor_divided(a: int, b: int) -> int:
    return a // b if b else 0


def _integer_power(base: int, exponent: int, width: int) -> int:
    if exponent >= 0:
        return pow(base, exponent, 1 << width)
    return {1: 1, -1: -1 if exponent & 1 else 1}.get(base, 0)


# Floats.

_COMPARE_FLOATS = (
    "False", "{0} == {1}", "{0} > {1}", "{0} >= {1}", "{0} < {1}", "{0} <= {1}", "{0} < {1} or {0} > {1}",
    "{0} == {0} and {1} == {1}", "not ({0} < {1} or {0} > {1})", "not {0} <= {1}", "not {0} < {1}", "not {0} >= {1}",
    "not {0} > {1}", "{0} != {1}", "{0} != {0} or {1} != {1}", "True",
)  # fmt: skip
"""By the number of the predicate; every comparison with NaN but `!=` is false."""


def _cmpf(op: Operation, x: Sequence[str], names: Namespace) -> str:
    return f"(1 if {_COMPARE_FLOATS[_predicate(op)].format(*x)} else 0)"


def _float(template: str) -> Writer:
    """An expression with `{T}` for the constructor of the result's type."""

    def write(op: Operation, x: Sequence[str], names: Namespace) -> str:
        constructor = names.name(numpy_dtype(op.results[0].type).type) if "{T}" in template else ""
        return template.format(*x, T=constructor)

    return write


def _larger(a: Number, b: Number) -> Number:
    if a != a or b != b:
        return a if a != a else b
    return (b if np.signbit(a) else a) if a == b else max(a, b)


def _smaller(a: Number, b: Number) -> Number:
    if a != a or b != b:
        return a if a != a else b
    return (a if np.signbit(a) else b) if a == b else min(a, b)


def _numeric(choose: Callable[[Number, Number], Number], a: Number, b: Number) -> Number:
    """A number rather than NaN, where there is one."""
    if a != a or b != b:
        return b if a != a else a
    return choose(a, b)


def _power(a: Number, b: Number) -> Number:
    """C's `pow`: NumPy's on a single element does not give what it gives on many."""
    try:
        return type(a)(math.pow(a, b))
    except (OverflowError, ValueError):
        odd = b == np.floor(b) and np.fmod(b, type(b)(2)) != 0
        if a == 0:
            return np.copysign(type(a)(np.inf), a if odd else type(a)(1))
        if a < 0 and b != np.floor(b):
            return type(a)(np.nan)
        return type(a)(-np.inf if a < 0 and odd else np.inf)


def _float_remainder(a: Number, b: Number) -> Number:
    return np.fmod(a, b)


def _away_from_zero(x: Number) -> Number:
    return np.copysign(np.floor(np.abs(x) + type(x)(0.5)), x)


def _with_sign(x: Number, sign: Number) -> Number:
    return np.copysign(x, sign)


# Conversions.


def _to_float(op: Operation, x: Sequence[str], names: Namespace) -> str:
    signed = op.name == "arith.sitofp"
    source, target = op.operands[0].type, numpy_dtype(op.results[0].type)
    value = (_signed if signed else _unsigned)(x[0], source)
    if target.name == "bfloat16":
        wide = names.name(np.int64 if signed else np.uint64)
        return f"{names.name(converted)}(np.asarray({wide}({value})), {names.name(target)})[()]"
    return f"{names.name(np.int64 if signed else np.uint64)}({value}).astype({names.name(target)})"


def _to_shorter(op: Operation, x: Sequence[str], names: Namespace) -> str:
    target = numpy_dtype(op.results[0].type)
    if target.name == "bfloat16":
        return f"{names.name(converted)}(np.asarray({x[0]}), {names.name(target)})[()]"
    return f"{names.name(target.type)}({x[0]})"


def _moved_down(op: Operation, x: Sequence[str], names: Namespace) -> str:
    type = op.operands[0].type
    return wrapped(f"({_signed(x[0], type)} >> min({_unsigned(x[1], type)}, {width_of(type) - 1}))", type)


def _to_integer(op: Operation, x: Sequence[str], names: Namespace) -> str:
    type = op.results[0].type
    width = width_of(type)
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if op.name == "arith.fptosi" else (0, (1 << width) - 1)
    return wrapped(f"_truncated({x[0]}, {low}, {high})", type)


def _truncated(x: Number, low: int, high: int) -> int:
    """Towards zero, to the nearest integer of the type; 0 for NaN."""
    if x != x:
        return 0
    x = float(x)  # compared with integers exactly
    return high if x > high else low if x < low else int(x)


def _bitcast(op: Operation, x: Sequence[str], names: Namespace) -> str:
    source, target = op.operands[0].type, op.results[0].type
    if isinstance(source, AnyFloat) and isinstance(target, AnyFloat):
        return f"{x[0]}.view({names.name(numpy_dtype(target))})"
    if isinstance(source, AnyFloat):
        return wrapped(f"int({x[0]}.view({names.name(np.dtype(f'int{width_of(target)}'))}))", target)
    if isinstance(target, AnyFloat):
        dtype = names.name(np.dtype(f"int{width_of(source)}").type)
        return f"{dtype}({x[0]}).view({names.name(numpy_dtype(target))})"
    return x[0]


def _dot(op: Operation, x: Sequence[str], names: Namespace) -> str:
    """`tir.dot`."""
    acc, sides = x[0], (x[1 : len(x) // 2 + 1], x[len(x) // 2 + 1 :])
    byte = op.operands[1].type
    taken = [
        [_unsigned(v, byte) if f"{side}_unsigned" in op.properties else v for v in values]
        for side, values in zip(("lhs", "rhs"), sides, strict=True)
    ]
    products = [f"{a} * {b}" for a, b in zip(*taken, strict=True)]
    return wrapped(" + ".join([acc, *products]), op.results[0].type)


WRITERS: Mapping[str, Writer] = {
    "tir.dot": _dot,
    "arith.constant": _constant,
    "arith.addi": _wrapping("{0} + {1}"),
    "arith.subi": _wrapping("{0} - {1}"),
    "arith.muli": _wrapping("{0} * {1}"),
    "arith.andi": _wrapping("{0} & {1}"),
    "arith.ori": _wrapping("{0} | {1}"),
    "arith.xori": _wrapping("{0} ^ {1}"),
    "arith.divsi": _on_signed("_divided({0}, {1})"),
    "arith.remsi": _on_signed("_remainder({0}, {1})"),
    "arith.floordivsi": _on_signed("_floor_divided({0}, {1})"),
    "arith.ceildivsi": _on_signed("-_floor_divided(-{0}, {1})"),
    "arith.divui": _on_unsigned("_floor_divided({0}, {1})"),
    "arith.remui": _on_unsigned("_remainder({0}, {1})"),
    "arith.ceildivui": _on_unsigned("-_floor_divided(-{0}, {1})"),
    "arith.minsi": _on_signed("min({0}, {1})"),
    "arith.maxsi": _on_signed("max({0}, {1})"),
    "arith.minui": _on_unsigned("min({0}, {1})"),
    "arith.maxui": _on_unsigned("max({0}, {1})"),
    "arith.shli": _on_unsigned("({0} << {1} if {1} < {width} else 0)"),
    "arith.shrui": _on_unsigned("({0} >> {1} if {1} < {width} else 0)"),
    "arith.shrsi": _moved_down,
    "arith.cmpi": _cmpi,
    "arith.select": lambda op, x, names: f"({x[1]} if {x[0]} else {x[2]})",
    "arith.extsi": _on_signed("{0}"),
    "arith.extui": _on_unsigned("{0}"),
    "arith.trunci": _wrapping("{0}"),
    "arith.index_cast": _on_signed("{0}"),
    "arith.index_castui": _on_unsigned("{0}"),
    "arith.addf": _float("({0} + {1})"),
    "arith.subf": _float("({0} - {1})"),
    "arith.mulf": _float("({0} * {1})"),
    "arith.divf": _float("({0} / {1})"),
    "arith.remf": _float("_float_remainder({0}, {1})"),
    "arith.negf": _float("(-{0})"),
    "arith.maximumf": _float("_larger({0}, {1})"),
    "arith.minimumf": _float("_smaller({0}, {1})"),
    "arith.maxnumf": _float("_numeric(_larger, {0}, {1})"),
    "arith.minnumf": _float("_numeric(_smaller, {0}, {1})"),
    "arith.cmpf": _cmpf,
    "arith.extf": _float("{T}({0})"),
    "arith.truncf": _to_shorter,
    "arith.sitofp": _to_float,
    "arith.uitofp": _to_float,
    "arith.fptosi": _to_integer,
    "arith.fptoui": _to_integer,
    "arith.bitcast": _bitcast,
    "math.absi": _wrapping("abs({0})"),
    "math.ipowi": _on_signed("_integer_power({0}, {1}, {width})"),
    "math.erf": _float("{T}(_erf(float({0})))"),
    "math.rsqrt": _float("({T}(1) / np.sqrt({0}))"),
    "math.round": _float("_away_from_zero({0})"),
    "math.copysign": _float("_with_sign({0}, {1})"),
    "math.fma": _float("{T}(np.float64({0}) * np.float64({1}) + np.float64({2}))"),
    "math.isnan": _float("(1 if {0} != {0} else 0)"),
    **{
        f"math.{name}": _float(f"np.{ufunc}({{0}})")
        for name, ufunc in {
            "absf": "abs", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2",
            "log10": "log10", "log1p": "log1p", "sqrt": "sqrt", "cbrt": "cbrt", "sin": "sin", "cos": "cos",
            "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asin": "arcsin", "acos": "arccos",
            "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "floor": "floor",
            "ceil": "ceil", "roundeven": "rint", "trunc": "trunc",
        }.items()
    },
    "math.powf": _float("_power({0}, {1})"),
    "math.atan2": _float("np.arctan2({0}, {1})"),
}  # fmt: skip
"""The operations on scalars, by name."""

HELPERS: Mapping[str, Any] = {
    "np": np,
    "_erf": math.erf,
    **{
        function.__name__: function
        for function in (
            _divided, _remainder, _floor_divided, _integer_power, _larger, _smaller, _numeric,
            _power, _float_remainder, _away_from_zero, _with_sign, _truncated,
        )
    },
}  # fmt: skip
