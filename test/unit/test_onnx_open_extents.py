"""Operators on tensors whose batch or length is open, as exporters write them, beside ONNX Runtime at several sizes."""

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper

import weft
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.onnx import from_onnx
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable
from weft.runtime.tensors import InputError

pytestmark = pytest.mark.sampled(6)


class Graph:
    """Nodes, one after the other; each of `results` becomes an output."""

    def __init__(self, **inputs: list[str | int]) -> None:
        self.inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in inputs.items()]
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.results: list[str] = []
        self.random = np.random.default_rng(0)

    def __call__(self, op: str, *inputs: object, outputs: int = 1, **attributes: Any) -> Any:
        names = [x if isinstance(x, str) else self.constant(x) for x in inputs]
        made = [f"v{len(self.nodes)}", f"w{len(self.nodes)}"][:outputs]
        self.nodes.append(helper.make_node(op, names, made, **attributes))
        return made[0] if outputs == 1 else made

    def constant(self, value: object) -> str:
        self.weights.append(numpy_helper.from_array(np.asarray(value), f"c{len(self.weights)}"))
        return self.weights[-1].name

    def normal(self, *shape: int) -> str:
        return self.constant(self.random.standard_normal(shape).astype(np.float32))

    def extent(self, x: str, axis: int) -> str:
        return self("Gather", self("Shape", x), [axis], axis=0)

    def join(self, *parts: str | int) -> str:
        return self("Concat", *(part if isinstance(part, str) else [part] for part in parts), axis=0)

    def model(self) -> Any:
        outputs = [helper.make_value_info(name, onnx.TypeProto()) for name in self.results]
        graph = helper.make_graph(self.nodes, "open", self.inputs, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=9)


def agree(graph: Graph, sizes: list[list[tuple[int, ...]]]) -> Executable:
    """One compilation gives what ONNX Runtime gives, for inputs of all these shapes."""
    model = graph.model()
    executable = Executable(compile_graph(from_onnx(model), Target.parse("llvm")), threads=1)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    random = np.random.default_rng(1)
    names = [value.name for value in graph.inputs]
    for shapes in sizes:
        given = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
        made: Any = executable(*given) if len(graph.results) > 1 else [executable(*given)]
        wanted = session.run(None, dict(zip(names, given, strict=True)))
        for name, got, want in zip(graph.results, made, wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5, err_msg=f"{name} of {shapes}")
    return executable


def test_operators_take_any_number_of_images():
    g = Graph(x=["n", 4, 6])
    square = g("Slice", "x", [0, 0], [3, 3], [1, 2])
    rows = g("Range", np.int64(0), g("Squeeze", g.extent("x", 0)), np.int64(1))
    rows = g("Unsqueeze", rows, [1, 2])
    place = g("Concat", rows, g("Expand", [1], g("Shape", rows)), axis=2)
    g.results += [
        g("Det", square),
        *g("MaxPool", "x", kernel_shape=[2], outputs=2),
        g("Pad", "x", [0, -1, 2, 0, 0, -3], np.float32(0.5)),
        g("Col2Im", "x", [3, 4], [2, 2]),
        g("LayerNormalization", "x", g.normal(4, 6), g.normal(4, 6), axis=1),
        g("ScatterND", "x", place, g("Slice", "x", [0], [1], [1])),
        g("EyeLike", g("ReduceSum", "x", [1], keepdims=0), k=1),
    ]
    agree(g, [[(2, 4, 6)], [(1, 4, 6)], [(5, 4, 6)]])


@pytest.mark.parametrize("opt_level", [0, 3])
def test_images_are_filled_to_whole_windows(opt_level: int):
    """As Swin transformers and Longformer do, which add what a window gave to the whole again."""
    g = Graph(x=["h", "w"])
    rest = [g("Mod", g("Neg", g.extent("x", axis)), [4]) for axis in (0, 1)]
    filled = g("Pad", "x", g.join(0, 0, *rest), mode="reflect")
    counts = [g("Div", g.extent(filled, axis), [4]) for axis in (0, 1)]
    windows = g("Transpose", g("Reshape", filled, g.join(counts[0], 4, counts[1], 4)), perm=[0, 2, 1, 3])
    back = g("Transpose", g("Reshape", windows, g.join(*counts, 4, 4)), perm=[0, 2, 1, 3])
    whole = g("Reshape", back, g.join(g.extent(filled, 0), g.extent(filled, 1)))
    g.results.append(g("Add", whole, filled))
    model = g.model()
    program = weft.compile(model, opt_level=opt_level, threads=1)
    for shape in ((4, 8), (5, 10), (7, 9)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        wanted = 2 * np.pad(x, [(0, -n % 4) for n in shape], mode="reflect")
        np.testing.assert_array_equal(program(x), wanted)


def test_grids_sample_images_of_any_size():
    g = Graph(x=["n", 2, "h", "w"], grid=["k", "p", "q", 2])
    g.results += [
        g("GridSample", "x", "grid", mode=mode, padding_mode=padding, align_corners=corners)
        for mode, padding, corners in (
            ("linear", "zeros", 0), ("linear", "reflection", 1), ("nearest", "border", 1), ("cubic", "reflection", 0),
        )
    ]  # fmt: skip
    agree(g, [[(2, 2, 3, 4), (2, 1, 5, 2)], [(1, 2, 1, 5), (1, 3, 2, 2)]])


def test_the_past_and_what_follows_it_are_the_whole():
    g = Graph(x=["rows", 4], past=["past", 4], mask=["whole"])
    counts = g("Unsqueeze", g("CumSum", "mask", np.int64(0)), [1])
    g.results.append(g("Add", "x", g("Slice", counts, g.extent("past", 0), [2**62], [0])))
    executable = agree(g, [[(2, 4), (3, 4), (5,)], [(1, 4), (0, 4), (1,)]])
    with pytest.raises(InputError, match=r"input 'mask' has shape \[4\], the graph takes \[5\]"):
        executable(np.ones((2, 4), np.float32), np.ones((3, 4), np.float32), np.ones(4, np.float32))


def test_an_extent_that_goes_by_two_names_is_one():
    g = Graph(x=["n", 4, 6], y=["k", 4, 6], z=["m", "p"])
    a = g("Reshape", "x", g.join(g.extent("x", 0), 2, 2, 6))
    b = g("Reshape", "y", g.join(g.extent("y", 0), 2, 6, 2))
    g.results += [
        g("MatMul", a, b),
        g("Reshape", "z", g.join(g.extent("x", 0), -1)),
        g("Reshape", "z", g.join(3, g.extent("z", 0))),  # as many columns as were there when it was exported
    ]
    executable = agree(g, [[(2, 4, 6), (2, 4, 6), (2, 3)], [(1, 4, 6), (1, 4, 6), (1, 3)]])
    x = np.ones((2, 4, 6), np.float32)
    with pytest.raises(InputError, match=r"input 'y' has shape \[1, 4, 6\], the graph takes \[2, 4, 6\]"):
        executable(x, x[:1], np.ones((2, 3), np.float32))
    with pytest.raises(InputError, match=r"input 'z' has shape \[2, 4\], the graph takes \[\?, 3\]"):
        executable(x, x, np.ones((2, 4), np.float32))


def test_operators_take_signals_of_any_length():
    g = Graph(x=["b", 1, "t"])
    features = g("InstanceNormalization", g("Conv", "x", g.normal(4, 1, 5), strides=[2]), g.normal(4), g.normal(4))
    rows = g("Transpose", features, perm=[0, 2, 1])
    asked = g.join(g.extent(rows, 0), -1, g.extent(rows, 1), 4)
    ones = g("ConstantOfShape", g("Shape", asked), value=numpy_helper.from_array(np.array([1])))
    wide = g("Where", g("Equal", asked, g("Neg", ones)), ones, asked)
    image = g("Unsqueeze", "x", [3])
    length = g.extent("x", 2)
    g.results += [
        g("Reshape", rows, g.join(g.extent(rows, 0), g.extent(rows, 1), -1, 2)),
        g("Expand", g("Unsqueeze", rows, [1]), wide),
        g("Conv", "x", g.normal(2, 1, 4), auto_pad="SAME_UPPER"),
        g("Resize", "x", "", np.array([1, 1, 2], np.float32), mode="linear"),
        g("Resize", image, "", "", g("Shape", image), mode="linear"),
        g("Resize", image, "", np.array([1, 1, 3, 1], np.float32), mode="nearest", nearest_mode="floor"),
        g("Resize", g.normal(1, 2, 3, 4), "", "", g.join(1, 2, length, length), mode="cubic"),
        g("Slice", g.normal(16, 3), g("Sub", [8], length), g("Add", [8], length)),
    ]
    executable = agree(g, [[(1, 1, 8)], [(2, 1, 5)], [(3, 1, 7)]])
    with pytest.raises(InputError, match=r"takes inputs for which 0 <= .*, not b = 1, t = 9"):
        executable(np.ones((1, 1, 9), np.float32))


def test_a_known_axis_is_resized_beside_an_open_one():
    g = Graph(x=["n", 2, 3, "w"])
    scales, sizes = np.array([1, 1, 3, 1], np.float32), g.join(g.extent("x", 0), 2, 5, g.extent("x", 3))
    g.results += [
        g("Resize", "x", "", scales, mode="nearest", nearest_mode="floor"),
        g("Resize", "x", "", scales, mode="linear"),
        g("Resize", "x", "", "", sizes, mode="cubic", coordinate_transformation_mode="align_corners"),
    ]
    agree(g, [[(2, 2, 3, 4)], [(1, 2, 3, 1)]])


@pytest.mark.parametrize("steps", [(1, 3), (-1, -2)])
def test_a_slice_whose_bounds_are_data_has_as_many_elements_as_it_has(steps: tuple[int, int]):
    g = Graph(x=["n", 5], begin=[2], end=[2])
    bounds = [g("Cast", name, to=TensorProto.INT64) for name in ("begin", "end")]
    part = g("Slice", "x", *bounds, [0, -1], [*steps])
    g.results += [part, g("ReduceSum", part, [1], keepdims=0)]
    executable = Executable(compile_graph(from_onnx(g.model()), Target.parse("llvm")), threads=1)
    session = ort.InferenceSession(g.model().SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(1).standard_normal((4, 5)).astype(np.float32)
    for begin, end in ((0, 9), (-9, 9), (3, 1), (1, 3), (-1, -4), (9, -9), (-2, 2), (4, 0), (2, 2)):
        given = [x, np.array([begin, end], np.float32), np.array([end, begin], np.float32)]
        made: Any = executable(*given)
        for got, want in zip(
            made, session.run(None, dict(zip(("x", "begin", "end"), given, strict=True))), strict=True
        ):
            np.testing.assert_allclose(got, want, rtol=1e-5, err_msg=f"{begin}:{end}")


def test_elements_that_cannot_be_shared_out_are_refused_when_it_runs() -> None:
    graph = Graph(x=["n", "m"])
    graph.results = [graph("Reshape", "x", [2, -1])]
    executable = agree(graph, [[(2, 5)], [(3, 4)]])
    with pytest.raises(InputError, match=r"n = 3, m = 5"):
        executable(np.zeros((3, 5), np.float32))


def test_a_slice_from_none_from_the_end_is_refused_when_it_runs() -> None:
    graph = Graph(x=["n", "m"])
    graph.results = [graph("Slice", "x", graph("Neg", graph.extent("x", 1)), [2**62], [0])]
    executable = agree(graph, [[(3, 2)], [(3, 3)], [(4, 1)]])
    with pytest.raises(InputError, match=r"n = 3, m = 0"):  # -0 is 0, from where all of it is taken
        executable(np.zeros((3, 0), np.float32))


def test_extents_that_are_less_than_nothing_in_parts_are_counted():
    """What a pool in ceil mode leaves of what another left: the lesser of two, of which each part is below 0."""
    g = Graph(x=["b", 2, "n"])
    y = "x"
    for _ in range(3):
        y = g("MaxPool", y, kernel_shape=[3], strides=[2], ceil_mode=1)
        rows = g("Reshape", y, [-1])
        g.results += [y, g("Relu", y), g("Add", rows, rows)]
    agree(g, [[(2, 2, 13)], [(1, 2, 16)], [(3, 2, 29)], [(1, 2, 64)]])


def test_whether_elements_fill_another_shape_is_asked_when_it_runs() -> None:
    g = Graph(x=["n"])
    g.results = [g("Reshape", "x", [-1, 2]), g("Reshape", g("Relu", "x"), [2, -1, 1])]
    executable = agree(g, [[(0,)], [(2,)], [(8,)]])
    for n in (1, 7):
        with pytest.raises(InputError, match=f"inputs for which .*, not n = {n}"):
            executable(np.zeros(n, np.float32))


def test_a_refusal_calls_open_extents_by_their_names() -> None:
    g = Graph(x=["n"])
    g.results = [g("Reshape", g("Concat", "x", "x", axis=0), np.array([], np.int64))]
    with pytest.raises(Diagnostic, match=r"of shape \[n \* 2\] \(n \* 2 elements\) cannot be reshaped to \[\]"):
        compile_graph(from_onnx(g.model()), Target.parse("llvm"))


def test_a_reshape_to_a_number_of_elements_says_how_many_there_are() -> None:
    g = Graph(x=["n"])
    g.results = [g("Reshape", g("Reshape", "x", [1]), np.array([], np.int64))]
    executable = agree(g, [[(1,)]])
    with pytest.raises(InputError, match=r"has shape \[2\], the graph takes \[1\]"):
        executable(np.zeros(2, np.float32))


@pytest.mark.parametrize("opt_level", [0, 3])
def test_vectors_say_how_many_channels_there_are(opt_level: int):
    """What has one number for each channel says how many there are, where the data leaves that open."""
    g = Graph(x=["n", "c", "w"])
    six = g.normal(6)
    g.results += [
        g("BatchNormalization", "x", six, six, six, np.array([1, 2, 0.5, 0.25, 3, 1.5], np.float32)),
        g("InstanceNormalization", "x", six, six),
        g("GroupNormalization", "x", six, six, num_groups=3),
        g("LayerNormalization", g("Transpose", "x", perm=[0, 2, 1]), six),
        g("ReverseSequence", "x", np.array([1, 0, 2, 1, 2, 2]), time_axis=0, batch_axis=1),
    ]
    with weft.PassContext(opt_level=opt_level):
        executable = agree(g, [[(2, 6, 5)], [(3, 6, 1)]])
    with pytest.raises(InputError, match=r"has shape \[2, 5, 4\], the graph takes \[\?, 6, \?\]"):
        executable(np.ones((2, 5, 4), np.float32))


def test_lengths_are_as_many_as_sequences():
    g = Graph(x=["n", "t", 3])
    g.inputs.append(helper.make_tensor_value_info("lengths", TensorProto.INT64, ["n"]))
    g.results.append(g("ReverseSequence", "x", "lengths", time_axis=1, batch_axis=0))
    executable = Executable(compile_graph(from_onnx(g.model()), Target.parse("llvm")), threads=1)
    x = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    np.testing.assert_array_equal(executable(x, np.array([4, 1])), np.stack([x[0, ::-1], x[1]]))


def test_what_one_operator_says_of_an_extent_holds_for_the_others() -> None:
    """The second reads what the first has said to have six columns; its result is of the type of what it reads."""
    g = Graph(x=["n", "m"])
    g.results = [g("Relu", g("MatMul", "x", g.normal(6, 2))), g("LogSoftmax", "x", axis=0), g("Elu", "x")]
    executable = agree(g, [[(4, 6)], [(1, 6)]])
    assert executable.inputs[0].shape[1] == 6


def test_padding_wraps_around_open_images() -> None:
    g = Graph(x=["n", 2, "h", 5])
    g.results = [
        g("Pad", "x", [0, 0, 2, 1, 0, 0, 1, 2], mode="wrap"),
        g("Pad", "x", [0, 0, -1, 0, 0, 0, 2, 0], mode="wrap"),
        g("Pad", "x", [0, 0, 0, 7, 0, 1, 0, 0], mode="wrap"),
    ]
    executable = agree(g, [[(2, 2, 4, 5)], [(1, 2, 3, 5)]])
    with pytest.raises(Diagnostic):  # of two rows one is left, and two are to be put behind it
        executable(np.zeros((1, 2, 2, 5), np.float32))


def test_an_extent_of_0_that_stands_for_another_one_of_the_data_is_refused_where_something_remains() -> None:
    """In ONNX a computed 0 is the data's extent there, as a written one is; `[n, -1]` of `[2, 0]` would be `[2, 0]`."""
    cases: list[tuple[list[str | int], tuple[int, int], list[tuple[int, ...]], tuple[int, ...]]] = [
        ([2, "n"], (1, -1), [(2, 1), (2, 3)], (2, 0)),
        (["n", "m"], (1, -1), [(3, 2), (0, 2), (1, 1)], (3, 0)),
        (["n", 4], (-1, 0), [(1, 4), (2, 4)], (0, 4)),
    ]
    for inputs, shape, sizes, empty in cases:
        graph = Graph(x=inputs)
        parts = [-1 if axis < 0 else graph.extent("x", axis) for axis in shape]
        graph.results.append(graph("Reshape", "x", graph.join(*parts)))
        executable = agree(graph, [[size] for size in sizes])
        with pytest.raises(Diagnostic, match="the graph takes inputs for which"):
            executable.run({"x": np.zeros(empty, np.float32)})


def test_an_extent_of_0_in_its_own_place_is_0() -> None:
    graph = Graph(x=["n", "m", 6])
    graph.results.append(graph("Reshape", "x", graph.join(graph.extent("x", 0), graph.extent("x", 1), 2, 3)))
    agree(graph, [[(2, 3, 6)], [(0, 3, 6)], [(2, 0, 6)]])


def test_sizes_wrap_around_in_eight_bits() -> None:
    graph = Graph(x=["n"])
    size = graph("Cast", graph("Shape", "x"), to=TensorProto.UINT8)
    size = graph("Cast", graph("Add", size, np.array([250], np.uint8)), to=TensorProto.INT64)
    graph.results.append(graph("Expand", np.ones(1, np.float32), size))
    model = graph.model()
    for opt_level in (0, 3):
        executable = weft.compile(model, opt_level=opt_level, threads=1)
        results: list[Any] = [executable(np.zeros(n, np.float32)) for n in (3, 8, 300)]
        assert [y.shape for y in results] == [(253,), (2,), (38,)]
