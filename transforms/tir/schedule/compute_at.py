"""`compute_at`: compute only what one iteration of a consumer's loop needs, inside that loop.

Before -> after `compute_at(twice, j)`:

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
  tir.for %j = 0 to 8 {
    tir.block @square(%v_1: spatial 8) = [%j] reads(%t[%v_1] : memref<8xf32>) writes(%y[%v_1] : memref<8xf32>) {
      %2 = memref.load %t[%v_1] : memref<8xf32>
      %3 = arith.mulf %2, %2 : f32
      memref.store %3, %y[%v_1] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %j = 0 to 8 {
    tir.block @twice(%v: spatial 8) = [%j] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %t[%v] : memref<8xf32>
    }
    tir.block @square(%v_1: spatial 8) = [%j] reads(%t[%v_1] : memref<8xf32>) writes(%y[%v_1] : memref<8xf32>) {
      %2 = memref.load %t[%v_1] : memref<8xf32>
      %3 = arith.mulf %2, %2 : f32
      memref.store %3, %y[%v_1] : memref<8xf32>
    }
  }
}
```

Counterpart of TVM's `compute_at`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.affine import Range, expr_range, simplify, substitute
from ....dialects.tir.core import (
    BlockOp,
    ForOp,
    IterKind,
    blocks_under,
    dimension_ranges,
    enclosing_loops,
    loop_range,
)
from ....dialects.tir.legality.bounds import buffer_name, restricted_iterators
from ....dialects.tir.legality.loops import check_kind
from ....dialects.tir.symbols import Extent, as_affine
from ....dialects.tir.thread_axes import share_memory
from ..analysis.producers import allocation_of, consumers, function_of, is_before, written_buffer
from ..analysis.proofs import always_holds
from ..analysis.regions import required_region
from .checks import (
    FIRST,
    LAST,
    bounds_iterators_only,
    check_inputs_stay,
    check_live,
    check_not_torn,
    check_one_element,
    check_sole_writer,
    is_around,
    statements_of,
)
from .errors import ScheduleError
from .inline import erase_with_loops
from .rebind import assign

Region: TypeAlias = "Sequence[tuple[AffineExpr, Extent]]"
"""A part of a buffer: for each dimension an offset, over loops' variables, and a size."""


@dataclass
class Placement:
    """Where a block goes: its new loops, and its bindings and conditions over `values`."""

    values: list[SSAValue]
    loops: list[ForOp] = field(default_factory=list[ForOp])
    bindings: list[AffineExpr] = field(default_factory=list[AffineExpr])
    conditions: list[AffineExpr] = field(default_factory=list[AffineExpr])
    partial: set[int] = field(default_factory=set[int])
    """Iterators of which the consumers do not need every value."""


def compute_at(block: BlockOp, loop: ForOp, preserve_unit_loops: bool = False, index: int = LAST) -> list[ForOp]:
    """Move `block` into `loop`, before what reads its result, computing just the region that the blocks in `loop` read.

    `index` says before which of the statements of `loop` it stands: `LAST`, the first that reads its result; `FIRST`,
    as early as what it reads is there; or one of those in between by number. Returns the new loops of `block`, spatial
    ones first (outermost first), then the reduction's: with `preserve_unit_loops` one for each iterator, else none for
    those of one iteration. Counterpart of TVM's `compute_at`.

    Raises:
        ScheduleError: as `check_compute_at` says.
    """
    check_compute_at(block, loop, index)
    return _move(block, loop, preserve_unit_loops, index)


def _move(block: BlockOp, loop: ForOp, preserve_unit_loops: bool, index: int) -> list[ForOp]:
    around = [*enclosing_loops(loop), loop]
    place = place_over(block, around, region_in(block, around), preserve_unit_loops)
    following = following_statement(block, loop, index)
    erase_with_loops(block, keep=True)
    nest = place.loops[0] if place.loops else block
    loop.body.block.insert_op_before(nest, following)
    for each, following in pairwise(place.loops):
        each.body.block.add_op(following)
    if place.loops:
        place.loops[-1].body.block.add_op(block)
    assign(block, place.bindings, place.conditions, place.values)
    block.partial_iters = block.partial_iters | place.partial | restricted_iterators(block)
    return place.loops


def following_statement(block: BlockOp, loop: ForOp, index: int) -> Operation:
    """The statement of `loop` before which `block` moves.

    Raises:
        ScheduleError: there is no such statement, or `block` has to stand before or after it.
    """
    statements = statements_of(loop, block)
    reading = set(consumers(block))
    last = next(n for n, op in enumerate(statements) if reading & set(blocks_under(op)))
    needed = set(block.reads) - {written_buffer(block)}
    made = [n for n, op in enumerate(statements[:last]) if any(needed & set(b.writes) for b in blocks_under(op))]
    first = made[-1] + 1 if made else 0
    position = {LAST: last, FIRST: first}.get(index, index)
    if not first <= position <= last:
        raise ScheduleError.at(
            block, f"block @{block.block_name} may stand before statements {first} to {last} of the loop, not {index}"
        )
    return statements[position]


def check_compute_at(block: BlockOp, loop: ForOp, index: int = LAST) -> None:
    """Whether `block` can be computed in `loop`.

    Raises:
        ScheduleError: something outside `loop` reads the block's result, or nothing does; another block writes it, or
            writes in between what the block reads; the block does not write one element for each value of its spatial
            iterators; it has a predicate that is more than a bound of its iterators; iterations of a loop that run at
            the same time would write the same elements; or it cannot stand where `index` says.
    """
    check_live(block, loop)
    name = f"block @{block.block_name}"
    buffer = written_buffer(block)
    readers = consumers(block)
    check_all_readers_inside(block, loop, readers)
    check_sole_writer(block, buffer)
    check_one_element(block)
    if is_around(loop, block) and not all(is_before(block, reader) for reader in readers):
        raise ScheduleError.at(block, f"{name} comes after what reads it")
    if not is_around(loop, block) and not is_before(block, loop):
        raise ScheduleError.at(block, f"{name} comes after the loop it should move into")
    for each in (*block.reads, buffer):
        check_not_torn(block, each, [*enclosing_loops(loop), loop])
    following = following_statement(block, loop, index)
    check_inputs_stay(block, following)
    check_inputs_are_there(block, following)
    if not bounds_iterators_only(block):
        raise ScheduleError.at(block, f"{name} has a predicate that would be lost")
    _check_concurrent(block, loop, index)


def check_all_readers_inside(block: BlockOp, loop: ForOp, readers: Sequence[BlockOp]) -> None:
    """`loop` has all that read the result of `block`."""
    name = f"block @{block.block_name}"
    buffer = written_buffer(block)
    if allocation_of(buffer) is None:
        raise ScheduleError.at(
            block,
            f"{name} is an output block: callers of the function read {buffer_name(buffer)}",
            hint="compute it where it stands, or what reads it there (reverse_compute_at)",
        )
    if not readers:
        raise ScheduleError.at(block, f"nothing reads what {name} writes")
    outside = [reader for reader in readers if not is_around(loop, reader)]
    if outside and is_around(loop, block):
        raise ScheduleError.at(
            block,
            f"the loop is an ancestor of {name}, but not of block @{outside[0].block_name}, which reads its result",
        )
    if outside:
        raise ScheduleError.at(
            block,
            f"{name} is read outside the loop it should move into, by block @{outside[0].block_name}: compute_at "
            f"requires all the consumers to be in the loop",
        )


def check_inputs_are_there(block: BlockOp, following: Operation) -> None:
    """Nothing that writes what `block` reads comes before it now and, from `following` on, after it then."""
    needed = set(block.reads) - set(block.writes)
    statement: Operation | None = following
    while statement is not None:
        for other in blocks_under(statement):
            if other is not block and not needed.isdisjoint(other.writes) and is_before(other, block):
                raise ScheduleError.at(
                    block,
                    f"block @{other.block_name} writes what block @{block.block_name} reads, and comes after it there",
                )
        statement = statement.next_op


def _check_concurrent(block: BlockOp, loop: ForOp, index: int) -> None:
    """Iterations around the new place that run at the same time do not meet: seen in a copy of the function, which is
    made only where there are such."""
    around = [
        each for each in (*enclosing_loops(loop), loop) if each.for_kind.is_concurrent and each.size not in (0, 1)
    ]
    if not around:
        return
    func = function_of(block)
    copies = dict(zip(func.walk(), func.clone().walk(), strict=True))
    moved, place = copies[block], copies[loop]
    assert isinstance(moved, BlockOp) and isinstance(place, ForOp)
    _move(moved, place, False, index)
    for each in around:
        copy = copies[each]
        assert isinstance(copy, ForOp)
        for finding in check_kind(copy, copy.for_kind):
            if finding.certain:
                raise ScheduleError.at(block, finding.message, hint="compute it there first, choose kinds last")


def place_over(block: BlockOp, around: Sequence[ForOp], region: Region, preserve_unit_loops: bool) -> Placement:
    """Where `block` goes among the loops `around`, to write `region` of its buffer in each of their iterations."""
    store = check_one_element(block)
    position = {v: d for d, v in enumerate(store.indices)}
    outer_vars = [each.var for each in around]
    once = [_where_once(each, AffineExpr.dimension(number)) for number, each in enumerate(around)]
    place = Placement(list(outer_vars))
    for number, (iterator, kind, extent) in enumerate(zip(block.iters, block.kinds, block.sizes, strict=True)):
        offset: AffineExpr = AffineConstantExpr(0)
        size = extent
        if kind == IterKind.SPATIAL and iterator in position:
            offset, size = region[position[iterator]]
            offset = simplify(substitute(offset, once))
            if isinstance(size, int) and isinstance(extent, int):
                size = min(size, extent)
        if size == 1 and not preserve_unit_loops:
            binding = offset
        else:
            inner = ForOp(size, name_hint=iterator.name_hint)
            place.loops.append(inner)
            place.values.append(inner.var)
            binding = offset + AffineExpr.dimension(len(place.values) - 1)
        place.bindings.append(binding)
        ranges = _ranges(place.values, place.loops, outer_vars)
        bounds = expr_range(binding, ranges)
        whole = size == extent and offset == AffineConstantExpr(0)
        if not whole and (bounds is None or not isinstance(extent, int) or bounds[1] >= extent):
            condition = as_affine(extent) + (binding * -1 - 1)
            if isinstance(extent, int) or not always_holds(condition, place.values):
                place.conditions.append(condition)
        if bounds is None or bounds[0] < 0:
            place.conditions.append(binding)
        if whole:
            continue
        trips = prod(high - low + 1 for low, high in (ranges[AffineExpr.dimension(d)] for d in binding.used_dims()))
        if bounds is None or not isinstance(extent, int) or bounds[0] > 0 or bounds[1] < extent - 1 or trips < extent:
            place.partial.add(number)
    return place


def _where_once(loop: ForOp, variable: AffineExpr) -> AffineExpr:
    """A loop's variable; its only value, where it has one."""
    return AffineConstantExpr(loop.min.value.data) if loop.size == 1 else variable


def region_in(block: BlockOp, around: Sequence[ForOp]) -> Region:
    """What is read of the result of `block` in one iteration of the loops `around`: by all threads that have the memory
    of the result together, since each of them fills all of it."""
    buffer = written_buffer(block)
    alloc = allocation_of(buffer)
    assert alloc is not None
    own = [number for number, loop in enumerate(around) if not share_memory(loop, alloc.scope.data)]
    renumber: list[AffineExpr] = [AffineExpr.dimension(number) for number in own]
    region = required_region(buffer, consumers(block), [around[number].var for number in own], where_run=True)
    return [(substitute(offset, renumber), size) for offset, size in region]


def _ranges(values: Sequence[SSAValue], loops: Sequence[ForOp], outer: Sequence[SSAValue]) -> dict[AffineExpr, Range]:
    ranges = dimension_ranges(outer)
    for number, loop in enumerate(loops):
        ranges[AffineExpr.dimension(len(outer) + number)] = loop_range(loop.var)
    return ranges
