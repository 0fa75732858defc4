"""Constant data: small tensors stand in the text, large ones beside it.

A weight of hundreds of MiB must not pass through text. `#relay.resource<"key">` names it; the NumPy array itself is
held by the attribute in memory, and by a file beside the `.mlir` on disk (`weights.py`). The key ends in a digest of
the content, so that equal keys mean equal data and two constants can be compared without looking at them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType, i1
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ..support.dtypes import numpy_dtype, scalar_type

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

MAX_INLINE_ELEMENTS = 16
"""Constants up to this size are printed in the text."""


@dataclass(frozen=True)
class Resource:
    """A named array, or what reads it where it is first asked for."""

    key: str
    given: NDArray | None = field(default=None, compare=False, repr=False)
    later: Callable[[], NDArray] | None = field(default=None, compare=False, repr=False)

    @property
    def is_known(self) -> bool:
        """Whether there is an array."""
        return self.given is not None or self.later is not None

    @cached_property
    def array(self) -> NDArray | None:
        """The array; `None` where the text was read without the file that holds the data.

        Raises:
            Diagnostic: it cannot be read.
        """
        return self.later() if self.given is None and self.later is not None else self.given


@irdl_attr_definition
class ResourceAttr(Data[Resource]):
    """Tensor data that stands outside the text.

    ```mlir
    %w = relay.constant #relay.resource<"conv1_w_5f3a9c21"> : tensor<64x3x7x7xf32>
    ```
    """

    name = "relay.resource"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Resource:
        with parser.in_angle_brackets():
            return Resource(parser.parse_str_literal(" for the key of a resource"))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data.key)


def resource(array: NDArray, name: str = "constant") -> ResourceAttr:
    """`array` as a resource; its key is `name` and a digest of dtype, shape and content.

    An array whose elements are all equal is held as one element seen under the whole shape (strides of zero), so a
    fill of hundreds of MiB takes no memory until a reader copies it.
    """
    import hashlib

    import numpy as np

    digest = hashlib.blake2b(f"{array.dtype.name}{array.shape}".encode(), digest_size=6)
    if is_uniform(array):
        element = np.ascontiguousarray(array[(slice(0, 1),) * array.ndim])
        digest.update(b"uniform" + element.tobytes())
        array = np.broadcast_to(element, array.shape)
    else:
        array = np.ascontiguousarray(array)
        digest.update(array.view(np.uint8).data if array.size else b"")
    return ResourceAttr(Resource(f"{name}_{digest.hexdigest()}", array))


def is_uniform(array: NDArray) -> bool:
    """Whether all elements of `array` are the same, bit for bit. Arrays that are not cost next to nothing to reject."""
    import numpy as np

    if array.size == 0:
        return False
    if not any(array.strides):
        return True
    bits = np.dtype(f"V{array.dtype.itemsize}")
    first = array[(0,) * array.ndim].tobytes()
    if array[(-1,) * array.ndim].tobytes() != first:
        return False
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    flat = array.reshape(-1).view(bits)
    step = 1 << 16
    return all(bool((flat[i : i + step] == np.void(first)).all()) for i in range(0, flat.size, step))


def tensor_type_of(array: NDArray) -> TensorType[Attribute]:
    """The tensor type of a NumPy array.

    Raises:
        TypeError: Weft has no element type for the array's dtype.
    """
    return TensorType(scalar_type(array.dtype), array.shape)


def array_to_attribute(array: NDArray, name: str = "constant") -> Attribute:
    """The attribute that holds `array`: `dense<...>` up to `MAX_INLINE_ELEMENTS`, else a resource."""
    import numpy as np

    if array.size > MAX_INLINE_ELEMENTS:
        return resource(array, name)
    return DenseIntOrFPElementsAttr(tensor_type_of(array), BytesAttr(np.ascontiguousarray(array).tobytes()))  # pyright: ignore[reportArgumentType]


def attribute_to_array(value: Attribute, type: TensorType[Attribute]) -> NDArray | None:
    """The array that a constant's attribute holds; `None` for a resource whose data was not loaded."""
    import numpy as np

    if isinstance(value, ResourceAttr):
        return value.data.array
    assert isinstance(value, DenseIntOrFPElementsAttr)
    dtype = numpy_dtype(type.element_type)
    shape = type.get_shape()
    data = value.data.data
    if type.element_type == i1:
        flat = np.array([bool(v) for v in value.get_values()], dtype)
        return np.broadcast_to(flat[0], shape).copy() if flat.size == 1 else flat.reshape(shape)
    flat = np.frombuffer(data, dtype)
    return np.broadcast_to(flat[0], shape).copy() if flat.size == 1 else flat.reshape(shape)
