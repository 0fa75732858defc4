"""An attention layer as exporters write it, with a cache and named dimensions: compiled once, and run at several
lengths beside ONNX Runtime."""

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper

from weft.frontend.onnx import from_onnx
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable
from weft.runtime.tensors import InputError

pytestmark = pytest.mark.sampled(5)

HEADS, WIDTH, TABLE = 2, 4, 40


class Graph:
    """Nodes, one after the other."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.random = np.random.default_rng(0)

    def __call__(self, op: str, *inputs: object, **attributes: Any) -> str:
        names = [x if isinstance(x, str) else self.constant(x) for x in inputs]
        self.nodes.append(helper.make_node(op, names, [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def constant(self, value: object) -> str:
        self.weights.append(numpy_helper.from_array(np.asarray(value), f"c{len(self.weights)}"))
        return self.weights[-1].name

    def weight(self, *shape: int) -> str:
        return self.constant((self.random.standard_normal(shape) * 0.5).astype(np.float32))

    def extent(self, x: str, axis: int) -> str:
        return self("Unsqueeze", self("Gather", self("Shape", x), np.int64(axis), axis=0), [0])

    def shape(self, *parts: str | int) -> str:
        return self("Concat", *(part if isinstance(part, str) else [part] for part in parts), axis=0)


def attention() -> Any:
    g, d = Graph(), WIDTH // HEADS
    batch, rows, past = g.extent("x", 0), g.extent("x", 1), g.extent("past", 2)
    total = g("Add", past, rows)
    places = g("Slice", g.weight(TABLE, WIDTH), past, total, [0])  # a table of positions
    x = g("Add", "x", places)
    flat = g("Gemm", g("Reshape", x, [-1, WIDTH]), g.weight(WIDTH, 2 * WIDTH))
    q, k = (
        g("Slice", g("Reshape", flat, g.shape(batch, rows, 2 * WIDTH)), [i * WIDTH], [i * WIDTH + WIDTH], [2])
        for i in range(2)
    )
    split = g.shape(batch, rows, HEADS, d)
    q, k = (g("Transpose", g("Reshape", y, split), perm=[0, 2, 1, 3]) for y in (q, k))
    k = g("Concat", "past", k, axis=-2)
    scores = g("MatMul", q, g("Transpose", k, perm=[0, 1, 3, 2]))
    one, zero = np.int64(1), np.int64(0)
    ends = [g("Squeeze", part) for part in (past, total)]
    seen = g(
        "LessOrEqual",
        g("Unsqueeze", g("Range", zero, ends[1], one), [0]),
        g("Unsqueeze", g("Range", ends[0], ends[1], one), [1]),
    )
    asked = g.shape(batch, 1, -1, -1)
    ones = g("ConstantOfShape", [4], value=numpy_helper.from_array(np.array([1])))
    wide = g("Expand", seen, g("Where", g("Equal", asked, g("Neg", ones)), ones, asked))
    seen = g("And", wide, g("Cast", g("Unsqueeze", "mask", [1, 2]), to=TensorProto.BOOL))
    weights = g("Softmax", g("Where", seen, scores, np.float32(-1e9)), axis=-1)
    y = g("Transpose", g("MatMul", weights, k), perm=[0, 2, 1, 3])
    y = g("MatMul", g("Reshape", y, g.shape(batch, rows, -1)), g.weight(WIDTH, WIDTH))
    g.nodes += [helper.make_node("Identity", [v], [n]) for v, n in ((y, "y"), (k, "present"))]
    g.nodes.append(helper.make_node("Slice", ["y", *(g.constant([n]) for n in (-1, 2**62, 1))], ["last"]))
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "rows", WIDTH]),
        helper.make_tensor_value_info("past", TensorProto.FLOAT, ["batch", HEADS, "past", d]),
        helper.make_tensor_value_info("mask", TensorProto.INT64, ["batch", "all rows"]),
    ]
    outputs = [helper.make_value_info(name, onnx.TypeProto()) for name in ("y", "present", "last")]
    graph = helper.make_graph(g.nodes, "attention", inputs, outputs, g.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@pytest.fixture(scope="module")
def compiled() -> tuple[Any, Executable]:
    model = attention()
    return model, Executable(compile_graph(from_onnx(model), Target.parse("llvm")), threads=1)


def feeds(batch: int, rows: int, past: int) -> list[Any]:
    random = np.random.default_rng(1)
    mask = random.random((batch, past + rows)) < 0.7
    mask[:, -1] = True
    shapes = ((batch, rows, WIDTH), (batch, HEADS, past, WIDTH // HEADS))
    return [*(random.standard_normal(shape).astype(np.float32) for shape in shapes), mask.astype(np.int64)]


def test_one_compilation_gives_what_onnx_runtime_gives_at_every_length(compiled: tuple[Any, Executable]):
    model, executable = compiled
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for size in ((1, 1, 3), (2, 5, 0), (3, 4, 7), (1, 20, 20)):
        given = feeds(*size)
        wanted = session.run(None, dict(zip(("x", "past", "mask"), given, strict=True)))
        for got, want in zip(executable(*given), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=str(size))


def test_lengths_that_do_not_fit_are_refused_when_it_is_called(compiled: tuple[Any, Executable]):
    _, executable = compiled
    x, past, mask = feeds(2, 3, 4)
    with pytest.raises(InputError, match=r"input 'mask' has shape \[2, 6\], the graph takes \[2, 7\] where"):
        executable(x, past, mask[:, 1:])
    with pytest.raises(InputError, match=r"takes inputs for which \(past \+ rows\) <= 40, not batch = 1, rows = 2"):
        executable(*feeds(1, 2, 39))


def test_names_that_are_sums_of_names_mean_their_sums():
    model = attention()
    model.graph.input[2].type.tensor_type.shape.dim[1].dim_param = "past + rows"
    (main,) = from_onnx(model).body.block.ops
    assert '["batch", "past + rows"]' in str(main.attributes["dim_names"])
