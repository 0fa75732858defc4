"""`unsafe_set_dtype`: let an intermediate buffer hold another float type.

Before -> after `unsafe_set_dtype(t, f16)`:

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<8xf32>
  tir.for %i = 0 to 8 {
    tir.block @first(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      memref.store %0, %t[%v] : memref<8xf32>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @second(%v: spatial 8) = [%i] reads(%t[%v] : memref<8xf32>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %t[%v] : memref<8xf32>
      memref.store %0, %y[%v] : memref<8xf32>
    }
  }
}
```

```mlir
tir.prim_func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = tir.alloc_buffer "global" : memref<8xf16>
  tir.for %i = 0 to 8 {
    tir.block @first(%v: spatial 8) = [%i] reads(%x[%v] : memref<8xf32>) writes(%t[%v] : memref<8xf16>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.truncf %0 : f32 to f16
      memref.store %1, %t[%v] : memref<8xf16>
    }
  }
  tir.for %i = 0 to 8 {
    tir.block @second(%v: spatial 8) = [%i] reads(%t[%v] : memref<8xf16>) writes(%y[%v] : memref<8xf32>) {
      %0 = memref.load %t[%v] : memref<8xf16>
      %1 = arith.extf %0 : f16 to f32
      memref.store %1, %y[%v] : memref<8xf32>
    }
  }
}
```

Results change by the rounding: that is what is unsafe.
"""

from __future__ import annotations

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import AnyFloat, MemRefType
from xdsl.ir import Attribute, SSAValue

from ....dialects.support.retyping import retype
from ....dialects.tir.core import accessing_blocks, memref_of
from .checks import check_allocated, check_live
from .errors import ScheduleError


def check_unsafe_set_dtype(buffer: SSAValue, dtype: Attribute) -> tuple[AnyFloat, AnyFloat]:
    """Whether `buffer` can hold `dtype`; gives what it holds and what it will.

    Raises:
        ScheduleError: it is an argument of the function, one of the types is no float, or they have as many bits.
    """
    blocks = accessing_blocks(buffer)
    alloc = check_allocated(buffer, "type")
    check_live(alloc, *blocks)
    old = memref_of(buffer).element_type
    if not isinstance(old, AnyFloat) or not isinstance(dtype, AnyFloat):
        raise ScheduleError.at(alloc, f"holds {old}, and {dtype} was asked for: only floats can be exchanged")
    if old.bitwidth == dtype.bitwidth:
        raise ScheduleError.at(alloc, f"{old} and {dtype} have {old.bitwidth} bits: there is no cast between them")
    return old, dtype


def unsafe_set_dtype(buffer: SSAValue, dtype: Attribute) -> None:
    """Let an allocated buffer hold `dtype`, with casts where it is read and written. Counterpart of TVM's
    `unsafe_set_dtype`.

    Raises:
        ScheduleError: as `check_unsafe_set_dtype` says.
    """
    old, new = check_unsafe_set_dtype(buffer, dtype)
    type = MemRefType[Attribute](new, list(memref_of(buffer).get_shape()))
    retype(buffer, type)
    narrower = new.bitwidth < old.bitwidth
    for block in accessing_blocks(buffer):
        for access in block.accesses():
            if access.buffer is not buffer:
                continue
            op = access.op
            assert op.parent is not None
            if isinstance(op, memref.StoreOp):
                cast = arith.TruncFOp(op.value, new) if narrower else arith.ExtFOp(op.value, new)
                op.parent.insert_op_before(cast, op)
                op.operands[0] = cast.result
            else:
                load = memref.LoadOp.get(buffer, list(op.indices))
                back = arith.ExtFOp(load.res, old) if narrower else arith.TruncFOp(load.res, old)
                op.parent.insert_ops_before([load, back], op)
                op.res.replace_all_uses_with(back.result)
                op.detach()
                op.erase()
        block.update_accesses()
