"""`compute_at`: compute only what one iteration of a consumer's loop needs, inside that loop."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects import memref
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from ....dialects.tir.affine import Linear, Range, expr_range, linear, substitute
from ....dialects.tir.core import BlockOp, ForOp, IterKind, memref_of
from .errors import ScheduleError
from .inline import consumers, erase_with_loops, written_buffer
from .rebind import assign, dimension_ranges, enclosing_loops


def compute_at(block: BlockOp, loop: ForOp) -> list[ForOp]:
    """Move `block` into `loop`, before everything there, computing just the region that the blocks in `loop` read.

    Returns the new loops of `block`, spatial ones first (outermost first), then the reduction's. Counterpart of TVM's
    `compute_at`.

    Raises:
        ScheduleError: something outside `loop` reads the block's result, or the block does not write one element for
            each value of its spatial iterators.
    """
    buffer = written_buffer(block)
    readers = consumers(block)
    if not readers or any(loop not in enclosing_loops(reader) for reader in readers):
        raise ScheduleError(f"block @{block.block_name} is read outside the loop it should move into", block)
    store = next(a.op for a in block.accesses() if a.is_write)
    assert isinstance(store, memref.StoreOp)
    position = {v: d for d, v in enumerate(store.indices)}
    outer = enclosing_loops(loop)
    outer_vars = [each.var for each in (*outer, loop)]
    region = required_region(buffer, readers, outer_vars)
    bindings: list[AffineExpr] = []
    conditions: list[AffineExpr] = []
    values: list[SSAValue] = list(outer_vars)
    loops: list[ForOp] = []
    for iterator, kind, extent in zip(block.iters, block.kinds, block.extents, strict=True):
        if kind == IterKind.REDUCE:
            offset: AffineExpr = AffineConstantExpr(0)
            size = extent
        elif iterator in position:
            offset, size = region[position[iterator]]
            size = min(size, extent)
        elif extent == 1:
            offset, size = AffineConstantExpr(0), 1
        else:
            raise ScheduleError(f"block @{block.block_name} does not write one element for each iterator value", block)
        if size == 1:
            binding = offset
        else:
            inner = ForOp(size, name_hint=iterator.name_hint)
            loops.append(inner)
            values.append(inner.var)
            binding = offset + AffineExpr.dimension(len(values) - 1)
        bindings.append(binding)
        bounds = expr_range(binding, _ranges(values, loops, outer_vars))
        if bounds is None or bounds[1] >= extent:
            conditions.append(AffineConstantExpr(extent - 1) - binding)
        if bounds is None or bounds[0] < 0:
            conditions.append(binding)

    new = block.clone()
    erase_with_loops(block)

    first = loop.body.block.first_op
    assert first is not None
    nest = loops[0] if loops else new
    loop.body.block.insert_op_before(nest, first)
    for each, following in pairwise(loops):
        each.body.block.add_op(following)
    if loops:
        loops[-1].body.block.add_op(new)
    assign(new, bindings, conditions, values)
    return loops


def _ranges(values: Sequence[SSAValue], loops: Sequence[ForOp], outer: Sequence[SSAValue]) -> dict[AffineExpr, Range]:
    ranges = dimension_ranges(outer)
    for number, loop in enumerate(loops):
        ranges[AffineExpr.dimension(len(outer) + number)] = (0, loop.trip_count - 1)
    return ranges


def required_region(
    buffer: SSAValue, readers: Sequence[BlockOp], outer_vars: Sequence[SSAValue]
) -> list[tuple[AffineExpr, int]]:
    """What `readers` access of `buffer` while `outer_vars` stand still: for each dimension, an offset (over
    `outer_vars` as dimensions) and a size. A dimension that cannot be bounded so is taken whole."""
    shape = memref_of(buffer).get_shape()
    maps: list[tuple[BlockOp, AffineMap | None]] = [
        (reader, access.map) for reader in readers for access in reader.accesses() if access.buffer is buffer
    ]
    region: list[tuple[AffineExpr, int]] = []
    for dim, extent in enumerate(shape):
        whole: tuple[AffineExpr, int] = (AffineConstantExpr(0), extent)
        found: tuple[Linear, int, int] | None = None
        for reader, map in maps:
            part = None if map is None else _outer_and_inner(reader, map.results[dim], outer_vars)
            if part is None:
                found = None
                break
            form, low, high = part
            if found is None:
                found = part
            elif found[0].terms == form.terms:
                shift = form.constant - found[0].constant
                found = (found[0], min(found[1], low + shift), max(found[2], high + shift))
            else:
                found = None
                break
        if found is None or found[2] - found[1] + 1 >= extent:
            region.append(whole)
        else:
            form, low, high = found
            region.append((Linear(form.terms, form.constant + low).to_expr(), high - low + 1))
    return region


def _outer_and_inner(
    reader: BlockOp, index: AffineExpr, outer_vars: Sequence[SSAValue]
) -> tuple[Linear, int, int] | None:
    """Split an index expression into the part over `outer_vars` and the range of the rest."""
    loop_vars = list(reader.loop_vars)
    composed = substitute(index, reader.bindings.data.results)
    ranges = dimension_ranges(loop_vars)
    form = linear(composed, ranges)
    outer_dims = {AffineExpr.dimension(i): v for i, v in enumerate(loop_vars) if v in outer_vars}
    renumber: list[AffineExpr] = [
        AffineExpr.dimension(list(outer_vars).index(v)) if v in outer_vars else AffineConstantExpr(0) for v in loop_vars
    ]
    outer: dict[AffineExpr, int] = {}
    low = high = 0
    for atom, factor in form.terms.items():
        used = {AffineExpr.dimension(d) for d in atom.used_dims()}
        if used <= outer_dims.keys():
            outer[substitute(atom, renumber)] = factor
            continue
        bounds = expr_range(atom, ranges)
        if bounds is None:
            return None
        a, b = factor * bounds[0], factor * bounds[1]
        low, high = low + min(a, b), high + max(a, b)
    return Linear(outer, form.constant), low, high
