"""Every row of `simplify-expr` applies somewhere, and what it makes gives the same numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluate import assert_same_results, functions
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from weft.dialects.relay.core import ConstantOp
from weft.transforms.infra import RewriteDriver
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay.dataflow.rows import Row
from weft.transforms.relay.simplify_expr import ROWS

CASES = Path(__file__).parents[1] / "transforms" / "simplify_expr.mlir"


def cases() -> list[ModuleOp]:
    """The functions of the pass's own test, each alone in a module, those that have all their data."""
    module = Parser(new_ir_context(), CASES.read_text(), str(CASES)).parse_module()
    alone: list[ModuleOp] = []
    for function in functions(module).values():
        if all(not isinstance(op, ConstantOp) or op.numpy() is not None for op in function.walk()):
            alone.append(ModuleOp([function.clone()]))
    return alone


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.identity)
def test_a_row_applies_and_keeps_the_results(row: Row) -> None:
    applied = 0
    for before in cases():
        after = before.clone()
        if RewriteDriver([row]).rewrite(after):
            applied += 1
            after.verify()
            assert_same_results(before, after)
    assert applied, f"no function of {CASES.name} has what the row '{row.identity}' is about"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.identity)
def test_a_row_leaves_no_operation_behind_that_it_did_not_use(row: Row) -> None:
    """Where the right side has another type, its operations are dropped, and with them their uses of operands."""
    for module in cases():
        RewriteDriver([row]).rewrite(module)
        inside = set(module.walk())
        for op in inside:
            for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
                assert all(use.operation in inside for use in value.uses), f"{row.identity}: {op.name}"


def test_the_rows_are_named_each_by_its_identity() -> None:
    assert len({row.identity for row in ROWS}) == len(ROWS)
