"""Is a module well formed? xDSL's conditions, the dominance that xDSL does not check, and a place for every failure.

xDSL's own `verify` stops at the first failure and prints the whole module with it, and takes quadratic time in the
blocks of a region. Here all failures are found, each in the innermost operation at fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from .blame import at_fault
from .diagnostics import Diagnostic, Diagnostics, Note, Place
from .dominance import Dominance, is_isolated, ordered, tree_of_blocks
from .facts import while_unchanged
from .insides import next_of, operands_of, successors_of, type_of
from .judging import Judge, judge_of
from .looks import Look, Looks, plain_look
from .symbols import is_table
from .syntax import property_hint

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
    """Everything that is wrong with `module`, in order. Operations around one at fault are not looked at.

    A condition may lean on another operation that is itself at fault, as that of a call does on the function's type,
    and end in any exception. Such an operation is left out: what it leans on is told. Where nothing is, the condition
    has a mistake of its own, and its exception goes on.
    """
    looks = Looks()
    judges: dict[type[Operation], Judge] = {}
    asked, failures = _look_through(module, looks, judges)
    bad: set[Operation] = set()
    for op, wrong in failures.items():
        if isinstance(wrong, Diagnostic):
            _mark(op, bad)
    for op, look in reversed(asked):
        if (look is not None and look in looks.right) or (bad and op in bad):
            continue
        if (wrong := _judged(op, judges, look, looks)) is not None:
            failures[op] = wrong
            if isinstance(wrong, Diagnostic):
                _mark(op, bad)
    if not failures:
        return []
    told = list(failures.values())
    if len(failures) > 1:
        told = [failures[op] for op in ordered(module) if op in failures]
    if not (placed := [wrong for wrong in told if isinstance(wrong, Diagnostic)]):
        raise told[0]
    return placed


_Pause: TypeAlias = "Block | list[int] | tuple[Operation, list[int]]"
"""What is gone on with: a block to look through, values that are not to be seen any more, or an operation whose regions
have been looked through, and the values of its block so far."""


def _judged(
    op: Operation, judges: Mapping[type[Operation], Judge], look: Look | None, looks: Looks
) -> Exception | None:
    """What is wrong with an operation, its operands aside; `look` is how it looks, where that tells all. What is no
    `Diagnostic` was raised by a condition that could not be judged."""
    try:
        if op.regions or successors_of(op):
            _check_structure(op)
            if op.regions and is_table(type(op)):
                _check_symbols(op)
        judges[type(op)](op, look, looks)
    except (VerifyException, Diagnostic) as error:
        return _placed(error, op)
    except Exception as error:
        return error
    return None


def _look_through(
    module: ModuleOp, looks: Looks, judges: dict[type[Operation], Judge]
) -> tuple[list[tuple[Operation, Look | None]], dict[Operation, Exception]]:
    """The operations that do not look like one that is right, each before those within it, with their looks, if these
    tell all; and those with an operand that is not defined where they stand, and why.

    What can be seen is kept as a set of values, by their `id`: those of the blocks that dominate the one that is looked
    through, as far as they stand before, and of the operations around. So blocks are gone through by the tree of
    dominators. Who uses what is not in the set is judged by `Dominance`.
    """
    asked: list[tuple[Operation, Look | None]] = [(module, None)]
    failures: dict[Operation, Exception] = {}
    dominance = Dominance(module)
    right = looks.right
    judges[type(module)] = judge_of(type(module))
    seen: set[int] = set()
    outside: list[set[int]] = []
    below: dict[int, list[Block]] = {}
    """The blocks that are gone through after one, which sees what that has."""
    pauses: list[_Pause] = []
    _enter(module, pauses, below)
    while pauses:
        pause = pauses.pop()
        if type(pause) is Block:
            block = pause
            here = [*map(id, block.args)]
            seen.update(here)
            op = block.first_op
        elif type(pause) is tuple:
            op, here = pause
            if is_isolated(type(op)):
                seen = outside.pop()
            block = op.parent
            assert block is not None
            here += (new := [*map(id, op.results)])
            seen.update(new)
            op = op.next_op
        else:
            seen.difference_update(cast("list[int]", pause))
            continue
        while op is not None:
            operands, kind = operands_of(op), type(op)
            is_defined = seen.issuperset(map(id, operands))
            plain: Look | None = None
            if not (op.regions or successors_of(op)) and is_defined:
                # `plain_look(op, id)`, and what the operation defines; most look like one that is right
                look: list[object] = [id(type_of(operand)) for operand in operands]
                look.append(kind)
                for result in op.results:
                    look.append(id(type_of(result)))
                    here.append(number := id(result))
                    seen.add(number)
                if properties := op.properties:
                    look += properties
                    look += map(id, properties.values())
                if attributes := op.attributes:
                    look.append(None)
                    look += attributes
                    look += map(id, attributes.values())
                if (plain := tuple(look)) in right and kind in judges:
                    op = next_of(op)
                    continue
            wrong = None if is_defined else dominance.why_not(op)
            if wrong is not None:
                failures[op] = wrong
            else:
                if (judge := judges.get(kind)) is None:
                    judge = judges[kind] = judge_of(kind)
                if (looking := judge.telling) is None:
                    asked.append((op, None))
                elif (whole := plain if looking is plain_look else looking(op, id)) not in right:
                    if whole is None or op.regions:
                        asked.append((op, whole))
                    elif (wrong := _judged(op, judges, whole, looks)) is not None:
                        failures[op] = wrong
            if op.regions:
                pauses.append((op, here))
                if is_isolated(kind):
                    outside.append(seen)
                    seen = set()
                _enter(op, pauses, below)
                break
            for result in op.results:
                here.append(number := id(result))
                seen.add(number)
            op = next_of(op)
        else:
            if below and (next := below.get(id(block))):
                pauses += (here, *reversed(next))
            else:
                seen.difference_update(here)
    return asked, failures


def _enter(op: Operation, pauses: list[_Pause], below: dict[int, list[Block]]) -> None:
    """Go on with the regions of `op`."""
    for region in reversed(op.regions):
        if (first := region.first_block) is not region.last_block:
            blocks, tree = tree_of_blocks(region)
            below |= tree
            pauses += reversed(blocks)
        elif first is not None:
            pauses.append(first)


def _mark(op: Operation, bad: set[Operation]) -> None:
    current: Operation | None = op
    while current is not None and current not in bad:
        bad.add(current)
        current = current.parent_op()


def _placed(error: VerifyException | Diagnostic, op: Operation) -> Diagnostic:
    if isinstance(error, Diagnostic) and error.place is not None:
        return error
    if isinstance(error, VerifyException):
        return at_fault(op, error)
    return Diagnostic.at(op, error.message, notes=error.notes, hint=error.hint or property_hint(op))


@cache
def _needs_terminator(kind: type[Operation]) -> bool:
    return not kind.has_trait(NoTerminator)


@cache
def _is_terminator(kind: type[Operation]) -> bool:
    return kind.has_trait(IsTerminator, value_if_unregistered=True)


def _check_structure(op: Operation) -> None:
    """What xDSL's `Operation.verify` and `Block.verify` check, in time linear in the blocks."""
    if successors_of(op):
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
        if region.first_block is region.last_block and not needs_terminator:
            continue
        for block in region.blocks:
            if (last := block.last_op) is None:
                raise VerifyException("a block of its region is empty, but must end with a terminator")
            if not _is_terminator(type(last)):
                raise VerifyException(f"a block of its region must end with a terminator, not '{last.name}'")


def _check_symbols(table: Operation) -> None:
    """No two operations of a table of symbols have one name."""
    first: dict[str, Operation] = {}
    for op in table.regions[0].block.ops:
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr) and (other := first.setdefault(name.data, op)) is not op:
            note = Note("the first one stands here", Place.of_location(other.location))
            raise Diagnostic.at(op, f"there is another @{name.data} in this module", notes=[note])
