"""Is a type a tensor, or a buffer? As `xdsl.utils.hints.isa`, which makes a constraint of its question each time."""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute


def is_tensor(type: Attribute) -> TypeGuard[TensorType[Attribute]]:
    """Whether `type` is a ranked tensor's."""
    return isinstance(type, TensorType)


def is_memref(type: Attribute) -> TypeGuard[MemRefType[Attribute]]:
    """Whether `type` is a ranked buffer's."""
    return isinstance(type, MemRefType)
