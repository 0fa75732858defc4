"""`weft.runtime.system_lib`: functions and graphs of all libraries that are linked to this process, or loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator

from ..dialects.support.diagnostics import UsageError, did_you_mean
from ..lowering.abi import CompiledGraph
from .aot_library import AotLibrary
from .graph_library import Library
from .library.exporting import Exported
from .library.interfaces import Piece
from .loading import modules_of
from .module import LIBRARY, Function, Module
from .pieces import has_artefacts

_MAPS = "/proc/self/maps"


class SystemLibrary(Exported):
    """What `export_library` wrote, wherever it is in this process: in the program itself, in libraries that it was
    linked with, and in those that were loaded since, as by `ctypes.CDLL`. Each look-up finds what is there by then."""

    type_key = LIBRARY
    is_dso_exportable = False

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[tuple[str, int, int], list[Module | Library | AotLibrary]] = {}

    def modules(self) -> list[tuple[str, Module | Library | AotLibrary]]:
        """The functions of each library, and its graphs, with the path of its file.

        Raises:
            UsageError: this system does not tell what is in a process.
            Diagnostic: a library is damaged, or for another version.
        """
        found: list[tuple[str, Module | Library | AotLibrary]] = []
        for path, key in _files():
            if key not in self._known:
                self._known[key] = modules_of(path) if has_artefacts(path) else []
            found += [(path, module) for module in self._known[key]]
        return found

    def kernels(self) -> CompiledGraph | Module:
        """What a graph is put together with: the kernels of the only graph, or, where there is none, the functions.

        Raises:
            UsageError: there are several graphs, or functions of one name.
        """
        modules = [module for _, module in self.modules()]
        graphs = [module for module in modules if isinstance(module, Library)]
        if len(graphs) > 1:
            raise UsageError(
                f"there are {len(graphs)} graphs in this process", hint='ask for one: system_lib()["name"]'
            )
        if graphs:
            return graphs[0].kernels
        functions: dict[str, Function] = {}
        for name, function in (each for module in modules if isinstance(module, Module) for each in module.items()):
            self.own_function(name)
            functions[name] = function
        return Module(functions, LIBRARY, "")

    def own_function(self, name: str) -> Callable[..., object] | None:
        """What is called `name`.

        Raises:
            UsageError: two libraries have it.
        """
        found = [(path, each) for path, module in self.modules() if (each := module.own_function(name)) is not None]
        if len(found) > 1:
            raise UsageError(
                f"{len(found)} libraries of this process have '{name}': {', '.join(path for path, _ in found)}",
                hint="weft.runtime.load_module reads one of them",
            )
        return found[0][1] if found else None

    def __getitem__(self, name: str) -> Callable[..., object]:
        """The function of a name, or what makes a graph of this name, as `library["default"]` does.

        Raises:
            UsageError: there is none, or two libraries have it.
        """
        if (found := self.own_function(name)) is not None:
            return found
        known = list(self._names())
        raise UsageError(
            f"no library of this process has a function '{name}'",
            hint=did_you_mean(name, known) or (f"there is {', '.join(known)}" if known else "ctypes.CDLL loads one"),
        )

    def _names(self) -> Iterator[str]:
        for _, module in self.modules():
            match module:
                case Library():
                    yield from (module.libmod_name, *module.functions)
                case AotLibrary():
                    yield module.libmod_name
                case Module():
                    yield from module

    def pieces(self, name: str) -> list[Piece]:
        """Nothing: what is in a process is in a library already.

        Raises:
            UsageError: always.
        """
        raise UsageError("the system library is in this process, and is exported to no other")

    def get_source(self, fmt: str = "") -> str:
        """Nothing: libraries hold no texts.

        Raises:
            UsageError: always.
        """
        raise UsageError("a library holds no text")


def _files() -> Iterator[tuple[str, tuple[str, int, int]]]:
    """The files that are mapped in this process, as long as they are what was mapped, with what tells them apart."""
    if not sys.platform.startswith("linux"):
        raise UsageError(f"{sys.platform} does not tell what libraries a process has", hint="weft.runtime.load_module")
    seen: set[str] = set()
    with open(_MAPS, encoding="utf-8", errors="surrogateescape") as maps:
        lines = maps.read().splitlines()
    for line in lines:
        fields = line.split(maxsplit=5)
        if len(fields) < 6 or not (path := fields[5]).startswith("/") or path in seen:
            continue
        seen.add(path)
        try:
            state = os.stat(path)
        except OSError:  # it was deleted since
            continue
        if state.st_ino == int(fields[4]):
            yield path, (path, state.st_ino, state.st_mtime_ns)


_SYSTEM = SystemLibrary()


def system_lib() -> SystemLibrary:
    """The functions of all libraries of `export_library` that this process was linked with, or has loaded. Counterpart
    of `tvm.runtime.system_lib`.

        weft.build(schedule, [A, B], name="add_one").export_library("m.so")
        ctypes.CDLL("./m.so")
        weft.runtime.system_lib()["add_one"](a, b)

    What runs is the code of the artefact in the library, as with `load_module`. A program in C has `weft_system_lib`.
    """
    return _SYSTEM
