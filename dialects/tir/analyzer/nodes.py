"""Integer expressions: immutable, interned, and in normal form from the moment they are built.

An expression over the unbounded integers is a polynomial: `constant + sum(coefficient * atom)`, where an atom is a
variable, a product of atoms, or what no polynomial can say: division, remainder, minimum, maximum, choice, condition.
The builders keep this form, so that `x - x`, `2 * (x + y) - y` and `x + y < x + z` need no rules:

* `Sum` collects equal atoms; products of sums are multiplied out;
* every comparison is `e >= 0` or `e == 0`, divided by the common factor of its coefficients; a condition is 0 or 1;
* a ceiling division is a floor division, a constant divisor is positive, a shift is a multiplication or a division by
  a power of two, `x & (2**k - 1)` is `x mod 2**k`;
* a fixed-width integer is the remainder that it is: `wrap(x, 8)` is `(x + 128) mod 256 - 128`. Only there do widths
  exist: all other arithmetic is exact.

Division by zero has no value: an expression that holds one may be built, and evaluating it raises `ZeroDivisionError`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from threading import Lock
from typing import Any, Protocol, TypeAlias
from weakref import WeakValueDictionary

from typing_extensions import override

from ...support.arguments import ArgumentError
from ...support.forks import hold_over_forks

ExprLike: TypeAlias = "IntExpr | int | AsInteger"
OrderKey: TypeAlias = tuple[Any, ...]


class AsInteger(Protocol):
    """What is an integer expression in another form: a tensor expression's index."""

    def to_int_expr(self) -> IntExpr: ...


_INTERNED: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
"""Every expression that is alive, by its form."""
_RECENT: deque[IntExpr] = deque(maxlen=4096)
"""The last that were made, alive for a while: what is built to see whether a rule applies is often built again."""
_LOCK = Lock()
hold_over_forks(_LOCK)


class NoTruth(ArgumentError):
    """A condition was taken for a truth value."""

    def __init__(self, condition: IntExpr):
        super().__init__(
            f"the truth of `{condition}` is not known here",
            hint="ask an Analyzer, or make an expression of it: `if_then_else`, `all`, `any`, `Not`",
        )


class IntExpr:
    """An integer expression. Equal expressions are one object: `is` compares forms, and `==` makes the condition that
    values are equal (`Equality`)."""

    __slots__ = ("__weakref__", "memo")
    memo: dict[str, Any]

    def _order(self) -> OrderKey:
        raise NotImplementedError

    @property
    def order(self) -> OrderKey:
        """A key that orders expressions by structure, whatever was built before."""
        if (known := self.memo.get("order")) is None:
            known = self.memo["order"] = self._order()
        return known

    @property
    def measure(self) -> tuple[int, int, int]:
        """What simplification makes smaller: the work to evaluate, the magnitude of constants, and how deep within
        operations factors stand, in this order."""
        if (known := self.memo.get("measure")) is None:
            known = self.memo["measure"] = self._measure()
        return known

    def _measure(self) -> tuple[int, int, int]:
        raise NotImplementedError

    @property
    def variables(self) -> frozenset[Var]:
        """The variables that occur in the expression."""
        if (known := self.memo.get("variables")) is None:
            found: frozenset[Var] = (
                self.within | {self}
                if isinstance(self, Var)
                else frozenset[Var]().union(*(arg.variables for arg in children(self)))
            )
            known = self.memo["variables"] = found
        return known

    def __bool__(self) -> bool:
        if type(self) is Const:
            return self.value != 0
        raise NoTruth(self)

    def __add__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["+"](self, as_expr(other))

    __radd__ = __add__

    def __neg__(self) -> IntExpr:
        return OPERATORS["-"](const(0), self)

    def __sub__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["-"](self, as_expr(other))

    def __rsub__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["-"](as_expr(other), self)

    def __mul__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["*"](self, as_expr(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["//"](self, as_expr(other))

    def __rfloordiv__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["//"](as_expr(other), self)

    def __mod__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["%"](self, as_expr(other))

    def __rmod__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["%"](as_expr(other), self)

    def __lshift__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["<<"](self, as_expr(other))

    def __rshift__(self, other: ExprLike) -> IntExpr:
        return OPERATORS[">>"](self, as_expr(other))

    def __and__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["&"](self, as_expr(other))

    def __lt__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["<="](self, OPERATORS["-"](as_expr(other), const(1)))

    def __le__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["<="](self, as_expr(other))

    def __gt__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["<="](as_expr(other), OPERATORS["-"](self, const(1)))

    def __ge__(self, other: ExprLike) -> IntExpr:
        return OPERATORS["<="](as_expr(other), self)

    def __eq__(self, other: object) -> Equality:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _equality(self, other, differ=False)

    def __ne__(self, other: object) -> Equality:  # pyright: ignore[reportIncompatibleMethodOverride]
        return _equality(self, other, differ=True)

    __hash__ = object.__hash__

    def equal(self, other: ExprLike) -> IntExpr:
        """The condition `self == other`."""
        return OPERATORS["=="](self, as_expr(other))

    def differs(self, other: ExprLike) -> IntExpr:
        """The condition `self != other`."""
        return OPERATORS["!="](self, as_expr(other))

    def astype(self, dtype: str) -> IntExpr:
        """`cast(dtype, self)`: what a register of an integer type holds of it."""
        return CONVERSIONS[0](dtype, self)

    @override
    def __repr__(self) -> str:
        return PRINTERS[0](self)


class Equality:
    """What `==` and `!=` make: a condition. Its truth, which Python asks for in `in` and in comparisons of tuples, is
    whether both sides are one object; a number, and what the function of an index map is given, are asked for values,
    so that there the truth is refused where it is not known."""

    __slots__ = ("differ", "lhs", "rhs")

    def __init__(self, lhs: IntExpr, rhs: IntExpr | int, differ: bool):
        self.lhs, self.rhs, self.differ = lhs, rhs, differ

    def to_int_expr(self) -> IntExpr:
        """The condition, as an expression."""
        return self.lhs.differs(self.rhs) if self.differ else self.lhs.equal(self.rhs)

    asobject = to_int_expr

    def astype(self, dtype: str) -> IntExpr:
        """1 where the condition holds, else 0, in an integer type."""
        return self.to_int_expr().astype(dtype)

    def __eq__(self, other: object) -> Equality:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.to_int_expr() == other

    def __ne__(self, other: object) -> Equality:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.to_int_expr() != other

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        if (isinstance(self.rhs, int) or _ASKS_FOR_VALUES.get()) and type(known := self.to_int_expr()) is not Const:
            raise NoTruth(known)
        return (self.lhs is as_expr(self.rhs)) != self.differ

    @override
    def __repr__(self) -> str:
        return repr(self.to_int_expr())


_ASKS_FOR_VALUES = ContextVar("_ASKS_FOR_VALUES", default=False)
"""Whether a user's function of indices is running, in which the truth of `==` is no question of forms."""


@contextmanager
def asking_for_values() -> Generator[None]:
    """Calls a user's function of expressions in it: `if i == j` is refused there as `if i < j` is."""
    token = _ASKS_FOR_VALUES.set(True)
    try:
        yield
    finally:
        _ASKS_FOR_VALUES.reset(token)


def _equality(lhs: IntExpr, rhs: object, *, differ: bool) -> Equality:
    if isinstance(rhs, IntExpr):
        return Equality(lhs, rhs, differ)
    if isinstance(rhs, Integral):
        return Equality(lhs, int(rhs), differ)
    if (convert := getattr(rhs, "to_int_expr", None)) is not None:
        return Equality(lhs, convert(), differ)
    return NotImplemented


OPERATORS: dict[str, Callable[[IntExpr, IntExpr], IntExpr]] = {}
"""The builders of normal forms, by operator: `build` fills it."""
CONVERSIONS: list[Callable[[str, IntExpr], IntExpr]] = []
"""How an expression is converted to an integer type: `variables` fills it."""
PRINTERS: list[Callable[[IntExpr], str]] = []
"""How an expression is shown: `text` fills it."""


class Const(IntExpr):
    __slots__ = ("value",)
    value: int

    @override
    def _order(self) -> OrderKey:
        return (0, self.value)

    @override
    def _measure(self) -> tuple[int, int, int]:
        return 1, abs(self.value), 0


class Var(IntExpr):
    """A variable. `key` tells it from others: a name, an affine dimension or symbol, an axis, an SSA value. `bounds`
    are the values that it can have whatever else is known: those of its type. `within` are other variables that its
    value depends on: of one that stands for `A[i]`, `i`."""

    __slots__ = ("bounds", "key", "name", "number", "within")
    key: Hashable
    name: str
    number: int
    bounds: tuple[int | None, int | None]
    within: frozenset[Var]

    @override
    def _order(self) -> OrderKey:
        return (1, len(self.name), self.name, self.number)

    @override
    def _measure(self) -> tuple[int, int, int]:
        return 2, 0, 0


class Flag(Var):
    """A variable that is 0 or 1."""

    __slots__ = ()


class Sum(IntExpr):
    """`constant + sum(coefficient * atom)`: no coefficient is zero; neither a constant alone nor one atom alone."""

    __slots__ = ("constant", "terms")
    constant: int
    terms: dict[IntExpr, int]

    @property
    def sorted_terms(self) -> tuple[tuple[IntExpr, int], ...]:
        if (known := self.memo.get("sorted")) is None:
            known = self.memo["sorted"] = tuple(sorted(self.terms.items(), key=lambda t: t[0].order))
        return known

    @override
    def _order(self) -> OrderKey:
        return (2, len(self.terms), tuple((a.order, c) for a, c in self.sorted_terms), self.constant)

    @override
    def _measure(self) -> tuple[int, int, int]:
        work, size, deep = len(self.terms) - (not self.constant), abs(self.constant), 0
        for atom, factor in self.terms.items():
            inner = atom.measure
            work += inner[0] + (abs(factor) != 1)
            size += inner[1] + 2 * abs(factor) + (factor < 0)
            deep += inner[2] + (factor != 1)
        return work, size, deep


class Op(IntExpr):
    """An operation on other expressions. `weight` is what it costs in `measure`."""

    __slots__ = ("args",)
    args: tuple[IntExpr, ...]
    rank = 3
    weight = 4

    @override
    def _order(self) -> OrderKey:
        return (self.rank, len(self.args), *(a.order for a in self.args))

    @override
    def _measure(self) -> tuple[int, int, int]:
        work, size, deep = self.weight * max(1, len(self.args) - 1), 0, 0
        for arg in self.args:
            inner = arg.measure
            work, size, deep = work + inner[0], size + inner[1], deep + 2 * inner[2]
        return work, size, deep


class Product(Op):
    """A product of two or more atoms."""

    __slots__ = ()
    rank, weight = 3, 5


class FloorDiv(Op):
    __slots__ = ()
    rank, weight = 4, 8


class FloorMod(Op):
    __slots__ = ()
    rank, weight = 5, 8


class TruncDiv(Op):
    __slots__ = ()
    rank, weight = 6, 12


class TruncMod(Op):
    __slots__ = ()
    rank, weight = 7, 12


class Min(Op):
    __slots__ = ()
    rank, weight = 8, 4


class Max(Op):
    __slots__ = ()
    rank, weight = 9, 4


class Select(Op):
    """`args[1]` where the condition `args[0]` holds, else `args[2]`."""

    __slots__ = ()
    rank, weight = 10, 4


class NonNegative(Op):
    """The condition `args[0] >= 0`."""

    __slots__ = ()
    rank, weight = 11, 2


class Zero(Op):
    """The condition `args[0] == 0`."""

    __slots__ = ()
    rank, weight = 12, 2


class Not(Op):
    __slots__ = ()
    rank, weight = 13, 1


class All(Op):
    """The conjunction of conditions."""

    __slots__ = ()
    rank, weight = 14, 2


class Any_(Op):
    """The disjunction of conditions."""

    __slots__ = ()
    rank, weight = 15, 2


class BitAnd(Op):
    """Bitwise and of two's complement numbers of unbounded length."""

    __slots__ = ()
    rank, weight = 16, 4


class PowerOfTwo(Op):
    """`2 ** args[0]`, for an exponent that is not negative."""

    __slots__ = ()
    rank, weight = 17, 2


CONDITIONS = (NonNegative, Zero, Not, All, Any_)


def is_condition(expr: IntExpr) -> bool:
    """Whether `expr` is 0 or 1 by its form."""
    return type(expr) in CONDITIONS or isinstance(expr, Flag) or (type(expr) is Const and expr.value in (0, 1))


def _intern(key: Hashable, made: IntExpr) -> Any:
    made.memo = {}
    _RECENT.append(made)
    with _LOCK:
        return _INTERNED.setdefault(key, made)


_SMALL: dict[int, Const] = {}


def const(value: int) -> Const:
    """The integer `value`."""
    if (known := _SMALL.get(value)) is not None:
        return known
    if (known := _INTERNED.get(value)) is not None:
        return known
    made = Const()
    made.value = int(value)
    return _intern(int(value), made)


def var(
    key: Hashable,
    name: str | None = None,
    kind: type[Var] = Var,
    bounds: tuple[int | None, int | None] = (None, None),
    number: int = 0,
    within: frozenset[Var] = frozenset(),
) -> IntExpr:
    """The variable with identity `key`; `number` orders those of one name."""
    made = kind()
    made.within = within
    made.key, made.name, made.number = key, str(key) if name is None else name, number
    made.bounds = (0, 1) if issubclass(kind, Flag) else bounds
    return _intern((kind, key), made)


def op(cls: type[Op], *args: IntExpr) -> IntExpr:
    """An operation as it is, without folding."""
    key = (cls, args)
    if (known := _INTERNED.get(key)) is not None:
        return known

    made = cls()
    made.args = args
    return _intern(key, made)


_SMALL.update((value, const(value)) for value in range(-16, 257))
TRUE, FALSE = const(1), const(0)


def as_expr(value: ExprLike) -> IntExpr:
    """`value` as an expression.

    Raises:
        ArgumentError: it is none.
    """
    if isinstance(value, IntExpr):
        return value
    if isinstance(value, int):
        return const(value)
    if (convert := getattr(value, "to_int_expr", None)) is None:
        raise ArgumentError(f"no integer expression: {value!r}", hint="an expression or an int is one")
    return convert()


def intern_sum(constant: int, terms: dict[IntExpr, int]) -> Sum:
    """The sum as it is; `terms` is given away."""
    key = (constant, frozenset(terms.items()))
    if (known := _INTERNED.get(key)) is not None:
        return known

    made = Sum()
    made.constant, made.terms = constant, terms
    return _intern(key, made)


def children(expr: IntExpr) -> Iterator[IntExpr]:
    """The expressions directly in `expr`."""
    if isinstance(expr, Op):
        yield from expr.args
    elif isinstance(expr, Sum):
        yield from expr.terms
