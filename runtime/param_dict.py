"""Named arrays in TVM's binary format: what `relay.save_param_dict` writes, and `load_param_dict` reads.

All numbers are little-endian. A list is a 64-bit magic number and 64 reserved bits, the names (how many, and each with
its length), and as many arrays. An array is a magic number and 64 reserved bits, a device (type and id, 32 bits each),
the number of axes (32 bits), a type (8 bits of code, 8 of bits, 16 of lanes), the extents (64 bits each), the number of
bytes (64 bits), and those bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.element_types import numpy_dtype_of
from ..dialects.support.nd import NDArray, as_nd
from ..lowering.graph_json import is_possible

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..lowering.abi import NDArray as Plain

LIST_MAGIC = 0xF7E58D4F05049CB7
ARRAY_MAGIC = 0xDD5E40F096B4A13F
CPU = (1, 0)

TYPES = {
    "int8": (0, 8), "int16": (0, 16), "int32": (0, 32), "int64": (0, 64),
    "uint8": (1, 8), "uint16": (1, 16), "uint32": (1, 32), "uint64": (1, 64), "bool": (1, 1),
    "float16": (2, 16), "float32": (2, 32), "float64": (2, 64), "bfloat16": (4, 16),
}  # fmt: skip
"""NumPy's name of a type -> DLPack's code and bits."""
NAMES = {code: name for name, code in TYPES.items()}


class ParamError(Diagnostic):
    """Bytes are not a list of named arrays, or an array cannot be in one."""


@checked
def save_param_dict(params: Mapping[str, npt.ArrayLike]) -> bytearray:
    """The arrays as TVM writes them, in their order.

    Raises:
        ParamError: TVM's format has not the type of an array.
    """
    parts = [struct.pack("<QQQ", LIST_MAGIC, 0, len(params))]
    for name in params:
        try:
            encoded = name.encode()
        except UnicodeEncodeError:
            raise ParamError(f"a name is no text: {name!r}") from None
        parts += [struct.pack("<Q", len(encoded)), encoded]
    parts.append(struct.pack("<Q", len(params)))
    for name, value in params.items():
        array = np.asarray(value)
        if (code := TYPES.get(array.dtype.name)) is None:
            raise ParamError(f"'{name}' is of dtype {array.dtype}, which TVM's format has not")
        data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        parts.append(struct.pack("<QQiiiBBH", ARRAY_MAGIC, 0, *CPU, array.ndim, *code, 1))
        parts += [struct.pack(f"<{array.ndim}q", *array.shape), struct.pack("<q", len(data)), data]
    return bytearray().join(parts)


@checked
def load_param_dict(data: bytes | bytearray) -> dict[str, NDArray]:
    """The arrays, by name, whatever device they were saved from.

    Raises:
        ParamError: the bytes are something else, or cut off.
    """
    reader = _Reader(bytes(data))
    if reader.numbers("QQ")[0] != LIST_MAGIC:
        raise ParamError("these are no parameters: they begin with another number")
    names = [reader.name() for _ in range(reader.count())]
    if (arrays := reader.count()) != len(names):
        raise ParamError(f"there are {len(names)} names for {arrays} arrays")
    found = {name: as_nd(reader.array(name)) for name in names}
    if len(found) != len(names):
        raise ParamError("a name stands for two arrays")
    if reader.rest:
        raise ParamError(f"{reader.rest} bytes stand behind the last array")
    return found


class _Reader:
    """Reads from bytes, one thing after the other."""

    def __init__(self, data: bytes):
        self._data = data
        self._at = 0

    @property
    def rest(self) -> int:
        return len(self._data) - self._at

    def take(self, size: int) -> bytes:
        if not 0 <= size <= self.rest:
            raise ParamError(f"the parameters are cut off: {size} more bytes are expected, and {self.rest} are there")
        self._at += size
        return self._data[self._at - size : self._at]

    def numbers(self, format: str) -> tuple[int, ...]:
        return struct.unpack(f"<{format}", self.take(struct.calcsize(f"<{format}")))

    def count(self) -> int:
        """How many follow, each of which takes 8 bytes and more."""
        (number,) = self.numbers("Q")
        if number > self.rest // 8:
            raise ParamError(f"the parameters are cut off: {number} are announced")
        return number

    def name(self) -> str:
        encoded = self.take(self.numbers("Q")[0])
        try:
            return encoded.decode()
        except UnicodeDecodeError:
            raise ParamError(f"a name is no text: {encoded!r}") from None

    def array(self, name: str) -> Plain:
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
