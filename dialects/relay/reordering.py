"""What an operator says of itself where the axes of its operands stand in another order: see `RelayOp.reordered`.

`convert-layout` brings values from one order of their axes to another (`NHWC` to `NCHW`), and what is computed from
them is then computed in that order too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Attribute

Order: TypeAlias = tuple[int, ...]
"""Axis `i` of the tensor in this order is axis `order[i]` of the original one."""

Property: TypeAlias = "Attribute | int | bool | str | Sequence[int]"
"""What a property may be given as."""


@dataclass(frozen=True)
class Reordered:
    """An operator on operands whose axes are in another order."""

    orders: Sequence[Order]
    """Those in which it gives its result; for a tuple one for each field."""
    properties: Mapping[str, Property] = field(default_factory=dict[str, "Property"])
    """The properties that are others then."""
    along: Sequence[int] = (0,)
    """The operands that are taken in the other order; the rest stay as they are."""


def all_in(order: Order, fields: int) -> Sequence[Order]:
    """All fields of a tuple in one order."""
    return (order,) * fields


def reordered_axis(axis: int, order: Order) -> int:
    """Where an axis, which may be counted from the end, stands in another order."""
    return order.index(axis % len(order))


def reordered_axes(axes: Sequence[int], order: Order) -> list[int]:
    """Where axes stand in another order."""
    return [reordered_axis(axis, order) for axis in axes]


def without_axes(order: Order, axes: Sequence[int]) -> Order:
    """The order in which a tensor stands that has lost some of its (original) axes."""
    kept = sorted(set(order) - set(axes))
    return tuple(kept.index(axis) for axis in order if axis not in axes)


def reordered_pairs(values: Sequence[int], order: Order) -> list[int]:
    """Two values for each axis, as widths of padding, in another order."""
    return [value for axis in order for value in values[2 * axis : 2 * axis + 2]]
