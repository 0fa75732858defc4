"""Python functions that compiled code calls by name, and libraries of C whose functions it calls.

    @weft.register_func("show")
    def show(row): print(row)

Counterpart of TVM's `tvm.register_func`. Names are looked up when a call is made.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, overload

from .arguments import checked
from .diagnostics import UsageError, did_you_mean
from .plugins import function as installed_function

Packed = Callable[..., Any]
PackedT = TypeVar("PackedT", bound=Packed)

_FUNCTIONS: dict[str, Packed] = {}
_LIBRARIES: dict[str, ctypes.CDLL] = {}


@overload
def register_func(func_name: str, f: None = None, override: bool = False) -> Callable[[PackedT], PackedT]: ...
@overload
def register_func(func_name: str, f: PackedT, override: bool = False) -> PackedT: ...
@overload
def register_func(func_name: PackedT) -> PackedT: ...
@checked
def register_func(func_name: str | Packed, f: Packed | None = None, override: bool = False) -> Any:
    """Let compiled code call a Python function by name; as a decorator, with a name or without one.

    The function gets integers, floats, and NumPy arrays, which are the buffers themselves for as long as the call
    lasts. What it gives is a number where the call takes one.

    Raises:
        UsageError: there is another function of that name, and `override` does not say that it is replaced.
    """
    if not isinstance(func_name, str):
        return register_func(func_name.__name__, func_name)
    if f is None:

        def register(function: Packed) -> Packed:
            return register_func(func_name, function, override)

        return register
    if func_name in _FUNCTIONS and not override:
        raise UsageError(f"there is a function '{func_name}' already", hint="override=True replaces it")
    _FUNCTIONS[func_name] = f
    return f


@checked
def remove_global_func(name: str) -> None:
    """Forget a function, if there is one of that name."""
    _FUNCTIONS.pop(name, None)


def list_global_func_names() -> list[str]:
    """The names of all functions that are registered."""
    return sorted(_FUNCTIONS)


@overload
def get_global_func(name: str, allow_missing: bool) -> Packed | None: ...
@overload
def get_global_func(name: str) -> Packed: ...
@checked
def get_global_func(name: str, allow_missing: bool = False) -> Packed | None:
    """The function of a name: one that was registered, or that the entry point `weft.functions` of a package names.

    Raises:
        UsageError: there is none, and that is not allowed.
    """
    if name not in _FUNCTIONS and callable(installed := installed_function(name)):
        _FUNCTIONS[name] = installed
    if (found := _FUNCTIONS.get(name)) is None and not allow_missing:
        hint = did_you_mean(name, _FUNCTIONS) or f'weft.register_func("{name}", function) makes it known'
        raise UsageError(f"no Python function is registered as '{name}'", hint=hint)
    return found


@checked
def load_library(path: str | Path) -> None:
    """Load a shared library of C functions, so that calls find them, for as long as the process lives.

    Raises:
        UsageError: there is no such library, or it cannot be loaded.
    """
    name = str(path)
    if name not in _LIBRARIES:
        try:
            _LIBRARIES[name] = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise UsageError(f"the library cannot be loaded: {error}") from None


def extern_address(name: str) -> int | None:
    """The address of a C function in this process, or in a library that it has loaded."""
    for library in (*_LIBRARIES.values(), ctypes.CDLL(None)):
        found = getattr(library, name, None)
        if found is not None:
            return ctypes.cast(found, ctypes.c_void_p).value
    return None


def as_scalar(value: Any, dtype: Any) -> Any:
    """What a packed function gives, as a scalar of a NumPy dtype; of none, as an index.

    Raises:
        TypeError: it is no number of that type.
        OverflowError: it does not fit.
    """
    if dtype is not None and dtype.kind == "f":
        if value is None:
            raise TypeError("it gives None, and a number is wanted")
        return dtype.type(float(value))
    number = operator.index(value)
    width = 64 if dtype is None else dtype.itemsize * 8
    if not -(1 << (width - 1)) <= number < 1 << (width - 1):
        raise OverflowError(f"{number} does not fit {width} bits")
    return number
