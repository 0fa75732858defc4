"""Rewriting and partitioning with data-flow patterns: TVM's `rewrite`, `DFPatternCallback` and `partition`.

    class AddSelfToDouble(DFPatternCallback):
        def __init__(self):
            super().__init__()
            self.x = wildcard()
            self.pattern = self.x + self.x

        def callback(self, value, match, rewriter):
            two = rewriter.insert(ConstantOp.from_numpy(np.float32(2)))
            return rewriter.insert(MultiplyOp(match[self.x], two)).results[0]

    changed = rewrite([AddSelfToDouble()], func)

A callback is an xDSL `RewritePattern` too, so it can stand in the table of a `PatternPass`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from ....dialects.relay.base import Value, as_attribute
from ....dialects.relay.control import ApplyOp, FnOp, IfOp
from ....dialects.relay.core import CallOp, ConstantOp, PrimitiveOp, TupleGetOp, TupleOp, YieldOp
from ....dialects.relay.regions import PARTITIONED
from ...infra import remarks
from ...infra.driver import RewriteDriver
from ...infra.walk import erase, walk
from .control_patterns import FunctionPattern, IfPattern
from .match import Match
from .pattern import (
    CallPattern,
    ConstantPattern,
    DFPattern,
    ExprPattern,
    OpPattern,
    TupleGetItemPattern,
    TuplePattern,
    defining_op,
)

Check: TypeAlias = Callable[[Match], bool]
"""Whether a match is wanted."""

_COMPUTING = (CallPattern, OpPattern, TuplePattern, TupleGetItemPattern, FunctionPattern, IfPattern)


class DFPatternCallback(RewritePattern):
    """What to put in the place of matches of `pattern`, which a subclass sets.

    Matches with an operation inside whose result is also used outside are left, as TVM leaves them, with a remark.

    Args:
        rewrite_once: do not apply it to what it has made.
    """

    pattern: DFPattern

    def __init__(self, rewrite_once: bool = False):
        self.rewrite_once = rewrite_once

    @abstractmethod
    def callback(self, value: SSAValue, match: Match, rewriter: PatternRewriter) -> SSAValue | None:
        """The value to have in the place of `value`, which matched; `None` to leave it.

        New operations are made with `rewriter`. `match` says what each pattern has matched; types are known.
        """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        for value in op.results:
            if value.first_use is None or (match := self.pattern.match(value)) is None:
                continue  # what nobody uses may be what was replaced
            if (leak := _leak(value, computed_inside(match))) is not None:
                name = type(self).__name__
                remarks.missed(name, leak, "a match is left: this operation inside of it has a use outside")
                continue
            new = self.callback(value, match, rewriter)
            if new is not None and new is not value:
                rewriter.replace_all_uses_with(value, new)
                return


def rewrite(callbacks: DFPatternCallback | Sequence[DFPatternCallback], root: Operation) -> bool:
    """Rewrite what matches in `root`, in place, until nothing does; later operations first, so that the largest matches
    win. Callbacks with `rewrite_once` are applied first.

    Returns:
        Whether anything changed.
    """
    callbacks = [callbacks] if isinstance(callbacks, DFPatternCallback) else list(callbacks)
    once = [callback for callback in callbacks if callback.rewrite_once]
    others = [callback for callback in callbacks if not callback.rewrite_once]
    changed = bool(once) and RewriteDriver(once, recursive=False, reverse=True).rewrite(root)
    return (bool(others) and RewriteDriver(others, reverse=True).rewrite(root)) or changed


def partition(
    pattern: DFPattern,
    root: Operation,
    attributes: Mapping[str, Value] | None = None,
    check: Check | None = None,
) -> bool:
    """Put the operations of each match in `root` into a `relay.primitive` region of their own, in place.

    What matched wildcards and parameters becomes the region's operands; a constant that matched as one, or as an
    expression, is copied into it. The operation gets `attributes`, and `PartitionedFromPattern` with the names of the
    operations inside.

    Later operations are looked at first, and matches that share an operation with an earlier one are left, and those
    with a use of an inner result outside.

    Returns:
        Whether anything matched.
    """
    taken: set[Operation] = set()
    changed = False
    for op in reversed(list(walk(root))[1:]):
        if op in taken or _is_partitioned(op.parent_op()):
            continue
        for value in op.results:
            match = pattern.match(value)
            if match is None or (check is not None and not check(match)):
                continue
            inside = computed_inside(match)
            if not inside or any(o in taken or o.parent is not op.parent for o in inside):
                continue
            if (leak := _leak(value, inside)) is not None:
                remarks.missed("partition", leak, "a match is left: this operation inside of it has a use outside")
                continue
            taken.update(inside)
            _outline(value, _operands_first(value, inside), match, attributes or {})
            changed = True
            break
    return changed


def _is_partitioned(op: Operation | None) -> bool:
    """Whether an operation is a region that a partitioning has made."""
    return isinstance(op, PrimitiveOp) and PARTITIONED in op.attributes


def computed_inside(match: Match) -> dict[Operation, None]:
    """The operations of a match: not those that matched wildcards, parameters or constants, which are its inputs, nor
    those of functions and branches that are of it themselves."""
    inside: dict[Operation, None] = {}
    for pattern, value in match.items():
        if isinstance(pattern, _COMPUTING) and (op := defining_op(value)) is not None:
            inside[op] = None
    inside.update(dict.fromkeys(op for op in match.path if not isinstance(op, ConstantOp)))
    holders = {op for op in inside if op.regions}
    return {op: None for op in inside if op.parent_op() not in holders} if holders else inside


def _leak(value: SSAValue, inside: Mapping[Operation, None]) -> Operation | None:
    """An operation of a match with a use outside of it, but for those of `value`."""
    for op in inside:
        for result in op.results:
            if result is not value and any(use.operation not in inside for use in result.uses):
                return op
    return None


def _operands_first(value: SSAValue, inside: Mapping[Operation, None]) -> list[Operation]:
    """The operations of a match in the order in which they can be computed."""
    ordered: dict[Operation, None] = {}
    stack = [(op, False) for op in (*inside, defining_op(value)) if op is not None]
    while stack:
        op, expanded = stack.pop()
        if op in ordered:
            continue
        if expanded:
            ordered[op] = None
            continue
        stack.append((op, True))
        stack.extend((o, False) for v in reversed(op.operands) if (o := defining_op(v)) in inside and o is not None)
    return list(ordered)


def _named(op: Operation) -> str:
    """What an operation is called in `PartitionedFromPattern`, as TVM has it."""
    match op:
        case TupleGetOp():
            return f"TupleGetItem{op.index.value.data}_"
        case TupleOp():
            return "Tuple_"
        case IfOp():
            return "If_"
        case FnOp():  # what it does
            return "".join(_named(inner) for inner in op.body.block.ops if not isinstance(inner, YieldOp | ConstantOp))
        case ApplyOp() | CallOp():
            return "FunctionCall_"
        case _:
            return f"{op.name.removeprefix('relay.')}_"


def _outline(value: SSAValue, ops: list[Operation], match: Match, attributes: Mapping[str, Value]) -> None:
    """Move `ops` into a region at the place of the last one, which gives `value`."""
    embedded = {v for p, v in match.items() if isinstance(p, ConstantPattern | ExprPattern)}
    embedded = {v for v in embedded if isinstance(v.owner, ConstantOp)}
    body = Block()
    moved: dict[SSAValue, SSAValue] = {}
    inputs: list[SSAValue] = []
    for op in ops:
        for operand in op.operands:
            if operand in moved:
                continue
            if operand in embedded and (constant := defining_op(operand)) is not None:
                copy = constant.clone()
                body.add_op(copy)
                moved[operand] = copy.results[0]
            else:
                argument = body.insert_arg(operand.type, len(body.args))
                argument.name_hint = operand.name_hint
                inputs.append(operand)
                moved[operand] = argument
        copy = op.clone(moved)
        body.add_op(copy)
    body.add_op(YieldOp(moved[value]))
    last = ops[-1]
    region = PrimitiveOp(inputs, [value.type], Region(body))
    names = "".join(map(_named, ops))
    region.attributes = {PARTITIONED: StringAttr(names)}
    region.attributes |= {name: as_attribute(v) for name, v in attributes.items()}
    region.location = last.location
    assert last.parent is not None
    last.parent.insert_op_before(region, last)
    region.results[0].name_hint = value.name_hint
    value.replace_all_uses_with(region.results[0])
    for op in reversed(ops):
        erase(op)
    for constant in embedded:
        if constant.first_use is None and (op := defining_op(constant)) is not None:
            erase(op)
