"""Rules of `legalize`: registered for a class, or of the class; by name; of the operator's type."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from weft import relay
from weft.dialects.relay.base import tensor
from weft.dialects.relay.ops.broadcast import MaximumOp, MultiplyOp
from weft.dialects.relay.ops.elementwise import CastOp
from weft.dialects.relay.ops.nn.activation import LeakyReluOp
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.transforms.relay.emitter import Emitter
from weft.transforms.relay.legalize import LegalizePass
from weft.transforms.relay.op_rules import ALTER, CONVERT, LEGALIZE, register_rule, unregister_rule

OPERATORS = relay.analysis.list_op_freqs


@pytest.fixture
def module() -> Iterator[ModuleOp]:
    yield relay.IRModule.from_expr(relay.nn.leaky_relu(relay.var("x", shape=(4,)), alpha=0.25))
    unregister_rule(LeakyReluOp, LEGALIZE)
    unregister_rule(LeakyReluOp, "mine")


def by_maximum(op: LeakyReluOp, emit: Emitter) -> SSAValue:
    alpha = emit.constant(op.alpha.value.data, tensor(op.data).element_type)
    return emit(MaximumOp(op.data, emit(MultiplyOp(op.data, alpha))))


def test_a_registered_rule_replaces_the_operator(module: ModuleOp) -> None:
    register_rule(LeakyReluOp, LEGALIZE)(by_maximum)
    assert OPERATORS(LegalizePass()(module)) == {"multiply": 1, "maximum": 1}


def test_rules_of_another_name_are_others(module: ModuleOp) -> None:
    register_rule(LeakyReluOp, "mine")(by_maximum)
    assert OPERATORS(LegalizePass()(module)) == {"nn.leaky_relu": 1}
    assert OPERATORS(LegalizePass("mine")(module)) == {"multiply": 1, "maximum": 1}


def test_a_rule_may_leave_an_operator(module: ModuleOp) -> None:
    def leave(op: LeakyReluOp, emit: Emitter) -> None:
        emit.constant(1.0, tensor(op.data).element_type)

    register_rule(LeakyReluOp, LEGALIZE)(leave)
    assert str(LegalizePass()(module)) == str(module)


def test_a_class_says_what_it_becomes(module: ModuleOp, monkeypatch: pytest.MonkeyPatch) -> None:
    def doubled(op: LeakyReluOp, take: Callable[[Operation], SSAValue]) -> SSAValue:
        return take(MaximumOp(op.data, op.data))

    monkeypatch.setattr(LeakyReluOp, "legalized", doubled)
    assert OPERATORS(LegalizePass()(module)) == {"maximum": 1}


def test_a_rule_that_changes_the_type_is_refused(module: ModuleOp) -> None:
    def widened(op: LeakyReluOp, emit: Emitter) -> SSAValue:
        return emit(CastOp(op.data, dtype="float64"))

    register_rule(LeakyReluOp, LEGALIZE)(widened)
    with pytest.raises(Diagnostic, match="gives tensor<4xf64> for tensor<4xf32>"):
        LegalizePass()(module)


@pytest.mark.parametrize("name", [ALTER, CONVERT])
def test_rules_for_layouts_do_not_legalize(module: ModuleOp, name: str) -> None:
    with pytest.raises(UsageError, match=f"rules named '{name}' choose layouts"):
        LegalizePass(name)(module)
