"""A buffer of a thread's own carries nothing from one iteration of a parallel loop to another.

Which thread runs an iteration, and what that thread has run before, is not known. So whatever an iteration reads of a
`local` buffer, it has written itself. Mostly that is seen at once: a reduction begins with `init`, and a block before
writes just the elements that are read. Where it is not, the elements are looked for among those that are written
(`covering`), or iterations are followed step by step. What is not shown is refused (`loops`), unless the loop says that
its iterations are independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ..affine import Access, dims_in, linear, simplify, substitute
from ..blocks import BlockOp, IterKind, accessing_blocks, blocks_under
from ..buffers import AllocBufferOp
from ..calls import Handed
from ..conditions import Guard
from ..loops import BY_THREADS, ForKind, ForOp, enclosing_loops, loop_of, loop_range
from ..symbols import dimension
from .bounds import buffer_name, never_runs
from .branches import branches_of
from .covering import Place, covers
from .decide import MAX_POINTS
from .finding import Finding
from .loop_forms import loop_forms


@dataclass(frozen=True)
class Step:
    """An access to the buffer, its index over `loop_vars` of its block: `None` where that depends on data."""

    block: BlockOp
    access: Access | Handed
    index: tuple[AffineExpr, ...] | None

    @property
    def in_init(self) -> bool:
        return self.access.op.parent_region() is self.block.init

    @property
    def is_sure(self) -> bool:
        """Whether it is made at a known place, whenever its block runs."""
        return self.index is not None and self.access.op.parent_op() is self.block

    @property
    def guard(self) -> Guard:
        """Where in its block it is made, over the block's iterators."""
        return branches_of(self.block).around(self.access.op)

    def place(self) -> Place:
        """Where it is made at most, and, where its guard is whole, always."""
        guards = tuple(substitute(each, self.block.bindings.data.results) for each in self.guard.conditions)
        return Place(self.block, self.access.buffer, self.index, guards)

    def always_before(self, later: Step) -> bool:
        """Whether it is made, at a known place, whenever `later` is, an access behind it in the same block: it stands
        under no branch and in no loop that `later` does not stand in."""
        around = self.access.op.parent_block()
        return (
            self.index is not None
            and around is not None
            and around.find_ancestor_op_in_block(later.access.op) is not None
        )


def check_carried(loop: ForOp, kind: ForKind) -> Iterator[Finding]:
    """An iteration of `loop`, were it of `kind`, reads of a private buffer what it has not written.

    A buffer that is used outside of `loop` too is left to `check_reach`.
    """
    if kind not in BY_THREADS:
        return
    blocks = blocks_under(loop)
    for buffer in dict.fromkeys(buffer for block in blocks for buffer in (*block.reads, *block.writes)):
        alloc = buffer.owner
        if not isinstance(alloc, AllocBufferOp) or not alloc.is_private:
            continue
        if all(loop.is_ancestor(block) for block in accessing_blocks(buffer)):
            yield from _check_buffer(loop, kind, buffer, blocks)


def is_fresh(loop: ForOp, buffer: SSAValue) -> bool:
    """Whether it is shown that each iteration of `loop`, which has all that uses `buffer`, writes what it reads."""
    return next(_check_buffer(loop, ForKind.PARALLEL, buffer, blocks_under(loop)), None) is None


def _check_buffer(loop: ForOp, kind: ForKind, buffer: SSAValue, blocks: Sequence[BlockOp]) -> Iterator[Finding]:
    steps = [step for block in blocks if not never_runs(block) for step in _steps(block, buffer)]
    doubtful = [
        step
        for n, step in enumerate(steps)
        if not step.access.is_write
        and not is_written_before(step, steps[:n], loop)
        and not is_covered(step.place(), steps[:n])
    ]
    if not doubtful:
        return
    name, var = buffer_name(buffer), f"%{loop.var.name_hint or 'i'}"
    unsure = Finding(
        doubtful[0].block,
        f"it is not shown that each iteration of {var} writes what it reads of {name}, each thread's own",
        certain=False,
    )
    if any(each.is_symbolic for step in steps for each in enclosing_loops(step.block)):
        yield unsure
        return
    history = _History(loop, steps)
    if (found := history.first_unwritten()) is not None:
        yield Finding(
            found,
            f"block @{found.block_name} reads an element of {name}, each thread's own, that the same iteration of "
            f"{var}, a {kind.value} loop, has not written: what another iteration left may be with another thread",
            hint="let the loop be serial, or have each iteration write what it reads",
        )
    elif not history.is_complete:
        yield unsure


def _steps(block: BlockOp, buffer: SSAValue) -> list[Step]:
    """The accesses of `block` to `buffer` in the order in which they are made."""
    bound = block.bindings.data.results
    found = [
        Step(block, access, None if access.map is None else tuple(substitute(e, bound) for e in access.map.results))
        for access in block.touches()
        if access.buffer is buffer
    ]
    return sorted(found, key=lambda step: not step.in_init)


def is_written_before(read: Step, before: Sequence[Step], loop: ForOp | None = None) -> bool:
    """Whether one of the steps `before` a read certainly writes all that it reads, in the same iteration of `loop`, or
    else of the loops around both."""
    if read.index is None:
        return False
    for write in before:
        if not write.access.is_write or write.index is None:
            continue
        if write.block is read.block:
            if write.index == read.index and (
                (loop is None or _begins_within(write.block, loop))
                if write.in_init
                else write.always_before(read) or _begins(write, loop)
            ):
                return True
        elif write.is_sure and not write.block.conditions and not write.in_init:
            if _reaches(write, read) or _touch_the_same(write, read):
                return True
    return False


def _begins(write: Step, loop: ForOp | None) -> bool:
    """Whether a write under a branch, such as `if k == 0`, is made in the first iteration of loops, within `loop`, that
    lead to no other element, so that it was made whenever its block runs behind it: an init that stands in the body."""
    block, guard = write.block, write.guard
    conditions = [substitute(each, block.bindings.data.results) for each in guard.conditions]
    steps = {d for each in conditions for d in dims_in(each)}
    loops = {d: loop_of(block.loop_vars[d]) for d in steps}
    places = (*(write.index or ()), *block.conditions)
    if not guard.whole or any(not steps.isdisjoint(dims_in(each)) for each in places):
        return False
    if any(each.for_kind not in (ForKind.SERIAL, ForKind.UNROLLED) for each in loops.values()):
        return False
    if loop is not None and not all(loop.is_ancestor(each) and each is not loop for each in loops.values()):
        return False
    first = [AffineConstantExpr(loops[d].start) if d in loops else dimension(d) for d in range(len(block.loop_vars))]
    begun = (simplify(substitute(each, first)) for each in conditions)
    return all(isinstance(each, AffineConstantExpr) and each.value >= 0 for each in begun)


def spread_out(reads: Sequence[Step]) -> list[list[Place]]:
    """The places of `reads`, those together that differ in constants alone: first one that holds all of them, where
    there are several, so that what is shown of that one need not be asked of each."""
    groups: dict[object, list[tuple[tuple[int, ...], Place]]] = {}
    for read in reads:
        place = read.place()
        forms = [linear(index) for index in place.index or ()]
        base = tuple([frozenset(form.terms.items()) for form in forms])
        key = place.block, place.guards, base if place.index is not None else None
        groups.setdefault(key, []).append((tuple([form.constant for form in forms]), place))
    found: list[list[Place]] = []
    for group in groups.values():
        places = list(dict(group).values())
        if len(places) > 1:
            columns = list(zip(*dict(group), strict=True))
            (constants, first), least = group[0], [min(column) for column in columns]
            assert first.index is not None
            index = tuple([e - c + low for e, c, low in zip(first.index, constants, least, strict=True)])
            far = tuple([max(column) - low for column, low in zip(columns, least, strict=True)])
            places.insert(0, replace(first, index=index, spread=far))
        found.append(places)
    return found


def _reaches(write: Step, read: Step) -> bool:
    """Whether the loops of a write alone are seen to be the digits of numbers that take all values of what is read, in
    an iteration of the loops that it has in common with the read."""
    assert not isinstance(write.access, Handed) and not isinstance(read.access, Handed)
    writer, reader = loop_forms(write.block), loop_forms(read.block)
    common = sum([one is other for one, other in zip(writer.loops, reader.loops, strict=False)])
    written, wanted = writer.of_access(write.access), reader.of_access(read.access)
    if written is None or wanted is None:
        return False
    if any(loop.is_symbolic for loop in (*writer.loops[common:], *reader.loops[common:])):
        return False
    used: set[AffineExpr] = set()
    for target, source in zip(written, wanted, strict=True):
        low = high = source.constant - target.constant
        shared: dict[AffineExpr, int] = {}
        for atom, factor in source.terms.items():
            bounds = reader.range_of(atom)
            if all(d < common for d in dims_in(atom)) and (bounds is None or bounds[0] < bounds[1]):
                shared[atom] = factor
            elif bounds is not None:
                low += min(factor * bounds[0], factor * bounds[1])
                high += max(factor * bounds[0], factor * bounds[1])
            else:
                return False
        digits: list[tuple[int, int, int]] = []
        for atom, factor in target.terms.items():
            if shared.get(atom) == factor:
                del shared[atom]
            elif type(atom) is AffineDimExpr and atom.position >= common and atom not in used and factor > 0:
                used.add(atom)
                digits.append((factor, *writer.ranges[atom]))
            elif (bounds := writer.range_of(atom)) is not None and bounds[0] == bounds[1]:
                low, high = low - factor * bounds[0], high - factor * bounds[0]
            else:
                return False
        stride = 1
        for factor, first, last in sorted(digits):
            low, high = low - factor * first, high - factor * first
            if first == last:
                continue
            if factor != stride:
                return False
            stride *= last - first + 1
        if shared or low < 0 or high >= stride:
            return False
    return True


def _begins_within(block: BlockOp, loop: ForOp) -> bool:
    """Whether each iteration of `loop` takes whole reductions of `block`, each from its first step on."""
    around = {each.var for each in (loop, *enclosing_loops(loop))}
    return not any(block.loop_vars[d] in around for step in _reduced(block) for d in dims_in(step))


def is_covered(read: Place, before: Sequence[Step]) -> bool:
    """Whether the writes of blocks before a read are shown to reach all that it reads, whatever the sizes are."""
    writes = [
        write.place()
        for write in before
        if write.access.is_write and write.guard.whole and not write.in_init and write.block is not read.block
    ]
    return covers(writes, read)


@dataclass(frozen=True)
class _Touched:
    """What is touched in an iteration of the loops that a step has in common with another: the index over those loops,
    which come first, and over the other loops that it reads, with the least and greatest value of each."""

    index: tuple[AffineExpr, ...]
    common: int
    ranges: tuple[tuple[int, int], ...]


def _touch_the_same(one: Step, other: Step) -> bool:
    """Whether two steps are shown to touch the same elements in an iteration of the loops that they have in common."""
    mine, theirs = _touched(one, other), _touched(other, one)
    if mine is None or theirs is None:
        return False
    if mine.index == theirs.index and mine.ranges == theirs.ranges:
        return True
    digits = _digits(mine)
    return digits is not None and digits == _digits(theirs)


def _touched(step: Step, other: Step) -> _Touched | None:
    """What `step` touches beside `other`; `None` where the extent of a loop of its own is not known."""
    assert step.index is not None
    around, others = enclosing_loops(step.block), enclosing_loops(other.block)
    common = [loop for loop in around if loop in others]
    if any(loop.is_symbolic for loop in around if loop not in others):
        return None
    read = {step.block.loop_vars[d] for expr in step.index for d in dims_in(expr)}
    loops = [*common, *(loop for loop in around if loop not in others and loop.var in read)]
    numbers: dict[SSAValue, AffineExpr] = {loop.var: dimension(n) for n, loop in enumerate(loops)}
    dims = [numbers.get(var, dimension(0)) for var in step.block.loop_vars]
    index = tuple(substitute(expr, dims) for expr in step.index)
    return _Touched(index, len(common), tuple(loop_range(loop.var) for loop in loops))


_Digits = tuple[tuple[int, tuple[tuple[str, int], ...], tuple[tuple[int, int, int], ...]], ...]


def _digits(touched: _Touched) -> _Digits | None:
    """For each dimension a constant, what the loops in common add, and the factor and range of each other loop; `None`
    where other loops are not the digits of a number."""
    ranges: dict[AffineExpr, tuple[int, int]] = {dimension(n): each for n, each in enumerate(touched.ranges)}
    used: set[int] = set()
    elements: list[tuple[int, tuple[tuple[str, int], ...], tuple[tuple[int, int, int], ...]]] = []
    for expr in touched.index:
        form = linear(expr, ranges)
        shared: list[tuple[str, int]] = []
        own: list[tuple[int, int, int]] = []
        for atom, factor in form.terms.items():
            if all(d < touched.common for d in dims_in(atom)):
                shared.append((str(atom), factor))
            elif isinstance(atom, AffineDimExpr) and atom.position not in used:
                used.add(atom.position)
                own.append((factor, *ranges[atom]))
            else:
                return None
        elements.append((form.constant, tuple(sorted(shared)), tuple(sorted(own))))
    return tuple(elements)


class _History:
    """The iterations of a loop, each followed in order; the loops around it are at their first iteration, and so are
    those inside that lead to no other element.

    All that is said of an element is certain: that it was not written before is the beginning of a run of the function.
    """

    def __init__(self, loop: ForOp, steps: Sequence[Step]):
        self.loop = loop
        self.steps: dict[BlockOp, list[Step]] = {}
        for step in steps:
            self.steps.setdefault(step.block, []).append(step)
        relevant = {
            var
            for block, mine in self.steps.items()
            for expr in (*block.conditions, *_deciding(block, mine))
            for var in (block.loop_vars[d] for d in dims_in(expr))
        }
        inside = dict.fromkeys(each for block in self.steps for each in enclosing_loops(block) if each is not loop)
        around = enclosing_loops(loop)
        self.moving = {each for each in inside if each.var in relevant and each not in around}
        points = prod(each.trip_count for each in self.moving)
        self.is_known = points <= MAX_POINTS and all(step.index is not None for step in steps if step.access.is_write)
        every = points * loop.trip_count <= MAX_POINTS
        iterations = range(loop.start, loop.start + loop.trip_count)
        self.iterations = iterations if every else sorted({*iterations[:2], *iterations[-1:]})
        still = any(each.var in relevant for each in around) or not all(step.is_sure for step in steps)
        self.is_complete = self.is_known and every and not still
        """Whether nothing is left out, so that what is not found is not there."""

    def first_unwritten(self) -> BlockOp | None:
        """A block that reads what was not written; `None` if none was found."""
        if not self.is_known:
            return None
        for iteration in self.iterations:
            written: set[tuple[int, ...]] = set()
            at: dict[SSAValue, int] = {each.var: each.start for each in enclosing_loops(self.loop)}
            at[self.loop.var] = iteration
            for block in self._instances(self.loop.body.block.ops, at):
                point = [at[v] for v in block.loop_vars]
                if any(condition.eval(point, []) < 0 for condition in block.conditions):
                    continue
                for step in self.steps[block]:
                    if step.index is None or (step.in_init and not _is_first(block, point)):
                        continue
                    element = tuple(e.eval(point, []) for e in step.index)
                    if step.access.is_write:
                        written.add(element)
                    elif step.is_sure and element not in written:
                        return block
        return None

    def _instances(self, ops: Iterable[Operation], at: dict[SSAValue, int]) -> Iterator[BlockOp]:
        """The blocks that use the buffer, in the order in which they run; `at` has the values of the variables."""
        for op in ops:
            if isinstance(op, BlockOp) and op in self.steps:
                yield op
            elif isinstance(op, ForOp):
                count = op.trip_count if op in self.moving else min(op.trip_count, 1)
                for value in range(op.start, op.start + count):
                    at[op.var] = value
                    yield from self._instances(tuple(op.body.block.ops), at)


def _deciding(block: BlockOp, steps: Sequence[Step]) -> Iterator[AffineExpr]:
    """What decides which elements the accesses of a block touch, and whether those of `init` are made."""
    for step in steps:
        yield from step.index or ()
        if step.in_init:
            yield from _reduced(block)


def _reduced(block: BlockOp) -> list[AffineExpr]:
    """What the iterators of a block's reduction are bound to."""
    bound = zip(block.kinds, block.bindings.data.results, strict=True)
    return [binding for kind, binding in bound if kind == IterKind.REDUCE]


def _is_first(block: BlockOp, point: Sequence[int]) -> bool:
    """Whether an instance of a reduction takes the step before which `init` runs."""
    return all(binding.eval(point, []) == 0 for binding in _reduced(block))
