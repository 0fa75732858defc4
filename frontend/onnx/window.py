"""The geometry of a window that moves over the spatial dimensions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """The geometry of a window: one entry for each spatial dimension, twice as many for `padding` (begins, ends)."""

    size: list[int]
    strides: list[int]
    dilation: list[int]
    padding: list[int]

    @property
    def rank(self) -> int:
        return len(self.size)

    @property
    def extents(self) -> list[int]:
        """What the dilated window covers."""
        return [(n - 1) * d + 1 for n, d in zip(self.size, self.dilation, strict=True)]
