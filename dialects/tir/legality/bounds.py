"""Iterators stay in their domains, cover them, and lead to elements that are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ...support.facts import remembered
from ..affine import Access, Range, affine_of, dims_in, expr_range, substitute
from ..blocks import BlockOp, IterKind
from ..buffers import memref_of
from ..conditions import EVERYWHERE
from ..integers import ValueRanges
from ..loops import enclosing_loops, loop_range
from ..symbols import depends_on_symbols
from .branches import branches_of
from .decide import Answer, Space, Verdict, is_within, never_within, within
from .finding import Finding
from .pointwise import place_of, within_at_points


@remembered
def space_of(block: BlockOp) -> Space:
    """The values that the loop variables of `block` take where it runs."""
    return Space(tuple(loop_range(v) for v in block.loop_vars), block.conditions)


@remembered
def tightened_space_of(block: BlockOp) -> Space:
    """The same, as far as its predicate bounds single variables."""
    return space_of(block).tightened() if block.conditions else space_of(block)


@remembered
def never_runs(block: BlockOp) -> bool:
    """Whether a loop around `block` has no iteration."""
    return any(loop.size == 0 for loop in enclosing_loops(block))


@remembered
def values_of(block: BlockOp) -> tuple[Range | None, ...]:
    """Between which values each iterator of `block` is bound, by the ranges of loops alone."""
    space = space_of(block)
    ranges = space.ranges
    return tuple(
        [
            ranges[binding.position]
            if type(binding) is AffineDimExpr and ranges[binding.position][0] <= ranges[binding.position][1]
            else space.range_of(binding)
            for binding in block.bindings.data.results
        ]
    )


def restricted_iterators(block: BlockOp) -> frozenset[int]:
    """The iterators, by number, that conditions on a loop keep from taking all the values that the loops give."""
    if not block.conditions or block.is_symbolic or any(loop.is_symbolic for loop in enclosing_loops(block)):
        return frozenset()
    whole = Space(space_of(block).ranges)
    part = space_of(block).tightened()
    found: set[int] = set()
    for number, (binding, extent) in enumerate(zip(block.bindings.data.results, block.extents, strict=True)):
        all_of_it, rest = (expr_range(binding, space.by_dimension) for space in (whole, part))
        if all_of_it is not None and rest is not None and all_of_it[0] <= 0 and all_of_it[1] >= extent - 1:
            if rest[0] > 0 or rest[1] < extent - 1:
                found.add(number)
    return frozenset(found)


def unproved_iterators(block: BlockOp) -> list[int]:
    """The iterators, by number, that are not shown to stay within their extents."""
    if never_runs(block):
        return []
    space = space_of(block)
    pairs = zip(block.bindings.data.results, block.extents, strict=True)
    return [number for number, pair in enumerate(pairs) if within(*pair, space).verdict != Verdict.PROVED]


def check_bindings(block: BlockOp) -> Iterator[Finding]:
    """An iterator takes only the values from 0 to below its extent."""
    if never_runs(block):
        return
    for number, (values, extent) in enumerate(zip(values_of(block), block.extents, strict=True)):
        if values is not None and values[0] >= 0 and values[1] < extent:
            continue  # the common case
        space, binding = space_of(block), block.bindings.data.results[number]
        answer = within(binding, extent, space)
        if answer.verdict == Verdict.PROVED:
            continue
        name = f"iterator {block.iter_name(number)} of block @{block.block_name}"
        if answer.verdict == Verdict.UNKNOWN:
            yield Finding(block, f"{name} is not shown to stay within its extent {extent}", certain=False)
            continue
        bounds = expr_range(binding, space.by_dimension)
        values = "" if bounds is None else f"; its values run from {bounds[0]} to {bounds[1]}"
        yield Finding(
            block,
            f"{name} takes the value {answer.value}{_at(block, answer.point, binding)}, outside of its extent "
            f"{extent}{values}",
            hint="let the loops end with the iterator's extent, or add a condition: where [...]",
        )


def _at(block: BlockOp, point: Sequence[int], expr: AffineExpr) -> str:
    names = [
        f"%{v.name_hint or 'a loop variable'} = {point[d]}" for d, v in enumerate(block.loop_vars) if d in dims_in(expr)
    ]
    return f" where {', '.join(names)}" if names else ""


def check_coverage(blocks: Sequence[BlockOp]) -> Iterator[Finding]:
    """Blocks of one name and domain take every value of their iterators, together.

    What can be seen: that the values' least and greatest leave something out, or that there are fewer than the extent.
    """
    for group in parts_of(blocks):
        first = group[0]
        for number, missing in left_out_of(group):
            kind = first.kinds[number]
            part = "a part of the reduction is left out" if kind == IterKind.REDUCE else "elements are left out"
            yield Finding(
                first,
                f"iterator {first.iter_name(number)} of block @{first.block_name} does not take every value of its "
                f"extent {first.extents[number]}: {missing}, so {part}",
                hint=f"let the loops run over all of it, or say that it is meant: partial {kind.value} "
                f"{first.extents[number]}",
            )


def allow_what_is_left_out(blocks: Sequence[BlockOp]) -> None:
    """Say of the iterators of `blocks` that do not take every value any more that it is meant."""
    for group in parts_of(blocks):
        partial = frozenset(number for number, _ in left_out_of(group))
        for block in group if partial else ():
            block.partial_iters = block.partial_iters | partial


def parts_of(blocks: Sequence[BlockOp]) -> Iterable[list[BlockOp]]:
    """Those of one name and domain together."""
    groups: dict[object, list[BlockOp]] = {}
    for block in blocks:
        groups.setdefault((block.block_name, block.iter_kinds, block.iter_extents), []).append(block)
    return groups.values()


def left_out_of(group: Sequence[BlockOp]) -> Iterator[tuple[int, str]]:
    """The iterators that certainly miss values, though nothing says that it is meant, and which."""
    extents = group[0].extents
    if 0 in extents:
        return
    partial = frozenset[int]().union(*[block.partial_iters for block in group])
    first = group[0]
    bindings, values = first.bindings.data.results, () if never_runs(first) else values_of(first)
    for number, extent in enumerate(extents):
        if values and type(bindings[number]) is AffineDimExpr and (bounds := values[number]) is not None:
            if bounds[0] <= 0 and bounds[1] >= extent - 1:
                continue  # the common case: an iterator is a loop
        if number not in partial and (missing := _missing(group, number, extent)) is not None:
            yield number, missing


def _missing(group: Sequence[BlockOp], number: int, extent: int) -> str | None:
    """Which values of an iterator certainly are not taken, in words."""
    spans: list[tuple[int, int]] = []
    count = 0
    for block in group:
        if never_runs(block):
            continue
        if (bounds := values_of(block)[number]) is None:
            return None
        spans.append(bounds)
        ranges, used = space_of(block).ranges, dims_in(block.bindings.data.results[number])
        count += prod([ranges[d][1] - ranges[d][0] + 1 for d in used])
    reached = 0
    for low, high in sorted(spans):
        if low > reached:
            break
        reached = max(reached, high + 1)
    if reached < extent:
        if not spans:
            return "its loops have no iterations"
        taken = ", ".join(f"{low} to {high}" for low, high in sorted(set(spans)))
        return f"its values run from {taken}"
    return f"its loops have only {count} iterations" if count < extent else None


@dataclass(frozen=True)
class Judgement:
    """Whether the index of an access in a dimension is always inside of the buffer's extent there."""

    access: Access
    dimension: int
    extent: int
    answer: Answer
    index: AffineExpr | None = None
    """What it is over the block's iterators, if it is an affine expression."""


def judge_accesses(block: BlockOp) -> Iterator[Judgement]:
    """What is known of the accesses of `block`, dimension by dimension: all but those that their iterators' extents, or
    what is done with data that leads to an index, show to be inside.

    The conditions of branches around an access (`scf.if`) are known where it is made. Where data has a say in one,
    nothing is refuted but an access that is outside wherever it may be made.
    """
    if never_runs(block) or any(extent == 0 for extent in block.extents):
        return
    extents = block.extents
    domain = Space(tuple([(0, extent - 1) for extent in extents]))
    proved: set[tuple[int, int]] = set()
    for access in block.accesses():
        if access.map is None:
            yield from _judge_computed(block, access)
            continue
        indices = access.map.results
        for dim, extent in enumerate(memref_of(access.buffer).get_shape()):
            index = indices[dim]
            if type(index) is AffineDimExpr and extents[index.position] <= extent:
                continue  # the common case
            if (id(index), extent) in proved:  # accesses have parts in common
                continue
            if not is_within(index, extent, domain):
                answer = _composed(block, access, dim, index)
                if answer.verdict != Verdict.PROVED:
                    yield Judgement(access, dim, extent, answer, index)
                    continue
                if access.op.parent_region() is not block.body:
                    continue  # under a branch, or at the first step only
            proved.add((id(index), extent))


def _judge_computed(block: BlockOp, access: Access) -> Iterator[Judgement]:
    """The same of an access of which an index, if not each, is no affine expression of the iterators."""
    dims, values = branches_of(block).dims, _values_from_data(block)
    for dim, extent in enumerate(memref_of(access.buffer).get_shape()):
        value = access.op.indices[dim]
        index = affine_of(value, dims)
        if type(index) is AffineDimExpr and block.extents[index.position] <= extent:
            continue
        if index is not None and not depends_on_symbols(index):
            answer = _composed(block, access, dim, index)
        elif values.is_within(value, extent):
            continue
        elif extent >= 0 and (place := place_of(access.op, value, block)) is not None:
            answer = within_at_points(place, extent, block.bindings.data.results, _space_around(block, access))
        else:
            answer = Answer(Verdict.UNKNOWN)
        if answer.verdict != Verdict.PROVED:
            yield Judgement(access, dim, extent, answer, index)


@remembered
def _values_from_data(block: BlockOp) -> ValueRanges:
    """What is known of the values in a block."""
    extents = block.extents
    return ValueRanges({arg: (0, extents[arg.index] - 1) for region in block.regions for arg in region.block.args})


def _composed(block: BlockOp, access: Access, dim: int, index: AffineExpr) -> Answer:
    """Whether an index is inside for all values that the loops around the block give its iterators."""
    extent = memref_of(access.buffer).get_shape()[dim]
    if extent < 0:
        return Answer(Verdict.UNKNOWN)
    guard = EVERYWHERE if access.op.parent_op() is block else branches_of(block).around(access.op)
    known = [condition for condition in guard.conditions if not depends_on_symbols(condition)]
    is_whole = guard.whole and len(known) == len(guard.conditions)
    expr, space = substitute(index, block.bindings.data.results), _space_around(block, access, known)
    answer = within(expr, extent, space, search=is_whole)
    if answer.verdict != Verdict.UNKNOWN or is_whole:
        return answer
    if (place := place_of(access.op, access.op.indices[dim], block)) is not None:
        return within_at_points(place, extent, block.bindings.data.results, space)
    return (never_within(expr, extent, space) if extent else None) or answer


def _space_around(block: BlockOp, access: Access, conditions: Iterable[AffineExpr] = ()) -> Space:
    """The values that the loop variables of `block` take where an access is made, as far as `conditions` tell."""
    return space_where(block, conditions, in_init=block.init is not None and block.init.is_ancestor(access.op))


def space_where(block: BlockOp, conditions: Iterable[AffineExpr], *, in_init: bool = False) -> Space:
    """The values that the loop variables of `block` take where `conditions` over its iterators are at least 0; of
    `init`, at a reduction's first step."""
    space, bindings = space_of(block), block.bindings.data.results
    more = [substitute(condition, bindings) for condition in conditions]
    if in_init:
        more += [b * -1 for b, kind in zip(bindings, block.kinds, strict=True) if kind == IterKind.REDUCE]
    return Space(space.ranges, (*space.conditions, *more)) if more else space


def check_accesses(block: BlockOp) -> Iterator[Finding]:
    """Every access to an element is to one that the buffer has, as far as that can be seen."""
    told: Access | None = None
    for found in judge_accesses(block):
        access, dim, extent = found.access, found.dimension, found.extent
        if found.answer.verdict == Verdict.REFUTED:
            yield _outside(block, access, found)
        elif found.index is None:
            if access is not told:
                yield _unknown(block, access, "depends on data")
            told = access
        elif extent < 0:
            yield _unknown(block, access, f"meets dimension {dim}, whose extent is not known")
        else:
            yield _unknown(block, access, f"is not shown to stay within the extent {extent} of dimension {dim}")


def _outside(block: BlockOp, access: Access, found: Judgement) -> Finding:
    bindings, point = block.bindings.data.results, list(found.answer.point)
    deciding = range(len(bindings)) if found.index is None else sorted(dims_in(found.index))
    taken = ", ".join(f"{block.iter_name(d)} = {bindings[d].eval(point, [])}" for d in deciding)
    verb = "writes" if access.is_write else "reads"
    return Finding(
        access.op,
        f"block @{block.block_name} {verb} {buffer_name(access.buffer)} outside: index {found.answer.value} in "
        f"dimension {found.dimension}{f' where {taken}' if taken else ''}, of extent {found.extent}",
        hint="guard the access with scf.if, or give the iterators smaller extents"
        if access.op.parent_op() is block
        else "let the conditions around the access keep it inside, or give the iterators smaller extents",
    )


def _unknown(block: BlockOp, access: Access, why: str) -> Finding:
    verb = "write" if access.is_write else "read"
    message = f"where block @{block.block_name} {verb}s {buffer_name(access.buffer)} {why}"
    return Finding(access.op, message, certain=False)


def buffer_name(buffer: SSAValue) -> str:
    """How a message calls a buffer."""
    return f"%{buffer.name_hint}" if buffer.name_hint else "a buffer without a name"
