"""Named arrays in TVM's binary format: what `relay.save_param_dict` writes, and `load_param_dict` reads.

All numbers are little-endian. A list is a 64-bit magic number and 64 reserved bits, the names (how many, and each with
its length), and as many arrays (`dialects/support/array_bytes.py`).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..dialects.support.arguments import checked
from ..dialects.support.array_bytes import ParamError as ParamError
from ..dialects.support.array_bytes import Reader, array_bytes
from ..dialects.support.nd import NDArray, as_nd

if TYPE_CHECKING:
    import numpy.typing as npt

LIST_MAGIC = 0xF7E58D4F05049CB7


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
    parts += [array_bytes(name, np.asarray(value)) for name, value in params.items()]
    return bytearray().join(parts)


@checked
def load_param_dict(data: bytes | bytearray) -> dict[str, NDArray]:
    """The arrays, by name, whatever device they were saved from.

    Raises:
        ParamError: the bytes are something else, or cut off.
    """
    reader = _ListReader(bytes(data))
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


class _ListReader(Reader):
    """Reads names and how many there are, too."""

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
