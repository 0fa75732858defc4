"""What a module is written out as: of the llvm dialect LLVM IR, assembly, or an object file; of loops, C."""

from __future__ import annotations

from typing import Literal, get_args

from xdsl.dialects.builtin import ModuleOp

from ...dialects.support.diagnostics import UsageError, did_you_mean
from ..llvm_ir.module import emit_llvm_ir
from .codegen import compile_module, compile_to_assembly
from .target import Target

Format = Literal["llvm", "asm", "obj", "c"]
FORMATS: tuple[Format, ...] = get_args(Format)


def emit(module: ModuleOp, format: str, target: Target | str = "llvm", opt_level: int | None = None) -> bytes:
    """The module in one of `FORMATS`; `llvm` is the text before LLVM's own passes, `c` is made of a module at phase
    `loops`.

    Raises:
        UsageError: there is no such format.
        LoweringError: an operation has no LLVM IR.
        Diagnostic: an operation has no counterpart in C.
        CodegenError: LLVM does not accept the module.
    """
    target = Target.parse(target)
    if format == "llvm":
        return emit_llvm_ir(module).encode()
    if format == "c":
        from ..loops_to_c.module import emit_c

        return emit_c(module).encode()
    if format == "asm":
        return compile_to_assembly(module, target, opt_level).encode()
    if format == "obj":
        return compile_module(module, target, opt_level)
    raise UsageError(f"cannot emit '{format}'; formats are {', '.join(FORMATS)}", hint=did_you_mean(format, FORMATS))
