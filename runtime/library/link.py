"""From a compiled graph to a library: a C compiler compiles what is around the object code, and links it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ...dialects.support.diagnostics import Diagnostic, Place, UsageError
from ...dialects.support.guard import guarded
from ...lowering.abi import ALIGNMENT, CALL_PACKED, CompiledGraph, Platform
from ..openmp import libraries_for
from .glue import data_source, glue
from .header import header, identifier

SHARED, OBJECT, ARCHIVE = ".so", ".o", ".a"
KINDS = (SHARED, OBJECT, ARCHIVE)
SHARED_SYMBOLS = "weft_pool_*"
"""The pool of threads, of which programs that are linked with several libraries have one."""


class LinkError(Diagnostic):
    """A library cannot be made: there is no compiler, or it says why."""


def export_library(graph: CompiledGraph, path: str | os.PathLike[str], name: str | None, compiler: str) -> None:
    """Write a library to `path`, and its header beside it (`.h`).

    Raises:
        UsageError: the file is of no known kind, or `name` is no name in C.
        LinkError: there is no C compiler, or the library cannot be linked.
        Diagnostic: a file cannot be written.
    """
    target = Path(path)
    if target.suffix not in KINDS:
        raise UsageError(f"{target}: '{target.suffix}' is no kind of library", hint=f"one of {', '.join(KINDS)}")
    symbol = identifier(target.stem.removeprefix("lib") if name is None else name)
    if any(CALL_PACKED.encode() in image for image in graph.objects):
        raise LinkError("the code calls functions of Python (T.call_packed), which a program in C has not")
    if graph.platform.system not in ("linux", "freebsd"):
        raise LinkError(f"libraries are made for Linux and FreeBSD, and this code is for {graph.platform.triple}")
    tools = _Tools(compiler, graph.platform)
    try:
        with TemporaryDirectory(prefix=".weft-", dir=target.absolute().parent) as folder, guarded(Path(folder)):
            made = _build(graph, symbol, target, Path(folder), tools)
            for file, place in ((made, target), (Path(folder, "model.h"), target.with_suffix(".h"))):
                os.replace(file, place)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        reason = "there is no such folder" if missing else (error.strerror or str(error)).lower()
        raise Diagnostic(f"cannot be written: {reason}", Place(str(target))) from error


def _build(graph: CompiledGraph, name: str, target: Path, folder: Path, tools: _Tools) -> Path:
    """The library, in `folder`, beside `model.h`."""
    (folder / "model.h").write_text(header(graph, name), "utf-8")
    (folder / "model.c").write_text(glue(graph, name, "model.h"), "utf-8")
    tools.run("-std=c11", "-O2", "-fPIC", "-c", "model.c", "-o", "model.o", folder=folder)
    objects = ["model.o"]
    if graph.constants:
        with open(folder / "constants", "wb") as file:
            for array in graph.constants:
                data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
                data.tofile(file)
                file.write(bytes(-data.nbytes % ALIGNMENT))
        (folder / "constants.s").write_text(data_source(Path("constants")), "utf-8")
        tools.run("-c", "constants.s", "-o", "constants.o", folder=folder)
        objects.append("constants.o")
    for number, image in enumerate(graph.objects):
        objects.append(f"{number}.o")
        (folder / objects[-1]).write_bytes(image)
    if target.suffix == SHARED:
        (folder / "exports").write_text(f"{{ global: {name}_model; {SHARED_SYMBOLS}; local: *; }};\n")
        options = ["-Wl,--version-script=exports", "-Wl,-z,nodelete", f"-Wl,-soname,{target.name}", "-pthread"]
        tools.run("-shared", *options, *objects, "-lm", *libraries_for(graph.objects), "-o", "library", folder=folder)
        return folder / "library"
    tools.run("-r", "-nostdlib", *objects, "-o", "joined.o", folder=folder)
    kept = [f"--keep-global-symbol={symbol}" for symbol in (f"{name}_model", SHARED_SYMBOLS)]
    tools.run("-w", *kept, "joined.o", "library.o", folder=folder, tool="objcopy")
    if target.suffix == OBJECT:
        return folder / "library.o"
    os.replace(folder / "library.o", folder / f"{name}.o")
    tools.run("rcsD", "library", f"{name}.o", folder=folder, tool="ar")
    return folder / "library"


class _Tools:
    """A C compiler, and what comes with it.

    Raises:
        LinkError: there is none, or it makes code for another machine than `platform`.
    """

    def __init__(self, compiler: str, platform: Platform):
        self.compiler = compiler
        made_for = self.run("-dumpmachine").strip()
        if Platform(made_for, "", ()).architecture != platform.architecture:
            raise LinkError(
                f"'{compiler}' makes code for {made_for}, and this code is for {platform.triple}",
                hint=f'name one that does: export_library(path, cc="{platform.architecture}-linux-gnu-gcc")',
            )

    def run(self, *arguments: str, folder: Path | None = None, tool: str | None = None) -> str:
        """Run the compiler, or the tool that is called like it; what it prints."""
        command = self.compiler if tool is None else self._beside(tool)
        if (found := shutil.which(command)) is None:
            raise LinkError(
                f"there is no '{command}' on this machine, which libraries are linked with",
                hint='install a C compiler ("apt install gcc"), or name one: export_library(path, cc="clang")',
            )
        with guarded() as guard:
            done = guard.run([found, *arguments], cwd=folder)
        if done.returncode:
            raise LinkError(f"'{command}' says: {_said(done.stderr.splitlines()) or f'status {done.returncode}'}")
        return done.stdout

    def _beside(self, tool: str) -> str:
        """`aarch64-linux-gnu-objcopy` of `aarch64-linux-gnu-gcc`."""
        folder, name = os.path.split(self.compiler)
        prefix, dash, _ = name.rpartition("-")
        beside = os.path.join(folder, f"{prefix}{dash}{tool}")
        return beside if shutil.which(beside) else tool


def _said(lines: Sequence[str]) -> str:
    """The lines that tell of errors, of what a compiler or linker has printed."""
    errors = [line for line in lines if "error" in line or "undefined" in line]
    return "\n  ".join((errors or list(lines))[:5])
