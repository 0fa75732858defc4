"""Winograd's minimal filtering: a tile of a 3x3 convolution from fewer products than it has taps.

`F(m x m, 3 x 3)` computes `m * m` neighbouring results from `a * a` products, where `a = m + 2`, and not `9 * m * m`:

    Y = A^T [ (G w G^T) * (B^T d B) ] A

for a tile `d` of `a x a` data and the taps `w`. The products are elementwise, so those of all input channels are summed
before the last transformation, and each of the `a * a` points of a tile is a product of matrices by itself.

Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016), with the points 0, 1, -1 and, for
`m = 4`, 2 and -2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .. import te
from ..support.machine_model import MachineModel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .planes import Planes

TAPS = 3
"""The extent of the kernels that there are transformations for."""


@dataclass(frozen=True)
class Filtering:
    """`F(m, 3)`, the matrices by rows."""

    tile: int
    data: tuple[tuple[int, ...], ...]
    """B^T, of `a x a`."""
    weight: tuple[tuple[float, ...], ...]
    """G, of `a x 3`."""
    result: tuple[tuple[int, ...], ...]
    """A^T, of `m x a`."""

    @property
    def points(self) -> int:
        """`a`, the extent of a tile of data."""
        return self.tile + TAPS - 1

    def transform_weight(self, weight: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """`G w G^T` of weights `[O, I, 3, 3]`, as `[a, a, O, I]`: sums of f64, rounded to the weights' own type."""
        import numpy as np

        matrix = np.array(self.weight)
        taps = weight.reshape(-1, TAPS * TAPS)
        made = np.empty((self.points, self.points, len(taps)), weight.dtype)
        for first in range(0, len(taps), _WEIGHTS_AT_ONCE):
            some = slice(first, first + _WEIGHTS_AT_ONCE)
            by_tap = taps[some].T.astype(np.float64, order="C")
            rows = (matrix @ by_tap.reshape(TAPS, -1)).reshape(self.points, TAPS, -1)
            made[:, :, some] = matrix @ rows
        return made.reshape(self.points, self.points, *weight.shape[:2])


_WEIGHTS_AT_ONCE = 2048
"""So few that what is computed of them stays in the cache, and that no BLAS wakes, and waits for, other threads."""


FILTERINGS = {
    2: Filtering(
        2,
        ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1)),
        ((1, 0, 0), (1 / 2, 1 / 2, 1 / 2), (1 / 2, -1 / 2, 1 / 2), (0, 0, 1)),
        ((1, 1, 1, 0), (0, 1, -1, -1)),
    ),
    4: Filtering(
        4,
        (
            (4, 0, -5, 0, 1, 0), (0, 4, 4, -1, -1, 0), (0, -4, 4, 1, -1, 0),
            (0, -2, -1, 2, 1, 0), (0, 2, -1, -2, 1, 0), (0, 4, 0, -5, 0, 1),
        ),
        (
            (1 / 4, 0, 0), (1 / 6, 1 / 6, 1 / 6), (1 / 6, -1 / 6, 1 / 6),
            (1 / 24, 1 / 12, 1 / 6), (1 / 24, -1 / 12, 1 / 6), (0, 0, 1),
        ),
        ((1, 1, 1, 1, 1, 0), (0, 1, -1, 2, -2, 0), (0, 1, 1, 4, 4, 0), (0, 1, -1, 8, -8, 1)),
    ),
}  # fmt: skip
"""By the extent of a tile of results."""


@dataclass(frozen=True)
class Convolution3x3:
    """What it takes to compute a convolution of 3x3 taps with stride 1 on channels in blocks, in cycles of a core.

    Weights stream by from memory; computing and waiting for them overlap but for a quarter of what takes less.
    Transformed tiles are written and read once, and each element of `a * a` products is stored and begins with zero.
    """

    images: int
    height: int
    width: int
    """Of the result."""
    inputs: int
    outputs: int
    """Channels, the last block filled up."""
    lanes: int
    machine: MachineModel = field(default_factory=MachineModel)
    seeing: Planes | None = None
    """How planes that are images are seen, each with a part of the channels; it is transformed once for all."""

    def direct(self) -> float:
        """All taps of all channels for each element."""
        sums = self.images * self.height * self.width * self.outputs // self.lanes
        return _overlapped(sums * self.inputs * TAPS * TAPS / self.machine.fmas, self._weights(TAPS))

    def winograd(self, by: Filtering) -> float:
        """By minimal filtering."""
        of_image = -(-self.height // by.tile) * -(-self.width // by.tile)
        tiles, taken = self.images * of_image, self.images * of_image
        inputs, outputs = -(-self.inputs // self.lanes), self.outputs // self.lanes
        if self.seeing is not None:
            taken = self.images // self.seeing.made * self.seeing.padded * of_image
            inputs = -(-self.inputs // self.seeing.seen // self.lanes)
        points = by.points * by.points
        sums = tiles * points * outputs
        storing = 1 + 1 / self.machine.loads  # a sum begins with zero
        products = _overlapped(sums * (self.inputs / self.machine.fmas + storing), self._weights(by.points))
        moved = (taken * 2 * points * inputs + tiles * (points + by.tile * by.tile) * outputs) * 4 * self.lanes
        kept = points * (taken * inputs + tiles * outputs) * 4 * self.lanes
        is_near = kept <= self.machine.l3
        return products + (self.machine.moving(moved) if is_near else moved / self.machine.memory_rate) + STARTING

    def _weights(self, extent: int) -> float:
        """Cycles in which the weights come from memory."""
        return extent * extent * self.inputs * self.outputs * 4 / self.machine.memory_rate

    @property
    def bytes(self) -> int:
        """Of the data and the result."""
        return self.images * self.height * self.width * (self.inputs + self.outputs) * 4

    def best(self, largest: int, direct: float | None = None, moved: int = 0) -> Filtering | None:
        """The filtering, of tiles up to `largest`, that takes the least; `None` where none saves a twentieth of
        `direct`, without it of what all taps take. So many bytes are `moved` besides."""
        costs = {tile: self.winograd(by) for tile, by in FILTERINGS.items() if tile <= largest}
        costs = {tile: cost + moved / self.machine.memory_rate for tile, cost in costs.items()}
        tile = min(costs, key=costs.__getitem__, default=0)
        limit = WORTHWHILE * (self.direct() if direct is None else direct)
        return FILTERINGS[tile] if tile and costs[tile] < limit else None


STARTING = 4000.0
"""Cycles of starting three more loops that threads share."""
WORTHWHILE = 0.95


def _overlapped(computing: float, waiting: float) -> float:
    return max(computing, waiting) + min(computing, waiting) / 4


def combined(rows: Sequence[Sequence[int | float]], row: te.Expr, term: Callable[[int], te.Expr]) -> te.Expr:
    """The sum of `rows[row][k] * term(k)` over `k`, as one formula for each row, without the terms that are zero.

    What is read once for all rows is so once the loop along `row` is unrolled. Terms that all rows have with the same
    factor, or with opposite ones, are added to and taken from one another once; rows that differ in signs alone are the
    sum and the difference of two parts.
    """
    terms = {k: term(k) for k in range(len(rows[0])) if any(factors[k] for factors in rows)}
    columns = [[factors[k] for factors in rows] for k in terms]
    each = dict(zip(terms, columns, strict=True))
    for k, other in zip(list(terms), list(terms)[1:], strict=False):
        if k in each and other in each and _differ_in_signs(each[k], each[other]):
            first, second = each.pop(k), each.pop(other)
            total, difference = terms[k] + terms[other], terms[k] - terms[other]
            terms[k], terms[other] = total, difference
            each[k] = [a if a == b else 0 for a, b in zip(first, second, strict=True)]
            each[other] = [a if a == -b else 0 for a, b in zip(first, second, strict=True)]
    formulas: list[te.Expr] = []
    factors = [{k: each[k][number] for k in terms} for number in range(len(rows))]
    while len(formulas) < len(rows):
        mine, *rest = factors[len(formulas) :]
        if rest and _differ_in_signs(list(mine.values()), list(rest[0].values())):
            same = _sum({k: n for k, n in mine.items() if n == rest[0][k]}, terms)
            opposite = _sum({k: n for k, n in mine.items() if n != rest[0][k]}, terms)
            formulas += [same + opposite, same - opposite]
        else:
            formulas.append(_sum(mine, terms))
    *others, chosen = formulas
    for number, formula in reversed(list(enumerate(others))):
        chosen = te.select(row.equal(number), formula, chosen)
    return chosen


def _differ_in_signs(these: Sequence[float], those: Sequence[float]) -> bool:
    """Whether two rows have the same factors but for their signs, some of which are equal and some are not."""
    pairs = [(a, b) for a, b in zip(these, those, strict=True) if a or b]
    return all(abs(a) == abs(b) for a, b in pairs) and len({a == b for a, b in pairs}) == 2


def _sum(factors: Mapping[int, float], terms: Mapping[int, te.Expr]) -> te.Expr:
    """The sum of terms, beginning with one that is added, if there is any."""
    total: te.Expr | None = None
    for k, factor in sorted(factors.items(), key=lambda each: each[1] < 0):
        if not factor:
            continue
        value = terms[k] if abs(factor) == 1 else terms[k] * abs(factor)
        if total is None:
            total = value if factor > 0 else -value
        else:
            total = total + value if factor > 0 else total - value
    assert total is not None, "each row has a term"
    return total
