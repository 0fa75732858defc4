"""Which part of a buffer blocks read while the loops around them stand still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import gcd
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineExpr, AffineMap

from ....dialects.support.facts import while_unchanged
from ....dialects.tir.affine import Access, Linear, Range, dims_in, expr_range, linear, simplify, substitute
from ....dialects.tir.analyzer.convert import from_affine
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.calls import Handed
from ....dialects.tir.core import BlockOp, dimension_ranges
from ....dialects.tir.symbols import MAX_EXTENT, Extent
from .known_conditions import KnownConditions

UNBOUNDED = MAX_EXTENT >> 16
"""A part of so many elements is bounded by nothing but the greatest extent that there can be: `%n floordiv 17` is."""

_Part: TypeAlias = tuple[Linear, int, int]
"""What an access takes of a dimension: a part over what stands still, and the range of what is added to it."""


@while_unchanged
def required_region(
    buffer: SSAValue,
    readers: Sequence[BlockOp],
    outer_vars: Sequence[SSAValue],
    is_write: bool | None = None,
    *,
    where_run: bool = False,
    under_branches: bool = False,
) -> list[tuple[AffineExpr, Extent]]:
    """What `readers` access of `buffer` while `outer_vars` stand still, by reading or writing alone where `is_write`
    says so: for each dimension, an offset (over `outer_vars` as dimensions) and a size. A dimension that cannot be
    bounded so is taken whole.

    `where_run` leaves out what a reader would access where its predicate does not let it run, `under_branches` also
    what the branches around an access keep it from.
    """
    shape = shape_of(buffer)
    maps: list[tuple[BlockOp, Access | Handed, AffineMap | None]] = [
        (reader, access, access.map)
        for reader in readers
        for access in reader.touches()
        if access.buffer is buffer and is_write in (None, access.is_write)
    ]
    region: list[tuple[AffineExpr, Extent]] = []
    for dim, extent in enumerate(shape):
        whole: tuple[AffineExpr, Extent] = (AffineConstantExpr(0), extent)
        found: _Part | None = None
        for reader, access, map in maps:
            part = None if map is None else _outer_and_inner(reader, map.results[dim], outer_vars, where_run)
            if part is not None and map is not None and under_branches:
                part = _where_reached(reader, access.op, map.results[dim], outer_vars, part)
            if part is None:
                found = None
                break
            form, low, high = part
            if low > high:
                continue  # it is never done
            if found is None:
                found = part
            elif found[0].terms == form.terms:
                shift = form.constant - found[0].constant
                found = (found[0], min(found[1], low + shift), max(found[2], high + shift))
            else:
                found = None
                break
        if found is None or found[2] - found[1] + 1 >= (extent if isinstance(extent, int) else UNBOUNDED):
            region.append(whole)
        else:
            form, low, high = found
            region.append((Linear(form.terms, form.constant + low).to_expr(), high - low + 1))
    return region


def _outer_and_inner(
    reader: BlockOp, index: AffineExpr, outer_vars: Sequence[SSAValue], where_run: bool
) -> _Part | None:
    """Split an index expression into the part over `outer_vars` and the range of the rest."""
    loop_vars = list(reader.loop_vars)
    bindings = reader.bindings.data.results
    if where_run and reader.conditions:  # an iterator of one value has that wherever the reader runs
        pairs = zip(bindings, reader.sizes, strict=True)
        bindings = tuple([AffineConstantExpr(0) if size == 1 else binding for binding, size in pairs])
    composed = substitute(index, bindings)
    ranges = dimension_ranges(loop_vars)
    form = _bounded(reader, composed, ranges) if where_run and reader.conditions else linear(composed, ranges)
    outer_dims = {AffineExpr.dimension(i): v for i, v in enumerate(loop_vars) if v in outer_vars}
    renumber: list[AffineExpr] = [
        AffineExpr.dimension(list(outer_vars).index(v)) if v in outer_vars else AffineConstantExpr(0) for v in loop_vars
    ]
    outer: dict[AffineExpr, int] = {}
    low = high = 0
    for atom, factor in form.terms.items():
        used = {AffineExpr.dimension(d) for d in dims_in(atom)}
        if used <= outer_dims.keys():
            outer[substitute(atom, renumber)] = factor
            continue
        bounds = expr_range(atom, ranges)
        if where_run and (split := _outer_quotient(atom, outer_dims.keys(), ranges)) is not None:
            quotient, last = split
            if bounds is None or last < bounds[1] - bounds[0]:
                least = linear(quotient, ranges)
                for own, times in least.terms.items():
                    moved = substitute(own, renumber)
                    outer[moved] = outer.get(moved, 0) + factor * times
                bounds = least.constant, least.constant + last
        if bounds is None:
            return None
        a, b = factor * bounds[0], factor * bounds[1]
        low, high = low + min(a, b), high + max(a, b)
    return Linear(outer, form.constant), low, high


def _where_reached(
    reader: BlockOp, access: Operation, index: AffineExpr, outer_vars: Sequence[SSAValue], part: _Part
) -> _Part:
    """The part of a dimension that an access takes, without what the predicate of the block and the branches around
    the access keep it from: the range of what is added to the part over `outer_vars` may be a smaller one."""
    loop_vars, bindings = list(reader.loop_vars), reader.bindings.data.results
    region = next(each for each in reader.regions if each.is_ancestor(access))
    ranges = dimension_ranges(loop_vars)
    known = KnownConditions(region, dict(zip(region.block.args, bindings, strict=True)), ranges)
    facts = [*known.around(access), *(from_affine(each) >= 0 for each in reader.conditions)]
    if not facts:
        return part
    form, low, high = part
    places: list[AffineExpr] = [
        AffineExpr.dimension(loop_vars.index(v)) if v in loop_vars else AffineConstantExpr(0) for v in outer_vars
    ]
    inner = simplify(substitute(index, bindings) - substitute(form.to_expr(), places), ranges)
    least, most = known.bounds(from_affine(inner), facts)
    return form, low if least is None else max(low, least), high if most is None else min(high, most)


def _outer_quotient(
    atom: AffineExpr, outer: AbstractSet[AffineExpr], ranges: Mapping[AffineExpr, Range]
) -> tuple[AffineExpr, int] | None:
    """Of a quotient `(o + i) floordiv d`, where `o` is of `outer` and `i` of other dimensions, the least value while
    the outer ones stand still, and by how much the greatest exceeds it at most: `(360 * c + i) floordiv 16` is from
    `360 * c floordiv 16` to 22 more where `i` is below 360."""
    if not isinstance(atom, AffineBinaryOpExpr) or atom.kind is not AffineBinaryOpKind.FloorDiv:
        return None
    if not isinstance(atom.rhs, AffineConstantExpr) or (divisor := atom.rhs.value) <= 0:
        return None
    total = linear(atom.lhs, ranges)
    still: dict[AffineExpr, int] = {}
    low = high = 0
    for each, factor in total.terms.items():
        if {AffineExpr.dimension(d) for d in dims_in(each)} <= outer:
            still[each] = factor
            continue
        if (bounds := expr_range(each, ranges)) is None:
            return None
        a, b = factor * bounds[0], factor * bounds[1]
        low, high = low + min(a, b), high + max(a, b)
    if not still:
        return None
    least = total.constant + low
    step = gcd(divisor, *still.values())
    remainder = divisor - step + least % step  # the greatest that the least leaves
    return Linear(still, least).to_expr() // divisor, (remainder + high - low) // divisor


def _bounded(reader: BlockOp, expr: AffineExpr, ranges: Mapping[AffineExpr, Range]) -> Linear:
    """`expr` in normal form, knowing that the sums which the predicate of `reader` bounds stay within: a quotient of
    `24 * h + 16 * c + l` is `h` where `16 * c + l` is at most 23."""
    count = len(reader.loop_vars)
    dims = [AffineExpr.dimension(number) for number in range(count)]
    known = dict(ranges)
    sums: dict[AffineExpr, Linear] = {}
    replaced: set[AffineExpr] = set()
    for condition in reader.conditions:
        room = linear(condition, ranges)
        bounded = Linear({atom: -factor for atom, factor in room.terms.items()}, 0)
        last = next((d for d in dims if bounded.terms.get(d) == 1 and d not in replaced), None)
        limits = expr_range(bounded.to_expr(), ranges)
        if last is None or limits is None or any(atom not in ranges for atom in bounded.terms):
            continue
        replaced.add(last)
        total = AffineExpr.dimension(count + len(sums))
        rest = Linear({atom: factor for atom, factor in bounded.terms.items() if atom != last}, 0).to_expr()
        expr = substitute(expr, [total - rest if dim == last else dim for dim in dims])
        known[total] = (limits[0], min(limits[1], room.constant))
        sums[total] = bounded
    form = linear(expr, known)
    return linear(substitute(form.to_expr(), [*dims, *(each.to_expr() for each in sums.values())]), ranges)
