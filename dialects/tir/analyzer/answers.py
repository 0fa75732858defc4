"""What the analyzer answers, under TVM's names: constant bounds, remainders, and sets of integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from ...support.arguments import ArgumentError, checked
from .nodes import Const, ExprLike, IntExpr, as_expr, const


class ConstIntBound(NamedTuple):
    """Least and greatest value, both included; `None` where there is no bound."""

    min_value: int | None
    max_value: int | None

    NEG_INF = None
    POS_INF = None


class ModularSet(NamedTuple):
    """The values `coeff * k + base`; with `coeff == 0` there is one, `base`."""

    coeff: int
    base: int


@dataclass(frozen=True)
class Infinity:
    """An end that a set of integers does not have."""

    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


NEG_INF, POS_INF = Infinity("neg_inf"), Infinity("pos_inf")

End: TypeAlias = "IntExpr | Infinity"


@runtime_checkable
class EvenlySpaced(Protocol):
    """A vector of `base`, `base + stride`, ... in `lanes` lanes."""

    @property
    def base(self) -> ExprLike: ...
    @property
    def stride(self) -> ExprLike: ...
    @property
    def lanes(self) -> int: ...


class IntervalSet:
    """The integers from `min_value` to `max_value`, both included: expressions, or infinite.

    Where there are none, the least is `pos_inf` and the greatest `neg_inf`.
    """

    __slots__ = ("max_value", "min_value")
    min_value: End
    max_value: End

    def __init__(self, min_value: ExprLike | Infinity | None, max_value: ExprLike | Infinity | None):
        self.min_value = NEG_INF if min_value is None else _end(min_value)
        self.max_value = POS_INF if max_value is None else _end(max_value)

    @staticmethod
    def nothing() -> IntervalSet:
        """The empty set."""
        return IntervalSet(POS_INF, NEG_INF)

    @staticmethod
    def everything() -> IntervalSet:
        """All integers."""
        return IntervalSet(None, None)

    @staticmethod
    def single_point(value: ExprLike) -> IntervalSet:
        """The set of one value."""
        return IntervalSet(value, value)

    @staticmethod
    @checked
    def vector(value: EvenlySpaced) -> IntervalSet:
        """From the least to the greatest lane of a vector whose lanes are evenly spaced (`tir.Ramp`), by a number."""
        first, step = as_expr(value.base), as_expr(value.stride)
        last = first + step * (value.lanes - 1)
        if not isinstance(step, Const):
            raise ArgumentError(f"no number is the stride of {value}")
        return IntervalSet(*((last, first) if step.value < 0 else (first, last)))

    def is_nothing(self) -> bool:
        """Whether it has no value, by its form."""
        if isinstance(self.min_value, Const) and isinstance(self.max_value, Const):
            return self.min_value.value > self.max_value.value
        return self.min_value is POS_INF or self.max_value is NEG_INF

    def is_everything(self) -> bool:
        """Whether it has all values."""
        return self.min_value is NEG_INF and self.max_value is POS_INF

    def is_single_point(self) -> bool:
        """Whether it has one value, by its form."""
        return isinstance(self.min_value, IntExpr) and self.min_value is self.max_value

    @property
    def ends(self) -> tuple[IntExpr | None, IntExpr | None]:
        """Least and greatest value; `None` for infinite ones, and nowhere else."""
        low, high = self.min_value, self.max_value
        return low if isinstance(low, IntExpr) else None, high if isinstance(high, IntExpr) else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IntervalSet):
            return NotImplemented
        return self.min_value is other.min_value and self.max_value is other.max_value

    def __hash__(self) -> int:
        return hash((self.min_value, self.max_value))

    def __repr__(self) -> str:
        return f"[{self.min_value}, {self.max_value}]"


IntSet = IntervalSet


def _end(value: ExprLike | Infinity) -> End:
    return value if isinstance(value, Infinity) else as_expr(value)


class Range:
    """`extent` integers from `min` on: `Range(extent)`, or `Range(begin, end)` without `end`."""

    __slots__ = ("extent", "min")
    min: IntExpr
    extent: IntExpr

    def __init__(self, begin: ExprLike, end: ExprLike | None = None):
        low, stop = (const(0), as_expr(begin)) if end is None else (as_expr(begin), as_expr(end))
        self.min, self.extent = low, stop - low

    @staticmethod
    def from_min_extent(min: ExprLike, extent: ExprLike) -> Range:
        """`extent` integers from `min` on."""
        low = as_expr(min)
        return Range(low, low + extent)

    @property
    def last(self) -> IntExpr:
        """The greatest value."""
        return self.min + self.extent - 1

    def script(self, *, verbose_expr: bool = False) -> str:
        """The range as TVM's printer writes it: `T.Range(0, 16)`."""
        return f"T.Range({self.min}, {self.min + self.extent})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and self.min is other.min and self.extent is other.extent

    def __hash__(self) -> int:
        return hash((self.min, self.extent))

    def __repr__(self) -> str:
        return f"Range({self.min}, {self.min + self.extent})"
