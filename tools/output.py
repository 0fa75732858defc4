"""Reading input and writing output, whole or not at all."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..dialects.support.diagnostics import Diagnostic, Place, UsageError
from ..dialects.support.files import check_place, replacing
from ..dialects.support.text import decode

if TYPE_CHECKING:
    from ..dialects.relay.attributes import NDArray

STDIN_NAME = "<stdin>"


def read_text(path: str) -> tuple[str, str]:
    """The text of a file, or of standard input for `-`, and the name it has in messages.

    Raises:
        Diagnostic: the file cannot be read, or is not text.
    """
    name = STDIN_NAME if path == "-" else path
    if path == "-" and sys.stdin is None:
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
    content = _encoded(data)
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    if _descriptor(path) is not None or _is_stream(path):
        _write_into(path, content)
        return
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise _unwritable(path, error) from error


def write_module(path: str, data: str | bytes, arrays: Mapping[str, NDArray]) -> None:
    """Write the text of a module as `write_output` does, and the data of its resources beside it; either both or
    neither. What goes to a stream goes without data.

    Raises:
        Diagnostic: a file cannot be written.
    """
    if path == "-" or _descriptor(path) is not None or _is_stream(path) or not arrays:
        write_output(path, data)
        return
    from ..dialects.relay.weights import weights_path, write_weights

    try:
        with replacing(path) as file:
            file.write(_encoded(data))
            write_weights(arrays, weights_path(Path(path)))
    except OSError as error:
        raise _unwritable(path, error) from error


def check_output(model: str, path: str | None, flag: str) -> None:
    """See, before anything is computed, that a file can be written at its end, and is none of the model's.

    Raises:
        UsageError: the model or its weights are in it.
        Diagnostic: it is a folder, or its folder is not there or cannot be written to.
    """
    if path is None or path == "-" or _descriptor(path) is not None or _is_stream(path):
        return
    try:
        check_place(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    if not os.path.isfile(path):
        return
    for each in files_of(Path(model)):
        if each.exists() and os.path.samefile(each, path):
            what = "the model" if each == Path(model) else "a file of the model"
            raise UsageError(f"'{path}' is {what}, which this would overwrite", Place(flag))


def files_of(model: Path) -> list[Path]:
    """A model's file, and those beside it that hold its weights."""
    if model.suffix == ".mlir":
        from ..dialects.relay.weights import weights_path

        return [model, weights_path(model)]
    if model.suffix == ".onnx" and model.is_file():
        from ..dialects.support.model_files import Unknown, external_files

        with suppress(Unknown, OSError):
            return [model, *(model.parent / name for name in external_files(model))]
    return [model]


def _encoded(data: str | bytes) -> bytes:
    """Bytes of a file's name that are no UTF-8 become question marks: a module is text in UTF-8."""
    return data.encode(errors="replace") if isinstance(data, str) else data


def _is_stream(path: str) -> bool:
    """A pipe or a device: there is nothing to replace, and nothing stands beside it."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _descriptor(path: str) -> int | None:
    """The open file of this process that a path names: what a shell has directed it to is written on, and not
    replaced."""
    if path in ("/dev/stdout", "/dev/stderr"):
        return 1 if path == "/dev/stdout" else 2
    match = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d{1,9})", path)
    return None if match is None else int(match[1])


def _write_into(path: str, content: bytes) -> None:
    number = _descriptor(path)
    try:
        sys.stdout.flush()
        with open(path if number is None else os.dup(number), "wb") as file:
            file.write(content)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: str, error: OSError) -> Diagnostic:
    return Diagnostic(f"cannot be written: {(error.strerror or str(error)).lower()}", Place(path))
