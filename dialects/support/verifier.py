"""Is a module well formed? xDSL's conditions, the dominance that xDSL does not check, and a place for every failure.

xDSL's own `verify` stops at the first failure and prints the whole module with it, and takes quadratic time in the
blocks of a region. Here all failures are found, each in the innermost operation at fault.
"""

from __future__ import annotations

from functools import cache
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, NoTerminator, SymbolTable
from xdsl.utils.exceptions import VerifyException

from .diagnostics import Diagnostic, Diagnostics, Note, Place, as_diagnostic

MAX_REPORTED = 20


def verify(module: ModuleOp) -> None:
    """Check `module`.

    Raises:
        Diagnostics: one for each operation at fault, at most `MAX_REPORTED`, in the order of the module.
    """
    if failures := find_failures(module):
        raise Diagnostics(failures[:MAX_REPORTED])


def find_failures(module: ModuleOp) -> list[Diagnostic]:
    """Everything that is wrong with `module`, in order. Operations around one at fault are not looked at."""
    ops = _in_order(module)
    failures: dict[int, Diagnostic] = {}
    bad: set[Operation] = set()
    dominance = Dominance()
    for index, op in enumerate(ops):
        if (failure := _check_operands(op, dominance)) is not None:
            failures[index] = failure
            _mark(op, bad)
        dominance.seen.add(op)
    for index in range(len(ops) - 1, -1, -1):
        op = ops[index]
        if op in bad:
            continue
        try:
            _check_structure(op)
            if op.has_trait(SymbolTable):
                _check_symbols(op)
            _check_by_itself(op)
        except (VerifyException, Diagnostic) as error:
            failures[index] = _placed(error, op)
            _mark(op, bad)
    return [failures[index] for index in sorted(failures)]


ALIKE = frozenset({"arith", "llvm", "math", "memref", "vector"})
"""Dialects whose plain operations (without regions, no terminators) are judged by their class, the types of their
operands and results, and their attributes alone."""
BRANCHES = frozenset({"llvm.br", "llvm.cond_br"})
"""Terminators that are judged so too, with the types that the blocks they lead to take."""
MAX_ALIKE = 20_000

_alike: set[object] = set()
"""What plain operations that were found right look like: those that look the same are right as well."""


def _check_by_itself(op: Operation) -> None:
    """What the operation's own class demands."""
    if op.regions or not _is_plain(type(op)):
        op.verify_()
        _check_sizes(op)
        return
    looks = (
        type(op),
        tuple([operand.type for operand in op.operands]),
        tuple([result.type for result in op.results]),
        tuple(op.properties.items()),
        tuple(op.attributes.items()),
        tuple([tuple(block.arg_types) for block in op.successors]),
    )
    if looks in _alike:
        return
    op.verify_()
    _check_sizes(op)
    if len(_alike) >= MAX_ALIKE:
        _alike.clear()
    _alike.add(looks)


@cache
def _is_plain(kind: type[Operation]) -> bool:
    terminates = kind.has_trait(IsTerminator) and kind.name not in BRANCHES
    return kind.dialect_name() in ALIKE and not terminates and not kind.has_trait(HasParent)


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


def _check_structure(op: Operation) -> None:
    """What xDSL's `Operation.verify` and `Block.verify` check, in time linear in the blocks."""
    if op.successors:
        block = op.parent
        if block is None or block.parent is None:
            raise VerifyException("an operation with successors must stand in a block of a region")
        if op.next_op is not None:
            raise VerifyException("an operation with successors must end its block")
        if any(successor.parent is not block.parent for successor in op.successors):
            raise VerifyException("branches to a block of another region")
    if not op.regions:
        return
    needs_terminator = not op.has_trait(NoTerminator)
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


MAX_ELEMENTS = 1 << 46
"""The largest tensor or buffer: a process cannot address more."""


def _check_sizes(op: Operation) -> None:
    """Tensors and buffers must be of a size that memory could hold."""
    for result in op.results:
        _check_size(result.type)
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                _check_size(argument.type)


def _check_size(type: Attribute) -> None:
    if isinstance(type, TensorType | MemRefType):
        if prod(n for n in type.get_shape() if n != DYNAMIC_INDEX) > MAX_ELEMENTS:
            raise VerifyException(f"{type} fits into no memory")


class Dominance:
    """Which values may be used where. `seen` holds the operations that come before, in the order of the module."""

    def __init__(self) -> None:
        self.seen: set[Operation] = set()
        self._idoms: dict[Region, dict[Block, Block]] = {}

    def holds(self, value: SSAValue, user: Operation) -> bool:
        """Whether `value` is defined on every way to `user`; asked while `user` is being visited."""
        definition = value.owner
        block = definition if isinstance(definition, Block) else definition.parent
        if block is None:
            return False
        if isinstance(definition, Operation) and user.parent is block:
            return definition in self.seen and definition is not user
        place = _ancestor_block(user, block.parent)
        if place is None:
            return False
        if place is not block:
            return self._dominates(block, place)
        if isinstance(definition, Block):
            return True
        return definition in self.seen and not (definition.regions and definition.is_ancestor(user))

    def _dominates(self, block: Block, other: Block) -> bool:
        region = block.parent
        assert region is not None
        if (idoms := self._idoms.get(region)) is None:
            idoms = self._idoms[region] = immediate_dominators(region)
        if other not in idoms:
            return True  # cannot be reached
        while other is not block:
            if idoms[other] is other:
                return False
            other = idoms[other]
        return True


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


def immediate_dominators(region: Region) -> dict[Block, Block]:
    """Block -> its immediate dominator, for blocks that can be reached; the entry block's is itself.

    After Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    entry = region.first_block
    if entry is None:
        return {}
    postorder: list[Block] = []
    predecessors: dict[Block, list[Block]] = {entry: []}
    pending: list[tuple[Block, bool]] = [(entry, False)]
    visited: set[Block] = {entry}
    while pending:
        block, done = pending.pop()
        if done:
            postorder.append(block)
            continue
        pending.append((block, True))
        for successor in block.last_op.successors if block.last_op is not None else ():
            predecessors.setdefault(successor, []).append(block)
            if successor not in visited:
                visited.add(successor)
                pending.append((successor, False))
    rank = {block: index for index, block in enumerate(postorder)}
    idoms = {entry: entry}
    changed = True
    while changed:
        changed = False
        for block in reversed(postorder):
            if block is entry:
                continue
            new: Block | None = None
            for predecessor in predecessors[block]:
                if predecessor in idoms:
                    new = predecessor if new is None else _common(predecessor, new, idoms, rank)
            assert new is not None
            if idoms.get(block) is not new:
                idoms[block] = new
                changed = True
    return idoms


def _common(a: Block, b: Block, idoms: dict[Block, Block], rank: dict[Block, int]) -> Block:
    while a is not b:
        while rank[a] < rank[b]:
            a = idoms[a]
        while rank[b] < rank[a]:
            b = idoms[b]
    return a


def _check_operands(op: Operation, dominance: Dominance) -> Diagnostic | None:
    block, seen = op.parent, dominance.seen
    for operand in op.operands:
        owner = operand.owner
        if owner is block or (owner in seen and owner.parent is block and owner is not op):
            continue  # the common case
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
