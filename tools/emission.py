"""`--emit`: what a module can be written as, besides MLIR text."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ..dialects.support.diagnostics import Place, UsageError, did_you_mean


def emit(module: ModuleOp, format: str, target: str) -> bytes:
    """`module` in a format of `lowering.emit`: LLVM IR, assembly, object code.

    Raises:
        UsageError: there is no such format, or the target is malformed.
        Diagnostic: the module is not at the phase that the format needs.
    """
    from ..lowering.machine.emit import FORMATS
    from ..lowering.machine.emit import emit as emit_format

    formats = ("mlir", *FORMATS)
    if format not in formats:
        hint = did_you_mean(format, formats) or f"the formats are: {', '.join(formats)}"
        raise UsageError(f"there is no format '{format}'", Place("--emit"), hint=hint)
    return emit_format(module, format, target)
