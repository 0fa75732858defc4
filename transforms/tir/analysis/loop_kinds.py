"""What a loop does: whether the iterators that are bound to it are spatial or reduce."""

from __future__ import annotations

from ....dialects.tir.affine import dims_in
from ....dialects.tir.core import BlockOp, ForOp, IterKind, blocks_under


def bound_dims(block: BlockOp, loop: ForOp) -> list[int]:
    """The numbers of the iterators whose values follow from the loop's variable."""
    places = {number for number, value in enumerate(block.loop_vars) if value is loop.var}
    return [n for n, expr in enumerate(block.bindings.data.results) if dims_in(expr) & places]


def loop_kind(loop: ForOp) -> IterKind:
    """Spatial or reducing, as all iterators that are bound to it; opaque where they differ."""
    kinds = {block.kinds[n] for block in blocks_under(loop) for n in bound_dims(block, loop)}
    if not kinds <= {IterKind.SPATIAL, IterKind.REDUCE} or len(kinds) > 1:
        return IterKind.OPAQUE
    return kinds.pop() if kinds else IterKind.SPATIAL
