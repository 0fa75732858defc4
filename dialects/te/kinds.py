"""The functions that expressions are made of, and the types that meet in them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, VectorType, i1
from xdsl.ir import Attribute

from ..support.hints import isa
from ..support.interned import index


class BinaryKind(StrEnum):
    """Two-operand functions. Both operands have one type; comparisons give `i1`.

    `DIV` is true division on floats and truncating division on integers; `FLOORDIV`/`FLOORMOD` round towards minus
    infinity (Python's `//` and `%`), `TRUNCMOD` is C's `%` and `fmod`. Integers wrap. Divided by zero they give 0;
    shifted by their width or more, or by a negative amount, they lose all bits; a power whose exponent is negative is
    rounded towards zero, and 0 for powers of 0.
    """

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    FLOORDIV = "floordiv"
    FLOORMOD = "floormod"
    TRUNCMOD = "truncmod"
    MIN = "min"
    MAX = "max"
    POW = "pow"
    ATAN2 = "atan2"
    COPYSIGN = "copysign"
    AND = "and"
    OR = "or"
    XOR = "xor"
    SHL = "shl"
    SHR = "shr"
    EQ = "eq"
    NE = "ne"
    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"

    @property
    def is_comparison(self) -> bool:
        return self in COMPARISONS


COMPARISONS = frozenset({BinaryKind.EQ, BinaryKind.NE, BinaryKind.LT, BinaryKind.LE, BinaryKind.GT, BinaryKind.GE})


class UnaryKind(StrEnum):
    """One-operand functions, of the operand's type but for the three tests, which give `i1`.

    `NOT` is bitwise (and so logical on `i1`); `ROUND` rounds halves to even, as NumPy and ONNX do.
    """

    NEG = "neg"
    NOT = "not"
    ABS = "abs"
    SIGN = "sign"
    EXP = "exp"
    EXP2 = "exp2"
    LOG = "log"
    LOG1P = "log1p"
    LOG2 = "log2"
    LOG10 = "log10"
    SQRT = "sqrt"
    RSQRT = "rsqrt"
    ERF = "erf"
    TANH = "tanh"
    SIGMOID = "sigmoid"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    SINH = "sinh"
    COSH = "cosh"
    ASIN = "asin"
    ACOS = "acos"
    ATAN = "atan"
    ASINH = "asinh"
    ACOSH = "acosh"
    ATANH = "atanh"
    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"
    TRUNC = "trunc"
    ISNAN = "isnan"
    ISINF = "isinf"
    ISFINITE = "isfinite"


PREDICATES = frozenset({UnaryKind.ISNAN, UnaryKind.ISINF, UnaryKind.ISFINITE})

EXACT_FUNCTIONS = PREDICATES | {
    UnaryKind.NEG, UnaryKind.NOT, UnaryKind.ABS, UnaryKind.SIGN,
    UnaryKind.FLOOR, UnaryKind.CEIL, UnaryKind.ROUND, UnaryKind.TRUNC,
}  # fmt: skip
"""Functions whose values are numbers of the type, so that nothing is rounded."""


@dataclass(frozen=True)
class Operator:
    """An operator of TVM's, by its name: `"tir.exp"`."""

    name: str


ReduceKind: TypeAlias = Literal["sum", "prod", "max", "min", "and", "or"]


def common_type(a: Attribute, b: Attribute) -> Attribute | None:
    """The type in which values of two meet, as TVM has it: a condition gives way to every number, an index to every
    other one, an integer to a float, what is narrower to what is wider, a sign to none. `None` where neither gives way:
    the two floats of 16 bits.
    """
    if a == b:
        return a
    if i1 in (a, b):
        return b if a == i1 else a
    if index in (a, b):
        return b if a == index else a
    floats = [each for each in (a, b) if isa(each, AnyFloat)]
    if len(floats) == 1:
        return floats[0]
    if len(floats) == 2:
        if floats[0].bitwidth == floats[1].bitwidth:
            return None
        return max(floats, key=lambda each: each.bitwidth)
    if isa(a, IntegerType) and isa(b, IntegerType):
        if a.bitwidth == b.bitwidth:
            return a if a.signedness.data == Signedness.UNSIGNED else b
        return a if a.bitwidth > b.bitwidth else b
    return None


def truth_type(type: Attribute) -> Attribute:
    """The type of a comparison: a condition, or one for each lane."""
    return VectorType(i1, type.get_shape()) if isa(type, VectorType[Attribute]) else i1
