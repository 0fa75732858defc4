"""Where memory that Weft makes may begin."""

from __future__ import annotations

ALIGNMENT = 64
"""Bytes to which Weft aligns the memory it makes: a cache line, and the widest vector."""


def aligned(size: int, alignment: int = ALIGNMENT) -> int:
    """`size` rounded up to a multiple of `alignment`."""
    return -(-size // alignment) * alignment
