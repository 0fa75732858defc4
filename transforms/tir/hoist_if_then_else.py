"""Let branches that a loop does not change stand around the loop.

Before -> after:

```python
for i, j in T.grid(4, 8):
    if T.likely(i < n):
        B[i, j] = A[i, j]
    else:
        B[i, j] = 0.0

for i in range(4):
    if T.likely(i < n):
        for j in range(8):
            B[i, j] = A[i, j]
    else:
        for j in range(8):
            B[i, j] = 0.0
```

A branch leaves a loop that holds nothing else, if its condition is arithmetic alone and does not speak of the loop's
variable; of branches in one another without other sides each may leave by itself. The loop stands in both sides. Blocks
are not left, and loops over threads only on request. Does not: take conditions apart at `and`, nor take values that are
chosen out of loops; `hoist-expression` makes bounds predicates of blocks. Counterpart of TVM's HoistIfThenElse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context

from ...dialects.te.expr import Binary, Cast, Const, Expr, IterVar, Select, Slot, Unary, Var
from ...dialects.tir.core import PrimFuncOp
from ...dialects.tir.nodes.statements import For, IfThenElse, Stmt
from ...dialects.tir.nodes.stmt_functor import ir_transform, walk, with_parts
from ..infra import PrimFuncPass, report_changed

_ARITHMETIC = (Binary, Cast, Const, IterVar, Select, Slot, Unary, Var)
"""What gives one value wherever it is computed: nothing in it is read or called."""


@dataclass(frozen=True)
class HoistIfThenElsePass(PrimFuncPass):
    """Let branches that a loop does not change stand around the loop."""

    name = "hoist-if-then-else"
    tvm_name = "HoistIfThenElse"
    tvm_parts = ("InsertHoistIfThenElse",)

    support_block_scope_hoisting: bool = False
    """Let branches leave loops over threads, too."""

    option_aliases: ClassVar[dict[str, str]] = {"support_block_scope_hosting": "support_block_scope_hoisting"}

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        before = func.body
        after = ir_transform(before, None, self._loop, ["tir.For"])
        if after is before:
            report_changed(False)
            return
        func.take_region(func.with_body(after))
        report_changed(True)

    def _loop(self, loop: For) -> Stmt | None:
        """The branch around a loop that was in it; `None` where it stays."""
        if loop.kind == "thread_binding" and not self.support_block_scope_hoisting:
            return None
        if (leaving := _leaving(loop.body, loop)) is None:
            return None
        otherwise = None if leaving.else_case is None else self._within(loop, leaving.else_case)
        return IfThenElse(leaving.condition, self._within(loop, leaving.then_case), otherwise)

    def _within(self, loop: For, body: Stmt) -> Stmt:
        """The loop over another body, out of which branches may go as well."""
        made = with_parts(loop, lambda part: body if part is loop.body else part)
        return self._loop(made) or made


def _leaving(body: Stmt, loop: For) -> IfThenElse | None:
    """A loop's body as the outermost branch that the loop does not change; `None` where there is none."""
    if not isinstance(body, IfThenElse):
        return None
    if _is_left_alone(body.condition, loop):
        return body
    inner = None if body.else_case is not None else _leaving(body.then_case, loop)
    if inner is None or inner.else_case is not None:
        return None
    return IfThenElse(inner.condition, IfThenElse(body.condition, inner.then_case))


def _is_left_alone(condition: Expr, loop: For) -> bool:
    """Whether a condition has one value for all iterations of a loop: it is arithmetic, without the loop's variable."""
    return all(isinstance(each, _ARITHMETIC) and each is not loop.loop_var for each in walk(condition))
