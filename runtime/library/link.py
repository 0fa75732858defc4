"""From compiled graphs to a library: a C compiler compiles what is around the object code, and links it.

Each graph becomes an object file of its own first, in which all names but its model's and the pool's are local, so that
any number of them are linked to one library. That of what Python alone runs (on GPUs) has its artefact alone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from ...dialects.support.diagnostics import Diagnostic, Place, UsageError
from ...dialects.support.guard import guarded
from ...lowering.abi import Platform
from .. import artefact
from ..archive_members import Archive
from ..openmp import libraries_for
from ..pieces import piece_source
from .glue import DATA, glue
from .header import header, identifier
from .hosted import runs_in_c
from .interfaces import Piece
from .registry import SYMBOLS

SHARED, OBJECT, ARCHIVE, TAR = ".so", ".o", ".a", ".tar"
KINDS = (SHARED, OBJECT, ARCHIVE, TAR)
SHARED_SYMBOLS = ("weft_pool_*", *SYMBOLS)
"""The pool of threads and what finds models and functions, of which programs that are linked with several libraries
have one."""


class LinkError(Diagnostic):
    """A library cannot be made: there is no compiler, or it says why."""


Link: TypeAlias = Callable[[str, list[str]], object]
"""What makes a library: given its name, and those of the files that it is made of."""


def export_library(
    pieces: Sequence[Piece],
    path: str | os.PathLike[str],
    compiler: str,
    link: Link | None = None,
    others: Sequence[str | os.PathLike[str]] = (),
    options: Sequence[str] = (),
) -> None:
    """Write a library of programs for one machine to `path`, and its header beside it (`.h`).

    `.so` is a shared library; `.o`, `.a` and `.tar` are for a linker to put into a program: an object file, and
    archives of one for each program, the last with the header in it.

    Args:
        pieces: the programs.
        path: the library.
        compiler: the C compiler that makes object files of them.
        link: what makes the library of the object files, of whatever kind it is; the compiler, unless given.
        others: files that go into the library as well.
        options: what the compiler is told besides, where it links a shared library.

    Raises:
        UsageError: the file is of no known kind, there are options and no shared library, or a name is none in C, or
            there twice.
        LinkError: there is no C compiler, or the library cannot be linked.
        Diagnostic: a file cannot be written, or one of the others is not there.
    """
    target = Path(path)
    if link is None and target.suffix not in KINDS:
        raise UsageError(f"{target}: '{target.suffix}' is no kind of library", hint=f"one of {', '.join(KINDS)}")
    if options and (link is not None or target.suffix != ".so"):
        raise UsageError("options are for the compiler that links a shared library", hint="'.so', and no fcompile")
    names = [identifier(piece.name) for piece in pieces]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two programs of one library are called '{twice}'")
    platform = pieces[0].graph.platform
    if other := next((each.graph.platform for each in pieces if each.graph.platform.triple != platform.triple), None):
        raise LinkError(f"one library is for one machine, and these are for {platform.triple} and {other.triple}")
    if platform.system not in ("linux", "freebsd"):
        raise LinkError(f"libraries are made for Linux and FreeBSD, and this code is for {platform.triple}")
    tools = _Tools(compiler, platform)
    more = [os.path.abspath(each) for each in others]
    if missing := next((each for each in more if not os.path.isfile(each)), None):
        raise Diagnostic("no such file", Place(missing))
    try:
        with TemporaryDirectory(prefix=".weft-", dir=target.absolute().parent) as folder, guarded(Path(folder)):
            made = _build(pieces, target, Path(folder), tools, link, more, options)
            headers = [made] if target.suffix == TAR and link is None else [made, Path(folder, "model.h")]
            for file, place in zip(headers, (target, target.with_suffix(".h")), strict=False):
                os.replace(file, place)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        reason = "there is no such folder" if missing else (error.strerror or str(error)).lower()
        raise Diagnostic(f"cannot be written: {reason}", Place(str(target))) from error


def _build(
    pieces: Sequence[Piece],
    target: Path,
    folder: Path,
    tools: _Tools,
    link: Link | None,
    others: Sequence[str],
    given: Sequence[str],
) -> Path:
    """The library, in `folder`, beside `model.h`."""
    objects = [*(_object(piece, folder, tools) for piece in pieces), *others]
    (folder / "model.h").write_text("\n".join(header(piece.graph, piece.name) for piece in pieces), "utf-8")
    if link is not None:
        made = folder / "made" / target.name
        made.parent.mkdir()
        link(str(made), [str(folder / each) for each in objects])
        if not made.is_file():
            raise LinkError(f"what is to link '{target.name}' has made no such file")
        return made
    match target.suffix:
        case ".so":
            models = [f"{piece.name}_model" for piece in pieces if runs_in_c(piece.graph)]
            names = "; ".join([*models, *SHARED_SYMBOLS])
            (folder / "exports").write_text(f"{{ global: {names}; local: *; }};\n")
            options = ["-Wl,--version-script=exports", "-Wl,-z,nodelete", f"-Wl,-soname,{target.name}", "-pthread"]
            libraries = dict.fromkeys(each for piece in pieces for each in libraries_for(piece.graph.objects))
            tools.run("-shared", *options, *objects, "-lm", *libraries, *given, "-o", "library", folder=folder)
        case ".a":
            tools.run("rcsD", "library", *objects, folder=folder, tool="ar")
        case ".tar":
            _archive(folder / "library", {f"{target.stem}.h": folder / "model.h"}, [folder / each for each in objects])
        case _:
            if len(objects) == 1:
                return folder / objects[0]
            tools.run("-r", "-nostdlib", *objects, "-o", "library", folder=folder)
    return folder / "library"


def _object(piece: Piece, folder: Path, tools: _Tools) -> str:
    """The name of an object file, in `folder`, with all that one program needs but the libraries of C."""
    inner = folder / f"{piece.name}.parts"
    inner.mkdir()
    artefact.save(piece.graph, inner / "artefact", beside=piece.beside)
    with open(inner / "artefact", "rb") as file:
        constants_at, _ = Archive(file).find(artefact.CONSTANTS)
        size = os.fstat(file.fileno()).st_size
    (inner / "artefact.s").write_text(piece_source(Path("artefact"), constants_at, size, DATA), "utf-8")
    tools.run("-c", "artefact.s", "-o", "artefact.o", folder=inner)
    objects = ["artefact.o", *(_code(piece, inner, tools) if runs_in_c(piece.graph) else [])]
    tools.run("-r", "-nostdlib", *objects, "-o", "joined", folder=inner)
    kept = [f"--keep-global-symbol={symbol}" for symbol in (f"{piece.name}_model", *SHARED_SYMBOLS)]
    made = f"{piece.name}.o"
    tools.run("-w", *kept, "joined", f"../{made}", folder=inner, tool="objcopy")
    return made


def _code(piece: Piece, folder: Path, tools: _Tools) -> list[str]:
    """The names of object files, in `folder`: what C programs call of a program, and its code."""
    (folder / "model.h").write_text(header(piece.graph, piece.name), "utf-8")
    (folder / "model.c").write_text(glue(piece.graph, piece.name, "model.h"), "utf-8")
    tools.run("-std=c11", "-O2", "-fPIC", "-c", "model.c", "-o", "model.o", folder=folder)
    objects = ["model.o"]
    for number, image in enumerate(piece.graph.objects):
        objects.append(f"{number}.o")
        (folder / objects[-1]).write_bytes(image)
    return objects


def _archive(path: Path, named: Mapping[str, Path], files: Sequence[Path]) -> None:
    """An archive of files, which says nothing of who made it and when."""
    import tarfile

    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for name, file in [*((file.name, file) for file in files), *named.items()]:
            member = tarfile.TarInfo(name)
            member.size = file.stat().st_size
            with open(file, "rb") as data:
                archive.addfile(member, data)


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
