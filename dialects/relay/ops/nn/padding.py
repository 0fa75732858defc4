"""Operators that put something around a tensor, or between its elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import DenseArrayBase, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.arguments import ArgumentError
from ....support.operations import irdl_op_definition
from ...base import (
    DYNAMIC,
    int_list,
    ints,
    is_told,
    real,
    shape_of,
    string,
    tensor,
)
from ...blocking import PLAIN, Blocks
from ...nn_common import MovingOp
from ...reordering import Form, Inner, Order, Reordered, block_along, reordered_pairs
from ...resample import one_of

if TYPE_CHECKING:
    from ...gradient import Gradient, Terms


def pad_pairs(pad_width: Sequence[int], shape: Sequence[int]) -> list[tuple[int, int]]:
    """`pad_width` as (before, after) for each dimension.

    Raises:
        VerifyException: there are not two values for each dimension, or more is cut off than there is.
    """
    if len(pad_width) != 2 * len(shape):
        raise VerifyException(
            f"'pad_width' has {len(pad_width)} values for rank {len(shape)}; expected two a dimension"
        )
    pairs = list(zip(pad_width[::2], pad_width[1::2], strict=True))
    for d, ((before, after), n) in enumerate(zip(pairs, shape, strict=True)):
        if is_told(n) and not te.at_most(-(before + after), n):
            raise VerifyException(f"'pad_width' cuts off more than the {n} elements of dimension {d}")
    return pairs


def padded_shape(shape: Sequence[int], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """The shape after padding; dynamic dimensions stay dynamic, but for those padded by nothing."""
    return [n if n == DYNAMIC else n + before + after for n, (before, after) in zip(shape, pairs, strict=True)]


def padded(x: te.Tensor, value: te.Tensor, pairs: Sequence[tuple[int, int]], mode: str) -> te.Tensor:
    """`x` with `value`, its edge or its mirror image around it; widths may be symbols.

    Raises:
        TypeError: an axis without elements has no edge.
    """
    if mode == "reflect":
        return mirror_stage(x, pairs, False)
    for pair, n in zip(pairs, x.dims, strict=True):
        if mode == "edge" and any(map(_may_widen, pair)) and not te.at_most(1, n):
            raise TypeError("te: an axis without elements has no edge")

    def body(*i: te.IterVar) -> te.Expr:
        at = [i[d] - before for d, (before, _) in enumerate(pairs)]
        if mode == "edge":
            return x[tuple(te.minimum(te.maximum(a, 0), n - 1) for a, n in zip(at, x.shape, strict=True))]
        inside = [at[d] >= 0 for d, (before, _) in enumerate(pairs) if _may_widen(before)]
        inside += [at[d] < x.shape[d] for d, (_, after) in enumerate(pairs) if _may_widen(after)]
        if not inside:
            return x[tuple(at)]
        return te.select(te.all_of(inside), x[tuple(at)], value[(0,) * value.rank])

    return te.compute(padded_shape(x.shape, pairs), body, "pad")


def _may_widen(width: te.Dim) -> bool:
    """Whether something may be put where `width` says: a symbol may be above 0."""
    return not isinstance(width, int) or width > 0


def mirrored(i: te.Expr, extent: int, edge_twice: bool) -> te.Expr:
    """The index `i`, at most one extent outside of an axis, mirrored into it."""
    if edge_twice:
        return te.minimum(te.maximum(i, te.const(-1, te.index) - i), te.dim_expr(2 * extent - 1) - i)
    away = te.maximum(i, te.const(0, te.index) - i)
    return te.minimum(away, te.dim_expr(2 * (extent - 1)) - away)


def mirror_stage(x: te.Tensor, pairs: Sequence[tuple[int, int]], edge_twice: bool) -> te.Tensor:
    """`x` with its mirror images around it."""
    _check_mirror(x.shape, pairs, edge_twice)

    def body(*i: te.IterVar) -> te.Expr:
        return x[
            tuple(
                mirrored(i[d] - before, x.shape[d], edge_twice)
                if _may_widen(before) or _may_widen(after)
                else i[d] - before
                for d, (before, after) in enumerate(pairs)
            )
        ]

    return te.compute(padded_shape(x.shape, pairs), body, "mirror_pad")


def _check_mirror(shape: Sequence[int], pairs: Sequence[tuple[int, int]], edge_twice: bool) -> None:
    for d, (n, pair) in enumerate(zip(shape, pairs, strict=True)):
        for width in pair if is_told(n) else ():
            if _may_widen(width) and not te.at_most(width, n if edge_twice else n - 1):
                raise VerifyException(f"dimension {d} of {n} elements has no mirror image of {width}")


@irdl_op_definition
class PadOp(MovingOp):
    """Put a value, the edge, or a mirror image around a tensor; negative widths cut off.

    `pad_width` holds (before, after) for each dimension, one after the other.

    `y[i0, ..] = x[i0 - before0, ..]` inside, and outside the value, or `x` at the nearest (edge) or mirrored index

    ```mlir
    %y = relay.nn.pad %x, %v {pad_width = array<i64: 0, 0, 1, 2>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>
    ```
    """

    name = "relay.nn.pad"
    CONVERTED: ClassVar[tuple[str, ...]] = ("pad_value",)

    data = operand_def(TensorType)
    pad_value = operand_def(TensorType)
    result = result_def(TensorType)
    pad_width = int_list()
    pad_mode = string("constant")

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"pad_width": reordered_pairs(ints(self.pad_width), order)})

    def reblocked(self, form: Form) -> Reordered | None:
        """A block, of zeros even, may be put before or behind others; a mirror looks into blocks."""
        pairs, widths = ints(self.pad_width), list[int]()
        for part in form:
            block = 1 if isinstance(part, Inner) else block_along(form, part)
            amounts = (0, 0) if isinstance(part, Inner) else pairs[2 * part : 2 * part + 2]
            inside = block > 1 and any(amounts) and self.pad_mode.data != "constant"
            if inside or any(n % block for n in amounts):
                return None
            widths += [n // block for n in amounts]
        return Reordered([form], {"pad_width": widths})

    def infer(self) -> Sequence[Attribute]:
        data, value = tensor(self.data), tensor(self.pad_value)
        pairs = pad_pairs(ints(self.pad_width), data.get_shape())
        mode = one_of(self.pad_mode.data, ("constant", "edge", "reflect"), "pad_mode")
        if value.element_type != data.element_type or value.get_shape() not in ((), (1,)):
            raise VerifyException(f"expected a pad value of type tensor<{data.element_type}>, got {value}")
        if mode == "reflect":
            _check_mirror(data.get_shape(), pairs, False)
        return [TensorType(data.element_type, padded_shape(data.get_shape(), pairs))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, value = inputs
        return padded(x, value, pad_pairs(ints(self.pad_width), x.shape), self.pad_mode.data)

    def channel_block(self, blocks: Blocks) -> int:
        shape = shape_of(self.data)
        return blocks.channel_block(shape[1]) if len(shape) == 4 and not any(ints(self.pad_width)[2:4]) else PLAIN

    def to_blocks(self, blocks: Blocks, block: int) -> None:
        widths = DenseArrayBase.from_list(self.pad_width.elt_type, [*ints(self.pad_width), 0, 0])
        properties = {**self.properties, "pad_width": widths}
        blocks.replace(self, PadOp(blocks.get(self.data, block, self), self.pad_value, **properties), block)

    def gradient(self, g: Gradient) -> Terms:
        widths = ints(self.pad_width)
        if self.pad_mode.data != "constant" or min(widths, default=0) < 0:
            return g.moved((0, 1))
        g.static()
        starts = widths[::2]
        inner = g.grad.slice(starts, [start + n for start, n in zip(starts, g.input.shape, strict=True)])
        outside = g.grad.sum(range(len(starts))) - inner.sum(range(len(starts)))
        return [inner, outside.reshape(g.inputs[1].shape)]


@irdl_op_definition
class MirrorPadOp(MovingOp):
    """Put mirror images around a tensor; SYMMETRIC repeats the edge, REFLECT does not.

    `pad_width` holds (before, after) for each dimension, one after the other.

    `y[i] = x[mirror(i - before)]`

    ```mlir
    %y = relay.nn.mirror_pad %x {pad_width = array<i64: 0, 0, 2, 1>, mode = "REFLECT"} : (tensor<2x3xf32>) -> tensor<2x6xf32>
    ```
    """  # noqa: E501

    name = "relay.nn.mirror_pad"

    data = operand_def(TensorType)
    result = result_def(TensorType)
    pad_width = int_list()
    mode = string("SYMMETRIC")

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"pad_width": reordered_pairs(ints(self.pad_width), order)})

    def infer(self) -> Sequence[Attribute]:
        data = tensor(self.data)
        pairs = pad_pairs(ints(self.pad_width), data.get_shape())
        mode = one_of(self.mode.data, ("SYMMETRIC", "REFLECT"), "mode")
        _check_mirror(data.get_shape(), pairs, mode == "SYMMETRIC")
        return [TensorType(data.element_type, padded_shape(data.get_shape(), pairs))]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return mirror_stage(x, pad_pairs(ints(self.pad_width), x.shape), self.mode.data == "SYMMETRIC")

    def gradient(self, g: Gradient) -> Terms:
        return g.moved()


@irdl_op_definition
class DilateOp(MovingOp):
    """Spread the elements of every dimension out to its stride.

    `y[i0 * strides0, i1 * strides1, ..] = x[i0, i1, ..]`, elsewhere `dilation_value`

    ```mlir
    %y = relay.nn.dilate %x {strides = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<2x5xf32>
    ```
    """

    name = "relay.nn.dilate"

    data = operand_def(TensorType)
    result = result_def(TensorType)
    strides = int_list()
    dilation_value = real(0.0)

    def reordered(self, order: Order) -> Reordered:
        return Reordered([order], {"strides": [ints(self.strides)[axis] for axis in order]})

    def infer(self) -> Sequence[Attribute]:
        data, strides = tensor(self.data), ints(self.strides)
        shape = data.get_shape()
        if len(strides) != len(shape) or min(strides, default=1) < 1:
            raise VerifyException(f"'strides' must be {len(shape)} values of at least 1, got {list(strides)}")
        try:
            te.const(self.dilation_value.value.data, data.element_type)
        except ArgumentError as error:
            raise VerifyException(f"'dilation_value' is not of the type of the elements: {error.message}") from error
        spread = [n if n == DYNAMIC else max(0, (n - 1) * s + 1) for n, s in zip(shape, strides, strict=True)]
        return [TensorType(data.element_type, spread)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        strides = ints(self.strides)

        def body(*i: te.IterVar) -> te.Expr:
            hit = te.all_of([(i[d] % s).equal(0) for d, s in enumerate(strides) if s > 1])
            value = x[tuple(i[d] // s for d, s in enumerate(strides))]
            return value if max(strides, default=1) == 1 else te.select(hit, value, self.dilation_value.value.data)

        for n, s in zip(x.dims, strides, strict=True):
            if isinstance(n, te.Expr) and s > 1 and not te.at_most(1, n):
                raise TypeError("te: an axis without elements cannot be spread")
        spread = [(n - 1) * s + 1 for n, s in zip(x.shape, strides, strict=True)]
        return te.compute([max(0, n) if te.is_number(n) else n for n in spread], body, "dilate")

    def gradient(self, g: Gradient) -> Terms:
        return g.moved(dilation_value=0.0)


OPS: list[type[Operation]] = [PadOp, MirrorPadOp, DilateOp]
"""The operators that pad."""
