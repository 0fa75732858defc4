"""Visitors, mutators and binding: the classic examples of these APIs, and depth."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from xdsl.dialects.builtin import FunctionType, TensorType, f32
from xdsl.ir import Operation, SSAValue
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from weft.dialects.relay.core import ConstantOp, FuncOp, ReturnOp
from weft.dialects.relay.ops.broadcast import AddOp, BinaryFunction, MultiplyOp, SubtractOp
from weft.dialects.relay.ops.nn.activation import ReluOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.transforms.infra.context import PassContext
from weft.transforms.infra.visitors import (
    DataflowVisitor,
    OpFunctor,
    OpMutator,
    OpVisitor,
    bind,
    dataflow_post_order,
    post_order_rewrite,
    post_order_visit,
    visits,
)

TYPE = TensorType(f32, [4])
TEXT = """
relay.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %unused = relay.nn.relu %x : tensor<4xf32>
  %b = relay.nn.relu %a : tensor<4xf32>
  %c = relay.multiply %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %c : tensor<4xf32>
}
"""


def parse(text: str = TEXT) -> FuncOp:
    module = Parser(PassContext.current().ir_context, text).parse_module()
    function = next(iter(module.ops))
    assert isinstance(function, FuncOp)
    return function


def names(function: FuncOp) -> list[str]:
    return [op.name.removeprefix("relay.") for op in function.body.block.ops]


class IsUsed(OpVisitor):
    """Asks whether a value is used: the classic first visitor."""

    def __init__(self, value: SSAValue):
        self.value = value
        self.used = False

    @visits(Operation)
    def any_op(self, op: Operation) -> None:
        self.used |= self.value in op.operands


class Kind(OpFunctor[str]):
    @visits(BinaryFunction)
    def binary(self, op: BinaryFunction, *arguments: object) -> str:
        return "binary"

    @visits(AddOp, SubtractOp)
    def sum(self, op: AddOp | SubtractOp, *arguments: object) -> str:
        return f"sum{''.join(map(str, arguments))}"


def test_a_functor_calls_the_method_of_the_most_derived_class():
    add, _, relu, multiply, _ = parse().body.block.ops
    assert [Kind()(add), Kind()(add, 1, 2), Kind()(multiply)] == ["sum", "sum12", "binary"]
    with pytest.raises(Diagnostic, match=r"'relay\.nn\.relu': Kind does not know this operation"):
        Kind()(relu)


def test_methods_are_inherited_and_overridden():
    class Special(Kind):
        def sum(self, op: AddOp | SubtractOp, *arguments: object) -> str:
            return "overridden"

        @visits(ReluOp)
        def relu(self, op: ReluOp) -> str:
            return "relu"

    add, _, relu, multiply, _ = parse().body.block.ops
    assert [Special()(op) for op in (add, relu, multiply)] == ["overridden", "relu", "binary"]


def test_a_visitor_finds_out_whether_a_parameter_is_used():
    function = parse()
    x, y = function.body.block.args
    for value, used in ((x, True), (y, False)):
        visitor = IsUsed(value)
        visitor.visit(function)
        assert visitor.used is used is (value.first_use is not None)


def test_post_order_visits_operands_before_users_and_nested_before_outer():
    seen: list[str] = []
    post_order_visit(parse(), lambda op: seen.append(op.name.removeprefix("relay.")))
    assert seen == ["add", "nn.relu", "nn.relu", "multiply", "return", "func"]


def test_data_flow_visits_what_a_value_needs_and_nothing_else():
    function = parse()
    result = function.return_op.arguments[0]
    assert [op.name for op in dataflow_post_order([result])] == ["relay.add", "relay.nn.relu", "relay.multiply"]
    assert list(dataflow_post_order([function.body.block.args[0]])) == []


class Trail(DataflowVisitor):
    def __init__(self, visit_limit: int = 1):
        super().__init__(visit_limit)
        self.trail: list[str] = []

    @visits(Operation)
    def any_op(self, op: Operation) -> None:
        self.trail.append(op.name.removeprefix("relay."))


@pytest.mark.parametrize(
    "limit, trail", [(1, ["add", "nn.relu", "multiply"]), (2, ["add", "nn.relu", "add", "multiply"])]
)
def test_shared_operations_are_visited_up_to_the_limit_and_counted_beyond(limit: int, trail: list[str]):
    function = parse()
    visitor = Trail(limit)
    visitor.visit_values(function.return_op.arguments[0])
    assert visitor.trail == trail
    assert {op.name: n for op, n in visitor.visit_counter.items()} == {
        "relay.add": 2,
        "relay.nn.relu": 1,
        "relay.multiply": 1,
    }


@pytest.mark.parametrize("limit", [0, 10])
def test_the_visit_limit_lies_between_one_and_nine(limit: int):
    with pytest.raises(ValueError, match="between 1 and 9"):
        DataflowVisitor(limit)


def test_values_captured_by_regions_are_data_flow_too():
    module = Parser(
        PassContext.current().ir_context,
        """%x = "test.op"() : () -> i32
        %y = "test.op"() ({
        ^bb0(%a: i32):
          %i = "test.op"(%x, %a) : (i32, i32) -> i32
          "test.op"(%i) : (i32) -> ()
        }) : () -> i32""",
    ).parse_module()
    x, y = module.ops
    assert list(dataflow_post_order(y.results)) == [x, y]


class ReluToDouble(OpMutator):
    """relu(x) -> x + x."""

    @visits(ReluOp)
    def relu(self, op: ReluOp) -> Sequence[SSAValue]:
        return self.rewriter.insert(AddOp(op.data, op.data)).results


def test_a_mutator_replaces_what_it_knows_and_leaves_the_rest():
    function = parse()
    multiply = next(op for op in function.body.block.ops if isinstance(op, MultiplyOp))
    assert ReluToDouble().mutate(function)
    assert names(function) == ["add", "add", "add", "multiply", "return"]
    assert multiply.parent is function.body.block
    function.verify()
    assert not ReluToDouble().mutate(function)


def test_a_mutator_sees_rewritten_operands_and_shares_them():
    function = parse()

    class Look(OpMutator):
        @visits(ReluOp)
        def relu(self, op: ReluOp) -> Sequence[SSAValue]:
            return [op.data]

        @visits(MultiplyOp)
        def multiply(self, op: MultiplyOp) -> None:
            seen.extend(op.operands)

    seen: list[SSAValue] = []
    Look().mutate(function)
    assert seen[0] is seen[1] and isinstance(seen[0].owner, AddOp)


def test_post_order_rewrite_applies_patterns_once_and_not_to_new_operations():
    class ReluOfRelu(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
            rewriter.replace(op, [inner := ReluOp(op.data), ReluOp(inner)])

    function = parse()
    assert post_order_rewrite(function, ReluOfRelu())
    assert names(function).count("nn.relu") == 4


def constant(value: float = 1.0) -> ConstantOp:
    import numpy as np

    return ConstantOp.from_numpy(np.full(4, value, np.float32))


def test_parameters_are_bound_by_name_or_number_and_dropped():
    for parameter in ("x", 0):
        function = parse()
        bind(function, {parameter: constant()})
        assert [a.name_hint for a in function.body.block.args] == ["y"]
        assert function.function_type == FunctionType.from_lists([TYPE], [TYPE])
        assert names(function)[:2] == ["constant", "add"]
        function.verify()


def test_all_parameters_can_be_bound_at_once():
    function = parse()
    bind(function, {"y": constant(), 0: constant()})
    assert not function.body.block.args and names(function).count("constant") == 2
    function.verify()


def test_mistakes_in_binding_are_reported():
    with pytest.raises(Diagnostic, match="@f has no parameter 'z'") as caught:
        bind(parse(), {"z": constant()})
    assert caught.value.hint == "it has 0 (x), 1 (y)"
    with pytest.raises(Diagnostic, match="@f has no parameter 2"):
        bind(parse(), {2: constant()})
    with pytest.raises(Diagnostic, match="is bound twice"):
        bind(parse(), {"x": constant(), 0: constant()})
    import numpy as np

    with pytest.raises(Diagnostic, match="has type tensor<4xf64>, but the parameter 'x' has tensor<4xf32>"):
        bind(parse(), {"x": ConstantOp.from_numpy(np.zeros(4))})
    function = parse()
    with pytest.raises(Diagnostic, match="it must stand alone"):
        bind(function, {"x": next(iter(function.body.block.ops))})


def chain(length: int) -> FuncOp:
    function = FuncOp("f", FunctionType.from_lists([TYPE], [TYPE]))
    value: SSAValue = function.body.block.args[0]
    for _ in range(length):
        op = ReluOp.create(operands=[value], result_types=[TYPE])
        function.body.block.add_op(op)
        value = op.results[0]
    function.body.block.add_op(ReturnOp(value))
    return function


def test_a_chain_of_twenty_thousand_operations_is_visited_and_mutated():
    function = chain(20_000)
    visitor = Trail()
    visitor.visit_values(function.return_op.arguments[0])
    assert len(visitor.trail) == 20_000

    class Drop(OpMutator):
        @visits(ReluOp)
        def relu(self, op: ReluOp) -> Sequence[SSAValue]:
            return [op.data]

    Drop().mutate(function)
    assert names(function) == ["return"]
