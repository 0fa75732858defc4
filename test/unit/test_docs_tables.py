"""The tables of docs/ say what the code does: they are made from it."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

onnx = pytest.importorskip("onnx")

DOCS = Path(__file__).parents[2] / "docs"
MADE: dict[str, Any] = runpy.run_path(str(DOCS / "make_tables.py"))


@pytest.mark.parametrize("name", MADE["PAGES"])
def test_a_table_is_what_its_script_makes(name: str) -> None:
    text = (DOCS / name).read_text()
    made_with = re.search(r"with onnx (\S+);", text)
    if made_with is not None and made_with[1] != onnx.__version__:
        pytest.skip(f"{name} was made with onnx {made_with[1]}")
    assert text == MADE["PAGES"][name](), "run `python docs/make_tables.py`"


def test_the_tables_have_rows() -> None:
    assert (DOCS / "operators.md").read_text().count("\n| `relay.") > 150
    assert (DOCS / "onnx.md").read_text().count("\n| ") > 150
