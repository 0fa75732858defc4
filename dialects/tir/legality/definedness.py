"""What is read was written before, and every element of an output is written.

A buffer starts without values. What is found is certain: a read that nothing comes before, a read or an element of an
output that no block's writes reach, and an output that has more elements than there are writes. Of elements, those at
the ends of what is read and beside these, and all if they are few, are looked for in all iterations of the blocks that
write, with their predicates and branches, that come before (`reached`): so diagonals, triangles and gaps are seen. A
write that is made only where data says so, under a branch or at an index, writes no element for certain: outputs need
others. What only some instances leave out in the midst of many others is left to the interpreter.

That an iteration of a parallel loop has only what it wrote itself of a thread's own buffer is said by `carried`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.dialects import memref, scf
from xdsl.ir import BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ..affine import Access, Range, dims_in, substitute
from ..blocks import BlockOp, IterKind
from ..buffers import AllocBufferOp, memref_of
from ..calls import Handed
from ..loops import enclosing_loops
from .bounds import buffer_name, left_out_of, never_runs, parts_of, tightened_space_of, values_of
from .carried import Step, is_covered, is_written_before, spread_out
from .data import depends_on_data
from .decide import Verdict, within
from .finding import Finding
from .reached import Instances, elements, fills

Box = tuple[Range, ...]
"""The least and greatest index in each dimension."""
_NOTHING: Box = ((1, 0),)


@dataclass(frozen=True)
class _Touch:
    """An access of a block, and where in the function's order it stands."""

    block: BlockOp
    access: Access | Handed
    order: int

    @property
    def is_certain(self) -> bool:
        """Whether the access is made each time its block runs, and that runs in every iteration."""
        return self.access.is_sure and self.access.op.parent_op() is self.block and not self.block.conditions

    @property
    def is_sure(self) -> bool:
        """Whether data has no say in whether the access, a write, is made where its block runs: no branch around it
        depends on data, or the other side of the branch writes the same element."""
        op: Operation = self.access.op
        while (parent := op.parent_op()) is not self.block:
            if not isinstance(parent, scf.IfOp):
                return False
            other = parent.false_region if op.parent_region() is parent.true_region else parent.true_region
            if depends_on_data(parent.cond) and not _writes_too(other, self.access, self.block):
                return False
            op = parent
        return True

    @property
    def is_counted(self) -> bool:
        """Whether loops of its block stand around the access, and data has no say in how often it is made there: it may
        be made in none of their steps, or in all."""
        op: Operation = self.access.op
        is_repeated = False
        while (parent := op.parent_op()) is not self.block:
            if parent is None or any(map(depends_on_data, _deciding(parent))):
                return False
            is_repeated |= not isinstance(parent, scf.IfOp)
            op = parent
        return is_repeated


def _deciding(op: Operation) -> list[SSAValue]:
    """What says how often the regions of a branch or a loop run."""
    if not isinstance(op, scf.WhileOp):
        return list(op.operands)
    ends = [region.block.last_op for region in op.regions]
    return [*op.operands, *(value for end in ends if end is not None for value in end.operands)]


def _writes_too(region: Region, access: Access | Handed, block: BlockOp) -> bool:
    """Whether `region`, wherever it is run, writes the element that `access` of the same block does."""
    if access.map is None or not region.blocks:
        return False
    same = {other.op for other in block.accesses() if other.buffer is access.buffer and other.map == access.map}
    for op in region.block.ops:
        if isinstance(op, memref.StoreOp) and op in same:
            return True
        if isinstance(op, scf.IfOp) and all(_writes_too(side, access, block) for side in op.regions):
            return True
    return False


def check_values(blocks: Sequence[BlockOp]) -> Iterator[Finding]:
    """What the blocks of a function, in order, read of its own buffers before it has a value."""
    reads, writes = _own_touches(blocks)
    for buffer, readers in reads.items():
        yield from _check_reads(buffer, readers, writes.get(buffer, []))


def all_values_are_shown(blocks: Sequence[BlockOp]) -> bool:
    """Whether it is seen, whatever the sizes are, that all that the blocks of a function read of its own buffers is
    written before."""
    reads, writes = _own_touches(blocks)
    for buffer, readers in reads.items():
        sure = [(writer, _step(writer)) for writer in writes.get(buffer, []) if writer.is_sure]
        unseen: dict[int, list[Step]] = {}  # by how many stand before
        for reader in readers:
            before = [(writer, step) for writer, step in sure if writer.order < reader.order]
            if any(_begins(writer, reader) for writer, _ in before):
                continue
            if not is_written_before(_step(reader), [step for _, step in before]):
                unseen.setdefault(len(before), []).append(_step(reader))
        for number, steps in unseen.items():
            before = [step for _, step in sure[:number]]
            for together, *each in spread_out(steps):
                if not is_covered(together, before) and not (each and all(is_covered(place, before) for place in each)):
                    return False
    return True


def _own_touches(blocks: Sequence[BlockOp]) -> tuple[dict[SSAValue, list[_Touch]], dict[SSAValue, list[_Touch]]]:
    """What is read and what is written of the function's own buffers, by buffer."""
    touched = {v for block in blocks for v in (*block.reads, *block.writes)}
    return _touches(blocks, {v for v in touched if isinstance(v.owner, AllocBufferOp) and not v.owner.is_constant})


def check_results(blocks: Sequence[BlockOp], results: Sequence[SSAValue]) -> Iterator[Finding]:
    """The buffers that callers take from a function, without values at first, have some in all elements at the end."""
    reads, writes = _touches(blocks, set(results))
    for buffer in results:
        if 0 in memref_of(buffer).get_shape():
            continue
        if buffer not in writes:
            function = buffer.owner.parent_op() if isinstance(buffer, BlockArgument) else None
            assert function is not None
            yield Finding(function, f"nothing is written to {buffer_name(buffer)}, which its calls take as a result")
            continue
        yield from _check_reads(buffer, reads.get(buffer, []), writes[buffer])
        yield from _check_result(buffer, writes[buffer])


def allow_unused_elements(blocks: Sequence[BlockOp]) -> None:
    """Say of the spatial iterators that do not take every value, of `blocks`, all of a function, that write buffers of
    the function's own only, that it is meant: what is read of such a buffer is seen to be written or not
    (`check_values`), and nothing else is of any use. Where a read is not seen, a branch or data deciding which elements
    it is of, nothing is said."""
    for group in parts_of(blocks):
        partial = {number for number, _ in left_out_of(group) if group[0].kinds[number] == IterKind.SPATIAL}
        if not partial:
            continue
        written = {buffer for block in group for buffer in block.writes}
        if not all(isinstance(buffer.owner, AllocBufferOp) for buffer in written):
            continue
        reads, writes = _touches(blocks, written)
        if all(_is_seen(reader, writes.get(buffer, [])) for buffer in written for reader in reads.get(buffer, [])):
            for block in group:
                block.partial_iters = block.partial_iters | partial


def _is_seen(reader: _Touch, writers: Sequence[_Touch]) -> bool:
    """Whether it is shown that what a reader reads is between what is written, or that it is not."""
    if reader.access.map is None or (hull := _hull([writer for writer in writers if writer.is_sure])) is None:
        return False
    if (box := _box(reader)) is None:
        return False
    if all(low >= first and high <= last for (low, high), (first, last) in zip(box, hull, strict=False)):
        return True
    return reader.access.op.parent_op() is reader.block and _unreached(reader, writers) is not None


def _touches(
    blocks: Sequence[BlockOp], buffers: AbstractSet[SSAValue]
) -> tuple[dict[SSAValue, list[_Touch]], dict[SSAValue, list[_Touch]]]:
    """What is read and what is written of `buffers`, by buffer."""
    reads: dict[SSAValue, list[_Touch]] = {}
    writes: dict[SSAValue, list[_Touch]] = {}
    order = 0
    for block in blocks:
        if buffers.isdisjoint((*block.reads, *block.writes)) or never_runs(block) or 0 in block.sizes:
            continue
        for access in _in_order_of_running(block):
            if access.buffer in buffers:
                touched = (writes if access.is_write else reads).setdefault(access.buffer, [])
                touched.append(_Touch(block, access, order))
            order += 1
    return reads, writes


def _in_order_of_running(block: BlockOp) -> list[Access | Handed]:
    accesses = block.touches()
    if block.init is None:
        return accesses
    first = {access.op for access in accesses if block.init.is_ancestor(access.op)}
    return sorted(accesses, key=lambda access: access.op not in first)


def _check_reads(buffer: SSAValue, readers: Sequence[_Touch], writers: Sequence[_Touch]) -> Iterator[Finding]:
    first = min((writer.order for writer in writers), default=None)
    written = _Written(buffer, writers)
    for reader in readers:
        name = f"block @{reader.block.block_name} reads {buffer_name(buffer)}"
        # Where data says which element is read, of none, the sizes may be some that never come together.
        nothing = reader.access.map is None and 0 in memref_of(buffer).get_shape()
        if reader.is_certain and not nothing and (first is None or reader.order < first):
            yield Finding(
                reader.access.op,
                f"{name} before anything is written to it",
                hint="let the block that writes it stand first; a buffer starts without values",
            )
            return
        if reader.access.map is None or written.is_shown(reader):
            continue
        if any(writer.is_counted and writer.order < reader.order for writer in writers):
            continue  # the interpreter sees which elements these write
        where = _unreached(reader, writers) if reader.access.op.parent_op() is reader.block else None
        if (where := where or written.missing(reader)) is not None:
            yield Finding(
                reader.access.op,
                f"{name} at {where}" + ("" if all(writer.is_sure for writer in writers) else ", unless data says so"),
                hint="let the blocks that write it reach all of it, before it is read",
            )
            return


class _Written:
    """What the writers of a buffer write for certain."""

    def __init__(self, buffer: SSAValue, writers: Sequence[_Touch]):
        self.shape = memref_of(buffer).get_shape()
        self.sure = [writer for writer in writers if writer.is_sure]
        self._instances: dict[int, Instances | None] = {}
        self._fills: dict[int, bool] = {}

    def instances(self, writer: _Touch) -> Instances | None:
        """The iterations in which a writer writes; `None` where data or sizes say which they are."""
        if writer.order not in self._instances:
            access = writer.access
            self._instances[writer.order] = None if isinstance(access, Handed) else Instances.of(writer.block, access)
        return self._instances[writer.order]

    @cached_property
    def known(self) -> list[tuple[_Touch, Instances]] | None:
        """Those of each; `None` where one is not known."""
        known = [(writer, each) for writer in self.sure if (each := self.instances(writer)) is not None]
        return known if len(known) == len(self.sure) else None

    def fills(self, writer: _Touch) -> bool:
        """Whether a writer is seen to write all of the buffer."""
        if writer.order not in self._fills:
            each = self.instances(writer)
            self._fills[writer.order] = each is not None and fills(each, self.shape)
        return self._fills[writer.order]

    def is_shown(self, reader: _Touch) -> bool:
        """Whether it is seen at once that all that `reader` reads is written before."""
        before = [writer for writer in self.sure if writer.order < reader.order]
        if any(_begins(writer, reader) for writer in before):
            return True
        if isinstance(reader.access, Handed) or reader.access.map is None:
            return False
        outermost = enclosing_loops(reader.block)[:1]
        for writer in reversed(before):
            if enclosing_loops(writer.block)[:1] != outermost and self.fills(writer):
                return True
        return is_written_before(_step(reader), [_step(writer) for writer in before])

    def missing(self, reader: _Touch) -> str | None:
        """An element that `reader` certainly reads and no writer has written by then, in words."""
        if isinstance(reader.access, Handed) or self.known is None:
            return None
        reads = Instances.of(reader.block, reader.access)
        if reads is None or not reads.is_whole:
            return None
        besides = frozenset(range(max([each.in_common(reads) for _, each in self.known], default=0)))
        for point in reads.samples(besides):
            element = reads.element(point)
            is_written = False
            for writer, each in self.known:
                places = each.touching(element)
                is_written |= places is None or bool(places)
                if places is None or any(
                    each.comes_before(place, reads, point, stands_before=writer.order < reader.order)
                    for place in places
                ):
                    break
            else:
                at = ", ".join(map(str, element))
                return f"[{at}] before that is written" if is_written else f"[{at}], where nothing is written to it"
        return None

    def left_out(self) -> str | None:
        """An element that nobody writes, in words."""
        if self.known is None or any(map(self.fills, self.sure)):
            return None
        for element in elements(self.shape):
            if all(each.touching(element) == [] for _, each in self.known):
                return ", ".join(map(str, element))
        return None


def _begins(writer: _Touch, reader: _Touch) -> bool:
    """Whether a reduction begins, in its `init`, with a value for just the element that its body reads."""
    block = reader.block
    if writer.block is not block or block.init is None or writer.access.op.parent_region() is not block.init:
        return False
    return writer.access.map == reader.access.map


def _step(touch: _Touch) -> Step:
    return Step(touch.block, touch.access, None if touch.access.map is None else tuple(_indices(touch)))


def _indices(touch: _Touch) -> list[AffineExpr]:
    """The index in each dimension over the block's loop variables."""
    assert touch.access.map is not None
    bindings = touch.block.bindings.data.results
    return [substitute(index, bindings) for index in touch.access.map.results]


def _hull(writers: Sequence[_Touch]) -> Box | None:
    """Between which indices all of `writers` write, at most; `None` where data says."""
    hull: list[Range] | None = None
    for writer in writers:
        if writer.access.map is None:
            return None
        if (box := _box(writer)) == _NOTHING:
            continue
        if box is None:
            return None
        hull = list(box) if hull is None else [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(hull, box, strict=True)]
    return _NOTHING if hull is None else tuple(hull)


def _box(touch: _Touch) -> Box | None:
    """Between which indices an access with a map is made, at most; `None` where that is not known."""
    block, map = touch.block, touch.access.map
    assert map is not None
    space = tightened_space_of(block)
    if space.is_empty:
        return _NOTHING
    box: list[Range] = []
    for index in map.results:
        if type(index) is AffineDimExpr and not block.conditions:
            bounds = values_of(block)[index.position]
        else:
            bounds = space.range_of(substitute(index, block.bindings.data.results))
        if bounds is None:
            return None
        box.append(bounds)
    return tuple(box)


def _unreached(reader: _Touch, writers: Sequence[_Touch]) -> str | None:
    """An index that `reader` certainly reads and no writer reaches, in words."""
    hull = _hull([writer for writer in writers if writer.is_sure])
    shape = memref_of(reader.access.buffer).get_shape()
    if hull is None:
        return None
    if hull == _NOTHING:
        return "any index, where nothing is written to it"
    if all(low <= 0 and high >= extent - 1 for (low, high), extent in zip(hull, shape, strict=True)):
        return None
    space = tightened_space_of(reader.block)
    for dim, (index, (low, high)) in enumerate(zip(_indices(reader), hull, strict=True)):
        answer = within(index + AffineConstantExpr(-low), high - low + 1, space)
        if answer.verdict == Verdict.REFUTED:
            return f"index {answer.value + low} of dimension {dim}, where nothing is written to it"
    return None


def _check_result(buffer: SSAValue, writers: Sequence[_Touch]) -> Iterator[Finding]:
    """Every element of a result is written."""
    shape = memref_of(buffer).get_shape()
    name = buffer_name(buffer)
    sure = [writer for writer in writers if writer.is_sure and writer.access.map is not None]
    if any(isinstance(writer.access, Handed) and writer.is_sure for writer in writers):
        return  # a call says that it writes it
    if not sure:
        yield Finding(
            writers[0].access.op,
            f"{name} is written only where data says so: nothing shows that all of its elements are",
            hint="write all of it first, or write a value in the other branch too: a buffer starts without values",
        )
        return
    writers, last = sure, sure[-1]
    hull = _hull(writers)
    if hull is None:
        return
    hint = "let the blocks that write it reach all of it: a buffer starts without values"
    if hull == _NOTHING:
        yield Finding(last.block, f"no element of {name} is written: the conditions never hold", hint=hint)
        return
    for dim, ((low, high), extent) in enumerate(zip(hull, shape, strict=True)):
        if low > 0 or high < extent - 1:
            yield Finding(
                last.access.op,
                f"{name} is written from {low} to {high} only in dimension {dim}, of extent {extent}",
                hint=hint,
            )
            return
    count = sum(_count(writer) for writer in writers)
    if count < prod(shape):
        yield Finding(
            last.access.op, f"no more than {count} of the {prod(shape)} elements of {name} are written", hint=hint
        )
    elif (left_out := _Written(buffer, writers).left_out()) is not None:
        yield Finding(last.access.op, f"nothing is written to {name} at [{left_out}]", hint=hint)


def _count(writer: _Touch) -> int:
    """At most how many elements an access writes."""
    ranges = tightened_space_of(writer.block).ranges
    used = {d for index in _indices(writer) for d in dims_in(index)}
    return prod(max(ranges[d][1] - ranges[d][0] + 1, 0) for d in used)
