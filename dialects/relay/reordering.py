"""What an operator says of itself where the axes of its operands stand in another order: see `RelayOp.reordered`.

`convert-layout` brings values from one order of their axes to another (`NHWC` to `NCHW`), with parts of axes as further
dimensions (`NCHW16c`), and what is computed from them is then computed in that order too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple, TypeAlias

from xdsl.ir import Attribute

Order: TypeAlias = tuple[int, ...]
"""Axis `i` of the tensor in this order is axis `order[i]` of the original one."""


class Inner(NamedTuple):
    """A dimension for the inner part of an axis: 16 channels of `NCHW16c` are `Inner(1, 16)`."""

    axis: int
    factor: int


Form: TypeAlias = tuple[int | Inner, ...]
"""An order in which the inner parts of axes are dimensions of their own; every order is one."""

Property: TypeAlias = "Attribute | int | bool | str | Sequence[int]"
"""What a property may be given as."""


@dataclass(frozen=True)
class Reordered:
    """An operator on operands whose axes are in another order."""

    orders: Sequence[Form]
    """Those in which it gives its result; for a tuple one for each field."""
    properties: Mapping[str, Property] = field(default_factory=dict[str, "Property"])
    """The properties that are others then."""
    along: Sequence[int] = (0,)
    """The operands that are taken in the other order; the rest stay as they are."""


def order_of(form: Form) -> Order:
    """The order of the axes themselves, without their inner parts."""
    return tuple(part for part in form if isinstance(part, int))


def is_split(form: Form) -> bool:
    """Whether parts of axes are dimensions of their own."""
    return any(isinstance(part, Inner) for part in form)


def block_along(form: Form, axis: int) -> int:
    """How many elements of an axis its inner parts hold, 1 where there are none."""
    return prod(part.factor for part in form if isinstance(part, Inner) and part.axis == axis)


def shape_in(form: Form, shape: Sequence[int]) -> tuple[int, ...] | None:
    """The shape in a form of a tensor of `shape`; `None` where the blocks do not divide it, or it is not known."""
    extents: list[int] = []
    for part in form:
        block = 1 if isinstance(part, Inner) else block_along(form, part)
        if isinstance(part, Inner):
            extents.append(part.factor)
        elif block > 1 and (shape[part] < 0 or shape[part] % block):
            return None
        else:
            extents.append(shape[part] if block == 1 else shape[part] // block)
    return tuple(extents)


def fitted(form: Form, shape: Sequence[int]) -> Form:
    """The form in which a tensor broadcasts against one in `form`: an axis of extent one has no blocks of more."""
    return tuple(Inner(part.axis, 1) if isinstance(part, Inner) and shape[part.axis] == 1 else part for part in form)


def dimensions_of(form: Form, axis: int) -> list[int]:
    """The dimensions in which a form has the parts of an axis, which may be counted from the end."""
    axis %= len(order_of(form))
    return [d for d, part in enumerate(form) if (part.axis if isinstance(part, Inner) else part) == axis]


def outer_dimension(form: Form, axis: int) -> int:
    """The dimension of an axis, or of its outer part."""
    return form.index(axis % len(order_of(form)))


def without_parts(form: Form, axes: Sequence[int]) -> Form:
    """The form in which a tensor stands that has lost some of its (original) axes, whole."""
    kept = sorted(set(order_of(form)) - set(axes))
    whole: list[int | Inner] = []
    for part in form:
        axis = part.axis if isinstance(part, Inner) else part
        if axis not in axes:
            whole.append(Inner(kept.index(axis), part.factor) if isinstance(part, Inner) else kept.index(axis))
    return tuple(whole)


def reduced(form: Form, axes: Sequence[int], keepdims: bool) -> tuple[Form, list[int]]:
    """The form in which a tensor stands whose axes have been reduced, and the dimensions along which it was."""
    dimensions = sorted(d for axis in axes for d in dimensions_of(form, axis))
    if not keepdims:
        return without_parts(form, axes), dimensions
    return tuple(Inner(p.axis, 1) if isinstance(p, Inner) and p.axis in axes else p for p in form), dimensions


def form_text(form: Form, letters: str) -> str:
    """The layout that a form is of axes that are called `letters`: `NCHW16c`."""
    return "".join(
        f"{part.factor}{letters[part.axis].lower()}" if isinstance(part, Inner) else letters[part] for part in form
    )


def all_in(order: Form, fields: int) -> Sequence[Form]:
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
