"""Index arithmetic that operators share: positions and indices, reshapes, indices that are data."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import IntegerType, Signedness, StringAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from .. import te
from ..support.dtypes import byte_width

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .base import NDArray

    Indices: TypeAlias = npt.NDArray[np.int64]


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


class OutOfRange(StrEnum):
    """What an index that lies outside of its axis reads. docs/indices.md has the policy of every operator."""

    CLIP = "clip"
    """The element at the nearer end."""
    WRAP = "wrap"
    """The element at the index modulo the extent."""


def out_of_range(given: StringAttr, known: Sequence[str] = tuple(OutOfRange)) -> OutOfRange:
    """The policy that an operator's `mode` names.

    Raises:
        VerifyException: it is not one of `known`.
    """
    if given.data not in known:
        raise VerifyException(f"'mode' is one of {', '.join(known)}, not {given}")
    return OutOfRange(given.data) if given.data in tuple(OutOfRange) else OutOfRange.CLIP


def _unsigned(type: Attribute) -> bool:
    return isa(type, IntegerType) and type.signedness.data == Signedness.UNSIGNED


def as_index(i: te.Expr) -> te.Expr:
    """An integer as an index; an unsigned one that no index can hold as the greatest there is."""
    if _unsigned(i.type) and byte_width(i.type) == 8:
        i = te.minimum(i, te.const(_GREATEST, i.type))
    return te.cast(i, te.index)


_GREATEST = (1 << 63) - 1


def as_indices(array: NDArray) -> Indices:
    """`as_index` of every element of an array, as int64."""
    import numpy as np

    if array.dtype.kind == "u":
        array = np.minimum(array, np.asarray(min(_GREATEST, np.iinfo(array.dtype.name).max), array.dtype))
    return array.astype(np.int64)


def from_the_end(i: te.Expr, extent: int) -> te.Expr:
    """An integer as an index, where negative ones count from the end of an axis. It may lie outside of the axis."""
    i = as_index(i)
    return te.select(i < 0, i + extent, i)


def inside(i: te.Expr, extent: int, policy: OutOfRange, *, negative_from_the_end: bool = True) -> te.Expr:
    """An integer as an index that lies inside of an axis of `extent` elements, whatever the integer is.

    The axis must not be empty; `gathered` sees to that.
    """
    match policy:
        case OutOfRange.WRAP:
            if _unsigned(i.type):
                return te.cast(i % extent, te.index) if extent <= _limit(i.type) else as_index(i)
            return as_index(i) % extent
        case OutOfRange.CLIP:
            at = from_the_end(i, extent) if negative_from_the_end else as_index(i)
            return te.maximum(te.minimum(at, extent - 1), 0)


def _limit(type: Attribute) -> int:
    """The greatest value of an unsigned type."""
    return (1 << (8 * byte_width(type))) - 1


def gathered(x: te.Tensor, shape: Sequence[int], body: te.AnyRankBody, name: str) -> te.Tensor:
    """The tensor of `shape` whose elements `body` reads from `x` at indices that are data; zeros where `x` has no
    elements, for then there is nothing that an index could stand for."""
    if 0 in x.shape:
        return te.compute(shape, lambda *_: te.const(0, x.element_type), name)
    return te.compute(shape, body, name)
