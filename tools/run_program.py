"""What `weft-run` runs, and what can run it: machine code, the interpreter, ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from weft.compilation import graph_parts, load_module
from weft.compiler import compile
from weft.dialects.relay.base import DYNAMIC
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.weights import missing_resources
from weft.dialects.support.diagnostics import Diagnostic, Place, UsageError, did_you_mean
from weft.dialects.support.processors import available_processors
from weft.executors import DEFAULT_OPT_LEVEL, EXECUTORS
from weft.interpreted import Interpreted
from weft.loading import load
from weft.lowering.abi import TensorSpec
from weft.lowering.machine.target import Target
from weft.lowering.module_phase import entry_names, phase_of, select_entry, signature_of
from weft.runtime.artefact import is_artefact
from weft.runtime.executable import Executable
from weft.testing.tolerance import Tolerance, tolerances_of
from weft.tools.isolation import OPEN_PHASES, Executor, Isolated
from weft.tools.output import STDIN_NAME, read_text
from weft.tools.peers import PEERS, open_peer
from weft.transforms.infra.config import BOUNDS_CHECKS, NODE_BY_NODE
from weft.transforms.infra.context import PassContext

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

REFERENCES = (*EXECUTORS, *PEERS)
ARTEFACT_SUFFIX = ".weft"
"""What a saved executable is called usually; another name serves too."""
STDIN = "-"
GRAPHS = ("import", "graph", "fuse")
"""Those whose modules are of operators."""


@dataclass(frozen=True)
class Settings:
    """How a program is compiled and run."""

    target: Target | None = None
    """What code is made for; this machine, unless given."""
    opt_level: int | None = None
    threads: int | None = None
    bounds_checks: bool = False
    tuning_records: str | None = None

    @property
    def made_for(self) -> Target:
        """What code is made for, given or not."""
        return self.target or Target.parse("llvm")

    def of_compilation(self) -> list[str]:
        """The flags that were given and say how to compile."""
        flags = {
            "--target": self.target is not None,
            "-O": self.opt_level is not None,
            "--bounds-checks": self.bounds_checks,
            "--tuning-records": self.tuning_records is not None,
        }
        return [flag for flag, is_given in flags.items() if is_given]


@dataclass(frozen=True)
class Program:
    """A graph with its inputs and outputs: a function of a module, or a saved executable."""

    path: str
    function: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    module: ModuleOp | None = None
    saved: Executable | None = None

    def executor(self, name: str, settings: Settings) -> Executor:
        """One of `REFERENCES`, ready to run.

        Raises:
            UsageError: there is no such executor, or it cannot run this program.
            Diagnostic: the program cannot be compiled.
        """
        match name:
            case "graph" if self.module is None:
                raise UsageError("a saved executable holds no graph to run node by node", Place(self.path))
            case "aot" | "graph":
                phase = None if self.module is None else phase_of(self.module)
                compiled = self.compiled(settings, NODE_BY_NODE if name == "graph" else {})
                executor = compiled if name == "aot" else graph_parts(compiled).module()
                return Isolated(executor, self.path, phase) if phase in OPEN_PHASES else executor
            case "interpreter":
                if self.module is None:
                    raise UsageError("a saved executable holds no graph to interpret", Place(self.path))
                return Interpreted(self.module, self.function)
            case _ if name in PEERS:
                return open_peer(name, self.path, settings.threads or available_processors())
            case _:
                hint = did_you_mean(name, REFERENCES) or f"they are: {', '.join(REFERENCES)}"
                raise UsageError(f"there is no executor '{name}'", Place("--compare"), hint=hint)

    def open_inputs(self) -> list[str]:
        """The names of the inputs that have a dynamic dimension."""
        return [spec.name for spec in self.inputs if DYNAMIC in spec.shape]

    def tolerances(self) -> dict[str, Tolerance]:
        """By how much each output may differ, where the program is a graph whose operators say it."""
        if self.module is None or phase_of(self.module) not in GRAPHS:
            return {}
        function = next(op for op in self.module.ops if isinstance(op, FuncOp) and op.sym_name.data == self.function)
        return {spec.name: found for spec, found in zip(self.outputs, tolerances_of(function), strict=True)}

    def compiled(self, settings: Settings, config: Mapping[str, object] | None = None) -> Executable:
        """The program as machine code, compiled with this `config`."""
        if self.saved is not None:
            for flag in settings.of_compilation():
                raise UsageError("a saved executable is compiled already", Place(flag))
            if settings.threads is not None:
                self.saved.threads = settings.threads
            return self.saved
        assert self.module is not None
        level = DEFAULT_OPT_LEVEL if settings.opt_level is None else settings.opt_level
        checks = {BOUNDS_CHECKS: True} if settings.bounds_checks else {}
        with PassContext(level, config={**checks, **(config or {})}):
            return compile(
                self.module,
                settings.made_for,
                threads=settings.threads,
                function=self.function,
                tuning_records=settings.tuning_records,
            )


def _is_saved(path: str) -> bool:
    """Whether a file is a saved executable, whatever its name, or is called one."""
    return Path(path).suffix == ARTEFACT_SUFFIX or is_artefact(path)


def programs(path: str, functions: Sequence[str], shapes: Mapping[str, Sequence[int]]) -> list[Program]:
    """What there is to run in a file: a model, the functions of a module that are asked for (`*` for all), a saved
    executable.

    Raises:
        UsageError: the file is of no known kind, or a function is not there.
        Diagnostic: the file cannot be read.
    """
    if _is_saved(path):
        if functions:
            raise UsageError("a saved executable is one function", Place("--function"))
        if shapes:
            raise UsageError("a saved executable has its shapes", Place("--shape"))
        exe = load(path)
        return [Program(path, "main", exe.inputs, exe.outputs, saved=exe)]
    if path == STDIN:
        from weft.frontend.mlir import parse_mlir

        module = parse_mlir(*read_text(path))
        if missing := missing_resources(module):
            raise Diagnostic(
                f"the data of {', '.join(sorted(missing)[:3])} does not come with the text",
                Place(STDIN_NAME),
                hint="write the module to a file, which has its weights beside it: weft-opt ... -o FILE.mlir",
            )
        module = load_module(module, shapes)
    else:
        module = load_module(path, shapes)
    phase_of(module)
    names = entry_names(module) if "*" in functions else [*functions]
    found: list[Program] = []
    for name in names or [None]:
        each = module.clone()
        selected = select_entry(each, name)
        found.append(Program(path, selected, *signature_of(each, selected), module=each))
    return found
