"""Pooling: the maximum or the mean over windows of the spatial axes, in any layout.

A layout may hold channels in blocks (`NCHW16c`): pooling looks for its spatial letters and leaves all else as it is.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import AnyFloat, TensorType, i1
from xdsl.ir import Attribute, Operation
from xdsl.irdl import result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.dtypes import numpy_dtype
from ....support.operations import irdl_op_definition
from ...base import Fusion, FusionPattern, flag, int_list, ints, is_true, string, tensor
from ...blocking import Wish
from ...layout import Layout, with_whole
from ...nn_common import (
    ToldLayoutOp,
    Window,
    mean_accumulator,
    narrow,
    normalize_padding,
    pad_stage,
    per_axis,
)
from ...precision import Accuracy, Precision
from ...reordering import Form, Reordered

if TYPE_CHECKING:
    from ...base import NDArray
    from ...gradient import Gradient, Terms


class PoolBase(ToldLayoutOp, ABC):
    """What all pools share: `SPATIAL` are the letters over which the window slides."""

    AVERAGES: ClassVar[bool] = False
    """Whether it takes means, which truth values have none of."""

    PRECISION: ClassVar[Precision | None] = Precision.FOLLOW

    SPATIAL: ClassVar[str] = "HW"

    result = result_def(TensorType)
    out_layout = string("")

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def parsed_layout(self) -> Layout:
        """
        Raises:
            VerifyException: the layout lacks a spatial axis, or splits one, or the result is to have another one.
        """
        layout = with_whole(self.layout.data, self.SPATIAL)
        if self.out_layout.data not in ("", layout.text):
            raise VerifyException(f"out_layout {self.out_layout.data} differs from layout {layout.text}")
        return layout

    def reblocked(self, form: Form) -> Reordered:
        text = self.parsed_layout().reordered(form)
        return Reordered([form], {"layout": text, **({"out_layout": text} if self.out_layout.data else {})})

    def positions(self) -> list[int]:
        """The dimensions over which the window slides."""
        layout = self.parsed_layout()
        return [layout.position(letter) for letter in self.SPATIAL]

    def with_spatial(self, shape: Sequence[int], extents: Sequence[int]) -> list[int]:
        """`shape` with the spatial extents replaced."""
        spatial = dict(zip(self.positions(), extents, strict=True))
        return [spatial.get(d, n) for d, n in enumerate(shape)]

    def places(self, extents: Sequence[int]) -> Sequence[int]:
        """The spatial extents of the result for those of the data."""
        raise NotImplementedError

    def infer(self) -> Sequence[Attribute]:
        if self.AVERAGES and tensor(self.data).element_type == i1:
            raise VerifyException(f"expected a tensor of numbers to take the mean of, got {tensor(self.data)}")
        data = tensor(self.data)
        shape = data.get_shape()
        self.parsed_layout().check(shape, "the data")
        places = self.places([shape[p] for p in self.positions()])
        return [TensorType(data.element_type, self.with_spatial(shape, places))]


class OneAxis:
    """Windows along one axis."""

    SPATIAL: ClassVar[str] = "W"
    strides = int_list([1])
    dilation = int_list([1])
    padding = int_list([0])
    layout = string("NCW")


class ThreeAxes:
    """Windows along three axes."""

    SPATIAL: ClassVar[str] = "DHW"
    strides = int_list([1, 1, 1])
    dilation = int_list([1, 1, 1])
    padding = int_list([0, 0, 0])
    layout = string("NCDHW")


class WindowPool(PoolBase, ABC):
    """A pool with a window of fixed size."""

    pool_size = int_list()
    strides = int_list([1, 1])
    dilation = int_list([1, 1])
    padding = int_list([0, 0])
    ceil_mode = flag(False)

    def wish(self) -> Wish:
        return Wish.WINDOW

    def window(self) -> Window:
        rank = len(self.SPATIAL)
        return Window(
            per_axis(ints(self.pool_size), rank, "pool_size"),
            per_axis(ints(self.strides), rank, "strides"),
            per_axis(ints(self.dilation), rank, "dilation"),
            *normalize_padding(ints(self.padding), rank),
            is_true(self.ceil_mode),
        )

    def places(self, extents: Sequence[int]) -> Sequence[int]:
        return self.window().outputs(extents)

    def pad_amounts(self, shape: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
        """What to pad before and after each dimension of the data."""
        window, positions = self.window(), self.positions()
        reach = window.reach([shape[p] for p in positions])
        return dict(zip(positions, window.before, strict=True)), dict(zip(positions, reach, strict=True))

    def reduced(self, kind: te.ReduceKind, x: te.Tensor, outside: float) -> te.Tensor:
        """The reduction over each window of `x`, with `outside` around it; sums are for means, in their accumulator."""
        window, positions = self.window(), self.positions()
        padded = pad_stage(x, *self.pad_amounts(x.shape), outside)
        taps = window.taps(self.SPATIAL)
        sum_type = self.accumulator(x.element_type) if kind == "sum" else x.element_type

        def body(*i: te.IterVar) -> te.Expr:
            read: list[te.Expr] = list(i)
            for axis, (p, k) in enumerate(zip(positions, taps, strict=True)):
                read[p] = window.tap(axis, i[p], k)
            return te.reduce(kind, te.cast(padded[tuple(read)], sum_type), taps)

        places = self.places([x.shape[p] for p in positions])
        return te.compute(self.with_spatial(x.shape, places), body, f"pool_{kind}")

    def accumulator(self, element: Attribute) -> Attribute:
        """The type in which windows are summed up."""
        return mean_accumulator(element, prod(self.window().kernel))

    def views(self, x: NDArray, outside: float) -> NDArray:
        """All windows of a NumPy array: `[..., *places, *taps]`, spatial axes moved to the end."""
        import numpy as np

        before, after = self.pad_amounts(x.shape)
        amounts = [(before.get(d, 0), after.get(d, 0)) for d in range(x.ndim)]
        padded = np.pad(x, amounts, constant_values=outside)
        return self.window().views(np.moveaxis(padded, self.positions(), range(-len(self.SPATIAL), 0)))

    def tap_axes(self) -> tuple[int, ...]:
        return tuple(range(-len(self.SPATIAL), 0))


class _MaxPool(WindowPool, ABC):
    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return self.reduced("max", x, te.reduce_identity("max", x.element_type).value)

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        outside = te.reduce_identity("max", tensor(self.data).element_type).value
        pooled = self.views(inputs[0], outside).max(axis=self.tap_axes())
        return np.moveaxis(pooled, range(-len(self.SPATIAL), 0), self.positions())

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.op(f"{self.name.removeprefix('relay.')}_grad", g.input, **self.properties)]


class AvgPoolBase(WindowPool, ABC):
    """The mean of what lies in the window: of the data alone, or with `count_include_pad` of the padding too.

    What a window in ceil mode covers beyond the padding is never counted (as in PyTorch and ONNX).
    """

    AVERAGES: ClassVar[bool] = True

    count_include_pad = flag(False)

    def taps_inside(self, axis: int, place: te.Expr, extent: int) -> te.Expr:
        """How many taps of the window at `place` count along one spatial axis."""
        window = self.window()
        kernel, step = window.kernel[axis], window.dilation[axis]
        begin = place * window.strides[axis]
        lower, upper = 0, window.before[axis] + extent + window.after[axis]
        if not is_true(self.count_include_pad):
            lower, upper = window.before[axis], window.before[axis] + extent
        furthest = (window.output(axis, extent) - 1) * window.strides[axis]
        count: te.Expr = te.const(kernel, te.index)
        if not te.surely_at_most(furthest + window.spans[axis], upper):  # the first tap beyond the end
            count = te.minimum(_ceil_div(te.dim_expr(upper) - begin, step), kernel)
        if lower > 0:  # less the taps before the beginning
            count = count - te.maximum(_ceil_div(te.const(lower, te.index) - begin, step), 0)
        return count


class _AvgPool(AvgPoolBase, ABC):
    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        total = self.reduced("sum", x, 0)
        positions = self.positions()

        def mean(*i: te.IterVar) -> te.Expr:
            count: te.Expr = te.const(1, te.index)
            for axis, p in enumerate(positions):
                count = count * self.taps_inside(axis, i[p], x.shape[p])
            return divided(total[i], te.maximum(count, 1))

        return narrow(te.compute(total.shape, mean, "pool_mean"), x.element_type)

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        (x,) = inputs
        element = tensor(self.data).element_type
        views = self.views(x.astype(numpy_dtype(self.accumulator(element)), copy=False), 0)
        total = views.sum(axis=self.tap_axes(), dtype=views.dtype)  # NumPy would sum short integers in long ones
        counted = np.ones([x.shape[p] for p in self.positions()], total.dtype)
        window = self.window()
        if is_true(self.count_include_pad):
            counted = np.pad(counted, list(zip(window.before, window.after, strict=True)), constant_values=1)
        else:
            counted = np.pad(counted, list(zip(window.before, window.after, strict=True)))
        _, reach = self.pad_amounts(x.shape)
        beyond = [(0, max(0, reach[p] - q)) for p, q in zip(self.positions(), window.after, strict=True)]
        count = window.views(np.pad(counted, beyond)).sum(axis=self.tap_axes())
        places = tuple(slice(0, n) for n in total.shape[-len(self.SPATIAL) :])
        counts = np.maximum(count[places], 1)
        mean = total / counts if isinstance(element, AnyFloat) else np.sign(total) * (np.abs(total) // counts)
        return np.moveaxis(mean, range(-len(self.SPATIAL), 0), self.positions()).astype(x.dtype)

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.op(f"{self.name.removeprefix('relay.')}_grad", g.input, **self.properties)]


def divided(total: te.Expr, count: te.Expr) -> te.Expr:
    """`total / count`, in the type of `total`; a count that is known becomes a literal."""
    return total / (te.const(count.value, total.type) if isinstance(count, te.Const) else te.cast(count, total.type))


def _ceil_div(value: te.Expr, step: int) -> te.Expr:
    return (value + (step - 1)) // step


@irdl_op_definition
class MaxPool1dOp(OneAxis, _MaxPool):
    """The maximum of each window along one spatial axis.

    `y[n, c, w] = max_k x[n, c, w*strides + k*dilation - padding]`

    ```mlir
    %y = relay.nn.max_pool1d %x {pool_size = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32>
    ```
    """  # noqa: E501

    name = "relay.nn.max_pool1d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT


@irdl_op_definition
class MaxPool2dOp(_MaxPool):
    """The maximum of each window along two spatial axes.

    `y[n, c, h, w] = max_{kh, kw} x[n, c, h*sh + kh*dh - ph, w*sw + kw*dw - pw]`

    ```mlir
    %y = relay.nn.max_pool2d %x {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>}
       : (tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32>
    ```
    """

    name = "relay.nn.max_pool2d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT


@irdl_op_definition
class MaxPool3dOp(ThreeAxes, _MaxPool):
    """The maximum of each window along three spatial axes.

    `y[n, c, d, h, w] = max_{kd, kh, kw} x[n, c, d*sd + kd*dd - pd, h*sh + kh*dh - ph, w*sw + kw*dw - pw]`

    ```mlir
    %y = relay.nn.max_pool3d %x {pool_size = array<i64: 2, 2, 2>} : (tensor<1x1x3x3x3xf32>) -> tensor<1x1x2x2x2xf32>
    ```
    """

    name = "relay.nn.max_pool3d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.EXACT


@irdl_op_definition
class AvgPool1dOp(OneAxis, _AvgPool):
    """The mean of each window along one spatial axis.

    `y[n, c, w] = mean_k x[n, c, w*strides + k*dilation - padding]`

    ```mlir
    %y = relay.nn.avg_pool1d %x {pool_size = array<i64: 3>, padding = array<i64: 1>} : (tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
    ```
    """  # noqa: E501

    name = "relay.nn.avg_pool1d"


@irdl_op_definition
class AvgPool2dOp(_AvgPool):
    """The mean of each window along two spatial axes.

    `y[n, c, h, w] = mean_{kh, kw} x[n, c, h*sh + kh*dh - ph, w*sw + kw*dw - pw]`

    ```mlir
    %y = relay.nn.avg_pool2d %x {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>}
       : (tensor<1x2x6x6xf32>) -> tensor<1x2x3x3xf32>
    ```
    """

    name = "relay.nn.avg_pool2d"


@irdl_op_definition
class AvgPool3dOp(ThreeAxes, _AvgPool):
    """The mean of each window along three spatial axes.

    `y[n, c, d, h, w] = mean_{kd, kh, kw} x[n, c, d*sd + kd*dd - pd, h*sh + kh*dh - ph, w*sw + kw*dw - pw]`

    ```mlir
    %y = relay.nn.avg_pool3d %x {pool_size = array<i64: 2, 2, 2>} : (tensor<1x1x3x3x3xf32>) -> tensor<1x1x2x2x2xf32>
    ```
    """

    name = "relay.nn.avg_pool3d"


OPS: list[type[Operation]] = [
    MaxPool1dOp, MaxPool2dOp, MaxPool3dOp, AvgPool1dOp, AvgPool2dOp, AvgPool3dOp,
]  # fmt: skip
"""The pools with windows."""

WINDOWED: dict[int, type[WindowPool]] = {1: MaxPool1dOp, 2: MaxPool2dOp, 3: MaxPool3dOp}
"""The maximum over windows, by the number of spatial axes."""
