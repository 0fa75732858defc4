"""ONNX model files: binary, or in one of ONNX's text forms (`.onnxtxt`, `.textproto`, `.json`)."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ...dialects.support.arguments import ArgumentError
from ...dialects.support.diagnostics import Diagnostic, Note, Place, UsageError
from .large_weights import load_apart

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnx import ModelProto

    NDArray: TypeAlias = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Loaded:
    """A model, the name it has in messages, the folder in which its external data is, and those of its graph's weights
    that its message does not hold, by name."""

    proto: ModelProto
    name: str
    directory: Path | None = None
    weights: Mapping[str, NDArray] = field(default_factory=dict[str, "NDArray"])


def load(model: str | os.PathLike[str] | ModelProto) -> Loaded:
    """Read a model, if it is not read already.

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
        return Loaded(model, model.graph.name or "model")
    if not isinstance(model, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError(f"an ONNX model is a path or an onnx.ModelProto, and not {model!r:.60}")
    path = Path(model)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # ONNX calls its own text form experimental
            apart = load_apart(path) if path.suffix == ".onnx" else None
            proto, weights = apart or (onnx.load(str(path), load_external_data=False), {})  # pyright: ignore[reportUnknownMemberType]
    except OSError as error:
        raise Diagnostic((error.strerror or str(error)).lower(), Place(str(path))) from error
    except (DecodeError, TextError, JsonError, ValueError) as error:
        raise _no_model(path, str(error)) from error
    except onnx.parser.ParseError as error:
        raise _no_model(path, error.args[0].decode()) from error
    if not proto.HasField("graph"):
        raise _no_model(path, "it holds no graph")
    return Loaded(proto, str(path), path.parent, weights)


def _no_model(path: Path, reason: str) -> Diagnostic:
    """Placed in the text, where ONNX's parser says where."""
    place = Place(str(path))
    if found := re.search(r"line: (\d+) column: (\d+)", reason):
        place = Place(str(path), int(found[1]), int(found[2]))
        reason = reason.split("\n")[-1]
    hint = "modules in .mlir are compiled as they are: weft-run, weft.compile" if path.suffix == ".mlir" else None
    return Diagnostic("this is not an ONNX model", place, notes=[Note(reason.strip())], hint=hint)
