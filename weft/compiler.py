"""`weft.compile`: the importers, the compiler and the runtime put together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, overload

from xdsl.dialects.builtin import ModuleOp

from .dialects.relay.core import FuncOp
from .dialects.relay.weights import check_loaded
from .dialects.support.arguments import checked
from .dialects.support.diagnostics import UsageError, did_you_mean
from .dialects.support.verifier import verify
from .lowering.compiler import compile_graph, rare_garbage_collection
from .lowering.machine.kernel_cache import CacheCounts
from .lowering.machine.target import Target
from .lowering.module_phase import phase_of, select_entry
from .lowering.phase_texts import PhaseTexts
from .lowering.phases import PHASES
from .runtime.executable import Executable
from .transforms.infra import PassContext
from .transforms.infra.config import RECORDS_THREADS, TUNING_RECORDS
from .transforms.infra.timing import timed
from .transforms.infra.walk import clone
from .transforms.relay.bind_params import bind_params
from .transforms.relay.bind_shapes import bind_shapes

if TYPE_CHECKING:
    import numpy.typing as npt
    import onnx

    from .runtime.graph_executor import GraphModule

    Model: TypeAlias = "str | os.PathLike[str] | onnx.ModelProto | ModuleOp | FuncOp"

EXECUTORS = ("aot", "graph")
"""What runs a compiled graph."""

DEFAULT_OPT_LEVEL = 3
"""Of a compilation, where neither the call nor a `PassContext` around it says anything else."""


@overload
def compile(
    model: Model,
    target: str | Target | Sequence[str | Target] = ...,
    opt_level: int | None = ...,
    threads: int | None = ...,
    params: Mapping[str, npt.ArrayLike] | None = ...,
    *,
    shapes: Mapping[str, Sequence[int]] | None = ...,
    function: str | None = ...,
    phase: str | None = ...,
    tuning_records: str | os.PathLike[str] | None = ...,
    executor: Literal["aot"] = ...,
) -> Executable: ...
@overload
def compile(
    model: Model,
    target: str | Target | Sequence[str | Target] = ...,
    opt_level: int | None = ...,
    threads: int | None = ...,
    params: Mapping[str, npt.ArrayLike] | None = ...,
    *,
    shapes: Mapping[str, Sequence[int]] | None = ...,
    function: str | None = ...,
    phase: str | None = ...,
    tuning_records: str | os.PathLike[str] | None = ...,
    executor: Literal["graph"],
) -> GraphModule: ...
@checked
def compile(
    model: Model,
    target: str | Target | Sequence[str | Target] = "llvm -mcpu=native",
    opt_level: int | None = None,
    threads: int | None = None,
    params: Mapping[str, npt.ArrayLike] | None = None,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    function: str | None = None,
    phase: str | None = None,
    tuning_records: str | os.PathLike[str] | None = None,
    executor: str = "aot",
) -> Executable | GraphModule:
    """Compile a model, for this machine unless `target` says otherwise.

    Args:
        model: the path of an `.onnx` or `.mlir` file, an ONNX model in memory, an xDSL module, or a `relay.func`. A
            module that is given stays as it is.
        target: as TVM writes it, `llvm -mcpu=native -mattr=-avx512f`, or `cuda -arch=sm_80`, where all is run by a GPU.
            Of several, `["llvm", "cuda"]`, the first runs what the graph does not have on the other.
        opt_level: 0 to 4, which passes run. Without it, that of the `PassContext` around the call, or 3. All else of
            that context holds here as well.
        threads: threads for an inference; as many as there are processors, unless given.
        params: inputs that become constants, by name.
        shapes: shapes of inputs whose dimensions the model leaves open, by name; for an ONNX model also single
            dimensions by their names, as in `{"batch": [4]}`.
        function: which function of a module to compile: `main` or the only one, unless given.
        phase: the phase that a module is at already; what its operations say, unless given.
        tuning_records: a file that `weft.tune` or `weft-tune` wrote: kernels for which it has a faster schedule, for
            this target and number of threads, are compiled with that.
        executor: what runs the graph: `aot`, one native function, or `graph`, a `GraphModule`, which goes from node to
            node as TVM's graph executor does.

    Raises:
        UsageError: there is no such executor, phase, function or input.
        ArgumentError: an argument is not of its type.
        Diagnostic: the model cannot be read, imported or lowered, or is not valid; the message says where and why.
    """
    current = PassContext.current()
    if opt_level is None and current.is_default:
        opt_level = DEFAULT_OPT_LEVEL
    if executor not in EXECUTORS:
        hint = did_you_mean(executor, EXECUTORS) or f"they are: {', '.join(EXECUTORS)}"
        raise UsageError(f"there is no executor '{executor}'", hint=hint)
    resolved = Target.parse(target)
    config: dict[str, object] = {}
    if tuning_records is not None:
        config = {TUNING_RECORDS: os.fspath(tuning_records), RECORDS_THREADS: Executable.usable(threads)}
    level = current.opt_level if opt_level is None else opt_level
    with nullcontext(current) if opt_level is None and not config else current.at_level(level, config) as context:
        exe = _compile(model, resolved, context, threads, params, shapes, function, phase)
    return exe if executor == "aot" else graph_module(exe)


def _compile(
    model: Model,
    target: Target,
    context: PassContext,
    threads: int | None,
    params: Mapping[str, npt.ArrayLike] | None,
    shapes: Mapping[str, Sequence[int]] | None,
    function: str | None,
    phase: str | None,
) -> Executable:
    if phase is not None and phase not in PHASES[:-1]:
        hint = did_you_mean(phase, PHASES[:-1]) or f"they are: {', '.join(PHASES[:-1])}"
        raise UsageError(f"there is no phase '{phase}' to compile from", hint=hint)
    with rare_garbage_collection():
        with timed("frontend"):
            module = load_module(model, shapes)
        with timed("Verifier"):
            verify(module)
        start = phase or phase_of(module)
        select_entry(module, function)
        check_loaded(module)
        if params:
            bind_params(module, params)
        texts = PhaseTexts(clone(module), start, target, context)
        counts: list[CacheCounts] = []
        graph = compile_graph(module, target, start=start, counted=counts.append, verified=not params)
        with timed("loading"):
            exe = Executable(graph, threads, texts)
        exe.kernel_counts = counts[0] if counts else None
        return exe


def graph_module(exe: Executable) -> GraphModule:
    """The graph of an executable, to be run node by node.

    Raises:
        Diagnostic: the executable was compiled from a phase without a graph of kernels, or was loaded from a file.
    """
    from .lowering.write_graph_json import write_graph_json
    from .runtime.graph_executor import GraphModule

    graph, params, outputs = write_graph_json(exe.ir.module("fuse"))
    return GraphModule(graph, exe, params, exe.threads, outputs)


def load_module(model: Model, shapes: Mapping[str, Sequence[int]] | None = None) -> ModuleOp:
    """The model as a module of its own, with the shapes that are given for its inputs.

    Raises:
        Diagnostic: the model cannot be read or imported; the message says where and why.
    """
    if isinstance(model, ModuleOp):
        return _with_shapes(model.clone(), shapes)
    if isinstance(model, FuncOp):
        return _with_shapes(ModuleOp([model.clone()]), shapes)
    if isinstance(model, str | os.PathLike):
        suffix = Path(model).suffix
        if suffix == ".mlir":
            from .frontend.mlir import from_mlir

            return _with_shapes(from_mlir(model), shapes)
        if suffix != ".onnx":
            what = "this is a folder, and no model" if Path(model).is_dir() else f"unknown kind of model '{suffix}'"
            others = "; weft-run and weft.load take a saved executable too, a .weft file"
            raise UsageError(f"{model}: {what}", hint=f"give an .onnx or .mlir file{others}")
    elif not hasattr(model, "SerializeToString"):
        raise UsageError(
            f"a model cannot be a {type(model).__name__}", hint="give a path, an ONNX model, a module or a relay.func"
        )
    from .frontend.onnx import from_onnx

    return from_onnx(model, shapes)


def _with_shapes(module: ModuleOp, shapes: Mapping[str, Sequence[int]] | None) -> ModuleOp:
    bind_shapes(module, shapes or {})
    return module
