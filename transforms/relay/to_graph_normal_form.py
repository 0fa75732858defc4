"""Bring a function into graph normal form, without bindings by `let`: there are none.

    let %a = exp(%x); add(%a, %a)      is      %a = relay.exp %x
                                               %b = relay.add %a, %a

A value that is used twice is one value with two uses, as a node of a graph is. So nothing is changed, which a remark
says.

Counterpart of TVM's `ToGraphNormalForm`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..infra import ModulePass, report_changed
from ..infra.remarks import analysis


@dataclass(frozen=True)
class ToGraphNormalFormPass(ModulePass):
    """Has no options."""

    name = "to-graph-normal-form"
    opt_level: ClassVar[int] = 1
    tvm_name: ClassVar[str | None] = "ToGraphNormalForm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        analysis(self.name, op, "a value that is used twice is one value: the module is in graph normal form")
        report_changed(False)
