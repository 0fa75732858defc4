"""`compute_inline`: put a block's formula where its result is read.

Before -> after `compute_inline(twice)`:

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @twice(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %t[%v] : memref<8xf32>
    }
  }
  tir.for %j = 0 to 8 {
    tir.block @square(%v_1: spatial 8) = [%j] reads(%t[%v_1] : memref<8xf32>) writes(%y[%v_1] : memref<8xf32>) {
      %2 = memref.load %t[%v_1] : memref<8xf32>
      %3 = arith.mulf %2, %2 : f32
      memref.store %3, %y[%v_1] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %j = 0 to 8 {
    tir.block @square(%v: spatial 8) = [%j] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.addf %0, %0 : f32
      %2 = arith.mulf %1, %1 : f32
      memref.store %2, %y[%v] : memref<8xf32>
    }
  }
}
```

Counterpart of TVM's `compute_inline`.
"""

from __future__ import annotations

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr

from ....dialects.support.facts import while_unchanged
from ....dialects.tir.core import BlockOp, ForOp, OuterBlockOp
from ..analysis.loads_by_element import loads_by_element
from ..analysis.producers import allocation_of, consumers, written_buffer
from .checks import (
    check_inputs_stay,
    check_live,
    check_not_passed,
    check_one_element,
    check_sole_writer,
    makes_checks,
)
from .errors import ScheduleError


@while_unchanged
def check_inline(block: BlockOp) -> memref.StoreOp:
    """Whether `block` can be inlined; gives its store.

    Raises:
        ScheduleError: `block` reduces, writes an argument of the function or what a call is handed, writes its buffer
            at anything but its own iterators in some order, has a predicate, makes a check or a call with effects,
            reads what it writes or what is written again before its result is read, or is not alone in writing its
            buffer.
    """
    check_live(block)
    buffer = written_buffer(block)
    if block.is_reduction or block.conditions:
        raise ScheduleError.at(
            block, f"block @{block.block_name} is a reduction or has a predicate: it cannot be inlined"
        )
    if makes_checks(block):
        raise ScheduleError.at(
            block, f"block @{block.block_name} makes a check, whoever reads its result: it cannot be inlined"
        )
    if allocation_of(buffer) is None:
        raise ScheduleError.at(block, f"block @{block.block_name} writes an output: it cannot be inlined")
    check_sole_writer(block, buffer)
    check_not_passed(buffer)
    store = check_one_element(block)
    if buffer in block.reads:
        raise ScheduleError.at(block, f"block @{block.block_name} reads what it writes: it cannot be inlined")
    for consumer in consumers(block):
        check_inputs_stay(block, consumer)
        if any(changed in block.reads for changed in consumer.writes):
            raise ScheduleError.at(
                block, f"block @{consumer.block_name} writes what block @{block.block_name} reads: it cannot be inlined"
            )
    return store


def compute_inline(block: BlockOp) -> None:
    """Replace every read of what `block` writes by the formula of `block`, and erase it. Reads of one element share
    what is computed for the first of them.

    Counterpart of TVM's `compute_inline`.

    Raises:
        ScheduleError: as `check_inline` says.
    """
    store = check_inline(block)
    buffer = written_buffer(block)
    alloc = allocation_of(buffer)
    assert alloc is not None
    iters = block.iters
    order = [iters.index(v) for v in store.indices if isinstance(v, BlockArgument)]
    body = [op for op in block.body.block.ops if op is not store]
    for consumer in consumers(block):
        for first, *others in loads_by_element(consumer, buffer):
            for load in others:
                load.res.replace_all_uses_with(first.res)
                load.detach()
                load.erase()
            _expand(first, block, body, store, order)
        consumer.update_accesses()
    erase_with_loops(block)
    alloc.detach()
    alloc.erase()


def _expand(
    load: memref.LoadOp, block: BlockOp, body: list[Operation], store: memref.StoreOp, order: list[int]
) -> None:
    """Put the body's operations before `load`, iterators replaced by its indices, and their value in its place."""
    assert load.parent is not None
    mapping: dict[SSAValue, SSAValue] = {}
    for position, index in zip(order, load.indices, strict=True):
        mapping[block.iters[position]] = index
    if any(v not in mapping for v in block.iters):
        zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
        load.parent.insert_op_before(zero, load)
        mapping.update({v: zero.result for v in block.iters if v not in mapping})
    for op in body:
        clone = op.clone(mapping)
        load.parent.insert_op_before(clone, load)
    load.res.replace_all_uses_with(mapping.get(store.value, store.value))
    load.detach()
    load.erase()


def erase_with_loops(block: BlockOp, *, keep: bool = False) -> None:
    """Erase `block` and the loops that hold nothing else; with `keep`, the block is only taken out of them."""
    op: Operation = block
    while isinstance(parent := op.parent_op(), ForOp | OuterBlockOp):
        if parent.body.block.first_op is not parent.body.block.last_op:
            break
        op = parent
    op.detach()
    if keep and op is not block:
        block.set_predicate([])
        block.set_bindings([AffineConstantExpr(0)] * len(block.iters), [])
        block.detach()
    if not keep or op is not block:
        op.erase(safe_erase=False)
