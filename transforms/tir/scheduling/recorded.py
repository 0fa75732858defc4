"""The primitives as rules use them: on operations, and recorded where somebody wants the schedule that they make.

A rule calls these functions as it would call the primitives. Within `recording(func)` each call also becomes an
instruction of a `schedule.sequence`, which does the same to the unscheduled function. Outside of it nothing is added.

    with recording(func, "tiled") as trace:
        schedule_by_rules(func, registers)
    print(trace.op)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ....dialects.schedule import blocks, loops, queries
from ....dialects.schedule.core import Instruction, SequenceOp
from ....dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    PrimFuncOp,
    blocks_under,
    enclosing_loops,
)
from ....dialects.tir.legality.loops import check_kind
from ....dialects.tir.loops import INDEPENDENT, LANES, PARTS, ROLLED, TILES
from ..analysis.block_scopes import buffers_of
from ..analysis.independence import assert_independent
from ..analysis.producers import writers
from ..schedule import add_unit_loop as _unit
from ..schedule import annotate as _annotate
from ..schedule import cache_read as _cache_read
from ..schedule import cache_write as _cache_write
from ..schedule import compute_at as _compute_at
from ..schedule import decompose_reduction as _decompose_reduction
from ..schedule import fuse as _fuse
from ..schedule import inline as _inline
from ..schedule import iters as _iters
from ..schedule import merge as _merge
from ..schedule import reorder as _reorder
from ..schedule import set_kind as _kinds
from ..schedule import set_scope as _set_scope
from ..schedule import split as _split
from ..schedule import tensorize as _tensorize
from ..schedule import transform_layout as _layout
from ..schedule.errors import ScheduleError
from .trace import Trace

Result = TypeVar("Result")

_NOTHING = UnitAttr()


class Recorder:
    """Writes down what is done to one function."""

    def __init__(self, func: PrimFuncOp, name: str):
        self.func = func
        self.sequence = SequenceOp(name, func.sym_name.data)
        self._handles: dict[Operation, SSAValue] = {}

    def handle(self, op: BlockOp | ForOp) -> SSAValue:
        """The handle of a block or loop as it stands now; asks for it where there is none."""
        if op not in self._handles:
            if isinstance(op, BlockOp):
                alike = [block for block in blocks_under(self.func) if block.block_name == op.block_name]
                number = alike.index(op) if len(alike) > 1 else None
                self._note(queries.GetBlockOp.of(block=op.block_name, number=number), [op])
            else:
                block = blocks_under(op)[0]
                around = enclosing_loops(block)
                self._note(queries.GetLoopsOp.of(self.handle(block), results=len(around)), around)
        return self._handles[op]

    def note(self, op: Instruction, results: Sequence[Operation] = ()) -> None:
        """Append an instruction, whose results stand for `results`."""
        self._note(op, results)

    def _note(self, op: Instruction, results: Sequence[Operation]) -> None:
        self.sequence.body.block.add_op(op)
        for result, value in zip(results, op.outputs, strict=True):
            self._handles[result] = value
            hint = result.block_name if isinstance(result, BlockOp) else None
            if isinstance(result, ForOp):
                hint = result.var.name_hint
            if hint is not None and SSAValue.is_valid_name(hint):
                value.name_hint = hint


_RECORDER: ContextVar[Recorder | None] = ContextVar("weft_schedule_recorder", default=None)


@contextmanager
def recording(func: PrimFuncOp, name: str) -> Generator[Trace]:
    """Record what the primitives of this module do to `func` in the `with` block."""
    recorder = Recorder(func, name)
    token = _RECORDER.set(recorder)
    try:
        yield Trace(recorder.sequence)
    finally:
        _RECORDER.reset(token)


def _apply(
    action: Callable[[], Result],
    operands: Sequence[BlockOp | ForOp],
    instruction: Callable[[Sequence[SSAValue], Result], tuple[Instruction, Sequence[Operation]]],
) -> Result:
    recorder = _RECORDER.get()
    if recorder is None:
        return action()
    handles = [recorder.handle(operand) for operand in operands]  # before the primitive moves anything
    result = action()
    recorder.note(*instruction(handles, result))
    return result


def split(loop: ForOp, factors: Sequence[int]) -> list[ForOp]:
    """`schedule.split.split`."""
    return _apply(
        lambda: _split.split(loop, factors),
        [loop],
        lambda handles, parts: (loops.SplitOp.of(*handles, results=len(parts), factors=[None, *factors]), parts),
    )


def fuse(*fused: ForOp) -> ForOp:
    """`schedule.fuse.fuse`."""
    return _apply(lambda: _fuse.fuse(*fused), fused, lambda handles, loop: (loops.FuseOp.of(*handles), [loop]))


def merge(*merged: ForOp) -> ForOp:
    """`schedule.merge.merge`."""
    return _apply(lambda: _merge.merge(*merged), merged, lambda handles, loop: (loops.MergeOp.of(*handles), [loop]))


def reorder(*order: ForOp) -> None:
    """`schedule.reorder.reorder`."""
    return _apply(lambda: _reorder.reorder(*order), order, lambda handles, _: (loops.ReorderOp.of(*handles), []))


KINDS: dict[ForKind, type[Instruction]] = {
    ForKind.PARALLEL: loops.ParallelOp,
    ForKind.VECTORIZED: loops.VectorizeOp,
    ForKind.UNROLLED: loops.UnrollOp,
}


def set_kind(loop: ForOp, kind: ForKind) -> None:
    """`schedule.set_kind.set_kind`, for the kinds that a rule chooses.

    Rules take functions whose blocks write one element for each value of their spatial iterators, and let no loop of a
    reduction run at once: iterations are independent by that. Where it cannot be seen of the loop as it is by now, the
    loop asserts it.
    """
    try:
        return _set_kind(loop, kind)
    except ScheduleError:
        if not _cannot_be_seen(loop, kind):
            raise
    annotate(loop, INDEPENDENT)
    return _set_kind(loop, kind)


def _set_kind(loop: ForOp, kind: ForKind) -> None:
    return _apply(lambda: _kinds.set_kind(loop, kind), [loop], lambda handles, _: (KINDS[kind].of(*handles), []))


def _cannot_be_seen(loop: ForOp, kind: ForKind) -> bool:
    """Whether it is neither shown that iterations are independent nor that they are not."""
    if next(check_kind(loop, kind), None) is None:
        return False
    words = loop.annotations
    assert_independent(loop)
    unsure = not any(finding.certain for finding in check_kind(loop, kind))
    loop.properties.pop("annotations")
    if words is not None:
        loop.properties["annotations"] = words
    return unsure


def annotate(loop: ForOp, key: str, value: Attribute = _NOTHING) -> None:
    """`schedule.annotate.annotate`, with a word that has no value unless there is one."""
    return _apply(
        lambda: _annotate.annotate(loop, key, value),
        [loop],
        lambda handles, _: (blocks.AnnotateOp.of(*handles, key=key, value=value), []),
    )


def in_lanes(loop: ForOp, lanes: int) -> None:
    """Say that `lanes` steps of the reduction in `loop` are to be taken at a time."""
    annotate(loop, LANES, IntegerAttr(lanes, 64))


def keep_rolled(loop: ForOp) -> None:
    """Say that `loop` is not to be unrolled."""
    annotate(loop, ROLLED)


def use_tiles(loop: ForOp) -> None:
    """Say that the sums in `loop` are for the matrix unit."""
    annotate(loop, TILES)


def in_parts(loop: ForOp) -> None:
    """Say that `loop` is to be cut where branches beneath it are decided."""
    annotate(loop, PARTS)


def add_unit_loop(inner: BlockOp | ForOp) -> ForOp:
    """`schedule.add_unit_loop.add_unit_loop`."""
    return _apply(
        lambda: _unit.add_unit_loop(inner), [inner], lambda handles, loop: (loops.AddUnitLoopOp.of(*handles), [loop])
    )


def compute_at(block: BlockOp, loop: ForOp) -> list[ForOp]:
    """`schedule.compute_at.compute_at`."""
    return _apply(
        lambda: _compute_at.compute_at(block, loop),
        [block, loop],
        lambda handles, _: (blocks.ComputeAtOp.of(*handles), []),
    )


def compute_inline(block: BlockOp) -> None:
    """`schedule.inline.compute_inline`."""
    return _apply(
        lambda: _inline.compute_inline(block), [block], lambda handles, _: (blocks.ComputeInlineOp.of(*handles), [])
    )


def decompose_reduction(block: BlockOp, loop: ForOp) -> BlockOp:
    """`schedule.decompose_reduction.decompose_reduction`."""
    return _apply(
        lambda: _decompose_reduction.decompose_reduction(block, loop),
        [block, loop],
        lambda handles, init: (blocks.DecomposeReductionOp.of(*handles), [init]),
    )


def tensorize(loop: ForOp, name: str) -> None:
    """`schedule.tensorize.tensorize`."""
    return _apply(
        lambda: _drop(_tensorize.tensorize(loop, name)),
        [loop],
        lambda handles, _: (blocks.TensorizeOp.of(*handles, intrin=name), []),
    )


def _drop(_: object) -> None:
    pass


def cache_read(block: BlockOp, buffer: SSAValue, scope: str) -> BlockOp:
    """`schedule.cache_read.cache_read`, for one reader."""
    index = buffers_of(block, "read").index(buffer)
    return _apply(
        lambda: _cache_read.cache_read(buffer, scope, [block]),
        [block],
        lambda handles, copy: (blocks.CacheReadOp.of(*handles, index=index, scope=str(scope)), [copy]),
    )


def cache_write(block: BlockOp, scope: str) -> BlockOp:
    """`schedule.cache_write.cache_write`."""
    return _apply(
        lambda: _cache_write.cache_write(block, scope),
        [block],
        lambda handles, copy: (blocks.CacheWriteOp.of(*handles, index=0, scope=str(scope)), [copy]),
    )


def set_scope(buffer: SSAValue, scope: str) -> None:
    """`schedule.set_scope.set_scope`, of a buffer that a block writes."""
    block = writers(buffer)[0]
    index = list(block.writes).index(buffer)
    return _apply(
        lambda: _set_scope.set_scope(buffer, scope),
        [block],
        lambda handles, _: (blocks.SetScopeOp.of(*handles, index=index, scope=str(scope)), []),
    )


def transform_layout(buffer: SSAValue, map: AffineMap) -> None:
    """`schedule.transform_layout.transform_layout`, of a buffer that a block writes."""
    block = writers(buffer)[0]
    index = list(block.writes).index(buffer)
    return _apply(
        lambda: _layout.transform_layout(buffer, map),
        [block],
        lambda handles, _: (
            blocks.TransformLayoutOp.of(*handles, buffer="write", index=index, map=AffineMapAttr(map)),
            [],
        ),
    )


def fuse_iters(block: BlockOp, first: int) -> None:
    """`schedule.iters.fuse_iters`."""
    return _apply(
        lambda: _iters.fuse_iters(block, first),
        [block],
        lambda handles, _: (blocks.FuseItersOp.of(*handles, first=first), []),
    )


def fuse_buffer_dims(alloc: AllocBufferOp, first: int, accessing: Sequence[BlockOp]) -> None:
    """`schedule.iters.fuse_buffer_dims`."""
    block = writers(alloc.buffer)[0]
    index = list(block.writes).index(alloc.buffer)
    return _apply(
        lambda: _iters.fuse_buffer_dims(alloc, first, accessing),
        [block],
        lambda handles, _: (blocks.FuseBufferDimsOp.of(*handles, buffer="write", index=index, first=first), []),
    )
