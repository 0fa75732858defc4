"""`weft-run` on a module at every phase, with its constants, from a file and from standard input."""

from __future__ import annotations

import faulthandler
import io
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.compilation import load_module
from weft.dialects.relay.weights import missing_resources, resources
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.mlir import from_mlir
from weft.interpreted import PHASES as INTERPRETED
from weft.lowering.module_phase import phase_of
from weft.tools.isolation import Isolated
from weft.tools.run_values import read_npz
from weft.tools.weft_opt import main as weft_opt
from weft.tools.weft_run import main as weft_run

PHASES = ("import", "graph", "fuse", "tir", "schedule", "loops", "llvm")

GRAPH = """
relay.func @main(%x: tensor<3x32xf32>, %u: tensor<3x8xui8>) -> (tensor<3x8xf32>, tensor<3x8xui8>) {
  %w = relay.constant #relay.resource<"w"> : tensor<8x32xf32>
  %b = relay.constant dense<[1.0, 2.0, 3.0, 4.0, -1.0, -2.0, -3.0, -4.0]> : tensor<8xf32>
  %0 = relay.nn.dense %x, %w : (tensor<3x32xf32>, tensor<8x32xf32>) -> tensor<3x8xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  %2 = relay.nn.softmax %1 : tensor<3x8xf32>
  %3 = relay.add %u, %u : (tensor<3x8xui8>, tensor<3x8xui8>) -> tensor<3x8xui8>
  relay.return %2, %3 : tensor<3x8xf32>, tensor<3x8xui8>
}
"""


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model at every phase, and what it gives: `expected.npz`."""
    folder = tmp_path_factory.mktemp("phases")
    (folder / "model.mlir").write_text(GRAPH)
    np.savez(folder / "model.weights.npz", w=np.random.default_rng(0).standard_normal((8, 32), np.float32))
    assert weft_opt([str(folder / "model.mlir"), "--dump-phases-to", str(folder), "-o", str(folder / "out.mlir")]) == 0
    assert weft_run([str(folder / "model.mlir"), "--outputs", str(folder / "expected.npz")]) == 0
    return folder


@pytest.mark.parametrize("phase", PHASES)
def test_a_module_at_any_phase_runs_and_gives_the_same(
    dumped: Path, phase: str, capsys: pytest.CaptureFixture[str]
) -> None:
    interpreted = ["--compare", "interpreter"] if phase in INTERPRETED else []
    path, expected = str(dumped / f"{phase}.mlir"), str(dumped / "expected.npz")
    assert weft_run([path, "--expect", expected, "--quiet", *interpreted]) == 0
    out = capsys.readouterr().out
    assert out.count("equal to") == 1 + len(interpreted) // 2
    assert len(read_npz(expected)) == 2


@pytest.mark.parametrize("phase", ["tir", "schedule"])
def test_a_kernel_that_is_edited_differs_from_its_graph(
    dumped: Path, phase: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (dumped / f"{phase}.mlir").read_text()
    assert "arith.addi" in text
    (tmp_path / "edited.mlir").write_text(text.replace("arith.addi", "arith.subi"))
    (tmp_path / "edited.weights.npz").write_bytes((dumped / f"{phase}.weights.npz").read_bytes())
    arguments = [str(tmp_path / "edited.mlir"), "--expect", str(dumped / "expected.npz"), "--quiet"]
    assert weft_run([*arguments, "--executor", "interpreter"]) == 1
    assert "differs from" in capsys.readouterr().err


@pytest.mark.parametrize("phase", ["loops", "llvm"])
def test_what_is_not_interpreted_is_refused(dumped: Path, phase: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert weft_run([str(dumped / f"{phase}.mlir"), "--executor", "interpreter"]) == 2
    assert f"this module is at the phase '{phase}'" in capsys.readouterr().err


def test_an_llvm_module_without_its_weights_is_refused(
    dumped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "alone.mlir").write_text((dumped / "llvm.mlir").read_text())
    assert weft_run([str(tmp_path / "alone.mlir")]) == 1
    assert "alone.weights.npz, which goes with the text" in capsys.readouterr().err


def test_an_llvm_module_with_weights_of_another_shape_is_refused(dumped: Path, tmp_path: Path) -> None:
    (tmp_path / "other.mlir").write_text((dumped / "llvm.mlir").read_text())
    with np.load(dumped / "llvm.weights.npz") as file:
        np.savez(tmp_path / "other.weights.npz", **{key: file[key][..., :-1] for key in file.files})
    assert weft_run([str(tmp_path / "other.mlir"), "--quiet"]) == 1


def test_resources_in_a_list_are_bound(dumped: Path) -> None:
    module = from_mlir(dumped / "llvm.mlir")
    assert phase_of(module) == "llvm" and not missing_resources(module)
    assert any(array.size >= 8 * 32 for array in resources(module).values())


def stdin(text: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()))


def test_a_module_is_read_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = "relay.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { relay.return %x : tensor<2xf32> }"
    monkeypatch.setattr(sys, "stdin", stdin(graph))
    assert weft_run(["-", "--input", "x=2xf32=[1, 2]", "--compare", "interpreter"]) == 0
    assert "= [1., 2.]" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", stdin(GRAPH))
    assert weft_run(["-"]) == 1
    assert "the data of w does not come with the text" in capsys.readouterr().err
    monkeypatch.setattr(sys, "stdin", stdin("relay.func @main("))
    assert weft_run(["-"]) == 1
    assert "<stdin>:1:" in capsys.readouterr().err
    with pytest.raises(Diagnostic):
        load_module("-")


def test_a_check_that_fails_in_a_process_of_its_own_is_told_as_any_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("take.mlir").write_text("""relay.func @main(%x: tensor<5xf32>, %i: tensor<1xi64>) -> tensor<1xf32> {
  %0 = relay.take %x, %i {axis = 0, mode = "error"} : (tensor<5xf32>, tensor<1xi64>) -> tensor<1xf32>
  relay.return %0 : tensor<1xf32>
}""")
    assert weft_opt(["take.mlir", "--compile-to=llvm", "-o", "llvm.mlir"]) == 0
    told: list[str] = []
    for file in ("take.mlir", "llvm.mlir"):
        assert weft_run([file, "--input", "i=1xi64=[7]", "--quiet"]) == 1
        told.append(capsys.readouterr().err)
    assert "'relay.take': index 7 lies outside of an axis of 5 elements" in told[0]
    assert told[0].splitlines()[0] == told[1].splitlines()[0]


def test_a_program_that_dies_is_told_of() -> None:
    class Dying:
        def run(self, inputs: object, /) -> dict[str, np.ndarray[Any, Any]]:
            faulthandler.disable()  # pytest's would print where
            os.kill(os.getpid(), signal.SIGSEGV)
            return {}

    with pytest.raises(Diagnostic, match="the process that ran the program has died: signal 11, SIGSEGV") as error:
        Isolated(Dying(), "llvm.mlir", "llvm").run({})
    assert "at phase 'llvm'" in str(error.value.hint)
