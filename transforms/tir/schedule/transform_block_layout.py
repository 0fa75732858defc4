"""`transform_block_layout`: address a block by other iterators, in loops of their own.

Before -> after `transform_block_layout(block, (i, j) -> (i * 4 + j))`:

```mlir
tir.prim_func @f(%x: memref<8x4xf32>, %y: memref<8x4xf32>) {
  tir.for %i = 0 to 8 {
    tir.for %j = 0 to 4 {
      tir.block @copy(%a: spatial 8, %b: spatial 4) = [%i, %j]
          reads(%x[%a, %b] : memref<8x4xf32>) writes(%y[%a, %b] : memref<8x4xf32>) {
        %0 = memref.load %x[%a, %b] : memref<8x4xf32>
        memref.store %0, %y[%a, %b] : memref<8x4xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8x4xf32>, %y: memref<8x4xf32>) {
  tir.for %i0 = 0 to 32 {
    tir.block @copy(%v0: spatial 32) = [%i0]
        reads(%x[%v0 floordiv 4, %v0 mod 4] : memref<8x4xf32>) writes(%y[%v0 floordiv 4, %v0 mod 4] : memref<8x4xf32>) {
      %0 = arith.constant 4 : index
      %a = arith.divui %v0, %0 : index
      %1 = arith.constant 4 : index
      %b = arith.remui %v0, %1 : index
      %2 = memref.load %x[%a, %b] : memref<8x4xf32>
      memref.store %2, %y[%a, %b] : memref<8x4xf32>
    }
  }
}
```

The map must reach each value of the new iterators from one of the old ones, and must not mix reductions with others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IndexType, StringAttr, i64
from xdsl.ir import Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ....dialects.tir.affine import simplify
from ....dialects.tir.core import BlockOp, ForKind, IterKind, enclosing_loops
from ..analysis.producers import nest_of
from .checks import check_elements_told, check_free, check_known, check_live
from .copies import drop_unused_indices, index_ops, nest_over
from .errors import ScheduleError
from .index_maps import Bijection, bijection


@dataclass(frozen=True)
class NewIters:
    """What a block is to be addressed by."""

    map: Bijection
    kinds: tuple[IterKind, ...]


def check_transform_block_layout(block: BlockOp, map: AffineMap) -> NewIters:
    """Whether `block` can be addressed by what `map` makes of its iterators; gives how.

    Raises:
        ScheduleError: it does not stand alone in serial loops that its iterators, in order, are bound to; has a
            predicate, an opaque iterator or an extent that is a symbol; or the map is no bijection, or mixes kinds of
            iterators.
    """
    check_live(block)
    name = f"block @{block.block_name}"
    extents = check_known(block, block.sizes, name)
    if block.conditions or block.partial_iters:
        raise ScheduleError.at(block, f"{name} has a predicate, or runs for a part of its iterators' values")
    if IterKind.OPAQUE in block.kinds:
        raise ScheduleError.at(block, f"{name} has an opaque iterator: its order stays")
    loops = enclosing_loops(block)
    nest: Operation = block
    for loop in reversed(loops):
        check_free(loop)
        if list(loop.body.block.ops) != [nest] or loop.start != 0 or loop.for_kind != ForKind.SERIAL:
            raise ScheduleError.at(block, f"{name} does not stand alone in serial loops from 0")
        nest = loop
    bound = [b for b, extent in zip(block.bindings.data.results, extents, strict=True) if extent != 1]
    own = [loop.var for loop in loops if loop.size != 1]
    expected: list[AffineExpr] = [
        AffineDimExpr(list(block.loop_vars).index(v)) if v in block.loop_vars else AffineConstantExpr(-1) for v in own
    ]
    if bound != expected:
        raise ScheduleError.at(block, f"{name} has iterators that are not bound to a loop each, in order")
    check_elements_told(block, set(range(len(extents))))
    found = bijection(map, extents)
    if isinstance(found, str):
        raise ScheduleError.at(block, f"the index map {map} {found}")
    kinds: list[IterKind] = []
    for number, expr in enumerate(map.results):
        used = {block.kinds[d] for d in expr.used_dims() if extents[d] != 1}
        if len(used) > 1:
            raise ScheduleError.at(block, f"index {number} of the map mixes iterators of several kinds")
        kinds.append(next(iter(used), IterKind.SPATIAL))
    if IterKind.REDUCE in block.kinds and IterKind.REDUCE not in kinds:
        raise ScheduleError.at(block, "the map leaves no iterator of the reduction")
    return NewIters(found, tuple(kinds))


def transform_block_layout(block: BlockOp, map: AffineMap) -> None:
    """Address `block` by what `map` makes of its iterators, in new loops. Counterpart of TVM's
    `transform_block_layout`.

    Raises:
        ScheduleError: as `check_transform_block_layout` says.
    """
    new = check_transform_block_layout(block, map)
    top = nest_of(block)
    assert top.parent is not None
    for region in block.regions:
        _readdress(region, new.map.backward, len(new.kinds))
    loops, bindings = nest_over(new.map.extents, unit=True)
    if loops:
        top.parent.insert_op_before(loops[0], top)
        block.detach()
        loops[-1].body.block.add_op(block)
        if top is not block:
            top.detach()
            top.erase()
    block.properties["iter_kinds"] = ArrayAttr([StringAttr(kind.value) for kind in new.kinds])
    block.properties["iter_extents"] = DenseArrayBase.from_list(i64, list(new.map.extents))
    block.set_bindings(bindings, [loop.var for loop in loops])
    block.update_accesses()
    _access_at_iterators(block)
    block.update_accesses()


def _access_at_iterators(block: BlockOp) -> None:
    """Let accesses be at an iterator where that is what their index comes to: at `v` instead of
    `v floordiv 4 * 4 + v mod 4`."""
    ranges = {AffineExpr.dimension(n): (0, size - 1) for n, size in enumerate(block.sizes) if isinstance(size, int)}
    for access in block.accesses():
        region = access.op.parent_region()
        if access.map is None or region is None or region.parent_op() is not block:
            continue
        first = 1 if isinstance(access.op, memref.LoadOp) else 2
        for number, expr in enumerate(access.map.results, first):
            if isinstance(found := simplify(expr, ranges), AffineDimExpr):
                access.op.operands[number] = region.block.args[found.position]
    drop_unused_indices(block)


def _readdress(region: Region, backward: Sequence[AffineExpr], count: int) -> None:
    """Let a body take `count` other iterators, of which its old ones are computed."""
    body = region.block
    old = list(body.args)
    added: list[Operation] = []
    fresh: list[SSAValue] = []
    for number in range(count):
        argument = body.insert_arg(IndexType(), len(body.args))
        argument.name_hint = f"v{number}"
        fresh.append(argument)
    for argument, expr in zip(old, backward, strict=True):
        if argument.uses:
            ops, value = index_ops(expr, fresh)
            added += ops
            argument.replace_all_uses_with(value)
    first = body.first_op
    if added and first is not None:
        body.insert_ops_before(added, first)
    for argument in old:
        body.erase_arg(argument)
