"""What Weft offers in Python: its namespaces, and what can be called in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import reduce
from importlib import import_module
from types import ModuleType
from typing import cast

import weft

_WITHIN = """
    te tir relay transform graph_executor script arith instrument nd ir runtime targets schedules strategies testing
    meta_schedule relay.transform relay.analysis relay.backend relay.dataflow_pattern relay.testing tir.transform
    tir.analysis frontend.onnx topi topi.nn topi.image topi.utils topi.generic topi.testing
"""
NAMESPACES = ("weft", *(f"weft.{name}" for name in _WITHIN.split()))
"""The names of the namespaces."""


def namespace(name: str) -> ModuleType:
    """The namespace of a name that begins with `weft`."""
    with suppress(ModuleNotFoundError):  # some are attributes only
        return import_module(name)
    return cast(ModuleType, reduce(getattr, name.split(".")[1:], weft))


def names_of(module: ModuleType) -> list[str]:
    """The names that a module offers: those it says, or defines."""
    listed: list[str] = list(getattr(module, "__all__", ()))
    if "__dir__" in vars(module):
        listed += dir(module)
    defined = (n for n in dir(module) if getattr(getattr(module, n), "__module__", None) == module.__name__)
    return sorted({name for name in listed or defined if not name.startswith("_")})


def callables(name: str) -> Iterator[tuple[str, Callable[..., object]]]:
    """The functions, classes, and static methods of classes in a namespace."""
    for each in names_of(module := namespace(name)):
        value = getattr(module, each)
        if callable(value) and getattr(value, "__module__", "").startswith("weft."):
            yield f"{name}.{each}", value
        if isinstance(value, type) and value.__module__.startswith("weft."):
            for inner, method in vars(value).items():
                if isinstance(method, staticmethod | classmethod) and not inner.startswith(("_", "get_irdl")):
                    yield f"{name}.{each}.{inner}", getattr(value, inner)
