"""The threads that programs run on: one pool in a process, whatever number of programs is loaded.

Compiled graphs come with the object file of the pool (`lowering/threads/pool.mlir`). The first that is loaded is linked
on its own and stays for as long as the process: its workers sleep in its code. Every program is then linked with that
one's functions, and its own copy is left out.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from threading import Lock

from ..dialects.support.diagnostics import Diagnostic, Severity
from ..dialects.support.diagnostics import emit as emit_diagnostic
from ..dialects.support.processors import available_processors
from ..lowering.abi import LIMIT, POOL, POOL_FUNCTIONS
from .image import open_image
from .linker import Linker

_lock = Lock()
_addresses: dict[str, int] = {}


def with_pool(objects: Sequence[bytes], image: bytes | None = None) -> tuple[list[bytes], dict[str, int]]:
    """The objects without the pool among them, and the addresses of the process's pool's functions. `image` is the
    pool as a shared object, where it was linked to one.

    The process's pool is the first that is among any objects; there are no addresses where there was none yet.

    Raises:
        LoadError: the pool cannot be linked.
    """
    own = [image for image in objects if f"{POOL}\0".encode() in image]
    if own and not _addresses:
        _load(own[0], image)
    return [image for image in objects if image not in own], dict(_addresses)


def pool_address(name: str) -> int:
    """The address of one of the pool's functions, once a program was loaded."""
    return _addresses[name]


def _load(data: bytes, image: bytes | None) -> None:
    with _lock:
        if _addresses:
            return
        if image is not None and (loaded := open_image(image)) is not None:
            found = {name: loaded.find(name) for name in POOL_FUNCTIONS}
            if all(found.values()):
                loaded.keep()
                _addresses.update((name, address) for name, address in found.items() if address)
                return
        linker = Linker([data])
        found = {name: linker.address(name) for name in POOL_FUNCTIONS}
        # Not even the end of the interpreter may unmap the code: workers sleep in it, or are about to.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(linker))
        _addresses.update(found)


MOST_THREADS = 256
"""Threads that a call may be divided for; the pool works with as many as there are processors."""


def usable_threads(count: int) -> int:
    """`count`, or the processors where it is absurd: a warning tells of it."""
    processors = available_processors()
    most = max(MOST_THREADS, processors)
    if count <= most:
        return count
    message = f"{count} threads are more than the {most} that are allowed; {processors} are used"
    hint = "as many as there are processors are enough"
    emit_diagnostic(Diagnostic(message, hint=hint, severity=Severity.WARNING))
    return processors


def set_limit(threads: int) -> int:
    """Set how many threads may work on a call at most, the caller included; gives what it was.

    It is the number of processors that the process may use, unless set; nothing waits for a thread that is not there,
    so fewer than a call asks for is no mistake. Workers that were started stay, asleep. A forked child starts anew.

    Raises:
        ValueError: fewer than one.
        RuntimeError: no program was loaded yet, and so no pool.
    """
    if threads < 1:
        raise ValueError(f"{threads} threads: at least one is needed")
    if not _addresses:
        raise RuntimeError("no program is loaded yet, and there are no threads before")
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(_addresses[LIMIT])(threads)
