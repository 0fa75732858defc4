"""`MultiLevelTiling`: tiles of tiles, whose sizes are sampled, around a block that reads the same elements often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, MemRefType, f16, f32, i8
from xdsl.ir import Attribute

from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.hints import isa
from ..dialects.tir.core import BlockOp, IterKind, OuterBlockOp
from ..transforms.tir.analysis.block_scopes import buffers_of
from ..transforms.tir.schedule.errors import ScheduleError
from ..transforms.tir.scheduling.handles import BlockRV, LoopRV
from ..transforms.tir.scheduling.schedule import Schedule
from .conditions import (
    TILED,
    is_write_cache,
    loop_kind,
    loops_around,
    needs_multi_level_tiling,
    op_of,
    rank_of_input,
)
from .rule import Context, ScheduleRule

LANES: dict[Attribute, tuple[int, ...]] = {f32: (1, 2, 3, 4), f16: (1, 2, 4, 6, 8), i8: tuple(range(1, 17))}
"""Elements of a type that threads may load at once; any number of others."""
COOPERATIVE = "meta_schedule.cooperative_fetch"
"""The annotation of a copy that threads load together: how many elements each loads at once."""
LOW, HIGH = (f"meta_schedule.thread_extent_{which}_inclusive" for which in ("low", "high"))
"""The annotations of a tiled block: how many threads there are around it, at least and at most."""
WRITE_LEVELS = "meta_schedule.write_cache_level"
"""An annotation of a block: the levels at which its results must be written back, from 1."""


@dataclass(frozen=True)
class ReuseType:
    """Where copies of what a block reads, or of what it writes, lie. Counterpart of TVM's `ReuseType`.

    Args:
        req: `"no"` copies, `"may"` for designs with and without, `"must"`.
        levels: the copy is made in the last loop of the tiles of this level, from 1: a design for each.
        scope: the memory of the copies.
    """

    req: str
    levels: Sequence[int]
    scope: str

    def __post_init__(self) -> None:
        if self.req not in ("no", "may", "must"):
            raise UsageError(f"req is 'no', 'may' or 'must', not {self.req!r}")


NONE = ReuseType("no", (), "")


@dataclass
class State:
    """A design that is being made: where its tiles are, by level."""

    sch: Schedule
    block: BlockRV
    tiles: list[list[LoopRV]]
    written: BlockRV | None = None
    """What copies the result."""
    read: list[BlockRV] = field(default_factory=list[BlockRV])
    """What copies the inputs, by their order."""

    def copy(self) -> State:
        """The same point, from which another design follows. Handles stand for the same there."""
        return replace(self, sch=self.sch.copy(), tiles=[list(level) for level in self.tiles], read=list(self.read))


@checked_methods
@dataclass
class MultiLevelTiling(ScheduleRule):
    """Tiles each loop as `structure` says. Counterpart of TVM's rule of this name.

    Args:
        structure: a letter for each level, from outside: `S` of spatial loops, `R` of reducing ones.
        tile_binds: the threads that the first levels are bound to.
        max_innermost_factor: the largest size of the innermost tiles.
        vector_load_lens: how many elements a thread may load at once into a copy; one is sampled.
        reuse_read: copies of what is read, `"no"` or `"must"`.
        reuse_write: copies of what is written.
        filter_fn: tells of a schedule and a block whether to tile what the rule would not.
    """

    structure: str
    tile_binds: Sequence[str] | None = None
    max_innermost_factor: int | None = None
    vector_load_lens: Sequence[int] | None = None
    reuse_read: ReuseType | None = None
    reuse_write: ReuseType | None = None
    filter_fn: Callable[[Schedule, BlockRV], object] | None = None
    _threads: tuple[int, int] | None = field(default=None, init=False, repr=False)
    """Those that run together, and the most in a block, of a GPU."""

    def __post_init__(self) -> None:
        if not self.structure or set(self.structure) - {"S", "R"}:
            raise UsageError(f"the structure of tiles is of S and R, not {self.structure!r}")
        for given in (self.reuse_read, self.reuse_write):
            if given is not None and any(not 1 <= level <= len(self.structure) for level in given.levels):
                raise UsageError(f"the levels of {self.structure} are 1 to {len(self.structure)}, not {given.levels}")
        if self.reuse_read is not None and self.reuse_read.req == "may":
            raise UsageError("copies of what is read are made or not: 'no' or 'must', not 'may'")

    def initialize_with_tune_context(self, context: Context) -> None:
        """Take from a GPU how many threads it runs."""
        target = context.target
        if target.is_gpu:
            self._threads = (target.limit("thread_warp_size"), target.limit("max_threads_per_block"))

    def apply(self, sch: Schedule, block: BlockRV) -> list[Schedule]:
        """The tiled designs, as many as there are levels for copies, without those in which a copy cannot stand where
        it should; where there is none, the block stays as it is."""
        op = op_of(sch, block)
        if not isinstance(op, BlockOp):
            return [sch]
        chosen = self.filter_fn is not None and self.filter_fn(sch, block)
        if not (chosen or needs_multi_level_tiling(op)):
            return [sch]
        untiled = sch.copy()
        tile = self._innermost(sch, block)
        if tile is None:
            return [untiled]
        sch.annotate(tile, TILED, self.structure)
        tiled = self._tile(sch, tile)
        return [done.sch for state in self._reuse_written(tiled) for done in self._reuse_read(state)] or [untiled]

    def _innermost(self, sch: Schedule, block: BlockRV) -> BlockRV | None:
        """What stands in the innermost tiles; `None` where the block is not to be tiled."""
        return block

    def _tile(self, sch: Schedule, block: BlockRV) -> State:
        op = op_of(sch, block)
        levels = {
            kind: [n for n, letter in enumerate(self.structure) if letter == word]
            for kind, word in ((IterKind.SPATIAL, "S"), (IterKind.REDUCE, "R"))
        }
        tiles: list[list[LoopRV]] = [[] for _ in self.structure]
        around = loops_around(op)
        kinds = [loop_kind(loop) for loop in around]
        sizes = [loop.size for loop, kind in zip(around, kinds, strict=True) if kind is IterKind.SPATIAL]
        for loop, kind in zip(sch.get_loops(block), kinds, strict=True):
            if not (places := levels.get(kind, [])):
                continue
            parts = [loop]
            if len(places) > 1:
                most = -1 if self.max_innermost_factor is None else self.max_innermost_factor
                parts = sch.split(loop, sch.sample_perfect_tile(loop, len(places), most))
            for place, part in zip(places, parts, strict=True):
                tiles[place].append(part)
        sch.reorder(*(loop for level in tiles for loop in level))
        for number, thread in enumerate((self.tile_binds or ())[: len(tiles)]):
            fused = sch.fuse(*tiles[number])
            sch.bind(fused, thread)
            tiles[number] = [fused]
        if self._threads is not None:
            warp, most = self._threads
            elements = 1
            for size in sizes:
                elements = elements * size if isinstance(size, int) else 0
            sch.annotate(block, LOW, warp if elements > 2 * warp else 1)
            sch.annotate(block, HIGH, most)
        return State(sch, block, tiles)

    def _reuse_written(self, state: State) -> list[State]:
        how = self.reuse_write or NONE
        if how.req == "no":
            return [state]
        levels, req = list(how.levels), how.req
        asked = op_of(state.sch, state.block).attributes.get(WRITE_LEVELS)
        if asked is not None:
            levels, req = _levels(asked), "must"
        results: list[State] = []
        if req == "may":
            readers = state.sch.get_consumers(state.block)
            only = op_of(state.sch, readers[0]) if len(readers) == 1 else None
            if isinstance(only, BlockOp) and is_write_cache(only):
                return [*self._written_at(state, readers[0], levels), state]
            results.append(state.copy())
        with suppress(ScheduleError):  # as where another block writes the buffer too
            copy = state.sch.cache_write(state.block, 0, how.scope)
            results += self._written_at(state, copy, levels)
        return results

    def _written_at(self, state: State, copy: BlockRV, levels: Sequence[int]) -> list[State]:
        results: list[State] = []
        for level in levels:
            made = state.copy()
            with suppress(ScheduleError):
                made.sch.reverse_compute_at(copy, made.tiles[level - 1][-1], preserve_unit_loops=True)
                made.written = copy
                results.append(made)
        return results

    def _reuse_read(self, state: State) -> list[State]:
        how = self.reuse_read or NONE
        if how.req == "no":
            return [state]
        results: list[State] = []
        for level in how.levels:
            made = state.copy()
            sch, loop = made.sch, made.tiles[level - 1][-1]
            block = op_of(sch, state.block)
            assert isinstance(block, BlockOp | OuterBlockOp)  # what an intrinsic computes is one of blocks
            reads, written = buffers_of(block, "read"), buffers_of(block, "write")
            inputs = [buffer for buffer in reads if buffer not in written]
            with suppress(ScheduleError):
                for number in [reads.index(buffer) for buffer in inputs]:
                    rank = rank_of_input(reads[number])
                    copy = sch.cache_read(state.block, number, how.scope, [state.block])
                    sch.compute_at(copy, loop, preserve_unit_loops=True)
                    sch.fuse(*sch.get_loops(copy)[-rank:])
                    self._share_loads(sch, copy)
                    made.read.append(copy)
                results.append(made)
        return results

    def _share_loads(self, sch: Schedule, copy: BlockRV) -> None:
        """Say that threads load a copy together, so many elements at once."""
        type = cast(BlockOp, op_of(sch, copy)).writes[0].type
        assert isa(type, MemRefType[Attribute])
        valid = LANES.get(type.element_type)
        lanes = [n for n in self.vector_load_lens or () if valid is None or n in valid]
        if lanes:
            count = sch.sample_categorical(lanes, [1.0 / len(lanes)] * len(lanes))
            sch.annotate(copy, COOPERATIVE, count)


def _levels(asked: Attribute) -> list[int]:
    numbers = list(cast("Sequence[Attribute]", getattr(asked, "data", ())))
    if not numbers or not all(isinstance(each, IntegerAttr) for each in numbers):
        raise UsageError(f"the annotation '{WRITE_LEVELS}' is a list of levels, not {asked}")
    return [each.value.data for each in numbers if isinstance(each, IntegerAttr)]
