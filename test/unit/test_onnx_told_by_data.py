"""ONNX operators that data tells how large their results are give what ONNX Runtime gives, or end in an error as it
does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from onnx import helper, numpy_helper

from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable
from weft.transforms.infra.context import PassContext

pytestmark = pytest.mark.sampled(5)

X = np.random.default_rng(3).standard_normal((2, 3, 4)).astype(np.float32)


def check(
    nodes: Sequence[Any],
    shapes: dict[str, list[int | str]],
    calls: Sequence[dict[str, Any]],
    weights: dict[str, Any] | None = None,
) -> None:
    """The last node's output, `y`, and its shape. An input of one letter is of floats, any other of integers."""
    types = {name: onnx.TensorProto.FLOAT if len(name) == 1 else onnx.TensorProto.INT64 for name in shapes}
    graph = helper.make_graph(
        [*nodes, helper.make_node("Shape", ["y"], ["shape_of_y"])],
        "g",
        [helper.make_tensor_value_info(name, types[name], shape) for name, shape in shapes.items()],
        [helper.make_empty_tensor_value_info(name) for name in ("y", "shape_of_y")],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in (weights or {}).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    runtime = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    compiled = Executable(compile_graph(from_onnx(model), Target.parse("llvm")), threads=1)
    for call in calls:
        feeds = {name: np.asarray(value, np.float32 if len(name) == 1 else np.int64) for name, value in call.items()}
        try:
            expected = runtime.run(None, feeds)
        except Exception:  # its own class, which it does not export
            with pytest.raises(Diagnostic):
                compiled(*feeds.values())
            continue
        for ours, theirs in zip(compiled(*feeds.values()), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5, strict=True)


def test_a_shape_with_what_stays_and_what_is_left():
    node = helper.make_node("Reshape", ["x", "to"], ["y"])
    shapes = [[6, 4], [-1, 4], [0, -1], [5, -1], [-1, -1], [-2, -12]]
    check([node], {"x": [2, 3, 4], "to": [2]}, [{"x": X, "to": shape} for shape in shapes])
    check([node], {"x": [2, 3, 4], "to": [4]}, [{"x": X, "to": shape} for shape in ([1, 0, 2, -1], [2, 0, 4, 1])])
    empty = np.zeros((0, 6), np.float32)
    check([node], {"x": ["n", "m"], "to": [2]}, [{"x": X[0], "to": [0, -1]}, {"x": empty, "to": [-1, 6]}])


@pytest.mark.parametrize("allowzero", [0, 1])
def test_a_shape_has_as_many_elements_as_what_gets_it(allowzero: int) -> None:
    """As the number of elements of `x` follows from what is told, no other may be given: nine would be read of five."""
    calls = [{"x": np.arange(5), "to": to} for to in ([5, 1], [1, 5], [1, 3], [3, 3], [-1, 3], [-1, 1], [2, 2])]
    check([helper.make_node("Reshape", ["x", "to"], ["y"], allowzero=allowzero)], {"x": ["n"], "to": [2]}, calls)


def test_a_shape_in_which_0_is_an_extent():
    node = helper.make_node("Reshape", ["x", "to"], ["y"], allowzero=1)
    check([node], {"x": [2, 3, 4], "to": [2]}, [{"x": X, "to": to} for to in ([4, 6], [-1, 3], [0, 24])])
    check([node], {"x": ["n", "m"], "to": [2]}, [{"x": np.zeros((3, 0)), "to": to} for to in ([0, 5], [3, 0], [3, 1])])


def test_a_shape_to_broadcast_to():
    node = helper.make_node("Expand", ["x", "to"], ["y"])
    x = X[0, :, :1]
    check([node], {"x": [3, 1], "to": [2]}, [{"x": x, "to": to} for to in ([3, 4], [1, 4], [1, 1], [2, 4])])
    check([node], {"x": ["n", 3, 1], "to": [1]}, [{"x": X[:, :, :1], "to": [5]}, {"x": X[:, :, :1], "to": [1]}])


def test_repeats_and_fills():
    tiled = helper.make_node("Tile", ["x", "by"], ["y"])
    check([tiled], {"x": [3, 4], "by": [2]}, [{"x": X[0], "by": by} for by in ([2, 3], [0, 3], [1, 1])])
    filled = helper.make_node("ConstantOfShape", ["to"], ["y"])
    check([filled], {"to": [3]}, [{"to": [2, 3, 4]}, {"to": [0, 3, 1]}])


@pytest.mark.parametrize("made", [
    helper.make_node("ConstantOfShape", ["missing"], ["w"]),
    helper.make_node("Expand", ["fill", "missing"], ["w"]),
    helper.make_node("Tile", ["fill", "missing"], ["w"]),
])  # fmt: skip
@pytest.mark.parametrize("shapes", [{"x": ["n"], "z": ["m"]}, {"x": ["n"], "size": [1]}])
def test_what_fills_up_has_no_negative_extent(made: Any, shapes: dict[str, list[int | str]]):
    """It was taken for empty, and more was written beside it than the whole has room for."""
    given = [] if "z" in shapes else [helper.make_node("Expand", ["fill", "size"], ["z"])]
    nodes = [
        *given,
        helper.make_node("Shape", ["x"], ["whole"]),
        helper.make_node("Shape", ["z"], ["have"]),
        helper.make_node("Sub", ["whole", "have"], ["missing"]),
        made,
        helper.make_node("Concat", ["z", "w"], ["v"], axis=0),
        helper.make_node("Add", ["v", "x"], ["y"]),
    ]
    other = "z" if "z" in shapes else "size"
    calls = [{"x": np.arange(5), other: np.arange(n) if other == "z" else [n]} for n in (3, 5, 8)]
    check(nodes, shapes, calls, {"fill": np.ones(1, np.float32)})


def test_sizes_of_images_of_which_some_are_those_of_the_images():
    """As detectors write it: images are brought to a size that is computed of theirs in floats."""
    nodes = [
        helper.make_node("Shape", ["x"], ["all"]),
        helper.make_node("Slice", ["all", "two", "four"], ["size"]),
        helper.make_node("Slice", ["all", "none", "two"], ["kept"]),
        helper.make_node("ReduceMax", ["size"], ["longest"]),
        helper.make_node("Cast", ["longest"], ["float"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Div", ["wanted", "float"], ["scale"]),
        helper.make_node("Cast", ["size"], ["floats"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Mul", ["floats", "scale"], ["scaled"]),
        helper.make_node("Floor", ["scaled"], ["rounded"]),
        helper.make_node("Cast", ["rounded"], ["new"], to=onnx.TensorProto.INT64),
        helper.make_node("Concat", ["kept", "new"], ["sizes"], axis=0),
        helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], mode="linear"),
    ]
    weights = {"none": np.array([0]), "two": np.array([2]), "four": np.array([4]), "wanted": np.float32(9)}
    images = (X.reshape(1, 1, 6, 4), X.reshape(2, 1, 3, 4), X.reshape(1, 2, 2, 6))
    check(nodes, {"x": ["b", "c", "h", "w"]}, [{"x": x} for x in images], weights)


@pytest.mark.parametrize("taken", [0, -3, 3, 150])
def test_a_slice_begins_where_a_count_says_or_so_far_from_the_end(taken: int):
    """Where `taken` is more than there are, the begin is counted from the end."""
    nodes = [
        helper.make_node("NonZero", ["x"], ["places"]),
        helper.make_node("Shape", ["places"], ["count"], start=1),
        helper.make_node("Sub", ["count", "taken"], ["begin"]),
        helper.make_node("Slice", ["z", "begin", "end", "axis"], ["y"]),
    ]
    weights = {"taken": np.array([taken]), "end": np.array([1 << 40]), "axis": np.array([0])}
    calls = [{"x": x, "z": X.reshape(-1)} for x in (np.ones(8), np.zeros(8), np.arange(8) % 3)]
    check(nodes, {"x": [8], "z": [24]}, calls, weights)


def test_turns_cut_and_fill_rows_to_the_length_of_an_open_input():
    """As `torchvision` pastes masks: what a turn cuts out is as long as data says, and rows end as long as `z`."""
    body = [
        helper.make_node("Gather", ["cuts", "i"], ["cut"]),
        helper.make_node("Unsqueeze", ["cut", "zero"], ["end"]),
        helper.make_node("Expand", ["x", "end"], ["part"]),
        helper.make_node("Sub", ["end", "one"], ["last"]),
        helper.make_node("Slice", ["part", "zero", "last", "zero"], ["later"]),
        helper.make_node("Shape", ["later"], ["have"]),
        helper.make_node("Shape", ["z"], ["whole"]),
        helper.make_node("Sub", ["whole", "have"], ["missing"]),
        helper.make_node("ConstantOfShape", ["missing"], ["zeros"]),
        helper.make_node("Concat", ["later", "zeros"], ["full"], axis=0),
        helper.make_node("Slice", ["full", "zero", "whole", "zero"], ["filled"]),
        helper.make_node("Add", ["filled", "z"], ["added"]),
        helper.make_node("Unsqueeze", ["added", "zero"], ["row"]),
        helper.make_node("Concat", ["rows", "row"], ["more"], axis=0),
        helper.make_node("Identity", ["goes_on"], ["still"]),
    ]
    values: list[tuple[str, int, Any]] = [("i", 7, []), ("goes_on", 9, []), ("rows", 1, None)]
    given = [helper.make_tensor_value_info(*value) for value in values]
    made = [helper.make_tensor_value_info("still", 9, []), helper.make_tensor_value_info("more", 1, None)]
    nodes = [
        helper.make_node("Shape", ["z"], ["length"]),
        helper.make_node("Concat", ["zero", "length"], ["none"], axis=0),
        helper.make_node("ConstantOfShape", ["none"], ["before"]),
        helper.make_node("Loop", ["turns", "", "before"], ["y"], body=helper.make_graph(body, "body", given, made)),
    ]
    numbers = {"zero": np.array([0]), "one": np.array([1])}
    calls = [
        {"x": X[0, 0, 1:2], "z": np.arange(n), "cuts": cuts, "turns": len(cuts)}
        for n, cuts in ((5, [2, 4, 1]), (4, [3]), (6, [1, 1, 9, 2]))
    ]
    check(nodes, {"x": [1], "z": ["n"], "cuts": ["k"], "turns": []}, calls, numbers)


def test_sizes_that_floats_say_are_rounded_step_by_step() -> None:
    """1 / 50 * 40 * 50 is less than 40, as each step rounds it, and cut to 39: factors that meet would make it 40."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape_of_x"]),
        helper.make_node("Gather", ["shape_of_x", "first"], ["extent"]),
        helper.make_node("Cast", ["extent"], ["n"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Reciprocal", ["n"], ["one_over"]),
        helper.make_node("Mul", ["one_over", "forty"], ["scale"]),
        helper.make_node("Mul", ["n", "scale"], ["scaled"]),
        helper.make_node("Add", ["scaled", "small"], ["more"]),
        helper.make_node("Add", ["more", "less"], ["same"]),
        helper.make_node("Floor", ["same"], ["whole"]),
        helper.make_node("Cast", ["whole"], ["size"], to=onnx.TensorProto.INT64),
        helper.make_node("Reshape", ["size", "one"], ["sizes"]),
        helper.make_node("ConstantOfShape", ["sizes"], ["y"]),
    ]
    weights = {"first": np.int64(0), "one": [1], "forty": np.float32(40), "small": np.float32(2.0**-18)}
    weights["less"] = np.float32(-(2.0**-18))
    with PassContext(opt_level=3):
        check(nodes, {"x": ["n"]}, [{"x": np.zeros(n)} for n in (7, 25, 47, 50, 55, 61)], weights)


NUMBERS = {"two": np.array(2), "one": np.array(1), "zero": np.array(0)}


@pytest.mark.parametrize(
    "nodes",
    [
        [("Max", ["told", "two"], "m")],
        [("Min", ["told", "two"], "m")],
        [("Div", ["told", "two"], "m")],
        [("Mod", ["told", "two"], "m")],
        [("Abs", ["told"], "m")],
        [("Neg", ["told"], "m")],
        [("Less", ["told", "zero"], "is"), ("Where", ["is", "two", "told"], "m")],
        [("Sub", ["told", "two"], "less"), ("Mul", ["less", "two"], "m")],
    ],
    ids=lambda nodes: nodes[-1][0].lower(),
)
def test_a_number_below_zero_is_computed_with_as_any_other(nodes: list[tuple[str, list[str], str]]):
    """It is an extent where it has become one: what has none, as numbers up to -2, is empty."""
    made = [helper.make_node(op, given, [name]) for op, given, name in nodes]
    made.append(helper.make_node("Range", ["zero", "m", "one"], ["y"]))
    check(made, {"told": []}, [{"told": told} for told in (-5, -1, 0, 1, 2, 7)], NUMBERS)


def test_a_size_may_not_be_below_zero_but_what_it_is_made_of_may():
    nodes = [
        helper.make_node("Add", ["told", "some"], ["more"]),
        helper.make_node("Concat", ["more", "some"], ["shape"], axis=0),
        helper.make_node("ConstantOfShape", ["shape"], ["zeros"]),
        helper.make_node("Add", ["zeros", "x"], ["y"]),
    ]
    calls = [{"told": [told], "x": [1, 2]} for told in (-2, -1, 0, 4, -3)]
    check(nodes, {"told": [1], "x": [2]}, calls, {"some": np.array([2])})


def test_a_part_of_an_image_around_which_zeros_are_put_lies_where_data_says():
    """As `torchvision` pastes masks into images: a box may begin before the image, and end behind it."""
    nodes = [helper.make_node("Cast", ["x"], ["box"], to=onnx.TensorProto.INT64)]
    for name, at in (("begin", "zero_"), ("end", "one_")):
        nodes.append(helper.make_node("Gather", ["box", at], [name], axis=0))
    nodes += [
        helper.make_node("Sub", ["end", "begin"], ["long"]),
        helper.make_node("Max", ["long", "one_"], ["size"]),
        helper.make_node("Concat", ["ones", "size"], ["sizes"], axis=0),
        helper.make_node("Resize", ["m", "", "", "sizes"], ["resized"], mode="linear"),
        helper.make_node("Squeeze", ["resized", "axes"], ["mask"]),
        helper.make_node("Shape", ["z"], ["whole"]),
        helper.make_node("Max", ["begin", "zero_"], ["first"]),
        helper.make_node("Min", ["end", "whole"], ["last"]),
        helper.make_node("Sub", ["first", "begin"], ["cut_from"]),
        helper.make_node("Sub", ["last", "begin"], ["cut_to"]),
        helper.make_node("Slice", ["mask", "cut_from", "cut_to", "zero_"], ["cut"]),
        helper.make_node("ConstantOfShape", ["first"], ["before"]),
        helper.make_node("Sub", ["whole", "last"], ["left"]),
        helper.make_node("ConstantOfShape", ["left"], ["behind"]),
        helper.make_node("Concat", ["before", "cut", "behind"], ["pasted"], axis=0),
        helper.make_node("Add", ["pasted", "z"], ["y"]),
    ]
    boxes = ([2, 8], [-3, 5], [10, 15], [-4, 18], [0, 0])
    calls = [{"x": box, "z": np.zeros(12), "m": X[:1, :1]} for box in boxes]
    numbers = {"zero_": np.array([0]), "one_": np.array([1]), "ones": np.array([1, 1]), "axes": np.array([0, 1])}
    check(nodes, {"x": [2], "z": ["n"], "m": [1, 1, 4]}, calls, numbers)


def test_what_data_cuts_out_and_zeros_around_it_are_compared_with_an_image_when_all_are_known():
    """That the parts have as many elements as `z` does not follow from the zeros alone."""
    nodes = [
        helper.make_node("Cast", ["x"], ["box"], to=onnx.TensorProto.INT64),
        helper.make_node("Gather", ["box", "zero"], ["begin_"], axis=0),
        helper.make_node("Unsqueeze", ["begin_", "axis"], ["begin"]),
        helper.make_node("Shape", ["z"], ["whole"]),
        helper.make_node("NonZero", ["m"], ["places"]),
        helper.make_node("Gather", ["places", "zero"], ["cut_"], axis=0),
        helper.make_node("Cast", ["cut_"], ["cut"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Max", ["begin", "axis"], ["first"]),
        helper.make_node("ConstantOfShape", ["first"], ["before"]),
        helper.make_node("Concat", ["before", "cut"], ["pasted"], axis=0),
        helper.make_node("Slice", ["pasted", "axis", "whole"], ["all"]),
        helper.make_node("Add", ["all", "z"], ["y"]),
    ]
    calls = [
        {"x": [begin, 0], "m": np.ones(cut), "z": np.zeros(length)}
        for begin, cut, length in ((2, 4, 6), (-3, 5, 5), (3, 5, 6))
    ]
    check(nodes, {"x": [2], "m": ["k"], "z": ["n"]}, calls, {**NUMBERS, "axis": np.array([0])})


def test_what_is_left_of_a_shape_is_what_its_other_numbers_leave_not_what_stands_in_their_place():
    """The first part of the program knows `rows`, the part behind the branch is told them: they are no `n`."""

    def branch(op: str) -> Any:
        made = helper.make_tensor_value_info(op, onnx.TensorProto.FLOAT, None)
        return helper.make_graph([helper.make_node(op, ["x"], [op])], op, [], [made])

    nodes = [
        helper.make_node("Shape", ["z"], ["rows"]),
        helper.make_node("Mul", ["rows", "two"], ["twice"]),
        helper.make_node("Concat", ["twice", "rest", "two"], ["to"], axis=0),
        helper.make_node("Cast", ["on"], ["is_on"], to=onnx.TensorProto.BOOL),
        helper.make_node("If", ["is_on"], ["taken"], then_branch=branch("Exp"), else_branch=branch("Neg")),
        helper.make_node("Reshape", ["taken", "to"], ["parts"]),
        helper.make_node("ReduceSum", ["parts", "one"], ["sums"], keepdims=0),
        helper.make_node("Shape", ["taken"], ["whole"]),
        helper.make_node("Reshape", ["parts", "whole"], ["back"]),
        helper.make_node("ReduceSum", ["back", "one"], ["lines"], keepdims=0),
        helper.make_node("ReduceSum", ["lines", "one_"], ["line"], keepdims=1),
        helper.make_node("Reshape", ["line", "one"], ["line_"]),
        helper.make_node("Mul", ["sums", "line_"], ["y"]),
    ]
    calls = [
        {"x": np.arange(6 * n).reshape(n, 6) / 20, "z": np.zeros(k), "on": on}
        for n, k, on in ((4, 2, 1), (4, 3, 0), (2, 3, 1), (5, 2, 0), (6, 1, 1), (7, 21, 0), (4, 1, 1))
    ]
    weights = {"two": np.array([2]), "rest": np.array([-1]), "one": np.array([1]), "one_": np.array([0])}
    check(nodes, {"x": ["n", 6], "z": ["k"], "on": []}, calls, weights)


@pytest.mark.parametrize("level", [0, 3])
def test_sums_of_products_that_are_rounded_are_no_fused_ones(level: int) -> None:
    """3 * 0.7 - 0.1 is 2 where the product is rounded, too, and less where it is not."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Cast", ["shape"], ["n"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Mul", ["n", "scale"], ["scaled"]),
        helper.make_node("Sub", ["scaled", "less"], ["some"]),
        helper.make_node("Floor", ["some"], ["whole"]),
        helper.make_node("Cast", ["whole"], ["size"], to=onnx.TensorProto.INT64),
        helper.make_node("ConstantOfShape", ["size"], ["zeros"]),
        helper.make_node("Mul", ["x", "scale"], ["places_"]),
        helper.make_node("Sub", ["places_", "less"], ["places"]),
        helper.make_node("Floor", ["places"], ["at"]),
        helper.make_node("Concat", ["zeros", "at"], ["y"], axis=0),
    ]
    weights = {"scale": np.array([0.7], np.float32), "less": np.array([0.1], np.float32)}
    with PassContext(opt_level=level):
        check(nodes, {"x": ["n"]}, [{"x": np.arange(n)} for n in (3, 13, 183, 400)], weights)
