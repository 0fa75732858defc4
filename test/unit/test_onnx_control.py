"""If, Loop and Scan: decided at import where they can be, else imported onto the language; equal to ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.relay.control import IfOp
from weft.dialects.relay.core import CallOp, FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.checks import CheckError
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx

pytestmark = pytest.mark.sampled(5)

NDArray = npt.NDArray[np.generic]
F, INT, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name: str, type: int, shape: Sequence[int | str] | None = None) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, type, shape)


def constant(name: str, value: NDArray) -> TensorProto:
    return numpy_helper.from_array(value, name)


def model_of(
    nodes: list[NodeProto],
    inputs: list[ValueInfoProto],
    outputs: list[ValueInfoProto],
    weights: Sequence[TensorProto] = (),
) -> ModelProto:
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializer=list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(model: ModelProto, inputs: list[NDArray]) -> ModuleOp:
    """ONNX Runtime, the interpreter and machine code give the same; the module."""
    module = from_onnx(model)
    names = [value.name for value in model.graph.input]
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, dict(zip(names, inputs, strict=True)))
    (main,) = (op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    exe = weft.compile(module, threads=1)
    found = exe(*inputs)
    compiled = [found] if isinstance(found, np.ndarray) else list(found)
    for results in (evaluate_function(main, inputs), compiled):
        for result, wanted in zip(results, expected, strict=True):
            assert result.dtype == wanted.dtype
            np.testing.assert_allclose(result.astype(np.float64), wanted.astype(np.float64), rtol=1e-5)
    return module


def branch(name: str, op_type: str, inputs: list[str], weights: Sequence[TensorProto] = ()) -> GraphProto:
    node = helper.make_node(op_type, inputs, [f"{name}_y"])
    return helper.make_graph([node], name, [], [info(f"{name}_y", F, [3])], initializer=list(weights))


def if_model() -> ModelProto:
    """`y = (exp(x) where c, else x + w) * w`: each branch reads what is around it, one a weight of its own."""
    own = constant("own", np.array([1, 2, 3], np.float32))
    nodes = [
        helper.make_node(
            "If",
            ["c"],
            ["z"],
            then_branch=branch("then", "Exp", ["x"]),
            else_branch=branch("else", "Add", ["x", "own"], [own]),
        ),
        helper.make_node("Mul", ["z", "w"], ["y"]),
    ]
    weight = constant("w", np.array([2, 0.5, -1], np.float32))
    return model_of(nodes, [info("c", B, []), info("x", F, [3])], [info("y", F, [3])], [weight])


@pytest.mark.parametrize("condition", [True, False])
def test_an_if_whose_condition_is_computed(condition: bool):
    module = check(if_model(), [np.array(condition), np.array([0.5, -1, 2], np.float32)])
    assert any(isinstance(op, IfOp) for op in module.walk())


def loop_body(gathers: bool) -> GraphProto:
    """`x' = x + x * w`, going on while the sum is small; gathers `x` where it is to."""
    nodes = [
        helper.make_node("Mul", ["x_in", "w"], ["x_times"]),
        helper.make_node("Add", ["x_in", "x_times"], ["x_out"]),
        helper.make_node("ReduceSum", ["x_out"], ["sum"], keepdims=0),
        helper.make_node("Less", ["sum", "limit"], ["go_on"] if not gathers else ["unused"]),
    ]
    if gathers:
        nodes += [helper.make_node("Identity", ["go_in"], ["go_on"]), helper.make_node("Identity", ["x_in"], ["row"])]
    outputs = [info("go_on", B, []), info("x_out", F, [3]), *([info("row", F, [3])] if gathers else [])]
    return helper.make_graph(nodes, "body", [info("i", INT, []), info("go_in", B, []), info("x_in", F, [3])], outputs)


WEIGHTS = [constant("w", np.array([0.5, 0.25, 1], np.float32)), constant("limit", np.array(40, np.float32))]


def test_a_loop_that_goes_on_while_a_computed_condition_holds():
    node = helper.make_node("Loop", ["", "", "x"], ["y"], body=loop_body(gathers=False))
    model = model_of([node], [info("x", F, [3])], [info("y", F, [3])], WEIGHTS)
    module = check(model, [np.array([1, 2, 3], np.float32)])
    assert any(isinstance(op, CallOp) for op in module.walk())


@pytest.mark.parametrize("turns", [0, 1, 5, 100])
def test_a_loop_whose_turns_are_an_input(turns: int):
    node = helper.make_node("Loop", ["n", "c", "x"], ["y"], body=loop_body(gathers=False))
    inputs = [info("n", INT, []), info("c", B, []), info("x", F, [3])]
    model = model_of([node], inputs, [info("y", F, [3])], WEIGHTS)
    check(model, [np.array(turns), np.array(True), np.array([0.1, 0.2, 0.3], np.float32)])


def test_a_loop_of_known_turns_stands_one_turn_after_the_other_and_gathers():
    node = helper.make_node("Loop", ["n", "", "x"], ["y", "rows"], body=loop_body(gathers=True))
    outputs = [info("y", F, [3]), info("rows", F, [4, 3])]
    model = model_of([node], [info("x", F, [3])], outputs, [*WEIGHTS, constant("n", np.array(4))])
    module = check(model, [np.array([1, 2, 3], np.float32)])
    assert not any(isinstance(op, CallOp | IfOp) for op in module.walk())


def test_a_loop_that_gathers_a_number_of_rows_that_is_not_known():
    node = helper.make_node("Loop", ["n", "", "x"], ["y", "rows"], body=loop_body(gathers=True))
    outputs = [info("y", F, [3]), info("rows", F, [None, 3])]  # type: ignore[list-item]
    model = model_of([node], [info("n", INT, []), info("x", F, [3])], outputs, WEIGHTS)
    check(model, [np.array(3), np.array([1, 2, 3], np.float32)])


@pytest.mark.parametrize("turns", ["a constant", "an input"])
def test_a_turn_hands_on_a_value_that_it_gathers_as_well(turns: str):
    """One name stands twice among the outputs of the body, whose places say what each is for."""
    body = loop_body(gathers=True)
    body.output[2].name = body.output[1].name
    node = helper.make_node("Loop", ["n", "", "x"], ["y", "rows"], body=body)
    outputs = [info("y", F, [3]), info("rows", F, [None, 3])]  # type: ignore[list-item]
    if turns == "a constant":
        weights = [*WEIGHTS, constant("n", np.array(3))]
        check(model_of([node], [info("x", F, [3])], outputs, weights), [np.array([1, 2, 3], np.float32)])
    else:
        model = model_of([node], [info("n", INT, []), info("x", F, [3])], outputs, WEIGHTS)
        check(model, [np.array(3), np.array([1, 2, 3], np.float32)])


@pytest.mark.parametrize("turns", [-3, 0])
def test_a_loop_that_makes_no_turn_gathers_no_rows(turns: int):
    node = helper.make_node("Loop", ["n", "", "x"], ["y", "rows"], body=loop_body(gathers=True))
    outputs = [info("y", F, [3]), info("rows", F, [None, 3])]  # type: ignore[list-item]
    model = model_of([node], [info("x", F, [3])], outputs, [*WEIGHTS, constant("n", np.array(turns))])
    check(model, [np.array([1, 2, 3], np.float32)])


def test_the_greatest_number_of_turns_is_none_and_rows_are_gathered_while_a_condition_holds():
    body = loop_body(gathers=False)
    body.node.append(helper.make_node("Identity", ["x_in"], ["row"]))
    body.output.append(info("row", F, [3]))
    node = helper.make_node("Loop", ["n", "", "x"], ["y", "rows"], body=body)
    outputs = [info("y", F, [3]), info("rows", F, [None, 3])]  # type: ignore[list-item]
    model = model_of([node], [info("x", F, [3])], outputs, [*WEIGHTS, constant("n", np.array(2**63 - 1))])
    check(model, [np.array([1, 2, 3], np.float32)])


def test_rows_of_extents_that_data_decides_stand_one_behind_the_other():
    """A turn cuts a row out whose length is told, and says which numbers of it are not zero: as many in each."""
    nodes = [
        helper.make_node("Add", ["i", "length"], ["end"]),
        helper.make_node("Reshape", ["i", "one"], ["begin"]),
        helper.make_node("Slice", ["x_in", "begin", "end"], ["row"]),
        helper.make_node("NonZero", ["row"], ["places"]),
        helper.make_node("Mul", ["x_in", "w"], ["x_out"]),
        helper.make_node("Identity", ["go_in"], ["go_on"]),
    ]
    taken = [info("i", INT, []), info("go_in", B, []), info("x_in", F, [6])]
    given = [info("go_on", B, []), info("x_out", F, [6]), info("row", F), info("places", INT)]
    body = helper.make_graph(nodes, "body", taken, given)
    node = helper.make_node("Loop", ["n", "", "x"], ["y", "rows", "all"], body=body)
    outputs = [info("y", F, [6]), info("rows", F), info("all", INT)]
    weights = [constant("w", np.array([0.5], np.float32)), constant("one", np.array([1]))]
    inputs = [info("n", INT, []), info("length", INT, [1]), info("x", F, [6])]
    model = model_of([node], inputs, outputs, weights)
    x = np.array([1, 2, 3, 4, 5, 0], np.float32)
    check(model, [np.array(3), np.array([2]), x])
    for level in (0, 3):
        compiled = weft.compile(model, opt_level=level, threads=1)
        assert [y.shape for y in compiled(np.array(1), np.array([4]), x)] == [(6,), (1, 4), (1, 1, 4)]
        assert [y.shape[0] for y in compiled(np.array(0), np.array([4]), x)] == [6, 0, 0]
        with pytest.raises(Diagnostic, match=r"the extent \d is told where one of \d must be"):
            compiled(np.array(5), np.array([2]), x)


def test_branches_of_different_shapes_give_an_open_extent():
    model = if_model()
    attribute = next(a for a in model.graph.node[0].attribute if a.name == "else_branch")
    attribute.g.CopyFrom(
        helper.make_graph(
            [helper.make_node("Concat", ["x", "x"], ["wide"], axis=0)], "else", [], [info("wide", F, [6])]
        )
    )
    model.graph.node[1].input[1] = "z"
    x = np.array([0.5, -1, 2], np.float32)
    (main,) = check(model, [np.array(False), x]).body.block.ops
    assert "tensor<?xf32>" in str(main)


def test_branches_of_different_ranks_are_declined():
    model = if_model()
    attribute = next(a for a in model.graph.node[0].attribute if a.name == "else_branch")
    attribute.g.CopyFrom(
        helper.make_graph([helper.make_node("Unsqueeze", ["x", "axes"], ["wide"])], "else", [], [info("wide", F)])
    )
    model.graph.initializer.append(constant("axes", np.array([0])))
    with pytest.raises(Diagnostic) as error:
        from_onnx(model)
    assert "different types, tensor<3xf32> and tensor<1x3xf32>" in str(error.value.notes[0].message)


def squeezing(condition: str) -> ModelProto:
    """`x.squeeze(1)` as PyTorch exports it where it does not know the extent, for `x[n, m, 3]`, and what follows."""
    then = helper.make_graph([helper.make_node("Squeeze", ["x", "one"], ["s"])], "then", [], [info("s", F)])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["o"])], "else", [], [info("o", F)])
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["extent"]),
        helper.make_node(condition, ["extent", "one"], ["is_one"]),
        helper.make_node("If", ["is_one"], ["z"], then_branch=then, else_branch=other),
        helper.make_node("MatMul", ["z", "w"], ["y"]),
    ]
    weights = [constant("one", np.array([1])), constant("w", np.ones((3, 2), np.float32))]
    return model_of(nodes, [info("x", F, ["n", "m", 3])], [info("y", F)], weights)


def test_a_squeeze_of_an_axis_that_may_have_any_extent_is_one():
    model = squeezing("Equal")
    for n in (1, 4):
        check(model, [np.arange(n * 3, dtype=np.float32).reshape(n, 1, 3)])
    with pytest.raises(Diagnostic):
        weft.compile(model, threads=1)(np.zeros((4, 2, 3), np.float32))


def test_a_squeeze_fails_where_the_other_branch_would_be_taken():
    with pytest.raises(Diagnostic):
        weft.compile(squeezing("Less"), threads=1)(np.zeros((4, 1, 3), np.float32))


@pytest.mark.parametrize("rows", [2, "n"])
def test_a_squeeze_that_drops_no_axis_gives_the_same_in_both_branches(rows: int | str):
    then = helper.make_graph([helper.make_node("Squeeze", ["x"], ["s"])], "then", [], [info("s", F)])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["o"])], "else", [], [info("o", F)])
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    model = model_of([node], [info("c", B, []), info("x", F, [rows, 3])], [info("y", F)])
    for condition in (True, False):
        check(model, [np.array(condition), np.arange(6, dtype=np.float32).reshape(2, 3)])


@pytest.mark.parametrize(("axis", "backwards"), [(0, 0), (1, 1)])
def test_a_scan_along_an_axis_in_either_direction(axis: int, backwards: int):
    body = helper.make_graph(
        [
            helper.make_node("Add", ["s_in", "row"], ["s_out"]),
            helper.make_node("Mul", ["s_out", "w"], ["out"]),
        ],
        "body",
        [info("s_in", F, [3]), info("row", F, [3])],
        [info("s_out", F, [3]), info("out", F, [3])],
    )
    node = helper.make_node(
        "Scan",
        ["s", "x"],
        ["t", "y"],
        body=body,
        num_scan_inputs=1,
        scan_input_axes=[axis],
        scan_input_directions=[backwards],
        scan_output_axes=[1 - axis],
        scan_output_directions=[backwards],
    )
    x = np.arange(12, dtype=np.float32).reshape((4, 3) if axis == 0 else (3, 4))
    outputs = [info("t", F, [3]), info("y", F, [3, 4] if axis == 0 else [4, 3])]
    model = model_of([node], [info("s", F, [3]), info("x", F, x.shape)], outputs, WEIGHTS[:1])
    check(model, [np.ones(3, np.float32), x])


def test_a_scan_that_branches_has_as_many_rows_of_each_of_its_inputs():
    """Rows of a longer one would be left out."""
    rng = np.random.default_rng(0)

    def floats(*shape: int) -> NDArray:
        return rng.normal(size=shape).astype(np.float32)

    def side(op: str) -> GraphProto:
        return helper.make_graph([helper.make_node(op, ["r", "s"], [op])], op, [], [info(op, F)])

    nodes = [
        helper.make_node("ReduceSum", ["r"], ["sum"], keepdims=0),
        helper.make_node("Greater", ["sum", "zero"], ["is_positive"]),
        helper.make_node("If", ["is_positive"], ["chosen"], then_branch=side("Add"), else_branch=side("Sub")),
        helper.make_node("Add", ["state", "chosen"], ["new_state"]),
    ]
    rows = [info(name, F, (2,)) for name in ("state", "r", "s")]
    body = helper.make_graph(
        nodes, "body", rows, [info("new_state", F, (2,))], [constant("zero", np.array(0, np.float32))]
    )
    whole = [info("i", F, (2,)), info("x", F, ("n", 2)), info("y", F, ("m", 2))]
    node = helper.make_node("Scan", ["i", "x", "y"], ["total"], body=body, num_scan_inputs=2)
    module = check(model_of([node], whole, [info("total", F, (2,))]), [floats(2), floats(3, 2), floats(3, 2)])
    for executor in ("aot", "interpreter"):
        exe = weft.compile(module, threads=1, executor=executor)
        for longer, shorter in ((5, 3), (3, 5), (2, 0), (0, 2)):
            with pytest.raises(CheckError):
                exe(floats(2), floats(longer, 2), floats(shorter, 2))


def test_a_turn_reads_a_part_of_a_known_size_that_its_number_places():
    """As ONNX's own test of Loop does: `y += x[turn : turn + 1]`."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["turn", "one"], ["end"]),
            helper.make_node("Unsqueeze", ["turn", "axes"], ["from"]),
            helper.make_node("Unsqueeze", ["end", "axes"], ["to"]),
            helper.make_node("Slice", ["x", "from", "to"], ["part"]),
            helper.make_node("Add", ["y_in", "part"], ["y_out"]),
            helper.make_node("Identity", ["go_in"], ["go_out"]),
            helper.make_node("Identity", ["y_out"], ["row"]),
        ],
        "body",
        [info("turn", INT, []), info("go_in", B, []), info("y_in", F, [1])],
        [info("go_out", B, []), info("y_out", F, [1]), info("row", F, [1])],
        [
            constant("x", np.array([1, 2, 3, 4, 5], np.float32)),
            constant("one", np.array(1)),
            constant("axes", np.array([0])),
        ],
    )
    loop = helper.make_node("Loop", ["turns", "go", "y"], ["last", "rows"], body=body)
    inputs = [info("turns", INT, []), info("go", B, []), info("y", F, [1])]
    model = model_of([loop], inputs, [info("last", F, [1]), info("rows", F, None)])
    for turns in (0, 3, 5):
        check(model, [np.array(turns), np.array(True), np.array([-2], np.float32)])
