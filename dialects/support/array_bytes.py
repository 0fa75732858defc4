"""Arrays in TVM's binary format: what parameters are saved as, and what stands behind the text of a module.

All numbers are little-endian. An array is a magic number and 64 reserved bits, a device (type and id, 32 bits each),
the number of axes (32 bits), a type (8 bits of code, 8 of bits, 16 of lanes), the extents (64 bits each), the number of
bytes (64 bits), and those bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from .diagnostics import Diagnostic
from .element_types import numpy_dtype_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

ARRAY_MAGIC = 0xDD5E40F096B4A13F
CPU = (1, 0)

TYPES = {
    "int8": (0, 8), "int16": (0, 16), "int32": (0, 32), "int64": (0, 64),
    "uint8": (1, 8), "uint16": (1, 16), "uint32": (1, 32), "uint64": (1, 64), "bool": (1, 1),
    "float16": (2, 16), "float32": (2, 32), "float64": (2, 64), "bfloat16": (4, 16),
}  # fmt: skip
"""NumPy's name of a type -> DLPack's code and bits."""
NAMES = {code: name for name, code in TYPES.items()}

MOST_AXES, MOST_BYTES = 64, 1 << 62
"""Limits of NumPy's arrays, also of those without elements."""


class ParamError(Diagnostic):
    """Bytes are no arrays, or an array cannot be such bytes."""


def is_possible(shape: Sequence[int]) -> bool:
    """Whether an array can have this shape."""
    return len(shape) <= MOST_AXES and 16 * prod(extent for extent in shape if extent) < MOST_BYTES


def array_bytes(name: str, array: npt.NDArray[np.generic]) -> bytes:
    """An array as TVM writes it.

    Raises:
        ParamError: TVM's format has not the type of the array, which errors call by its name.
    """
    import numpy as np

    if (code := TYPES.get(array.dtype.name)) is None:
        raise ParamError(f"'{name}' is of dtype {array.dtype}, which TVM's format has not")
    data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    head = struct.pack("<QQiiiBBH", ARRAY_MAGIC, 0, *CPU, array.ndim, *code, 1)
    return head + struct.pack(f"<{array.ndim}q", *array.shape) + struct.pack("<q", len(data)) + data


class Reader:
    """Reads from bytes, one thing after the other."""

    def __init__(self, data: bytes):
        self._data = data
        self._at = 0

    @property
    def rest(self) -> int:
        """How many bytes are left."""
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        """The next bytes.

        Raises:
            ParamError: there are fewer.
        """
        if not 0 <= size <= self.rest:
            raise ParamError(f"the parameters are cut off: {size} more bytes are expected, and {self.rest} are there")
        self._at += size
        return self._data[self._at - size : self._at]

    def numbers(self, format: str) -> tuple[int, ...]:
        """The next numbers, by the letters of `struct`.

        Raises:
            ParamError: there are fewer bytes.
        """
        return struct.unpack(f"<{format}", self.take(struct.calcsize(f"<{format}")))

    def array(self, name: str) -> npt.NDArray[np.generic]:
        """The array that is next, which errors call by its name.

        Raises:
            ParamError: there is none, or it is cut off.
        """
        import numpy as np

        magic, _, _, _, rank, code, bits, lanes = self.numbers("QQiiiBBH")
        if magic != ARRAY_MAGIC:
            raise ParamError(f"'{name}' is no array: it begins with another number")
        dtype = NAMES.get((code, bits))
        if dtype is None or lanes != 1:
            raise ParamError(f"'{name}' is of a type that is not known: code {code}, {bits} bits, {lanes} lanes")
        if not 0 <= rank <= self.rest // 8:
            raise ParamError(f"'{name}' has {rank} axes")
        shape = self.numbers(f"{rank}q")
        (size,) = self.numbers("q")
        numpy_type = numpy_dtype_of(dtype)
        if min(shape, default=0) < 0 or size != prod(shape) * numpy_type.itemsize or not is_possible(shape):
            raise ParamError(f"'{name}' is {list(shape)} of {dtype}, and {size} bytes")
        return np.frombuffer(self.take(size), numpy_type.newbyteorder("<")).astype(numpy_type).reshape(shape)
