"""Operators that a program registers by name: what is said of them is what they are, and nothing is said twice."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pytest

import weft
from weft import relay, te
from weft.dialects.support.diagnostics import UsageError
from weft.frontend.mlir import parse_mlir

relay: Any = relay
te: Any = te
_numbers = count()
X = relay.var("x", shape=(2, 3))
ONES = np.ones((2, 3), np.float32)


def registered(inputs: int, relation: str = "Identity") -> Any:
    """A new operator."""
    op = relay.op.register(f"test.op{next(_numbers)}", "What a test computes.")
    op.set_num_inputs(inputs)
    op.add_type_rel(relation)
    return op


def test_an_operator_is_what_was_said_of_it() -> None:
    op = registered(2, "Broadcast")
    op.add_argument("left", "Tensor", "One operand.")
    op.add_argument("right", "Tensor", "The other one.")
    assert relay.op.register_pattern(op.name, relay.op.OpPattern.BROADCAST) == op == relay.op.get(op.name)
    assert (op.num_inputs, op.description) == (2, "What a test computes.")
    assert op.get_attr("TOpPattern") == relay.op.OpPattern.BROADCAST and op.get_attr("FTVMCompute") is None
    made = relay.Call(op, [X, relay.var("y", shape=(5, 1, 3))])
    assert made.shape == (5, 2, 3) and made.op == op and [each.shape for each in made.args] == [(2, 3), (5, 1, 3)]
    assert relay.Call(op, [relay.var("open"), X]).checked_type == relay.IncompleteType()


@pytest.mark.parametrize("executor", ["debug", "vm"])
def test_an_operator_is_computed_and_fused_as_was_said(executor: str) -> None:
    op = registered(1)
    relay.op.register_pattern(op.name, relay.op.OpPattern.ELEMWISE)

    @relay.op.register_compute(op.name)
    def softplus(attrs: Any, inputs: Any, out_type: Any) -> Any:
        assert attrs is None and out_type.dtype == "float32"

        def element(*i: Any) -> Any:
            return te.log(1.0 + te.exp(inputs[0][i]))

        return [te.compute(inputs[0].shape, element)]

    data = relay.var("data", relay.TensorType((relay.Any(), 3), "float32"))
    module = relay.IRModule.from_expr(relay.negative(relay.Call(op, [data + relay.const(1.0)])))
    (fused,) = [each for each in relay.transform.FuseOps()(module)["main"].body.block.ops if each.regions]
    assert f"relay.{op.name}" in str(fused) and "relay.negative" in str(fused)
    found = relay.create_executor(executor, module).evaluate()(ONES).numpy()
    np.testing.assert_allclose(found, np.full((2, 3), -np.log1p(np.exp(2))), rtol=1e-6)


def test_what_does_more_than_give_its_result_stays() -> None:
    for stateful in (True, False):
        op = registered(1)
        relay.op.register_stateful(op.name, stateful)
        unused = relay.TupleGetItem(relay.Tuple([relay.nn.relu(X), relay.Call(op, [X])]), 0)
        twice = relay.Tuple([relay.Call(op, [X]), relay.Call(op, [X])])
        found = relay.transform.EliminateCommonSubexpr()(relay.IRModule.from_expr(twice))
        assert str(found).count(op.name) == (2 if stateful else 1)
        assert unused.shape == (2, 3)


def test_a_type_relation_sees_types_and_attributes() -> None:
    op = relay.op.register(f"test.op{next(_numbers)}")

    def repeated(types: Any, attrs: Any) -> Any:
        return relay.TensorType((attrs.times, *types[0].shape[:]), "int32")

    op.add_type_rel("Repeated", repeated)
    made = relay.Call(op, [X, X, X], {"times": 4, "names": "abc", "sizes": [1, 2]})
    assert made.checked_type == relay.TensorType((4, 2, 3), "int32") and op.num_inputs == -1
    wrong = relay.op.register(f"test.op{next(_numbers)}")

    def number(types: Any, attrs: Any) -> int:
        return 3

    wrong.add_type_rel("Number", number)
    with pytest.raises(UsageError, match="gives no type of a tensor: 3"):
        relay.Call(wrong, [X])
    with pytest.raises(UsageError, match="'times' is a number, text, or numbers, and not <object"):
        relay.Call(op, [X], {"times": object()})


def test_what_cannot_be_said_is_refused() -> None:
    op, relu = registered(1), relay.op.get("nn.relu")
    for said, message in (
        (lambda: relay.op.register(op.name), "is there already"),
        (lambda: relay.op.register("nn.relu"), "is there already"),
        (lambda: relay.op.register("a b"), "is called by words"),
        (lambda: op.set_num_inputs(-2), "or -1 for any, not -2"),
        (lambda: op.add_type_rel("Broadcast"), "has the type relation 'Identity' already"),
        (lambda: registered(1, "Identical"), "there is no type relation 'Identical'"),
        (lambda: op.add_argument("attrs", "Tensor", ""), "cannot be the name"),
        (lambda: relay.op.register_pattern(op.name, 5), "there is no pattern 5"),
        (lambda: relu.set_num_inputs(2), "'nn.relu' is an operator of Weft's"),
        (lambda: relay.op.register_pattern("nn.relu", 8), "'nn.relu' is an operator of Weft's"),
        (lambda: relay.op.register_compute("nn.relu", registered), "of Weft's"),
        (lambda: relay.Call(relay.op.register(f"test.op{next(_numbers)}"), [X]), "has no type relation"),
        (lambda: relay.Call(op, [X, X]), "takes 1 operands, and 2 are given"),
    ):
        with pytest.raises(UsageError, match=message):
            said()
    made = relay.Call(op, [X])
    for said in (
        lambda: op.set_num_inputs(2),
        lambda: op.set_support_level(1),
        lambda: op.set_attrs_type_key("DictAttrs"),
        lambda: relay.op.register_pattern(op.name, 0),
        lambda: relay.op.register_stateful(op.name, True),
    ):
        with pytest.raises(UsageError, match="has been called"):
            said()
    for executor in ("debug", "vm"):
        with pytest.raises(weft.Diagnostic, match=r"has no (FTVMCompute|compute)"):
            relay.create_executor(executor).evaluate(relay.Function([X], made))(ONES)


def test_arguments_are_as_many_as_inputs() -> None:
    op = registered(2)
    op.add_argument("data", "Tensor", "")
    with pytest.raises(UsageError, match="has 2 inputs, and 1 arguments are described"):
        relay.Call(op, [X, X])


def test_text_that_names_an_operator_is_read() -> None:
    op = registered(1)
    module = relay.IRModule.from_expr(relay.Call(op, [X], {"times": 2}))
    spanned = relay.transform.AnnotateSpans()(module)
    relay.assert_structural_equal(spanned, module)
    relay.assert_structural_equal(relay.IRModule.of(parse_mlir(str(module).encode(), "text")), module)
