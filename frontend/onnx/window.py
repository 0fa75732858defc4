"""The geometry of a window that moves over the spatial dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialects import te


@dataclass(frozen=True)
class Window:
    """The geometry of a window: one entry for each spatial dimension, twice as many for `padding` (begins, ends), which
    may follow from open extents."""

    size: list[int]
    strides: list[int]
    dilation: list[int]
    padding: Sequence[te.Dim]

    @property
    def rank(self) -> int:
        return len(self.size)

    @property
    def extents(self) -> list[int]:
        """What the dilated window covers."""
        return [(n - 1) * d + 1 for n, d in zip(self.size, self.dilation, strict=True)]

    @property
    def known_padding(self) -> list[int]:
        """The padding, where it is known."""
        known = [n for n in self.padding if isinstance(n, int)]
        assert len(known) == len(self.padding), "padding that follows from open extents is a pad of its own"
        return known

    def without_padding(self) -> Window:
        return Window(self.size, self.strides, self.dilation, [0] * len(self.padding))
