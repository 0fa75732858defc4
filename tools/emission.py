"""`--emit`: what a module can be written as, besides MLIR text."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp


def emit(module: ModuleOp, format: str, target: str) -> bytes:
    """`module` as LLVM IR, assembly, object code, C, a DOT graph or a JSON graph.

    Raises:
        UsageError: the format is not one of `lowering.emit.FORMATS`, or the target is malformed.
        Diagnostic: the module is not at the phase that the format needs.
    """
    from ..lowering.emit import emit as emit_format
    from ..lowering.target import Target

    return emit_format(module, format, Target.parse(target))
