"""Libraries for C: what is exported is compiled, linked and run without Python, and gives what the executable gives."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.mlir import parse_mlir
from weft.lowering.abi import Platform
from weft.runtime.library.glue import glue
from weft.runtime.library.header import comment, header
from weft.runtime.library.interfaces import Piece
from weft.runtime.library.link import LinkError, export_library
from weft.runtime.library.text import c_string

EXAMPLES = Path(__file__).parents[2] / "examples"
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-Wpedantic")
CC = shutil.which("cc")
needs_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler (cc) on this machine")


def compiled(text: str, target: str = "llvm -mcpu=native") -> weft.Executable:
    return weft.compile(parse_mlir(text, "model.mlir"), target)


@pytest.fixture(scope="module")
def perceptron() -> weft.Executable:
    return weft.compile(EXAMPLES / "perceptron.mlir")


@pytest.fixture(scope="module")
def choosing() -> weft.Executable:
    """Rows by index, which are checked."""
    return compiled("""
relay.func @main(%rows: tensor<4x2xf32>, %which: tensor<3xi64>) -> tensor<3x2xf32> {
  %0 = relay.take %rows, %which {axis = 0 : i64, mode = "error"}
    : (tensor<4x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  relay.return %0 : tensor<3x2xf32>
}
""")


def run(*command: str | Path, feed: str = "") -> str:
    done = subprocess.run(command, input=feed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_cc
@pytest.mark.parametrize("suffix", [".so", ".a", ".o"])
def test_the_example_in_c_runs_on_threads_without_python(
    perceptron: weft.Executable, tmp_path: Path, suffix: str
) -> None:
    library = tmp_path / f"libperceptron{suffix}"
    perceptron.export_library(library)
    program = tmp_path / "run"
    rpath = f"-Wl,-rpath,{tmp_path}"
    source = EXAMPLES / "run_perceptron.c"
    run("cc", *STRICT, "-pthread", f"-I{tmp_path}", source, library, "-lm", rpath, "-o", program)
    x = np.random.default_rng(3).standard_normal((1, 64)).astype(np.float32)
    printed = run(program, feed="\n".join(map(str, x.ravel())))
    assert np.allclose(np.array(printed.split(), np.float32), np.asarray(perceptron(x)).ravel(), rtol=1e-6)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([library.name, "libperceptron.h", "run"])


@needs_cc
def test_two_models_are_linked_into_one_program(perceptron: weft.Executable, tmp_path: Path) -> None:
    """Their kernels, entries and constants have the same names, which only the linker of each has seen."""
    other = compiled("""
relay.func @main() -> tensor<2xf32> {
  %0 = relay.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %1 = relay.nn.softmax %0 : tensor<2xf32>
  relay.return %1 : tensor<2xf32>
}
""")
    perceptron.export_library(tmp_path / "a.o", name="one")
    other.export_library(tmp_path / "b.o", name="two")
    (tmp_path / "main.c").write_text("""
#include "a.h"
#include "b.h"
#include <stdio.h>
int main(void) {
  float x[64] = {0}, y[10], z[2];
  const void *ins[] = {x};
  void *outs[] = {y}, *others[] = {z};
  void *a = one_model()->allocate(), *b = two_model()->allocate();
  int failed = one_model()->run(ins, outs, a, 2) != 0 || two_model()->run(NULL, others, b, 1) != 0;
  printf("%zu %zu %.6f %.6f", one_model()->num_inputs, two_model()->num_inputs, y[0], z[0]);
  return failed;
}
""")
    files = [tmp_path / name for name in ("main.c", "a.o", "b.o")]
    run("cc", *STRICT, "-pthread", *files, "-lm", "-o", tmp_path / "run")
    first = np.ravel(perceptron(np.zeros((1, 64), np.float32)))[0]
    assert run(tmp_path / "run") == f"1 0 {first:.6f} {np.ravel(other())[0]:.6f}"


@needs_cc
def test_what_surrounds_the_object_code_is_strict_c(choosing: weft.Executable, tmp_path: Path) -> None:
    (tmp_path / "m.h").write_text(header(choosing.graph, "m"))
    (tmp_path / "m.c").write_text(glue(choosing.graph, "m", "m.h"))
    run("cc", *STRICT, "-Wconversion", "-c", tmp_path / "m.c", "-o", tmp_path / "m.o")


class Model(ctypes.Structure):
    """The beginning of `weft_model`, as the header has it."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("machine", ctypes.c_char_p),
        ("num_inputs", ctypes.c_size_t),
        ("inputs", ctypes.c_void_p),
        ("num_outputs", ctypes.c_size_t),
        ("outputs", ctypes.c_void_p),
        ("workspace_bytes", ctypes.c_size_t),
        ("allocate", ctypes.CFUNCTYPE(ctypes.c_void_p)),
        (
            "run",
            ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64),
        ),
        (
            "message",
            ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int64, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t),
        ),
    ]


@pytest.fixture(scope="module")
def loaded(choosing: weft.Executable, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("library") / "choosing.so"
    choosing.export_library(path)
    found = ctypes.CDLL(str(path)).choosing_model
    found.restype = ctypes.POINTER(Model)
    return found().contents


def table(*arrays: npt.NDArray[Any]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


def told(model: Any, status: int, workspace: int | None, size: int = 200) -> tuple[str, int]:
    buffer = ctypes.create_string_buffer(b"?" * size, size)
    length = model.message(status, workspace, buffer, size)
    return buffer.value.decode(), length


@needs_cc
def test_a_failed_check_is_told_as_the_executable_tells_it(choosing: weft.Executable, loaded: Any) -> None:
    rows, out = np.arange(8, dtype=np.float32).reshape(4, 2), np.zeros((3, 2), np.float32)
    workspace = loaded.allocate()
    assert loaded.run(table(rows, np.array([3, 0, 1])), table(out), workspace, 2) == 0
    assert np.array_equal(out, rows[[3, 0, 1]])
    which = np.array([0, -77, 1])
    status = loaded.run(table(rows, which), table(out), workspace, 1)
    assert status > 0
    with pytest.raises(weft.CheckError) as error:
        choosing(rows, which)
    message, length = told(loaded, status, workspace)
    assert "-77" in message and message.endswith(error.value.message) and length == len(message)
    assert told(loaded, status, workspace, 8) == (message[:7], length)
    assert message.startswith("model.mlir:3:")


@needs_cc
def test_a_call_that_cannot_be_is_refused(loaded: Any) -> None:
    rows, which, out = np.zeros((4, 2), np.float32), np.zeros(3, np.int64), np.zeros((3, 2), np.float32)
    workspace = loaded.allocate()
    missing = (ctypes.c_void_p * 2)(rows.ctypes.data, None)
    for status, text in {
        loaded.run(table(rows, which), table(out), None, 1): "the workspace is none",
        loaded.run(table(rows, which), table(out), workspace + 8, 1): "or not at a multiple of 64",
        loaded.run(missing, table(out), workspace, 1): "an input or an output has no memory",
        loaded.run(None, table(out), workspace, 1): "an input or an output has no memory",
        loaded.run(table(rows, which), table(out), workspace, 0): "at least one thread",
        99: "no such status",
        0: "all went well",
    }.items():
        assert status <= 0 or status == 99
        assert text in told(loaded, status, workspace)[0]


def test_the_header_describes_the_graph(choosing: weft.Executable) -> None:
    text = header(choosing.graph, "choosing")
    assert "const weft_model *choosing_model(void);" in text
    assert "0: rows: tensor<4x2xf32>, 32 bytes\n     1: which: tensor<3xi64>, 24 bytes" in text


def test_names_from_a_model_cannot_leave_a_comment_or_a_string() -> None:
    assert comment("a */ int x; /* \n b") == "a * / int x; / *   b"
    assert c_string('"\\\n??/é') == '"\\042\\134\\012\\077\\077/\\303\\251"'


@pytest.mark.parametrize("name", ["1st", "a b", "int", "", "a-b", "ü"])
def test_a_name_that_c_does_not_have_is_refused(perceptron: weft.Executable, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="is no name in C"):
        perceptron.export_library(tmp_path / "m.so", name=name)


def test_a_file_of_another_kind_is_refused(perceptron: weft.Executable, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'\.dll' is no kind of library"):
        perceptron.export_library(tmp_path / "m.dll")


def test_a_compiler_that_is_not_there_is_named(perceptron: weft.Executable, tmp_path: Path) -> None:
    with pytest.raises(LinkError, match="there is no 'no-such-cc' on this machine"):
        perceptron.export_library(tmp_path / "m.so", cc="no-such-cc")
    assert not os.listdir(tmp_path)


@needs_cc
def test_a_compiler_for_another_machine_is_refused(perceptron: weft.Executable, tmp_path: Path) -> None:
    graph = replace(perceptron.graph, platform=Platform("riscv64-unknown-linux-gnu", "generic-rv64", ()))
    with pytest.raises(LinkError, match=r"'cc' makes code for .*, and this code is for riscv64"):
        weft.Executable(graph).export_library(tmp_path / "m.so", cc="cc")


def test_code_for_no_system_with_such_libraries_is_refused(perceptron: weft.Executable, tmp_path: Path) -> None:
    graph = replace(perceptron.graph, platform=Platform("wasm32-unknown-unknown", "generic", ()))
    with pytest.raises(LinkError, match="made for Linux and FreeBSD, and this code is for wasm32"):
        weft.Executable(graph).export_library(tmp_path / "m.so")


@needs_cc
def test_what_the_linker_says_is_told(perceptron: weft.Executable, tmp_path: Path) -> None:
    graph = replace(perceptron.graph, objects=(b"no object", *perceptron.graph.objects[1:]))
    with pytest.raises(LinkError, match=r"'cc' says: .*0\.o"):
        export_library([Piece(graph, "m")], tmp_path / "m.so", "cc")


@needs_cc
def test_a_folder_that_is_not_there_is_told(perceptron: weft.Executable, tmp_path: Path) -> None:
    with pytest.raises(Diagnostic, match="cannot be written: there is no such folder"):
        perceptron.export_library(tmp_path / "none" / "m.so")
