"""Do at compile time what is known then: calls, branches and data as well as arithmetic.

    %c = relay.constant dense<true>                       %y = relay.exp %x
    %y = relay.if %c {
      %0 = relay.exp %x; relay.yield %0             ->
    } else { .. }

In turns, until nothing changes: functions are put where they are called (`inline`), a branch takes the place of an `if`
whose condition is a constant, a case that of a `match` on what is constructed in sight, the body of a `relay.fn` that
of its only call, and constants are folded. A call of a function that calls itself is run where all that it is given is
known (`known_calls.py`); else it stays a call.

Counterpart of TVM's `PartialEvaluate`, which also follows references, and unrolls recursion on what is known in part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects.relay.control import ApplyOp, FnOp, IfOp
from ...dialects.relay.core import ConstantOp, YieldOp
from ...dialects.relay.data import DEFAULT, ConstructOp, MatchOp
from ...dialects.support.fingerprint import fingerprint
from ..infra import ModulePass, RewriteDriver, report_changed
from ..infra.execution import run
from .fold_constant import FoldConstantPass
from .inline import InlinePass
from .known_calls import fold_known_calls


@dataclass(frozen=True)
class PartialEvaluatePass(ModulePass):
    """No options."""

    name = "partial-evaluate"
    opt_level: ClassVar[int] = 1
    tvm_name: ClassVar[str | None] = "PartialEvaluate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        driver = RewriteDriver((TakeBranch(), TakeCase(), TakeBody()))
        first = before = fingerprint(op)
        while True:
            run(InlinePass(), op, ctx, force=True)
            driver.rewrite_module(op)
            run(FoldConstantPass(), op, ctx, force=True)
            fold_known_calls(op)
            if (now := fingerprint(op)) == before:
                break
            before = now
        report_changed(first != before)


def _take(op: Operation, region: Region, arguments: Sequence[SSAValue], rewriter: PatternRewriter) -> None:
    """Let what a region computes take the place of an operation."""
    end = region.block.last_op
    assert isinstance(end, YieldOp)
    given: dict[SSAValue, SSAValue] = dict(zip(region.block.args, arguments, strict=True))
    results = [given.get(value, value) for value in end.arguments]
    rewriter.erase(end)
    rewriter.inline_block(region.block, InsertPoint.before(op), list(arguments))
    rewriter.replace(op, [], results)


class TakeBranch(RewritePattern):
    """`if` of a constant: the branch that is taken"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter, /) -> None:
        owner = op.condition.owner
        known = owner.numpy() if isinstance(owner, ConstantOp) else None
        if known is not None:
            _take(op, op.then_region if known.item() else op.else_region, [], rewriter)


class TakeCase(RewritePattern):
    """`match` of what is constructed in sight: its case, given the fields"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MatchOp, rewriter: PatternRewriter, /) -> None:
        made = op.data.owner
        if isinstance(made, ConstructOp):
            name = made.constructor.data
            case = name if name in op.names else DEFAULT
            if case not in op.names:
                return  # it fails when it is run
            fields = list(made.operands) if case == name else []
            _take(op, op.regions[op.names.index(case)], fields, rewriter)


class TakeBody(RewritePattern):
    """The only call of a function value that is made in sight: its body"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ApplyOp, rewriter: PatternRewriter, /) -> None:
        made = op.callee.owner
        if isinstance(made, FnOp) and op.callee.has_one_use() and made.parent is op.parent:
            if not {"primitive", "Compiler", "Extern"} & made.attributes.keys():
                _take(op, made.body, list(op.arguments), rewriter)
                rewriter.erase(made)
