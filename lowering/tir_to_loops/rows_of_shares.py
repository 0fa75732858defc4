"""How many rows a parallel loop's shares stand in: whether threads divide what they read or the weights that they read.

A convolution's loop goes over blocks of channels and, within each, over pixels:

    parallel j = 0 to 80:    out[j floordiv 40, ...] += data[j mod 40, ...] * weights[j floordiv 40, ...]

Where half the threads take the first blocks of channels, each reads all of the data, half of which others have written,
and half of the weights. Where each takes a part of the pixels, for all blocks, it reads half of the data, and all
weights. The smaller part is the one to read from all threads: with more data than weights, there is a row of shares for
each block of channels, and threads go along columns (`rt.share`). What reads neither, an addition or a padding of a few
blocks, does the same: it stands between convolutions that do, and finds there what it has written itself. Where the
first of the fused iterators are parts of a dimension that goes on within them (`x[s * 7 + y]`), who takes the first of
the loop has a part of the dimension already.
"""

from __future__ import annotations

from xdsl.dialects.memref import LoadOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from ...dialects.tir.affine import substitute
from ...dialects.tir.buffers import buffer_bytes
from ...dialects.tir.core import AllocBufferOp, BlockOp, ForOp, blocks_under

MOST_ROWS = 8
"""With more, threads of a loop that has shares for two of them would find one column."""

LITTLE = 4096
"""Bytes that may well be read by all threads."""


def rows_of_shares(loop: ForOp) -> int:
    """The outermost extent of a fused loop of few, unless it reads more that only this one chooses than that only the
    inner ones choose; 1 otherwise, and where extents are symbols."""
    extent = loop.size
    if not isinstance(extent, int) or extent < 2:
        return 1
    read: dict[SSAValue, list[set[tuple[int, int]]]] = {}
    for block in blocks_under(loop):
        _note_reads(block, loop, extent, read)
    every = [spans for indices in read.values() for spans in indices]
    inner = max((low for spans in every for low, high in spans if high == extent and low > 1), default=1)
    rows = extent // inner
    if inner == 1 or extent % inner or not 1 < rows <= MOST_ROWS:
        return 1
    if any(len({low < inner for low, _ in spans}) > 1 for spans in every):
        return 1  # rows are parts of a dimension that goes on within them
    by_rows = by_columns = 0
    computed, written = 0, {buffer for block in blocks_under(loop) for buffer in block.writes}
    for buffer, indices in read.items():
        spans = set[tuple[int, int]]().union(*indices)
        outside, within = any(high > inner for _, high in spans), any(low < inner for low, _ in spans)
        if outside is not within:
            size = buffer_bytes(buffer)
            by_rows, by_columns = by_rows + size * outside, by_columns + size * within
        elif outside and isinstance(buffer.owner, AllocBufferOp) and buffer not in written:
            computed += buffer_bytes(buffer)
    if by_columns:
        by_rows += computed
    return rows if by_columns + LITTLE >= by_rows else 1


def _note_reads(block: BlockOp, loop: ForOp, extent: int, read: dict[SSAValue, list[set[tuple[int, int]]]]) -> None:
    """Add to each buffer that `block` reads, by index, which digits of the loop's variable choose its elements."""
    variables = [number for number, value in enumerate(block.loop_vars) if value is loop.var]
    for access in block.accesses():
        if not isinstance(access.op, LoadOp) or access.map is None:
            continue
        found = read.setdefault(access.buffer, [])
        for index in access.map.results if variables else ():
            # Over the loops: which digits of an iterator that was fused of two an index takes, that says.
            found.append(_digits(substitute(index, block.bindings.data.results), variables[0], extent))


def _digits(expr: AffineExpr, variable: int, extent: int) -> set[tuple[int, int]]:
    """From which to which power an expression reads a variable's digits: `j floordiv 40` of 80 from 40 to 80."""
    match expr:
        case AffineDimExpr():
            return {(1, extent)} if expr.position == variable else set()
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, lhs, AffineConstantExpr(value)):
            return {(low * value, high) for low, high in _digits(lhs, variable, extent) if low * value < high}
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, lhs, AffineConstantExpr(value)):
            return {(low, min(high, low * value)) for low, high in _digits(lhs, variable, extent)}
        case AffineBinaryOpExpr():
            return _digits(expr.lhs, variable, extent) | _digits(expr.rhs, variable, extent)
        case _:
            return set()
