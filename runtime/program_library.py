"""Native code of functions by their names, as an executable of the virtual machine is kept: an archive of artefacts.

    code, library = executable.save()
    library.export_library("model.vm")
    weft.runtime.load_module("model.vm")["main"](x)

Beside the artefacts, which `weft.Executable.save` writes, may stand what the virtual machine says of the functions.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar, Literal

from ..dialects.support.arguments import checked, checked_methods
from ..dialects.support.diagnostics import Diagnostic, Place, UsageError, did_you_mean
from ..dialects.support.files import replacing
from ..dialects.support.guard import guarded
from . import artefact
from .executable import Executable
from .host import check_runs_here

CODE, ARTEFACT = "code", ".weft"
"""The member that says what the functions are, and how the names of others end."""


@checked_methods
class ProgramLibrary:
    """The native code of functions, by their names.

    Args:
        functions: what runs, by name.
        code: what the virtual machine says of them, where that is kept with them.
    """

    type_key: ClassVar[str] = "VMExecutable"

    def __init__(self, functions: Mapping[str, Executable], code: bytes | bytearray | None = None):
        self.functions = dict(functions)
        self.code = None if code is None else bytes(code)

    def get_function(self, name: str) -> Executable:
        """What runs: it takes and gives the tensors of which the function's arguments and results are made.

        Raises:
            UsageError: there is no such function.
        """
        if name not in self.functions:
            hint = did_you_mean(name, self.functions) or f"they are: {', '.join(self.functions)}"
            raise UsageError(f"there is no function '{name}'", hint=hint)
        return self.functions[name]

    __getitem__ = get_function

    def export_library(
        self,
        path: str | os.PathLike[str],
        fcompile: Literal[False] | None = None,
        *,
        cc: str | None = None,
        options: Sequence[str] | None = None,
    ) -> None:
        """Write it to a file, for `load_module`.

        Args:
            path: the file.
            fcompile: no function: an archive is not linked.
            cc: a C compiler, and
            options: what it would be told, for those who call TVM's; they change nothing.

        Raises:
            Diagnostic: the file cannot be written.
        """
        try:
            with (
                TemporaryDirectory() as folder,
                guarded(Path(folder)),
                replacing(path) as file,
                zipfile.ZipFile(file, "w") as archive,
            ):
                if self.code is not None:
                    archive.writestr(CODE, self.code)
                for name, function in self.functions.items():
                    function.save(part := Path(folder) / "part")
                    archive.write(part, f"{name}{ARTEFACT}")
        except OSError as error:
            raise _told(error, "written", path) from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, as `export_library` does."""
        self.export_library(path)


def holds_programs(path: str | os.PathLike[str]) -> bool:
    """Whether a file is one that `ProgramLibrary.export_library` wrote, or at least no other that there is."""
    try:
        if not zipfile.is_zipfile(path):
            return False
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(ARTEFACT) for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


@checked
def load_programs(path: str | os.PathLike[str], threads: int | None = None) -> ProgramLibrary:
    """What `ProgramLibrary.export_library` has written: machine code, to be loaded only where its maker is trusted.

    Raises:
        Diagnostic: the file cannot be read, or is none of these.
        PlatformError: it was made for another machine.
    """
    functions: dict[str, Executable] = {}
    code: bytes | None = None
    try:
        with TemporaryDirectory() as folder, guarded(Path(folder)), zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                if member == CODE:
                    code = archive.read(member)
                    continue
                part = Path(folder) / "part"
                part.write_bytes(archive.read(member))
                graph = artefact.load(part)
                check_runs_here(graph.platform, path)
                functions[member.removesuffix(ARTEFACT)] = Executable(graph, threads)
    except zipfile.BadZipFile as error:
        raise Diagnostic(f"is no library of a virtual machine: {error}", Place(os.fspath(path))) from None
    except OSError as error:
        raise _told(error, "read", path) from error
    return ProgramLibrary(functions, code)


def _told(error: OSError, done: str, path: str | os.PathLike[str]) -> Diagnostic:
    return Diagnostic(f"cannot be {done}: {(error.strerror or str(error)).lower()}", Place(os.fspath(path)))
