"""The axes that a graphics processor runs threads along, and the memory that its threads share.

A launch is a grid of blocks of threads. A loop bound to `blockIdx.x` runs its iterations in different blocks, one bound
to `threadIdx.x` in different threads of a block. Below such a loop, another one that is bound to the same axis is the
same threads: each runs the iteration of its own number. A buffer of scope `shared` is one for each block.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ..support.memory_scopes import memory_of
from .buffers import AllocBufferOp
from .loops import ForKind, ForOp, enclosing_loops

GRID_AXES = ("blockIdx.x", "blockIdx.y", "blockIdx.z")
BLOCK_AXES = ("threadIdx.x", "threadIdx.y", "threadIdx.z")
AXES = (*GRID_AXES, *BLOCK_AXES)

SHARED = ("shared", "shared.dyn")
"""The scopes of memory that the threads of a block have together."""
WARP = ("warp", "wmma")
"""The memories that the threads along `threadIdx.x` have together: `warp`, and fragments such as `wmma.accumulator`."""
WARP_AXIS = "threadIdx.x"
VIRTUAL = ("vthread", "cthread")
"""How the names of threads begin that a thread of a block runs one after the other."""


def axis_of(loop: ForOp) -> str | None:
    """The axis that a loop is bound to; nothing where it is none of a launch (`vthread`, say)."""
    if loop.for_kind != ForKind.THREAD_BINDING or loop.thread is None or loop.thread.data not in AXES:
        return None
    return loop.thread.data


def is_of_grid(loop: ForOp) -> bool:
    """Whether the iterations of a loop are blocks of threads."""
    return axis_of(loop) in GRID_AXES


def is_of_block(loop: ForOp) -> bool:
    """Whether the iterations of a loop are threads of a block."""
    return axis_of(loop) in BLOCK_AXES


def is_virtual(loop: ForOp) -> bool:
    """Whether the iterations of a loop are virtual threads."""
    return loop.for_kind == ForKind.THREAD_BINDING and loop.thread is not None and loop.thread.data.startswith(VIRTUAL)


def same_threads_around(loop: ForOp) -> ForOp | None:
    """The outermost loop around `loop` that is bound to the same axis."""
    axis = axis_of(loop)
    return None if axis is None else next((each for each in enclosing_loops(loop) if axis_of(each) == axis), None)


def share_memory(loop: ForOp, scope: str) -> bool:
    """Whether the iterations of a loop have one memory of a scope together: the threads of a block, virtual ones too,
    that of scope `shared`, and those along `threadIdx.x` that of a warp."""
    if loop.for_kind != ForKind.THREAD_BINDING or loop.thread is None:
        return False
    if scope in SHARED:
        return loop.thread.data in BLOCK_AXES or is_virtual(loop)
    return is_of_warp_in(scope) and loop.thread.data == WARP_AXIS


def has_own_memory(loop: ForOp, scope: str) -> bool:
    """Whether each iteration of a loop over threads, or blocks of them, has memory of a scope on its own."""
    if axis_of(loop) is None:
        return False
    return (scope == "local" or scope in SHARED or is_of_warp_in(scope)) and not share_memory(loop, scope)


def is_of_warp_in(scope: str) -> bool:
    """Whether buffers of a scope are one for the threads along `threadIdx.x` of a block."""
    return memory_of(scope) in WARP


def is_shared(buffer: SSAValue) -> bool:
    """Whether a buffer is one for each block of threads."""
    return isinstance(buffer.owner, AllocBufferOp) and buffer.owner.scope.data in SHARED


def is_of_several(buffer: SSAValue) -> bool:
    """Whether the threads of a block have a buffer together: one of scope `shared` or `global`, or a parameter."""
    return not isinstance(buffer.owner, AllocBufferOp) or buffer.owner.scope.data in ("global", *SHARED)


def is_of_warp(buffer: SSAValue) -> bool:
    """Whether a buffer is one for the threads along `threadIdx.x` of a block."""
    return isinstance(buffer.owner, AllocBufferOp) and is_of_warp_in(buffer.owner.scope.data)
