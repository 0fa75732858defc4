"""Regions between `qnn.dequantize` and `qnn.quantize` are computed with integers, to a step of the quantisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp

from weft import relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.transforms.infra.remarks import collect
from weft.transforms.relay.fake_quantization_to_integer import FakeQuantizationToIntegerPass

Expr = Any
FLOATS = {"qnn.dequantize", "qnn.quantize"}


def dq(x: Expr, scale: Any = 0.5, zero: int = 3, axis: int = -1) -> Expr:
    return relay.qnn.dequantize(x, relay.const(np.float32(scale)), relay.const(np.int32(zero)), axis=axis)


def q(x: Expr, scale: float = 0.7, zero: int = -5, out_dtype: str = "int8") -> Expr:
    return relay.qnn.quantize(x, relay.const(np.float32(scale)), relay.const(np.int32(zero)), out_dtype=out_dtype)


def i8(name: str, *shape: int) -> Expr:
    return relay.var(name, shape=shape, dtype="int8")


def image(*shape: int) -> Expr:
    return dq(i8("x", *shape))


def convolution(**options: Any) -> Expr:
    return relay.nn.conv2d(image(1, 3, 5, 5), dq(i8("w", 4, 3, 3, 3), 0.05, 0), padding=(1, 1), **options)


VECTOR = np.array([0.02, 0.05, 0.01, 0.07], np.float32)

REGIONS: dict[str, Callable[[], Expr]] = {
    "conv2d": lambda: q(convolution()),
    "conv2d with a bias": lambda: q(
        relay.nn.relu(relay.nn.bias_add(convolution(), relay.const(np.arange(4, dtype=np.float32))))
    ),
    "conv2d with a scale for each channel": lambda: q(
        relay.nn.relu(relay.nn.conv2d(image(1, 3, 4, 4), dq(i8("w", 4, 3, 1, 1), VECTOR, 0, axis=0)))
    ),
    "dense": lambda: q(relay.nn.dense(image(2, 4), dq(i8("w", 3, 4), 0.1, 0)) + relay.const(np.float32(1.5)), 0.9, 1),
    "batch_matmul": lambda: q(relay.nn.batch_matmul(image(2, 3, 4), dq(i8("y", 2, 5, 4), 0.1, 0))),
    "sums": lambda: q(relay.maximum(image(2, 4) - dq(i8("y", 2, 4), 0.25, 0), relay.const(np.float32(0)))),
    "averages in the middle": lambda: q(
        relay.nn.conv2d(relay.nn.avg_pool2d(image(1, 3, 6, 6), (2, 2)), dq(i8("w", 4, 3, 1, 1), 0.03, 0)), 3.0
    ),
    "products": lambda: q(image(2, 4) * dq(i8("z", 4), 0.03, 1)),
    "moves": lambda: q(
        relay.transpose(relay.reshape(relay.nn.max_pool2d(image(1, 2, 4, 4), pool_size=(2, 2)), (2, 9)))
    ),
    "averages": lambda: q(relay.nn.avg_pool2d(image(1, 2, 4, 4), pool_size=(2, 2))),
    "means": lambda: q(relay.mean(image(1, 2, 4, 4), axis=(2, 3)), 0.5, 3),
    "concatenation": lambda: q(relay.concatenate([image(2, 3), dq(i8("y", 2, 1), 0.2, -7)], axis=1)),
    "parts": lambda: q(relay.split(image(2, 4), 2, axis=1)[1]),
    "clip and padding": lambda: q(
        relay.nn.pad(relay.clip(image(2, 3), -6.0, 6.0), pad_width=((0, 0), (1, 1)), pad_value=0.0)
    ),
    "sums with scales for each slice": lambda: q(
        dq(i8("x", 2, 4), 10 * VECTOR, 3, axis=1) - dq(i8("y", 2, 4), [0.3, 0.4], 0, axis=0)
    ),
    "products with scales for each slice": lambda: q(
        dq(i8("x", 2, 4), 10 * VECTOR, 3, axis=1) * dq(i8("z", 4), VECTOR, 1, axis=0)
    ),
    "the greater with scales for each slice": lambda: q(
        relay.maximum(dq(i8("x", 2, 4), 10 * VECTOR, 3, axis=1), dq(i8("y", 2, 1), 0.5, 0))
    ),
    "a bias with scales for each slice": lambda: q(
        relay.nn.dense(image(2, 6), dq(i8("w", 4, 6), VECTOR, 0, axis=0))
        + dq(relay.cast(i8("b", 4), "int32"), 0.5 * VECTOR, 0)
    ),
    "linear interpolation": lambda: q(relay.image.resize2d(image(1, 2, 4, 4), size=(7, 3), method="linear"), 0.5, 3),
    "functions": lambda: q(relay.reshape(relay.tanh(image(2, 4)), (8,)), 1 / 128, 0),
}  # fmt: skip


STEPS = {"sums": 2, "sums with scales for each slice": 2, "functions": 2}
"""How far results may be apart where several roundings come together."""


def module_of(expr: Expr) -> ModuleOp:
    return relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(expr), expr))


def results(module: ModuleOp) -> npt.NDArray[np.int64]:
    (func,) = (op for op in module.ops if isinstance(op, FuncOp))
    rng = np.random.default_rng(0)
    inputs = [rng.integers(-100, 100, argument.type.get_shape(), np.int8) for argument in func.body.block.args]  # pyright: ignore
    (result,) = evaluate_function(func, inputs)
    return result.astype(np.int64)


@pytest.mark.parametrize("name", REGIONS)
def test_a_region_gives_the_same_to_a_step(name: str) -> None:
    module = module_of(REGIONS[name]())
    after = FakeQuantizationToIntegerPass(hard_fail=True)(module)
    assert not FLOATS & set(relay.analysis.list_op_freqs(after)), str(after)
    before = results(module)
    assert np.ptp(before) > 8, "the example says nothing"
    assert np.abs(before - results(after)).max() <= STEPS.get(name, 1)


def test_a_region_with_an_operator_that_has_no_rule_stays() -> None:
    module = module_of(q(relay.sin(image(2, 4))))
    with collect() as remarks:
        assert str(FakeQuantizationToIntegerPass()(module)) == str(module)
    assert any("there is no rule for relay.sin" in str(remark) for remark in remarks)
    with pytest.raises(Diagnostic, match="no rule for"):
        FakeQuantizationToIntegerPass(hard_fail=True)(module)


def test_a_number_in_the_middle_is_not_cut_off_by_the_last_scale() -> None:
    module = module_of(q(relay.sigmoid(relay.tanh(image(2, 4))), 1 / 128, -128))
    with pytest.raises(Diagnostic, match="the scale of its result does not follow"):
        FakeQuantizationToIntegerPass(hard_fail=True)(module)


@pytest.mark.parametrize("operator", [relay.add, relay.multiply, relay.maximum])
def test_a_constant_is_not_put_into_the_steps_of_several_scales(operator: Any) -> None:
    value = dq(i8("x", 2, 4), 10 * VECTOR, 3, axis=1)
    for constant in (np.ones(4, np.float32), np.ones((2, 1), np.float32)):
        module = module_of(q(operator(value, relay.const(constant))))
        with pytest.raises(Diagnostic, match="a constant stands beside numbers that have a scale for each slice"):
            FakeQuantizationToIntegerPass(hard_fail=True)(module)


def test_products_need_their_scales_along_one_axis() -> None:
    module = module_of(q(dq(i8("x", 4, 4), VECTOR, 0, axis=1) * dq(i8("y", 4, 4), VECTOR, 0, axis=0)))
    with pytest.raises(Diagnostic, match="scales along different axes"):
        FakeQuantizationToIntegerPass(hard_fail=True)(module)


def test_parts_that_do_not_fit_are_refused_with_their_extents() -> None:
    parts = [i8("a", 2, 4), i8("b", 1, 4)]
    one, zero = relay.const(np.float32(1)), relay.const(np.int32(0))
    with pytest.raises(UsageError, match="dimension 0 of the tuple's tensors has extents 2 and 1"):
        relay.qnn.concatenate(parts, [one, one], [zero, zero], one, zero, axis=1)


def test_operators_of_regions_are_counted() -> None:
    freqs = relay.analysis.list_fake_quantized_op_freqs
    assert freqs(module_of(REGIONS["conv2d with a bias"]())) == {"nn.conv2d": 1, "nn.bias_add": 1, "nn.relu": 1}
    assert freqs(module_of(relay.exp(relay.var("x", shape=(2,))))) == {}


def test_a_region_that_floats_lead_into_stays() -> None:
    module = module_of(q(image(2, 4) + relay.var("f", shape=(2, 4))))
    with pytest.raises(Diagnostic, match="no result of an operator"):
        FakeQuantizationToIntegerPass(hard_fail=True)(module)


def test_scales_must_be_constants() -> None:
    scale = relay.var("s", shape=())
    value = relay.qnn.dequantize(i8("x", 2, 4), scale, relay.const(np.int32(0)))
    with pytest.raises(Diagnostic, match="no constants"):
        FakeQuantizationToIntegerPass(hard_fail=True)(module_of(q(relay.nn.relu(value))))


def test_inferring_types_leaves_no_readers_behind() -> None:
    value = relay.exp(relay.var("x", shape=(2,)))
    quantized = q(value, 0.123)
    users = {use.operation for use in value.value.uses}
    assert users == {quantized.value.owner}


def test_operators_outside_of_regions_are_converted_one_by_one() -> None:
    module = module_of(relay.sin(relay.nn.dense(image(2, 4), dq(i8("w", 3, 4), 0.1, 0))))
    assert relay.analysis.list_op_freqs(FakeQuantizationToIntegerPass()(module)) == {
        "qnn.dequantize": 2, "nn.dense": 1, "sin": 1,
    }  # fmt: skip
    after = FakeQuantizationToIntegerPass(use_qat=True)(module)
    assert relay.analysis.list_op_freqs(after) == {"qnn.dense": 1, "qnn.dequantize": 1, "sin": 1}
    (before_func, after_func) = (op for each in (module, after) for op in each.ops if isinstance(op, FuncOp))
    inputs = [np.arange(8, dtype=np.int8).reshape(2, 4), np.arange(12, dtype=np.int8).reshape(3, 4)]
    (expected,), (actual,) = evaluate_function(before_func, inputs), evaluate_function(after_func, inputs)
    assert np.allclose(expected.astype(float), actual.astype(float), atol=1e-4)
