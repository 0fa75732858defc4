"""Calls of kernels: what a function on buffers must know of how graphs call it with tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Operation
from xdsl.traits import OpTrait

from .facts import remembered


@dataclass(frozen=True)
class KernelCall:
    """A call of the kernel `callee`, with tensors of types `inputs`, that gives some of types `outputs`."""

    op: Operation
    callee: str
    inputs: Sequence[Attribute]
    outputs: Sequence[Attribute]
    copies: int | None
    """The kernel does nothing but lay its inputs one after the other, or what they have from this element on."""
    updates: bool
    """The outputs have values before."""
    sizes: Sequence[int] | None = None
    """What the kernel is passed as its symbols; `None` where that are numbers which the graph does not know yet."""


@dataclass(frozen=True)
class CallsKernel(OpTrait, ABC):
    """An operation that calls a kernel."""

    @abstractmethod
    def call(self, op: Operation) -> KernelCall | None:
        """The call that `op` is; `None` where it is not well formed."""


@remembered
def kernel_calls(module: Operation) -> Mapping[str, Sequence[KernelCall]]:
    """The calls of kernels in the functions of a module, by what they call."""
    found: dict[str, list[KernelCall]] = {}
    for function in module.regions[0].block.ops:
        for region in function.regions:
            for block in region.blocks:
                for op in block.ops:
                    if (trait := op.get_trait(CallsKernel)) is not None and (call := trait.call(op)) is not None:
                        found.setdefault(call.callee, []).append(call)
    return found
