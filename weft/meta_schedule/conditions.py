"""What schedule rules ask about blocks and loops. Counterparts of TVM's functions in `tir/schedule/analysis`."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr

from ..dialects.tir.affine import dims_in
from ..dialects.tir.buffers import shape_of
from ..dialects.tir.core import BlockOp, ForOp, IterKind, OuterBlockOp, PrimFuncOp, enclosing_loops
from ..transforms.tir.analysis.block_scopes import scope_of
from ..transforms.tir.analysis.loop_kinds import bound_dims as bound_dims
from ..transforms.tir.analysis.loop_kinds import loop_kind as loop_kind
from ..transforms.tir.schedule.annotate import annotations_of
from ..transforms.tir.scheduling.handles import BlockRV
from ..transforms.tir.scheduling.schedule import Schedule

TILED = "meta_schedule.tiling_structure"
"""The annotation of a block that multi-level tiling has tiled."""


def op_of(sch: Schedule, block: BlockRV) -> BlockOp | OuterBlockOp | PrimFuncOp:
    """What the handle stands for."""
    op = sch.operation(block)
    assert isinstance(op, BlockOp | OuterBlockOp | PrimFuncOp)
    return op


def handle_of_block(sch: Schedule, block: BlockOp | OuterBlockOp) -> BlockRV:
    """A handle of a block of the schedule."""
    func: Operation | None = block
    while not isinstance(func, PrimFuncOp):
        assert func is not None
        func = func.parent_op()
    same = [op for op in func.walk() if isinstance(op, BlockOp | OuterBlockOp) and op.block_name == block.block_name]
    number = same.index(block) if len(same) > 1 else None
    return sch.get_block(block.block_name, func.sym_name.data, number)


def loops_around(block: Operation) -> list[ForOp]:
    """The loops around a block in the block that it stands in, outermost first."""
    return enclosing_loops(block)[len(enclosing_loops(scope_of(block))) :]


def number_in(words: dict[str, Attribute], key: str) -> int | None:
    """The integer of an annotation, if it is there and is one."""
    found = words.get(key)
    return found.value.data if isinstance(found, IntegerAttr) else None


def text_in(op: Operation, key: str) -> str | None:
    """The text of a block's annotation, if it is there and is one."""
    found = annotations_of(op).get(key) if isinstance(op, BlockOp | OuterBlockOp | ForOp | PrimFuncOp) else None
    return found.data if isinstance(found, StringAttr) else None


def has_been_tiled(block: BlockOp) -> bool:
    """Whether multi-level tiling has been here, or has tiled the block that this one stands in."""
    return TILED in block.attributes or TILED in scope_of(block).attributes


def is_spatial(block: BlockOp) -> bool:
    """Whether all its iterators are spatial."""
    return all(kind is IterKind.SPATIAL for kind in block.kinds)


def is_trivially_bound(block: BlockOp) -> bool:
    """Whether each iterator is one loop, in the order of the loops, or has one value and none."""
    dims = [
        expr.position if isinstance(expr, AffineDimExpr) else None
        for expr, size in zip(block.bindings.data.results, block.sizes, strict=True)
        if size != 1 or not isinstance(expr, AffineConstantExpr)
    ]
    bound = [None if number is None else block.loop_vars[number] for number in dims]
    return bound == [loop.var for loop in loops_around(block)]


def has_one_statement(loop: ForOp) -> bool:
    """Whether the loop holds one loop or block, and nothing else."""
    ops = list(loop.body.block.ops)
    return len(ops) == 1 and isinstance(ops[0], ForOp | BlockOp | OuterBlockOp)


def region_of(block: BlockOp, buffer: SSAValue, *, is_write: bool) -> AffineMapAttr | None:
    """Where the block says that it touches a buffer; `None` where data says, or it touches several places."""
    buffers, maps = (block.writes, block.write_maps) if is_write else (block.reads, block.read_maps)
    found = maps.data[list(buffers).index(buffer)]
    return found if isinstance(found, AffineMapAttr) else None


def inputs_of(block: BlockOp) -> list[SSAValue]:
    """The buffers that a block reads and does not write."""
    return [buffer for buffer in block.reads if buffer not in block.writes]


def needs_multi_level_tiling(block: BlockOp) -> bool:
    """Whether tiles let it use again what it has read: it reduces, and some input does not move with every spatial
    iterator."""
    if has_been_tiled(block) or len(block.writes) != 1 or not block.reads or is_spatial(block):
        return False
    if not is_trivially_bound(block):
        return False
    spatial = [n for n, kind in enumerate(block.kinds) if kind is IterKind.SPATIAL and block.sizes[n] != 1]
    unused = 0
    for buffer in inputs_of(block):
        if (region := region_of(block, buffer, is_write=False)) is None:
            used = _moved_by(block, buffer)
        else:
            used = {n for expr in region.data.results for n in dims_in(expr)}
        unused += sum(n not in used for n in spatial)
    return unused >= 1


def _moved_by(block: BlockOp, buffer: SSAValue) -> set[int]:
    """The iterators that have a part in where the block reads a buffer at several places."""
    found: set[int] = set()
    for access in block.accesses():
        if access.buffer is buffer:
            if access.map is None:
                return set(range(len(block.iters)))
            found |= {n for expr in access.map.results for n in dims_in(expr)}
    return found


def needs_parallel_reduction(block: BlockOp, most: int) -> bool:
    """Whether to share the steps of its reduction: it has more of them than it has elements, of which there are no more
    than `most`, or tiles would be of no use. TVM's `NeedsRFactorOrCrossThreadReduction`."""
    if block.init is None or not block.is_reduction or has_been_tiled(block) or not is_trivially_bound(block):
        return False
    loops = loops_around(block)
    kinds = [loop_kind(loop) for loop in loops]
    if IterKind.REDUCE not in kinds or IterKind.OPAQUE in kinds or not all(map(has_one_statement, loops)):
        return False
    sizes = [loop.size for loop in loops]
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) != len(sizes):
        return False
    elements = prod(size for size, kind in zip(known, kinds, strict=True) if kind is IterKind.SPATIAL)
    steps = prod(size for size, kind in zip(known, kinds, strict=True) if kind is IterKind.REDUCE)
    if needs_multi_level_tiling(block):
        return elements < steps and elements <= most
    return steps > 1


@dataclass(frozen=True)
class Pattern:
    """How what a block reads follows from what it writes. Each index read is an index written, maybe moved by a
    number, none twice (`is_injective`), and in order (`is_ordered`); else neither is told."""

    is_injective: bool = False
    is_ordered: bool = False


def read_pattern(block: BlockOp, buffer: SSAValue) -> Pattern:
    """The pattern of the element that a block writes and its reads of a buffer. TVM's `AnalyzeReadWritePattern`."""
    written = region_of(block, block.writes[0], is_write=True)
    read = region_of(block, buffer, is_write=False)
    if written is None or read is None:
        return Pattern()
    places: dict[int, int] = {}
    for number, expr in enumerate(written.data.results):
        if isinstance(expr, AffineDimExpr):
            if expr.position in places:
                return Pattern()
            places[expr.position] = number
        elif not isinstance(expr, AffineConstantExpr):
            return Pattern()
    mapped: list[int] = []
    for expr in read.data.results:
        if isinstance(expr, AffineConstantExpr):
            continue
        moved = _moved(expr)
        if moved is None or moved not in places:
            return Pattern()
        mapped.append(places[moved])
    return Pattern(
        len(set(mapped)) == len(mapped),
        mapped == sorted(mapped),
    )


def _moved(expr: object) -> int | None:
    """The dimension of an expression that is one, or one and a number."""
    if isinstance(expr, AffineDimExpr):
        return expr.position
    if isinstance(expr, AffineBinaryOpExpr) and expr.kind is AffineBinaryOpKind.Add:
        for one, other in ((expr.lhs, expr.rhs), (expr.rhs, expr.lhs)):
            if isinstance(one, AffineDimExpr) and isinstance(other, AffineConstantExpr):
                return one.position
    return None


def is_write_cache(block: BlockOp | OuterBlockOp) -> bool:
    """Whether it computes each element from what stands at the same place, or along some of its dimensions, as a bias
    does: TVM's `IsWriteCache`."""
    if not isinstance(block, BlockOp) or len(block.writes) != 1 or not is_spatial(block):
        return False
    patterns = [read_pattern(block, buffer) for buffer in block.reads]
    return bool(patterns) and all(pattern.is_injective and pattern.is_ordered for pattern in patterns)


def rank_of_input(buffer: SSAValue) -> int:
    """How many dimensions a buffer has."""
    return len(shape_of(buffer))
