"""Parameters that are linked, as constants inside the kernels that read them: the same numbers by every way to code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from cuda_emulation import emulated, needs_compiler

import weft
from weft import relay
from weft.tools import weft_opt, weft_run

pytestmark = pytest.mark.sampled(5)

NDArray = npt.NDArray[Any]

PERCEPTRON = Path(__file__).parents[2] / "examples" / "perceptron.mlir"
X = np.random.default_rng(0).standard_normal((1, 64)).astype(np.float32)


def both(graph: Any, x: NDArray, target: str = "llvm") -> tuple[weft.Executable, weft.Executable]:
    """A graph compiled with its parameters beside the code and inside of it; they compute the same."""
    compiled: list[weft.Executable] = []
    for linked in (False, True):
        with weft.PassContext(opt_level=3, config={"relay.FuseOps.link_params": linked}):
            compiled.append(weft.compile(graph, target=target))
    beside, inside = compiled
    np.testing.assert_array_equal(np.asarray(inside(x)), np.asarray(beside(x)))
    return beside, inside


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_linked_parameters_give_the_same_and_are_no_constants_beside_the_code(target: str, tmp_path: Path) -> None:
    beside, inside = both(PERCEPTRON, X, target=target)
    assert len(beside.graph.constants) == 3
    assert len(inside.graph.constants) == 0
    inside.save(tmp_path / "inside.weft")
    np.testing.assert_array_equal(weft.load(tmp_path / "inside.weft")(X), beside(X))


def test_the_tools_link_parameters_in_every_phase(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", X)
    given = ["--input", f"x=@{tmp_path / 'x.npy'}"]
    texts: list[str] = []
    for phase in ("import", "fuse", "tir", "loops", "llvm"):
        file = str(tmp_path / f"{phase}.mlir")
        words = [str(PERCEPTRON), f"--compile-to={phase}", "--pass-config", "fuse-ops.link-params=true", "-o", file]
        assert weft_opt.main(words) == 0, capsys.readouterr().err
        assert weft_run.main([file, *given]) == 0, capsys.readouterr().err
        texts.append(capsys.readouterr().out)
    assert len(set(texts)) == 1


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16", "bfloat16", "float64"])
def test_constants_of_every_type_can_be_linked(dtype: str) -> None:
    element = np.dtype(getattr(ml_dtypes, dtype, dtype))
    numbers = np.arange(15).reshape(3, 5)
    held = (numbers % 2 if dtype == "bool" else numbers * 7 - (0 if dtype.startswith("u") else 40)).astype(element)
    x = relay.var("x", shape=(3, 5), dtype=dtype)
    call = relay.logical_and if dtype == "bool" else relay.add
    both(relay.Function([x], call(x, relay.const(held, held.dtype.name))), (numbers % 3 == 0).astype(element))


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_constants_are_linked_into_kernels_of_open_extents(target: str, tmp_path: Path) -> None:
    file = tmp_path / "open.mlir"
    file.write_text("""
relay.func @main(%x: tensor<?x4xf32>) -> tensor<?x2x1xf32> {
  %w = relay.constant dense<[[1.0, 2.0, -3.0, 0.5], [0.25, -1.0, 2.0, 4.0]]> : tensor<2x4xf32>
  %0 = relay.nn.dense %x, %w {units = 2 : i64} : (tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x2xf32>
  %shape = relay.constant dense<[-1, 2, 1]> : tensor<3xi64>
  %1 = relay.dyn.reshape %0, %shape : (tensor<?x2xf32>, tensor<3xi64>) -> tensor<?x2x1xf32>
  relay.return %1 : tensor<?x2x1xf32>
}
""")
    for rows in (1, 9):
        both(file, np.random.default_rng(rows).standard_normal((rows, 4)).astype(np.float32), target=target)


@needs_compiler
def test_constants_are_linked_into_kernels_of_a_gpu(tmp_path: Path) -> None:
    found: list[NDArray] = []
    with emulated(tmp_path) as driver:
        for linked in (False, True):
            with weft.PassContext(opt_level=3, config={"relay.FuseOps.link_params": linked}):
                executable = weft.compile(PERCEPTRON, target="cuda")
            driver.register(executable.ir)
            found.append(np.asarray(executable(X)))
        assert len(executable.graph.constants) == 0
    beside, inside = found
    np.testing.assert_array_equal(inside, beside)
