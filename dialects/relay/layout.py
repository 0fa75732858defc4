"""Layouts of tensors, `"NCHW16c"`, and the operator that goes from one to another.

A capital letter is an axis, or the outer part of one; a number and a small letter are an inner part of that many
elements. In `NCHW16c` channel `c` stands at `[n, c // 16, h, w, c % 16]`. Several inner parts of one axis are read from
the outermost to the innermost (`OIHW4i16o4i`). Counterpart of TVM's `Layout` and `BijectiveLayout`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .. import te
from ..support.operations import irdl_op_definition
from .base import DYNAMIC, Fusion, FusionPattern, Moves, RelayOp, int_list, ints, string, tensor
from .reordering import Form, Inner

if TYPE_CHECKING:
    from .base import NDArray
    from .gradient import Gradient, Terms


@dataclass(frozen=True)
class LayoutAxis:
    """One dimension of a layout: a capital letter (`factor` 0), or an inner part with its number of elements."""

    name: str
    factor: int = 0


@dataclass(frozen=True)
class Layout:
    """The dimensions of a tensor by name. Make one with `parse_layout`."""

    text: str
    axes: tuple[LayoutAxis, ...]

    @property
    def rank(self) -> int:
        return len(self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dimensions: `("N", "C", "H", "W", "c")`."""
        return tuple(axis.name for axis in self.axes)

    @property
    def letters(self) -> str:
        """The axes without their inner parts, in order: `"NCHW"`."""
        return "".join(axis.name for axis in self.axes if not axis.factor)

    @property
    def is_blocked(self) -> bool:
        return len(self.letters) != self.rank

    def position(self, name: str) -> int:
        """The dimension called `name`."""
        return self.names.index(name)

    def block(self, letter: str) -> int:
        """How many elements of an axis its inner parts hold: 16 for `C` of `NCHW16c`, 1 where there are none."""
        return prod(axis.factor for axis in self.axes if axis.name == letter.lower())

    def inner_axes(self, letter: str) -> tuple[LayoutAxis, ...]:
        """The inner parts of an axis, the outermost first."""
        return tuple(axis for axis in self.axes if axis.name == letter.lower())

    def arrange(self, parts: Mapping[str, te.ExprLike]) -> tuple[te.ExprLike, ...]:
        """Index expressions by name in the order of the dimensions."""
        return tuple(parts[name] for name in self.names)

    def reordered(self, order: Form) -> str:
        """The text of the layout with its dimensions in another order, or in parts: dimension `i` of that is `order[i]`
        of this."""
        texts = [f"{axis.factor}{axis.name}" if axis.factor else axis.name for axis in self.axes]
        return "".join(f"{n.factor}{texts[n.axis].lower()}" if isinstance(n, Inner) else texts[n] for n in order)

    def check(self, shape: Sequence[int], what: str) -> None:
        """
        Raises:
            VerifyException: `shape` has another rank than the layout, or an inner part of another size.
        """
        if len(shape) != self.rank:
            raise VerifyException(f"{what} has rank {len(shape)}, but layout {self.text} has {self.rank} dimensions")
        for axis, extent in zip(self.axes, shape, strict=True):
            if axis.factor and extent != axis.factor:
                found = "an extent that is not known" if extent == DYNAMIC else f"extent {extent}"
                raise VerifyException(
                    f"{what} has {found} where layout {self.text} has a block of {axis.factor}{axis.name}"
                )

    def extents(self, shape: Sequence[int]) -> dict[str, int]:
        """The extent of every axis of a tensor of this layout, all parts of it together."""
        outer = {a.name: n for a, n in zip(self.axes, shape, strict=True) if not a.factor}
        return {name: n if n == DYNAMIC else n * self.block(name) for name, n in outer.items()}

    def shape(self, extents: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of a tensor of this layout; an extent that its block does not divide is rounded up."""
        return tuple(
            axis.factor or (n if (n := extents[axis.name]) == DYNAMIC else -(-n // self.block(axis.name)))
            for axis in self.axes
        )

    def inner_stride(self, position: int) -> int:
        """How far apart, along its axis, the neighbours in one dimension are: 16 for `C` of `NCHW16c`."""
        axis = self.axes[position]
        if not axis.factor:
            return self.block(axis.name)
        return prod(later.factor for later in self.axes[position + 1 :] if later.name == axis.name)

    def join(self, indices: Sequence[te.Expr]) -> dict[str, te.Expr]:
        """The index along every axis of the element at `indices`."""
        parts: dict[str, te.Expr] = {}
        for position, (axis, index) in enumerate(zip(self.axes, indices, strict=True)):
            letter, term = axis.name.upper(), index * self.inner_stride(position)
            parts[letter] = parts[letter] + term if letter in parts else term
        return parts

    def split(self, logical: Mapping[str, te.Expr]) -> tuple[te.Expr, ...]:
        """The dimensions' indices of the element that stands at `logical` along the axes. Inverse of `join`."""
        indices: list[te.Expr] = []
        for position, axis in enumerate(self.axes):
            index = logical[axis.name.upper()] // self.inner_stride(position)
            indices.append(index % axis.factor if axis.factor else index)
        return tuple(indices)


_AXIS = re.compile(r"([A-Z])|([1-9][0-9]*)([a-z])")


@cache
def parse_layout(text: str) -> Layout:
    """The layout that `text` names.

    Raises:
        VerifyException: the text is not a layout: an axis twice, an inner part without its axis, other characters.
    """
    axes: list[LayoutAxis] = []
    end = 0
    while match := _AXIS.match(text, end):
        end = match.end()
        axes.append(LayoutAxis(match[1]) if match[1] else LayoutAxis(match[3], int(match[2])))
    if end != len(text) or not axes:
        raise VerifyException(f"'{text}' is not a layout: expected capital letters and blocks, as in NCHW16c")
    capitals = [axis.name for axis in axes if not axis.factor]
    if len(set(capitals)) != len(capitals):
        raise VerifyException(f"layout {text} names an axis twice")
    for axis in axes:
        if axis.name.upper() not in capitals:
            raise VerifyException(f"layout {text} has a block of {axis.name}, but no axis {axis.name.upper()}")
    return Layout(text, tuple(axes))


def unblocked(text: str, letters: str, what: str) -> Layout:
    """The layout `text`, which must be an order of `letters`.

    Raises:
        VerifyException: it is something else.
    """
    layout = parse_layout(text)
    if sorted(layout.names) != sorted(letters):
        raise VerifyException(f"{what} {text} is not an order of the axes {letters}")
    return layout


def in_blocks(text: str, letters: str, split: str, what: str) -> Layout:
    """The layout `text`, which must be an order of `letters`; of these, those in `split` may be in blocks.

    Raises:
        VerifyException: it is something else.
    """
    layout = parse_layout(text)
    inner = {axis.name.upper() for axis in layout.axes if axis.factor}
    if sorted(layout.letters) != sorted(letters) or not inner <= set(split):
        raise VerifyException(f"{what} {text} is not an order of the axes {letters}, with blocks of {split} at most")
    return layout


def with_whole(text: str, letters: str) -> Layout:
    """The layout `text`, in which each of the axes `letters` is one dimension; others may be in blocks.

    Raises:
        VerifyException: one is missing or split.
    """
    layout = parse_layout(text)
    for letter in letters:
        if letter not in layout.names or layout.block(letter) != 1:
            raise VerifyException(f"layout {layout.text} has no whole axis {letter}")
    return layout


def transform_array(array: NDArray, src: Layout, dst: Layout) -> NDArray:
    """`array` brought from layout `src` to `dst`."""
    from ..support.aligned_arrays import contiguous

    return contiguous(seen_as(array, src, dst))


def seen_as(array: NDArray, src: Layout, dst: Layout, extents: Mapping[str, int] | None = None) -> NDArray:
    """What `transform_array` gives, with elements that stay where they are in memory as far as that can be; cropped or
    padded with zeros to `extents` on the way."""
    import numpy as np

    order = [i for letter in src.letters for i, a in enumerate(src.axes) if a.name.upper() == letter]
    held = src.extents(array.shape)
    plain = array.transpose(order).reshape([held[letter] for letter in src.letters])
    wanted = dst.extents(dst.shape(held if extents is None else extents))
    kept = wanted if extents is None else extents
    plain = plain[tuple(slice(0, kept[letter]) for letter in src.letters)]
    missing = [(0, wanted[letter] - n) for letter, n in zip(src.letters, plain.shape, strict=True)]
    if any(after for _, after in missing):
        plain = np.pad(plain, missing)
    parts = [i for letter in src.letters for i, a in enumerate(dst.axes) if a.name.upper() == letter]
    shape = dst.shape(wanted)
    return plain.reshape([shape[i] for i in parts]).transpose(np.argsort(parts))


@irdl_op_definition
class LayoutTransformOp(RelayOp):
    """Bring a tensor from one layout to another.

    Where a block does not divide its axis, the rest of the last block is zero. Such a tensor comes back to its true
    size by `extents`: the size of every axis in the order of `dst_layout`, 0 for what the source has.

    `y[n, c // 4, h, w, c % 4] = x[n, c, h, w]` for NCHW -> NCHW4c, 0 where `c` lies beyond `x`.

    ```mlir
    %y = relay.layout_transform %x {src_layout = "NCHW", dst_layout = "NCHW4c"} : (tensor<1x6x2x2xf32>) -> tensor<1x2x2x2x4xf32>
    ```
    """  # noqa: E501

    name = "relay.layout_transform"

    data = operand_def(TensorType)
    result = result_def(TensorType)
    src_layout = string()
    dst_layout = string()
    extents = int_list([])

    traits = traits_def(Pure(), FusionPattern(Fusion.INJECTIVE), Moves())
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def layouts(self) -> tuple[Layout, Layout]:
        """Source and destination."""
        return parse_layout(self.src_layout.data), parse_layout(self.dst_layout.data)

    def logical_extents(self, shape: Sequence[int]) -> dict[str, int]:
        """The extents along the axes that the result holds, before they are rounded up to blocks."""
        src, dst = self.layouts()
        held = src.extents(shape)
        wanted = ints(self.extents) or (0,) * len(dst.letters)
        return {letter: n or held[letter] for letter, n in zip(dst.letters, wanted, strict=True)}

    def infer(self) -> Sequence[Attribute]:
        src, dst = self.layouts()
        data = tensor(self.data)
        src.check(data.get_shape(), "the data")
        if sorted(src.letters) != sorted(dst.letters):
            raise VerifyException(f"layouts {src.text} and {dst.text} do not have the same axes")
        if len(self.extents) not in (0, len(dst.letters)):
            raise VerifyException(
                f"'extents' has {len(self.extents)} values, but {dst.text} has {len(dst.letters)} axes"
            )
        held = src.extents(data.get_shape())
        extents = self.logical_extents(data.get_shape())
        for letter, n in extents.items():
            if held[letter] not in (n, DYNAMIC) and not held[letter] - src.block(letter) < n < held[letter]:
                raise VerifyException(f"axis {letter} of extent {held[letter]} in {src.text} cannot hold just {n}")
        return [TensorType(data.element_type, dst.shape(extents))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        src, dst = self.layouts()
        extents = self.logical_extents(x.shape)
        shape = dst.shape(extents)
        padded = {letter for letter, n in dst.extents(shape).items() if not te.same(n, extents[letter])}

        def body(*indices: te.IterVar) -> te.Expr:
            logical = dst.join(indices)
            value = x[src.split(logical)]
            if not padded:
                return value
            inside = te.all_of([logical[letter] < extents[letter] for letter in dst.letters if letter in padded])
            return te.select(inside, value, 0)

        return te.compute(shape, body, "layout_transform")

    def numpy(self, *inputs: NDArray) -> NDArray:
        return seen_as(inputs[0], *self.layouts(), self.logical_extents(inputs[0].shape))

    def gradient(self, g: Gradient) -> Terms:
        return (
            g.moved()
            if self.extents or self.pads(g.input.shape)
            else [g.grad.relaid(self.dst_layout.data, self.src_layout.data)]
        )

    def pads(self, shape: Sequence[int]) -> bool:
        """Whether blocks, of the source or the destination, hold more than there is."""
        src, dst = self.layouts()
        extents = self.logical_extents(shape)
        return dst.extents(dst.shape(extents)) != extents or src.extents(src.shape(extents)) != extents


OPS: list[type[Operation]] = [LayoutTransformOp]
"""The operators on layouts."""
