"""Shared objects in memory, loaded by the system.

An image is written to a file without a name and opened by the loader of the C library, which takes a fraction of a
millisecond. Where there is no such file, or the loader may not execute it, who asks does without: `open_image` gives
`None`, and LLVM links the objects.
"""

from __future__ import annotations

import ctypes
import os
import sys
from _ctypes import dlclose
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from weakref import finalize

from ..lowering.abi import CALL_PACKED, POOL, POOL_FUNCTIONS, RUN_HOSTED

SLOT = "weft_slot:"
"""What the names of slots begin with: words of an image that are filled with addresses when it is loaded."""

_numbers = count()


def link_images(objects: Sequence[bytes]) -> tuple[bytes, ...]:
    """The shared objects that a graph's objects make: the program's, and that of the pool of threads; none where they
    are for another processor, or hold what is not linked here."""
    from .elf.objects import Unlinkable
    from .elf.shared import link_shared

    pool = _pool_of(objects)
    try:
        program = link_shared(
            [each for each in objects if each not in pool], (*POOL_FUNCTIONS, CALL_PACKED, RUN_HOSTED), SLOT
        )
        return (program, link_shared(pool)) if pool else (program,)
    except Unlinkable:
        return ()


def are_images_of(objects: Sequence[bytes], images: Sequence[bytes]) -> bool:
    """Whether there are as many shared objects as `link_images` makes of these objects, if any."""
    return len(images) == 1 + bool(_pool_of(objects))


def _pool_of(objects: Sequence[bytes]) -> list[bytes]:
    return [each for each in objects if f"{POOL}\0".encode() in each]


def open_image(image: bytes, slots: Mapping[str, int] | None = None) -> Image | None:
    """Load a shared object, and fill the slots that it has with addresses; `None` where this system cannot."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        descriptor = os.memfd_create("weft", os.MFD_CLOEXEC)
    except OSError:
        return None
    try:
        with open(descriptor, "wb", closefd=False, buffering=0) as file:
            if file.write(image) != len(image):
                return None
        # The loader knows libraries by their paths, and numbers of files are used again.
        ways = bin(next(_numbers))[2:].replace("0", "./").replace("1", ".//")
        return Image(ctypes.CDLL(f"/proc/self/fd/{ways}{descriptor}", mode=os.RTLD_NOW), slots or {})
    except OSError:
        return None
    finally:
        os.close(descriptor)


class Image:
    """A shared object that is loaded for as long as this object lives."""

    def __init__(self, library: ctypes.CDLL, slots: Mapping[str, int]):
        self._library = library
        for name, value in slots.items():
            with suppress(ValueError):  # it does not use all that there is
                ctypes.c_void_p.in_dll(library, f"{SLOT}{name}").value = value
        self._end = finalize(self, dlclose, library._handle)
        self._end.atexit = False

    def find(self, name: str) -> int | None:
        """The address of what the image defines."""
        try:
            return ctypes.addressof(ctypes.c_char.in_dll(self._library, name))
        except ValueError:
            return None

    def uses(self, name: str) -> bool:
        """Whether it has a slot of this name."""
        return self.find(f"{SLOT}{name}") is not None

    def keep(self) -> None:
        """Leave it loaded until the process ends."""
        self._end.detach()
