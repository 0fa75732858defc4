"""`pad_einsum`: let a sum of products run over more than there is, where what is added is 0.

Before -> after `pad_einsum(block, [0, 1])`:

```mlir
tir.prim_func @f(%x: memref<2x3xf32>, %y: memref<2xf32>) {
  %t = tir.alloc_buffer "global" : memref<2x3xf32>
  tir.for %i = 0 to 2 {
    tir.for %k = 0 to 3 {
      tir.block @copy(%vi: spatial 2, %vk: spatial 3) = [%i, %k] reads(%x[%vi, %vk] : memref<2x3xf32>)
          writes(%t[%vi, %vk] : memref<2x3xf32>) {
        %0 = memref.load %x[%vi, %vk] : memref<2x3xf32>
        memref.store %0, %t[%vi, %vk] : memref<2x3xf32>
      }
    }
  }
  tir.for %i_1 = 0 to 2 {
    tir.for %k_1 = 0 to 3 {
      tir.block @squares(%vi_1: spatial 2, %vk_1: reduce 3) = [%i_1, %k_1] reads(%t[%vi_1, %vk_1] : memref<2x3xf32>)
          writes(%y[%vi_1] : memref<2xf32>) {
        %1 = memref.load %y[%vi_1] : memref<2xf32>
        %2 = memref.load %t[%vi_1, %vk_1] : memref<2x3xf32>
        %3 = arith.mulf %2, %2 : f32
        %4 = arith.addf %1, %3 : f32
        memref.store %4, %y[%vi_1] : memref<2xf32>
      } init(%vi_2, %vk_2) {
        %5 = arith.constant 0.0 : f32
        memref.store %5, %y[%vi_2] : memref<2xf32>
      }
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<2x3xf32>, %y: memref<2xf32>) {
  %t = tir.alloc_buffer "global" : memref<2x4xf32>
  tir.for %i = 0 to 2 {
    tir.for %k = 0 to 4 {
      tir.block @copy(%vi: spatial 2, %vk: spatial 4) = [%i, %k] reads(%x[%vi, %vk] : memref<2x3xf32>)
          writes(%t[%vi, %vk] : memref<2x4xf32>) {
        %0 = arith.constant 3 : index
        %1 = arith.cmpi slt, %vk, %0 : index
        %2 = scf.if %1 -> (f32) {
          %3 = memref.load %x[%vi, %vk] : memref<2x3xf32>
          scf.yield %3 : f32
        } else {
          %4 = arith.constant 0.0 : f32
          scf.yield %4 : f32
        }
        memref.store %2, %t[%vi, %vk] : memref<2x4xf32>
      }
    }
  }
  tir.for %i_1 = 0 to 2 {
    tir.for %k_1 = 0 to 4 {
      tir.block @squares(%vi_1: spatial 2, %vk_1: reduce 4) = [%i_1, %k_1] reads(%t[%vi_1, %vk_1] : memref<2x4xf32>)
          writes(%y[%vi_1] : memref<2xf32>) {
        %5 = memref.load %y[%vi_1] : memref<2xf32>
        %6 = memref.load %t[%vi_1, %vk_1] : memref<2x4xf32>
        %7 = arith.mulf %6, %6 : f32
        %8 = arith.addf %5, %7 : f32
        memref.store %8, %y[%vi_1] : memref<2xf32>
      } init(%vi_2, %vk_2) {
        %9 = arith.constant 0.0 : f32
        memref.store %9, %y[%vi_2] : memref<2xf32>
      }
    }
  }
}
```

What is padded are buffers of the function's own, and the blocks that write them write zeros there. Each factor of the
product is zero in the steps that are added, so that none is infinite there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ....dialects.support.hints import isa
from ....dialects.support.retyping import retype
from ....dialects.tir.core import BlockOp, ForOp, IterKind, accessing_blocks, blocks_under, enclosing_loops, memref_of
from ....dialects.tir.legality.bounds import buffer_name
from ..analysis.producers import allocation_of, stores_of, writers
from .checks import check_free, check_known, check_live
from .errors import ScheduleError

FACTORS = (arith.MulfOp, arith.MuliOp, arith.ExtFOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncFOp)
"""What a product is made of: its result is 0 where an operand that it depends on is, and the others are finite."""


@dataclass(frozen=True)
class Padded:
    """How many elements each dimension of a buffer gets."""

    buffer: SSAValue
    more: tuple[int, ...]


def check_pad_einsum(block: BlockOp, padding: Sequence[int]) -> list[Padded]:
    """Whether the iterators of `block` can get `padding` more values; gives the buffers that get more elements.

    Raises:
        ScheduleError: there is not one number for each iterator, or a negative one; an extent is a symbol; the block is
            no sum of products of elements at its iterators, all of which depend on the iterators of the reduction that
            are padded; a loop around does not serve one iterator; or a buffer that would grow is an argument of the
            function, or is not written element by element by one block in loops of its own.
    """
    check_live(block)
    name = f"block @{block.block_name}"
    if len(padding) != len(block.iters) or any(each < 0 for each in padding):
        raise ScheduleError.at(block, f"{name} has {len(block.iters)} iterators: give as many numbers, none negative")
    check_known(block, block.sizes, name)
    _check_loops(block, padding)
    found: dict[SSAValue, tuple[int, ...]] = {}
    for access in block.accesses():
        region = access.op.parent_region()
        iters = region.block.args if region is not None else ()
        if access.op.parent_op() is not block or not all(v in iters for v in access.op.indices):
            raise ScheduleError.at(access.op, f"{name} does not touch an element at its iterators")
        numbers = [v.index for v in access.op.indices if isinstance(v, BlockArgument)]
        more = tuple(padding[number] for number in numbers)
        shape = memref_of(access.buffer).get_shape()
        if len(set(numbers)) != len(numbers) or any(
            shape[d] != block.extents[n] for d, n in enumerate(numbers) if padding[n]
        ):
            raise ScheduleError.at(access.op, f"{name} touches a part of {buffer_name(access.buffer)}, or its diagonal")
        if found.setdefault(access.buffer, more) != more:
            raise ScheduleError.at(access.op, f"{name} touches {buffer_name(access.buffer)} in several ways")
    _check_product(block, padding)
    padded = [Padded(buffer, more) for buffer, more in found.items() if any(more)]
    for each in padded:
        _check_buffer(block, each)
    return padded


def _check_loops(block: BlockOp, padding: Sequence[int]) -> None:
    """The loops of the padded iterators can become longer."""
    if block.conditions or block.partial_iters:
        raise ScheduleError.at(block, f"block @{block.block_name} has a predicate, or runs for a part of its iterators")
    for number, more in enumerate(padding):
        if more:
            loop = _loop_of(block, number)
            if loop is None:
                raise ScheduleError.at(
                    block,
                    f"iterator {block.iter_name(number)} of block @{block.block_name} has no loop of its own to become "
                    "longer",
                    hint="pad before loops are split or fused",
                )
            check_free(loop)


def _loop_of(block: BlockOp, number: int) -> ForOp | None:
    """The loop that serves one iterator of `block` and nothing else."""
    binding = block.bindings.data.results[number]
    for loop in enclosing_loops(block):
        if loop.var in block.loop_vars and loop.start == 0 and loop.trip_count == block.extents[number]:
            position = list(block.loop_vars).index(loop.var)
            users = [d for d, other in enumerate(block.bindings.data.results) if position in other.used_dims()]
            if users == [number] and len(binding.used_dims()) == 1 and str(binding) == f"d{position}":
                return loop if blocks_under(loop) == [block] else None
    return None


def _check_product(block: BlockOp, padding: Sequence[int]) -> None:
    """What is added in a padded step is a product of zeros."""
    name = f"block @{block.block_name}"
    stores = stores_of(block)
    if len(stores) != 1 or any(kind == IterKind.OPAQUE for kind in block.kinds):
        raise ScheduleError.at(block, f"{name} is no sum of products")
    steps = {block.iters[n] for n, kind in enumerate(block.kinds) if kind == IterKind.REDUCE and padding[n]}
    if not steps:
        return
    total = stores[0].value.owner
    if not isinstance(total, arith.AddfOp | arith.AddiOp):
        raise ScheduleError.at(block, f"{name} is no sum: a padded step would change its result")
    target = stores[0].memref
    terms = [v for v in (total.lhs, total.rhs) if not (_is_load(v, target))]
    if len(terms) != 1:
        raise ScheduleError.at(block, f"{name} does not add to what it has")
    pending = [terms[0]]
    while pending:
        value = pending.pop()
        op = value.owner
        if isinstance(op, memref.LoadOp):
            if not steps <= set(op.indices):
                raise ScheduleError.at(
                    op, f"is no factor that is 0 in each padded step of {name}: it does not depend on all of them"
                )
        elif isinstance(op, FACTORS):
            pending += op.operands
        else:
            raise ScheduleError.at(block, f"{name} adds no product of elements")


def _is_load(value: SSAValue, buffer: SSAValue) -> bool:
    return isinstance(value.owner, memref.LoadOp) and value.owner.memref is buffer


def _check_buffer(block: BlockOp, padded: Padded) -> None:
    """A buffer can become larger."""
    buffer, name = padded.buffer, buffer_name(padded.buffer)
    alloc = allocation_of(buffer)
    if alloc is None:
        raise ScheduleError.at(
            block, f"{name} is an argument of the function, and cannot be padded", hint="cache_read or cache_write it"
        )
    check_live(alloc)
    written = writers(buffer)
    if buffer in block.writes:
        if written != [block]:
            raise ScheduleError.at(alloc, f"block @{block.block_name} is not alone in writing {name}")
        return
    if len(written) != 1:
        raise ScheduleError.at(alloc, f"{len(written)} blocks write {name}, and not one")
    _check_producer(written[0], padded)


def _check_producer(producer: BlockOp, padded: Padded) -> None:
    name, buffer = f"block @{producer.block_name}", padded.buffer
    stores = stores_of(producer)
    plain = len(stores) == 1 and len(producer.writes) == 1 and stores[0].parent_op() is producer
    if not plain or list(stores[0].indices) != list(producer.iters)[: len(stores[0].indices)]:
        raise ScheduleError.at(producer, f"{name} does not write {buffer_name(buffer)} element by element")
    if len(producer.iters) != len(padded.more) or any(kind != IterKind.SPATIAL for kind in producer.kinds):
        raise ScheduleError.at(producer, f"{name} reduces, or writes {buffer_name(buffer)} more than once")
    if any(access.buffer is buffer and not access.is_write for access in producer.accesses()):
        raise ScheduleError.at(producer, f"{name} reads what it writes")
    _check_loops(producer, padded.more)


def pad_einsum(block: BlockOp, padding: Sequence[int]) -> None:
    """Give each iterator of `block`, a sum of products, so many more values. Counterpart of TVM's `pad_einsum`.

    Raises:
        ScheduleError: as `check_pad_einsum` says.
    """
    buffers = check_pad_einsum(block, padding)
    _lengthen(block, padding)
    for padded in buffers:
        old = memref_of(padded.buffer)
        shape = [extent + more for extent, more in zip(old.get_shape(), padded.more, strict=True)]
        type = MemRefType[Attribute](old.element_type, shape)
        retype(padded.buffer, type)
        if padded.buffer not in block.writes:
            producer = writers(padded.buffer)[0]
            _guard(producer, old.get_shape(), padded.more)
            _lengthen(producer, padded.more)
        for other in accessing_blocks(padded.buffer):
            other.update_accesses()


def _lengthen(block: BlockOp, more: Sequence[int]) -> None:
    """Let iterators and their loops take `more` values."""
    for number, each in enumerate(more):
        if each:
            loop = _loop_of(block, number)
            assert loop is not None
            loop.trip_count += each
    extents = [extent + each for extent, each in zip(block.extents, more, strict=True)]
    block.properties["iter_extents"] = DenseArrayBase.from_list(i64, extents)


def _guard(block: BlockOp, shape: Sequence[int], more: Sequence[int]) -> None:
    """Let `block` write 0 beyond `shape`."""
    (store,) = stores_of(block)
    inside, outside = Block(), Block()
    for op in list(block.body.block.ops):
        if op is not store:
            op.detach()
            inside.add_op(op)
    inside.add_op(scf.YieldOp(store.value))
    zero = arith.ConstantOp(_zero(store.value.type))
    outside.add_ops([zero, scf.YieldOp(zero.result)])
    tests: list[Operation] = []
    test: SSAValue | None = None
    for iterator, extent, each in zip(block.iters, shape, more, strict=False):
        if not each:
            continue
        limit = arith.ConstantOp(IntegerAttr(extent, IndexType()))
        below = arith.CmpiOp(iterator, limit.result, "slt")
        tests += [limit, below]
        if test is not None:
            tests.append(arith.AndIOp(test, below.result))
        test = tests[-1].results[0]
    assert test is not None
    choice = scf.IfOp(test, [store.value.type], Region(inside), Region(outside))
    block.body.block.insert_ops_before([*tests, choice], store)
    store.operands[0] = choice.results[0]


def _zero(type: Attribute) -> IntegerAttr[IntegerType | IndexType] | FloatAttr:
    if isinstance(type, AnyFloat):
        return FloatAttr(0.0, type)
    assert isa(type, IntegerType | IndexType)
    return IntegerAttr(0, type)
