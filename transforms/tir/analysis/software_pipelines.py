"""What the annotations of a pipelined loop say, and whether its statements may run at those times.

In a software pipeline, statement `a` of iteration `i` runs at the time `i + stage(a)`, and at one time statements run
in the order that is given. Each iteration keeps the buffers that it writes before it reads (its own) apart from those
of the iterations that run beside it: of such a buffer there are as many versions as iterations use it at one time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import combinations

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.support.diagnostics import Diagnostic
from ....dialects.support.hints import isa
from ....dialects.tir.core import AllocBufferOp, AssertOp, BlockOp, CallOp, ForOp, StorageSyncOp, blocks_under
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.legality.carried import is_fresh
from ....dialects.tir.legality.decide import Verdict
from ....dialects.tir.legality.dependence import never_meet
from ....dialects.tir.legality.touch import Touch
from ....dialects.tir.thread_axes import is_shared

STAGE, ORDER = "software_pipeline_stage", "software_pipeline_order"
ASYNC_STAGES = "software_pipeline_async_stages"
DOUBLE_BUFFER = "double_buffer_scope"
KEYS = (STAGE, ORDER, ASYNC_STAGES)


class PipelineAnnotationError(Diagnostic, ValueError):
    """What is noted at a loop is no pipeline of its statements."""


@dataclass(frozen=True)
class Statement:
    """A statement of a pipelined loop: operations that follow each other, when they run, and what they touch."""

    ops: tuple[Operation, ...]
    stage: int
    order: int
    touches: dict[SSAValue, list[Touch]]
    has_effects: bool

    @property
    def blocks(self) -> list[BlockOp]:
        return [block for op in self.ops for block in blocks_under(op)]

    def is_before(self, other: Statement, distance: int = 0) -> bool:
        """Whether it runs in one iteration before `other` in the one `distance` later."""
        return (self.stage, self.order) < (other.stage + distance, other.order)


@dataclass
class SoftwarePipeline:
    """A pipelined loop: its statements as they stand in it."""

    loop: ForOp
    statements: list[Statement]
    own: list[SSAValue] = field(default_factory=list[SSAValue])
    """The buffers of which each iteration writes what it reads."""
    versions: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """How many there are of each buffer that has more than one."""

    @property
    def last_stage(self) -> int:
        return max(each.stage for each in self.statements)


def is_pipelined(loop: ForOp) -> bool:
    """Whether something is noted at a loop about a pipeline."""
    return loop.annotations is not None and any(key in loop.annotations.data for key in KEYS)


def pipeline_of(
    loop: ForOp, parts: Sequence[Sequence[Operation]], allocs: Sequence[AllocBufferOp], known: AbstractSet[SSAValue]
) -> SoftwarePipeline:
    """The pipeline that is noted at `loop`, whose statements are `parts`, and in which `allocs` are allocated; `known`
    are buffers of which loops within wrote in each iteration what it read.

    Raises:
        PipelineAnnotationError: the annotations do not say when each statement runs, or a statement would run before
            one that it depends on.
    """
    if loop.for_kind.is_concurrent:
        raise PipelineAnnotationError.at(loop, f"iterations of a {loop.kind.data} loop run at once, in no pipeline")
    if loop.start < 0:
        raise PipelineAnnotationError.at(loop, f"a pipelined loop begins at {loop.start}, below 0")
    if not parts or loop.trip_count == 0:
        raise PipelineAnnotationError.at(loop, "a pipelined loop does nothing", hint="remove-no-op first")
    stages, orders = (_numbers(loop, key, len(parts)) for key in (STAGE, ORDER))
    if any(stage < 0 for stage in stages):
        raise PipelineAnnotationError.at(loop, f"'{STAGE}' has a negative stage")
    if len(set(orders)) != len(orders):
        raise PipelineAnnotationError.at(loop, f"'{ORDER}' gives two statements one place, in {list(orders)}")
    statements = [
        _statement(loop, tuple(part), stage, order) for part, stage, order in zip(parts, stages, orders, strict=True)
    ]
    memory: list[SSAValue] = [each.buffer for each in allocs if not each.is_constant]
    own = [each for each in memory if each in known or is_fresh(loop, each)]
    pipeline = SoftwarePipeline(loop, statements, own)
    for one, other in combinations(statements, 2):
        _check_within(loop, one, other)
        _check_across(loop, one, other, own)
        _check_across(loop, other, one, own)
    for buffer in own:
        count = _versions(buffer, statements)
        if count > 1:
            pipeline.versions[buffer] = count
    return pipeline


def _numbers(loop: ForOp, key: str, count: int) -> tuple[int, ...]:
    assert loop.annotations is not None
    value = loop.annotations.data.get(key)
    if value is None:
        raise PipelineAnnotationError.at(loop, f"a pipelined loop says no '{key}'", hint=f"note {STAGE} and {ORDER}")
    assert isa(value, ArrayAttr[IntegerAttr]), "checked by the verifier"
    if len(value) != count:
        message = f"'{key}' has {len(value)} numbers, and there are {count} statements in the loop"
        raise PipelineAnnotationError.at(loop, message)
    return tuple(number.value.data for number in value)


def _statement(loop: ForOp, ops: tuple[Operation, ...], stage: int, order: int) -> Statement:
    touches: dict[SSAValue, list[Touch]] = {}
    inside = [inner for op in ops for inner in op.walk()]
    for block in (op for op in inner_blocks(ops)):
        for access in block.touches():
            touches.setdefault(access.buffer, []).append(Touch(block, access))
    if any(isinstance(op, StorageSyncOp) for op in inside):
        raise PipelineAnnotationError.at(loop, "threads wait in a pipelined loop", hint="thread-sync comes after")
    effects = any(isinstance(op, AssertOp) or (isinstance(op, CallOp) and not op.is_pure) for op in inside)
    return Statement(ops, stage, order, touches, effects)


def inner_blocks(ops: Sequence[Operation]) -> list[BlockOp]:
    """The blocks in operations."""
    return [block for op in ops for block in blocks_under(op)]


def _conflicts(one: Statement, other: Statement) -> Iterator[tuple[SSAValue, Touch, Touch]]:
    """The accesses of two statements to one buffer of which one writes."""
    for buffer, mine in one.touches.items():
        for first in mine:
            for second in other.touches.get(buffer, ()):
                if first.access.is_write or second.access.is_write:
                    yield buffer, first, second


def _check_within(loop: ForOp, one: Statement, other: Statement) -> None:
    """Check that what one statement does in an iteration before a later one, it still does before."""
    if one.is_before(other):
        return
    for buffer, first, second in _conflicts(one, other):
        raise PipelineAnnotationError.at(
            second.block,
            f"block @{second.block.block_name} uses {buffer_name(buffer)} after block @{first.block.block_name}, and "
            f"would run before it: at stage {other.stage}, place {other.order}, and that one at stage {one.stage}, "
            f"place {one.order}",
            hint="give it a later stage, or a later place in the same stage",
        )
    if one.has_effects and other.has_effects:
        raise PipelineAnnotationError.at(loop, "calls with effects would change their order")


def _check_across(loop: ForOp, one: Statement, other: Statement, own: Sequence[SSAValue]) -> None:
    """Check that what one statement does in an iteration before another in a later one, it still does before."""
    if one.is_before(other, 1):
        return
    for buffer, first, second in _conflicts(one, other):
        if buffer in own or (not is_shared(buffer) and never_meet(loop, first, second) == Verdict.PROVED):
            continue
        raise PipelineAnnotationError.at(
            second.block,
            f"block @{second.block.block_name} uses {buffer_name(buffer)} after block @{first.block.block_name} did in "
            f"an earlier iteration of %{loop.var.name_hint or 'i'}, and would run before it",
            hint="let their stages lie no further apart; allocate the buffer in the loop, and write there what is read",
        )
    if one.has_effects and other.has_effects:
        raise PipelineAnnotationError.at(loop, "calls with effects would change their order")


def _versions(buffer: SSAValue, statements: Sequence[Statement]) -> int:
    """How many iterations use a buffer of their own at one time; two at least where a block asks for that."""
    count = 1
    users = [each for each in statements if buffer in each.touches]
    for one in users:
        for other in users:
            if any(touched is buffer for touched, _, _ in _conflicts(one, other)):
                count = max(count, other.stage - one.stage + (one.order < other.order))
    return max(count, 2) if any(_is_doubled(buffer, each) for each in users) else count


def _is_doubled(buffer: SSAValue, statement: Statement) -> bool:
    for block in statement.blocks:
        number: Attribute | None = block.attributes.get(DOUBLE_BUFFER)
        if isinstance(number, IntegerAttr) and number.value.data < len(block.writes):
            if block.writes[number.value.data] is buffer:
                return True
    return False
