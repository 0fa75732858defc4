"""Index arithmetic that operators share: positions and indices, reshapes, indices that are data."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from .. import te


def row_major(indices: Sequence[te.Expr], shape: Sequence[int]) -> te.Expr:
    """The position of the element at `indices` when the elements of a tensor of `shape` are counted row by row."""
    position: te.Expr = te.const(0, te.index)
    for i, n in zip(indices, shape, strict=True):
        position = position * n + i
    return position


def unravel(position: te.Expr, shape: Sequence[int]) -> tuple[te.Expr, ...]:
    """The indices of the element at `position`. Inverse of `row_major`."""
    if 0 in shape:
        return (te.const(0, te.index),) * len(shape)
    indices: list[te.Expr] = []
    stride = prod(shape)
    for d, n in enumerate(shape):
        stride //= n
        outer = position // stride
        indices.append(outer % n if d else outer)
    return tuple(indices)


def reshape_indices(indices: Sequence[te.Expr], shape: Sequence[int], source: Sequence[int]) -> tuple[te.Expr, ...]:
    """Where the element at `indices` of a tensor reshaped to `shape` stands in the tensor of shape `source`.

    The dimensions are matched in groups of equal extent, so that those which the reshape leaves alone keep a plain
    index: from `[2, 12, 7]` to `[2, 3, 4, 7]` only the middle ones are computed.
    """
    zero = te.const(0, te.index)
    if 0 in source:
        return (zero,) * len(source)
    result: list[te.Expr] = [zero] * len(source)
    old = [d for d, n in enumerate(source) if n != 1]
    new = [d for d, n in enumerate(shape) if n != 1]
    while old or new:
        taken, given = [old.pop(0)], [new.pop(0)]
        while (have := prod(source[d] for d in taken)) != (want := prod(shape[d] for d in given)):
            if have < want:
                taken.append(old.pop(0))
            else:
                given.append(new.pop(0))
        position = row_major([indices[d] for d in given], [shape[d] for d in given])
        for d, i in zip(taken, unravel(position, [source[d] for d in taken]), strict=True):
            result[d] = i
    return tuple(result)


def reshaped(x: te.Tensor, shape: Sequence[int], name: str = "reshape") -> te.Tensor:
    """`x` under another shape with as many elements."""
    return te.compute(shape, lambda *i: x[reshape_indices(i, shape, x.shape)], name)


def from_the_end(i: te.Expr, extent: int) -> te.Expr:
    """An integer as an index, where negative ones count from the end of an axis."""
    i = te.cast(i, te.index)
    return te.select(i < 0, i + extent, i)
