"""Patterns of what has regions: branches, and functions as values.

    branches = is_if(wildcard(), is_op("add")(a, b), wildcard())
    function = FunctionPattern([x, y], x + y)
    called = function(is_var("a"), is_var("b"))           # the function, applied to these

What stands in a region is matched like all else: a pattern of a parameter matches the region's argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Block, SSAValue

from ....dialects.relay.control import FnOp, IfOp
from ....dialects.relay.core import YieldOp
from .match import Goal, Match
from .pattern import FUNCTION, DFPattern, defining_op


class IfPattern(DFPattern):
    """One of two values, as a condition says."""

    root_ops = frozenset({IfOp.name})

    def __init__(self, cond: DFPattern, true_branch: DFPattern, false_branch: DFPattern):
        self.cond, self.true_branch, self.false_branch = cond, true_branch, false_branch

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        op = defining_op(value)
        if not isinstance(op, IfOp):
            return ()
        then, otherwise = _given(op.then_region.block), _given(op.else_region.block)
        if then is None or otherwise is None:
            return ()
        return [((self.cond, op.condition), (self.true_branch, then), (self.false_branch, otherwise))]


class FunctionPattern(DFPattern):
    """A function value, whose parameters match `params` in their order (`None` for any), and what it gives `body`."""

    root_ops = frozenset({FUNCTION})

    def __init__(self, params: Sequence[DFPattern] | None, body: DFPattern):
        self.params, self.body = None if params is None else tuple(params), body

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        op = defining_op(value)
        if not isinstance(op, FnOp) or (given := _given(op.body.block)) is None:
            return ()
        arguments = op.body.block.args
        if self.params is None:
            return [((self.body, given),)]
        if len(self.params) != len(arguments):
            return ()
        return [(*zip(self.params, arguments, strict=True), (self.body, given))]


def is_if(cond: DFPattern, true_branch: DFPattern, false_branch: DFPattern) -> IfPattern:
    """One of two values, as a condition says."""
    return IfPattern(cond, true_branch, false_branch)


def _given(block: Block) -> SSAValue | None:
    """The one value that a region gives."""
    end = block.last_op
    return end.operands[0] if isinstance(end, YieldOp) and len(end.operands) == 1 else None
