"""Names of the memories that buffers lie in: Weft's own, and those that kinds of targets have besides.

The set is open. A name from here is a memory that some target has; whether it is one of the target that code is made
for is said where code is made (`lowering/tir_to_loops`). Kinds of targets that packages bring are asked when a name is
not known otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from .hints import listed
from .plugins import targets

MEMORIES = ("global", "local", "shared", "warp", "wmma", "mma", "texture", "amx")
"""What the name of a scope begins with; a tag may follow: `shared.dyn`, `local_TB2`, `global2`, `global:weights`."""

_TAG = re.compile(r"(?:[._:][\w.:]|\d)[\w.:]*", re.ASCII)

_DECLARED: dict[str, tuple[str, ...]] = {}
"""Kind of targets -> the memories that it has besides."""


def declare(kind: str, names: Iterable[str]) -> None:
    """Make the memories of a kind of targets known."""
    _DECLARED[kind] = tuple(names)


def forget(kind: str) -> None:
    """Forget the memories of a kind of targets."""
    _DECLARED.pop(kind, None)


def memories() -> tuple[str, ...]:
    """Every name that is known, Weft's own first."""
    declared = [name for names in _DECLARED.values() for name in names]
    return tuple(dict.fromkeys((*MEMORIES, *declared, *_installed())))


def _installed() -> Iterator[str]:
    """The memories of the kinds that installed packages bring."""
    for _, value in targets():
        for each in listed(value):
            scopes = getattr(each, "scopes", None)
            if isinstance(scopes, Mapping):
                yield from cast("Mapping[str, str]", scopes)


def memory_of(scope: str) -> str:
    """The memory that a scope is a part of: its name without the tag. The scope, if there is no such memory."""
    return _among(MEMORIES, scope) or _among(memories(), scope) or scope


def _among(names: tuple[str, ...], scope: str) -> str | None:
    """The one of `names` that a scope is, or begins with before a tag."""
    if scope in names:
        return scope
    return next((name for name in names if scope.startswith(name) and _TAG.fullmatch(scope, len(name))), None)


def why_no_scope(scope: str) -> str | None:
    """What is wrong with the name of a scope."""
    if _among(MEMORIES, scope) or _among(known := memories(), scope):
        return None
    return f"unknown scope \"{scope}\"; known: {', '.join(known)}, and more after a point, '_' or ':', or a number"


def named_in(name: str, scope: str) -> str:
    """A name for what is `name` elsewhere, in a scope."""
    return f"{name}_{scope.replace(':', '_')}"
