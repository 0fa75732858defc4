"""`rfactor`: let each iteration of a reduction's loop reduce on its own, and reduce the partial results after.

Before -> after `rfactor(k, 0)`:

```mlir
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<1xf32>) {
  tir.for %k = 0 to 4 {
    tir.for %l = 0 to 8 {
      tir.block @sum(%v: spatial 1, %a: reduce 4, %b: reduce 8) = [0, %k, %l]
          reads(%x[%a, %b] : memref<4x8xf32>) writes(%y[%v] : memref<1xf32>) {
        %0 = memref.load %y[%v] : memref<1xf32>
        %1 = memref.load %x[%a, %b] : memref<4x8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y[%v] : memref<1xf32>
      } init(%v, %a, %b) {
        %0 = arith.constant 0.0 : f32
        memref.store %0, %y[%v] : memref<1xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<1xf32>) {
  %y_rf = tir.alloc_buffer "global" : memref<4x1xf32>
  tir.for %k = 0 to 4 {
    tir.for %l = 0 to 8 {
      tir.block @sum_rf(%vk: spatial 4, %v: spatial 1, %vl: reduce 8) = [%k, 0, %l]
          reads(%x[%vk, %vl] : memref<4x8xf32>) writes(%y_rf[%vk, %v] : memref<4x1xf32>) {
        %0 = memref.load %y_rf[%vk, %v] : memref<4x1xf32>
        %1 = memref.load %x[%vk, %vl] : memref<4x8xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %y_rf[%vk, %v] : memref<4x1xf32>
      } init(%vk_1, %v_1, %vl_1) {
        %0 = arith.constant 0.0 : f32
        memref.store %0, %y_rf[%vk_1, %v_1] : memref<4x1xf32>
      }
    }
  }
  tir.for %k = 0 to 4 {
    tir.block @sum(%vk: reduce 4, %v: spatial 1) = [%k, 0]
        reads(%y_rf[%vk, %v] : memref<4x1xf32>) writes(%y[%v] : memref<1xf32>) {
      %0 = memref.load %y[%v] : memref<1xf32>
      %1 = memref.load %y_rf[%vk, %v] : memref<4x1xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%v] : memref<1xf32>
    } init(%vk_1, %v_1) {
      %0 = arith.constant 0.0 : f32
      memref.store %0, %y[%v_1] : memref<1xf32>
    }
  }
}
```

Loops that the block shares with others are copied for the partial results, which are computed before all of them; they
are put together where the block stood.

The order of additions changes, and with it the rounding of floats, as any schedule of a reduction may. A reduction may
have several results, each combined by an operation of its own, or several chosen by one comparison of what there is
with the step: the greatest and its place. Of steps that compare as equal, another may be taken then, unless their
places are compared too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

from xdsl.dialects import memref
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from ....dialects.tir.affine import substitute
from ....dialects.tir.alignment import BUFFER_DIM_ALIGN
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.core import (
    AllocBufferOp,
    BlockOp,
    ForOp,
    IterKind,
    OuterBlockOp,
    blocks_under,
    enclosing_loops,
    memref_of,
)
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.symbols import arguments_around
from ..analysis.producers import nest_of, writers
from ..analysis.reducers import Reduction, reduction_of
from .checks import check_elements, check_live, check_sole_writer
from .copies import drop_unused, empty_loop, free_block_name, index_ops, new_block, new_body
from .errors import ScheduleError
from .rebind import ValueExpr, rebind


def check_rfactor(loop: ForOp, axis: int) -> Reduction:
    """Whether the reduction in `loop` can be factored along it.

    Raises:
        ScheduleError: there is not one block in the loop, or not one that reduces along it, with an init of all that it
            writes, where it writes it; another block in the nest shares a loop of the reduction, or writes what is
            reduced; the loop is bound to a spatial iterator too; the block has a predicate; its result is not combined
            by one known operation from a start that may be taken more than once; or there is no such axis.
    """
    check_live(loop)
    inner = blocks_under(loop)
    if len(inner) != 1:
        raise ScheduleError.at(loop, f"has {len(inner)} blocks in it, not one")
    block = inner[0]
    name = f"block @{block.block_name}"
    if block.init is None:
        raise ScheduleError.at(block, f"{name} has no init", hint="apply this before decompose_reduction")
    if block.conditions or block.partial_iters:
        raise ScheduleError.at(block, f"{name} has a predicate", hint="split by a factor that divides")
    if loop.start != 0 or loop.size == 0:
        raise ScheduleError.at(loop, "does not start at 0, or has no iterations")
    if loop.var not in block.loop_vars and loop.size != 1:  # one step of a reduction may be that of any loop
        raise ScheduleError.at(loop, f"is no reduction of {name}")
    for number, (kind, binding) in enumerate(zip(block.kinds, block.bindings.data.results, strict=True)):
        bound = [block.loop_vars[d] for d in binding.used_dims()]
        if loop.var in bound and kind != IterKind.REDUCE:
            raise ScheduleError.at(loop, f"is bound to {block.iter_name(number)} of {name}, which is {kind.value}")
    reduces = {
        d
        for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True)
        if kind == IterKind.REDUCE
        for d in binding.used_dims()
    }
    for number, (kind, binding) in enumerate(zip(block.kinds, block.bindings.data.results, strict=True)):
        if kind == IterKind.SPATIAL and set(binding.used_dims()) & reduces:
            raise ScheduleError.at(block, f"{block.iter_name(number)} shares a loop with a reduction")
    for d in reduces:
        owner = block.loop_vars[d].owner
        assert isinstance(owner, Block)
        each = owner.parent_op()
        if isinstance(each, ForOp) and each.start != 0:
            raise ScheduleError.at(each, "does not start at 0")
    stores = check_elements(block)
    places = [block.iters.index(index) for index in stores[0].indices if isinstance(index, BlockArgument)]
    begun = [op for op in block.init.walk() if isinstance(op, memref.StoreOp)]
    for store in stores:
        check_sole_writer(block, store.memref)
        if all(op.memref is not store.memref for op in begun):
            raise ScheduleError.at(block, f"{name} has no init for {buffer_name(store.memref)}: no part would begin")
    for op in begun:
        if list(op.indices) != [block.init.block.args[number] for number in places]:
            raise ScheduleError.at(op, f"{name} begins another element than it goes on with")
    _check_comes_first(block, reduces)
    rank = len(stores[0].indices)
    if not -rank - 1 <= axis <= rank:
        raise ScheduleError.at(block, f"there is no axis {axis}: the result of {name} has {rank} dimensions")
    return reduction_of(block, stores)


def _shared_loops(block: BlockOp) -> list[ForOp]:
    """The loops around `block` that are around other blocks too."""
    return [each for each in enclosing_loops(block) if len(blocks_under(each)) > 1]


def _check_comes_first(block: BlockOp, reduces: set[int]) -> None:
    """The parts may be computed before all that stands in the nest of `block` beside it, and put together in it.

    Args:
        reduces: which of its loop variables the reduction is bound to.
    """
    name = f"block @{block.block_name}"
    shared = _shared_loops(block)
    for each in shared:
        if each.var in [block.loop_vars[d] for d in reduces]:
            raise ScheduleError.at(each, f"is a loop of the reduction of {name}, and around other blocks too")
        if each.annotations is not None:
            raise ScheduleError.at(each, "has annotations, which its copy would lose", hint="annotate last")
    if not shared:
        return
    top = shared[0]
    for outer in (op for op in top.walk() if isinstance(op, OuterBlockOp) and op.is_ancestor(block)):
        raise ScheduleError.at(outer, f"stands between {name} and a loop that it shares with other blocks")
    for buffer in set(block.reads) - set(block.writes):
        if isinstance(buffer.owner, AllocBufferOp) and top.is_ancestor(buffer.owner):
            raise ScheduleError.at(block, f"{name} reads {buffer_name(buffer)}, which is allocated in its nest")
        for other in writers(buffer):
            if top.is_ancestor(other):
                raise ScheduleError.at(
                    block, f"{name} reads {buffer_name(buffer)}, which block @{other.block_name} writes in its nest"
                )


def rfactor(loop: ForOp, axis: int) -> BlockOp:
    """Factor the reduction in `loop` along it: its partial results are dimension `axis` of a new buffer.

    Returns the block that computes them, in the loops of the old one; that stands in copies of those loops after, but
    for those of the reduction that are not factored, and adds them up. Loops that other blocks share are copied for the
    parts instead. Counterpart of TVM's `rfactor`.

    Raises:
        ScheduleError: as `check_rfactor` says.
    """
    found = check_rfactor(loop, axis)
    block = found.block
    if loop.var not in block.loop_vars:
        block.set_bindings(list(block.bindings.data.results), [*block.loop_vars, loop.var])
    rank = len(found.stores[0].indices)
    axis = axis + rank + 1 if axis < 0 else axis
    top = nest_of(loop)
    assert top.parent is not None
    buffers: list[SSAValue] = []
    for store in found.stores:
        shape = list(shape_of(store.memref))
        shape.insert(axis, loop.size)
        alloc = AllocBufferOp.of(memref_of(store.memref).element_type, shape)
        alloc.buffer.name_hint = f"{store.memref.name_hint or block.block_name}_rf"
        top.parent.insert_op_before(alloc, top)
        buffers.append(alloc.buffer)
    shared = _shared_loops(block)
    own = enclosing_loops(block)[len(shared)]
    partial = _partial_block(found, loop, axis, buffers)
    nest, final = _whole_nest(found, loop, axis, buffers, enclosing_loops(own))
    assert block.parent is not None and own.parent is not None
    block.parent.insert_op_before(partial, block)
    block.detach()
    _take_over(block, final)
    own.parent.insert_op_after(nest, own)
    if shared:
        copies = [empty_loop(each) for each in shared]
        for outer, inner in pairwise(copies):
            outer.body.block.add_op(inner)
        top.parent.insert_op_before(copies[0], top)
        own.detach()
        copies[-1].body.block.add_op(own)
        again: dict[SSAValue, ValueExpr] = {
            each.var: ValueExpr.of(copy.var) for each, copy in zip(shared, copies, strict=True)
        }
        rebind(partial, again)
    return partial


def _take_over(block: BlockOp, final: BlockOp) -> None:
    """Let `block`, whose handles people hold, be what `final` is, and stand where it stands."""
    if final.parent is not None:
        final.parent.insert_op_before(block, final)
        final.detach()
    for region in list(block.regions):
        block.detach_region(region)
        region.erase()
    for region in list(final.regions):
        final.detach_region(region)
        block.add_region(region)
    block.operands = list(final.operands)
    block.properties = dict(final.properties)
    final.erase()


def _partial_block(found: Reduction, loop: ForOp, axis: int, buffers: Sequence[SSAValue]) -> BlockOp:
    """The block that reduces over all loops but `loop`, which its first iterator is bound to."""
    block = found.block
    loop_vars = list(block.loop_vars)
    bindings = block.bindings.data.results
    spatial = [n for n, kind in enumerate(block.kinds) if kind == IterKind.SPATIAL]
    reduced = {
        loop_vars[d] for n, kind in enumerate(block.kinds) if kind == IterKind.REDUCE for d in bindings[n].used_dims()
    }
    loops = [each for each in enclosing_loops(block) if each.var in reduced and each is not loop]
    iters = [(IterKind.SPATIAL, loop.size), *((IterKind.SPATIAL, block.sizes[n]) for n in spatial)]
    iters += [(IterKind.REDUCE, each.size) for each in loops]
    new_bindings: list[AffineExpr] = [AffineDimExpr(loop_vars.index(loop.var)), *(bindings[n] for n in spatial)]
    new_bindings += [AffineDimExpr(loop_vars.index(each.var)) for each in loops]
    names = [f"v{loop.var.name_hint or 'k'}", *((block.iters[n].name_hint or f"v{n}") for n in spatial)]
    names += [f"v{each.var.name_hint or 'k'}" for each in loops]
    position: dict[SSAValue, int] = {loop.var: 0, **{each.var: 1 + len(spatial) + n for n, each in enumerate(loops)}}
    bodies: list[Block] = []
    assert block.init is not None
    for region in (block.body, block.init) if loops else (block.body,):
        body = new_body(len(iters))
        mapping: dict[SSAValue, SSAValue] = {}
        for argument, hint in zip(body.args, names, strict=True):
            argument.name_hint = hint
        for number, old in enumerate(region.block.args):
            if number in spatial:
                mapping[old] = body.args[1 + spatial.index(number)]
            elif old.uses:
                dims: list[AffineExpr] = [AffineDimExpr(position.get(v, 0)) for v in loop_vars]
                ops, mapping[old] = index_ops(substitute(bindings[number], dims), body.args, arguments_around(block))
                body.add_ops(ops)
        for op in region.block.ops:
            copy = op.clone(mapping)
            body.add_op(copy)
            if not loops and op in found.stores:  # nothing is left to reduce: what would be the only step is the part
                step = found.steps[found.stores.index(cast("memref.StoreOp", op))]
                copy.operands[0] = mapping.get(step, step)
        for store, buffer in zip(found.stores, buffers, strict=True):
            _redirect(body, store.memref, buffer, axis, body.args[0])
        bodies.append(body)
    _, made = new_block(
        free_block_name(block, f"{block.block_name}_rf"), iters, bodies[0], bodies[1] if loops else None
    )
    if made.parent is not None:  # it is in no loop where each iterator has one value
        made.detach()
    if not loops:
        drop_unused(made)
        made.update_accesses()
    made.attributes = {key: value for key, value in block.attributes.items() if key != BUFFER_DIM_ALIGN}
    used = sorted({d for binding in new_bindings for d in binding.used_dims()})
    renumber: list[AffineExpr] = [AffineDimExpr(used.index(d) if d in used else 0) for d in range(len(loop_vars))]
    made.set_bindings([substitute(binding, renumber) for binding in new_bindings], [loop_vars[d] for d in used])
    return made


def _redirect(body: Block, old: SSAValue, new: SSAValue, axis: int, index: SSAValue) -> None:
    """Let accesses to `old` go to `new`, at `index` in one more dimension."""
    for op in list(body.walk()):
        if isinstance(op, memref.LoadOp | memref.StoreOp) and op.memref is old:
            lead = 0 if isinstance(op, memref.LoadOp) else 1
            operands = list(op.operands)
            operands[lead] = new
            operands.insert(lead + 1 + axis, index)
            op.operands = operands


def _whole_nest(
    found: Reduction, loop: ForOp, axis: int, buffers: Sequence[SSAValue], around: Sequence[ForOp]
) -> tuple[Operation, BlockOp]:
    """The block that combines the partial results, and the outermost of the loops that it has to itself: those of the
    old block within `around` that do not reduce, and `loop`."""
    block = found.block
    spatial = [n for n, kind in enumerate(block.kinds) if kind == IterKind.SPATIAL]
    iters = [(IterKind.REDUCE, loop.size)] + [(IterKind.SPATIAL, block.sizes[n]) for n in spatial]
    names = [f"v{loop.var.name_hint or 'k'}", *((block.iters[n].name_hint or f"v{n}") for n in spatial)]
    body, start = new_body(len(iters)), new_body(len(iters))
    for each in (body, start):
        for argument, hint in zip(each.args, names, strict=True):
            argument.name_hint = hint
    at: list[SSAValue] = [
        body.args[1 + spatial.index(block.iters.index(v))]
        for v in found.stores[0].indices
        if isinstance(v, BlockArgument)
    ]
    so_far: list[SSAValue] = []
    parts: list[SSAValue] = []
    for store, buffer in zip(found.stores, buffers, strict=True):
        there = memref.LoadOp.get(store.memref, at)
        part = memref.LoadOp.get(buffer, [*at[:axis], body.args[0], *at[axis:]])
        body.add_ops([there, part])
        so_far.append(there.res)
        parts.append(part.res)
    ops, results = found.combined(so_far, parts)
    body.add_ops(ops)
    body.add_ops(
        memref.StoreOp.get(value, store.memref, at) for value, store in zip(results, found.stores, strict=True)
    )
    assert block.init is not None
    mapping: dict[SSAValue, SSAValue] = {
        block.init.block.args[n]: start.args[1 + position] for position, n in enumerate(spatial)
    }
    for op in block.init.block.ops:
        start.add_op(op.clone(mapping))
    reduced = {v for n, kind in enumerate(block.kinds) if kind == IterKind.REDUCE for v in _bound_to(block, n)}
    loops: list[ForOp] = []
    copied: dict[SSAValue, ValueExpr] = {}
    for each in enclosing_loops(block):
        if each is loop:
            copy = ForOp(loop.size, name_hint=loop.var.name_hint)  # whatever its kind: it reduces
        elif each in around or each.var in reduced:
            continue
        else:
            copy = empty_loop(each)
        copied[each.var] = ValueExpr.of(copy.var)
        if loops:
            loops[-1].body.block.add_op(copy)
        loops.append(copy)
    dims = block.bindings.data.num_dims
    place = AffineDimExpr(list(block.loop_vars).index(loop.var))
    bound = AffineMap(dims, 0, (place, *(block.bindings.data.results[n] for n in spatial)))
    made = BlockOp(block.block_name, iters, bound, block.loop_vars, Region(body), Region(start))
    loops[-1].body.block.add_op(made)
    rebind(made, copied)
    return loops[0], made


def _bound_to(block: BlockOp, number: int) -> list[SSAValue]:
    """The loop variables that an iterator is bound to."""
    return [block.loop_vars[d] for d in block.bindings.data.results[number].used_dims()]
