"""Make zeros and ones that gradients begin with only where they are used: they are, without this pass.

    %g = relay.zeros {shape = [2, 3]}               an operator without operands, made where it is read; a gradient
                                                    is added up from its first term on, not from zeros

So nothing is changed, which a remark says. Counterpart of TVM's `LazyGradientInit`, which has a data type for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..infra import ModulePass, report_changed
from ..infra.remarks import analysis


@dataclass(frozen=True)
class LazyGradientInitPass(ModulePass):
    """Has no options."""

    name = "lazy-gradient-init"
    opt_level: ClassVar[int] = 1
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "LazyGradientInit"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        analysis(self.name, op, "gradients are added up from their first terms, and constants made where they are read")
        report_changed(False)
