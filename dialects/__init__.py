"""Weft's dialects. Loading is lazy: a dialect's module is imported when a context first needs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Dialect


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Weft's own dialects: name -> function that imports and returns the dialect."""

    def relay() -> Dialect:
        from .relay import Relay

        return Relay

    def tir() -> Dialect:
        from .tir import Tir

        return Tir

    def mem() -> Dialect:
        from .mem import Mem

        return Mem

    def rt() -> Dialect:
        from .rt import Rt

        return Rt

    def schedule() -> Dialect:
        from .schedule import Schedule

        return Schedule

    return {"relay": relay, "tir": tir, "mem": mem, "rt": rt, "schedule": schedule}


def get_extended_dialects() -> dict[str, Callable[[], Dialect]]:
    """Dialects of xDSL's with what they lack: contexts of Weft's tools register these in place of xDSL's."""

    def arith() -> Dialect:
        from .extensions.arith import Arith

        return Arith

    def llvm() -> Dialect:
        from .extensions.llvm import Llvm

        return Llvm

    def memref() -> Dialect:
        from .extensions.memref import MemRef

        return MemRef

    return {"arith": arith, "llvm": llvm, "memref": memref}
