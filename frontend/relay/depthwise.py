"""Convolutions whose weight is laid out as TVM has it: depthwise ones, `[channels, multiplier, h, w]`, and those in
blocks, whose weight says by its shape how large they are.

    relay.nn.conv2d(x, w, groups=4)     # x: [n, 4, h, w], w: [4, 2, 3, 3]; gives [n, 8, ...]

Output `c * multiplier + m` is of channel `c`, as it is with the weight `[channels * multiplier, 1, h, w]`, whose
elements stand in the same order: the weight is reshaped to that.
"""

from __future__ import annotations

import inspect

from xdsl.dialects.builtin import TensorType

from ...dialects.relay.layout import parse_layout
from ...dialects.relay.types import is_complete
from .expr import Expr, as_value
from .operators import Operator, operator
from .told import rebound


def depthwise(name: str, weight: str) -> Operator:
    """The builder of the convolution `name`, which also takes such a weight."""
    make = operator(name)

    def call(bound: inspect.BoundArguments) -> Expr:
        bound.apply_defaults()
        given = bound.arguments
        data, kernel = Expr(as_value(given["data"])), Expr(as_value(given[weight]))
        if (times := _multiplier(data, kernel, given["groups"], given["data_layout"], given["kernel_layout"])) > 1:
            channels, layout = given["groups"], parse_layout(given["kernel_layout"])
            extents = {**layout.extents(kernel.shape), "O": channels * times, "I": 1}
            given = {**given, weight: operator("reshape")(kernel, layout.shape(extents))}
            point = given.get("kernel_zero_point")  # one of each channel, as TVM has it
            if isinstance(point, Expr) and point.shape == (channels,):
                given["kernel_zero_point"] = operator("repeat")(point, times, 0)
        return make(**given)

    return rebound(make, call)


def _multiplier(data: Expr, weight: Expr, groups: object, data_layout: object, kernel_layout: object) -> int:
    """How many outputs each channel has by a weight `[channels, multiplier]`; 1 where it is no such weight, or what is
    given is wrong, which the operator says."""
    if not (isinstance(groups, int) and isinstance(data_layout, str) and isinstance(kernel_layout, str)):
        return 1
    types = data.value.type, weight.value.type
    is_blocked = not (data_layout.isalpha() and kernel_layout.isalpha())
    if groups < 2 or is_blocked or "OI" not in kernel_layout or not all(isinstance(type, TensorType) for type in types):
        return 1
    if not all(map(is_complete, types)) or [len(data.shape), len(weight.shape)] != [len(data_layout)] * 2:
        return 1
    channels, extents = data.shape[data_layout.find("C")], parse_layout(kernel_layout).extents(weight.shape)
    return extents["I"] if channels == groups == extents["O"] else 1


def in_blocks(name: str) -> Operator:
    """The builder of a convolution in blocks, which need not be told its weight's layout: the shape says it."""
    make = operator(name)

    def call(bound: inspect.BoundArguments) -> Expr:
        bound.apply_defaults()
        given, weight = bound.arguments, Expr(as_value(bound.arguments["kernel"]))
        layout = given["kernel_layout"]
        if isinstance(weight.value.type, TensorType) and layout == "OIHW" and len(weight.shape) == 6:
            given = {**given, "kernel": weight, "kernel_layout": f"OIHW{weight.shape[4]}i{weight.shape[5]}o"}
        return make(**given)

    return rebound(make, call)


BLOCKED = {
    "nn.contrib_conv2d_nchwc": in_blocks("nn.contrib_conv2d_NCHWc"),
    "nn.contrib_depthwise_conv2d_nchwc": in_blocks("nn.contrib_depthwise_conv2d_NCHWc"),
}
DEPTHWISE = {
    "nn.conv2d": depthwise("nn.conv2d", "weight"),
    "qnn.conv2d": depthwise("qnn.conv2d", "kernel"),
}
"""By the names of the operators."""
