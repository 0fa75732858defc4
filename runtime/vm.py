"""Programs of several functions, by TVM's module (`tvm.runtime.vm`); `weft.relay.vm` has them, with the compiler."""

from __future__ import annotations

from ..dialects.support.provided import load

NAMES = ("Executable", "VirtualMachine")


def __getattr__(name: str) -> object:
    if name not in NAMES:
        raise AttributeError(f"module 'weft.runtime.vm' has no attribute '{name}'")
    load("runtime.vm")  # which fills them in
    return globals()[name]
