"""Walking, copying and erasing IR without recursion: nests of any depth, chains of any length.

xDSL's own `walk`, `clone` and `erase` recurse over regions and end in a `RecursionError` in deep nests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.support.insides import operands_of

OpT = TypeVar("OpT", bound=Operation)


def _children(op: Operation) -> Iterator[Operation]:
    for region in op.regions:
        for block in region.blocks:
            yield from block.ops


def walk(root: Operation) -> Iterator[Operation]:
    """`root` and everything nested in it, each operation before its regions, in the order of the text.

    The operation last yielded may be erased or replaced; what is inserted after it is visited.
    """
    yield root
    stack = [_children(root)] if root.regions else []
    while stack:
        for op in stack[-1]:
            yield op
            if op.regions:
                stack.append(_children(op))
                break
        else:
            stack.pop()


def walk_post_order(root: Operation) -> Iterator[Operation]:
    """`root` and everything nested in it, each operation after its regions: TVM's `PostOrderVisit`.

    An operation's operands come before it wherever values are defined before they are used.
    """
    stack: list[tuple[Operation, Iterator[Operation]]] = [(root, _children(root))]
    while stack:
        op, children = stack[-1]
        for child in children:
            if child.regions:
                stack.append((child, _children(child)))
                break
            yield child
        else:
            stack.pop()
            yield op


def clone(root: OpT, values: dict[SSAValue, SSAValue] | None = None) -> OpT:
    """A copy of `root` and all that is in it; `values` maps operands from outside, and is filled with old -> new."""
    values = {} if values is None else values
    blocks: dict[Block, Block] = {}
    copied: list[tuple[Operation, Operation]] = []

    def shallow(op: Operation) -> Operation:
        new = op.clone_without_regions(values, blocks, clone_operands=False)
        copied.append((op, new))
        return new

    result = root.clone_without_regions(values, blocks, clone_operands=False)
    copied.append((root, result))
    filled: list[tuple[Region, list[Block]]] = []
    stack: list[tuple[Region, Region]] = list(zip(root.regions, result.regions, strict=True))
    while stack:
        old_region, new_region = stack.pop()
        new_blocks: list[Block] = []
        for old_block in old_region.blocks:
            new_block = Block(arg_types=old_block.arg_types)
            new_blocks.append(new_block)
            blocks[old_block] = new_block
            for old_arg, new_arg in zip(old_block.args, new_block.args, strict=True):
                new_arg.name_hint, new_arg.location = old_arg.name_hint, old_arg.location
                values[old_arg] = new_arg
        for old_block, new_block in zip(old_region.blocks, new_blocks, strict=True):
            for op in old_block.ops:
                new = shallow(op)
                new_block.add_op(new)
                if op.regions:
                    stack.extend(zip(op.regions, new.regions, strict=True))
        filled.append((new_region, new_blocks))
    for region, new_blocks in reversed(filled):  # innermost first: xDSL looks through all levels above for circles
        region.add_block(new_blocks)
    for old, new in copied:
        if operands_of(old):
            new.operands = [values.get(operand, operand) for operand in operands_of(old)]
    return result


def erase(op: Operation, safe_erase: bool = True) -> None:
    """Erase `op`, which may stand in a block or alone, and all that is in it.

    Raises:
        Exception: `safe_erase`, and a result of `op` is used outside of it.
    """
    if op.parent is not None:
        op.detach()
    inner = list(walk(op))[1:]
    for nested in inner:
        nested.operands = ()
        nested.successors = ()
    for nested in reversed(inner):
        nested.detach()
        nested.erase(safe_erase=safe_erase)
    op.erase(safe_erase=safe_erase)
