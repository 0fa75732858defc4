"""An access together with its block, and what is known of two of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.ir.affine import AffineExpr

from ..affine import Access, affine_map, affine_of
from ..blocks import BlockOp
from ..calls import Handed
from .branches import branches_of


@dataclass(frozen=True)
class Touch:
    """An access of a block, and its block."""

    block: BlockOp
    access: Access | Handed


def where_both_are_known(first: Touch, second: Touch) -> tuple[Touch, Touch] | None:
    """The accesses as if their indices were 0 in each dimension in which one is no affine expression of iterators, as
    where a loop within the block moves it: if the others tell them apart, they are. `None` if there are no others."""
    if isinstance(first.access, Handed) or isinstance(second.access, Handed):
        return None
    one = [affine_of(index, branches_of(first.block).dims) for index in first.access.op.indices]
    two = [affine_of(index, branches_of(second.block).dims) for index in second.access.op.indices]
    pairs = [(a, b) if a is not None and b is not None else None for a, b in zip(one, two, strict=True)]
    if not any(pairs):
        return None
    ours, theirs = zip(*[pair or (AffineExpr.constant(0), AffineExpr.constant(0)) for pair in pairs], strict=True)
    return _at(first.block, first.access, ours), _at(second.block, second.access, theirs)


def _at(block: BlockOp, access: Access, indices: tuple[AffineExpr, ...]) -> Touch:
    return Touch(block, replace(access, map=affine_map(len(block.sizes), list(indices))))
