"""Names that a package offers without importing where they come from until one is asked for (PEP 562)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """A module's `__getattr__` that finds `names`: name -> module, relative to `package`."""

    def find(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(import_module(names[name], package), name)

    return find
