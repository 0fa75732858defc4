"""`tensorize`: compute a tile as a tensor intrinsic does.

Before -> after `tensorize(inner loop, "add_4")`, an intrinsic that adds four elements in a loop that is unrolled:

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 2 {
    tir.for %i_1 = 0 to 4 {
      tir.block @twice(%vi: spatial 8) = [%i * 4 + %i_1] reads(%x[%vi] : memref<8xf32>)
          writes(%y[%vi] : memref<8xf32>) {
        %0 = memref.load %x[%vi] : memref<8xf32>
        %1 = arith.addf %0, %0 : f32
        memref.store %1, %y[%vi] : memref<8xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 2 {
    tir.outer_block @twice_o {
      tir.for unrolled %j = 0 to 4 {
        tir.block @add(%vi: spatial 2, %vj: spatial 4) = [%i, %j] reads(%x[%vi * 4 + %vj] : memref<8xf32>)
            writes(%y[%vi * 4 + %vj] : memref<8xf32>) {
          %0 = arith.constant 4 : index
          %1 = arith.muli %vi, %0 : index
          %2 = arith.addi %1, %vj : index
          %z = memref.load %x[%2] : memref<8xf32>
          %3 = arith.addf %z, %z : f32
          %4 = arith.constant 4 : index
          %5 = arith.muli %vi, %4 : index
          %6 = arith.addi %5, %vj : index
          memref.store %3, %y[%6] : memref<8xf32>
        }
      }
    }
  }
}
```

The loop becomes an outer block (`blockize`). What is in it must be what the intrinsic's description says: the same
loops, the same expressions, each of its buffers at a place that does not move within the loop. Then the intrinsic's
implementation takes its place, each access moved to where the tile begins: strides are those of the buffer it is in.
A reduction's start, where the description has none, is a block of its own before the steps (`decompose_reduction`); in
an outer block that holds one before the steps, it stays. An implementation that is one block without loops needs no
outer block.

An implementation may call functions outside with its buffers: they are handed the tile's first element. What they make
of that is not seen, so the elements of a tile have to lie in its buffer as they do in one of the tile's own shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import ArrayAttr, IndexType, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects.tir.affine import simplify, substitute
from ....dialects.tir.buffers import memref_of, shape_of
from ....dialects.tir.calls import AddressOfOp, CallOp, Convention
from ....dialects.tir.core import BlockOp, ForOp, IterKind, OuterBlockOp, blocks_under, enclosing_loops
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.symbols import Extent, replaced
from ..analysis.tiles import divide
from ..intrinsics.match_desc import Match, match_desc
from ..intrinsics.tensor_intrin import Strides, TensorIntrin, block_of
from .blockize import blockize, check_blockize, loops_from
from .checks import alignments_of, check_live, check_one_memory, check_plain_memory
from .copies import index_ops
from .decompose_reduction import check_decompose_reduction, decompose_reduction
from .errors import ScheduleError


@dataclass(frozen=True)
class _Plan:
    """What is to be done: the match, the nest that the implementation takes the place of, and the loop before which the
    reduction starts, if it is to."""

    match: Match
    nest: ForOp
    start_at: ForOp | None


def _check(target: ForOp | OuterBlockOp, name: str) -> _Plan:
    check_live(target)
    try:
        intrin = TensorIntrin.get(name)
    except ValueError as error:
        raise ScheduleError(str(error)) from error
    assert intrin is not None
    loop = _nest_of(target)
    block = check_blockize(loop) if isinstance(target, ForOp) else _only_block(target, loop)
    inside = loops_from(loop, block)
    desc = block_of(intrin.desc)
    start_at = None
    if block.init is not None and desc.init is None:
        start_at = _first_step_loop(block) or loop
        check_decompose_reduction(block, start_at)
    match = match_desc(intrin, block, inside, divide(block, inside))
    if intrin.by_strides is not None:
        match = replace(match, intrin=intrin.for_strides(_strides(match)))
    if desc.init is not None:
        _check_starts_once(match)
    _check_calls(match)
    return _Plan(match, loop, start_at)


def _strides(match: Match) -> list[Strides]:
    """How the tiles lie in their buffers, by buffer of the implementation."""
    found: list[Strides] = []
    for value in match.intrin.impl.region.block.args:
        place, rank = match.places[match.parameters[value]], len(memref_of(value).get_shape())
        check_one_memory(place.buffer)
        aligned = alignments_of(place.buffer)
        steps: list[int] = []
        step = 1
        for axis, extent in reversed([*enumerate(shape_of(place.buffer))][len(place.start) - rank :]):
            step = aligned[axis].stride(step) if axis in aligned else step
            steps.insert(0, step)
            if not isinstance(extent, int):
                if len(steps) < rank:
                    what = f"the intrinsic {match.intrin.name} is told how far apart rows lie"
                    raise ScheduleError.at(
                        match.block, f"{what}, and in {buffer_name(place.buffer)} that is known when it runs"
                    )
                break
            step *= extent
        found.append(tuple(steps))
    return found


def _check_calls(match: Match) -> None:
    """What the implementation hands to calls lies in memory as they take it: as a dense buffer of the tile's shape."""
    parameters = match.parameters
    for op in match.intrin.impl.walk():
        if not isinstance(op, CallOp | AddressOfOp):
            continue
        for value in op.operands:
            if value not in parameters:
                continue
            place, shape = match.places[parameters[value]], memref_of(value).get_shape()
            if match.intrin.by_strides is None:
                check_plain_memory(place.buffer)
            name, of = f"%{value.name_hint or 'its buffer'}", shape_of(place.buffer)
            packed = isinstance(op, CallOp) and op.kind == Convention.PACKED
            if packed and not match.is_whole(value):
                raise ScheduleError.at(
                    match.block,
                    f"the intrinsic {match.intrin.name} hands {name} to a function of Python, and it is a part of "
                    f"{buffer_name(place.buffer)}",
                    hint="copy the tile into a buffer of its own (cache_read, cache_write)",
                )
            if match.intrin.by_strides is not None:
                continue  # it is made for how they lie
            first = next((number for number, extent in enumerate(shape) if extent != 1), len(shape))
            inner = len(shape) - first - 1
            if inner > 0 and tuple(of[len(of) - inner :]) != tuple(shape[first + 1 :]):
                raise ScheduleError.at(
                    match.block,
                    f"the intrinsic {match.intrin.name} hands {name} to a call, and its elements do not lie one after "
                    f"another in {buffer_name(place.buffer)}",
                    hint="copy the tile into a buffer of its own (cache_read, cache_write)",
                )


def _check_starts_once(match: Match) -> None:
    """Where a reduction goes on from tile to tile, the implementation starts it by `init`, which runs in the first."""
    block = match.block
    if not any(kind == IterKind.REDUCE and match.tile_count(n) != 1 for n, kind in enumerate(block.kinds)):
        return
    parameters = set(match.intrin.impl.region.block.args)
    for inner in blocks_under(match.intrin.impl):
        if not parameters.isdisjoint(inner.writes) and inner.init is None:
            raise ScheduleError.at(
                block,
                f"the intrinsic {match.intrin.name} starts its sums in each tile, and @{block.block_name} goes on with "
                "them from tile to tile",
                hint=f"let @{inner.block_name} of its implementation start them by init, or describe the steps alone",
            )


def _nest_of(target: ForOp | OuterBlockOp) -> ForOp:
    """The nest that computes: all that there is, but for what begins a reduction before its steps."""
    if isinstance(target, ForOp):
        return target
    *begins, nest = target.body.block.ops
    if not isinstance(nest, ForOp):
        raise ScheduleError.at(target, "holds no loop, and a description describes loops")
    written = {buffer for block in blocks_under(nest) for buffer in block.writes}
    for block in [block for each in begins for block in blocks_under(each)]:
        if block.reads or not written.issuperset(block.writes):
            raise ScheduleError.at(
                target, f"holds more than one nest, and @{block.block_name} is no beginning of the last one's results"
            )
    return nest


def _only_block(target: OuterBlockOp, nest: ForOp) -> BlockOp:
    blocks = blocks_under(nest)
    if len(blocks) != 1:
        raise ScheduleError.at(target, f"holds {len(blocks)} blocks, and a description describes one")
    return blocks[0]


def _first_step_loop(block: BlockOp) -> ForOp | None:
    """The outermost loop that leads from step to step of a reduction."""
    steps = {
        block.loop_vars[d]
        for kind, binding in zip(block.kinds, block.bindings.data.results, strict=True)
        if kind == IterKind.REDUCE
        for d in binding.used_dims()
    }
    return next((loop for loop in enclosing_loops(block) if loop.var in steps), None)


def tensorize(target: ForOp | OuterBlockOp, name: str) -> OuterBlockOp | BlockOp:
    """Let the intrinsic `name` compute what is in `target`; gives the outer block, or the one block, that it
    is then.

    Raises:
        ScheduleError: there is no such intrinsic, `target` cannot be one block, or computes something else.
    """
    plan = _check(target, name)
    match = plan.match
    block = match.block
    if plan.start_at is not None:
        decompose_reduction(block, plan.start_at)
    outer = blockize(target) if isinstance(target, ForOp) else target
    old = plan.nest
    impl = match.intrin.impl.clone()
    given = match.intrin.impl.region.block.args
    buffers: dict[SSAValue, SSAValue] = {
        value: match.parameters[old] for value, old in zip(impl.region.block.args, given, strict=True)
    }
    for inner in blocks_under(impl):
        _place(inner, match, buffers)
    for op in list(impl.region.block.ops):
        op.detach()
        outer.body.block.add_op(op)
    old.detach()
    old.erase(safe_erase=False)
    for inner in blocks_under(outer):
        inner.update_accesses()
    inner = outer.body.block.first_op
    if isinstance(inner, BlockOp) and inner.next_op is None:
        inner.detach()
        assert outer.parent is not None
        outer.parent.insert_op_before(inner, outer)
        outer.detach()
        outer.erase()
        return inner
    return outer


def _place(inner: BlockOp, match: Match, parameters: dict[SSAValue, SSAValue]) -> None:
    """Let a block of the implementation be where the tile is: it gets the iterators that lead from tile to tile."""
    accesses = [
        op
        for region in (inner.body, *([inner.init] if inner.init is not None else []))
        for op in region.walk()
        if isinstance(op, memref.LoadOp | memref.StoreOp | AddressOfOp | CallOp)
        and any(value in parameters for value in op.operands)
    ]
    if not accesses:
        return
    outer = [
        number for number in range(len(match.tiles)) if match.tile_count(number) != 1 or match.tiles[number].tile == 1
    ]
    block = match.block
    body_values: dict[Operation, list[SSAValue]] = {}
    count = len(inner.iters)
    for region in (inner.body, *([inner.init] if inner.init is not None else [])):
        added: list[SSAValue] = []
        for position, number in enumerate(outer):
            argument = region.block.insert_arg(IndexType(), position)
            argument.name_hint = block.iters[number].name_hint
            added.append(argument)
        for op in region.walk():
            body_values[op] = added
    kinds = [block.kinds[number] for number in outer] + list(inner.kinds)
    sizes: list[Extent] = [match.tile_count(number) for number in outer] + list(inner.sizes)
    values = list(inner.loop_vars)
    values += [v for v in block.loop_vars if v not in values]
    dims = [AffineExpr.dimension(values.index(v)) for v in block.loop_vars]
    bindings = [substitute(match.tiles[number].outer, dims) for number in outer] + list(inner.bindings.data.results)
    conditions = [*inner.conditions, *(substitute(each, dims) for each in block.conditions)]
    partial = {outer.index(n) for n in block.partial_iters if n in outer} | {
        len(outer) + n for n in inner.partial_iters
    }
    inner.properties["iter_kinds"] = ArrayAttr([StringAttr(kind.value) for kind in kinds])
    inner.sizes = sizes
    _bind(inner, bindings, conditions, values)
    inner.partial_iters = frozenset(partial)
    assert len(inner.iters) == count + len(outer)
    for op in accesses:
        _move(op, match, parameters, body_values[op], outer)


def _bind(block: BlockOp, bindings: list[AffineExpr], conditions: list[AffineExpr], values: list[SSAValue]) -> None:
    used = sorted({d for expr in (*bindings, *conditions) for d in expr.used_dims()})
    renumber: list[AffineExpr] = [AffineConstantExpr(0)] * len(values)
    for position, old in enumerate(used):
        renumber[old] = AffineExpr.dimension(position)
    exprs = [simplify(substitute(expr, renumber)) for expr in (*bindings, *conditions)]
    block.set_bindings(exprs[: len(bindings)], [values[d] for d in used])
    block.set_predicate(exprs[len(bindings) :])


def _move(
    op: memref.LoadOp | memref.StoreOp | AddressOfOp | CallOp,
    match: Match,
    parameters: dict[SSAValue, SSAValue],
    outer_values: list[SSAValue],
    outer: list[int],
) -> None:
    """Let what touches a parameter of the implementation touch the buffer that it stands for, in the tile."""
    assert op.parent is not None
    if isinstance(op, CallOp):
        for number, value in enumerate(op.operands):
            if value in parameters:
                op.operands[number] = _first_element(op, value, match, parameters, outer_values, outer)
        return
    buffer, indices = _moved(op, op.memref, op.indices, match, parameters, outer_values, outer)
    first = 1 if isinstance(op, memref.StoreOp) else 0
    op.operands = [*list(op.operands)[:first], buffer, *indices]


def _first_element(
    op: CallOp,
    value: SSAValue,
    match: Match,
    parameters: dict[SSAValue, SSAValue],
    outer_values: list[SSAValue],
    outer: list[int],
) -> SSAValue:
    """What a call is handed for a parameter: the buffer, where that is all of it, else the tile's first element."""
    if match.is_whole(parameters[value]):
        return match.places[parameters[value]].buffer
    assert op.parent is not None
    zero = arith.ConstantOp.from_int_and_width(0, IndexType())
    op.parent.insert_op_before(zero, op)
    zeros = [zero.result] * len(memref_of(value).get_shape())
    address = AddressOfOp(*_moved(op, value, zeros, match, parameters, outer_values, outer))
    op.parent.insert_op_before(address, op)
    return address.result


def _moved(
    op: Operation,
    value: SSAValue,
    given: Sequence[SSAValue],
    match: Match,
    parameters: dict[SSAValue, SSAValue],
    outer_values: list[SSAValue],
    outer: list[int],
) -> tuple[SSAValue, list[SSAValue]]:
    """The buffer that a parameter stands for, and the indices there of the element at `given`."""
    place = match.places[parameters[value]]
    arguments: list[SSAValue] = list(match.arguments)
    by_tile: list[AffineExpr] = [AffineConstantExpr(0)] * len(match.tiles)
    for position, number in enumerate(outer):
        by_tile[number] = AffineExpr.dimension(position)
    lead = len(place.start) - len(given)
    indices: list[SSAValue] = []
    assert op.parent is not None
    for number, start in enumerate(place.start):
        start = simplify(replaced(start, by_tile) if start.used_dims() else start)
        if number >= lead and start == AffineConstantExpr(0):
            indices.append(given[number - lead])
            continue
        ops, index = index_ops(start, outer_values, arguments)
        op.parent.insert_ops_before(ops, op)
        if number >= lead:
            add = arith.AddiOp(index, given[number - lead])
            op.parent.insert_op_before(add, op)
            index = add.result
        indices.append(index)
    return place.buffer, indices
