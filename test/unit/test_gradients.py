"""Gradients of operators against finite differences: each operator's example, and forms of it that matter."""

# ruff: noqa: E501  the operators stand on a line each

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp

from weft import relay
from weft.dialects.relay import Relay
from weft.dialects.relay.base import RelayOp, flatten_types
from weft.dialects.relay.core import CallOp, FuncOp, ReturnOp
from weft.dialects.relay.differentiation import is_differentiable
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import UsageError
from weft.testing.examples import OperatorExample, example_text
from weft.testing.gradients import Draw, NDArray, away_from_zero, between, check_gradient

pytestmark = pytest.mark.sampled(5)

OPERATORS = {op.name: op for op in Relay.operations if issubclass(op, RelayOp)}

DRAWS: dict[str, Draw] = {
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "rsqrt", "power"), between(0.2, 0.9)),
    "acosh": between(1.2, 2.0),
    "nn.batch_norm": between(0.2, 0.9),
    "nn.cross_entropy": between(0.2, 0.9),
}

PLACED = {
    f"relay.{name}"
    for name in (
        "image.crop_and_resize",
        "image.grid_sample",
        "nn.deformable_conv2d",
        "vision.roi_align",
        "vision.roi_pool",
    )
}
"""Operators that compute in f32 where they read."""


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
    "a cast from a narrower float": '%y = relay.cast %x {dtype = "float64"} : (tensor<3xf32>) -> tensor<3xf64>',
    **{
        f"{name} of floats": f"%z = relay.{name} %x, %y : {BINARY}"
        for name in ("floor_divide", "trunc_divide", "floor_mod", "trunc_mod", "mod", "left_shift")
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
    **{
        f"nll_loss, {reduction}": f"""%y = relay.nn.nll_loss %p, %t, %w {{reduction = "{reduction}", ignore_index = 1 : i64}}
            : (tensor<5x3xf32>, tensor<5xi32>, tensor<3xf32>) -> tensor<{"5x" if reduction == "none" else ""}f32>"""
        for reduction in ("none", "sum", "mean")
    },
    **{
        f"a convolution with a sparse weight, {layout}": f"""%i = relay.constant dense<[0, 8, 3, 4]> : tensor<4xi32>
        %p = relay.constant dense<[0, 2, 4]> : tensor<3xi32>
        %y = relay.nn.sparse_conv2d %x, %w, %i, %p {{layout = "{layout}", kernel_size = array<i64: 3, 3>}}
            : (tensor<{shape}xf32>, tensor<4x{block}xf32>, tensor<4xi32>, tensor<3xi32>) -> tensor<{result}xf32>"""
        for layout, shape, block, result in (
            ("NCHW", "1x2x3x4", "2x2", "1x4x3x4"),
            ("NHWC", "1x3x4x2", "2", "1x3x4x4"),
        )
    },
    **{
        f"a product with a sparse matrix, {which}": f"""%i = relay.constant dense<[0, 2, 1, 2]> : tensor<4xi32>
        %p = relay.constant dense<[0, 2, 4]> : tensor<3xi32>
        %y = relay.nn.sparse_dense %x, %w, %i, %p {{sparse_lhs = {left}}}
            : (tensor<4x6xf32>, tensor<{block}xf32>, tensor<4xi32>, tensor<3xi32>) -> tensor<{shape}xf32>"""
        for which, left, block, shape in (
            ("the first one", "true", "4", "2x4"),
            ("in blocks", "false", "4x3x2", "4x6"),
        )
    },
    "a norm without scale": """%y = relay.nn.layer_norm %x, %g, %b {axis = 1 : i64, scale = false}
        : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>""",
}
"""Forms of operators, beside their examples, whose gradients have a formula or a case of their own."""


REGIONS = np.array([[0.5, 0.3, 0.4, 3.7, 4.1], [1.5, -1.2, 0.7, 2.9, 6.3], [1.4, 2.19, 1.16, 3.08, 2.3]])
BOXES = np.array([[0.03, 0.12, 0.91, 0.83], [0.2, 0.3, 0.73, 1.21], [0.87, 0.8, 0.1, 0.2]])
IMAGES = "tensor<2x2x6x5xf32>, tensor<3x5xf32>"


def anywhere(*shape: int) -> NDArray:
    """Numbers from -1.7 to 1.7."""
    return np.random.default_rng(3).uniform(-1.7, 1.7, shape)


def places(*shape: int) -> NDArray:
    """Numbers from -2 to 2, none of them near a whole one."""
    rng = np.random.default_rng(3)
    return rng.integers(-2, 2, shape) + rng.uniform(0.1, 0.9, shape)


SAMPLED: dict[str, tuple[str, list[NDArray | None]]] = {
    **{
        f"boxes, {layout} {method}": (
            f"""%y = relay.image.crop_and_resize %x, %b, %w {{crop_size = array<i64: {height}, 2>, layout = "{layout}",
                method = "{method}", extrapolation_value = 2.0 : f64}}
                : (tensor<{data}xf32>, tensor<3x4xf32>, tensor<3xi32>) -> tensor<{result}xf32>""",
            [None, BOXES, np.array([0, 1, 1])],
        )
        for layout, method, height, data, result in (
            ("NCHW", "bilinear", 3, "2x3x5x4", "3x3x3x2"),
            ("NHWC", "nearest_neighbor", 1, "2x5x4x3", "3x1x2x3"),
        )
    },
    **{
        f"a grid, {layout} {method} {padding} {corners}": (
            f"""%y = relay.image.grid_sample %x, %g {{layout = "{layout}", method = "{method}", align_corners = {corners},
                padding_mode = "{padding}"}} : (tensor<{data}xf32>, tensor<{grid}xf32>) -> tensor<{result}xf32>""",
            [None, anywhere(*map(int, grid.split("x")))],
        )
        for layout, method, padding, corners, data, grid, result in (
            ("NCHW", "bilinear", "zeros", "false", "2x2x4x5", "2x2x3x3", "2x2x3x3"),
            ("NHWC", "bilinear", "border", "true", "2x4x5x2", "2x2x3x3", "2x3x3x2"),
            ("NCHW", "bicubic", "reflection", "false", "1x1x4x5", "1x2x2x2", "1x1x2x2"),
            ("NCHW", "bilinear", "reflection", "true", "2x2x4x5", "2x2x3x3", "2x2x3x3"),
            ("NCHW", "nearest", "border", "false", "2x2x4x5", "2x2x3x3", "2x2x3x3"),
            ("NCDHW", "bilinear", "zeros", "true", "1x1x3x4x5", "1x3x2x1x2", "1x1x2x1x2"),
        )
    },
    "a deformable convolution in groups": (
        """%y = relay.nn.deformable_conv2d %x, %o, %w {padding = array<i64: 1, 1>, strides = array<i64: 2, 1>,
            dilation = array<i64: 1, 2>, groups = 2 : i64, deformable_groups = 2 : i64}
            : (tensor<2x4x5x6xf32>, tensor<2x36x3x4xf32>, tensor<6x2x3x3xf32>) -> tensor<2x6x3x4xf32>""",
        [None, places(2, 36, 3, 4)],
    ),
    "a deformable convolution with a mask": (
        """%y = relay.nn.deformable_conv2d %x, %o, %w, %m
            : (tensor<1x2x4x4xf32>, tensor<1x8x3x3xf32>, tensor<3x2x2x2xf32>, tensor<1x4x3x3xf32>) -> tensor<1x3x3x3xf32>""",
        [None, places(1, 8, 3, 3)],
    ),
    **{
        f"regions, {mode} of {ratio} points, aligned {aligned}": (
            f"""%y = relay.vision.roi_align %x, %r {{pooled_size = array<i64: 2, 3>, spatial_scale = 0.9 : f64,
                sample_ratio = {ratio} : i64, mode = "{mode}", aligned = {aligned}}} : ({IMAGES}) -> tensor<3x2x2x3xf32>""",
            [None, REGIONS],
        )
        for mode, ratio, aligned in (
            *(("avg", 2, "true"), ("avg", -1, "false"), ("max", -1, "true"), ("max", 2, "false")),
            ("max_corner", 2, "false"),
        )
    },
    "regions in NHWC": (
        """%y = relay.vision.roi_align %x, %r {pooled_size = array<i64: 2, 3>, spatial_scale = 0.9 : f64, layout = "NHWC"}
            : (tensor<2x6x5x2xf32>, tensor<3x5xf32>) -> tensor<3x2x3x2xf32>""",
        [None, REGIONS],
    ),
    "regions of whole pixels": (
        f"""%y = relay.vision.roi_pool %x, %r {{pooled_size = array<i64: 2, 3>, spatial_scale = 0.9 : f64}}
            : ({IMAGES}) -> tensor<3x2x2x3xf32>""",
        [None, REGIONS],
    ),
}
"""Forms of operators that read at places, which they compute in f32, and arguments at which there is no kink."""


def gives_floats(op: type[RelayOp]) -> bool:
    return any(map(is_differentiable, flatten_types([result.type for result in OperatorExample(op).op.results])))


@pytest.mark.parametrize(
    "name", [name for name, op in OPERATORS.items() if op.has_gradient() and name not in WITHOUT_EXAMPLE]
)
def test_the_gradient_of_the_example_is_that_of_finite_differences(name: str) -> None:
    text = example_text(OPERATORS[name])
    check_gradient(text, draw=draw_of(name), step=1e-3 if name in PLACED else 1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_the_gradient_of_a_form_is_that_of_finite_differences(form: str) -> None:
    check_gradient(FORMS[form])


@pytest.mark.parametrize("form", SAMPLED)
def test_the_gradient_of_what_reads_at_places_is_that_of_finite_differences(form: str) -> None:
    text, inputs = SAMPLED[form]
    check_gradient(text, inputs, step=1e-3)


def test_the_gradient_of_a_reshape_to_what_is_known_when_it_runs_has_the_shape_of_the_data() -> None:
    x, shape = relay.var("x", shape=(2, 3)), relay.var("s", shape=(2,), dtype="int64")
    y = relay.reshape(x, shape)
    (found,) = relay.transform.gradients(y * y, [x])
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    (by_x,) = evaluate_function(relay.Function([x, shape], found), [array, np.array([3, 2])])
    np.testing.assert_array_equal(by_x, 2 * array)


def test_the_gradient_of_what_is_moved_as_a_run_says_goes_where_it_came_from() -> None:
    x, by, v = relay.var("x", shape=(2, 3)), relay.var("n", shape=(2,), dtype="int64"), relay.var("v", shape=())
    far, one = relay.const([9, 9], "int64"), relay.const([1, 1], "int64")
    padded = relay.dyn.nn.pad(x, relay.stack([by, by], axis=1), v)
    slopes = [
        (relay.transform.gradients(relay.dyn.tile(x, by), [x])[0], np.full((2, 3), 2)),
        (relay.transform.gradients(relay.dyn.strided_slice(x, by - one, far, one), [x])[0], [[0, 0, 0], [1, 1, 1]]),
        *zip(relay.transform.gradients(padded, [x, v]), (np.ones((2, 3)), 6 * 5 - 6), strict=True),
    ]
    given = [np.ones((2, 3), np.float32), np.array([2, 1]), np.zeros((), np.float32)]
    for body, wanted in slopes:
        (found,) = evaluate_function(relay.Function([x, by, v], body), given)
        np.testing.assert_array_equal(found, wanted)


def squared(image: relay.Expr) -> Callable[[relay.Expr], relay.Expr]:
    """The gradient by an image of the sum of the squares of what is made of it."""

    def gradient(made: relay.Expr) -> relay.Expr:
        return relay.transform.gradients(made * made, [image])[0]

    return gradient


@pytest.mark.parametrize("method", ["nearest_neighbor", "linear", "cubic"])
def test_the_gradient_of_what_is_resampled_as_a_run_says_is_that_of_what_is_known(method: str) -> None:
    x, x3 = relay.var("x", shape=(2, 2, 3, 4)), relay.var("x3", shape=(1, 2, 2, 3, 2))
    s, t = relay.var("s", shape=()), relay.var("t", shape=())
    size, roi = relay.var("size", shape=(2,), dtype="int64"), relay.var("roi", shape=(4,))
    part = [-0.2, 0.1, 0.9, 1.4]
    of, of3, to = squared(x), squared(x3), ("NCHW", method, "tf_crop_and_resize")
    enlarged = {"linear": "bilinear", "cubic": "bicubic"}.get(method, method)
    pairs = [
        (of(relay.dyn.nn.upsampling(x, s, t, method=enlarged)), of(relay.nn.upsampling(x, 2.0, 1.5, method=enlarged))),
        (
            of(relay.dyn.image.resize2d(x, size, roi, *to, extrapolation_value=0.5)),
            of(relay.image.resize2d(x, (5, 2), part, *to, extrapolation_value=0.5)),
        ),
    ]
    if method == "linear":
        enlarged = of3(relay.dyn.nn.upsampling3d(x3, s, t, t, method="trilinear"))
        pairs.append((enlarged, of3(relay.nn.upsampling3d(x3, 2.0, 1.5, 1.5, method="trilinear"))))
    given = [random_like(each) for each in (x, x3)] + [np.array(n, np.float32) for n in (2.0, 1.5, part)]
    for told, known in pairs:
        args = [np.array([5, 2]), *given]
        found, wanted = (
            evaluate_function(relay.Function([size, x, x3, s, t, roi], each), args)[0] for each in (told, known)
        )
        np.testing.assert_allclose(found.astype(np.float32), wanted.astype(np.float32), rtol=1e-4, atol=1e-5)


def random_like(x: relay.Expr) -> NDArray:
    return np.random.default_rng(3).normal(size=x.shape).astype(np.float32)


def test_the_gradient_of_the_largest_elements_of_which_a_run_says_how_many() -> None:
    x, k = relay.var("x", shape=(2, 5)), relay.var("k", shape=(), dtype="int64")
    values = np.array([[3, 1, 2, 5, 4], [1, 2, 3, 4, 5]], np.float32)
    largest = relay.dyn.topk(x, k, axis=1, ret_type="values")
    for executor in ("debug", "vm"):
        run = relay.create_executor(executor).evaluate(relay.Function([x, k], squared(x)(largest)))
        assert callable(run)
        found = run(values, np.array(2))
        np.testing.assert_array_equal(found, [[0, 0, 0, 10, 8], [0, 0, 0, 8, 10]])


def test_the_gradient_by_the_two_values_of_a_one_hot_whose_depth_a_run_says() -> None:
    on, off = relay.var("on", shape=()), relay.var("off", shape=())
    depth = relay.var("depth", shape=(), dtype="int64")
    hot = relay.dyn.one_hot(relay.const([0, 2, 9]), on, off, depth, dtype="float32")
    slopes = relay.transform.gradients(hot * hot, [on, off])
    run = relay.Function([on, off, depth], relay.Tuple(slopes))
    found = evaluate_function(run, [np.array(3, np.float32), np.array(0.5, np.float32), np.array(4)])
    assert [float(each) for each in found] == [2 * 2 * 3, 10 * 2 * 0.5]


def distinct(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray:
    """Numbers of which each window of a pool has one largest."""
    return rng.permutation(prod(shape)).reshape(shape) / 100 + 0.1


POOLS = {
    "overlapping": """%y = relay.nn.max_pool2d_grad %g, %x {pool_size = array<i64: 3, 2>, strides = array<i64: 2, 1>, padding = array<i64: 1, 0>}
        : (tensor<1x2x4x5xf32>, tensor<1x2x7x6xf32>) -> tensor<1x2x7x6xf32>""",
    "dilated": """%y = relay.nn.max_pool2d_grad %g, %x {pool_size = array<i64: 2, 2>, dilation = array<i64: 3, 2>}
        : (tensor<1x2x4x4xf32>, tensor<1x2x7x6xf32>) -> tensor<1x2x7x6xf32>""",
    "in ceil mode": """%y = relay.nn.max_pool2d_grad %g, %x {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>, ceil_mode = true, layout = "NHWC"}
        : (tensor<1x4x3x2xf32>, tensor<1x7x6x2xf32>) -> tensor<1x7x6x2xf32>""",
    "along three axes": example_text(OPERATORS["relay.nn.max_pool3d_grad"]),
}


@pytest.mark.parametrize("form", POOLS)
def test_the_gradient_of_a_pools_gradient_is_that_of_finite_differences(form: str) -> None:
    check_gradient(POOLS[form], draw=distinct)


def test_of_equal_elements_the_first_has_the_second_derivative() -> None:
    g, x = relay.var("g", shape=(1, 1, 2)), relay.var("x", shape=(1, 1, 4))
    once = relay.nn.max_pool1d_grad(g, x, (2,), (2,))
    weighed = once * relay.const(np.array([1, 2, 3, 4], np.float32))
    (by_g,) = relay.transform.gradients(weighed, [g])
    given = np.zeros((1, 1, 2), np.float32), np.array([[[7, 7, 1, 5]]], np.float32)
    (found,) = evaluate_function(relay.Function([g, x], by_g), given)
    np.testing.assert_array_equal(found, [[[1, 4]]])


WITHOUT_GRADIENT = {
    **dict.fromkeys(
        (
            "logical_not", "bitwise_not", "isnan", "isinf", "isfinite", "equal", "not_equal", "less", "less_equal",
            "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
            "bitwise_xor", "right_shift", "all", "any", "argmax", "argmin", "shape_of", "ndarray_size", "argsort",
            "searchsorted", "argwhere", "invert_permutation", "unravel_index", "fixed_point_multiply", "compact",
            "data_extent", "unique_rows",
        ),
        "it gives integers or truth values",
    ),
    "reinterpret": "bits are no numbers",
    **{
        name.removeprefix("relay."): "quantised numbers are integers: gradients are taken before"
        for name in OPERATORS
        if name.startswith("relay.qnn.")
    },
    "sparse_fill_empty_rows": "its results have as many elements as the data says",
    **dict.fromkeys(
        (
            "random.multinomial", "random.normal", "random.threefry_generate", "random.threefry_split",
            "random.uniform",
        ),
        "numbers are drawn from a key of integers",
    ),
    **dict.fromkeys(
        ("vision.multibox_prior", "sparse_reshape"), "nothing of its result depends on floats",
    ),
    "unique": "its results have as many elements as the data says",
    **dict.fromkeys(
        (
            "nn.contrib_conv2d_NCHWc", "nn.contrib_depthwise_conv2d_NCHWc", "nn.contrib_dense_pack",
            "nn.contrib_conv2d_winograd_weight_transform", "nn.contrib_conv2d_winograd_without_weight_transform",
        ),
        "alter-op-layout makes it, after gradients are taken",
    ),
    **dict.fromkeys(
        (
            "vision.all_class_non_max_suppression", "vision.get_valid_counts", "vision.non_max_suppression",
            "vision.multibox_transform_loc",
        ),
        "it selects boxes by comparing their scores: a loss is of the boxes before",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_has_a_gradient(name: str) -> None:
    assert OPERATORS[name].has_gradient() != (name.removeprefix("relay.") in WITHOUT_GRADIENT)


@pytest.mark.parametrize(
    "name", ["tanh", "power", "nn.softmax", "nn.conv2d", "strided_slice", "take", "nn.avg_pool2d", "prod"]
)
def test_the_second_derivatives_are_those_of_finite_differences(name: str) -> None:
    check_gradient(example_text(OPERATORS[f"relay.{name}"]), draw=draw_of(name), twice=True)


def test_a_wrong_gradient_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OPERATORS["relay.tanh"], "gradient", OPERATORS["relay.atan"].gradient)
    with pytest.raises(AssertionError, match="differences give"):
        check_gradient(example_text(OPERATORS["relay.tanh"]))


def test_a_function_of_python_is_differentiated_with_those_that_it_calls() -> None:
    x = relay.var("x", shape=(3,), dtype="float64")
    called = relay.Function([x], relay.exp(x), name="helper")
    type = x.checked_type
    main = FuncOp("main", FunctionType.from_lists([type], [type]))
    call = CallOp("helper", main.body.block.args, [type])
    main.body.block.add_ops([call, ReturnOp(*call.results)])
    found = relay.transform.gradient(main, ModuleOp([main.clone(), called]))
    values = np.array([0.1, 0.2, 0.3])
    for result in evaluate_function(found, [values]):
        np.testing.assert_allclose(result.astype(np.float64), np.exp(values))


def test_a_gradient_is_taken_of_floats() -> None:
    x = relay.var("x", shape=(3,), dtype="int32")
    with pytest.raises(UsageError, match="is no tensor of floats"):
        relay.transform.gradients(relay.add(x, x), [x])
    with pytest.raises(UsageError, match="'first_order' or 'higher_order', not 'second'"):
        relay.transform.gradient(relay.Function([x], x), mode="second")


def test_what_an_expression_does_not_depend_on_has_zeros() -> None:
    x, y = (relay.var(name, shape=(2,), dtype="float64") for name in "xy")
    by_x, by_y = relay.transform.gradients(relay.tanh(x), [x, y])
    function = relay.Function([x, y], relay.Tuple([by_x, by_y]))
    found = evaluate_function(function, [np.zeros(2), np.ones(2)])
    np.testing.assert_array_equal(found, [[1, 1], [0, 0]])


@pytest.mark.parametrize("row", [[3.0], [2.0, 2.0, 2.0], [0.0, 0.0]])
def test_equal_elements_do_not_move_their_standard_deviation(row: list[float]) -> None:
    """The root of their variance, 0, has an infinite slope there."""
    x = relay.var("x", shape=(1, len(row)))
    for result in (relay.std(x, axis=[1]), relay.mean_std(x, axis=[1])[1]):
        _, by_x = evaluate_function(
            relay.transform.gradient(relay.Function([x], result)), [np.array([row], np.float32)]
        )
        np.testing.assert_array_equal(by_x, np.zeros((1, len(row))))


def test_the_variance_of_equal_elements_has_second_derivatives() -> None:
    x = relay.var("x", shape=(1, 3), dtype="float64")
    (slope,) = relay.transform.gradients(relay.variance(x, axis=[1]), [x])
    (second,) = relay.transform.gradients(slope * relay.const([[1, 0, 0]], "float64"), [x])
    (found,) = evaluate_function(relay.Function([x], second), [np.full((1, 3), 2.0)])
    np.testing.assert_allclose(np.asarray(found, np.float64), [[4 / 9, -2 / 9, -2 / 9]])


def test_the_unbiased_variance_of_one_element_has_no_gradient() -> None:
    x = relay.var("x", shape=(1, 1))
    function = relay.transform.gradient(relay.Function([x], relay.variance(x, axis=[1], unbiased=True)))
    with np.errstate(all="ignore"):
        _, by_x = evaluate_function(function, [np.array([[3]], np.float32)])
    assert np.isnan(by_x).all()


def test_a_power_that_is_constant_at_zero_has_slope_zero() -> None:
    x, y = relay.var("x", shape=(4,)), relay.var("y", shape=(4,))
    function = relay.transform.gradient(relay.Function([x, y], relay.power(x, y)))
    with np.errstate(all="ignore"):
        _, by_x, by_y = evaluate_function(
            function, [np.array([0, 0, 0, 2], np.float32), np.array([0, 1, 2, 0], np.float32)]
        )
    np.testing.assert_array_equal(by_x, [0, 1, 0, 0])
    np.testing.assert_allclose(np.asarray(by_y, np.float64), [0, 0, 0, np.log(2)], rtol=1e-6)


def test_extents_may_be_unknown() -> None:
    x, w = relay.var("x", shape=(relay.Any(), 3)), relay.var("w", shape=(2, 3))
    found = relay.transform.gradient(
        relay.Function([x, w], relay.nn.relu(relay.nn.dense(x, w) + relay.const([1.0, 2.0])))
    )
    values = np.arange(12, dtype=np.float32).reshape(4, 3)
    _, by_x, by_w = evaluate_function(found, [values, np.ones((2, 3), np.float32)])
    np.testing.assert_array_equal(by_x, np.full((4, 3), 2))
    np.testing.assert_array_equal(by_w, np.tile(values.sum(0), (2, 1)))
