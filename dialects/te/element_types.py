"""Element types by NumPy's names."""

from __future__ import annotations

from typing import TypeAlias

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute

from ..support.diagnostics import UsageError
from ..support.dtypes import scalar_type

DType: TypeAlias = str | Attribute
"""NumPy's name of an element type, or xDSL's type."""


def element_type(dtype: DType) -> Attribute:
    """The scalar type that is meant.

    Raises:
        UsageError: there is none.
    """
    try:
        return scalar_type(dtype) if isinstance(dtype, str) else dtype
    except TypeError as error:
        raise UsageError(f"te: {error}", hint="give a dtype by NumPy's name, as 'float32'") from None


def vector_type(dtype: str | Attribute) -> Attribute:
    """The type of a dtype by name, of which vectors are some: `"float32x4"`.

    Raises:
        UsageError: there is none.
    """
    if isinstance(dtype, str) and "x" in dtype:
        element, _, lanes = dtype.rpartition("x")
        if not lanes.isdigit() or int(lanes) < 1:
            raise UsageError(f"there is no dtype {dtype!r}")
        return VectorType(element_type(element), [int(lanes)])
    return element_type(dtype)
