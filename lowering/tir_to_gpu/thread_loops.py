"""Emission of loops for one thread of a launch: a loop that is bound to an axis runs one iteration, the thread's own.

    tir.for thread_binding "threadIdx.x" %t = 0 to 8 {      %t = gpu.thread_id x
      tir.block ... [%t]                                    ... %t

Where other loops of the nest have more iterations along the axis, the threads beyond this one's do nothing. A block
that stands in no loop of an axis is run by the first thread along it.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, gpu
from xdsl.ir import Operation, SSAValue

from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.vector_unit import VectorUnit
from ...dialects.tir.core import BlockOp, ForKind, ForOp, StorageSyncOp, enclosing_loops
from ...dialects.tir.thread_axes import AXES, axis_of
from ...transforms.tir.analysis.launches import Launch
from ..tir_to_loops.block_bodies import Checks
from ..tir_to_loops.flat_buffers import FlatBuffer
from ..tir_to_loops.index_values import IndexBuilder
from ..tir_to_loops.lanes import Lanes
from ..tir_to_loops.loop_emission import LoopEmitter


class ThreadLoopEmitter(LoopEmitter):
    """Appends what one thread of `launch` does."""

    def __init__(
        self,
        at: IndexBuilder,
        buffers: dict[SSAValue, FlatBuffer],
        launch: Launch,
        checks: Checks | None = None,
        unit: VectorUnit | None = None,
    ):
        super().__init__(at, buffers, checks, unit)
        self._launch = launch
        self._some = 0
        """How many conditions that not all threads meet are around."""
        self._numbers = {axis: self._number(axis) for axis in AXES if launch.extents.get(axis, 1) != 1}

    def _number(self, axis: str) -> SSAValue:
        """The thread's number along an axis, or that of its block."""
        kind, _, way = axis.partition(".")
        dimension = gpu.DimensionAttr(gpu.DimensionEnum(way))
        op = gpu.BlockIdOp(dimension) if kind == "blockIdx" else gpu.ThreadIdOp(dimension)
        op.result.name_hint = axis.replace(".", "_")
        return self.at.emit(op)

    def statement(self, op: Operation) -> None:
        """Lower one loop, block or barrier.

        Raises:
            Diagnostic: some threads would wait for others that do not come there.
        """
        if not isinstance(op, StorageSyncOp):
            super().statement(op)
            return
        if self._some:
            hint = "let all loops that are bound to an axis have as many iterations"
            raise Diagnostic.at(op, "not all threads of a block come here, so that they would wait forever", hint=hint)
        self.at.insert(gpu.BarrierOp())

    def _for(self, loop: ForOp) -> None:
        if loop.for_kind != ForKind.THREAD_BINDING:
            super()._for(loop)
            return
        axis = axis_of(loop)
        assert axis is not None, "launch_of has refused others"
        number = self._numbers.get(axis)
        if loop.size == 0:
            return
        value = self.at.constant(loop.start)
        if number is not None:
            value = self.at.emit(arith.AddiOp(number, value)) if loop.start else number
        extent = self._launch.extents[axis]

        def emit() -> None:
            self.at.index_values[self.at.dim(loop.var)] = value
            for inner in loop.body.block.ops:
                self.statement(inner)

        if number is None or loop.size == extent:
            emit()
            return
        self._by_some(arith.CmpiOp(number, self.at.constant(loop.trip_count), "slt"), emit)

    def _by_some(self, condition: arith.CmpiOp, emit: Callable[[], None]) -> None:
        self._some += 1
        self._guarded(self.at.emit(condition), emit)
        self._some -= 1

    def _block(self, block: BlockOp, lanes: Lanes | None) -> None:
        bound = {axis_of(loop) for loop in enclosing_loops(block)}
        test: SSAValue | None = None
        for axis, number in self._numbers.items():
            if axis not in bound:
                first = self.at.emit(arith.CmpiOp(number, self.at.constant(0), "eq"))
                test = first if test is None else self.at.emit(arith.AndIOp(test, first))
        if test is None:
            super()._block(block, lanes)
        else:
            self._guarded(test, lambda: super(ThreadLoopEmitter, self)._block(block, lanes))
