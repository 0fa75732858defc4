"""`weft.tir.Schedule`: primitives under TVM's names, recorded as they are applied.

schedule = Schedule(module)
block = schedule.get_block("matmul")
i, j, k = schedule.get_loops(block)
i_0, i_1 = schedule.split(i, [None, 16])
print(schedule.mod, schedule.trace)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.affine import AffineExpr, AffineMap

from ....dialects.schedule import blocks, loops, queries
from ....dialects.schedule.core import HANDLE
from ....dialects.support.arguments import checked_methods
from ....dialects.support.diagnostics import UsageError
from ....dialects.support.dtypes import scalar_type
from ....dialects.te.expr import Const, Expr
from ....dialects.tir.core import PrimFuncOp, memref_of
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.script.modules import IRModule
from ..analysis.block_scopes import buffers_of
from ..analysis.producers import function_of
from ..schedule.cache_index import check_cache_index
from ..schedule.checks import LAST
from ..schedule.decompose_padding import check_decompose_padding
from ..schedule.errors import ScheduleError
from .buffer_names import BufferName, buffer_of, index_of, other_readers
from .handles import BlockRV, ExprRV, LoopRV
from .index_maps import IndexMap, affine_map_of, layout_of, rank_of
from .traced_schedule import LEVELS, TracedSchedule, whole_methods


@whole_methods
@checked_methods
class Schedule(TracedSchedule):
    """A module that is being scheduled. Counterpart of TVM's `tir.Schedule`.

    Each method applies one instruction to `mod`, at once, and records it in `trace`. One that does not apply raises a
    `ScheduleError`, and leaves both as they were. Handles stand for the same block or loop whatever is done around it;
    where a primitive takes one away, its handles are stale, and using them says what took it.

    Args:
        mod: the module or the function; a copy of it is scheduled.
        seed: for decisions that are sampled; without one, each schedule draws others.
        debug_mask: `"all"`, or a number that is not 0, verifies the module after each instruction that may change it;
            what was wrong with it before, as it may be of a function that was read unverified, is of no account.
        error_render_level: what is said of an instruction that does not apply: `"detail"`, with the place and how to go
            on; `"fast"`, the sentence; `"none"`, nothing but that it does not.
    """

    def __init__(
        self,
        mod: ModuleOp | PrimFuncOp,
        *,
        seed: int | None = None,
        debug_mask: str | int = "none",
        error_render_level: str = "detail",
    ):
        if isinstance(debug_mask, int):
            debug_mask = "all" if debug_mask else "none"
        if debug_mask not in ("none", "all"):
            raise ValueError(f"debug_mask is 'none' or 'all', not {debug_mask!r}")
        if error_render_level not in LEVELS:
            raise ValueError(f"error_render_level is {', '.join(map(repr, LEVELS))}, not {error_render_level!r}")
        self._level = error_render_level
        module = IRModule.of(mod)
        functions = [op.sym_name.data for op in module.ops if isinstance(op, PrimFuncOp)]
        self._start(module, functions[0] if len(functions) == 1 else None, seed, debug_mask)

    def __repr__(self) -> str:
        functions = ", ".join(f"@{op.sym_name.data}" for op in self.mod.ops if isinstance(op, PrimFuncOp))
        return f"tir.Schedule({functions}, {len(self.trace.insts)} instructions)"

    # queries

    def get_block(self, name: str, func_name: str | None = None, number: int | None = None) -> BlockRV:
        """The block of a name; `number` tells blocks of one name apart. `"b_update"` is a block `b` without `init`."""
        return self._block(queries.GetBlockOp.of(block=name, function=func_name, number=number))

    def get_loops(self, block: BlockRV | str) -> list[LoopRV]:
        """The loops around a block, outermost first."""
        return self._many(LoopRV, queries.GetLoopsOp, self._named(block))

    def get_child_blocks(self, block_or_loop: BlockRV | LoopRV) -> list[BlockRV]:
        """The blocks in a loop."""
        return self._many(BlockRV, queries.GetChildBlocksOp, block_or_loop)

    def get_producers(self, block: BlockRV | str) -> list[BlockRV]:
        """The blocks that write what a block reads."""
        return self._many(BlockRV, queries.GetProducersOp, self._named(block))

    def get_consumers(self, block: BlockRV | str) -> list[BlockRV]:
        """The blocks that read what a block writes."""
        return self._many(BlockRV, queries.GetConsumersOp, self._named(block))

    # sampling

    def sample_perfect_tile(
        self, loop: LoopRV, n: int, max_innermost_factor: int = 16, decision: Sequence[int] | None = None
    ) -> list[ExprRV]:
        """`n` factors of a loop's extent, the innermost of at most `max_innermost_factor`; -1 for any."""
        op = queries.SamplePerfectTileOp.of(
            loop.value, results=n, max_innermost=max_innermost_factor, decision=_maybe_list(decision)
        )
        return [ExprRV(value) for value in self.apply(op)]

    def sample_categorical(
        self, candidates: Sequence[int], probs: Sequence[float], decision: int | None = None
    ) -> ExprRV:
        """One of `candidates`; the decision is its number."""
        op = queries.SampleCategoricalOp.of(
            candidates=list(candidates), probs=[float(p) for p in probs], decision=decision
        )
        return ExprRV(self.apply(op)[0])

    def sample_compute_location(self, block: BlockRV | str, decision: int | None = None) -> LoopRV:
        """A loop to compute a block in; -2 stands for inlining it, -1 for leaving it."""
        return self._loop(queries.SampleComputeLocationOp.of(self._named(block).value, decision=decision))

    def enter_postproc(self) -> None:
        """Mark that what follows repairs what was chosen."""
        self.apply(queries.EnterPostprocOp.of())

    # loops

    def split(
        self,
        loop: LoopRV,
        factors: Sequence[int | ExprRV | Const | Expr | IndexMap | None],
        preserve_unit_iters: bool = True,
    ) -> list[LoopRV]:
        """As many loops as factors, outermost first; at most one is `None`, and inferred. A factor behind an outermost
        `None` may be one of the function's sizes, of its `params`, or a function of them all, which is positive at each
        call from then on. A loop of one iteration leaves no trace in what blocks are bound to, whatever
        `preserve_unit_iters` says."""
        handles = [factor.value for factor in factors if isinstance(factor, ExprRV)]
        numbers = [
            factor if factor is None or isinstance(factor, int | ExprRV) else self._factor(loop, factor)
            for factor in factors
        ]
        listed: list[object] = [HANDLE if isinstance(factor, ExprRV) else factor for factor in numbers]
        unit = None if preserve_unit_iters else False
        op = loops.SplitOp.of(loop.value, *handles, results=len(factors), factors=listed, preserve_unit_iters=unit)
        return [LoopRV(value) for value in self.apply(op)]

    def fuse(self, *fused: LoopRV, preserve_unit_iters: bool = True) -> LoopRV:
        """Directly nested loops, outermost first, as one."""
        unit = None if preserve_unit_iters else False
        return self._loop(loops.FuseOp.of(*(loop.value for loop in fused), preserve_unit_iters=unit))

    def merge(self, *merged: LoopRV) -> LoopRV:
        """Loops that follow one another, in this order, as one."""
        return self._loop(loops.MergeOp.of(*(loop.value for loop in merged)))

    def reorder(self, *order: LoopRV) -> None:
        """Loops of one nest, in this order."""
        self.apply(loops.ReorderOp.of(*(loop.value for loop in order)))

    def parallel(self, loop: LoopRV) -> None:
        """Share a loop's iterations among threads."""
        self.apply(loops.ParallelOp.of(loop.value))

    def vectorize(self, loop: LoopRV) -> None:
        """Make a loop's iterations the lanes of vectors."""
        self.apply(loops.VectorizeOp.of(loop.value))

    def unroll(self, loop: LoopRV) -> None:
        """Write a loop's iterations out."""
        self.apply(loops.UnrollOp.of(loop.value))

    def bind(self, loop: LoopRV, thread_axis: str) -> None:
        """Let a device's threads run a loop's iterations."""
        self.apply(loops.BindOp.of(loop.value, thread=thread_axis))

    def add_unit_loop(self, block_or_loop: BlockRV | LoopRV) -> LoopRV:
        """A loop of one iteration around a block or loop."""
        return self._loop(loops.AddUnitLoopOp.of(block_or_loop.value))

    # blocks

    def cache_read(
        self,
        block: BlockRV | str,
        read_buffer_index: int | str,
        storage_scope: str,
        consumer_blocks: Iterable[BlockRV | str] | None = None,
    ) -> BlockRV:
        """Copy a buffer that `block` reads first; the `consumer_blocks` read the copy, or without them every reader in
        the block of blocks that `block` stands in."""
        block = self._named(block)
        index = self._index(block, "read", read_buffer_index)
        consumers = [self._named(each) for each in consumer_blocks or ()]
        if not consumers:
            others = other_readers(self.state.any_block(block.value), index)
            consumers = [block, *(self.get_block(*named) for named in others)]
        meant = self.state.any_block(block.value)
        readers = [self.state.any_block(each.value) for each in consumers]
        if meant not in readers and 0 <= index < len(numbered := buffers_of(meant, "read")):
            buffer = numbered[index]  # the copy is not for the block that says which buffer is meant
            block, meant = consumers[0], readers[0]
            if buffer not in buffers_of(meant, "read"):
                raise ScheduleError.at(meant, f"block @{meant.block_name} does not read {buffer_name(buffer)}")
            index = buffers_of(meant, "read").index(buffer)
        more = [each.value for each, reader in zip(consumers, readers, strict=True) if reader is not meant]
        return self._block(blocks.CacheReadOp.of(block.value, *more, index=index, scope=storage_scope))

    def cache_write(
        self,
        block: BlockRV | str,
        write_buffer_index: int | str,
        storage_scope: str,
        consumer_blocks: Iterable[BlockRV | str] | None = None,
    ) -> BlockRV:
        """Compute into a buffer of its own, which the `consumer_blocks` read, and copy that."""
        block = self._named(block)
        more = [self._named(each).value for each in consumer_blocks or ()]
        index = self._index(block, "write", write_buffer_index)
        return self._block(blocks.CacheWriteOp.of(block.value, *more, index=index, scope=storage_scope))

    def cache_inplace(self, block: BlockRV | str, read_buffer_index: int | str, storage_scope: str) -> list[BlockRV]:
        """Let a block read and write a copy of a buffer. Gives the blocks that fill it and copy it back."""
        block = self._named(block)
        index = self._index(block, "read", read_buffer_index)
        op = blocks.CacheInplaceOp.of(block.value, results=2, index=index, scope=storage_scope)
        return [BlockRV(value) for value in self.apply(op)]

    def cache_index(self, block: BlockRV | str, storage_scope: str, cse_thresh: int = 0) -> list[BlockRV]:
        """Compute the indices that a block reads at into buffers first, or with `cse_thresh` what it computes of its
        iterators at least so often. Gives the blocks that do."""
        block = self._named(block)
        count = len(check_cache_index(self.state.block(block.value), cse_thresh))
        op = blocks.CacheIndexOp.of(block.value, results=count, scope=storage_scope, cse_thresh=cse_thresh or None)
        return [BlockRV(value) for value in self.apply(op)]

    def reindex(self, block: BlockRV | str, buffer: BufferName) -> BlockRV:
        """Copy `("read", n)`, or a buffer by name, into the layout of the block's iterators."""
        block = self._named(block)
        kind, index = self._buffer(block, buffer)
        return self._block(blocks.ReindexOp.of(block.value, buffer=kind, index=index))

    def compute_at(
        self, block: BlockRV | str, loop: LoopRV, preserve_unit_loops: bool = False, index: int = LAST
    ) -> None:
        """Compute a producer in a loop of its readers: before the first of them, with `index` -2 as early as may be, or
        before the loop's statement of that number."""
        self.apply(
            blocks.ComputeAtOp.of(
                self._named(block).value,
                loop.value,
                preserve_unit_loops=preserve_unit_loops or None,
                index=None if index == LAST else index,
            )
        )

    def reverse_compute_at(
        self, block: BlockRV | str, loop: LoopRV, preserve_unit_loops: bool = False, index: int = LAST
    ) -> None:
        """Compute a reader in a loop of its producers: after all that the loop does, with `index` -2 as early as may
        be, or before the loop's statement of that number."""
        self.apply(
            blocks.ReverseComputeAtOp.of(
                self._named(block).value,
                loop.value,
                preserve_unit_loops=preserve_unit_loops or None,
                index=None if index == LAST else index,
            )
        )

    def compute_inline(self, block: BlockRV | str) -> None:
        """Put a block's formula where its result is read."""
        self.apply(blocks.ComputeInlineOp.of(self._named(block).value))

    def reverse_compute_inline(self, block: BlockRV | str) -> None:
        """Make an elementwise reader part of its only producer."""
        self.apply(blocks.ReverseComputeInlineOp.of(self._named(block).value))

    def decompose_reduction(self, block: BlockRV | str, loop: LoopRV) -> BlockRV:
        """Let what starts a reduction be a block before a loop."""
        return self._block(blocks.DecomposeReductionOp.of(self._named(block).value, loop.value))

    def decompose_padding(self, block: BlockRV | str, loop: LoopRV) -> BlockRV:
        """Let what a block pads with be written by a block before a loop."""
        return self._block(blocks.DecomposePaddingOp.of(self._named(block).value, loop.value))

    def can_decompose_padding(self, block: BlockRV | str, loop: LoopRV) -> bool:
        """Whether `decompose_padding` applies."""
        try:
            check_decompose_padding(self.state.block(self._named(block).value), self.state.loop(loop.value))
        except ScheduleError:
            return False
        return True

    def pad_einsum(self, block: BlockRV | str, padding: Sequence[int]) -> None:
        """Let the iterators of a sum of products take so many more values each."""
        self.apply(blocks.PadEinsumOp.of(self._named(block).value, padding=list(padding)))

    def rfactor(self, loop: LoopRV, factor_axis: int) -> BlockRV:
        """Let each iteration of a reduction's loop reduce on its own."""
        return self._block(blocks.RfactorOp.of(loop.value, axis=factor_axis))

    def set_scope(self, block: BlockRV | str, buffer_index: int, storage_scope: str) -> None:
        """Let the buffer that a block writes live in a scope."""
        self.apply(blocks.SetScopeOp.of(self._named(block).value, index=buffer_index, scope=storage_scope))

    def storage_align(self, block: BlockRV | str, buffer_index: int, axis: int, factor: int, offset: int) -> None:
        """Let neighbours along an axis of what a block writes lie a multiple of `factor`, and `offset`, apart."""
        self.apply(
            blocks.StorageAlignOp.of(
                self._named(block).value, index=buffer_index, axis=axis, factor=factor, offset=offset
            )
        )

    def rolling_buffer(self, block: BlockRV | str, write_buffer_index: int) -> None:
        """Let a buffer that a block writes keep what the next tile needs too, in no more room than a tile takes."""
        self.apply(blocks.RollingBufferOp.of(self._named(block).value, index=write_buffer_index))

    def set_axis_separator(
        self, block: BlockRV | str, buffer: BufferName, axis_separators: Sequence[int] | None
    ) -> None:
        """Make dimensions of memory of the dimensions of `("read", n)` or `("write", n)` between some."""
        block = self._named(block)
        kind, index = self._buffer(block, buffer)
        self.apply(
            blocks.SetAxisSeparatorOp.of(block.value, buffer=kind, index=index, separators=list(axis_separators or ()))
        )

    def transform_layout(
        self,
        block: BlockRV | str,
        buffer: BufferName,
        index_map: IndexMap,
        pad_value: float | Const | IndexMap | None = None,
        assume_injective_transform: bool = False,
        axis_separators: Sequence[int] | None = None,
    ) -> None:
        """Lay a buffer out anew. `IndexMap.AXIS_SEPARATOR` between two indices that a function gives begins another
        dimension of memory, as the numbers of the second of them in `axis_separators` say too. Where the map leaves
        gaps, `pad_value` is in them: a number, or a function of the new indices. That the map gives each element a
        place of its own is proved, and not assumed."""
        block = self._named(block)
        kind, index = self._buffer(block, buffer)
        op = self.state.block(block.value)
        buffers = buffers_of(op, kind)
        rank = rank_of(buffers[index]) if 0 <= index < len(buffers) else 0
        map, separators = layout_of(index_map, rank)
        given = separators or list(axis_separators or ()) or None
        if isinstance(pad_value, Const) and rank and pad_value.type != (type := memref_of(buffers[index]).element_type):
            raise ScheduleError.at(
                op, f"elements of type {type} are not padded with {pad_value}, of type {pad_value.type}"
            )
        value = pad_value.value if isinstance(pad_value, Const) else pad_value
        if value is not None and not isinstance(value, int | float):
            value = affine_map_of(value, len(map.results))
        self.apply(
            blocks.TransformLayoutOp.of(
                block.value, buffer=kind, index=index, map=map, separators=given, pad_value=value
            )
        )

    def transform_block_layout(self, block: BlockRV | str, index_map: IndexMap) -> None:
        """Address a block by other iterators."""
        block = self._named(block)
        rank = len(self.state.block(block.value).iters)
        self.apply(blocks.TransformBlockLayoutOp.of(block.value, map=affine_map_of(index_map, rank)))

    def fuse_iters(self, block: BlockRV | str, first: int) -> None:
        """Make one iterator of two neighbours, and one loop of theirs."""
        self.apply(blocks.FuseItersOp.of(self._named(block).value, first=first))

    def fuse_buffer_dims(self, block: BlockRV | str, buffer: BufferName, first: int) -> None:
        """Make one dimension of two neighbours of `("read", n)` or `("write", n)`, after `fuse_iters`."""
        block = self._named(block)
        kind, index = self._buffer(block, buffer)
        self.apply(blocks.FuseBufferDimsOp.of(block.value, buffer=kind, index=index, first=first))

    def unsafe_set_dtype(self, block: BlockRV | str, buffer_index: int, dtype: str) -> None:
        """Let the buffer that a block writes hold another float type."""
        try:
            element = scalar_type(dtype)
        except TypeError as error:
            raise UsageError(f"unsafe_set_dtype: {error}") from None
        self.apply(blocks.UnsafeSetDtypeOp.of(self._named(block).value, index=buffer_index, dtype=element))

    def blockize(self, loop: LoopRV, preserve_unit_iters: bool = True) -> BlockRV:
        """Make one block of a loop and what is in it. Its iterators follow from those of the block that computes, with
        and without `preserve_unit_iters`."""
        return self._block(blocks.BlockizeOp.of(loop.value, preserve_unit_iters=None if preserve_unit_iters else False))

    def tensorize(self, block_or_loop: BlockRV | LoopRV, tensor_intrin: str, preserve_unit_iters: bool = True) -> None:
        """Let a tensor intrinsic, known by name (`TensorIntrin.register`), compute what is in a loop or outer block."""
        unit = None if preserve_unit_iters else False
        self.apply(blocks.TensorizeOp.of(block_or_loop.value, intrin=tensor_intrin, preserve_unit_iters=unit))

    def annotate(self, block_or_loop: BlockRV | LoopRV, ann_key: str, ann_val: object) -> None:
        """Put a word on a block or loop; that on the root block is its function's. Its value may be a sampled one."""
        sampled = [ann_val.value] if isinstance(ann_val, ExprRV) else []
        value = None if sampled else ann_val
        self.apply(blocks.AnnotateOp.of(block_or_loop.value, *sampled, key=ann_key, value=value))

    def unannotate(self, block_or_loop: BlockRV | LoopRV, ann_key: str) -> None:
        """Take a word from a block or loop."""
        self.apply(blocks.UnannotateOp.of(block_or_loop.value, key=ann_key))

    def _factor(self, loop: LoopRV, factor: Expr | IndexMap) -> object:
        """A number, or what the sizes of the function around `loop` lead to."""
        if isinstance(factor, Const):
            return factor.value
        func = function_of(self.state.loop(loop.value))
        count = len(func.symbols)
        if not isinstance(factor, Expr):
            return affine_map_of(factor, count)
        sizes = func.params[len(func.params) - count :]
        place = next((number for number, size in enumerate(sizes) if size is factor), None)
        if place is None:
            hint = "give a function of all sizes: lambda n, m: n + m"
            raise ScheduleError(f"the factor {factor} is none of the sizes of @{func.sym_name.data}", hint=hint)
        return AffineMap(count, 0, (AffineExpr.dimension(place),))

    def _named(self, block: BlockRV | str) -> BlockRV:
        """A block, which may be given by its name."""
        return self.get_block(block) if isinstance(block, str) else block

    def _buffer(self, block: BlockRV, buffer: BufferName) -> tuple[str, int]:
        return buffer_of(self.state.any_block(block.value), buffer)

    def _index(self, block: BlockRV, kind: str, index: int | str) -> int:
        return index_of(self.state.any_block(block.value), kind, index)


def _maybe_list(values: Sequence[int] | None) -> list[int] | None:
    return None if values is None else [int(value) for value in values]
