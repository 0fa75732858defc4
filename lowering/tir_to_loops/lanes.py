"""Loops that run as vectors: how many lanes, and which of them mean something."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ...dialects.tir.core import ForOp
from ...dialects.tir.symbols import as_affine, greatest


def next_power_of_two(n: int) -> int:
    """The least power of two that is at least `n`."""
    return 1 << (n - 1).bit_length()


@dataclass(frozen=True)
class Lanes:
    """A loop that runs as vector lanes: its dimension and its number of iterations. Where that is known only when the
    function is called, `extent` is the largest it can be, and `mask` says which lanes there are."""

    dim: AffineExpr
    extent: int
    is_open: bool = False
    mask: SSAValue | None = None
    count: SSAValue | None = None
    """How many lanes there are, where that is known only when the function is called."""
    is_exact: bool = False
    """Whether nothing may be read beyond the lanes that there are, even where a buffer has room."""
    trips: AffineExpr | None = None
    """How many there are, over symbols, where all iterations of a loop are lanes."""
    first: SSAValue | None = None
    """The iteration that the first lane is; the loop's first unless said."""

    @property
    def width(self) -> int:
        """The vector's length: the next power of two; lanes beyond `extent` are masked off."""
        return next_power_of_two(self.extent)

    @property
    def is_masked(self) -> bool:
        return self.is_open or self.width != self.extent


MAX_OPEN_LANES = 64
"""The most lanes of a vector whose number is known only when the function is called."""


def open_trips(loop: ForOp) -> int | None:
    """The most iterations that a loop can have whose number depends on symbols, if it can run as one vector."""
    if not loop.is_symbolic:
        return None
    most = greatest(as_affine(loop.size))
    return most if 1 <= most <= MAX_OPEN_LANES else None
