"""Expand transcendental functions into arithmetic, so that loops over them vectorise.

    %1 = math.exp %0 : vector<16xf32>    ->    some 20 arith operations on vector<16xf32>, without calls or branches

| element     | functions                                                       | how                                  |
|-------------|-----------------------------------------------------------------|--------------------------------------|
| f32         | exp, log, tanh, erf, asin, acos                                 | in f32 (`math_f32`), within 2 ulp    |
| f32         | exp2, expm1, log1p, log2, log10, sin, cos, tan, atan, atan2,    | in f64 (`math_f64`), within 1 ulp    |
|             | sinh, cosh, asinh, acosh, atanh, cbrt, powf, fpowi              |                                      |
|             | remf                                                            | in f64, exactly                      |
| all         | powf by 0.5                                                     | a square root, rounded once          |
| f16, bf16   | all of these                                                    | in f32 or f64, as for f32            |
| f64         | exp, expm1, log, tanh                                           | in f64, within 3 ulp                 |
| integers    | ipowi                                                           | squaring, in a loop over the bits    |
| f8 and less | conversions to and from f32 and f64                             | integer arithmetic (`small_floats`)  |

Results hold for all arguments: overflow, denormal numbers, infinities, NaN, signed zeros. The exponential of
`select(x > c, c, x)` that is read by `select(. < d, ., exp)` alone takes fewer steps, where `c` and `d` leave nothing
special, and so does that of a number between two such bounds. Other exponentials, sines and tangents of vectors, and
all remainders, branch where all lanes are ordinary numbers: the rest takes several times as long. What the table does
not have stays, and becomes an LLVM intrinsic (roundings, square root, fma, copysign) or a call of the C library (the
rest of f64). TVM's counterpart is the fast-math rules of `LowerIntrin`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    TensorType,
    f32,
    f64,
)
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from ...dialects.extensions import arith as arith_extensions
from ...dialects.support.dtypes import is_small_float
from ...dialects.support.vector_types import element_type
from ...dialects.support.walking import within
from ...transforms.infra.passes import ModulePass
from . import f32 as math_f32
from . import f64 as math_f64
from . import small_floats
from .expression import Expr, Scope
from .known_floats import known_number
from .quotients import divide_by_reciprocal, round_last

Expansion = Callable[..., Expr]

IN_F32: dict[type[Operation], Expansion] = {
    math.ExpOp: math_f32.exp,
    math.LogOp: math_f32.log,
    math.TanhOp: math_f32.tanh,
    math.ErfOp: math_f32.erf,
    math.AsinOp: math_f32.asin,
    math.AcosOp: math_f32.acos,
}
"""Functions of f32 that are computed in f32."""

IN_F64: dict[type[Operation], Expansion] = {
    math.Exp2Op: math_f64.exp2,
    math.ExpM1Op: math_f64.expm1,
    math.Log1pOp: math_f64.log1p,
    math.Log2Op: math_f64.log2,
    math.Log10Op: math_f64.log10,
    math.SinOp: math_f64.sin,
    math.CosOp: math_f64.cos,
    math.TanOp: math_f64.tan,
    math.AtanOp: math_f64.atan,
    math.Atan2Op: math_f64.atan2,
    math.SinhOp: math_f64.sinh,
    math.CoshOp: math_f64.cosh,
    math.AsinhOp: math_f64.asinh,
    math.AcoshOp: math_f64.acosh,
    math.AtanhOp: math_f64.atanh,
    math.CbrtOp: math_f64.cbrt,
    math.PowFOp: math_f64.power,
}
"""Functions of f32 that are computed in f64."""

OF_F64: dict[type[Operation], Expansion] = {
    math.ExpOp: math_f64.exp,
    math.ExpM1Op: math_f64.expm1,
    math.LogOp: math_f64.log,
    math.TanhOp: math_f64.tanh,
}
"""Functions of f64."""


@dataclass(frozen=True)
class ExpandMathPass(ModulePass):
    """Replace math operations on numbers and vectors by arithmetic; those on tensors stay. With `fma` the target has
    fused multiply-adds, and instructions that round vectors to integers."""

    name = "expand-math"

    fma: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rules = {**_RULES, **_WITH_FMA} if self.fma else _RULES
        for found in [inner for inner in within(op) if type(inner) in rules]:
            if not any(isinstance(operand.type, TensorType) for operand in found.operands):
                rules[type(found)](found)


def _expand_float(op: Operation) -> None:
    element = element_type(op.results[0].type)
    scope = Scope(op)
    operands = [Expr(scope, operand) for operand in op.operands]
    if isinstance(element, Float64Type):
        function = OF_F64.get(type(op))
        if function is not None:
            _replace(op, function(*operands))
        return
    if not isinstance(element, Float32Type | Float16Type | BFloat16Type):
        return
    if isinstance(op, math.ExpOp) and _is_of_small(op):
        _replace(op, math_f32.exp_of_small(operands[0].convert(f32)).convert(element))
        return
    function, computed = (IN_F32[type(op)], f32) if type(op) in IN_F32 else (IN_F64[type(op)], f64)
    singles = [operand.convert(f32) for operand in operands]
    # Straight to f16: LLVM folds two conversions into one, and then calls a library function that need not exist.
    result = function(*(operand.convert(computed) for operand in singles))
    _replace(op, result.convert(element))


def _expand_power(op: Operation) -> None:
    """The power of one half is the square root, but of what is below zero or -0.0; others by `_expand_float`."""
    element = element_type(op.results[0].type)
    if known_number(op.operands[1]) != 0.5 or not isinstance(element, AnyFloat):
        return _expand_float(op)
    x = Expr(Scope(op), op.operands[0])
    x = x.convert(f32) if element.bitwidth < 32 else x
    root = x.exact_add(0.0).sqrt()
    _replace(op, x.equals(-inf).select(x.like(inf), root).convert(element))


def _is_of_small(op: math.ExpOp) -> bool:
    """Whether `op` is of numbers that are brought down to 88 at most, and up to -87.33 at least, or is read where they
    are above -87.34 only."""
    raised = _bound(op.operand, "olt")
    lowered = _bound(op.operand if raised is None else raised[0], "ogt")
    if lowered is None or lowered[1] > 88.0 or (raised is not None and raised[1] < -87.33):
        return False
    for use in op.result.uses if raised is None else ():
        if (choice := _choice_by(use.operation, "olt")) is None or use.index != 2:
            return False
        number, limit = choice[0]
        known = known_number(limit)
        if number is not op.operand or known is None or known < -87.34:
            return False
    return True


def _bound(value: SSAValue, predicate: str) -> tuple[SSAValue, float] | None:
    """What is brought to a bound, and the bound, where `value` is a number or the bound, as such a comparison says."""
    if (choice := _choice_by(value.owner, predicate)) is None:
        return None
    (number, limit), then, otherwise = choice
    known = known_number(limit)
    return (number, known) if known is not None and _same(then, limit) and otherwise is number else None


def _choice_by(op: Operation | Block, predicate: str) -> tuple[Sequence[SSAValue], SSAValue, SSAValue] | None:
    """The floats that are compared, and the two sides, where `op` is a choice by such a comparison."""
    if not isinstance(op, Operation) or op.name != arith.SelectOp.name or not isinstance(op.operands[0], OpResult):
        return None
    test, then, otherwise = op.operands
    if not isinstance(compared := test.owner, arith.CmpfOp | arith_extensions.CmpfOp):
        return None
    if arith.CMPF_COMPARISON_OPERATIONS[compared.predicate.value.data] != predicate:
        return None
    return compared.operands, then, otherwise


def _same(one: SSAValue, other: SSAValue) -> bool:
    """Whether two values are one, or one number in all elements."""
    known = known_number(one)
    return one is other or (known is not None and known == known_number(other))


def _replace(op: Operation, result: Expr) -> None:
    if result.value.name_hint is None:
        result.value.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(result.value)
    op.detach()
    op.erase()


def _expand_remainder(op: Operation) -> None:
    element = element_type(op.results[0].type)
    if not isinstance(element, Float32Type | Float16Type | BFloat16Type):
        return
    scope = Scope(op)
    x, y = (Expr(scope, operand).convert(f32) for operand in op.operands)
    _replace(op, math_f64.remainder(x, y, Expr.remainder).convert(element))


def _expand_fpowi(op: Operation) -> None:
    scope = Scope(op)
    base, exponent = (Expr(scope, operand) for operand in op.operands)
    element = element_type(base.type)
    power = exponent.to_float(f64)
    if isinstance(element, Float64Type):
        _replace(op, base.power(power))
    else:
        single = math_f64.power(base.convert(f32).convert(f64), power).convert(f32)
        _replace(op, single.convert(cast(AnyFloat, element)))


def _expand_ipowi(op: Operation) -> None:
    """Squaring, once for each bit of the exponent; of negative exponents, what integer division gives."""
    scope = Scope(op)
    base, exponent = (Expr(scope, operand) for operand in op.operands)
    element = element_type(base.type)
    width = element.bitwidth if isinstance(element, IntegerType) else 64  # an index
    first, end, step = (scope.constant(IntegerAttr(n, IndexType()), IndexType()) for n in (0, width, 1))
    one = base.like(1)
    body = Block(arg_types=[IndexType(), *(base.type,) * 3])
    loop = scf.ForOp(first, end, step, [one.value, base.value, exponent.value], Region(body))
    scope.insert(loop)
    closing = scf.YieldOp()
    body.add_op(closing)
    inner = Scope(closing)
    product, square, rest = (Expr(inner, argument) for argument in body.args[1:])
    product = (rest & 1).equals(0).select(product, product * square)
    yielded = [product.value, (square * square).value, (rest >> 1).value]
    body.insert_op_before(scf.YieldOp(*yielded), closing)
    body.erase_op(closing)
    result = Expr(scope, loop.results[0])
    alternating = (exponent & 1).equals(0).select(one, base.like(-1))
    inverse = base.equals(-1).select(alternating, base.equals(1).select(one, base.like(0)))
    _replace(op, (exponent < 0).select(inverse, result))


def _expand_extension(op: Operation) -> None:
    if is_small_float(element_type(op.operands[0].type)):
        result = small_floats.widened(Expr(Scope(op), op.operands[0]))
        _replace(op, result.convert(cast(AnyFloat, element_type(op.results[0].type))))


def _expand_truncation(op: Operation) -> None:
    element = element_type(op.results[0].type)
    if is_small_float(element):
        number = Expr(Scope(op), op.operands[0])
        if is_small_float(element_type(number.type)):
            number = small_floats.widened(number)
        elif cast(AnyFloat, element_type(number.type)).bitwidth < 32:
            number = number.convert(f32)
        _replace(op, small_floats.narrowed(number, cast(AnyFloat, element)))


TO_INTEGER = (arith.FPToSIOp, arith.FPToUIOp, arith_extensions.FPToSIOp, arith_extensions.FPToUIOp)
"""Conversions of floats, of numbers and of vectors."""

_RULES: dict[type[Operation], Callable[[Operation], None]] = {
    **dict.fromkeys([*IN_F32, *IN_F64], _expand_float),
    arith_extensions.RemFOp: _expand_remainder,
    math.PowFOp: _expand_power,
    math.FPowIOp: _expand_fpowi,
    math.IPowIOp: _expand_ipowi,
    arith.ExtFOp: _expand_extension,
    arith.TruncFOp: _expand_truncation,
}

_WITH_FMA: dict[type[Operation], Callable[[Operation], None]] = {
    math.RoundEvenOp: divide_by_reciprocal,
    **dict.fromkeys(TO_INTEGER, round_last),
}
