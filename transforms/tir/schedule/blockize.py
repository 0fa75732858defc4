"""`blockize`: let a loop and what is in it be one block to those around.

Before -> after `blockize(inner loop)`:

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
}
```

Each iterator of the block takes, within the loop, a whole tile of its values: what it is bound to is a multiple of the
tile's extent, by the loops outside, plus a number below that, by the loops inside (`divide`). Counterpart of TVM's
`blockize`, where the outer block has iterators of its own and the inner one those within a tile: here both follow from
what the inner block is bound to.
"""

from __future__ import annotations

from ....dialects.tir.core import BlockOp, ForOp, OuterBlockOp, blocks_under, enclosing_loops
from ..analysis.tiles import divide
from .checks import check_live
from .copies import free_block_name
from .errors import ScheduleError


def check_blockize(loop: ForOp) -> BlockOp:
    """Whether `loop` can be one block; gives the block that computes in it.

    Raises:
        ScheduleError: it holds none or several, or an outer block already, or an iterator takes no whole tile of values
            in it.
    """
    check_live(loop)
    blocks = blocks_under(loop)
    if len(blocks) != 1:
        raise ScheduleError.at(loop, f"holds {len(blocks)} blocks, and one block is made of one")
    if any(isinstance(op, OuterBlockOp) for op in loop.walk()):
        raise ScheduleError.at(loop, "holds an outer block already")
    divide(blocks[0], loops_from(loop, blocks[0]))
    return blocks[0]


def blockize(loop: ForOp) -> OuterBlockOp:
    """Let `loop` be one block; gives that.

    Raises:
        ScheduleError: as `check_blockize` says.
    """
    block = check_blockize(loop)
    outer = OuterBlockOp(free_block_name(loop, f"{block.block_name}_o"))
    outer.location = loop.location
    assert loop.parent is not None
    loop.parent.insert_op_before(outer, loop)
    loop.detach()
    outer.body.block.add_op(loop)
    return outer


def loops_from(loop: ForOp, block: BlockOp) -> list[ForOp]:
    """`loop` and the loops in it around `block`."""
    around = enclosing_loops(block)
    return around[around.index(loop) :]
