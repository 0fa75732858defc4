"""Extents that are symbols: `n = te.var("n")`, and what can be made of it by index arithmetic, as `n * 4 + 1`.

A `Dim` is an integer or such an expression. What a symbol is worth is known when a computation runs; it is not
negative.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from math import gcd
from typing import cast
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType, i1

from ..support.arguments import checked
from ..support.diagnostics import UsageError
from ..support.hints import isa
from ..tir.analyzer import Analyzer, IntExpr, ceildiv, maximum, minimum
from ..tir.analyzer import Const as Integer
from ..tir.analyzer import Var as Variable
from ..tir.analyzer import const as integer
from ..tir.analyzer import var as variable
from ..tir.analyzer.build import floordiv, floormod, parts
from ..tir.analyzer.nodes import FloorDiv, FloorMod, Max, Min, Op, Product
from .expr import Binary, Const, Dim, Equality, Expr, ExprLike, Slot, Var, const
from .factors import exact_quotient
from .kinds import BinaryKind, index

_RANGES: tuple[tuple[int | None, int | None], ...] = ((None, None), (0, None))
"""The values of a symbol, and of one that is a size."""
_VALUES: dict[BinaryKind, Callable[[int, int], int]] = {
    BinaryKind.ADD: operator.add,
    BinaryKind.SUB: operator.sub,
    BinaryKind.MUL: operator.mul,
    BinaryKind.FLOORDIV: int.__floordiv__,
    BinaryKind.FLOORMOD: operator.mod,
    BinaryKind.MIN: min,
    BinaryKind.MAX: max,
}


class _Arithmetic(Expr):
    """What a symbol, and what is made of symbols, has of operators: with extents they give extents in their normal
    form, of which there is one object for each, so that the truth of `==` is whether two are surely equal.

    A comparison that has one answer wherever the symbols are at least 1 gives it (where one is 0, there are no
    elements); any other has no truth value, as expressions have none.
    """

    def __add__(self, other: ExprLike) -> Expr:
        return super().__add__(other) if (dim := _as_extent(other)) is None else _expr(_form(self) + _form(dim))

    __radd__ = __add__

    def __sub__(self, other: ExprLike) -> Expr:
        dim = _as_extent(other)
        return super().__sub__(other) if dim is None else _expr(_form(self) - _form(dim))

    def __rsub__(self, other: ExprLike) -> Expr:
        dim = _as_extent(other)
        return super().__rsub__(other) if dim is None else _expr(_form(dim) - _form(self))

    def __mul__(self, other: ExprLike) -> Expr:
        return super().__mul__(other) if (dim := _as_extent(other)) is None else _expr(_form(self) * _form(dim))

    __rmul__ = __mul__

    def __floordiv__(self, other: ExprLike) -> Expr:
        dim = _as_extent(other)
        return super().__floordiv__(other) if dim is None else _quotient(BinaryKind.FLOORDIV, self, dim)

    def __rfloordiv__(self, other: ExprLike) -> Expr:
        dim = _as_extent(other)
        return super().__rfloordiv__(other) if dim is None else _quotient(BinaryKind.FLOORDIV, dim, self)

    def __mod__(self, other: ExprLike) -> Expr:
        dim = _as_extent(other)
        return super().__mod__(other) if dim is None else _quotient(BinaryKind.FLOORMOD, self, dim)

    def __neg__(self) -> Expr:
        return _expr(-_form(self))

    def __eq__(self, other: object) -> Equality:
        return self._equality(BinaryKind.EQ, other)

    def __ne__(self, other: object) -> Equality:
        return self._equality(BinaryKind.NE, other)

    __hash__ = object.__hash__

    def _equality(self, kind: BinaryKind, other: object) -> Equality:
        if (dim := _as_extent(other)) is None:
            return super().__eq__(other) if kind == BinaryKind.EQ else super().__ne__(other)
        if dim == DYNAMIC_INDEX:  # what stands in types for an extent that is not known is equal to none
            return cast("Equality", kind == BinaryKind.NE)
        if self is dim or _sign(_minus(self, dim)) or _sign(_minus(dim, self)):
            return cast("Equality", (self is dim) == (kind == BinaryKind.EQ))
        return Equality(kind, self, dim_expr(dim), i1)

    def __lt__(self, other: ExprLike) -> Expr:
        return _compared(other, lambda dim: _sign(_minus(dim, self)), super().__lt__)

    def __gt__(self, other: ExprLike) -> Expr:
        return _compared(other, lambda dim: _sign(_minus(self, dim)), super().__gt__)

    def __le__(self, other: ExprLike) -> Expr:
        return _compared(other, lambda dim: _not(_sign(_minus(self, dim))), super().__le__)

    def __ge__(self, other: ExprLike) -> Expr:
        return _compared(other, lambda dim: _not(_sign(_minus(dim, self))), super().__ge__)


@dataclass(frozen=True, eq=False)
class Symbol(_Arithmetic, Var):
    """An extent that is known when the computation runs. One of `least` 0 is often that, and no comparison rests on its
    being more. What a person named (`te.var`) may stand for a number of either sign, too: comparisons of it are
    conditions, unless they hold, or do not, for all integers; a `size` (`te.size_var`) is not negative."""

    least: int = 1
    named: bool = False
    size: bool = False
    told: bool = False
    """Whether it is a number that somebody tells: it may be below 0, and others are made of it as of any integer. Only
    what an extent is made of it is asked not to be below 0."""


@dataclass(frozen=True, eq=False)
class Compound(_Arithmetic, Binary):
    """What is made of symbols."""


_SIZES: WeakKeyDictionary[Slot, Symbol] = WeakKeyDictionary()
"""The symbol that a variable (`tir.Var`) is which stands in an extent."""


def _as_extent(other: object) -> Dim | None:
    match other:
        case Slot():
            return _SIZES.get(other)
        case bool():
            return None
        case int() | _Arithmetic():
            return other
        case Const(value) if other.type == index:
            return int(value)
        case _:
            return None


def _compared(other: ExprLike, decide: Callable[[Dim], bool | None], otherwise: Callable[[ExprLike], Expr]) -> Expr:
    """The truth, which Python takes for what it is; or the expression."""
    dim = _as_extent(other)
    answer = None if dim is None else decide(dim)
    return otherwise(other) if answer is None else cast("Expr", answer)


def _expr(form: IntExpr) -> Expr:
    """The extent of a form: an integer, which computes as one, or an expression."""
    return cast("Expr", _written(_normal(form)))


def _quotient(kind: BinaryKind, a: Dim, b: Dim) -> Expr:
    """A quotient or remainder; where nothing says that the divisor is positive, or that it divides, it is no extent,
    but may be an expression of what a person named.

    Raises:
        TypeError: it is neither.
    """
    try:
        return _expr((_divided if kind == BinaryKind.FLOORDIV else _remainder)(_form(a), _form(b)))
    except TypeError:
        if not any(_is_named(symbol) for symbol in variables([a, b])):
            raise
        return Binary(kind, dim_expr(a), dim_expr(b), index)


def _minus(a: Dim, b: Dim) -> IntExpr:
    return _form(a) - _form(b)


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _sign(form: IntExpr) -> bool | None:
    """Whether it is positive, if that is one for all symbols from 1 on, and for all integers that a person named."""
    low, high = bounds(form) if not any(_is_named(each.key) for each in form.variables) else _for_all(form)
    if low is not None and low > 0:
        return True
    return False if high is not None and high <= 0 else None


def _is_named(symbol: object) -> bool:
    return isinstance(symbol, Symbol) and symbol.named


@lru_cache(maxsize=1 << 12)
def _for_all(form: IntExpr) -> tuple[int | None, int | None]:
    """Least and greatest value, whatever integers those symbols are that a person named."""
    known: dict[IntExpr, tuple[int | None, int | None]] = {
        each: (least_of(each.key), None) for each in form.variables if not _is_named(each.key)
    }
    return Analyzer.of(known).const_int_bound(form)


@lru_cache(maxsize=1 << 12)
def bounds(form: IntExpr) -> tuple[int | None, int | None]:
    """Least and greatest value where the symbols are at least 1, or what they say."""
    return Analyzer.of({symbol: (least_of(symbol.key), None) for symbol in form.variables}).const_int_bound(form)


def least_of(symbol: object) -> int | None:
    """The least that a symbol is, where nothing else is known; `None` of a number that somebody tells."""
    return (None if symbol.told else symbol.least) if isinstance(symbol, Symbol) else 1


def is_told(symbol: object) -> bool:
    """Whether a symbol is a number that somebody tells, which may be below 0."""
    return isinstance(symbol, Symbol) and symbol.told


@checked
def var(name: str = "tindex", dtype: str = "int32") -> Var:
    """A symbol: an extent that is known when the computation runs. Counterpart of TVM's `te.var`.

    `dtype` is `int32`, `int64` or `index`; the symbol is an `index`, as wide as the machine's.

    Raises:
        TypeError: `dtype` is another.
    """
    if dtype not in ("int32", "int64", "index"):
        raise TypeError(f"te.var: an extent is int32, int64 or index, not {dtype!r}")
    return Symbol(name)


def data_var(name: str) -> Var:
    """A symbol that data decides, which may well be 0."""
    return Symbol(name, 0)


def told_var(name: str) -> Var:
    """A symbol that is a number that somebody tells."""
    return Symbol(name, told=True)


@checked
def size_var(name: str = "size", dtype: str = "int32") -> Var:
    """A symbol that a person named, and which is not negative."""
    var(name, dtype)
    return Symbol(name, named=True, size=True)


def named_var(name: str, dtype: str = "int32") -> Var:
    """A symbol that a person named.

    Raises:
        TypeError: `dtype` is no extent's.
    """
    var(name, dtype)
    return Symbol(name, named=True)


def is_number(dim: Dim) -> bool:
    """Whether an extent is known before the computation runs."""
    return isinstance(dim, int)


def as_dim(dim: object) -> Dim:
    """`dim`, if an extent can be that.

    Raises:
        TypeError: it is neither an integer nor index arithmetic on symbols and integers.
    """
    match dim:
        case bool():
            pass
        case int():
            if dim < 0:
                raise TypeError("te: an extent is not below 0: it is known only when the computation runs")
            return dim
        case Const(value) if isinstance(dim.type, IntegerType | IndexType) and value >= 0:
            return int(value)
        case Expr() if (found := _sized(dim)) is not None:
            return simplified(found)
        case _:
            pass
    raise TypeError(f"te: an extent is an integer, or index arithmetic on te.var's, not {dim!r}")


def _sized(expr: Expr) -> Expr | None:
    """Index arithmetic on symbols, with the symbols that its variables are for these; `None` where it is no such."""
    match expr:
        case Var():
            return expr
        case Slot() if _is_of_integers(expr):
            return _SIZES.setdefault(expr, Symbol(expr.name, named=True))
        case Const(value) if _is_of_integers(expr):
            return const(int(value), index)
        case Binary(kind, lhs, rhs) if kind in _VALUES:
            one, other = _sized(lhs), _sized(rhs)
            return None if one is None or other is None else Binary(kind, one, other, index)
        case _:
            return None


def _is_of_integers(expr: Expr) -> bool:
    return isa(expr.type, IntegerType | IndexType) and expr.type != i1


def dim_expr(dim: Dim) -> Expr:
    """An extent as an index expression."""
    return const(dim, index) if isinstance(dim, int) else dim


def product(dims: Iterable[Dim]) -> Dim:
    """The product of extents."""
    total: Dim = 1
    for dim in dims:
        total = as_dim(dim_expr(total) * dim_expr(dim))
    return total


def variables(dims: Iterable[Dim]) -> list[Var]:
    """The symbols in `dims`, each once, in order."""
    found: dict[Var, None] = {}
    stack: list[Dim] = list(dims)[::-1]
    while stack:
        match stack.pop():
            case Var() as symbol:
                found[symbol] = None
            case Binary(_, lhs, rhs):
                stack += [rhs, lhs]
            case _:
                pass
    return list(found)


def value_of(dim: Dim, sizes: Mapping[Var, int]) -> int:
    """What an extent is where symbols have `sizes`; not below zero.

    Raises:
        KeyError: a symbol has no size.
        UsageError: it would be divided by what is not positive.
    """
    return max(0, _value(dim, sizes))


def _value(dim: Dim, sizes: Mapping[Var, int]) -> int:
    match dim:
        case int():
            return dim
        case Var():
            if dim not in sizes:
                raise KeyError(f"te: it does not follow from the inputs what '{dim.name}' is")
            return sizes[dim]
        case Const(value):
            return int(value)
        case Binary(kind, lhs, rhs):
            one, other = _value(lhs, sizes), _value(rhs, sizes)
            if other < 1 and kind in (BinaryKind.FLOORDIV, BinaryKind.FLOORMOD):
                raise UsageError(f"te: {to_text(dim)} is no extent where {to_text(rhs)} is {other}")
            return _VALUES[kind](one, other)
        case _:
            raise TypeError(f"te: {type(dim).__name__} is no extent")


def linear(dim: Dim) -> tuple[dict[Var, int], int] | None:
    """`dim` as a sum of symbols times integers and an integer; `None` where it is not of this form."""
    constant, terms = parts(_form(dim))
    found = {atom.key: factor for atom, factor in terms.items() if isinstance(atom, Variable)}
    return (cast("dict[Var, int]", found), constant) if len(found) == len(terms) else None


def terms_of(dim: Dim) -> tuple[list[tuple[Dim, int]], int]:
    """`dim` as a sum of what is no sum, each with a factor, and an integer."""
    constant, terms = parts(_form(dim))
    return [(_written(atom), factor) for atom, factor in terms.items()], constant


def coefficient(dim: Dim, symbol: Var) -> int | None:
    """What a symbol is multiplied by in a sum; `None` where it stands within another term."""
    _, terms = parts(_form(dim))
    found = 0
    for atom, factor in terms.items():
        if isinstance(atom, Variable) and atom.key is symbol:
            found = factor
        elif any(variable.key is symbol for variable in atom.variables):
            return None
    return found


def _form(dim: Dim) -> IntExpr:
    """The normal form of an extent: equal ones are equal for all values of the symbols."""
    return integer(dim) if isinstance(dim, int) else _form_of(dim)


@lru_cache(maxsize=1 << 14)
def _form_of(dim: Expr) -> IntExpr:
    match dim:
        case Var(name):
            return variable(dim, name, Variable, _RANGES[isinstance(dim, Symbol) and dim.size])
        case Const(value):
            return integer(int(value))
        case Binary(kind, lhs, rhs) if kind in _BUILD:
            a, b = _form(lhs), _form(rhs)
            if kind not in (BinaryKind.FLOORDIV, BinaryKind.FLOORMOD) or _divides(b):
                return _normal(_BUILD[kind](a, b))
        case _:
            pass
    raise TypeError(f"te: {to_text(dim)} is no extent: extents are divided by positive numbers")


_BUILD: dict[BinaryKind, Callable[[IntExpr, IntExpr], IntExpr]] = {
    BinaryKind.ADD: lambda a, b: a + b,
    BinaryKind.SUB: lambda a, b: a - b,
    BinaryKind.MUL: lambda a, b: a * b,
    BinaryKind.FLOORDIV: floordiv,
    BinaryKind.FLOORMOD: floormod,
    BinaryKind.MIN: minimum,
    BinaryKind.MAX: maximum,
}
_KIND: dict[type[IntExpr], BinaryKind] = {
    Product: BinaryKind.MUL,
    FloorDiv: BinaryKind.FLOORDIV,
    FloorMod: BinaryKind.FLOORMOD,
    Min: BinaryKind.MIN,
    Max: BinaryKind.MAX,
}
"""What an operation of the analyzer is called here."""


def _is_positive(form: IntExpr) -> bool:
    """Whether it is above zero whatever the symbols are: a number, or the greater of such and something else."""
    if isinstance(form, Integer):
        return form.value > 0
    return isinstance(form, Max) and any(map(_is_positive, form.args))


def _divides(form: IntExpr) -> bool:
    """Whether extents are divided by it: a positive number, or what a person named, which is positive at each call."""
    return _is_positive(form) or (bool(form.variables) and all(_is_named(each.key) for each in form.variables))


@lru_cache(maxsize=1 << 14)
def _normal(form: IntExpr) -> IntExpr:
    return Analyzer().simplify(form)


def _divided(a: IntExpr, b: IntExpr) -> IntExpr:
    """A quotient by a positive number, or one that comes out even: `n * m * 4` by `n` is `m * 4`; or by both, one after
    the other: `n * m` by `n * 2` is `m // 2`; or by what a person named.

    Raises:
        TypeError: it is none of these.
    """
    if _is_positive(b):
        return floordiv(a, b)
    if a is b:
        return integer(1)
    if (found := exact_quotient(a, b)) is not None:
        return found
    constant, terms = parts(b)
    if (number := gcd(constant, *terms.values())) > 1 and (found := exact_quotient(a * number, b)) is not None:
        return floordiv(found, integer(number))
    if _divides(b):
        return floordiv(a, b)
    raise TypeError(
        f"te: whether {to_text(_written(b))} divides {to_text(_written(a))} is known only when the computation runs"
    )


def _remainder(a: IntExpr, b: IntExpr) -> IntExpr:
    if _is_positive(b):
        return floormod(a, b)
    found = _divided(a, b)
    return floormod(a, b) if isinstance(found, FloorDiv) and found.args[1] is b else a - found * b


def simplified(dim: Dim) -> Dim:
    """`dim` in its normal form: an integer where it is one, whatever its symbols are."""
    return dim if isinstance(dim, int | Var) else _written(_form(dim))


@lru_cache(maxsize=1 << 16)
def _written(form: IntExpr) -> Dim:
    """The extent of a normal form: one object for each."""
    constant, terms = parts(form)
    total: Expr | None = None
    for one, factor in sorted(((_atom(a), f) for a, f in terms.items()), key=lambda t: (t[1] < 0, to_text(t[0]))):
        term = one if factor == 1 else _compound(BinaryKind.MUL, one, const(factor, index))
        total = term if total is None else _compound(BinaryKind.ADD, total, term)
    if total is None:
        return constant
    return total if not constant else _compound(BinaryKind.ADD, total, const(constant, index))


def _compound(kind: BinaryKind, lhs: Expr, rhs: Expr) -> Expr:
    return Compound(kind, lhs, rhs, index)


def _atom(atom: IntExpr) -> Expr:
    if isinstance(atom, Variable):
        assert isinstance(atom.key, Var)
        return atom.key
    assert isinstance(atom, Op)
    kind = _KIND[type(atom)]
    sides = [dim_expr(_written(arg)) for arg in atom.args]
    if kind not in (BinaryKind.FLOORDIV, BinaryKind.FLOORMOD):
        sides.sort(key=to_text)
    return reduce(lambda a, b: _compound(kind, a, b), sides)


def form_of(dim: Dim) -> IntExpr:
    """An extent as an expression of the analyzer's, whose variables are symbols.

    Raises:
        TypeError: it is divided by what is no positive number.
    """
    return _form(dim)


def written(form: IntExpr) -> Dim:
    """The extent that an expression of the analyzer's, over symbols, is."""
    return _written(_normal(form))


def same(a: Dim, b: Dim) -> bool:
    """Whether two extents are surely equal, whatever their symbols are."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return a is b or _form(a) is _form(b)


def to_text(dim: Dim) -> str:
    """How a message writes an extent."""
    match dim:
        case int():
            return str(dim)
        case Var(name):
            return name
        case Const(value):
            return str(value)
        case Binary(kind, lhs, rhs):
            sign = _SIGNS.get(kind)
            one, other = to_text(lhs), to_text(rhs)
            return f"({one} {sign} {other})" if sign else f"{kind.value}({one}, {other})"
        case _:
            return type(dim).__name__


_SIGNS = {
    BinaryKind.ADD: "+", BinaryKind.SUB: "-", BinaryKind.MUL: "*", BinaryKind.FLOORDIV: "//", BinaryKind.FLOORMOD: "%",
}  # fmt: skip


def as_signed(value: Dim | float) -> Dim | float:
    """What index arithmetic has given, which may be below zero: an integer where it is one."""
    return int(value.value) if isinstance(value, Const) else value


def ceil_divided(dim: Dim, divisor: Dim) -> Dim:
    """How many steps of `divisor`, a positive number or what a person named, it takes to come to `dim`.

    Raises:
        TypeError: the divisor is neither.
    """
    if not isinstance(divisor, int):
        form = _form(divisor)
        if not _divides(form):
            raise TypeError(f"te: {to_text(divisor)} is no extent: extents are divided by positive numbers")
        return _written(_normal(_divided(_form(dim) + form - 1, form)))
    return _written(_normal(ceildiv(_form(dim), divisor)))


def substituted(dim: Dim, values: Mapping[Var, Dim]) -> Dim:
    """`dim` with symbols replaced."""
    match dim:
        case Var():
            return values.get(dim, dim)
        case Compound(kind, lhs, rhs):
            a, b = substituted(lhs, values), substituted(rhs, values)
            return simplified(Compound(kind, dim_expr(a), dim_expr(b), index))
        case _:
            return dim


def quotient(a: Dim, b: Dim) -> Dim:
    """`a / b`, rounded down: of what comes out even but for a number in `b`.

    Raises:
        TypeError: whether it does is not known.
    """
    return _written(_normal(_divided(_form(a), _form(b))))
