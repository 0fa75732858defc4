"""Gradients of operators against finite differences: each operator's example, and forms of it that matter."""

from __future__ import annotations

import pytest

from weft.dialects.relay import Relay
from weft.dialects.relay.base import RelayOp, flatten_types
from weft.dialects.relay.gradient import is_differentiable
from weft.testing.examples import OperatorExample, example_text
from weft.testing.gradients import Draw, away_from_zero, between, check_gradient

OPERATORS = {op.name: op for op in Relay.operations if issubclass(op, RelayOp)}

DRAWS: dict[str, Draw] = {
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "rsqrt", "power"), between(0.2, 0.9)),
    "acosh": between(1.2, 2.0),
    "nn.batch_norm": between(0.2, 0.9),
}


def draw_of(name: str) -> Draw:
    return DRAWS.get(name.removeprefix("relay."), away_from_zero)


WITHOUT_EXAMPLE = {
    "relay.on_device": "a note, which has no result of its own; its gradient hands on what it is given",
    **dict.fromkeys(
        ("relay.cast", "relay.floor_divide", "relay.trunc_divide", "relay.floor_mod", "relay.trunc_mod"),
        "the example is of integers; see below",
    ),
    "relay.left_shift": "the example is of integers; see below",
    "relay.scatter_elements": "the example multiplies; see below",
}

BINARY = "(tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>"
POOLED = "(tensor<1x2x7x6xf32>) -> tensor<1x2x%sxf32>"

FORMS: dict[str, str] = {
    "a cast from a narrower float": "%y = relay.cast %x {dtype = \"float64\"} : (tensor<3xf32>) -> tensor<3xf64>",
    **{
        f"{name} of floats": f"%z = relay.{name} %x, %y : {BINARY}"
        for name in ("floor_divide", "floor_mod", "trunc_mod", "mod", "left_shift")
    },
    "an operand that stands twice": "%z = relay.multiply %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>",
    "a scalar that is repeated": "%z = relay.divide %x, %y : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>",
    "a product over all axes": "%y = relay.prod %x : (tensor<2x3xf32>) -> tensor<f32>",
    "a product of every other axis": """%y = relay.prod %x {axis = array<i64: 1>, exclude = true, keepdims = true}
        : (tensor<2x3x2xf32>) -> tensor<1x3x1xf32>""",
    "a maximum over two axes": """%y = relay.max %x {axis = array<i64: -1, 0>, keepdims = true}
        : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>""",
    "an unbiased variance": """%y = relay.variance %x, %m {axis = array<i64: 0>, unbiased = true}
        : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<2xf32>""",
    "a slice in steps": """%y = relay.strided_slice %x {begin = array<i64: 1, 0>, end = array<i64: 6, 4>, strides = array<i64: 2, 3>}
        : (tensor<7x5xf32>) -> tensor<3x2xf32>""",
    "a part that nothing reads": """%t = relay.split %x {indices_or_sections = 3 : i64} : (tensor<6xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>, tensor<2xf32>>
        %y = relay.tuple_get %t[1] : tuple<tensor<2xf32>, tensor<2xf32>, tensor<2xf32>> -> tensor<2xf32>""",
    "updates that are added": """%y = relay.scatter_elements %x, %i, %u {axis = 1 : i64, reduction = "add"}
        : (tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>""",
    "updates of which the last is written": """%y = relay.scatter_elements %x, %i, %u {axis = 1 : i64}
        : (tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x5xf32>""",
    "rows that are added": """%y = relay.scatter_nd %x, %i, %u {mode = "add"}
        : (tensor<4x3xf32>, tensor<1x6xi64>, tensor<6x3xf32>) -> tensor<4x3xf32>""",
    "rows that are looked up": """%y = relay.take %x, %i {axis = 0 : i64} : (tensor<5x3xf32>, tensor<4xi32>) -> tensor<4x3xf32>""",
    "elements that are looked up in batches": """%y = relay.take %x, %i {axis = 1 : i64, batch_dims = 1 : i64}
        : (tensor<2x5xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>""",
    "an exclusive running sum": "%y = relay.cumsum %x {axis = 1 : i64, exclusive = true} : (tensor<2x5xf32>) -> tensor<2x5xf32>",
    "a running product of all": "%y = relay.cumprod %x {exclusive = true} : (tensor<2x3xf32>) -> tensor<6xf32>",
    "smallest elements first": """%y = relay.topk %x {k = 2 : i64, ret_type = "values", is_ascend = true}
        : (tensor<2x5xf32>) -> tensor<2x2xf32>""",
    "a sum that keeps a letter to itself": """%t = relay.tuple(%a, %b) : (tensor<2x3xf32>, tensor<4xf32>) -> tuple<tensor<2x3xf32>, tensor<4xf32>>
        %y = relay.einsum %t {equation = "ij,k->i"} : (tuple<tensor<2x3xf32>, tensor<4xf32>>) -> tensor<2xf32>""",
    "a dense layer on a sequence": """%y = relay.nn.dense %x, %w : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>""",
    **{
        f"matmul, transposed {a} and {b}": f"""%y = relay.nn.matmul %x, %w {{transpose_a = {a}, transpose_b = {b}}}
            : (tensor<{"2x3" if a == "false" else "3x2"}xf32>, tensor<{"3x4" if b == "false" else "4x3"}xf32>) -> tensor<2x4xf32>"""
        for a in ("true", "false")
        for b in ("true", "false")
    },
    **{
        f"batch_matmul, transposed {a} and {b}": f"""%y = relay.nn.batch_matmul %x, %w {{transpose_a = {a}, transpose_b = {b}}}
            : (tensor<2x{"2x3" if a == "false" else "3x2"}xf32>, tensor<1x{"3x4" if b == "false" else "4x3"}xf32>) -> tensor<2x2x4xf32>"""
        for a in ("true", "false")
        for b in ("true", "false")
    },
    "a convolution that does not divide": """%y = relay.nn.conv2d %x, %w {strides = array<i64: 2, 3>, padding = array<i64: 1, 0, 0, 1>, dilation = array<i64: 2, 1>}
        : (tensor<2x3x8x7xf32>, tensor<2x3x2x3xf32>) -> tensor<2x2x4x2xf32>""",
    "a depthwise convolution": """%y = relay.nn.conv2d %x, %w {groups = 4 : i64, padding = array<i64: 1, 1>}
        : (tensor<1x4x4x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x4x4xf32>""",
    "a convolution in NHWC": """%y = relay.nn.conv2d %x, %w {data_layout = "NHWC", kernel_layout = "HWIO", strides = array<i64: 2, 2>}
        : (tensor<1x5x5x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x2x2x2xf32>""",
    "a grouped transposed convolution": """%y = relay.nn.conv2d_transpose %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>, output_padding = array<i64: 1, 0>, groups = 2 : i64, channels = 4 : i64}
        : (tensor<1x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<1x4x6x5xf32>""",
    "a pool of windows that overlap": f"""%y = relay.nn.max_pool2d %x {{pool_size = array<i64: 3, 2>, strides = array<i64: 2, 1>, padding = array<i64: 1, 0>}}
        : {POOLED % "4x5"}""",
    "a dilated pool": f"""%y = relay.nn.max_pool2d %x {{pool_size = array<i64: 2, 2>, dilation = array<i64: 3, 2>}}
        : {POOLED % "4x4"}""",
    "a mean that counts the padding": f"""%y = relay.nn.avg_pool2d %x {{pool_size = array<i64: 3, 2>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>, count_include_pad = true}}
        : {POOLED % "4x4"}""",
    "a mean in ceil mode": f"""%y = relay.nn.avg_pool2d %x {{pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>, ceil_mode = true}}
        : {POOLED % "4x3"}""",
    "parts of which each is pooled": f"""%y = relay.nn.adaptive_max_pool2d %x {{output_size = array<i64: 7, 3>}}
        : {POOLED % "7x3"}""",
    "an enlarged image": """%y = relay.image.resize2d %x {size = array<i64: 5, 3>, method = "cubic"}
        : (tensor<1x2x3x4xf32>) -> tensor<1x2x5x3xf32>""",
    "a part of an image, and around it": """%y = relay.image.resize2d %x {size = array<i64: 4, 3>, roi = array<f64: -0.2, 0.1, 1.3, 0.9>, coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = 3.0 : f64}
        : (tensor<1x2x3x4xf32>) -> tensor<1x2x4x3xf32>""",
    "a frame of the nearest elements": """%y = relay.nn.pad %x, %v {pad_width = array<i64: 1, 0, 0, 2>, pad_mode = "edge"}
        : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>""",
    "a frame that cuts off": """%y = relay.nn.pad %x, %v {pad_width = array<i64: 1, 0, -1, 2>}
        : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>""",
    "a norm without scale": """%y = relay.nn.layer_norm %x, %g, %b {axis = 1 : i64, scale = false}
        : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>""",
}
"""Forms of operators, beside their examples, whose gradients have a formula or a case of their own."""


def gives_floats(op: type[RelayOp]) -> bool:
    return any(map(is_differentiable, flatten_types([result.type for result in OperatorExample(op).op.results])))


@pytest.mark.parametrize("name", [name for name, op in OPERATORS.items() if op.has_gradient() and name not in WITHOUT_EXAMPLE])
def test_the_gradient_of_the_example_is_that_of_finite_differences(name: str) -> None:
    text = example_text(OPERATORS[name])
    check_gradient(text, draw=draw_of(name))


@pytest.mark.parametrize("form", FORMS)
def test_the_gradient_of_a_form_is_that_of_finite_differences(form: str) -> None:
    check_gradient(FORMS[form])
