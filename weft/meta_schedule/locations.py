"""`AutoInline`, `InlineConstantScalars` and `RandomComputeLocation`: where blocks beside the main one are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.ir import Operation

from ..dialects.support.arguments import checked_methods
from ..dialects.tir.buffers import shape_of
from ..dialects.tir.core import BlockOp, PrimFuncOp, blocks_under
from ..transforms.tir.analysis.block_scopes import children_of, consumers_of, producers_of, scope_of
from ..transforms.tir.schedule.errors import ScheduleError
from ..transforms.tir.schedule.inline import check_inline
from ..transforms.tir.schedule.reverse_compute_inline import check_reverse_compute_inline
from ..transforms.tir.scheduling.handles import BlockRV
from ..transforms.tir.scheduling.schedule import Schedule
from .conditions import has_been_tiled, inputs_of, is_spatial, loops_around, op_of, read_pattern, text_in
from .reductions import PRODUCER
from .rule import ScheduleRule


@checked_methods
@dataclass
class AutoInline(ScheduleRule):
    """Inlines what is cheap to compute again. Counterpart of TVM's rule of this name.

    Args:
        into_producer, into_consumer: which ways.
        inline_const_tensor: a block that reads nothing goes into its readers whatever else is said.
        disallow_if_then_else: none that chooses.
        require_injective, require_ordered: only where each element written follows from one read of each buffer, whose
            indices stand in the same order.
        disallow_op: none that computes one of these, `"tir.exp"`.

    Of a function whose blocks are all spatial, what does not choose between the ways is as if it were not said.
    """

    into_producer: bool
    into_consumer: bool
    inline_const_tensor: bool
    disallow_if_then_else: bool
    require_injective: bool
    require_ordered: bool
    disallow_op: Sequence[str] | None = None

    def apply(self, sch: Schedule, block: BlockRV) -> list[Schedule]:
        """`sch`, in which the block may be inlined."""
        op = op_of(sch, block)
        if isinstance(op, BlockOp) and len(op.writes) == 1:
            if self._goes_into_consumers(op):
                sch.compute_inline(block)
            elif self._goes_into_producer(op):
                sch.reverse_compute_inline(block)
        return [sch]

    def _goes_into_consumers(self, op: BlockOp) -> bool:
        constant = self.inline_const_tensor and not inputs_of(op)
        if not constant and not (self.into_consumer and self._is_allowed(op)):
            return False
        return bool(consumers_of(op)) and _applies(check_inline, op)

    def _goes_into_producer(self, op: BlockOp) -> bool:
        if not (self.into_producer and self._is_allowed(op)):
            return False
        producers = producers_of(op)
        if len(producers) != 1 or text_in(producers[0], "meta_schedule.auto_tensorize") is not None:
            return False
        only = producers[0]
        return isinstance(only, BlockOp) and is_spatial(only) and _applies(check_reverse_compute_inline, op)

    def _is_allowed(self, op: BlockOp) -> bool:
        if text_in(op, "meta_schedule.inline_rule") == "disable":
            return False
        func = scope_of(op)
        while not isinstance(func, PrimFuncOp):
            func = scope_of(func)
        if all(map(is_spatial, blocks_under(func))):
            return True
        body = list(op.body.walk())
        names = {f"math.{name.rpartition('.')[2]}" for name in self.disallow_op or ()}
        if any(each.name in names for each in body):
            return False
        if self.disallow_if_then_else and any(isinstance(each, scf.IfOp | arith.SelectOp) for each in body):
            return False
        patterns = [read_pattern(op, buffer) for buffer in op.reads]
        injective = not self.require_injective or all(each.is_injective for each in patterns)
        return injective and (not self.require_ordered or all(each.is_ordered for each in patterns))


def _applies(check: object, op: Operation) -> bool:
    assert callable(check)
    try:
        check(op)
    except ScheduleError:
        return False
    return True


class InlineConstantScalars(ScheduleRule):
    """Inlines blocks that compute one number of nothing. Counterpart of TVM's rule of this name."""

    def apply(self, sch: Schedule, block: BlockRV) -> list[Schedule]:
        """`sch`, in which the block may be inlined."""
        op = op_of(sch, block)
        if isinstance(op, BlockOp) and not op.reads and len(op.writes) == 1 and not shape_of(op.writes[0]):
            sch.compute_inline(block)
        return [sch]


class RandomComputeLocation(ScheduleRule):
    """Samples the loop that a block is computed in. Counterpart of TVM's rule of this name.

    It is for blocks in loops of their own in no block of blocks, with readers, which are not tiled.
    """

    def apply(self, sch: Schedule, block: BlockRV) -> list[Schedule]:
        """`sch`, in which the block may stand elsewhere."""
        op = op_of(sch, block)
        if not isinstance(op, BlockOp) or not _may_move(op) or not consumers_of(op):
            return [sch]
        producers: list[BlockRV] = []
        if PRODUCER in op.attributes:
            producers = sch.get_producers(block)
            sch.unannotate(block, PRODUCER)
        for each in (block, *producers):
            sch.compute_at(each, sch.sample_compute_location(each), preserve_unit_loops=True)
        return [sch]


def _may_move(op: BlockOp) -> bool:
    if not isinstance(scope_of(op), PrimFuncOp) or has_been_tiled(op):
        return False
    loops = loops_around(op)
    return bool(loops) and len(list(children_of(loops[0]))) == 1
