"""`transform_layout`: lay a buffer out anew.

Before -> after `transform_layout(t, (i) -> (i floordiv 4, i mod 4))`:

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
  %t = tir.alloc_buffer "global" : memref<2x4xf32>
  tir.for %i = 0 to 8 {
    tir.block @first(%v: spatial 8) = [%i]
        reads(%x[%v] : memref<8xf32>) writes(%t[%v floordiv 4, %v mod 4] : memref<2x4xf32>) {
      %0 = memref.load %x[%v] : memref<8xf32>
      %1 = arith.constant 4 : index
      %2 = arith.divui %v, %1 : index
      %3 = arith.constant 4 : index
      %4 = arith.remui %v, %3 : index
      memref.store %0, %t[%2, %4] : memref<2x4xf32>
    }
  }
  tir.for %i_1 = 0 to 8 {
    tir.block @second(%v_1: spatial 8) = [%i_1]
        reads(%t[%v_1 floordiv 4, %v_1 mod 4] : memref<2x4xf32>) writes(%y[%v_1] : memref<8xf32>) {
      %5 = arith.constant 4 : index
      %6 = arith.divui %v_1, %5 : index
      %7 = arith.constant 4 : index
      %8 = arith.remui %v_1, %7 : index
      %9 = memref.load %t[%6, %8] : memref<2x4xf32>
      memref.store %9, %y[%v_1] : memref<8xf32>
    }
  }
}
```

The map gives each element a place of its own. Where it leaves gaps, `pad_value` says what stands there, as a number or
as a map from the new indices: the block that writes the buffer, if there is one that does nothing but write it all in
order, writes that too, else blocks after those that write it. What is in the gaps of an input is the callers' business.
An argument can be laid out anew where nothing in the module calls the function.

Of a buffer whose extents are symbols, indices change places, and are divided by numbers that divide their extents:
`(i, j) -> (j floordiv 4, i, j mod 4)` for `%n x %m * 4`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, MemRefType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ....dialects.support.kernels import kernel_calls
from ....dialects.support.retyping import retype
from ....dialects.tir.argument_order import ARGUMENTS
from ....dialects.tir.buffers import AllocBufferOp, memref_type, shape_of
from ....dialects.tir.core import BlockOp, accessing_blocks, memref_of
from ....dialects.tir.legality.bounds import buffer_name
from ....dialects.tir.symbols import Extent
from ..analysis.producers import allocation_of, function_of
from .checks import check_allocated, check_live, check_not_passed, check_plain_memory
from .copies import drop_unused_indices, move_access
from .errors import ScheduleError
from .index_maps import Bijection, Padded, bijection, open_layout, padded
from .layout_gaps import check_gaps, check_pad_value, fill_gaps


def check_transform_layout(
    buffer: SSAValue, map: AffineMap, pad_value: Attribute | None = None
) -> Bijection | Padded | tuple[Extent, ...]:
    """Whether `buffer` can be laid out as `map` says; gives the map both ways, or the new extents where some are
    symbols.

    Raises:
        ScheduleError: it is an argument of a function that the module calls, something was said of its memory, or the
            map does not give each element a place of its own, for all sizes; or it leaves gaps, and `pad_value` is not
            given, or none of the elements' type, or cannot be written there.
    """
    blocks = accessing_blocks(buffer)
    place = _owner(buffer, blocks)
    check_live(*blocks)
    check_plain_memory(buffer)
    shape = tuple(extent for extent in shape_of(buffer) if isinstance(extent, int))
    if len(shape) < len(shape_of(buffer)):
        opened = open_layout(map, shape_of(buffer))
        if isinstance(opened, str):
            message = f"the index map {map} {opened}"
            raise ScheduleError.at(place, message, hint="give the function known extents (specialize)")
        if place.attributes.get(ARGUMENTS) is not None:
            hint = "cache_read or cache_write it, and lay out the copy"
            raise ScheduleError.at(place, f"callers are told what {buffer_name(buffer)} is", hint=hint)
        return opened
    found = bijection(map, shape)
    if not isinstance(found, str):
        return found
    wider = padded(map, shape)
    if isinstance(wider, str):
        raise ScheduleError.at(place, f"the index map {map} {found}")
    if pad_value is None:
        raise ScheduleError.at(place, f"the index map {map} {found}", hint="a pad_value says what stands in the gaps")
    check_pad_value(place, pad_value, memref_of(buffer).element_type, len(map.results))
    check_gaps(buffer, wider)
    return wider


def _owner(buffer: SSAValue, blocks: list[BlockOp]) -> Operation:
    """The operation that allocates `buffer`, or the function that it is an argument of."""
    if allocation_of(buffer) is None and blocks:
        func = function_of(blocks[0])
        module = func.parent_op()
        if module is None or not kernel_calls(module).get(func.sym_name.data):
            check_not_passed(buffer)
            return func
    return check_allocated(buffer, "layout", "cache_read or cache_write it, and lay out the copy")


def transform_layout(buffer: SSAValue, map: AffineMap, pad_value: Attribute | None = None) -> None:
    """Let the element at some indices of `buffer` stand at those that `map` gives, and `pad_value` where none does.
    Counterpart of TVM's `transform_layout`.

    Raises:
        ScheduleError: as `check_transform_layout` says.
    """
    found = check_transform_layout(buffer, map, pad_value)
    whole = found.map if isinstance(found, Padded) else found
    extents = whole.extents if isinstance(whole, Bijection) else whole
    arguments = buffer.block.args if isinstance(buffer, BlockArgument) else ()
    shapes = [shape_of(each) if isinstance(each.type, MemRefType) else None for each in arguments]
    retype(buffer, memref_type(memref_of(buffer).element_type, extents))
    blocks = accessing_blocks(buffer)
    if isinstance(buffer.owner, AllocBufferOp):
        buffer.owner.set_shape(extents)
    if isinstance(buffer, BlockArgument):
        func = function_of(blocks[0])
        func.set_shapes([extents if each is buffer else shape for each, shape in zip(arguments, shapes, strict=True)])
        func.function_type = FunctionType.from_lists([a.type for a in func.region.block.args], [])
    done: list[BlockOp] = []
    if isinstance(found, Padded) and pad_value is not None:
        done = fill_gaps(buffer, found, pad_value)
    for block in blocks:
        if block in done:
            continue
        for access in block.accesses():
            if access.buffer is buffer:
                move_access(access.op, map.results, list(access.op.indices))
        drop_unused_indices(block)
        block.update_accesses()
