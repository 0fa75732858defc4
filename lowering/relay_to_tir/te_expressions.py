"""Scalar expressions of `te` as operations: `arith`, `math`, and loads of the tensors that are read.

Signed and unsigned integers are both signless in memory; the operations chosen keep them apart. Integers' own rules
stand in `te_integers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.dialects import arith, math, memref, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    Float32Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import te
from ...dialects.extensions.arith import RemFOp
from ...dialects.support.dtypes import is_small_float
from ...dialects.support.hints import isa
from ...dialects.te.bounds import bounds, greatest
from ...dialects.te.dim_order import surely_at_most
from ...dialects.te.expr import BinaryKind as B
from ...dialects.te.expr import UnaryKind as U
from ...dialects.tir.buffers import memref_of
from ...dialects.tir.core import CheckOp
from ...dialects.tir.float_flags import CONTRACT, NO_SIGNED_ZERO, REASSOCIATE
from . import te_integers
from .te_calls import call_of

MOST_POWER = 87.25
"""Up to here neither an exponential nor its inverse leaves the normal numbers of single precision."""


def signless(type: Attribute) -> Attribute:
    """The type that `arith` works on: an unsigned integer's bits without the sign."""
    return IntegerType(type.width.data) if isa(type, IntegerType) else type


def is_unsigned(type: Attribute) -> bool:
    """Whether values of `type` are compared and widened as unsigned; `i1` is."""
    return isa(type, IntegerType) and (type.signedness.data == Signedness.UNSIGNED or type.width.data == 1)


class BodyEmitter:
    """Emits scalar expressions at the end of a block, each shared subexpression once."""

    def __init__(self, block: Block, axes: Mapping[te.IterVar | te.Var, SSAValue], buffers: dict[te.Tensor, SSAValue]):
        self.block = block
        self.axes = axes
        self.buffers = buffers
        self.memo: dict[te.Expr, SSAValue] = {**axes}
        self.constants: dict[tuple[float, Attribute], SSAValue] = {}

    def within(self, block: Block, names: Mapping[te.Slot, SSAValue]) -> BodyEmitter:
        """What emits at the end of another block, where names have values."""
        inner = BodyEmitter(block, self.axes, self.buffers)
        inner.memo = {**inner.memo, **names}
        return inner

    def forget(self, names: Mapping[te.Slot, SSAValue]) -> None:
        """Forget all values but those of axes and names: an element may be another now."""
        self.memo = {**self.axes, **names}

    def add(self, op: Operation) -> None:
        """Append `op`."""
        self.block.add_op(op)

    def insert(self, op: Operation) -> SSAValue:
        """Append `op`; its result, if it has one (a store has none, and gives its operand)."""
        self.block.add_op(op)
        return op.results[0] if op.results else op.operands[0]

    def value(self, expr: te.Expr) -> SSAValue:
        """The SSA value of `expr`."""
        if (known := self.memo.get(expr)) is None:
            known = self.memo[expr] = self._emit(expr)
        return known

    def constant(self, value: float, type: Attribute) -> SSAValue:
        """A literal of the signless scalar `type`."""
        key = (value, type)
        if (known := self.constants.get(key)) is None or value != value:
            attribute = (
                FloatAttr(float(value), type) if isinstance(type, AnyFloat) else _integer_attribute(int(value), type)
            )
            op = arith.ConstantOp.create(properties={"value": attribute}, result_types=[type])
            if (first := self.block.first_op) is not None:
                self.block.insert_op_before(op, first)  # before every use, also one inside an earlier region
            else:
                self.block.add_op(op)
            known = self.constants[key] = op.result
        return known

    def _emit(self, expr: te.Expr) -> SSAValue:
        match expr:
            case te.Const(value, element):
                return self.constant(value, signless(element))
            case te.Read(tensor, indices):
                buffer = self.buffers[tensor]
                element = memref_of(buffer).element_type
                operands = (buffer, *[self.value(index) for index in indices])
                return self.insert(memref.LoadOp.create(operands=operands, result_types=[element]))
            case te.Unary(kind, operand, _):
                return self.unary(kind, self.value(operand), operand.type)
            case te.Binary(kind, lhs, rhs, _):
                if lhs.type == te.index and kind in (B.FLOORDIV, B.FLOORMOD) and _is_natural(lhs) and _is_positive(rhs):
                    op = arith.DivUIOp if kind == B.FLOORDIV else arith.RemUIOp
                    return self.insert(op(self.value(lhs), self.value(rhs)))
                return self.binary(kind, self.value(lhs), self.value(rhs), lhs.type)
            case te.Select(condition, then, otherwise, _):
                return self._select(condition, then, otherwise)
            case te.Check(operand, given, extent, text):
                limit = extent if isinstance(extent, int) else self.value(extent)
                return self.insert(CheckOp(self.value(operand), self.value(given), limit, text))
            case te.Cast(operand, element):
                return self.cast(self.value(operand), operand.type, element)
            case te.Call():
                return self.insert(call_of(expr, [self.value(each) for each in expr.operands]))
            case te.Bitcast(operand, element):
                x, to = self.value(operand), signless(element)
                return x if x.type == to else self.insert(arith.BitcastOp(x, to))
            case _:
                raise TypeError(f"te: {type(expr).__name__} cannot stand inside an expression")

    def _select(self, condition: te.Expr, then: te.Expr, otherwise: te.Expr) -> SSAValue:
        test = self.value(condition)
        if is_speculatable(then) and is_speculatable(otherwise):
            return self.insert(arith.SelectOp(test, self.value(then), self.value(otherwise)))
        regions: list[Region] = []
        for side in (then, otherwise):
            block = Block()
            inner = BodyEmitter(block, self.axes, self.buffers)
            inner.memo = dict(self.memo)
            block.add_op(scf.YieldOp(inner.value(side)))
            regions.append(Region(block))
        return self.insert(scf.IfOp(test, [signless(then.type)], regions[0], regions[1]))

    def unary(self, kind: U, x: SSAValue, type: Attribute) -> SSAValue:
        """`kind(x)`, where `x` is of the (signed or unsigned) scalar `type`."""
        if isinstance(type, AnyFloat):
            return self._unary_float(kind, x)
        match kind:
            case U.NEG:
                return self.insert(arith.SubiOp(self.constant(0, x.type), x))
            case U.NOT:
                return self.insert(arith.XOrIOp(x, self.constant(1 if x.type == i1 else -1, x.type)))
            case U.ABS:
                return x if is_unsigned(type) else self.insert(math.AbsIOp(x))
            case U.SIGN:
                zero, one = self.constant(0, x.type), self.constant(1, x.type)
                positive = self.binary(B.GT, x, zero, type)
                if is_unsigned(type):
                    return self.insert(arith.SelectOp(positive, one, zero))
                below = self.insert(arith.SelectOp(self.binary(B.LT, x, zero, type), self.constant(-1, x.type), zero))
                return self.insert(arith.SelectOp(positive, one, below))
            case U.FLOOR | U.CEIL | U.ROUND | U.TRUNC:
                return x
            case U.ISNAN | U.ISINF:
                return self.constant(0, i1)
            case U.ISFINITE:
                return self.constant(1, i1)
            case _:
                raise TypeError(f"te: {kind} of {type}")

    def _unary_float(self, kind: U, x: SSAValue) -> SSAValue:
        if (op := _FLOAT_UNARY.get(kind)) is not None:
            return self.insert(op(x))
        match kind:
            case U.NEG:
                return self.insert(arith.NegfOp(x))
            case U.SIGN:
                zero = self.constant(0.0, x.type)
                unsigned = self.insert(arith.AddfOp(x, zero))  # a zero's sign goes, a NaN stays
                below = self.insert(
                    arith.SelectOp(self._compare(x, "olt", zero), self.constant(-1.0, x.type), unsigned)
                )
                return self.insert(arith.SelectOp(self._compare(x, "ogt", zero), self.constant(1.0, x.type), below))
            case U.SIGMOID:
                return self._sigmoid(x)
            case U.ISNAN:
                return self._compare(x, "uno", x)
            case U.ISINF:
                return self._compare(self.insert(math.AbsFOp(x)), "oeq", self.constant(float("inf"), x.type))
            case U.ISFINITE:
                return self._compare(self.insert(math.AbsFOp(x)), "olt", self.constant(float("inf"), x.type))
            case _:
                raise TypeError(f"te: {kind} of {x.type}")

    def _sigmoid(self, x: SSAValue) -> SSAValue:
        """`1 / (1 + exp(-x))`. In single precision the exponential is of numbers between bounds, which is two thirds of
        the work: beyond them the result is 1, or hardly a normal number, and 0."""
        one, power = self.constant(1.0, x.type), self.insert(arith.NegfOp(x))
        if not isinstance(x.type, Float32Type):
            return self.insert(arith.DivfOp(one, self.insert(arith.AddfOp(one, self.insert(math.ExpOp(power))))))
        most, least = self.constant(MOST_POWER, x.type), self.constant(-MOST_POWER, x.type)
        power = self.insert(arith.SelectOp(self._compare(power, "ogt", most), most, power))
        power = self.insert(arith.SelectOp(self._compare(power, "olt", least), least, power))
        result = self.insert(arith.DivfOp(one, self.insert(arith.AddfOp(one, self.insert(math.ExpOp(power))))))
        return self.insert(arith.SelectOp(self._compare(x, "olt", least), self.constant(0.0, x.type), result))

    def _compare(self, lhs: SSAValue, predicate: str, rhs: SSAValue) -> SSAValue:
        return self.insert(arith.CmpfOp(lhs, rhs, predicate))

    def binary(self, kind: B, lhs: SSAValue, rhs: SSAValue, type: Attribute, *, reduction: bool = False) -> SSAValue:
        """`kind(lhs, rhs)`, operands of the (signed or unsigned) scalar `type`."""
        if isinstance(type, AnyFloat):
            return self._binary_float(kind, lhs, rhs, reduction)
        unsigned = is_unsigned(type)
        if kind in _INT_COMPARE:
            return self.insert(arith.CmpiOp(lhs, rhs, _INT_COMPARE[kind][unsigned]))
        if (ops := _INT_BINARY.get(kind)) is not None:
            return self.insert(ops[unsigned](lhs, rhs))
        match kind:
            case B.DIV | B.FLOORDIV | B.TRUNCMOD | B.FLOORMOD:
                return te_integers.divide(self, kind, lhs, rhs, unsigned)
            case B.SHL | B.SHR:
                return te_integers.shift(self, kind, lhs, rhs, unsigned)
            case B.POW:
                return te_integers.power(self, lhs, rhs, unsigned)
            case _:
                raise TypeError(f"te: {kind} of {type}")

    def _binary_float(self, kind: B, lhs: SSAValue, rhs: SSAValue, reduction: bool) -> SSAValue:
        match kind:
            case B.ADD | B.MUL | B.SUB:
                op = {B.ADD: arith.AddfOp, B.MUL: arith.MulfOp, B.SUB: arith.SubfOp}[kind]
                return self.insert(op(lhs, rhs, REASSOCIATE if reduction else CONTRACT))
            case B.DIV:
                return self.insert(arith.DivfOp(lhs, rhs))
            case B.MAX | B.MIN:
                return self._extremum(kind, lhs, rhs)
            case B.POW:
                return self.insert(math.PowFOp(lhs, rhs))
            case B.ATAN2:
                return self.insert(math.Atan2Op(lhs, rhs))
            case B.COPYSIGN:
                return self.insert(math.CopySignOp(lhs, rhs))
            case B.FLOORDIV:
                return self.insert(math.FloorOp(self.insert(arith.DivfOp(lhs, rhs))))
            case B.TRUNCMOD:
                return self.insert(RemFOp(lhs, rhs))
            case B.FLOORMOD:  # of the divisor's sign: where the remainder has the other one, a divisor more
                rest = self.insert(RemFOp(lhs, rhs))
                zero = self.constant(0, rest.type)
                signs = arith.XOrIOp(self._compare(rest, "olt", zero), self._compare(rhs, "olt", zero))
                moved = self.insert(arith.SelectOp(self.insert(signs), self.insert(arith.AddfOp(rest, rhs)), rest))
                nothing = self.insert(math.CopySignOp(zero, rhs))
                return self.insert(arith.SelectOp(self._compare(rest, "oeq", zero), nothing, moved))
            case _ if kind in _FLOAT_COMPARE:
                return self._compare(lhs, _FLOAT_COMPARE[kind], rhs)
            case _:
                raise TypeError(f"te: {kind} of {lhs.type}")

    def _extremum(self, kind: B, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """NaN goes through, as in NumPy. Against a literal, one compare-and-select does it (`maxps` in one step)."""
        for x, bound in ((lhs, rhs), (rhs, lhs)):
            if isinstance(bound.owner, arith.ConstantOp):
                beyond = self._compare(bound, "ogt" if kind == B.MAX else "olt", x)
                return self.insert(arith.SelectOp(beyond, bound, x))
        op = arith.MaximumfOp if kind == B.MAX else arith.MinimumfOp
        return self.insert(op(lhs, rhs, NO_SIGNED_ZERO))

    def cast(self, x: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
        """`x` of type `source` as `target`: to `i1` is `!= 0`, float to integer truncates, integers wrap."""
        to = signless(target)
        if x.type == to:
            return x
        if is_small_float(source):
            return self.cast(self.insert(arith.ExtFOp(x, f32)), f32, target)
        if is_small_float(to):  # by way of f32, as `ml_dtypes` does
            return self.insert(arith.TruncFOp(self.cast(x, source, f32), to))
        if to == i1:
            zero = self.constant(0, x.type)
            return self._compare(x, "une", zero) if isinstance(source, AnyFloat) else self.binary(B.NE, x, zero, source)
        if isinstance(source, IndexType) or isinstance(to, IndexType):
            if isinstance(source, AnyFloat) or isinstance(to, AnyFloat):
                return self.cast(self.cast(x, source, i64), i64, target)
            if is_unsigned(source):
                return self.insert(arith.IndexCastOp(self.cast(x, source, i64), to))
            return self.insert(arith.IndexCastOp(x, to))
        if isinstance(source, AnyFloat) and isinstance(to, AnyFloat):
            if source.bitwidth == to.bitwidth:  # f16 <-> bf16
                return self.insert(arith.TruncFOp(self.insert(arith.ExtFOp(x, f32)), to))
            return self.insert((arith.ExtFOp if to.bitwidth > source.bitwidth else arith.TruncFOp)(x, to))
        if isinstance(source, AnyFloat):
            assert isa(to, IntegerType)
            return self.insert((arith.FPToUIOp if is_unsigned(target) else arith.FPToSIOp)(x, to))
        if isinstance(to, AnyFloat):
            return self.insert((arith.UIToFPOp if is_unsigned(source) else arith.SIToFPOp)(x, to))
        assert isa(source, IntegerType) and isa(to, IntegerType)
        if to.width.data < source.width.data:
            return self.insert(arith.TruncIOp(x, to))
        return self.insert((arith.ExtUIOp if is_unsigned(source) else arith.ExtSIOp)(x, to))


_FLOAT_UNARY: dict[U, Callable[[SSAValue], Operation]] = {
    U.ABS: math.AbsFOp, U.EXP: math.ExpOp, U.LOG: math.LogOp, U.LOG2: math.Log2Op, U.LOG10: math.Log10Op,
    U.EXP2: math.Exp2Op, U.LOG1P: math.Log1pOp,
    U.SQRT: math.SqrtOp, U.RSQRT: math.RsqrtOp, U.ERF: math.ErfOp, U.TANH: math.TanhOp, U.SIN: math.SinOp,
    U.COS: math.CosOp, U.TAN: math.TanOp, U.SINH: math.SinhOp, U.COSH: math.CoshOp, U.ASIN: math.AsinOp,
    U.ACOS: math.AcosOp, U.ATAN: math.AtanOp, U.ASINH: math.AsinhOp, U.ACOSH: math.AcoshOp, U.ATANH: math.AtanhOp,
    U.FLOOR: math.FloorOp, U.CEIL: math.CeilOp, U.ROUND: math.RoundEvenOp, U.TRUNC: math.TruncOp,
}  # fmt: skip

_FLOAT_COMPARE = {B.EQ: "oeq", B.NE: "une", B.LT: "olt", B.LE: "ole", B.GT: "ogt", B.GE: "oge"}

_IntBinary: TypeAlias = Callable[[SSAValue, SSAValue], Operation]
# Each pair: for signed, for unsigned integers.
_INT_COMPARE = {
    B.EQ: ("eq", "eq"), B.NE: ("ne", "ne"), B.LT: ("slt", "ult"), B.LE: ("sle", "ule"), B.GT: ("sgt", "ugt"),
    B.GE: ("sge", "uge"),
}  # fmt: skip
_INT_BINARY: dict[B, tuple[_IntBinary, _IntBinary]] = {
    B.ADD: (arith.AddiOp, arith.AddiOp), B.SUB: (arith.SubiOp, arith.SubiOp), B.MUL: (arith.MuliOp, arith.MuliOp),
    B.MIN: (arith.MinSIOp, arith.MinUIOp), B.MAX: (arith.MaxSIOp, arith.MaxUIOp), B.AND: (arith.AndIOp, arith.AndIOp),
    B.OR: (arith.OrIOp, arith.OrIOp), B.XOR: (arith.XOrIOp, arith.XOrIOp),
}  # fmt: skip


def _integer_attribute(value: int, type: Attribute) -> IntegerAttr[IntegerType | IndexType]:
    assert isa(type, IntegerType | IndexType)
    if isinstance(type, IntegerType) and type.width.data > 1 and value >= 1 << (type.width.data - 1):
        value -= 1 << type.width.data  # the bits of an unsigned literal
    return IntegerAttr(value, type)


def _is_natural(expr: te.Expr) -> bool:
    range = bounds(expr)
    return range is not None and range[0] >= 0


def _is_positive(expr: te.Expr) -> bool:
    range = bounds(expr)
    return range is not None and range[0] > 0


def _is_inside(position: te.Expr, size: te.Dim) -> bool:
    """Whether an index surely lies in a dimension."""
    if isinstance(position, te.IterVar) and position.start == 0 and te.same(position.dim, size):
        return True
    range = bounds(position)
    if range is None or range[0] < 0:
        return False
    if isinstance(size, int):
        return range[1] < size
    most = greatest(position)
    return most is not None and surely_at_most(most + 1, size)


def is_speculatable(expr: te.Expr) -> bool:
    """Whether `expr` may be evaluated where its value is not wanted: no read may lie outside its tensor,
    and no check fail."""
    stack, seen = [expr], set[te.Expr]()
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        match current:
            case te.Check():
                return False
            case te.Call(word) if "pure" not in word:
                return False
            case te.Read(tensor, indices):
                for position, size in zip(indices, tensor.dims, strict=True):
                    if not _is_inside(position, size):
                        return False
            case _:
                pass
        stack.extend(te.operands_of(current))
    return True
