"""docs/dynamic.md: its examples run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from native import parse

from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.legality.function import not_proved
from weft.dialects.tir.specialize import specialize, symbols_of

PAGE = (Path(__file__).parents[2] / "docs" / "dynamic.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_a_python_example_runs(number: int) -> None:
    exec(compile(blocks("python")[number], "docs/dynamic.md", "exec"), {})


def test_the_function_in_text_is_valid_and_can_be_given_a_size() -> None:
    (func,) = parse(blocks("mlir")[0]).ops
    assert isinstance(func, PrimFuncOp)
    func.verify()
    assert not not_proved(func)
    assert not symbols_of(specialize(func, {2: 5}))
