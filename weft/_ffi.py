"""What programs for TVM take from its foreign function interface (`tvm._ffi`): the errors, and functions by name."""

from . import error
from .dialects.support.packed import get_global_func, register_func

base = error

__all__ = ["base", "get_global_func", "register_func"]
