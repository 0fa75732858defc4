"""`relay.quantize`: networks of floats made such of bytes, held to the floats that they come from."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay as names
from weft.dialects.relay.core import FuncOp
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.support.parser import parse_module
from weft.relay_quantize import magnitude_of_least_divergence, magnitude_of_most
from weft.transforms.infra import get_pass
from weft.transforms.infra.registry import new_ir_context

pytestmark = pytest.mark.sampled(3)

relay: Any = names
quantize = relay.quantize.quantize
qconfig = relay.quantize.qconfig
Floats = npt.NDArray[np.float32]


def network() -> tuple[Any, dict[str, Floats]]:
    """Two convolutions with a bias each, a pool, a dense layer."""
    rng = np.random.default_rng(0)
    shapes = {"w0": (4, 3, 3, 3), "b0": (4,), "w1": (4, 4, 3, 3), "b1": (4,), "w2": (5, 4 * 4 * 4)}
    v = {name: relay.var(name, shape=shape) for name, shape in shapes.items()}
    x = relay.var("data", shape=(1, 3, 8, 8))
    y = x
    for number in "01":
        y = relay.nn.conv2d(y, v[f"w{number}"], padding=(1, 1))
        y = relay.nn.relu(relay.nn.bias_add(y, v[f"b{number}"]))
    y = relay.nn.dense(relay.nn.batch_flatten(relay.nn.max_pool2d(y, (2, 2), (2, 2))), v["w2"])
    params = {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    return weft.IRModule.from_expr(relay.Function([x, *v.values()], y)), params


def run(module: Any, x: Floats, **params: Floats) -> Floats:
    return relay.create_executor("debug", mod=module).evaluate()(x, **params)


def names_of(module: Any) -> set[str]:
    return {op.name.removeprefix("relay.") for op in module.walk()}


DATA = [{"data": np.random.default_rng(seed).normal(size=(1, 3, 8, 8))} for seed in range(1, 4)]
X = np.random.default_rng(9).normal(size=(1, 3, 8, 8)).astype(np.float32)
ALL = {"skip_conv_layers": None, "skip_dense_layer": False, "weight_scale": "max"}


@pytest.mark.parametrize("mode", ["global_scale", "percentile", "kl_divergence"])
def test_a_quantised_network_gives_nearly_what_the_floats_do(mode: str):
    module, params = network()
    expected = run(module, X, **params)
    with qconfig(calibrate_mode=mode, **ALL):
        found = quantize(module, params, DATA)
    error = np.abs(run(found, X) - expected).max() / np.abs(expected).max()
    assert 0 < error < {"global_scale": 0.15, "percentile": 0.05, "kl_divergence": 0.15}[mode]
    assert {"qnn.conv2d", "qnn.dense"} <= names_of(found) and not {"nn.conv2d", "nn.dense"} & names_of(found)
    assert not any("simulated" in op.attributes for op in found.walk())


def test_what_is_simulated_is_what_is_computed_with_bytes():
    module, params = network()
    with qconfig(calibrate_mode="percentile", **ALL):
        found = quantize(module, params, DATA)
    with qconfig(calibrate_mode="percentile", do_simulation=True, calibrate_chunk_by=1, **ALL):
        simulated = quantize(module, params, DATA)
    assert "nn.conv2d" in names_of(simulated) and "qnn.conv2d" not in names_of(simulated)
    np.testing.assert_allclose(run(simulated, X), run(found, X), rtol=1e-5, atol=1e-5)


def test_products_of_batches_of_matrices_are_of_bytes_whatever_their_factors_are():
    rng = np.random.default_rng(5)
    q, k = relay.var("q", shape=(2, 4, 8)), relay.var("k", shape=(2, 5, 8))
    v = rng.normal(size=(2, 6, 5)).astype(np.float32)
    weights = relay.nn.softmax(relay.nn.batch_matmul(q, k))
    module = weft.IRModule.from_expr(relay.Function([q, k], relay.nn.batch_matmul(weights, relay.const(v))))
    data = [{"q": rng.normal(size=(2, 4, 8)), "k": rng.normal(size=(2, 5, 8))} for _ in range(3)]
    given = [data[0][name].astype(np.float32) for name in "qk"]
    with qconfig(calibrate_mode="percentile", weight_scale="max"):
        found = quantize(module, dataset=data)
    run = relay.create_executor("debug", mod=found).evaluate()
    expected = relay.create_executor("debug", mod=module).evaluate()(*given)
    assert 0 < np.abs(run(*given) - expected).max() < 0.06
    assert "qnn.batch_matmul" in names_of(found) and "nn.batch_matmul" not in names_of(found)


@pytest.mark.parametrize("mode", ["percentile", "kl_divergence"])
def test_data_may_be_without_numbers(mode: str):
    q, k = relay.var("q", shape=(2, 0, 8)), relay.var("k", shape=(2, 5, 8))
    module = weft.IRModule.from_expr(relay.Function([q, k], relay.nn.batch_matmul(q, k)))
    given = [np.zeros((2, 0, 8), np.float32), np.ones((2, 5, 8), np.float32)]
    with qconfig(calibrate_mode=mode):
        found = quantize(module, dataset=[dict(zip("qk", given, strict=True))])
    assert relay.create_executor("debug", mod=found).evaluate()(*given).shape == (2, 0, 5)


def test_the_first_convolution_and_dense_layers_stay_unless_they_shall_not():
    module, params = network()
    found = quantize(module, params)
    assert sum(op.name == "relay.nn.conv2d" for op in found.walk()) == 1
    assert sum(op.name == "relay.qnn.conv2d" for op in found.walk()) == 1
    assert "nn.dense" in names_of(found) and [each.name_hint for each in found["main"].params] == ["data"]
    assert "nn.conv2d" in names_of(module), "the network that is given stays as it is"


def test_what_both_branches_multiply_is_quantised_in_each():
    x, c = relay.var("x", shape=(2, 4)), relay.var("c", shape=(), dtype="bool")
    w = relay.const(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))
    chosen = relay.If(c, relay.nn.dense(x, w), relay.tanh(relay.nn.dense(x, w)))
    module = weft.IRModule.from_expr(relay.Function([x, c], chosen))
    with qconfig(**ALL):
        found = quantize(module)
    given = np.linspace(-2, 2, 8, dtype=np.float32).reshape(2, 4)
    for which in (True, False):
        expected = relay.create_executor(mod=module).evaluate()(given, np.array(which))
        np.testing.assert_allclose(
            relay.create_executor(mod=found).evaluate()(given, np.array(which)), expected, atol=0.1
        )


@pytest.mark.parametrize(("spread", "name"), [(0.1, "qnn.dense"), (1.0, "nn.dense")])
def test_long_sums_are_of_bytes_where_32_bits_hold_those_of_the_weight(spread: float, name: str):
    rng = np.random.default_rng(0)
    weight = rng.uniform(-spread, spread, (4, 70000)).astype(np.float32)
    weight[:, 0] = 1  # so that the scale is the same
    x = relay.var("data", shape=(1, 70000))
    module = weft.IRModule.from_expr(relay.Function([x], relay.nn.dense(x, relay.const(weight))))
    with qconfig(**ALL):
        found = quantize(module)
    assert name in names_of(found)
    given = rng.uniform(0, 4, (1, 70000)).astype(np.float32)
    expected = run(module, given)
    np.testing.assert_allclose(run(found, given), expected, atol=0.02 * spread * 70000**0.5 * 4)


def test_moved_bytes_stay_bytes():
    module, params = network()
    with qconfig(**ALL):
        found = quantize(module, params)
    types = {op.name: str(op.results[0].type) for op in found.walk() if op.results}
    assert types["relay.nn.max_pool2d"].endswith("xi8>") and types["relay.nn.batch_flatten"].endswith("xi8>")


def test_a_network_is_divided_where_it_makes_bytes_and_floats():
    x, w = relay.var("x", shape=(2, 4)), relay.const(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))
    module = weft.IRModule.from_expr(relay.Function([x], relay.nn.dense(x, w)))
    given = np.linspace(-2, 2, 8, dtype=np.float32).reshape(2, 4)
    with qconfig(skip_dense_layer=False):
        whole = quantize(module)
    with qconfig(skip_dense_layer=False, partition_conversions="fully_integral"):
        divided = quantize(module)
    parts = ["quantize_inputs", "quantized_main", "dequantize_outputs", "main"]
    assert [each.name_hint for each in divided.get_global_vars()] == parts
    np.testing.assert_array_equal(run(divided, given), run(whole, given))
    with pytest.raises(AssertionError, match="not fully integral"), qconfig(partition_conversions="fully_integral"):
        quantize(module)


def test_what_has_a_scale_that_is_computed_stays_in_the_middle():
    text = """relay.func @main(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %z = relay.constant dense<0> : tensor<i32>
  %t = relay.exp %s : tensor<f32>
  %q = relay.qnn.quantize %x, %t, %z {axis = -1 : i64, out_dtype = "int8"}
      : (tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xi8>
  %y = relay.qnn.dequantize %q, %t, %z {axis = -1 : i64} : (tensor<4xi8>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}
"""
    divided = get_pass("partition-conversions")(parse_module(text, new_ir_context(), "m.mlir"))
    held = {op.sym_name.data: names_of(op) for op in divided.ops if isinstance(op, FuncOp)}
    assert {"exp", "qnn.quantize", "qnn.dequantize"} <= held["quantized_main"]
    assert "qnn.quantize" not in held["quantize_inputs"] and "qnn.dequantize" not in held["dequantize_outputs"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nbit_input": 4}, "'nbit_input' is 8, and not 4"),
        ({"calibrate_mode": "kl"}, "'calibrate_mode' is one of"),
        ({"dtype_input": "uint8"}, "'dtype_input' is 'int8'"),
    ],
)
def test_options_that_there_are_not_are_refused(options: dict[str, Any], message: str):
    with pytest.raises(UsageError, match=message):
        qconfig(**options)


def test_calibration_by_data_needs_data():
    module, params = network()
    with pytest.raises(UsageError, match="there are none"), qconfig(calibrate_mode="percentile"):
        quantize(module, params)


@pytest.mark.parametrize("mode", ["percentile", "kl_divergence"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_what_is_not_finite_calibrates_nothing(mode: str, number: float):
    module, params = network()
    data = X.copy()
    data[0, 0, 3, 3] = number
    with (
        pytest.raises(UsageError, match=r"1 of the 192 numbers .* are NaN or infinite"),
        qconfig(calibrate_mode=mode, **ALL),
    ):
        quantize(module, params, [{"data": data}])


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_weights_that_are_not_finite_stay_floats(number: float):
    weight = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    weight[0, 0] = number
    x = relay.var("x", shape=(2, 4))
    module = weft.IRModule.from_expr(relay.Function([x], relay.nn.dense(x, relay.const(weight))))
    given = np.linspace(1, 2, 8, dtype=np.float32).reshape(2, 4)
    with qconfig(**ALL):
        found = quantize(module)
    np.testing.assert_array_equal(run(found, given), run(module, given))


@pytest.mark.parametrize("scale", [0.0, -1.0, 1e-40, float("inf"), 1e39, float("nan")])
def test_a_scale_that_is_no_float_is_refused(scale: float):
    module, params = network()
    with pytest.raises(UsageError, match="'global-scale' is above 0"), qconfig(global_scale=scale):
        quantize(module, params)


def test_scales_stay_normal_numbers():
    x = relay.var("x", shape=(2, 4))
    weight = relay.const(np.full((3, 4), 1e-41, np.float32))
    module = weft.IRModule.from_expr(relay.Function([x], relay.nn.dense(x, weight)))
    with qconfig(calibrate_mode="percentile", do_simulation=True, **ALL):
        found = quantize(module, dataset=[{"x": np.full((2, 4), 1e-42, np.float32)}])
    scales = {op.operands[1].owner for op in found.walk() if op.name.startswith("relay.qnn.")}
    assert {names.Expr(scale.result).data.numpy().item() for scale in scales} == {2.0**-126}
    np.testing.assert_allclose(run(found, np.ones((2, 4), np.float32)), np.zeros((2, 3)), atol=1e-30)


def test_options_count_within_their_with():
    before = relay.quantize.current_qconfig()
    with qconfig(global_scale=2.0) as outer, qconfig(global_scale=3.0):
        assert relay.quantize.current_qconfig().global_scale == 3.0
        with outer:
            assert relay.quantize.current_qconfig().global_scale == 2.0
    assert relay.quantize.current_qconfig() is before


def test_magnitudes_leave_out_what_is_rare():
    rng = np.random.default_rng(0)
    usual = np.abs(rng.normal(size=200_000))
    with_one = np.append(usual, 1000.0)
    assert magnitude_of_most(np.arange(10.0)) == 9.0 and magnitude_of_most(with_one) < 6
    assert 2.5 < magnitude_of_least_divergence(usual) <= usual.max()
    assert magnitude_of_least_divergence(np.append(usual, 20.0)) < 7
    assert magnitude_of_least_divergence(np.zeros(3)) == 0.0
    assert magnitude_of_least_divergence(np.full(20, 6.0)) == 6.0, "the largest are kept where all are"
    cut_off = np.minimum(np.abs(rng.normal(0, 6, size=10_000)), 6.0)
    assert magnitude_of_least_divergence(cut_off) == 6.0
    with_zeros = np.append(usual, np.zeros(200_000))
    assert magnitude_of_least_divergence(with_zeros) == magnitude_of_least_divergence(usual)
