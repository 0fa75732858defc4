"""A loop may run as its kind says.

Iterations that run at the same time are independent. Where that cannot be shown, because data says which elements they
touch, or because the indices are too many to look at, the loop is refused, unless its annotation `independent` asserts
it. Of what is asserted only what is certainly wrong is found here; the interpreter of `tir` finds the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..blocks import BlockOp, blocks_under
from ..loops import INDEPENDENT, ForKind, ForOp
from .carried import check_carried
from .dependence import check_independence
from .finding import Finding
from .reductions import carries_reduction, shared_reductions


def check_kind(loop: ForOp, kind: ForKind, axis: str | None = None) -> Iterator[Finding]:
    """Whether the iterations of `loop` may run as `kind` has it: at the same time only where no two depend on each
    other, none is a step of a reduction, and none finds in a private buffer what another one left. A single one does
    not find there what an earlier run of the loop left, either.

    Threads of a block, along `axis`, may share a reduction: they add up their parts together.
    """
    if not kind.is_concurrent or loop.size == 0:
        return
    if loop.size != 1:
        yield from _check_together(loop, kind, axis)
    for finding in check_carried(loop, kind):
        yield finding if finding.certain or loop.is_independent else _refused(kind, finding)


def _check_together(loop: ForOp, kind: ForKind, axis: str | None) -> Iterator[Finding]:
    """Whether no two iterations of `loop` depend on each other, nor are steps of a reduction."""
    name = f"%{loop.var.name_hint or 'i'}"
    shared = shared_reductions(loop, axis) if kind == ForKind.THREAD_BINDING else []
    for block in blocks_under(loop):
        if block in shared:
            continue
        if (iterator := carries_reduction(loop, block)) is not None:
            yield Finding(
                block,
                f"block @{block.block_name} stands in a {kind.value} loop, {name}, to which it "
                f"binds iterator {iterator}: its steps cannot run at the same time",
                hint="let the loop be serial, or bind a spatial iterator to it",
            )
            return
    for finding in check_independence(loop, reducing=shared, kind=kind):
        if finding.certain:
            what = f"a {kind.value} loop, {name}, whose iterations depend on each other"
            yield replace(finding, message=f"it stands in {what}: {finding.message}")
        elif not loop.is_independent:
            yield _refused(kind, finding)
        else:
            yield finding


def check_uses(loop: ForOp) -> Iterator[Finding]:
    """A block uses the variable of `loop` where it has no iterator for it, so that nothing is known of its accesses."""
    for use in loop.var.uses:
        op = use.operation
        block = op.parent_op()
        while block is not None and block is not loop and not isinstance(block, BlockOp):
            block = block.parent_op()
        if isinstance(block, BlockOp):
            name = f"%{loop.var.name_hint or 'i'}"
            yield Finding(
                op,
                f"block @{block.block_name} uses {name}, the variable of a loop around it",
                hint=f"bind an iterator of the block to {name}, and use that",
            )
            return


def _refused(kind: ForKind, finding: Finding) -> Finding:
    hint = (
        f"let the loop be serial, or let it assert that its iterations are independent: annotations {{{INDEPENDENT}}}"
    )
    return replace(finding, message=f"it stands in a {kind.value} loop: {finding.message}", hint=hint, certain=True)
