"""`cache_read`: copy a buffer first, and read the copy.

Before -> after `cache_read(x, Scope.GLOBAL, [block])`:

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %x_global = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i0 = 0 to 8 {
    tir.block @x_global(%v0: spatial 8) = [%i0] reads(%x[%v0] : memref<8xf32>) writes(%x_global[%v0] : memref<8xf32>) {
      %0 = memref.load %x[%v0] : memref<8xf32>
      memref.store %0, %x_global[%v0] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @copy(%v: spatial 8) = [%i] reads(%x_global[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %x_global[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
```

All of the buffer is copied; `compute_at` moves the copy to where less of it is needed. Where the nest of a reader
writes the buffer, too, what an iteration of its loops reads is copied in them, just before it is read.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from ....dialects.support.memory_scopes import named_in
from ....dialects.tir.buffers import shape_of
from ....dialects.tir.calls import AddressOfOp, CallOp
from ....dialects.tir.core import AllocBufferOp, BlockOp, memref_of
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.legality.scopes import is_shared
from ..analysis.producers import allocation_of, function_of, is_before, nest_of, writers
from .caching_in_loops import Spot, check_spot_of_reads, copy_at, place_allocation, spot_of
from .checks import check_live, check_not_passed, check_plain_memory
from .copies import copy_nest, free_block_name
from .errors import ScheduleError


def check_cache_read(buffer: SSAValue, readers: Sequence[BlockOp], scope: str) -> Operation | Spot:
    """Whether `readers` may read a copy of `buffer` in a scope; gives the nest before which it is made, or the place in
    a nest that writes the buffer, too.

    Raises:
        ScheduleError: a reader does not read the buffer, or writes it; it is each thread's own; a block writes a part
            of it only, or writes it where the copy would have been made already.
    """
    check_live(*readers)
    name = buffer_name(buffer)
    alloc = allocation_of(buffer)
    if alloc is not None and alloc.is_private and any(is_shared(alloc, reader) for reader in readers):
        raise ScheduleError.at(readers[0], f'{name} is of scope "local": a copy in another nest does not reach it')
    for reader in readers:
        if buffer not in reader.reads or buffer in reader.writes:
            raise ScheduleError.at(reader, f"block @{reader.block_name} does not only read {name}")
    nests = list(dict.fromkeys(nest_of(reader) for reader in readers))
    if len({nest.parent for nest in nests}) > 1:  # some stand in blocks of loops, where others do not reach
        body = function_of(readers[0]).region.block
        nests = list(dict.fromkeys(each for each in body.ops for nest in nests if each.is_ancestor(nest)))
    first = next(nest for nest in nests if all(nest is other or is_before(nest, other) for other in nests))
    written = writers(buffer)
    if any(nest_of(writer) is first for writer in written):
        check_not_passed(buffer, readers)  # a call would have to be told where the part lies
        spot = spot_of(buffer, readers, written)
        check_spot_of_reads(buffer, readers, spot, scope)
        return spot
    if any(isinstance(use.operation, CallOp | AddressOfOp) for use in buffer.uses):
        check_plain_memory(buffer)  # it lies as its copy does
    last = [nest for nest in nests if all(nest is other or is_before(other, nest) for other in nests)]
    for writer in written:
        if is_before(last[-1], writer) and nest_of(writer) is not last[-1]:
            continue  # it comes after all that read the copy
        if not is_before(nest_of(writer), first):
            raise ScheduleError.at(
                writer,
                f"block @{writer.block_name} writes {name} where it would have been copied already",
                hint="cache the buffer before the block that writes it is moved into the reader's loops",
            )
        if writer.partial_iters:
            raise ScheduleError.at(writer, f"block @{writer.block_name} writes a part of {name} only")
    return first


def cache_read(buffer: SSAValue, scope: str, readers: Sequence[BlockOp]) -> BlockOp:
    """Let `readers` read a copy of `buffer`. Returns the block that copies.

    Where they stand in parallel loops, a copy of scope `LOCAL` reaches them after `compute_at` has moved the block
    there. Counterpart of TVM's `cache_read`.

    Raises:
        ScheduleError: as `check_cache_read` says.
    """
    found = check_cache_read(buffer, readers, scope)
    first = nest_of(found.statement) if isinstance(found, Spot) else found
    alloc = AllocBufferOp(memref_of(buffer), scope, shape_of(buffer))
    alloc.buffer.name_hint = named_in(buffer.name_hint or "buffer", scope)
    name = free_block_name(first, alloc.buffer.name_hint)
    assert first.parent is not None
    if isinstance(found, Spot):
        place_allocation(alloc, found, readers)
        block = copy_at(name, buffer, alloc.buffer, found, after=False)
    else:
        nest, block = copy_nest(name, buffer, alloc.buffer)
        first.parent.insert_ops_before([alloc, nest], first)
    for reader in readers:
        for access in reader.accesses():
            if access.buffer is buffer:
                access.op.operands[0] = alloc.buffer
        for op in reader.walk():
            if isinstance(op, CallOp | AddressOfOp):
                op.operands = [alloc.buffer if value is buffer else value for value in op.operands]
        reader.update_accesses()
    return block
