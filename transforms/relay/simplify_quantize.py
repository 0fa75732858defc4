"""Leave numbers that are quantised only to be dequantised the floats that they are.

    %1 = relay.round %0                                  %1 = relay.round %0
    %2 = relay.add %1, 3.0                               %2 = relay.clip %1 {a_min = -3.0, a_max = 252.0}
    %3 = relay.clip %2 {a_min = 0.0, a_max = 255.0}      %y = relay.multiply %2, %scale
    %4 = relay.cast %3 : to ui8                     ->
    %5 = relay.cast %4 : to i32
    %6 = relay.subtract %5, 3
    %7 = relay.cast %6 : to f32
    %y = relay.multiply %7, %scale

The sums of a network of bytes are such: both operands are rounded to bytes, and added as floats. It is exact for
numbers that are shown to be none of NaN (which a byte is not), such as those made of integers; zeros may get the other
sign.

Where both operands of a sum are results of products, one product waits in memory for the other. That stays bytes, a
quarter of the floats: it is written before it is dequantised (`annotation.stop_fusion`). And a `relu` goes away where
what is rounded of it is bounded from below by no less.

TVM has no pass like this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.relay.attributes import is_uniform
from ...dialects.relay.base import Fusion, Pointwise, RelayOp, fusion_pattern, shape_of, tensor
from ...dialects.relay.core import ConstantOp, FuncOp
from ...dialects.relay.ops.annotation import StopFusionOp
from ...dialects.relay.ops.broadcast import AddOp, DivideOp, GreaterOp, LessOp, MultiplyOp, SubtractOp, WhereOp
from ...dialects.relay.ops.elementwise import CastOp, ClipOp, RoundOp
from ...dialects.relay.ops.nn.activation import ReluOp
from ...dialects.relay.ops.nn.byte_products import is_unsigned_byte
from ..infra import FunctionPass, report_changed
from ..infra.walk import walk
from .dead_code_elimination import eliminate_dead_code
from .emitter import Emitter
from .integer_ranges import bounds_of

LARGEST = 1e38
"""Floats of f32 that are no greater are finite."""

MAX_STEPS = 8
"""How many operators are looked through for what a number is made of."""


@dataclass(frozen=True)
class SimplifyQuantizePass(FunctionPass):
    """No options."""

    name = "simplify-quantize"
    opt_level: ClassVar[int] = 3
    required: ClassVar[tuple[str, ...]] = ("infer-type",)

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        blocks = [block for op in walk(func) for region in op.regions for block in region.blocks]
        changed = any([_simplify(block) for block in blocks])
        if changed:
            eliminate_dead_code(func)
        report_changed(changed)


def _simplify(block: Block) -> bool:
    places = {op: place for place, op in enumerate(block.ops)}
    changed = False
    for op in places:
        match op:
            case ClipOp():
                changed |= _without_relu(op)
            case MultiplyOp() if (found := _Pair.of(op)) is not None:
                changed |= found.keep_bytes() if _waits(found, places) else found.fold()
            case _:
                pass
    return changed


def _waits(pair: _Pair, places: dict[Operation, int]) -> bool:
    """Whether what is dequantised is a product, and is added to another one that is computed after it."""
    users = [use.operation for use in pair.op.result.uses]
    if len(users) != 1 or not isinstance(users[0], AddOp):
        return False
    other = next((value.owner for value in users[0].operands if value.owner is not pair.op), None)
    if not isinstance(other, MultiplyOp) or places.get(other, -1) < places[pair.op]:
        return False
    later = _Pair.of(other)
    return later is not None and None not in (pair.product(), later.product())


@dataclass(frozen=True)
class _Pair:
    """Numbers that become bytes, which only become floats again."""

    op: MultiplyOp
    """What multiplies the bytes by their scale."""
    scale: SSAValue
    cast: CastOp
    """What makes them bytes."""
    clip: ClipOp
    rounded: RoundOp
    zero: float

    @staticmethod
    def of(op: MultiplyOp) -> _Pair | None:
        factor, scale = op.operands
        if (taken := _cast_from(factor, "float32")) is None or not isinstance(scale.owner, ConstantOp):
            return None
        integer, zero = _without_zero(taken, SubtractOp)
        number = _cast_from(integer, "int32") or integer
        cast = number.owner
        if not isinstance(cast, CastOp) or is_unsigned_byte(tensor(number).element_type) is None:
            return None
        clip = cast.data.owner
        if len(list(number.uses)) > 1 or not isinstance(clip, ClipOp) or tensor(clip.data).element_type != f32:
            return None
        rounded, added = _without_zero(clip.data, AddOp)
        held = (0, 255) if is_unsigned_byte(tensor(number).element_type) else (-128, 127)
        low, high = clip.a_min.value.data, clip.a_max.value.data
        if zero and number is integer:
            return None  # a difference of bytes goes round
        if added != zero or not isinstance(rounded.owner, RoundOp) or not held[0] <= low <= high <= held[1]:
            return None
        if not (low.is_integer() and high.is_integer() and zero.is_integer() and abs(zero) <= max(map(abs, held))):
            return None
        return _Pair(op, scale, cast, clip, rounded.owner, zero)

    def fold(self) -> bool:
        """Multiply the numbers themselves."""
        if magnitude(self.rounded.operands[0]) == inf:
            return False
        emit = Emitter()
        low, high = self.clip.a_min.value.data - self.zero, self.clip.a_max.value.data - self.zero
        least, most = (emit.constant(bound, f32, name) for bound, name in ((low, "least"), (high, "most")))
        bounded = emit(WhereOp(emit(LessOp(rounded := self.rounded.results[0], least)), least, rounded))
        bounded = emit(WhereOp(emit(GreaterOp(bounded, most)), most, bounded))
        result = emit(MultiplyOp(bounded, self.scale))
        if result.type != self.op.result.type:
            emit.erase()
            return False
        emit.insert_before(self.op)
        result.name_hint = self.op.result.name_hint
        self.op.result.replace_all_uses_with(result)
        return True

    def keep_bytes(self) -> bool:
        """Have the bytes written before they become floats."""
        stop = StopFusionOp(self.cast.result)
        block = self.cast.parent
        assert block is not None
        block.insert_op_after(stop, self.cast)
        stop.location = self.cast.location
        self.cast.result.replace_uses_with_if(stop.results[0], lambda use: use.operation is not stop)
        return True

    def product(self) -> Operation | None:
        """The product, or other operator that takes in only what follows it, that the numbers are made from element by
        element, and nothing else is."""
        value = self.rounded.operands[0]
        while isinstance(op := value.owner, RelayOp) and len(list(value.uses)) == 1:
            if fusion_pattern(type(op)) == Fusion.OUT_ELEMWISE_FUSABLE:
                return op
            varying = [each for each in op.operands if not isinstance(each.owner, ConstantOp)]
            if not op.has_trait(Pointwise) or len(varying) != 1:
                return None
            (value,) = varying
        return None


def _cast_from(value: SSAValue, dtype: str) -> SSAValue | None:
    """What is cast to `dtype` where `value` is such a cast."""
    return value.owner.data if isinstance(value.owner, CastOp) and value.owner.dtype.data == dtype else None


def _without_zero(value: SSAValue, kind: type[AddOp | SubtractOp]) -> tuple[SSAValue, float]:
    """A value without the number that is added to it, or taken away; and that."""
    if isinstance(value.owner, kind):
        number, zero = value.owner.operands
        array = zero.owner.numpy() if isinstance(zero.owner, ConstantOp) else None
        if array is not None and is_uniform(array) and shape_of(number) == shape_of(value):
            return number, float(array.flat[0])
    return value, 0.0


def _without_relu(op: ClipOp) -> bool:
    """Take away a `relu` between whose result and a lower bound there is only a positive divisor, and rounding."""
    rounded, added = _without_zero(op.data, AddOp)
    quotient = rounded.owner.operands[0] if isinstance(rounded.owner, RoundOp) else rounded
    divide = quotient.owner
    if not isinstance(divide, DivideOp) or not isinstance(divide.lhs.owner, ReluOp) or not op.a_min.value.data >= added:
        return False
    import numpy as np

    divisors = divide.rhs.owner.numpy() if isinstance(divide.rhs.owner, ConstantOp) else None
    is_positive = divisors is not None and bool(np.all(np.greater(divisors, 0) & np.isfinite(divisors)))
    if not is_positive or any(len(list(value.uses)) > 1 for value in (op.data, rounded, quotient)):
        return False
    divide.operands[0] = divide.lhs.owner.data
    return True


def magnitude(value: SSAValue, depth: int = MAX_STEPS) -> float:
    """A number that no element of a tensor is greater than, nor less than the negative of; infinity where none is
    known that follows in so few steps, or it may be made from what has overflowed, which may be NaN."""
    op = value.owner
    match op:
        case _ if not depth:
            return inf
        case ConstantOp():
            import numpy as np

            array = op.numpy()
            if array is None or array.dtype.kind not in "fiu" or not array.size:
                return inf
            most = float(np.abs(array.astype(np.float64)).max())
            return most if most < inf else inf
        case CastOp() if isinstance(value.type, TensorType) and tensor(value).element_type == f32:
            element = tensor(op.data).element_type
            bounds = bounds_of(element)
            return inf if bounds is None else float(max(map(abs, bounds)))
        case MultiplyOp():
            a, b = (magnitude(operand, depth - 1) for operand in op.operands)
            return inf if inf in (a, b) or a * b > LARGEST else a * b
        case AddOp() | SubtractOp():
            total = sum(magnitude(operand, depth - 1) for operand in op.operands)
            return inf if total > LARGEST else total
        case ReluOp() | RoundOp():
            return magnitude(op.operands[0], depth - 1)
        case _:
            return inf
