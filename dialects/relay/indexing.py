"""Index arithmetic that operators share: positions and indices, reshapes, indices that are data."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import IntegerType, Signedness, StringAttr, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from .. import te
from ..support.checks import CheckError
from ..support.dtypes import byte_width
from ..support.hints import isa

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .base import NDArray

    Indices: TypeAlias = npt.NDArray[np.int64]


def row_major(indices: Sequence[te.Expr], shape: Sequence[te.Dim]) -> te.Expr:
    """The position of the element at `indices` when the elements of a tensor of `shape` are counted row by row."""
    position: te.Expr = te.const(0, te.index)
    for i, n in zip(indices, shape, strict=True):
        position = position * n + i
    return position


def unravel(position: te.Expr, shape: Sequence[te.Dim]) -> tuple[te.Expr, ...]:
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

    Raises:
        TypeError: it is not known whether the shapes have as many elements.
    """
    zero = te.const(0, te.index)
    if 0 in source:
        return (zero,) * len(source)
    result: list[te.Expr] = [zero] * len(source)
    old = [d for d, n in enumerate(source) if n != 1]
    new = [d for d, n in enumerate(shape) if n != 1]
    while old or new:
        i, j = _first_group([source[d] for d in old], [shape[d] for d in new])
        taken, given, old, new = old[:i], new[:j], old[i:], new[j:]
        had, wanted = [source[d] for d in taken], [shape[d] for d in given]
        position = row_major([indices[d] for d in given], wanted)
        for d, i in zip(taken, unravel(position, had), strict=True):
            result[d] = i
        if taken and not te.same(te.product(had), te.product(wanted)):
            # that there are as many is asked, and cannot be said to what holds accesses against extents
            result[taken[0]] = te.minimum(result[taken[0]], te.dim_expr(had[0]) - 1)
    return tuple(result)


def _first_group(old: Sequence[te.Dim], new: Sequence[te.Dim]) -> tuple[int, int]:
    """How many extents at the beginnings of two shapes have the same product, as few as can be; all, where only those
    are found to, or are asked to.

    Raises:
        TypeError: they cannot be asked to.
    """

    had = [te.product(old[: i + 1]) for i in range(len(old))]
    wanted = [te.product(new[: j + 1]) for j in range(len(new))]
    for i, have in enumerate(had):
        for j, want in enumerate(wanted):
            if te.same(have, want):
                return i + 1, j + 1
    if not te.equal_or_asked(te.product(old), te.product(new)):
        raise TypeError("te: it is not known whether both shapes have as many elements")
    return len(old), len(new)


def reshaped(x: te.Tensor, shape: Sequence[int], name: str = "reshape") -> te.Tensor:
    """`x` under another shape with as many elements."""
    return te.compute(shape, lambda *i: x[reshape_indices(i, shape, x.shape)], name)


class OutOfRange(StrEnum):
    """What an index that lies outside of its axis reads, or what becomes of what it would write. docs/indices.md has
    the policy of every operator."""

    CLIP = "clip"
    """The element at the nearer end."""
    WRAP = "wrap"
    """The element at the index modulo the extent."""
    DROP = "drop"
    """Of what is written: the update is lost."""
    ERROR = "error"
    """Nothing: the run fails, with a `CheckError` that names the operator, the index and the extent. Negative indices
    count from the end, once."""


READS = (OutOfRange.CLIP, OutOfRange.WRAP, OutOfRange.ERROR)
"""The policies of what reads at indices."""


def out_of_range(given: StringAttr, known: Sequence[str] = READS, name: str = "mode") -> OutOfRange:
    """The policy that an operator's property `name` gives.

    Raises:
        VerifyException: it is not one of `known`.
    """
    if given.data not in known:
        raise VerifyException(f"'{name}' is one of {', '.join(known)}, not {given}")
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
    """An integer as an index that lies inside of an axis of `extent` elements, whatever the integer is; where the
    policy is an error, an integer that was `checked`.

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
        case OutOfRange.ERROR:
            return te.cast(i, te.index)
        case OutOfRange.DROP:
            raise ValueError("nothing can be read at an index that is dropped")


def checked(indices: te.Tensor, extents: Sequence[int], text: str) -> te.Tensor:
    """Indices that are inside of their axes, as `i64`, after the check that they are: negative ones count from the end,
    once, and where one lies outside even so the run fails.

    The indices along the first dimension belong to axes of `extents`, one after the other; of a single extent, all do.
    Each is checked once, wherever it is used and whether it is or not.

    Args:
        text: what is said of one that lies outside: `outside_text`.
    """

    def place(i: te.Expr, extent: int) -> te.Expr:
        return te.cast(te.check(from_the_end(i, extent), extent, text, as_index(i)), i64)

    if len(extents) == 1:
        return te.compute(indices.shape, lambda *i: place(indices[i], extents[0]), "checked_indices")
    parts = [
        te.compute(indices.shape[1:], lambda *i, k=k, n=n: place(indices[(k, *i)], n), "checked_indices")
        for k, n in enumerate(extents)
    ]

    def joined(*i: te.IterVar) -> te.Expr:
        value: te.Expr = parts[-1][i[1:]]
        for k, part in reversed(list(enumerate(parts[:-1]))):
            value = te.select(i[0].equal(k), part[i[1:]], value)
        return value

    return te.compute(indices.shape, joined, "checked_indices")


def outside_text(name: str) -> str:
    """What is said of an index of the operator `name` that lies outside of its axis."""
    return f"'{name}': index {{index}} lies outside of an axis of {{extent}} elements"


def check_indices(indices: NDArray, extents: Sequence[int], text: str) -> Indices:
    """`checked` of an array.

    Raises:
        CheckError: an index lies outside of its axis.
    """
    import numpy as np

    given = as_indices(indices)
    along = np.asarray(extents, np.int64).reshape([-1, *[1] * (given.ndim - 1)] if len(extents) > 1 else ())
    at = np.where(given < 0, given + along, given)
    failed = (at < 0) | (at >= along)
    if failed.any():
        raise CheckError(text, int(given[failed][0]), int(np.broadcast_to(along, given.shape)[failed][0]))
    return at


def _limit(type: Attribute) -> int:
    """The greatest value of an unsigned type."""
    return (1 << (8 * byte_width(type))) - 1


def unless_empty(x: te.Tensor, value: te.Expr, shape: Sequence[te.Dim]) -> te.Expr:
    """`value`, which is read from `x` at indices that are data; zero where `x` has no elements, for then there is
    nothing that an index could stand for.

    Args:
        shape: extents of what `value` is computed for. Where one of them is 0 nothing is read, so that nothing is asked
            of extents of `x` that are among them.
    """
    zero = te.const(0, value.type)
    if 0 in x.shape:
        return zero
    open_ones = [n for n in x.dims if not te.always_at_most(1, n) and not any(te.same(n, m) for m in shape)]
    asked = [te.binary(te.BinaryKind.GT, te.dim_expr(n), 0) for n in open_ones]  # which Python's `>` takes for given
    return te.select(te.all_of(asked), value, zero) if asked else value


def gathered(
    x: te.Tensor, shape: Sequence[int], body: te.AnyRankBody, name: str, checked: te.Tensor | None = None
) -> te.Tensor:
    """The tensor of `shape` whose elements `body` reads from `x` at indices that are data, `unless_empty`. Indices that
    are `checked` are even then."""
    if 0 not in x.shape:
        return te.compute(shape, lambda *i: unless_empty(x, te.as_expr(body(*i), x.element_type), shape), name)
    zero = te.const(0, x.element_type)
    if checked is None or 0 in checked.shape:
        return te.compute(shape, lambda *_: zero, name)
    first = te.cast(checked[(0,) * checked.rank], te.index)  # nothing else asks for the indices
    return te.compute(shape, lambda *_: te.select(first < 0, zero, zero), name)
