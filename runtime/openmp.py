"""OpenMP's library, for programs that were compiled from C source with it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from .linker import LoadError

_MARKS = {b"GOMP_": ("libgomp.so.1", "gomp"), b"__kmpc_": ("libomp.so", "omp")}
"""What an object mentions that needs a library: GCC's, or LLVM's."""

_loaded: set[bytes] = set()


def load_for(objects: Sequence[bytes]) -> None:
    """Load the library that `objects` need, for as long as this process lives.

    Raises:
        LoadError: it is not installed.
    """
    for mark, names in _MARKS.items():
        if mark in _loaded or not any(mark in image for image in objects):
            continue
        from ctypes.util import find_library  # which imports what starts processes

        for name in (names[0], find_library(names[1])):
            try:
                if name is not None:
                    ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
                    _loaded.add(mark)
                    break
            except OSError:
                continue
        else:
            raise LoadError(f"OpenMP's library {names[0]} is not installed", hint="it comes with the C compiler")


def libraries_for(objects: Sequence[bytes]) -> list[str]:
    """What a linker is told for `objects`: `-lgomp`."""
    return [f"-l{names[1]}" for mark, names in _MARKS.items() if any(mark in image for image in objects)]
