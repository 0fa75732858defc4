"""Object files in memory, linked and ready to be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import openmp
from .linker import Linker, LoadError

__all__ = ["LoadedObjects", "LoadError"]


class LoadedObjects:
    """Machine code in memory. It can be called as long as this object lives.

    Code that calls the OpenMP runtime is linked with the system's, or with a stand-in for one thread.

    Args:
        objects: the bytes of object files, which may refer to one another.
        symbols: addresses of functions and variables that they refer to besides.
        serial: link the stand-in even where there is an OpenMP runtime.

    Raises:
        LoadError: an object cannot be read, or a symbol is defined twice.
    """

    def __init__(self, objects: Sequence[bytes], symbols: Mapping[str, int] | None = None, *, serial: bool = False):
        alone = serial or openmp.load() is None
        self._linker = Linker(objects, symbols, [openmp.ONE_THREAD] if alone else [])

    def address(self, name: str) -> int:
        """The address of a function or variable. LLVM names missing symbols on standard error.

        Raises:
            LoadError: there is none of that name, or it refers to something that is defined nowhere.
        """
        return self._linker.address(name)
