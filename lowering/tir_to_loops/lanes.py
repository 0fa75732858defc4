"""Loops that run as vectors: how many lanes, and which of them mean something."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir.affine import AffineExpr


def next_power_of_two(n: int) -> int:
    """The least power of two that is at least `n`."""
    return 1 << (n - 1).bit_length()


@dataclass(frozen=True)
class Lanes:
    """A loop that runs as vector lanes: its dimension and its number of iterations."""

    dim: AffineExpr
    extent: int

    @property
    def width(self) -> int:
        """The vector's length: the next power of two; lanes beyond `extent` are masked off."""
        return next_power_of_two(self.extent)

    @property
    def is_masked(self) -> bool:
        return self.width != self.extent
