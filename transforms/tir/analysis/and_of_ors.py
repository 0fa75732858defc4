"""Conditions as an `and` of `or`s, of which the parts that follow from others are left out.

`(a or i == 20) and (a or i != 30)` is `a or i == 20`: where the first `or` holds, so does the second, since `i == 20`
says that `i != 30`. `i == 20 or i != 30` is `i != 30`, by the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from .known_conditions import KnownConditions

Logic = arith.AndIOp | arith.OrIOp
P = TypeVar("P")


def is_whole(op: Logic) -> bool:
    """Whether a condition is not a part of a larger one."""
    return not any(isinstance(use.operation, arith.AndIOp | arith.OrIOp) for use in op.result.uses)


def without_implied_parts(op: Logic, conditions: KnownConditions) -> SSAValue | None:
    """The condition that `op` computes with fewer parts, computed before it; `None` where each part says something."""

    def says(first: SSAValue, second: SSAValue) -> bool:
        if first is second:
            return True
        facts = conditions.facts(first, True)
        return bool(facts) and conditions.decide(second, facts) is True

    def says_group(first: Sequence[SSAValue], second: Sequence[SSAValue]) -> bool:
        return all(any(says(a, b) for b in second) for a in first)

    groups = [_parts(each, arith.OrIOp) for each in _parts(op.result, arith.AndIOp)]
    # of an `or`, a part that says another one adds nothing; of an `and`, a part that another one says
    shorter = [_kept(group, says) for group in groups]
    kept = _kept(shorter, lambda asked, given: says_group(given, asked))
    if sum(map(len, kept)) == sum(map(len, groups)):
        return None
    made: list[Operation] = []
    ors = [_joined(group, arith.OrIOp, made) for group in kept]
    whole = _joined(ors, arith.AndIOp, made)
    if made:
        Rewriter.insert_op(made, InsertPoint.before(op))
    return whole


def _parts(value: SSAValue, kind: type[Logic]) -> list[SSAValue]:
    """What a chain of one operation joins."""
    if not isinstance(op := value.owner, kind):
        return [value]
    return [*_parts(op.lhs, kind), *_parts(op.rhs, kind)]


def _kept(parts: Sequence[P], needless: Callable[[P, P], bool]) -> list[P]:
    """The parts without those that are needless beside another one that is kept."""
    kept = list(parts)
    for number in reversed(range(len(kept))):
        others = [*kept[:number], *kept[number + 1 :]]
        if any(needless(kept[number], other) for other in others):
            kept = others
    return kept


def _joined(parts: Sequence[SSAValue], kind: type[Logic], made: list[Operation]) -> SSAValue:
    result = parts[0]
    for part in parts[1:]:
        op = kind(result, part)
        made.append(op)
        result = op.result
    return result
