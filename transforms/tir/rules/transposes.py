"""Move data between orders of dimensions in squares of vectors, or in strips, so that each line of cache is fetched
once.

Where a block writes straight along its innermost iterator, but reads in steps along that and straight along another,
the innermost loop walks over as many lines as it has steps, and takes one element of each. They collide in the cache
where steps are multiples of a power of two, and are gone before their next element is wanted. So a line's elements of
the other iterator become the innermost loop: they are read at once, and written to as many lines, which stay until they
are full.

    for b, k, j: y[b, k, j] = x[j, b, k]    ->    for b, k', j, k'': y[b, k' * 16 + k'', j] = x[j, b, k' * 16 + k'']

A vector's worth of both iterators is a square: rows are read as vectors, turned in registers, and written as vectors
(`lowering/tir_to_loops/squares.py`). Where an extent is a symbol, what whole squares leave is taken in rectangles of
half as many rows, of a quarter, and element by element at the ends of columns.

    for b, k', j': unrolled k'', vectorized j'': y[b, k' * 16 + k'', j' * 16 + j''] = x[j' * 16 + j'', b, k' * 16 + k'']
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir.affine import AffineExpr

from ....dialects.support.dtypes import byte_width
from ....dialects.support.machine_model import MachineModel
from ....dialects.tir.affine import Linear
from ....dialects.tir.core import BlockOp, ForKind, ForOp, enclosing_loops, memref_of
from ....dialects.tir.symbols import likely
from ..analysis.deciding import deciding_iterators
from ..analysis.producers import written_buffer
from ..analysis.strides import steps_within, strides, strides_within
from ..scheduling.recorded import reorder, set_kind, split
from .choosing import is_chosen
from .registers import VectorRegisters

MIN_STRIPS = 16
"""Fewer are not shared out evenly among the threads."""

LINES = 2
"""Lines of a cache that squares which are taken one below another write together, since processors fetch them so."""

MIN_SIDE, MAX_SIDE = 4, 16
"""Of a square: with less there is not enough to gain, and as many vectors are held at once."""

STRAIGHT, AT_REST = Linear({}, 1), Linear({}, 0)
"""How far an access moves from one element to the next."""


def transpose_in_squares(block: BlockOp, registers: VectorRegisters) -> list[ForOp] | None:
    """Bring the loops of `block`, which stands in its own perfect nest, into the order that squares have.

    Gives those outside of them that may run in parallel as one; `None` where it moves nothing across.
    """
    if block.is_reduction or block.conditions:
        return None
    element = memref_of(written_buffer(block)).element_type
    lanes = min(MAX_SIDE, registers.lanes(element))
    crossing = crossing_in_squares(block, lanes)
    if crossing is None or not is_chosen("squares", block):
        return None
    numbers = [number for number, size in enumerate(block.sizes) if size != 1]
    loops = dict(zip(numbers, enclosing_loops(block), strict=True))
    at_a_time = LINES * registers.machine.line // (lanes * byte_width(element))
    return in_squares(list(loops.values()), loops[crossing], loops[numbers[-1]], lanes, at_a_time)


def in_squares(loops: Sequence[ForOp], rows: ForOp, columns: ForOp, lanes: int, at_a_time: int = 1) -> list[ForOp]:
    """Bring `loops`, nested perfectly, into the order that squares of `lanes` by `lanes` have along two of them: read
    straight along `rows`, and written straight along `columns`. Where squares follow one another along rows first, so
    many columns of squares are taken `at_a_time`, if that leaves enough for threads to share: a line of which a part
    was written would be gone before the next. Gives those outside of them that may run in parallel as one."""
    outer, ragged, inner, squares = list[ForOp](), list[ForOp](), dict[ForOp, ForOp](), dict[ForOp, ForOp]()
    for loop in loops:
        if loop not in (rows, columns):
            outer.append(loop)
            continue
        leaves_rest = loop.likely_trips % lanes > 0
        parts = split(loop, [lanes]) if loop.likely_trips > lanes else [loop]
        inner[loop] = parts[-1]
        (ragged if leaves_rest else outer).extend(parts[:-1])
        if len(parts) > 1:
            squares[loop] = parts[0]
    near = list[ForOp]()
    if rows in squares and columns in squares:
        across, order = squares[columns], [*outer, *ragged]
        size = across.size if order.index(across) < order.index(squares[rows]) else 0
        shares = prod(loop.likely_trips for loop in outer or ragged[:1]) // at_a_time
        is_whole = isinstance(size, int) and size > 0 and size % at_a_time == 0
        if is_whole and at_a_time > 1 and shares >= MIN_STRIPS:
            part = outer if across in outer else ragged
            part[part.index(across)], *near = split(across, [at_a_time])
    reorder(*outer, *ragged, *near, inner[rows], inner[columns])
    set_kind(inner[rows], ForKind.UNROLLED)
    set_kind(inner[columns], ForKind.VECTORIZED)
    return outer or ragged[:1]


def crossing_in_squares(block: BlockOp, lanes: int) -> int | None:
    """The iterator that `block` reads straight along where it reads in steps along the last, along which it writes
    straight: so many of both are a square."""
    last = max((number for number, size in enumerate(block.sizes) if size != 1), default=0)
    if lanes < MIN_SIDE or not _fits(block, last):
        return None
    accesses, along_last = strides(block), strides_within(block, last, lanes)
    if any(step is None or (a.is_write and step != STRAIGHT) for a, step in zip(accesses, along_last, strict=True)):
        return None
    for number in range(last):
        if not _fits(block, number):
            continue
        steps = strides_within(block, number, lanes)
        across = [
            step == STRAIGHT and apart not in (STRAIGHT, AT_REST)
            for access, step, apart in zip(accesses, steps, along_last, strict=True)
            if not access.is_write
        ]
        if any(across) and None not in steps:
            return number
    return None


def _fits(block: BlockOp, number: int) -> bool:
    """Whether an iterator is long enough, or likely to be, and decides nothing."""
    return likely(block.sizes[number]) >= MIN_SIDE and block.iters[number] not in deciding_iterators(block)


def transpose_in_strips(block: BlockOp, machine: MachineModel) -> list[ForOp] | None:
    """Bring the loops of `block`, which stands in its own perfect nest, into the order that strips have.

    Gives those outside of the two along which it moves; `None` where it moves nothing across.
    """
    if block.is_reduction or block.conditions:
        return None
    line = machine.line // byte_width(memref_of(written_buffer(block)).element_type)
    crossing = crossing_iterator(block, line)
    if crossing is None:
        return None
    count = prod(n for number, n in enumerate(block.likely_extents[:-1]) if number != crossing)
    if count * -(-block.likely_extents[crossing] // line) < MIN_STRIPS or not is_chosen("transpose", block):
        return None
    loops = enclosing_loops(block)
    numbers = [number for number, size in enumerate(block.sizes) if size != 1]
    across = loops[numbers.index(crossing)]
    strips = split(across, [line]) if across.likely_trips > line else [across]
    outer = [loop for loop in loops[:-1] if loop is not across] + strips[:-1]
    reorder(*outer, loops[-1], strips[-1])
    return outer


def crossing_iterator(block: BlockOp, line: int) -> int | None:
    """The iterator that `block` reads straight along, where it writes along the last, in steps of a `line` or more."""
    sizes = block.likely_extents
    if len(sizes) < 2 or sizes[-1] < 4 * line:
        return None
    accesses = strides(block)
    last = AffineExpr.dimension(len(sizes) - 1)
    apart = [a for a in accesses if not a.is_write and abs(a.along(last) or 0) >= line]
    if len(apart) != 1 or any(a.along(last) != 1 for a in accesses if a.is_write):
        return None
    for number in range(len(sizes) - 1):
        dim = AffineExpr.dimension(number)
        steps = [abs(a.along(dim) or 0) for a in accesses if a.is_write]
        if sizes[number] < line or any(step < line for step in steps):
            continue
        along = apart[0].along(dim)
        if along is None and sizes[number] % line == 0:  # a part of it may be: channels in blocks
            along = steps_within(block, number, line)[accesses.index(apart[0])]
        if along == 1:
            return number
    return None
