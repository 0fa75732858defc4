"""RNN, GRU and LSTM of ONNX beside ONNX Runtime: directions, lengths, peepholes, activations, clipping."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx.importer import from_onnx
from weft.testing.onnx_graphs import run_onnx_runtime
from weft.testing.operators import assert_close

pytestmark = pytest.mark.sampled(6)

SEQUENCE, BATCH, INPUTS, WIDTH = 3, 2, 4, 3
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
OUTPUTS = {"RNN": ("Y", "Y_h"), "GRU": ("Y", "Y_h"), "LSTM": ("Y", "Y_h", "Y_c")}


Feeds = dict[str, npt.NDArray[np.generic]]


def recurrent(
    operator: str, given: str = "B", steps: int = SEQUENCE, **attributes: Any
) -> tuple[onnx.ModelProto, Feeds]:
    """A model of one node with the optional inputs `given`, all of them its inputs but the weights; their values."""
    rng = np.random.default_rng(7)
    directions = 2 if attributes.get("direction") == "bidirectional" else 1
    rows = GATES[operator] * WIDTH
    shapes = {
        "X": (steps, BATCH, INPUTS),
        "W": (directions, rows, INPUTS),
        "R": (directions, rows, WIDTH),
        "B": (directions, 2 * rows),
        "L": (BATCH,),
        "H": (directions, BATCH, WIDTH),
        "C": (directions, BATCH, WIDTH),
        "P": (directions, 3 * WIDTH),
    }
    order = "XWRBLHCP" if operator == "LSTM" else "XWRBLH"
    values: Feeds = {name: rng.standard_normal(shapes[name]).astype(np.float32) for name in order}
    values["L"] = np.array([1, steps], np.int32)
    names = [name if name in "XWR" + given else "" for name in order]
    node = helper.make_node(operator, names, OUTPUTS[operator], hidden_size=WIDTH, **attributes)
    feeds = {name: values[name] for name in names if name and name not in "WR"}
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in feeds.items()
    ]
    outputs = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in OUTPUTS[operator]]
    weights = [onnx.numpy_helper.from_array(values[name], name) for name in "WR"]
    graph = helper.make_graph([node], "recurrent", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), feeds


@pytest.mark.parametrize("steps", [SEQUENCE, 10], ids=["written out", "scanned"])
@pytest.mark.parametrize(
    ("operator", "given", "attributes"),
    [
        ("RNN", "BLH", {"direction": "bidirectional", "activations": ["Affine", "Softsign"], "clip": 0.6}
         | {"activation_alpha": [0.5], "activation_beta": [0.1]}),
        ("RNN", "", {"direction": "reverse", "activations": ["ScaledTanh"]}
         | {"activation_alpha": [0.5], "activation_beta": [0.7]}),
        ("GRU", "BLH", {"direction": "bidirectional"}),
        ("GRU", "B", {"linear_before_reset": 1, "activations": ["HardSigmoid", "Elu"], "clip": 0.5}),
        ("GRU", "B", {"activations": ["LeakyRelu", "Tanh"]}
         | {"activation_alpha": [0.5, 0.0], "activation_beta": [0.1]}),
        ("LSTM", "BLHCP", {"direction": "bidirectional", "clip": 0.4}),
        ("LSTM", "HC", {"direction": "reverse", "input_forget": 1, "activations": ["Sigmoid", "LeakyRelu", "Relu"]}),
    ],
)  # fmt: skip
def test_it_gives_what_onnx_runtime_gives(operator: str, given: str, attributes: dict[str, Any], steps: int) -> None:
    model, feeds = recurrent(operator, given, steps, **attributes)
    expected = run_onnx_runtime(model, list(feeds.values()))
    assert expected is not None
    exe = weft.compile(model, threads=1, opt_level=1)
    assert ("relay.scan" in exe.ir["fuse"]) is (steps > SEQUENCE)
    results = exe(*feeds.values())
    for found, wanted in zip(results, expected, strict=True):
        assert_close(found, wanted)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"activations": ["Softmax"]}, "'Softmax' is no activation function; they are relu, tanh"),
        ({"activations": ["Tanh", "Tanh"]}, "2 activations are named, but there are 1"),
        ({"activations": ["Affine"], "activation_alpha": [1.0]}, "activation_beta has no value for Affine"),
        ({"direction": "backward"}, "attribute 'direction' is 'backward', but must be one of forward, reverse"),
    ],
)
def test_what_makes_no_sense_is_refused(attributes: dict[str, Any], message: str) -> None:
    model, _ = recurrent("RNN", **attributes)
    with pytest.raises(Diagnostic, match=message):
        weft.compile(model)


def test_weights_for_other_directions_or_another_width_are_refused() -> None:
    model, _ = recurrent("GRU")
    node = model.graph.node[0]
    node.attribute.append(helper.make_attribute("direction", "bidirectional"))
    with pytest.raises(Diagnostic, match="input 1 is for 1 directions, but there are 2"):
        weft.compile(model)
    node.attribute.pop()
    node.attribute[0].i = WIDTH + 1
    with pytest.raises(Diagnostic, match=f"hidden_size is {WIDTH + 1}, but the weights are for {WIDTH}"):
        weft.compile(model)


def test_steps_of_both_directions_are_put_together_each_where_it_stands_in_the_whole() -> None:
    model, _ = recurrent("GRU", direction="bidirectional")
    text = str(from_onnx(model))
    assert text.count("relay.concatenate") == 3  # of each direction's steps, and of the directions
    assert text.count("relay.stack") == 1  # of the last states


def test_a_program_is_as_long_for_many_steps_as_for_some() -> None:
    lengths = {len(str(from_onnx(recurrent("LSTM", steps=steps, direction="bidirectional")[0]))) for steps in (10, 99)}
    assert max(lengths) - min(lengths) < 50  # the digits of their number


def test_steps_can_be_gone_through_node_by_node() -> None:
    """Where turns are written out."""
    model, feeds = recurrent("GRU", "BL", 10)
    expected = weft.compile(model, threads=1)(*feeds.values())
    nodes = weft.compile(model, executor="graph")
    nodes.run(feeds)
    for number, wanted in enumerate(expected):
        assert_close(np.asarray(nodes.get_output(number)), wanted)


def test_what_reads_all_steps_may_say_how_many_there_are() -> None:
    """Exporters write a mask of as many steps as they have seen."""
    model, feeds = recurrent("LSTM", steps=9)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "steps"
    node = helper.make_node("Add", ["Y", "mask"], ["masked"])
    model.graph.node.append(node)
    mask = np.arange(9, dtype=np.float32).reshape(9, 1, 1, 1)
    model.graph.initializer.append(onnx.numpy_helper.from_array(mask, "mask"))
    model.graph.output[0].name = "masked"
    expected = run_onnx_runtime(model, list(feeds.values()))
    assert expected is not None
    got = weft.compile(model, threads=1)(*feeds.values())
    for result, wanted in zip(got, expected, strict=True):
        assert_close(result, wanted)


def test_what_concatenates_all_steps_may_say_how_many_there_are() -> None:
    """Only kernels tell it: what is put side by side has equal extents else."""
    model, feeds = recurrent("LSTM", steps=9)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "steps"
    beside = np.ones((9, 1, BATCH, WIDTH), np.float32)
    model.graph.node.append(helper.make_node("Concat", ["Y", "beside"], ["joined"], axis=1))
    model.graph.initializer.append(onnx.numpy_helper.from_array(beside, "beside"))
    model.graph.output[0].name = "joined"
    expected = run_onnx_runtime(model, list(feeds.values()))
    assert expected is not None
    for level in (0, 3):
        got = weft.compile(model, opt_level=level, threads=1)(*feeds.values())
        for result, wanted in zip(got, expected, strict=True):
            assert_close(result, wanted)
