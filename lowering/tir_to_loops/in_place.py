"""Which inputs a kernel may find overwritten: it has read each element of one when it writes that of an output.

An output may then have the memory of the input, where nobody needs that any more (`write-in-place`):

    func.func @fused_relu(%p0: memref<64xf32>, %out: memref<64xf32>, ...) attributes {weft.in_place = array<i64: 0, 1>}

in pairs, an input and an output, by their places among its arguments. Functions of nests do not claim of such buffers
that they are apart (`weft.may_alias`), so that no element is read again after it was written. Of a loop over elements
they say that no iteration reads what another one writes (`parallelAccesses`): else LLVM would compare addresses, and
take one element after the other where it is in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import scf
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ...dialects.tir.affine import linear
from ...dialects.tir.buffers import shape_of
from ...dialects.tir.core import BlockOp, IterKind, PrimFuncOp, blocks_under, enclosing_loops
from ...dialects.tir.symbols import Extent, replaced

MAY_ALIAS = "weft.may_alias"
"""Attribute of an argument of a function: its memory may be that of another one."""


def pairs_in_place(prim_func: PrimFuncOp) -> list[tuple[int, int]]:
    """The inputs that may be overwritten, each with the output that may be in its place, by their places among the
    arguments. Extents that are symbols are not looked at."""
    blocks = blocks_under(prim_func)
    read: dict[SSAValue, list[BlockOp]] = {}
    written: dict[SSAValue, list[BlockOp]] = {}
    for block in blocks:
        for buffers, found in ((block.reads, read), (block.writes, written)):
            for buffer in buffers:
                found.setdefault(buffer, []).append(block)
    arguments = prim_func.region.block.args
    outputs = [value for value in arguments if value in written and _is_written_once(value, written[value], read)]
    return [
        (source.index, output.index)
        for output in outputs
        for source in arguments
        if _is_overwritable(source, output, read, written)
    ]


def _is_written_once(output: BlockArgument, writers: Sequence[BlockOp], read: dict[SSAValue, list[BlockOp]]) -> bool:
    """Whether each element is written by one instance of one block, which says so by a map of its iterators alone."""
    if output in read or len({block.sym_name.data for block in writers}) > 1:
        return False
    shape = _static(shape_of(output))
    runs = points = 0
    for block in writers:
        sizes, around = _static(block.sizes), _static([loop.size for loop in enclosing_loops(block)])
        if shape is None or sizes is None or around is None:
            return False
        if block.predicate is not None or block.init is not None or block.handed():
            return False
        if any(kind.data != IterKind.SPATIAL.value for kind in block.iter_kinds):
            return False
        if not _is_permutation(_map_of(block, output), sizes, shape):
            return False
        runs, points = runs + prod(around), prod(sizes)
    return runs == points


def _static(extents: Sequence[Extent]) -> list[int] | None:
    """Extents, if all are numbers."""
    numbers = [extent for extent in extents if isinstance(extent, int)]
    return numbers if len(numbers) == len(extents) else None


def _is_permutation(map: AffineMap | None, sizes: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether a map takes each point of the iterators to another element, and reaches all of them: the place of the
    element in memory has the iterators for digits."""
    if map is None:
        return False
    address = AffineExpr.constant(0)
    for expr, extent in zip(map.results, shape, strict=True):
        address = address * extent + expr
    ranges = {AffineExpr.dimension(n): (0, size - 1) for n, size in enumerate(sizes)}
    place, reached = linear(address, ranges), 1
    for atom, factor in sorted(place.terms.items(), key=lambda term: term[1]):
        if not isinstance(atom, AffineDimExpr):
            return False
        if sizes[atom.position] == 1:
            continue
        if factor != reached:
            return False
        reached *= sizes[atom.position]
    return not place.constant and reached == prod(sizes) == prod(shape)


def _is_overwritable(
    source: BlockArgument,
    output: BlockArgument,
    read: dict[SSAValue, list[BlockOp]],
    written: dict[SSAValue, list[BlockOp]],
) -> bool:
    """Whether each element of a source is read for the last time before that of an output is written, at the latest by
    what writes it."""
    readers = read.get(source, [])
    if source.type != output.type or source in written or not readers:
        return False
    return all(_is_read_before(block, source, writer, output) for block in readers for writer in written[output])


def _is_read_before(reader: BlockOp, source: SSAValue, writer: BlockOp, output: SSAValue) -> bool:
    """Whether a reader has read an element of a source whenever a writer writes that of an output.

    Where they stand in the same loops, each iteration of these has to be about elements of its own.
    """
    here, there = _map_of(reader, source), _map_of(writer, output)
    if output in reader.writes:  # an instance for each element
        is_its_own = here is not None and here == _map_of(reader, output)
        return is_its_own and _is_read_first(reader.body.block, source, output)
    loops, others = enclosing_loops(reader), enclosing_loops(writer)
    count = next((n for n, (a, b) in enumerate(zip(loops, others, strict=False)) if a is not b), None)
    shared = loops[: min(len(loops), len(others)) if count is None else count]
    if not _stands_before(reader, writer, len(shared)):
        return False
    if not shared:
        return True
    if here is None or there is None:
        return False
    mine, its = _over_loops(reader, here), _over_loops(writer, there)
    own = {a.position for a, b in zip(mine, its, strict=True) if isinstance(a, AffineDimExpr) and a == b}
    return all(loop.size == 1 or depth in own for depth, loop in enumerate(shared))


def _is_read_first(body: Block, source: SSAValue, output: SSAValue) -> bool:
    """Whether what is done for one element reads a source for the last time before it writes an output."""
    is_written = False
    for op in body.ops:
        reads, writes = _touches(op, source), _touches(op, output)
        if reads and is_written:
            return False
        if reads and writes:
            sides = [block for region in op.regions for block in region.blocks]
            if not isinstance(op, scf.IfOp) or not all(_is_read_first(side, source, output) for side in sides):
                return False
        is_written = is_written or writes
    return True


def _touches(op: Operation, buffer: SSAValue) -> bool:
    return any(operand is buffer for each in op.walk() for operand in each.operands)


def _over_loops(block: BlockOp, map: AffineMap) -> list[AffineExpr]:
    """The results of a map of a block's iterators over the loops around it, by their depths."""
    depths: dict[SSAValue, int] = {loop.body.block.args[0]: depth for depth, loop in enumerate(enclosing_loops(block))}
    count = len(depths)
    places = [AffineExpr.dimension(depths.get(variable, count)) for variable in block.loop_vars]
    bindings = [replaced(expr, places) for expr in block.bindings.data.results]
    return [replaced(expr, bindings) for expr in map.results]


def _stands_before(reader: BlockOp, writer: BlockOp, depth: int) -> bool:
    """Whether a block stands before another in the body of the loops that they share, `depth` of them."""
    statements = [_statement(block, depth) for block in (reader, writer)]
    return statements[0].parent is statements[1].parent and statements[0].is_before_in_block(statements[1])


def _statement(block: BlockOp, depth: int) -> Operation:
    """What a block is a part of in the body of the `depth` outermost loops around it."""
    loops = enclosing_loops(block)
    return loops[depth] if depth < len(loops) else block


def _map_of(block: BlockOp, buffer: SSAValue) -> AffineMap | None:
    """Where a block touches a buffer, if that is one place."""
    sides = ((block.writes, block.write_maps), (block.reads, block.read_maps))
    for buffers, maps in sides:
        for value, map in zip(buffers, maps, strict=True):
            if value is buffer:
                return map.data if isinstance(map, AffineMapAttr) else None
    return None
