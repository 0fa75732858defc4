"""Turn a factor of a product that neighbouring columns read across, once for all tiles of rows.

Where a product's second factor is transposed, as keys of an attention or the second operand of `Gemm` are, the elements
that a vector takes lie a whole row of it apart. To put them together costs as much as some eight rows of products with
them do. So from some rows on they are copied to where they lie side by side, a square turned in registers at a time,
and all tiles of rows read the copy:

```mlir
tir.for parallel %columns {
  panel: for %k: squares of columns and steps
  tir.for %rows { product_init, product: a tile in registers }
}
```

Where panels are too few to be shared, or have no room on a thread's stack, all of the factor is copied before.

Source: the packing of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008), which turns a
transposed factor as it copies it.
"""

from __future__ import annotations

from math import prod

from xdsl.ir import BlockArgument
from xdsl.ir.affine import AffineDimExpr, AffineMap

from ....dialects.support.dtypes import byte_width
from ....dialects.support.machine_model import MachineModel
from ....dialects.tir.affine import Access
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import BlockOp, IterKind, Scope, enclosing_loops, memref_of
from ....dialects.tir.symbols import dimension
from ..analysis.producers import stores_of, written_buffer
from ..analysis.strides import strides
from ..scheduling.recorded import cache_read, transform_layout
from .choose_tile import Tile
from .choosing import is_chosen
from .packed_panels import Panel
from .registers import VectorRegisters
from .spatial import parallelize
from .transposes import MAX_SIDE, in_squares

MIN_ROWS = 4
"""Rows of products from which on a copy pays: of 3 rows by 256 x 256, 0.9 of the time, by 512 x 512, 1.2; of 4, 0.7."""

MIN_SHARED = 1 << 15
"""Elements of a copy from which on threads share it: of fewer, they wait for each other longer than one copies them."""


def turn_factor(block: BlockOp, registers: VectorRegisters) -> BlockOp | None:
    """Let `block` read a copy of the factor whose elements lie apart in its vectors, in which they lie side by side.

    Gives the block that copies; `None` where there is no such factor, or a copy would not pay.
    """
    rank = len(shape_of(written_buffer(block)))
    spatial = [n for n in range(rank) if block.likely_extents[n] > 1]
    sums = [n for n, kind in enumerate(block.kinds) if kind == IterKind.REDUCE and block.likely_extents[n] > 1]
    if not spatial or len(sums) != 1:
        return None
    column, step = spatial[-1], sums[0]
    read = _read_across(block, column, step)
    if read is None or block.likely_extents[column] < registers.lanes(memref_of(read.buffer).element_type):
        return None
    rows = prod(block.likely_extents[n] for n in spatial if n not in _along(read))
    if rows < MIN_ROWS or not is_chosen("turned-factor", block):
        return None
    places = [dimension(n) for n in range(len(_indices(read)))]
    places.append(places.pop(_indices(read).index(column)))
    copy = cache_read(block, read.buffer, Scope.GLOBAL)
    transform_layout(written_buffer(copy), AffineMap(len(places), 0, tuple(places)))
    return copy


def turned_panel(block: BlockOp, copy: BlockOp, tile: Tile, machine: MachineModel) -> Panel | None:
    """What `copy` makes for the columns of a tile of `block`, to be made in the loops over them; `None` where it has no
    room on a thread's stack."""
    buffer = written_buffer(copy)
    (read,) = (access for access in block.accesses() if access.buffer is buffer)
    steps = prod(block.likely_extents[n] for n, kind in enumerate(block.kinds) if kind == IterKind.REDUCE)
    bytes = steps * tile.lanes * tile.columns * byte_width(memref_of(buffer).element_type)
    if tile.column not in (None, tile.vector) or bytes > machine.kept_near:
        return None
    return Panel(block, buffer, frozenset(_along(read)), tile.lanes, copy)


def copy_whole(copy: BlockOp, registers: VectorRegisters) -> None:
    """Schedule a `copy` that stands before what reads it."""
    loops = enclosing_loops(copy)
    (store,) = stores_of(copy)
    column = next(n for n, iterator in enumerate(copy.iters) if iterator is store.indices[-1])
    lanes = registers.lanes(memref_of(store.memref).element_type)
    elements = prod(copy.likely_extents)
    outer = in_squares(loops, loops[-1], loops[column], min(MAX_SIDE, lanes))
    if elements >= MIN_SHARED:
        parallelize(copy, outer)


def _read_across(block: BlockOp, column: int, step: int) -> Access | None:
    """The one read of an argument of a product, of known extents, that moves by one along the iterator `step`, and
    farther along `column`; all others move along `column` by none, or by one."""
    output = written_buffer(block)
    moves = [(read.along(dimension(column)), read.buffer) for read in strides(block) if read.buffer is not output]
    apart = [buffer for along, buffer in moves if along not in (0, 1)]
    if len(apart) != 1 or all(along != 0 for along, _ in moves):
        return None
    reads = [access for access in block.accesses() if access.buffer is apart[0]]
    if len(reads) != 1 or not isinstance(reads[0].buffer, BlockArgument):
        return None
    (read,) = reads
    numbers = _indices(read)
    is_plain = column in numbers and numbers[-1:] == [step] and len({*numbers}) == len(numbers) and None not in numbers
    is_known = all(isinstance(extent, int) for extent in shape_of(read.buffer))
    return read if is_plain and is_known else None


def _indices(read: Access) -> list[int | None]:
    """The iterators that a read's indices are, `None` for those that are something else."""
    results = () if read.map is None else read.map.results
    return [index.position if isinstance(index, AffineDimExpr) else None for index in results]


def _along(read: Access) -> set[int]:
    return {number for number in _indices(read) if number is not None}
