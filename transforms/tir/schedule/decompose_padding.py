"""`decompose_padding`: fill with what stands around first, then write what is padded, without a condition in between.

Before -> after `decompose_padding(block, loop)`:

```mlir
tir.prim_func @f(%x: memref<4xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @pad(%v: spatial 8) = [%i] reads(%x[%v + -2] : memref<4xf32>) writes(%y[%v] : memref<8xf32>) {
      %two = arith.constant 2 : index
      %six = arith.constant 6 : index
      %zero = arith.constant 0.0 : f32
      %low = arith.cmpi sge, %v, %two : index
      %high = arith.cmpi slt, %v, %six : index
      %inside = arith.andi %low, %high : i1
      %value = scf.if %inside -> (f32) {
        %place = arith.subi %v, %two : index
        %element = memref.load %x[%place] : memref<4xf32>
        scf.yield %element : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %value, %y[%v] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<4xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @pad_pad_const(%v: spatial 8) = [%i] reads() writes(%y[%v] : memref<8xf32>) {
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %y[%v] : memref<8xf32>
    }
  }
  tir.for %i_1 = 0 to 4 {
    tir.block @pad(%v_1: spatial 4) = [%i_1] reads(%x[%v_1] : memref<4xf32>) writes(%y[%v_1 + 2] : memref<8xf32>) {
      %element = memref.load %x[%v_1] : memref<4xf32>
      %0 = arith.constant 2 : index
      %1 = arith.addi %v_1, %0 : index
      memref.store %element, %y[%1] : memref<8xf32>
    }
  }
}
```

An iterator that is a loop's variable has a shorter loop; one that is made of several has a predicate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ....dialects.tir.affine import Linear, affine_of, linear, over_dimensions, simplify, substitute
from ....dialects.tir.conditions import Conditions
from ....dialects.tir.core import BlockOp, ForOp, IterKind, blocks_under, enclosing_loops
from ....dialects.tir.loops import BY_THREADS
from ....dialects.tir.symbols import depends_on_symbols
from ..analysis.producers import allocation_of, written_buffer
from .checks import check_free, check_known, check_live, check_one_element, check_sole_writer
from .copies import drop_unused, empty_loop, free_block_name, is_sum, move_access
from .errors import ScheduleError
from .rebind import assign


@dataclass(frozen=True)
class Padding:
    """What `block` writes where conditions on its iterators hold, and the literal that it writes elsewhere."""

    store: memref.StoreOp
    choice: Operation
    inside: SSAValue
    outside: arith.ConstantOp
    conditions: tuple[AffineExpr, ...]

    def bounds(self, number: int, extent: int) -> tuple[int, int]:
        """The values of an iterator from which and to below which the conditions on it alone hold."""
        dim = AffineDimExpr(number)
        low, high = 0, extent
        for condition in self.conditions:
            form = linear(condition)
            if set(form.terms) == {dim}:
                if (factor := form.terms[dim]) > 0:
                    low = max(low, -(form.constant // factor))
                else:
                    high = min(high, form.constant // -factor + 1)
        return low, max(low, high)

    def others(self) -> list[AffineExpr]:
        """The conditions that are no bound of one iterator, nor always hold."""
        forms = [linear(condition) for condition in self.conditions]
        return [
            condition
            for condition, form in zip(self.conditions, forms, strict=True)
            if (not _is_bound(form) if form.terms else form.constant < 0)
        ]


def _is_bound(form: Linear) -> bool:
    """Whether it is a multiple of one iterator, and a constant."""
    return len(form.terms) == 1 and all(isinstance(atom, AffineDimExpr) for atom in form.terms)


def check_decompose_padding(block: BlockOp, loop: ForOp) -> Padding:
    """Whether what `block` pads with can be written before `loop`; gives what it pads.

    Raises:
        ScheduleError: the block writes more than one element, or reduces; it does not choose between a value and a
            literal by comparing its iterators, or always chooses the value; another block writes the buffer; `loop` is
            not around the block, or it stands with others in it; an extent is a symbol; or the buffer would be filled
            before it is there.
    """
    check_live(block, loop)
    name = f"block @{block.block_name}"
    around = enclosing_loops(block)
    if loop not in around:
        raise ScheduleError.at(loop, f"the loop is not around {name}")
    if any(kind != IterKind.SPATIAL for kind in block.kinds):
        raise ScheduleError.at(block, f"{name} reduces, and does not only pad")
    check_known(block, [*block.sizes, *(each.size for each in around[around.index(loop) :])], name)
    buffer = written_buffer(block)
    check_sole_writer(block, buffer)
    store = check_one_element(block)
    padding = _padding(block, store)
    whole = all(padding.bounds(number, extent) == (0, extent) for number, extent in enumerate(block.extents))
    if whole and not padding.others():
        raise ScheduleError.at(block, f"{name} pads nothing: its condition always holds")
    inner = around[around.index(loop) :]
    for each in inner:
        check_free(each)
    if any(other is not block and buffer in (*other.reads, *other.writes) for other in blocks_under(loop)):
        if any(len(blocks_under(each)) > 1 for each in inner[1:]):
            raise ScheduleError.at(loop, f"another block stands in the loops of {name}, and uses what it writes")
    alloc = allocation_of(buffer)
    if alloc is not None and loop.is_ancestor(alloc):
        raise ScheduleError.at(alloc, "is allocated in the loop, before which it would be filled")
    if alloc is not None and alloc.is_private and any(each.for_kind in BY_THREADS for each in inner):
        raise ScheduleError.at(
            loop, 'the buffer is of scope "local", and would be filled by another thread', hint="choose a loop within"
        )
    return padding


def _padding(block: BlockOp, store: memref.StoreOp) -> Padding:
    value = store.value.owner
    name = f"block @{block.block_name}"
    match value:
        case arith.SelectOp():
            condition, inside, outside = value.cond, value.lhs, value.rhs
        case scf.IfOp():
            ends = [region.block.last_op for region in (value.true_region, value.false_region) if region.blocks]
            if len(value.results) != 1 or any(not isinstance(end, scf.YieldOp) for end in ends):
                raise ScheduleError.at(value, f"{name} does not choose between a value and a literal")
            condition = value.cond
            inside, outside = (end.operands[0] for end in ends if end is not None)
        case _:
            raise ScheduleError.at(block, f"{name} pads nothing: what it writes is no choice")
    if not isinstance(outside.owner, arith.ConstantOp):
        raise ScheduleError.at(block, f"{name} does not pad with a literal")
    dims = over_dimensions(block.iters)
    ranges = {dim: (0, extent - 1) for dim, extent in zip(dims.values(), block.extents, strict=True)}
    guard = Conditions(lambda index: affine_of(index, dims), ranges).of(condition)
    if not guard.whole or any(depends_on_symbols(each) for each in guard.conditions):
        raise ScheduleError.at(block, f"{name} does not pad by comparisons of its iterators")
    return Padding(store, value, inside, outside.owner, tuple(simplify(each, ranges) for each in guard.conditions))


def decompose_padding(block: BlockOp, loop: ForOp) -> BlockOp:
    """Fill what `block` writes with the literal that it pads with, before `loop`, and let it write the rest only.
    Returns the block that fills. Counterpart of TVM's `decompose_padding`.

    Raises:
        ScheduleError: as `check_decompose_padding` says.
    """
    padding = check_decompose_padding(block, loop)
    fill = _fill(block, loop, padding)
    _without_choice(block, padding)
    _narrow(block, loop, padding)
    block.update_accesses()
    return fill


def _fill(block: BlockOp, loop: ForOp, padding: Padding) -> BlockOp:
    """A block before `loop` that writes the literal wherever `block` writes."""
    around = enclosing_loops(block)
    used = set(block.loop_vars)
    copied = [each for each in around[around.index(loop) :] if each.var in used]
    copies = [empty_loop(each) for each in copied]
    for outer, inner in pairwise(copies):
        outer.body.block.add_op(inner)
    body = Block(arg_types=[v.type for v in block.iters])
    mapping: dict[SSAValue, SSAValue] = {}
    for argument, iterator in zip(body.args, block.iters, strict=True):
        argument.name_hint = iterator.name_hint
        mapping[iterator] = argument
    for op in block.body.block.ops:
        if op is padding.store:
            literal = padding.outside.clone()
            body.add_op(literal)
            mapping[padding.store.value] = literal.result
        if op is not padding.choice:
            body.add_op(op.clone(mapping))
    renamed: dict[SSAValue, SSAValue] = {old.var: new.var for old, new in zip(copied, copies, strict=True)}
    fill = BlockOp(
        free_block_name(block, f"{block.block_name}_pad_const"),
        list(zip(block.kinds, block.extents, strict=True)),
        block.bindings.data,
        [renamed.get(v, v) for v in block.loop_vars],
        Region(body),
        predicate=None if block.predicate is None else block.predicate.data,
    )
    fill.partial_iters = block.partial_iters
    drop_unused(fill)
    fill.update_accesses()
    if copies:
        copies[-1].body.block.add_op(fill)
    assert loop.parent is not None
    loop.parent.insert_op_before(copies[0] if copies else fill, loop)
    return fill


def _without_choice(block: BlockOp, padding: Padding) -> None:
    """Let `block` write the value whatever the condition."""
    choice = padding.choice
    if isinstance(choice, scf.IfOp):
        inner = choice.true_region.block
        assert choice.parent is not None
        for op in list(inner.ops):
            if isinstance(op, scf.YieldOp):
                op.detach()
                op.erase()
            else:
                op.detach()
                choice.parent.insert_op_before(op, choice)
    padding.store.operands[0] = padding.inside
    choice.detach()
    choice.erase()


def _narrow(block: BlockOp, loop: ForOp, padding: Padding) -> None:
    """Let the iterators take only the values at which the condition holds, counted from 0."""
    around = enclosing_loops(block)
    inner = around[around.index(loop) :]
    values = list(block.loop_vars)
    bindings = list(block.bindings.data.results)
    conditions = list(block.conditions)
    extents = list(block.extents)
    lows: list[int] = []
    for number, extent in enumerate(block.extents):
        low, high = padding.bounds(number, extent)
        lows.append(low)
        extents[number] = high - low
        if (low, high) == (0, extent):
            continue
        own = _own_loop(block, number, inner)
        if own is not None and number not in block.partial_iters:
            own.trip_count = high - low
        else:
            bindings[number] = simplify(bindings[number] + AffineConstantExpr(-low))
            conditions += [bindings[number], AffineConstantExpr(high - low - 1) + bindings[number] * -1]
    given = [binding + AffineConstantExpr(low) for binding, low in zip(bindings, lows, strict=True)]
    conditions += [substitute(each, given) for each in padding.others()]
    block.properties["iter_extents"] = DenseArrayBase.from_list(i64, extents)
    assign(block, bindings, conditions, values)
    shifted: list[AffineExpr] = [
        AffineDimExpr(number) + AffineConstantExpr(low) if low else AffineDimExpr(number)
        for number, low in enumerate(lows)
    ]
    _shift(block, shifted, lows)


def _own_loop(block: BlockOp, number: int, inner: Sequence[ForOp]) -> ForOp | None:
    """The loop that an iterator is the variable of, if it serves nothing else and may become shorter."""
    binding = block.bindings.data.results[number]
    for loop in inner:
        if loop.var not in block.loop_vars or loop.start != 0 or loop.trip_count != block.extents[number]:
            continue
        dim = AffineDimExpr(list(block.loop_vars).index(loop.var))
        others = [*block.bindings.data.results[:number], *block.bindings.data.results[number + 1 :], *block.conditions]
        if binding == dim and not any(dim.position in other.used_dims() for other in others):
            if blocks_under(loop) == [block]:
                return loop
    return None


def _shift(block: BlockOp, shifted: Sequence[AffineExpr], lows: Sequence[int]) -> None:
    """Let the body speak of iterators that begin at 0 where they began at `lows`."""
    placed: set[Operation] = set()
    for access in block.accesses():
        if access.map is not None:
            exprs = [simplify(substitute(each, shifted)) for each in access.map.results]
            if all(is_sum(each) for each in exprs):
                placed |= {access.op, *move_access(access.op, exprs, block.iters)}
    drop_unused(block)
    for iterator, low in zip(block.iters, lows, strict=True):
        rest = [use for use in iterator.uses if low and use.operation not in placed]
        if not rest:
            continue
        constant = arith.ConstantOp(IntegerAttr(low, IndexType()))
        total = arith.AddiOp(constant.result, iterator)
        first = block.body.block.first_op
        assert first is not None
        block.body.block.insert_ops_before([constant, total], first)
        for use in rest:
            use.operation.operands[use.index] = total.result
