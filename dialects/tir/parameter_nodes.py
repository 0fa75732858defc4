"""Where a function and its copies, which passes change, keep the nodes that their parameters are, by signature."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from xdsl.ir import Operation

_KEPT: WeakKeyDictionary[Operation, dict[object, Any]] = WeakKeyDictionary()


def kept_nodes(func: Operation) -> dict[object, Any]:
    """The nodes of all signatures that the function and its copies have had."""
    return _KEPT.setdefault(func, {})


def keep_nodes(func: Operation, signature: object, nodes: object) -> None:
    """Let a function that is new have these nodes."""
    _KEPT[func] = {signature: nodes}


def share_nodes(func: Operation, copy: Operation) -> None:
    """Let a copy of a function have the same nodes."""
    _KEPT[copy] = kept_nodes(func)


def renew_nodes(copy: Operation) -> None:
    """Let a copy of a function have nodes of its own."""
    _KEPT[copy] = {}
