"""Calls of kernels: what a function on buffers must know of how graphs call it with tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.traits import OpTrait

from .diagnostics import Diagnostic, did_you_mean
from .facts import remembered
from .symbols import lookup_symbol, symbol_names


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


FORMS = ("tir.prim_func", "relay.func", "func.func", "llvm.func", "mem.graph")
"""What a kernel may be, from one phase to the next."""


@dataclass(frozen=True)
class CallsKernel(OpTrait, ABC):
    """An operation that calls a kernel, which stands in its module."""

    @abstractmethod
    def call(self, op: Operation) -> KernelCall | None:
        """The call that `op` is; `None` where it is not well formed."""

    def verify(self, op: Operation) -> None:
        """
        Raises:
            Diagnostic: there is no such kernel.
        """
        if (call := self.call(op)) is None or lookup_symbol(op, SymbolRefAttr(call.callee)) is not None:
            return
        hint = did_you_mean(call.callee, symbol_names(op, *FORMS))
        raise Diagnostic.at(op, f"there is no function @{call.callee}", hint=hint)


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
