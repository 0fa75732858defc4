"""Executables of the virtual machine on disk: what they say of their functions, apart from the native code of each.

    code, library = executable.save()
    library.export_library("model.vm")
    again = relay.vm.Executable.load_exec(code, relay.vm.load_library("model.vm"))

The first is a module as text: data types, and, as an attribute, the parameters and results of each function.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.ir import Attribute

from .dialects.relay.data import AdtOp
from .dialects.support.arguments import checked_methods
from .dialects.support.diagnostics import Diagnostic, Place, UsageError
from .dialects.support.files import replacing
from .dialects.support.hints import isa
from .frontend.mlir import parse_mlir
from .frontend.relay.module import IRModule
from .loading import load
from .relay_data_results import WrittenResults
from .relay_executors import Compiled
from .transforms.infra.printing import module_text

if TYPE_CHECKING:
    from .runtime.executable import Executable as NativeExecutable

FUNCTIONS, CODE = "weft.functions", "<code>"


@dataclass
class Callee:
    """A function that can be called: the names of its parameters, and what its native code gives."""

    params: Sequence[str]
    compiled: Compiled


@checked_methods
class Library:
    """The native code of functions, by their names."""

    def __init__(self, functions: Mapping[str, NativeExecutable]):
        self.functions = dict(functions)

    def export_library(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, for `load_library`: an archive with what `weft.Executable.save` writes for each.

        Raises:
            Diagnostic: the file cannot be written.
        """
        try:
            with TemporaryDirectory() as folder, replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
                for name, function in self.functions.items():
                    function.save(part := Path(folder) / "part")
                    archive.write(part, f"{name}.weft")
        except OSError as error:
            raise Diagnostic(
                f"cannot be written: {(error.strerror or str(error)).lower()}", Place(os.fspath(path))
            ) from error

    save = export_library


def load_library(path: str | os.PathLike[str]) -> Library:
    """What `Library.export_library` has written: machine code, to be loaded only where its maker is trusted.

    Raises:
        Diagnostic: the file cannot be read, or is none of these.
        PlatformError: it was made for another machine.
    """
    place = Place(os.fspath(path))
    functions: dict[str, NativeExecutable] = {}
    try:
        with TemporaryDirectory() as folder, zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                part = Path(folder) / "part"
                part.write_bytes(archive.read(member))
                functions[member.removesuffix(".weft")] = load(part)
    except zipfile.BadZipFile as error:
        raise Diagnostic(f"is no library of a virtual machine: {error}", place) from None
    except OSError as error:
        raise Diagnostic(f"cannot be read: {(error.strerror or str(error)).lower()}", place) from error
    return Library(functions)


def code_of(module: ModuleOp, callees: Mapping[str, Callee]) -> bytearray:
    """What is said of functions of a module."""
    said: dict[str, Attribute] = {}
    for name, callee in callees.items():
        written = callee.compiled.written
        dtypes = [] if written is None else [StringAttr(each) for each in written.dtypes]
        results = FunctionType.from_lists([], list(callee.compiled.types))
        params = ArrayAttr([StringAttr(each) for each in callee.params])
        said[name] = ArrayAttr[Attribute]([params, results, ArrayAttr(dtypes)])
    types = [op.clone() for op in module.body.block.ops if isinstance(op, AdtOp)]
    return bytearray(module_text(ModuleOp(types, {FUNCTIONS: DictionaryAttr(said)}), debuginfo=False).encode())


def read_code(code: bytes | bytearray, library: Library) -> tuple[ModuleOp, dict[str, Callee]]:
    """A module with the data types of which code says, and the functions, by their names.

    Raises:
        Diagnostic: it is no such code, or the library is another's.
    """
    module = IRModule.of(parse_mlir(bytes(code), CODE))
    said = module.attributes.get(FUNCTIONS)
    if not isinstance(said, DictionaryAttr):
        raise Diagnostic(f"is no code of a virtual machine: it has no '{FUNCTIONS}'", Place(CODE))
    if missing := set(said.data) ^ set(library.functions):
        raise UsageError(
            f"code and library are not of one executable: one of them alone has {', '.join(sorted(missing))}"
        )
    found: dict[str, Callee] = {}
    for name, each in said.data.items():
        match each:
            case ArrayAttr(data=(params, FunctionType() as results, dtypes)) if isa(
                params, ArrayAttr[StringAttr]
            ) and isa(dtypes, ArrayAttr[StringAttr]):
                types = results.outputs.data
                streams = [dtype.data for dtype in dtypes]
                written = WrittenResults(module, name, types[0], streams) if streams else None
                compiled = Compiled(library.functions[name], types, written)
                found[name] = Callee([param.data for param in params], compiled)
            case _:
                raise Diagnostic(f"says nothing of '{name}' that is understood: {each}", Place(CODE))
    return module, found
