"""Files of text, as whoever wrote them may have saved them."""

from __future__ import annotations

from .diagnostics import Diagnostic, Place

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def decode(data: bytes, name: str) -> str:
    """The text in a file's bytes, which are UTF-8 with or without a byte order mark.

    Raises:
        Diagnostic: they are something else.
    """
    if data.startswith(_BYTE_ORDER_MARK):
        data = data[len(_BYTE_ORDER_MARK) :]
    if name.endswith(".onnx") and any(byte < 9 for byte in data[:16]):
        raise _onnx(name)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if name.endswith(".onnx"):
            raise _onnx(name) from error
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        place = Place(name, line, column)
        raise Diagnostic("this is not text in UTF-8", place, hint="is it another kind of file?") from error


def as_text(name: str) -> str:
    """The name of a file as text: bytes of it that are no UTF-8 are written with backslashes."""
    return name.encode(errors="backslashreplace").decode()


def _onnx(name: str) -> Diagnostic:
    hint = f"to read an ONNX model as a module: weft-import {name} -o {name.removesuffix('.onnx')}.mlir"
    return Diagnostic("this is an ONNX model, and no text", Place(name), hint=hint)
