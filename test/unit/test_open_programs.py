"""Programs that branch and loop over tensors of open extents, compiled once: equal to interpreter and ONNX Runtime."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper
from open_loops import DOUBLING_LOOP, falling

import weft
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.checks import CheckError
from weft.frontend.mlir import parse_mlir
from weft.runtime.executable import Executable
from weft.runtime.memory import address
from weft.runtime.sizes import Sizes
from weft.runtime.tensors import InputError

pytestmark = pytest.mark.sampled(5)

NDArray = npt.NDArray[Any]

DOUBLING = (
    DOUBLING_LOOP
    + """
relay.func @main(%n: tensor<i64>, %x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?xf32>) {
  %zero = relay.constant dense<0> : tensor<i64>
  %b = relay.add %x, %y : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %z = relay.call @loop(%zero, %n, %b) : (tensor<i64>, tensor<i64>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %s = relay.sum %z {axis = array<i64: 1>} : (tensor<?x2xf32>) -> tensor<?xf32>
  relay.return %z, %s : tensor<?x2xf32>, tensor<?xf32>
}
"""
)
"""Each turn has twice the rows of the last."""

ROWS = """
relay.func @main(%x: tensor<?x2xf32>, %i: tensor<i64>, %r: tensor<2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %a = relay.negative %x : tensor<?x2xf32>
  %b = relay.set_row %a, %i, %r : (tensor<?x2xf32>, tensor<i64>, tensor<2xf32>) -> tensor<?x2xf32>
  %zero = relay.constant dense<0> : tensor<i64>
  %c = relay.set_row %b, %zero, %r : (tensor<?x2xf32>, tensor<i64>, tensor<2xf32>) -> tensor<?x2xf32>
  %d = relay.set_row %x, %i, %r : (tensor<?x2xf32>, tensor<i64>, tensor<2xf32>) -> tensor<?x2xf32>
  %e = relay.add %a, %d : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  relay.return %c, %e : tensor<?x2xf32>, tensor<?x2xf32>
}
"""
"""`%b` may be changed where it stands, `%a` and the caller's `%x` may not."""


def _pages() -> int:
    """Those that this process has in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1])


def reference(text: str, inputs: Sequence[NDArray]) -> Sequence[Any]:
    module = parse_mlir(text, "program")
    (main,) = (op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    return evaluate_function(main, inputs)


@pytest.fixture(scope="module")
def doubling() -> Executable:
    return weft.compile(parse_mlir(DOUBLING, "doubling"), threads=1)


@pytest.mark.parametrize(("rows", "turns"), [(1, 3), (3, 0), (0, 2), (5, 4)])
def test_what_is_carried_may_have_another_extent_in_each_turn(doubling: Executable, rows: int, turns: int):
    random = np.random.default_rng(rows)
    x, y = (random.standard_normal((rows, 2)).astype(np.float32) for _ in range(2))
    inputs = [np.array(turns), x, y]
    for found, wanted in zip(doubling(*inputs), reference(DOUBLING, inputs), strict=True):
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_extents_that_do_not_fit_are_refused_with_the_place_of_the_operation(doubling: Executable):
    ones = np.ones((3, 2), np.float32)
    with pytest.raises(CheckError, match="an extent of 4 stands where one of 3 must be") as error:
        doubling(np.array(1), ones, np.ones((4, 2), np.float32))
    assert error.value.place is not None and error.value.place.file == "doubling"


def test_results_outlive_the_program_and_one_another(doubling: Executable):
    ones = np.ones((2, 2), np.float32)
    rows, sums = doubling(np.array(2), ones, ones)
    kept = rows[1:3]
    del rows
    gc.collect()
    other, _ = doubling(np.array(2), ones * 3, ones)
    assert (kept == 2).all() and (other == 4).all() and (sums == 4).all()


def test_memory_of_results_is_given_back_with_the_last_array_that_sees_it(doubling: Executable):
    ones, turns = np.ones((100_000, 2), np.float32), np.array(0)
    for _ in range(2):
        rows, _ = doubling(turns, ones, ones)
    before = _pages()
    for number in range(40):
        rows, _ = doubling(turns, ones * number, ones)
        kept = rows[5:7]
        del rows
        assert (kept == number + 1).all()
    assert (_pages() - before) * 4096 < 10 * ones.nbytes


def test_a_saved_program_finds_the_extents_of_its_results(doubling: Executable, tmp_path: Path):
    doubling.save(tmp_path / "doubling.weft")
    ones = np.ones((2, 2), np.float32)
    for found, wanted in zip(
        weft.load(tmp_path / "doubling.weft")(np.array(1), ones, ones), doubling(np.array(1), ones, ones), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


def test_an_input_that_says_a_shape_is_read_when_the_graph_is_called(tmp_path: Path):
    text = """
relay.func @main(%x: tensor<?xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = relay.dyn.reshape %x, %s : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %z = relay.negative %y : tensor<?x?xf32>
  relay.return %z : tensor<?x?xf32>
}
"""
    weft.compile(parse_mlir(text, "reshaping"), threads=1).save(tmp_path / "reshaping.weft")
    executable = weft.load(tmp_path / "reshaping.weft")
    x = floats(12)
    for shape in ((3, 4), (12, 1), (2, 6)):
        np.testing.assert_array_equal(executable(x, np.array(shape)), -x.reshape(shape))
    for wrong in ((3, 5), (-3, -4)):
        with pytest.raises(InputError):
            executable(x, np.array(wrong))


def test_a_computed_number_of_first_elements_may_be_none():
    text = """
relay.func @main(%x: tensor<4xf32>, %k: tensor<i64>) -> tensor<?xf32> {
  %y = relay.dyn.topk %x, %k {ret_type = "values", zero_is_none = true} : (tensor<4xf32>, tensor<i64>) -> tensor<?xf32>
  relay.return %y : tensor<?xf32>
}
"""
    executable: Any = weft.compile(parse_mlir(text, "first"), threads=1)
    for k in (0, 1, 4):
        (wanted,) = reference(text, [floats(4), np.array(k)])
        assert wanted.shape == (k,)
        np.testing.assert_array_equal(executable(floats(4), np.array(k)), wanted)


def test_a_row_is_changed_in_place_only_where_nobody_else_sees_it():
    executable = weft.compile(parse_mlir(ROWS, "rows"), threads=1)
    x, row = np.arange(8, dtype=np.float32).reshape(4, 2), np.array([70, 80], np.float32)
    inputs = [x.copy(), np.array(2), row]
    for found, wanted in zip(executable(*inputs), reference(ROWS, inputs), strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(inputs[0], x)
    for place in (4, -1):
        with pytest.raises(CheckError, match=f"there is no row {place} in a tensor of 4 rows"):
            executable(x, np.array(place), row)
        with pytest.raises(CheckError, match=f"there is no row {place} in a tensor of 4 rows"):
            reference(ROWS, [x, np.array(place), row])


# ONNX


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> Any:
    return helper.make_node(op, inputs, outputs, **attributes)


def info(name: str, shape: Sequence[int | str] | None, type: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, type, shape)


def model_of(nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[str], **weights: Any) -> Any:
    named = [numpy_helper.from_array(np.asarray(value), name) for name, value in weights.items()]
    results = [helper.make_value_info(name, onnx.TypeProto()) for name in outputs]
    graph = helper.make_graph(nodes, "graph", inputs, results, named)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(model: Any, calls: Sequence[dict[str, NDArray]]) -> Executable:
    """One compilation, which is given back, gives what ONNX Runtime gives in each call."""
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    executable: Any = weft.compile(model, threads=1, opt_level=1)
    for inputs in calls:
        for found, wanted in zip(executable.run(inputs).values(), session.run(None, inputs), strict=True):
            assert found.shape == wanted.shape and found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    return executable


def floats(*shape: int) -> NDArray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


BOOL, INT = TensorProto.BOOL, TensorProto.INT64


def test_a_loop_over_an_open_sequence_gathers_a_row_of_each_turn():
    body = helper.make_graph(
        [
            node("Gather", ["x", "i"], ["row_in"], axis=0),
            node("Add", ["row_in", "h"], ["sum"]),
            node("Tanh", ["sum"], ["h_out"]),
            node("Identity", ["h_out"], ["row"]),
            node("Identity", ["c"], ["c_out"]),
        ],
        "body",
        [info("i", [], INT), info("c", [], BOOL), info("h", ["b", 4])],
        [info("c_out", [], BOOL), info("h_out", ["b", 4]), info("row", ["b", 4])],
    )
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "zero"], ["n"], axis=0),
        node("Loop", ["n", "", "h0"], ["last", "rows"], body=body),
        node("Reshape", ["rows", "flat"], ["y"]),
    ]
    inputs = [info("x", ["t", "b", 4]), info("h0", ["b", 4])]
    model = model_of(nodes, inputs, ["last", "y"], zero=np.int64(0), flat=np.array([0, -1]))
    check(model, [{"x": floats(t, b, 4), "h0": floats(b, 4)} for t, b in ((3, 2), (1, 1), (20, 5))])


@pytest.mark.parametrize("bounded", [True, False])
def test_a_loop_that_stops_when_it_has_computed_that_gathers_what_it_has(bounded: bool):
    body = helper.make_graph(
        [
            node("Mul", ["a", "two"], ["a_out"]),
            node("ReduceSum", ["a_out"], ["sum"], keepdims=0),
            node("Less", ["sum", "limit"], ["c_out"]),
            node("ReduceMax", ["a_out"], ["row"], axes=[0], keepdims=0),
        ],
        "body",
        [info("i", [], INT), info("c", [], BOOL), info("a", ["t", 3])],
        [info("c_out", [], BOOL), info("a_out", ["t", 3]), info("row", [3])],
    )
    nodes = [node("Loop", ["n" if bounded else "", "c0", "x"], ["last", "rows"], body=body)]
    inputs = [*([info("n", [], INT)] if bounded else []), info("c0", [], BOOL), info("x", ["t", 3])]
    model = model_of(nodes, inputs, ["last", "rows"], two=np.float32(2), limit=np.float32(40))
    calls = [
        {"c0": np.array(begins), "x": np.abs(floats(t, 3)) + 0.1} for t, begins in ((2, True), (1, False), (9, True))
    ]
    check(model, [{**({"n": np.array(4)} if bounded else {}), **call} for call in calls])


def test_a_scan_of_an_open_length_in_both_directions():
    body = helper.make_graph(
        [node("Add", ["s", "r"], ["s_out"]), node("Mul", ["s_out", "r"], ["row"])],
        "body",
        [info("s", ["b"]), info("r", ["b"])],
        [info("s_out", ["b"]), info("row", ["b"])],
    )
    scan = node(
        "Scan", ["h0", "x"], ["last", "rows"], body=body, num_scan_inputs=1, scan_input_axes=[1],
        scan_input_directions=[1], scan_output_axes=[1], scan_output_directions=[1],
    )  # fmt: skip
    model = model_of([scan], [info("h0", ["b"]), info("x", ["b", "t"])], ["last", "rows"])
    executable = check(model, [{"h0": floats(b), "x": floats(b, t)} for b, t in ((2, 3), (1, 1), (5, 11))])
    assert "relay.scan" in executable.ir["fuse"]
    h = floats(2)
    for found, wanted in zip(executable(h, floats(2, 0)), (h, floats(2, 0)), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_branch_gives_as_many_rows_as_data_decides():
    then = helper.make_graph([node("Compress", ["x", "m"], ["a"], axis=0)], "then", [], [info("a", None)])
    rest = helper.make_graph([node("Concat", ["x", "x"], ["b"], axis=0)], "rest", [], [info("b", None)])
    nodes = [node("If", ["c"], ["y"], then_branch=then, else_branch=rest), node("Exp", ["y"], ["z"])]
    inputs = [info("c", [], BOOL), info("m", ["t"], BOOL), info("x", ["t", 2])]
    calls = [
        {"c": np.array(c), "m": np.arange(t) % 3 == 0, "x": floats(t, 2)} for t, c in ((4, True), (1, False), (7, True))
    ]
    check(model_of(nodes, inputs, ["y", "z"]), calls)


def test_a_recurrent_network_of_open_length_and_batch():
    inputs, outputs = ["x", "w", "r", "b", "lengths", "h0", "c0"], ["y", "y_h", "y_c"]
    network = node("LSTM", inputs, outputs, hidden_size=3, direction="reverse")
    weights = {"w": floats(1, 12, 4), "r": floats(1, 12, 3), "b": floats(1, 24)}
    given = [info("x", ["t", "n", 4]), info("lengths", ["n"], TensorProto.INT32)]
    given += [info(name, [1, "n", 3]) for name in ("h0", "c0")]
    calls: list[dict[str, NDArray]] = []
    for t, n in ((3, 2), (1, 1), (7, 5)):
        lengths = (np.arange(n) % (t + 1)).astype(np.int32)
        calls.append({"x": floats(t, n, 4), "lengths": lengths, "h0": floats(1, n, 3), "c0": floats(1, n, 3)})
    executable = check(model_of([network], given, outputs, **weights), calls)
    assert "relay.scan" in executable.ir["fuse"]


def test_two_directions_of_a_recurrent_network_of_open_length():
    network = node("GRU", ["x", "w", "r"], ["y", "y_h"], hidden_size=3, direction="bidirectional")
    weights = {"w": floats(2, 9, 4), "r": floats(2, 9, 3)}
    model = model_of([network], [info("x", ["t", 2, 4])], ["y", "y_h"], **weights)
    executable = check(model, [{"x": floats(t, 2, 4)} for t in (1, 6)])
    y, last = executable(floats(0, 2, 4))
    assert y.shape == (0, 2, 2, 3)
    np.testing.assert_array_equal(last, np.zeros((2, 2, 3)))


TURNS = """
relay.func private @inner(%x: tensor<?x4xf32>, %y: tensor<4xf32>, %h: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = relay.add %h, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = relay.multiply %0, %y : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  relay.return %1 : tensor<?x4xf32>
}
relay.func private @outer(%ys: tensor<?x4xf32>, %x: tensor<?x4xf32>, %h: tensor<?x4xf32>)
    -> (tensor<?x4xf32>, tensor<?x?x4xf32>) {
  %e = relay.tanh %h : tensor<?x4xf32>
  %last, %all = relay.scan @inner(%x) over(%ys) from(%e) {gathered = array<i64: 0>, directions = array<i64: 0, 1>}
    : (tensor<?x4xf32>) over(tensor<?x4xf32>) from(tensor<?x4xf32>) -> tensor<?x4xf32>, tensor<?x?x4xf32>
  relay.return %last, %all : tensor<?x4xf32>, tensor<?x?x4xf32>
}
relay.func @main(%ys: tensor<?x4xf32>, %xs: tensor<?x?x4xf32>, %h: tensor<?x4xf32>)
    -> (tensor<?x4xf32>, tensor<?x?x?x4xf32>) {
  %last, %all = relay.scan @outer(%ys) over(%xs) from(%h) {gathered = array<i64: 1>, directions = array<i64: 1, 0>}
    : (tensor<?x4xf32>) over(tensor<?x?x4xf32>) from(tensor<?x4xf32>) -> tensor<?x4xf32>, tensor<?x?x?x4xf32>
  relay.return %last, %all : tensor<?x4xf32>, tensor<?x?x?x4xf32>
}
"""
"""Turns within turns, as many as tensors have rows, whose rows are open."""


def assert_steps_compute_the_same(executable: Any, inputs: list[NDArray], calls: dict[str, int]) -> None:
    """The steps, one by one, give what the program does, and these kernels are called so many times."""
    bound = executable.bind(inputs)
    for array in bound.outputs:
        array[...] = np.nan
    places = [[address(array) for array in arrays] for arrays in (bound.inputs, bound.outputs)]
    sized = Sizes(executable.graph).graph_for(inputs)
    profile = executable.program.profile(*places, threads=2, repeat=1, sized=sized)
    for found, wanted in zip(bound.outputs, executable(*inputs), strict=True):
        np.testing.assert_array_equal(found, wanted)
    taken = Counter(step.kernel for step in profile.steps if step.is_kernel)
    assert taken == +Counter(calls), "each turn is a step"


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_turns_of_open_numbers_within_one_another(target: str, tmp_path: Path):
    (path := tmp_path / "turns.mlir").write_text(TURNS)
    executable: Any = weft.compile(path, threads=2, target=target)
    interpreter: Any = weft.compile(path, executor="interpreter")
    for t, u, n in ((3, 4, 2), (1, 2, 3), (0, 2, 3), (2, 0, 3), (2, 1, 0)):
        inputs = [floats(u, 4), floats(t, n, 4), floats(n, 4)]
        for found, wanted in zip(executable(*inputs), interpreter(*inputs), strict=True):
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
        assert_steps_compute_the_same(executable, inputs, {"fused_tanh": t, "fused_add_multiply": t * u})
    with pytest.raises(weft.Diagnostic, match=r"input 'h' has shape \[2, 4\], the graph takes \[3, 4\]"):
        executable(floats(2, 4), floats(2, 3, 4), floats(2, 4))


def test_turns_of_open_numbers_get_the_shapes_that_are_given(tmp_path: Path):
    (path := tmp_path / "turns.mlir").write_text(TURNS)
    executable: Any = weft.compile(path, threads=1, shapes={"ys": (2, 4), "xs": (3, 2, 4), "h": (2, 4)})
    assert "?" not in executable.ir["fuse"]
    inputs = [floats(2, 4), floats(3, 2, 4), floats(2, 4)]
    interpreter: Any = weft.compile(path, executor="interpreter")
    wanted = interpreter(*inputs)
    np.testing.assert_allclose(executable(*inputs)[1], wanted[1], rtol=1e-5)


SUMS = """
relay.func private @sum(%x: tensor<2xf32>, %y: tensor<2xf32>, %h: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relay.multiply %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = relay.add %h, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %1 : tensor<2xf32>
}
relay.func @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>, %h: tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>) {
  %last, %all = relay.scan @sum() over(%x, %y) from(%h) {gathered = array<i64: 0>, directions = array<i64: 0, 1, 0>}
    : () over(tensor<?x2xf32>, tensor<?x2xf32>) from(tensor<2xf32>) -> tensor<2xf32>, tensor<?x2xf32>
  relay.return %last, %all : tensor<2xf32>, tensor<?x2xf32>
}
"""


def test_turns_that_are_calls_fail_where_tensors_have_different_numbers_of_rows():
    with weft.PassContext(config={"unroll-scans.all": True}):
        executable: Any = weft.compile(parse_mlir(SUMS, "sums"), threads=1)
    assert "relay.scan" not in executable.ir["fuse"]
    for t in (0, 1, 3):
        inputs = [floats(t, 2), floats(t, 2), floats(2)]
        for found, wanted in zip(executable(*inputs), reference(SUMS, inputs), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6)
    for t, u in ((3, 2), (2, 3), (1, 0), (0, 1)):
        with pytest.raises(CheckError):
            executable(floats(t, 2), floats(u, 2), floats(2))


def test_amounts_and_repeats_and_depths_that_follow_from_extents():
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "first"], ["t"], axis=0),
        node("Div", ["t", "two"], ["half"]),
        node("Concat", ["half", "first", "one", "first"], ["pads"], axis=0),
        node("Pad", ["x", "pads", "value"], ["padded"]),
        node("Concat", ["half", "two"], ["repeats"], axis=0),
        node("Tile", ["x", "repeats"], ["tiled"]),
        node("ArgMax", ["x"], ["places"], axis=1, keepdims=0),
        node("OneHot", ["places", "t", "values"], ["hot"]),
        node("Unsqueeze", ["x", "first"], ["raised"]),
        node("Flatten", ["raised"], ["flat"], axis=3),
        node("Sub", ["t", "one"], ["less"]),
        node("Max", ["less", "first"], ["rest"]),
        node("ConstantOfShape", ["rest"], ["zeros"]),
        node("Identity", ["x"], ["same"]),
    ]
    constants = {"first": [0], "one": [1], "two": [2]}
    weights = {name: np.array(value) for name, value in constants.items()}
    outputs = ["padded", "tiled", "hot", "flat", "zeros", "same"]
    model = model_of(
        nodes, [info("x", ["t", 3])], outputs, value=np.float32(7), values=np.array([0, 1], np.float32), **weights
    )
    check(model, [{"x": floats(t, 3)} for t in (1, 2, 9)])


def test_one_less_than_no_rows_is_not_less_than_none():
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Sub", ["shape", "one"], ["less"]),
        node("Max", ["less", "zero"], ["rest"]),
        node("ConstantOfShape", ["rest"], ["y"]),
    ]
    model = model_of(nodes, [info("x", ["t"])], ["y"], one=np.array([1]), zero=np.array([0]))
    check(model, [{"x": floats(t)} for t in (0, 1, 4)])


FILLED = """
relay.func @main(%c: tensor<i1>, %k: tensor<2xi64>, %x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %v = relay.constant dense<1.0> : tensor<f32>
  %y = relay.if %c : (tensor<i1>) -> tensor<?x?xf32> {
    %z = relay.dyn.full %v, %k {dtype = "float32"} : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
    relay.yield %z : tensor<?x?xf32>
  } else {
    relay.yield %x : tensor<?x?xf32>
  }
  relay.return %y : tensor<?x?xf32>
}
"""


def test_sizes_that_no_word_holds_are_too_much_memory():
    executable: Any = weft.compile(parse_mlir(FILLED, "filled"), threads=1)
    x, most = np.ones((1, 2), np.float32), 2**63 - 1
    for shape in ((2**31, 2**31), (2**32, 2**30), (2**31, 2**31 + 1), (most, most), (2**40, 2**10), (1, most)):
        with pytest.raises(CheckError, match="there is no memory for a value of"):
            executable(np.array(True), np.array(shape), x)
    for shape in ((3, 2), (0, 5)):
        np.testing.assert_array_equal(executable(np.array(True), np.array(shape), x), np.ones(shape, np.float32))


@pytest.mark.parametrize(("turns", "rows"), [(2**62, 3), (2**63 - 1, 4)])
def test_rows_of_more_turns_than_memory_holds_are_refused(turns: int, rows: int):
    body = helper.make_graph(
        [
            node("Add", ["s", "one"], ["s_out"]),
            node("ReduceSum", ["s_out"], ["sum"], keepdims=0),
            node("Less", ["sum", "limit"], ["c_out"]),
            node("Identity", ["s_out"], ["row"]),
        ],
        "body",
        [info("i", [], INT), info("c", [], BOOL), info("s", ["m"])],
        [info("c_out", [], BOOL), info("s_out", ["m"]), info("row", ["m"])],
    )
    nodes = [node("Loop", ["n", "c0", "x"], ["last", "rows"], body=body)]
    inputs = [info("n", [], INT), info("c0", [], BOOL), info("x", ["m"])]
    model = model_of(nodes, inputs, ["last", "rows"], one=np.float32(1), limit=np.float32(9))
    executable: Any = weft.compile(model, threads=1, opt_level=1)
    with pytest.raises(CheckError, match="there is no memory for a value of"):
        executable(np.array(turns), np.array(True), np.zeros(rows, np.float32))


def test_a_program_that_refuses_a_result_keeps_no_memory():
    text = """
relay.func @main(%c: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<3xf32>) {
  %a = relay.if %c : (tensor<i1>) -> tensor<?xf32> {
    %z = relay.negative %x : tensor<?xf32>
    relay.yield %z : tensor<?xf32>
  } else { relay.yield %x : tensor<?xf32> }
  %b = relay.if %c : (tensor<i1>) -> tensor<3xf32> {
    relay.yield %y : tensor<?xf32>
  } else { relay.yield %y : tensor<?xf32> }
  relay.return %a, %b : tensor<?xf32>, tensor<3xf32>
}
"""

    executable: Any = weft.compile(parse_mlir(text, "leak"), threads=1)
    x = np.ones(500_000, np.float32)
    executable(np.array(True), x, np.ones(3, np.float32))
    before = _pages()
    for _ in range(40):
        with pytest.raises(CheckError, match="has 4 elements in dimension 0, and not 3"):
            executable(np.array(True), x, np.ones(4, np.float32))
    gc.collect()  # what tracebacks hold
    assert (_pages() - before) * 4096 < 20 * x.nbytes


def test_memory_of_values_is_used_again_within_a_call_and_given_back_after_it():
    """Values of up to 31 lines of 64 bytes, their heads included, have the memory of others that died."""
    text = """
relay.func @main(%n: tensor<i64>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = relay.constant dense<0> : tensor<i64>
  %one = relay.constant dense<1> : tensor<i64>
  %more = relay.greater %n, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %y = relay.if %more : (tensor<i1>) -> tensor<?xf32> {
    %step = relay.constant dense<1.0> : tensor<f32>
    %rest = relay.subtract %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %next = relay.add %x, %step : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
    %last = relay.call @main(%rest, %next) : (tensor<i64>, tensor<?xf32>) -> tensor<?xf32>
    relay.yield %last : tensor<?xf32>
  } else { relay.yield %x : tensor<?xf32> }
  relay.return %y : tensor<?xf32>
}
"""

    executable: Any = weft.compile(parse_mlir(text, "again"), threads=1)
    lengths = (0, 1, 16, 240, 480, 481, 5000)
    for length in lengths:
        x = np.arange(length, dtype=np.float32)
        np.testing.assert_array_equal(executable(np.array(300), x), x + 300)
    before = _pages()
    for length in (*lengths, *reversed(lengths)):
        x = np.zeros(length, np.float32)
        for _ in range(10):
            assert (executable(np.array(1000), x) == 1000).all()
    assert (_pages() - before) * 4096 < 1 << 21  # values of one length alone are 2 KB for each of 10,000 turns


def test_a_size_that_falls_with_an_extent_has_its_memory_where_that_is_none():
    columns = 1 << 16
    text = (
        falling(columns).replace("@rest", "private @rest")
        + f"""
relay.func @main(%c: tensor<i1>, %x: tensor<10x{columns}xf32>, %y: tensor<?xf32>) -> tensor<?x{columns}xf32> {{
  %r = relay.if %c : (tensor<i1>) -> tensor<?x{columns}xf32> {{
    %a = relay.call @rest(%x, %y) : (tensor<10x{columns}xf32>, tensor<?xf32>) -> tensor<?x{columns}xf32>
    relay.yield %a : tensor<?x{columns}xf32>
  }} else {{ relay.yield %x : tensor<10x{columns}xf32> }}
  relay.return %r : tensor<?x{columns}xf32>
}}
"""
    )
    executable: Any = weft.compile(parse_mlir(text, "falling"), threads=1)
    x = np.random.default_rng(0).standard_normal((10, columns)).astype(np.float32)
    for n in (0, 1, 10):
        wanted = x[n:]
        for axis in (1, 0, 1):
            wanted = np.exp(wanted) / np.exp(wanted).sum(axis=axis, keepdims=True)
        np.testing.assert_allclose(executable(np.array(True), x, np.zeros(n, np.float32)), wanted, rtol=1e-4)
