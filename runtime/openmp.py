"""The OpenMP runtime of the system, called through the GOMP ABI that libgomp and libomp share.

The entry of a graph starts its threads with `GOMP_parallel`. Where there is no OpenMP runtime, `ONE_THREAD` gives the
functions that compiled code calls, for one thread. The threads of a process do not survive a fork, and the runtime does
not start new ones: a child that was forked after it was loaded has one thread.
"""

from __future__ import annotations

import ctypes
import os
from functools import lru_cache

from ..dialects.support.diagnostics import Diagnostic, Severity
from ..dialects.support.diagnostics import emit as emit_diagnostic
from ..dialects.support.processors import available_processors

FUNCTIONS = ("GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads")

MOST_THREADS = 256
"""More threads than processors are allowed, but no more than this: each takes a stack, and none makes it faster."""

_NAMES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libomp.dylib")

ONE_THREAD = """
define void @GOMP_parallel(ptr %body, ptr %context, i32 %threads, i32 %flags) {
  call void %body(ptr %context)
  ret void
}
define i32 @omp_get_thread_num() {
  ret i32 0
}
define i32 @omp_get_num_threads() {
  ret i32 1
}
"""
"""LLVM IR that stands in for the OpenMP runtime where there is none."""


@lru_cache(maxsize=1)
def load() -> str | None:
    """Load the OpenMP runtime for good, so that linked code finds its functions.

    Returns:
        The library's name; None where this system has none.
    """
    for name in _candidates():
        try:
            library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
        if all(hasattr(library, function) for function in FUNCTIONS):
            return name
    return None


def _candidates() -> list[str]:
    """The usual names; only where none of them can be loaded is the system searched, which runs other programs."""
    for name in _NAMES:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return [name]
    from ctypes.util import find_library  # which imports much

    return [found for short in ("gomp", "omp") if (found := find_library(short))]


def usable_threads(count: int) -> int:
    """`count`, or fewer where the system has no room for so many: a warning tells of it."""
    if count > 1 and _forked:
        return 1
    if count > 1 and load() is None:
        _warn_of_one_thread()
        return 1
    most = max(MOST_THREADS, available_processors())
    if count > most:
        fewer = available_processors()
        emit_diagnostic(
            Diagnostic(
                f"{count} threads are more than the {most} that are allowed; {fewer} are used",
                hint="as many as there are processors are enough",
                severity=Severity.WARNING,
            )
        )
        return fewer
    return count


@lru_cache(maxsize=1)
def _warn_of_one_thread() -> None:
    message = "there is no OpenMP runtime on this system; one thread is used"
    hint = "install libgomp1 or libomp"
    emit_diagnostic(Diagnostic(message, hint=hint, severity=Severity.WARNING))


_forked = False


def _after_fork_in_child() -> None:
    global _forked
    _forked = _forked or load.cache_info().currsize > 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
