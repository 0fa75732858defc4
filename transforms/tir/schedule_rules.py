"""Schedule every function by rules, from its accesses alone.

In this order: cheap stages are inlined; products of bytes and of bf16 go to the matrix unit, where the target has one,
or bytes are summed four at a time, where the target does that; reductions
that can be are tiled for vector registers, with what follows them; chains of reductions are computed row by row; what
is left gets parallel outer loops.

Before -> after, for a dense layer with a bias and relu:

```mlir
tir.prim_func @fused_nn_dense_add_nn_relu(...) { dense: for i, j, k    add: for i, j    relu: for i, j }

tir.prim_func @fused_nn_dense_add_nn_relu(...) {
  tir.for parallel %j_0_i_0 = ...
    dense_init: unrolled rows, columns, vectorized lanes
    dense: for k: unrolled rows, columns, vectorized lanes
    relu: unrolled rows, columns, vectorized lanes, with the bias inlined
```

Does not: search (`weft-tune` does, in what the rules leave open), or look at operators' names. A function that has loop
kinds already was scheduled by hand or by a record, and is left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.ir import BlockArgument, Operation
from xdsl.ir.affine import AffineExpr

from ...dialects.support.facts import while_unchanged
from ...dialects.support.vector_unit import VectorUnit, vector_unit_of
from ...dialects.support.walking import all_within
from ...dialects.tir.buffers import shape_of
from ...dialects.tir.core import BlockOp, ForKind, ForOp, IterKind, PrimFuncOp, blocks_under, enclosing_loops
from ...dialects.tir.loops import INDEPENDENT
from ...dialects.tir.symbols import likely
from ..infra import PrimFuncPass
from ..infra.remarks import missed
from .rules.auto_inline import inline_all, is_placed
from .rules.cases import schedule_cases
from .rules.choosing import is_chosen
from .rules.dot_products import registers_for, use_dot_products
from .rules.product_rows import schedule_product_rows
from .rules.register_tile import tile_reduction, way_for
from .rules.registers import VectorRegisters
from .rules.rows import schedule_rows
from .rules.spatial import PARALLEL_MIN_STEPS, schedule_alone
from .schedule.errors import ScheduleError
from .scheduling.recorded import recording, set_kind
from .scheduling.trace import write_record

REFUSED = "a rule does what a primitive refuses, and nothing is scheduled"
"""What is said of a function that rules should have left alone, or another way."""


@dataclass(frozen=True)
class ScheduleRulesPass(PrimFuncPass):
    """Choose loop order, tiles, vectors and threads for every `tir.prim_func`.

    `vector-bytes` and `vector-registers` describe the target's vector registers, `dot` (`vnni`, `dotprod`, `pmaddwd`)
    its dot products of bytes, `matrix` (`int8`, `bf16`, `bf16_pairs`) what it adds up products of by tiles and in
    pairs, `machine` (`l2=1M,fmas=1`) what it takes for its work; without them, the module's `weft.target` does.
    `record-to` names a folder that gets a file for each function, with what was done to it as a `schedule.sequence`,
    which `apply-schedule{record=...}` does again.
    """

    name = "schedule-rules"
    required: ClassVar[tuple[str, ...]] = ("lower-te",)

    vector_bytes: int | None = None
    vector_registers: int | None = None
    dot: str | None = None
    matrix: tuple[str, ...] | None = None
    machine: str | None = None
    record_to: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        VectorUnit().with_dot(self.dot).with_matrix(self.matrix).with_machine(self.machine)

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        if any(loop.for_kind != ForKind.SERIAL for loop in all_within(func, ForOp)):
            return
        unit = vector_unit_of(func).with_dot(self.dot).with_matrix(self.matrix).with_machine(self.machine)
        registers = unit.registers if self.vector_registers is None else self.vector_registers
        facts = VectorRegisters(registers, self.vector_bytes or unit.bytes, unit.machine)
        if self.record_to is None:
            _schedule_or_leave(func, facts, unit)
            return
        with recording(func, f"{func.sym_name.data}_schedule") as trace:
            if not _schedule_or_leave(func, facts, unit):
                while trace.pop() is not None:
                    pass
        write_record(trace, self.record_to)


def _schedule_or_leave(func: PrimFuncOp, registers: VectorRegisters, unit: VectorUnit) -> bool:
    """Schedule a function; or leave it as it was, and say so, where a rule begins what a primitive then refuses."""
    before = func.region.clone()
    try:
        schedule_by_rules(func, registers, unit.dot, unit.matrix)
    except ScheduleError as error:
        after = func.detach_region(func.region)
        func.add_region(before)
        after.drop_all_references()
        missed("schedule-rules", func, f"{REFUSED}: {error.message}")
        return False
    return True


def schedule_by_rules(
    func: PrimFuncOp, registers: VectorRegisters, dot: str | None = None, matrix: Collection[str] = ()
) -> None:
    """Schedule one function in place. One without blocks, or with a block that never runs, is left alone.

    So is one in which a block does not stand in loops of its own, bound to its iterators, or writes anything but one
    element of one buffer for each value of its spatial iterators: it has been scheduled already. And one in which a
    buffer lies in a memory other than `global` and `local`.
    """
    blocks = blocks_under(func)
    if not blocks or any(0 in block.sizes for block in blocks):
        return
    for block in blocks:
        if not _is_plain(block):
            missed("schedule-rules", block, f"block @{block.block_name} does not stand in loops of its own")
            _share_independent(blocks)
            return
        if any(map(is_placed, block.writes)):
            missed("schedule-rules", block, f"block @{block.block_name} writes to a memory that rules know nothing of")
            return
    inline_all(func)
    blocks = blocks_under(func)
    ways = {block: way for block in blocks if (way := way_for(block, matrix)) is not None}
    for block in blocks:
        if block not in ways:
            use_dot_products(block, dot)
    blocks = blocks_under(func)
    if schedule_product_rows(blocks, registers):
        return
    schedule_cases(blocks)
    tiled = False
    for block in blocks:
        if block.is_reduction and block.parent is not None:
            tiled |= tile_reduction(block, registers_for(block, registers, dot), ways.get(block))
    rest = [block for block in blocks_under(func) if not _is_scheduled(block)]
    if not tiled and schedule_rows(rest, registers):
        return
    for block in rest:
        if block.is_reduction:
            missed(
                "schedule-rules", block, f"block @{block.block_name} is not tiled: its inputs cannot be read as vectors"
            )
        schedule_alone(block, registers)


def _share_independent(blocks: Sequence[BlockOp]) -> None:
    """Let threads share the outermost loops of `blocks` that say of themselves that their iterations are independent,
    as those of statements that are run for each row: which are done there, data may decide, so that what is read tells
    whether it is enough to share."""
    for block in blocks:
        loops = enclosing_loops(block)
        if not loops or not loops[0].is_independent or loops[0].for_kind != ForKind.SERIAL:
            continue
        read = sum(prod(map(likely, shape_of(buffer))) for buffer in {*block.reads, *block.writes})
        if loops[0].likely_trips > 1 and read >= PARALLEL_MIN_STEPS and is_chosen("parallel", block):
            set_kind(loops[0], ForKind.PARALLEL)


@while_unchanged
def _is_plain(block: BlockOp) -> bool:
    """Whether `block` is as `te` makes it: alone in its nest, one loop for each iterator, of which nothing is asked,
    one element written, and nothing else read of the buffer that it is in. What a call in a loop does to buffers is
    not seen."""
    nest: Operation = block
    for loop in reversed(enclosing_loops(block)):
        if list(loop.body.block.ops) != [nest] or not _is_unasked(loop):
            return False
        nest = loop
    if any(extent != 1 for extent in block.sizes) and any(not each.op.is_pure for each in block.handed()):
        return False
    stores = [access.op for access in block.accesses() if access.is_write]
    updates = [access.op for access in block.accesses() if not access.is_write and access.buffer in block.writes]
    if block.conditions or len(block.writes) != 1 or not all(isinstance(op, memref.StoreOp) for op in stores):
        return False
    loop_vars, bindings = list(block.loop_vars), block.bindings.data.results
    dims = [b for b, extent in zip(bindings, block.sizes, strict=True) if extent != 1]
    if [loop.var for loop in enclosing_loops(block)] != loop_vars or dims != [
        AffineExpr.dimension(d) for d in range(len(loop_vars))
    ]:
        return False
    spatial = [position for position, kind in enumerate(block.kinds) if kind == IterKind.SPATIAL]
    places = [[v.index if isinstance(v, BlockArgument) else None for v in op.indices] for op in (*stores, *updates)]
    return all(place == spatial for place in places)


def _is_unasked(loop: ForOp) -> bool:
    """Whether nothing is asked of a loop; that its iterations are independent tells what it computes."""
    return loop.annotations is None or not loop.annotations.data.keys() - {INDEPENDENT}


def _is_scheduled(block: BlockOp) -> bool:
    """Whether a loop around it has a kind, or it stands in the loops of others."""
    loops = enclosing_loops(block)
    return any(loop.for_kind != ForKind.SERIAL for loop in loops) or (bool(loops) and blocks_under(loops[0]) != [block])
