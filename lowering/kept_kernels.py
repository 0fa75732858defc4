"""Lowered kernels as bytes, to be kept on disk.

What is kept is read by another process, perhaps of another version. So the key that it is found under says everything
that decides on it: the kernel and the rules of its lowering (`kernel_memo`), and the compiler itself
(`compiler_digest`). What comes back is read by the parser, which runs nothing, and what does not come back as it
was is not there.
"""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from io import StringIO

from xdsl.dialects import func, llvm
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from ..dialects.support.fingerprint import fingerprint
from ..transforms.infra.registry import new_ir_context
from .compiler_digest import compiler_digest as compiler_digest
from .lowered_kernel import LoweredKernel


def encoded(kernel: LoweredKernel) -> bytes:
    """A kernel as bytes, and what tells whether it comes back as it is."""
    parts = {
        "declaration": _written(kernel.declaration),
        "linked": _written(kernel.linked),
        "private": kernel.private,
        "text": kernel.text,
        "told": _told(kernel.declaration, kernel.linked),
    }
    return json.dumps(parts).encode()


def decoded(data: bytes) -> LoweredKernel | None:
    """The kernel that was written as these bytes, if they are one, and it is what it was."""
    try:
        parts = json.loads(data)
        declaration, linked = _read(parts["declaration"]), _read(parts["linked"])
        private, text, told = parts["private"], parts["text"], parts["told"]
        names = tuple((str(name), str(body)) for name, body in private)
    except (ValueError, KeyError, TypeError, ParseError, VerifyException):
        return None
    if not isinstance(declaration, func.FuncOp) or not isinstance(linked, llvm.FuncOp) or not isinstance(text, str):
        return None
    return LoweredKernel(declaration, linked, text, names) if told == _told(declaration, linked) else None


def _told(declaration: Operation, linked: Operation) -> str:
    """What tells declarations from others."""
    return sha256(f"{fingerprint(declaration)}\n{fingerprint(linked)}".encode()).hexdigest()


def _written(op: Operation) -> str:
    out = StringIO()
    Printer(out, print_generic_format=True).print_op(op)
    return out.getvalue()


def _read(text: str) -> Operation:
    module = Parser(_context(), text, "a kept kernel").parse_module()
    (op,) = module.ops
    op.detach()
    return op


_context = cache(new_ir_context)
