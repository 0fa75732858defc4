"""Leave of a function of `te` statements in loops, over memory of one dimension.

Before -> after:

```mlir
%b = tir.alloc_buffer "global" : memref<4x8xf32>
tir.for %i = 0 to 4 {
  tir.for %j = 0 to 8 {
    tir.block @b(%vi: spatial 4, %vj: spatial 8) = [%i, %j] ... writes(%b[%vi, %vj]) {

%b = tir.alloc_buffer "global" : memref<32xf32>
tir.for %i = 0 to 4 {
  tir.for %j = 0 to 8 {
    tir.block @statement(%i_1: opaque 4, %j_1: opaque 8) = [%i, %j] ... writes(%b[%i_1 * 8 + %j_1]) {
```

A schedule of `te` is lowered to blocks, which TVM has for its other functions only. So it is four passes in turn:
`lower-init-block`, `convert-blocks-to-opaque`, `lower-opaque-block` and `flatten-buffer`, each of which refuses what it
says. Does not: leave functions alone that no schedule of `te` has made; prefetch. Counterpart of TVM's StorageFlatten.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context

from ...dialects.tir.core import PrimFuncOp
from ..infra import PrimFuncPass
from .convert_blocks_to_opaque import ConvertBlocksToOpaquePass
from .flatten_buffer import FlattenBufferPass
from .lower_init_block import LowerInitBlockPass
from .lower_opaque_block import LowerOpaqueBlockPass

_IN_TURN = (LowerInitBlockPass(), ConvertBlocksToOpaquePass(), LowerOpaqueBlockPass(), FlattenBufferPass())


@dataclass(frozen=True)
class StorageFlattenPass(PrimFuncPass):
    """Leave statements in loops, over memory of one dimension."""

    name = "storage-flatten"
    tvm_name = "StorageFlatten"

    cache_line_size: int = 64
    """TVM's, which prefetches by it: here it says nothing."""
    create_bound_attributes: bool = False
    """TVM's: `insert-bounds-checks` knows the bounds of memory without attributes that say them."""

    def apply_prim_func(self, ctx: Context, func: PrimFuncOp) -> None:
        tried = func.clone()  # one of the later passes may refuse what an earlier one has changed
        for each in _IN_TURN:
            each.apply_prim_func(ctx, tried)
        func.take_region(tried)
