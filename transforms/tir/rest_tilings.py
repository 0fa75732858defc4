"""In which tiles a rest of rows is taken, where there is code for tiles of every height.

Of a number of rows that is known at the call only, whole tiles leave a rest that is less than one. Each tile costs a
walk through all that its rows share, which takes as long for one row as for three. So a rest is one tile; one of few
rows is taken together with the last whole tile, in two of about as many rows each: of 10 rows, where a tile has 9, 5
and 5.

How many tiles of a height there are, and where they begin, are affine expressions, sums of steps that are 1 from some
number of rows on and 0 before: `(%n mod 9 + 3) floordiv 9` is 1 where 6 of 9 are left, or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from xdsl.ir.affine import AffineExpr

from ...dialects.tir.symbols import MAX_EXTENT

SMALL_REST = 4
"""A rest of at most such a part of a tile is taken together with the tile before it. (768 to 3072 features on a Zen 5:
after a tile of 9, a rest of 1, 2 and 3 rows took 1.26, 1.16 and 1.05 of the time of code for 10, 11 and 12.)"""

STEP = 4
"""Of a matrix unit, the rows by which tiles differ that have more than twice as many."""


@dataclass(frozen=True)
class RestTilings:
    """How so many rows as are `left`, fewer than `height`, are taken in tiles of fewer than `height`."""

    left: AffineExpr
    state: AffineExpr
    """What tells how they are taken: `left`, and `height` more where there is a whole tile that may be taken too."""
    height: int
    tilings: Sequence[Sequence[int]]
    """For each state the heights of the tiles, the greatest first."""

    @staticmethod
    def of(left: AffineExpr, whole: AffineExpr | None, height: int) -> RestTilings:
        """Those of what so many `whole` tiles leave; `None` where these are not to be touched."""
        single = [[rows] if rows else [] for rows in range(height)]
        if whole is None or height < SMALL_REST:
            return RestTilings(left, left, height, single)
        most = height + height // SMALL_REST
        pairs = [[(rows + 1) // 2, rows // 2] for rows in range(height + 1, most + 1)]
        after = [[], *pairs, *single[len(pairs) + 1 :]]
        return RestTilings(left, left + _step(whole, 1, 2 * MAX_EXTENT) * height, height, [*single, *after])

    @staticmethod
    def in_steps(left: AffineExpr, height: int) -> RestTilings:
        """Those of a matrix unit, which is as busy with the steps that all rows share as with the rows, but whose tiles
        of up to `height` rows are too many to have code for each: few rows are one tile, others a multiple of `STEP`
        and what is left of that."""
        tilings = [
            [rows] if rows <= 2 * STEP else [rows - rows % STEP, *([rows % STEP] if rows % STEP else [])]
            for rows in range(1, height)
        ]
        return RestTilings(left, left, height, [[], *tilings])

    @property
    def heights(self) -> list[int]:
        """Those of all tiles, the greatest first."""
        return sorted({height for tiling in self.tilings for height in tiling}, reverse=True)

    def of_whole(self) -> AffineExpr:
        """How many whole tiles are taken with the rest."""
        return self._tell([sum(tiling) // self.height for tiling in self.tilings])

    def count(self, taken: int) -> AffineExpr:
        """How many tiles of `taken` rows there are."""
        return self._tell([tiling.count(taken) for tiling in self.tilings])

    def start(self, taken: int) -> AffineExpr:
        """The row at which the first of them begins, from the end of all whole tiles on; any, where there is none."""
        starts: list[int | None] = [None] * len(self.tilings)
        for state, tiling in enumerate(self.tilings):
            if taken in tiling:
                before = sum(each for each in tiling if each > taken)
                starts[state] = before - sum(tiling) // self.height * self.height
        return self._tell(starts)

    def _tell(self, values: Sequence[int | None]) -> AffineExpr:
        """The value for the state; `None` is any."""
        state, alone, after = self.state, values[: self.height], values[self.height :]
        if all(a is None or b is None or a == b for a, b in zip(alone, after, strict=False)):
            state, values = self.left, [b if a is None else a for a, b in zip_longest(alone, after)]
        last, bound = next((value for value in values if value is not None), 0), len(values)
        result = AffineExpr.constant(last)
        for number, value in enumerate(values):
            if value is not None and value != last:
                result, last = result + _step(state, number, bound) * (value - last), value
        return result


def _step(value: AffineExpr, least: int, bound: int) -> AffineExpr:
    """1 where `value`, which is not negative and less than `bound`, is at least `least`, and 0 elsewhere."""
    return (value + (bound - least)) // bound
