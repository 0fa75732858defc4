"""Graphs whose extents are known when they are called: compiled once, run at many sizes, and compared with what NumPy
makes of the graph of one size."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from open_loops import falling
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.vector import CreateMaskOp

import weft
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.mlir import parse_mlir
from weft.lowering.compiler import compile_graph, lower
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable
from weft.runtime.memory import NotEnoughMemory
from weft.runtime.sizes import Sizes
from weft.runtime.tensors import InputError

pytestmark = pytest.mark.sampled(5)

relay: Any = import_module("weft.relay")
Array: TypeAlias = npt.NDArray[Any]
Graph: TypeAlias = Callable[[Any], FuncOp]
SIZES = (0, 1, 2, 3, 7, 16, 33)


class Weights:
    """The same weights for every graph that is built."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)

    def __call__(self, *shape: int) -> Any:
        return relay.const((self.random.standard_normal(shape) * 0.2).astype(np.float32))


def perceptron(n: Any) -> FuncOp:
    w, x = Weights(), relay.var("x", shape=(n, 20))
    hidden = relay.nn.relu(relay.nn.bias_add(relay.nn.dense(x, w(24, 20)), w(24)))
    return relay.Function([x], relay.nn.softmax(relay.nn.bias_add(relay.nn.dense(hidden, w(10, 24)), w(10))))


def convolutions(n: Any) -> FuncOp:
    w, x = Weights(), relay.var("x", shape=(n, 3, 8, 8))
    y = relay.nn.max_pool2d(relay.nn.relu(relay.nn.conv2d(x, w(16, 3, 3, 3), padding=(1, 1))), (2, 2), (2, 2))
    y = relay.add(relay.nn.conv2d(y, w(16, 16, 3, 3), padding=(1, 1)), y)
    y = relay.nn.conv2d(y, w(16, 1, 3, 3), padding=(1, 1), groups=16, channels=16, kernel_size=(3, 3))
    y = relay.nn.avg_pool2d(y, (2, 2), (2, 2))
    return relay.Function([x], relay.nn.dense(relay.nn.batch_flatten(y), w(5, 64)))


def attention(n: Any, length: Any = 6) -> FuncOp:
    w, x = Weights(), relay.var("x", shape=(n, length, 16))

    def heads() -> Any:
        return relay.transpose(relay.reshape(relay.nn.dense(x, w(16, 16)), (0, 0, 4, 4)), (0, 2, 1, 3))

    q, k, v = (relay.reshape(heads(), (-3, 0, 0)) for _ in range(3))
    seen = relay.nn.batch_matmul(relay.nn.softmax(relay.nn.batch_matmul(q, k)), v, transpose_b=False)
    joined = relay.reshape(relay.transpose(relay.reshape(seen, (-4, -1, 4, 0, 0)), (0, 2, 1, 3)), (0, 0, -3))
    return relay.Function([x], relay.nn.layer_norm(relay.add(x, joined), w(16), w(16)))


def lengths(n: Any) -> FuncOp:
    return attention(2, n)


def parts(n: Any) -> FuncOp:
    x = relay.var("x", shape=(n, 12))
    split = relay.split(x, 3, axis=1)
    joined = relay.concatenate([split[2], split[0]], axis=1)
    return relay.Function([x], relay.Tuple([relay.sum(relay.exp(joined), axis=[0]), relay.mean(joined, axis=[1])]))


def looked_up(n: Any) -> FuncOp:
    x = relay.var("x", shape=(n, 5), dtype="int64")
    return relay.Function([x], relay.take(Weights()(20, 6), x, axis=0))


GRAPHS: tuple[Graph, ...] = (perceptron, convolutions, attention, lengths, parts, looked_up)


def example(graph: FuncOp, seed: int) -> Array:
    random = np.random.default_rng(seed)
    shape = [int(n) for n in graph.function_type.inputs.data[0].get_shape()]  # pyright: ignore
    return random.integers(0, 20, shape) if "i64" in str(graph.function_type) else _floats(random, shape)


def _floats(random: np.random.Generator, shape: list[int]) -> Array:
    return random.standard_normal(shape).astype(np.float32)


def as_floats(array: npt.NDArray[np.generic]) -> Array:
    return array.astype(np.float64)


def compiled(graph: FuncOp) -> Executable:
    return weft.compile(graph, threads=2)


def results(executable: Executable, *inputs: Array) -> tuple[Array, ...]:
    given = executable(*inputs)
    return given if isinstance(given, tuple) else (given,)


@pytest.mark.parametrize("graph", GRAPHS)
def test_one_compilation_runs_at_every_size(graph: Graph) -> None:
    """LLVM's own optimisations are not what is tested: with few of them it is done in a tenth of the time."""
    module = ModuleOp([graph(relay.Any())])
    executable = Executable(compile_graph(module, Target.parse("llvm -mcpu=native")), threads=2)
    for size in (*SIZES, 3):
        static = graph(size)
        x = example(static, size)
        for got, want in zip(results(executable, x), evaluate_function(static, [x]), strict=True):
            assert got.shape == want.shape, size
            np.testing.assert_allclose(got, as_floats(want), rtol=1e-4, atol=1e-4, err_msg=f"{graph.__name__}, {size}")


def named(*names: list[str]) -> ArrayAttr[Any]:
    return ArrayAttr([ArrayAttr([StringAttr(name) for name in each]) for each in names])


def sum_of_two(names: ArrayAttr[Any] | None) -> FuncOp:
    x, y = (relay.var(name, shape=(relay.Any(), 4)) for name in "xy")
    function = relay.Function([x, y], relay.exp(relay.add(x, y)))
    if names is not None:
        function.attributes["dim_names"] = names
    return function


def test_dimensions_of_one_name_are_one_extent() -> None:
    executable = compiled(sum_of_two(named(["n", ""], ["n", ""])))
    for size in SIZES:
        x = np.full((size, 4), 0.5, np.float32)
        np.testing.assert_allclose(results(executable, x, x)[0], np.exp(2 * x), rtol=1e-5)
    with pytest.raises(InputError, match=r"input 'y' has shape \[4, 4\], the graph takes \[3, 4\] where n = 3"):
        executable(np.zeros((3, 4), np.float32), np.zeros((4, 4), np.float32))


def test_dimensions_without_names_are_extents_of_their_own(tmp_path: Path) -> None:
    """Whatever the arguments are called: the parser gives `%a` and `%a_1` one hint."""
    (text := tmp_path / "outer.mlir").write_text("""
relay.func @main(%a: tensor<?xf32>, %a_1: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32>
    attributes {dim_names = [[""], [""], ["a_d0"]]} {
  %0 = relay.expand_dims %a {axis = 1 : i64} : (tensor<?xf32>) -> tensor<?x1xf32>
  %1 = relay.add %0, %a_1 : (tensor<?x1xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %2 = relay.add %1, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  relay.return %2 : tensor<?x?xf32>
}""")
    executable = weft.compile(text)
    assert [given.name for given in executable.inputs] == ["a", "a_1", "b"]
    few, many = np.arange(2, dtype=np.float32), np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(executable(few, many, many), few[:, None] + 2 * many)


def test_dimensions_that_have_to_agree_are_one_extent() -> None:
    executable = compiled(sum_of_two(None))
    for size in (0, 1, 7):
        x = np.full((size, 4), 0.5, np.float32)
        np.testing.assert_allclose(results(executable, x, x)[0], np.exp(2 * x), rtol=1e-5)
    with pytest.raises(InputError, match=r"input 'y' has shape \[4, 4\], the graph takes \[3, 4\] where x_d0 = 3"):
        executable(np.zeros((3, 4), np.float32), np.zeros((4, 4), np.float32))


def test_names_that_do_not_fit_are_refused() -> None:
    with pytest.raises(Diagnostic, match="'dim_names' does not name the dimensions of its 2 inputs"):
        compiled(sum_of_two(named(["n"], ["n", ""])))


def test_inputs_that_do_not_fit_are_refused() -> None:
    executable = compiled(perceptron(relay.Any()))
    with pytest.raises(InputError, match=r"input 'x' has shape \[3, 5\], the graph takes \[\?, 20\]"):
        executable(np.zeros((3, 5), np.float32))
    with pytest.raises(InputError, match=r"input 'x' has shape \[20\], the graph takes \[\?, 20\]"):
        executable(np.zeros(20, np.float32))
    huge = np.broadcast_to(np.zeros(1, np.float32), (1 << 44, 20))
    with pytest.raises((NotEnoughMemory, MemoryError)):
        executable(huge)


def test_an_operator_that_cannot_is_refused_by_name() -> None:
    x, size = relay.var("x", shape=(1, 2, 3, 3)), relay.var("size", shape=(2,), dtype="int64")
    roi = relay.var("roi", shape=(4,))
    with pytest.raises(Diagnostic, match=r"'relay\.dyn\.image\.resize2d': cannot be computed where"):
        compiled(relay.Function([x, size, roi], relay.dyn.image.resize2d(x, size, roi)))


def test_extents_that_are_equal_at_no_size_are_refused_where_they_meet() -> None:
    """There would have to be -1 rows."""
    x, three, two = relay.var("x", shape=(relay.Any(),)), relay.var("c", shape=(3,)), relay.var("z", shape=(2,))
    with pytest.raises(Diagnostic, match=r"'relay.add'.*do not broadcast"):
        weft.compile(relay.Function([x, three, two], relay.concatenate([x, three], 0) + two))


def test_an_extent_that_is_dropped_is_asked_to_be_one() -> None:
    x = relay.var("x", shape=(3, relay.Any()))
    half = relay.strided_slice(relay.exp(x), begin=[0, 0], end=[3, 1 << 40], strides=[1, 2])
    executable = compiled(relay.Function([x], relay.squeeze(half, axis=[1])))
    for columns in (1, 2):
        assert results(executable, np.zeros((3, columns), np.float32))[0].tolist() == [1, 1, 1]
    for columns in (0, 3):
        with pytest.raises(InputError, match="the graph takes inputs for which"):
            executable(np.zeros((3, columns), np.float32))


def test_an_index_outside_of_an_extent_that_is_known_at_the_call_fails() -> None:
    x, i = relay.var("x", shape=(relay.Any(), 3)), relay.var("i", shape=(4,), dtype="int64")
    executable = compiled(relay.Function([x, i], relay.take(x, i, axis=0, mode="error")))
    rows = np.arange(15, dtype=np.float32).reshape(5, 3)
    at = np.array([4, 0, 3, 4])
    np.testing.assert_array_equal(results(executable, rows, at)[0], rows[at])
    for count in (4, 1, 0):
        with pytest.raises(weft.CheckError, match=f"4 .*{count}" if count else "4"):
            executable(rows[:count], at)
    np.testing.assert_array_equal(results(executable, rows, at)[0], rows[at])


def test_a_saved_graph_runs_at_every_size(tmp_path: Path) -> None:
    executable = compiled(perceptron(relay.Any()))
    executable.save(tmp_path / "graph.weft")
    loaded = weft.load(tmp_path / "graph.weft")
    assert str(loaded.inputs[0]) == "x: tensor<?x20xf32>"
    for size in SIZES:
        x = example(perceptron(size), size)
        np.testing.assert_array_equal(results(loaded, x)[0], results(executable, x)[0])
        binding = loaded.bind([x])
        binding()
        np.testing.assert_array_equal(binding.outputs[0], results(executable, x)[0])


def test_sizes_that_elements_say_may_change_under_a_binding() -> None:
    x, k = relay.var("x", shape=(1,)), relay.var("k", shape=(1,), dtype="int64")
    exe = weft.compile(relay.Function([k, x], -relay.broadcast_to(x, k)), threads=1)
    binding = exe.bind([np.array([3]), np.ones(1, np.float32)])
    for size in (3, 5, 2):
        binding.inputs[0][:] = size
        binding()
        assert [*binding.outputs[0]] == [-1] * size


def test_memory_is_that_of_the_size_and_is_used_again() -> None:
    executable = compiled(perceptron(relay.Any()))
    for size in (1, 100, 2, 50):
        executable(np.zeros((size, 20), np.float32))
    (context,) = executable.program.free
    bytes_at_100 = context.arena.nbytes
    executable(np.zeros((200, 20), np.float32))
    (context,) = executable.program.free
    assert bytes_at_100 < context.arena.nbytes <= 2 * bytes_at_100


def test_a_size_that_falls_with_an_extent_has_its_memory_where_that_is_none() -> None:
    executable = weft.compile(parse_mlir(falling(64), "falling"), threads=1)
    sizes, x = Sizes(executable.graph), np.random.default_rng(0).standard_normal((10, 64)).astype(np.float32)
    bytes = [sizes.layout((n,)).arena_bytes for n in range(10)]
    assert bytes == sorted(set(bytes), reverse=True)
    for n in (0, 1, 9, 10):
        (got,) = results(executable, x, np.zeros(n, np.float32))
        wanted = x[n:]
        for axis in (1, 0, 1):
            wanted = np.exp(wanted) / np.exp(wanted).sum(axis=axis, keepdims=True)
        np.testing.assert_allclose(got, wanted, rtol=1e-4)


def test_random_sizes_of_two_extents_agree() -> None:
    def graph(n: Any, m: Any) -> FuncOp:
        w, x = Weights(), relay.var("x", shape=(n, m, 8))
        y = relay.nn.softmax(relay.nn.dense(x, w(6, 8)), axis=1)
        return relay.Function([x], relay.Tuple([relay.max(y, axis=[1]), relay.transpose(relay.tanh(y), (1, 0, 2))]))

    executable = compiled(graph(relay.Any(), relay.Any()))
    random = np.random.default_rng(1)
    for _ in range(20):
        n, m = (int(size) for size in random.integers(0, 20, 2))
        x = _floats(random, [n, m, 8])
        static = graph(n, max(m, 1))  # NumPy has no maximum of nothing
        got = results(executable, x)
        if m:
            for one, other in zip(got, evaluate_function(static, [x]), strict=True):
                np.testing.assert_allclose(one, as_floats(other), rtol=1e-4, atol=1e-5, err_msg=f"{n}, {m}")
        assert got[1].shape == (m, n, 6)


def products(n: Any, m: Any) -> FuncOp:
    """Products whose columns are open, softmax of open rows, and what is computed element by element."""
    x, y = relay.var("x", shape=(n, m)), relay.var("y", shape=(8, m))
    scores = relay.nn.batch_matmul(relay.expand_dims(y, 0), relay.expand_dims(x, 0))
    rows = relay.nn.batch_matmul(relay.nn.softmax(scores), relay.expand_dims(x, 0), transpose_b=False)
    return relay.Function([x, y], relay.Tuple([relay.exp(relay.negative(x)), relay.nn.softmax(x), scores, rows]))


def test_vectors_of_an_open_number_of_lanes_are_masked() -> None:
    module, target = ModuleOp([products(relay.Any(), relay.Any())]), Target.parse("llvm -mcpu=native")
    lowered = module.clone()
    lower(lowered, target, "loops")
    assert any(isinstance(op, CreateMaskOp) for op in lowered.walk())
    executable = Executable(compile_graph(module, target), threads=1)
    random = np.random.default_rng(0)
    for n, m in ((1, 1), (3, 16), (8, 17), (17, 5), (33, 40), (35, 70), (0, 4)):
        x, y = _floats(random, [n, m]), _floats(random, [8, m])
        for got, want in zip(results(executable, x, y), evaluate_function(products(n, m), [x, y]), strict=True):
            np.testing.assert_allclose(got, as_floats(want), rtol=1e-4, atol=1e-5, err_msg=f"{n}, {m}")


def test_every_phase_shows_the_symbols() -> None:
    ir = compiled(perceptron(relay.Any())).ir
    assert 'symbols = ["x_d0"], shapes = [affine_map<()[s0] -> (s0, 20)>]' in ir["tir"]
    assert "{symbols = array<i64: 0>, shapes = [affine_map<()[s0] -> (s0, 10)>]}" in ir["tir"]
    assert "%x_d0: index) shapes(%p0[%x_d0, 20]" in ir["tir"]
    assert 'weft.symbols = ["x_d0"], weft.pools = [affine_map<()[s0] -> (' in ir["loops"]


def test_what_is_put_together_has_equal_extents() -> None:
    """A concatenation says what an open extent is, beside one that is known."""
    x, w = relay.var("x", shape=(relay.Any(), 3)), relay.var("w", shape=(2, 1))
    together = relay.concatenate(relay.Tuple([w, x]), axis=1)
    stacked = relay.stack(relay.Tuple([relay.sum(w, axis=[1]), relay.sum(x, axis=[1])]), axis=0)
    executable = compiled(relay.Function([x, w], relay.Tuple([together, stacked])))
    assert [each.shape for each in executable.inputs] == [(2, 3), (2, 1)]
    first, second = results(executable, np.ones((2, 3), np.float32), np.zeros((2, 1), np.float32))
    assert np.array_equal(first, [[0, 1, 1, 1]] * 2) and np.array_equal(second, [[0, 0], [3, 3]])


def shapes_put_together(end: str) -> str:
    return f"""
relay.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {{
  %0 = relay.expand_dims %a {{axis = 1 : i64}} : (tensor<?xf32>) -> tensor<?x1xf32>
  %1 = relay.add %0, %b : (tensor<?x1xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %2 = relay.reshape %1 {{newshape = array<i64: -1>}} : (tensor<?x?xf32>) -> tensor<?xf32>
  {end}
}}"""


@pytest.mark.parametrize("level", [0, 2, 3])
@pytest.mark.parametrize(
    "end",
    [
        "relay.return %2 : tensor<?xf32>",
        """%3 = relay.multiply %2, %2 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        relay.return %3 : tensor<?xf32>""",
    ],
)
def test_open_extents_are_put_together_behind_what_is_computed(end: str, level: int, tmp_path: Path) -> None:
    """A kernel is not refuted by sizes that do not go together: `n * m` is no number of its own."""
    (text := tmp_path / "joined.mlir").write_text(shapes_put_together(end))
    with weft.PassContext(opt_level=level):
        executable = weft.compile(text)
    a, b, c = (np.arange(n, dtype=np.float32) for n in (3, 5, 2))
    expected = (a[:, None] + b).reshape(-1)
    np.testing.assert_array_equal(executable(a, b, c), expected * expected if "multiply" in end else expected)


def test_reshapes_of_open_extents_are_no_kernels() -> None:
    """What only sees memory under another shape is moved by nothing, also at the end of what is computed."""
    x = relay.var("x", shape=(relay.Any(), relay.Any(), 4))
    joined = relay.reshape(relay.exp(x), newshape=[-3, 0])
    product = relay.nn.dense(joined, relay.const(np.ones((4, 4), "f4")))
    executable = compiled(relay.Function([x], relay.nn.relu(product)))
    assert "reshape" not in executable.ir["tir"]


def test_a_kernel_takes_half_of_an_extent_as_an_extent_where_the_whole_is_not_in_it() -> None:
    """Its loops were not divided into tiles and what is left over, and took ten times as long."""
    x = relay.var("x", shape=(relay.Any(), 1, 8))
    weight = np.linspace(-1, 1, 8 * 8, dtype=np.float32).reshape(8, 8)
    halves = relay.nn.max_pool1d(relay.transpose(x, (1, 2, 0)), pool_size=(2,), strides=(2,))
    rows = relay.transpose(relay.squeeze(halves, axis=[0]))
    exe: Any = weft.compile(relay.Function([x], relay.nn.dense(rows, relay.const(weight))), threads=1)
    text = exe.ir["tir"]
    dense = text[text.index("tir.prim_func @fused_nn_contrib_dense_pack") :]
    pool = text[text.index("tir.prim_func @fused_nn_max_pool1d") :].partition("}")[0]
    assert "floordiv 2" in pool and "floordiv" not in dense.partition("{")[0]
    for n in (2, 3, 29, 64):
        data = np.random.default_rng(n).standard_normal((n, 1, 8)).astype(np.float32)
        pooled = data[: n // 2 * 2, 0].reshape(-1, 2, 8).max(1)
        np.testing.assert_allclose(exe(data), pooled @ weight.T, rtol=1e-5, atol=1e-5)
