"""OpenMP's library, for programs that were compiled from C source with it.

Its threads wait for one another by spinning, unless it is told otherwise when it is loaded. Where other processes want
the processors as well, they spin for as long as these have them: a network that takes 12 ms of processor time could
take more than a minute. So they are told to sleep (`OMP_WAIT_POLICY=passive`), which costs a tenth where nobody else
wants the processors, unless whoever started the process has said how they wait.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from .linker import LoadError

_MARKS = {b"GOMP_": ("libgomp.so.1", "gomp"), b"__kmpc_": ("libomp.so", "omp")}
"""What an object mentions that needs a library: GCC's, or LLVM's."""

_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""What says how its threads wait."""

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

        from ..dialects.support.knobs import environment

        for name in (names[0], find_library(names[1])):
            try:
                if name is not None:
                    with environment("OMP_WAIT_POLICY", "passive", unless=_WAITING):
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
