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
128 columns is read at `(i * 128 + j) floordiv 64`, the producer computes the iterators of the block from its own. Where
it reads a part of what is there, `t[v]` for 6 of 8 elements, the producer runs for that part only: `where [-%i + 5]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, memref
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ....dialects.tir.affine import access_map, linear, simplify, substitute
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
from .checks import allocate_first, check_allocations_first, check_effects, check_live, check_not_passed, makes_checks
from .copies import drop_unused_indices, index_ops
from .errors import ScheduleError
from .inline import erase_with_loops


def check_reverse_compute_inline(block: BlockOp) -> BlockOp:
    """Whether `block` can become part of what it reads; gives the block that it becomes part of.

    Raises:
        ScheduleError: `block` reduces, has a predicate, does not write one element for each value of its iterators, or
            reads more than one buffer that is computed; its producer is not alone in writing that buffer, reduces,
            does not write each element of it once, or is read by others too; the block does not read each element
            once, at one place, nor a part of them at its iterators; or something around or in between touches what the
            block writes, or writes what it reads.
    """
    check_live(block)
    name = f"block @{block.block_name}"
    if block.is_reduction or block.conditions or block.partial_iters:
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
    if producer.is_reduction:
        raise ScheduleError.at(producer, f"block @{producer.block_name} is a reduction")
    if written_buffer(producer) is not buffer or buffer in producer.reads or target in (*block.reads, *producer.reads):
        raise ScheduleError.at(block, f"{name} or its producer reads what it writes")
    if not is_before(producer, block):
        raise ScheduleError.at(block, f"{name} does not come after block @{producer.block_name}")
    _meeting(producer, block, buffer)
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
    order, and at constants, or all over its buffer."""
    check_effects(block)
    stores = stores_of(block)
    if len(stores) == 1 and stores[0].parent_op() is block and IterKind.OPAQUE not in block.kinds:
        indices = [v for v in stores[0].indices if not isinstance(v.owner, arith.ConstantOp)]
        unit = {v for v, extent in zip(block.iters, block.sizes, strict=True) if extent == 1}
        if set(block.iters) - unit <= set(indices) <= set(block.iters) and len(set(indices)) == len(indices):
            return
        target = written_buffer(block)
        if inverse(_place_of(block, target, is_write=True), block.sizes, shape_of(target)) is not None:
            return
    raise ScheduleError.at(block, f"block @{block.block_name} does not write one element for each iterator value")


@dataclass(frozen=True)
class Meeting:
    """How the instances of a producer and its reader belong together."""

    values: Sequence[AffineExpr]
    """What the reader's iterators are, over the producer's as dimensions."""
    conditions: Sequence[AffineExpr]
    """What is not negative where there is such an instance of the reader, over the producer's iterators."""


def _meeting(producer: BlockOp, block: BlockOp, buffer: SSAValue) -> Meeting:
    """How `block` reads what `producer` writes to `buffer`.

    Raises:
        ScheduleError: one of them touches an element twice, or the block reads what its producer does not write.
    """
    written, read = _place_of(producer, buffer, is_write=True), _place_of(block, buffer, is_write=False)
    ranges = iterator_ranges(producer)
    if not producer.conditions and not producer.partial_iters:
        found = inverse(read, block.sizes, shape_of(buffer))
        if found is not None and inverse(written, producer.sizes, shape_of(buffer)) is not None:
            return Meeting([simplify(substitute(expr, written), ranges) for expr in found], [])
    _check_apart(producer, written, _refusal(producer, buffer, is_write=True))
    _check_apart(block, read, _refusal(block, buffer, is_write=False))
    if makes_checks(producer):
        raise ScheduleError.at(producer, f"block @{producer.block_name} checks indices for all that it computes")
    values: list[AffineExpr] = [AffineConstantExpr(0)] * len(block.iters)
    conditions: list[AffineExpr] = []
    for mine, own in zip(read, written, strict=True):
        if isinstance(mine, AffineDimExpr) and isinstance(own, AffineDimExpr):
            values[mine.position] = own
            extent, count = block.sizes[mine.position], producer.sizes[own.position]
            if extent == count:
                continue
            if not isinstance(extent, int) or not isinstance(count, int) or extent > count:
                raise ScheduleError.at(block, _refusal(block, buffer, is_write=False))
            conditions.append(AffineConstantExpr(extent - 1) + own * -1)
        elif mine != own:
            raise ScheduleError.at(block, _refusal(block, buffer, is_write=False))
    return Meeting(values, conditions)


def _refusal(block: BlockOp, buffer: SSAValue, *, is_write: bool) -> str:
    what = "write" if is_write else "read"
    return f"block @{block.block_name} does not {what} every element of {buffer_name(buffer)} once, at one place"


def _check_apart(block: BlockOp, place: Sequence[AffineExpr], refusal: str) -> None:
    """The indices in `place` are iterators, each once and all of them, and constants."""
    used = [expr.position for expr in place if isinstance(expr, AffineDimExpr)]
    left = [size for number, size in enumerate(block.sizes) if number not in used and size != 1]
    known = all(isinstance(expr, AffineDimExpr | AffineConstantExpr) for expr in place)
    if left or len(set(used)) != len(used) or not known:
        raise ScheduleError.at(block, refusal)


def _place_of(block: BlockOp, buffer: SSAValue, *, is_write: bool) -> list[AffineExpr]:
    """The one place at which `block` writes, or reads, `buffer`: expressions of its iterators.

    Raises:
        ScheduleError: there are several, or one that data decide.
    """
    refusal = _refusal(block, buffer, is_write=is_write)
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
    if place is None:
        raise ScheduleError.at(block, refusal)
    return place


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
    meeting = _meeting(producer, block, buffer)
    mapping: dict[SSAValue, SSAValue] = {}
    added: list[Operation] = []
    for own, expr in zip(block.iters, meeting.values, strict=True):
        ops, mapping[own] = index_ops(expr, producer.iters)
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
    _restrict(producer, meeting.conditions)
    producer.update_accesses()
    erase_with_loops(block)
    alloc = allocation_of(buffer)
    assert alloc is not None
    alloc.detach()
    alloc.erase()


def _restrict(block: BlockOp, conditions: Sequence[AffineExpr]) -> None:
    """Let `block` run only where `conditions` on its iterators are not negative."""
    bindings = block.bindings.data.results
    kept = list(block.conditions)
    there = [linear(condition) for condition in kept]
    for condition in conditions:
        block.partial_iters |= condition.used_dims()
        bound = simplify(substitute(condition, bindings))
        if linear(bound) not in there:
            kept.append(bound)
    block.set_predicate(kept)
