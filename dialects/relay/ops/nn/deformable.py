"""Deformable convolution (Dai et al., 2017): the taps of each window are moved by offsets that are data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, opt_operand_def
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ...base import compatible, integer, shape_of, string, tensor
from ...layout import unblocked
from ...nn_common import accumulator, narrow
from ...precision import Accuracy
from ...resample import one_of
from ...sampling import Image, both, interpolated
from ..image import clamped_index, interpolate, linear_weights
from .convolution_base import Convolution

if TYPE_CHECKING:
    from ...base import NDArray
    from ...gradient import Gradient, Term, Terms


@irdl_op_definition
class DeformableConv2dOp(Convolution):
    """A convolution along two spatial axes whose taps are read at places moved by `offset`, between elements too.

    `offset` is `[n, deformable_groups * kh * kw * 2, oh, ow]`: for each group of channels and each tap how far down and
    how far to the right. A tap that lies before the first element of an axis is zero, and one beyond the last is
    interpolated with zeros, as in TVM and MXNet; with `edges = "interpolated"` both are, as in ONNX. With a `mask`
    `[n, deformable_groups * kh * kw, oh, ow]`, each tap is scaled.

    `y[n, o, h, w] = sum_{i, kh, kw} x[n, i, h*sh + kh*dh - ph + dy, w*sw + kw*dw - pw + dx] * weight[o, i, kh, kw]`

    ```mlir
    %y = relay.nn.deformable_conv2d %x, %offset, %w {padding = array<i64: 1, 1>}
       : (tensor<1x2x4x4xf32>, tensor<1x18x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32>
    ```
    """

    name = "relay.nn.deformable_conv2d"
    ACCURACY: ClassVar[Accuracy | None] = Accuracy.PLACED

    data = operand_def(TensorType)
    offset = operand_def(TensorType)
    weight = operand_def(TensorType)
    mask = opt_operand_def(TensorType)

    deformable_groups = integer(1)
    edges = string("cut")

    LAYOUTS: ClassVar[tuple[str, ...]] = ()

    def implied(self) -> Mapping[int, Attribute]:
        """The weight's, and the offset's, where the numbers of channels and taps are told."""
        types = dict(super().implied())
        if 2 not in types or self.layouts()[1].text != "OIHW":
            return types
        data = tensor(self.data)
        batch, _, *extents = data.get_shape()
        window, groups = self.window(shape := tensor(types[2]).get_shape()), self.deformable_groups.value.data
        places = window.outputs(extents)
        types[1] = TensorType(data.element_type, [batch, groups * 2 * prod(shape[2:]), *places])
        return types

    def infer(self) -> Sequence[Attribute]:
        layouts = tuple(layout.text for layout in self.layouts())
        if layouts != ("NCHW", "OIHW", "NCHW"):
            raise VerifyException(f"the layouts are NCHW, OIHW and NCHW, not {', '.join(layouts)}")
        one_of(self.edges.data, ("cut", "interpolated"), "edges")
        (result,) = super().infer()
        batch, channels, *_ = shape_of(self.data)
        taps = self.window(shape_of(self.weight)).kernel
        groups = self.deformable_groups.value.data
        if groups < 1 or channels % groups:
            raise VerifyException(f"{channels} channels do not divide into {groups} deformable groups")
        for value, each, what in ((self.offset, 2, "offset"), (self.mask, 1, "mask")):
            if value is None:
                continue
            count = groups * taps[0] * taps[1] * each
            wanted = TensorType(tensor(self.data).element_type, [batch, count, *shape_of(result)[2:]])
            if not compatible(wanted, value.type):
                raise VerifyException(f"the {what} is {wanted}, not {value.type}")
        return [result]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, offset, weight, *masks = inputs
        result = tensor(self.result)
        wide = accumulator(result.element_type)
        window, groups = self.window(weight.shape), self.group_count()
        (rows, columns), extents = window.kernel, x.shape[2:]
        shared = x.shape[1] // self.deformable_groups.value.data
        places = result.get_shape()[2:]

        def tap(*indices: te.IterVar) -> te.Expr:
            n, c, i, j, p, q = indices
            number = (c // shared * rows + i) * columns + j
            at = [
                te.cast(window.tap(axis, place, k) - window.before[axis], f32)
                + te.cast(offset[n, number * 2 + axis, p, q], f32)
                for axis, (place, k) in enumerate(((p, i), (q, j)))
            ]

            def read(*position: te.Expr) -> te.Expr:
                h, w = (
                    clamped_index(te.cast(v, te.index), extent) for v, extent in zip(position, extents, strict=True)
                )
                ends = [e for v, m in zip(position, extents, strict=True) for e in (v >= 0, v <= float(m - 1))]
                return te.select(te.all_of(ends), te.cast(x[n, c, h, w], f32), 0)

            value = interpolate(read, at, linear_weights, 0)
            if self.edges.data == "cut":
                value = te.select(te.all_of([v >= 0 for v in at]), value, 0)
            return te.cast(value * te.cast(masks[0][n, number, p, q], f32) if masks else value, wide)

        taps = te.compute([*x.shape[:2], rows, columns, *places], tap, "deformed")
        per_group, outputs = weight.shape[1], weight.shape[0] // groups
        ic = te.reduce_axis(per_group, "ic")
        kh, kw = window.taps(self.SPATIAL)

        def body(n: te.IterVar, o: te.IterVar, p: te.IterVar, q: te.IterVar) -> te.Expr:
            channel = ic if groups == 1 else o // outputs * per_group + ic
            return te.sum(taps[n, channel, kh, kw, p, q] * te.cast(weight[o, ic, kh, kw], wide), (ic, kh, kw))

        return narrow(te.compute(result.get_shape(), body, "deformable_conv2d"), result.element_type)

    def gradient(self, g: Gradient) -> Terms:
        """By all operands: of a product of the weight with the taps `[n, group, channel, kh, kw, h, w]`."""
        import numpy as np

        g.static()
        x, offset, weight, *masks = g.inputs
        deformed, window, groups = self.deformable_groups.value.data, self.window(weight.shape), self.group_count()
        batch, channels, *extents = x.shape
        taps, places = window.kernel, g.output.shape[2:]
        image = Image(x, unblocked("NCHW", "NCHW", "layout"))
        moves = offset.reshape([batch, deformed, *taps, 2, *places])

        def numbers(array: NDArray, *axes: int) -> Term:
            shape = [1] * 7
            for axis, extent in zip(axes, array.shape, strict=True):
                shape[axis] = extent
            return x.constant(array.reshape(shape), f32)

        at: list[Term] = []
        for axis, (place, tap) in enumerate(zip(places, taps, strict=True)):
            rest = np.arange(tap)[:, None] * window.dilation[axis] + np.arange(place) * window.strides[axis]
            moved = moves.slice_along(4, axis, axis + 1).reshape([batch, deformed, 1, *taps, *places]).cast(f32)
            at.append(moved + numbers(rest - window.before[axis], 3 + axis, 5 + axis))
        others = {
            "N": numbers(np.arange(batch), 0),
            "C": numbers(np.arange(channels).reshape(deformed, channels // deformed), 1, 2),
        }

        def read(*position: Term) -> Term:
            ends = [c for p, n in zip(position, extents, strict=True) for c in (p >= 0, p <= float(n - 1))]
            h, w = position
            return image.read({**others, "H": h, "W": w}).where(both(ends))

        value = interpolated(read, at)
        if self.edges.data == "cut":
            value = value.where(both([p >= 0 for p in at]))
        if masks:
            value = value * masks[0].reshape([batch, deformed, 1, *taps, *places]).cast(f32)
        size, count = prod(weight.shape[1:]), weight.shape[0] // groups
        columns = value.cast(weight.type.element_type).reshape([batch, groups * size, prod(places)])
        rows = weight.reshape([1, weight.shape[0], size])
        results = [
            rows.slice_along(1, k * count, (k + 1) * count).op(
                "nn.batch_matmul", columns.slice_along(1, k * size, (k + 1) * size), transpose_b=False
            )
            for k in range(groups)
        ]
        result = results[0].concatenated(results[1:], 1).reshape(g.output.shape)
        return g.through(result.cast(g.output.type.element_type))

    def numpy(self, *inputs: NDArray) -> NDArray | None:
        return None


OPS: list[type[Operation]] = [DeformableConv2dOp]
"""The deformable convolutions."""
