"""Other systems that run ONNX models on the processor, to compare Weft's results and times with.

Each is set up as a user would for one inference at a time: as many threads as asked for, float32 arithmetic, inputs and
outputs that are not copied. Outputs hold until the next run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

import numpy as np

from weft.dialects.support.diagnostics import Diagnostic, Place, UsageError, did_you_mean

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]


class Peer(Protocol):
    """A model that another system has loaded."""

    def run(self, inputs: Mapping[str, NDArray], /) -> dict[str, NDArray]:
        """The outputs by name."""
        ...


class OnnxRuntime:
    """ONNX Runtime's execution provider for the processor."""

    def __init__(self, runtime: ModuleType, path: str, threads: int):
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        self._session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self._outputs: list[str] = [output.name for output in self._session.get_outputs()]

    def run(self, inputs: Mapping[str, NDArray]) -> dict[str, NDArray]:
        results = cast("Sequence[NDArray]", self._session.run(self._outputs, dict(inputs)))
        return dict(zip(self._outputs, map(np.asarray, results), strict=True))


class OpenVino:
    """OpenVINO's plug-in for the processor."""

    def __init__(self, runtime: ModuleType, path: str, threads: int):
        settings = {
            "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "LATENCY",
        }
        core = runtime.Core()
        compiled = core.compile_model(core.read_model(path), "CPU", settings)
        self._request = compiled.create_infer_request()
        self._outputs: list[str] = [port.get_any_name() for port in compiled.outputs]

    def run(self, inputs: Mapping[str, NDArray]) -> dict[str, NDArray]:
        results = self._request.infer(dict(inputs), share_inputs=True, share_outputs=True)
        return dict(zip(self._outputs, map(np.asarray, results.values()), strict=True))


PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino}
"""By the names of their packages."""


def find_peer(name: str) -> ModuleType:
    """The package of a peer, imported.

    Raises:
        UsageError: there is no such peer, or it is not installed.
    """
    if name not in PEERS:
        hint = did_you_mean(name, PEERS) or f"they are: {', '.join(PEERS)}"
        raise UsageError(f"there is no peer '{name}'", hint=hint)
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(f"{name} is not installed ({error})", hint=f"pip install {name}") from None


def check_runs(name: str, path: str) -> None:
    """
    Raises:
        UsageError: a peer does not run such files.
    """
    if Path(path).suffix != ".onnx":
        raise UsageError(f"{name} runs .onnx files only", Place(path))


def open_peer(name: str, path: str, threads: int) -> Peer:
    """Load the model in `path` with a peer.

    Raises:
        UsageError: there is no such peer, it is not installed, or it does not run such files.
        Diagnostic: it cannot load the model.
    """
    runtime = find_peer(name)
    check_runs(name, path)
    try:
        return PEERS[name](runtime, path, threads)
    except Exception as error:
        raise Diagnostic(f"{name} cannot load it: {str(error).strip().splitlines()[0]}", Place(path)) from error
