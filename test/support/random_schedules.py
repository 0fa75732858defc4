"""Functions that transform `tir`, applied at random."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from weft.dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    PrimFuncOp,
    Scope,
    accessing_blocks,
    blocks_under,
    enclosing_loops,
    memref_of,
)
from weft.transforms.tir.schedule.cache_write import cache_write
from weft.transforms.tir.schedule.compute_at import compute_at
from weft.transforms.tir.schedule.decompose_reduction import decompose_reduction
from weft.transforms.tir.schedule.fuse import fuse
from weft.transforms.tir.schedule.inline import compute_inline
from weft.transforms.tir.schedule.iters import fuse_buffer_dims, fuse_iters
from weft.transforms.tir.schedule.loops import bind_constant
from weft.transforms.tir.schedule.reorder import reorder
from weft.transforms.tir.schedule.set_kind import set_kind
from weft.transforms.tir.schedule.set_scope import set_scope
from weft.transforms.tir.schedule.split import quotient_up, split

Action: TypeAlias = tuple[str, Callable[[], object]]
"""A primitive on some loop or block, in words and ready to be applied; it may be refused."""

KINDS = (ForKind.PARALLEL, ForKind.PARALLEL, ForKind.VECTORIZED, ForKind.UNROLLED, ForKind.SERIAL)


def random_action(random: Random, func: PrimFuncOp) -> Action | None:
    """A primitive on something in `func`; `None` where there is nothing that the chosen one is for."""
    block = random.choice(blocks_under(func))
    loops = [op for op in func.walk() if isinstance(op, ForOp)]
    around = enclosing_loops(block)
    buffers = [op for op in func.walk() if isinstance(op, AllocBufferOp)]
    chosen = random.choice([_on_loop, _on_loop, _on_loop, _on_nest, _on_nest, _on_block, _on_buffer])
    if chosen is _on_loop and loops:
        return _on_loop(random, random.choice(loops), block)
    if chosen is _on_nest and len(around) > 1:
        return _on_nest(random, around, block)
    if chosen is _on_block:
        return _on_block(random, block)
    if chosen is _on_buffer and buffers:
        return _on_buffer(random, random.choice(buffers))
    return None


def _on_loop(random: Random, loop: ForOp, block: BlockOp) -> Action:
    name = f"{loop.var.name_hint} of {loop.size}"
    factors, kind = [random.randint(1, 5) for _ in range(random.randint(1, 2))], random.choice(KINDS)
    parts = factors[0]
    if loop.is_symbolic and random.random() < 0.2:
        return f"split {name} into {parts} parts", lambda: split(loop, [quotient_up(loop.size, parts)], parts)
    return random.choice(
        [
            (f"split {name} by {factors}", lambda: split(loop, factors)),
            (f"let {name} be {kind}", lambda: set_kind(loop, kind)),
            (f"compute @{block.block_name} at {name}", lambda: compute_at(block, loop)),
            (f"bind {name}", lambda: bind_constant(loop)),
        ]
    )


def _on_nest(random: Random, around: list[ForOp], block: BlockOp) -> Action:
    first = random.randrange(len(around) - 1)
    part = around[first : first + random.randint(2, 3)]
    order = random.sample(around, random.randint(2, min(3, len(around))))
    places = [around.index(loop) for loop in order]
    return random.choice(
        [
            (f"fuse loops {first} to {first + len(part)} of @{block.block_name}", lambda: fuse(*part)),
            (f"reorder loops {places} of @{block.block_name}", lambda: reorder(*order)),
            (f"decompose @{block.block_name} at loop {first}", lambda: decompose_reduction(block, around[first])),
        ]
    )


def _on_block(random: Random, block: BlockOp) -> Action:
    name, scope = f"@{block.block_name}", random.choice([Scope.GLOBAL, Scope.LOCAL])
    number = random.randrange(max(1, len(block.iters) - 1))
    return random.choice(
        [
            (f"inline {name}", lambda: compute_inline(block)),
            (f"cache {name} in {scope}", lambda: cache_write(block, scope)),
            (f"fuse iterators {number} of {name}", lambda: fuse_iters(block, number)),
        ]
    )


def _on_buffer(random: Random, alloc: AllocBufferOp) -> Action:
    name, scope = f"%{alloc.buffer.name_hint}", random.choice([Scope.GLOBAL, Scope.LOCAL])
    number = random.randrange(max(1, len(memref_of(alloc.buffer).get_shape()) - 1))
    return random.choice(
        [
            (f"put {name} into {scope}", lambda: set_scope(alloc.buffer, scope)),
            (
                f"fuse dimensions {number} of {name}",
                lambda: fuse_buffer_dims(alloc, number, accessing_blocks(alloc.buffer)),
            ),
        ]
    )
