"""What tells this compiler from others: the contents of its modules, and of those that plug-ins add.

The modules are read once for all processes that share a cache, as long as nobody touches a file: then the looks of all
files (`file_facts.looks_of`) are those with which the digest is kept.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from ..dialects.support import plugins
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.entry_points import Entry, installed
from ..dialects.support.file_cache import FACTS_SUFFIX, FileCache
from ..dialects.support.file_facts import Identity, is_settled, looks_of

_STARTED = time.time()
"""When this process had read its modules, or nearly."""

_PACKAGES = ("weft.dialects", "weft.frontend", "weft.lowering", "weft.runtime", "weft.transforms", "weft.tuning")

_FOUNDATIONS = ("xdsl", "llvmlite", "numpy", "ml_dtypes", "onnx")
"""What they stand on. The last need not be there; it says what ONNX's functions are made of."""


@dataclass(frozen=True)
class _Modules:
    """The modules as they are now: what they stand on, and of each file its name, its path and its looks."""

    foundations: tuple[str, ...]
    files: tuple[tuple[str, str, Identity], ...]
    settled: bool
    """Whether the looks would tell of a change from now on."""

    @property
    def key(self) -> str:
        """What the digest is kept as."""
        return sha256(repr((self.foundations, self.files)).encode()).hexdigest() + FACTS_SUFFIX

    def digest(self) -> str:
        """Of what the files hold.

        Raises:
            OSError: one cannot be read.
        """
        digest = sha256("\0".join(self.foundations).encode())
        for name, path, _ in self.files:
            with open(path, "rb", buffering=0) as file:
                text = file.read()
            digest.update(f"\0{name}\0{len(text)}\0".encode())
            digest.update(text)
        return digest.hexdigest()


def compiler_digest() -> str | None:
    """A digest of the modules that compile, and of what they stand on; `None` where they cannot be read, or were
    changed since this process has."""
    return _found()[1]


def unchanged() -> bool:
    """Whether the modules still are what `compiler_digest` has read."""
    (first, digest), now = _found(), _modules()
    if first is not None and first.settled and first == now:
        return True
    return _read(now) == digest


@cache
def _found() -> tuple[_Modules | None, str | None]:
    modules = _modules()
    return modules, _digest_of(modules)


def digest_now() -> str | None:
    """What `compiler_digest` gives in a process that asks now for the first time."""
    return _digest_of(_modules())


def _digest_of(modules: _Modules | None) -> str | None:
    """The digest of modules as they were a moment ago: as it is kept, if they are settled."""
    if modules is None or not modules.settled or (cache := _cache()) is None:
        return _read(modules)
    if (kept := cache.get(modules.key)) is not None:
        return kept.decode()
    if (found := _read(modules)) is not None and _modules() == modules:
        cache.put(modules.key, found.encode())
    return found


def _modules() -> _Modules | None:
    """The modules as they are; `None` where one was changed since this process has read it, or is not to be found."""
    foundations: list[str] = []
    files: list[tuple[str, str, Identity]] = []
    settled = True
    try:
        foundations += [sys.version, *map(_version, _FOUNDATIONS)]
        if plugins.foreign_entries():  # which may stand on anything
            foundations += installed()
        for name, path in _sources():
            status = os.stat(path)
            if status.st_mtime > _STARTED:
                return None
            settled = settled and is_settled(status)
            files.append((name, path, looks_of(status)))
    except (OSError, PackageNotFoundError):
        return None
    return _Modules(tuple(foundations), tuple(files), settled)


def _read(modules: _Modules | None) -> str | None:
    try:
        return None if modules is None else modules.digest()
    except OSError:
        return None


def _cache() -> FileCache | None:
    try:
        return FileCache.from_environment()
    except UsageError:  # of which is told where programs and kernels are kept
        return None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        if package != _FOUNDATIONS[-1]:
            raise
        return ""


def _sources() -> Iterator[tuple[str, str]]:
    """The files by their place in their package: Weft's, and those of the packages of plug-ins."""
    for path in sorted(Path(__file__).parents[1].glob("*.py")):
        yield f"weft/{path.name}", str(path)
    for package in _PACKAGES:
        yield from _package(package, package)
    entries = {f"{each.name} = {each.value}": each for each in plugins.foreign_entries()}
    for title, entry in sorted(entries.items()):
        package = entry.module.partition(".")[0]
        yield from _package(title, package)
        yield from _beside(title, package, entry)


def _beside(title: str, package: str, entry: Entry) -> Iterator[tuple[str, str]]:
    """What else has come with the package of an entry point."""
    for file in sorted(getattr(entry.dist, "files", None) or ()):
        if file.suffix == ".py" and file.parts[0] not in (package, f"{package}.py", ".."):
            yield f"{title}/{file}", str(file.locate())


def _files(name: str, root: str) -> Iterator[tuple[str, str]]:
    """The files in a folder and in those within it; there are many, and they are looked for in each process."""
    with os.scandir(root) as entries:
        inner = sorted((entry.name, entry) for entry in entries)
    for own, entry in inner:
        if entry.is_dir(follow_symlinks=False):
            yield from _files(f"{name}/{own}", entry.path)
        elif not own.endswith(".pyc") and entry.is_file():
            yield f"{name}/{own}", entry.path


def _package(title: str, name: str) -> Iterator[tuple[str, str]]:
    """The files of a package, under a title.

    Raises:
        OSError: it is not to be found.
    """
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        spec = None
    if spec is None or (not spec.submodule_search_locations and spec.origin is None):
        raise FileNotFoundError(name)
    for root in spec.submodule_search_locations or ():
        yield from _files(title, root)
    if not spec.submodule_search_locations and spec.origin is not None:
        yield title, spec.origin
