"""Loops around those that fill memory: how often LLVM may write them out.

LLVM makes a call to `memset` of a loop that stores one value in a row, counts it as a single instruction where it looks
how long a loop around becomes that is unrolled fully, and makes up to a hundred stores of it afterwards. Of rows filled
one after the other,

    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c81 step %c1 {
        scf.for %k = %c0 to %c81 step %c1 { memref.store %zero, ... }

come 1296 calls in one block, then thousands of stores, and scheduling takes time with the third power of their number
in a block (324 of 256 bytes three seconds). So a loop with more than `MOST` fills in its turns together, none of which
an inner loop keeps to itself, is not unrolled, unless its annotation says what is to be done.
"""

from __future__ import annotations

from xdsl.dialects import arith, func, memref, scf, vector
from xdsl.ir import Attribute, Block, SSAValue

from ...dialects.extensions.llvm_loop_annotation import HintAttr, LoopAnnotationAttr, LoopUnrollAttr

MOST = 64
"""Fills that may follow one another in a block: LLVM takes a tenth of a second for them."""

_READING = (memref.LoadOp, vector.LoadOp, func.CallOp)


def is_fill(op: scf.ForOp) -> bool:
    """Whether all that a loop does is to store a value that it does not compute, in one place of each turn."""
    stored: list[SSAValue] = []
    for each in op.body.block.ops:
        match each:
            case memref.StoreOp():
                stored.append(each.value)
            case vector.StoreOp():
                stored.append(each.vector)
            case _ if each.regions or isinstance(each, _READING):
                return False
            case _:
                pass
    if len(stored) != 1:
        return False
    owner = stored[0].owner
    return isinstance(owner, arith.ConstantOp) or (owner if isinstance(owner, Block) else owner.parent) != op.body.block


def filled(op: scf.ForOp, trips: int | None, each: int, annotation: Attribute | None) -> tuple[int, Attribute | None]:
    """The fills that a loop becomes where LLVM unrolls it, and its annotation, which may forbid that now.

    Args:
        trips: the number of turns, if it is known.
        each: the fills in a turn.
    """
    if is_fill(op):
        return 1, annotation
    if trips is None:
        return each, annotation
    hints = annotation.hints() if isinstance(annotation, LoopAnnotationAttr) else {}
    if "unroll" not in hints and each * trips > MOST:
        annotation = LoopAnnotationAttr.of(**hints, unroll=LoopUnrollAttr.of(disable=True))
        return each, annotation
    unroll = hints.get("unroll")
    is_rolled = isinstance(unroll, HintAttr) and unroll.flag("disable")
    return each if is_rolled else each * trips, annotation
