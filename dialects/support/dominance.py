"""Which values may be used where: what xDSL does not check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property

from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from .diagnostics import Diagnostic, Note, Place
from .insides import successors_of


class Dominance:
    """Which values may be used where, in a module that nothing changes."""

    def __init__(self, module: Operation) -> None:
        self._module = module
        self._trees: dict[Region, dict[int, tuple[int, int]]] = {}

    @cached_property
    def _places(self) -> dict[int, int]:
        """The operations of the module, by their `id`, in order."""
        return {id(op): place for place, op in enumerate(ordered(self._module))}

    def precedes(self, definition: Operation, user: Operation) -> bool:
        """Whether both stand in the module, `definition` before `user`."""
        places = self._places
        return id(definition) in places and places[id(definition)] < places[id(user)]

    def holds(self, value: SSAValue, user: Operation) -> bool:
        """Whether `value` is defined on every way to `user`."""
        definition = value.owner
        block = definition if isinstance(definition, Block) else definition.parent
        if block is None:
            return False
        if not isinstance(definition, Block) and user.parent is block:
            return self.precedes(definition, user)
        place = _ancestor_block(user, block.parent)
        if place is not block:
            return place is not None and self._dominates(block, place)
        if isinstance(definition, Block):
            return True
        return self.precedes(definition, user) and not (definition.regions and definition.is_ancestor(user))

    def _dominates(self, block: Block, other: Block) -> bool:
        region = block.parent
        assert region is not None
        if (tree := self._trees.get(region)) is None:
            tree = self._trees[region] = dominator_tree(region)
        if (place := tree.get(id(other))) is None:
            return True  # cannot be reached
        within = tree.get(id(block))
        return within is not None and within[0] <= place[0] <= within[1]

    def why_not(self, user: Operation) -> Diagnostic | None:
        """What is wrong with the first operand of `user` that is not defined on every way there, if one is not."""
        for operand in user.operands:
            name = f"'%{operand.name_hint}'" if operand.name_hint else "a value"
            try:
                definition = operand.owner
            except ValueError:  # xDSL's parser has met the name in front of what has it, of another region
                return Diagnostic.at(user, f"uses {name}, which is not defined where it stands")
            if self.holds(operand, user):
                continue
            notes: list[Note] = []
            if isinstance(operand, OpResult) and isinstance(definition, Operation):
                notes = [Note("it is defined here", Place.of_location(definition.location))]
            inside = definition if isinstance(definition, Block) else definition.parent
            if inside is None or inside.parent is None:
                why = f"uses {name}, which is defined outside of the module"
            elif isinstance(definition, Operation) and user.parent is inside:
                why = f"uses {name} before it is defined"
            elif _crosses_isolation(user, inside.parent):
                why = f"uses {name}, which is defined outside of the isolated operation around this one"
            else:
                why = f"uses {name}, which is not defined on every way that leads here"
            return Diagnostic.at(user, why, notes=notes)
        return None


def ordered(root: Operation) -> list[Operation]:
    """`root` and all operations in it, each before those within it, without recursion."""
    ops: list[Operation] = []
    pending: list[Operation] = [root]
    while pending:
        op = pending.pop()
        ops.append(op)
        if op.regions:
            inner = [child for region in op.regions for block in region.blocks for child in block.ops]
            pending.extend(reversed(inner))
    return ops


def _ancestor_block(op: Operation, region: Region | None) -> Block | None:
    """The block of `region` in which `op` stands, directly or in nested regions that are not isolated."""
    block = op.parent
    while block is not None and block.parent is not region:
        parent = block.parent_op()
        if parent is None or is_isolated(type(parent)):
            return None
        block = parent.parent
    return block


@cache
def is_isolated(kind: type[Operation]) -> bool:
    """Whether what stands in operations of a class sees nothing of what is around them."""
    return kind.has_trait(IsolatedFromAbove)


def tree_of_blocks(region: Region) -> tuple[list[Block], dict[int, list[Block]]]:
    """The blocks of a region by which others are reached: the roots, that is its entry and what cannot be reached, and
    for each block, by its `id`, those whose immediate dominator it is."""
    order, successors = _reached(region)
    below: dict[int, list[Block]] = {}
    for block, idom in list(zip(order, _immediate_dominators([*map(id, order)], successors), strict=True))[1:]:
        below.setdefault(id(order[idom]), []).append(block)
    return [*order[:1], *(block for block in region.blocks if id(block) not in successors)], below


def reached_blocks(region: Region) -> list[Block]:
    """The blocks that can be reached from the entry of a region, each behind those that dominate it."""
    return _reached(region)[0]


def dominator_tree(region: Region) -> dict[int, tuple[int, int]]:
    """Where each block that can be reached stands in the tree of immediate dominators, by its `id`: it dominates the
    blocks whose first number is from its first to its second."""
    order, successors = _reached(region)
    numbers = [*map(id, order)]
    return _intervals(_immediate_dominators(numbers, successors), numbers) if order else {}


def _reached(region: Region) -> tuple[list[Block], dict[int, list[int]]]:
    """The blocks that can be reached from the entry in reverse postorder, and the successors of each, by their `id`."""
    entry = region.first_block
    if entry is None:
        return [], {}
    successors: dict[int, list[int]] = {}
    postorder: list[Block] = []
    pending: list[tuple[Block, bool]] = [(entry, False)]
    while pending:
        block, done = pending.pop()
        if done:
            postorder.append(block)
        elif id(block) not in successors:
            last = block.last_op
            ways = () if last is None else successors_of(last)
            next = [each for each in ways if each.parent is region]
            successors[id(block)] = [*map(id, next)]
            pending.append((block, True))
            pending.extend([(successor, False) for successor in next if id(successor) not in successors])
    return postorder[::-1], successors


def _immediate_dominators(order: Sequence[int], successors: Mapping[int, Sequence[int]]) -> list[int]:
    """Of each block of `order`, a reverse postorder, its immediate dominator, by its place there; the first is its
    own.

    After Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    place = {block: number for number, block in enumerate(order)}
    predecessors: list[list[int]] = [[] for _ in order]
    for number, block in enumerate(order):
        for successor in successors[block]:
            predecessors[place[successor]].append(number)
    idoms = [0, *(-1 for _ in order[1:])]
    changed = True
    while changed:
        changed = False
        for number in range(1, len(order)):
            new = -1
            for other in predecessors[number]:
                if idoms[other] < 0:
                    continue
                while new >= 0 and new != other:
                    if other > new:
                        other = idoms[other]
                    else:
                        new = idoms[new]
                new = other
            if idoms[number] != new:
                idoms[number] = new
                changed = True
    return idoms


def _intervals(idoms: Sequence[int], order: Sequence[int]) -> dict[int, tuple[int, int]]:
    """The tree with its blocks numbered such that those which one dominates follow it."""
    children: list[list[int]] = [[] for _ in order]
    for number in range(1, len(order)):
        children[idoms[number]].append(number)
    first: dict[int, int] = {}
    tree: dict[int, tuple[int, int]] = {}
    pending: list[tuple[int, bool]] = [(0, False)]
    while pending:
        number, done = pending.pop()
        if done:
            tree[order[number]] = first[number], len(first) - 1
            continue
        first[number] = len(first)
        pending.append((number, True))
        pending.extend((child, False) for child in children[number])
    return tree


def _crosses_isolation(op: Operation, region: Region) -> bool:
    """Whether `op` stands in `region`, but within an isolated operation there."""
    block, crossed = op.parent, False
    while block is not None and block.parent is not region:
        parent = block.parent_op()
        if parent is None:
            return False
        crossed = crossed or is_isolated(type(parent))
        block = parent.parent
    return crossed and block is not None
