"""Compiled graphs on disk: one file with object code, constants, and what a caller must know.

The file is a ZIP archive without compression: `manifest.json`, `objects/0.o`, ..., `constants/0`, ... (raw bytes).
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import TensorType

from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.dtypes import dtype_name, numpy_dtype, scalar_type
from ..lowering.compiler import CompiledGraph, TensorSpec

FORMAT = 1


def save(graph: CompiledGraph, path: str | os.PathLike[str]) -> None:
    """Write `graph` to `path`: first beside it, then under its name, so that no half-written file is left."""
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    manifest = {
        "format": FORMAT,
        "inputs": [_describe(spec) for spec in graph.inputs],
        "outputs": [_describe(spec) for spec in graph.outputs],
        "arena_bytes": graph.arena_bytes,
        "kernels": list(graph.kernels),
        "constants": [{"dtype": array.dtype.name, "shape": list(array.shape)} for array in graph.constants],
        "objects": len(graph.objects),
    }
    try:
        with zipfile.ZipFile(partial, "w") as archive:
            archive.writestr("manifest.json", json.dumps(manifest, indent=1))
            for number, data in enumerate(graph.objects):
                archive.writestr(f"objects/{number}.o", data)
            for number, array in enumerate(graph.constants):
                with archive.open(f"constants/{number}", "w", force_zip64=True) as file:
                    file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def load(path: str | os.PathLike[str]) -> CompiledGraph:
    """Read what `save` wrote.

    Raises:
        Diagnostic: the file is not one of Weft's artefacts, or of another format.
        OSError: it cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = cast("dict[str, Any]", json.loads(archive.read("manifest.json")))
            if manifest.get("format") != FORMAT:
                made = manifest.get("format")
                raise Diagnostic(
                    f"{path}: made by another version of Weft (format {made}, this one reads {FORMAT})",
                    hint="compile the model again",
                )
            constants = [
                np.frombuffer(
                    archive.read(f"constants/{number}"), numpy_dtype(scalar_type(str(entry["dtype"])))
                ).reshape(cast("list[int]", entry["shape"]))
                for number, entry in enumerate(cast("list[dict[str, Any]]", manifest["constants"]))
            ]
            return CompiledGraph(
                tuple(archive.read(f"objects/{number}.o") for number in range(int(manifest["objects"]))),
                tuple(constants),
                tuple(map(_spec, manifest["inputs"])),
                tuple(map(_spec, manifest["outputs"])),
                int(manifest["arena_bytes"]),
                tuple(cast("list[str]", manifest["kernels"])),
            )
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError) as error:
        raise Diagnostic(f"{path}: not a saved Weft executable ({error})") from None


def _describe(spec: TensorSpec) -> dict[str, object]:
    return {"name": spec.name, "dtype": dtype_name(spec.type.element_type), "shape": list(spec.type.get_shape())}


def _spec(entry: dict[str, Any]) -> TensorSpec:
    return TensorSpec(
        str(entry["name"]), TensorType(scalar_type(str(entry["dtype"])), cast("list[int]", entry["shape"]))
    )
