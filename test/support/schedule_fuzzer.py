"""Primitives of `weft.tir.Schedule`, applied at random."""

from __future__ import annotations

import random
from collections.abc import Callable

from xdsl.ir.affine import AffineExpr, AffineMap

from weft.dialects.tir.core import AllocBufferOp, BlockOp, PrimFuncOp, memref_of
from weft.tir import BlockRV, LoopRV, Schedule, ScheduleError


def function(schedule: Schedule) -> PrimFuncOp:
    func = schedule.mod.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


class Fuzzer:
    """Applies primitives at random."""

    def __init__(self, schedule: Schedule, seed: int):
        self.schedule = schedule
        self.random = random.Random(seed)
        self.applied: list[str] = []

    def block(self) -> BlockRV:
        names = [op.block_name for op in function(self.schedule).walk() if isinstance(op, BlockOp)]
        return self.schedule.get_block(self.random.choice(names))

    def loop(self) -> LoopRV:
        loops = self.schedule.get_loops(self.block())
        if not loops:
            raise ScheduleError("there is no loop")
        return self.random.choice(loops)

    def step(self, favourite: str) -> None:
        """One primitive, which may be refused: then nothing has changed."""
        name = favourite if self.random.random() < 0.3 else self.random.choice(list(PRIMITIVES))
        before = str(self.schedule.mod)
        try:
            PRIMITIVES[name](self)
        except ScheduleError:
            assert str(self.schedule.mod) == before, f"{name} was refused, but has changed the function"
            return
        self.applied.append(name)
        for op in function(self.schedule).walk():
            for result in (*op.results, *(arg for region in op.regions for b in region.blocks for arg in b.args)):
                for use in result.uses:
                    assert function(self.schedule).is_ancestor(use.operation), f"{name} has left {use.operation}"


def _reorder(f: Fuzzer) -> None:
    loops = f.schedule.get_loops(f.block())
    f.schedule.reorder(*f.random.sample(loops, f.random.randint(min(1, len(loops)), len(loops))))


def _fuse(f: Fuzzer) -> None:
    loops = f.schedule.get_loops(f.block())
    start = f.random.randrange(max(1, len(loops)))
    f.schedule.fuse(*loops[start : start + 2])


def _layout(f: Fuzzer) -> None:
    block = f.block()
    op = f.schedule.get(block)
    assert isinstance(op, BlockOp)
    kind = f.random.choice(["read", "write"])
    buffers = op.reads if kind == "read" else op.writes
    index = f.random.randrange(max(1, len(buffers)))
    if buffers and not isinstance(buffers[index].owner, AllocBufferOp):
        return  # what the caller gives and takes stays as it is
    rank = len(memref_of(buffers[index]).get_shape()) if buffers else 0
    order = f.random.sample(range(rank), rank)

    items = [AffineExpr.dimension(d) for d in order]
    results = [item for i in items for item in ((i // 2, i % 2) if f.random.random() < 0.3 else (i,))]
    f.schedule.transform_layout(block, (kind, index), AffineMap(rank, 0, tuple(results)))


def _block_layout(f: Fuzzer) -> None:
    block = f.block()
    op = f.schedule.get(block)
    assert isinstance(op, BlockOp)
    order = f.random.sample(range(len(op.iters)), len(op.iters))
    turned = tuple(AffineExpr.dimension(d) for d in order)
    f.schedule.transform_block_layout(block, AffineMap(len(order), 0, turned))


PRIMITIVES: dict[str, Callable[[Fuzzer], object]] = {
    "split": lambda f: f.schedule.split(f.loop(), [None, f.random.choice([1, 2, 3, 4])]),
    "fuse": _fuse,
    "reorder": _reorder,
    "parallel": lambda f: f.schedule.parallel(f.loop()),
    "vectorize": lambda f: f.schedule.vectorize(f.loop()),
    "unroll": lambda f: f.schedule.unroll(f.loop()),
    "add_unit_loop": lambda f: f.schedule.add_unit_loop(f.block()),
    "cache_read": lambda f: f.schedule.cache_read(f.block(), f.random.randrange(2), "global"),
    "cache_write": lambda f: f.schedule.cache_write(f.block(), 0, "global"),
    "reindex": lambda f: f.schedule.reindex(f.block(), f.random.choice([("read", 0), ("read", 1), ("write", 0)])),
    "compute_at": lambda f: f.schedule.compute_at(f.block(), f.loop(), f.random.random() < 0.5),
    "reverse_compute_at": lambda f: f.schedule.reverse_compute_at(f.block(), f.loop(), f.random.random() < 0.5),
    "compute_inline": lambda f: f.schedule.compute_inline(f.block()),
    "reverse_compute_inline": lambda f: f.schedule.reverse_compute_inline(f.block()),
    "decompose_reduction": lambda f: f.schedule.decompose_reduction(f.block(), f.loop()),
    "rfactor": lambda f: f.schedule.rfactor(f.loop(), f.random.choice([0, 1, -1])),
    "transform_layout": _layout,
    "transform_block_layout": _block_layout,
    "fuse_iters": lambda f: f.schedule.fuse_iters(f.block(), f.random.randrange(3)),
    "set_scope": lambda f: f.schedule.set_scope(f.block(), 0, f.random.choice(["local", "global"])),
    "sample_compute_location": lambda f: f.schedule.compute_at(
        block := f.block(), f.schedule.sample_compute_location(block)
    ),
}

HARMLESS = {"unroll", "split", "add_unit_loop"}
"""What is not run at once, but with what follows."""
