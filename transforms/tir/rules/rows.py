"""Compute a chain of reductions row by row: softmax, layer norm, and whatever else reduces rows to use them again.

Where all intermediate results share the output's leading dimensions, one iteration over those dimensions needs only its
own row of each: everything is computed in one parallel loop over the rows, with the intermediates on the stack.
"""

from __future__ import annotations

from math import prod

from xdsl.ir.affine import AffineExpr

from ....dialects.support.dtypes import byte_width
from ....dialects.support.machine_model import MachineModel
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    Scope,
    blocks_under,
    enclosing_loops,
    memref_of,
)
from ....dialects.tir.symbols import Extent
from ..analysis.producers import consumers, written_buffer
from ..scheduling.recorded import (
    add_unit_loop,
    cache_write,
    compute_at,
    decompose_reduction,
    set_kind,
    set_scope,
)
from .choosing import is_chosen
from .spatial import PARALLEL_MIN_STEPS, fuse_known, split_loops


def schedule_rows(blocks: list[BlockOp], machine: MachineModel) -> bool:
    """Schedule all of `blocks`, the last of which writes the function's only output; says whether it could."""
    if not blocks:
        return False
    output = blocks[-1]
    if (len(blocks) < 2 and not output.is_reduction) or not is_chain(blocks):
        return False
    depth = shared_rows(blocks, machine.kept_near // 2)
    if depth is None or not is_chosen("rows", output):
        return False
    if output.is_reduction:
        known_row = all(isinstance(extent, int) for extent in _shape(output)[depth:])
        copy = cache_write(output, Scope.LOCAL if known_row else Scope.GLOBAL)
        blocks = [*blocks, copy]
        output = copy
    loops = enclosing_loops(output)
    rows = loops[: sum(1 for n in output.likely_extents[:depth] if n > 1)]
    if rows:
        top = fuse_known(rows)
    else:
        top = add_unit_loop(loops[0] if loops else output)
    steps = top.likely_trips
    for block in blocks[-2::-1]:
        buffer = written_buffer(block)
        compute_at(block, top)
        if all(isinstance(extent, int) for extent in shape_of(buffer)[depth:]):
            set_scope(buffer, Scope.LOCAL)
        _, reduce = split_loops(block)
        if reduce and block.init is not None:
            decompose_reduction(block, reduce[0])
    work = 0
    for block in blocks_under(top):
        work += prod(loop.likely_trips for loop in enclosing_loops(block))
    if steps > 1 and work >= PARALLEL_MIN_STEPS:
        set_kind(top, ForKind.PARALLEL)
    return True


def is_chain(blocks: list[BlockOp]) -> bool:
    """Whether the last of `blocks` writes an output, the only one, and the others what later ones of them read, each a
    buffer of its own."""
    if len({written_buffer(block) for block in blocks}) < len(blocks):
        return False
    if any(block.conditions for block in blocks) or isinstance(written_buffer(blocks[-1]).owner, AllocBufferOp):
        return False
    for block in blocks[:-1]:
        readers = consumers(block)
        if not isinstance(written_buffer(block).owner, AllocBufferOp) or not readers or not set(readers) <= set(blocks):
            return False
    return True


def shared_rows(blocks: list[BlockOp], max_row_bytes: int) -> int | None:
    """How many leading dimensions all intermediate results have in common with the output, each block reading the
    others only at its own leading iterators; `None` if a row of them is too large."""
    output = blocks[-1]
    shape = _shape(output)
    produced = {written_buffer(block) for block in blocks[:-1]}
    depth = len(shape)
    for block in blocks[:-1]:
        mine = _shape(block)
        common = 0
        while common < min(depth, len(mine)) and mine[common] == shape[common]:
            common += 1
        depth = common
    for block in blocks:
        for access in block.accesses():
            if access.buffer not in produced and not access.is_write:
                continue
            if access.op.parent_region() is block.init:
                continue
            if access.map is None:
                depth = 0
                break
            common = 0
            while common < min(depth, len(access.map.results)) and (
                access.map.results[common] == AffineExpr.dimension(common) or _shape(block)[common : common + 1] == (1,)
            ):
                common += 1
            depth = common
    row_bytes = 0
    for block in blocks[:-1]:
        row = [extent for extent in _shape(block)[depth:] if isinstance(extent, int)]
        if len(row) < len(_shape(block)) - depth:
            continue  # a row of a length that is a symbol stays in shared memory
        row_bytes += prod(row) * byte_width(memref_of(written_buffer(block)).element_type)
    return depth if row_bytes <= max_row_bytes else None


def _shape(block: BlockOp) -> tuple[Extent, ...]:
    return shape_of(written_buffer(block))
