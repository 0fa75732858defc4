"""`rolling_buffer`: keep the part of a tile that the next tile needs too, in a buffer that is written round and round.

Before -> after `rolling_buffer(block, 0)`:

```mlir
tir.prim_func @f(%x: memref<10xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<10xf32>
  tir.for %i = 0 to 2 {
    tir.for %k = 0 to 6 {
      tir.block @twice(%v: spatial 10) = [%i * 4 + %k] reads(%x[%v] : memref<10xf32>) writes(%t[%v] : memref<10xf32>) {
        %0 = memref.load %x[%v] : memref<10xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %t[%v] : memref<10xf32>
      }
    }
    tir.for %j = 0 to 4 {
      tir.block @sum(%v: spatial 8) = [%i * 4 + %j] reads(%t : memref<10xf32>) writes(%y[%v] : memref<8xf32>) {
        %two = arith.constant 2 : index
        %next = arith.addi %v, %two : index
        %0 = memref.load %t[%v] : memref<10xf32>
        %1 = memref.load %t[%next] : memref<10xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%v] : memref<8xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<10xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<6xf32>
  tir.for %i = 0 to 2 {
    tir.for %k = 0 to 6 {
      tir.block @twice(%v: opaque 10) = [%i * 4 + %k] where [(%k + 2) floordiv 4 + %i * -1]
          reads(%x[%v] : memref<10xf32>) writes(%t[%v mod 6] : memref<6xf32>) {
        %0 = memref.load %x[%v] : memref<10xf32>
        %1 = arith.addf %0, %0 : f32
        %2 = arith.constant 6 : index
        %3 = arith.remui %v, %2 : index
        memref.store %1, %t[%3] : memref<6xf32>
      }
    }
    tir.for %j = 0 to 4 {
      tir.block @sum(%v_1: opaque 8) = [%i * 4 + %j] reads(%t : memref<6xf32>) writes(%y[%v_1] : memref<8xf32>) {
        %two = arith.constant 2 : index
        %next = arith.addi %v_1, %two : index
        %4 = arith.constant 6 : index
        %5 = arith.remui %v_1, %4 : index
        %6 = memref.load %t[%5] : memref<6xf32>
        %7 = arith.constant 6 : index
        %8 = arith.remui %next, %7 : index
        %9 = memref.load %t[%8] : memref<6xf32>
        %10 = arith.addf %6, %9 : f32
        memref.store %10, %y[%v_1] : memref<8xf32>
      }
    }
  }
}
```

What is written in a loop that its readers share is a tile, which moves on with the loops around. Where two tiles that
follow one another overlap, the second needs only what is new in it: that is a condition for each dimension that
overlaps. The dimension that moves with the outermost of these loops needs no more room than its tile. The order of what
goes round stays: iterators there become opaque.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects.builtin import ArrayAttr, MemRefType, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ....dialects.support.retyping import retype
from ....dialects.tir.affine import substitute
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import BlockOp, ForOp, IterKind, accessing_blocks, enclosing_loops, memref_of
from ....dialects.tir.disjunctions import any_of
from ....dialects.tir.legality.bounds import buffer_name, space_of
from ....dialects.tir.legality.decide import Verdict, within
from ....dialects.tir.loops import dimension_ranges
from ..analysis.producers import consumers, is_before
from ..analysis.regions import required_region
from .checks import (
    bounds_iterators_only,
    check_allocated,
    check_effects,
    check_known,
    check_known_trips,
    check_live,
    check_not_torn,
    check_plain_memory,
    check_sole_writer,
)
from .copies import drop_unused_indices, move_access
from .errors import ScheduleError
from .rebind import assign


@dataclass(frozen=True)
class Overlap:
    """A dimension of a buffer of which each tile has `size` places, the first `kept` of them in the tile before too."""

    dim: int
    loop: ForOp
    """The loop that the tile moves on with."""
    offset: AffineExpr
    """Where the tile begins, over that loop's variable as dimension 0."""
    size: int
    kept: int


def check_rolling_buffer(block: BlockOp, index: int) -> list[Overlap]:
    """Whether the buffer of number `index` that `block` writes can be written round and round; gives the dimensions in
    which tiles overlap, that of the outermost loop first.

    Raises:
        ScheduleError: the block writes no such buffer, more than one element, or not alone; the buffer is an argument,
            of unknown extents, or allocated in the loops; the block shares no loop with its readers, has a predicate,
            comes after one of them, or is in a loop whose iterations run at once; no tiles overlap; or a reader wants
            what is no longer there.
    """
    check_live(block)
    name = f"block @{block.block_name}"
    if not 0 <= index < len(block.writes):
        raise ScheduleError.at(block, f"{name} writes {len(block.writes)} buffers, none of number {index}")
    buffer = block.writes[index]
    alloc = check_allocated(buffer, "extents", "cache_write it", at=block)
    check_plain_memory(buffer)
    shape = check_known(alloc, shape_of(buffer), buffer_name(buffer))
    check_sole_writer(block, buffer)
    _place(block, buffer)
    readers = consumers(block)
    shared = [loop for loop in enclosing_loops(block) if all(loop in enclosing_loops(reader) for reader in readers)]
    if not readers or not shared:
        raise ScheduleError.at(
            block, f"{name} shares no loop with what reads it", hint="compute_at it in a loop of its readers first"
        )
    for reader in readers:
        if not is_before(block, reader):
            raise ScheduleError.at(reader, f"block @{reader.block_name} reads {buffer_name(buffer)} before {name}")
    if not bounds_iterators_only(block):
        raise ScheduleError.at(block, f"{name} has a predicate, and so leaves out what a later tile may need")
    found = _overlaps(block, buffer, shape, shared)
    if not found:
        raise ScheduleError.at(
            block, f"no part of {buffer_name(buffer)} that {name} writes is in the next tile too", hint=_WHAT
        )
    for each in found:
        if each.loop.for_kind.is_concurrent:
            raise ScheduleError.at(
                each.loop, "its iterations run at once, and rely on one another", hint="choose the kinds of loops last"
            )
    if found[0].loop.is_ancestor(alloc):
        raise ScheduleError.at(alloc, "is allocated in the loop: each iteration has another buffer")
    for reader in readers:
        check_not_torn(reader, buffer, enclosing_loops(reader))
        _check_still_there(reader, buffer, found[0])
    return found


_WHAT = "tiles overlap where a loop moves on by less than what one iteration of it reads"


def _place(block: BlockOp, buffer: SSAValue) -> AffineMap:
    """Where `block` writes `buffer`, whatever data says."""
    check_effects(block)
    found = [access for access in block.accesses() if access.buffer is buffer]
    stores = [access for access in found if access.is_write and block.body.is_ancestor(access.op)]
    map = stores[0].map if stores else None
    if map is None or any(each.map != map for each in found) or stores[0].op.parent_op() is not block:
        raise ScheduleError.at(block, f"block @{block.block_name} does not write one element for each iterator value")
    return map


def _overlaps(block: BlockOp, buffer: SSAValue, shape: Sequence[int], shared: Sequence[ForOp]) -> list[Overlap]:
    region = required_region(buffer, [block], [loop.var for loop in shared])
    moving = [sorted(offset.used_dims()) for offset, _ in region]
    found: list[Overlap] = []
    for dim, ((offset, size), by) in enumerate(zip(region, moving, strict=True)):
        if len(by) != 1 or sum(by[0] in each for each in moving) > 1 or not isinstance(size, int):
            continue
        loop = shared[by[0]]
        own: list[AffineExpr] = [AffineDimExpr(0)] * len(shared)
        offset = substitute(offset, own)
        places = [offset.eval([loop.start + trip], []) for trip in range(check_known_trips(loop))]
        steps = [after - before for before, after in pairwise(places)]
        if steps and min(steps) > 0 and size > max(steps):
            found.append(Overlap(dim, loop, offset, size, size - max(steps)))
    return sorted(found, key=lambda each: shared.index(each.loop))


def _check_still_there(reader: BlockOp, buffer: SSAValue, rolled: Overlap) -> None:
    """What `reader` reads lies within the tile of its iteration."""
    values = list(reader.loop_vars)
    if rolled.loop.var not in values:
        values.append(rolled.loop.var)
    start = substitute(rolled.offset, [AffineDimExpr(values.index(rolled.loop.var))])
    space = space_of(reader)
    for touch in reader.touches():
        if touch.buffer is not buffer:
            continue
        shown = touch.map is not None and len(values) == len(reader.loop_vars)
        if shown and touch.map is not None:
            place = substitute(touch.map.results[rolled.dim], reader.bindings.data.results)
            shown = within(place + start * -1, rolled.size, space).verdict == Verdict.PROVED
        if not shown:
            raise ScheduleError.at(
                touch.op,
                f"block @{reader.block_name} is not shown to read {buffer_name(buffer)} in what one iteration writes",
            )


def rolling_buffer(block: BlockOp, index: int) -> None:
    """Let the buffer of number `index` that `block` writes keep what the next tile needs, in no more room than a tile.
    Counterpart of TVM's `rolling_buffer`.

    Raises:
        ScheduleError: as `check_rolling_buffer` says.
    """
    overlaps = check_rolling_buffer(block, index)
    buffer, rolled = block.writes[index], overlaps[0]
    _write_new_parts(block, buffer, overlaps)
    shape = [*memref_of(buffer).get_shape()]
    shape[rolled.dim] = rolled.size
    type = MemRefType[Attribute](memref_of(buffer).element_type, shape)
    retype(buffer, type)
    for each in accessing_blocks(buffer):
        _go_round(each, buffer, rolled)


def _write_new_parts(block: BlockOp, buffer: SSAValue, overlaps: Sequence[Overlap]) -> None:
    """Let `block` run only where no tile before had the element."""
    map = _place(block, buffer)
    values = list(block.loop_vars)
    conditions = list(block.conditions)
    for each in overlaps:
        own = AffineDimExpr(values.index(each.loop.var))
        place = substitute(map.results[each.dim], block.bindings.data.results) + substitute(each.offset, [own]) * -1
        is_first: AffineExpr = AffineConstantExpr(each.loop.start) + own * -1
        is_new: AffineExpr = place + AffineConstantExpr(-each.kept)
        either = any_of([is_first, is_new], dimension_ranges(values))
        assert either is not None
        conditions.append(either)
    assign(block, block.bindings.data.results, conditions, values)


def _go_round(block: BlockOp, buffer: SSAValue, rolled: Overlap) -> None:
    """Let the accesses of `block` begin anew behind the end of the buffer."""
    kinds = list(block.kinds)
    used: set[int] = set()
    for access in block.accesses():
        if access.buffer is not buffer or access.map is None:
            continue
        used |= access.map.results[rolled.dim].used_dims()
        places: list[AffineExpr] = [AffineDimExpr(number) for number in range(len(access.map.results))]
        places[rolled.dim] = places[rolled.dim] % rolled.size
        move_access(access.op, places, list(access.op.indices))
    moved = list(block.loop_vars).index(rolled.loop.var)
    for number in used:
        if kinds[number] == IterKind.SPATIAL and moved in block.bindings.data.results[number].used_dims():
            kinds[number] = IterKind.OPAQUE
    block.properties["iter_kinds"] = ArrayAttr([StringAttr(kind.value) for kind in kinds])
    drop_unused_indices(block)
    block.update_accesses()
