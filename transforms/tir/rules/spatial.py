"""Schedule a block on its own: loops that follow each other in memory become one, the outer ones run in parallel.

The innermost loop is left to LLVM's vectoriser, which also sees to what is left over at the end, but for functions that
vectors of Weft's compute in fewer steps.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.support.dtypes import byte_width
from ....dialects.tir.affine import affine_of, dims_in, over_dimensions, substitute
from ....dialects.tir.core import BlockOp, ForKind, ForOp, IterKind, enclosing_loops, memref_of
from ..analysis.deciding import computed_with, deciding_iterators, placing_iterators
from ..analysis.producers import written_buffer
from ..analysis.strides import (
    Stride,
    flat_accesses,
    follow_each_other,
    steps_along,
    steps_between,
    steps_within,
    strides,
    usual_step,
)
from ..scheduling.recorded import fuse, fuse_iters, in_parts, reorder, set_kind, split
from .choosing import is_chosen
from .op_cost import branches, side_by_side
from .registers import VectorRegisters
from .row_vectors import divisors, vectorize_along
from .transposes import transpose_in_squares, transpose_in_strips

PARALLEL_MIN_STEPS = 4096
"""Below so many steps in all, waking the other threads costs more than it saves."""

MAX_VECTOR = 64
"""The longest innermost loop that becomes one vector."""

LONG, SEVERAL = 16, 4
"""Where so many operations find a place, and so much is taken from there, it is found once."""

MAX_DIVIDED = 8
"""The most neighbours that are unrolled where places are found by division."""

MAX_ROW, LEAST_ROW = 64, 4
"""Of what stands between loops that are cut together, how much is computed in each part before the next: lines that
were read are still near, and each part is long enough."""

PARALLEL_SHARES = 64
"""A parallel loop of so many iterations divides evenly enough among the threads."""


def schedule_alone(block: BlockOp, registers: VectorRegisters) -> None:
    """Schedule `block`, which stands in its own perfect nest."""
    if (inner := _at_one_place(block)) is not None and is_chosen("places", block):
        others = [loop for loop in enclosing_loops(block) if loop is not inner]
        reorder(*others, inner)
        parallelize(block, others)
        return
    fuse_what_follows(block)
    loops = enclosing_loops(block)
    if not loops:
        return
    moved = transpose_in_squares(block, registers)
    if moved is None:
        moved = transpose_in_strips(block, registers.machine)
    if moved is not None:
        parallelize(block, moved)
        return
    spatial, reduce = split_loops(block)
    if reduce:
        reorder(*spatial, *reduce) if spatial else None
    elif _is_in_parts(block, loops) and is_chosen("parts", block):
        spatial = _take_parts(block, loops, registers)
    elif len(loops) > 1 and _is_vector(block, loops[-1]) and is_chosen("vectorize", block):
        set_kind(loops[-1], ForKind.VECTORIZED)
    elif (size := _vector_within(block, loops[-1])) is not None and is_chosen("vectorize", block):
        outer, lanes = split(loops[-1], [size])
        set_kind(lanes, ForKind.VECTORIZED)
        spatial = [*spatial[:-1], outer, lanes]
    elif _is_better_in_lanes(block, loops[-1]) and _in_lanes(block, loops[-1], registers):
        spatial = split_loops(block)[0]
    elif (size := _divided_by(block, loops[-1])) is not None and is_chosen("parts", block):
        outer, within = split(loops[-1], [size])
        set_kind(within, ForKind.UNROLLED)
        near = _near(block, loops, size, registers.machine.line)
        spatial = [*(loop for loop in spatial[:-1] if loop not in near), *near, outer]
        reorder(*spatial, within)
    parallelize(block, spatial if reduce or len(spatial) == 1 else spatial[:-1])


def _at_one_place(block: BlockOp) -> ForOp | None:
    """The loop over what is taken from one place, such as the channels of a pixel, where data decides on places, by
    long computations, for each iteration of the innermost loop: inside, it does so once for all of them."""
    placing, steps = placing_iterators(block)
    if steps < LONG or not placing or block.iters[-1] not in placing or split_loops(block)[1]:
        return None
    rest = [
        n for n, iterator in enumerate(block.iters) if iterator not in placing and block.likely_extents[n] >= SEVERAL
    ]
    dims = block.bindings.data.results[rest[-1]].used_dims() if rest else ()
    return next((loop for loop in enclosing_loops(block) if [block.loop_vars[d] for d in dims] == [loop.var]), None)


def _is_vector(block: BlockOp, loop: ForOp) -> bool:
    """Whether `loop`, the innermost, is just one vector: short, a power of two, every access contiguous or at rest.

    Longer loops are LLVM's to vectorise. This one may stand under a branch, where LLVM would not.
    """
    extent = loop.size
    if not isinstance(extent, int) or not 4 <= extent <= MAX_VECTOR or extent & (extent - 1):
        return False
    return block.loop_vars[-1] is loop.var and all(step in (0, 1) for step in steps_along(block, len(block.iters) - 1))


def _vector_within(block: BlockOp, loop: ForOp) -> int | None:
    """How many neighbours along `loop`, the innermost, are one vector, where all of them are not because an access
    finds its place by division, as in blocks of channels: LLVM would not see that, and take one after the other."""
    extent, last = loop.size, len(block.iters) - 1
    dim = AffineExpr.dimension(last)
    if (
        not isinstance(extent, int)
        or block.loop_vars[-1] is not loop.var
        or block.iters[last] in deciding_iterators(block)
    ):
        return None
    if all(access.along(dim) is not None for access in strides(block)):
        return None
    return _lanes_within(block, last)


def _lanes_within(block: BlockOp, iterator: int) -> int | None:
    """How many neighbours along an iterator are one vector, in which each access goes straight or stands still, if all
    of them are not."""
    extent = block.sizes[iterator]
    if not isinstance(extent, int) or all(step in (0, 1) for step in steps_along(block, iterator)):
        return None
    sizes = (MAX_VECTOR >> bits for bits in range(MAX_VECTOR.bit_length() - 2))
    fitting = (size for size in sizes if size < extent and extent % size == 0)
    return next((size for size in fitting if all(step in (0, 1) for step in steps_within(block, iterator, size))), None)


def _is_better_in_lanes(block: BlockOp, loop: ForOp) -> bool:
    """Whether LLVM would not see a vector along `loop`, the innermost, or one that is too short: where there are
    branches, long functions, and where an access goes straight on only within a part of the loop, as over what is
    repeated."""
    if side_by_side(block.body.block.ops) > 1 or any(branches(op) for op in block.body.block.ops):
        return True
    dim = AffineExpr.dimension(len(block.iters) - 1)
    return block.loop_vars[-1] is loop.var and any(access.along(dim) is None for access in strides(block))


def _in_lanes(block: BlockOp, loop: ForOp, registers: VectorRegisters) -> bool:
    """Take `loop`, the innermost, in vectors, if it goes straight along. Whether it does."""
    vectorize_along(block, registers)
    innermost = enclosing_loops(block)[-1]
    return innermost is not loop or innermost.for_kind == ForKind.VECTORIZED


def _divided_by(block: BlockOp, loop: ForOp) -> int | None:
    """By how much `loop`, the innermost, is divided where accesses find their places, as where pixels are interleaved:
    so many neighbours, unrolled, leave a loop along which all places follow each other: LLVM makes vectors of it."""
    extent, last = loop.size, len(block.iters) - 1
    if (
        not isinstance(extent, int)
        or block.loop_vars[-1] is not loop.var
        or block.iters[last] in deciding_iterators(block)
        or all(access.along(AffineExpr.dimension(last)) is not None for access in strides(block))
    ):
        return None
    fitting = (size for size in range(2, MAX_DIVIDED + 1) if size < extent and extent % size == 0)
    return next((size for size in fitting if None not in steps_between(block, last, size)), None)


def _near(block: BlockOp, loops: Sequence[ForOp], size: int, line: int) -> list[ForOp]:
    """Of the `loops` around a block, but for the innermost, those along which a read mostly stays within lines of so
    many bytes, where it walks over lines along the innermost, by `size` at a time."""
    numbers = [number for number, extent in enumerate(block.sizes) if extent != 1]
    found: list[ForOp] = []
    steps = steps_between(block, numbers[-1], size)
    for access, step in zip(flat_accesses(block), steps, strict=True):
        elements = line // byte_width(memref_of(access.buffer).element_type)
        if access.is_write or step is None or abs(step) < elements:
            continue
        for number, loop in zip(numbers[:-1], loops, strict=False):
            usual = usual_step(block, access, number)
            if loop not in found and usual is not None and 0 < abs(usual) < elements:
                found.append(loop)
    return found


def _take_parts(block: BlockOp, loops: Sequence[ForOp], registers: VectorRegisters) -> list[ForOp]:
    """Cut the innermost of `loops` where what it decides is decided, a vector in each part if it is one in all. What is
    decided together with another loop, as where channels in blocks are joined between blocks, is cut along that first,
    around a row of what stands between them: within a part, the same lanes come from the same source. Where lanes lie
    apart, as channels that are shuffled, there is nothing that such vectors would gain. Gives the loops that may be
    shared, and the innermost."""
    last, number = loops[-1], len(block.iters) - 1
    if any(usual_step(block, access, number) not in (0, 1) for access in flat_accesses(block)):
        in_parts(last)
        return list(loops)
    around, lanes = _deciding_with(block, last), last
    if last.trip_count <= registers.lanes(memref_of(written_buffer(block)).element_type):
        if _has_other_blocks(block, number) and (size := _lanes_within(block, number)) is not None:
            last, lanes = split(last, [size])
        set_kind(lanes, ForKind.VECTORIZED)
    in_parts(last)
    if around is None:
        return list(loops)
    in_parts(around)
    others = [loop for loop in loops[:-1] if loop is not around]
    row: list[ForOp] = []
    if others and isinstance(others[-1].size, int):
        *others, row_loop = others
        trips = row_loop.trip_count
        sizes = range(min(MAX_ROW, trips - 1), LEAST_ROW - 1, -1)
        if size := next((size for size in sizes if trips % size == 0), None):
            outer, row_loop = split(row_loop, [size])
            others.append(outer)
        row = [row_loop]
    reorder(*others, around, *row, last)
    return [*others, last]


def _has_other_blocks(block: BlockOp, iterator: int) -> bool:
    """Whether accesses are divided into blocks that all of `iterator` is no part of: then a cut where branches are
    decided does not make them straight."""
    extent = block.sizes[iterator]
    return isinstance(extent, int) and any(by % extent for by in divisors(block, iterator))


def _deciding_with(block: BlockOp, last: ForOp) -> ForOp | None:
    """The one loop of a known extent, but for `last`, on whose variable comparisons of that of `last` depend, too."""
    found: set[SSAValue] = set()
    known, bound = over_dimensions(block.iters), block.bindings.data.results
    for op in block.body.walk():
        if not isinstance(op, arith.CmpiOp) or not isinstance(op.lhs.type, IndexType):
            continue
        sides = [affine_of(side, known) for side in op.operands]
        if sides[0] is None or sides[1] is None:
            continue
        used = {block.loop_vars[d] for d in dims_in(substitute(sides[0] - sides[1], bound))}
        found |= used - {last.var} if last.var in used else set()
    loops = [loop for loop in enclosing_loops(block) if loop.var in found]
    return loops[0] if len(loops) == 1 and isinstance(loops[0].size, int) else None


def _is_in_parts(block: BlockOp, loops: Sequence[ForOp]) -> bool:
    """Whether the innermost of `loops`, of several, is of a known extent and decides branches: each side
    wants a loop of its own then, in which LLVM finds vectors."""
    last = len(block.iters) - 1
    return (
        len(loops) > 1
        and block.loop_vars[-1] is loops[-1].var
        and isinstance(loops[-1].size, int)
        and block.iters[last] in deciding_iterators(block)
    )


def fuse_what_follows(block: BlockOp, first: int = 0) -> None:
    """Fuse neighbouring iterators, from the `first` on, wherever every access walks straight from one to the next.

    An iterator that decides a branch (where a concatenation's inputs meet, or where padding begins) stays on its own:
    within the loops inside it the branch is the same. So does one that is computed with, which would be found by
    division for each element.
    """
    accesses, deciding = strides(block), deciding_iterators(block)
    for position in range(len(block.iters) - 2, first - 1, -1):
        if may_fuse(block, position, accesses, deciding) and is_chosen("fuse-neighbours", block):
            fuse_iters(block, position)
            accesses, deciding = strides(block), deciding_iterators(block)


def may_fuse(block: BlockOp, position: int, accesses: Sequence[Stride], deciding: Collection[SSAValue]) -> bool:
    """Whether an iterator of `block` and the next can be one, and every access walks straight from one to the next."""
    extents, kinds = block.likely_extents, block.kinds
    return (
        block.iters[position] not in deciding
        and kinds[position] == kinds[position + 1]
        and extents[position] > 1
        and extents[position + 1] > 1
        and isinstance(block.sizes[position + 1], int)
        and computed_with(block).isdisjoint(block.iters[position : position + 2])
        and follow_each_other(block, position, accesses)
    )


def split_loops(block: BlockOp) -> tuple[list[ForOp], list[ForOp]]:
    """The loops around `block` that its spatial iterators are bound to, and the others, each outermost first."""
    loop_vars = list(block.loop_vars)
    reduce = {
        loop_vars[d]
        for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True)
        if kind == IterKind.REDUCE
        for d in binding.used_dims()
    }
    loops = enclosing_loops(block)
    return [loop for loop in loops if loop.var not in reduce], [loop for loop in loops if loop.var in reduce]


def fuse_known(loops: Sequence[ForOp]) -> ForOp:
    """Fuse as many of `loops`, inner ones first, as can be: of the fused loops, the outermost alone may have an extent
    that is a symbol. Gives the innermost loop that is left."""
    first = max((number for number, loop in enumerate(loops) if loop.is_symbolic), default=0)
    return fuse(*loops[first:])


def parallelize(block: BlockOp, loops: list[ForOp]) -> ForOp | None:
    """Run the outermost of `loops`, the outer loops of a nest, in parallel if there is enough to do: as many of them
    fused as it takes to give every thread its share. (A fused loop's parts are found by division, so the fewer the
    better.)"""
    if not loops:
        return None
    steps = 1
    for loop in enclosing_loops(block):
        steps *= loop.likely_trips
    shares = 0
    trips = 1
    while shares < len(loops) and trips < PARALLEL_SHARES and not (shares and loops[shares].is_symbolic):
        trips *= loops[shares].likely_trips
        shares += 1
    fused = fuse(*loops[:shares])
    is_enough = steps >= PARALLEL_MIN_STEPS or fused.is_symbolic  # what is shared out then, the call says
    if is_enough and fused.likely_trips > 1 and is_chosen("parallel", block):
        set_kind(fused, ForKind.PARALLEL)
    return fused
