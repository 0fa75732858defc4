"""Primitives on reductions and on where a block writes: `decompose_reduction`, `cache_write`, `set_scope`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ....dialects.support.facts import while_unchanged
from ....dialects.support.memory_scopes import named_in
from ....dialects.tir.affine import dims_in, substitute
from ....dialects.tir.alignment import BUFFER_DIM_ALIGN
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForKind,
    ForOp,
    IterKind,
    Scope,
    accessing_blocks,
    enclosing_loops,
    memref_of,
)
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.legality.dependence import leads_apart
from ....dialects.tir.legality.scopes import is_torn
from ..analysis.block_scopes import scope_of
from ..analysis.producers import allocation_of, is_before, nest_of, written_buffer
from ..analysis.producers import consumers as readers_of
from .caching_in_loops import Spot, check_spot_of_writes, copy_at, place_allocation, spot_of
from .checks import check_live, check_not_passed, check_one_element, check_plain_memory, check_sole_writer, tells
from .copies import empty_loop, free_block_name
from .errors import ScheduleError
from .rebind import assign

ANEW = "may reduce into one element in several iterations, each time anew"
MOST_IDLE = 4096
"""Iterations of loops to which a block binds nothing that are tried out."""


@while_unchanged
def check_decompose_reduction(block: BlockOp, loop: ForOp) -> None:
    """Whether the `init` of `block` can move before `loop`.

    Raises:
        ScheduleError: the block has no init, `loop` is not around it, threads share the reduction, a reduction loop
            lies outside `loop`, a loop or a condition within it concerns elements and steps together, or a loop
            neither; it may reduce an element anew in it; or another block writes what it reduces into.
    """
    check_live(block, loop)
    if block.init is None:
        raise ScheduleError.at(block, f"block @{block.block_name} has no init to take apart")
    loops = enclosing_loops(block)
    if loop not in loops:
        raise ScheduleError.at(loop, f"the loop is not around block @{block.block_name}")
    reduce_vars = {
        block.loop_vars[d]
        for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True)
        if kind == IterKind.REDUCE
        for d in dims_in(binding)
    }
    name = f"block @{block.block_name}"
    if shared := [each for each in loops if each.var in reduce_vars and each.for_kind == ForKind.THREAD_BINDING]:
        raise ScheduleError.at(shared[0], f"threads share the reduction of {name}, init included")
    if any(each.var in reduce_vars for each in loops[: loops.index(loop)]):
        raise ScheduleError.at(loop, f"a reduction loop of @{block.block_name} lies outside the loop")
    spatial_vars = {
        block.loop_vars[d]
        for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True)
        if kind != IterKind.REDUCE
        for d in dims_in(binding)
    }
    for each in loops[loops.index(loop) :]:
        if each.var in spatial_vars and each.var in reduce_vars:
            raise ScheduleError.at(each, f"{name} binds elements and steps of its reduction to this loop, together")
    idle = [each for each in loops[loops.index(loop) :] if each.var not in spatial_vars | reduce_vars]
    if idle and not _runs_once(block, idle):
        again = next((each for each in idle if each.size != 1), idle[0])
        raise ScheduleError.at(again, f"{name} binds nothing to this loop: it reduces anew in each iteration")
    for condition in block.conditions:
        used = {block.loop_vars[d] for d in dims_in(condition)}
        if used & spatial_vars and used & reduce_vars:
            raise ScheduleError.at(block, f"{name} has a predicate on elements and steps of its reduction, together")
    _check_begins_once(block, [each for each in loops[loops.index(loop) :] if each.var in spatial_vars])
    for buffer in block.writes:
        check_sole_writer(block, buffer)


def _runs_once(block: BlockOp, idle: Sequence[ForOp]) -> bool:
    """Whether the block's conditions leave one iteration of loops to which it binds nothing, as those of a loop of one
    iteration that is split."""
    sizes = [each.size for each in idle if isinstance(each.size, int)]
    if len(sizes) < len(idle) or prod(sizes) > MOST_IDLE:
        return False
    if 0 in sizes:
        return True
    places = {d: number for number, each in enumerate(idle) for d, v in enumerate(block.loop_vars) if v is each.var}
    conditions = [each for each in block.conditions if dims_in(each) & places.keys()]
    if any(dims_in(each) - places.keys() for each in conditions):
        return False

    def holds(steps: Sequence[int]) -> bool:
        values = [steps[places[d]] if d in places else 0 for d in range(len(block.loop_vars))]
        return all(each.eval(values, []) >= 0 for each in conditions)

    return sum(map(holds, product(*map(range, sizes)))) == 1


def _check_begins_once(block: BlockOp, inside: Sequence[ForOp]) -> None:
    """No two iterations of the loops `inside`, to which spatial iterators are bound, reduce into one element, as they
    do where each computes what the next one needs, too."""
    moving = {each.var for each in inside if each.size not in (0, 1)}
    numbers = {d for d, value in enumerate(block.loop_vars) if value in moving}
    values = [AffineExpr.dimension(d) if d in numbers else AffineExpr.constant(0) for d in range(len(block.loop_vars))]
    indices = [
        substitute(binding, values)
        for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True)
        if kind != IterKind.REDUCE and dims_in(binding) & numbers
    ]
    if indices and not leads_apart(block, indices, numbers):
        raise ScheduleError.at(inside[0], f"block @{block.block_name} {ANEW}")
    moved = {
        number
        for number, (kind, binding) in enumerate(zip(block.kinds, block.bindings.data.results, strict=True))
        if kind != IterKind.REDUCE and dims_in(binding) & numbers
    }
    for access in block.accesses():
        assert block.init is not None
        if access.is_write and block.init.is_ancestor(access.op) and not tells(block, access, moved):
            raise ScheduleError.at(inside[0], f"block @{block.block_name} {ANEW}")


def decompose_reduction(block: BlockOp, loop: ForOp) -> BlockOp:
    """Move the `init` of `block` into a block of its own, before `loop`. Returns that block.

    The new block stands under copies of those loops, from `loop` inwards, that its spatial iterators are bound to, and
    has the annotations of `block`; how what both write lies in memory is said by that one. Counterpart of TVM's
    `decompose_reduction`.

    Raises:
        ScheduleError: as `check_decompose_reduction` says.
    """
    check_decompose_reduction(block, loop)
    assert block.init is not None
    loops = enclosing_loops(block)
    loop_vars = list(block.loop_vars)
    reduce_vars: set[SSAValue] = set()
    spatial_vars: set[SSAValue] = set()
    for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True):
        used = {loop_vars[d] for d in dims_in(binding)}
        if kind == IterKind.REDUCE:
            reduce_vars |= used
        else:
            spatial_vars |= used
    copied = [each for each in loops[loops.index(loop) :] if each.var in spatial_vars]
    copies = [empty_loop(each) for each in copied]
    renamed: dict[SSAValue, SSAValue] = {old.var: new.var for old, new in zip(copied, copies, strict=True)}
    spatial = [i for i, kind in enumerate(block.kinds) if kind != IterKind.REDUCE]
    init_block = block.init.block
    body = Block(arg_types=[IndexType()] * len(spatial))
    mapping: dict[SSAValue, SSAValue] = {}
    for argument, i in zip(body.args, spatial, strict=True):
        argument.name_hint = block.iters[i].name_hint
        mapping[init_block.args[i]] = argument
    for op in init_block.ops:
        body.add_op(op.clone(mapping))
    init = BlockOp(
        f"{block.block_name}_init",
        [(IterKind.SPATIAL, block.sizes[i]) for i in spatial],
        AffineMap(0, 0, tuple(AffineExpr.constant(0) for _ in spatial)),
        [],
        Region(body),
        attributes={key: value for key, value in block.attributes.items() if key != BUFFER_DIM_ALIGN},
    )
    nest: Operation = init
    for each in reversed(copies):
        each.body.block.add_op(nest)
        nest = each
    assert loop.parent is not None
    loop.parent.insert_op_before(nest, loop)
    values = [renamed.get(v, v) for v in loop_vars]
    inside = {each.var for each in loops[loops.index(loop) :]} - spatial_vars
    kept = [c for c in block.conditions if not {loop_vars[d] for d in dims_in(c)} & (reduce_vars | inside)]
    assign(init, [block.bindings.data.results[i] for i in spatial], kept, values)
    init.partial_iters = frozenset(n for n, i in enumerate(spatial) if i in block.partial_iters)
    began = block.init
    block.detach_region(began)
    began.erase()
    block.update_accesses()
    return init


@while_unchanged
def check_cache_write(
    block: BlockOp, scope: str, consumers: Sequence[BlockOp] = (), within: Operation | None = None
) -> Spot:
    """Whether `block` can write a buffer of its own in a scope, which `consumers` read; gives where in `within`, or the
    block of blocks around, it is copied.

    Raises:
        ScheduleError: another block writes the same buffer; `block` does not write each element of the buffer once,
            or needs what stood there before; where its nest reads the buffer, too, an iteration of the loops around
            both does not write all of a part; or a consumer does not only read it, after `block`.
    """
    check_live(block)
    target = written_buffer(block)
    name = f"block @{block.block_name}"
    check_sole_writer(block, target)
    check_plain_memory(target)
    store = check_one_element(block)
    shape = shape_of(target)
    extents = dict(zip(block.iters, block.sizes, strict=True))
    if any(extents[v] != n for v, n in zip(store.indices, shape, strict=True) if isinstance(v, BlockArgument)):
        raise ScheduleError.at(block, f"{name} does not write all elements of its buffer")
    if block.partial_iters:
        raise ScheduleError.at(block, f"{name} runs for a part of its iterators' values only")
    reads_target = any(access.buffer is target and not access.is_write for access in block.accesses())
    if reads_target and block.init is None:
        raise ScheduleError.at(block, f"{name} reads what stood in its buffer before")
    for consumer in consumers:
        if target not in consumer.reads or target in consumer.writes or not is_before(block, consumer):
            raise ScheduleError.at(
                consumer, f"block @{consumer.block_name} does not only read {buffer_name(target)}, after {name}"
            )
    check_not_passed(target, consumers)
    readers = [each for each in readers_of(block) if nest_of(each) is nest_of(block) and each not in consumers]
    spot = spot_of(target, [block], readers, within or scope_of(block))
    check_spot_of_writes(block, consumers, spot, scope)
    return spot


def cache_write(
    block: BlockOp, scope: str, consumers: Sequence[BlockOp] = (), within: Operation | None = None
) -> BlockOp:
    """Let `block` write a buffer of its own, which `consumers` read, and copy that to the buffer it wrote. Returns the
    copying block.

    The copy stands in a nest of its own in the block of blocks around, or in `within`, which is around that; where the
    block's nest reads the buffer, too, in the loops around both, just after what an iteration of them writes. A buffer
    of scope `LOCAL` does not reach it: the function verifies again after `compute_at` has moved `block` into that nest.
    Counterpart of TVM's `cache_write`.

    Raises:
        ScheduleError: as `check_cache_write` says.
    """
    spot = check_cache_write(block, scope, consumers, within)
    target = written_buffer(block)
    shape = shape_of(target)
    alloc = AllocBufferOp(memref_of(target), scope, shape)
    alloc.buffer.name_hint = named_in(target.name_hint or block.block_name, scope)
    place_allocation(alloc, spot, [block, *consumers], block)
    for access in block.accesses():
        if access.buffer is target:
            access.op.operands[1 if access.is_write else 0] = alloc.buffer
    block.update_accesses()
    for consumer in consumers:
        for access in consumer.accesses():
            if access.buffer is target:
                access.op.operands[0] = alloc.buffer
        consumer.update_accesses()
    name = free_block_name(block, alloc.buffer.name_hint)
    return copy_at(name, alloc.buffer, target, spot, after=True, preserve_unit_loops=False)


@while_unchanged
def check_set_scope(buffer: SSAValue, scope: str) -> None:
    """Whether `buffer` can live in `scope`.

    Raises:
        ScheduleError: it is an argument of the function, or would not reach all blocks that use it.
    """
    alloc = allocation_of(buffer)
    if alloc is None:
        users = accessing_blocks(buffer)
        message = "only an allocated buffer can change its scope"
        raise ScheduleError.at(users[0], message) if users else ScheduleError(message)
    check_live(alloc)
    if scope == Scope.LOCAL and is_torn(alloc):
        raise ScheduleError.at(
            alloc, 'a buffer that is used in and outside of a parallel loop cannot be "local", each thread\'s own'
        )


def set_scope(buffer: SSAValue, scope: str) -> None:
    """Let an allocated buffer live in `scope`.

    Raises:
        ScheduleError: as `check_set_scope` says.
    """
    check_set_scope(buffer, scope)
    alloc = allocation_of(buffer)
    assert alloc is not None
    alloc.properties["scope"] = StringAttr(str(scope))
