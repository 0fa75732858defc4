"""Loops whose iterations take the steps of a reduction."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ..affine import uses
from ..blocks import BlockOp, IterKind, blocks_under
from ..buffers import AllocBufferOp
from ..loops import ForOp
from ..symbols import dimension
from ..thread_axes import BLOCK_AXES, axis_of, is_of_warp


def shared_reductions(loop: ForOp, axis: str | None = None) -> list[BlockOp]:
    """The blocks whose reductions the iterations of `loop`, threads of a block along `axis` (without it, along that
    which they are bound to), share: they do what those steps do one after the other, in any order.

    They begin with an init, and what they write is all threads'.
    """
    if (axis or axis_of(loop)) not in BLOCK_AXES or loop.size in (0, 1):
        return []
    return [block for block in blocks_under(loop) if _is_shared_reduction(loop, block)]


def _is_shared_reduction(loop: ForOp, block: BlockOp) -> bool:
    if block.init is None or loop.var not in block.loop_vars:
        return False
    dim = dimension(list(block.loop_vars).index(loop.var))
    for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True):
        if kind != IterKind.REDUCE and uses(binding, dim):
            return False
    return not any(_is_of_few_threads(buffer) for buffer in block.writes)


def _is_of_few_threads(buffer: SSAValue) -> bool:
    """Whether a buffer is each thread's own, or that of some threads of a block."""
    alloc = buffer.owner
    return isinstance(alloc, AllocBufferOp) and (alloc.is_private or is_of_warp(buffer))


def carries_reduction(loop: ForOp, block: BlockOp) -> str | None:
    """The reduction or opaque iterator of `block` that is bound to `loop`, if there is one. Where a spatial iterator is
    the loop's variable, each iteration has elements of its own, and all steps of these."""
    if loop.var not in block.loop_vars:
        return None
    dim = dimension(list(block.loop_vars).index(loop.var))
    bindings = zip(block.kinds, block.bindings.data.results, strict=True)
    if any(kind == IterKind.SPATIAL and binding == dim for kind, binding in bindings):
        return None
    for number, (kind, binding) in enumerate(zip(block.kinds, block.bindings.data.results, strict=True)):
        if kind != IterKind.SPATIAL and uses(binding, dim):
            return f"{block.iter_name(number)}, which is {'a reduction' if kind == IterKind.REDUCE else 'opaque'}"
    return None
