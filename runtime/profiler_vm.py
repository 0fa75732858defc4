"""A virtual machine that times what it runs (`tvm.runtime.profiler_vm`): a `VirtualMachine` does."""

from __future__ import annotations

from . import vm


def enabled() -> bool:
    """Whether there is a profiler: always."""
    return True


def __getattr__(name: str) -> object:
    if name != "VirtualMachineProfiler":
        raise AttributeError(f"module 'weft.runtime.profiler_vm' has no attribute '{name}'")
    return vm.VirtualMachine
