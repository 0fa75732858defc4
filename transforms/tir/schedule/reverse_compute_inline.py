"""`reverse_compute_inline`: make a reader of single elements part of the block that it reads.

Before -> after `reverse_compute_inline(add)`:

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @twice(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %t[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @square(%v: spatial 8) = [%i] reads(%t[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %t[%v] : memref<8xf32>
      %1 = arith.mulf %0, %0 : f32
      memref.store %1, %y[%v] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @twice(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      %2 = arith.mulf %1, %1 : f32
      memref.store %2, %y[%v] : memref<8xf32>
    }
  }
}
```

The block may read the elements in another order, or laid out in another shape: where element `(i, j)` of a buffer of
128 columns is read at `(i * 128 + j) floordiv 64`, the producer computes the iterators of the block from its own.
"""

from __future__ import annotations

from xdsl.dialects import arith, memref
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.tir.affine import access_map, simplify, substitute
from ....dialects.tir.blocks import iterator_ranges
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import BlockOp, IterKind, accessing_blocks, blocks_under, enclosing_loops
from ....dialects.tir.legality.bounds import buffer_name
from ..analysis.producers import (
    allocation_of,
    blocks_between,
    is_before,
    nest_of,
    stores_of,
    writers,
    written_buffer,
)
from .bijections import inverse
from .checks import allocate_first, check_allocations_first, check_effects, check_live, check_not_passed
from .copies import drop_unused_indices, index_ops
from .errors import ScheduleError
from .inline import erase_with_loops


def check_reverse_compute_inline(block: BlockOp) -> BlockOp:
    """Whether `block` can become part of what it reads; gives the block that it becomes part of.

    Raises:
        ScheduleError: `block` reduces, has a predicate, does not write one element for each value of its iterators, or
            reads more than one buffer that is computed; its producer is not alone in writing that buffer, reduces, has
            a predicate, does not write each element of it once, or is read by others too; the block does not read
            each element once, at one place; or something around or in between touches what the block writes, or
            writes what it reads.
    """
    check_live(block)
    name = f"block @{block.block_name}"
    if block.is_reduction or block.conditions:
        raise ScheduleError.at(block, f"{name} is a reduction or has a predicate")
    _check_writes_apart(block)
    target = written_buffer(block)
    computed = [buffer for buffer in block.reads if allocation_of(buffer) is not None and buffer is not target]
    if len(computed) != 1:
        raise ScheduleError.at(block, f"{name} reads {len(computed)} buffers that are computed, not one")
    buffer = computed[0]
    check_not_passed(buffer)
    made = writers(buffer)
    if len(made) != 1 or set(accessing_blocks(buffer)) != {made[0], block}:
        raise ScheduleError.at(
            block, f"{name} is not the only reader of {buffer_name(buffer)}, or that has not one writer"
        )
    producer = made[0]
    if producer.is_reduction or producer.conditions or producer.partial_iters:
        raise ScheduleError.at(producer, f"block @{producer.block_name} is a reduction or has a predicate")
    if written_buffer(producer) is not buffer or buffer in producer.reads or target in (*block.reads, *producer.reads):
        raise ScheduleError.at(block, f"{name} or its producer reads what it writes")
    if not is_before(producer, block):
        raise ScheduleError.at(block, f"{name} does not come after block @{producer.block_name}")
    _place_of(producer, buffer, is_write=True)
    _values_at(block, buffer)
    check_allocations_first(block, nest_of(producer))
    inputs = set(block.reads) - {buffer}
    shared = [loop for loop in enclosing_loops(producer) if loop in enclosing_loops(block)]
    around = blocks_under(shared[0]) if shared else []
    for other in dict.fromkeys((*around, *blocks_between(producer, block))):
        if other is block or other is producer:
            continue
        if target in (*other.reads, *other.writes) or inputs & set(other.writes):
            where = "stands in a loop with it" if other in around else "stands in between"
            raise ScheduleError.at(other, f"block @{other.block_name} {where}, and touches what {name} does")
    if inputs & set(producer.writes):
        raise ScheduleError.at(producer, f"block @{producer.block_name} writes what {name} reads")
    return producer


def _check_writes_apart(block: BlockOp) -> None:
    """`block` has one store, outside of branches, at another place for each value of its iterators: at these, in some
    order, and at constants."""
    check_effects(block)
    stores = stores_of(block)
    if len(stores) == 1 and stores[0].parent_op() is block and IterKind.OPAQUE not in block.kinds:
        indices = [v for v in stores[0].indices if not isinstance(v.owner, arith.ConstantOp)]
        unit = {v for v, extent in zip(block.iters, block.sizes, strict=True) if extent == 1}
        if set(block.iters) - unit <= set(indices) <= set(block.iters) and len(set(indices)) == len(indices):
            return
    raise ScheduleError.at(block, f"block @{block.block_name} does not write one element for each iterator value")


def _place_of(block: BlockOp, buffer: SSAValue, *, is_write: bool) -> list[AffineExpr]:
    """The one place at which `block` writes, or reads, `buffer`: expressions of its iterators, which take every element
    of it once.

    Raises:
        ScheduleError: there are several, or one that data decide; or elements are left out, or taken twice.
    """
    what = "write" if is_write else "read"
    refusal = f"block @{block.block_name} does not {what} every element of {buffer_name(buffer)} once, at one place"
    ranges = iterator_ranges(block)
    place: list[AffineExpr] | None = None
    for access in block.accesses():
        if access.buffer is not buffer:
            continue
        map = access_map(access.op, block.iters) if access.op.parent_op() is block else None
        found = None if map is None else [simplify(expr, ranges) for expr in map.results]
        if access.is_write is not is_write or found is None or place not in (None, found):
            raise ScheduleError.at(access.op, refusal)
        place = found
    if place is None or inverse(place, block.sizes, shape_of(buffer)) is None:
        raise ScheduleError.at(block, refusal)
    return place


def _values_at(block: BlockOp, buffer: SSAValue) -> list[AffineExpr]:
    """The iterators of `block` where it reads an element of `buffer`, over the indices of that as dimensions."""
    found = inverse(_place_of(block, buffer, is_write=False), block.sizes, shape_of(buffer))
    assert found is not None
    return found


def reverse_compute_inline(block: BlockOp) -> None:
    """Let the only producer of `block` compute what `block` does, and erase that.

    Counterpart of TVM's `reverse_compute_inline`.

    Raises:
        ScheduleError: as `check_reverse_compute_inline` says.
    """
    producer = check_reverse_compute_inline(block)
    allocate_first(check_allocations_first(block, nest_of(producer)), nest_of(producer))
    buffer = written_buffer(producer)
    store = stores_of(producer)[0]
    element = _place_of(producer, buffer, is_write=True)
    ranges = iterator_ranges(producer)
    mapping: dict[SSAValue, SSAValue] = {}
    added: list[Operation] = []
    for own, expr in zip(block.iters, _values_at(block, buffer), strict=True):
        ops, mapping[own] = index_ops(simplify(substitute(expr, element), ranges), producer.iters)
        added += ops
    for op in block.body.block.ops:
        if isinstance(op, memref.LoadOp) and op.memref is buffer:
            mapping[op.res] = store.value
        else:
            added.append(op.clone(mapping))
    assert store.parent is not None
    store.parent.insert_ops_before(added, store)
    store.detach()
    store.erase()
    drop_unused_indices(producer)
    producer.update_accesses()
    erase_with_loops(block)
    alloc = allocation_of(buffer)
    assert alloc is not None
    alloc.detach()
    alloc.erase()
