"""Do at compile time what is known then: calls, branches and data as well as arithmetic.

    %c = relay.constant dense<true>                       %y = relay.exp %x
    %y = relay.if %c {
      %0 = relay.exp %x; relay.yield %0             ->
    } else { .. }

In turns, until nothing changes: functions are put where they are called (`inline`), a branch takes the place of an `if`
whose condition is a constant, a case that of a `match` on what is constructed in sight, the body of a `relay.fn` that
of a call of it, what a reference in sight holds that of what is read of it (`known_references.py`), and constants are
folded. A call of a function that calls itself is run where all that it is given is known (`known_calls.py`), and put in
its place where the function takes apart what is constructed in sight; else it stays a call. Such calls, and those of
function values that are called more than once, are at most 256, and none within more than 32 branches.

Counterpart of TVM's `PartialEvaluate`, which also follows references that functions are given.
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
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp, YieldOp
from ...dialects.relay.data import DEFAULT, ConstructOp, MatchOp
from ...dialects.relay.functions import is_for
from ...dialects.support.fingerprint import fingerprint
from ..infra import ModulePass, RewriteDriver, report_changed
from ..infra.execution import run
from ..infra.walk import clone, erase, walk
from .defuse_ops import inline_call
from .fold_constant import FoldConstantPass
from .inline import InlinePass, knows_extents
from .known_calls import fold_known_calls
from .known_references import follow_references

MAX_UNROLLED = 256
"""So many calls may be put in place: of recursion on data that is known, and of function values called again."""
MAX_DEPTH = 32
"""Within more branches, cases and functions than this no such call is put in place: recursion may end there only by
what is not known."""


@dataclass
class Unrolling:
    """Counts calls that are put in place, of which there may be more and more."""

    left: int = MAX_UNROLLED

    def take(self, call: Operation) -> bool:
        """Whether one more call may be put in place, which is counted."""
        if not self.left or _depth(call) > MAX_DEPTH:
            return False
        self.left -= 1
        return True


def _depth(op: Operation) -> int:
    depth, parent = 0, op.parent_op()
    while parent is not None:
        depth, parent = depth + 1, parent.parent_op()
    return depth


@dataclass(frozen=True)
class PartialEvaluatePass(ModulePass):
    """No options."""

    name = "partial-evaluate"
    opt_level: ClassVar[int] = 1
    tvm_name: ClassVar[str | None] = "PartialEvaluate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        unrolling = Unrolling()
        driver = RewriteDriver((TakeBranch(), TakeCase(), TakeBody(unrolling)))
        first = before = fingerprint(op)
        while True:
            run(InlinePass(), op, ctx, force=True)
            driver.rewrite_module(op)
            while unroll_known_matches(op, unrolling):
                driver.rewrite_module(op)
            run(FoldConstantPass(), op, ctx, force=True)
            fold_known_calls(op)
            follow_references(op)
            if (now := fingerprint(op)) == before:
                break
            before = now
        report_changed(first != before)


def unroll_known_matches(module: ModuleOp, unrolling: Unrolling) -> bool:
    """Put functions that take apart what is constructed in sight where they are called; return whether they are."""
    taking: dict[str, tuple[FuncOp, list[int]]] = {}
    for op in module.ops:
        if isinstance(op, FuncOp) and not op.is_primitive and not is_for(op) and (taken := _taken_apart(op)):
            taking[op.sym_name.data] = op, taken
    found = False
    for call in [op for op in walk(module) if isinstance(op, CallOp) and op.callee.string_value() in taking]:
        function, taken = taking[call.callee.string_value()]
        if function.is_ancestor(call) or not knows_extents(call, function):
            continue
        if any(isinstance(call.arguments[number].owner, ConstructOp) for number in taken) and unrolling.take(call):
            inline_call(call, function)
            found = True
    return found


def _taken_apart(function: FuncOp) -> list[int]:
    """The numbers of the parameters that the body of a function, whatever is given, takes apart."""
    parameters: dict[SSAValue, int] = {each: number for number, each in enumerate(function.body.block.args)}
    matches = [op for op in function.body.block.ops if isinstance(op, MatchOp)]
    return [parameters[op.data] for op in matches if op.data in parameters]


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
    """A call of a function value that is made in sight: its body"""

    def __init__(self, unrolling: Unrolling):
        self.unrolling = unrolling

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ApplyOp, rewriter: PatternRewriter, /) -> None:
        made = op.callee.owner
        if isinstance(made, FnOp) and not {"primitive", "Compiler", "Extern"} & made.attributes.keys():
            if op.callee.has_one_use() and made.parent is op.parent:
                _take(op, made.body, list(op.arguments), rewriter)
                rewriter.erase(made)
            elif self.unrolling.take(op):
                copy = clone(made)
                _take(op, copy.body, list(op.arguments), rewriter)
                erase(copy)
