"""What tells this compiler from others: the contents of its modules, and of those that plug-ins add."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from ..dialects.support import plugins
from ..dialects.support.entry_points import Entry, installed

_STARTED = time.time()
"""When this process had read its modules, or nearly."""

_PACKAGES = ("weft.dialects", "weft.frontend", "weft.lowering", "weft.runtime", "weft.transforms", "weft.tuning")

_FOUNDATIONS = ("xdsl", "llvmlite", "numpy", "ml_dtypes", "onnx")
"""What they stand on. The last need not be there; it says what ONNX's functions are made of."""


@cache
def compiler_digest() -> str | None:
    """A digest of the modules that compile, and of what they stand on; `None` where they cannot be read, or were
    changed since this process has."""
    digest = sha256()
    try:
        digest.update("\0".join([sys.version, *map(_version, _FOUNDATIONS)]).encode())
        if plugins.foreign_entries():  # which may stand on anything
            digest.update("\0".join(installed()).encode())
        for name, path in _sources():
            if os.stat(path).st_mtime > _STARTED:
                return None
            with open(path, "rb", buffering=0) as file:
                text = file.read()
            digest.update(f"\0{name}\0{len(text)}\0".encode())
            digest.update(text)
    except (OSError, PackageNotFoundError):
        return None
    return digest.hexdigest()


def unchanged() -> bool:
    """Whether the modules still are what `compiler_digest` has read."""
    return compiler_digest.__wrapped__() == compiler_digest()


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
