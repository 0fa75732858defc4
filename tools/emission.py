"""`--emit`: what a module can be written as, besides MLIR text."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ..dialects.support.diagnostics import Diagnostic, Place, UsageError, did_you_mean

MEMORY = "memory.svg"
"""The format that draws planned memory."""
GRAPH_JSON = "graph-json"
"""The format of TVM's graph executor."""
DOT = "dot"
"""The language of Graphviz, which draws graphs."""


def emit(module: ModuleOp, format: str, target: str) -> bytes:
    """`module` in a format of `lowering.emit`, which are LLVM IR, assembly, object code and C; TVM's graph JSON; a
    graph for Graphviz; or a picture of its memory.

    Raises:
        UsageError: there is no such format, or the target is malformed.
        Diagnostic: the module is not at the phase that the format needs.
    """
    from ..lowering.machine.emit import FORMATS
    from ..lowering.machine.emit import emit as emit_format

    formats = ("mlir", *FORMATS, DOT, GRAPH_JSON, MEMORY)
    if format not in formats:
        hint = did_you_mean(format, formats) or f"the formats are: {', '.join(formats)}"
        raise UsageError(f"there is no format '{format}'", Place("--emit"), hint=hint)
    if format == DOT:
        from .dot import dot

        return dot(module).encode()
    if format == MEMORY:
        from ..transforms.mem.drawing import memory_svg

        return memory_svg(module).encode()
    if format == GRAPH_JSON:
        from ..lowering.write_graph_json import write_graph_json

        return write_graph_json(module)[0].text().encode() + b"\n"
    try:
        return emit_format(module, format, target)
    except Diagnostic as error:
        if error.hint is None and any(op.dialect_name() in ("relay", "tir", "mem") for op in module.ops):
            error.hint = f"lower the module first: --compile-to={'loops' if format == 'c' else 'llvm'} --emit={format}"
        raise
