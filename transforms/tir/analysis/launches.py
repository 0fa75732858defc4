"""How a nest of loops is run on a graphics processor: as a grid of blocks of threads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation

from ....dialects.support.diagnostics import Diagnostic
from ....dialects.tir.core import AllocBufferOp, BlockOp, ForKind, ForOp, blocks_under, enclosing_loops, memref_of
from ....dialects.tir.symbols import Extent
from ....dialects.tir.thread_axes import AXES, BLOCK_AXES, GRID_AXES, axis_of, is_of_grid


@dataclass(frozen=True)
class Launch:
    """The number of iterations along each axis that a nest is bound to."""

    blocks: Mapping[str, Extent]
    """Of the axes of the grid."""
    threads_along: Mapping[str, int]
    """Of those of a block."""

    @property
    def extents(self) -> Mapping[str, Extent]:
        """Of all axes."""
        return {**self.blocks, **self.threads_along}

    @property
    def grid(self) -> tuple[Extent, Extent, Extent]:
        """Blocks along x, y and z, over the function's symbols."""
        x, y, z = (self.blocks.get(axis, 1) for axis in GRID_AXES)
        return x, y, z

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads of a block along x, y and z."""
        x, y, z = (self.threads_along.get(axis, 1) for axis in BLOCK_AXES)
        return x, y, z

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return prod(self.block)


def launch_of(nest: Operation, virtual: bool = False) -> Launch:
    """The launch that a nest asks for: along each axis as many iterations as the longest loop that is bound to it has.
    Loops of `virtual` threads may be left, which are one after the other.

    Raises:
        Diagnostic: a loop stands around one that is bound to blocks and is not, a loop of blocks stands in another of
            its axis, the number of threads of a block is known only when the function is called, or a loop is
            `parallel`.
    """
    blocks: dict[str, Extent] = {}
    threads: dict[str, int] = {}
    for loop in (op for op in nest.walk() if isinstance(op, ForOp)):
        if loop.for_kind == ForKind.PARALLEL:
            hint = 'bind it to threads: bind(loop, "blockIdx.x")'
            raise Diagnostic.at(
                loop, "a parallel loop is shared by the threads of a processor, not of a GPU", hint=hint
            )
        if loop.for_kind == ForKind.THREAD_BINDING and (axis := axis_of(loop)) is None:
            if virtual and is_virtual(loop):
                continue
            name = "" if loop.thread is None else loop.thread.data
            hint = "run inject-virtual-thread" if is_virtual(loop) else f"axes are {', '.join(AXES)}"
            raise Diagnostic.at(loop, f"there is no axis '{name}' in a launch", hint=hint)
        if (axis := axis_of(loop)) is None:
            continue
        if is_of_grid(loop):
            _check_around(loop, axis)
            blocks[axis] = loop.size  # there is no other of this axis
            continue
        if loop.is_symbolic:
            what = f"the number of iterations of %{loop.var.name_hint or 'i'} is known only when the function is called"
            hint = "split the loop by a number of threads, and bind what is outside to blocks"
            raise Diagnostic.at(loop, f"{what}, and a block has as many threads as its code says", hint=hint)
        threads[axis] = max(threads.get(axis, 0), loop.trip_count)
    return Launch(blocks, threads)


def is_virtual(loop: ForOp) -> bool:
    """Whether the iterations of a loop are threads that `inject-virtual-thread` has follow one another."""
    return loop.thread is not None and loop.thread.data.startswith("vthread")


def _check_around(loop: ForOp, axis: str) -> None:
    for outer in enclosing_loops(loop):
        if not is_of_grid(outer):
            what = f"a loop bound to {axis} stands in one that is not bound to blocks: blocks do not wait for others"
            raise Diagnostic.at(loop, what, hint="reorder the loops, so that those bound to blockIdx stand outside")
        if axis_of(outer) == axis:
            raise Diagnostic.at(loop, f"a loop bound to {axis} stands in another one")
    parent = loop.parent_op()
    siblings = [] if parent is None or not isinstance(parent, ForOp) else list(parent.body.block.ops)
    for other in siblings:
        if other is not loop and not isinstance(other, AllocBufferOp):
            what = f"stands beside a loop bound to {axis}, and would be run by all of its blocks"
            raise Diagnostic.at(other, what, hint="let it stand in a nest of its own")


def unbound(nest: Operation, launch: Launch) -> BlockOp | None:
    """The first block of a nest that no thread runs for itself, where there is no launch to speak of."""
    return None if launch.extents else next(iter(blocks_under(nest)), None)


def own_buffers(nest: Operation, scopes: Collection[str]) -> list[AllocBufferOp]:
    """The buffers of these scopes that a nest uses, each once."""
    found: dict[AllocBufferOp, None] = {}
    for block in blocks_under(nest):
        for buffer in (*block.reads, *block.writes):
            if isinstance(buffer.owner, AllocBufferOp) and buffer.owner.scope.data in scopes:
                found[buffer.owner] = None
    return list(found)


def known_shape(alloc: AllocBufferOp) -> tuple[int, ...]:
    """The extents of a buffer of a launch's own.

    Raises:
        Diagnostic: they are known only when the function is called.
    """
    shape = memref_of(alloc.buffer).get_shape()
    if any(extent < 0 for extent in shape):
        what = f"{alloc.scope.data} memory of a launch has an extent that is known only when it is called"
        raise Diagnostic.at(alloc, what)
    return tuple(shape)
