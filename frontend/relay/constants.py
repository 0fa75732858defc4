"""The arrays that constants hold."""

from __future__ import annotations

from numbers import Number

import numpy as np
import numpy.typing as npt

from ...dialects.relay.attributes import copied
from ...dialects.support.arguments import ArgumentError
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.dtypes import numpy_dtype, scalar_type
from ...dialects.support.nd import NDArray


def constant_array(value: npt.ArrayLike, dtype: str | None) -> npt.NDArray[np.generic]:
    """A copy of an array, or of numbers, of the type that a constant of it has (`const`).

    Raises:
        ArgumentError: there is no type of that name.
        UsageError: it is no array of numbers, or the type does not hold one of them.
    """
    try:
        array = copied(value)
    except ValueError as error:
        raise UsageError(f"a constant is an array of numbers: {error}") from None
    if array.dtype.kind == "O" and (wrong := [each for each in array.flat if not isinstance(each, Number)]):
        raise UsageError(
            f"a constant is an array of numbers, and {wrong[0]!r} is none",
            hint="an operator and a constructor are no values: a function is, whose body calls them",
        )
    if dtype is not None:
        return held(array, _numpy_type(dtype))
    if isinstance(value, NDArray):
        return array
    return held(array, _short(array.dtype, isinstance(value, np.ndarray | np.generic)))


def _short(dtype: np.dtype[np.generic], said: bool) -> np.dtype[np.generic]:
    """The type of a constant of numbers of another, which NumPy's `said`, or which Python's were found to be."""
    if not said and dtype.kind in "uO":
        return np.dtype(np.int32)  # integers that need 64 bits, or more
    return _numpy_type({"int64": "int32", "float64": "float32"}.get(dtype.name, dtype.name))


def _numpy_type(name: str) -> np.dtype[np.generic]:
    try:
        return numpy_dtype(scalar_type(name))
    except TypeError as error:
        raise ArgumentError(str(error)) from error


def held(array: npt.NDArray[np.generic], dtype: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
    """`array` in another type; in one of integers, its numbers have to be the same.

    Raises:
        UsageError: they are not.
    """
    try:
        with np.errstate(invalid="ignore"):
            converted = array.astype(dtype)
    except (OverflowError, TypeError, ValueError):  # integers beyond 64 bits, or what is no number
        raise UsageError(f"a constant of {dtype} does not hold what it is given") from None
    if array.dtype.kind not in "iufO" or "int" not in dtype.name:
        return converted
    is_same = np.array_equal(converted.astype(array.dtype), array)
    if not is_same or not np.array_equal(np.less(converted, 0), np.less(array, 0)):  # -1 is no 255
        raise UsageError(
            f"a constant of {dtype} does not hold what it is given", hint="say a type that does: dtype=..."
        )
    return converted
