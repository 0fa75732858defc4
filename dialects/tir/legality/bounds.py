"""Iterators stay in their domains, cover them, and lead to elements that are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ..affine import Access, expr_range, substitute
from ..blocks import BlockOp, IterKind
from ..buffers import memref_of
from ..loops import enclosing_loops, loop_range
from .decide import Space, Verdict, is_within, within
from .finding import Finding


def space_of(block: BlockOp) -> Space:
    """The values that the loop variables of `block` take where it runs."""
    return Space(tuple(loop_range(v) for v in block.loop_vars), block.conditions)


def never_runs(block: BlockOp) -> bool:
    """Whether a loop around `block` has no iteration."""
    return any(loop.trip_count == 0 for loop in enclosing_loops(block))


def check_bindings(block: BlockOp) -> Iterator[Finding]:
    """An iterator takes only the values from 0 to below its extent."""
    if never_runs(block):
        return
    space = space_of(block)
    for number, (binding, extent) in enumerate(zip(block.bindings.data.results, block.extents, strict=True)):
        answer = within(binding, extent, space)
        if answer.verdict == Verdict.PROVED:
            continue
        name = f"iterator {block.iter_name(number)} of block @{block.block_name}"
        if answer.verdict == Verdict.UNKNOWN:
            yield Finding(block, f"{name} is not shown to stay within its extent {extent}", certain=False)
            continue
        bounds = expr_range(binding, space.by_dimension())
        values = "" if bounds is None else f"; its values run from {bounds[0]} to {bounds[1]}"
        yield Finding(
            block,
            f"{name} takes the value {answer.value}{_at(block, answer.point, binding)}, outside of its extent "
            f"{extent}{values}",
            hint="let the loops end with the iterator's extent, or add a condition: where [...]",
        )


def _at(block: BlockOp, point: Sequence[int], expr: AffineExpr) -> str:
    names = [
        f"%{v.name_hint or 'a loop variable'} = {point[d]}"
        for d, v in enumerate(block.loop_vars)
        if d in expr.used_dims()
    ]
    return f" where {', '.join(names)}" if names else ""


def check_coverage(blocks: Sequence[BlockOp]) -> Iterator[Finding]:
    """Blocks of one name and domain take every value of their iterators, together.

    What can be seen: that the values' least and greatest leave something out, or that there are fewer than the extent.
    """
    groups: dict[object, list[BlockOp]] = {}
    for block in blocks:
        groups.setdefault((block.block_name, block.iter_kinds, block.iter_extents), []).append(block)
    for group in groups.values():
        first = group[0]
        if 0 in first.extents:
            continue
        partial = frozenset[int]().union(*(block.partial_iters for block in group))
        for number, extent in enumerate(first.extents):
            if number not in partial and (missing := _missing(group, number, extent)) is not None:
                kind = first.kinds[number]
                part = "a part of the reduction is left out" if kind == IterKind.REDUCE else "elements are left out"
                yield Finding(
                    first,
                    f"iterator {first.iter_name(number)} of block @{first.block_name} does not take every value of its "
                    f"extent {extent}: {missing}, so {part}",
                    hint=f"let the loops run over all of it, or say that it is meant: partial {kind.value} {extent}",
                )


def _missing(group: Sequence[BlockOp], number: int, extent: int) -> str | None:
    """Which values of an iterator certainly are not taken, in words."""
    spans: list[tuple[int, int]] = []
    count = 0
    for block in group:
        if never_runs(block):
            continue
        space = space_of(block)
        binding = block.bindings.data.results[number]
        bounds = expr_range(binding, space.by_dimension())
        if bounds is None:
            return None
        spans.append(bounds)
        count += prod(space.ranges[d][1] - space.ranges[d][0] + 1 for d in binding.used_dims())
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


def check_accesses(block: BlockOp) -> Iterator[Finding]:
    """Every access to an element that follows from the iterators is to one that the buffer has.

    An access under a branch (`scf.if`) may be guarded by it: there, nothing is certain.
    """
    if never_runs(block):
        return
    domain = {AffineExpr.dimension(d): (0, extent - 1) for d, extent in enumerate(block.extents)}
    if any(extent == 0 for extent in block.extents):
        return
    for access in block.accesses():
        shape = memref_of(access.buffer).get_shape()
        if access.map is None:
            yield _unknown(block, access, "depends on data")
            continue
        for dim, (index, extent) in enumerate(zip(access.map.results, shape, strict=True)):
            if extent < 0:
                yield _unknown(block, access, f"meets dimension {dim}, whose extent is not known")
            elif not is_within(index, extent, domain):
                yield from _outside(block, access, dim, index, extent)


def _outside(block: BlockOp, access: Access, dim: int, index: AffineExpr, extent: int) -> Iterator[Finding]:
    space = space_of(block)
    bindings = block.bindings.data.results
    if access.op.parent_region() is block.init:  # runs at the reduction's first step
        first = [b * -1 for b, kind in zip(bindings, block.kinds, strict=True) if kind == IterKind.REDUCE]
        space = Space(space.ranges, (*space.conditions, *first))
    composed = substitute(index, bindings)
    answer = within(composed, extent, space, search=access.op.parent_op() is block)
    if answer.verdict == Verdict.PROVED:
        return
    if answer.verdict == Verdict.UNKNOWN:
        yield _unknown(block, access, f"is not shown to stay within the extent {extent} of dimension {dim}")
        return
    taken = ", ".join(
        f"{block.iter_name(d)} = {bindings[d].eval(list(answer.point), [])}" for d in sorted(index.used_dims())
    )
    verb = "writes" if access.is_write else "reads"
    yield Finding(
        access.op,
        f"block @{block.block_name} {verb} {buffer_name(access.buffer)} outside: index {answer.value} in dimension "
        f"{dim}{f' where {taken}' if taken else ''}, of extent {extent}",
        hint="guard the access with scf.if, or give the iterators smaller extents",
    )


def _unknown(block: BlockOp, access: Access, why: str) -> Finding:
    verb = "write" if access.is_write else "read"
    message = f"where block @{block.block_name} {verb}s {buffer_name(access.buffer)} {why}"
    return Finding(access.op, message, certain=False)


def buffer_name(buffer: SSAValue) -> str:
    """How a message calls a buffer."""
    return f"%{buffer.name_hint}" if buffer.name_hint else "a buffer without a name"
