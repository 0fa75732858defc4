"""The importers, the compiler and the runtime put together, for what `weft.compile` does not know yet."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from .dialects.relay.core import FuncOp
from .dialects.relay.weights import check_loaded
from .dialects.support.arguments import checked
from .dialects.support.diagnostics import Diagnostic, Place, UsageError, did_you_mean
from .dialects.support.file_cache import CacheCounts
from .dialects.support.mapped_files import watching
from .dialects.support.verifier import verify
from .executors import DEFAULT_OPT_LEVEL, EXECUTORS
from .lowering.compiler import compile_graph
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
    import numpy as np
    import numpy.typing as npt
    import onnx

    from .interpreted import Interpreted
    from .kept_programs import Request
    from .lowering.graph_json import GraphJson
    from .runtime.graph_executor import GraphModule

    Model: TypeAlias = "str | os.PathLike[str] | onnx.ModelProto | ModuleOp | FuncOp"


@checked
def compile(
    model: Model,
    target: str | Target | Sequence[str | Target],
    opt_level: int | None,
    threads: int | None,
    params: Mapping[str, npt.ArrayLike] | None,
    *,
    shapes: Mapping[str, Sequence[int]] | None,
    function: str | None,
    phase: str | None,
    tuning_records: str | os.PathLike[str] | None,
    executor: str,
    request: Request,
) -> Executable | GraphParts | Interpreted:
    current = PassContext.current()
    if opt_level is None and current.is_default:
        opt_level = DEFAULT_OPT_LEVEL
    if executor not in EXECUTORS:
        hint = did_you_mean(executor, EXECUTORS) or f"they are: {', '.join(EXECUTORS)}"
        raise UsageError(f"there is no executor '{executor}'", hint=hint)
    resolved = Target.parse(target)
    if executor == "interpreter":
        return _interpreted(model, params, shapes, function, phase)
    config: dict[str, object] = {}
    if tuning_records is not None:
        config = {TUNING_RECORDS: os.fspath(tuning_records), RECORDS_THREADS: Executable.usable(threads)}
    level = current.opt_level if opt_level is None else opt_level
    with nullcontext(current) if opt_level is None and not config else current.at_level(level, config) as context:
        if executor == "aot":
            return _compile(model, resolved, context, threads, params, shapes, function, phase, request)
        nodes = _Nodes()
        exe = _compile(model, resolved, context, threads, params, shapes, function, phase, request, nodes)
    return nodes.parts(exe)


def _compile(
    model: Model,
    target: Target,
    context: PassContext,
    threads: int | None,
    params: Mapping[str, npt.ArrayLike] | None,
    shapes: Mapping[str, Sequence[int]] | None,
    function: str | None,
    phase: str | None,
    request: Request,
    nodes: _Nodes | None = None,
) -> Executable:
    _check_phase(phase)
    with request.watched(), watching() as files:
        module, start = _imported(model, params, shapes, function, phase)
        texts = PhaseTexts(clone(module), start, target, context, files)
        counts: list[CacheCounts] = []
        if nodes is not None:
            nodes.check_start(start)
        write = None if nodes is None else nodes.write
        with texts.followed():
            graph = compile_graph(
                module, target, start=start, counted=counts.append, verified=not params, fused=write,
                known=request.begin_keeping,
            )  # fmt: skip
        files.check("while it was compiled")
        graph = request.keep(graph)
        with timed("loading"):
            exe = Executable(graph, threads, texts)
        exe.kernel_counts = counts[0] if counts else None
        return exe


def _interpreted(
    model: Model,
    params: Mapping[str, npt.ArrayLike] | None,
    shapes: Mapping[str, Sequence[int]] | None,
    function: str | None,
    phase: str | None,
) -> Interpreted:
    from .interpreted import Interpreted

    _check_phase(phase)
    module, _ = _imported(model, params, shapes, function, phase)
    return Interpreted(module, select_entry(module, function))


def _check_phase(phase: str | None) -> None:
    """
    Raises:
        UsageError: there is no such phase to compile from.
    """
    if phase is not None and phase not in PHASES[:-1]:
        hint = did_you_mean(phase, PHASES[:-1]) or f"they are: {', '.join(PHASES[:-1])}"
        raise UsageError(f"there is no phase '{phase}' to compile from", hint=hint)


def _imported(
    model: Model,
    params: Mapping[str, npt.ArrayLike] | None,
    shapes: Mapping[str, Sequence[int]] | None,
    function: str | None,
    phase: str | None,
) -> tuple[ModuleOp, str]:
    """The module that is compiled, and the phase that it is at."""
    with timed("frontend"):
        module = load_module(model, shapes)
    with timed("Verifier"):
        verify(module)
    start = phase or phase_of(module)
    select_entry(module, function)
    check_loaded(module)
    if params:
        bind_params(module, params)
    return module, start


def texts_of(
    model: Model,
    target: str | Target | Sequence[str | Target],
    context: PassContext,
    params: Mapping[str, npt.ArrayLike] | None,
    shapes: Mapping[str, Sequence[int]] | None,
    function: str | None,
    phase: str | None,
) -> PhaseTexts:
    """The text of a model at every phase, without compiling it to the end."""
    with watching() as files:
        module, start = _imported(model, params, shapes, function, phase)
    return PhaseTexts(module, start, Target.parse(target), context, files)


class _Nodes:
    """The nodes of a graph that is being compiled, written before its kernels are: what cannot be run node by node is
    refused then."""

    def __init__(self):
        self.written: tuple[GraphJson, dict[str, npt.NDArray[np.generic]], tuple[str, ...]] | None = None

    @staticmethod
    def check_start(phase: str) -> None:
        """
        Raises:
            Diagnostic: a module of this phase has no nodes any more.
        """
        if PHASES.index(phase) > PHASES.index("fuse"):
            hint = "give it the module at the phase 'fuse', or use the executor 'aot'"
            raise Diagnostic(f"nodes are those of the phase 'fuse', and the module is at '{phase}'", hint=hint)

    def write(self, module: ModuleOp) -> None:
        """Write the nodes of a module of phase `fuse`.

        Raises:
            Diagnostic: there is no graph, or something in it cannot be run node by node.
        """
        from .lowering.write_graph_json import write_graph_json

        self.written = write_graph_json(module)

    def parts(self, exe: Executable) -> GraphParts:
        """They, and the kernels of an executable."""
        assert self.written is not None, "the phase 'fuse' has come"
        return GraphParts(exe, *self.written)


@dataclass(frozen=True)
class GraphParts:
    """What a graph executor is made of, for whatever machine: kernels, the graph, the values of its parameters, and
    what its outputs are called."""

    exe: Executable
    graph: GraphJson
    params: Mapping[str, npt.NDArray[np.generic]]
    outputs: tuple[str, ...]

    def module(self) -> GraphModule:
        """The graph, to be run here.

        Raises:
            PlatformError: the kernels are for another machine.
        """
        from .runtime.graph_executor import GraphModule

        return GraphModule(self.graph, self.exe, self.params, self.exe.threads, self.outputs)


def graph_parts(exe: Executable) -> GraphParts:
    """The graph of an executable, to be run node by node.

    Raises:
        Diagnostic: the executable was compiled from a phase without a graph of kernels, or was loaded from a file.
    """
    from .lowering.write_graph_json import write_graph_json

    return GraphParts(exe, *write_graph_json(exe.ir.module("fuse")))


def load_module(model: Model, shapes: Mapping[str, Sequence[int]] | None = None) -> ModuleOp:
    """The model as a module of its own, with the shapes that are given for its inputs.

    Raises:
        Diagnostic: the model cannot be read or imported; the message says where and why.
    """
    if isinstance(model, ModuleOp):
        return _with_shapes(model.clone(), shapes)
    if isinstance(model, FuncOp):
        from .frontend.relay.module import IRModule

        return _with_shapes(IRModule({model.sym_name.data: model}), shapes)
    if isinstance(model, str | os.PathLike):
        suffix = Path(model).suffix
        if suffix == ".mlir":
            from .frontend.mlir import from_mlir

            return _with_shapes(from_mlir(model), shapes)
        if "\n" in (name := os.fspath(model)):
            raise UsageError("a model is given by a path, and this is text", hint="write the text to an .mlir file")
        if suffix != ".onnx" and not os.path.exists(name):
            raise Diagnostic("no such file or directory", Place(name))
        if suffix != ".onnx":
            what = "this is a folder, and no model" if Path(model).is_dir() else f"unknown kind of model '{suffix}'"
            others = "; weft-run and weft.load take a saved executable too, a .weft file"
            raise UsageError(f"{model}: {what}", hint=f"give an .onnx or .mlir file{others}")
    elif not hasattr(model, "SerializeToString"):
        raise UsageError(
            f"a model cannot be of type {type(model).__name__}",
            hint="give a path, an ONNX model, a module or a relay.func",
        )
    from .frontend.onnx import from_onnx

    return from_onnx(model, shapes)


def _with_shapes(module: ModuleOp, shapes: Mapping[str, Sequence[int]] | None) -> ModuleOp:
    bind_shapes(module, shapes or {})
    return module
