"""Drop operations whose results nobody uses.

    %0 = relay.exp %x : tensor<4xf32>          // erased
    %1 = relay.nn.relu %x : tensor<4xf32>  ->  %1 = relay.nn.relu %x : tensor<4xf32>
    relay.return %1 : tensor<4xf32>            relay.return %1 : tensor<4xf32>

One walk from the end to the beginning: an operation is looked at after all its users, so chains go at once. Stateful
operators, and calls of functions that contain one, stay. Functions nobody calls are `remove-unused-functions`' work.

Counterpart of TVM's `DeadCodeElimination`; its `inline_once` has no meaning in SSA, where a value has no binding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context

from ...dialects.relay.core import FuncOp
from ..infra import FunctionPass, report_changed
from ..infra.walk import erase, walk
from .purity import impure_functions, is_pure


@dataclass(frozen=True)
class DeadCodeEliminationPass(FunctionPass):
    """Options: `ignore-impurity` drops dead operators even where they are stateful."""

    name = "dead-code-elimination"
    opt_level: ClassVar[int] = 1
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "DeadCodeElimination"

    ignore_impurity: bool = False

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        report_changed(eliminate_dead_code(func, ignore_impurity=self.ignore_impurity))


def eliminate_dead_code(func: FuncOp, *, ignore_impurity: bool = False) -> bool:
    """Erase the operations of `func` that are pure and without users; return whether there were any."""
    impure = frozenset[str]() if ignore_impurity else impure_functions(func.parent_op())
    changed = False
    for op in reversed(list(walk(func))[1:]):
        dead = op.results and all(result.first_use is None for result in op.results)
        if dead and (ignore_impurity or is_pure(op, impure)):
            erase(op)
            changed = True
    return changed
