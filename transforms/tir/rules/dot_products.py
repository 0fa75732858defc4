"""Sum products of bytes four at a time, where the processor does.

A reduction of products of two bytes each into 32 bits, whose innermost loop of four steps walks through neighbours on
both sides, takes these steps at once: its loop becomes a tensor intrinsic (`../intrinsics/dot_products.py`). What is
left is a reduction with a quarter of the steps, which is tiled for registers as others are.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Operation

from ....dialects.tir.core import BlockOp, ForOp, IterKind, memref_of
from ....dialects.tir.dot import WIDTH, DotOp
from ...infra.remarks import missed
from ..analysis.producers import stores_of
from ..intrinsics.dot_products import dot_name
from ..schedule.errors import ScheduleError
from ..scheduling.recorded import tensorize
from .choosing import is_chosen
from .registers import VectorRegisters

TAKEN = {
    "vnni": ((True, False), (False, True), (False, False)),
    "dotprod": ((False, False), (True, True)),
    "pmaddwd": ((True, False), (False, True), (False, False), (True, True)),
}
"""Instructions -> which sides may be without a sign."""


def use_dot_products(block: BlockOp, dot: str | None) -> bool:
    """Let `block` sum four products at once, if it sums products of bytes and the target's `dot` can; says whether."""
    if dot is None or not block.is_reduction or block.init is None or (loop := _loop_of_bytes(block)) is None:
        return False
    sides = _sides(block)
    if sides is None or sides not in TAKEN[dot] or not is_chosen("dot-products", block):
        return False
    try:
        tensorize(loop, dot_name(*sides, starts=True))
    except ScheduleError as error:
        missed("schedule-rules", block, f"products of bytes are summed one by one: {error.message}")
        return False
    return True


def registers_for(block: BlockOp, registers: VectorRegisters, dot: str | None) -> VectorRegisters:
    """The registers as the tile of `block` has them: bytes that are made numbers of 16 bits, the even ones and the odd
    ones, fill two for each vector that is read."""
    takes_words = dot == "pmaddwd" and any(isinstance(op, DotOp) for op in block.body.block.ops)
    return replace(registers, each=2) if takes_words else registers


def _loop_of_bytes(block: BlockOp) -> ForOp | None:
    """The innermost loop, if it takes four steps of the reduction."""
    loop = block.parent_op()
    if not isinstance(loop, ForOp) or loop.size != WIDTH or not block.loop_vars:
        return None
    bindings = zip(block.kinds, block.bindings.data.results, strict=True)
    position = list(block.loop_vars).index(loop.var) if loop.var in block.loop_vars else -1
    return loop if any(kind == IterKind.REDUCE and position in b.used_dims() for kind, b in bindings) else None


def _sides(block: BlockOp) -> tuple[bool, bool] | None:
    """Whether the bytes of each side have no sign; `None` where there is no product of bytes."""
    stores = stores_of(block)
    if len(stores) != 1 or memref_of(stores[0].memref).element_type != i32:
        return None
    for op in block.body.block.ops:
        if isinstance(op, arith.MuliOp) and op.result.type == i32:
            sides = [_without_sign(operand.owner) for operand in op.operands]
            if sides[0] is None or sides[1] is None:
                return None
            return sides[0], sides[1]
    return None


def _without_sign(op: object) -> bool | None:
    """Whether what `op` makes wider is a byte without a sign; `None` where it does not make a byte wider."""
    if not isinstance(op, arith.ExtSIOp | arith.ExtUIOp) or not isinstance(load := op.input.owner, Operation):
        return None
    if not isinstance(load, memref.LoadOp) or load.res.type != i8:
        return None
    return isinstance(op, arith.ExtUIOp)
