"""Transposed convolutions: `relay.nn.conv1d/2d/3d_transpose`.

The data is spread out, `strides - 1` zeros between its elements, and padded; then a convolution with the kernel turned
round goes over it. One stage each, so that the heavy one is a plain convolution.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.dtypes import numpy_dtype
from ....support.operations import irdl_op_definition
from ....te.assume import agree
from ...base import DYNAMIC, int_list, ints, is_told, string, tensor
from ...layout import parse_layout, transform_array
from ...nn_common import Window, accumulator, narrow, per_axis, widened
from .convolution_base import ConvolutionBase, convolve
from .convolution_gradient import transposed_gradient

if TYPE_CHECKING:
    from ...base import NDArray
    from ...gradient import Gradient, Terms


class _TransposedConvolution(ConvolutionBase, ABC):
    """What the transposed convolutions share. The kernel is `[IC, OC / groups, *taps]`: `I` before `O`."""

    KERNEL: ClassVar[str] = "IO"

    kernel_layout = string("IOHW")
    output_padding = int_list([0, 0])

    def output_extents(self, extents: Sequence[int], window: Window) -> tuple[int, ...]:
        extra = per_axis(ints(self.output_padding), len(extents), "output_padding", least=0)
        spans = window.spans
        result: list[int] = []
        for axis, n in enumerate(extents):
            if extra[axis] >= max(window.strides[axis], window.dilation[axis]):
                raise VerifyException(f"'output_padding' {extra[axis]} must be smaller than stride or dilation")
            places = (n - 1) * window.strides[axis] + spans[axis] + extra[axis]
            places -= window.before[axis] + window.after[axis]
            if is_told(n) and not te.at_most(1, places):
                raise VerifyException(f"'padding' leaves nothing of spatial extent {n}")
            result.append(DYNAMIC if n == DYNAMIC else places)
        return tuple(result)

    def check_channels(self, data: Sequence[int], weight: Sequence[int]) -> None:
        layout, kernel, _ = self.layouts()
        inputs, taken = data[layout.position("C")], weight[kernel.position("I")]
        if DYNAMIC not in (inputs, taken) and inputs != taken:
            raise VerifyException(
                f"the data {list(data)} has {inputs} channels, the weight {list(weight)} takes {taken}"
            )
        if inputs != DYNAMIC and inputs % self.group_count():
            raise VerifyException(f"{inputs} input channels do not divide into {self.group_count()} groups")

    def output_channels(self, weight: Sequence[int]) -> int:
        kernel = self.layouts()[1]
        per_group = weight[kernel.position("O")]
        outputs = DYNAMIC if per_group == DYNAMIC else per_group * self.group_count()
        if self.channels is not None and outputs not in (DYNAMIC, self.channels.value.data):
            raise VerifyException(f"'channels' is {self.channels.value.data}, but the weight has {outputs}")
        return outputs

    def spread(self, x: te.Tensor, window: Window, places: Sequence[int]) -> te.Tensor:
        """`x` with `strides - 1` zeros between its elements, padded for a window that moves by one to `places`."""
        layout = self.layouts()[0]
        positions = [layout.position(letter) for letter in self.SPATIAL]
        spans = window.spans
        shape = list(x.shape)
        lead = [span - 1 - before for span, before in zip(spans, window.before, strict=True)]
        for axis, p in enumerate(positions):
            shape[p] = places[axis] + spans[axis] - 1
        if shape == list(x.shape) and all(te.is_number(n) and n == 0 for n in lead) and set(window.strides) == {1}:
            return x

        def body(*i: te.IterVar) -> te.Expr:
            read: list[te.Expr] = list(i)
            inside: list[te.Expr] = []
            for axis, p in enumerate(positions):
                stride, at = window.strides[axis], i[p] - lead[axis]
                if not te.surely_at_most(lead[axis], 0):
                    inside.append(at >= 0)
                if not te.surely_at_most(shape[p] - lead[axis], (x.shape[p] - 1) * stride + 1):
                    inside.append(at <= (x.shape[p] - 1) * stride)
                if stride > 1:
                    inside.append((at % stride).equal(0))
                read[p] = at // stride
            return te.select(te.all_of(inside), x[tuple(read)], 0)

        return te.compute(shape, body, "data_dilate")

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        data, weight = inputs
        layout, kernel, out_layout = self.layouts()
        result = tensor(self.result)
        sum_type = accumulator(result.element_type)
        window = self.window(weight.shape)
        shape = self.result_extents(data, weight)
        places = [shape[out_layout.position(letter)] for letter in self.SPATIAL]
        spread, once = self.spread(data, window, places), replace(window, strides=(1,) * len(self.SPATIAL))
        groups, outputs = self.group_count(), weight.shape[kernel.position("O")]
        if not agree(data.shape[layout.position("C")], weight.shape[kernel.position("I")]):
            raise TypeError("te: it is not known whether the channels of the data are those of the weight")
        ic = te.reduce_axis(weight.shape[kernel.position("I")] // groups, "ic")
        taps = window.taps(self.SPATIAL)

        def body(*indices: te.IterVar) -> te.Expr:
            out: dict[str, te.Expr] = dict(zip(out_layout.names, indices, strict=True))
            channel = ic if groups == 1 else out["C"] // outputs * ic.extent + ic
            read: dict[str, te.Expr] = {"N": out["N"], "C": channel}
            taken: dict[str, te.Expr] = {"I": channel, "O": out["C"] if groups == 1 else out["C"] % outputs}
            for axis, (letter, k) in enumerate(zip(self.SPATIAL, taps, strict=True)):
                read[letter] = once.tap(axis, out[letter], k)
                taken[letter] = te.dim_expr(window.kernel[axis] - 1) - k
            lhs, rhs = spread[layout.arrange(read)], weight[kernel.arrange(taken)]
            return te.sum(te.cast(lhs, sum_type) * te.cast(rhs, sum_type), (ic, *taps))

        name = self.name.removeprefix("relay.nn.")
        return narrow(te.compute(shape, body, name), result.element_type)

    def numpy(self, *inputs: NDArray) -> NDArray:
        import numpy as np

        data, weight = inputs
        layout, kernel, out_layout = self.layouts()
        result = tensor(self.result)
        window, rank, groups = self.window(weight.shape), len(self.SPATIAL), self.group_count()
        plain_layout = parse_layout("NC" + self.SPATIAL)
        plain = transform_array(widened(data, result.element_type), layout, plain_layout)
        places = [result.get_shape()[out_layout.position(letter)] for letter in self.SPATIAL]
        # every element at its stride, as far from the beginning as the window reaches back
        reach = [n + span - 1 for n, span in zip(places, window.spans, strict=True)]
        room = [
            max(r, (n - 1) * s + span)
            for r, n, s, span in zip(reach, plain.shape[2:], window.strides, window.spans, strict=True)
        ]
        spread = np.zeros((*plain.shape[:2], *(n + b for n, b in zip(room, window.before, strict=True))), plain.dtype)
        at = [
            slice(span - 1, span - 1 + (n - 1) * s + 1, s)
            for span, n, s in zip(window.spans, plain.shape[2:], window.strides, strict=True)
        ]
        spread[(slice(None), slice(None), *at)] = plain
        spread = spread[
            (slice(None), slice(None), *(slice(b, b + r) for b, r in zip(window.before, reach, strict=True)))
        ]
        taps = transform_array(widened(weight, result.element_type), kernel, parse_layout("IO" + self.SPATIAL))
        grouped = taps.reshape(groups, taps.shape[0] // groups, *taps.shape[1:]).swapaxes(1, 2)
        outputs = grouped.reshape(groups * taps.shape[1], *grouped.shape[2:])
        turned = np.flip(outputs, tuple(range(2, 2 + rank)))
        out = convolve(spread, turned, replace(window, strides=(1,) * rank), groups)
        return transform_array(out, plain_layout, out_layout).astype(numpy_dtype(result.element_type), copy=False)

    def gradient(self, g: Gradient) -> Terms:
        return transposed_gradient(g, self.plain(g), self.group_count())


@irdl_op_definition
class Conv1dTransposeOp(_TransposedConvolution):
    """Transposed convolution along one spatial axis: the gradient of `conv1d` by its data.

    `y[n, o, w*strides + k*dilation - padding] += x[n, i, w] * weight[i, o, k]`

    The kernel is `[i, o, k]`, which is called `IOW` here (TVM calls the same order `OIW`).

    ```mlir
    %y = relay.nn.conv1d_transpose %x, %w {strides = array<i64: 2>} : (tensor<1x2x3xf32>, tensor<2x4x3xf32>) -> tensor<1x4x7xf32>
    ```
    """  # noqa: E501

    name = "relay.nn.conv1d_transpose"
    SPATIAL: ClassVar[str] = "W"

    strides = int_list([1])
    padding = int_list([0])
    dilation = int_list([1])
    data_layout = string("NCW")
    kernel_layout = string("IOW")
    output_padding = int_list([0])


@irdl_op_definition
class Conv2dTransposeOp(_TransposedConvolution):
    """Transposed convolution along two spatial axes: the gradient of `conv2d` by its data.

    `y[n, o, h*sh + kh*dh - ph, w*sw + kw*dw - pw] += x[n, i, h, w] * weight[i, o, kh, kw]`

    ```mlir
    %y = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>}
       : (tensor<1x2x3x3xf32>, tensor<2x4x3x3xf32>) -> tensor<1x4x5x5xf32>
    ```
    """

    name = "relay.nn.conv2d_transpose"


@irdl_op_definition
class Conv3dTransposeOp(_TransposedConvolution):
    """Transposed convolution along three spatial axes: the gradient of `conv3d` by its data.

    `y[n, o, d*sd + kd*dd - pd, ...] += x[n, i, d, h, w] * weight[i, o, kd, kh, kw]`

    The kernel is `[i, o, kd, kh, kw]`, which is called `IODHW` here (TVM calls the same order `OIDHW`).

    ```mlir
    %y = relay.nn.conv3d_transpose %x, %w : (tensor<1x2x2x2x2xf32>, tensor<2x1x2x2x2xf32>) -> tensor<1x1x3x3x3xf32>
    ```
    """

    name = "relay.nn.conv3d_transpose"
    SPATIAL: ClassVar[str] = "DHW"

    strides = int_list([1, 1, 1])
    padding = int_list([0, 0, 0])
    dilation = int_list([1, 1, 1])
    data_layout = string("NCDHW")
    kernel_layout = string("IODHW")
    output_padding = int_list([0, 0, 0])


OPS: list[type[Operation]] = [Conv1dTransposeOp, Conv2dTransposeOp, Conv3dTransposeOp]
"""The transposed convolutions."""
