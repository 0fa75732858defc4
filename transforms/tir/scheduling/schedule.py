"""`weft.tir.Schedule`: primitives under TVM's names, recorded as they are applied.

schedule = Schedule(module)
block = schedule.get_block("matmul")
i, j, k = schedule.get_loops(block)
i_0, i_1 = schedule.split(i, [None, 16])
print(schedule.mod, schedule.trace)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ....dialects.schedule import blocks, loops, queries
from ....dialects.schedule.core import HANDLE, Instruction, SequenceOp
from ....dialects.support.arguments import checked_methods
from ....dialects.support.dtypes import scalar_type
from ....dialects.te.expr import Const
from ....dialects.tir.core import BlockOp, ForOp, OuterBlockOp, PrimFuncOp
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.legality.midway import faults_midway, verify_midway
from ....dialects.tir.script.modules import IRModule
from ..analysis.block_scopes import buffers_of
from ..schedule.cache_index import check_cache_index
from ..schedule.checks import LAST
from ..schedule.decompose_padding import check_decompose_padding
from ..schedule.errors import HandleError, ScheduleError
from .buffer_names import BufferName, buffer_of, index_of, other_readers
from .handles import BlockRV, ExprRV, LoopRV
from .index_maps import IndexMap, affine_map_of, layout_of, rank_of
from .instructions import APPLY
from .rehearsal import needs_rehearsal, rehearse
from .state import Location, Meaning, State, StmtSRef
from .trace import Trace

if TYPE_CHECKING:
    from ....dialects.tir.nodes.statements import Stmt

NOT_SHOWN = "an instruction does not apply (not rendered)"
"""What is said of an error at the level `"none"`."""

LEVELS = ("detail", "fast", "none")
"""How much is said of an instruction that does not apply."""

RV = TypeVar("RV", BlockRV, LoopRV, ExprRV)
Handle = TypeVar("Handle", BlockRV, LoopRV)


@checked_methods
class Schedule:
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

    @classmethod
    def on(cls, func: PrimFuncOp, name: str | None = None) -> Schedule:
        """A schedule that works on `func` itself, in place: what passes use."""
        made = cls.__new__(cls)
        made._start(func, func.sym_name.data, None, "none", name)
        return made

    def _start(
        self,
        root: ModuleOp | PrimFuncOp,
        function: str | None,
        seed: int | None,
        debug_mask: str,
        name: str | None = None,
    ) -> None:
        self.state = State(root, function, seed)
        self._sequence = SequenceOp(name or f"{function or 'any'}_schedule", function)
        self._verifies = debug_mask == "all"
        self._known = (
            frozenset(each.message for each in faults_midway(self.mod)) if self._verifies else frozenset[str]()
        )

    _level: str = "detail"

    # the whole

    @property
    def mod(self) -> IRModule:
        """The module as it is now. Changing it by hand makes handles stale."""
        root = self.state.root
        if not isinstance(root, IRModule):
            raise TypeError("this schedule works on a function in place; its module is its owner's")
        return root

    @property
    def trace(self) -> Trace:
        """What has been done."""
        return Trace(self._sequence)

    def show(self) -> None:
        """Print the module, and what has been done."""
        print(self.state.root)
        print(self._sequence)

    def work_on(self, func_name: str) -> None:
        """Let `get_block` look in this function unless told otherwise."""
        self.state.function(func_name)
        self.state.function_name = func_name
        if not self._sequence.instructions:
            self._sequence = SequenceOp(f"{func_name}_schedule", func_name)

    def seed(self, seed: int) -> None:
        """Start the sampling anew; -1 for a seed that nobody knows."""
        self.state.random.seed(None if seed == -1 else seed)

    def fork_seed(self) -> int:
        """A seed for another schedule."""
        return self.state.random.randrange(1, 1 << 31)

    def copy(self) -> Schedule:
        """Another schedule of a copy of the module, at the same point. The handles that this one has given stand for
        the same blocks and loops there; what either gives from now on is its own."""
        if not isinstance(self.state.root, ModuleOp):
            raise TypeError("a schedule that works on a function in place cannot be copied")
        other = Schedule.__new__(Schedule)
        module = self.state.root.clone()
        other._start(module, self.state.function_name, self.fork_seed(), "all" if self._verifies else "none")
        other._level = self._level
        moved: dict[Operation, Operation] = dict(zip(self.state.root.walk(), module.walk(), strict=True))
        mapped: dict[SSAValue, SSAValue] = {}
        other._sequence = self._sequence.clone(mapped)
        for value, meaning in self.state.meanings.items():
            if isinstance(meaning, Operation):
                if meaning in moved:
                    other.state.meanings[mapped[value]] = cast("Meaning", moved[meaning])
            else:
                other.state.meanings[mapped[value]] = meaning
        other.state.ended = {mapped[value]: reason for value, reason in self.state.ended.items()}
        other.state.twins = {**{old: mapped[own] for old, own in self.state.twins.items() if own in mapped}, **mapped}
        return other

    def same(self, rv: RV) -> RV:
        """The handle of this schedule, a copy, for one of the schedule it was copied from."""
        if rv.value not in self.state.twins:
            raise HandleError("the handle is none of the schedule that this is a copy of")
        return type(rv)(self.state.twins[rv.value])

    def get(
        self, rand_var_or_sref: BlockRV | LoopRV | ExprRV | StmtSRef
    ) -> BlockOp | OuterBlockOp | ForOp | PrimFuncOp | int | Location:
        """What a handle, or a place, stands for.

        Raises:
            HandleError: it is stale, or another schedule's; as all primitives do.
        """
        if isinstance(rand_var_or_sref, StmtSRef):
            return self.get_sref(rand_var_or_sref.op).op
        return self.state.meaning(rand_var_or_sref.value)

    def get_sref(
        self, rand_var_or_stmt: BlockRV | LoopRV | BlockOp | OuterBlockOp | ForOp | PrimFuncOp | Stmt
    ) -> StmtSRef:
        """The place of a block or loop, of a handle, of the operation itself or of a node that was read from it.

        Raises:
            HandleError: it stands in nothing that is scheduled here.
        """
        given = rand_var_or_stmt
        if not isinstance(given, BlockRV | LoopRV):
            return self.state.get_sref(given)
        op = self.state.meaning(given.value)
        if not isinstance(op, Operation):
            raise HandleError("the handle stands for no block or loop")
        return self.state.get_sref(op)

    def remove_rv(self, rand_var: BlockRV | LoopRV | ExprRV) -> None:
        """Let a handle stand for nothing any more."""
        self.state.meaning(rand_var.value)
        value = self.state.twins.get(rand_var.value, rand_var.value)
        del self.state.meanings[value]
        self.state.ended[value] = "it was removed"

    def apply(self, op: Instruction) -> Sequence[SSAValue]:
        """Apply an instruction that stands in no sequence, and record it. Gives its results.

        Raises:
            ScheduleError: it does not apply, or gives another number of blocks or loops than it says.
        """
        body = self._sequence.body.block
        op.operands = [self.state.twins.get(value, value) for value in op.operands]
        body.add_op(op)
        try:
            self._check(op)
            if needs_rehearsal(self.state, op):
                rehearse(self.state, op)
            touched = self.state.touched_by(op)
            meanings = APPLY[type(op)](self.state, op)
            if len(meanings) != len(op.outputs):
                raise ScheduleError(f"{op.name} gives {len(meanings)} handles here, not {len(op.outputs)}")
        except BaseException as error:
            op.detach()
            op.erase(safe_erase=False)
            if isinstance(error, ScheduleError) and self._level != "detail":
                raise type(error)(error.message if self._level == "fast" else NOT_SHOWN) from None
            raise
        if gone := [each for each in touched if not self.state.is_live(each)]:
            self.state.end(gone, f"{op.name} has taken it away")
        for value, meaning in zip(op.outputs, meanings, strict=True):
            self.state.meanings[value] = meaning
            if value.name_hint is None:
                _name(value, meaning)
        if self._verifies and op.CHANGES:
            verify_midway(self.mod, self._known)
        return op.outputs

    def _check(self, op: Instruction) -> None:
        try:
            op.verify_()
        except VerifyException as error:
            raise ScheduleError(f"{op.name}: {error}") from error
        for value in op.inputs:
            self.state.meaning(value)

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
        self, loop: LoopRV, factors: Sequence[int | ExprRV | Const | None], preserve_unit_iters: bool = True
    ) -> list[LoopRV]:
        """As many loops as factors, outermost first; at most one is `None`, and inferred. A loop of one iteration
        leaves no trace in what blocks are bound to, whatever `preserve_unit_iters` says."""
        handles = [factor.value for factor in factors if isinstance(factor, ExprRV)]
        numbers = [factor.value if isinstance(factor, Const) else factor for factor in factors]
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
        buffers = op.reads if kind == "read" else op.writes
        rank = rank_of(buffers[index]) if 0 <= index < len(buffers) else 0
        map, separators = layout_of(index_map, rank)
        given = separators or list(axis_separators or ()) or None
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
        self.apply(blocks.UnsafeSetDtypeOp.of(self._named(block).value, index=buffer_index, dtype=scalar_type(dtype)))

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

    def _named(self, block: BlockRV | str) -> BlockRV:
        """A block, which may be given by its name."""
        return self.get_block(block) if isinstance(block, str) else block

    def _buffer(self, block: BlockRV, buffer: BufferName) -> tuple[str, int]:
        return buffer_of(self.state.any_block(block.value), buffer)

    def _index(self, block: BlockRV, kind: str, index: int | str) -> int:
        return index_of(self.state.any_block(block.value), kind, index)

    def _block(self, op: Instruction) -> BlockRV:
        return BlockRV(self.apply(op)[0])

    def _loop(self, op: Instruction) -> LoopRV:
        return LoopRV(self.apply(op)[0])

    def _many(self, kind: type[Handle], op: type[Instruction], of: BlockRV | LoopRV) -> list[Handle]:
        """The results of a query, of which there are as many as there are."""
        probe = op.of(self.state.twins.get(of.value, of.value))
        self._sequence.body.block.add_op(probe)
        try:
            self._check(probe)
            count = len(APPLY[op](self.state, probe))
        finally:
            probe.detach()
            probe.erase(safe_erase=False)
        return [kind(value) for value in self.apply(op.of(of.value, results=count))]


def _maybe_list(values: Sequence[int] | None) -> list[int] | None:
    return None if values is None else [int(value) for value in values]


def _name(value: SSAValue, meaning: Meaning) -> None:
    """Call a handle as its block or loop is called."""
    match meaning:
        case BlockOp() | OuterBlockOp():
            name = meaning.block_name
        case ForOp():
            name = meaning.var.name_hint
        case _:
            name = None
    if name is not None and SSAValue.is_valid_name(name):
        value.name_hint = name
