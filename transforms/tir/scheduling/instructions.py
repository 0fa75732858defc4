"""What each instruction does: a table from operation of the `schedule` dialect to function.

A function gets the state and the instruction, applies a primitive, and gives what the instruction's results stand for.
It raises a `ScheduleError` before it has changed anything, or does not raise one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, TypeAlias

from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ....dialects.schedule import blocks, loops, queries
from ....dialects.schedule.core import HANDLE, Instruction, attribute_of
from ....dialects.support.diagnostics import did_you_mean
from ....dialects.support.memory_scopes import why_no_scope
from ....dialects.tir.affine import linear
from ....dialects.tir.core import (
    BlockOp,
    ForKind,
    ForOp,
    IterKind,
    OuterBlockOp,
    PrimFuncOp,
    accessing_blocks,
    blocks_under,
    enclosing_loops,
)
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.specialize import symbols_of
from ....dialects.tir.symbols import Extent, as_extent, replaced
from ..analysis.block_scopes import AnyBlock, buffers_of, children_of, consumers_of, producers_of, scope_of
from ..analysis.producers import allocation_of, function_of
from ..schedule.add_unit_loop import add_unit_loop
from ..schedule.annotate import Annotated, annotate, unannotate
from ..schedule.bind import bind
from ..schedule.blockize import blockize
from ..schedule.cache_index import cache_index
from ..schedule.cache_inplace import cache_inplace
from ..schedule.cache_read import cache_read
from ..schedule.cache_write import cache_write
from ..schedule.checks import LAST, check_known_trips
from ..schedule.compute_at import compute_at
from ..schedule.compute_outer_at import compute_outer_at
from ..schedule.decompose_outer import decompose_outer
from ..schedule.decompose_padding import decompose_padding
from ..schedule.decompose_reduction import decompose_reduction
from ..schedule.errors import ScheduleError
from ..schedule.fuse import fuse
from ..schedule.inline import compute_inline
from ..schedule.iters import fuse_buffer_dims, fuse_iters
from ..schedule.merge import merge
from ..schedule.pad_einsum import pad_einsum
from ..schedule.reindex import reindex, reindex_write
from ..schedule.reorder import reorder
from ..schedule.reverse_compute_at import reverse_compute_at
from ..schedule.reverse_compute_inline import reverse_compute_inline
from ..schedule.rfactor import rfactor
from ..schedule.rolling_buffer import rolling_buffer
from ..schedule.set_axis_separator import check_separators, set_axis_separator
from ..schedule.set_kind import set_kind
from ..schedule.set_scope import set_scope
from ..schedule.split import quotient_up, split
from ..schedule.storage_align import storage_align
from ..schedule.tensorize import tensorize
from ..schedule.transform_block_layout import transform_block_layout
from ..schedule.transform_layout import transform_layout
from ..schedule.unsafe_set_dtype import unsafe_set_dtype
from .sampling import check_tile, draw_tile, locations, loops_of_reader
from .state import Location, Meaning, State

Apply: TypeAlias = Callable[[State, Any], Sequence[Meaning]]


ROOT = "root"
"""The name of the block that a function is, where none in it has that name."""


def _get_block(state: State, op: queries.GetBlockOp) -> Sequence[Meaning]:
    func = state.function(None if op.function is None else op.function.data)
    name = op.block.data
    known = [op for op in func.walk() if isinstance(op, BlockOp | OuterBlockOp)]
    found = [block for block in known if block.block_name == name] or _updates(known, name)
    number = 0 if op.number is None else op.number.value.data
    if not 0 <= number < max(1, len(found)):
        raise ScheduleError.at(func, f"@{func.sym_name.data} has {len(found)} blocks @{name}, none of number {number}")
    if not found and name == ROOT:
        return [func]
    if not found:
        names = list(dict.fromkeys(f"@{block.block_name}" for block in known))
        hint = did_you_mean(f"@{name}", names) or f"it has {', '.join(names) or 'none'}"
        raise ScheduleError.at(func, f"@{func.sym_name.data} has no block @{name}", hint=hint)
    if op.number is None and len(found) > 1:
        raise ScheduleError.at(
            func, f"@{func.sym_name.data} has {len(found)} blocks @{name}", hint="say which: number = 0, 1, ..."
        )
    return [found[number]]


def _updates(blocks: Sequence[BlockOp | OuterBlockOp], name: str) -> list[BlockOp | OuterBlockOp]:
    """The blocks that `decompose_reduction` has left without `init`: TVM's adds "_update" to their names."""
    base = name.removesuffix("_update")
    return [
        block
        for block in blocks
        if base != name and block.block_name == base and isinstance(block, BlockOp) and block.init is None
        if IterKind.REDUCE in block.kinds
    ]


def _get_loops(state: State, op: queries.GetLoopsOp) -> Sequence[Meaning]:
    block = state.meaning(op.inputs[0])
    assert isinstance(block, BlockOp | OuterBlockOp | PrimFuncOp)
    around = enclosing_loops(block)
    outer = next((op for op in _parents(block) if isinstance(op, OuterBlockOp)), None)
    return around if outer is None else around[len(enclosing_loops(outer)) :]


def _parents(op: Operation) -> Iterator[Operation]:
    """The operations around `op`, the nearest first."""
    parent = op.parent_op()
    while parent is not None:
        yield parent
        parent = parent.parent_op()


def _get_child_blocks(state: State, op: queries.GetChildBlocksOp) -> Sequence[Meaning]:
    around = state.meaning(op.inputs[0])
    assert isinstance(around, Operation)
    return list(children_of(around))


def _get_producers(state: State, op: queries.GetProducersOp) -> Sequence[Meaning]:
    return producers_of(state.any_block(op.inputs[0]))


def _get_consumers(state: State, op: queries.GetConsumersOp) -> Sequence[Meaning]:
    return consumers_of(state.any_block(op.inputs[0]))


def _sample_perfect_tile(state: State, op: queries.SamplePerfectTileOp) -> Sequence[Meaning]:
    loop = state.loop(op.inputs[0])
    if (trips := check_known_trips(loop)) < 1:
        raise ScheduleError.at(loop, "has no iterations to divide")
    if op.decision is None:
        most = trips if op.max_innermost.value.data == queries.ANY_FACTOR else op.max_innermost.value.data
        queries.decided(op, draw_tile(state.random, trips, len(op.outputs), most))
    assert op.decision is not None
    factors = [factor.value.data for factor in op.decision if isinstance(factor, IntegerAttr)]
    check_tile(loop, factors)
    return factors


def _sample_categorical(state: State, op: queries.SampleCategoricalOp) -> Sequence[Meaning]:
    if op.decision is None:
        weights = [_number(probability) for probability in op.probs]
        if min(weights) < 0 or sum(weights) <= 0:
            raise ScheduleError("probabilities are not negative, and not all 0")
        queries.decided(op, state.random.choices(range(len(op.candidates)), weights)[0])
    assert op.decision is not None
    candidate = op.candidates.data[op.decision.value.data]
    assert isinstance(candidate, IntegerAttr)
    return [candidate.value.data]


def _number(probability: Any) -> float:
    return float(probability.value.data)


def _sample_compute_location(state: State, op: queries.SampleComputeLocationOp) -> Sequence[Meaning]:
    block = state.block(op.inputs[0])
    choices = locations(block)
    if op.decision is None:
        queries.decided(op, state.random.choice(choices))
    assert op.decision is not None
    decision = op.decision.value.data
    if decision not in choices:  # it was drawn before other blocks or loops were changed
        if decision < min(Location.INLINE.value, Location.ROOT.value):
            raise ScheduleError.at(block, f"block @{block.block_name} cannot be computed at location {decision}")
        decision = max((each for each in choices if each < decision), default=Location.ROOT.value)
        queries.decided(op, decision)
    return [Location(decision) if decision < 0 else loops_of_reader(block)[decision]]


def _enter_postproc(state: State, op: queries.EnterPostprocOp) -> Sequence[Meaning]:
    return []


def _split(state: State, op: loops.SplitOp) -> Sequence[Meaning]:
    loop = state.loop(op.inputs[0])
    handles = iter(op.inputs[1:])
    factors: list[Extent | None] = []
    for factor in op.factors:
        if factor == HANDLE:
            factors.append(state.integer(next(handles)))
        elif isinstance(factor, AffineMapAttr):
            factors.append(_of_sizes(loop, factor.data))
        else:
            factors.append(None if isinstance(factor, UnitAttr) else _int(factor))
    if not factors:
        raise ScheduleError.at(loop, "cannot split into no loops")
    outer, *within = factors
    given = [factor for factor in factors if isinstance(factor, int)]
    if len(given) < len(factors) - factors.count(None):
        if outer is not None:
            why = "cannot split by a size and say how many iterations the outermost loop has"
            raise ScheduleError.at(loop, why, hint="leave out the outermost factor, for the loop to say")
        parts = split(loop, [factor for factor in within if factor is not None])
    else:
        if None in within and any(factor < 1 for factor in given):
            raise ScheduleError.at(loop, f"cannot split into {given}: factors must be positive")
        rest = (quotient_up(loop.size, prod(given)) or 1) if None in within else 1
        assert outer is None or isinstance(outer, int)
        parts = split(loop, [rest if factor is None else factor for factor in within], outer)
    state.end([loop], f"{op.name} has made {len(parts)} loops of it")
    return parts


def _of_sizes(loop: ForOp, map: AffineMap) -> Extent:
    """What the sizes of the function around `loop` lead to."""
    symbols = [AffineExpr.symbol(argument.index) for argument in symbols_of(function_of(loop))]
    if map.num_dims != len(symbols):
        raise ScheduleError.at(loop, f"the function has {len(symbols)} sizes, and a factor is of {map.num_dims}")
    return as_extent(linear(replaced(map.results[0], symbols)).to_expr())


def _int(value: Any) -> int:
    return value.value.data


def _fuse(state: State, op: loops.FuseOp) -> Sequence[Meaning]:
    parts = [state.loop(value) for value in op.inputs]
    fused = fuse(*parts)
    if len(parts) > 1:
        state.end(parts, f"{op.name} has made one loop of {len(parts)}")
    return [fused]


def _merge(state: State, op: loops.MergeOp) -> Sequence[Meaning]:
    parts = [state.loop(value) for value in op.inputs]
    merged = merge(*parts)
    state.end(parts, f"{op.name} has made one loop of {len(parts)}")
    return [merged]


def _reorder(state: State, op: loops.ReorderOp) -> Sequence[Meaning]:
    reorder(*(state.loop(value) for value in op.inputs))
    return []


def _kind(kind: ForKind) -> Apply:
    def apply(state: State, op: Instruction) -> Sequence[Meaning]:
        set_kind(state.loop(op.inputs[0]), kind)
        return []

    return apply


def _bind(state: State, op: loops.BindOp) -> Sequence[Meaning]:
    bind(state.loop(op.inputs[0]), op.thread.data)
    return []


def _add_unit_loop(state: State, op: loops.AddUnitLoopOp) -> Sequence[Meaning]:
    inner = state.meaning(op.inputs[0])
    if not isinstance(inner, BlockOp | ForOp):
        raise ScheduleError("the handle stands for no loop")
    return [add_unit_loop(inner)]


def _compute_at(state: State, op: blocks.ComputeAtOp) -> Sequence[Meaning]:
    block, place = state.any_block(op.inputs[0]), state.meaning(op.inputs[1])
    match place:
        case ForOp() if isinstance(block, OuterBlockOp):
            compute_outer_at(block, place, _flag(op.preserve_unit_loops), _place(op.index))
        case ForOp():
            compute_at(state.block(op.inputs[0]), place, _flag(op.preserve_unit_loops), _place(op.index))
        case Location.INLINE:
            compute_inline(state.block(op.inputs[0]))
        case _:
            pass
    return []


def _place(index: IntegerAttr | None) -> int:
    return LAST if index is None else index.value.data


def _flag(attribute: Any) -> bool:
    return attribute is not None and bool(attribute.value.data)


def _compute_inline(state: State, op: blocks.ComputeInlineOp) -> Sequence[Meaning]:
    compute_inline(state.block(op.inputs[0]))
    return []


def _decompose_reduction(state: State, op: blocks.DecomposeReductionOp) -> Sequence[Meaning]:
    block, loop = state.any_block(op.inputs[0]), state.loop(op.inputs[1])
    return [decompose_outer(block, loop) if isinstance(block, OuterBlockOp) else decompose_reduction(block, loop)]


def _decompose_padding(state: State, op: blocks.DecomposePaddingOp) -> Sequence[Meaning]:
    return [decompose_padding(state.block(op.inputs[0]), state.loop(op.inputs[1]))]


def _pad_einsum(state: State, op: blocks.PadEinsumOp) -> Sequence[Meaning]:
    pad_einsum(state.block(op.inputs[0]), _ints(op.padding))
    return []


def _ints(attribute: Any) -> list[int]:
    return [each.value.data for each in attribute]


def _set_axis_separator(state: State, op: blocks.SetAxisSeparatorOp) -> Sequence[Meaning]:
    block = state.block(op.inputs[0])
    set_axis_separator(_buffer(block, op.buffer.data, _int(op.index)), _ints(op.separators))
    return []


def _storage_align(state: State, op: blocks.StorageAlignOp) -> Sequence[Meaning]:
    numbers = (_int(each) for each in (op.index, op.axis, op.factor, op.offset))
    storage_align(state.block(op.inputs[0]), *numbers)
    return []


def _rolling_buffer(state: State, op: blocks.RollingBufferOp) -> Sequence[Meaning]:
    rolling_buffer(state.block(op.inputs[0]), _int(op.index))
    return []


def _buffer(block: AnyBlock, kind: str, index: int) -> SSAValue:
    buffers = buffers_of(block, kind)
    if not 0 <= index < len(buffers):
        word = "reads" if kind == "read" else "writes"
        raise ScheduleError.at(
            block, f"block @{block.block_name} {word} {len(buffers)} buffers, none of number {index}"
        )
    return buffers[index]


def _scope(attribute: StringAttr) -> str:
    if (wrong := why_no_scope(attribute.data)) is not None:
        raise ScheduleError(wrong)
    return attribute.data


def _cache_read(state: State, op: blocks.CacheReadOp) -> Sequence[Meaning]:
    given = [state.any_block(value) for value in op.inputs]
    buffer = _buffer(given[0], "read", _int(op.index))
    return [cache_read(buffer, _scope(op.scope), [reader for each in given for reader in _readers_in(each, buffer)])]


def _cache_write(state: State, op: blocks.CacheWriteOp) -> Sequence[Meaning]:
    block, *consumers = (state.any_block(value) for value in op.inputs)
    buffer = _buffer(block, "write", _int(op.index))
    if isinstance(block, BlockOp):
        return [cache_write(block, _scope(op.scope), [each for c in consumers for each in _readers_in(c, buffer)])]
    inside = [each for each in blocks_under(block) if buffer in each.writes]
    if len(inside) != 1:
        raise ScheduleError.at(
            block, f"{len(inside)} blocks in block @{block.block_name} write {buffer_name(buffer)}, not one"
        )
    readers = [each for c in (block, *consumers) for each in _readers_in(c, buffer) if each is not inside[0]]
    return [cache_write(inside[0], _scope(op.scope), readers, scope_of(block))]


def _readers_in(block: AnyBlock, buffer: SSAValue) -> list[BlockOp]:
    """The block itself; of a block of blocks, those that read the buffer."""
    return [block] if isinstance(block, BlockOp) else [each for each in blocks_under(block) if buffer in each.reads]


def _cache_inplace(state: State, op: blocks.CacheInplaceOp) -> Sequence[Meaning]:
    block = state.block(op.inputs[0])
    return cache_inplace(block, _buffer(block, "read", _int(op.index)), _scope(op.scope))


def _cache_index(state: State, op: blocks.CacheIndexOp) -> Sequence[Meaning]:
    least = 0 if op.cse_thresh is None else _int(op.cse_thresh)
    return cache_index(state.block(op.inputs[0]), _scope(op.scope), least)


def _reverse_compute_at(state: State, op: blocks.ReverseComputeAtOp) -> Sequence[Meaning]:
    flag = _flag(op.preserve_unit_loops)
    reverse_compute_at(state.block(op.inputs[0]), state.loop(op.inputs[1]), flag, _place(op.index))
    return []


def _reverse_compute_inline(state: State, op: blocks.ReverseComputeInlineOp) -> Sequence[Meaning]:
    reverse_compute_inline(state.block(op.inputs[0]))
    return []


def _rfactor(state: State, op: blocks.RfactorOp) -> Sequence[Meaning]:
    return [rfactor(state.loop(op.inputs[0]), _int(op.axis))]


def _reindex(state: State, op: blocks.ReindexOp) -> Sequence[Meaning]:
    block = state.block(op.inputs[0])
    buffer = _buffer(block, op.buffer.data, _int(op.index))
    return [reindex(block, buffer) if op.buffer.data == "read" else reindex_write(block, buffer)]


def _transform_layout(state: State, op: blocks.TransformLayoutOp) -> Sequence[Meaning]:
    block = state.block(op.inputs[0])
    buffer = _buffer(block, op.buffer.data, _int(op.index))
    separators = [] if op.separators is None else _ints(op.separators)
    check_separators(block, separators, len(op.map.data.results))
    transform_layout(buffer, op.map.data, op.pad_value)
    if separators:
        set_axis_separator(buffer, separators)
    return []


def _transform_block_layout(state: State, op: blocks.TransformBlockLayoutOp) -> Sequence[Meaning]:
    block = state.block(op.inputs[0])
    around = enclosing_loops(block)
    transform_block_layout(block, op.map.data)
    state.end(around, f"{op.name} has given the block other loops")
    return []


def _unsafe_set_dtype(state: State, op: blocks.UnsafeSetDtypeOp) -> Sequence[Meaning]:
    unsafe_set_dtype(_buffer(state.block(op.inputs[0]), "write", _int(op.index)), op.dtype)
    return []


def _set_scope(state: State, op: blocks.SetScopeOp) -> Sequence[Meaning]:
    block = state.block(op.inputs[0])
    set_scope(_buffer(block, "write", _int(op.index)), _scope(op.scope))
    return []


def _fuse_iters(state: State, op: blocks.FuseItersOp) -> Sequence[Meaning]:
    block, first = state.block(op.inputs[0]), _int(op.first)
    around = enclosing_loops(block)
    fuse_iters(block, first)
    state.end((loop for loop in around if not state.is_live(loop)), f"{op.name} has made one loop of two")
    return []


def _fuse_buffer_dims(state: State, op: blocks.FuseBufferDimsOp) -> Sequence[Meaning]:
    block = state.block(op.inputs[0])
    buffer = _buffer(block, op.buffer.data, _int(op.index))
    alloc = allocation_of(buffer)
    if alloc is None:
        raise ScheduleError.at(block, "only an allocated buffer can be seen with fewer dimensions")
    fuse_buffer_dims(alloc, _int(op.first), accessing_blocks(buffer))
    return []


def _annotate(state: State, op: blocks.AnnotateOp) -> Sequence[Meaning]:
    value = attribute_of(state.integer(op.inputs[1])) if op.value is None else op.value
    annotate(_annotated(state, op), op.key.data, value)
    return []


def _unannotate(state: State, op: blocks.UnannotateOp) -> Sequence[Meaning]:
    unannotate(_annotated(state, op), op.key.data)
    return []


def _annotated(state: State, op: Instruction) -> Annotated:
    found = state.meaning(op.inputs[0])
    if not isinstance(found, Annotated):
        raise ScheduleError("the handle stands for no loop")
    return found


def _blockize(state: State, op: blocks.BlockizeOp) -> Sequence[Meaning]:
    return [blockize(state.loop(op.inputs[0]))]


def _tensorize(state: State, op: blocks.TensorizeOp) -> Sequence[Meaning]:
    target = state.meaning(op.inputs[0])
    if isinstance(target, BlockOp):
        hint = "blockize a loop around it, or give the loop"
        raise ScheduleError.at(target, f"block @{target.block_name} holds no loop to tensorize", hint=hint)
    if not isinstance(target, ForOp | OuterBlockOp):
        raise ScheduleError("the handle stands for no loop")
    inside = [each for each in target.walk() if isinstance(each, BlockOp | ForOp)]
    tensorize(target, op.intrin.data)
    state.end(inside, f"{op.name} has put {op.intrin.data} in its place")
    return []


APPLY: dict[type[Instruction], Apply] = {
    queries.GetBlockOp: _get_block,
    queries.GetLoopsOp: _get_loops,
    queries.GetChildBlocksOp: _get_child_blocks,
    queries.GetProducersOp: _get_producers,
    queries.GetConsumersOp: _get_consumers,
    queries.SamplePerfectTileOp: _sample_perfect_tile,
    queries.SampleCategoricalOp: _sample_categorical,
    queries.SampleComputeLocationOp: _sample_compute_location,
    queries.EnterPostprocOp: _enter_postproc,
    loops.SplitOp: _split,
    loops.FuseOp: _fuse,
    loops.MergeOp: _merge,
    loops.ReorderOp: _reorder,
    loops.ParallelOp: _kind(ForKind.PARALLEL),
    loops.VectorizeOp: _kind(ForKind.VECTORIZED),
    loops.UnrollOp: _kind(ForKind.UNROLLED),
    loops.BindOp: _bind,
    loops.AddUnitLoopOp: _add_unit_loop,
    blocks.ComputeAtOp: _compute_at,
    blocks.ReverseComputeAtOp: _reverse_compute_at,
    blocks.ComputeInlineOp: _compute_inline,
    blocks.ReverseComputeInlineOp: _reverse_compute_inline,
    blocks.RfactorOp: _rfactor,
    blocks.ReindexOp: _reindex,
    blocks.TransformLayoutOp: _transform_layout,
    blocks.TransformBlockLayoutOp: _transform_block_layout,
    blocks.UnsafeSetDtypeOp: _unsafe_set_dtype,
    blocks.DecomposeReductionOp: _decompose_reduction,
    blocks.DecomposePaddingOp: _decompose_padding,
    blocks.PadEinsumOp: _pad_einsum,
    blocks.SetAxisSeparatorOp: _set_axis_separator,
    blocks.StorageAlignOp: _storage_align,
    blocks.RollingBufferOp: _rolling_buffer,
    blocks.CacheReadOp: _cache_read,
    blocks.CacheWriteOp: _cache_write,
    blocks.CacheInplaceOp: _cache_inplace,
    blocks.CacheIndexOp: _cache_index,
    blocks.SetScopeOp: _set_scope,
    blocks.FuseItersOp: _fuse_iters,
    blocks.FuseBufferDimsOp: _fuse_buffer_dims,
    blocks.AnnotateOp: _annotate,
    blocks.UnannotateOp: _unannotate,
    blocks.BlockizeOp: _blockize,
    blocks.TensorizeOp: _tensorize,
}
"""Every instruction of the dialect is here."""
