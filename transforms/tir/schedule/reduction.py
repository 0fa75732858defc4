"""Primitives on reductions and on where a block writes: `decompose_reduction`, `cache_write`, `set_scope`."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ....dialects.tir.core import AllocBufferOp, BlockOp, ForOp, IterKind, Scope, memref_of
from .errors import ScheduleError
from .inline import accessing_blocks, written_buffer
from .rebind import assign, enclosing_loops


def decompose_reduction(block: BlockOp, loop: ForOp) -> BlockOp:
    """Move the `init` of `block` into a block of its own, before `loop`. Returns that block.

    The new block stands under copies of those loops, from `loop` inwards, that its spatial iterators are bound to.
    Counterpart of TVM's `decompose_reduction`.

    Raises:
        ScheduleError: the block has no init, `loop` is not around it, or a reduction loop lies outside `loop`.
    """
    if block.init is None:
        raise ScheduleError(f"block @{block.block_name} has no init to take apart", block)
    loops = enclosing_loops(block)
    if loop not in loops:
        raise ScheduleError(f"the loop is not around block @{block.block_name}", loop)
    loop_vars = list(block.loop_vars)
    reduce_vars: set[SSAValue] = set()
    spatial_vars: set[SSAValue] = set()
    for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True):
        used = {loop_vars[d] for d in binding.used_dims()}
        if kind == IterKind.REDUCE:
            reduce_vars |= used
        else:
            spatial_vars |= used
    outside = loops[: loops.index(loop)]
    if any(each.var in reduce_vars for each in outside):
        raise ScheduleError(f"a reduction loop of @{block.block_name} lies outside the loop", loop)
    copied = [each for each in loops[loops.index(loop) :] if each.var in spatial_vars]
    copies = [
        ForOp(each.trip_count, min=each.start, kind=each.for_kind, name_hint=each.var.name_hint) for each in copied
    ]
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
        [(IterKind.SPATIAL, block.extents[i]) for i in spatial],
        AffineMap(0, 0, tuple(AffineExpr.constant(0) for _ in spatial)),
        [],
        Region(body),
    )
    nest: Operation = init
    for each in reversed(copies):
        each.body.block.add_op(nest)
        nest = each
    assert loop.parent is not None
    loop.parent.insert_op_before(nest, loop)
    values = [renamed.get(v, v) for v in loop_vars]
    kept = [c for c in block.conditions if not {loop_vars[d] for d in c.used_dims()} & reduce_vars]
    assign(init, [block.bindings.data.results[i] for i in spatial], kept, values)
    block.detach_region(block.init)
    block.update_accesses()
    return init


def cache_write(block: BlockOp, scope: Scope) -> BlockOp:
    """Let `block` write a buffer of its own, and copy that to the buffer it wrote. Returns the copying block.

    Counterpart of TVM's `cache_write`.
    """
    target = written_buffer(block)
    alloc = AllocBufferOp(memref_of(target), scope)
    alloc.buffer.name_hint = f"{target.name_hint or block.block_name}_{scope.value}"
    top: Operation = enclosing_loops(block)[0] if enclosing_loops(block) else block
    assert top.parent is not None
    top.parent.insert_op_before(alloc, top)
    for access in block.accesses():
        if access.buffer is target:
            access.op.operands[1 if access.is_write else 0] = alloc.buffer
    block.update_accesses()
    shape = memref_of(target).get_shape()
    loops = [ForOp(n, name_hint=f"i{d}") for d, n in enumerate(shape) if n != 1]
    body = Block(arg_types=[IndexType()] * len(shape))
    for number, argument in enumerate(body.args):
        argument.name_hint = f"v{number}"
    load = memref.LoadOp.get(alloc.buffer, body.args)
    body.add_ops([load, memref.StoreOp.get(load.res, target, body.args)])
    position = iter(range(len(loops)))
    bindings = tuple(AffineExpr.constant(0) if n == 1 else AffineExpr.dimension(next(position)) for n in shape)
    copy = BlockOp(
        f"{block.block_name}_write",
        [(IterKind.SPATIAL, n) for n in shape],
        AffineMap(len(loops), 0, bindings),
        [loop.var for loop in loops],
        Region(body),
    )
    nest: Operation = copy
    for loop in reversed(loops):
        loop.body.block.add_op(nest)
        nest = loop
    top.parent.insert_op_after(nest, top)
    return copy


def set_scope(buffer: SSAValue, scope: Scope) -> None:
    """Let an allocated buffer live in `scope`.

    Raises:
        ScheduleError: the buffer is an argument of the function.
    """
    alloc = buffer.owner
    if not isinstance(alloc, AllocBufferOp):
        raise ScheduleError("only an allocated buffer can change its scope", accessing_blocks(buffer)[0])
    alloc.properties["scope"] = StringAttr(scope.value)
