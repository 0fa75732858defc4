"""Print the module to standard error, and change nothing: put it between other passes to look at what they do.

    weft-opt -p 'fold-constant,print-ir{header="after folding"},fuse-ops'

Counterpart of TVM's `PrintIR`. To see the module around passes without naming them all, there are instruments:
`PrintIRBefore`, `PrintIRAfter`, `DumpIR`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from .execution import report_changed
from .passes import ModulePass
from .printing import module_text


@dataclass(frozen=True)
class PrintIRPass(ModulePass):
    """Options: `header` is printed before the module, in a comment; `show-meta-data` says nothing here, since what TVM
    prints behind the text stands in it."""

    name = "print-ir"
    preserves: ClassVar[tuple[str, ...]] = ("*",)
    tvm_name: ClassVar[str | None] = "PrintIR"

    header: str = ""
    show_meta_data: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        report_changed(False)
        sys.stderr.write(f"// PrintIR({self.header}):\n" + module_text(op))
