"""Deformable convolution (Dai et al., 2017): the taps of each window are moved by offsets that are data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, opt_operand_def
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ...base import compatible, integer, shape_of, string, tensor
from ...layout import parse_layout, unblocked
from ...nn_common import accumulator, narrow
from ...precision import Accuracy
from ...resample import one_of
from ...sampling import Image, both, interpolated
from ...shapes import check_extents
from ..image import clamped_index, interpolate, linear_weights, real_extent
from .convolution_base import Convolution

if TYPE_CHECKING:
    from ...base import NDArray, Tensor
    from ...gradient import Gradient, Term, Terms


@irdl_op_definition
class DeformableConv2dOp(Convolution):
    """A convolution along two spatial axes whose taps are read at places moved by `offset`, between elements too.

    `offset` is `[n, deformable_groups * kh * kw * 2, oh, ow]`, laid out as the data and the result are: for each group
    of channels and each tap how far down and how far to the right. A tap that lies before the first element of an axis
    is zero, and one beyond the last is interpolated with zeros, as in TVM and MXNet; with `edges = "interpolated"` both
    are, as in ONNX. With a `mask` `[n, deformable_groups * kh * kw, oh, ow]`, each tap is scaled.

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

    LAYOUTS: ClassVar[tuple[str, ...]] = ("data_layout", "data_layout", "kernel_layout", "data_layout")

    def implied(self) -> Mapping[int, Attribute]:
        """The weight's, and the offset's, where the numbers of channels and taps are told."""
        types = dict(super().implied())
        if 2 not in types:
            return types
        layout, data = self.layouts()[0], tensor(self.data)
        window, extents = self.window(tensor(types[2]).get_shape()), layout.extents(data.get_shape())
        places = window.outputs([extents[letter] for letter in self.SPATIAL])
        types[1] = TensorType(data.element_type, self._told(extents["N"], 2, window.kernel, places))
        return types

    def _told(self, batch: int, each: int, taps: Sequence[int], places: Sequence[int]) -> tuple[int, ...]:
        """The shape of what has so many numbers for each group, tap and place."""
        count = self.deformable_groups.value.data * prod(taps) * each
        return self.layouts()[0].shape({"N": batch, "C": count, **dict(zip(self.SPATIAL, places, strict=True))})

    def infer(self) -> Sequence[Attribute]:
        layout, _, out_layout = self.layouts()
        if layout != out_layout:
            raise VerifyException(f"the result is laid out as the data, {layout.text}, not {out_layout.text}")
        one_of(self.edges.data, ("cut", "interpolated"), "edges")
        (result,) = super().infer()
        extents, places = (layout.extents(shape) for shape in (shape_of(self.data), cast("Tensor", result).get_shape()))
        taps, groups = self.window(shape_of(self.weight)).kernel, self.deformable_groups.value.data
        if groups < 1 or extents["C"] % groups:
            raise VerifyException(f"{extents['C']} channels do not divide into {groups} deformable groups")
        for value, each, what in ((self.offset, 2, "offset"), (self.mask, 1, "mask")):
            if value is None:
                continue
            shape = self._told(extents["N"], each, taps, [places[letter] for letter in self.SPATIAL])
            wanted = TensorType(tensor(self.data).element_type, shape)
            if not compatible(wanted, value.type):
                raise VerifyException(f"the {what} is {wanted}, not {value.type}")
        return [result]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, offset, weight, *masks = inputs
        layout, kernel, _ = self.layouts()
        result = tensor(self.result)
        wide = accumulator(result.element_type)
        window, groups = self.window(weight.shape), self.group_count()
        sizes, weights = layout.extents(x.shape), kernel.extents(weight.shape)
        rows, columns = window.kernel
        extents = [sizes[letter] for letter in self.SPATIAL]
        places = window.outputs(extents)
        shape = layout.shape({"N": sizes["N"], "C": weights["O"], **dict(zip(self.SPATIAL, places, strict=True))})
        for told in (offset, *masks):
            found = layout.extents(told.shape)
            for letter, extent in zip(("N", *self.SPATIAL), (sizes["N"], *places), strict=True):
                if not te.agree(extent, found[letter]):
                    raise TypeError(f"te: an offset and the result have {found[letter]} and {extent} along {letter}")
        check_extents("the weight", [weights["I"] * groups], [sizes["C"]])
        if any(isinstance(taps, te.Expr) for taps in window.kernel):
            raise TypeError("te: it depends on how many taps the kernel has")
        shared = sizes["C"] // self.deformable_groups.value.data
        for told, numbers in zip((offset, *masks), (2, 1), strict=False):
            taps = numbers * self.deformable_groups.value.data * rows * columns
            check_extents("an offset or mask", [layout.extents(told.shape)["C"]], [taps])

        def tap(*indices: te.IterVar) -> te.Expr:
            n, c, i, j, p, q = indices
            number = (c // shared * rows + i) * columns + j

            def told(source: te.Tensor, at: te.Expr) -> te.Expr:
                return te.cast(source[layout.arrange({"N": n, "C": at, "H": p, "W": q})], f32)

            at = [
                te.cast(window.tap(axis, place, k) - window.before[axis], f32) + told(offset, number * 2 + axis)
                for axis, (place, k) in enumerate(((p, i), (q, j)))
            ]

            def read(*position: te.Expr) -> te.Expr:
                h, w = (
                    clamped_index(te.cast(v, te.index), extent) for v, extent in zip(position, extents, strict=True)
                )
                ends = [e for v, m in zip(position, extents, strict=True) for e in (v >= 0, v <= real_extent(m - 1))]
                return te.select(te.all_of(ends), te.cast(x[layout.arrange({"N": n, "C": c, "H": h, "W": w})], f32), 0)

            value = interpolate(read, at, linear_weights, 0)
            if self.edges.data == "cut":
                value = te.select(te.all_of([v >= 0 for v in at]), value, 0)
            return te.cast(value * told(masks[0], number) if masks else value, wide)

        taps = te.compute([sizes["N"], sizes["C"], rows, columns, *places], tap, "deformed")
        per_group, outputs = weights["I"], weights["O"] // groups
        ic = te.reduce_axis(per_group, "ic")
        kh, kw = window.taps(self.SPATIAL)

        def body(*indices: te.IterVar) -> te.Expr:
            at: dict[str, te.Expr] = dict(zip(layout.names, indices, strict=True))
            o = at["C"]
            channel = ic if groups == 1 else o // outputs * per_group + ic
            factor = te.cast(weight[kernel.arrange({"O": o, "I": ic, "H": kh, "W": kw})], wide)
            return te.sum(taps[at["N"], channel, kh, kw, at["H"], at["W"]] * factor, (ic, kh, kw))

        return narrow(te.compute(shape, body, "deformable_conv2d"), result.element_type)

    def gradient(self, g: Gradient) -> Terms:
        """By all operands: of a product of the weight with the taps `[n, group, channel, kh, kw, h, w]`."""
        import numpy as np

        g.static()
        layout, kernel, _ = (each.text for each in self.layouts())
        window = self.window(g.inputs[2].shape)
        x, offset, *masks = (each.relaid(layout, "NCHW") for each in (*g.inputs[:2], *g.inputs[3:]))
        weight = g.inputs[2].relaid(kernel, "OIHW")
        deformed, groups = self.deformable_groups.value.data, self.group_count()
        batch, channels, *extents = x.shape
        shape = parse_layout(layout).extents(g.output.shape)
        shape = [shape[letter] for letter in "NCHW"]
        taps, places = window.kernel, shape[2:]
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
        result = results[0].concatenated(results[1:], 1).reshape(shape).relaid("NCHW", layout)
        return g.through(result.cast(g.output.type.element_type))

    def numpy(self, *inputs: NDArray) -> NDArray | None:
        return None


OPS: list[type[Operation]] = [DeformableConv2dOp]
"""The deformable convolutions."""
