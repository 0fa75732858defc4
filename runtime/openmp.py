"""The OpenMP runtime of the system, called through the GOMP ABI that libgomp and libomp share.

The entry of a graph starts its threads with `GOMP_parallel`. Where there is no OpenMP
runtime, `fallback_object` gives the functions that compiled code calls, for one thread.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import lru_cache

from ..dialects.support.diagnostics import Diagnostic, Severity
from ..dialects.support.diagnostics import emit as emit_diagnostic
from ..lowering.machine.binding import LLVMError, load_library
from ..lowering.machine.codegen import compile_module
from ..lowering.machine.target import Target

FUNCTIONS = ("GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads")

_NAMES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libomp.dylib")

_ONE_THREAD = """
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


@lru_cache(maxsize=1)
def load() -> str | None:
    """Load the OpenMP runtime for good, so that linked code finds its functions.

    Returns:
        The library's name; None where this system has none.
    """
    found = [name for short in ("gomp", "omp") if (name := ctypes.util.find_library(short))]
    for name in (*_NAMES, *found):
        try:
            library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
            if all(hasattr(library, function) for function in FUNCTIONS):
                load_library(name)
                return name
        except (OSError, LLVMError):
            continue
    return None


def usable_threads(count: int) -> int:
    """`count`, or 1 where there is no OpenMP runtime, of which a warning tells once."""
    if count > 1 and load() is None:
        _warn()
        return 1
    return count


@lru_cache(maxsize=1)
def _warn() -> None:
    message = "there is no OpenMP runtime on this system; one thread is used"
    hint = "install libgomp1 or libomp"
    emit_diagnostic(Diagnostic(message, hint=hint, severity=Severity.WARNING))


@lru_cache(maxsize=1)
def fallback_object() -> bytes:
    """An object file with the functions that compiled code calls, for one thread."""
    return compile_module(_ONE_THREAD, Target())
