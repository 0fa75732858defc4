"""`te.ScheduleOps`: a te schedule as nodes, and a function of them."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft import te, tir
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.te.expr import Binary, Const
from weft.tir import stmt_functor


def computation() -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    a, b = te.placeholder((6, 8), name="A"), te.placeholder((8,), name="B")
    doubled = te.compute((6, 8), lambda i, j: a[i, j] * 2.0, name="doubled")
    return a, b, te.compute((6, 8), lambda i, j: doubled[i, j] + b[j], name="C")


def kinds(statements: tir.Stmt) -> list[str]:
    found: list[str] = []

    def note(node: object) -> None:
        found.append(type(node).__name__)

    stmt_functor.pre_order_visit(statements, note)
    return found


def test_a_schedule_is_statements_and_these_a_function() -> None:
    a, b, c = computation()
    s = te.create_schedule(c.op)
    outer, _ = s[c].split(c.op.axis[1], factor=4)
    s[c.op.input_tensors[0]].compute_at(s[c], outer)
    statements = te.ScheduleOps(s, te.InferBound(s))
    assert kinds(statements).count("For") == 5 and kinds(statements).count("Block") == 3
    function = te.SchedulePostProcToPrimFunc([b, c, a], statements)
    x, y = np.arange(48, dtype=np.float32).reshape(6, 8), np.arange(8, dtype=np.float32)
    result = np.zeros((6, 8), np.float32)
    weft.build(function)(y, result, x)
    np.testing.assert_array_equal(result, x * 2 + y)


def test_statements_are_changed_in_between() -> None:
    a, b, c = computation()
    statements = te.ScheduleOps(te.create_schedule(c.op))

    def tripled(node: Binary) -> te.Expr | None:
        return node.lhs * 3.0 if isinstance(node.rhs, Const) and node.rhs.value == 2.0 else None

    changed = stmt_functor.ir_transform(statements, None, tripled, ["tir.Mul"])
    function = te.SchedulePostProcToPrimFunc([a, b, c], changed)
    x, y = np.ones((6, 8), np.float32), np.ones(8, np.float32)
    (result,) = tir.Interpreter(function)([x, y])
    np.testing.assert_array_equal(result, x * 4)


def test_a_tensor_that_is_used_is_a_parameter() -> None:
    a, b, c = computation()
    statements = te.ScheduleOps(te.create_schedule(c.op))
    with pytest.raises(UsageError, match="'B' is used, and not among the parameters"):
        te.SchedulePostProcToPrimFunc([a, c], statements)
    unused = te.placeholder((2,), name="unused")
    assert len(te.SchedulePostProcToPrimFunc([a, b, unused, c], statements).params) == 4
