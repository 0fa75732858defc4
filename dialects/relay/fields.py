"""The properties that operators declare, and the Python values that they are given as."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import opt_prop_def, prop_def

from ..support.interned import integer_attribute, long_array

# The Python values that properties may be given as.
Value: TypeAlias = "Attribute | int | float | bool | str | Sequence[int] | Sequence[float] | None"


_word = lru_cache(maxsize=1024)(StringAttr)


def as_attribute(value: Value) -> Attribute:
    """`[1, 1]` -> `array<i64: 1, 1>`, `3` -> `3 : i64`, `0.5` -> `0.5 : f64`, `True` -> `true`, `"NCHW"` -> itself."""
    if isinstance(value, Attribute):
        return value
    if isinstance(value, bool):
        return IntegerAttr(int(value), i1)
    if isinstance(value, int):
        return integer_attribute(value, 64)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    if isinstance(value, str):
        return _word(value)
    assert value is not None
    if any(isinstance(v, float) for v in value):
        return DenseArrayBase.from_list(f64, [float(v) for v in value])
    return long_array(*(int(v) for v in value))


def int_list(value: Sequence[int] | None = None) -> DenseArrayBase[IntegerType]:
    """A property of integers, as in `strides = array<i64: 1, 1>`; without a value, the property is required."""
    constraint = DenseArrayBase.constr(i64)
    if value is None:
        return prop_def(constraint)
    return prop_def(constraint, default_value=DenseArrayBase.from_list(i64, list(value)))


def opt_int_list() -> DenseArrayBase[IntegerType] | None:
    """A property of integers that may be absent, which means something else than any value."""
    return opt_prop_def(DenseArrayBase.constr(i64))


def opt_integer() -> IntegerAttr | None:
    """An integer property that may be absent, which means something else than any value."""
    return opt_prop_def(IntegerAttr.constr(i64))


def integer(value: int | None = None) -> IntegerAttr:
    """An integer property, as in `axis = 1 : i64`."""
    constraint = IntegerAttr.constr(i64)
    return prop_def(constraint) if value is None else prop_def(constraint, default_value=IntegerAttr(value, i64))


def real(value: float | None = None) -> FloatAttr:
    """A float property, as in `epsilon = 1.0e-05 : f64`."""
    constraint = FloatAttr.constr(f64)
    return prop_def(constraint) if value is None else prop_def(constraint, default_value=FloatAttr(value, f64))


def real_list(value: Sequence[float] | None = None) -> DenseArrayBase[Float64Type]:
    """A property of floats, as in `roi = array<f64: 0.0, 1.0>`; without a value, the property is required."""
    constraint = DenseArrayBase.constr(f64)
    if value is None:
        return prop_def(constraint)
    return prop_def(constraint, default_value=DenseArrayBase.from_list(f64, list(value)))


def flag(value: bool) -> IntegerAttr:
    """A truth-valued property, as in `keepdims = true`; `is_true` reads it."""
    return prop_def(IntegerAttr.constr(i1), default_value=IntegerAttr(int(value), i1))


def string(value: str | None = None) -> StringAttr:
    """A string property, as in `layout = "NCHW"`."""
    return prop_def(StringAttr) if value is None else prop_def(StringAttr, default_value=StringAttr(value))


def ints(value: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """The Python values of an `int_list` property."""
    return tuple(int(v) for v in value.get_values())


def is_true(value: IntegerAttr) -> bool:
    """The Python value of a `flag` property."""
    return value.value.data != 0
