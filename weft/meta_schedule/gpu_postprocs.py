"""`RewriteCooperativeFetch` and `VerifyGPUCode`: copies that threads of a GPU load together, and its limits."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from ..dialects.support.diagnostics import Diagnostic, UsageError
from ..dialects.support.dtypes import byte_width
from ..dialects.support.hints import isa
from ..dialects.tir.core import BlockOp, ForOp, OuterBlockOp, enclosing_loops
from ..dialects.tir.thread_axes import WARP_AXIS, axis_of, is_of_block
from ..lowering.machine.target import Target
from ..transforms.infra.execution import run
from ..transforms.infra.walk import clone
from ..transforms.tir.compact_buffer_allocation import CompactBufferAllocationPass
from ..transforms.tir.inject_virtual_thread import InjectVirtualThreadPass
from ..transforms.tir.lower_cross_thread_reduction import LowerCrossThreadReductionPass
from ..transforms.tir.scheduling.handles import BlockRV, ExprRV, LoopRV
from ..transforms.tir.scheduling.instruction import Instruction
from ..transforms.tir.scheduling.schedule import Schedule
from ..transforms.tir.verify_gpu_code import VerifyGPUCodePass
from .conditions import number_in, op_of
from .multi_level_tiling import COOPERATIVE, HIGH, LOW
from .postprocs import WARP_EXECUTION
from .rule import Context, Postproc
from .threads import threads_of

WIDEST = 4
"""Bytes of an element of which a thread loads several at once."""


class RewriteCooperativeFetch(Postproc):
    """Lets the threads of a block load the copies together for which `MultiLevelTiling` has said so, several elements
    at once where these divide the loop. Counterpart of TVM's postprocessor of this name.

    The threads are those that the schedule has bound before it made the copy; along `threadIdx.x`, those that run
    together, where it has a block run by all of them, as tensor cores do.
    """

    _warp: int | None = None

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take from a GPU how many threads run together."""
        if context.target.is_gpu:
            self._warp = context.target.limit("thread_warp_size")

    def apply(self, sch: Schedule) -> bool:
        """True; the words on the copies are gone."""
        threads: dict[str, int] = {}
        tasks: list[Callable[[], None]] = []
        for inst in sch.trace.insts:
            if inst.kind.name == "Bind" and inst.attrs[0] in (WARP_AXIS, "threadIdx.y"):
                threads[str(inst.attrs[0])] = _extent(sch, inst)
            elif inst.kind.name == "Annotate" and inst.attrs[0] == WARP_EXECUTION:
                if self._warp is None:
                    raise UsageError("it has been told of no GPU", hint="initialize_with_tune_context tells it")
                threads[WARP_AXIS] = self._warp
            elif inst.kind.name == "Annotate" and inst.attrs[0] == COOPERATIVE:
                tasks.append(_task(sch, inst, dict(threads)))
        for task in tasks:
            task()
        return True


def _extent(sch: Schedule, inst: Instruction) -> int:
    (loop,) = inst.inputs
    assert isinstance(loop, LoopRV)
    op = sch.operation(loop)
    return op.size if isinstance(op, ForOp) and isinstance(op.size, int) else 1


def _task(sch: Schedule, inst: Instruction, threads: dict[str, int]) -> Callable[[], None]:
    block, given = inst.inputs
    lanes = sch.get(given) if isinstance(given, ExprRV) else given
    assert isinstance(block, BlockRV) and isinstance(lanes, int)
    return lambda: _share(sch, block, threads, lanes)


def _share(sch: Schedule, block: BlockRV, threads: dict[str, int], lanes: int) -> None:
    sch.unannotate(block, COOPERATIVE)
    loop, copy = sch.get_loops(block)[-1], op_of(sch, block)
    op = sch.operation(loop)
    if not isinstance(op, ForOp) or not isinstance(op.size, int) or not threads or not isinstance(copy, BlockOp):
        return
    if op.size % lanes or _widest(copy) > WIDEST:
        lanes = 1
    axes = [axis for axis in ("threadIdx.y", WARP_AXIS) if axis in threads]
    parts = sch.split(loop, [None, *(threads[axis] for axis in axes), *([lanes] if lanes > 1 else [])])
    if lanes > 1:
        sch.vectorize(parts[-1])
    for axis, part in zip(axes, parts[1:], strict=False):
        sch.bind(part, axis)


def _widest(block: BlockOp) -> int:
    """The most bytes of an element that a block touches."""
    types = [op.memref.type for op in block.body.walk() if isinstance(op, memref.LoadOp | memref.StoreOp)]
    return max(byte_width(type.element_type) for type in types if isa(type, MemRefType[Attribute]))


class VerifyGPUCode(Postproc):
    """Takes designs that a GPU can run within the limits of the target. Counterpart of TVM's postprocessor."""

    _target: Target | None = None

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take the target's limits."""
        threads_of(context)
        self._target = context.target

    def apply(self, sch: Schedule) -> bool:
        """Whether each function can be lowered for the target, has no more threads in a block and shared memory than
        there are, and as many threads around each block as tiling has asked for."""
        if self._target is None:
            raise UsageError("it has been told of no target", hint="initialize_with_tune_context tells it")
        warp = self._target.limit("thread_warp_size")
        if not all(_has_threads(op, warp) for op in sch.mod.walk() if isinstance(op, BlockOp | OuterBlockOp)):
            return False
        threads, memory = (self._target.limit(f"max_{what}_per_block") for what in ("threads", "shared_memory"))
        module = clone(sch.mod)
        try:
            for each in (
                InjectVirtualThreadPass(),
                CompactBufferAllocationPass(),
                LowerCrossThreadReductionPass(),
                VerifyGPUCodePass(threads, memory),
            ):
                run(each, module)
        except Diagnostic:
            return False
        return True


def _has_threads(block: BlockOp | OuterBlockOp, warp: int) -> bool:
    """Whether the threads around a block are as many as tiling has asked for. Those that run together, `warp` of them,
    are the threads along `threadIdx.x` of a block that says so."""
    low, high = number_in(block.attributes, LOW), number_in(block.attributes, HIGH)
    if low is None or high is None:
        return True
    loops = [loop for loop in enclosing_loops(block) if is_of_block(loop)]
    sizes = [loop.size for loop in loops]
    if any(WARP_EXECUTION in each.attributes for each in (block, *_around(block))):
        sizes = [warp, *(loop.size for loop in loops if axis_of(loop) != WARP_AXIS)]
    known = [size for size in sizes if isinstance(size, int)]
    return len(known) == len(sizes) and low <= prod(known) <= high


def _around(block: BlockOp | OuterBlockOp) -> list[OuterBlockOp]:
    """The blocks of blocks around a block."""
    found: list[OuterBlockOp] = []
    op = block.parent_op()
    while op is not None:
        if isinstance(op, OuterBlockOp):
            found.append(op)
        op = op.parent_op()
    return found
