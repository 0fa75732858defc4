"""Names that a package offers without importing where they come from until one is asked for (PEP 562).

A package says what it offers in one place: the imports below `if TYPE_CHECKING`, which type checkers follow and which
are read from the source here.

    if TYPE_CHECKING:
        from .compiler import compile, load

    __getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def lazy_names(name: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of the module `name` in `file`: what it imports for type checkers."""
    package = name if Path(file).name == "__init__.py" else name.rpartition(".")[0]
    places: dict[str, tuple[str, str]] = {}
    for statement in ast.parse(Path(file).read_text()).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            for node in statement.body:
                assert isinstance(node, ast.ImportFrom)
                for alias in node.names:
                    places[alias.asname or alias.name] = ("." * node.level + (node.module or ""), alias.name)
    names = sorted(places, key=str.lower)

    def find(asked: str) -> object:
        if asked not in places:
            raise AttributeError(f"module '{name}' has no attribute '{asked}'")
        module, inner = places[asked]
        found = import_module(module if module.strip(".") else module + inner, package)
        if module.strip("."):
            found = getattr(found, inner) if hasattr(found, inner) else import_module(f"{module}.{inner}", package)
        setattr(sys.modules[name], asked, found)
        return found

    return find, lambda: names, names
