"""Kernels that are called one at a time."""

from __future__ import annotations

import ctypes
import threading
import time
from typing import cast

import weft
from weft import relay
from weft.lowering.abi import LAST_FIRST, TEAM, THREADS, Parameter
from weft.runtime.jit import LoadedObjects
from weft.runtime.kernels import Kernels
from weft.runtime.threads import set_limit

KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)


class OneFunction:
    """Stands for code in which every kernel is one function of Python."""

    def __init__(self) -> None:
        self.calls: list[tuple[bool, int]] = []
        self._function = KERNEL(self._note)

    def _note(self, data: int, num_threads: int) -> None:
        self.calls.append((threading.get_ident() == CALLER, num_threads))
        time.sleep(0.005)  # others come meanwhile

    def address(self, name: str) -> int:
        return ctypes.cast(self._function, ctypes.c_void_p).value or 0


CALLER = threading.get_ident()


def called(kind: str) -> list[tuple[bool, int]]:
    """Whether it was the caller, and the number of threads, for each thread that runs a kernel."""
    code = OneFunction()
    kernels = Kernels(cast("LoadedObjects", code), {"k": (Parameter("input"), Parameter(kind))})
    table = (ctypes.c_int64 * 2)(0, 2)
    for _ in range(20):
        kernels.call("k", ctypes.addressof(table), 2)
    return code.calls


def test_the_other_of_two_threads_claims_the_last_shares_first() -> None:
    x = relay.var("x", shape=(4,))
    weft.compile(relay.Function([x], relay.nn.relu(x)))  # there is a pool then
    before = set_limit(2)  # however few processors there are
    try:
        assert set(called(THREADS)) == {(True, 2), (False, 2 + LAST_FIRST)}
        assert called(TEAM) == [(True, 2)] * 20
    finally:
        set_limit(before)
