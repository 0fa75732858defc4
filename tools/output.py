"""Reading input and writing output, whole or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..dialects.support.diagnostics import Diagnostic, Place
from ..dialects.support.files import replacing
from ..dialects.support.text import decode

STDIN_NAME = "<stdin>"


def read_text(path: str) -> tuple[str, str]:
    """The text of a file, or of standard input for `-`, and the name it has in messages.

    Raises:
        Diagnostic: the file cannot be read, or is not text.
    """
    name = STDIN_NAME if path == "-" else path
    if path == "-" and sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise Diagnostic("cannot be read: it is closed", Place(name))
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise Diagnostic(f"cannot be read: {(error.strerror or str(error)).lower()}", Place(name)) from error
    return decode(data, name), name


def write_output(path: str, data: str | bytes) -> None:
    """Write to standard output for `-`, else to a file that is replaced only once all is written.

    Raises:
        Diagnostic: the file cannot be written.
    """
    content = data.encode() if isinstance(data, str) else data
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device: nothing to replace
        _write_into(path, content)
        return
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise _unwritable(path, error) from error


def _write_into(path: str, content: bytes) -> None:
    try:
        with open(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: str, error: OSError) -> Diagnostic:
    return Diagnostic(f"cannot be written: {(error.strerror or str(error)).lower()}", Place(path))
