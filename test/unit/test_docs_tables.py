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


READ = re.findall(r"^\| \[([\w./]+)\]\(\.\./([\w./]+)\) \|", (DOCS / "reading.in.md").read_text(), re.MULTILINE)


def test_the_files_to_read_in_a_weekend_are_there_and_are_no_more_than_that() -> None:
    assert 35 <= len(READ) <= 45 and len(set(READ)) == len(READ)
    assert all(shown == linked and (DOCS.parent / linked).is_file() for shown, linked in READ)
    lines = sum(len((DOCS.parent / linked).read_text().splitlines()) for _, linked in READ)
    assert 11_000 < lines < 13_000


def test_the_files_to_read_come_in_the_order_of_the_phases() -> None:
    steps = ["relay_to_tir", "tir_to_loops", "graph_to_memory", "memory_to_loops", "loops_to_llvm", "llvm_ir"]
    folders = [Path(name).parent.name for name, _ in READ if Path(name).parent.name in steps]
    assert list(dict.fromkeys(folders)) == steps and folders == sorted(folders, key=steps.index)


def test_every_folder_says_what_it_is_for() -> None:
    house = MADE["house_tables"]
    assert len(house.folders()) > 50
    assert [folder for folder in house.folders() if not house.purpose(folder)] == []
