"""Rewrite rules as rows of a table: an identity, the pattern of its left side, its right side, a guard.

    x, y = wildcard(), wildcard()
    ROWS = (
        Row("x / sqrt(y) = x * rsqrt(y)", x / is_op("sqrt")(y), lambda s: s.emit(MultiplyOp(s[x], s.emit(RsqrtOp(s[y]))))),
        Row("x + 0 = x", x + filled_with(0), lambda s: s[x]),
    )

What holds of every row: the right side takes the place of the left one only where it has the same type, and reads no
value that the left side does not compute or read. So a row may drop an operand by which the other would be widened.
Operations inside of the left side that are used elsewhere stay.

Rows are `RewritePattern`s. They are found by the class of the operation at the root, and given up before the search
where an operand cannot be what the pattern asks for: a table costs little where nothing matches.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ....dialects.relay import Relay
from ..emitter import Emitter
from .match import Goal, Match, find_match
from .pattern import APPLY, COMMUTATIVE, CallPattern, DFPattern, defining_op


class ClassPattern(DFPattern):
    """A result of an operation of one of some classes."""

    def __init__(self, *classes: type[Operation]):
        self.classes = classes

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        return ((),) if isinstance(defining_op(value), self.classes) else ()


class PredicatePattern(DFPattern):
    """A value of which something holds; `made_by`, if given, are the operations that can make such a value."""

    def __init__(self, holds: Callable[[SSAValue], bool], made_by: Iterable[type[Operation]] | None = None):
        self.holds = holds
        if made_by is not None:
            self.root_ops = frozenset(op.name for op in made_by)

    def alternatives(self, value: SSAValue, match: Match) -> Iterable[Sequence[Goal]]:
        made = self.root_ops is None or getattr(value.owner, "name", None) in self.root_ops
        return ((),) if made and self.holds(value) else ()


@dataclass(frozen=True)
class Site:
    """Where a row has matched: `op` is at the root, `s[x]` what the pattern `x` has matched."""

    op: Operation
    match: Match
    emit: Emitter

    def __getitem__(self, pattern: DFPattern) -> SSAValue:
        return self.match[pattern]


@dataclass(frozen=True, eq=False)
class Row(RewritePattern):
    """An identity of operations with one result."""

    identity: str
    pattern: DFPattern
    right: Callable[[Site], SSAValue]
    guard: Callable[[Site], bool] = lambda site: True

    @property
    def pattern_name(self) -> str:
        return self.identity

    @cached_property
    def op_types(self) -> tuple[type[Operation], ...]:
        """The operations that can be at the root."""
        root = self.pattern.op if isinstance(self.pattern, CallPattern) else self.pattern
        if isinstance(root, ClassPattern):
            return root.classes
        assert root.root_ops is not None, f"{self.identity}: anything could be at the root"
        found = (Relay.find(name) for name in sorted(root.root_ops))
        return tuple(op for op in found if op is not None)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not may_match(self.pattern, op) or (match := find_match(self.pattern, op.results[0])) is None:
            return
        site = Site(op, match, Emitter())
        if not self.guard(site):
            return
        new = self.right(site)
        if new.type == op.results[0].type:
            rewriter.replace(op, site.emit.ops, [new])
        else:
            for made in reversed(site.emit.ops):
                made.erase()


def may_match(pattern: DFPattern, op: Operation) -> bool:
    """Whether the operations that make the operands of `op` are such as `pattern` asks for: no search is made."""
    if not isinstance(pattern, CallPattern) or pattern.arguments is None or op.name == APPLY:
        return True
    if len(op.operands) != len(pattern.arguments):
        return False
    makers = [getattr(operand.owner, "name", None) for operand in op.operands]
    wanted = [argument.root_ops for argument in pattern.arguments]
    if all(ops is None or maker in ops for ops, maker in zip(wanted, makers, strict=True)):
        return True
    return op.name in COMMUTATIVE and all(
        ops is None or maker in ops for ops, maker in zip(reversed(wanted), makers, strict=True)
    )
