"""Gradients of the pools with windows, as operators of their own: `relay.nn.max_pool2d_grad` and the like.

Each element of the data gets what the windows that it lies in give it: all of a window's gradient where it is the
window's maximum, the first one of several, or its share of a mean.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ...base import RelayOp, compatible, tensor
from ...indexing import row_major
from ...nn_common import accumulator, narrow, pad_stage
from ...shapes import check_extents
from .pool import AvgPool1dOp, AvgPool2dOp, AvgPool3dOp, AvgPoolBase, OneAxis, ThreeAxes, WindowPool, divided

if TYPE_CHECKING:
    from ...gradient import Gradient, Terms


class _PoolGradient(WindowPool, ABC):
    """What the gradients share: `out_grad` is that of the pool's result, `data` what the pool is of."""

    out_grad = operand_def(TensorType)

    def infer(self) -> Sequence[Attribute]:
        data, out_grad = tensor(self.data), tensor(self.out_grad)
        (pooled,) = super().infer()
        if not compatible(pooled, out_grad):
            raise VerifyException(f"the gradient of a pool of {data} is {pooled}, not {out_grad}")
        return [data]

    channel_block = RelayOp.channel_block  # gradients are taken before channels are put into blocks

    def check_gradient(self, grad: te.Tensor, x: te.Tensor) -> None:
        """Hold the gradient to one element for each window: of extents that are symbols it is noted that they must.

        Raises:
            VerifyException: it has others.
        """
        places = self.places([x.shape[p] for p in self.positions()])
        check_extents("the gradient", grad.shape, self.with_spatial(x.shape, places))

    def spread(
        self, x: te.Tensor, places: Sequence[int], share: Callable[..., te.Expr], element: Attribute
    ) -> te.Tensor:
        """For each element of the data the sum of `share(index of the window, number of the tap)` over the windows that
        it lies in."""
        window, positions = self.window(), self.positions()
        taps = window.taps(self.SPATIAL)

        def body(*i: te.IterVar) -> te.Expr:
            at: list[te.Expr] = list(i)
            inside: list[te.Expr] = []
            for axis, (p, k) in enumerate(zip(positions, taps, strict=True)):
                stride = window.strides[axis]
                first = i[p] + window.before[axis] - k * window.dilation[axis]
                at[p] = first // stride
                inside += [first >= 0, at[p] < places[axis]]
                if stride > 1:
                    inside.append((first % stride).equal(0))
            return te.sum(te.select(te.all_of(inside), share(at, taps), te.const(0, element)), taps)

        return te.compute(x.shape, body, "pool_gradient")


class _MaxPoolGradient(_PoolGradient, ABC):
    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        grad, x = inputs
        self.check_gradient(grad, x)
        window, positions = self.window(), self.positions()
        padded = pad_stage(x, *self.pad_amounts(x.shape), te.reduce_identity("max", x.element_type).value)
        places, count = [grad.shape[p] for p in positions], prod(window.kernel)

        def tapped(i: Sequence[te.Expr], taps: Sequence[te.IterVar]) -> te.Expr:
            read: list[te.Expr] = list(i)
            for axis, (p, k) in enumerate(zip(positions, taps, strict=True)):
                read[p] = window.tap(axis, i[p], k)
            return padded[tuple(read)]

        def first(*i: te.IterVar) -> te.Expr:
            taps = window.taps(self.SPATIAL)
            number = te.cast(row_major(taps, window.kernel), i32)
            return te.min(te.select(tapped(i, taps).equal(pooled[i]), number, te.const(count, i32)), taps)

        pooled = self.reduced("max", x, te.reduce_identity("max", x.element_type).value)
        chosen = te.compute(grad.shape, first, "pool_argmax")
        element = accumulator(x.element_type)

        def share(at: Sequence[te.Expr], tap: Sequence[te.IterVar]) -> te.Expr:
            number = te.cast(row_major(tap, window.kernel), i32)
            return te.select(chosen[tuple(at)].equal(number), te.cast(grad[tuple(at)], element), te.const(0, element))

        return narrow(self.spread(x, places, share, element), x.element_type)

    def gradient(self, g: Gradient) -> Terms:
        """By the gradient: what stands where each window has its maximum. By the data there is none, but for jumps."""
        g.static()
        (_, x), window, positions = g.inputs, self.window(), self.positions()
        before, after = self.pad_amounts(x.shape)
        widths = [n for d in range(len(x.shape)) for n in (before.get(d, 0), after.get(d, 0))]
        places = [g.inputs[0].shape[p] for p in positions]
        lowest = te.reduce_identity("max", x.type.element_type).value
        largest = chosen = None
        padded = [term.op("nn.pad", value, pad_width=widths) for term, value in ((x, lowest), (g.grad, 0))]
        for tap in product(*map(range, window.kernel)):
            begin = [k * step for k, step in zip(tap, window.dilation, strict=True)]
            end = [b + (n - 1) * stride + 1 for b, n, stride in zip(begin, places, window.strides, strict=True)]
            cut = {"begin": begin, "end": end, "strides": window.strides, "axes": positions}
            value, term = (each.op("strided_slice", **cut) for each in padded)
            if largest is None or chosen is None:
                largest, chosen = value, term
            else:
                here = value > largest
                largest, chosen = value.where(here, largest), term.where(here, chosen)
        return [chosen, None]


class _AvgPoolGradient(AvgPoolBase, _PoolGradient, ABC):
    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        grad, x = inputs
        self.check_gradient(grad, x)
        positions = self.positions()
        element = accumulator(x.element_type)

        def share(at: Sequence[te.Expr], tap: Sequence[te.IterVar]) -> te.Expr:
            count: te.Expr = te.const(1, te.index)
            for axis, p in enumerate(positions):
                count = count * self.taps_inside(axis, at[p], x.shape[p])
            return divided(te.cast(grad[tuple(at)], element), te.maximum(count, 1))

        return narrow(self.spread(x, [grad.shape[p] for p in positions], share, element), x.element_type)

    def gradient(self, g: Gradient) -> Terms:
        return [g.grad.op(AVERAGED[len(self.SPATIAL)], **self.properties), None]


@irdl_op_definition
class MaxPool1dGradOp(OneAxis, _MaxPoolGradient):
    """The gradient of `nn.max_pool1d`: each window's goes to the first of its largest elements.

    `dx[n, c, i] = sum_p dy[n, c, p] * (i is the place of the maximum of window p)`

    ```mlir
    %y = relay.nn.max_pool1d_grad %g, %x {pool_size = array<i64: 2>, strides = array<i64: 2>}
       : (tensor<1x2x3xf32>, tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
    ```
    """

    name = "relay.nn.max_pool1d_grad"


@irdl_op_definition
class MaxPool2dGradOp(_MaxPoolGradient):
    """The gradient of `nn.max_pool2d`: each window's goes to the first of its largest elements.

    `dx[n, c, i] = sum_p dy[n, c, p] * (i is the place of the maximum of window p)`

    ```mlir
    %y = relay.nn.max_pool2d_grad %g, %x {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
       : (tensor<1x2x3x3xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
    ```
    """

    name = "relay.nn.max_pool2d_grad"


@irdl_op_definition
class MaxPool3dGradOp(ThreeAxes, _MaxPoolGradient):
    """The gradient of `nn.max_pool3d`: each window's goes to the first of its largest elements.

    `dx[n, c, i] = sum_p dy[n, c, p] * (i is the place of the maximum of window p)`

    ```mlir
    %y = relay.nn.max_pool3d_grad %g, %x {pool_size = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>}
       : (tensor<1x1x2x2x2xf32>, tensor<1x1x4x4x4xf32>) -> tensor<1x1x4x4x4xf32>
    ```
    """

    name = "relay.nn.max_pool3d_grad"


@irdl_op_definition
class AvgPool1dGradOp(OneAxis, _AvgPoolGradient):
    """The gradient of `nn.avg_pool1d`: each window's goes in equal parts to its elements.

    `dx[n, c, i] = sum_p dy[n, c, p] * (i lies in window p) / (elements of window p)`

    ```mlir
    %y = relay.nn.avg_pool1d_grad %g, %x {pool_size = array<i64: 2>, strides = array<i64: 2>}
       : (tensor<1x2x3xf32>, tensor<1x2x6xf32>) -> tensor<1x2x6xf32>
    ```
    """

    name = "relay.nn.avg_pool1d_grad"


@irdl_op_definition
class AvgPool2dGradOp(_AvgPoolGradient):
    """The gradient of `nn.avg_pool2d`: each window's goes in equal parts to its elements.

    `dx[n, c, i] = sum_p dy[n, c, p] * (i lies in window p) / (elements of window p)`

    ```mlir
    %y = relay.nn.avg_pool2d_grad %g, %x {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
       : (tensor<1x2x3x3xf32>, tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
    ```
    """

    name = "relay.nn.avg_pool2d_grad"


@irdl_op_definition
class AvgPool3dGradOp(ThreeAxes, _AvgPoolGradient):
    """The gradient of `nn.avg_pool3d`: each window's goes in equal parts to its elements.

    `dx[n, c, i] = sum_p dy[n, c, p] * (i lies in window p) / (elements of window p)`

    ```mlir
    %y = relay.nn.avg_pool3d_grad %g, %x {pool_size = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>}
       : (tensor<1x1x2x2x2xf32>, tensor<1x1x4x4x4xf32>) -> tensor<1x1x4x4x4xf32>
    ```
    """

    name = "relay.nn.avg_pool3d_grad"


OPS: list[type[Operation]] = [
    MaxPool1dGradOp, MaxPool2dGradOp, MaxPool3dGradOp, AvgPool1dGradOp, AvgPool2dGradOp, AvgPool3dGradOp,
]  # fmt: skip
"""The gradients of pools."""

AVERAGED: dict[int, type[WindowPool]] = {1: AvgPool1dOp, 2: AvgPool2dOp, 3: AvgPool3dOp}
"""The mean over windows, by the number of spatial axes."""
