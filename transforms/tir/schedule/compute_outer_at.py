"""`compute_at` of a block of blocks: a loop of its readers computes just the tiles that it reads.

Before -> after `compute_at(twice_o, j)`:

```mlir
tir.prim_func @f(%x: memref<64xf32>, %y: memref<64xf32>) {
  %t = tir.alloc_buffer "global" : memref<64xf32>
  tir.for %i = 0 to 8 {
    tir.outer_block @twice_o {
      tir.for %i_1 = 0 to 8 {
        tir.block @twice(%v: spatial 64) = [%i * 8 + %i_1] reads(%x[%v] : memref<64xf32>)
            writes(%t[%v] : memref<64xf32>) {
          %0 = memref.load %x[%v] : memref<64xf32>
          %1 = arith.addf %0, %0 : f32
          memref.store %1, %t[%v] : memref<64xf32>
        }
      }
    }
  }
  tir.for %j = 0 to 4 {
    tir.for %k = 0 to 16 {
      tir.block @square(%v: spatial 64) = [%j * 16 + %k] reads(%t[%v] : memref<64xf32>)
          writes(%y[%v] : memref<64xf32>) {
        %2 = memref.load %t[%v] : memref<64xf32>
        %3 = arith.mulf %2, %2 : f32
        memref.store %3, %y[%v] : memref<64xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<64xf32>, %y: memref<64xf32>) {
  %t = tir.alloc_buffer "global" : memref<64xf32>
  tir.for %j = 0 to 4 {
    tir.for %i = 0 to 2 {
      tir.outer_block @twice_o {
        tir.for %i_1 = 0 to 8 {
          tir.block @twice(%v: spatial 64) = [%j * 16 + %i * 8 + %i_1] reads(%x[%v] : memref<64xf32>)
              writes(%t[%v] : memref<64xf32>) {
            %0 = memref.load %x[%v] : memref<64xf32>
            %1 = arith.addf %0, %0 : f32
            memref.store %1, %t[%v] : memref<64xf32>
          }
        }
      }
    }
    tir.for %k = 0 to 16 {
      tir.block @square(%v_1: spatial 64) = [%j * 16 + %k] reads(%t[%v_1] : memref<64xf32>)
          writes(%y[%v_1] : memref<64xf32>) {
        %2 = memref.load %t[%v_1] : memref<64xf32>
        %3 = arith.mulf %2, %2 : f32
        memref.store %3, %y[%v_1] : memref<64xf32>
      }
    }
  }
}
```

Does not: move what several blocks compute, or one whose loops are no digits of its elements' indices. Counterpart of
TVM's `compute_at`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.support.facts import while_unchanged
from ....dialects.tir.affine import Range, dims_in, expr_range, linear, simplify
from ....dialects.tir.core import (
    BlockOp,
    ForOp,
    IterKind,
    OuterBlockOp,
    blocks_under,
    dimension_ranges,
    enclosing_loops,
    loop_of,
)
from ....dialects.tir.legality.bounds import restricted_iterators
from ....dialects.tir.legality.loops import check_kind
from ....dialects.tir.symbols import as_affine
from ..analysis.producers import consumers, function_of, is_before, written_buffer
from ..analysis.proofs import always_holds
from .checks import (
    LAST,
    bounds_iterators_only,
    check_free,
    check_inputs_stay,
    check_live,
    check_not_torn,
    check_one_element,
    check_sole_writer,
    is_around,
)
from .compute_at import check_all_readers_inside, check_inputs_are_there, following_statement, region_in
from .errors import ScheduleError
from .rebind import ValueExpr, assign, rebind


@dataclass(frozen=True)
class Part:
    """What of a loop's iterations is needed: so many, from a first one on, which is over the loops around the place."""

    loop: ForOp
    first: AffineExpr
    count: int


def compute_outer_at(outer: OuterBlockOp, loop: ForOp, preserve_unit_loops: bool = False, index: int = LAST) -> None:
    """Move `outer`, which computes a buffer by one block, into `loop`: as many iterations of the loops around it as
    compute what the blocks in `loop` read. `index` and `preserve_unit_loops` are those of `compute_at`.

    Raises:
        ScheduleError: as `check_compute_outer_at` says.
    """
    check_compute_outer_at(outer, loop, index)
    _move(outer, loop, preserve_unit_loops, index)


@while_unchanged
def check_compute_outer_at(outer: OuterBlockOp, loop: ForOp, index: int = LAST) -> None:
    """Whether `outer` can be computed in `loop`.

    Raises:
        ScheduleError: it stands in `loop`, or has several blocks; as of the block in it `compute_at` says; or a loop
            around it, which leads to more than tiles of elements, one after the other, is left.
    """
    check_live(outer, loop)
    name = f"block @{outer.block_name}"
    if is_around(loop, outer):
        raise ScheduleError.at(outer, f"{name} stands in the loop already")
    inside = blocks_under(outer)
    if len(inside) != 1:
        raise ScheduleError.at(outer, f"{name} is {len(inside)} blocks: one of one block can be computed elsewhere")
    (block,) = inside
    check_all_readers_inside(block, loop, consumers(block))
    check_sole_writer(block, written_buffer(block))
    check_one_element(block)
    if not is_before(outer, loop):
        raise ScheduleError.at(outer, f"{name} comes after the loop it should move into")
    for buffer in (*block.reads, written_buffer(block)):
        check_not_torn(block, buffer, [*enclosing_loops(loop), loop])
    following = following_statement(block, loop, index)
    check_inputs_stay(block, following)
    check_inputs_are_there(block, following)
    if not bounds_iterators_only(block):
        raise ScheduleError.at(block, f"block @{block.block_name} has a predicate that would be lost")
    for each in _left(outer, loop):
        if each.start != 0 or each.is_symbolic or block.is_symbolic:
            raise ScheduleError.at(
                each, f"{name} would leave a loop that starts elsewhere than at 0, or is of any size"
            )
    _parts(outer, loop)
    if not any(each.for_kind.is_concurrent and each.size not in (0, 1) for each in (*enclosing_loops(loop), loop)):
        return
    func = function_of(outer)
    copies = dict(zip(func.walk(), func.clone().walk(), strict=True))
    moved, place = copies[outer], copies[loop]
    assert isinstance(moved, OuterBlockOp) and isinstance(place, ForOp)
    _move(moved, place, False, index)
    for each in (*enclosing_loops(place), place):
        for finding in check_kind(each, each.for_kind):
            if finding.certain:
                raise ScheduleError.at(outer, finding.message, hint="compute it there first, choose kinds last")


def _left(outer: OuterBlockOp, loop: ForOp) -> list[ForOp]:
    """The loops around `outer` that are not around `loop`."""
    around = [*enclosing_loops(loop), loop]
    return [each for each in enclosing_loops(outer) if each not in around]


def _parts(outer: OuterBlockOp, loop: ForOp) -> list[Part]:
    """What of the loops that `outer` leaves is needed in an iteration of `loop`.

    Raises:
        ScheduleError: as `check_compute_outer_at` says of these loops.
    """
    (block,) = blocks_under(outer)
    around = [*enclosing_loops(loop), loop]
    known = dimension_ranges([each.var for each in around])
    ranges = dimension_ranges(list(block.loop_vars))
    region = region_in(block, around)
    indices = list(check_one_element(block).indices)
    parts: list[Part] = []
    for left in _left(outer, loop):
        check_free(left)
        if left.for_kind.is_concurrent:
            raise ScheduleError.at(left, f"is {left.for_kind.value}", hint="choose the kinds of loops last")
        bound = _bound_to(block, left)
        whole = Part(left, AffineConstantExpr(0), left.trip_count)
        if bound and all(block.kinds[number] == IterKind.REDUCE for number in bound):
            parts.append(whole)  # all steps of a reduction
            continue
        tile = _tile(block, outer, left, bound[0], ranges) if len(bound) == 1 else None
        if tile is None or block.iters[bound[0]] not in indices:
            raise ScheduleError.at(left, f"does not lead @{block.block_name} to tiles of elements, one after the other")
        offset, size = region[indices.index(block.iters[bound[0]])]
        is_aligned = simplify(offset % tile, known) == AffineConstantExpr(0)
        count = -(-(size if is_aligned else size + tile - 1) // tile) if isinstance(size, int) else left.trip_count
        parts.append(whole if count >= left.trip_count else Part(left, simplify(offset // tile, known), count))
    return parts


def _bound_to(block: BlockOp, loop: ForOp) -> list[int]:
    """The iterators of `block` that are bound to `loop`, by number."""
    if loop.var not in block.loop_vars:
        return []
    dim = list(block.loop_vars).index(loop.var)
    return [number for number, binding in enumerate(block.bindings.data.results) if dim in dims_in(binding)]


def _tile(
    block: BlockOp, outer: OuterBlockOp, loop: ForOp, iterator: int, ranges: dict[AffineExpr, Range]
) -> int | None:
    """How many values of an iterator `outer` takes in an iteration of `loop`, if the next one goes on there, and no
    other loop outside leads to others."""
    number = list(block.loop_vars).index(loop.var)
    variable = AffineExpr.dimension(number)
    form = linear(block.bindings.data.results[iterator], ranges)
    rest = form.without(variable).to_expr()
    if not form.is_linear_in(variable) or any(_is_outside(block, outer, d) for d in dims_in(rest)):
        return None
    step, bounds = form.coefficient(variable), expr_range(rest, ranges)
    is_tile = step > 0 and bounds is not None and 0 <= bounds[0] and bounds[1] < step
    return step if is_tile and step * loop.trip_count >= block.extents[iterator] else None


def _is_outside(block: BlockOp, outer: OuterBlockOp, number: int) -> bool:
    """Whether dimension `number` of what `block` is bound to is a loop outside of `outer`."""
    return not outer.is_ancestor(loop_of(block.loop_vars[number]))


def _move(outer: OuterBlockOp, loop: ForOp, preserve_unit_loops: bool, index: int) -> None:
    (block,) = blocks_under(outer)
    around = [each.var for each in (*enclosing_loops(loop), loop)]
    parts = _parts(outer, loop)
    following = following_statement(block, loop, index)
    _take_out(outer)
    loops: list[ForOp] = []
    replacement: dict[SSAValue, ValueExpr] = {}
    for part in parts:
        first = ValueExpr(part.first, tuple(around))
        if part.count != 1 or preserve_unit_loops:
            loops.append(new := ForOp(part.count, name_hint=part.loop.var.name_hint))
            first = ValueExpr(part.first + AffineExpr.dimension(len(around)), (*around, new.var))
        replacement[part.loop.var] = first
    chain: list[Operation] = [*loops, outer]
    loop.body.block.insert_op_before(chain[0], following)
    for each, nested in pairwise(chain):
        assert isinstance(each, ForOp)
        each.body.block.add_op(nested)
    rebind(block, replacement)
    _keep_inside(block)


def _take_out(outer: OuterBlockOp) -> None:
    """Detach `outer`, and erase the loops that held nothing else."""
    parent = outer.parent_op()
    outer.detach()
    while isinstance(parent, ForOp | OuterBlockOp) and parent.body.block.is_empty:
        emptied, parent = parent, parent.parent_op()
        emptied.detach()
        emptied.erase()


def _keep_inside(block: BlockOp) -> None:
    """Let `block` run only where its iterators are within their extents, of which they need not take every value."""
    values = list(block.loop_vars)
    ranges = dimension_ranges(values)
    conditions = list(block.conditions)
    partial = set(block.partial_iters)
    for number, (binding, extent) in enumerate(zip(block.bindings.data.results, block.sizes, strict=True)):
        bounds = expr_range(binding, ranges)
        last = as_affine(extent) + (binding * -1 - 1)
        if bounds is None or not isinstance(extent, int) or bounds[1] >= extent:
            conditions += [] if last in conditions or always_holds(last, values) else [last]
        if bounds is None or bounds[0] < 0:
            conditions.append(binding)
        trips = prod(high - low + 1 for low, high in (ranges[AffineExpr.dimension(d)] for d in dims_in(binding)))
        if bounds is None or not isinstance(extent, int) or bounds[0] > 0 or bounds[1] < extent - 1 or trips < extent:
            partial.add(number)
    assign(block, block.bindings.data.results, conditions, values)
    block.partial_iters = frozenset(partial) | restricted_iterators(block)
