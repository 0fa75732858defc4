"""Object code in memory, ready to be called: images that are linked already, else objects, linked by LLVM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..lowering.abi import CALL_PACKED
from .image import open_image
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
        images: the objects as `image.link_images` has linked them.

    Raises:
        LoadError: an object cannot be read, or a symbol is defined twice.
    """

    def __init__(
        self, objects: Sequence[bytes], symbols: Mapping[str, int] | None = None, images: Sequence[bytes] = ()
    ):
        load_openmp_for(objects)
        rest, pool = with_pool(objects, images[1] if len(images) > 1 else None)
        slots = {**pool, **_calls_of_python(rest), **(symbols or {})}
        self._image = open_image(images[0], slots) if images else None
        self._linker = Linker(rest, slots) if self._image is None else None

    def address(self, name: str) -> int:
        """The address of a function or variable. LLVM names missing symbols on standard error.

        Raises:
            LoadError: there is none of that name, or it refers to something that is defined nowhere.
        """
        if self._image is not None:
            if (found := self._image.find(name)) is None:
                raise LoadError(f"there is no address of '{name}'")
            return found
        assert self._linker is not None
        return self._linker.address(name)


def _calls_of_python(images: Sequence[bytes]) -> Mapping[str, int]:
    """What object files need that call functions of Python."""
    if not any(CALL_PACKED.encode() in image for image in images):
        return {}
    from .packed_calls import caller_address

    return {CALL_PACKED: caller_address()}
