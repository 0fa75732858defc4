"""`merge`: loops that follow one another become one, which does in an iteration what each of them did in its own.

Before -> after `merge(i, i_1)`:

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @twice(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @square(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%z[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.mulf %0, %0 : f32
      memref.store %1, %z[%v] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @twice(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %y[%v] : memref<8xf32>
    }
    tir.block @square(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%z[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.mulf %0, %0 : f32
      memref.store %1, %z[%v] : memref<8xf32>
    }
  }
}
```

Where one loop writes what another reads or writes, an iteration of either may touch no element but those that the
same iteration of the other touches: along some dimension all accesses are at the loops' own variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.tir.affine import linear, substitute
from ....dialects.tir.core import AllocBufferOp, BlockOp, ForKind, ForOp, blocks_under
from ....dialects.tir.legality.bounds import buffer_name
from .checks import check_allocations_first, check_free, check_kinds, check_live, check_not_passed
from .errors import ScheduleError
from .rebind import ValueExpr, rebind


def merge(*loops: ForOp) -> ForOp:
    """Make one loop of `loops`, which stand one after another, in this order. Returns the first, which has become it.

    Counterpart of `merge` of TVM after v0.10.

    Raises:
        ScheduleError: as `check_merge` says.
    """
    late = check_merge(*loops)
    first, *others = loops
    for alloc in late:
        alloc.detach()
        assert first.parent is not None
        first.parent.insert_op_before(alloc, first)
    for loop in others:
        for block in blocks_under(loop):
            rebind(block, {loop.var: ValueExpr.of(first.var)})
        for op in list(loop.body.block.ops):
            op.detach()
            first.body.block.add_op(op)
        loop.detach()
        loop.erase()
    return first


def check_merge(*loops: ForOp) -> list[AllocBufferOp]:
    """Whether `loops` can become one; gives the buffers that are to be allocated before it, and are not yet.

    Raises:
        ScheduleError: there are fewer than two, they do not follow one another in one place, with nothing but
            allocations between them, do not run over the same values, have kinds, threads or annotations, or one
            touches what another writes in another iteration.
    """
    if len(loops) < 2:
        raise ScheduleError("merge takes two loops or more")
    check_live(*loops)
    check_kinds(loops, ForKind.SERIAL)
    first = loops[0]
    following: Operation | None = first
    for loop in loops:
        check_free(loop)
        if (loop.start, loop.size) != (first.start, first.size):
            raise ScheduleError.at(loop, "does not run over the same values as the loop that it is merged with")
        while following is not loop:
            if not isinstance(following, AllocBufferOp):
                raise ScheduleError.at(loop, "does not follow the loop that it is merged with: something is between")
            following = following.next_op
        following = loop.next_op
    for one, other in combinations(loops, 2):
        _check_apart(one, other)
    late = [
        alloc for loop in loops[1:] for block in blocks_under(loop) for alloc in check_allocations_first(block, first)
    ]
    return list(dict.fromkeys(late))


def _check_apart(one: ForOp, other: ForOp) -> None:
    """Where one of two loops writes what the other touches, each iteration has elements of its own."""
    touched = [_touched(loop) for loop in (one, other)]
    written = {buffer for loop in (one, other) for block in blocks_under(loop) for buffer in block.writes}
    for buffer in touched[0]:
        if buffer not in touched[1] or buffer not in written:
            continue
        check_not_passed(buffer, [*touched[0][buffer], *touched[1][buffer]])
        places = [
            place
            for loop, blocks in zip((one, other), touched, strict=True)
            for block in blocks[buffer]
            for place in _places(block, buffer, loop)
        ]
        common = places[0] if places else set[tuple[int, int]]()
        if not common.intersection(*places[1:]):
            raise ScheduleError.at(
                other,
                f"an iteration touches elements of {buffer_name(buffer)} that another of the other loop does",
            )


def _touched(loop: ForOp) -> dict[SSAValue, list[BlockOp]]:
    """The buffers that blocks in a loop read and write, each with these blocks."""
    found: dict[SSAValue, list[BlockOp]] = {}
    for block in blocks_under(loop):
        for buffer in dict.fromkeys((*block.reads, *block.writes)):
            found.setdefault(buffer, []).append(block)
    return found


def _places(block: BlockOp, buffer: SSAValue, loop: ForOp) -> Iterator[set[tuple[int, int]]]:
    """Of each access of a buffer, the dimensions along which it is at the loop's variable, with how far from it."""
    accesses = [access for access in block.accesses() if access.buffer is buffer]
    if not accesses:
        yield set()
    values, bindings = list(block.loop_vars), block.bindings.data.results
    for access in accesses:
        indices: Sequence[AffineExpr] = () if access.map is None else access.map.results
        yield {
            (number, form.constant)
            for number, index in enumerate(indices)
            if len((form := linear(substitute(index, bindings))).terms) == 1
            and loop.var in values
            and form.terms.get(AffineExpr.dimension(values.index(loop.var))) == 1
        }
