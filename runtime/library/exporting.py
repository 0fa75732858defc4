"""What modules have in common that can be written to libraries: those of `weft.build`, and those of `relay.build`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...dialects.support.arguments import checked_methods
from ...dialects.support.diagnostics import UsageError, did_you_mean
from .interfaces import Piece


def name_of(path: str | os.PathLike[str]) -> str:
    """What the names in C of a library begin with, of which only the file is known: `my_net` for `libmy-net.so`."""
    stem = Path(path).stem
    name = re.sub(r"[^A-Za-z0-9_]", "_", stem.removeprefix("lib") or stem)
    return f"_{name}" if name[:1].isdigit() else name


def export(
    pieces: Sequence[Piece],
    path: str | os.PathLike[str],
    cc: str | None,
    link: Callable[[str, list[str]], object] | None = None,
    others: Sequence[str | os.PathLike[str]] = (),
    options: Sequence[str] = (),
) -> None:
    """Write a library of programs, and its header beside it, with the C compiler `cc`, or `$CC` or `cc`; `link`,
    `others` and `options` are those of `link.export_library`.

    Raises:
        UsageError: the file is of no known kind, or a name is none in C.
        LinkError: there is no C compiler for the machine that the code is for, or it has refused.
        Diagnostic: a file cannot be written.
    """
    from ...dialects.support import knobs
    from .link import export_library

    export_library(pieces, path, cc or knobs.CC.get(), link, others, options)


@dataclass(frozen=True)
class DeviceSource:
    """The code of a GPU beside that of its host. Counterpart of a module in TVM's `imported_modules`."""

    type_key: str
    text: str

    def get_source(self, fmt: str = "ptx") -> str:
        """The text, PTX.

        Raises:
            UsageError: another one is asked for.
        """
        if fmt not in ("", "ptx", "cu", "cuda"):
            raise UsageError(f"the code of a GPU has no source '{fmt}'", hint="there is ptx")
        return self.text


@checked_methods
class Exported:
    """A module: functions by name, perhaps with modules that it imports. Counterpart of `tvm.runtime.Module`."""

    type_key: str
    is_dso_exportable: bool = True
    """Whether it is code that a linker has yet to put into a library."""

    def __init__(self) -> None:
        self._imports: list[Exported] = []

    def pieces(self, name: str) -> list[Piece]:
        """What it has for a library that is called `name`, without what it imports.

        Raises:
            Diagnostic: a function of it cannot be in a library.
        """
        raise NotImplementedError

    def own_function(self, name: str) -> Callable[..., object] | None:
        """What is called `name` in it, without what it imports."""
        raise NotImplementedError

    def get_source(self, fmt: str = "") -> str:
        """The text that it was compiled from, in its own language or in `fmt`.

        Raises:
            UsageError: there is none.
        """
        raise NotImplementedError

    @property
    def imported_modules(self) -> Sequence[Exported | DeviceSource]:
        """The modules that were given to `import_module`, behind the code of GPUs, if there is such."""
        return list(self._imports)

    def import_module(self, module: Exported) -> None:
        """Have another module be part of what is exported, and of what `get_function` finds with `query_imports`.

        Raises:
            UsageError: this module is part of that one.
        """
        if any(each is self for each in module.with_imports()):
            raise UsageError("a module does not import itself")
        self._imports.append(module)

    def with_imports(self) -> list[Exported]:
        """The module, and those that it imports, and those that they do."""
        found: list[Exported] = [self]
        for each in (each for module in self._imports for each in module.with_imports()):
            if not any(each is known for known in found):
                found.append(each)
        return found

    def get_function(self, name: str, query_imports: bool = False) -> Callable[..., object]:
        """The function of a name; also one of the modules that it imports, if that is asked.

        Raises:
            UsageError: there is none.
        """
        modules = self.with_imports() if query_imports else [self]
        found = next((each for module in modules if (each := module.own_function(name)) is not None), None)
        return self[name] if found is None else found

    def __getitem__(self, name: str) -> Callable[..., object]:
        raise NotImplementedError

    def implements_function(self, function_name: str, query_imports: bool = False) -> bool:
        """Whether there is such a function; among those of the modules that it imports as well, if that is asked."""
        modules = self.with_imports() if query_imports else [self]
        return any(module.own_function(function_name) is not None for module in modules)

    def export_library(
        self,
        file_name: str | os.PathLike[str],
        fcompile: Callable[..., object] | Literal[False] | None = None,
        addons: Sequence[str | os.PathLike[str]] | None = None,
        *,
        cc: str | None = None,
        options: Sequence[str] | None = None,
        **kwargs: object,
    ) -> object:
        """Write a library, and a header for C beside it: `.so`, a shared one, or `.o`, `.a` or `.tar` for a linker.
        `weft.runtime.load_module` reads each.

        Args:
            file_name: the library.
            fcompile: what links it: `fcompile(path, files, **kwargs)` makes the file `path`, of whatever kind, of
                object files and the addons; what it gives is given. The C compiler does, unless given (or `False`, as
                TVM's callers say).
            addons: files that are linked as well: object files, archives, sources.
            cc: the C compiler that makes the object files, and links them; `$CC` or `cc`, unless given.
            options: what the compiler is told besides, where it links a shared library: `["-g3"]`; what `fcompile` is
                given by that name, where there is one.
            kwargs: what `fcompile` is given besides.

        Raises:
            UsageError: the file is of no known kind, a function has a name that is none in C, or there are `kwargs`,
                and nothing that takes them.
            LinkError: there is no C compiler for the machine that the code is for, it has refused, or `fcompile` has
                made no file.
            Diagnostic: a function cannot be in a library, a file cannot be written, or an addon is not there.
        """
        fcompile = fcompile or None
        if kwargs and fcompile is None:
            raise UsageError(
                f"export_library takes no '{next(iter(kwargs))}'",
                hint="what else is given is for fcompile: a function that links the library",
            )
        if options is not None and fcompile is not None:
            kwargs["options"], options = options, None
        given: list[object] = []

        def link(path: str, files: list[str]) -> None:
            assert fcompile is not None
            given.append(fcompile(path, files, **kwargs))

        name = name_of(file_name)
        pieces = [piece for module in self.with_imports() for piece in module.pieces(name)]
        export(pieces, file_name, cc, None if fcompile is None else link, addons or (), options or ())
        return given[0] if given else None


class Factory(Exported):
    """What `relay.build` gives: `library["default"](device)` makes what is run. It has functions by TVM's names."""

    def __init__(self, libmod_name: str, device_type: str, source: Callable[[str], str] | None):
        super().__init__()
        self.libmod_name, self.device_type, self._source = libmod_name, device_type, source
        self.is_dso_exportable = source is not None

    def named(self) -> Mapping[str, Callable[..., object]]:
        """Its functions, by name, without those of what it imports."""
        raise NotImplementedError

    def own_function(self, name: str) -> Callable[..., object] | None:
        return self.named().get(name)

    def __getitem__(self, name: str) -> Callable[..., object]:
        """A function of the library, by name.

        Raises:
            UsageError: there is nothing of that name.
        """
        if (found := self.own_function(name)) is not None:
            return found
        known = list(self.named())
        raise UsageError(
            f"the library is called '{self.libmod_name}', not '{name}'",
            hint=did_you_mean(name, known) or f"it has {', '.join(known)}",
        )

    def get_source(self, fmt: str = "") -> str:
        """The text of the code: for the target `llvm`, `ll` or `asm`; for `c`, `c`; for `cuda`, `ptx` or `ll`.

        Raises:
            UsageError: there is no such text, or the library was loaded, and holds none.
        """
        if self._source is None:
            raise UsageError("a library holds no text", hint="what relay.build gives does: build it again to see it")
        return self._source(fmt)
