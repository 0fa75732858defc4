"""`weft.runtime.load_module`: what was exported to a library, under TVM's names, without the compiler."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import ClassVar

from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import Diagnostic, Place, UsageError
from ..dialects.support.provided import load
from ..lowering.abi import CompiledGraph
from ..lowering.graph_json import GraphJson
from . import artefact
from .aot_library import AotLibrary
from .archive_members import ArtefactError
from .executable import Executable
from .graph_library import Library
from .host import check_runs_here
from .library.interfaces import FunctionInterface, GraphInterface, ProgramInterface, interface_of
from .module import LIBRARY, STATIC_LIBRARY, Argument, Function, Module
from .program_library import ProgramLibrary, holds_programs, load_programs
from .sized_function import SizedFunction

TARGETS = "runtime.targets"


class Targets:
    """What is known of targets where there is a compiler: by the module that is provided as `TARGETS`."""

    enabled: ClassVar[Callable[[str], bool]]


@checked
def load_module(
    path: str | os.PathLike[str], threads: int | None = None
) -> Module | Library | AotLibrary | ProgramLibrary:
    """What `export_library` wrote: functions by name, or, where a graph of `relay.build` is among them, its library; or
    those of a virtual machine's executable.
    Counterpart of `tvm.runtime.load_module`.

        weft.build(schedule, [A, B, C], name="add").export_library("add.so")
        weft.runtime.load_module("add.so")["add"](a, b, c)
        relay.build(module, params=params).export_library("model.so")
        weft.runtime.load_module("model.so")["default"](weft.cpu())

    The file holds machine code, which is run as it is: load only what you would run as a program. What is run is the
    code of the artefacts in it; the library itself is not linked to this process.

    Args:
        path: a shared library (`.so`), an object file (`.o`), or an archive of such (`.a`, `.tar`), by whatever name.
        threads: threads for a call; as many as there are processors for this process, unless given.

    Raises:
        Diagnostic: the file cannot be read.
        ArtefactError: it is no library of Weft's, or it is of another version, or damaged.
        PlatformError: it was made for another machine, or for features that this processor has not.
    """
    if holds_programs(path):
        return load_programs(path, threads)
    found = modules_of(path, threads)
    graphs = [each for each in found if not isinstance(each, Module)]
    if len(graphs) > 1:
        place = Place(os.fspath(path))
        raise ArtefactError(f"a library of {len(graphs)} graphs", place, hint="export each to a file of its own")
    return graphs[0] if graphs else found[0]


def modules_of(path: str | os.PathLike[str], threads: int | None = None) -> list[Module | Library | AotLibrary]:
    """What is in a library: its graphs, of which the first has its functions; these alone, where it has no graph.

    Raises:
        Diagnostic: as `load_module` says.
    """
    place = Place(os.fspath(path))
    functions: dict[str, Function] = {}
    graphs: list[tuple[GraphInterface, CompiledGraph]] = []
    programs: list[Module | Library | AotLibrary] = []
    for graph, beside in artefact.load_library(path):
        check_runs_here(graph.platform, path)
        try:
            said = interface_of(graph, beside)
        except Diagnostic as error:
            raise ArtefactError(error.message, place, hint=error.hint) from None
        match said:
            case GraphInterface():
                graphs.append((said, graph))
            case ProgramInterface():
                programs.append(AotLibrary(graph, said.name, said.device_type, None, threads))
            case FunctionInterface():
                if said.name in functions:
                    raise ArtefactError(f"two functions are called '{said.name}'", place)
                functions[said.name] = _function(said, graph, threads)
    if not graphs:
        return [*programs, *([Module(functions, LIBRARY, "")] if functions or not programs else [])]
    return [
        *programs,
        *(
            Library(
                GraphJson.parse(said.json),
                graph,
                said.params,
                said.outputs,
                said.name,
                said.device_type,
                None,
                threads,
                {} if number else functions,
            )
            for number, (said, graph) in enumerate(graphs)
        ),
    ]


@checked
def load_static_library(path: str | os.PathLike[str], func_names: Sequence[str]) -> Module:
    """Functions of an object file that `save` or `export_library` wrote, for another module to import, and to be
    exported with it. Counterpart of `tvm.runtime.load_static_library`.

    Raises:
        UsageError: it has no such function.
        Diagnostic: as `load_module` says.
    """
    module = load_module(path)
    if isinstance(module, ProgramLibrary):
        raise UsageError(f"{os.fspath(path)} is of a virtual machine, and no object file")
    functions = {name: module.own_function(name) for name in func_names}
    if missing := [name for name, found in functions.items() if not isinstance(found, Function)]:
        raise UsageError(f"{os.fspath(path)} has no function '{missing[0]}'")
    found = {name: each for name, each in functions.items() if isinstance(each, Function)}
    return Module(found, STATIC_LIBRARY, "")


@checked
def enabled(target: str) -> bool:
    """Whether what is built for a target, or for a type of devices, runs here: on this machine's kind of processor, and
    on GPUs where there is a driver. Counterpart of `tvm.runtime.enabled`.

    Raises:
        TargetError: there is no such target.
    """
    load(TARGETS)
    return Targets.enabled(target)


def num_threads() -> int:
    """How many threads a call uses where nothing else is said: as many as there are processors for this process."""
    return Executable.usable(None)


def _function(said: FunctionInterface, graph: CompiledGraph, threads: int | None) -> Function:
    source: Callable[[str], str] = _no_source
    arguments = [Argument(*argument) for argument in said.arguments]
    made = SizedFunction if graph.symbols else Function
    return made(said.name, Executable(graph, threads), arguments, source, said.result)


def _no_source(kind: str) -> str:
    raise AssertionError(f"a module of the kind '{LIBRARY}' is asked for no text, {kind} neither")
