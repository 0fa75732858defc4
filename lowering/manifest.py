"""What a compiled graph says of itself: the manifest of its artefact, and the mark that its code has of that.

All that whoever runs the code has to know stands in the manifest: what tensors it takes, how much memory, what each
step does. So that nothing else can be said of the code than what it was made for, and nothing of it goes missing, the
last object defines a symbol whose name is a digest of the manifest and of all other objects (`abi.code_mark`), and what
is loaded is held against it (`runtime/artefact.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

from ..dialects.support.digests import digest_of_bytes
from .abi import (
    ABI_VERSION,
    DYNAMIC,
    FORMAT,
    Argument,
    CompiledGraph,
    DeviceMemory,
    HostedSegment,
    Loop,
    Parameter,
    ProgramPart,
    Step,
    TensorSpec,
    code_mark,
)
from .sizes import to_json


def manifest(graph: CompiledGraph) -> bytes:
    """The manifest of a graph: all but what its code and its constants hold. JSON."""
    described = {
        "format": FORMAT,
        "abi": ABI_VERSION,
        "platform": {
            "triple": graph.platform.triple,
            "cpu": graph.platform.cpu,
            "features": list(graph.platform.features),
        },
        "inputs": [_described(spec) for spec in graph.inputs],
        "outputs": [_described(spec) for spec in graph.outputs],
        "arena_bytes": graph.arena_bytes,
        "kernels": list(graph.kernels),
        "constants": [{"dtype": array.dtype.name, "shape": list(array.shape)} for array in graph.constants],
        "checks": [[asdict(site) for site in record] for record in graph.checks],
        "records_at": graph.records_at,
        "counter_bytes": graph.counter_bytes,
        "parameters": [[_described_parameter(each) for each in taken] for taken in graph.parameters],
        "steps": [_described_step(step) for step in graph.steps],
        **_sizes(graph),
        "devices": [_described_device(device) for device in graph.devices],
        **_segments(graph),
        **({"parts": [_described_part(each) for each in graph.parts]} if graph.parts else {}),
        **({"device_code": [asdict(code) for code in graph.device_code]} if graph.device_code else {}),
    }
    return json.dumps(described, indent=1).encode()


def mark_text(described: bytes, objects: Iterable[bytes]) -> str:
    """The LLVM IR of the object that says what the code of a graph, whose other `objects` are there, was made for:
    `described`, its manifest."""
    return f"@{code_mark(described, map(digest_of_bytes, objects))} = constant i8 0\n"


def _described(spec: TensorSpec) -> dict[str, object]:
    if spec.is_found:
        shape = [None if extent == DYNAMIC else extent for extent in spec.shape]
        return {"name": spec.name, "dtype": spec.dtype, "found": shape}
    if spec.extents is None:
        return {"name": spec.name, "dtype": spec.dtype, "shape": list(spec.shape)}
    return {"name": spec.name, "dtype": spec.dtype, "extents": [to_json(size) for size in spec.extents]}


def _described_parameter(parameter: Parameter) -> dict[str, object]:
    return {name: value for name, value in asdict(parameter).items() if name != "shape" or value is not None}


def _described_step(step: Step | Loop) -> dict[str, object]:
    if isinstance(step, Loop):
        return {"turns": [to_json(step.turns)], "steps": [_described_step(each) for each in step.steps]}
    described: dict[str, object] = asdict(step)
    described["arguments"] = [_described_argument(argument) for argument in step.arguments]
    return described


def _described_argument(argument: Argument) -> dict[str, object]:
    described: dict[str, object] = asdict(argument)
    del described["sizes"]
    if argument.sizes is not None:
        described["sizes"] = [to_json(size) for size in argument.sizes]
    return described


def _segments(graph: CompiledGraph) -> dict[str, object]:
    """What is said of a program with parts that the host runs; of others, nothing."""
    if not graph.segments:
        return {}
    return {
        "segments": [_described_segment(each) for each in graph.segments],
        "code_constants": graph.code_constants,
    }


def _described_part(part: ProgramPart) -> dict[str, object]:
    return {
        "thread": part.thread,
        "inputs": part.inputs,
        "outputs": part.outputs,
        "symbols": part.symbols,
        "decided": part.decided,
        "steps": [_described_step(step) for step in part.steps],
    }


def _described_segment(segment: HostedSegment) -> dict[str, object]:
    extents = {"extents": segment.extents} if segment.extents else {}
    return {
        **({"symbols": list(segment.symbols), **extents} if segment.symbols else {}),
        "inputs": [_described(spec) for spec in segment.inputs],
        "outputs": [_described(spec) for spec in segment.outputs],
        "checks": [[asdict(site) for site in record] for record in segment.checks],
        "steps": [_described_step(step) for step in segment.steps],
        "devices": [_described_device(device) for device in segment.devices],
    }


def _described_device(device: DeviceMemory) -> dict[str, object]:
    described: dict[str, object] = asdict(device)
    del described["pools"]
    if device.pools:
        described["pools"] = [[to_json(size) for size in pool] for pool in device.pools]
    return described


def _sizes(graph: CompiledGraph) -> dict[str, object]:
    """What is said of a graph that runs at several sizes; of others, nothing."""
    if not graph.symbols:
        return {}
    pools = [[to_json(size) for size in pool] for pool in graph.pools]
    return {"symbols": list(graph.symbols), "pools": pools, **({"extents": graph.extents} if graph.extents else {})}
