"""Orders of the operations of a block: that of expressions, and one that definitions and effects allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsTerminator

from ...infra.walk import walk
from ..purity import impure_functions, is_pure


def inner_blocks(op: Operation) -> list[Block]:
    """The blocks in the regions of an operation."""
    return [block for region in op.regions for block in region.blocks]


def expression_order(block: Block) -> list[Operation]:
    """The operations of a block as TVM visits the expression that it is: from what it gives back, operands from left to
    right, each before what uses it. What nothing uses comes last."""
    last = block.last_op
    starts = [] if last is None else [last]
    starts += [op for op in block.ops if op is not last]
    seen: set[Operation] = set()
    order: list[Operation] = []
    for start in starts:
        stack = [(start, iter(makers(start, block)))] if start not in seen else []
        seen.add(start)
        while stack:
            op, pending = stack[-1]
            for maker in pending:
                if maker not in seen:
                    seen.add(maker)
                    stack.append((maker, iter(makers(maker, block))))
                    break
            else:
                order.append(op)
                stack.pop()
    return order


def makers(op: Operation, block: Block) -> list[Operation]:
    """The operations of `block` that make what `op`, and what is in its regions, uses."""
    used: list[SSAValue] = list(op.operands)
    if op.regions:
        used += [operand for inner in walk(op) if inner is not op for operand in inner.operands]
    made = dict.fromkeys(value.op for value in used if isinstance(value, OpResult) and value.op is not op)
    return [maker for maker in made if maker.parent is block]


def sorted_by_definitions(block: Block) -> Sequence[Operation] | None:
    """The operations of a block so that each comes after what it uses, and those with effects stay in their order; as
    far as may be, in the order in which they stand. `None` where they wait for one another."""
    before: dict[Operation, set[Operation]] = {}
    effect: Operation | None = None
    root = block.get_toplevel_object()
    impure = impure_functions(root if isinstance(root, Operation) else None)
    for op in block.ops:
        before[op] = set(makers(op, block))
        if _has_effect(op, impure):
            if effect is not None:
                before[op].add(effect)
            effect = op
    last = block.last_op
    if last is not None and last.has_trait(IsTerminator):
        before[last] |= {op for op in before if op is not last}
    order: dict[Operation, None] = {}
    for start in before:
        stack: list[tuple[Operation, Iterator[Operation]]] = []
        if start not in order:
            stack.append((start, _in_text_order(before[start], block)))
        open_ops = {start}
        while stack:
            op, pending = stack[-1]
            for wanted in pending:
                if wanted in open_ops:
                    return None
                if wanted not in order:
                    open_ops.add(wanted)
                    stack.append((wanted, _in_text_order(before[wanted], block)))
                    break
            else:
                order[op] = None
                open_ops.discard(op)
                stack.pop()
    return list(order)


def _has_effect(op: Operation, impure: frozenset[str]) -> bool:
    """Whether it matters when an operation runs; what has regions does what stands in them."""
    inner = [op] if not op.regions else [each for each in walk(op) if each is not op]
    return any(not each.has_trait(IsTerminator) and not is_pure(each, impure) for each in inner if not each.regions)


def _in_text_order(ops: Iterable[Operation], block: Block) -> Iterator[Operation]:
    wanted = set(ops)
    return iter([op for op in block.ops if op in wanted]) if len(wanted) > 1 else iter(wanted)


def reorder(block: Block, order: Sequence[Operation]) -> None:
    """Put the operations of a block into an order."""
    if list(block.ops) == list(order):
        return
    for op in order:
        op.detach()
    block.add_ops(order)


def blocks_of(region: Region) -> Iterator[Block]:
    """The blocks in a region and in the regions within, those of `relay.primitive` left out, which are whole."""
    for block in region.blocks:
        yield block
        for op in block.ops:
            if op.name != "relay.primitive":
                for inner in op.regions:
                    yield from blocks_of(inner)
