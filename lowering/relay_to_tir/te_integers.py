"""Integer arithmetic with a result for all operands: what tensor expressions define and a processor leaves open.

| operation                     | result                                                                |
|-------------------------------|-----------------------------------------------------------------------|
| `x / 0`, `x % 0`              | 0, and no trap                                                        |
| least integer `/ -1`          | wraps to itself; the remainder is 0                                   |
| shift by the width or more    | all bits are gone: 0, or -1 for a negative number moved down          |
| shift by a negative amount    | the same: the amount is taken as unsigned                             |
| `x ** n`                      | wraps, as repeated multiplication does; `x ** 0` is 1                 |
| `x ** -n`                     | 1 / x ** n towards zero: only 1 and -1 give anything but 0; 0 gives 0 |

Operands are signless; `unsigned` says how they are meant. Source: NumPy, which `te.evaluate` follows; for powers of
negative exponents, on which NumPy raises an error, C's conversion of the real power.
"""

from __future__ import annotations

from typing import Protocol

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from ...dialects.te.expr import BinaryKind


class Emitter(Protocol):
    """Where operations go."""

    def insert(self, op: Operation) -> SSAValue: ...

    def constant(self, value: float, type: Attribute) -> SSAValue: ...


def divide(emitter: Emitter, kind: BinaryKind, lhs: SSAValue, rhs: SSAValue, unsigned: bool) -> SSAValue:
    """A quotient (`DIV`, `FLOORDIV`) or remainder (`TRUNCMOD`, `FLOORMOD`)."""
    is_zero: SSAValue | None = None
    divisor = rhs
    if not _is_harmless(rhs, unsigned):
        zero, one = emitter.constant(0, rhs.type), emitter.constant(1, rhs.type)
        is_zero = emitter.insert(arith.CmpiOp(rhs, zero, "eq"))
        unsafe = is_zero
        if not unsigned:
            is_minus_one = emitter.insert(arith.CmpiOp(rhs, emitter.constant(-1, rhs.type), "eq"))
            is_least = emitter.insert(arith.CmpiOp(lhs, emitter.constant(_least(lhs.type), lhs.type), "eq"))
            overflows = emitter.insert(arith.AndIOp(is_minus_one, is_least))
            unsafe = emitter.insert(arith.OrIOp(is_zero, overflows))
        divisor = emitter.insert(arith.SelectOp(unsafe, one, rhs))
    match kind:
        case BinaryKind.TRUNCMOD:
            return emitter.insert((arith.RemUIOp if unsigned else arith.RemSIOp)(lhs, divisor))
        case BinaryKind.FLOORMOD if unsigned:
            return emitter.insert(arith.RemUIOp(lhs, divisor))
        case BinaryKind.FLOORMOD:
            quotient = emitter.insert(arith.FloorDivSIOp(lhs, divisor))
            return emitter.insert(arith.SubiOp(lhs, emitter.insert(arith.MuliOp(quotient, divisor))))
        case _:
            signed = arith.DivSIOp if kind == BinaryKind.DIV else arith.FloorDivSIOp
            quotient = emitter.insert((arith.DivUIOp if unsigned else signed)(lhs, divisor))
            if is_zero is None:
                return quotient
            return emitter.insert(arith.SelectOp(is_zero, emitter.constant(0, rhs.type), quotient))


def _is_harmless(divisor: SSAValue, unsigned: bool) -> bool:
    """Whether it is a literal by which everything can be divided."""
    if not isinstance(divisor.owner, arith.ConstantOp) or not isinstance(divisor.owner.value, IntegerAttr):
        return False
    return divisor.owner.value.value.data not in ((0,) if unsigned else (0, -1))


def _least(type: Attribute) -> int:
    return -(1 << (_width(type) - 1))


def _width(type: Attribute) -> int:
    if isinstance(type, IndexType):
        return 64
    assert isa(type, IntegerType)
    return type.width.data


def shift(emitter: Emitter, kind: BinaryKind, lhs: SSAValue, amount: SSAValue, unsigned: bool) -> SSAValue:
    """The bits of `lhs` moved up (`SHL`) or down (`SHR`)."""
    width = _width(lhs.type)
    if kind == BinaryKind.SHR and not unsigned:
        most = emitter.insert(arith.MinUIOp(amount, emitter.constant(width - 1, lhs.type)))
        return emitter.insert(arith.ShRSIOp(lhs, most))
    moved = emitter.insert((arith.ShLIOp if kind == BinaryKind.SHL else arith.ShRUIOp)(lhs, amount))
    within = emitter.insert(arith.CmpiOp(amount, emitter.constant(width - 1, lhs.type), "ule"))
    return emitter.insert(arith.SelectOp(within, moved, emitter.constant(0, lhs.type)))


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
