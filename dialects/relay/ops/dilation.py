"""Morphological dilation of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import DYNAMIC, Fusion, FusionPattern, RelayOp, int_list, ints, string, tensor
from ..layout import Layout, unblocked
from ..nn_common import Window, normalize_padding, pad_stage, per_axis, result_element

if TYPE_CHECKING:
    from ..gradient import Gradient, Terms


@irdl_op_definition
class Dilation2dOp(RelayOp):
    """The maximum over each window of the data plus the weight, which has one image for each channel.

    `y[n, c, h, w] = max_{kh, kw} x[n, c, h*sh + kh*dh - ph, w*sw + kw*dw - pw] + weight[c, kh, kw]`

    ```mlir
    %y = relay.image.dilation2d %x, %w {padding = array<i64: 1, 1>, strides = array<i64: 2, 1>}
       : (tensor<1x2x4x4xf32>, tensor<2x3x3xf32>) -> tensor<1x2x2x4xf32>
    ```
    """

    name = "relay.image.dilation2d"

    data = operand_def(TensorType)
    weight = operand_def(TensorType)
    result = result_def(TensorType)

    strides = int_list([1, 1])
    padding = int_list([0, 0])
    dilations = int_list([1, 1])
    data_layout = string("NCHW")
    kernel_layout = string("IHW")
    out_dtype = string("")

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def layouts(self) -> tuple[Layout, Layout]:
        """Of data and kernel."""
        data = unblocked(self.data_layout.data, "NCHW", "data_layout")
        return data, unblocked(self.kernel_layout.data, "IHW", "kernel_layout")

    def window(self, weight: Sequence[int]) -> Window:
        """The window that slides over the data."""
        kernel = self.layouts()[1]
        return Window(
            tuple(weight[kernel.position(letter)] for letter in "HW"),
            per_axis(ints(self.strides), 2, "strides"),
            per_axis(ints(self.dilations), 2, "dilations"),
            *normalize_padding(ints(self.padding), 2),
        )

    def infer(self) -> Sequence[Attribute]:
        data, weight = tensor(self.data), tensor(self.weight)
        layout, kernel = self.layouts()
        layout.check(data.get_shape(), "the data")
        kernel.check(weight.get_shape(), "the weight")
        extents, taps = layout.extents(data.get_shape()), kernel.extents(weight.get_shape())
        if data.element_type != weight.element_type:
            raise VerifyException(f"data and weight have element types {data.element_type} and {weight.element_type}")
        if DYNAMIC not in (extents["C"], taps["I"]) and extents["C"] != taps["I"]:
            raise VerifyException(f"the data has {extents['C']} channels, but the weight has {taps['I']}")
        if DYNAMIC in (taps["H"], taps["W"]):
            raise VerifyException("it needs to be known how large the weight is")
        places = self.window(weight.get_shape()).outputs([extents["H"], extents["W"]])
        shape = layout.shape(extents | dict(zip("HW", places, strict=True)))
        return [TensorType(result_element(data.element_type, self.out_dtype.data), shape)]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        x, weight = inputs
        layout, kernel = self.layouts()
        window, element = self.window(weight.shape), tensor(self.result).element_type
        positions = [layout.position(letter) for letter in "HW"]
        reach = window.reach([x.shape[p] for p in positions])
        outside = te.reduce_identity("max", x.element_type).value
        before, after = (dict(zip(positions, each, strict=True)) for each in (window.before, reach))
        padded = pad_stage(x, before, after, outside)
        taps = window.taps("HW")

        def body(*indices: te.IterVar) -> te.Expr:
            out: dict[str, te.Expr] = dict(zip(layout.names, indices, strict=True))
            read = out | {letter: window.tap(d, out[letter], taps[d]) for d, letter in enumerate("HW")}
            at = kernel.arrange({"I": out["C"], "H": taps[0], "W": taps[1]})
            total = te.cast(padded[layout.arrange(read)], element) + te.cast(weight[at], element)
            return te.max(total, taps)

        extents = layout.extents(x.shape)
        places = window.outputs([extents["H"], extents["W"]])
        shape = layout.shape(extents | dict(zip("HW", places, strict=True)))
        return te.compute(shape, body, "dilation2d")

    def gradient(self, g: Gradient) -> Terms:
        """Of a maximum over the taps, each a slice of the padded data plus an element of the weight."""
        g.static()
        if self.data_layout.data != "NCHW" or self.kernel_layout.data != "IHW":
            raise VerifyException("its gradient needs the layouts NCHW and IHW")
        x, weight = g.inputs
        window, (height, width) = self.window(weight.shape), g.output.shape[2:]
        lowest = te.reduce_identity("max", x.type.element_type).value
        reach = window.reach(x.shape[2:])
        widths = [0, 0, 0, 0, window.before[0], reach[0], window.before[1], reach[1]]
        padded = x.op("nn.pad", lowest, pad_width=widths)
        rows, columns = window.kernel
        best = None
        for k in range(rows):
            for m in range(columns):
                begin = [k * window.dilation[0], m * window.dilation[1]]
                sizes = [(n - 1) * stride + 1 for n, stride in zip((height, width), window.strides, strict=True)]
                end = [b + size for b, size in zip(begin, sizes, strict=True)]
                cut = {"begin": begin, "end": end, "strides": window.strides, "axes": [2, 3]}
                tap = weight.slice([0, k, m], [weight.shape[0], k + 1, m + 1])
                value = padded.op("strided_slice", **cut) + tap
                best = value if best is None else best.op("maximum", value)
        assert best is not None
        return g.through(best.cast(g.output.type.element_type))


OPS: list[type[Operation]] = [Dilation2dOp]
"""The operators of morphology."""
