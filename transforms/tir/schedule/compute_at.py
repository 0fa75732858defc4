"""`compute_at`: compute only what one iteration of a consumer's loop needs, inside that loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.affine import Range, expr_range, linear
from ....dialects.tir.core import BlockOp, ForOp, IterKind, dimension_ranges, enclosing_loops, loop_range
from ....dialects.tir.symbols import as_affine
from ..analysis.producers import allocation_of, consumers, is_before, written_buffer
from ..analysis.proofs import always_holds
from ..analysis.regions import required_region
from .checks import check_inputs_stay, check_live, check_one_element, check_sole_writer, is_around
from .errors import ScheduleError
from .inline import erase_with_loops
from .rebind import assign


@dataclass
class Placement:
    """Where a block goes: its new loops, and its bindings and conditions over `values`."""

    values: list[SSAValue]
    loops: list[ForOp] = field(default_factory=list[ForOp])
    bindings: list[AffineExpr] = field(default_factory=list[AffineExpr])
    conditions: list[AffineExpr] = field(default_factory=list[AffineExpr])
    partial: set[int] = field(default_factory=set[int])
    """Iterators of which the consumers do not need every value."""


def compute_at(block: BlockOp, loop: ForOp) -> list[ForOp]:
    """Move `block` into `loop`, before everything there, computing just the region that the blocks in `loop` read.

    Returns the new loops of `block`, spatial ones first (outermost first), then the reduction's. Counterpart of TVM's
    `compute_at`.

    Raises:
        ScheduleError: as `check_compute_at` says.
    """
    check_compute_at(block, loop)
    place = _place(block, loop)
    erase_with_loops(block, keep=True)
    first = loop.body.block.first_op
    assert first is not None
    nest = place.loops[0] if place.loops else block
    loop.body.block.insert_op_before(nest, first)
    for each, following in pairwise(place.loops):
        each.body.block.add_op(following)
    if place.loops:
        place.loops[-1].body.block.add_op(block)
    assign(block, place.bindings, place.conditions, place.values)
    block.partial_iters = block.partial_iters | place.partial
    return place.loops


def check_compute_at(block: BlockOp, loop: ForOp) -> None:
    """Whether `block` can be computed in `loop`.

    Raises:
        ScheduleError: something outside `loop` reads the block's result, or nothing does; another block writes it, or
            writes in between what the block reads; the block does not write one element for each value of its spatial
            iterators; or it has a predicate that is more than a bound of its iterators.
    """
    check_live(block, loop)
    name = f"block @{block.block_name}"
    buffer = written_buffer(block)
    readers = consumers(block)
    if not readers or allocation_of(buffer) is None or any(not is_around(loop, reader) for reader in readers):
        raise ScheduleError.at(block, f"{name} is read outside the loop it should move into")
    check_sole_writer(block, buffer)
    check_one_element(block)
    if is_around(loop, block) and not all(is_before(block, reader) for reader in readers):
        raise ScheduleError.at(block, f"{name} comes after what reads it")
    if not is_around(loop, block) and not is_before(block, loop):
        raise ScheduleError.at(block, f"{name} comes after the loop it should move into")
    check_inputs_stay(block, loop if not is_around(loop, block) else readers[0])
    bounds = [
        linear(expr)
        for binding, extent in zip(block.bindings.data.results, block.sizes, strict=True)
        for expr in (binding, as_affine(extent) - 1 + binding * -1)
    ]
    if any(linear(condition) not in bounds for condition in block.conditions):
        raise ScheduleError.at(block, f"{name} has a predicate that would be lost")


def _place(block: BlockOp, loop: ForOp) -> Placement:
    store = check_one_element(block)
    position = {v: d for d, v in enumerate(store.indices)}
    outer_vars = [each.var for each in (*enclosing_loops(loop), loop)]
    region = required_region(written_buffer(block), consumers(block), outer_vars)
    place = Placement(list(outer_vars))
    for number, (iterator, kind, extent) in enumerate(zip(block.iters, block.kinds, block.sizes, strict=True)):
        offset: AffineExpr = AffineConstantExpr(0)
        size = extent
        if kind == IterKind.SPATIAL and iterator in position:
            offset, size = region[position[iterator]]
            if isinstance(size, int) and isinstance(extent, int):
                size = min(size, extent)
        if size == 1:
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


def _ranges(values: Sequence[SSAValue], loops: Sequence[ForOp], outer: Sequence[SSAValue]) -> dict[AffineExpr, Range]:
    ranges = dimension_ranges(outer)
    for number, loop in enumerate(loops):
        ranges[AffineExpr.dimension(len(outer) + number)] = loop_range(loop.var)
    return ranges
