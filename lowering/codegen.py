"""From LLVM IR text to machine code.

The text names no target: the target brings triple, data layout, processor and features. LLVM's standard pipeline runs
with loop and SLP vectorisation.
"""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp

from ..dialects.diagnostics import Diagnostic
from .llvm_binding import LLVMError
from .llvm_ir import emit_llvm_ir
from .target import Target


class CodegenError(Diagnostic):
    """LLVM refused a module: the message says why, and shows the line where there is one."""


def compile_module(module: ModuleOp | str, target: Target, opt_level: int = 3) -> bytes:
    """Compile a module of the llvm dialect, or the text of LLVM IR, to an object file's bytes.

    Raises:
        CodegenError: LLVM does not accept the module.
        LoweringError: an operation of the module has no LLVM IR.
    """
    text = module if isinstance(module, str) else emit_llvm_ir(module)
    try:
        return target.machine(opt_level).object(text)
    except LLVMError as error:
        raise explained(error, text) from None


def compile_to_assembly(module: ModuleOp | str, target: Target, opt_level: int = 3) -> str:
    """The same, as assembly text."""
    text = module if isinstance(module, str) else emit_llvm_ir(module)
    try:
        return target.machine(opt_level).assembly(text)
    except LLVMError as error:
        raise explained(error, text) from None


def explained(error: LLVMError, text: str) -> CodegenError:
    """LLVM's message, with the line of the text it speaks of."""
    message = str(error)
    place = re.search(r"<string>:(\d+):(\d+): ", message)
    if place is None:
        return CodegenError(f"LLVM does not accept the module: {message.strip()}")
    line = text.splitlines()[int(place[1]) - 1]
    reason = message[place.end() :].splitlines()[0]
    caret = " " * (int(place[2]) - 1) + "^"
    return CodegenError(f"LLVM does not accept line {place[1]} of the module: {reason}\n  {line}\n  {caret}")
