"""docs/pass-infrastructure.md says what is so: its examples run, its names and files exist."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from pathlib import Path

import pytest

from weft.transforms.infra.registry import registered

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "pass-infrastructure.md").read_text()
TABLE = DOCUMENT.partition("## TVM's names")[2]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.splitlines() if line.startswith("| `")]


def test_the_examples_run_one_after_the_other():
    examples = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(examples) == 3
    names: dict[str, object] = {"__name__": "example"}
    with registered(), contextlib.redirect_stdout(io.StringIO()) as out:
        for number, example in enumerate(examples):
            # xDSL reads the annotations of patterns where they were written
            exec(compile(example, f"example {number}", "exec", dont_inherit=True), names)
    assert out.getvalue().startswith("sequential: ")


def test_the_table_is_read():
    assert len(ROWS) > 30


@pytest.mark.parametrize("row", [row for row in ROWS if row[2]], ids=lambda row: row[0][:40])
def test_every_file_in_the_table_exists_and_has_the_names(row: list[str]):
    tvm, ours, file = row
    path = file.strip("`")
    assert (ROOT / path).is_file(), f"{path} does not exist"
    if path.startswith("test/"):
        return
    module = importlib.import_module("weft." + path.removesuffix(".py").replace("/", "."))
    listed = tvm if ours == "the same" else re.sub(r"\([^)]*\)", "", ours)
    for name in re.findall(r"`([A-Za-z_]+)`", listed):
        assert hasattr(module, name), f"{path} has no {name}"
