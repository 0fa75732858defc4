"""One-dimensional buffers: how an element of a `tir` buffer is addressed after compaction and flattening."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd, prod
from operator import add

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr, AffineMap

from ...dialects.support.dtypes import byte_width
from ...dialects.support.interned import flat_memref
from ...dialects.tir.affine import Linear, linear, substitute
from ...dialects.tir.alignment import BUFFER_DIM_ALIGN, Alignment, alignments
from ...dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    accessing_blocks,
    enclosing_loops,
    memref_of,
)
from ...dialects.tir.symbols import Extent, as_affine, as_extent, dimension, product
from ...transforms.tir.analysis.regions import required_region
from .index_values import IndexBuilder
from .lanes import next_power_of_two, open_trips


def flatten_type(type: MemRefType[Attribute]) -> MemRefType[Attribute]:
    """The one-dimensional memref of as many elements."""
    shape = type.get_shape()
    return flat_memref(type.element_type, DYNAMIC_INDEX if DYNAMIC_INDEX in shape else prod(shape))


def alignments_of(buffer: SSAValue) -> dict[int, Alignment]:
    """What the blocks that write a buffer say of its dimensions; of two that speak of one, the last."""
    return {
        each.axis: each
        for block in accessing_blocks(buffer)
        for each in alignments(block.attributes.get(BUFFER_DIM_ALIGN), block.writes)
        if block.writes[each.buffer] is buffer
    }


def flat_type(buffer: SSAValue) -> MemRefType[Attribute]:
    """The one-dimensional memref that holds a buffer, with what lies between its rows."""
    type = memref_of(buffer)
    if not (apart := alignments_of(buffer)):
        return flatten_type(type)
    return flat_memref(type.element_type, elements_of(type.get_shape(), apart))


def elements_of(shape: Sequence[int], apart: Mapping[int, Alignment]) -> int:
    """The elements from the first to after the last, and between them."""
    (stride, *_) = (*row_major_strides(shape, apart), 1)
    assert isinstance(stride, int)
    return shape[0] * stride if shape else 1


def row_major_strides(shape: Sequence[Extent], apart: Mapping[int, Alignment] | None = None) -> tuple[Extent, ...]:
    """Elements between neighbours along each dimension of a row-major buffer, dense but for what lies `apart`."""
    strides: list[Extent] = []
    step: Extent = 1
    for number, size in reversed(list(enumerate(shape))):
        if apart and number in apart:
            assert isinstance(step, int), "a buffer whose rows lie apart has known extents"
            step = apart[number].stride(step)
        strides.append(step)
        if isinstance(step, int) and isinstance(size, int):
            step *= size
        else:
            step = as_extent(linear(product(as_affine(step), as_affine(size))).to_expr())
    return tuple(reversed(strides))


_NOWHERE = AffineConstantExpr(0)

CACHE_LINE = 64
"""Bytes that processors move between memory and caches at a time, as good as all of them."""


@dataclass(frozen=True)
class Rows:
    """Rows of a buffer that have room for whole vectors: what lies behind their `length` means nothing."""

    length: Extent
    room: Extent
    """The elements of a row, with those that mean nothing."""
    behind: int = 0
    """How many of these there are at least, where the length is open."""
    is_one_vector: bool = False
    """Whether all that is written or read of a row are the same lanes of one vector, as many as symbols say."""

    def hold(self, start: Linear, width: int) -> bool:
        """Whether as many elements as a vector has, from `start` of the buffer's memory on, are of one row."""
        if not isinstance(self.room, int):
            return width <= self.behind
        step = gcd(self.room, *start.terms.values())  # a row begins at a multiple of it, and what `start` adds is one
        return start.constant % step + width <= step

    def end_with(self, start: Linear, count: int) -> bool:
        """Whether `count` elements from `start` on, which are of one row, are the last of it that mean something."""
        if count == self.length or self.is_one_vector:
            return True
        if not isinstance(self.room, int) or gcd(self.room, *start.terms.values()) != self.room:
            return False
        return start.constant % self.room + count == self.length


@dataclass(frozen=True)
class FlatBuffer:
    """A buffer's flat memory: element `i` of dimension `d` lies `(i - offsets[d]) * strides[d]` from its `start`.

    `offsets` are expressions over the function's loop variables, zero but for compacted buffers; strides may be
    products of symbols.
    """

    memory: SSAValue
    strides: tuple[Extent, ...]
    offsets: tuple[AffineExpr, ...]
    rows: Rows | None = None
    """Where rows are long enough for whole vectors: lanes beyond a row's end may be read and written there."""
    start: AffineExpr = _NOWHERE
    """Where in the memory the buffer begins."""

    @staticmethod
    def whole(memory: SSAValue, shape: Sequence[Extent], apart: Mapping[int, Alignment] | None = None) -> FlatBuffer:
        strides = row_major_strides(shape, apart)
        return FlatBuffer(memory, strides, (_NOWHERE,) * len(strides))

    @property
    def element_type(self) -> Attribute:
        return memref_of(self.memory).element_type

    def position(
        self, map: AffineMap, iters: Sequence[AffineExpr], ranges: Mapping[AffineExpr, tuple[int, int]]
    ) -> Linear:
        """Where the element that `map` gives for iterator values `iters` lies in the flat memory, in normal form."""
        total = self.start
        if any(_divides(result) for result in map.results) and all(offset == _NOWHERE for offset in self.offsets):
            # Before loops take the place of iterators: `x floordiv 10 * 10 + x mod 10` is seen to be `x`, and that
            # `(25 * i + j) floordiv 10 * 10 + (5 * i + j) mod 10` is `25 * i + j` is not.
            scaled = (product(each, as_affine(stride)) for each, stride in zip(map.results, self.strides, strict=True))
            joined = linear(reduce(add, scaled, _NOWHERE)).to_expr()
            return linear(total + substitute(joined, iters), ranges)
        for result, stride, offset in zip(map.results, self.strides, self.offsets, strict=True):
            # Each dimension is joined with its own offset before it is scaled, so that an offset cancels.
            index = substitute(result, iters)
            total = total + product(index if offset == _NOWHERE else index + offset * -1, as_affine(stride))
        return linear(total, ranges)


def _divides(expr: AffineExpr) -> bool:
    """Whether there is a quotient or a remainder in an expression."""
    kinds = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod)
    return any(isinstance(each, AffineBinaryOpExpr) and each.kind in kinds for each in expr.dfs())


@dataclass(frozen=True)
class Room:
    """What a thread's own buffer takes: the region that is touched while the loops around all its uses stand still."""

    alloc: AllocBufferOp
    outer: tuple[SSAValue, ...]
    """The variables of those loops."""
    offsets: tuple[AffineExpr, ...]
    """Where the region begins, along each dimension, over `outer` as dimensions."""
    shape: tuple[Extent, ...]
    rows: Rows | None
    """Rows, where they are as long as whole vectors."""

    @property
    def is_open(self) -> bool:
        """Whether it is known only when the function is called how much that is."""
        return not all(isinstance(extent, int) for extent in self.shape)

    def on_stack(self, at: IndexBuilder) -> FlatBuffer:
        """The buffer in memory on the stack, of which every call has its own."""
        apart = alignments_of(self.alloc.buffer)
        known = [extent for extent in self.shape if isinstance(extent, int)]
        type = MemRefType[Attribute](memref_of(self.alloc.buffer).element_type, [elements_of(known, apart)])
        memory = memref.AllocaOp.get(type.element_type, 64, type.get_shape())
        memory.memref.name_hint = self.alloc.buffer.name_hint
        at.insert(memory)
        return FlatBuffer(memory.memref, row_major_strides(self.shape, apart), self._offsets(at), rows=self.rows)

    def in_slice(self, memory: SSAValue, slice: AffineExpr, at: IndexBuilder) -> FlatBuffer:
        """The buffer in a slice of `memory`, which holds many of them one after another."""
        stride, *strides = row_major_strides((1, *self.shape))
        start = product(slice, as_affine(stride))
        return FlatBuffer(memory, tuple(strides), self._offsets(at), rows=self.rows, start=start)

    def _offsets(self, at: IndexBuilder) -> tuple[AffineExpr, ...]:
        dims = [at.dim(var) for var in self.outer]
        return tuple(substitute(offset, dims) for offset in self.offsets)


def room_of(alloc: AllocBufferOp) -> Room:
    """Shrink a thread's own buffer to the region touched while the loops around all its uses stand still.

    Rows of an open length lie an odd number of cache lines apart: they begin with one, and do not all compete for the
    same places of the nearest cache. There is room for a whole vector behind their ends, where one of no lanes may
    stand. Counterpart of TVM's CompactBufferAllocation.
    """
    blocks = accessing_blocks(alloc.buffer)
    chains = [enclosing_loops(block) for block in blocks]
    common: list[ForOp] = []
    for level in zip(*chains, strict=False):
        if any(loop is not level[0] for loop in level):
            break
        common.append(level[0])
    if len(blocks) == 1:
        common = common[: len(enclosing_loops(alloc))]
    outer = [loop.var for loop in common]
    region = required_region(alloc.buffer, blocks, outer)
    shape: list[Extent] = [size for _, size in region]
    masked = bool(shape) and any(_has_masked_lanes(block) for block in blocks)
    masked = masked and not any(each.buffer is alloc.buffer for block in blocks for each in block.handed())
    row = max((number for number, size in enumerate(shape) if size != 1), default=len(shape) - 1)
    length = shape[row] if shape else 1
    lanes = max((_open_lanes(block) for block in blocks), default=0)
    if not isinstance(length, int):
        line = CACHE_LINE // byte_width(memref_of(alloc.buffer).element_type)
        shape[row] = as_extent(linear((length + (lanes + line - 1)) // (2 * line) * (2 * line) + line).to_expr())
    elif masked:
        shape[row] = next_power_of_two(length)
    alone = masked and isinstance(length, int) and _share_lanes(alloc.buffer, blocks, row, length)
    rows = Rows(length, shape[row], lanes, alone) if masked else None
    return Room(alloc, tuple(outer), tuple(offset for offset, _ in region), tuple(shape), rows)


def _share_lanes(buffer: SSAValue, blocks: Sequence[BlockOp], row: int, length: int) -> bool:
    """Whether `blocks` go along the rows of a buffer as the same lanes of a vector, as many as symbols say and `length`
    at most, which begin where rows do: then the others are nobody's."""
    loops = [chain[-1] for block in blocks if (chain := enclosing_loops(block))]
    if len(loops) < len(blocks) or len({as_affine(loop.size) for loop in loops}) != 1:
        return False
    if any(loop.for_kind != ForKind.VECTORIZED or open_trips(loop) != length for loop in loops):
        return False
    for block, loop in zip(blocks, loops, strict=True):
        lane = dimension(list(block.loop_vars).index(loop.var)) if loop.var in block.loop_vars else None
        for access in block.accesses():
            if access.buffer is not buffer:
                continue
            if access.map is None or lane is None:
                return False
            indices = [substitute(index, block.bindings.data.results) for index in access.map.results]
            if any(linear(index).step(lane) != (number == row) for number, index in enumerate(indices)):
                return False
    return True


def _open_lanes(block: BlockOp) -> int:
    """The width of the vectors, of lanes as many as symbols say, that `block` runs as; 0 where it does not."""
    loops = enclosing_loops(block)
    most = open_trips(loops[-1]) if loops and loops[-1].for_kind == ForKind.VECTORIZED else None
    return 0 if most is None else next_power_of_two(most)


def _has_masked_lanes(block: BlockOp) -> bool:
    """Whether `block` runs as vectors of which some lanes are masked off."""
    loops = enclosing_loops(block)
    if not loops or loops[-1].for_kind != ForKind.VECTORIZED:
        return False
    trips = loops[-1].size
    return open_trips(loops[-1]) is not None if not isinstance(trips, int) else next_power_of_two(trips) != trips
