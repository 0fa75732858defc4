"""Object files in memory, linked and ready to be called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..lowering.abi import CALL_PACKED
from .linker import Linker, LoadError
from .openmp import load_for as load_openmp_for
from .threads import with_pool

__all__ = ["LoadedObjects", "LoadError"]


class LoadedObjects:
    """Machine code in memory. It can be called as long as this object lives.

    The pool of threads among the objects, if any, is not loaded again where the process has one: see `threads`.

    Args:
        objects: the bytes of object files, which may refer to one another.
        symbols: addresses of functions and variables that they refer to besides.

    Raises:
        LoadError: an object cannot be read, or a symbol is defined twice.
    """

    def __init__(self, objects: Sequence[bytes], symbols: Mapping[str, int] | None = None):
        load_openmp_for(objects)
        images, pool = with_pool(objects)
        self._linker = Linker(images, {**pool, **_calls_of_python(images), **(symbols or {})})

    def address(self, name: str) -> int:
        """The address of a function or variable. LLVM names missing symbols on standard error.

        Raises:
            LoadError: there is none of that name, or it refers to something that is defined nowhere.
        """
        return self._linker.address(name)


def _calls_of_python(images: Sequence[bytes]) -> Mapping[str, int]:
    """What object files need that call functions of Python."""
    if not any(CALL_PACKED.encode() in image for image in images):
        return {}
    from .packed_calls import caller_address

    return {CALL_PACKED: caller_address()}
