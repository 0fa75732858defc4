"""Calls that compiled code makes of Python functions: one function of C, which finds the Python one by its name.

A call says what it calls (`rt.call_packed`), and has its arguments in an array, 8 bytes each, behind which the result
is put; the extents of a buffer that are `?` there stand behind it. What an exception says is kept until whoever started
the run is told that the call has failed.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from functools import lru_cache
from itertools import count
from math import prod
from typing import Any

import numpy as np

from ..dialects.support.element_types import numpy_dtype_of
from ..dialects.support.nd import as_nd
from ..dialects.support.packed import as_scalar, get_global_func
from ..lowering.abi import CONST

_KEPT = 64
"""Exceptions that are kept: those of runs that nobody asks about would stay otherwise."""

_failures: OrderedDict[int, Exception] = OrderedDict()
_numbers = count(1)


@lru_cache(maxsize=1024)
def _described(what: bytes) -> tuple[str, tuple[tuple[np.dtype[Any], tuple[int | None, ...] | None, bool], ...], Any]:
    """The name, the types of the arguments with the shapes of buffers, None where an extent is given with the call, and
    whether they may be written, and the type of the result."""
    name, types, result = what.decode().split("|")
    arguments: list[tuple[np.dtype[Any], tuple[int | None, ...] | None, bool]] = []
    for type in types.split(",") if types else ():
        dtype, bracket, extents = type.rstrip("]").partition("[")
        shape = tuple(None if each == "?" else int(each) for each in extents.split("x")) if extents else ()
        bare = dtype.removeprefix(CONST)
        arguments.append((numpy_dtype_of(bare), shape if bracket else None, bare == dtype))
    return name, tuple(arguments), numpy_dtype_of(result) if result else None


def _call(what: bytes, values: int) -> int:
    """Make one call: 0, or the number of the exception."""
    try:
        name, types, result = _described(what)
        given: list[Any] = []
        place = values - 8
        for dtype, shape, may_write in types:
            place += 8
            if shape is not None:
                start = ctypes.c_uint64.from_address(place).value
                extents: list[int] = []
                for extent in shape:
                    if extent is None:
                        place += 8
                        extent = ctypes.c_int64.from_address(place).value
                    extents.append(extent)
                memory: Any = (ctypes.c_char * (prod(extents) * dtype.itemsize)).from_address(start)
                array = np.frombuffer(memory, dtype).reshape(extents)
                array.flags.writeable = may_write
                given.append(as_nd(array))
            else:
                given.append((ctypes.c_double if dtype.kind == "f" else ctypes.c_int64).from_address(place).value)
        found = get_global_func(name)(*given)
        if result is not None:
            number = as_scalar(found, result)
            kind = ctypes.c_double if result.kind == "f" else ctypes.c_int64
            kind.from_address(place + 8).value = number
        return 0
    except Exception as error:
        number = next(_numbers)
        _failures[number] = error
        while len(_failures) > _KEPT:
            _failures.popitem(last=False)
        return number


def take_failure(number: int) -> Exception | None:
    """The exception of a call, which is forgotten here."""
    return _failures.pop(number, None)


@lru_cache(maxsize=1)
def caller_address() -> int:
    """The address of the function that code calls Python by."""
    made = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p)(_call)
    _held.append(made)
    address = ctypes.cast(made, ctypes.c_void_p).value
    assert address is not None
    return address


_held: list[object] = []
"""What has to live as long as the process."""
