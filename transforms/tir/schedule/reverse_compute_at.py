"""`reverse_compute_at`: compute a reader in a loop of the blocks that it reads, as far as they have come there.

Before -> after `reverse_compute_at(square, i)`:

```mlir
tir.prim_func @f(%x: memref<8x4xf32>, %y: memref<8x4xf32>) {
  %t = tir.alloc_buffer "global" : memref<8x4xf32>
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 4 {
      tir.block @twice(%a: spatial 8, %b: spatial 4) = [%i, %j]
          reads(%x[%a, %b] : memref<8x4xf32>) writes(%t[%a, %b] : memref<8x4xf32>) {
        %0 = memref.load %x[%a, %b] : memref<8x4xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %t[%a, %b] : memref<8x4xf32>
      }
    }
  }
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 4 {
      tir.block @square(%a: spatial 8, %b: spatial 4) = [%i, %j]
          reads(%t[%a, %b] : memref<8x4xf32>) writes(%y[%a, %b] : memref<8x4xf32>) {
        %0 = memref.load %t[%a, %b] : memref<8x4xf32>
        %1 = arith.mulf %0, %0 : f32
        memref.store %1, %y[%a, %b] : memref<8x4xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8x4xf32>, %y: memref<8x4xf32>) {
  %t = tir.alloc_buffer "global" : memref<8x4xf32>
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 4 {
      tir.block @twice(%a: spatial 8, %b: spatial 4) = [%i, %j]
          reads(%x[%a, %b] : memref<8x4xf32>) writes(%t[%a, %b] : memref<8x4xf32>) {
        %0 = memref.load %x[%a, %b] : memref<8x4xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %t[%a, %b] : memref<8x4xf32>
      }
    }
    tir.for %b = 0 to 4 {
      tir.block @square(%a: spatial 8, %b_1: spatial 4) = [%i, %b]
          reads(%t[%a, %b_1] : memref<8x4xf32>) writes(%y[%a, %b_1] : memref<8x4xf32>) {
        %0 = memref.load %t[%a, %b_1] : memref<8x4xf32>
        %1 = arith.mulf %0, %0 : f32
        memref.store %1, %y[%a, %b_1] : memref<8x4xf32>
      }
    }
  }
}
```

What the producers write in one iteration must be a box without holes, finished in that iteration: no loop around it
steps through a reduction of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.affine import Access, expr_range, linear, simplify
from ....dialects.tir.blocks import iterator_ranges
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import (
    BlockOp,
    ForOp,
    IterKind,
    blocks_under,
    dimension_ranges,
    enclosing_loops,
)
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.symbols import Extent, as_affine
from ..analysis.producers import allocation_of, blocks_between, is_before, nest_of, writers, written_buffer
from ..analysis.proofs import always_holds
from .bijections import inverse
from .boxes import Part, box_of, part_of_sum
from .checks import (
    FIRST,
    LAST,
    allocate_first,
    check_allocations_first,
    check_live,
    check_not_torn,
    check_one_element,
    is_around,
    statements_of,
)
from .errors import ScheduleError
from .inline import erase_with_loops
from .rebind import assign


@dataclass
class Plan:
    """What the iterators of a reader run over in a loop of its producers."""

    outer: list[SSAValue]
    parts: dict[int, Part] = field(default_factory=dict[int, Part])
    """Iterators, by number, that run over a part of their values only."""


def check_reverse_compute_at(block: BlockOp, loop: ForOp) -> Plan:
    """Whether `block` can be computed in `loop`, after what stands there; gives how.

    Raises:
        ScheduleError: nothing in `loop` writes what the block reads, or something outside does; the block has a
            predicate or does not write one element for each value of its iterators; a producer's result is not
            finished within an iteration, or not a box; steps of a reduction of the block, or ones that go on from
            what it has written, would be taken twice; the block runs over more than that result has; or something in
            between or in `loop` touches what the block does.
    """
    check_live(block, loop)
    name = f"block @{block.block_name}"
    if block.conditions or block.partial_iters:
        raise ScheduleError.at(block, f"{name} has a predicate that would be lost, or runs for a part only")
    check_one_element(block, at_constants=True)
    if is_around(loop, block) or not is_before(loop, block):
        raise ScheduleError.at(block, f"{name} does not come after the loop it should move into")
    inside = set(blocks_under(loop))
    target = written_buffer(block)
    produced = [buffer for buffer in block.reads if buffer is not target and any(w in inside for w in writers(buffer))]
    if not produced:
        raise ScheduleError.at(block, f"{name} reads nothing that is computed in the loop it should move into")
    for buffer in produced:
        if allocation_of(buffer) is None or any(w not in inside for w in writers(buffer)):
            raise ScheduleError.at(block, f"{buffer_name(buffer)} is not computed in that loop alone")
    for each in (*block.reads, target):
        check_not_torn(block, each, [*enclosing_loops(loop), loop])
    check_allocations_first(block, nest_of(loop))
    _check_between(block, loop, produced)
    plan = Plan([each.var for each in (*enclosing_loops(loop), loop)])
    for buffer in produced:
        for producer in writers(buffer):
            _check_finished(producer, plan.outer)
        region = _written_box(block, buffer, plan.outer)
        _add_parts(block, buffer, region, plan)
    _check_steps(block, [*enclosing_loops(loop), loop], plan)
    return plan


def _check_steps(block: BlockOp, outer: list[ForOp], plan: Plan) -> None:
    """A reduction of which an iteration has a part, and a block that goes on from what it has written, take each of
    their steps once: the loops outside and the iterators' parts are the digits of the iterators' values. What does
    neither may be done again."""
    reduced = [number for number in plan.parts if block.kinds[number] == IterKind.REDUCE]
    target = written_buffer(block)
    goes_on = block.init is None and any(each.buffer is target and not each.is_write for each in block.touches())
    if not reduced and not goes_on:
        return
    ranges = dimension_ranges(plan.outer)
    unused = {AffineExpr.dimension(depth) for depth, each in enumerate(outer) if each.size != 1}
    are_digits = True
    for number, part in plan.parts.items():
        terms = linear(part.offset, ranges)
        reached = part.size
        for loop, factor in sorted(terms.terms.items(), key=lambda term: term[1]):
            first, last = ranges.get(loop, (0, 0))
            if loop not in unused or first or not isinstance(reached, int) or factor != reached:
                are_digits = False
                break
            unused.remove(loop)
            reached *= last + 1
        size = block.sizes[number]
        reaches = reached == size or (not reduced and _is_at_least(reached, size))  # a predicate leaves the others out
        are_digits = are_digits and reaches and terms.constant == 0
    if (not are_digits or unused) and not reduced:
        raise ScheduleError.at(
            block,
            f"block @{block.block_name} reads what it writes, and is not seen to be done once only for each value of "
            f"its iterators there",
        )
    if not are_digits or unused:
        raise ScheduleError.at(
            block,
            f"block @{block.block_name} reduces along {block.iter_name(reduced[0])}, of which an iteration has a part "
            f"only, and not each in one iteration alone",
        )


def _check_between(block: BlockOp, loop: ForOp, produced: list[SSAValue]) -> None:
    """Nothing that runs before `block` now, and would run after it then, or the other way round, has to do with it."""
    name = f"block @{block.block_name}"
    target = written_buffer(block)
    inputs = set(block.reads) - set(produced)
    inputs.discard(target)
    repeated = next(each for each in (*enclosing_loops(loop), loop) if not each.is_ancestor(block))
    nest = set(blocks_under(repeated))
    for other in (*nest, *blocks_between(loop, block)):
        if other is block:
            continue
        if target in (*other.reads, *other.writes):
            raise ScheduleError.at(other, f"block @{other.block_name} touches what {name} writes")
        if inputs & set(other.writes):
            raise ScheduleError.at(other, f"block @{other.block_name} writes what {name} reads")


def _check_finished(producer: BlockOp, outer: list[SSAValue]) -> None:
    """An iteration of the loops outside finishes what `producer` writes in it."""
    name = f"block @{producer.block_name}"
    for kind, binding in zip(producer.kinds, producer.bindings.data.results, strict=True):
        if kind != IterKind.SPATIAL and any(producer.loop_vars[d] in outer for d in binding.used_dims()):
            raise ScheduleError.at(
                producer,
                f"{name} has not finished its reduction where an iteration of the loop ends",
                hint="move into a loop outside of the reduction's",
            )
    bounds = [
        linear(expr)
        for binding, extent in zip(producer.bindings.data.results, producer.sizes, strict=True)
        for expr in (binding, as_affine(extent) - 1 + binding * -1)
    ]
    if producer.partial_iters or any(linear(condition) not in bounds for condition in producer.conditions):
        raise ScheduleError.at(producer, f"{name} writes a part only of what it could")


def _written_box(block: BlockOp, buffer: SSAValue, outer: list[SSAValue]) -> list[Part]:
    """What all writers of `buffer` write of each dimension in one iteration, the same for all."""
    found: list[Part] | None = None
    for producer in writers(buffer):
        for each in producer.handed():
            if each.buffer is buffer and each.is_write:
                raise ScheduleError.at(each.op, f"{buffer_name(buffer)} is written by a call, and where is not seen")
        for access in producer.accesses():
            if access.buffer is not buffer or not access.is_write:
                continue
            box = None if access.map is None else box_of(producer, access.map.results, outer)
            if box is None:
                raise ScheduleError.at(
                    producer, f"what block @{producer.block_name} writes in an iteration of the loop is not a box"
                )
            if found is not None and found != box:
                raise ScheduleError.at(producer, f"the writers of {buffer_name(buffer)} write different parts of it")
            found = box
    assert found is not None
    return found


def _is_at_least(size: Extent, extent: Extent) -> bool:
    """Whether a part has surely as many elements as the whole."""
    return size == extent or (isinstance(size, int) and isinstance(extent, int) and size >= extent)


def _add_parts(block: BlockOp, buffer: SSAValue, box: list[Part], plan: Plan) -> None:
    """Let the iterators that `block` reads `buffer` at run over `box`."""
    name = f"block @{block.block_name}"
    shape = shape_of(buffer)
    for access in block.accesses():
        if access.buffer is not buffer:
            continue
        before, mine = set(plan.parts), set[int]()
        partial = [
            (index, part, extent)
            for index, part, extent in zip(access.op.indices, box, shape, strict=True)
            if part.offset != AffineConstantExpr(0) or not _is_at_least(part.size, extent)
        ]
        if any(index not in block.iters for index, _, _ in partial):
            for number, part in _parts_of_digits(block, access, box, plan.outer).items():
                mine.add(number)
                if plan.parts.setdefault(number, part) != part:
                    raise ScheduleError.at(block, f"{name} reads different parts along {block.iter_name(number)}")
            partial = []
        for index, part, extent in partial:
            assert isinstance(index, BlockArgument)
            number = block.iters.index(index)
            if block.kinds[number] == IterKind.OPAQUE:
                raise ScheduleError.at(
                    block, f"{name} takes all of {block.iter_name(number)} in order, of which an iteration has a part"
                )
            if not _is_at_least(extent, block.sizes[number]):
                raise ScheduleError.at(
                    access.op,
                    f"{name} takes values of {block.iter_name(number)} that {buffer_name(buffer)} has no element for: "
                    f"no iteration of the loop would have them",
                )
            known = plan.parts.setdefault(number, part)
            mine.add(number)
            if known != part:
                raise ScheduleError.at(block, f"{name} reads different parts along {block.iter_name(number)}")
        _check_together(block, plan, before - mine, mine - before)


def _parts_of_digits(block: BlockOp, access: Access, box: list[Part], outer: list[SSAValue]) -> dict[int, Part]:
    """What the iterators run over whose digits an access reads at, all elements once: `t[v floordiv 16, v mod 16]` of
    rows of `t` is as many elements, one after the other."""
    buffer = access.buffer
    found = None
    if access.map is not None and access.op.parent_op() is block:
        ranges = iterator_ranges(block)
        found = inverse([simplify(each, ranges) for each in access.map.results], block.sizes, shape_of(buffer))
    parts: dict[int, Part] = {}
    for number, value in enumerate(found or ()):
        part = part_of_sum(linear(value), box, shape_of(buffer), outer)
        if part is None or block.kinds[number] != IterKind.SPATIAL:
            found = None
            break
        if part.offset != AffineConstantExpr(0) or part.size != block.sizes[number]:
            parts[number] = part
    if found is None:
        raise ScheduleError.at(
            access.op,
            f"block @{block.block_name} reads {buffer_name(buffer)} at more than its iterators: not all is there yet",
        )
    return parts


def _check_together(block: BlockOp, plan: Plan, before: set[int], added: set[int]) -> None:
    """What an access lets the iterators `added` run over is not told by the loop that tells what those `before` run
    over, which it does not restrict: they would move together, and not take all that they take now."""
    for number in added:
        for other in before:
            if plan.parts[number].offset.used_dims() & plan.parts[other].offset.used_dims():
                raise ScheduleError.at(
                    block,
                    f"block @{block.block_name} reads different parts along {block.iter_name(number)} and "
                    f"{block.iter_name(other)}: an iteration of the loop has not all of them",
                )


def _following(block: BlockOp, loop: ForOp, index: int) -> Operation | None:
    """The statement of `loop` before which `block` moves; `None` if it stands at the end.

    Raises:
        ScheduleError: there is no such statement, or what `block` reads is not there yet.
    """
    statements = statements_of(loop, block)
    needed = set(block.reads)
    first = 1 + max(n for n, op in enumerate(statements) if any(needed & set(b.writes) for b in blocks_under(op)))
    position = {LAST: len(statements), FIRST: first}.get(index, index)
    if not first <= position <= len(statements):
        raise ScheduleError.at(
            block,
            f"block @{block.block_name} may stand at {first} to {len(statements)} of the statements of the loop, not "
            f"at {index}",
        )
    return statements[position] if position < len(statements) else None


def reverse_compute_at(
    block: BlockOp, loop: ForOp, preserve_unit_loops: bool = False, index: int = LAST
) -> list[ForOp]:
    """Move `block` into `loop`, computing what can be from what is finished there.

    `index` says where among the statements of `loop` it stands: `LAST`, after all of them; `FIRST`, as early as what
    it reads is there; or in between by number. Returns the new loops of `block`, outermost first. Counterpart of TVM's
    `reverse_compute_at`.

    Raises:
        ScheduleError: as `check_reverse_compute_at` says, or it cannot stand where `index` says.
    """
    plan = check_reverse_compute_at(block, loop)
    following = _following(block, loop, index)
    allocate_first(check_allocations_first(block, nest_of(loop)), nest_of(loop))
    values = list(plan.outer)
    loops: list[ForOp] = []
    bindings: list[AffineExpr] = []
    conditions: list[AffineExpr] = []
    for number, (iterator, extent) in enumerate(zip(block.iters, block.sizes, strict=True)):
        part = plan.parts.get(number, Part(AffineConstantExpr(0), extent))
        binding = part.offset
        if part.size != 1 or preserve_unit_loops:
            loops.append(ForOp(part.size, name_hint=iterator.name_hint))
            values.append(loops[-1].var)
            binding = binding + AffineExpr.dimension(len(values) - 1)
        bindings.append(binding)
    erase_with_loops(block, keep=True)
    for outer, inner in pairwise(loops):
        outer.body.block.add_op(inner)
    if loops:
        loops[-1].body.block.add_op(block)
    nest = loops[0] if loops else block
    if following is None:
        loop.body.block.add_op(nest)
    else:
        loop.body.block.insert_op_before(nest, following)
    ranges = dimension_ranges(values)
    for binding, extent in zip(bindings, block.sizes, strict=True):
        bounds = expr_range(binding, ranges)
        if bounds is None or not isinstance(extent, int) or bounds[1] >= extent:
            condition = as_affine(extent) + (binding * -1 - 1)
            if isinstance(extent, int) or not always_holds(condition, values):
                conditions.append(condition)
        if (bounds is None or bounds[0] < 0) and not always_holds(binding, values):
            conditions.append(binding)
    assign(block, bindings, conditions, values)
    return loops
