"""docs/language.md: its programs give the same on the interpreter and as machine code."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import weft
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.frontend.mlir import parse_mlir
from weft.transforms.infra.registry import canonical_name

PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text("utf-8")
PROGRAMS = re.findall(r"```mlir\n(.*?)```", PAGE, re.DOTALL)


def test_the_programs_are_read():
    assert len(PROGRAMS) == 2


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_program_gives_the_same_everywhere(text: str):
    module = parse_mlir(text, "language.md")
    (main,) = (op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    exe = weft.compile(module, threads=1)
    inputs = [np.arange(1, 1 + spec.shape[0], dtype=np.float32) for spec in exe.inputs]
    (expected,) = evaluate_function(main, inputs)
    found = exe(*inputs)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=1e-6)


def test_operations_that_the_table_names_are_there():
    from weft.dialects.relay import Relay

    names = {op.name for op in Relay.operations}
    mentioned = set(re.findall(r"`(relay\.[a-z_]+)`", PAGE))
    assert len(mentioned) > 12
    assert mentioned <= names


def test_passes_that_the_table_names_are_there():
    table = PAGE.partition("## TVM's passes on functions")[2]
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", table))
    assert len(named) > 5
    assert all(canonical_name(name) == name for name in named)
