"""Squares of elements whose rows are read and whose columns are written, turned in registers.

Two loops, the inner of lanes, of a block that moves data across: it writes along the lanes, and reads in steps along
them, but straight along the outer loop. Element by element that is as many loads as there are elements, and as many
insertions. Instead the rows are read as vectors, and these become the columns: with `n` lanes in 128 bits, first
neighbouring rows are interleaved within 128 bits (`log2(n)` times), then the even 128 bits of two rows and the odd ones
are put together, as often as it takes to reach all lanes. Each step is one instruction of a processor for each vector.

```mlir
tir.for unrolled %a = 0 to 16 {
  tir.for vectorized %b = 0 to 16 { y[%a, %b] = x[%b, %a] }      %row_0 = vector.load x[0, 0]  ...  %row_15
}                                                           ->   %0 = vector.shuffle %row_0, %row_8 ...
                                                                 vector.store %column_0, y[0, 0] ...
```

Loops of other lengths make rectangles: rows shorter than columns are joined to such of their length first; of longer
ones, parts are columns. Source: the 8x8 transpose in Intel's "64-ia-32-architectures-optimization-manual", 15.11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, memref, vector
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.support.dtypes import byte_width
from ...dialects.support.interned import long_array, vector_of
from ...dialects.support.vector_types import element_type
from ...dialects.tir.affine import Linear, uses
from ...dialects.tir.core import BlockOp, ForKind, ForOp
from .accesses import AccessEmitter
from .block_bodies import needed_operations
from .flat_buffers import FlatBuffer
from .index_values import IndexBuilder
from .lanes import Lanes, open_trips

MAX_SIDE = 16
"""Rows and columns of a square, at most: as many vectors are held at once."""

BLOCK_BYTES = 16
"""Within so many bytes instructions interleave elements."""


def square_of(loop: ForOp) -> tuple[ForOp, BlockOp] | None:
    """The vectorized loop and the block in an unrolled loop that may be a square: nothing else is in it, and the number
    of steps of both fits. That of the lanes may depend on symbols."""
    if loop.for_kind != ForKind.UNROLLED:
        return None
    inner = loop.body.block.first_op
    if not isinstance(inner, ForOp) or inner is not loop.body.block.last_op or inner.for_kind != ForKind.VECTORIZED:
        return None
    block = inner.body.block.first_op
    if not isinstance(block, BlockOp) or block is not inner.body.block.last_op or block.init is not None:
        return None
    sides = (loop.size, open_trips(inner) or inner.size)
    if loop.start or inner.start or any(not isinstance(side, int) or not 2 <= side <= MAX_SIDE for side in sides):
        return None
    return inner, block


class SquareEmitter:
    """Reads the rows of squares, and makes columns of them."""

    def __init__(self, at: IndexBuilder, accesses: AccessEmitter):
        self.at = at
        self.accesses = accesses

    def across(self, block: BlockOp, rows: Lanes, lanes: Lanes) -> dict[memref.LoadOp, Linear]:
        """The loads of `block` that go straight along `rows` and across the `lanes`, each with how far it moves from
        one of these to the next."""
        found = dict[memref.LoadOp, Linear]()
        needed, iters = needed_operations(block.body.block), self._iterators(block)
        for op in block.body.block.ops:
            if not isinstance(op, memref.LoadOp) or op not in needed or op.memref in block.writes:
                continue
            _, form = self.accesses.position(op, iters)
            if form is None or form.step(rows.dim) != 1 or form.step(lanes.dim) in (0, 1):
                continue
            if (step := form.stride(lanes.dim)) is not None:
                found[op] = step
        return found

    def columns(
        self, block: BlockOp, across: Mapping[memref.LoadOp, Linear], rows: Lanes, lanes: Lanes
    ) -> dict[memref.LoadOp, list[SSAValue]]:
        """What the loads of `block` that go `across` give in each step along `rows`, in `lanes`. What is needed for it
        is appended."""
        iters, found = self._iterators(block), dict[memref.LoadOp, list[SSAValue]]()
        for op, step in across.items():
            buffer, form = self.accesses.position(op, iters)
            assert form is not None, "where it goes across is known"
            found[op] = self._turned(buffer, form, step, rows, lanes)
        return found

    def _iterators(self, block: BlockOp) -> Mapping[SSAValue, AffineExpr]:
        return dict(zip(block.body.block.args, self.at.bindings(block), strict=True))

    def _turned(self, buffer: FlatBuffer, form: Linear, step: Linear, rows: Lanes, lanes: Lanes) -> list[SSAValue]:
        terms = {atom: factor for atom, factor in form.terms.items() if not uses(atom, lanes.dim)}
        across = Linear(terms, form.constant)
        if lanes.count is None:
            starts = [across.plus(step, lane) for lane in range(lanes.extent)]
            vectors = [self.accesses.load(buffer, start, rows) for start in starts]
            vectors += vectors[-1:] * (lanes.width - lanes.extent)
        else:
            vectors = self._up_to_last(buffer, across, step, rows, lanes, lanes.count)
        return self.transposed(vectors, rows.width)[: rows.extent]

    def _up_to_last(
        self, buffer: FlatBuffer, first: Linear, step: Linear, rows: Lanes, lanes: Lanes, count: SSAValue
    ) -> list[SSAValue]:
        """The vectors of as many lanes as there are, the last of which is read again for all others."""
        last = self.at.emit(arith.SubiOp(count, self.at.constant(1)))
        apart, start = self.at.index_value(step), self.accesses.first_of(first, rows)
        vectors: list[SSAValue] = []
        for lane in range(lanes.width):
            number = self.at.emit(arith.MinSIOp(self.at.constant(lane), last)) if lane else self.at.constant(0)
            place = self.at.emit(arith.AddiOp(start, self.at.emit(arith.MuliOp(number, apart))))
            vectors.append(self.accesses.load_lanes(buffer, place, 1, rows))
        return vectors

    def transposed(self, vectors: Sequence[SSAValue], width: int) -> list[SSAValue]:
        """`width` vectors, each of one lane of each of `vectors`, which have `width` lanes; both powers of two."""
        count, side = len(vectors), min(len(vectors), width)
        parts = [list(vectors[first::side]) for first in range(side)]  # of rows shorter than columns, those of one
        while len(parts[0]) > 1:
            lanes = width * count // side // len(parts[0])
            parts = [
                [self._shuffled(*pair, range(2 * lanes)) for pair in zip(part[::2], part[1::2], strict=True)]
                for part in parts
            ]
        held = [part for (part,) in parts]
        total = max(width, count)
        near = min(side, max(1, BLOCK_BYTES // byte_width(element_type(held[0].type))))
        distance = near // 2
        while distance:  # interleave within so many lanes
            low = [lane for n in range(0, total, near) for k in range(near // 2) for lane in (n + k, total + n + k)]
            self._exchange(held, distance, low, [lane + near // 2 for lane in low])
            distance //= 2
        distance = near
        while distance < side:  # the even ones of so many lanes, and the odd ones
            whole = range(0, side, 2 * near)
            even = [
                lane
                for segment in range(0, total, side)
                for other in (0, total)
                for n in whole
                for lane in range(other + segment + n, other + segment + n + near)
            ]
            self._exchange(held, distance, even, [lane + near for lane in even])
            distance *= 2
        if width == side:
            return held
        return [self._shuffled(each, each, range(part, part + side)) for part in range(0, width, side) for each in held]

    def _exchange(self, held: list[SSAValue], distance: int, first: Sequence[int], second: Sequence[int]) -> None:
        """Let pairs of vectors at a `distance` be these lanes of both."""
        for number in range(len(held)):
            if not number & distance:
                pair = held[number], held[number + distance]
                held[number] = self._shuffled(*pair, first)
                held[number + distance] = self._shuffled(*pair, second)

    def _shuffled(self, one: SSAValue, other: SSAValue, lanes: Sequence[int]) -> SSAValue:
        op = vector.ShuffleOp.create(
            operands=(one, other),
            result_types=(vector_of(element_type(one.type), len(lanes)),),
            properties={"mask": long_array(*lanes)},
        )
        return self.at.emit(op)
