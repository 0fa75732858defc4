"""`MultiLevelTilingTensorCore`: tiles of products of matrices that tensor cores compute, copied to their fragments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import MemRefType, f16, i8
from xdsl.ir import Attribute

from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import UsageError
from ..dialects.support.hints import isa
from ..dialects.tir.core import BlockOp, ForOp
from ..dialects.tir.thread_axes import WARP_AXIS
from ..transforms.tir.analysis.block_scopes import buffers_of
from ..transforms.tir.intrinsics.tensor_intrin import TensorIntrin
from ..transforms.tir.schedule.errors import ScheduleError
from ..transforms.tir.scheduling.handles import BlockRV
from ..transforms.tir.scheduling.schedule import Schedule
from ..transforms.tir.scheduling.tensorizing import get_auto_tensorize_mapping_info, tile_with_tensor_intrin
from .conditions import TILED, inputs_of, needs_multi_level_tiling, op_of
from .multi_level_tiling import MultiLevelTiling, State
from .postprocs import AUTO_TENSORIZE, AUTO_TENSORIZE_INIT, WARP_EXECUTION

KEYS = ("init", "load_a", "load_b", "compute", "store")
"""What a group of intrinsics has."""
PADDED: dict[Attribute, int] = {f16: 8, i8: 16}
"""By how many elements rows of shared memory are longer than a multiple of 32, so that its banks are read together."""


@dataclass
class _Product(State):
    """A design of a product of matrices."""

    group: Mapping[str, str] = field(default_factory=dict[str, str])
    """The names of the intrinsics."""
    reindexed: list[BlockRV] = field(default_factory=list[BlockRV])
    """What lays out the factors as the intrinsics take them."""
    store: BlockRV | None = None
    """What lays the product out as it was."""
    factors: tuple[int, ...] = ()
    """Which buffers that the block reads are the first and the second factor."""


@checked_methods
@dataclass
class MultiLevelTilingTensorCore(MultiLevelTiling):
    """Tiles a product of matrices, or what is one in another layout, as a convolution, so that tensor cores compute the
    innermost tile. Counterpart of TVM's rule of this name.

    The factors go through shared memory, as `reuse_read` says, into fragments, the product through a fragment and, as
    `reuse_write` says, through shared memory back. What a tensor core does becomes a block of its own, which says what
    is to compute it; `RewriteTensorize` lets it. No target makes code of fragments so far: `VerifyGPUCode` turns these
    designs down, and the interpreter of `tir` runs them. Parameters beyond these are those of `MultiLevelTiling`.

    Args:
        intrin_groups: candidates, each with the names of intrinsics for `"init"`, `"load_a"`, `"load_b"`, `"compute"`
            and `"store"`, known to `TensorIntrin`. There is a design for each that computes what the block does.
        use_software_pipeline: load the next tile while one is multiplied, where there are several.
    """

    intrin_groups: Sequence[Mapping[str, str]] = ()
    use_software_pipeline: bool = False

    def __init__(
        self,
        intrin_groups: Sequence[Mapping[str, str]],
        structure: str,
        *parameters: object,
        use_software_pipeline: bool = False,
        **named: object,
    ):
        super().__init__(structure, *parameters, **named)  # pyright: ignore[reportArgumentType]
        if WARP_AXIS in (self.tile_binds or ()):
            raise UsageError(
                f"{WARP_AXIS} is that of the threads which use a tensor core together: tiles are bound to others"
            )
        if structure.count("R") < 2 or structure.startswith("R"):
            raise UsageError(
                f"the structure {structure} has no two levels R for shared memory and fragments after an S"
            )
        for group in intrin_groups:
            if missing := [key for key in KEYS if key not in group]:
                raise UsageError(f"a group of intrinsics lacks {', '.join(missing)}")
            for key in KEYS:
                TensorIntrin.get(group[key])
        self.intrin_groups = intrin_groups
        self.use_software_pipeline = use_software_pipeline

    def apply(self, sch: Schedule, block: BlockRV) -> list[Schedule]:
        """The designs, for each group of intrinsics; where there is none, the block stays as it is."""
        op = op_of(sch, block)
        if not isinstance(op, BlockOp) or not needs_multi_level_tiling(op):
            return [sch]
        designs = [each for group in self.intrin_groups for each in self._designs(sch.copy(), block, group)]
        return [each.sch for each in designs] or [sch]

    def _designs(self, sch: Schedule, block: BlockRV, group: Mapping[str, str]) -> list[State]:
        try:
            product = self._as_product(sch, block, group)
            if product is None:
                return []
            tiled = self._tile(product.sch, product.block)
        except ScheduleError:
            return []
        product.tiles = tiled.tiles
        found: list[State] = []
        for written in self._reuse_written(product):
            try:
                self._store(cast(_Product, written))
                for read in self._reuse_read(written):
                    self._load(cast(_Product, read))
                    self._pipeline(read)
                    found.append(read)
            except ScheduleError:
                continue
        return found

    def _as_product(self, sch: Schedule, block: BlockRV, group: Mapping[str, str]) -> _Product | None:
        """The block in the layout of the intrinsics, its innermost tile a block of its own; `None` where it computes
        something else."""
        compute = TensorIntrin.get(group["compute"])
        op = op_of(sch, block)
        assert compute is not None and isinstance(op, BlockOp)
        inputs = inputs_of(op)
        info = get_auto_tensorize_mapping_info(sch, block, compute.desc)
        if info is None or len(inputs) != 2 or len(op.writes) != 1:
            return None
        *factors, product = compute.desc.region.block.args
        numbers = tuple(buffers_of(op, "read").index(info.buffers[each]) for each in factors)
        store = sch.reindex(block, ("write", 0))
        copies = [sch.reindex(block, ("read", number)) for number in numbers]
        for number, factor, copy in zip(numbers, factors, copies, strict=True):
            sch.transform_layout(block, ("read", number), info.layouts[factor])
            sch.transform_block_layout(copy, info.layouts[factor])
        sch.transform_layout(block, ("write", 0), info.layouts[product])
        sch.transform_block_layout(store, info.layouts[product])
        sch.transform_block_layout(block, info.mappings[0])
        loop = tile_with_tensor_intrin(sch, block, group["compute"], allow_padding=True)
        if loop is None:
            return None
        tile = sch.blockize(loop)
        sch.annotate(tile, TILED, self.structure)
        sch.annotate(tile, AUTO_TENSORIZE, group["compute"])
        sch.annotate(tile, AUTO_TENSORIZE_INIT, group["init"])
        sch.annotate(tile, WARP_EXECUTION, 1)
        return _Product(sch, tile, [], group=group, reindexed=copies, store=store, factors=numbers)

    def _store(self, state: _Product) -> None:
        """Let the product go through a fragment."""
        sch = state.sch
        assert state.store is not None
        copy = sch.cache_write(state.block, 0, "wmma.accumulator")
        around = state.tiles[self.structure.index("R") - 1][-1]
        sch.reverse_compute_at(copy, around, preserve_unit_loops=True)
        if state.written is not None:
            sch.fuse(*sch.get_loops(state.written)[-2:])
            self._share_loads(sch, state.written)
        sch.reverse_compute_inline(state.store)
        _let_compute(sch, copy, state.group["store"])

    def _load(self, state: _Product) -> None:
        """Let the factors go through fragments, and lie apart in shared memory."""
        sch = state.sch
        _, second = [number for number, letter in enumerate(self.structure) if letter == "R"][:2]
        for number, matrix in zip(state.factors, "ab", strict=True):
            copy = sch.cache_read(state.block, number, f"wmma.matrix_{matrix}")
            sch.compute_at(copy, state.tiles[second][-1], preserve_unit_loops=True)
            _let_compute(sch, copy, state.group[f"load_{matrix}"])
        for copy in state.reindexed:
            sch.compute_inline(copy)
        for copy in state.read:
            op = op_of(sch, copy)
            assert isinstance(op, BlockOp)
            type = op.writes[0].type
            assert isa(type, MemRefType[Attribute])
            if (more := PADDED.get(type.element_type)) is not None:
                sch.storage_align(copy, 0, -2, 32, more)

    def _pipeline(self, state: State) -> None:
        """Say that the next tile, and the next fragments of a tile, are loaded while one is multiplied."""
        levels = [number for number, letter in enumerate(self.structure) if letter == "R"]
        loops = [state.sch.operation(loop) for level in levels for loop in state.tiles[level]]
        if not self.use_software_pipeline or not any(isinstance(each, ForOp) and each.size != 1 for each in loops):
            return
        for copy in state.read:
            state.sch.annotate(copy, "tir.manifest_shared_memory_local_stage", 1)
            state.sch.annotate(copy, "double_buffer_scope", 0)
        for level, stage, order in (
            (levels[1], [0, 0, 1], [0, 1, 2]),
            (levels[0], [0, 0, 0, 0, 0, 1, 1], [0, 3, 1, 4, 5, 2, 6]),
        ):
            state.sch.annotate(state.tiles[level][-1], "software_pipeline_stage", stage)
            state.sch.annotate(state.tiles[level][-1], "software_pipeline_order", order)


def _let_compute(sch: Schedule, block: BlockRV, intrin_name: str) -> None:
    """Say that an intrinsic is to compute the innermost tiles of a block.

    Raises:
        ScheduleError: they are none of its.
    """
    if (loop := tile_with_tensor_intrin(sch, block, intrin_name)) is None:
        raise ScheduleError(f"{intrin_name} does not compute tiles of @{block}")
    sch.annotate(sch.blockize(loop), AUTO_TENSORIZE, intrin_name)
