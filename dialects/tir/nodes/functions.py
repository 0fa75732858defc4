"""TVM's functions of scalars that formulas, C or LLVM have: `tir.hypot(x, y)`, `tir.popcount(x)`, `tir.exp10(x)`.

Those that have operations of their own are in `te.functions`.
"""

from __future__ import annotations

from math import inf
from typing import NoReturn

from xdsl.dialects.builtin import AnyFloat, Float32Type, Float64Type, IndexType, IntegerType, Signedness, i1, i32, i64
from xdsl.ir import Attribute

from ...support.arguments import checked
from ...support.diagnostics import UsageError
from ...support.dtypes import dtype_name
from ...support.hints import isa
from ...te import functions as of
from ...te.calls import Call
from ...te.dims import Symbol, size_var
from ...te.element_types import element_type
from ...te.expr import Expr, ExprLike, as_expr, binary, bitcast, cast, const, select
from ...te.kinds import BinaryKind as B
from ...te.kinds import index
from ...te.spelled import Spelled
from ...te.vectors import operand

ANY_DIM = "any_dim"
"""What such extents are called."""


class _AnyExtents(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Symbol) and value.name == ANY_DIM


class Any(metaclass=_AnyExtents):
    """An extent of which nothing is known, not even that another one is equal; `isinstance(extent, Any)` tells them."""

    def __new__(cls) -> Expr:
        return size_var(ANY_DIM)


@checked
def infinity(dtype: str) -> Expr:
    """Infinity, of a type of floats."""
    type = element_type(dtype)
    if not isinstance(type, AnyFloat):
        raise UsageError(f"{dtype} has no infinity", hint="tir.max_value")
    return const(inf, type)


@checked
def likely(cond: ExprLike) -> Expr:
    """The condition itself: which way branches go is not told to anyone."""
    return as_expr(cond, i1)


@checked
def reinterpret(dtype: str, value: Expr) -> Expr:
    """The bits of a value, as a number of another type of as many bits."""
    try:
        return bitcast(value, element_type(dtype))
    except TypeError as error:
        raise UsageError(str(error)) from None


@checked
def ceildiv(lhs: ExprLike, rhs: ExprLike) -> Expr:
    """The quotient of two integers, rounded up."""
    a, b = operand(lhs, rhs), operand(rhs, lhs)
    if isa(a.type, IntegerType) and a.type.signedness.data == Signedness.UNSIGNED:
        return binary(B.FLOORDIV, a, b) + cast(binary(B.NE, binary(B.FLOORMOD, a, b), 0), a.type)
    if isa(a.type, IntegerType):
        return -binary(B.FLOORDIV, -a, b)  # a sum could be beyond all numbers of the type
    return binary(B.FLOORDIV, a + b - 1, b)


@checked
def exp10(x: Expr) -> Expr:
    """Ten to the power of `x`."""
    _float("exp10", x)
    return of.power(const(10.0, x.type), x)


def _float(name: str, *values: Expr) -> None:
    for each in values:
        if not isinstance(each.type, AnyFloat):
            raise UsageError(f"tir.{name} is of floats, and not of {each.dtype}", hint=".astype first")


def _of_c(name: str, *values: Expr) -> Expr:
    """C's function of a name, which is of f32 and f64; of narrower floats, by way of f32."""
    type = values[0].type
    wide: Attribute = type if isinstance(type, Float64Type) else Float32Type()
    given = [cast(each, wide) if isinstance(each.type, AnyFloat) else each for each in values]
    suffix = "" if isinstance(wide, Float64Type) else "f"
    return cast(Call("call_pure_extern", dtype_name(wide), f"{name}{suffix}", tuple(given)), type)


@checked
def hypot(x1: Expr, x2: ExprLike) -> Expr:
    """The length of a hypotenuse, where the squares of others may be beyond all numbers."""
    other = as_expr(x2, x1.type)
    _float("hypot", x1, other)
    return _of_c("hypot", x1, other)


@checked
def ldexp(x1: Expr, x2: ExprLike) -> Expr:
    """`x1` times two to the power of the integer `x2`."""
    _float("ldexp", x1)
    return _of_c("ldexp", x1, cast(as_expr(x2, i32), i32))


@checked
def nextafter(x1: Expr, x2: ExprLike) -> Expr:
    """The number next to `x1` in the direction of `x2`.

    Raises:
        UsageError: of floats that C has no numbers of.
    """
    other = as_expr(x2, x1.type)
    _float("nextafter", x1, other)
    if not isinstance(x1.type, Float32Type | Float64Type):
        raise UsageError(f"tir.nextafter is of float32 and float64, and not of {x1.dtype}")
    return _of_c("nextafter", x1, other)


def _of_llvm(name: str, x: Expr, *more: Expr) -> Call:
    if not isa(x.type, IntegerType):
        kind = "index" if isinstance(x.type, IndexType) else x.dtype
        raise UsageError(f"the bits of an integer are counted, and not those of {kind}", hint=".astype first")
    return Call("call_llvm_pure_intrin", x.dtype, f"llvm.{name}.i{x.type.width.data}", (x, *more))


@checked
def popcount(x: Expr) -> Expr:
    """How many bits of an integer are 1, as an integer of its type."""
    return _of_llvm("ctpop", cast(x, i64) if isinstance(x.type, IndexType) else x)


@checked
def clz(x: Expr) -> Expr:
    """How many bits of an integer are 0 before the first that is 1, as an `int32`; all, if none is."""
    return cast(_of_llvm("ctlz", cast(x, i64) if isinstance(x.type, IndexType) else x, const(False, i1)), i32)


@checked
def q_multiply_shift(x: Expr, y: ExprLike, q: int, s: int) -> Expr:
    """`x * y * 2**(s - q)` of two `int32`, rounded to the nearest integer, halves up: a product of numbers with a
    fixed point."""
    wide = cast(x, i64) * const(1 << max(s, 0), i64)
    shift = q + max(-s, 0)
    if shift < 1:
        raise UsageError("tir.q_multiply_shift: at least one bit is behind the point", hint="q is at least 1")
    product = wide * cast(as_expr(y, i32), i64) + const(1 << (shift - 1), i64)
    return cast(product >> const(shift, i64), i32)


@checked
def q_multiply_shift_per_axis(
    x: Expr,
    y: ExprLike,
    ls: ExprLike,
    rs: ExprLike,
    q: ExprLike,
    is_lshift_required: ExprLike,
    is_rshift_required: ExprLike,
) -> Expr:
    """`x * y * 2**(ls - q - rs)` of two `int32`, rounded to the nearest integer, halves up. The left shift `ls` is made
    only if `is_lshift_required`; the right shift `rs` is 0 where none is."""
    wide = cast(x, i64)
    shifted = select(as_expr(is_lshift_required, i1), wide << cast(as_expr(ls, i32), i64), wide)
    behind = cast(as_expr(rs, i32) + as_expr(q, i32), i64)
    product = shifted * cast(as_expr(y, i32), i64) + (const(1, i64) << (behind - const(1, i64)))
    return cast(product >> behind, i32)


@checked
def ret(val: ExprLike) -> Spelled:
    """What a function gives, in `tir.Evaluate(tir.ret(x))`: a way through it ends there."""
    value = operand(val, val)
    return Spelled("ret", (value,), (("dtype", "int64" if value.type == index else value.dtype),), value.type)


def _refused(name: str, why: str, hint: str) -> object:
    def refuse(*args: object, **options: object) -> NoReturn:
        raise UsageError(f"tir.{name}: {why}", hint=hint)

    refuse.__name__ = name
    refuse.__doc__ = f"Refused: {why}."
    return refuse


isnullptr = _refused("isnullptr", "no buffer is at no address", "leave it out")
