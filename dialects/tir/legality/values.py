"""Between which values an index lies that is computed from data: what clipping, remainders and checks say of it."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.utils.hints import isa

from ..affine import Range
from ..checks import CheckOp
from ..symbols import MAX_EXTENT

_LEAST, _GREATEST = -(1 << 63), (1 << 63) - 1
_ANY = (_LEAST, _GREATEST)


def value_range(value: SSAValue, iters: Mapping[SSAValue, Range]) -> Range:
    """The least and greatest value of an integer or index in the body of a block, both included, given those of the
    block's iterators. Where nothing is known, those of its type."""
    if (known := iters.get(value)) is not None:
        return known
    if not isinstance(value, OpResult):
        return _of_type(value.type)
    op = value.op
    low, high = _of_operation(op, iters)
    least, greatest = _of_type(value.type)
    if low < least or high > greatest:  # it may have wrapped
        return least, greatest
    return low, high


def _of_type(type: Attribute) -> Range:
    if isa(type, IntegerType) and type.width.data < 64:
        half = 1 << (type.width.data - 1)
        return (0, 1) if type.width.data == 1 else (-half, half - 1)
    return _ANY


def _of_operation(op: object, iters: Mapping[SSAValue, Range]) -> Range:
    match op:
        case CheckOp():
            return 0, max((op.limit if isinstance(op.limit, int) else MAX_EXTENT) - 1, 0)
        case arith.ConstantOp() if isinstance(op.value, IntegerAttr):
            return op.value.value.data, op.value.value.data
        case arith.IndexCastOp() | arith.ExtSIOp():
            low, high = value_range(op.input, iters)
            return (-1, 0) if op.input.type == IntegerType(1) else (low, high)
        case arith.ExtUIOp() if isa(op.input.type, IntegerType):
            low, high = value_range(op.input, iters)
            return (low, high) if low >= 0 else (0, (1 << op.input.type.width.data) - 1)
        case arith.SelectOp():
            a, b = value_range(op.lhs, iters), value_range(op.rhs, iters)
            return min(a[0], b[0]), max(a[1], b[1])
        case arith.SubiOp() if (divisor := _remainder(op)) is not None:
            return 0, divisor - 1
        case arith.AddiOp() | arith.SubiOp() | arith.MuliOp() | arith.MinSIOp() | arith.MaxSIOp():
            return _of_binary(op, value_range(op.lhs, iters), value_range(op.rhs, iters))
        case arith.RemUIOp() | arith.DivUIOp() | arith.FloorDivSIOp() if (divisor := _positive(op.rhs)) is not None:
            low, high = value_range(op.lhs, iters)
            if isinstance(op, arith.RemUIOp):
                return (low, high) if 0 <= low and high < divisor else (0, divisor - 1)
            if low >= 0 or isinstance(op, arith.FloorDivSIOp):
                return low // divisor, high // divisor
            return _ANY
        case _:
            return _ANY


def _of_binary(
    op: arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.MinSIOp | arith.MaxSIOp, a: Range, b: Range
) -> Range:
    match op:
        case arith.AddiOp():
            return a[0] + b[0], a[1] + b[1]
        case arith.SubiOp():
            return a[0] - b[1], a[1] - b[0]
        case arith.MuliOp():
            products = [x * y for x in a for y in b]
            return min(products), max(products)
        case arith.MinSIOp():
            return min(a[0], b[0]), min(a[1], b[1])
        case arith.MaxSIOp():
            return max(a[0], b[0]), max(a[1], b[1])


def _positive(value: SSAValue) -> int | None:
    """The positive constant that a value is."""
    if not isinstance(value.type, IndexType) or not isinstance(value.owner, arith.ConstantOp):
        return None
    attribute = value.owner.value
    return attribute.value.data if isinstance(attribute, IntegerAttr) and attribute.value.data > 0 else None


def _remainder(op: arith.SubiOp) -> int | None:
    """The divisor `c` where `op` is `x - x floordiv c * c`."""
    product = op.rhs.owner
    if not isinstance(product, arith.MuliOp):
        return None
    quotient, divisor = product.lhs.owner, _positive(product.rhs)
    if not isinstance(quotient, arith.FloorDivSIOp) or quotient.lhs is not op.lhs:
        return None
    return divisor if divisor is not None and _positive(quotient.rhs) == divisor else None
