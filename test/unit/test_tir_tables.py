"""docs/tir.md says of everything in TVM's TIR where it is: what it names is there."""

import importlib.util
import sys
from pathlib import Path

import pytest

import weft
from weft.transforms.infra.errors import UnknownPassError
from weft.transforms.infra.registry import canonical_name, get_pass_type, new_ir_context

PAGE = Path(__file__).parents[2] / "docs" / "tir_tables.py"
spec = importlib.util.spec_from_file_location("tir_tables", PAGE)
assert spec is not None and spec.loader is not None
tables = importlib.util.module_from_spec(spec)
sys.modules["tir_tables"] = tables
spec.loader.exec_module(tables)


def test_every_operation_that_is_named_is_registered() -> None:
    context = new_ir_context()
    for row in tables.NODES:
        for name in row.by:
            assert context.get_optional_op(name) is not None, f"{row.names[0]}: there is no operation {name}"


def test_every_row_says_what_or_why() -> None:
    for row in tables.NODES:
        assert row.by if row.state != tables.State.OUT else row.note, row.names


def test_every_pass_that_is_named_is_registered_under_both_names() -> None:
    for row in tables.PASSES:
        for name in row.by:
            assert get_pass_type(name).name == name
        for name in row.names if row.state == tables.State.BUILT else ():
            assert get_pass_type(name).name == row.by[0]
            assert getattr(weft.tir.transform, name)().name == row.by[0]
        assert row.by or row.note, row.names


def test_who_asks_for_a_pass_that_is_none_here_is_told_its_row() -> None:
    with pytest.raises(AttributeError, match=r"in place of TVM's NarrowDataType: convert-loops-to-llvm; indices are"):
        weft.tir.transform.NarrowDataType  # noqa: B018
    for row in tables.PASSES:
        for name in row.names:
            if canonical_name(name) is None and not hasattr(weft.tir.transform, name):
                with pytest.raises(UnknownPassError) as caught:
                    get_pass_type(f"tir.{name}")
                assert caught.value.hint is not None and name in caught.value.hint and row.note in caught.value.hint


def test_nothing_stands_in_two_rows() -> None:
    for table in (*tables.NODE_TABLES.values(), tables.PASSES):
        names = [name for row in table for name in row.names]
        assert len(names) == len(set(names))
