"""Compute a chain of reductions row by row: softmax, layer norm, and whatever else reduces rows to use them again.

Where all intermediate results share the output's leading dimensions, one iteration over those dimensions needs only its
own row of each: everything is computed in one parallel loop over the rows, with the intermediates on the stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr

from ....dialects.support.dtypes import byte_width
from ....dialects.tir.affine import substitute
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    Scope,
    blocks_under,
    enclosing_loops,
    memref_of,
)
from ....dialects.tir.symbols import Extent
from ..analysis.deciding import deciding_iterators
from ..analysis.producers import consumers, function_of, written_buffer
from ..analysis.strides import strides
from ..schedule.checks import check_one_element
from ..schedule.errors import ScheduleError
from ..scheduling.recorded import (
    add_unit_loop,
    cache_write,
    compute_at,
    decompose_reduction,
    fuse_iters,
    merge,
    set_kind,
    set_scope,
)
from .choosing import is_chosen
from .op_cost import is_expensive
from .registers import VectorRegisters
from .row_strips import join_rows, strip_rows
from .row_vectors import vectorize_rows
from .spatial import MAX_VECTOR, PARALLEL_MIN_STEPS, fuse_known, fuse_what_follows, may_fuse, split_loops

SHORT_ROW, LEAST_ROWS = 32, 8
"""Steps up to which a row is short, and so many of which have a loop of their own then."""


def schedule_rows(blocks: list[BlockOp], registers: VectorRegisters) -> bool:
    """Schedule all of `blocks`, the last of which writes an output of the function; says whether it could."""
    if not blocks:
        return False
    output = blocks[-1]
    if sum(map(_is_output, blocks)) > 1:
        return _schedule_several(blocks, registers)
    if (len(blocks) < 2 and not output.is_reduction) or not is_chain(blocks):
        return False
    if not all(map(_may_move, blocks[:-1])):
        return False
    depth = shared_rows(blocks, registers.machine.kept_near // 2)
    if depth is None or _is_to_be_shared(blocks, depth) or not is_chosen("rows", output):
        return False
    if not is_short(blocks):
        depth = join_rows(blocks, depth, registers)
    for block in blocks[:-1]:
        fuse_what_follows(block, len(_shape(block)))
    # The copy of a sum is written at its spatial iterators as they are.
    fuse_what_follows(output, len(_shape(output)) if output.is_reduction else depth)
    if output.is_reduction:
        copy = cache_write(output, Scope.LOCAL)
        blocks = [*blocks, copy]
        output = copy
    loops = enclosing_loops(output)
    rows = loops[: sum(1 for n in output.likely_extents[:depth] if n > 1)]
    if rows:
        shared, top = _fuse_rows(rows, is_short(blocks))
        steps, is_shared = shared.likely_trips, shared is top
        top = strip_rows(top, blocks, depth, registers, is_shared=is_shared)
        shared = top if is_shared else shared
    else:
        shared = top = add_unit_loop(loops[0] if loops else output)
        steps = 1
    for block in blocks[-2::-1]:
        buffer = written_buffer(block)
        compute_at(block, top)
        set_scope(buffer, Scope.LOCAL)
        _, reduce = split_loops(block)
        if reduce and block.init is not None:
            decompose_reduction(block, reduce[0])
    vectorize_rows(top, registers)
    work = 0
    for block in blocks_under(top):
        work += prod(loop.likely_trips for loop in enclosing_loops(block))
    if steps > 1 and work >= PARALLEL_MIN_STEPS:
        set_kind(shared, ForKind.PARALLEL)
    return True


def _is_to_be_shared(blocks: Sequence[BlockOp], depth: int) -> bool:
    """Whether `blocks`, all of which sum nothing, are one row, and the last of them is enough work for several threads:
    each gets loops of its own then, which they share."""
    extents = blocks[-1].likely_extents
    is_one = prod(extents[:depth]) == 1 and not any(block.is_reduction for block in blocks)
    return is_one and prod(extents) >= PARALLEL_MIN_STEPS


def is_short(blocks: Sequence[BlockOp]) -> bool:
    """Whether a row is less work than finding where it lies, were that done by division."""
    return max(prod(block.likely_extents[len(_shape(block)) :]) for block in blocks) <= SHORT_ROW


def _fuse_rows(loops: list[ForOp], are_short: bool = False) -> tuple[ForOp, ForOp]:
    """Fuse loops over rows as far as they can be, all but the innermost where rows `are_short`: the outermost that is
    left, which threads share, and the innermost, which goes from row to row."""
    if are_short and len(loops) > 1 and loops[-1].likely_trips >= LEAST_ROWS:
        *loops, innermost = loops
        shared, _ = _fuse_rows(loops)
        return shared, innermost
    shared = top = fuse_known(loops)
    while outer := enclosing_loops(shared):
        shared = fuse_known(outer)
    return shared, top


def _schedule_several(blocks: list[BlockOp], registers: VectorRegisters) -> bool:
    """The same for functions with several outputs: the loops over the rows of all blocks become one."""
    if any(block.conditions for block in blocks) or len({written_buffer(block) for block in blocks}) < len(blocks):
        return False
    if blocks_under(function_of(blocks[0])) != blocks:
        return False
    depth = shared_rows(blocks, registers.machine.kept_near // 2)
    if not depth or not _read_alike(blocks, depth) or not is_chosen("rows", blocks[0]):
        return False
    if all(len(block.iters) == depth for block in blocks):
        if not _fuse_neighbours(blocks) or not all(map(_is_linear, blocks)):
            return False
        depth = len(blocks[0].iters)
        if any(is_expensive(op) for block in blocks for op in block.body.walk()):
            depth -= 1  # expensive formulas want all vector registers, each for a loop of its own over a row
        if not any(extent != 1 for extent in blocks[0].sizes[:depth]):
            return False
    every: list[BlockOp] = []
    for block in blocks:
        every.append(block)
        if block.is_reduction and _is_output(block):
            every.append(cache_write(block, Scope.LOCAL))
    rows = sum(1 for extent in blocks[0].sizes[:depth] if extent != 1)
    loops = [merge(*(enclosing_loops(block)[level] for block in every)) for level in range(rows)]
    for block in every:
        buffer = written_buffer(block)
        if not _is_output(block):
            set_scope(buffer, Scope.LOCAL)
        _, reduce = split_loops(block)
        if reduce and block.init is not None:
            decompose_reduction(block, reduce[0])
    if not loops:
        return True
    innermost = rows > 1 and all(len(enclosing_loops(block)) == rows for block in every)
    shared, top = _fuse_rows(loops[:-1] if innermost else loops)
    vectorize_rows(top, registers)
    work = sum(prod(loop.likely_trips for loop in enclosing_loops(block)) for block in blocks_under(top))
    if shared.likely_trips > 1 and work >= PARALLEL_MIN_STEPS:
        set_kind(shared, ForKind.PARALLEL)
    return True


def _read_alike(blocks: list[BlockOp], depth: int) -> bool:
    """Whether each block but the first reads rows that one before it writes, or reads in the same places."""
    known: set[tuple[SSAValue, tuple[AffineExpr, ...]]] = set()
    for block in blocks:
        places = [
            AffineExpr.constant(0) if extent == 1 else AffineExpr.dimension(n) for n, extent in enumerate(block.sizes)
        ]
        mine = {
            (access.buffer, tuple(substitute(index, places) for index in access.map.results[:depth]))
            for access in block.accesses()
            if access.map is not None
        }
        if known and not mine & known:
            return False
        known |= mine
    return True


def _fuse_neighbours(blocks: list[BlockOp]) -> bool:
    """Fuse iterators that follow each other in all of `blocks`, which have them in common; says whether what is left
    for the innermost loop fills a vector, or is as much as it is for each block alone."""
    for position in range(len(blocks[0].iters) - 2, -1, -1):
        able = [may_fuse(block, position, strides(block), deciding_iterators(block)) for block in blocks]
        if all(able):
            for block in blocks:
                fuse_iters(block, position)
        elif any(able) and blocks[0].likely_extents[position + 1] < MAX_VECTOR:
            return False
    return True


def _is_linear(block: BlockOp) -> bool:
    """Whether no access finds its place by division, as those of fused iterators do beside one of one step."""
    indices = [index for access in block.accesses() if access.map is not None for index in access.map.results]
    parts = (part for index in indices for part in index.dfs() if isinstance(part, AffineBinaryOpExpr))
    return all(part.kind in (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul) for part in parts)


def _may_move(block: BlockOp) -> bool:
    """Whether a block may run in a loop of its readers: `compute_at` asks for one element, whatever the data is."""
    try:
        check_one_element(block)
    except ScheduleError:
        return False
    return True


def _is_output(block: BlockOp) -> bool:
    """Whether a block writes an output of the function."""
    return not isinstance(written_buffer(block).owner, AllocBufferOp)


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
            continue  # a row of a length that is a symbol has a place in the workspace
        row_bytes += prod(row) * byte_width(memref_of(written_buffer(block)).element_type)
    return depth if row_bytes <= max_row_bytes else None


def _shape(block: BlockOp) -> tuple[Extent, ...]:
    return shape_of(written_buffer(block))
