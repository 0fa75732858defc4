"""ONNX's Scan and Loop of many turns that are known: one function for all turns."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import weft
from weft.frontend.onnx.importer import from_onnx
from weft.testing.operators import assert_close

TURNS = 20


def _value(name: str, *shape: int, type: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, type, shape)


def _model(node: onnx.NodeProto, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]):
    turns = onnx.numpy_helper.from_array(np.array(TURNS), "turns")
    graph = helper.make_graph([node], "turns", inputs, outputs, [turns])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize(("axis", "back_in", "back_out"), [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1)])
def test_a_scan_takes_and_gives_rows_along_any_axis_in_either_direction(axis: int, back_in: int, back_out: int) -> None:
    nodes = [
        helper.make_node("Add", ["state", "row"], ["sum"]),
        helper.make_node("Tanh", ["sum"], ["next"]),
        helper.make_node("Mul", ["next", "factor"], ["scaled"]),
    ]
    body = helper.make_graph(
        nodes, "body", [_value("state", 3), _value("row", 3)], [_value("next", 3), _value("scaled", 3)]
    )
    node = helper.make_node(
        "Scan", ["first", "rows"], ["last", "all"], body=body, num_scan_inputs=1, scan_input_axes=[axis],
        scan_output_axes=[axis], scan_input_directions=[back_in], scan_output_directions=[back_out],
    )  # fmt: skip
    shape = (TURNS, 3) if axis == 0 else (3, TURNS)
    inputs = [_value("first", 3), _value("rows", *shape), _value("factor", 3)]
    exe = weft.compile(_model(node, inputs, [_value("last", 3), _value("all", *shape)]), threads=2)
    assert "relay.scan" in exe.ir["fuse"]
    rng = np.random.default_rng(1)
    first, rows, factor = (rng.standard_normal(size).astype(np.float32) for size in (3, shape, 3))
    given, state, wanted = np.moveaxis(rows, axis, 0), first, np.zeros((TURNS, 3), np.float32)
    for turn in range(TURNS):
        state = np.tanh(state + given[TURNS - 1 - turn if back_in else turn])
        wanted[TURNS - 1 - turn if back_out else turn] = state * factor
    last, everything = exe(first, rows, factor)
    assert_close(last, state)
    assert_close(everything, np.moveaxis(wanted, 0, axis))


def _loop(nodes: list[onnx.NodeProto], rows: str, count: int = 3) -> onnx.ModelProto:
    inputs = [_value("turn", type=TensorProto.INT64), _value("goes_on", type=TensorProto.BOOL), _value("state", 3)]
    again = helper.make_node("Identity", ["goes_on"], ["again"])
    outputs = [_value("again", type=TensorProto.BOOL), _value("next", 3), _value(rows, count)]
    body = helper.make_graph([*nodes, again], "body", inputs, outputs)
    node = helper.make_node("Loop", ["turns", "", "first"], ["last", "all"], body=body)
    return _model(node, [_value("first", 3)], [_value("last", 3), _value("all", TURNS, count)])


def test_a_loop_knows_its_turn() -> None:
    number = helper.make_node("Cast", ["turn"], ["number"], to=TensorProto.FLOAT)
    exe = weft.compile(_loop([number, helper.make_node("Add", ["state", "number"], ["next"])], "state"))
    assert "relay.scan" in exe.ir["fuse"]
    first = np.array([1, 2, 3], np.float32)
    last, everything = exe(first)
    sums = np.array([turn * (turn - 1) // 2 for turn in range(TURNS + 1)], np.float32)
    assert_close(everything, first + sums[:TURNS, None])
    assert_close(last, first + sums[TURNS])


def test_turns_that_are_not_alike_are_written_one_after_the_other() -> None:
    """What is picked by the turn's number has a shape that follows from it only there."""
    one = helper.make_node("Constant", [], ["one"], value=onnx.numpy_helper.from_array(np.array([1])))
    nodes = [
        one,
        helper.make_node("Reshape", ["turn", "one"], ["begin"]),
        helper.make_node("Slice", ["table", "begin", "size"], ["picked"]),
        helper.make_node("ReduceSum", ["picked"], ["total"], keepdims=0),
        helper.make_node("Add", ["state", "total"], ["next"]),
    ]
    model = _loop(nodes, "state")
    table = np.arange(TURNS, dtype=np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(table, "table"))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([TURNS]), "size"))
    assert "relay.scan" not in str(from_onnx(model))
    last, _ = weft.compile(model)(np.zeros(3, np.float32))
    assert_close(last, np.full(3, sum(table[turn:].sum() for turn in range(TURNS)), np.float32))


def test_turns_are_timed_one_by_one() -> None:
    number = helper.make_node("Cast", ["turn"], ["number"], to=TensorProto.FLOAT)
    exe = weft.compile(_loop([number, helper.make_node("Add", ["state", "number"], ["next"])], "state"))
    steps = exe.profile(np.ones(3, np.float32)).steps
    assert sum("add" in str(step) for step in steps) == TURNS


@pytest.mark.parametrize("back", [0, 1])
def test_a_scan_of_opset_8_takes_batches(back: int) -> None:
    nodes = [helper.make_node("Add", ["state", "row"], ["next"]), helper.make_node("Mul", ["next", "row"], ["scaled"])]
    body = helper.make_graph(
        nodes, "body", [_value("state", 3), _value("row", 3)], [_value("next", 3), _value("scaled", 3)]
    )
    node = helper.make_node(
        "Scan", ["", "first", "rows"], ["last", "all"], body=body, num_scan_inputs=1, directions=[back]
    )
    graph = helper.make_graph(
        [node], "batches", [_value("first", 2, 3), _value("rows", 2, 5, 3)],
        [_value("last", 2, 3), _value("all", 2, 5, 3)],
    )  # fmt: skip
    exe = weft.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)], ir_version=9))
    rng = np.random.default_rng(2)
    state, rows = (rng.standard_normal(shape).astype(np.float32) for shape in ((2, 3), (2, 5, 3)))
    last, everything = exe(state, rows)
    wanted: list[np.ndarray] = []
    for row in np.moveaxis(rows, 1, 0)[:: -1 if back else 1]:
        state = state + row
        wanted.append(state * row)
    assert_close(last, state)
    assert_close(everything, np.stack(wanted, axis=1))
