"""From a te schedule to a scheduled `tir.prim_func`: what was recorded becomes primitives of `weft.tir.Schedule`.

TVM's order: consumers before producers, so that a stage that is computed in a loop of another finds that loop as it
will be. Step by step:

1. the stages' formulas become one function, each stage a block under loops over its axes;
2. stages that are inlined are put where they are read;
3. from the last stage to the first: `compute_at`, then splits, fusions and reorders as they were recorded;
4. tensors get their scopes, loops their kinds, threads and pragmas;
5. each reduction begins before the outermost of its reduction loops, in a block of its own.

A loop of one iteration is left out where it has no name in the function: what is asked of it is done by leaving it so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from ...dialects import te
from ...dialects.support.dtypes import byte_width
from ...dialects.te.substitution import substitute
from ...dialects.te.tensor_intrin import TensorIntrin
from ...dialects.tir.core import BlockOp, ForOp, PrimFuncOp
from ...transforms.infra.remarks import missed
from ...transforms.tir.schedule.errors import ScheduleError
from ...transforms.tir.scheduling.schedule import BlockRV, LoopRV
from ...transforms.tir.scheduling.schedule import Schedule as TirSchedule
from .prim_func import Argument, check_arguments, function_of, with_symbols
from .relations import Fuse, Kind, Reorder, Singleton, Split
from .schedule import Schedule
from .stage import Stage
from .steps import StepStage, with_inlined
from .tensorizing import reset, update, whole

PASS = "te-schedule"

PRIVATE_BYTES = 256 << 10
"""What a stage in a loop of another may take on a thread's stack; a larger one is in the memory that all share."""


def translate(schedule: Schedule, given: Sequence[Argument | te.Slot], name: str = "main") -> TirSchedule:
    """The schedule, applied: its `mod` holds the function `name`, its `trace` says what was done.

    Raises:
        UsageError: the arguments are not the tensors that the computation is from and to, and symbols.
        ScheduleError: a primitive does not apply; the message says where and why.
    """
    check_arguments(arguments := with_symbols(given))
    arguments = [schedule.current(each) if isinstance(each, te.Tensor) else each for each in arguments]
    for stage in schedule.stages:
        if stage.axis_separators and (stage.is_output or stage.compute is None):
            hint = "cache_read or cache_write it, and lay out the copy"
            raise ScheduleError(f"te: '{stage.tensor.name}' is the caller's memory, which has one dimension", hint=hint)
    for tensor in map(schedule.current, schedule.outputs):
        if tensor not in set(arguments):
            raise ScheduleError(f"te: '{tensor.name}' is an output of the schedule, and no argument")
    final = _final_tensors(schedule)
    arguments = [final.get(each, each) if isinstance(each, te.Tensor) else each for each in arguments]
    function, blocks = function_of(name, arguments)
    return _Translation(schedule, final, function, blocks).run()


def _final_tensors(schedule: Schedule) -> dict[te.Tensor, te.Tensor]:
    """For each stage's tensor, the tensor with the stage's formula as it is now, which reads such ones."""
    final: dict[te.Tensor, te.Tensor] = {}
    scans: dict[te.External, te.External] = {}
    pending = list(schedule.stages)
    while pending:
        ready = [s for s in pending if s.compute is None or all(t in final for t in s.compute.inputs())]
        assert ready, "stages read one another in a circle"
        for stage in ready:
            pending.remove(stage)
            tensor = stage.tensor
            if stage.compute is None:
                final[tensor] = tensor
                continue
            body = substitute(with_inlined(stage.compute.body, schedule.steps, scans), {}, final)
            producer = te.Compute(stage.compute.axes, body)
            final[tensor] = te.Tensor(tensor.dims, tensor.element_type, tensor.name, producer)
            for other in stage.others:
                assert other.producer is not None and isinstance(other.producer.body, te.Fold)
                assert isinstance(body, te.Fold), "several results are those of one reduction"
                formula = te.Compute(producer.axes, replace(body, number=other.producer.body.number))
                final[other] = te.Tensor(other.dims, other.element_type, other.name, formula)
    return final


class _Translation:
    def __init__(
        self,
        schedule: Schedule,
        final: Mapping[te.Tensor, te.Tensor],
        function: PrimFuncOp,
        blocks: Mapping[te.Tensor, BlockOp],
    ):
        self.schedule = schedule
        self.sch = TirSchedule(ModuleOp([function]))
        names = {tensor: block.block_name for tensor, block in blocks.items()}
        self.blocks: dict[Stage, BlockRV] = {}
        """Stages without elements, and those that nothing reads, have none."""
        for stage in schedule.stages:
            if (tensor := final[stage.tensor]) in names and stage.compute is not None:
                self.blocks[stage] = self.sch.get_block(names[tensor])
        self.steps = [step for step in schedule.steps.values() if step.tensor in names and not step.is_inlined]
        """What scans compute in each step, in order; inlined steps have no block."""
        for step in self.steps:
            self.blocks[step] = self.sch.get_block(names[step.tensor])
        self.loops: dict[Stage, dict[te.IterVar, LoopRV | None]] = {}
        self.sizes = set(function.params)

    def run(self) -> TirSchedule:
        stages = [stage for stage in self.schedule.in_order() if stage in self.blocks]
        for stage in [stage for stage in stages if stage.is_inlined]:
            self.sch.compute_inline(self.blocks.pop(stage))
        stages = [stage for stage in stages if not stage.is_inlined]
        for stage in (*reversed(self.steps), *reversed(stages)):
            self._place(stage)
        for stage in stages:
            if stage.rolls:
                self.sch.rolling_buffer(self.blocks[stage], 0)
        for stage in stages:
            self._set_scope(stage)
        for step in self.steps:
            if step.scope:
                self._set_scope_to(step, step.scope)
        for stage in (*stages, *self.steps):
            self._finish_loops(stage)
        for stage in stages:
            if stage.tensorized is None:
                self._begin_reduction(stage)
            else:
                self._tensorize(stage, *stage.tensorized)
        return self.sch

    def _place(self, stage: Stage) -> None:
        """Move a stage to the loop that it is computed in, and give it its loops."""
        block = self.blocks[stage]
        axes = stage.root_loops()
        is_step = isinstance(stage, StepStage)
        if not is_step and any(axis.dim == 0 for axis in stage.op.reduce_axis):
            axes = [axis for axis in axes if not axis.reduce]  # without terms there are no steps
        target = self._target(stage)
        if target is not None:
            self.sch.compute_at(block, target, preserve_unit_loops=True)
        if target is not None or is_step:
            own: list[LoopRV | None] = [*self.sch.get_loops(block)[-len(axes) :]] if axes else []
        else:
            found = iter(self.sch.get_loops(block))
            own = [next(found) if axis.dim != 1 else None for axis in axes]
        loops = self.loops[stage] = dict.fromkeys(stage.op.reduce_axis)
        loops.update(zip(axes, own, strict=True))
        for action in [Reorder(tuple(stage.first_loops())), *stage.actions] if stage.is_by_intrinsic else stage.actions:
            match action:
                case Split(parent, outer, inner, factor, nparts):
                    loop = loops.pop(parent)
                    if isinstance(factor, te.Var) and factor not in self.sizes:
                        what = (
                            f"te: the loop {parent.name} is split by '{factor.name}', which is no size of the function"
                        )
                        raise ScheduleError(what, hint="give it among the arguments")
                    both = [None, None] if loop is None else self.sch.split(loop, [nparts, factor])
                    loops[outer], loops[inner] = both
                case Fuse(outer, inner, fused):
                    one, other = loops.pop(outer), loops.pop(inner)
                    loops[fused] = (one or other) if one is None or other is None else self.sch.fuse(one, other)
                case Singleton(axis):
                    loops[axis] = None
                case Reorder(order):
                    real = [loop for axis in order if (loop := loops[axis]) is not None]
                    if len(real) > 1:
                        self.sch.reorder(*real)

    def _target(self, stage: Stage) -> LoopRV | None:
        """The loop that a stage is computed in: the innermost, from the one that was named outwards, that there is."""
        attachment = stage.attachment
        if attachment is None:
            return None
        if attachment.stage.is_inlined:
            what = f"te: '{stage.tensor.name}' is computed in a loop of '{attachment.stage.tensor.name}'"
            raise ScheduleError(f"{what}, which is inlined and has none")
        loops = self.loops.get(attachment.stage)
        if loops is None:
            what = f"te: '{stage.tensor.name}' is computed in a loop of '{attachment.stage.tensor.name}'"
            raise ScheduleError(f"{what}, which does not read it")
        leaves = attachment.stage.leaf_iter_vars
        attachment.stage.check_leaf(attachment.loop)
        outwards = leaves[leaves.index(attachment.loop) :: -1]
        for axis in outwards:
            if (loop := loops[axis]) is not None:
                return loop
        return self._target(attachment.stage)

    def _set_scope(self, stage: Stage) -> None:
        """A stage in a loop of another, which no loop between them shares among threads, is a thread's own."""
        if stage.axis_separators:
            self.sch.set_axis_separator(self.blocks[stage], ("write", 0), stage.axis_separators)
        if stage.is_output or stage.scope not in ("", "global"):
            if not stage.is_output:
                self._set_scope_to(stage, stage.scope)
            return
        if stage.rolls or self._target(stage) is None or self._is_shared(stage) or not self._is_small(stage):
            return
        self._set_scope_to(stage, "local")

    def _set_scope_to(self, stage: Stage, scope: str) -> None:
        for number in range(len(stage.result_types)):
            self.sch.set_scope(self.blocks[stage], number, scope)

    def _is_shared(self, stage: Stage) -> bool:
        """Whether a loop in the one that a stage is computed in, in a stage that reads it, is parallel."""
        attachment = stage.attachment
        assert attachment is not None
        leaves = attachment.stage.leaf_iter_vars
        inner = leaves[leaves.index(attachment.loop) + 1 :]
        inside = [s for s in self.loops if s.attachment is not None and s.attachment.stage is attachment.stage]
        more = [axis for each in inside for axis in each.leaf_iter_vars if Kind.PARALLEL == each.kinds.get(axis)]
        return bool(more) or any(attachment.stage.kinds.get(axis) == Kind.PARALLEL for axis in inner)

    def _is_small(self, stage: Stage) -> bool:
        """Whether what a stage computes at once fits on a thread's stack."""
        size = sum(map(byte_width, stage.result_types))
        for axis in stage.leaf_iter_vars:
            if not axis.reduce and (loop := self.loops[stage][axis]) is not None:
                found = self.sch.operation(loop)
                assert isinstance(found, ForOp)
                if found.is_symbolic:
                    return False
                size *= found.trip_count
        return size <= PRIVATE_BYTES

    def _finish_loops(self, stage: Stage) -> None:
        """Kinds, threads and pragmas."""
        loops = self.loops[stage]
        for axis in stage.leaf_iter_vars:
            if (loop := loops[axis]) is None:
                continue
            match stage.kinds.get(axis):
                case Kind.PARALLEL:
                    self.sch.parallel(loop)
                case Kind.VECTORIZED:
                    self.sch.vectorize(loop)
                case Kind.UNROLLED:
                    self.sch.unroll(loop)
                case None:
                    pass
            if (thread := stage.threads.get(axis)) is not None:
                self.sch.bind(loop, thread)
        for number, factor, offset in stage.alignments:
            self.sch.storage_align(self.blocks[stage], 0, number, factor, offset)
        for axis, key, value in stage.pragmas:
            if (loop := loops.get(axis)) is not None:
                self.sch.annotate(loop, key, value)

    def _tensorize(self, stage: Stage, axis: te.IterVar, intrin: TensorIntrin) -> None:
        """Let an intrinsic compute what a loop and those in it do: a reduction whole, where all its loops are among
        them; else it goes on with one, which begins before the outermost of its loops."""
        leaves = stage.leaf_iter_vars
        if axis not in leaves:
            raise ScheduleError(
                f"te: the loop {axis.name} of '{stage.tensor.name}', which an intrinsic takes the place of, was split "
                "or fused afterwards"
            )
        loops = self.loops[stage]
        inner = [each for each in leaves[leaves.index(axis) :] if loops[each] is not None]
        if not inner:
            raise ScheduleError(f"te: the loop {axis.name} of '{stage.tensor.name}' has one iteration, and is no loop")
        target = loops[inner[0]]
        outside = [loop for each in leaves if each.reduce and each not in inner and (loop := loops[each]) is not None]
        made = update(intrin) if outside and intrin.reduce_rank else whole(intrin)
        begun = begins = None
        if outside and intrin.reduce_rank:
            begun, begins = self.sch.decompose_reduction(self.blocks[stage], outside[0]), reset(intrin)
        assert target is not None
        with made.known() as name:
            self.sch.tensorize(target, name)
        rank = len([each for each in inner if not each.reduce])
        if begun is not None and begins is not None and rank:
            with begins.known() as name:
                self.sch.tensorize(self.sch.get_loops(begun)[-rank], name)

    def _begin_reduction(self, stage: Stage) -> None:
        """Let a reduction begin before the outermost of its loops; where it cannot, it begins in its first step."""
        loops = self.loops[stage]
        steps = [loop for axis in stage.leaf_iter_vars if axis.reduce and (loop := loops[axis]) is not None]
        if not steps:
            return
        try:
            self.sch.decompose_reduction(self.blocks[stage], steps[0])
        except ScheduleError as error:
            block = self.sch.operation(self.blocks[stage])
            assert isinstance(block, BlockOp)
            missed(PASS, block, f"the reduction begins within its loops: {error.message}")
