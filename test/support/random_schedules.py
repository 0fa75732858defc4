"""Random computations, and random schedules of them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

import te_samples
from te_samples import f32
from tir_run import Stage

from weft.dialects import te
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
from weft.transforms.tir.schedule.compute_at import compute_at
from weft.transforms.tir.schedule.inline import compute_inline
from weft.transforms.tir.schedule.iters import fuse_buffer_dims, fuse_iters
from weft.transforms.tir.schedule.loops import bind_constant, fuse, reorder, set_kind, split
from weft.transforms.tir.schedule.reduction import cache_write, decompose_reduction, set_scope

Action: TypeAlias = tuple[str, Callable[[], object]]
"""A primitive on some loop or block, in words and ready to be applied; it may be refused."""

KINDS = (ForKind.PARALLEL, ForKind.PARALLEL, ForKind.VECTORIZED, ForKind.UNROLLED, ForKind.SERIAL)
REDUCTIONS: tuple[te.ReduceKind, ...] = ("sum", "max", "min")


def running_sum(rows: int, columns: int) -> Stage:
    """A scan, as a reduction that leaves out what comes later."""
    x, k = te.placeholder((rows, columns), f32, "x"), te.reduce_axis(columns, "k")
    scan = te.compute((rows, columns), lambda i, j: te.sum(te.select(k <= j, x[i, k], te.const(0, f32)), k), "scan")
    return [x], [te.compute((rows, columns), lambda i, j: scan[i, j] - x[i, j], "rest")]


def diamond(rows: int, columns: int) -> Stage:
    """A stage with two readers, one of them transposed, and two outputs of which one reads the other."""
    x, k = te.placeholder((rows, columns), f32, "x"), te.reduce_axis(columns, "k")
    a = te.compute((rows, columns), lambda i, j: x[i, j] + 1.0, "a")
    b = te.compute((rows, columns), lambda i, j: te.exp(a[i, j]) * 0.1, "b")
    c = te.compute((columns, rows), lambda i, j: a[j, i] * 2.0, "c")
    d = te.compute((rows, columns), lambda i, j: b[i, j] + c[j, i], "d")
    return [x], [d, te.compute((rows,), lambda i: te.max(d[i, k], k), "e")]


def stencil(length: int) -> Stage:
    """Windows over windows, and one that runs backwards."""
    x = te.placeholder((length + 4,), f32, "x")
    a = te.compute((length + 4,), lambda i: x[i] * x[i], "a")
    b = te.compute((length + 2,), lambda i: a[i] + a[i + 1] + a[i + 2], "b")
    return [x], [te.compute((length,), lambda i: b[i] + b[i + 2] - a[length + 3 - i], "c")]


def random_stage(random: Random) -> Stage:
    """A small computation."""

    def some(most: int = 6) -> int:
        return random.randint(1, most)

    axes = tuple(sorted(random.sample(range(3), some(3))))
    makers: list[Callable[[], Stage]] = [
        lambda: te_samples.conv(1, some(3), some(4), 3 + some(3), 3 + some(3), some(3), some(2), random.randint(0, 1)),
        lambda: te_samples.dense(some(), some(), some()),
        lambda: te_samples.batch_matmul(some(3), some(), some(), some()),
        lambda: te_samples.softmax(some(), some()),
        lambda: te_samples.layer_norm(some(), some()),
        lambda: te_samples.reduction((some(), some(), some()), axes, random.choice(REDUCTIONS)),
        lambda: te_samples.transpose(some(), some()),
        lambda: te_samples.concatenate(some(), some(), some()),
        lambda: te_samples.gather(some(), some(), some()),
        lambda: te_samples.pool(some(3), 6, 6, 1 + some(2), some(4), some(2), random.random() < 0.5),
        lambda: running_sum(some(), some()),
        lambda: diamond(some(), some()),
        lambda: stencil(some(12)),
    ]
    return random.choice(makers)()


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
