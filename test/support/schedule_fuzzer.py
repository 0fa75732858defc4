"""Primitives of `weft.tir.Schedule`, applied at random."""

from __future__ import annotations

import random
from collections.abc import Callable

from tvmscript_texts import function, only
from xdsl.dialects.builtin import MemRefType
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.utils.exceptions import VerifyException

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.tir.core import AllocBufferOp, BlockOp, ForOp, memref_of
from weft.tir import BlockRV, LoopRV, Schedule, ScheduleError, TensorIntrin


class Fuzzer:
    """Applies primitives at random to a function; those for devices, or that sample, too, where asked."""

    def __init__(self, schedule: Schedule, seed: int, threads: bool = False, sampling: bool = False):
        self.schedule = schedule
        self.random = random.Random(seed)
        self.primitives = PRIMITIVES | (FOR_THREADS if threads else {}) | (SAMPLING if sampling else {})
        self.applied: list[str] = []
        buffers = [arg for arg in only(schedule).region.block.args if isinstance(arg.type, MemRefType)]
        element = str(memref_of(buffers[-1]).element_type)
        self.dtype = element.replace("f", "float") if element.startswith("f") else element.replace("i", "int")
        if element == "i1":
            self.dtype = "int32"  # there are no products of truth values

    def block(self, likely: Callable[[BlockOp], bool] = lambda op: True) -> BlockRV:
        """A block, mostly one that is `likely` to be what a primitive is for."""
        blocks = [op for op in only(self.schedule).walk() if isinstance(op, BlockOp)]
        fitting = [op for op in blocks if likely(op)]
        chosen = self.random.choice(fitting if fitting and self.maybe(0.8) else blocks)
        same = [op for op in blocks if op.block_name == chosen.block_name]
        return self.schedule.get_block(chosen.block_name, number=same.index(chosen))

    def op(self, block: BlockRV) -> BlockOp:
        op = self.schedule.operation(block)
        if not isinstance(op, BlockOp):
            raise ScheduleError("an outer block")
        return op

    def nest(self) -> list[LoopRV]:
        for _ in range(5):
            if loops := self.schedule.get_loops(self.block()):
                return loops
        raise ScheduleError("there is no loop")

    def loop(self) -> LoopRV:
        return self.random.choice(self.nest())

    def around(self, block: BlockRV) -> LoopRV:
        """A loop around a block, else another one."""
        return self.random.choice(self.schedule.get_loops(block) or self.nest())

    def near(self, find: Callable[[BlockRV], list[BlockRV]]) -> tuple[BlockRV, LoopRV]:
        """A block, and mostly a loop around what `find` gives for it."""
        for _ in range(6):
            block = self.block()
            if (others := find(block)) and (loops := self.schedule.get_loops(self.random.choice(others))):
                return block, self.random.choice(loops)
        return self.block(), self.loop()

    def maybe(self, likely: float = 0.5) -> bool:
        return self.random.random() < likely

    def step(self, favourite: str | None = None) -> bool:
        """One primitive; whether it was accepted. What is refused has changed nothing."""
        name = favourite if favourite and self.maybe(0.3) else self.random.choice(list(self.primitives))
        before = str(self.schedule.mod)
        try:
            self.primitives[name](self)
        except ScheduleError:
            after = str(self.schedule.mod)
            assert name in COMPOSED or after == before, f"{name} was refused, but has changed\n{before}\nto\n{after}"
            return after != before
        except (Diagnostic, VerifyException) as error:
            raise AssertionError(f"{name} after {self.applied} on\n{before}\n{error}") from error
        self.applied.append(name)
        for op in only(self.schedule).walk():
            for result in (*op.results, *(arg for region in op.regions for b in region.blocks for arg in b.args)):
                for use in result.uses:
                    assert only(self.schedule).is_ancestor(use.operation), f"{name} has left {use.operation}"
        return True

    def is_valid(self) -> bool:
        """Whether the function stands for itself: a private buffer may wait for a primitive that parts its users."""
        try:
            only(self.schedule).verify()
        except (Diagnostic, VerifyException) as error:
            assert 'scope "local"' in str(error) or "each thread's own" in str(error), (self.applied, str(error))
            return False
        return True


def _split(f: Fuzzer) -> None:
    loop, number = f.loop(), f.random.randint
    loop_op = f.schedule.operation(loop)
    assert isinstance(loop_op, ForOp)
    by = number(1, 4)
    factors = f.random.choice(
        [[None, number(1, 5)], [number(1, 4), None], [None, number(1, 3), number(1, 3)], [number(1, 2), None, 2, 2]]
    )
    if f.maybe(0.2) and not loop_op.is_symbolic:
        factors = [-(-loop_op.trip_count // by), by]
    f.schedule.split(loop, factors, preserve_unit_iters=f.maybe())


def _fuse(f: Fuzzer) -> None:
    loops = f.nest()
    start = f.random.randrange(len(loops))
    f.schedule.fuse(*loops[start : start + f.random.randint(2, 3)], preserve_unit_iters=f.maybe())


def _merge(f: Fuzzer) -> None:
    f.schedule.merge(f.nest()[0], f.nest()[0])


def _reorder(f: Fuzzer) -> None:
    loops = f.nest()
    f.schedule.reorder(*f.random.sample(loops, f.random.randint(1, len(loops))))


def _cache_read(f: Fuzzer) -> None:
    consumers = [f.block()] if f.maybe(0.2) else None
    f.schedule.cache_read(f.block(), f.random.randrange(2), f.random.choice(SCOPES), consumers)


def _move(f: Fuzzer, primitive: Callable[..., None], find: Callable[[BlockRV], list[BlockRV]]) -> BlockRV:
    block, loop = f.near(find)
    place = [f.random.choice([-1, -2, 0, 1])] if f.maybe(0.3) else []
    primitive(block, loop, f.maybe(), *place)
    return block


def _rolling(f: Fuzzer) -> None:
    """`rolling_buffer` is for what is computed where it is used."""
    block = _move(f, f.schedule.compute_at, f.schedule.get_consumers)
    f.schedule.rolling_buffer(block, 0)


def _map(f: Fuzzer, extents: tuple[int, ...] | None, rank: int, within: bool) -> AffineMap:
    """Dimensions in another order, some in two parts, or joined; with gaps and offsets unless `within` the old ones."""
    results: list[AffineExpr] = []
    for d in f.random.sample(range(rank), rank):
        kind, dim = f.random.random(), AffineExpr.dimension(d)
        if kind < 0.25:
            by = f.random.randint(2, 4)
            results += [dim // by, dim % by]
        elif kind < 0.32 and not within:
            results.append(dim + f.random.randint(0, 2))
        elif kind < 0.38 and extents and extents[d] >= 0:
            results.append(dim * -1 + (extents[d] - 1))
        elif kind < 0.45 and results and extents and extents[d] >= 0:
            results[-1] = results[-1] * extents[d] + dim
        else:
            results.append(dim)
    return AffineMap(rank, 0, tuple(results))


def _layout(f: Fuzzer) -> None:
    block = f.block()
    op, kind = f.op(block), f.random.choice(["read", "write"])
    buffers = op.reads if kind == "read" else op.writes
    if not buffers or buffers[0].owner is only(f.schedule).region.block:
        return  # what the caller gives and takes stays as it is
    index = f.random.randrange(len(buffers))
    if buffers[index].owner is only(f.schedule).region.block:
        return
    shape = memref_of(buffers[index]).get_shape()
    value = f.random.choice([0, 7]) if f.maybe(0.25) else None
    f.schedule.transform_layout(block, (kind, index), _map(f, shape, len(shape), False), pad_value=value)


def _block_layout(f: Fuzzer) -> None:
    block = f.block()
    op = f.op(block)
    extents = tuple(size if isinstance(size, int) else -1 for size in op.sizes)
    f.schedule.transform_block_layout(block, _map(f, extents, len(op.iters), False))


def _separator(f: Fuzzer) -> None:
    block = f.block(_copies)
    op = f.op(block)
    if f.maybe(0.7) or not op.writes or op.writes[0].owner is only(f.schedule).region.block:
        raise ScheduleError("machine code has no memory of several dimensions")
    f.schedule.set_axis_separator(block, ("write", 0), [1])


def _reduces(op: BlockOp) -> bool:
    return op.init is not None


def _copies(op: BlockOp) -> bool:
    """Whether a block computes an element of a buffer that is not passed."""
    return op.init is None and len(op.writes) == 1 and isinstance(op.writes[0].owner, AllocBufferOp)


def _decompose(f: Fuzzer, primitive: Callable[[BlockRV, LoopRV], object], likely: Callable[[BlockOp], bool]) -> None:
    block = f.block(likely)
    primitive(block, f.around(block))


def _fuse_dims(f: Fuzzer) -> None:
    """Dimensions are fused where their iterators are."""
    block = f.block(lambda op: op.init is None and len(op.iters) > 1)
    first, accesses = f.random.randrange(2), [("write", 0), f.random.choice(ACCESSES)]
    f.schedule.fuse_iters(block, first)
    f.schedule.fuse_buffer_dims(block, f.random.choice(accesses), first)


def _rfactor(f: Fuzzer) -> None:
    f.schedule.rfactor(f.around(f.block(_reduces)), f.random.choice([0, 1, -1]))


def _tensorize(f: Fuzzer) -> None:
    """A product in tiles of 2 by 2 by 2, and an intrinsic for one."""
    block = f.block(lambda op: len(op.iters) == 3 and op.init is not None and len(op.reads) == 2)
    loops = f.schedule.get_loops(block)
    halves = [f.schedule.split(loop, [None, 2]) for loop in loops[-3:]]
    if len(halves) != 3:
        raise ScheduleError("not a product")
    order = [half[0] for half in halves] + [half[1] for half in halves]
    f.schedule.reorder(*order)
    if f.maybe():
        f.schedule.decompose_reduction(block, order[2])
    intrinsic = tile(f.dtype, f.maybe())
    f.schedule.tensorize(f.schedule.blockize(order[3]) if f.maybe(0.3) else order[3], intrinsic)


def _annotate(f: Fuzzer) -> None:
    target = f.block() if f.maybe() else f.loop()
    key = f.random.choice(["pragma_auto_unroll_max_step", "foo"])
    if f.maybe(0.8):
        f.schedule.annotate(target, key, f.random.choice([1, 16]))
    else:
        f.schedule.unannotate(target, key)


def _sample_compute(f: Fuzzer) -> None:
    block = f.block()
    f.schedule.compute_at(block, f.schedule.sample_compute_location(block))


def _sample_tile(f: Fuzzer) -> None:
    loop = f.loop()
    f.schedule.split(loop, f.schedule.sample_perfect_tile(loop, f.random.randint(1, 3), f.random.choice([2, 4, 16])))


SCOPES = ("global", "local")
ACCESSES = (("read", 0), ("read", 1), ("write", 0))

PRIMITIVES: dict[str, Callable[[Fuzzer], object]] = {
    "split": _split,
    "fuse": _fuse,
    "merge": _merge,
    "reorder": _reorder,
    "parallel": lambda f: f.schedule.parallel(f.loop()),
    "vectorize": lambda f: f.schedule.vectorize(f.loop()),
    "unroll": lambda f: f.schedule.unroll(f.loop()),
    "add_unit_loop": lambda f: f.schedule.add_unit_loop(f.block() if f.maybe() else f.loop()),
    "cache_read": _cache_read,
    "cache_write": lambda f: f.schedule.cache_write(f.block(), 0, f.random.choice(SCOPES)),
    "cache_inplace": lambda f: f.schedule.cache_inplace(f.block(), f.random.choice([0, 0, 1]), "global"),
    "cache_index": lambda f: f.schedule.cache_index(f.block(), "global", f.random.choice([0, 0, 1, 2])),
    "reindex": lambda f: f.schedule.reindex(f.block(), f.random.choice(ACCESSES)),
    "compute_at": lambda f: _move(f, f.schedule.compute_at, f.schedule.get_consumers),
    "reverse_compute_at": lambda f: _move(f, f.schedule.reverse_compute_at, f.schedule.get_producers),
    "compute_inline": lambda f: f.schedule.compute_inline(f.block(_copies)),
    "reverse_compute_inline": lambda f: f.schedule.reverse_compute_inline(f.block(lambda op: op.init is None)),
    "decompose_reduction": lambda f: _decompose(f, f.schedule.decompose_reduction, _reduces),
    "decompose_padding": lambda f: _decompose(f, f.schedule.decompose_padding, lambda op: op.init is None),
    "pad_einsum": lambda f: f.schedule.pad_einsum(
        block := f.block(_reduces), [f.random.randint(1, 4) for _ in f.op(block).iters]
    ),
    "rfactor": _rfactor,
    "rolling_buffer": _rolling,
    "storage_align": lambda f: f.schedule.storage_align(
        f.block(), 0, f.random.choice([0, -1, -2]), f.random.choice([1, 2, 4, 8]), f.random.choice([0, 1, 3])
    ),
    "set_axis_separator": _separator,
    "set_scope": lambda f: f.schedule.set_scope(f.block(), 0, f.random.choice(SCOPES)),
    "transform_layout": _layout,
    "transform_block_layout": _block_layout,
    "fuse_iters": lambda f: f.schedule.fuse_iters(f.block(lambda op: len(op.iters) > 1), f.random.randrange(3)),
    "fuse_buffer_dims": _fuse_dims,
    "blockize": lambda f: f.schedule.blockize(f.loop(), f.maybe()),
    "tensorize": _tensorize,
    "annotate": _annotate,
    "sample_compute_location": _sample_compute,
    "sample_perfect_tile": _sample_tile,
}
FOR_THREADS: dict[str, Callable[[Fuzzer], object]] = {
    name: lambda f: f.schedule.bind(f.loop(), f.random.choice(AXES)) for name in ("bind", "bind again", "and again")
}
"""What a device has; as often as what loops are otherwise."""
SAMPLING: dict[str, Callable[[Fuzzer], object]] = {
    "sample_categorical": lambda f: f.schedule.split(
        f.loop(), [None, f.schedule.sample_categorical([2, 3, 5], [0.5, 0.25, 0.25])]
    ),
}
"""Of functions of several element types: their cases came later."""
AXES = ("threadIdx.x", "threadIdx.x", "threadIdx.y", "blockIdx.x", "blockIdx.y", "vthread.x")
COMPOSED = {
    "fuse_buffer_dims",
    "rolling_buffer",
    "tensorize",
    "sample_compute_location",
    "sample_perfect_tile",
    "sample_categorical",
}
"""What is several primitives, of which a later one may be refused."""
HARMLESS = {"unroll", "split", "add_unit_loop", "annotate"}
"""What is not run at once, but with what follows."""


def tile(dtype: str, turned: bool) -> str:
    """The name of an intrinsic that adds a product of 2 by 2 numbers, registered."""
    name = f"fuzz_tile_{dtype}{'_turned' if turned else ''}"
    second = "vj, vk" if turned else "vk, vj"
    parameters = ", ".join(f'{each}: T.Buffer((2, 2), "{dtype}")' for each in "abc")

    def text(loops: str, kinds: str) -> str:
        return f"""@T.prim_func
def tile({parameters}):
    with T.block("root"):
        vi, vj, vk = T.axis.remap("SSR", [0, 0, 0])
        T.reads(c[0:2, 0:2], a[0:2, 0:2], b[0:2, 0:2])
        T.writes(c[0:2, 0:2])
        for {loops} in T.grid(2, 2, 2):
            with T.block("update"):
                {kinds}
                c[vi, vj] = c[vi, vj] + a[vi, vk] * b[{second}]
""".replace('vi, vj, vk = T.axis.remap("SSR", [0, 0, 0])\n        ', "")

    described = text("i, j, k", 'vi, vj, vk = T.axis.remap("SSR", [i, j, k])')
    done = text("k, j, i", 'vk, vj, vi = T.axis.remap("RSS", [k, j, i])')
    TensorIntrin.register(name, function(described), function(done), override=True)
    return name
