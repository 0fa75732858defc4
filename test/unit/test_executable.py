"""Executables: what they take and refuse, threads, memory, files, and the text of their phases."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

import weft
from weft import relay
from weft.dialects.relay import Relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.support.diagnostics import Diagnostic, UsageError, handled_by
from weft.dialects.support.parser import parse_module
from weft.dialects.support.processors import available_processors
from weft.runtime.host import host_platform
from weft.runtime.tensors import InputError
from weft.transforms.infra.registry import new_ir_context

NDArray = npt.NDArray[Any]

GRAPH = """
relay.func @main(%x: tensor<2x3xf32>, %n: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %c = relay.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = relay.add %x, %n : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = relay.multiply %0, %c : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = relay.sum %1 {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  relay.return %1, %2 : tensor<2x3xf32>, tensor<2xf32>
}
relay.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.negative %x : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
"""
X = np.arange(6, dtype=np.float32).reshape(2, 3)
N = np.full(3, 0.5, np.float32)
EXPECTED = (X + N) * np.array([1, 2, 3], np.float32)


def module() -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Relay):
        context.load_dialect(dialect)
    return Parser(context, GRAPH).parse_module()


@pytest.fixture(scope="module")
def exe() -> weft.Executable:
    return weft.compile(module(), threads=1)


def assert_close(found: object, expected: npt.ArrayLike, rtol: float = 1e-6) -> None:
    np.testing.assert_allclose(np.asarray(found, np.float64), np.asarray(expected, np.float64), rtol=rtol)


def check(outputs: NDArray | tuple[NDArray, ...]) -> None:
    assert isinstance(outputs, tuple)
    assert_close(outputs[0], EXPECTED)
    assert_close(outputs[1], EXPECTED.sum(1))


def test_arrays_are_taken_in_order(exe: weft.Executable) -> None:
    check(exe(X, N))


def test_arrays_are_taken_and_given_by_name(exe: weft.Executable) -> None:
    outputs = exe.run({"n": N, "x": X})
    assert list(outputs) == ["out0", "out1"]
    check(tuple(outputs.values()))


def test_one_output_is_given_as_an_array() -> None:
    result = weft.compile(module(), function="other")(np.ones(4, np.float32))
    np.testing.assert_array_equal(result, np.full(4, -1, np.float32))


def test_arrays_need_not_be_dense(exe: weft.Executable) -> None:
    transposed = np.asfortranarray(X)
    strided = np.repeat(N, 2)[::2]
    check(exe(transposed, strided))


class FromElsewhere:
    """An array of another library: nothing but DLPack."""

    def __init__(self, array: NDArray):
        self._array = array

    def __dlpack__(self, **options: Any) -> object:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


def test_anything_with_dlpack_is_an_input(exe: weft.Executable) -> None:
    check(exe(FromElsewhere(X), FromElsewhere(N)))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"x": X}, "1 input missing: n"),
        ({}, "2 inputs missing: x, n"),
        ({"x": X, "n": N, "m": N}, "there is no input 'm'; inputs: x: tensor<2x3xf32>, n: tensor<3xf32>"),
        ({"x": X, "n": N.astype(np.float64)}, "input 'n' has dtype float64, the graph takes float32"),
        ({"x": X.T, "n": N}, r"input 'x' has shape \[3, 2\], the graph takes \[2, 3\]"),
        ({"x": X, "n": np.float32(1)}, r"input 'n' has shape \[\], the graph takes \[3\]"),
    ],
)
def test_a_wrong_input_is_refused_before_anything_runs(
    exe: weft.Executable, inputs: dict[str, NDArray], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        exe.run(inputs)


def test_a_misspelt_name_has_a_hint(exe: weft.Executable) -> None:
    with pytest.raises(InputError) as error:
        exe.run({"X": X, "n": N})
    assert error.value.hint == "did you mean 'x'?"
    assert "there is no input 'X'" in str(error.value)


def test_too_few_arrays_are_refused(exe: weft.Executable) -> None:
    with pytest.raises(InputError, match="the graph takes 2 inputs"):
        exe(X)


def test_threads_can_be_set_between_calls() -> None:
    exe = weft.compile(module(), threads=2)
    for threads in (2, 1, 3):
        exe.threads = threads
        check(exe(X, N))
    assert exe.threads == 3
    with pytest.raises(InputError, match="at least one"):
        exe.threads = 0


@pytest.mark.parametrize("count", [2.5, "2", 1.0, True, [2]])
def test_a_number_of_threads_is_an_integer(exe: weft.Executable, count: Any) -> None:
    before = exe.threads
    with pytest.raises(InputError, match="the number of threads is an integer, not"):
        exe.threads = count
    assert exe.threads == before


def test_threads_are_as_many_as_there_are_processors_unless_given() -> None:
    exe = weft.compile(module(), function="other", threads=None)
    assert exe.threads in (1, available_processors())
    exe.threads = 1
    exe.threads = None
    assert exe.threads in (1, available_processors())
    exe.threads = cast("int", np.int64(1))
    assert exe.threads == 1


def test_more_threads_than_a_system_bears_are_fewer_and_a_warning_says_so() -> None:
    exe = weft.compile(module(), function="other", threads=1)
    said: list[Diagnostic] = []
    with handled_by(said.append):
        exe.threads = 100_000
    assert exe.threads in (1, available_processors())
    assert len(said) == 1 and "100000 threads are more than" in said[0].message
    np.testing.assert_array_equal(exe(np.ones(4, np.float32)), np.full(4, -1, np.float32))


class Unwilling:
    """An array of another library that cannot be had."""

    def __dlpack__(self, **options: Any) -> object:
        raise BufferError("it is on another device")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.ma.masked_greater(X, 0.0), "input 'x' has elements that are masked, and a graph has none"),
        (X.astype(">f4"), "input 'x' has dtype float32 in big-endian order, the graph takes float32"),
        (None, "input 'x' takes numbers of float32, and no NoneType"),
        ([[1.0, 2.0], [3.0]], "input 'x' cannot be read as an array: ValueError"),
        (Unwilling(), "input 'x' cannot be read as an array: BufferError: it is on another device"),
        ("abc", "input 'x' takes numbers of float32, and no str"),
        (np.array(["a"]), "input 'x' takes numbers of float32, and no array of str"),
        (X.tolist(), "input 'x' has dtype float64"),
    ],
)
def test_what_is_no_such_array_is_refused(exe: weft.Executable, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        exe(value, N)
    with pytest.raises(InputError, match=message):
        exe.run({"x": value, "n": N})
    with pytest.raises(InputError, match=message):
        exe.bind([value, N])


@pytest.mark.parametrize("inputs", [[X, N], None, 3, X])
def test_run_takes_names(exe: weft.Executable, inputs: Any) -> None:
    with pytest.raises(InputError, match="run takes a mapping from names to arrays, not") as error:
        exe.run(inputs)
    assert error.value.hint == "exe.run({'x': x})"


def test_a_name_that_is_no_string_is_unknown(exe: weft.Executable) -> None:
    with pytest.raises(InputError, match="there is no input '1'"):
        exe.run({1: X, "n": N})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("arrays", [X, None, {"x": X}])
def test_bind_takes_a_list(exe: weft.Executable, arrays: Any) -> None:
    with pytest.raises(InputError, match="bind takes a list of arrays, not"):
        exe.bind(arrays)


@pytest.mark.parametrize("model", [123, None, [1], b"relay"])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(UsageError, match="a model cannot be of type"):
        weft.compile(model)


@pytest.mark.parametrize(("level", "error"), [(-1, UsageError), (5, UsageError), (9, UsageError), ("2", TypeError)])
def test_there_are_five_levels(level: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"levels are 0 to 4|is an int or None, and not '2'"):
        weft.compile(module(), opt_level=level, function="other")


def test_an_executable_shows_what_it_is(exe: weft.Executable) -> None:
    lines = repr(exe).splitlines()
    assert lines[:3] == [
        "weft.Executable",
        "  inputs:  x: tensor<2x3xf32>, n: tensor<3xf32>",
        "  outputs: out0: tensor<2x3xf32>, out1: tensor<2xf32>",
    ]
    assert lines[3] == f"  target:  {host_platform().cpu} ({host_platform().triple})"
    assert lines[4:] == ["  threads: 1"]
    assert repr(exe.inputs[1]) == "TensorSpec(name='n', dtype='float32', shape=(3,))"


def test_outputs_are_aligned(exe: weft.Executable) -> None:
    for _ in range(20):
        assert all(array.ctypes.data % 64 == 0 for array in exe.run({"x": X, "n": N}).values())
    assert all(array.ctypes.data % 64 == 0 for array in exe.bind([X, N]).outputs)


def test_arrays_of_every_kind_of_memory_are_read(exe: weft.Executable) -> None:
    read_only = X.copy()
    read_only.flags.writeable = False
    unaligned = np.zeros(X.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(2, 3)
    unaligned[...] = X
    masked = np.ma.masked_array(X)
    for x in (read_only, unaligned, masked, X[::-1][::-1], np.broadcast_to(N, (2, 3)) * 0 + X):
        check(exe(x, np.broadcast_to(np.float32(0.5), 3)))


def test_outputs_are_new_at_every_call(exe: weft.Executable) -> None:
    first = exe.run({"x": X, "n": N})["out0"]
    exe.run({"x": X + 1, "n": N})
    assert_close(first, EXPECTED)


def test_a_binding_reads_and_writes_the_same_memory(exe: weft.Executable) -> None:
    x = X.copy()
    bound = exe.bind([x, N])
    bound()
    check(bound.outputs)
    x += 1
    bound()
    assert_close(bound.outputs[0], EXPECTED + np.array([1, 2, 3]))


def test_a_saved_executable_gives_the_same(exe: weft.Executable, tmp_path: Path) -> None:
    exe.save(tmp_path / "graph.weft")
    assert [path.name for path in tmp_path.iterdir()] == ["graph.weft"]
    loaded = weft.load(tmp_path / "graph.weft", threads=1)
    assert loaded.inputs == exe.inputs and loaded.outputs == exe.outputs
    check(loaded(X, N))
    with pytest.raises(Diagnostic, match="holds no text"):
        loaded.ir["graph"]


def test_what_is_not_an_executable_is_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "text.weft"
    path.write_text("not a ZIP archive")
    with pytest.raises(Diagnostic, match="not a saved Weft executable"):
        weft.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", '{"format": 0}')
    with pytest.raises(Diagnostic, match="made by another version"):
        weft.load(path)


@pytest.mark.parametrize(
    ("phase", "text"),
    [
        ("import", "relay.add"),
        ("relay", "relay.multiply"),
        ("fuse", "attributes {primitive}"),
        ("tir", "tir.block"),
        ("schedule", "tir.for"),
        ("loops", "weft.inputs"),
        ("llvm", "llvm.func @weft_run"),
    ],
)
def test_the_text_of_every_phase_can_be_read(exe: weft.Executable, phase: str, text: str) -> None:
    assert text in exe.ir[phase]


def test_the_phases_are_those_after_the_import(exe: weft.Executable) -> None:
    assert list(exe.ir) == ["import", "graph", "fuse", "tir", "schedule", "loops", "llvm"]
    with pytest.raises(KeyError, match="no phase 'ast'"):
        exe.ir["ast"]
    with pytest.raises(weft.Diagnostic, match=r"there is no phase 'fusee'\nhint: did you mean 'fuse'\?"):
        exe.ir["fusee"]
    assert "ast" not in exe.ir and exe.ir.get("ast") is None


def test_the_assembly_has_the_entry(exe: weft.Executable) -> None:
    assert "weft_run:" in exe.asm


def test_parameters_become_constants() -> None:
    exe = weft.compile(module(), params={"n": N}, function="main")
    assert [spec.name for spec in exe.inputs] == ["x"]
    check(exe(X))


@pytest.mark.parametrize("count", [3, 300])
def test_constants_in_another_order_of_bytes_are_what_they_say(count: int) -> None:
    """They were read as this machine's, if there were few of them; and those of `params` ended in a traceback."""
    value = np.arange(count, dtype=">f4")
    x, w = relay.var("x", shape=(count,)), relay.var("w", shape=(count,))
    graph = relay.IRModule.from_expr(relay.Function([x, w], x + relay.const(value) * w))
    result = weft.compile(graph, params={"w": value})(np.ones(count, np.float32))
    np.testing.assert_array_equal(result, 1 + value.astype(np.float32) ** 2)


def test_constants_with_masked_elements_are_refused() -> None:
    masked = np.ma.masked_array(np.ones(3, np.float32), [False, True, False])
    with pytest.raises(UsageError, match="masked"):
        relay.const(masked)
    x, w = relay.var("x", shape=(3,)), relay.var("w", shape=(3,))
    with pytest.raises(UsageError, match="'w' is no array of numbers: it has elements that are masked"):
        weft.compile(relay.IRModule.from_expr(relay.Function([x, w], x + w)), params={"w": masked})


def test_the_given_module_stays_as_it_is() -> None:
    given = module()
    before = str(given)
    weft.compile(given, function="main")
    assert str(given) == before


def test_a_function_is_compiled_on_its_own() -> None:
    function = next(op for op in module().ops if isinstance(op, FuncOp) and op.sym_name.data == "other")
    np.testing.assert_array_equal(weft.compile(function)(np.ones(4, np.float32)), np.full(4, -1, np.float32))


def test_a_function_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no function @min"):
        weft.compile(module(), function="min")


def test_a_function_may_have_the_name_of_one_of_the_c_library() -> None:
    text = GRAPH.replace("@other", "@sin").replace("relay.negative", "relay.sin").replace("4xf32", "4xf64")
    context = Context()
    for dialect in (Builtin, Relay):
        context.load_dialect(dialect)
    exe = weft.compile(Parser(context, text).parse_module(), function="sin")
    assert_close(exe(np.ones(4)), np.sin(np.ones(4)), rtol=1e-12)


def test_the_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Diagnostic, match=r"model\.txt: error: no such file or directory"):
        weft.compile(tmp_path / "model.txt")
    (tmp_path / "model.txt").touch()
    with pytest.raises(UsageError, match=r"unknown kind of model '\.txt'"):
        weft.compile(tmp_path / "model.txt")


@pytest.mark.parametrize(
    "path", ["x" * 5000, "a\0b", "a\0.mlir", "a\0.onnx", "x" * 5000 + ".onnx", "x" * 5000 + ".mlir"]
)
def test_a_path_that_no_file_has_is_refused(path: str) -> None:
    with pytest.raises(Diagnostic):
        weft.compile(path)


def test_the_text_of_a_module_is_no_path() -> None:
    with pytest.raises(UsageError, match="a model is given by a path, and this is text"):
        weft.compile("builtin.module {\n}")


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="this is a folder, and no model"):
        weft.compile(tmp_path)


def test_weights_that_are_missing_are_told_of_at_their_constant(tmp_path: Path) -> None:
    text = tmp_path / "perceptron.mlir"
    text.write_text((Path(__file__).parents[2] / "examples" / "perceptron.mlir").read_text())
    with pytest.raises(Diagnostic, match=r"'relay\.constant': the data of '\w+' was not loaded") as error:
        weft.compile(text)
    assert error.value.place is not None and (error.value.place.file, error.value.place.line) == (str(text), 3)
    assert error.value.hint == "it stands in perceptron.weights.npz, which goes with the text"


@pytest.mark.parametrize("names", ["[1, 2]", '["a"]', '"a"', '["a", "b", "c"]'])
def test_names_of_inputs_that_are_none_are_refused(names: str) -> None:
    text = f"""relay.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> attributes {{input_names = {names}}} {{
  %z = relay.add %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relay.return %z : tensor<2xf32>
}}"""  # noqa: E501
    with pytest.raises(Diagnostic, match=r"attribute 'input_names' is .* a list of 2 strings was expected"):
        weft.compile(parse_module(text, new_ir_context()))
