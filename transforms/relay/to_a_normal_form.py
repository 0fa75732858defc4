"""Bring a function into A-normal form, in which every intermediate result has a name: it has it.

    let %a = exp(%x); let %b = add(%a, %a); %b      is      %a = relay.exp %x
                                                            %b = relay.add %a, %a

Every operation's result is a value with a name and any number of uses, its operands are values, and what a branch needs
is computed where it is written. So nothing is changed, which a remark says.

Counterpart of TVM's `ToANormalForm`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..infra import ModulePass, report_changed
from ..infra.remarks import analysis


@dataclass(frozen=True)
class ToANormalFormPass(ModulePass):
    """Has no options."""

    name = "to-a-normal-form"
    opt_level: ClassVar[int] = 1
    tvm_name: ClassVar[str | None] = "ToANormalForm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        analysis(self.name, op, "every result has a name already: the module is in A-normal form")
        report_changed(False)
