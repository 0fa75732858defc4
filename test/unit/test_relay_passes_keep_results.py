"""Every function of the tests of the graph passes gives the same results before and after its pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluate import assert_same_results, functions
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from weft.dialects.relay.core import CallOp, ConstantOp, FuncOp
from weft.dialects.relay.ops.nn.activation import DropoutOp
from weft.transforms.infra import PassContext, get_pass
from weft.transforms.infra.registry import new_ir_context

TESTS = Path(__file__).parents[1] / "transforms"

PASSES = [
    "alter-op-layout",
    "backward-fold-scale-axis",
    "canonicalize-ops",
    "dead-code-elimination",
    "defuse-ops",
    "eliminate-common-subexpr",
    "fold-constant",
    "fold-explicit-padding",
    "fold-scale-axis",
    "forward-fold-scale-axis",
    "fuse-ops",
    "infer-type",
    "outline-primitives",
    "simplify-expr",
    "simplify-inference",
    "sink-reshape",
]


def parse(path: Path) -> ModuleOp:
    return Parser(new_ir_context(), path.read_text(), str(path)).parse_module()


def drop_what_cannot_be_evaluated(module: ModuleOp) -> None:
    """Drop the functions that need data that is not there, or have a random part, and those that call them."""
    dropped = {""}
    while dropped:
        dropped.clear()
        for name, func in functions(module).items():
            if not all(can_be_evaluated(op, functions(module)) for op in func.walk()):
                dropped.add(name)
                func.detach()
                func.erase()


def can_be_evaluated(op: Operation, callees: dict[str, FuncOp]) -> bool:
    if isinstance(op, CallOp):
        return op.callee.string_value() in callees and op.parent_op() is not callees[op.callee.string_value()]
    if not op.name.startswith("relay.") or isinstance(op, DropoutOp):
        return False
    return not isinstance(op, ConstantOp) or op.numpy() is not None


@pytest.mark.parametrize("name", PASSES)
def test_the_results_are_the_same_before_and_after(name: str):
    module = parse(TESTS / f"{name.replace('-', '_')}.mlir")
    drop_what_cannot_be_evaluated(module)
    with PassContext(opt_level=3):
        after = get_pass(name)(module)
    assert functions(after)
    assert_same_results(module, after)
