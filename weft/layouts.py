"""Layouts of tensors as values, by TVM's names: `tir.layout("NCHW16c")`, and the way from one to another and back.

change = tir.bijective_layout("NCHW", "NCHW16c")
change.forward_shape((1, 32, 7, 7))     # (1, 2, 7, 7, 16)
change.forward_index([0, 18, 6, 6])     # (0, 1, 6, 6, 2)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.utils.exceptions import VerifyException

from .dialects import te
from .dialects.relay.layout import Layout as Axes
from .dialects.relay.layout import parse_layout
from .dialects.support.arguments import checked, checked_methods
from .dialects.support.diagnostics import UsageError
from .dialects.te.element_types import element_type
from .frontend.relay.extents import AnyExtent

Extent: TypeAlias = te.Dim | AnyExtent
"""An extent, a number or index arithmetic, or one that is not known: `relay.Any()`."""


@checked_methods
class Layout:
    """The dimensions of a tensor by name: a capital letter is an axis or its outer part, a number and a small letter an
    inner part of that many elements. Make one with `layout`."""

    def __init__(self, axes: Axes):
        self._axes = axes

    @property
    def name(self) -> str:
        """The text: `"NCHW16c"`."""
        return self._axes.text

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f'Layout("{self.name}")'

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._axes == other._axes

    def __hash__(self) -> int:
        return hash(self._axes)

    def __len__(self) -> int:
        return self._axes.rank

    def __contains__(self, axis: str) -> bool:
        return axis in self._axes.names

    def __getitem__(self, index: int) -> str:
        return self._axes.names[index]

    def index_of(self, axis: str) -> int:
        """The first dimension of a name; -1 where there is none."""
        return self._axes.position(axis) if axis in self else -1

    def factor_of(self, axis: str) -> int:
        """How many elements the inner parts of an axis hold, whichever part of it is named; -1 where it has none."""
        return self._axes.block(axis) if axis.lower() in self else -1


@checked_methods
class BijectiveLayout:
    """The way from one layout to another of the same axes, and back. Make one with `bijective_layout`."""

    def __init__(self, src_layout: Layout, dst_layout: Layout):
        self.src_layout = src_layout
        self.dst_layout = dst_layout
        self._src = parse_layout(src_layout.name)
        self._dst = parse_layout(dst_layout.name)

    def forward_index(self, index: Sequence[te.ExprLike]) -> tuple[te.Expr, ...]:
        """Where the element at `index` stands in the second layout."""
        return _moved(self._src, self._dst, index)

    def backward_index(self, index: Sequence[te.ExprLike]) -> tuple[te.Expr, ...]:
        """Where the element at `index` of the second layout stands in the first."""
        return _moved(self._dst, self._src, index)

    def forward_shape(self, shape: Sequence[Extent]) -> tuple[Extent, ...]:
        """The extents in the second layout of a tensor that has these; one that a block does not divide is rounded
        up. What comes of extents that are not known is not known, unless it is that of a block."""
        return _reshaped(self._src, self._dst, shape)

    def backward_shape(self, shape: Sequence[Extent]) -> tuple[Extent, ...]:
        """The extents in the first layout of a tensor that has these in the second."""
        return _reshaped(self._dst, self._src, shape)


def _moved(src: Axes, dst: Axes, index: Sequence[te.ExprLike]) -> tuple[te.Expr, ...]:
    _check(src, index, "indices")
    return dst.split(src.join([te.as_expr(each, te.index) for each in index]))


def _reshaped(src: Axes, dst: Axes, shape: Sequence[Extent]) -> tuple[Extent, ...]:
    _check(src, shape, "extents")
    whole: dict[str, Extent] = {}
    for axis, extent in zip(src.axes, shape, strict=True):
        if isinstance(extent, AnyExtent):
            if not axis.factor:
                whole[axis.name] = extent
        elif not axis.factor:
            whole[axis.name] = te.product((extent, src.block(axis.name)))
        elif not te.same(extent, axis.factor):
            raise UsageError(f"layout {src.text} has blocks of {axis.factor}{axis.name}, and not of {extent}")
    return tuple(axis.factor or _outer(whole[axis.name], dst.block(axis.name)) for axis in dst.axes)


def _outer(extent: Extent, block: int) -> Extent:
    """How many blocks hold an extent."""
    return extent if isinstance(extent, AnyExtent) else te.ceil_divided(extent, block)


def _check(layout: Axes, given: Sequence[object], what: str) -> None:
    if len(given) != layout.rank:
        raise UsageError(f"layout {layout.text} has {layout.rank} dimensions, and {len(given)} {what} are given")


@checked
def layout(layout_str: str, dtype: str = "int32") -> Layout:
    """The layout that a text names. `dtype` is TVM's, of its indices: those here hold any.

    Raises:
        UsageError: it names none, or indices cannot be of the dtype.
    """
    if dtype not in ("int32", "int64"):
        raise UsageError(f"indices are int32 or int64, and not {element_type(dtype)}")
    try:
        return Layout(parse_layout(layout_str))
    except VerifyException as error:
        raise UsageError(str(error)) from None


@checked
def bijective_layout(src_layout: str | Layout, dst_layout: str | Layout) -> BijectiveLayout | None:
    """The way from one layout to another and back; `None` where there is none, as they have other axes, or one of them
    is `""` or `"__undef__"`, which is no layout.

    Raises:
        UsageError: a text names no layout.
    """
    if any(each in ("", "__undef__") for each in (src_layout, dst_layout)):
        return None
    src, dst = (each if isinstance(each, Layout) else layout(each) for each in (src_layout, dst_layout))
    if sorted(parse_layout(src.name).letters) != sorted(parse_layout(dst.name).letters):
        return None
    return BijectiveLayout(src, dst)
