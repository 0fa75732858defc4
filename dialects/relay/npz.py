"""What the arrays of an `.npz` file are, read from their headers alone: NumPy, which takes long to import, is asked for
their elements only."""

from __future__ import annotations

import ast
import struct
import zipfile
from pathlib import Path
from typing import NamedTuple, cast

from xdsl.dialects.builtin import BFloat16Type, IntegerType, Signedness
from xdsl.ir import Attribute

from ..support.dtypes import byte_width
from ..support.hints import is_dict

MAGIC = b"\x93NUMPY"


class Header(NamedTuple):
    """What stands before the elements of an array: `<f4` for float32, as NumPy writes it, and the shape."""

    dtype: str
    shape: tuple[int, ...]


def headers(path: Path) -> dict[str, Header]:
    """The headers of the arrays in `path`, but for those that are stored in an unusual way.

    Raises:
        OSError, zipfile.BadZipFile: it cannot be read.
    """
    found: dict[str, Header] = {}
    with zipfile.ZipFile(path) as file:
        for member in file.infolist():
            with file.open(member) as data:
                header = _header(data.read(10), data.read(1 << 12))
            if header is not None and member.filename.endswith(".npy"):
                found[member.filename.removesuffix(".npy")] = header
    return found


def _header(start: bytes, text: bytes) -> Header | None:
    if len(start) != 10 or start[:8] != MAGIC + b"\x01\x00":
        return None
    (length,) = struct.unpack("<H", start[8:])
    try:
        fields: object = ast.literal_eval(text[:length].decode("latin1").strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not is_dict(fields) or fields.get("fortran_order") is not False:
        return None
    known = cast("dict[str, object]", fields)
    dtype, shape = known.get("descr"), known.get("shape")
    if not isinstance(dtype, str) or not isinstance(shape, tuple):
        return None
    return Header(dtype, cast("tuple[int, ...]", shape))


def is_dtype(text: str, type: Attribute) -> bool:
    """Whether a header's dtype is what elements of `type` are stored as."""
    match type:
        case BFloat16Type():
            kind = "V"
        case IntegerType() if type.width.data == 1:
            kind = "b"
        case IntegerType():
            kind = "u" if type.signedness.data == Signedness.UNSIGNED else "i"
        case _:
            kind = "f"
    return text[:1] in "<|" and text[1:] == f"{kind}{byte_width(type)}"
