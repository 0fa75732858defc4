"""Programs that branch and call, as machine code: how deep, how long, in how much memory, and what fails.

That they give what the interpreter gives is in `test/run/language.mlir`.
"""

from __future__ import annotations

import ctypes
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from language_programs import PROGRAMS

import weft
from weft.dialects.support.checks import CheckError
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.mlir import parse_mlir
from weft.lowering.control_to_llvm import machine
from weft.runtime.executable import Executable
from weft.tools.weft_opt import main as weft_opt
from weft.transforms.infra import PassContext

pytestmark = pytest.mark.sampled(3)


@pytest.fixture(scope="module")
def compiled() -> dict[str, Executable]:
    return {name: weft.compile(parse_mlir(text, name), threads=1) for name, text in PROGRAMS.items()}


def number(value: int) -> npt.NDArray[np.int32]:
    return np.array(value, np.int32)


def in_use() -> int:
    """The bytes that are allocated with `malloc` and its like."""
    fields = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks".split()]
    names = [*fields, *((name, ctypes.c_size_t) for name in ("uordblks", "fordblks", "keepcost"))]
    info = type("mallinfo2", (ctypes.Structure,), {"_fields_": names})
    function = ctypes.CDLL(None).mallinfo2
    function.restype = info
    return function().uordblks + function().hblkhd


def test_a_loop_runs_long(compiled: dict[str, Executable]):
    result = compiled["loop"](number(50_000), np.zeros(300, np.float32))
    np.testing.assert_array_equal(result, np.full(300, 50_000, np.float32))


def test_a_recursion_may_be_deeper_than_a_native_stack(compiled: dict[str, Executable]):
    length, twice = compiled["depth"](number(120_000))
    assert (int(length), int(twice)) == (120_000, 240_000)


@pytest.mark.skipif(sys.platform != "linux", reason="asks the C library of Linux")
@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("loop", [number(20), np.zeros(300, np.float32)]),
        ("depth", [number(50)]),
        ("circle", [np.array(1.5, np.float32)]),
        ("check", [np.array(True), np.ones(4, np.float32), np.array([1, 2])]),
    ],
)
def test_a_call_leaves_nothing_behind(
    compiled: dict[str, Executable], name: str, inputs: list[npt.NDArray[np.generic]]
):
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("there is no mallinfo2")
    bound = compiled[name].bind(inputs)
    for _ in range(10):
        bound()
    before = in_use()
    for _ in range(1000):
        bound()
    assert in_use() - before < 32_000  # a value is 64 bytes at least


def test_a_recursion_without_an_end_fails(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(machine, "FRAMES_LIMIT", 1 << 20)
    exe = weft.compile(parse_mlir(PROGRAMS["depth"], "depth"), threads=1)
    with pytest.raises(CheckError, match="the calls are nested too deep: their frames may take 1048576 bytes"):
        exe(number(-1))
    assert int(exe(number(3))[0]) == 3


@pytest.mark.parametrize("taken", [True, False])
def test_a_check_that_fails_within_a_branch_is_told_with_its_place(compiled: dict[str, Executable], taken: bool):
    exe, x = compiled["check"], np.ones(4, np.float32)
    with pytest.raises(CheckError, match=r"5.*4") as error:
        exe(np.array(taken), x, np.array([0, 5]))
    assert error.value.place is not None
    assert error.value.place.line == (5 if taken else 8)
    np.testing.assert_array_equal(exe(np.array(False), x, np.array([0, 3])), [1, 1])


def test_programs_run_in_several_threads_at_once(compiled: dict[str, Executable]):
    def length(count: int) -> int:
        return int(compiled["depth"](number(count))[0])

    with ThreadPoolExecutor(4) as pool:
        lengths = list(pool.map(length, range(200)))
    assert lengths == list(range(200))


def test_a_program_is_saved_and_loaded(compiled: dict[str, Executable], tmp_path: Path):
    compiled["depth"].save(tmp_path / "program.weft")
    assert int(weft.load(tmp_path / "program.weft")(number(7))[1]) == 14


@pytest.mark.parametrize("phase", ["graph", "fuse", "tir", "schedule", "loops", "llvm"])
def test_a_program_can_be_taken_up_again_at_every_phase(phase: str, tmp_path: Path):
    source, text = tmp_path / "program.mlir", tmp_path / "out.mlir"
    source.write_text(PROGRAMS["circle"])
    assert weft_opt([str(source), f"--compile-to={phase}", "-o", str(text)]) == 0
    result = weft.compile(text, threads=1)(np.array(2.5, np.float32))
    assert result == np.float32(2.5)


def test_the_program_of_a_graph_is_what_it_is_without_segments():
    """What does not branch is compiled as ever: the entry runs the graph itself."""
    text = """
relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %x : tensor<4xf32>
  relay.return %0 : tensor<4xf32>
}
"""
    with PassContext(opt_level=3):
        ir = weft.compile(parse_mlir(text, "graph")).ir
    assert "segment" not in ir["loops"] and "weft_heap" not in ir["llvm"] and "weft_graph" in ir["llvm"]


def test_a_program_that_takes_a_function_is_refused_with_its_place():
    text = """relay.func @main(%f: (tensor<f32>) -> tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %0 = relay.apply %f(%x) : (tensor<f32>) -> tensor<f32>
  relay.return %0 : tensor<f32>
}
"""
    with pytest.raises(Diagnostic, match="what is run takes and gives tensors") as error:
        weft.compile(parse_mlir(text, "higher"))
    assert error.value.place is not None and error.value.place.line == 1


def test_a_tensor_of_unknown_shape_in_a_branch_is_given_as_it_is():
    text = """
relay.func @main(%c: tensor<i1>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %y = relay.if %c : (tensor<i1>) -> tensor<?xf32> {
    %0 = relay.exp %x : tensor<?xf32>
    relay.yield %0 : tensor<?xf32>
  } else {
    relay.yield %x : tensor<?xf32>
  }
  relay.return %y : tensor<?xf32>
}
"""
    executable: Any = weft.compile(parse_mlir(text, "dynamic"))
    x = np.array([1, 2, 3], np.float32)
    np.testing.assert_allclose(executable(np.array(True), x), np.exp(x), rtol=1e-6)
    np.testing.assert_array_equal(executable(np.array(False), x), x)
