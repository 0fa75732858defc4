"""Every row of a pass that is a table applies somewhere, and what it makes gives the same numbers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from evaluate import assert_same_results, functions
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from weft.dialects.relay.core import ConstantOp
from weft.transforms.infra import RewriteDriver
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.relay import simplify_expr, simplify_inference
from weft.transforms.relay.dataflow.rows import Row

pytestmark = pytest.mark.sampled(5)

FOLDER = Path(__file__).parents[1] / "transforms"
ROWS = [(module.__name__.split(".")[-1], row) for module in (simplify_expr, simplify_inference) for row in module.ROWS]


@cache
def parsed(name: str) -> ModuleOp:
    path = FOLDER / f"{name}.mlir"
    return Parser(new_ir_context(), path.read_text(), str(path)).parse_module()


def cases(name: str) -> list[ModuleOp]:
    """The functions of the pass's own test, each alone in a module, those that have all their data."""
    module = parsed(name)
    alone: list[ModuleOp] = []
    for function in functions(module).values():
        if all(not isinstance(op, ConstantOp) or op.numpy() is not None for op in function.walk()):
            alone.append(ModuleOp([function.clone()]))
    return alone


each_row = pytest.mark.parametrize(("name", "row"), ROWS, ids=lambda it: it.identity if isinstance(it, Row) else it)


@each_row
def test_a_row_applies_and_keeps_the_results(name: str, row: Row) -> None:
    applied = 0
    for before in cases(name):
        after = before.clone()
        if RewriteDriver([row]).rewrite(after):
            applied += 1
            after.verify()
            assert_same_results(before, after)
    assert applied, f"no function of {name}.mlir has what the row '{row.identity}' is about"


@each_row
def test_a_row_leaves_no_operation_behind_that_it_did_not_use(name: str, row: Row) -> None:
    """Where the right side has another type, its operations are dropped, and with them their uses of operands."""
    for module in cases(name):
        RewriteDriver([row]).rewrite(module)
        inside = set(module.walk())
        for op in inside:
            for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
                assert all(use.operation in inside for use in value.uses), f"{row.identity}: {op.name}"


def test_the_rows_are_named_each_by_its_identity() -> None:
    assert len({row.identity for _, row in ROWS}) == len(ROWS)
