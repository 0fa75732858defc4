"""Images read at places that are data, as formulas of differentiable operators: what the gradients of operators that
interpolate go through.

Places are f32 terms, one for each axis, which broadcast with one another; so are values, as in the operators'
`compute`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Literal, TypeAlias

from xdsl.dialects.builtin import f32, i32

from .layout import Layout

if TYPE_CHECKING:
    from .gradient import Term

Weights: TypeAlias = "Callable[[Term], Sequence[Term]]"


@dataclass(frozen=True)
class Image:
    """A tensor that is read at places."""

    data: Term
    layout: Layout

    @property
    def extents(self) -> Mapping[str, int]:
        """How large each axis is."""
        return self.layout.extents(self.data.shape)

    def numbers(self, letter: str, count: int) -> Term:
        """0, 1, ... along the axis `letter` of results in this layout."""
        import numpy as np

        return self.data.constant(np.arange(count).reshape(self._along(letter, count)), i32)

    def along(self, letter: str, vector: Term) -> Term:
        """A vector in a shape that broadcasts along the axis `letter`."""
        return vector.reshape(self._along(letter, vector.shape[0]))

    def _along(self, letter: str, count: int) -> list[int]:
        return [count if name == letter else 1 for name in self.layout.names]

    def read(self, at: Mapping[str, Term]) -> Term:
        """The elements at indices by axis, each brought into its axis; of positions, at their whole parts."""
        place: Term | None = None
        for letter in self.layout.names:
            extent = self.extents[letter]
            index = clipped(at[letter], 0, extent - 1).cast(i32)
            place = index if place is None else place * extent + index
        assert place is not None
        total = reduce(lambda a, b: a * b, self.data.shape, 1)
        return self.data.reshape([total]).op("take", place, mode="clip").cast(f32)


def clipped(x: Term, low: float, high: float) -> Term:
    """Numbers brought into a range."""
    return x.op("maximum", low).op("minimum", high)


def both(conditions: Sequence[Term]) -> Term:
    """Where all conditions hold."""
    return reduce(lambda a, b: a.op("logical_and", b), conditions)


def linear_weights(t: Term) -> Sequence[Term]:
    """The weights of the two elements around a position `t` above the first."""
    return 1.0 - t, t


def cubic_term_weights(t: Term, alpha: float) -> Sequence[Term]:
    """The weights of the four elements around a position `t` above the second. Source: Keys, Cubic convolution
    interpolation for digital image processing, IEEE Trans. ASSP 29 (1981)."""

    def near(d: Term) -> Term:
        return ((alpha + 2) * d - (alpha + 3)) * d * d + 1.0

    def far(d: Term) -> Term:
        return ((alpha * d - 5 * alpha) * d + 8 * alpha) * d - 4 * alpha

    rest = 1.0 - t
    return far(t + 1.0), near(t), near(rest), far(rest + 1.0)


def interpolated(
    read: Callable[..., Term],
    positions: Sequence[Term],
    weights: Weights = linear_weights,
    first: int = 0,
    how: Literal["sum", "max"] = "sum",
) -> Term:
    """The sum (or maximum) of `read` at the elements around positions, each with the product of its axes' weights,
    which are those of the elements from `first` on, counted from the one at or below the position.

    The elements around stand along axes of their own, before all others, so that all are read at once.
    """
    import numpy as np

    axes = range(len(positions))
    total = max(len(p.shape) for p in positions)
    at: list[Term] = []
    shares: list[Term] = []
    for axis, position in enumerate(positions):
        low = position.op("floor")
        each = weights(position - low)
        lead = [1] * (len(axes) + total - len(position.shape))
        taps = np.arange(first, first + len(each)).reshape([len(each) if d == axis else 1 for d in axes] + [1] * total)
        at.append(low.reshape([*lead, *low.shape]) + position.constant(taps, f32))
        rows = [weight.reshape([*lead, *weight.shape]) for weight in each]
        shares.append(rows[0].concatenated(rows[1:], axis))
    each = reduce(lambda a, b: a * b, shares, read(*at))
    return each.sum(axes) if how == "sum" else each.op("max", axis=[*axes])
