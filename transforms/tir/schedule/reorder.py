"""`reorder`: loops of one nest stand in another order.

Before -> after `reorder(j, i)`:

```mlir
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  tir.for %i = 0 to 4 {
    tir.for %j = 0 to 8 {
      tir.block @copy(%vi: spatial 4, %vj: spatial 8) = [%i, %j] reads(%x[%vi, %vj] : memref<4x8xf32>)
          writes(%y[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %y[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<4x8xf32>, %y: memref<4x8xf32>) {
  tir.for %j = 0 to 8 {
    tir.for %i = 0 to 4 {
      tir.block @copy(%vi: spatial 4, %vj: spatial 8) = [%i, %j] reads(%x[%vi, %vj] : memref<4x8xf32>)
          writes(%y[%vi, %vj] : memref<4x8xf32>) {
        %0 = memref.load %x[%vi, %vj] : memref<4x8xf32>
        memref.store %0, %y[%vi, %vj] : memref<4x8xf32>
      }
    }
  }
}
```

Loops between those that are named stay in their places. Counterpart of TVM's `reorder`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ....dialects.support.facts import while_unchanged
from ....dialects.support.walking import all_within
from ....dialects.tir.core import ForKind, ForOp, enclosing_loops
from .checks import (
    check_first_steps,
    check_live,
    check_reorderable,
)
from .errors import ScheduleError


@while_unchanged
def check_reorder(*order: ForOp) -> list[ForOp]:
    """Whether the loops can be nested in that order; gives the chain of loops that they are taken from.

    Raises:
        ScheduleError: the loops do not lie on one chain, one of them stands twice, or a loop that would move is bound
            to an opaque iterator, or carries what one block writes to what another touches, or a reduction would not
            begin with its first step.
    """
    check_live(*order)
    if len(set(order)) != len(order):
        raise ScheduleError.at(order[0], "cannot reorder: a loop is named twice")
    wanted = set(order)
    outermost = next(loop for loop in (*enclosing_loops(order[0]), order[0]) if loop in wanted)
    chain = [outermost]
    while not wanted <= set(chain):
        contents = list(chain[-1].body.block.ops)
        nested = [op for op in contents if isinstance(op, ForOp) and (op in wanted or _contains(op, wanted))]
        if len(nested) != 1:
            raise ScheduleError.at(order[0], "cannot reorder: the loops do not lie on one chain")
        if len(contents) != 1:
            raise ScheduleError.at(chain[-1], "cannot reorder: the loops are not directly nested")
        chain.append(nested[0])
    new_chain = _reordered(chain, order)
    moved = [position for position, (old, new) in enumerate(zip(chain, new_chain, strict=True)) if old is not new]
    if moved:
        check_reorderable(chain[moved[0] : moved[-1] + 1])
        check_first_steps(chain, new_chain)
    for position, loop in enumerate(new_chain):
        if position and loop.for_kind == ForKind.PARALLEL and loop is not chain[position]:
            raise ScheduleError.at(loop, "cannot reorder: a parallel loop stays outside", hint="choose kinds last")
    return chain


def _reordered(chain: Sequence[ForOp], order: Sequence[ForOp]) -> list[ForOp]:
    """`chain` with the loops of `order` in that order, in the places that they have together."""
    replacement = iter(order)
    return [next(replacement) if loop in order else loop for loop in chain]


def reorder(*order: ForOp) -> None:
    """Nest `order`'s loops in that order. They must lie on one chain of directly nested loops; others stay in place.

    Raises:
        ScheduleError: as `check_reorder` says.
    """
    chain = check_reorder(*order)
    new_chain = _reordered(chain, order)
    contents = list(chain[-1].body.block.ops)
    for op in contents:
        op.detach()
    for loop in chain[1:]:
        loop.detach()
    block, anchor = chain[0].parent, chain[0].next_op
    assert block is not None
    chain[0].detach()
    if anchor is None:
        block.add_op(new_chain[0])
    else:
        block.insert_op_before(new_chain[0], anchor)
    for outer, inner in pairwise(new_chain):
        outer.body.block.add_op(inner)
    new_chain[-1].body.block.add_ops(contents)


def _contains(loop: ForOp, wanted: set[ForOp]) -> bool:
    return loop in wanted or not wanted.isdisjoint(all_within(loop, ForOp))
