"""One function of the `loops` phase as a file of C11, with an entry that takes its arguments in a table.

    void axpy(const float *x, float *y, int64_t n);
    void axpy_run(const int64_t *table, int64_t num_threads);

Each word of the table is an argument, the address of a buffer or an extent, in the order of the function's. The file is
a kernel by itself: whoever calls it knows the sizes of its buffers and brings the memory that it works in.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation

from ...dialects.rt.sources import SourceOp
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.hints import isa
from .function import FunctionText
from .module import file_head
from .types import pointee
from .unit import Unit


def emit_kernel(ops: Sequence[Operation], kernel: func.FuncOp) -> tuple[str, str]:
    """The text of `kernel` and of what it calls, all of them among `ops`, and the name of its entry.

    Raises:
        Diagnostic: an operation has no counterpart in C.
    """
    for op in ops:
        if isinstance(op, memref.GlobalOp | SourceOp):
            what = f"{op.name} has no place in a kernel by itself, in C"
            raise Diagnostic.at(op, what, hint="let a graph call the function, and compile that")
    unit = Unit(ops, [])
    name = kernel.sym_name.data
    texts = [FunctionText(unit, function).write() for function in unit.reached(name)]
    texts[-1] = texts[-1].removeprefix("static ")
    if unit.declared:
        texts.insert(0, "\n".join(unit.declared.values()))
    entry = unit.names.new(f"{unit.functions[name]}_run")
    arguments = [_word(kernel.body.block.args[place]) for place in unit.taken(name)]
    lines = [f"void {entry}(const int64_t *table, int64_t num_threads) {{", "  (void)num_threads;"]
    if not arguments:
        lines.append("  (void)table;")
    texts.append("\n".join([*lines, f"  {unit.functions[name]}({', '.join(arguments)});", "}"]))
    body = "\n\n".join(texts)
    return f"{file_head(unit.functions[name], unit, body)}\n\n{body}\n", entry


def _word(argument: BlockArgument) -> str:
    word = f"table[{argument.index}]"
    return f"({pointee(argument.type)} *)(uintptr_t){word}" if isa(argument.type, MemRefType) else word
