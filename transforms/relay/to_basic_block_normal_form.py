"""Bring a function into basic block normal form, in which what several branches share is computed before them: it is.

    if (%c) { f(%s) } else { g(%s) }      is      %s = relay.exp %x
    where %s = exp(%x)                            relay.if %c { f %s } else { g %s }

What two branches use must stand where both see it, before them, or it is no valid module. So nothing is changed, which
a remark says. What both compute for themselves stays two computations.

Counterpart of TVM's `ToBasicBlockNormalForm`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..infra import ModulePass, report_changed
from ..infra.remarks import analysis


@dataclass(frozen=True)
class ToBasicBlockNormalFormPass(ModulePass):
    """Has no options."""

    name = "to-basic-block-normal-form"
    opt_level: ClassVar[int] = 1
    tvm_name: ClassVar[str | None] = "ToBasicBlockNormalForm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        analysis(self.name, op, "what branches share stands before them: the module is in basic block normal form")
        report_changed(False)
