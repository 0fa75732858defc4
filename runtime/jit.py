"""Object files in memory, linked and ready to be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..dialects.support.diagnostics import Diagnostic
from ..lowering.machine.binding import Linker, LLVMError
from . import openmp


class LoadError(Diagnostic):
    """Object code cannot be linked: a symbol is missing, or defined twice."""


class LoadedObjects:
    """Machine code in memory. It can be called as long as this object lives.

    Code that calls the OpenMP runtime is linked with the system's, or with a stand-in for one thread.

    Args:
        objects: the bytes of object files, which may refer to one another.
        symbols: addresses of functions and variables that they refer to besides.

    Raises:
        LoadError: an object cannot be read, or a symbol is defined twice.
    """

    def __init__(self, objects: Sequence[bytes], symbols: Mapping[str, int] | None = None):
        images = list(objects)
        if openmp.load() is None:
            images.append(openmp.fallback_object())
        self._addresses: dict[str, int] = {}
        try:
            self._linker = Linker(images, symbols or {})
        except LLVMError as error:
            raise LoadError(f"the object code cannot be linked: {error}") from None

    def address(self, name: str) -> int:
        """The address of a function or variable. LLVM names missing symbols on standard error.

        Raises:
            LoadError: there is none of that name, or it refers to something that is defined nowhere.
        """
        if name not in self._addresses:
            try:
                self._addresses[name] = self._linker.address(name)
            except LLVMError as error:
                raise LoadError(f"there is no address of '{name}': {error}") from None
        return self._addresses[name]
