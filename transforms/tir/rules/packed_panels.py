"""Copy what a product streams by side by side, once for all tiles of rows that read it.

A tile of a matrix product goes through a panel of one factor: as many neighbouring columns as it has, of every row.
Where that factor is not laid out for it, as the result of another kernel is not, the panel's rows lie a whole row
apart. Then they may fall into a few sets of the nearest cache, and take one another's place; or each is in a page of
its own, of which there are more than a processor finds quickly. So the panel is copied to where its rows follow each
other, and all tiles of rows read it there:

```mlir
tir.for parallel %columns {
  panel: for %k: unrolled and vectorized lanes of the columns
  tir.for %rows { product_init, product: a tile in registers }
}
```

Source: the packing of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008), of the one
factor of which vectors are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod

from xdsl.ir import SSAValue

from ....dialects.support.dtypes import byte_width
from ....dialects.support.machine_model import MachineModel
from ....dialects.tir.core import BlockOp, ForKind, ForOp, IterKind, Scope, enclosing_loops, memref_of
from ....dialects.tir.symbols import dimension
from ..analysis.producers import written_buffer
from ..analysis.strides import strides
from ..scheduling.recorded import cache_read, compute_at, set_kind, set_scope, split
from .choose_tile import PAGE, Tile
from .choosing import is_chosen
from .transposes import MAX_SIDE, in_squares

MIN_TILES = 5
"""Tiles of rows from which on a copy pays where a panel's rows take one another's place in the nearest cache: it takes
as long as some seven rows of products. (Of 28 rows by 512 x 512: 1.27 of the time, of 64 by 256 x 256: 0.77.)"""

MANY_PAGES, MIN_TILES_OF_MANY = 400, 2
"""Pages from which on it is the pages that take time, and tiles of rows from which on a copy pays then. (Of 28 rows by
1000 x 1000, 0.7 of the time; of 112 by 512 x 500, in 250 pages, 1.1.)"""


@dataclass(frozen=True)
class Panel:
    """What is copied: for `block`, its read of `buffer`, which moves with the iterators of these numbers."""

    block: BlockOp
    buffer: SSAValue
    along: frozenset[int]
    lanes: int
    turned: BlockOp | None = None
    """What copies it, where that also turns it (`turned_factors`)."""


def propose_panel(block: BlockOp, tile: Tile, machine: MachineModel) -> Panel | None:
    """The panel to copy for a tile of `block`: of the one factor that is read in vectors, whose rows lie apart. `None`
    where there is none, a copy would not pay, or it has no room on a thread's stack."""
    sums = [n for n, kind in enumerate(block.kinds) if kind == IterKind.REDUCE and block.likely_extents[n] > 1]
    if tile.row is None or tile.column not in (None, tile.vector) or len(sums) != 1:
        return None
    steps, columns = block.sizes[sums[0]], tile.lanes * tile.columns
    if not isinstance(steps, int) or not isinstance(block.sizes[tile.vector], int):
        return None
    output = written_buffer(block)
    for read in strides(block):
        if read.buffer is output or read.along(dimension(tile.vector)) != 1 or read.along(dimension(tile.row)) != 0:
            continue
        step = read.along(dimension(sums[0]))
        if step is None or step <= columns:
            continue
        width = byte_width(memref_of(read.buffer).element_type)
        along = frozenset(n for n in range(len(block.iters)) if read.along(dimension(n)) != 0)
        others = [n for n, kind in enumerate(block.kinds) if kind == IterKind.SPATIAL and n not in along]
        tiles = prod(-(-block.likely_extents[n] // (tile.rows if n == tile.row else 1)) for n in others)
        if _pays(tiles, steps, columns * width, step * width, machine) and is_chosen("packed-panel", block):
            return Panel(block, read.buffer, along, tile.lanes)
    return None


def _pays(tiles: int, steps: int, row: int, step: int, machine: MachineModel) -> bool:
    """Whether a copy does for so many tiles of rows: of `steps` times `row` bytes, which lie `step` apart."""
    if steps * row > machine.kept_near:
        return False
    apart = gcd(step, machine.l1 // machine.l1_ways)  # rows begin at multiples of it within a way of the cache
    collide = apart > row and steps * row > machine.l1 * row // apart
    pages = steps * min(step, PAGE) // PAGE
    return (collide and tiles >= MIN_TILES) or (pages >= MANY_PAGES and tiles >= MIN_TILES_OF_MANY)


def copy_panel(panel: Panel, loop: ForOp) -> None:
    """Let the panel be copied in `loop`, in vectors: it is the same for all that this goes around."""
    if panel.turned is not None:
        loops = compute_at(panel.turned, loop)
        set_scope(panel.buffer, Scope.LOCAL)
        in_squares(loops, loops[-1], loops[-2], min(MAX_SIDE, panel.lanes))
        return
    copy = cache_read(panel.block, panel.buffer, Scope.LOCAL)
    compute_at(copy, loop)
    lanes = enclosing_loops(copy)[-1]
    if lanes.likely_trips > panel.lanes:
        columns, lanes = split(lanes, [panel.lanes])
        set_kind(columns, ForKind.UNROLLED)
    set_kind(lanes, ForKind.VECTORIZED)
