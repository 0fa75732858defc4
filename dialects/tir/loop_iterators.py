"""Iterators that are variables of loops: what a block has that says nothing of its own about its order.

TVM's opaque blocks have no iterators, and speak of the loops around them. Here, what a block's body speaks of is an
iterator; one that is a loop's variable, of the kind that says no more than the loop does, is what stands for that.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from .affine import simplify
from .blocks import BlockOp, IterKind, blocks_under
from .loops import ForKind, ForOp, loop_of
from .symbols import Extent, as_affine, as_extent

STATEMENT = "statement"
"""What a block is called that is made of a statement among loops."""


def kind_of(loop: ForOp) -> IterKind:
    """Iterations of a loop keep their order, unless they are said to run at once."""
    return IterKind.SPATIAL if loop.for_kind.is_concurrent else IterKind.OPAQUE


def end_of(loop: ForOp) -> Extent:
    """What a loop's variable stays below: the extent of an iterator that is that variable."""
    return as_extent(simplify(as_affine(loop.size) + AffineConstantExpr(loop.start)))


def speaks_of_loops(block: BlockOp) -> bool:
    """Whether a block's iterators are variables of loops, and say nothing else."""
    loops = [loop_of(variable) for variable in block.loop_vars]
    bindings = block.bindings.data.results
    positions = [expr.position for expr in bindings if isinstance(expr, AffineDimExpr)]
    if block.init is not None or len(positions) != len(bindings):
        return False
    own = zip(positions, block.kinds, block.sizes, strict=True)
    return all(kind == kind_of(loops[number]) and size == end_of(loops[number]) for number, kind, size in own)


def make_serial(loop: ForOp) -> None:
    """Let the iterations of a loop run one after the other. A statement among loops speaks of it as before: it says no
    more than the loops do, so that it is still no block to who reads the function."""
    statements = [b for b in blocks_under(loop) if b.block_name == STATEMENT and speaks_of_loops(b)]
    loop.for_kind = ForKind.SERIAL
    loop.properties.pop("thread", None)
    for block in statements:
        positions = [expr.position for expr in block.bindings.data.results if isinstance(expr, AffineDimExpr)]
        kinds = [kind_of(loop_of(block.loop_vars[number])) for number in positions]
        block.properties["iter_kinds"] = ArrayAttr([StringAttr(kind.value) for kind in kinds])
