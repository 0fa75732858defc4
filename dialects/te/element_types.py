"""Element types by NumPy's names."""

from __future__ import annotations

from typing import TypeAlias

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
