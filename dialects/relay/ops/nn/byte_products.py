"""Matrix products of bytes, as processors sum them: four products at a time, in 32 bits.

    %y = relay.nn.dense %x, %w {out_dtype = "int32"}        // x: [M, K] of signed bytes, w: [N, K]

->  %1 = relay.cast(relay.bitwise_xor(%x, -128))            // x + 128, as x86 multiplies unsigned by signed bytes
    %2 = relay.layout_transform %w {NK -> NK16n4k}          // once, if the weight is a constant
    %3 = relay.nn.contrib_dense_pack %1, %2
    %y = %3 - 128 * relay.sum(%w, axis = k)

The bytes are made such as the instruction takes, by adding or taking away 128, and what that adds to the products is
taken away again: both are exact but for multiples of 2^32, as the product is. The steps are filled up with zeros to a
multiple of four. A matrix unit (`amx`) takes bytes of all signs, and 64 steps at once.
"""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_uppercase
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerType, Signedness, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ....support.dtypes import dtype_name, numpy_dtype
from ....support.hints import isa
from ...base import DYNAMIC, RelayOp, shape_of, tensor
from ...blocking import Blocks
from ...core import ConstantOp
from ...layout import LayoutTransformOp
from ..broadcast import AddOp, BitwiseXorOp, MultiplyOp, SubtractOp
from ..elementwise import CastOp
from ..reduce import SumOp
from ..slicing import SliceLikeOp
from ..transform import ExpandDimsOp, ReshapeOp, TransposeOp
from .dense_pack import DensePackOp
from .padding import PadOp

if TYPE_CHECKING:
    from ...base import NDArray

STEPS = 4
"""Products that one instruction sums."""

TILE_STEPS = 64
"""Products that a matrix unit sums at once."""


def is_unsigned_byte(type: Attribute) -> bool | None:
    """Whether an element type is a byte without a sign; `None` where it is no byte."""
    if not isa(type, IntegerType) or type.width.data != 8:
        return None
    return type.signedness.data == Signedness.UNSIGNED


def are_bytes(op: RelayOp) -> bool:
    """Whether a product is of bytes, into 32 bits."""
    if any(is_unsigned_byte(tensor(operand).element_type) is None for operand in op.operands):
        return False
    return tensor(op.results[0]).element_type == i32


def pack_bytes(op: RelayOp, data: SSAValue, weight: SSAValue, transposed: bool, blocks: Blocks, dot: str) -> SSAValue:
    """The product of `data`, `[.., M, K]`, and `weight`, `[.., N, K]` if `transposed`, else `[.., K, N]`, inserted
    before `op`. Both may have a batch before their matrices, and extents that are open."""

    import numpy as np

    def insert(new: Operation) -> SSAValue:
        return blocks.insert(new, op)

    def constant(value: NDArray) -> SSAValue:
        return insert(ConstantOp.from_numpy(value))

    def summed(x: SSAValue, axis: int, keepdims: bool) -> SSAValue:
        """128 times the sums of bytes."""
        total = insert(SumOp(insert(CastOp(x, dtype="int32")), axis=[axis], keepdims=keepdims))
        return insert(MultiplyOp(total, constant(np.array(128, np.int32))))

    def summed_weight() -> SSAValue:
        """The sums of each column, as they are added to rows."""
        total = summed(weight, summed_axis, False)
        return insert(ExpandDimsOp(total, axis=len(lead))) if lead else total

    def as_far_as(x: SSAValue, axis: int, other: SSAValue, turned: bool) -> SSAValue:
        """The beginning of `x`, as far as `other`, or that transposed, reaches along an axis."""
        rank = len(shape_of(other))
        if turned:
            other = insert(TransposeOp(other, axes=[*range(rank - 2), rank - 1, rank - 2]))
        return insert(SliceLikeOp(x, other, axes=[axis]))

    lead = "B" * (len(shape_of(weight)) - 2)
    summed_axis, row_axis = len(lead) + transposed, len(shape_of(data)) - 1
    units = shape_of(weight)[len(lead) + (not transposed)]
    signs = [is_unsigned_byte(tensor(x).element_type) for x in (data, weight)]
    correction: tuple[type[RelayOp], SSAValue] | None = None
    steps = TILE_STEPS if dot == "amx" else STEPS
    if DYNAMIC in (shape_of(data)[-1], shape_of(weight)[summed_axis]):  # filled up, they would agree too often
        turned = not transposed
        data, weight = as_far_as(data, row_axis, weight, turned), as_far_as(weight, summed_axis, data, turned)
    data = filled_up(data, row_axis, steps, insert)
    match dot, *signs:
        case "vnni", False, False:
            correction = SubtractOp, summed_weight()
            data = flipped(data, constant, insert)
        case "vnni", True, True:
            correction = AddOp, summed(data, row_axis, True)
            weight = flipped(weight, constant, insert)
        case "dotprod", True, False:
            correction = AddOp, summed_weight()
            data = flipped(data, constant, insert)
        case "dotprod", False, True:
            correction = AddOp, summed(data, row_axis, True)
            weight = flipped(weight, constant, insert)
        case _:
            pass
    if steps > STEPS:  # else the layout does it
        weight = filled_up(weight, summed_axis, steps, insert)
    layout, source = f"{lead}NK{blocks.lanes}n{STEPS}k", f"{lead}{'NK' if transposed else 'KN'}"
    packed = insert(LayoutTransformOp(weight, src_layout=source, dst_layout=layout))
    packed.name_hint = weight.name_hint
    known = None if units == DYNAMIC else units
    product = insert(DensePackOp(data, packed, units=known, weight_layout=layout, out_dtype="int32"))
    if known is None:  # the last block may not be full
        product = as_far_as(product, row_axis, weight, transposed)
    return product if correction is None else insert(correction[0](product, correction[1]))


def filled_up(x: SSAValue, axis: int, multiple: int, insert: Callable[[Operation], SSAValue]) -> SSAValue:
    """A tensor with zeros after the end of an axis, so that it has a multiple of so many elements. An axis of an open
    extent is the last one."""
    import numpy as np

    shape = shape_of(x)
    if shape[axis] == DYNAMIC:
        names = ascii_uppercase[: len(shape)]
        blocked = f"{names}{multiple}{names[axis].lower()}"
        groups = insert(LayoutTransformOp(x, src_layout=names, dst_layout=blocked))
        return insert(ReshapeOp(groups, newshape=[*[0] * axis, -1]))
    missing = -shape[axis] % multiple
    if not missing:
        return x
    zero = insert(ConstantOp.from_numpy(np.zeros((), numpy_dtype(tensor(x).element_type))))
    return insert(PadOp(x, zero, pad_width=[n for d in range(len(shape)) for n in (0, missing if d == axis else 0)]))


def flipped(x: SSAValue, constant: Callable[[NDArray], SSAValue], insert: Callable[[Operation], SSAValue]) -> SSAValue:
    """Bytes with a sign, more by 128, without one, or the other way round."""
    import numpy as np

    type = tensor(x).element_type
    name = dtype_name(type)
    top = insert(BitwiseXorOp(x, constant(np.array(0x80, np.uint8).view(name))))
    return insert(CastOp(top, dtype="int8" if is_unsigned_byte(type) else "uint8"))
