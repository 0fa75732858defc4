"""`weft.compile`: a whole program that is known already, or else one that is made now.

Whether it is known is found out without the compiler, whose modules take longer to import than a program to load. Who
wants more of a program that was found than to run it, its text at some phase, has it made then, by the same driver
(`compilation`), provided that the model still is what it was.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Literal, cast, overload

from .dialects.support.arguments import checked
from .dialects.support.garbage import modules_are_old, rare_garbage_collection
from .executors import COMPILED, DEFAULT_OPT_LEVEL
from .lowering.machine.scoped_target import or_current

if TYPE_CHECKING:
    import numpy.typing as npt

    from .compilation import GraphParts, Model
    from .interpreted import Interpreted
    from .lowering.machine.target import Target
    from .lowering.phase_texts import PhaseTexts
    from .runtime.executable import Executable
    from .runtime.graph_executor import GraphModule


@overload
def compile(
    model: Model,
    target: str | Target | Sequence[str | Target] | None = ...,
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
    target: str | Target | Sequence[str | Target] | None = ...,
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
@overload
def compile(
    model: Model,
    target: str | Target | Sequence[str | Target] | None = ...,
    opt_level: int | None = ...,
    threads: int | None = ...,
    params: Mapping[str, npt.ArrayLike] | None = ...,
    *,
    shapes: Mapping[str, Sequence[int]] | None = ...,
    function: str | None = ...,
    phase: str | None = ...,
    tuning_records: str | os.PathLike[str] | None = ...,
    executor: Literal["interpreter"],
) -> Interpreted: ...
@checked
def compile(
    model: Model,
    target: str | Target | Sequence[str | Target] | None = None,
    opt_level: int | None = None,
    threads: int | None = None,
    params: Mapping[str, npt.ArrayLike] | None = None,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    function: str | None = None,
    phase: str | None = None,
    tuning_records: str | os.PathLike[str] | None = None,
    executor: str = "aot",
) -> Executable | GraphModule | Interpreted:
    """Compile a model, for this machine unless `target`, or a `with weft.Target(...)` around it, says otherwise.

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
        executor: what runs the graph: `aot`, one native function, `graph`, a `GraphModule`, which goes from node to
            node as TVM's graph executor does, or `interpreter`, which goes through the module as it is, operator by
            operator in NumPy: nothing is compiled, so that target, level, threads and tuning records say nothing.

    Raises:
        UsageError: there is no such executor, phase, function or input.
        ArgumentError: an argument is not of its type.
        Diagnostic: the model cannot be read, imported or lowered, or is not valid; the message says where and why.
    """
    asked = (model, target, opt_level, threads, params, shapes, function, phase, tuning_records)
    with rare_garbage_collection():
        made = _made(*asked, executor)
        return cast("GraphParts", made).module() if executor == "graph" else cast("Executable | Interpreted", made)


def compile_parts(
    model: Model, target: str | Target | Sequence[str | Target] | None, params: Mapping[str, npt.ArrayLike] | None
) -> GraphParts:
    """What `compile(model, target, params=params, executor="graph")` runs, for this machine or another.

    Raises:
        UsageError, Diagnostic: as for `compile`.
    """
    with rare_garbage_collection():
        return cast("GraphParts", _made(model, target, None, None, params, None, None, None, None, "graph"))


def _made(
    model: Model,
    target: str | Target | Sequence[str | Target] | None,
    opt_level: int | None,
    threads: int | None,
    params: Mapping[str, npt.ArrayLike] | None,
    shapes: Mapping[str, Sequence[int]] | None,
    function: str | None,
    phase: str | None,
    tuning_records: str | os.PathLike[str] | None,
    executor: str,
) -> Executable | GraphParts | Interpreted:
    with ExitStack() as rules:
        from .kept_programs import Request

        target = or_current(target)
        if executor == "graph":
            opt_level = rules.enter_context(_node_by_node(opt_level))
        asked = (model, target, opt_level, threads, params, shapes, function, phase, tuning_records)
        request = Request(*asked, _maker_of_texts)
        exe = request.found() if executor in COMPILED else None
        if exe is None:
            from . import compilation

            # What it says of its arguments are the hints of what it says when one is wrong.
            inspect.unwrap(compilation.compile).__doc__ = compile.__doc__
            modules_are_old()
            return compilation.compile(
                model, target, opt_level, threads, params, shapes=shapes, function=function, phase=phase,
                tuning_records=tuning_records, executor=executor, request=request,
            )  # fmt: skip
        if executor == "aot":
            return exe
        from .compilation import graph_parts

        return graph_parts(exe)


def _maker_of_texts() -> Callable[..., PhaseTexts]:
    from .compilation import texts_of

    return texts_of


@contextmanager
def _node_by_node(opt_level: int | None) -> Generator[int]:
    """Compile in the `with` block what is run node by node, which is another program. At the level that is given."""
    from .transforms.infra.config import NODE_BY_NODE
    from .transforms.infra.context import PassContext

    current = PassContext.current()
    level = opt_level if opt_level is not None else DEFAULT_OPT_LEVEL if current.is_default else current.opt_level
    with current.at_level(level, NODE_BY_NODE):
        yield level
