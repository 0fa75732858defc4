"""Rows of `simplify-expr` about which integers there are: clips that clip nothing, and orders that a scale keeps.

    %0 = relay.cast %x {dtype = "uint8"}                            %0 = relay.cast %x {dtype = "uint8"}
    %1 = relay.clip %0 {a_min = 0.0, a_max = 255.0}             ->

    %0 = relay.qnn.dequantize %x, %scale, %zero_point
    %1 = relay.argmax %0 {axis = array<i64: 1>}                 ->  %1 = relay.argmax %x {axis = array<i64: 1>}

Counterpart of `SimplifyCastClip`, `SimplifyClipAndConsecutiveCast`, `SimplifyDQArgMax`, `SimplifyDQArgMin` and
`SimplifyDQArgSort` in TVM's `SimplifyExpr`.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IntegerType, f32, i1
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.relay.base import RelayOp, tensor
from ...dialects.relay.core import ConstantOp
from ...dialects.relay.ops.elementwise import ClipOp
from ...dialects.support.dtypes import dtype_name
from .dataflow.pattern import is_constant, is_op, wildcard
from .dataflow.rows import Row, Site

EXACT_BITS = 16
"""Differences of integers of so many bits are exact in f32, and stay in their order where a scale multiplies them."""

SCALES = (1e-30, 1e30)
"""Scales by which none of them overflows, nor loses bits for being small."""


def bounds_of(type: Attribute) -> tuple[int, int] | None:
    """The least and the greatest integer of a type; `None` for other types."""
    if not isinstance(type, IntegerType) or type == i1:
        return None
    name = dtype_name(cast(Attribute, type))
    values = 2 ** int(name.lstrip("uint"))
    return (0, values - 1) if name.startswith("u") else (-values // 2, values // 2 - 1)


def clip_bounds(op: Operation) -> tuple[float, float]:
    """Between which numbers a `clip` leaves its operand."""
    assert isinstance(op, ClipOp)
    return op.a_min.value.data, op.a_max.value.data


def clips_nothing(site: Site) -> bool:
    """Whether all integers of the operand's type are between the bounds."""
    bounds = bounds_of(tensor(site.op.operands[0]).element_type)
    low, high = clip_bounds(site.op)
    return bounds is not None and low <= bounds[0] and bounds[1] <= high


def narrow_enough(site: Site) -> bool:
    """Whether the bounds of the clip are of the type between the casts, and its integers of the last one's."""
    middle = site.op.operands[0]
    assert isinstance(middle.owner, RelayOp)
    clipped = middle.owner.operands[0]
    bounds = bounds_of(tensor(middle).element_type)
    assert isinstance(clipped.owner, Operation)
    low, high = clip_bounds(clipped.owner)
    return bounds is not None and bounds_of(tensor(clipped).element_type) is not None and (
        bounds[0] <= low <= high <= bounds[1]
    )  # fmt: skip


x, scale, zero_point = wildcard(), is_constant(), is_constant()
real = is_op("qnn.dequantize")(x, scale, zero_point)
clip = is_op("clip")(wildcard())


def keeps_order(site: Site) -> bool:
    """Whether equal integers, and only such, are equal as reals, and the greater is greater."""
    of = tensor(site[x]).element_type
    numbers = [value.owner.numpy() for value in (site[scale], site[zero_point]) if isinstance(value.owner, ConstantOp)]
    bounds = bounds_of(of)
    if bounds is None or bounds[1] - bounds[0] >= 2**EXACT_BITS:
        return False
    if len(numbers) != 2 or any(array is None or array.size != 1 for array in numbers):
        return False
    factor, offset = (float(array.flat[0]) for array in numbers if array is not None)
    return tensor(site.op.operands[0]).element_type == f32 and SCALES[0] <= factor <= SCALES[1] and abs(offset) < 2**16


def of_integers(site: Site) -> SSAValue:
    """The operator at the root, of what was made real."""
    assert isinstance(site.op, RelayOp)
    return site.emit(type(site.op)(site[x], **site.op.properties))


RANGES = (
    Row("clip(x) = x", is_op("clip")(x), lambda s: s[x], clips_nothing),
    Row("cast(cast(clip(x))) = clip(x)", is_op("cast")(is_op("cast")(clip)), lambda s: s[clip], narrow_enough),
    *(Row(f"{name}(dequantize(x)) = {name}(x)", is_op(name)(real), of_integers, keeps_order)
      for name in ("argmax", "argmin", "argsort")),
)  # fmt: skip
