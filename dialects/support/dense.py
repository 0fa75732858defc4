"""`dense<...>` attributes as NumPy arrays, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType, i1
from xdsl.ir import Attribute

from .dtypes import numpy_dtype

if TYPE_CHECKING:
    import numpy.typing as npt


def dense_of(array: npt.NDArray[Any], element: Attribute) -> DenseIntOrFPElementsAttr:
    """The attribute that holds an array of a type's dtype, element by element."""
    data = BytesAttr(np.ascontiguousarray(array).tobytes())
    return DenseIntOrFPElementsAttr(TensorType(element, array.shape), data)  # pyright: ignore[reportArgumentType]


def array_of(value: DenseIntOrFPElementsAttr) -> npt.NDArray[Any]:
    """The array that an attribute holds; do not write to it."""
    element: Attribute = value.type.element_type
    dtype, shape = numpy_dtype(element), value.type.get_shape()
    flat = np.array([*value.get_values()], dtype) if element == i1 else np.frombuffer(value.data.data, dtype)
    return np.broadcast_to(flat[0], shape) if flat.size == 1 else flat.reshape(shape)
