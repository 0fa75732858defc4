"""What a function says that graphs call with tensors: whether a call fits it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Operation
from xdsl.traits import OpTrait


@dataclass(frozen=True)
class KernelTrait(OpTrait, ABC):
    """A function on buffers, which graphs call with tensors."""

    @abstractmethod
    def check_call(
        self,
        kernel: Operation,
        inputs: Sequence[Attribute],
        outputs: Sequence[Attribute],
        *,
        copies: bool,
        updates: bool,
    ) -> None:
        """Whether `kernel` may be called with tensors of types `inputs`, to give some of types `outputs`; `copies` says
        that it does nothing but lay its inputs one after the other, `updates` that outputs have values before.

        Raises:
            Diagnostic: something in the kernel does not fit the call, at its place.
            VerifyException: the call does not fit the kernel.
        """
