"""A loop may run as its kind says."""

from __future__ import annotations

from collections.abc import Iterator

from ..blocks import blocks_under
from ..loops import ForKind, ForOp
from .carried import check_carried
from .dependence import carries_reduction, check_independence
from .finding import Finding


def check_kind(loop: ForOp, kind: ForKind) -> Iterator[Finding]:
    """Whether the iterations of `loop` may run as `kind` has it: at the same time only where no two depend on each
    other, none is a step of a reduction, and none finds in a private buffer what another one left."""
    if not kind.is_concurrent or loop.size in (0, 1):
        return
    for block in blocks_under(loop):
        if (iterator := carries_reduction(loop, block)) is not None:
            yield Finding(
                block,
                f"block @{block.block_name} stands in a {kind.value} loop, %{loop.var.name_hint or 'i'}, to which it "
                f"binds iterator {iterator}: its steps cannot run at the same time",
                hint="let the loop be serial, or bind a spatial iterator to it",
            )
            return
    for finding in check_independence(loop):
        if finding.certain:
            what = f"a {kind.value} loop, %{loop.var.name_hint or 'i'}, whose iterations depend on each other"
            yield Finding(finding.op, f"it stands in {what}: {finding.message}", finding.hint)
        else:
            yield finding
    yield from check_carried(loop, kind)
