"""Sizes and padding as numbers (`tvm.topi.nn.utils`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ...dialects.support.arguments import checked
from ...dialects.support.diagnostics import UsageError, did_you_mean

Sizes: TypeAlias = int | Sequence[int]
Padding: TypeAlias = int | Sequence[int] | str
"""On each side; `"VALID"`, none; `"SAME"`, as much as a kernel of that size needs for a result as large at stride 1."""


def each(size: Sizes, kernel: Sequence[int]) -> tuple[int, ...]:
    """A size for each dimension of a kernel."""
    return (size,) * len(kernel) if isinstance(size, int) else tuple(size)


def pads(padding: Padding, kernel: Sequence[int], dilation: Sizes) -> tuple[int, ...]:
    """Before each dimension, then behind each.

    Raises:
        UsageError: a word is none of those that say so, or numbers are neither one nor two for each dimension.
    """
    if isinstance(padding, str):
        if padding not in ("VALID", "SAME"):
            raise UsageError(f"topi: there is no padding {padding!r}", hint=did_you_mean(padding, ("VALID", "SAME")))
        both = [(n - 1) * by if padding == "SAME" else 0 for n, by in zip(kernel, each(dilation, kernel), strict=True)]
        before = [(pad + 1) // 2 for pad in both]
        return (*before, *(pad - first for pad, first in zip(both, before, strict=True)))
    given = each(padding, kernel)
    if len(given) not in (len(kernel), 2 * len(kernel)):
        raise UsageError(
            f"topi: {len(given)} numbers pad no kernel of {len(kernel)} dimensions", hint="one for each, or two"
        )
    return given if len(given) == 2 * len(kernel) else (*given, *given)


@checked
def get_pad_tuple(padding: Padding, kernel: Sequence[int]) -> tuple[int, ...]:
    """How many elements a convolution adds before each of the dimensions of a kernel, then behind each.

    Raises:
        UsageError: as `pads` says.
    """
    return pads(padding, kernel, 1)


get_pad_tuple1d = get_pad_tuple3d = get_pad_tuple
"""TVM's names of it for other numbers of dimensions."""
