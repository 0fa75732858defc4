"""Kernels that were lowered, and those of them that this process remembers."""

from __future__ import annotations

import os
import pickle
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import cast

from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Region


@dataclass(frozen=True)
class LoweredKernel:
    """A kernel that was lowered: its declarations, its LLVM IR, and the texts of its private symbols by name."""

    declaration: func.FuncOp
    linked: llvm.FuncOp
    text: str
    private: tuple[tuple[str, str], ...]


def sent(kernel: LoweredKernel) -> bytes:
    """A kernel for the process that has asked this one to lower it.

    Raises:
        Exception: something in a declaration cannot be sent.
    """
    ops = [(op.properties, op.attributes) for op in (kernel.declaration, kernel.linked)]
    return pickle.dumps((*ops, kernel.text, kernel.private))


def received(data: bytes, location: LocationAttr) -> LoweredKernel:
    """The kernel that was sent, whose function stands at `location`."""
    declaration, linked, text, private = pickle.loads(data)
    ops = (
        kind.create(properties=properties, attributes=attributes, regions=[Region()])
        for kind, (properties, attributes) in zip((func.FuncOp, llvm.FuncOp), (declaration, linked), strict=True)
    )
    made = LoweredKernel(cast("func.FuncOp", next(ops)), cast("llvm.FuncOp", next(ops)), text, private)
    made.declaration.location = made.linked.location = location
    return made


class LoweredKernels:
    """Lowered kernels by key: those used last, as far as their texts are within `limit` characters."""

    def __init__(self, limit: int):
        self._limit = limit
        self._kernels: OrderedDict[str, LoweredKernel] = OrderedDict()
        self._size = 0
        self._lock = Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._unlock)

    def _unlock(self) -> None:
        """Another thread may have had the lock when this process was forked."""
        self._lock = Lock()

    def get(self, key: str) -> LoweredKernel | None:
        """The kernel of a key, if it is kept."""
        with self._lock:
            if key in self._kernels:
                self._kernels.move_to_end(key)
            return self._kernels.get(key)

    def put(self, key: str, kernel: LoweredKernel) -> None:
        """Keep a kernel."""
        with self._lock:
            if key not in self._kernels:
                self._kernels[key] = kernel
                self._size += len(kernel.text)
            while self._size > self._limit:
                _, dropped = self._kernels.popitem(last=False)
                self._size -= len(dropped.text)

    def clear(self) -> None:
        """Drop all."""
        with self._lock:
            self._kernels.clear()
            self._size = 0


LOWERED = LoweredKernels(64_000_000)
"""What the compilations of this process share."""
