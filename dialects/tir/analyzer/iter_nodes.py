"""What index maps are made of: iterators, digits of them, and sums of digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...support.arguments import checked
from .build import add, multiply
from .nodes import FALSE, TRUE, ExprLike, FloorDiv, FloorMod, IntExpr, as_expr, op


class IterMapExpr:
    """A digit, or a sum of digits: an integer expression, taken apart."""

    def to_expr(self) -> IntExpr:
        """The expression of the iterators that it is."""
        raise NotImplementedError

    def to_int_expr(self) -> IntExpr:
        """`to_expr`: it may stand wherever an integer expression does."""
        return self.to_expr()


@dataclass(eq=False, init=False)
class IterMark:
    """What digits are taken of: a variable, or a fusion of digits; its values are `0 .. extent - 1`."""

    source: IntExpr
    extent: IntExpr
    digits: tuple[IterSplitExpr, ...] = ()
    overlaps: bool = False
    """Whether values of it are reached in more than one way."""

    def __init__(
        self,
        source: ExprLike | IterSumExpr,
        extent: ExprLike,
        digits: tuple[IterSplitExpr, ...] = (),
        overlaps: bool = False,
    ):
        self.digits = source.args if isinstance(source, IterSumExpr) else digits  # TVM's source is the fusion itself
        self.source = source.to_expr() if isinstance(source, IterSumExpr) else as_expr(source)
        self.extent, self.overlaps = as_expr(extent), overlaps


@dataclass(frozen=True, init=False)
class IterSplitExpr(IterMapExpr):
    """`scale * ((source floordiv lower_factor) mod extent)`."""

    source: IterMark
    lower_factor: IntExpr
    extent: IntExpr
    scale: IntExpr

    def __init__(self, source: IterMark, lower_factor: ExprLike, extent: ExprLike, scale: ExprLike):
        object.__setattr__(self, "source", source)
        for name, value in (("lower_factor", lower_factor), ("extent", extent), ("scale", scale)):
            object.__setattr__(self, name, as_expr(value))

    def times(self, factor: IntExpr) -> IterSplitExpr:
        return IterSplitExpr(self.source, self.lower_factor, self.extent, multiply(self.scale, factor))

    def to_expr(self) -> IntExpr:
        expr = self.source.source
        if self.lower_factor is not TRUE:
            expr = op(FloorDiv, expr, self.lower_factor)
        if multiply(self.lower_factor, self.extent) != self.source.extent:
            expr = op(FloorMod, expr, self.extent)
        return multiply(expr, self.scale)


@dataclass(frozen=True, init=False)
class IterSumExpr(IterMapExpr):
    """A sum of digits and of `base`. An index is one of one digit, or of none where it has one value."""

    args: tuple[IterSplitExpr, ...]
    base: IntExpr

    @checked
    def __init__(self, args: Sequence[IterSplitExpr], base: ExprLike):
        object.__setattr__(self, "args", tuple(args))
        object.__setattr__(self, "base", as_expr(base))

    @property
    def digit(self) -> IterSplitExpr | None:
        """The digit of an index."""
        return self.args[0] if self.args else None

    @property
    def extent(self) -> IntExpr:
        return TRUE if self.digit is None else self.digit.extent

    @property
    def scale(self) -> IntExpr:
        return TRUE if self.digit is None else self.digit.scale

    def to_expr(self) -> IntExpr:
        """The sum as an expression of its iterators (TVM: `normalize_iter_map_to_expr`)."""
        expr = self.base
        for each in self.args:
            expr = add(expr, each.to_expr())
        return expr


@dataclass(frozen=True)
class IterMap:
    """What was found of a map: its indices, or the first reason why it is none."""

    indices: tuple[IterSumExpr, ...] = ()
    reason: str = ""
    padding: IntExpr = FALSE
    """Where the values of iterators are that were made longer so that divisors divide them, and that are reached by
    no iteration: a condition."""

    def __bool__(self) -> bool:
        return not self.reason


class NoMap(Exception):
    """Not a map of splits and fusions; the message says why."""
