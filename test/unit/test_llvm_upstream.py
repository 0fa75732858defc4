"""The llvm dialect that Weft prints is the one of upstream MLIR 22: `mlir-opt` reads it, and Weft reads it back."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from native import lower, parse

from weft.lowering.machine.codegen import compile_module
from weft.lowering.machine.target import Target

MLIR_OPT = shutil.which("mlir-opt-22")
LOWERING = Path(__file__).parents[1] / "lowering"

MODULES = [
    text
    for name in ("convert_loops_to_llvm", "expand_math")
    for text in (LOWERING / f"{name}.mlir").read_text().split("// -----\n")
]

needs_mlir_opt = pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt-22 is not installed (Debian: mlir-22-tools)")


def through_upstream(texts: list[str]) -> list[str]:
    assert MLIR_OPT is not None
    separator = "\n// -----\n"
    command = [MLIR_OPT, "--split-input-file", "-"]
    done = subprocess.run(command, input=separator.join(texts), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("// -----\n")


@needs_mlir_opt
def test_upstream_accepts_every_lowered_module_and_weft_compiles_what_it_prints() -> None:
    lowered = [str(lower(text)) for text in MODULES]
    target = Target()
    for ours, theirs in zip(lowered, through_upstream(lowered), strict=True):
        assert compile_module(parse(theirs), target, 1) == compile_module(parse(ours), target, 1), ours


@needs_mlir_opt
def test_upstream_refuses_what_is_wrong() -> None:
    with pytest.raises(AssertionError, match="undeclared"):
        through_upstream(["llvm.func @f() {\n  llvm.return %x : i64\n}\n"])
