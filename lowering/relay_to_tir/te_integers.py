"""Integer arithmetic with a result for all operands, as tensor expressions define it.

| operation                     | result                                                                |
|-------------------------------|-----------------------------------------------------------------------|
| `x / 0`, `x % 0`              | 0, and no trap                                                        |
| least integer `/ -1`          | wraps to itself; the remainder is 0                                   |
| shift by the width or more    | all bits are gone: 0, or -1 for a negative number moved down          |
| shift by a negative amount    | the same: the amount is taken as unsigned                             |
| `x ** n`                      | wraps, as repeated multiplication does; `x ** 0` is 1                 |
| `x ** -n`                     | 1 / x ** n towards zero: only 1 and -1 give anything but 0; 0 gives 0 |

Operands are signless; `unsigned` says how they are meant. That `arith` has these results too, and what guards a
processor, is said in `lowering/total_arith.py`. Source: NumPy, which `te.evaluate` follows; for powers of
negative exponents, on which NumPy raises an error, C's conversion of the real power.
"""

from __future__ import annotations

from typing import Protocol

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.te.expr import BinaryKind


class Emitter(Protocol):
    """Where operations go."""

    def insert(self, op: Operation) -> SSAValue: ...

    def constant(self, value: float, type: Attribute) -> SSAValue: ...


def divide(emitter: Emitter, kind: BinaryKind, lhs: SSAValue, rhs: SSAValue, unsigned: bool) -> SSAValue:
    """A quotient (`DIV`, `FLOORDIV`) or remainder (`TRUNCMOD`, `FLOORMOD`)."""
    match kind:
        case BinaryKind.TRUNCMOD if not unsigned:
            return emitter.insert(arith.RemSIOp(lhs, rhs))
        case BinaryKind.TRUNCMOD | BinaryKind.FLOORMOD if unsigned:
            return emitter.insert(arith.RemUIOp(lhs, rhs))
        case BinaryKind.FLOORMOD:
            divisor = _other_than_zero(emitter, rhs)
            quotient = emitter.insert(arith.FloorDivSIOp(lhs, divisor))
            return emitter.insert(arith.SubiOp(lhs, emitter.insert(arith.MuliOp(quotient, divisor))))
        case _:
            signed = arith.DivSIOp if kind == BinaryKind.DIV else arith.FloorDivSIOp
            return emitter.insert((arith.DivUIOp if unsigned else signed)(lhs, rhs))


def _other_than_zero(emitter: Emitter, divisor: SSAValue) -> SSAValue:
    """`divisor`, or 1 where it is 0: all that is left of a division by 1 is 0."""
    literal = divisor.owner.value if isinstance(divisor.owner, arith.ConstantOp) else None
    if isinstance(literal, IntegerAttr) and literal.value.data != 0:
        return divisor
    is_zero = emitter.insert(arith.CmpiOp(divisor, emitter.constant(0, divisor.type), "eq"))
    return emitter.insert(arith.SelectOp(is_zero, emitter.constant(1, divisor.type), divisor))


def shift(emitter: Emitter, kind: BinaryKind, lhs: SSAValue, amount: SSAValue, unsigned: bool) -> SSAValue:
    """The bits of `lhs` moved up (`SHL`) or down (`SHR`)."""
    down = arith.ShRUIOp if unsigned else arith.ShRSIOp
    return emitter.insert((arith.ShLIOp if kind == BinaryKind.SHL else down)(lhs, amount))


def power(emitter: Emitter, base: SSAValue, exponent: SSAValue, unsigned: bool) -> SSAValue:
    """`base ** exponent`."""
    type = base.type
    one = emitter.constant(1, type)
    if type == i1:
        return emitter.insert(arith.OrIOp(base, emitter.insert(arith.XOrIOp(exponent, one))))
    if not unsigned:
        return emitter.insert(math.IPowIOp(base, exponent))
    # math.ipowi takes exponents as signed: half of it is never negative.
    half = emitter.insert(math.IPowIOp(base, emitter.insert(arith.ShRUIOp(exponent, one))))
    odd = emitter.insert(arith.CmpiOp(emitter.insert(arith.AndIOp(exponent, one)), one, "eq"))
    factor = emitter.insert(arith.SelectOp(odd, base, one))
    return emitter.insert(arith.MuliOp(emitter.insert(arith.MuliOp(half, half)), factor))
