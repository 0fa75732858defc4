"""ONNX model files: binary, or in one of ONNX's text forms (`.onnxtxt`, `.textproto`, `.json`)."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from ...dialects.support.diagnostics import Diagnostic, Note, Place, UsageError

if TYPE_CHECKING:
    from onnx import ModelProto


def load(model: str | os.PathLike[str] | ModelProto) -> tuple[ModelProto, str, Path | None]:
    """A model, the name it has in messages, and the folder in which its external data is.

    Raises:
        Diagnostic: the file cannot be read, or holds no model.
        UsageError: the package `onnx` is not installed.
    """
    try:
        import onnx
        from google.protobuf.json_format import ParseError as JsonError
        from google.protobuf.message import DecodeError
        from google.protobuf.text_format import ParseError as TextError
    except ModuleNotFoundError as error:
        raise UsageError(
            f"importing an ONNX model takes the Python package {error.name}", hint="pip install 'weft[onnx]'"
        ) from None

    if isinstance(model, onnx.ModelProto):
        return model, model.graph.name or "model", None
    path = Path(model)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # ONNX calls its own text form experimental
            proto = onnx.load(str(path), load_external_data=False)  # pyright: ignore[reportUnknownMemberType]
    except OSError as error:
        raise Diagnostic((error.strerror or str(error)).lower(), Place(str(path))) from error
    except (DecodeError, TextError, JsonError, ValueError) as error:
        raise _no_model(path, str(error)) from error
    except onnx.parser.ParseError as error:
        raise _no_model(path, error.args[0].decode()) from error
    if not proto.HasField("graph"):
        raise _no_model(path, "it holds no graph")
    return proto, str(path), path.parent


def _no_model(path: Path, reason: str) -> Diagnostic:
    """Placed in the text, where ONNX's parser says where."""
    place = Place(str(path))
    if found := re.search(r"line: (\d+) column: (\d+)", reason):
        place = Place(str(path), int(found[1]), int(found[2]))
        reason = reason.split("\n")[-1]
    return Diagnostic("this is not an ONNX model", place, notes=[Note(reason.strip())])
