"""Arithmetic on SSA values written as Python expressions: what the expansions of `expand-math` are made of.

    y = (r * r) * q + r + 1.0          # arith.mulf, arith.addf with fastmath<contract>
    y = (x < 0.0).select(-y, y)        # arith.cmpf olt, arith.select

An expression is a scalar or a vector; numbers become constants of its type. Products and sums may be contracted to
fused multiply-adds: an expansion must be right with and without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, LocationAttr, f32, f64, i1
from xdsl.dialects.utils import FastMathFlag
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.extensions import arith as arith_extensions
from ...dialects.support.vector_types import as_vector, element_type, with_element_type
from ..loops_to_llvm.function import uniform

_CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
_NO_OVERFLOW_FLAGS = arith.IntegerOverflowAttr("none")


class Scope:
    """Where operations are inserted: in front of the one that is expanded. Equal constants are made once."""

    def __init__(self, before: Operation, location: LocationAttr | None = None):
        block = before.parent
        assert isinstance(block, Block)
        self._block, self._before = block, before
        self.location: LocationAttr = location or before.location
        self._constants: dict[tuple[Attribute, Attribute], SSAValue] = {}

    def insert(self, op: Operation) -> SSAValue:
        op.location = self.location
        self._block.insert_op_before(op, self._before)
        return op.results[0]

    def constant(self, scalar: IntegerAttr | FloatAttr, type: Attribute) -> SSAValue:
        key = (scalar, type)
        if key not in self._constants:
            value = uniform(scalar, type)
            self._constants[key] = self.insert(
                arith.ConstantOp.create(result_types=(type,), properties={"value": value})
            )
        return self._constants[key]


class Expr:
    """A value and the scope in which operations on it are inserted."""

    __slots__ = ("scope", "value")

    def __init__(self, scope: Scope, value: SSAValue):
        self.scope = scope
        self.value = value

    @property
    def type(self) -> Attribute:
        return self.value.type

    @property
    def is_float(self) -> bool:
        return isinstance(element_type(self.type), AnyFloat)

    @property
    def is_vector(self) -> bool:
        return as_vector(self.type) is not None

    def _new(
        self, kind: type[Operation], *operands: Expr, type: Attribute | None = None, **properties: Attribute
    ) -> Expr:
        op = kind.create(
            operands=[operand.value for operand in operands],
            result_types=(type or self.type,),
            properties=properties,
        )
        return Expr(self.scope, self.scope.insert(op))

    def like(self, number: float) -> Expr:
        """A constant of this expression's type."""
        element = element_type(self.type)
        if isinstance(element, IntegerType):
            scalar = IntegerAttr(int(number), element.bitwidth)
        else:
            scalar = FloatAttr(float(number), cast(AnyFloat, element))
        return Expr(self.scope, self.scope.constant(scalar, self.type))

    def _other(self, other: Expr | float) -> Expr:
        return other if isinstance(other, Expr) else self.like(other)

    def _arith(self, floats: type[Operation], integers: type[Operation], lhs: Expr, rhs: Expr) -> Expr:
        if self.is_float:
            return self._new(floats, lhs, rhs, fastmath=_CONTRACT)
        return self._new(integers, lhs, rhs, overflowFlags=_NO_OVERFLOW_FLAGS)

    def __add__(self, other: Expr | float) -> Expr:
        return self._arith(arith.AddfOp, arith.AddiOp, self, self._other(other))

    def __sub__(self, other: Expr | float) -> Expr:
        return self._arith(arith.SubfOp, arith.SubiOp, self, self._other(other))

    def __mul__(self, other: Expr | float) -> Expr:
        return self._arith(arith.MulfOp, arith.MuliOp, self, self._other(other))

    def __radd__(self, other: float) -> Expr:
        return self.like(other) + self

    def __rsub__(self, other: float) -> Expr:
        return self.like(other) - self

    def __rmul__(self, other: float) -> Expr:
        return self.like(other) * self

    def __truediv__(self, other: Expr | float) -> Expr:
        return self._new(arith.DivfOp, self, self._other(other), fastmath=_CONTRACT)

    def __rtruediv__(self, other: float) -> Expr:
        return self.like(other) / self

    def __neg__(self) -> Expr:
        return self._new(arith.NegfOp, self, fastmath=_CONTRACT)

    def exact_sub(self, other: Expr) -> Expr:
        """A difference that is not contracted with anything: for what depends on its rounding."""
        return self._new(arith.SubfOp, self, other, fastmath=arith_extensions.NO_FLAGS)

    def exact_add(self, other: Expr | float) -> Expr:
        """A sum that is not contracted with anything."""
        return self._new(arith.AddfOp, self, self._other(other), fastmath=arith_extensions.NO_FLAGS)

    def fused(self, factor: Expr, summand: Expr) -> Expr:
        """This times a factor and a summand added, rounded once: for targets that have an instruction for it."""
        return self._new(math.FmaOp, self, factor, summand, fastmath=arith_extensions.NO_FLAGS)

    def narrowed(self, type: Attribute) -> Expr:
        """An integer's lowest bits."""
        kind = arith_extensions.TruncIOp if as_vector(self.type) else arith.TruncIOp
        return self if type == self.type else self._new(kind, self, type=type, overflowFlags=_NO_OVERFLOW_FLAGS)

    # Integers

    def __and__(self, other: Expr | int) -> Expr:
        return self._new(arith.AndIOp, self, self._other(other))

    def __or__(self, other: Expr) -> Expr:
        return self._new(arith.OrIOp, self, other)

    def __xor__(self, other: Expr) -> Expr:
        return self._new(arith.XOrIOp, self, other)

    def __lshift__(self, count: int) -> Expr:
        return self._new(arith.ShLIOp, self, self.like(count), overflowFlags=_NO_OVERFLOW_FLAGS)

    def __rshift__(self, count: int) -> Expr:
        """Arithmetic: the sign is kept."""
        return self._new(arith.ShRSIOp, self, self.like(count))

    # Comparisons; with a NaN they are false

    def _compare(self, float_predicate: str, integer_predicate: str, other: Expr | float) -> Expr:
        rhs = self._other(other)
        bit = with_element_type(self.type, IntegerType(1))
        if self.is_float:
            number = arith.CMPF_COMPARISON_OPERATIONS.index(float_predicate)
            kind = arith_extensions.CmpfOp if as_vector(self.type) else arith.CmpfOp
            predicate = IntegerAttr(number, 64)
            return self._new(kind, self, rhs, type=bit, predicate=predicate, fastmath=arith_extensions.NO_FLAGS)
        number = arith.CMPI_COMPARISON_OPERATIONS.index(integer_predicate)
        kind = arith_extensions.CmpiOp if as_vector(self.type) else arith.CmpiOp
        return self._new(kind, self, rhs, type=bit, predicate=IntegerAttr(number, 64))

    def __lt__(self, other: Expr | float) -> Expr:
        return self._compare("olt", "slt", other)

    def __gt__(self, other: Expr | float) -> Expr:
        return self._compare("ogt", "sgt", other)

    def equals(self, other: Expr | float) -> Expr:
        return self._compare("oeq", "eq", other)

    def differs(self, other: Expr | float) -> Expr:
        """True with a NaN."""
        return self._compare("une", "ne", other)

    def select(self, then: Expr, otherwise: Expr) -> Expr:
        """Of a bit, or lane by lane of bits: `then` where it is set."""
        kind = arith_extensions.SelectOp if as_vector(self.type) else arith.SelectOp
        return self._new(kind, self, then, otherwise, type=then.type)

    def if_all(
        self,
        then: Callable[..., Expr | tuple[Expr, ...]],
        otherwise: Callable[..., Expr | tuple[Expr, ...]],
        *operands: Expr,
    ) -> tuple[Expr, ...]:
        """Of bits: `then(*operands)` where all lanes have theirs set, `otherwise(*operands)` for all where one has not.

        A branch, for what ordinary numbers need far less of than the others. On scalars it may cost more than it saves:
        LLVM makes no vectors of loops with branches.
        """
        sides: list[Region] = []
        types: list[Attribute] = []
        for side in (then, otherwise):
            block = Block()
            closing = scf.YieldOp()
            block.add_op(closing)
            inner = Scope(closing, self.scope.location)
            results = side(*(Expr(inner, operand.value) for operand in operands))
            results = results if isinstance(results, tuple) else (results,)
            closing.operands = [result.value for result in results]
            types = [result.type for result in results]
            sides.append(Region(block))
        condition = self
        if self.is_vector:
            properties: dict[str, Attribute] = {"kind": CombiningKindAttr(CombiningKindFlag.AND)}
            properties["fastmath"] = arith_extensions.NO_FLAGS
            whole = vector.ReductionOp.create(operands=(self.value,), result_types=(i1,), properties=properties)
            condition = Expr(self.scope, self.scope.insert(whole))
        branch = scf.IfOp(condition.value, types, sides[0], sides[1])
        self.scope.insert(branch)
        return tuple(Expr(self.scope, result) for result in branch.results)

    def at_most(self, limit: float) -> Expr:
        """The smaller of this and a number; a NaN stays one."""
        return (self > limit).select(self.like(limit), self)

    def at_least(self, limit: float) -> Expr:
        """The larger of this and a number; a NaN stays one."""
        return (self < limit).select(self.like(limit), self)

    # Functions that LLVM has as single instructions or nearly so

    def sqrt(self) -> Expr:
        return self._new(math.SqrtOp, self, fastmath=arith_extensions.NO_FLAGS)

    def abs(self) -> Expr:
        return self._new(math.AbsFOp, self, fastmath=arith_extensions.NO_FLAGS)

    def rounded(self) -> Expr:
        """To the nearest integer, halves to even."""
        return self._new(math.RoundEvenOp, self, fastmath=arith_extensions.NO_FLAGS)

    def trunc(self) -> Expr:
        return self._new(math.TruncOp, self, fastmath=arith_extensions.NO_FLAGS)

    def with_sign_of(self, other: Expr) -> Expr:
        return self._new(math.CopySignOp, self, other, fastmath=arith_extensions.NO_FLAGS)

    def power(self, exponent: Expr) -> Expr:
        return self._new(math.PowFOp, self, exponent, fastmath=arith_extensions.NO_FLAGS)

    def remainder(self, divisor: Expr) -> Expr:
        """C's fmod: LLVM calls it for each lane."""
        return self._new(arith_extensions.RemFOp, self, divisor, fastmath=arith_extensions.NO_FLAGS)

    # Conversions

    def bits(self) -> Expr:
        """The bits of a float as an integer of its width."""
        width = cast(AnyFloat, element_type(self.type)).bitwidth
        return self._new(arith.BitcastOp, self, type=with_element_type(self.type, IntegerType(width)))

    def as_float(self) -> Expr:
        """The float of this integer's width that has these bits."""
        element = element_type(self.type)
        assert isinstance(element, IntegerType)
        return self._new(
            arith.BitcastOp, self, type=with_element_type(self.type, f32 if element.bitwidth == 32 else f64)
        )

    def as_bits_of(self, element: AnyFloat) -> Expr:
        """The float `element` of this integer's width that has these bits."""
        return self._new(arith.BitcastOp, self, type=with_element_type(self.type, element))

    def extended(self, width: int) -> Expr:
        """An integer with zeros in front, to `width` bits."""
        kind = arith_extensions.ExtUIOp if as_vector(self.type) else arith.ExtUIOp
        return self._new(kind, self, type=with_element_type(self.type, IntegerType(width)))

    def truncated(self, width: int) -> Expr:
        """The last `width` bits of an integer."""
        kind = arith_extensions.TruncIOp if as_vector(self.type) else arith.TruncIOp
        return self._new(kind, self, type=with_element_type(self.type, IntegerType(width)))

    def to_float(self, element: AnyFloat) -> Expr:
        """A signed integer as a number."""
        kind = arith_extensions.SIToFPOp if as_vector(self.type) else arith.SIToFPOp
        return self._new(kind, self, type=with_element_type(self.type, element))

    def convert(self, element: AnyFloat) -> Expr:
        """The same number in a longer or shorter float."""
        before = cast(AnyFloat, element_type(self.type)).bitwidth
        if before == element.bitwidth:
            return self
        kind = arith.ExtFOp if element.bitwidth > before else arith.TruncFOp
        return self._new(kind, self, type=with_element_type(self.type, element))

    def polynomial(self, coefficients: Sequence[float]) -> Expr:
        """`c[0] + c[1] x + c[2] x^2 + ...` by Horner's rule."""
        *rest, last = coefficients
        result = self.like(last)
        for coefficient in reversed(rest):
            result = result * self + coefficient
        return result
