"""What stands where a layout leaves gaps: written by the block that writes the rest, or by blocks that write nothing
else.

A block in loops of its own that writes each element of a buffer once, in order, gets iterators over the new layout, and
chooses between what it computed and the padding. Gaps in what others write are filled after them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr
from xdsl.utils.exceptions import VerifyException

from ....dialects.support.hints import isa
from ....dialects.tir.affine import simplify
from ....dialects.tir.analyzer.padding import Gap
from ....dialects.tir.core import BlockOp, ForKind, IterKind, enclosing_loops, memref_of
from ....dialects.tir.legality.bounds import buffer_name
from ..analysis.producers import allocation_of, function_of, nest_of, writers
from .copies import free_block_name, index_ops, nest_over, new_block, new_body
from .errors import ScheduleError
from .index_maps import Padded


def check_pad_value(op: Operation, value: Attribute, type: Attribute, rank: int) -> None:
    """`value` is one of elements of `type`, or a map of `rank` indices to integers.

    Raises:
        ScheduleError: it is of another type, or not among its values.
    """
    if isinstance(value, AffineMapAttr):
        map = value.data
        if (map.num_dims, map.num_symbols, len(map.results)) != (rank, 0, 1) or not isinstance(type, _INTEGERS):
            raise ScheduleError.at(op, f"padding by a map is an integer for each {rank} indices")
        return
    try:
        literal = _literal(value, type)
    except VerifyException as error:
        raise ScheduleError.at(op, f"elements of type {type} are not padded with {value}: {error}") from None
    if literal is None:
        raise ScheduleError.at(op, f"elements of type {type} are not padded with {value}")


_INTEGERS = (IntegerType, IndexType)


def check_gaps(buffer: SSAValue, layout: Padded) -> None:
    """The gaps of `buffer` can be filled.

    Raises:
        ScheduleError: blocks would have to fill them that do not reach a thread's own buffer.
    """
    found = writers(buffer)
    alloc = allocation_of(buffer)
    if alloc is not None and alloc.is_private and not (len(found) == 1 and _is_plain(found[0], buffer)):
        raise ScheduleError.at(
            alloc,
            f'{buffer_name(buffer)} is of scope "local": what fills its gaps does not reach it',
            hint="lay it out before it gets a scope",
        )


def fill_gaps(buffer: SSAValue, layout: Padded, value: Attribute) -> list[BlockOp]:
    """Let `value` be written to the gaps that `layout` leaves in `buffer`, which is of the new shape already. Gives the
    blocks that write all of it now, and need not be rewritten."""
    found = writers(buffer)
    if len(found) == 1 and _is_plain(found[0], buffer):
        _widen(found[0], buffer, layout, value)
        return found
    if found:
        for gap in layout.gaps:
            _fill(found, buffer, layout, gap, value)
    return []


def _is_plain(block: BlockOp, buffer: SSAValue) -> bool:
    """Whether `block` does nothing but write each element of `buffer` once, in order, in serial loops of its own."""
    spatial = [v for v, kind in zip(block.iters, block.kinds, strict=True) if kind == IterKind.SPATIAL]
    rest = {kind for kind in block.kinds[len(spatial) :]}
    if block.writes != (buffer,) or not rest <= {IterKind.REDUCE} or list(block.iters[: len(spatial)]) != spatial:
        return False
    if block.conditions or block.partial_iters or block.handed() or block.is_symbolic:
        return False
    for region in (region for region in block.regions if region.blocks):
        own = [access for access in block.accesses() if region.is_ancestor(access.op) and access.buffer is buffer]
        places = region.block.args[: len(spatial)]
        if any(tuple(each.op.indices) != tuple(places) for each in own):
            return False
        if [each.op.parent_op() for each in own if each.is_write] != [block]:
            return False
        if any(op.regions and not isinstance(op, scf.IfOp) for op in region.block.ops):
            return False
    nest: Operation = block
    for loop in reversed(loops := enclosing_loops(block)):
        alone = list(loop.body.block.ops) == [nest] and loop.start == 0 and not loop.is_symbolic
        if not alone or loop.for_kind != ForKind.SERIAL or loop.annotations is not None:
            return False
        nest = loop
    own_loops = [loop.var for loop in loops if loop.size != 1]
    bound = [b for b, extent in zip(block.bindings.data.results, block.extents, strict=True) if extent != 1]
    wanted = [AffineDimExpr(list(block.loop_vars).index(v)) if v in block.loop_vars else None for v in own_loops]
    return bound == wanted


def _widen(block: BlockOp, buffer: SSAValue, layout: Padded, value: Attribute) -> None:
    """Address `block` by the indices of the new layout, and let it write `value` to its gaps."""
    count = block.kinds.count(IterKind.SPATIAL)
    extents = [*layout.map.extents, *block.extents[count:]]
    for region in block.regions:
        if region.blocks:
            _choose(region, buffer, layout, count, value)
    kinds = [IterKind.SPATIAL] * len(layout.map.extents) + list(block.kinds[count:])
    top = nest_of(block)
    loops, bindings = nest_over(extents, unit=True)
    assert top.parent is not None and loops
    top.parent.insert_op_before(loops[0], top)
    block.detach()
    loops[-1].body.block.add_op(block)
    if top is not block:
        top.detach()
        top.erase()
    block.properties["iter_kinds"] = ArrayAttr([StringAttr(kind.value) for kind in kinds])
    block.properties["iter_extents"] = DenseArrayBase.from_list(i64, extents)
    block.set_bindings(bindings, [loop.var for loop in loops])
    block.update_accesses()


def _choose(region: Region, buffer: SSAValue, layout: Padded, count: int, value: Attribute) -> None:
    """Let a body have the new indices for its first `count` iterators, and store `value` at gaps."""
    old = list(region.block.args)
    new = new_body(len(layout.map.extents) + len(old) - count)
    places = list(new.args[: len(layout.map.extents)])
    for given, argument in zip(old[count:], new.args[len(places) :], strict=True):
        argument.name_hint = given.name_hint
        given.replace_all_uses_with(argument)
    inside, outside = Block(), Block()
    for argument, expr, left in zip(old[:count], layout.map.backward, layout.left, strict=True):
        ops, index = index_ops(simplify(expr), places)
        inside.add_ops(ops)
        if left:
            shift = arith.ConstantOp(IntegerAttr(left, IndexType()))
            moved = arith.SubiOp(index, shift.result)
            inside.add_ops([shift, moved])
            index = moved.result
        argument.replace_all_uses_with(index)
    store: memref.StoreOp | None = None
    for op in region.walk():
        if isinstance(op, memref.LoadOp) and op.memref is buffer:
            op.operands = [buffer, *places]
    for op in list(region.block.ops):
        op.detach()
        if isinstance(op, memref.StoreOp) and op.memref is buffer:
            store = op
            continue
        inside.add_op(op)
    assert store is not None
    result = store.value
    inside.add_op(scf.YieldOp(result))
    padding, padded = _padding(value, result.type, places)
    outside.add_ops([*padding, scf.YieldOp(padded)])
    tests, is_gap = _in_a_gap(layout.gaps, places)
    choice = scf.IfOp(is_gap, [result.type], Region(outside), Region(inside))
    store.operands = [choice.results[0], buffer, *places]
    new.add_ops([*tests, choice, store])
    region.detach_block(0)
    region.add_block(new)


def _in_a_gap(gaps: Sequence[Gap], places: Sequence[BlockArgument]) -> tuple[list[Operation], SSAValue]:
    """The truth value of whether an element is in one of `gaps`, and what computes it."""
    ops: list[Operation] = []
    found: list[SSAValue] = []
    for gap in gaps:
        more, inner = index_ops(_inner(gap), places)
        limit = arith.ConstantOp(IntegerAttr(gap.inner.stop if gap.is_first else gap.inner.start, IndexType()))
        order = (inner, limit.result, "slt") if gap.is_first else (limit.result, inner, "sle")
        test: Operation = arith.CmpiOp(*order)
        ops += [*more, limit, test]
        if gap.highest is not None:
            number, outer = gap.highest
            last = arith.ConstantOp(IntegerAttr(outer, IndexType()))
            is_last = arith.CmpiOp(places[number], last.result, "eq")
            test = arith.AndIOp(is_last.result, test.results[0])
            ops += [last, is_last, test]
        found.append(test.results[0])
    total = found[0]
    for each in found[1:]:
        either = arith.OrIOp(total, each)
        ops.append(either)
        total = either.result
    return ops, total


def _inner(gap: Gap) -> AffineExpr:
    """What the lower digits of an iterator sum to, over the new indices."""
    total: AffineExpr = AffineConstantExpr(0)
    for number, scale in gap.lower:
        total = total + AffineDimExpr(number) * scale
    return simplify(total)


def _padding(value: Attribute, type: Attribute, places: Sequence[SSAValue]) -> tuple[list[Operation], SSAValue]:
    """What computes the padding at some indices."""
    if not isinstance(value, AffineMapAttr):
        made = _literal(value, type)
        assert made is not None
        literal = arith.ConstantOp(made)
        return [literal], literal.result
    ops, found = index_ops(value.data.results[0], places)
    if isinstance(type, IndexType):
        return ops, found
    cast = arith.IndexCastOp(found, type)
    return [*ops, cast], cast.result


def _literal(value: Attribute, type: Attribute) -> IntegerAttr[IntegerType | IndexType] | FloatAttr | None:
    """A number as one of elements of `type`; `None` where it is of another kind."""
    if isinstance(value, FloatAttr) and isinstance(type, AnyFloat):
        return FloatAttr(value.value.data, type)
    if isinstance(value, IntegerAttr) and isa(type, IntegerType | IndexType):
        return IntegerAttr(value.value.data, type)
    return None


def _fill(found: Sequence[BlockOp], buffer: SSAValue, layout: Padded, gap: Gap, value: Attribute) -> None:
    """A block after those that write `buffer` that writes one of its gaps."""
    body = new_body(len(layout.map.extents))
    ops, padded = _padding(value, memref_of(buffer).element_type, body.args)
    body.add_ops([*ops, memref.StoreOp.get(padded, buffer, body.args)])
    name = free_block_name(found[0], f"{found[0].block_name}_pad_{buffer.name_hint or 'buffer'}")
    nest, block = new_block(name, [(IterKind.SPATIAL, extent) for extent in layout.map.extents], body, unit=True)
    inner = _inner(gap)
    conditions: list[AffineExpr] = []
    if gap.highest is not None:
        number, outer = gap.highest
        place = AffineDimExpr(number)
        conditions += [simplify(place + AffineConstantExpr(-outer)), simplify(place * -1 + AffineConstantExpr(outer))]
    start, stop = AffineConstantExpr(-gap.inner.start), AffineConstantExpr(gap.inner.stop - 1)
    conditions.append(simplify(inner * -1 + stop if gap.is_first else inner + start))
    block.set_predicate(conditions)
    block.partial_iters = frozenset(d for each in conditions for d in each.used_dims())
    alloc = allocation_of(buffer)
    region = function_of(found[0]).region if alloc is None else alloc.parent_region()
    last: Operation = found[-1]
    while last.parent_region() is not region:
        parent = last.parent_op()
        assert parent is not None
        last = parent
    assert last.parent is not None
    last.parent.insert_op_after(nest, last)
