"""The gradient of a convolution by its weight, as an operator: `relay.nn.conv2d_backward_weight`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .... import te
from ....support.operations import irdl_op_definition
from ...base import (
    DYNAMIC,
    Fusion,
    FusionPattern,
    RelayOp,
    compatible,
    int_list,
    integer,
    ints,
    opt_integer,
    string,
    tensor,
)
from ...nn_common import (
    Window,
    accumulator,
    narrow,
    normalize_padding,
    optional_int,
    pad_stage,
    per_axis,
    result_element,
)
from ...shapes import check_extents

if TYPE_CHECKING:
    from ...gradient import Gradient, Terms


@irdl_op_definition
class Conv2dBackwardWeightOp(RelayOp):
    """The gradient of `nn.conv2d` by its weight, from that of its result and the data; in NCHW and OIHW.

    `w[o, i, kh, kw] = sum_{n, p, q} grad[n, o, p, q] * data[n, g(o) + i, p*sh + kh*dh - ph, q*sw + kw*dw - pw]`

    ```mlir
    %w = relay.nn.conv2d_backward_weight %g, %x {kernel_size = array<i64: 3, 3>, padding = array<i64: 1, 1>}
       : (tensor<2x3x4x4xf32>, tensor<2x2x4x4xf32>) -> tensor<3x2x3x3xf32>
    ```
    """

    name = "relay.nn.conv2d_backward_weight"

    grad = operand_def(TensorType)
    data = operand_def(TensorType)
    result = result_def(TensorType)

    strides = int_list([1, 1])
    padding = int_list([0, 0])
    dilation = int_list([1, 1])
    groups = integer(1)
    channels = opt_integer()
    kernel_size = int_list()
    grad_layout = string("NCHW")
    data_layout = string("NCHW")
    kernel_layout = string("OIHW")
    out_dtype = string("")

    traits = traits_def(Pure(), FusionPattern(Fusion.OUT_ELEMWISE_FUSABLE))
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def window(self) -> Window:
        """The window of the convolution."""
        return Window(
            per_axis(ints(self.kernel_size), 2, "kernel_size"),
            per_axis(ints(self.strides), 2, "strides"),
            per_axis(ints(self.dilation), 2, "dilation"),
            *normalize_padding(ints(self.padding), 2),
        )

    def infer(self) -> Sequence[Attribute]:
        grad, data = tensor(self.grad), tensor(self.data)
        layouts = [layout.data for layout in (self.grad_layout, self.data_layout, self.kernel_layout)]
        if layouts != ["NCHW", "NCHW", "OIHW"]:
            raise VerifyException(f"the layouts are NCHW, NCHW and OIHW, not {', '.join(layouts)}")
        shape, given, groups = data.get_shape(), grad.get_shape(), self.groups.value.data
        if len(shape) != 4 or len(given) != 4:
            raise VerifyException(f"expected two tensors of rank 4, got {grad} and {data}")
        places = TensorType(data.element_type, [shape[0], given[1], *self.window().outputs(shape[2:])])
        if not compatible(places, grad):
            raise VerifyException(f"the gradient of the convolution of {data} is {places}, not {grad}")
        if groups < 1 or any(n != DYNAMIC and n % groups for n in (shape[1], given[1])):
            raise VerifyException(f"{shape[1]} and {given[1]} channels do not divide into {groups} groups")
        if optional_int(self.channels) not in (None, given[1]) and given[1] != DYNAMIC:
            raise VerifyException(f"'channels' is {optional_int(self.channels)}, but the gradient has {given[1]}")
        per_group = DYNAMIC if shape[1] == DYNAMIC else shape[1] // groups
        element = result_element(data.element_type, self.out_dtype.data)
        return [TensorType(element, [given[1], per_group, *self.window().kernel])]

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        grad, data = inputs
        window, result = self.window(), tensor(self.result).element_type
        wide = accumulator(result)
        places = [data.shape[0], *window.outputs(data.shape[2:])]
        check_extents("the gradient", [grad.shape[0], *grad.shape[2:]], places)
        reach = window.reach(data.shape[2:])
        padded = pad_stage(data, dict(enumerate(window.before, 2)), dict(enumerate(reach, 2)))
        groups = self.groups.value.data
        outputs, per_group = grad.shape[1] // groups, data.shape[1] // groups
        axes = [te.reduce_axis(n, name) for n, name in zip((grad.shape[0], *grad.shape[2:]), "npq", strict=True)]
        n, p, q = axes

        def body(o: te.IterVar, i: te.IterVar, kh: te.IterVar, kw: te.IterVar) -> te.Expr:
            channel = i if groups == 1 else o // outputs * per_group + i
            read = padded[n, channel, window.tap(0, p, kh), window.tap(1, q, kw)]
            return te.sum(te.cast(grad[n, o, p, q], wide) * te.cast(read, wide), axes)

        shape = [grad.shape[1], per_group, *window.kernel]
        return narrow(te.compute(shape, body, "conv2d_backward_weight"), result)

    def gradient(self, g: Gradient) -> Terms:
        g.static()
        grad, data = g.inputs
        weight, window = g.grad.cast(data.type.element_type), self.window()
        convolved = {
            "strides": self.strides,
            "padding": self.padding,
            "dilation": self.dilation,
            "groups": self.groups,
        }
        sides = zip(
            grad.shape[2:], data.shape[2:], window.strides, window.spans, window.before, window.after, strict=True
        )
        extra = [n - ((p - 1) * stride + span - before - after) for p, n, stride, span, before, after in sides]
        by_data = grad.op("nn.conv2d_transpose", weight, **convolved, output_padding=extra)
        return [data.op("nn.conv2d", weight, **convolved), by_data]


OPS: list[type[Operation]] = [Conv2dBackwardWeightOp]
"""The gradients of convolutions by their weights."""
