"""What one room offers and another carries out, which stands above it: told by name, imported when it is first used.

    provide("tir.trees", "weft.dialects.tir.nodes.tree")  # once, by what stands above both: `weft` itself
    load("tir.trees")                                     # the module is imported, and fills in what was left open

So a function of a dialect can be read as a tree, and no file of the dialect knows who reads it.
"""

from __future__ import annotations

from importlib import import_module

_modules: dict[str, str] = {}


def provide(name: str, module: str) -> None:
    """Say which module carries something out."""
    _modules[name] = module


def load(name: str) -> None:
    """Import the module that carries something out.

    Raises:
        KeyError: nobody has said which it is.
    """
    import_module(_modules[name])
