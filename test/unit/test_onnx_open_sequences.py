"""Sequences of as many tensors as only a run tells give what ONNX Runtime gives, or end in an error as it does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper

from weft.dialects.support.diagnostics import Diagnostic

from .test_onnx_told_by_data import check

pytestmark = pytest.mark.sampled(5)

OPEN: dict[str, list[int | str]] = {"x": ["n", "m"], "size": []}


def rows(count: int, columns: int = 6) -> np.ndarray:
    return np.arange(count * columns, dtype=np.float32).reshape(count, columns)


def split(*more: str, **attributes: Any) -> Any:
    return helper.make_node("SplitToSequence", ["x", *more], ["q"], **attributes)


@pytest.mark.parametrize("axis", [0, 1])
def test_parts_of_a_size_that_is_told_are_read_counted_and_joined(axis: int):
    calls = [{"x": rows(n, m), "size": size} for n, m, size in ((4, 6, 2), (5, 7, 3), (6, 3, 3), (2, 4, 1))]
    parts = split("size", axis=axis)
    last = helper.make_node("SequenceAt", ["q", "place"], ["y"])
    check([parts, last], OPEN, calls, {"place": -1})
    nothing = {"x": rows(4), "size": 0}
    check([parts, helper.make_node("SequenceLength", ["q"], ["y"])], OPEN, [*calls, nothing])
    for joined in (0, 1):
        check([parts, helper.make_node("ConcatFromSequence", ["q"], ["y"], axis=joined)], OPEN, calls)
    stacked = helper.make_node("ConcatFromSequence", ["q"], ["y"], axis=1, new_axis=1)
    check([parts, stacked], OPEN, calls)


def test_parts_of_sizes_that_are_told_add_up():
    node = helper.make_node("SequenceAt", ["q", "place"], ["y"])
    calls = [{"x": rows(5), "sizes": sizes, "place": at} for sizes in ([2, 0, 3], [5], [2, 2]) for at in (0, -1, 2)]
    check([split("sizes"), node], {"x": ["n", "m"], "sizes": ["k"], "place": []}, calls)
    known = {"sizes": np.array([2, 3]), "place": 1}
    check([split("sizes"), node], {"x": ["n", "m"]}, [{"x": rows(count)} for count in (5, 4, 6)], known)


@pytest.mark.parametrize("axis", [0, 1])
def test_rows_of_an_open_axis(axis: int):
    parts, shapes = split(axis=axis, keepdims=0), {"x": OPEN["x"]}
    calls = [{"x": rows(4)}, {"x": rows(1, 3)}, {"x": rows(3, 1)}]
    check([parts, helper.make_node("ConcatFromSequence", ["q"], ["y"], axis=0)], shapes, calls)
    check([parts, helper.make_node("ConcatFromSequence", ["q"], ["y"], axis=1, new_axis=1)], shapes, calls)
    node = helper.make_node("SequenceAt", ["q", "place"], ["y"])
    check([parts, node], {**shapes, "place": []}, [{**call, "place": at} for call in calls for at in (0, -1, 2)])


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("shape", [["n", "m"], [3, 6]])
def test_parts_of_one_row_are_rows(shape: list[int | str], keepdims: int):
    """`keepdims` is read although a size is given, which is how PyTorch writes `unbind`."""
    parts = split("one", keepdims=keepdims)
    at = helper.make_node("SequenceAt", ["q", "place"], ["y"])
    joined = helper.make_node("ConcatFromSequence", ["q"], ["y"], axis=0)
    stacked = helper.make_node("ConcatFromSequence", ["q"], ["y"], axis=1, new_axis=1)
    calls = [{"x": rows(3)}, *([{"x": rows(1, 3)}, {"x": rows(7, 2)}] if shape[0] == "n" else [])]
    for node in (at, joined, stacked):
        check([parts, node], {"x": shape}, calls, {"one": 1, "place": -1})


def test_parts_of_a_told_size_whose_axis_goes_if_they_are_rows_are_refused():
    nodes = [split("size", keepdims=0), helper.make_node("SequenceLength", ["q"], ["y"])]
    with pytest.raises(Diagnostic) as error:
        check(nodes, OPEN, [])
    assert "'keepdims' of 0" in error.value.notes[0].message


def test_a_loop_makes_a_sequence_of_the_rows_of_another():
    """As a scripted loop over `x.split(1)` that appends to a list is exported: each row has one extent of 1."""
    body = [
        helper.make_node("SequenceAt", ["q", "i"], ["part"]),
        helper.make_node("Tanh", ["part"], ["t"]),
        helper.make_node("SequenceInsert", ["r", "t"], ["more"]),
        helper.make_node("Identity", ["goes_on"], ["still"]),
    ]
    given = [helper.make_tensor_value_info(n, t, []) for n, t in (("i", TensorProto.INT64), ("goes_on", 9))]
    given.append(helper.make_empty_tensor_value_info("r"))
    made = [helper.make_tensor_value_info("still", 9, []), helper.make_empty_tensor_value_info("more")]
    nodes = [
        split("one"),
        helper.make_node("SequenceLength", ["q"], ["turns"]),
        helper.make_node("SequenceEmpty", [], ["f"]),
        helper.make_node("Loop", ["turns", "", "f"], ["done"], body=helper.make_graph(body, "body", given, made)),
        helper.make_node("ConcatFromSequence", ["done"], ["y"], axis=0),
    ]
    check(nodes, {"x": OPEN["x"]}, [{"x": rows(n)} for n in (1, 5)], {"one": 1})


def test_a_loop_over_as_many_parts_as_there_are():
    def value(name: str, type: int) -> Any:
        return helper.make_tensor_value_info(name, type, [])

    nodes = [
        helper.make_node("SequenceAt", ["q", "i"], ["part"]),
        helper.make_node("ReduceSum", ["part"], ["of_part"], keepdims=0),
        helper.make_node("Add", ["sum", "of_part"], ["next"]),
        helper.make_node("Identity", ["goes_on"], ["still"]),
    ]
    given = [value("i", TensorProto.INT64), value("goes_on", TensorProto.BOOL), value("sum", TensorProto.FLOAT)]
    made = [value("still", TensorProto.BOOL), value("next", TensorProto.FLOAT)]
    loop = helper.make_node("Loop", ["turns", "", "none"], ["y"], body=helper.make_graph(nodes, "body", given, made))
    count = helper.make_node("SequenceLength", ["q"], ["turns"])
    calls = [{"x": rows(n), "size": size} for n, size in ((5, 2), (4, 1))]
    check([split("size"), count, loop], OPEN, calls, {"none": np.float32(0)})


def grown(begun: int, *nodes: Any) -> list[Any]:
    """Turns that put tensors at the end of a sequence `q`, of which there are `begun` before; what the body has too."""
    body = [
        helper.make_node("Tanh", ["s"], ["t"]),
        helper.make_node("Add", ["t", "z"], ["row"]),
        helper.make_node("SequenceInsert", ["r", "row"], ["more"]),
        helper.make_node("Identity", ["goes_on"], ["still"]),
    ]
    given = [helper.make_tensor_value_info(n, t, []) for n, t in (("i", TensorProto.INT64), ("goes_on", 9))]
    given += [helper.make_tensor_value_info("s", 1, None), helper.make_empty_tensor_value_info("r")]
    made = [helper.make_tensor_value_info("still", TensorProto.BOOL, []), helper.make_tensor_value_info("t", 1, None)]
    made += [helper.make_empty_tensor_value_info("more")]
    graph = helper.make_graph([*nodes, *body], "body", given, made)
    first = helper.make_node("SequenceConstruct", ["x"] * begun, ["f"]) if begun else None
    return [
        first or helper.make_node("SequenceEmpty", [], ["f"]),
        helper.make_node("Loop", ["turns", "", "x", "f"], ["last", "q"], body=graph),
    ]


@pytest.mark.parametrize("begun", [0, 2])
@pytest.mark.parametrize("read", [
    helper.make_node("ConcatFromSequence", ["q"], ["y"], axis=1, new_axis=1),
    helper.make_node("ConcatFromSequence", ["q"], ["y"], axis=0),
    helper.make_node("SequenceAt", ["q", "place"], ["y"]),
    helper.make_node("SequenceLength", ["q"], ["y"]),
])  # fmt: skip
def test_a_loop_puts_a_tensor_of_each_turn_into_a_sequence(begun: int, read: Any):
    """As a scripted loop that appends to a list is exported."""
    calls = [{"x": rows(n), "turns": turns} for n, turns in ((5, 3), (4, 1), (1, 70))]
    weights = {"z": np.array([0.5], np.float32), "place": np.array(-1)}
    check([*grown(begun), read], {**OPEN, "turns": []}, calls, weights)


@pytest.mark.parametrize("given", [["r", "q"], ["q", "q"]])
def test_a_turn_that_hands_on_one_sequence_for_another_is_refused(given: list[str]):
    """Of two sequences `q` and `r`: swapped, or one of them twice."""
    body = [helper.make_node("SequenceInsert", [name, "s"], [f"{name}{i}"]) for i, name in enumerate(given)]
    names = [f"{name}{i}" for i, name in enumerate(given)]
    taken = [helper.make_tensor_value_info(n, t, []) for n, t in (("i", TensorProto.INT64), ("goes_on", 9))]
    taken += [helper.make_tensor_value_info("s", 1, None), *map(helper.make_empty_tensor_value_info, "qr")]
    made = [helper.make_tensor_value_info("goes_on", 9, []), helper.make_tensor_value_info("s", 1, None)]
    graph = helper.make_graph(body, "body", taken, [*made, *map(helper.make_empty_tensor_value_info, names)])
    nodes = [
        helper.make_node("SequenceConstruct", ["x"], ["one"]),
        helper.make_node("SequenceConstruct", ["x", "x"], ["two"]),
        helper.make_node("Loop", ["turns", "", "x", "one", "two"], ["last", "first", "second"], body=graph),
        helper.make_node("ConcatFromSequence", ["first"], ["y"], axis=0),
    ]
    with pytest.raises(Diagnostic) as error:
        check(nodes, {**OPEN, "turns": []}, [])
    assert "to which a turn does not add one at its end" in error.value.notes[0].message


def test_a_sequence_that_turns_make_longer_cannot_be_read_in_them():
    nodes = grown(0, helper.make_node("SequenceLength", ["r"], ["count"]))
    with pytest.raises(Diagnostic) as error:
        weights = {"z": np.array([0.5], np.float32)}
        check([*nodes, helper.make_node("SequenceLength", ["q"], ["y"])], {**OPEN, "turns": []}, [], weights)
    assert "as many tensors as only a run tells" in error.value.notes[0].message


def test_a_sequence_of_an_open_number_cannot_be_changed():
    nodes = [split("size"), helper.make_node("SequenceErase", ["q"], ["r"])]
    with pytest.raises(Diagnostic) as error:
        check([*nodes, helper.make_node("SequenceLength", ["r"], ["y"])], OPEN, [])
    assert "as many tensors as only a run tells" in error.value.notes[0].message
