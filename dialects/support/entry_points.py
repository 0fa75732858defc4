"""What installed packages declare; without `importlib.metadata` where all of that is Weft's and xDSL's own: to import
that takes as long as reading a small module.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OURS = ("weft", "xdsl")
"""Packages of which mistakes are not those of a plug-in."""


@dataclass(frozen=True)
class OwnEntry:
    """An entry point of Weft or xDSL."""

    name: str
    value: str

    dist = None

    @property
    def module(self) -> str:
        return self.value.partition(":")[0].strip()

    def load(self) -> object:
        """The object that it names."""
        from importlib import import_module

        return getattr(import_module(self.module), self.value.partition(":")[2].strip())


Entry: TypeAlias = "OwnEntry | EntryPoint"


def entry_points(group: str) -> Sequence[Entry]:
    """The entry points of a group."""
    if _is_plain():
        own = dict.fromkeys(
            entry for path in sys.path for entry in _declared(path or ".", _modified(path or "."), group)
        )
        if all(entry.module.partition(".")[0] in OURS for entry in own):
            return tuple(own)
    from importlib import metadata

    return tuple(metadata.entry_points(group=group))


def installed() -> list[str]:
    """The packages that are installed, each with its version, as the folders of their descriptions are called."""
    folders = dict.fromkeys(path or "." for path in sys.path)
    return sorted({os.path.basename(os.path.dirname(file)) for path in folders for file in _files(path)})


def _is_plain() -> bool:
    """Whether packages are only where `importlib` looks for folders, and nobody else finds some."""
    others = (f for f in sys.meta_path if hasattr(f, "find_distributions"))
    return all(f.__module__ == "_frozen_importlib_external" for f in others) and not any(map(os.path.isfile, sys.path))


def _modified(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=64)
def _declared(path: str, modified: int, group: str) -> tuple[OwnEntry, ...]:
    """What the packages in a folder declare, as it was `modified` last."""
    return tuple(entry for file in _files(path) for entry in _section(file, group))


def _files(path: str) -> Iterator[str]:
    try:
        names = os.listdir(path)
    except OSError:
        return
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            yield os.path.join(path, name, "entry_points.txt")
        elif name == "EGG-INFO":
            yield os.path.join(path, name, "entry_points.txt")


def _section(file: str, group: str) -> Iterator[OwnEntry]:
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            text = opened.read()
    except OSError:
        return
    if group not in text:
        return
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield OwnEntry(name.strip(), value.strip())
