"""Timing a graph's kernels: within the graph as it runs, or, warm, each alone on buffers that stay where they are.

Within the graph, a kernel finds its weights as an inference does: as far away as all other weights have driven them
since the last one, in the memory that they always have. Alone it finds its data in the caches where it fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp

from weft.dialects.relay.copying import copied_from
from weft.dialects.relay.core import CallOp, FuncOp, ReturnOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.te.cost import Cost, cost
from weft.lowering.compiler import compile_graph
from weft.lowering.relay_to_tir.lower_te import compute_function
from weft.runtime.executable import Executable
from weft.runtime.profiling import StepTimes
from weft.tools.bench_report import KernelResult
from weft.tools.bench_timing import interleaved
from weft.tools.run_values import random_array

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

SECONDS = 0.05


def kernels_within(exe: Executable, inputs: Sequence[NDArray], repeat: int) -> list[KernelResult]:
    """The kernels of a graph, timed as it runs, `repeat` times, on as many threads as it uses. What they compute is
    counted where the graph is at hand, which it is not in a saved executable, and its shapes are known, and the same in
    all calls of a kernel.

    Raises:
        Diagnostic: the graph has no steps that are taken one after the other.
    """
    profile = exe.profile(*inputs, repeat=repeat)
    flops = _operations(exe)
    arenas = exe.graph.arena_bytes + sum(device.arena_bytes for device in exe.graph.devices)
    resident = sum(array.nbytes for array in exe.graph.constants) + arenas
    same: dict[str, list[StepTimes]] = {}
    for times in profile.steps:
        if times.is_kernel and times.last_spans:
            same.setdefault(times.kernel, []).append(times)
    results: list[KernelResult] = []
    for name, steps in same.items():
        calls = [(span.bytes, times.constant_bytes) for times in steps for span in times.last_spans]
        ms = sum(times.us for times in steps) / len(calls) / 1e3
        layers = tuple(layer for times in steps for layer in times.layers)
        bytes, weights = (sum(counts) // len(calls) for counts in zip(*calls, strict=True))
        streams = ((weights, resident), (bytes - weights, bytes - weights))
        # A kernel that is passed extents computes now more and now less, and what is counted is its first call's.
        known = flops.get(name) if len({size for size, _ in calls}) == 1 else None
        results.append(KernelResult(name, len(calls), ms, known, bytes, layers, streams))
    return results


def _operations(exe: Executable) -> dict[str, int]:
    """The operations of each kernel by its name, as far as they are known."""
    found: dict[str, int] = {}
    try:
        module = exe.ir.module("fuse")
    except Diagnostic:  # it was loaded from a file
        return found
    for function in _kernels(module):
        with suppress(Diagnostic):  # a shape is not known
            found[function.sym_name.data] = cost_of(function).flops
    return found


def time_kernels(exe: Executable) -> list[KernelResult]:
    """The kernels of a compiled graph, each alone, on as many threads as it uses; those that only rename memory are
    left out.

    Raises:
        Diagnostic: the executable was loaded from a file, which does not hold the graph.
    """
    module = exe.ir.module("fuse")
    calls = Counter(call.callee.root_reference.data for call in module.walk() if isinstance(call, CallOp))
    results: list[KernelResult] = []
    for function in _kernels(module):
        name = function.sym_name.data
        kernel = Executable(compile_graph(_alone(function), exe.ir.target, start="fuse"), exe.threads)
        generator = np.random.default_rng(0)
        bound = kernel.bind([random_array(spec, generator) for spec in kernel.inputs])
        timing = interleaved({name: bound}, 1, min_seconds=SECONDS)[name]
        spent = cost_of(function)
        streams = ((spent.bytes, spent.bytes),)
        results.append(KernelResult(name, calls[name], timing.median_ms, spent.flops, spent.bytes, (), streams))
    return results


def cost_of(function: FuncOp) -> Cost:
    """Operations and bytes of a fused function, by its operators' definitions."""
    _, outputs = compute_function(function)
    return cost(outputs)


def _kernels(module: ModuleOp) -> Iterator[FuncOp]:
    for op in module.ops:
        if not isinstance(op, FuncOp) or not op.is_primitive:
            continue
        if copied_from(op) is None or len(op.body.block.args) > 1:  # what copies one buffer is seldom called
            yield op


def _alone(function: FuncOp) -> ModuleOp:
    """A module at phase `fuse` whose graph is one call of `function`."""
    kernel = function.clone()
    types = function.function_type
    main = FuncOp("main", FunctionType.from_lists(types.inputs.data, types.outputs.data))
    call = CallOp(function.sym_name.data, list(main.body.block.args), types.outputs.data)
    main.body.block.add_ops([call, ReturnOp(*call.results)])
    return ModuleOp([main, kernel])
