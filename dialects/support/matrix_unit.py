"""Leave to use the tile registers of AMX, which Linux gives to a process that asks for it.

They are 8 KiB more for each thread to be kept, and so belong to no process from the start. What is given holds for all
threads, for processes that are forked, and until the process runs another program.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Set as AbstractSet
from functools import lru_cache

TILE_FEATURES = frozenset({"amx-tile", "amx-int8", "amx-bf16"})
"""The features that take leave."""

ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA = 158, 0x1023, 18
"""The number of the system call on x86-64, what is asked, and for which part of a thread's state."""


@lru_cache(maxsize=1)
def may_use_tiles() -> bool:
    """Whether this process, on a processor with AMX, may use its tiles; asks for it."""
    if not sys.platform.startswith("linux"):
        return False
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.argtypes, call.restype = [ctypes.c_long, ctypes.c_long, ctypes.c_long], ctypes.c_long
    return call(ARCH_PRCTL, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0


def allowed(features: AbstractSet[str]) -> frozenset[str]:
    """Those of the processor's features that the system lets this process use."""
    if TILE_FEATURES.isdisjoint(features) or may_use_tiles():
        return frozenset(features)
    return frozenset(features) - TILE_FEATURES
