"""Indices that are data never read or write outside of memory, whatever they are, and mean the same everywhere.

Expected values are computed here with Python's integers. Each graph runs on the relay interpreter, by its operators'
`compute`, on the interpreter of `tir` (which checks every access), and as machine code on arrays between guards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

import weft
from weft import relay
from weft.dialects.relay.base import RelayOp
from weft.dialects.relay.core import FuncOp, ReturnOp, TupleOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.relay.reference import evaluate_compute
from weft.dialects.support.dtypes import scalar_type
from weft.frontend.mlir import from_mlir, parse_mlir
from weft.frontend.onnx import from_onnx
from weft.tools.weft_opt import main as weft_opt

pytestmark = pytest.mark.sampled(5)

NDArray = npt.NDArray[Any]
ROWS, COLUMNS = 5, 3
DTYPES = ["int64", "int32", "uint8", "uint64"]
GUARD = 4096


def hostile(dtype: str, extent: int = ROWS) -> list[int]:
    """Integers around both ends of an axis, far beyond them, and at the ends of their type."""
    n, limits = extent, np.iinfo(dtype)
    wanted = [
        0, n - 1, n, n + 1, 2 * n, -1, -n, -n - 1, -2 * n, -2 * n - 1, 100, -100, 2**31 - 1, -(2**31), 2**31, 2**40,
        -(2**40), 2**63 - 1, -(2**63), 2**63, 2**64 - 1, limits.min, limits.max, limits.max - 1,
    ]  # fmt: skip
    return sorted({i for i in wanted if limits.min <= i <= limits.max})


def clip(i: int, n: int) -> int:
    """Negative ones from the end, then the nearer end."""
    return min(max(i + n if i < 0 else i, 0), n - 1)


def drop(i: int, n: int) -> int | None:
    """Negative ones from the end, once; none where that is outside."""
    i = i + n if i < 0 else i
    return i if 0 <= i < n else None


def guarded(array: NDArray) -> NDArray:
    """A copy of `array` between values that no result may show."""
    size = GUARD // array.itemsize
    memory = np.full(array.size + 2 * size, 77, array.dtype)
    inner = memory[size : size + array.size]
    inner[:] = array.reshape(-1)
    return inner.reshape(array.shape)


class Graph:
    """Operators on the same inputs, as many outputs as operators, and what those should be."""

    def __init__(self, **inputs: NDArray):
        self.inputs = inputs
        self.lines: list[str] = []
        self.expected: list[NDArray] = []

    def type_of(self, array: NDArray) -> str:
        element = "i1" if array.dtype == np.bool_ else str(scalar_type(array.dtype))
        return f"tensor<{''.join(f'{n}x' for n in array.shape)}{element}>"

    def add(self, op: str, operands: Sequence[str], attributes: str, expected: NDArray) -> None:
        names = ", ".join(f"%{name}" for name in operands)
        types = ", ".join(self.type_of(self.inputs[name]) for name in operands)
        if op == "adv_index":
            fields, tuple_type = f"({names})", f"tuple<{types}>"
            self.lines.append(f"%t = relay.tuple{fields} : ({types}) -> {tuple_type}")
            names, types = "%t", tuple_type
        result = self.type_of(expected)
        self.lines.append(f"%r{len(self.expected)} = relay.{op} {names} {{{attributes}}} : ({types}) -> {result}")
        self.expected.append(expected)

    def text(self) -> str:
        arguments = ", ".join(f"%{name}: {self.type_of(array)}" for name, array in self.inputs.items())
        types = ", ".join(map(self.type_of, self.expected))
        names = ", ".join(f"%r{number}" for number in range(len(self.expected)))
        body = "\n  ".join(self.lines)
        return f"relay.func @main({arguments}) -> ({types}) {{\n  {body}\n  relay.return {names} : {types}\n}}\n"


X = np.arange(1, ROWS * COLUMNS + 1, dtype=np.float32).reshape(ROWS, COLUMNS)


@cache
def graph_of(dtype: str) -> Graph:
    """Every operator that takes indices, on hostile ones of a dtype."""
    values = hostile(dtype)
    count = len(values)
    other = [values[(k * 7 + 3) % count] for k in range(count)]
    v, w = np.array(values, dtype), np.array(other, dtype)
    matrix = np.stack([v, w, v[::-1]], axis=1)
    updates = np.arange(100, 100 + count * COLUMNS, dtype=np.float32).reshape(count, COLUMNS)
    s = np.arange(4 * count, dtype=np.float32).reshape(4, count)
    graph = Graph(x=X, v=v, w=w, m=matrix, g=np.stack([v, w]), u=updates, uv=updates[:, 0].copy(), s=s,
                  on=np.array(1, np.float32), off=np.array(-1, np.float32))  # fmt: skip

    ends = [min(max(i, 0), ROWS - 1) for i in values]
    graph.add("take", ["x", "v"], 'axis = 0 : i64, mode = "clip"', X[ends])
    graph.add("take", ["x", "v"], 'axis = 0 : i64, mode = "fast"', X[ends])
    graph.add("take", ["x", "v"], 'axis = 0 : i64, mode = "wrap"', X[[i % ROWS for i in values]])
    graph.add(
        "take", ["x", "m"], 'axis = 1 : i64, mode = "wrap"', X[:, [[int(i) % COLUMNS for i in row] for row in matrix]]
    )
    graph.add("take", ["x", "v"], 'mode = "clip"', X.reshape(-1)[[min(max(i, 0), X.size - 1) for i in values]])
    policies: dict[str, Callable[[int, int], int]] = {"clip": clip, "wrap": lambda i, n: i % n}
    for mode, place in policies.items():
        rows = [[place(int(i), ROWS) for i in row] for row in matrix]
        graph.add("gather", ["x", "m"], f'axis = 0 : i64, mode = "{mode}"', np.take_along_axis(X, np.array(rows), 0))
        at = [place(i, ROWS) for i in values], [place(i, COLUMNS) for i in other]
        graph.add("gather_nd", ["x", "g"], f'mode = "{mode}"', X[at])
    graph.add("adv_index", ["x", "v", "w"], "", X[[clip(i, ROWS) for i in values], [clip(i, COLUMNS) for i in other]])

    combine: dict[str, Callable[[Any, Any], Any]] = {
        "update": lambda a, b: b, "add": lambda a, b: a + b, "mul": lambda a, b: a * b, "max": max, "min": min,
    }  # fmt: skip
    for op, attributes, how in (
        ("scatter", "axis = 0 : i64", "update"),
        ("scatter_add", "axis = 0 : i64", "add"),
        *(("scatter_elements", f'axis = 0 : i64, reduction = "{how}"', how) for how in combine if how != "mul"),
    ):
        expected = X.copy()
        for k, column in np.ndindex(matrix.shape):
            if (row := drop(int(matrix[k, column]), ROWS)) is not None:
                expected[row, column] = combine[how](expected[row, column], updates[k, column])
        graph.add(op, ["x", "m", "u"], attributes, expected)
    for how in ("update", "add"):
        expected = X.copy()
        for k, (i, j) in enumerate(zip(values, other, strict=True)):
            row, column = drop(i, ROWS), drop(j, COLUMNS)
            if row is not None and column is not None:
                expected[row, column] = combine[how](expected[row, column], updates[k, 0])
        graph.add("scatter_nd", ["x", "g", "uv"], f'mode = "{how}"', expected)

    hot = np.array([[1 if i == k else -1 for k in range(ROWS)] for i in values], np.float32)
    graph.add("one_hot", ["v", "on", "off"], f'depth = {ROWS} : i64, axis = -1 : i64, dtype = "float32"', hot)
    backwards = np.stack(
        [[*s[: max(0, min(n, 4)), b][::-1], *s[max(0, min(n, 4)) :, b]] for b, n in enumerate(values)], 1
    ).astype(np.float32)
    graph.add("reverse_sequence", ["s", "v"], "seq_axis = 0 : i64, batch_axis = 1 : i64", backwards)
    masked = np.array([[s[t, b] if t < n else -5 for b, n in enumerate(values)] for t in range(4)], np.float32)
    graph.add("sequence_mask", ["s", "v"], "mask_value = -5.0 : f64, axis = 0 : i64", masked)
    inverse = [max([k for k, i in enumerate(values) if i == place] or [0]) for place in range(count)]
    graph.add("invert_permutation", ["v"], "", np.array(inverse, dtype))
    return graph


@cache
def empty_graph() -> Graph:
    """Operators that read from a tensor without elements: there, zeros stand."""
    x, v = np.zeros((0, 3), np.float32), np.array([0, -1, 7, -(2**63)])
    zeros = np.zeros((4, 3), np.float32)
    graph = Graph(x=x, v=v, m=np.stack([v] * 3, 1), g=v.reshape(1, 4))
    for mode in ("clip", "wrap"):
        graph.add("take", ["x", "v"], f'axis = 0 : i64, mode = "{mode}"', zeros)
        graph.add("take", ["x", "v"], f'mode = "{mode}"', zeros[:, 0].copy())
        graph.add("gather", ["x", "m"], f'axis = 0 : i64, mode = "{mode}"', zeros)
        graph.add("gather_nd", ["x", "g"], f'mode = "{mode}"', zeros)
    graph.add("adv_index", ["x", "v"], "", zeros)
    return graph


GRAPHS = [*DTYPES, "empty"]


def of(name: str) -> Graph:
    return empty_graph() if name == "empty" else graph_of(name)


def assert_expected(graph: Graph, results: Sequence[NDArray]) -> None:
    operations = [line for line in graph.lines if "relay.tuple" not in line]
    for operation, got, want in zip(operations, results, graph.expected, strict=True):
        np.testing.assert_array_equal(got, want, err_msg=operation)


def module_of(graph: Graph) -> tuple[ModuleOp, FuncOp]:
    module = parse_mlir(graph.text(), "graph.mlir")
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    return module, main


@pytest.mark.parametrize("name", GRAPHS)
def test_hostile_indices_on_the_interpreter(name: str) -> None:
    _, main = module_of(of(name))
    assert_expected(of(name), evaluate_function(main, [*of(name).inputs.values()]))


@pytest.mark.parametrize("name", GRAPHS)
def test_hostile_indices_by_compute(name: str) -> None:
    graph = of(name)
    _, main = module_of(graph)
    values: dict[SSAValue, list[NDArray]] = {}
    values.update(zip(main.body.block.args, ([array] for array in graph.inputs.values()), strict=True))
    for op in main.body.block.ops:
        flat = [array for operand in op.operands for array in values[operand]]
        if isinstance(op, ReturnOp):
            assert_expected(graph, flat)
        elif isinstance(op, TupleOp):
            values[op.results[0]] = flat
        else:
            assert isinstance(op, RelayOp)
            values[op.results[0]] = [np.asarray(each) for each in evaluate_compute(op, flat)]


@pytest.mark.parametrize(("name", "phase"), [(next(iter(GRAPHS)), "tir"), *((name, "schedule") for name in GRAPHS)])
def test_hostile_indices_with_every_access_checked(name: str, phase: str, tmp_path: Path) -> None:
    (tmp_path / "graph.mlir").write_text(of(name).text())
    lowered = tmp_path / "lowered.mlir"
    assert weft_opt([str(tmp_path / "graph.mlir"), f"--compile-to={phase}", "-o", str(lowered)]) == 0
    main = next(op for op in from_mlir(lowered).ops if isinstance(op, FuncOp))
    assert_expected(of(name), evaluate_function(main, [*of(name).inputs.values()]))


@pytest.mark.parametrize("name", GRAPHS)
def test_hostile_indices_in_machine_code(name: str) -> None:
    graph = of(name)
    executable = weft.compile(module_of(graph)[0], threads=1)
    results = executable(*(guarded(array) for array in graph.inputs.values()))
    assert_expected(graph, results if isinstance(results, tuple) else (results,))


@pytest.mark.parametrize("op", ["take", "gather", "gather_nd"])
def test_an_unknown_policy_is_refused(op: str) -> None:
    lines = graph_of("int64").text().split("\n")
    place = next(n for n, line in enumerate(lines) if f"relay.{op} " in line and '"wrap"' in line)
    lines[place] = lines[place].replace('"wrap"', '"drop"')
    with pytest.raises(weft.Diagnostic, match=r"'mode' is one of clip, wrap, (fast, )?error, not") as error:
        parse_mlir("\n".join(lines), "graph.mlir")
    assert error.value.place is not None and error.value.place.line == place + 1


@pytest.mark.parametrize("node", ["ScatterElements <axis = 0> (x, i, u)", "GatherElements <axis = 0> (x, i)"])
def test_negative_indices_of_onnx_are_shifted_once(node: str) -> None:
    """On an axis of 3, -1 is the last; -4 lies outside, and is not shifted again."""
    onnx = pytest.importorskip("onnx")
    signature = "(float[3, 4] x, int64[1, 4] i, float[1, 4] u) => (float[a, 4] y)"
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> g {signature} {{ y = {node} }}')
    (main,) = from_onnx(model).ops
    assert isinstance(main, FuncOp)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    inputs: list[NDArray] = [x, np.array([[-1, -3, -2, 0]]), np.full((1, 4), 50, np.float32)]
    rows = [2, 0, 1, 0]
    if node.startswith("Scatter"):
        wanted = x.copy()
        wanted[rows, range(4)] = 50
    else:
        wanted = x[rows, range(4)].reshape(1, 4)
    np.testing.assert_array_equal(evaluate_function(main, inputs)[0], wanted)
    inputs[1] = np.array([[-1, -4, -2, 0]])
    with pytest.raises(weft.CheckError, match="index -4 lies outside of an axis of 3 elements"):
        evaluate_function(main, inputs)


# Where ONNX Runtime reports an error, so does Weft.


NODES = [
    ("Gather <axis = 1> (x, i)", "int64[5] i", "float[4, 5, 3] y", 5),
    ("Gather <axis = 0> (x, i)", "int32[2, 2] i", "float[2, 2, 5, 3] y", 4),
    ("GatherElements <axis = 1> (x, i)", "int64[4, 2, 3] i", "float[4, 2, 3] y", 5),
    ("GatherND (x, i)", "int64[6, 1] i", "float[6, 5, 3] y", 4),
    ("GatherND <batch_dims = 1> (x, i)", "int64[4, 1] i", "float[4, 3] y", 5),
    ("ScatterElements <axis = 1> (x, i, u)", "int64[4, 2, 3] i, float[4, 2, 3] u", "float[4, 5, 3] y", 5),
    ('ScatterElements <axis = 0, reduction = "add"> (x, i, u)', "int32[2, 5, 3] i, float[2, 5, 3] u",
     "float[4, 5, 3] y", 4),
    ("ScatterND (x, i, u)", "int64[2, 1] i, float[2, 5, 3] u", "float[4, 5, 3] y", 4),
    ('ScatterND <reduction = "add"> (x, i, u)', "int64[2, 1] i, float[2, 5, 3] u", "float[4, 5, 3] y", 4),
]  # fmt: skip


@pytest.mark.parametrize(("node", "inputs", "output", "extent"), NODES, ids=[f"{n[0]} {n[1]}" for n in NODES])
def test_onnx_indices_outside_raise_here_as_in_onnx_runtime(node: str, inputs: str, output: str, extent: int) -> None:
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    head = '<ir_version: 8, opset_import: ["" : 18]> g'
    text = f"{head} (float[4, 5, 3] x, {inputs}) => ({output}) {{ [layer] y = {node} }}"
    model = onnx.parser.parse_model(text)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    executables = [weft.compile(model, threads=threads) for threads in (1, 2)]
    (main,) = from_onnx(model).ops
    assert isinstance(main, FuncOp)
    random = np.random.default_rng(0)
    specs = executables[0].inputs
    feeds = {spec.name: random.standard_normal(spec.shape).astype(spec.dtype) for spec in specs}
    good: NDArray = random.permuted(np.arange(feeds["i"].size).reshape(feeds["i"].shape) % extent, axis=0)
    good = np.where(random.random(good.shape) < 0.5, good, good - extent).astype(feeds["i"].dtype)

    def agree() -> None:
        (wanted,) = session.run(None, feeds)
        for executable in executables:
            y: NDArray = executable.run(feeds)["y"]
            np.testing.assert_allclose(y, wanted, rtol=1e-6)

    if node.startswith("Scatter") and "add" not in node:  # two updates of one element could come in any order
        axis = 1 if "axis = 1" in node else 0
        count: int = good.shape[axis]
        row = np.arange(count).reshape([count if d == axis else 1 for d in range(good.ndim)])
        good = np.broadcast_to(row, good.shape).astype(good.dtype)
    feeds["i"] = good
    agree()
    for wrong in (extent, -extent - 1, 2**31 - 1, -(2**31)):
        flat = good.reshape(-1).copy()
        flat[random.integers(flat.size)] = wrong
        feeds["i"] = flat.reshape(good.shape)
        with pytest.raises(Exception, match=r"(?i)out of|invalid|bounds"):
            session.run(None, feeds)
        for executable in executables:
            with pytest.raises(weft.CheckError) as error:
                executable.run({name: guarded(array) for name, array in feeds.items()})
            assert (error.value.index, error.value.extent) == (wrong, extent)
            assert str(error.value.place) == 'g("layer")'
            with pytest.raises(weft.CheckError) as reference:
                evaluate_function(main, [feeds[spec.name] for spec in specs])
            assert str(reference.value) == str(error.value)
    feeds["i"] = good
    agree()  # what failed leaves nothing behind


@pytest.mark.parametrize("axes", ["batch_axis = 1, time_axis = 0", "batch_axis = 0, time_axis = 1"])
def test_onnx_lengths_outside_raise_here_as_in_onnx_runtime(axes: str) -> None:
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    text = f"""<ir_version: 8, opset_import: ["" : 18]> g (float[4, 4, 2] x, int64[4] n) => (float[4, 4, 2] y)
    {{ [layer] y = ReverseSequence <{axes}> (x, n) }}"""
    model = onnx.parser.parse_model(text)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    executable = weft.compile(model, threads=2)
    (main,) = from_onnx(model).ops
    assert isinstance(main, FuncOp)
    feeds = {"x": np.arange(32, dtype=np.float32).reshape(4, 4, 2), "n": np.array([0, 1, 4, 3])}
    np.testing.assert_array_equal(executable.run(feeds)["y"], session.run(None, feeds)[0])
    for wrong in (5, -1, 2**31, -(2**63)):
        feeds["n"] = np.array([2, wrong, 1, 0])
        with pytest.raises(Exception, match=r"Invalid sequence length"):
            session.run(None, feeds)
        with pytest.raises(weft.CheckError) as error:
            executable.run(feeds)
        assert (error.value.index, str(error.value.place)) == (wrong, 'g("layer")')
        assert error.value.message == f"'relay.reverse_sequence': length {wrong} does not lie from 0 to 4"
        with pytest.raises(weft.CheckError) as reference:
            evaluate_function(main, [feeds["x"], feeds["n"]])
        assert str(reference.value) == str(error.value)


def test_constant_indices_that_are_inside_are_not_checked() -> None:
    onnx = pytest.importorskip("onnx")
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[4, 5] x) => (float[2, 5] y)
    <int64[2] i = {%s}> { y = Gather <axis = 0> (x, i) }"""
    inside, outside = (from_onnx(onnx.parser.parse_model(text % indices)) for indices in ("-4, 3", "0, 4"))
    assert '"wrap"' in str(inside) and '"error"' in str(outside)
    x = np.ones((4, 5), np.float32)
    assert not weft.compile(inside).graph.checks
    reverse = """<ir_version: 8, opset_import: ["" : 18]> g (float[4, 2] x) => (float[4, 2] y)
    <int64[2] n = {%s}> { y = ReverseSequence (x, n) }"""
    checks = [weft.compile(onnx.parser.parse_model(reverse % lengths)).graph.checks for lengths in ("0, 4", "1, 5")]
    assert [bool(each) for each in checks] == [False, True]
    with pytest.raises(weft.CheckError, match="index 4 lies outside of an axis of 4 elements"):
        weft.compile(outside)(x)


def test_a_constant_graph_that_fails_is_left_to_fail_when_it_runs() -> None:
    text = """relay.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %d = relay.constant dense<1.0> : tensor<4x3xf32>
  %i = relay.constant dense<[0, 4]> : tensor<2xi64>
  %0 = relay.take %d, %i {axis = 0 : i64, mode = "error"} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1 = relay.add %0, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  relay.return %1 : tensor<2x3xf32>
}"""
    executable = weft.compile(parse_mlir(text, "graph.mlir"))
    with pytest.raises(weft.CheckError) as error:
        executable(np.ones((2, 3), np.float32))
    assert error.value.place is not None and error.value.place.line == 4


def test_indices_into_a_tensor_without_elements_are_checked() -> None:
    text = """relay.func @main(%x: tensor<0x3xf32>, %i: tensor<2xi64>) -> tensor<2x3xf32> {
  %0 = relay.take %x, %i {axis = 0 : i64, mode = "error"} : (tensor<0x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  relay.return %0 : tensor<2x3xf32>
}"""
    module = parse_mlir(text, "graph.mlir")
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    inputs: list[NDArray] = [np.ones((0, 3), np.float32), np.array([0, 0])]
    for run in (weft.compile(module), lambda *arrays: evaluate_function(main, arrays)):  # pyright: ignore
        with pytest.raises(weft.CheckError, match="index 0 lies outside of an axis of 0 elements"):
            run(*inputs)


def test_data_of_open_extents_without_elements_gives_zeros() -> None:
    """What lies behind the data is no zero, so that whoever reads it is found."""
    open_extent = relay.Any()
    indices = relay.const([0, 1, -1], "int64")
    whole = relay.const(np.zeros((1, 2, 2, 2), np.float32))
    regions = relay.const(np.array([[0, 0, 0, 2, 2]], np.float32))
    of_rows: list[Callable[[relay.Expr], relay.Expr]] = [
        lambda x: relay.take(x, indices, axis=0, mode="clip"),
        lambda x: relay.take(x, indices, mode="wrap"),
        lambda x: relay.gather(x, 0, relay.const(np.zeros((1, 3)), "int64")),
        lambda x: relay.gather_nd(x, relay.const(np.zeros((2, 2)), "int64")),
        lambda x: relay.adv_index([x, indices]),
        lambda x: relay.take(x + relay.const(np.float32(1)), indices, axis=0, mode="clip"),
    ]
    of_images: list[Callable[[relay.Expr], relay.Expr]] = [
        lambda x: relay.vision.roi_align(x, regions, (2, 2), 1.0, 1),
        lambda x: relay.vision.roi_pool(x, regions, (2, 2), 1.0),
        lambda x: relay.image.crop_and_resize(
            x, relay.const(np.array([[0, 0, 1, 1]], np.float32)), relay.const(np.zeros(1, np.int32)), (2, 2), "NCHW"
        ),
    ]
    of_heights: list[Callable[[relay.Expr], relay.Expr]] = [
        lambda x: relay.image.grid_sample(x, whole, padding_mode="border")
    ]
    behind = np.full(1000, 7.5, np.float32)
    for rest, bodies in (((3,), of_rows), ((1, 3, 3), of_images)):
        for body in bodies:
            x = relay.var("x", shape=(open_extent, *rest))
            found = np.asarray(weft.compile(relay.Function([x], body(x)))(behind[:0].reshape(0, *rest)))
            assert found.size and not found.any(), body(x)
    for body in of_heights:
        for height in (open_extent, 0):
            x = relay.var("x", shape=(1, 1, height, 3))
            found = np.asarray(weft.compile(relay.Function([x], body(x)))(behind[:0].reshape(1, 1, 0, 3)))
            assert found.size and not found.any()


def test_the_table_names_every_operator_that_takes_indices() -> None:
    table = (Path(__file__).parents[2] / "docs" / "indices.md").read_text()
    for operation in {line.split()[2] for line in graph_of("int64").lines if "relay.tuple" not in line}:
        assert f"`{operation.removeprefix('relay.')}`" in table, operation


def test_places_of_values_and_images_are_held_to_their_policies() -> None:
    """Every place around and far beyond both ends of an axis of 6: what is lost, and what is at the nearer end."""
    places = [place for place in hostile("int32", 6) if abs(place) < 2**30]  # exact as floats of 32 bits, too
    at, count = np.array(places, np.int32), len(places)
    ones, zero = np.ones(count, np.float32), relay.const(np.float32(0))
    inside = np.array([sum(place == here for place in places) for here in range(6)], np.float32)
    shifted = np.array([sum(drop(place, 6) == here for place in places) for here in range(6)], np.float32)
    nearest = np.array([min(max(place, 0), 5) for place in places], np.float32)
    images = relay.const(np.arange(6, dtype=np.float32).reshape(6, 1, 1, 1))
    rows = np.arange(count + 1, dtype=np.int32)
    matrix = (relay.const(ones), relay.const(at), relay.const(rows))
    regions = relay.const(np.stack([at.astype(np.float32), *[ones * 0] * 4], 1))
    boxes = relay.const(np.tile(np.array([0, 0, 1, 1], np.float32), (count, 1)))
    values = relay.const(np.arange(6, dtype=np.float32).reshape(1, 6))
    for made, expected in (
        (relay.sparse_to_dense(relay.const(at), [6], relay.const(ones), zero), (inside > 0).astype(np.float32)),
        (relay.segment_sum(relay.const(ones), relay.const(at), 6), shifted),
        (relay.nn.sparse_add(relay.const(np.zeros((count, 6), np.float32)), matrix), None),
        (relay.nn.sparse_dense(values, matrix), nearest),
        (relay.vision.roi_pool(images, regions, (1, 1), 1.0), nearest),
        (relay.vision.roi_align(images, regions, (1, 1), 1.0), nearest),
        (relay.image.crop_and_resize(images, boxes, relay.const(at), (1, 1), "NHWC"), nearest),
    ):
        with weft.PassContext(opt_level=3, disabled_pass=["fold-constant"]):
            found = np.asarray(weft.compile(relay.Function([], made), threads=1)())
        if expected is None:  # a row for each value, empty where it is lost
            found, expected = found.sum(axis=0), inside
        np.testing.assert_array_equal(found.reshape(-1), expected, err_msg=str(made))


@pytest.mark.parametrize("count", [4, 100])
def test_segments_without_a_number_take_no_negative_ones(count: int) -> None:
    """Of few numbers the graph's extents are made, of many they are found when it runs."""
    x, i = relay.var("x", shape=(count, 2)), relay.var("i", shape=(count,), dtype="int32")
    function = relay.Function([x, i], relay.segment_sum(x, i))
    interpreted: Any = relay.create_executor("debug", relay.IRModule.from_expr(function)).evaluate()
    runs: list[Callable[..., Any]] = [weft.compile(function), interpreted]
    data = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
    for numbers in ([0, 1, 1, 2], [5, 0, 0, 5], [0, 0, 0, 0]):
        at = np.resize(np.array(numbers, np.int32), count)
        wanted = np.zeros((max(numbers) + 1, 2), np.float32)
        np.add.at(wanted, at, data)
        for run in runs:
            np.testing.assert_array_equal(np.asarray(run(data, at)), wanted)
    for numbers in ([-1, 0, 1, 1], [-1, -2, -3, -4], [3, 2, 1, -(2**31)]):
        for run in runs:
            with pytest.raises(weft.Diagnostic):
                run(data, np.resize(np.array(numbers, np.int32), count))


def test_no_segments_are_made_of_no_numbers() -> None:
    x, i = relay.var("x", shape=(0, 2)), relay.var("i", shape=(0,), dtype="int32")
    function = relay.Function([x, i], relay.segment_sum(x, i))
    interpreted: Any = relay.create_executor("debug", relay.IRModule.from_expr(function)).evaluate()
    data, at = np.zeros((0, 2), np.float32), np.zeros(0, np.int32)
    assert np.asarray(interpreted(data, at)).shape == (0, 2)
    assert np.asarray(weft.compile(function)(data, at)).shape == (0, 2)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_bounds_of_slices_that_data_gives_are_pythons(dtype: str) -> None:
    x = relay.var("x", shape=(6,))
    bounds = [relay.var(name, shape=(1,), dtype=dtype) for name in ("begin", "end")]
    function = relay.Function([x, *bounds], relay.strided_slice(x, *bounds, relay.const([2], dtype)))
    executable: Callable[..., Any] = weft.compile(function)
    interpreted: Any = relay.create_executor("debug", relay.IRModule.from_expr(function)).evaluate()
    data = np.arange(6, dtype=np.float32)
    limits = np.iinfo(dtype)
    places = [0, 2, 6, 7, -1, -6, -7, int(limits.min), int(limits.max)]
    for begin, end in [(begin, end) for begin in places for end in places]:
        arrays = data, np.array([begin], dtype), np.array([end], dtype)
        np.testing.assert_array_equal(np.asarray(interpreted(*arrays)), data[begin:end:2])
        np.testing.assert_array_equal(executable(*arrays), data[begin:end:2])
