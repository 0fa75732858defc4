"""Timing a graph's kernels one by one: each becomes a graph of its own, on buffers that stay where they are.

What is measured is the kernel with its data in the caches where it fits: in the whole graph, weights come from memory,
and the sum of all kernels is less than an inference takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp

from weft.dialects.relay.copying import copied_arguments
from weft.dialects.relay.core import CallOp, FuncOp, ReturnOp
from weft.dialects.te.cost import Cost, cost
from weft.lowering.compiler import compile_graph
from weft.lowering.relay_to_tir.lower_te import compute_function
from weft.runtime.executable import Executable
from weft.tools.bench_report import KernelResult
from weft.tools.bench_timing import interleaved
from weft.tools.run_values import random_array

SECONDS = 0.05


def time_kernels(exe: Executable) -> list[KernelResult]:
    """The kernels of a compiled graph, on as many threads as it uses; those that only rename memory are left out.

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
        results.append(KernelResult(name, calls[name], timing.median_ms, spent.flops, spent.bytes))
    return results


def cost_of(function: FuncOp) -> Cost:
    """Operations and bytes of a fused function, by its operators' definitions."""
    _, outputs = compute_function(function)
    return cost(outputs)


def _kernels(module: ModuleOp) -> Iterator[FuncOp]:
    for op in module.ops:
        if isinstance(op, FuncOp) and op.is_primitive and copied_arguments(op) != 1:
            yield op


def _alone(function: FuncOp) -> ModuleOp:
    """A module at phase `fuse` whose graph is one call of `function`."""
    kernel = function.clone()
    types = function.function_type
    main = FuncOp("main", FunctionType.from_lists(types.inputs.data, types.outputs.data))
    call = CallOp(function.sym_name.data, list(main.body.block.args), types.outputs.data)
    main.body.block.add_ops([call, ReturnOp(*call.results)])
    return ModuleOp([main, kernel])
