"""ONNX's random operators: shapes, types, seeds and distributions. What others draw with a seed is not compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
from onnx import TensorProto, helper, numpy_helper

import weft
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx


def model_of(nodes: list[Any], inputs: list[Any], outputs: list[Any]) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])


def one(operator: str, of: tuple[int, ...] | None = None, out: int = 1, of_type: int = 1, **attributes: Any) -> Any:
    """A model of one node, which has an input of a shape if one is given."""
    names = [] if of is None else ["x"]
    inputs = [helper.make_tensor_value_info("x", of_type, of) for _ in names]
    node = helper.make_node(operator, names, ["y"], **attributes)
    return model_of([node], inputs, [helper.make_tensor_value_info("y", out, None)])


def run(model: onnx.ModelProto, *arrays: Any) -> list[Any]:
    main = from_onnx(model).body.block.first_op
    assert isinstance(main, FuncOp)
    return evaluate_function(main, list(arrays))


def test_a_normal_distribution_has_its_mean_and_its_deviation() -> None:
    (y,) = run(one("RandomNormal", shape=[40, 50], mean=3.0, scale=0.5, seed=7.0))
    assert y.shape == (40, 50) and y.dtype == np.float32
    assert abs(y.mean() - 3) < 0.05 and abs(y.std() - 0.5) < 0.05
    assert 0.64 < np.mean(np.abs(y - 3) < 0.5) < 0.73  # within one deviation: 0.683


def test_a_uniform_distribution_stays_within_its_bounds() -> None:
    (y,) = run(one("RandomUniform", shape=[2000], low=-2.0, high=6.0, seed=1.0))
    assert y.min() >= -2 and y.max() < 6 and abs(y.mean() - 2) < 0.3
    counts, _ = np.histogram(y, 8, (-2, 6))
    assert counts.min() > 190 and counts.max() < 320


@pytest.mark.parametrize(("code", "dtype"), [(1, "float32"), (10, "float16"), (11, "float64"), (16, "bfloat16")])
@pytest.mark.parametrize("operator", ["RandomNormalLike", "RandomUniformLike"])
def test_a_like_has_the_shape_of_its_input_and_the_type_it_says(operator: str, code: int, dtype: str) -> None:
    data = np.zeros((3, 4), np.int32)
    (y,) = run(one(operator, (3, 4), code, TensorProto.INT32, dtype=code, seed=2.0), data)
    assert y.shape == (3, 4) and y.dtype.name == dtype
    (same,) = run(one(operator, (3, 4), TensorProto.DOUBLE, TensorProto.DOUBLE), data.astype(np.float64))
    assert same.dtype == np.float64 and len(np.unique(same)) == 12


@pytest.mark.parametrize("node", [
    helper.make_node("RandomNormalLike", ["x"], ["y"], seed=2.0),
    helper.make_node("RandomUniformLike", ["x"], ["y"], dtype=TensorProto.FLOAT, seed=2.0),
    helper.make_node("Bernoulli", ["x"], ["y"], seed=2.0),
    helper.make_node("Dropout", ["x", "", "training"], ["y"], seed=2),
])  # fmt: skip
def test_open_shapes_draw_what_known_ones_do(node: onnx.NodeProto) -> None:
    training = numpy_helper.from_array(np.array(True), "training")

    def of(shape: list[Any]) -> Any:
        inputs = [helper.make_tensor_value_info("x", 1, shape)]
        outputs = [helper.make_tensor_value_info("y", 1, None)]
        graph = helper.make_graph([node], "g", inputs, outputs, [training])
        return weft.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)]), threads=1)

    exe = of(["n", 3, "m"])
    for shape in ((2, 3, 4), (5, 3, 0), (1, 3, 7)):
        x = np.full(shape, 0.5, np.float32)
        y = exe(x)
        assert y.shape == shape
        if shape == (2, 3, 4):
            np.testing.assert_allclose(y, of([*shape])(x), rtol=1e-6)


def test_a_seed_says_which_numbers_are_drawn() -> None:
    def of(**seed: Any) -> Any:
        return run(one("RandomUniform", shape=[20], **seed))[0]

    np.testing.assert_array_equal(of(seed=3.0), of(seed=3.0))
    np.testing.assert_array_equal(of(), of())
    assert not np.array_equal(of(seed=3.0), of(seed=4.0)) and not np.array_equal(of(seed=0.0), of())


def test_nodes_without_a_seed_draw_different_numbers() -> None:
    nodes = [helper.make_node("RandomNormal", [], [name], shape=[20]) for name in "ab"]
    outputs = [helper.make_tensor_value_info(name, 1, [20]) for name in "ab"]
    a, b = run(model_of(nodes, [], outputs))
    assert not np.array_equal(a, b)


def test_bernoulli_is_as_often_true_as_the_data_says() -> None:
    data = np.repeat(np.array([0, 0.25, 1], np.float32), 1000).reshape(3, 1000)
    (y,) = run(one("Bernoulli", (3, 1000), seed=5.0), data)
    assert y.dtype == np.float32 and np.unique(y).tolist() == [0, 1]
    assert y[0].sum() == 0 and y[2].sum() == 1000 and 200 < y[1].sum() < 300
    (truth,) = run(one("Bernoulli", (3, 1000), TensorProto.BOOL, seed=5.0, dtype=TensorProto.BOOL), data)
    np.testing.assert_array_equal(truth, y == 1)
    (short,) = run(one("Bernoulli", (3, 1000), 10, 10, seed=5.0), data.astype(np.float16))
    assert short.dtype == np.float16
    np.testing.assert_array_equal(short, y)


@pytest.mark.parametrize("told", [(), ("r",), ("t",), ("r", "t")])
def test_dropout_drops_its_ratio_and_makes_up_for_it_if_data_says_to_be_training(told: tuple[str, ...]) -> None:
    """Which of the ratio and the mode are inputs of the model, `told` says; the others are constants."""
    given: dict[str, Any] = {"r": np.float32(0.25), "t": np.bool_(True)}
    values = {"x": (1, (40, 50)), "r": (1, ()), "t": (TensorProto.BOOL, ())}
    inputs = [helper.make_tensor_value_info(name, *values[name]) for name in ("x", *told)]
    node = helper.make_node("Dropout", ["x", "r", "t"], ["y", "m"], seed=3)
    model = model_of([node], inputs, [helper.make_empty_tensor_value_info(name) for name in ("y", "m")])
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(given[n]), n) for n in given if n not in told)
    x = np.arange(1, 2001, dtype=np.float32).reshape(40, 50)
    y, mask = run(model, x, *(given[name] for name in told))
    assert 400 < (~mask).sum() < 600
    np.testing.assert_allclose(y, np.where(mask, x / 0.75, 0), rtol=1e-6)
    for other, value in (("r", np.float32(0)), ("t", np.bool_(False))):
        if other in told:
            y, mask = run(model, x, *({**given, other: value}[name] for name in told))
            assert mask.all()
            np.testing.assert_array_equal(y, x)


def test_multinomial_draws_classes_by_their_logarithms() -> None:
    logits = np.log(np.array([[0.1, 0.2, 0.7], [4.0, 0.0001, 4.0]], np.float32))
    (y,) = run(one("Multinomial", (2, 3), TensorProto.INT64, seed=1.0, sample_size=1000, dtype=7), logits)
    assert y.shape == (2, 1000) and y.dtype == np.int64
    first, second = (np.bincount(row, minlength=3) for row in y)
    assert abs(first - [100, 200, 700]).max() < 60 and second[1] < 5 and abs(second[0] - 500) < 60
    (few,) = run(one("Multinomial", (2, 3), TensorProto.INT32, seed=1.0), logits)
    assert few.shape == (2, 1) and few.dtype == np.int32


def test_machine_code_draws_what_the_interpreter_does() -> None:
    model, data = one("Bernoulli", (6,), seed=2.0), np.linspace(0, 1, 6, dtype=np.float32)
    np.testing.assert_array_equal(weft.compile(model)(data), run(model, data)[0])


MISTAKES = [
    (one("RandomNormal", shape=[2], dtype=TensorProto.INT32), "random numbers are floats"),
    (one("RandomUniform", shape=[-2]), "extents are not negative"),
    (one("RandomUniformLike", (2,), TensorProto.INT32, TensorProto.INT32), "random numbers are floats"),
    (one("Multinomial", (2, 0), TensorProto.INT32), "there is no class to draw"),
    (one("Multinomial", (2, 3), TensorProto.INT32, dtype=1), "indices are int32 or int64"),
]


@pytest.mark.parametrize(("model", "message"), MISTAKES)
def test_what_cannot_be_drawn_is_refused(model: onnx.ModelProto, message: str) -> None:
    with pytest.raises(Diagnostic) as error:
        from_onnx(model)
    assert message in (error.value.notes[0] if error.value.notes else error.value).message
