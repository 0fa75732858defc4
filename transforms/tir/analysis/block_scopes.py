"""What the blocks in a block of blocks have to do with each other, and what TVM's schedules know of each of them.

The scope of a block is the nearest block of blocks around it, or the function. Two blocks of a scope depend on each
other where a later one touches what an earlier one writes, or writes what that reads. Of each block there is known:

* *affine binding*: its iterators are bound to sums of independent digits of the variables of the scope's loops;
* *region cover*: all that it reads of what other blocks of the scope write has been written, in the innermost loop
  around it and them;
* *stage pipeline*, of a scope: all its blocks have region cover, and none writes what an earlier one reads.

What is said is certain: a region is covered where that is proved. Counterparts of TVM's `BlockScope` and `BlockInfo`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.affine import linear, substitute
from ....dialects.tir.analyzer.answers import Range
from ....dialects.tir.analyzer.build import all_of
from ....dialects.tir.analyzer.convert import dim, from_affine
from ....dialects.tir.analyzer.iter_map import detect_iter_map
from ....dialects.tir.analyzer.iter_nodes import IterSumExpr
from ....dialects.tir.analyzer.nodes import Const, IntExpr, const
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import AllocBufferOp, BlockOp, ForOp, OuterBlockOp, PrimFuncOp, blocks_under, enclosing_loops
from ....dialects.tir.symbols import Extent, as_affine
from ....dialects.tir.thread_axes import share_memory
from .regions import required_region

AnyBlock: TypeAlias = BlockOp | OuterBlockOp
Root: TypeAlias = BlockOp | OuterBlockOp | PrimFuncOp
Box: TypeAlias = "Sequence[tuple[AffineExpr, Extent]]"
"""For each dimension an offset, over the variables of loops, and a size."""


class DepKind(IntEnum):
    """How a later block depends on an earlier one. Counterpart of TVM's `DepKind`."""

    RAW = 0
    """It reads what that writes."""
    WAW = 1
    """It writes what that writes."""
    WAR = 2
    """It writes what that reads."""


@dataclass(frozen=True)
class Depends:
    """The block `dst` depends on the block `src`, which stands before it in their scope."""

    src: AnyBlock
    dst: AnyBlock
    kind: DepKind


@dataclass(frozen=True)
class CachedFlags:
    """What is known of a block. Counterpart of TVM's `CachedFlags`."""

    affine_binding: bool
    region_cover: bool
    stage_pipeline: bool


def children_of(around: Operation) -> Iterator[AnyBlock]:
    """The blocks in `around`, not those in one of them."""
    if isinstance(around, BlockOp):
        return
    for op in around.regions[0].block.ops:
        if isinstance(op, BlockOp | OuterBlockOp):
            yield op
        elif isinstance(op, ForOp):
            yield from children_of(op)


def scope_of(op: Operation) -> OuterBlockOp | PrimFuncOp:
    """The block of blocks that `op` stands in, or its function."""
    scope = op.parent_op()
    while not isinstance(scope, PrimFuncOp | OuterBlockOp):
        assert scope is not None
        scope = scope.parent_op()
    return scope


def reads_of(block: AnyBlock) -> list[SSAValue]:
    """The buffers that a block reads, in the order in which it does first; not those that it begins itself (`init`),
    nor any of its own."""
    reads: list[SSAValue] = []
    for each in blocks_under(block):
        begun = () if each.init is None else each.writes
        reads += [touch.buffer for touch in each.touches() if not touch.is_write and touch.buffer not in begun]
    return _from_outside(block, reads)


def writes_of(block: AnyBlock) -> list[SSAValue]:
    """The buffers that a block writes, in the order in which it does first, but for its own."""
    return _from_outside(block, [v for each in blocks_under(block) for v in each.writes])


def buffers_of(block: AnyBlock, kind: str) -> list[SSAValue]:
    """The buffers of a block by which its `"read"`s and `"write"`s are numbered.

    A reduction that begins elsewhere reads what it updates, as in TVM, before all else.
    """
    if isinstance(block, OuterBlockOp):
        return reads_of(block) if kind == "read" else writes_of(block)
    if kind == "read" and block.is_reduction and block.init is None:
        return list(dict.fromkeys((*block.writes, *block.reads)))
    return list(block.reads if kind == "read" else block.writes)


def _from_outside(block: AnyBlock, buffers: Sequence[SSAValue]) -> list[SSAValue]:
    own = {v for v in buffers if isinstance(v.owner, AllocBufferOp) and block.is_ancestor(v.owner)}
    return [v for v in dict.fromkeys(buffers) if v not in own]


def dependencies_in(scope: Root) -> list[Depends]:
    """What the blocks of a scope have to do with each other, those of a later block after those of an earlier."""
    found: list[Depends] = []
    readers: dict[SSAValue, list[AnyBlock]] = {}
    writers: dict[SSAValue, list[AnyBlock]] = {}
    for block in children_of(scope):
        reads, writes = reads_of(block), writes_of(block)
        for kind, touched, earlier in (
            (DepKind.RAW, reads, writers),
            (DepKind.WAW, writes, writers),
            (DepKind.WAR, writes, readers),
        ):
            found += [Depends(src, block, kind) for buffer in touched for src in earlier.get(buffer, [])]
        for touched, known in ((reads, readers), (writes, writers)):
            for buffer in touched:
                known.setdefault(buffer, []).append(block)
    return list(dict.fromkeys(found))


def producers_of(block: AnyBlock) -> list[AnyBlock]:
    """The earlier blocks of its scope that write what a block touches."""
    made = (each for each in dependencies_in(scope_of(block)) if each.kind != DepKind.WAR)
    return list(dict.fromkeys(each.src for each in made if each.dst is block))


def consumers_of(block: AnyBlock) -> list[AnyBlock]:
    """The later blocks of its scope that touch what a block writes."""
    made = (each for each in dependencies_in(scope_of(block)) if each.kind != DepKind.WAR)
    return list(dict.fromkeys(each.dst for each in made if each.src is block))


def cached_flags(block: Root) -> CachedFlags:
    """What is known of a block; of a function, as the root of its blocks."""
    if isinstance(block, PrimFuncOp):
        return CachedFlags(True, True, _is_stage_pipeline(block))
    return CachedFlags(_has_affine_binding(block), _has_region_cover(block), _is_stage_pipeline(block))


def _is_stage_pipeline(scope: Root) -> bool:
    return all(each.kind != DepKind.WAR for each in dependencies_in(scope)) and all(
        map(_has_region_cover, children_of(scope))
    )


def _has_affine_binding(block: AnyBlock) -> bool:
    outside = set(enclosing_loops(scope_of(block)))
    return all(_is_affinely_bound(each, outside) for each in blocks_under(block))


def _is_affinely_bound(block: BlockOp, outside: set[ForOp]) -> bool:
    """Whether `block` is bound to digits of the loops around, those `outside` standing still. What its predicate says
    of other loops has nothing to do with that."""
    bindings = block.bindings.data.results
    used = {d for each in bindings for d in each.used_dims()}
    conditions = [each for each in block.conditions if each.used_dims() <= used]
    predicate = all_of(*(from_affine(condition) >= 0 for condition in conditions))
    domains = _domains(block, [loop for loop in enclosing_loops(block) if loop not in outside])
    return bool(detect_iter_map([from_affine(each) for each in bindings], domains, predicate))


def _domains(block: BlockOp, loops: Sequence[ForOp]) -> dict[IntExpr, int | IntExpr | range | Range]:
    """The values of the variables of `loops` that `block` is bound to, by the dimensions of its bindings."""
    numbers = {v: d for d, v in enumerate(block.loop_vars)}
    return {
        dim(numbers[loop.var]): Range(loop.start, from_affine(as_affine(loop.size) + loop.start))
        for loop in loops
        if loop.var in numbers
    }


def _has_region_cover(block: AnyBlock) -> bool:
    scope = scope_of(block)
    earlier = [each.src for each in dependencies_in(scope) if each.dst is block and each.kind == DepKind.RAW]
    for buffer in reads_of(block):
        if producers := [each for each in earlier if buffer in writes_of(each)]:
            if not _is_covered(buffer, block, producers):
                return False
    return True


def _is_covered(buffer: SSAValue, block: AnyBlock, producers: Sequence[AnyBlock]) -> bool:
    """Whether `producers` write all that `block` reads of `buffer`, in the innermost loop around all of them."""
    around = list(enclosing_loops(block))
    for producer in producers:
        loops = enclosing_loops(producer)
        around = [loop for loop in around if loop in loops]
    scope = buffer.owner.scope.data if isinstance(buffer.owner, AllocBufferOp) else "global"
    around = [loop for loop in around if not share_memory(loop, scope)]
    variables = [loop.var for loop in around]
    wanted = required_region(buffer, blocks_under(block), variables, is_write=False, where_run=True)
    made: list[Box] = []
    for producer in producers:
        for each in blocks_under(producer):
            if buffer in each.writes:
                box = required_region(buffer, [each], variables, is_write=True)
                if _fills(each, buffer, around, box):
                    made.append(box)
    return any(_has(box, wanted) for box in _joined(made))


def fills(block: BlockOp, buffer: SSAValue, around: Sequence[ForOp], box: Box) -> bool:
    """Whether `block` surely writes all of `box`, in which all lies that it writes of `buffer` in one iteration of the
    loops `around`: it runs in each, without a predicate."""
    within = [loop for loop in enclosing_loops(block) if loop not in around]
    runs = all(isinstance(loop.size, int) and loop.size > 0 for loop in within)
    return runs and not block.conditions and _fills(block, buffer, around, box)


def _fills(block: BlockOp, buffer: SSAValue, around: Sequence[ForOp], box: Box) -> bool:
    """Whether `block` surely writes all of `box`, in which all lies that it writes of `buffer` in one iteration of the
    loops `around`; all of it that the buffer has, where the predicate says no more than that."""
    domains = _domains(block, [loop for loop in enclosing_loops(block) if loop not in around])
    shape = shape_of(buffer)
    for touch in block.touches():
        if touch.buffer is not buffer or not touch.is_write or touch.op.parent_op() is not block or touch.map is None:
            continue
        indices = [substitute(each, block.bindings.data.results) for each in touch.map.results]
        bounds = [
            linear(each)
            for index, extent in zip(indices, shape, strict=True)
            for each in (index, as_affine(extent) - 1 + index * -1)
        ]
        if any(linear(condition) not in bounds for condition in block.conditions):
            continue
        found = detect_iter_map([from_affine(each) for each in indices], domains)
        if found and all(map(_has_all, found.indices, box, shape)):
            return True
    return False


def _has_all(index: IterSumExpr, part: tuple[AffineExpr, Extent], extent: Extent) -> bool:
    """Whether an index takes all values of a part, in which all are that it takes of a buffer's `extent`."""
    if index.scale is not const(1):
        return False
    if index.extent is from_affine(as_affine(part[1])):
        return True
    low, count = index.base, index.extent
    if part != (AffineConstantExpr(0), extent) or not isinstance(extent, int):
        return False
    return isinstance(low, Const) and isinstance(count, Const) and low.value <= 0 and low.value + count.value >= extent


def _has(box: Box, part: Box) -> bool:
    """Whether `part` surely lies in `box`, dimension by dimension."""
    return all(_begins_before(a, b) and _begins_before(_end(b), _end(a)) for a, b in zip(box, part, strict=True))


def _end(part: tuple[AffineExpr, Extent]) -> tuple[AffineExpr, Extent]:
    return part[0] + as_affine(part[1]), 0


def _begins_before(first: tuple[AffineExpr, Extent], second: tuple[AffineExpr, Extent]) -> bool:
    """Whether the offset of one part is surely not greater than that of another."""
    apart = linear(second[0] + first[0] * -1)
    return not apart.terms and apart.constant >= 0


def _joined(boxes: list[Box]) -> list[Box]:
    """`boxes`, and those that two of them make which follow each other in one dimension and are alike in the others."""
    found = list(boxes)
    for one in found:
        for other in list(found):
            if (box := _joined_two(one, other)) is not None and not any(_has(each, box) for each in found):
                found.append(box)
    return found


def _joined_two(one: Box, other: Box) -> Box | None:
    differ = [n for n, (a, b) in enumerate(zip(one, other, strict=True)) if not _has([a], [b]) or not _has([b], [a])]
    if len(differ) != 1:
        return None
    (number,) = differ
    a, b = one[number], other[number]
    if not _begins_before(a, b) or not _begins_before(b, _end(a)) or not _begins_before(_end(a), _end(b)):
        return None
    size = linear(_end(b)[0] + a[0] * -1)
    if size.terms:
        return None
    joined = list(one)
    joined[number] = (a[0] + AffineConstantExpr(0), size.constant)
    return joined
