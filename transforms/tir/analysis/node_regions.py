"""What loops and blocks touch, and where buffers belong, told of the nodes of a function's `body`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from ....dialects.support.diagnostics import UsageError
from ....dialects.te.expr import Expr, as_expr
from ....dialects.te.kinds import index
from ....dialects.tir.core import BlockOp, ForOp, OuterBlockOp, PrimFuncOp, enclosing_loops
from ....dialects.tir.nodes.affine_expressions import dim, expression
from ....dialects.tir.nodes.blocks import Block, BufferRegion, Range
from ....dialects.tir.nodes.buffers import Buffer
from ....dialects.tir.nodes.statements import For, Stmt
from ....dialects.tir.nodes.tree import Reading, reading_of
from ....dialects.tir.symbols import as_affine
from .accesses import innermost_common_scopes
from .block_regions import touched_regions
from .producers import function_of

Regions: TypeAlias = "list[BufferRegion]"
BufferMap: TypeAlias = "Mapping[Expr, Buffer] | None"


def scopes_of_buffers(func: PrimFuncOp) -> dict[Buffer, Stmt | None]:
    """For each buffer that is used the innermost loop or block with all its uses; `None` for a function without a root
    block."""
    reading = reading_of(func)
    found: dict[Buffer, Stmt | None] = {}
    for value, scope in innermost_common_scopes(func).items():
        while scope not in reading.nodes and not isinstance(scope, PrimFuncOp):  # a block that is a statement alone
            parent = scope.parent_op()
            assert parent is not None
            scope = parent
        found[reading.buffers[value]] = reading.nodes.get(scope)
    return found


def regions_of(node: Block | For, buffer_var_map: BufferMap) -> tuple[Regions, Regions, Regions]:
    """What a node reads and writes, and what it hands to calls, of the buffers of a map if one is given: of a block
    over its iterators, of others over the loops around.

    Raises:
        UsageError: the node is of no function.
    """
    op = node.operation
    if not isinstance(op, BlockOp | ForOp | OuterBlockOp):
        raise UsageError("what a node touches is known of those of a function's body", hint="tir.PrimFunc makes one")
    reading = reading_of(function_of(op))
    if isinstance(op, BlockOp) and isinstance(node, Block):
        found = _of_block(op, [each.var for each in node.iter_vars], reading)
    else:
        loops = [_variable(reading, loop) for loop in enclosing_loops(op)]
        found = tuple(
            [
                BufferRegion(
                    reading.buffers[each.buffer],
                    tuple(
                        Range(expression(low, loops, reading.symbols), dim(as_affine(size), loops, reading.symbols))
                        for low, size in each.region
                    ),
                )
                for each in regions
            ]
            for regions in touched_regions(op)
        )
    reads, writes, opaque = ([each for each in some if _is_asked(each.buffer, buffer_var_map)] for some in found)
    return reads, writes, opaque


def handed_to(node: Block | For, buffer_var_map: BufferMap) -> tuple[Regions, Regions]:
    """What of a node's buffers is handed to calls that read it, and to calls that write it."""
    op = node.operation
    blocks = [] if op is None else [each for each in op.walk() if isinstance(each, BlockOp)]
    buffers: Mapping[SSAValue, Buffer] = reading_of(function_of(blocks[0])).buffers if blocks else {}
    found: tuple[dict[Buffer, None], dict[Buffer, None]] = ({}, {})
    for block in blocks:
        for each in block.handed():
            if _is_asked(buffers[each.buffer], buffer_var_map):
                found[int(each.is_write)].setdefault(buffers[each.buffer])
    reads, writes = ([_whole(buffer) for buffer in some] for some in found)
    return reads, writes


def _is_asked(buffer: Buffer, buffer_var_map: BufferMap) -> bool:
    return buffer_var_map is None or any(buffer.data is each for each in buffer_var_map)


def _variable(reading: Reading, loop: ForOp) -> Expr:
    node = reading.nodes[loop]
    assert isinstance(node, For)
    return node.loop_var


def _of_block(op: BlockOp, iters: Sequence[Expr], reading: Reading) -> tuple[Regions, Regions, Regions]:
    """Of one block an element of each buffer, or, where that is not the same for all accesses, the whole buffer."""
    found: tuple[dict[SSAValue, AffineMap | None], ...] = ({}, {})
    for access in op.accesses():
        seen = found[int(access.is_write)]
        if seen.setdefault(access.buffer, access.map) != access.map:
            seen[access.buffer] = None
    reads, writes = found
    if op.is_reduction:  # what a reduction updates is written, not read from outside
        reads = {value: map for value, map in reads.items() if value not in writes}
    opaque = dict.fromkeys(reading.buffers[each.buffer] for each in op.handed())
    return (
        [_region(reading, value, map, iters) for value, map in reads.items()],
        [_region(reading, value, map, iters) for value, map in writes.items()],
        [_whole(buffer) for buffer in opaque],
    )


def _region(reading: Reading, value: SSAValue, map: AffineMap | None, iters: Sequence[Expr]) -> BufferRegion:
    buffer = reading.buffers[value]
    if map is None:
        return _whole(buffer)
    return BufferRegion(buffer, tuple(Range(expression(each, iters, reading.symbols), 1) for each in map.results))


def _whole(buffer: Buffer) -> BufferRegion:
    return BufferRegion(buffer, tuple(Range(as_expr(0, index), extent) for extent in buffer.shape))
