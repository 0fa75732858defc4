"""Where ONNX leaves room for mistakes, what is imported gives what ONNX Runtime gives, on inputs of both signs."""

from collections.abc import Sequence

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from onnx import helper, numpy_helper, parser
from onnx_runtime import check, evaluate, model, normal

import weft
from weft.dialects.support.diagnostics import Diagnostic, Severity, handled_by
from weft.frontend.onnx import from_onnx

pytestmark = pytest.mark.sampled(5)

BOUNDS = (-(2**40), -8, -7, -3, -1, 0, 1, 3, 6, 7, 9, 2**40)


@pytest.mark.parametrize("size", [0, 1, 7])
@pytest.mark.parametrize("step", [-3, -2, -1, 1, 2])
def test_a_slice_takes_the_elements_that_onnx_says(size: int, step: int):
    x = normal(size, 2)
    bounds = [(start, end) for start in BOUNDS for end in BOUNDS]
    proto = model("Slice", [x], [np.array([n]) for n in (*bounds[0], 0, step)])
    for i, pair in enumerate(bounds[1:], 1):
        proto.graph.initializer.extend(numpy_helper.from_array(np.array([n]), f"b{i}_{k}") for k, n in enumerate(pair))
        proto.graph.node.append(helper.make_node("Slice", ["x0", f"b{i}_0", f"b{i}_1", "c2", "c3"], [f"y{i}"]))
        proto.graph.output.append(helper.make_value_info(f"y{i}", onnx.TypeProto()))
    check(proto, x)


def test_a_slice_that_goes_backwards_from_within_a_dynamic_dimension_is_cut_off():
    for n in (1, 2, 3, 7):
        x = normal(n)
        proto = model("Slice", [x], [np.array([n]) for n in (-3, -9, 0, -1)])
        proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
        check(proto, x)


REDUCTIONS = [
    f"Reduce{k}" for k in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
]


@pytest.mark.parametrize("operator", REDUCTIONS)
@pytest.mark.parametrize("shape", [(2, 3), ()])
def test_a_reduction_over_no_axes_still_does_its_elementwise_part(operator: str, shape: tuple[int, ...]):
    x = normal(*shape) if operator != "ReduceLogSum" else np.abs(normal(*shape))
    x = np.asarray(x, np.float32)
    wanted = {
        "ReduceL1": np.abs, "ReduceL2": np.abs, "ReduceSumSquare": np.square, "ReduceLogSum": np.log,
    }.get(operator, np.asarray)(x)  # fmt: skip
    got = evaluate(model(operator, [x], [np.array([], np.int64)], noop_with_empty_axes=1), [x])
    np.testing.assert_allclose(got[0], wanted, rtol=1e-6)
    if shape:
        check(model(operator, [x], [np.array([], np.int64)], noop_with_empty_axes=1), x)


@pytest.mark.parametrize(
    "row", [[-np.inf, -np.inf], [np.inf, 1], [np.inf, -np.inf], [-np.inf, -2], [200, 201], [np.nan, 1]]
)
@pytest.mark.parametrize("keepdims", [0, 1])
def test_the_log_of_a_sum_of_exponentials_holds_infinities(row: list[float], keepdims: int):
    x = np.array([row, [1, -2]], np.float32)
    peak = np.where(np.isinf(x.max(1)), 0, x.max(1))
    with np.errstate(divide="ignore"):
        wanted = np.log(np.exp(x - peak[:, None]).sum(1)) + peak
    got = evaluate(model("ReduceLogSumExp", [x], [np.array([1])], keepdims=keepdims), [x])[0]
    np.testing.assert_allclose(got.reshape(-1), wanted, rtol=1e-6)


@pytest.mark.parametrize("pool", ["LpPool", "AveragePool", "MaxPool"])
@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize(
    ("kernel", "strides", "pads"),
    [([3, 3], [2, 2], [0] * 4), ([2, 3], [3, 2], [1, 0, 0, 1]), ([1, 1], [2, 3], [0] * 4), ([3, 2], [2, 3], [1] * 4)],
)
def test_pools_count_what_their_windows_cover(
    pool: str, ceil_mode: int, kernel: list[int], strides: list[int], pads: list[int]
):
    x = normal(1, 2, 6, 5)
    check(model(pool, [x], kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=ceil_mode), x)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_norms_of_windows_are_of_any_whole_power(p: int):
    x = normal(1, 2, 6, 5)
    check(model("LpPool", [x], kernel_shape=[3, 2], p=p), x)
    check(model("GlobalLpPool", [x], p=p), x)


@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("operator", ["MaxPool", "GlobalMaxPool", "ReduceMax"])
def test_the_greatest_of_numbers_with_a_nan_is_one_wherever_it_stands(operator: str, place: int):
    """As in NumPy. ONNX Runtime's answer depends on the place."""
    x = np.array([1, 2, 3, 0], np.float32)
    x[place] = np.nan
    x = x.reshape(1, 1, 1, 4)
    proto = model(operator, [x], kernel_shape=[1, 4]) if operator == "MaxPool" else model(operator, [x])
    assert np.isnan(evaluate(proto, [x])[0]).all() and np.isnan(weft.compile(proto, threads=1)(x)).all()


@pytest.mark.parametrize("is_open", [False, True])
def test_the_mean_of_nothing_is_zero(is_open: bool):
    """As the mean of an empty bag of torch's EmbeddingBag is."""
    x = np.zeros((2, 0), np.float32)
    proto = model("ReduceMean", [x], [np.array([1])])
    if is_open:
        proto.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "n"
    check(proto, x)


def test_extents_that_no_symbol_follows_from_are_compared_when_the_graph_is_called():
    text = """<ir_version: 8, opset_import: ["": 13]> g (float[n, 2] x, float[m, 2] y) => (float[k, 2] z) {
        zero = Constant<value_ints = [0]>() three = Constant<value_ints = [3]>()
        a = Slice(x, zero, three) b = Slice(y, zero, three) z = Sub(a, b)
    }"""
    proto = parser.parse_model(text)
    program = weft.compile(proto, threads=1)
    for n, m in ((4, 7), (2, 2), (0, 0)):
        x, y = normal(n, 2), normal(m, 2)
        np.testing.assert_array_equal(np.asarray(program(x, y)), x[:3] - y[:3])
    with pytest.raises(Diagnostic, match="n = 2, m = 3"):
        program(normal(2, 2), normal(3, 2))


def test_extents_that_the_model_declares_wrong_are_a_warning():
    """ONNX's own shape inference is off by one for this pool; ONNX Runtime runs it."""
    x = normal(1, 2, 16, 1)
    warnings: list[Diagnostic] = []
    proto = model("MaxPool", [x], declared=[1, 2, 9, 1], kernel_shape=[1, 1], strides=[2, 1], ceil_mode=1)
    with handled_by(warnings.append):
        [got] = evaluate(proto, [x])
    assert got.shape == (1, 2, 8, 1) and [w.severity for w in warnings] == [Severity.WARNING]
    assert "'y0' is declared as tensor<1x2x9x1xf32>, but is tensor<1x2x8x1xf32>" in warnings[0].message


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3, 4, 0), (0, 5)),
        ((2, 3, 4, 0), (2, 3, 0, 5)),
        ((2, 4, 0), (1, 0, 5)),
        ((4, 0), (2, 0, 3)),
        ((0, 2, 3), (3, 2)),
    ],
)
def test_products_over_nothing_are_zeros(shapes: tuple[tuple[int, ...], tuple[int, ...]]):
    a, b = (normal(*shape) for shape in shapes)
    [got] = evaluate(model("MatMul", [a, b]), [a, b])
    np.testing.assert_array_equal(got, np.matmul(a, b))


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ij,jk->...ik", ((2, 3, 4, 5), (5, 6))),
        ("...j,j->...", ((2, 3, 4), (4,))),
        ("ij,...jk->...ik", ((3, 4), (2, 4, 5))),
        ("...ij,...jk->...ik", ((2, 3, 4), (2, 4, 5))),
        ("ij,jk", ((3, 4), (4, 5))),
        ("...->...", ((2, 3),)),
    ],
)
def test_an_ellipsis_may_stand_in_one_operand_only(equation: str, shapes: Sequence[tuple[int, ...]]):
    inputs = [normal(*shape, seed=i) for i, shape in enumerate(shapes)]
    check(model("Einsum", inputs, equation=equation), *inputs)


def test_no_elements_can_be_asked_for():
    x = normal(3, 4)
    check(model("TopK", [x], [np.array([0])], outputs=2), x)


def test_more_elements_than_there_are_cannot_be_asked_for():
    with pytest.raises(Diagnostic, match="5 elements are asked for along a dimension of 4"):
        from_onnx(model("TopK", [normal(3, 4)], [np.array([5])], outputs=2))


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
def test_updates_are_brought_in_in_every_way(reduction: str):
    x, updates = normal(4, 3), normal(2, 3, seed=1)
    check(model("ScatterND", [x, np.array([[1], [3]]), updates], reduction=reduction), x, np.array([[1], [3]]), updates)


@pytest.mark.parametrize("reduction", ["add", "mul"])
def test_truth_values_that_are_added_are_true_where_one_is(reduction: str):
    x, updates = np.array([[True, False], [True, False]]), np.array([[True, True], [True, False], [False, True]])
    rows = np.array([[0], [0], [1]])
    check(model("ScatterND", [x, rows, updates], reduction=reduction), x, rows, updates)
    places = np.repeat(rows, 2, axis=1)
    check(model("ScatterElements", [x, places, updates], reduction=reduction), x, places, updates)


@pytest.mark.parametrize("pads", [[-1, 0, 2, 0], [2, -2, -1, 3]])
def test_padding_wraps_around_what_is_left_of_an_axis(pads: list[int]):
    check(model("Pad", [normal(3, 4)], [np.array(pads)], opset=19, mode="wrap"), normal(3, 4))


@pytest.mark.parametrize("pads", [[1, 0, 2, 3], [0, 2, 0, 0], [3, 4, 3, 4], [0, 9, 7, 0]])
def test_padding_wraps_around(pads: list[int]):
    x = normal(3, 4)
    [got] = evaluate(model("Pad", [x], [np.array(pads)], opset=19, mode="wrap"), [x])
    np.testing.assert_array_equal(got, np.pad(x, ((pads[0], pads[2]), (pads[1], pads[3])), mode="wrap"))
    if max(pads) <= 3:
        check(model("Pad", [x], [np.array(pads)], opset=19, mode="wrap"), x)


def test_nothing_has_no_extremum():
    """Neither has it in ONNX Runtime, which raises an error when it runs."""
    with pytest.raises(Diagnostic, match="dimension 1 is empty"):
        from_onnx(model("ArgMax", [normal(2, 0)], axis=1))


def test_rows_beyond_the_end_of_a_cache_are_an_error():
    cache, update = np.zeros((2, 4, 3), np.float32), np.ones((2, 2, 3), np.float32)
    node = helper.make_node("TensorScatter", ["cache", "update", "at"], ["y"], axis=1)
    inputs = [
        helper.make_tensor_value_info(name, kind, shape)
        for name, kind, shape in (("cache", 1, (2, 4, 3)), ("update", 1, (2, 2, 3)), ("at", 7, (2,)))
    ]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", 1, (2, 4, 3))])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)])
    executable = weft.compile(from_onnx(proto))
    result = np.asarray(executable(cache, update, np.array([2, 0])))
    assert result[0, 2:].all() and not result[0, :2].any() and result[1, :2].all() and not result[1, 2:].any()
    with pytest.raises(weft.CheckError):
        executable(cache, update, np.array([3, 0]))


@pytest.mark.parametrize("operator", ["ReduceL2", "ReduceLogSum", "ReduceLogSumExp"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_roots_and_logarithms_of_integers_are_cut_off(operator: str, dtype: str):
    x = np.array([[1, 9, 3], [7, 2, 5]], dtype)
    check(model(operator, [x], opset=13, axes=[1]), x)
    check(model(operator, [x], opset=13, keepdims=0), x)
