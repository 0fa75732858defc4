"""Programs that branch, call and recurse, on the target `c`: strict C, equal to the interpreter."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from language_programs import PROGRAMS
from open_loops import DOUBLING_LOOP
from random_languages import random_language
from strict_c import STRICT, needs_compiler
from xdsl.dialects.builtin import ModuleOp

import weft
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.checks import CheckError
from weft.frontend.mlir import from_mlir, parse_mlir
from weft.lowering.compiler import lower
from weft.lowering.loops_to_c.compile import compile_c_graph, compiler_command
from weft.lowering.loops_to_c.module import emit_c
from weft.lowering.machine.target import Target
from weft.lowering.module_phase import select_entry
from weft.runtime.executable import Executable
from weft.testing import assert_close

pytestmark = [needs_compiler, pytest.mark.sampled(3)]
C = Target.parse("c")
LANGUAGE = Path(__file__).parents[1] / "run" / "language.mlir"
OPEN = (
    DOUBLING_LOOP
    + """relay.func @main(%n: tensor<i64>, %x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %zero = relay.constant dense<0> : tensor<i64>
  %z = relay.call @loop(%zero, %n, %x) : (tensor<i64>, tensor<i64>, tensor<?x2xf32>) -> tensor<?x2xf32>
  relay.return %z : tensor<?x2xf32>
}
"""
)
MAIN = """
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
int64_t main_(const bool *c, const float *x, const int64_t *i, float *out, int64_t num_threads);
int main(void) {
  bool c = true;
  float x[4] = {0, 1, 2, 3}, out[2];
  int64_t i[2] = {0, 2}, j[2] = {0, 7};
  int64_t status = main_(&c, x, i, out, 2);
  printf("%d %.3f %.3f\\n", (int)status, (double)out[0], (double)out[1]);
  printf("%d\\n", main_(&c, x, j, out, 1) > 0);
  return 0;
}
"""


def loops(module: ModuleOp) -> ModuleOp:
    lower(module, C, "loops")
    return module


def compiled(module: ModuleOp) -> Executable:
    return Executable(compile_c_graph(loops(module), C, 0, STRICT), threads=2)


def number(value: int) -> npt.NDArray[np.int32]:
    return np.array(value, np.int32)


@pytest.mark.parametrize(
    "name", ["a_branch", "mutual_recursion", "functions_of_functions", "tuples_anywhere", "data_types"]
)
def test_a_program_in_c_gives_what_the_interpreter_gives(name: str) -> None:
    module = from_mlir(LANGUAGE)
    select_entry(module, name)
    exe = compiled(module.clone())
    main = next(f for f in module.ops if isinstance(f, FuncOp) and f.sym_name.data == name)
    rng = np.random.default_rng(0)
    for _ in range(3):
        inputs = [np.asarray(4 * rng.standard_normal(s.shape)).astype(s.dtype) for s in exe.inputs]
        found, wanted = exe(*inputs), evaluate_function(main, inputs)
        for got, want in zip(found if isinstance(found, tuple) else (found,), wanted, strict=True):
            assert_close(got, want, 1e-5)


@pytest.mark.parametrize(("seed", "extent"), [(18, "3"), (59, "?")])
def test_a_random_program_in_c_gives_what_machine_code_does(seed: int, extent: str) -> None:
    """The first has blocks that stand before others which compute what they use."""
    text = random_language(seed, 5, plain=True).replace("tensor<3xf32>", f"tensor<{extent}xf32>")
    inputs = [np.array([1, -2, 3], np.float32), np.array([4, 0, -3], np.float32)]
    found, wanted = (make(parse_mlir(text, "random"))(*inputs) for make in (compiled, weft.compile))
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_recursion_in_c_may_be_deep_and_a_loop_long() -> None:
    depth, loop = (compiled(parse_mlir(PROGRAMS[name], name)) for name in ("depth", "loop"))
    assert [int(each) for each in depth(number(60_000))] == [60_000, 120_000]
    np.testing.assert_array_equal(loop(number(5_000), np.zeros(300, np.float32)), np.full(300, 5_000, np.float32))


def test_extents_grow_in_a_loop_in_c() -> None:
    exe = compiled(parse_mlir(OPEN, "open"))
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    for turns in (0, 1, 4):
        np.testing.assert_array_equal(exe(np.array(turns), x), np.tile(x, (1 << turns, 1)) * (-1) ** turns)


def test_a_check_in_a_branch_in_c_tells_its_place(tmp_path: Path) -> None:
    exe = compiled(parse_mlir(PROGRAMS["check"], "check"))
    exe.save(tmp_path / "check.weft")
    for each in (exe, weft.load(tmp_path / "check.weft")):
        with pytest.raises(CheckError, match=r"5.*4") as error:
            each(np.array(False), np.ones(4, np.float32), np.array([0, 5]))
        assert error.value.place is not None and error.value.place.line == 8


def test_a_program_in_c_is_part_of_a_program_without_python(tmp_path: Path) -> None:
    (tmp_path / "model.c").write_text(emit_c(loops(parse_mlir(PROGRAMS["check"], "check"))))
    (tmp_path / "main.c").write_text(MAIN)
    command = [*compiler_command(), "-std=c11", *STRICT, "-fopenmp", "-fno-strict-aliasing", "model.c", "main.c", "-lm"]
    subprocess.run([*command, "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["0", "1.000", "7.389", "1"]


@pytest.mark.parametrize("size", [5, 200])
def test_halves_that_are_chosen_in_c_are_stored(size: int) -> None:
    T = f"tensor<{size}xf16>"
    text = f"relay.func @main(%x: {T}) -> {T} {{\n  %0 = relay.nn.relu %x : {T}\n  relay.return %0 : {T}\n}}"
    x = np.linspace(-2, 3, size).astype(np.float16)
    found = weft.compile(parse_mlir(text, "halves.mlir"), "c", threads=1)(x)
    np.testing.assert_array_equal(np.asarray(found), np.maximum(x, 0))
