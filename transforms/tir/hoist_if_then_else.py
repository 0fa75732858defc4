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
are not left; loops over threads are, and conditions of a thread's number leave loops, only on request. Does not: take
conditions apart at `and`, nor take values that are chosen out of loops; `hoist-expression` makes bounds predicates of
blocks. Counterpart of TVM's HoistIfThenElse.
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
from .hoisted_branches import take_statements

_ARITHMETIC = (Binary, Cast, Const, IterVar, Select, Slot, Unary, Var)
"""What gives one value wherever it is computed: nothing in it is read or called."""


@dataclass(frozen=True)
class HoistIfThenElsePass(PrimFuncPass):
    """Let branches that a loop does not change stand around the loop."""

    name = "hoist-if-then-else"
    tvm_name = "HoistIfThenElse"
    tvm_parts = ("InsertHoistIfThenElse",)

    support_block_scope_hoisting: bool = False
    """Let branches leave loops over threads, too, and loops for conditions of a thread's number."""

    option_aliases: ClassVar[dict[str, str]] = {"support_block_scope_hosting": "support_block_scope_hoisting"}

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        before = func.body
        threads = {each.loop_var for each in walk(before) if isinstance(each, For) and each.kind == "thread_binding"}
        hoisting = _Hoisting(frozenset() if self.support_block_scope_hoisting else frozenset(threads))
        after = ir_transform(before, None, hoisting.of_loop, ["tir.For"])
        report_changed(after is not before and take_statements(func, after, self.name))


@dataclass(frozen=True)
class _Hoisting:
    """Takes branches out of loops."""

    threads: frozenset[Expr]
    """The variables whose loops are not left, and for which none is."""

    def of_loop(self, loop: For) -> Stmt | None:
        """The branch around a loop that was in it; `None` where it stays."""
        if loop.loop_var in self.threads or (leaving := self._leaving(loop.body, loop)) is None:
            return None
        otherwise = None if leaving.else_case is None else self._within(loop, leaving.else_case)
        return IfThenElse(leaving.condition, self._within(loop, leaving.then_case), otherwise)

    def _within(self, loop: For, body: Stmt) -> Stmt:
        """The loop over another body, out of which branches may go as well."""
        made = with_parts(loop, lambda part: body if part is loop.body else part)
        return self.of_loop(made) or made

    def _leaving(self, body: Stmt, loop: For) -> IfThenElse | None:
        """A loop's body as the outermost branch that the loop does not change; `None` where there is none."""
        if not isinstance(body, IfThenElse):
            return None
        if self._is_left_alone(body.condition, loop):
            return body
        inner = None if body.else_case is not None else self._leaving(body.then_case, loop)
        if inner is None or inner.else_case is not None:
            return None
        return IfThenElse(inner.condition, IfThenElse(body.condition, inner.then_case))

    def _is_left_alone(self, condition: Expr, loop: For) -> bool:
        """Whether a condition has one value for all iterations of a loop."""
        return all(
            isinstance(each, _ARITHMETIC) and each is not loop.loop_var and each not in self.threads
            for each in walk(condition)
        )
