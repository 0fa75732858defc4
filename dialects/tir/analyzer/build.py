"""The builders of integer expressions: each returns the normal form that `nodes` describes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd

from ...support.diagnostics import UsageError
from .nodes import (
    FALSE,
    OPERATORS,
    TRUE,
    All,
    Any_,
    BitAnd,
    Const,
    ExprLike,
    Flag,
    FloorDiv,
    FloorMod,
    IntExpr,
    Max,
    Min,
    NonNegative,
    Not,
    Op,
    PowerOfTwo,
    Product,
    Select,
    Sum,
    TruncDiv,
    TruncMod,
    Zero,
    as_expr,
    const,
    intern_sum,
    is_condition,
    op,
)

MAX_PRODUCT_TERMS = 64
"""A product of sums is multiplied out up to this number of terms."""
_NO_TERMS: Mapping[IntExpr, int] = {}


def linear(constant: int, terms: dict[IntExpr, int]) -> IntExpr:
    """`constant + sum(terms)`; `terms` is given away and holds atoms, no sums or constants."""
    for factor in terms.values():
        if not factor:
            terms = {a: c for a, c in terms.items() if c}
            break
    if not terms:
        return const(constant)
    if not constant and len(terms) == 1:
        ((atom, factor),) = terms.items()
        if factor == 1:
            return atom
    return intern_sum(constant, terms)


def parts(expr: IntExpr) -> tuple[int, Mapping[IntExpr, int]]:
    """The constant and the multiples of atoms of any expression."""
    if type(expr) is Sum:
        return expr.constant, expr.terms
    if type(expr) is Const:
        return expr.value, _NO_TERMS
    return 0, {expr: 1}


def add(lhs: IntExpr, rhs: IntExpr, factor: int = 1) -> IntExpr:
    """`lhs + factor * rhs`."""
    left, terms = parts(lhs)
    right, more = parts(rhs)
    merged = dict(terms)
    for atom, multiple in more.items():
        merged[atom] = merged.get(atom, 0) + multiple * factor
    return linear(left + right * factor, merged)


def scale(expr: IntExpr, factor: int) -> IntExpr:
    """`factor * expr`."""
    if factor == 1:
        return expr
    constant, terms = parts(expr)
    return linear(constant * factor, {a: c * factor for a, c in terms.items()} if factor else {})


def factors(atom: IntExpr) -> tuple[IntExpr, ...]:
    """What an atom is the product of; itself, if it is none."""
    return atom.args if type(atom) is Product else (atom,)


def _ordered(args: Iterable[IntExpr]) -> list[IntExpr]:
    return sorted(args, key=lambda e: e.order)


def multiply(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """The product, multiplied out where it is not too long."""
    if type(rhs) is Const:
        return scale(lhs, rhs.value)
    if type(lhs) is Const:
        return scale(rhs, lhs.value)
    left, terms = parts(lhs)
    right, more = parts(rhs)
    if len(terms) * len(more) > MAX_PRODUCT_TERMS:
        return op(Product, *_ordered((lhs, rhs)))
    result: dict[IntExpr, int] = {}
    for a, c in terms.items():
        if right:
            result[a] = result.get(a, 0) + c * right
        for b, d in more.items():
            atom = op(Product, *_ordered(factors(a) + factors(b)))
            result[atom] = result.get(atom, 0) + c * d
    if left:
        for b, d in more.items():
            result[b] = result.get(b, 0) + left * d
    return linear(left * right, result)


def multiple_within(expr: IntExpr, divisor: Sum) -> IntExpr | None:
    """That of which the product with `divisor` is some of the terms of `expr`, as `m` for `m * n + m * 3 + i` and `n +
    3`; `None` where there is none. It is found as polynomials are divided: by the leading terms."""
    lead = max(divisor.terms, key=_degree)
    found: IntExpr = FALSE
    left = expr
    while True:
        fitting = [(atom, other) for atom in parts(left)[1] if (other := _left_of(atom, lead)) is not None]
        if not fitting:
            break
        atom, other = max(fitting, key=lambda each: _degree(each[0]))
        factor, rest = divmod(parts(left)[1][atom], divisor.terms[lead])
        if rest:
            return None
        times = scale(other, factor)
        found, left = add(found, times), add(left, multiply(times, divisor), -1)
    (constant, terms), (was, before) = parts(left), parts(expr)
    if found is FALSE or constant not in (0, was) or any(before.get(atom) != factor for atom, factor in terms.items()):
        return None
    return found


def _degree(atom: IntExpr) -> tuple[object, ...]:
    """What orders terms: those of more factors first."""
    return len(factors(atom)), sorted((each.order for each in factors(atom)), reverse=True)


def _left_of(atom: IntExpr, taken: IntExpr) -> IntExpr | None:
    """The factors of `atom` without those of `taken`; `None` where one of these is not there."""
    left = list(factors(atom))
    for each in factors(taken):
        place = next((number for number, factor in enumerate(left) if factor is each), None)
        if place is None:
            return None
        del left[place]
    return op(Product, *left) if len(left) > 1 else left[0] if left else TRUE


def _is_negative(divisor: IntExpr) -> bool:
    """Whether a divisor is a sum of negative multiples: the builders turn it, as they do constants. A difference stays
    as it is: what it is above zero for, whoever divides by it means."""
    return type(divisor) is Sum and divisor.constant <= 0 and all(factor < 0 for factor in divisor.terms.values())


def floordiv(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """`lhs` divided by `rhs`, rounded down."""
    if type(rhs) is Const:
        divisor = rhs.value
        if divisor < 0:
            return floordiv(scale(lhs, -1), const(-divisor))
        if divisor == 1:
            return lhs
        if divisor and type(lhs) is Const:
            return const(lhs.value // divisor)
        if divisor and type(lhs) is Sum and not 0 <= lhs.constant < divisor:
            whole = lhs.constant // divisor
            return add(floordiv(add(lhs, const(-whole * divisor)), rhs), const(whole))
    elif _is_negative(rhs):
        return op(FloorDiv, scale(lhs, -1), scale(rhs, -1))
    return op(FloorDiv, lhs, rhs)


def floormod(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """The remainder of `floordiv`: it has the sign of `rhs`."""
    if type(rhs) is Const:
        divisor = rhs.value
        if divisor < 0:
            return scale(floormod(scale(lhs, -1), const(-divisor)), -1)
        if divisor == 1:
            return FALSE
        if divisor and type(lhs) is Const:
            return const(lhs.value % divisor)
        if divisor and type(lhs) is Sum and not 0 <= lhs.constant < divisor:
            return floormod(add(lhs, const(lhs.constant % divisor - lhs.constant)), rhs)
    elif _is_negative(rhs):
        return scale(op(FloorMod, scale(lhs, -1), scale(rhs, -1)), -1)
    return op(FloorMod, lhs, rhs)


def ceildiv(lhs: ExprLike, rhs: ExprLike) -> IntExpr:
    """`lhs` divided by `rhs`, rounded up."""
    lhs, rhs = as_expr(lhs), as_expr(rhs)
    if type(rhs) is Const and rhs.value > 0:
        return floordiv(add(lhs, const(rhs.value - 1)), rhs)
    return scale(floordiv(scale(lhs, -1), rhs), -1)


def truncdiv(lhs: ExprLike, rhs: ExprLike) -> IntExpr:
    """`lhs` divided by `rhs`, rounded towards zero."""
    lhs, rhs = as_expr(lhs), as_expr(rhs)
    if type(rhs) is Const:
        divisor = rhs.value
        if divisor < 0:
            return scale(truncdiv(lhs, const(-divisor)), -1)
        if divisor == 1:
            return lhs
        if divisor and type(lhs) is Const:
            return const(abs(lhs.value) // divisor * (1 if lhs.value >= 0 else -1))
    elif _is_negative(rhs):
        return scale(op(TruncDiv, lhs, scale(rhs, -1)), -1)
    return op(TruncDiv, lhs, rhs)


def truncmod(lhs: ExprLike, rhs: ExprLike) -> IntExpr:
    """The remainder of `truncdiv`: it has the sign of `lhs`."""
    lhs, rhs = as_expr(lhs), as_expr(rhs)
    if type(rhs) is Const:
        divisor = abs(rhs.value)
        if divisor == 1:
            return FALSE
        if divisor and type(lhs) is Const:
            return const(abs(lhs.value) % divisor * (1 if lhs.value >= 0 else -1))
        rhs = const(divisor)
    elif _is_negative(rhs):
        rhs = scale(rhs, -1)
    return op(TruncMod, lhs, rhs)


def _extreme(cls: type[Op], args: Iterable[ExprLike], is_better: bool) -> IntExpr:
    """`Min` (`is_better`: smaller constants) or `Max` of `args`: flat, without repeats, with one constant."""
    found: set[IntExpr] = set()
    best: int | None = None
    stack = [as_expr(a) for a in args]
    while stack:
        arg = stack.pop()
        if type(arg) is cls:
            stack.extend(arg.args)
        elif type(arg) is Const:
            best = arg.value if best is None else min(best, arg.value) if is_better else max(best, arg.value)
        else:
            found.add(arg)
    if best is not None:
        found.add(const(best))
    if len(found) == 1:
        return next(iter(found))
    return op(cls, *_ordered(found))


def minimum(*args: ExprLike) -> IntExpr:
    """The least of one or more values."""
    return _extreme(Min, args, True)


def maximum(*args: ExprLike) -> IntExpr:
    """The greatest of one or more values."""
    return _extreme(Max, args, False)


def select(condition: ExprLike, then: ExprLike, otherwise: ExprLike) -> IntExpr:
    """`then` where `condition` holds, else `otherwise`."""
    then, otherwise = as_expr(then), as_expr(otherwise)
    condition = truth(as_expr(condition))
    if type(condition) is Const:
        return then if condition.value else otherwise
    if then is otherwise:
        return then
    if type(condition) is Not:
        return op(Select, condition.args[0], otherwise, then)
    return op(Select, condition, then, otherwise)


def truth(expr: IntExpr) -> IntExpr:
    """`expr != 0` as a condition."""
    return expr if is_condition(expr) else negate(zero(expr))


def non_negative(expr: IntExpr) -> IntExpr:
    """The condition `expr >= 0`, divided by the common factor of its coefficients."""
    if type(expr) is Const:
        return TRUE if expr.value >= 0 else FALSE
    if type(expr) is Sum:
        factor = gcd(*expr.terms.values())
        if factor > 1:
            expr = linear(expr.constant // factor, {a: c // factor for a, c in expr.terms.items()})
    if is_condition(expr):
        return TRUE
    return op(NonNegative, expr)


def zero(expr: IntExpr) -> IntExpr:
    """The condition `expr == 0`, divided by the common factor of its coefficients, the first of them positive."""
    if type(expr) is Const:
        return FALSE if expr.value else TRUE
    if type(expr) is Sum:
        factor = gcd(*expr.terms.values())
        if expr.constant % factor:
            return FALSE
        if expr.sorted_terms[0][1] < 0:
            factor = -factor
        if factor != 1:
            expr = linear(expr.constant // factor, {a: c // factor for a, c in expr.terms.items()})
    if is_condition(expr):
        return negate(expr)
    return op(Zero, expr)


def negate(condition: IntExpr) -> IntExpr:
    """The opposite condition."""
    if type(condition) is Const:
        return FALSE if condition.value else TRUE
    if type(condition) is NonNegative:
        return non_negative(linear_minus_one(condition.args[0]))
    if type(condition) is Not:
        return condition.args[0]
    if type(condition) is All:
        return any_of(*map(negate, condition.args))
    if type(condition) is Any_:
        return all_of(*map(negate, condition.args))
    if type(condition) is Zero or isinstance(condition, Flag):
        return op(Not, condition)
    return zero(condition)


def linear_minus_one(expr: IntExpr) -> IntExpr:
    """`-expr - 1`."""
    return add(const(-1), expr, -1)


def _combine(cls: type[Op], conditions: Iterable[ExprLike], neutral: Const) -> IntExpr:
    found: set[IntExpr] = set()
    stack = list(map(as_expr, conditions))
    while stack:
        condition = truth(stack.pop())
        if type(condition) is cls:
            stack.extend(condition.args)
        elif type(condition) is not Const:
            found.add(condition)
        elif condition is not neutral:
            return condition
    if any(type(c) is Not and c.args[0] in found for c in found):
        return negate(neutral)
    if not found:
        return neutral
    return next(iter(found)) if len(found) == 1 else op(cls, *_ordered(found))


def all_of(*conditions: ExprLike) -> IntExpr:
    """The conjunction; true where there are none."""
    return _combine(All, conditions, TRUE)


def any_of(*conditions: ExprLike) -> IntExpr:
    """The disjunction; false where there are none."""
    return _combine(Any_, conditions, FALSE)


MAX_EXPONENT = 1 << 16
"""The greatest power of two that is written out."""


def power_of_two(exponent: ExprLike) -> IntExpr:
    """`2 ** exponent`, for an exponent that is not negative."""
    exponent = as_expr(exponent)
    if type(exponent) is Const and exponent.value >= 0:
        if exponent.value > MAX_EXPONENT:
            raise UsageError(f"2 ** {exponent.value} is a number of too many digits")
        return const(1 << exponent.value)
    return op(PowerOfTwo, exponent)


def bit_and(lhs: IntExpr, rhs: IntExpr) -> IntExpr:
    """Bitwise and of two's complement numbers of unbounded length: `x & (2**k - 1)` is `x mod 2**k`."""
    if type(lhs) is Const:
        lhs, rhs = rhs, lhs
    if type(rhs) is Const:
        mask = rhs.value
        if type(lhs) is Const:
            return const(lhs.value & mask)
        if mask == -1:
            return lhs
        if mask == 0:
            return FALSE
        # one run of ones, from bit `low` to bit `high` (or without end): a multiple of 2**low below 2**high
        step = mask & -mask
        run = mask // step + 1
        if not run & (run - 1):
            shifted = floordiv(lhs, const(step))
            return scale(shifted if run == 0 else floormod(shifted, const(run)), step)
    if lhs is rhs:
        return lhs
    return op(BitAnd, *_ordered((lhs, rhs)))


def wrap(expr: IntExpr, bits: int, signed: bool = True) -> IntExpr:
    """`expr` as an integer of `bits` bits holds it: a cast, or the result of arithmetic of this width."""
    half = 1 << (bits - 1) if signed else 0
    return add(floormod(add(expr, const(half)), const(1 << bits)), const(-half))


def not_zero(rhs: IntExpr) -> IntExpr:
    if type(rhs) is Const and not rhs.value:
        raise ZeroDivisionError("an integer expression divided by the constant 0")
    return rhs


OPERATORS.update(
    {
        "+": add,
        "-": lambda a, b: add(a, b, -1),
        "*": multiply,
        "//": lambda a, b: floordiv(a, not_zero(b)),
        "%": lambda a, b: floormod(a, not_zero(b)),
        "<<": lambda a, b: multiply(a, power_of_two(b)),
        ">>": lambda a, b: floordiv(a, power_of_two(b)),
        "&": bit_and,
        "<=": lambda a, b: non_negative(add(b, a, -1)),
        "==": lambda a, b: zero(add(a, b, -1)),
        "!=": lambda a, b: negate(zero(add(a, b, -1))),
    }
)


_REBUILD: dict[type[IntExpr], Callable[..., IntExpr]] = {
    FloorDiv: floordiv,
    FloorMod: floormod,
    TruncDiv: truncdiv,
    TruncMod: truncmod,
    Min: minimum,
    Max: maximum,
    Select: select,
    NonNegative: non_negative,
    Zero: zero,
    Not: negate,
    All: all_of,
    Any_: any_of,
    BitAnd: bit_and,
    PowerOfTwo: power_of_two,
}


def rebuild(cls: type[IntExpr], args: Iterable[IntExpr]) -> IntExpr:
    """The normal form of operation `cls` on `args`."""
    if cls is Product:
        result: IntExpr = TRUE
        for arg in args:
            result = multiply(result, arg)
        return result
    return _REBUILD[cls](*args)
