"""An operator's `compute` is held to what its type relation declares, for lowering and for interpretation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, TensorType, bf16, f16, f32, f64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, var_result_def

from weft.dialects import te
from weft.dialects.relay.base import RelayOp, tensor
from weft.dialects.relay.core import FuncOp, ReturnOp
from weft.dialects.relay.reference import evaluate_op
from weft.dialects.support.diagnostics import Diagnostic
from weft.lowering.relay_to_tir.lower_te import lower_function

Body = Callable[[te.Tensor], object]


@irdl_op_definition
class OwnOp(RelayOp):
    """An operator whose `compute` a test chooses."""

    name = "test.own"
    data = operand_def(TensorType)
    res = var_result_def(TensorType)
    BODY: ClassVar[list[Body]] = []

    def infer(self) -> Sequence[Attribute]:
        return [tensor(self.data)] * len(self.results)

    def compute(self, *inputs: te.Tensor) -> te.Tensor | Sequence[te.Tensor]:
        return OwnOp.BODY[0](*inputs)  # pyright: ignore[reportReturnType]


def own(body: Body, monkeypatch: pytest.MonkeyPatch, results: int = 1) -> OwnOp:
    """The operator in a primitive function on `tensor<2x8xf32>`."""
    monkeypatch.setattr(OwnOp, "BODY", [body])
    type = TensorType(f32, [2, 8])
    function = FuncOp("own", FunctionType.from_lists([type], [type] * results))
    op = OwnOp.create(operands=list(function.body.block.args), result_types=[type] * results)
    function.body.block.add_ops([op, ReturnOp(*op.results)])
    return op


def assert_refused(op: OwnOp, message: str) -> None:
    """Both readers of a `compute` refuse it."""
    function = op.parent_op()
    assert isinstance(function, FuncOp)
    with pytest.raises(Diagnostic, match=message):
        lower_function(function)
    with pytest.raises(Diagnostic, match=message):
        evaluate_op(op, [np.ones((2, 8), np.float32)])


def doubled(x: te.Tensor) -> te.Tensor:
    return te.compute(x.shape, lambda i, j: x[i, j] + x[i, j])


CASES: list[tuple[Body, str]] = [
    (
        lambda x: te.compute((2,), lambda i: x[i, 0]),
        r"'test.own': its compute has shape \[2\] .* it declares",
    ),
    (lambda x: te.compute((8, 2), lambda i, j: x[j, i]), r"has shape \[8, 2\] and elements of type f32"),
    (lambda x: te.compute((2, 8), lambda i, j: te.cast(x[i, j], f64)), r"elements of type f64"),
    (lambda x: [doubled(x), doubled(x)], r"gives 2 tensors, but it declares 1 results"),
    (lambda x: [], r"gives 0 tensors"),
    (lambda x: None, r"its compute gives NoneType, not tensors"),
    (lambda x: [doubled(x)[0, 0]], r"its compute gives Read, not tensors"),
    (
        lambda x: te.compute((2, 8), lambda i, j: x[i, j + 5000]),
        r"outside of dimension 1, whose extent is 8",
    ),
    (lambda x: te.compute((2, 8), lambda i, j: x[i]), r"has rank 2 but is read with 1 indices"),
    (lambda x: te.compute((2, 8), lambda i, j: x[i, j] if x[i, j] > 0 else 0), r"has no truth value"),
    (
        lambda x: te.compute((2, 8), lambda i, j: te.cast(x[i, j], f16) + te.const(1, bf16)),
        r"different types: f16 and bf16",
    ),
]


@pytest.mark.parametrize(("body", "message"), CASES)
def test_a_compute_that_gives_something_else_is_refused(
    body: Body, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_refused(own(body, monkeypatch), message)


def test_the_result_at_fault_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = own(lambda x: [doubled(x), te.compute((3, 8), lambda i, j: x[0, j])], monkeypatch, results=2)
    assert_refused(wrong, r"result 1 of its compute has shape \[3, 8\]")


def test_a_compute_that_gives_what_is_declared_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    op = own(doubled, monkeypatch)
    function = op.parent_op()
    assert isinstance(function, FuncOp)
    assert len(lower_function(function).region.block.args) == 2
    (result,) = evaluate_op(op, [np.ones((2, 8), np.float32)])
    np.testing.assert_array_equal(result, np.full((2, 8), 2, np.float32))


def test_other_errors_in_a_compute_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        evaluate_op(own(lambda x: 1 // 0, monkeypatch), [np.ones((2, 8), np.float32)])
