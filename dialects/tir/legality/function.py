"""All that is checked of a function when it is verified."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ..blocks import BlockOp, blocks_under
from ..buffers import AllocBufferOp
from ..loops import ForOp
from ..outer_blocks import OuterBlockOp
from ..specialize import symbols_of
from ..storage_sync import StorageSyncOp
from .bounds import check_accesses, check_bindings, check_coverage
from .definedness import all_values_are_shown, check_values
from .finding import Finding
from .loops import check_kind, check_uses
from .scopes import check_constant, check_reach
from .steps import check_steps
from .symbolic import (
    check_symbolic_accesses,
    check_symbolic_bindings,
    check_symbolic_coverage,
    check_symbolic_divisors,
    refutations,
)


def check_function(func: Operation) -> None:
    """Check the loops, blocks and buffers of a `tir.prim_func`; one with symbols as it stands, and at a few sizes.

    Raises:
        Diagnostic: the first thing that is certainly wrong, at its operation.
    """
    is_sure = proved = True
    for finding in _without_proofs(func):
        _refuse(finding)
        is_sure, proved = False, proved and finding.by_data
    if not symbols_of(func):
        return
    proved = proved and all(finding.by_data for finding in _proofs_missing(func))  # up to the first that is missing
    if proved and all_values_are_shown(blocks_under(func)):
        return
    left = _values_missing if proved else _decided_by_sizes if is_sure else findings
    for finding in refutations(func, left, proved=proved):
        _refuse(finding)


def _values_missing(func: Operation) -> Iterator[Finding]:
    return check_values(blocks_under(func))


def _decided_by_sizes(func: Operation) -> Iterator[Finding]:
    """What the checks have to say about a function of known extents beside what they say whatever the extents are: of
    one with symbols, where all of that is sure, nothing else is to be looked at."""
    blocks = blocks_under(func)
    for block in blocks:
        yield from check_bindings(block)
        yield from check_accesses(block)
    yield from check_coverage(blocks)
    yield from check_values(blocks)


def _refuse(finding: Finding) -> None:
    if finding.certain:
        diagnostic = finding.diagnostic()
        raise diagnostic if diagnostic.place is not None else VerifyException(diagnostic.message)


def not_proved(func: Operation) -> list[Finding]:
    """What could be shown neither to be right nor to be wrong, in a `tir.prim_func` that verifies."""
    return [finding for finding in findings(func) if not finding.certain]


def findings(func: Operation) -> Iterator[Finding]:
    """Everything that the checks have to say about a function."""
    yield from _without_proofs(func)
    if symbols_of(func):
        yield from _proofs_missing(func)


def _proofs_missing(func: Operation) -> Iterator[Finding]:
    """What is not shown for all sizes of a function with symbols."""
    blocks = blocks_under(func)
    for block in blocks:
        yield from check_symbolic_bindings(block)
        yield from check_symbolic_accesses(block)
    yield from check_symbolic_coverage(blocks)


def _without_proofs(func: Operation) -> Iterator[Finding]:
    """What the checks have to say about a function, in order, but for what its symbols leave to be shown."""
    blocks: list[BlockOp] = []
    symbolic = bool(symbols_of(func))
    pending: list[Operation] = [func]
    while pending:
        op = pending.pop()
        match op:
            case BlockOp():
                blocks.append(op)
                if symbolic:
                    yield from check_symbolic_divisors(op)
                else:
                    yield from check_bindings(op)
                    yield from check_accesses(op)
                yield from check_steps(op)
                continue
            case ForOp():
                yield from check_uses(op)
                yield from check_kind(op, op.for_kind)
            case AllocBufferOp():
                yield from check_reach(op)
                yield from check_constant(op)
                continue
            case OuterBlockOp():
                pass
            case StorageSyncOp():
                continue
            case _ if op is not func:
                yield Finding(
                    op,
                    "stands among loops, where only tir.for, tir.block, tir.outer_block, tir.alloc_buffer and "
                    "tir.storage_sync may",
                    hint="put it into a tir.block",
                )
                continue
            case _:
                pass
        pending.extend(reversed(list(op.regions[0].block.ops)))
    if not symbolic:
        yield from check_coverage(blocks)
        yield from check_values(blocks)
