"""Where the places in a block's body are reached: what the branches around them say of the block's iterators.

An access under `scf.if` is made where the condition holds; under a condition that data has a say in, perhaps. What is
computed before each iteration of `scf.while` is computed once at least, what an iteration does perhaps never.
`tir.assert` says nothing: what follows is done even where it fails. `tir.assume` says nothing either: no code is made
for it, and a promise that is not kept must not lead out of memory.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import scf
from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from ...support.facts import remembered
from ..affine import affine_of, over_dimensions
from ..blocks import BlockOp
from ..conditions import EVERYWHERE, SOMEWHERE, Conditions, Guard
from ..symbols import as_affine, dimension, greatest


@remembered
def branches_of(block: BlockOp) -> Branches:
    """What the branches in the body and the init of `block` say."""
    return Branches(block)


class Branches:
    """Where the regions in a block are reached, over its iterators as dimensions."""

    def __init__(self, block: BlockOp):
        self.block = block
        self.dims: Mapping[SSAValue, AffineExpr] = {
            value: dim for region in block.regions for value, dim in over_dimensions(region.block.args).items()
        }
        ends = [extent if isinstance(extent, int) else greatest(as_affine(extent)) for extent in block.sizes]
        ranges = {dimension(number): (0, max(end - 1, 0)) for number, end in enumerate(ends)}
        self.conditions = Conditions(lambda value: affine_of(value, self.dims), ranges)
        self._known: dict[Region, Guard] = {}

    def around(self, op: Operation) -> Guard:
        """Where `op`, an operation in the block, is reached."""
        region = op.parent_region()
        assert region is not None
        if (known := self._known.get(region)) is None:
            known = self._known[region] = self._reached(region)
        return known

    def _reached(self, region: Region) -> Guard:
        parent = region.parent
        assert parent is not None
        if parent is self.block:
            return EVERYWHERE
        match parent:
            case scf.IfOp():
                own = self.conditions.of(parent.cond, region is parent.true_region)
            case scf.WhileOp() if region is parent.before_region:
                own = EVERYWHERE
            case _:
                own = SOMEWHERE
        return self.around(parent).and_(own)
