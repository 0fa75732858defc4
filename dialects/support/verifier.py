"""Is a module well formed? xDSL's conditions, the dominance that xDSL does not check, and a place for every failure.

xDSL's own `verify` stops at the first failure and prints the whole module with it, and takes quadratic time in the
blocks of a region. Here all failures are found, each in the innermost operation at fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, SymbolTable
from xdsl.utils.exceptions import VerifyException

from .diagnostics import Diagnostic, Diagnostics, Note, Place, as_diagnostic
from .facts import while_unchanged
from .judging import Judge, Looks, judge_of

MAX_REPORTED = 20


def verify(module: ModuleOp) -> None:
    """Check `module`.

    Raises:
        Diagnostics: one for each operation at fault, at most `MAX_REPORTED`, in the order of the module.
    """
    if failures := find_failures(module):
        raise Diagnostics(failures[:MAX_REPORTED])


@while_unchanged
def find_failures(module: ModuleOp) -> list[Diagnostic]:
    """Everything that is wrong with `module`, in order. Operations around one at fault are not looked at."""
    ops = _in_order(module)
    failures: dict[int, Diagnostic] = {}
    bad: set[Operation] = set()
    dominance = Dominance()
    seen = dominance.seen
    looks = Looks()
    judges: dict[type[Operation], Judge] = {}
    for index, op in enumerate(ops):
        block = op.parent
        for operand in op._operands:  # pyright: ignore[reportPrivateUsage]
            # The common case: an operation before this one in its block, or an argument of that.
            if type(operand) is OpResult:
                if operand.op.parent is block and id(operand.op) in seen:
                    continue
            elif type(operand) is BlockArgument and operand.block is block:
                continue
            if (failure := _check_operands(op, dominance)) is not None:
                failures[index] = failure
                _mark(op, bad)
            break
        seen.add(id(op))
    for index in range(len(ops) - 1, -1, -1):
        op = ops[index]
        if bad and op in bad:
            continue
        try:
            if op.regions or op.successor_uses:
                _check_structure(op)
                if op.regions and op.has_trait(SymbolTable):
                    _check_symbols(op)
            if (judge := judges.get(type(op))) is None:
                judge = judges[type(op)] = judge_of(type(op))
            judge(op, looks)
        except (VerifyException, Diagnostic) as error:
            failures[index] = _placed(error, op)
            _mark(op, bad)
    return [failures[index] for index in sorted(failures)]


def _in_order(module: ModuleOp) -> list[Operation]:
    """All operations, each before those within it, without recursion."""
    ops: list[Operation] = []
    pending: list[Operation] = [module]
    while pending:
        op = pending.pop()
        ops.append(op)
        if op.regions:
            inner = [child for region in op.regions for block in region.blocks for child in block.ops]
            pending.extend(reversed(inner))
    return ops


def _mark(op: Operation, bad: set[Operation]) -> None:
    current: Operation | None = op
    while current is not None and current not in bad:
        bad.add(current)
        current = current.parent_op()


def _placed(error: Exception, op: Operation) -> Diagnostic:
    if isinstance(error, Diagnostic) and error.place is not None:
        return error
    place = Place.of_location(op.location)
    diagnostic = as_diagnostic(error, place)
    assert diagnostic is not None
    message = diagnostic.message.removeprefix("Operation does not verify: ").removeprefix(f"'{op.name}' ")
    return Diagnostic(f"'{op.name}': {message}", place, notes=diagnostic.notes, hint=diagnostic.hint)


@cache
def _needs_terminator(kind: type[Operation]) -> bool:
    return not kind.has_trait(NoTerminator)


def _check_structure(op: Operation) -> None:
    """What xDSL's `Operation.verify` and `Block.verify` check, in time linear in the blocks."""
    if op.successor_uses:
        block = op.parent
        if block is None or block.parent is None:
            raise VerifyException("an operation with successors must stand in a block of a region")
        if op.next_op is not None:
            raise VerifyException("an operation with successors must end its block")
        if any(successor.parent is not block.parent for successor in op.successors):
            raise VerifyException("branches to a block of another region")
    if not op.regions:
        return
    needs_terminator = _needs_terminator(type(op))
    for region in op.regions:
        several = region.first_block is not region.last_block
        for block in region.blocks:
            if not (several or needs_terminator):
                continue
            if (last := block.last_op) is None:
                raise VerifyException("a block of its region is empty, but must end with a terminator")
            if not last.has_trait(IsTerminator, value_if_unregistered=True):
                raise VerifyException(f"a block of its region must end with a terminator, not '{last.name}'")


def _check_symbols(table: Operation) -> None:
    """No two operations of a table of symbols have one name."""
    first: dict[str, Operation] = {}
    for op in table.regions[0].block.ops:
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr) and (other := first.setdefault(name.data, op)) is not op:
            note = Note("the first one stands here", Place.of_location(other.location))
            raise Diagnostic.at(op, f"there is another @{name.data} in this module", notes=[note])


class Dominance:
    """Which values may be used where. `seen` holds the operations that come before in the module, by their `id`."""

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self._trees: dict[Region, dict[int, tuple[int, int]]] = {}
        self._reaches: dict[tuple[int, int], bool | None] = {}

    def holds(self, value: SSAValue, user: Operation) -> bool:
        """Whether `value` is defined on every way to `user`; asked while `user` is being visited."""
        definition = value.owner
        if type(definition) is Block:  # `isinstance` takes long where it says no
            block, inside = definition, False
        else:
            assert not isinstance(definition, Block)
            block, inside = definition.parent, user.parent is definition.parent
        if block is None:
            return False
        if inside:
            return id(definition) in self.seen and definition is not user
        key = (id(block), id(user.parent))
        try:
            reached = self._reaches[key]
        except KeyError:
            reached = self._reaches[key] = self._reached(block, user)
        if reached is not None:
            return reached
        if isinstance(definition, Block):
            return True
        return id(definition) in self.seen and not (definition.regions and definition.is_ancestor(user))

    def _reached(self, block: Block, user: Operation) -> bool | None:
        """Whether `block` is passed on every way to `user`; `None` where `user` stands in an operation of the block."""
        place = _ancestor_block(user, block.parent)
        if place is block:
            return None
        return place is not None and self._dominates(block, place)

    def _dominates(self, block: Block, other: Block) -> bool:
        region = block.parent
        assert region is not None
        if (tree := self._trees.get(region)) is None:
            tree = self._trees[region] = dominator_tree(region)
        if (place := tree.get(id(other))) is None:
            return True  # cannot be reached
        within = tree.get(id(block))
        return within is not None and within[0] <= place[0] <= within[1]


def _ancestor_block(op: Operation, region: Region | None) -> Block | None:
    """The block of `region` in which `op` stands, directly or in nested regions that are not isolated."""
    block = op.parent
    while block is not None and block.parent is not region:
        parent = block.parent_op()
        if parent is None or _is_isolated(type(parent)):
            return None
        block = parent.parent
    return block


@cache
def _is_isolated(kind: type[Operation]) -> bool:
    return kind.has_trait(IsolatedFromAbove)


def dominator_tree(region: Region) -> dict[int, tuple[int, int]]:
    """Where each block that can be reached stands in the tree of immediate dominators, by its `id`: it dominates the
    blocks whose first number is from its first to its second.

    After Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    entry = region.first_block
    if entry is None:
        return {}
    successors: dict[int, list[int]] = {}
    postorder: list[int] = []
    pending: list[tuple[Block, bool]] = [(entry, False)]
    while pending:
        block, done = pending.pop()
        if done:
            postorder.append(id(block))
        elif id(block) not in successors:
            last = block.last_op
            next = [] if last is None else list(last.successors)
            successors[id(block)] = [id(successor) for successor in next]
            pending.append((block, True))
            pending.extend((successor, False) for successor in next if id(successor) not in successors)
    return _intervals(_immediate_dominators(postorder[::-1], successors), postorder[::-1])


def _immediate_dominators(order: Sequence[int], successors: Mapping[int, Sequence[int]]) -> list[int]:
    """Of each block of `order`, a reverse postorder, its immediate dominator, by its place there; the first is its
    own."""
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


def _check_operands(op: Operation, dominance: Dominance) -> Diagnostic | None:
    block, seen = op.parent, dominance.seen
    for operand in op.operands:
        try:
            owner = operand.owner
        except ValueError:  # xDSL's parser has met the name in front of what has it, of another region
            name = f"'%{operand.name_hint}'" if operand.name_hint else "a value"
            return Diagnostic.at(op, f"uses {name}, which is not defined where it stands")
        if owner is block or (id(owner) in seen and owner.parent is block):
            continue
        if dominance.holds(operand, op):
            continue
        name = f"'%{operand.name_hint}'" if operand.name_hint else "a value"
        definition = operand.owner
        notes: list[Note] = []
        if isinstance(operand, OpResult) and isinstance(definition, Operation):
            notes = [Note("it is defined here", Place.of_location(definition.location))]
        inside = definition if isinstance(definition, Block) else definition.parent
        if inside is None or inside.parent is None:
            why = f"uses {name}, which is defined outside of the module"
        elif isinstance(definition, Operation) and op.parent is inside:
            why = f"uses {name} before it is defined"
        elif _crosses_isolation(op, inside.parent):
            why = f"uses {name}, which is defined outside of the isolated operation around this one"
        else:
            why = f"uses {name}, which is not defined on every way that leads here"
        return Diagnostic.at(op, why, notes=notes)
    return None


def _crosses_isolation(op: Operation, region: Region) -> bool:
    block = op.parent
    while block is not None and block.parent is not region:
        parent = block.parent_op()
        if parent is None:
            return False
        if parent.has_trait(IsolatedFromAbove):
            return True
        block = parent.parent
    return False
