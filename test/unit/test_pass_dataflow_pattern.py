"""The data-flow pattern language: matching, dominators, rewriting, partitioning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f32
from xdsl.ir import OpResult, SSAValue
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter

from weft.dialects.relay.base import Fusion
from weft.dialects.relay.core import ConstantOp, FuncOp, PrimitiveOp, ReturnOp
from weft.dialects.relay.ops.broadcast import AddOp, MultiplyOp, SubtractOp
from weft.dialects.relay.ops.nn.activation import ReluOp
from weft.transforms.infra import remarks
from weft.transforms.infra.context import PassContext
from weft.transforms.relay.dataflow.match import Match
from weft.transforms.relay.dataflow.pattern import (
    DFPattern,
    dominates,
    has_attr,
    has_dtype,
    has_shape,
    has_type,
    is_constant,
    is_expr,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from weft.transforms.relay.dataflow.rewrite import DFPatternCallback, partition, rewrite

T = "tensor<4xf32>"


def func(body: str, arguments: str = f"%x: {T}, %y: {T}", result: str = T) -> FuncOp:
    """A function from statements `%z = add %x, %y`, all on tensors of four floats; it returns the last one."""
    lines: list[str] = []
    last = ""
    for line in filter(None, (line.strip() for line in body.splitlines())):
        name, _, rest = line.partition(" = ")
        op, _, operands = rest.partition(" ")
        if "tensor" not in rest:
            values = [v for v in operands.partition("{")[0].split(",") if v.strip()]
            type = T if len(values) == 1 else f"({', '.join([T] * len(values))}) -> {T}"
            rest = f"relay.{op} {operands} : {type}"
        lines.append(f"{name} = {rest}")
        last = name
    lines.append(f"relay.return {last} : {result}")
    text = f"relay.func @f({arguments}) -> {result} {{\n" + "\n".join(lines) + "\n}"
    module = Parser(PassContext.current().ir_context, text).parse_module()
    module.verify()
    function = next(iter(module.ops))
    assert isinstance(function, FuncOp)
    return function


def returned(function: FuncOp) -> SSAValue:
    return function.return_op.arguments[0]


def value_of(body: str, arguments: str = f"%x: {T}, %y: {T}") -> SSAValue:
    return returned(func(body, arguments))


def operands_of(value: SSAValue) -> Sequence[SSAValue]:
    assert isinstance(value, OpResult)
    return value.op.operands


def ops(function: FuncOp) -> list[str]:
    return [op.name.removeprefix("relay.") for op in function.body.block.ops]


CONSTANT = f"%c = relay.constant dense<2.0> : {T}"


def test_a_wildcard_matches_anything():
    value = value_of("%a = add %x, %y")
    pattern = wildcard()
    match = pattern.match(value)
    assert match is not None and match[pattern] is value and list(match) == [pattern]


def test_a_parameter_is_matched_by_name_or_without():
    value = value_of("%a = add %x, %y")
    x = operands_of(value)[0]
    assert is_var("x").matches(x) and is_var().matches(x)
    assert not is_var("y").matches(x) and not is_var().matches(value)


def test_constants_are_matched():
    value = value_of(f"{CONSTANT}\n%a = add %x, %c")
    assert is_op("add")(is_var(), is_constant()).matches(value)
    assert not is_constant().matches(value)


def test_one_value_is_matched_and_equal_constants_are_one():
    value = value_of(f"{CONSTANT}\n%a = add %x, %c")
    x, c = operands_of(value)
    other = ConstantOp.from_numpy(np.full(4, 2, np.float32)).result
    assert is_expr(c).matches(other) and not is_expr(c).matches(x) and is_expr(x).matches(x)
    different = ConstantOp.from_numpy(np.full(4, 3, np.float32)).result
    assert not is_expr(c).matches(different)


def test_operations_match_by_name_with_and_without_operands():
    value = value_of("%a = nn.relu %x")
    assert is_op("nn.relu").matches(value) and is_op("relay.nn.relu")(wildcard()).matches(value)
    assert not is_op("add").matches(value) and not is_op("nn.relu")(wildcard(), wildcard()).matches(value)


def test_alternatives_of_operations_match():
    either = is_op("add") | is_op("subtract")
    pattern = either(wildcard(), wildcard())
    assert pattern.matches(value_of("%a = add %x, %y")) and pattern.matches(value_of("%a = subtract %x, %y"))
    assert not pattern.matches(value_of("%a = multiply %x, %y"))


def test_add_and_multiply_match_with_their_operands_exchanged():
    for op, commutes in (("add", True), ("multiply", True), ("subtract", False), ("divide", False)):
        pattern = is_op(op)(is_op("nn.relu")(wildcard()), is_var("y"))
        assert pattern.matches(value_of(f"%r = nn.relu %x\n%a = {op} %r, %y"))
        assert pattern.matches(value_of(f"%r = nn.relu %x\n%a = {op} %y, %r")) is commutes


def test_a_pattern_that_stands_twice_means_one_value():
    x = wildcard()
    assert (x + x).matches(value_of("%a = add %x, %x"))
    assert not (x + x).matches(value_of("%a = add %x, %y"))
    assert (wildcard() + wildcard()).matches(value_of("%a = add %x, %y"))


def test_one_operator_pattern_may_stand_for_several_operations():
    relu = is_op("nn.relu")
    assert relu(relu(wildcard())).matches(value_of("%a = nn.relu %x\n%b = nn.relu %a"))


def test_arithmetic_makes_patterns():
    x, y = is_var("x"), is_var("y")
    for symbol, op in (("+", "add"), ("-", "subtract"), ("*", "multiply"), ("/", "divide")):
        pattern: DFPattern = eval(f"x {symbol} y", {"x": x, "y": y})
        assert pattern.matches(value_of(f"%a = {op} %x, %y"))


def test_alternatives_are_tried_until_the_whole_pattern_matches():
    """The left alternative matches the relu, but then `x` would be two values."""
    x = wildcard()
    pattern = is_op("subtract")(is_op("nn.relu")(x) | x, is_op("abs")(x))
    assert pattern.matches(value_of("%r = nn.relu %x\n%b = abs %x\n%a = subtract %r, %b"))
    assert pattern.matches(value_of("%r = nn.relu %x\n%b = abs %r\n%a = subtract %r, %b"))
    assert not pattern.matches(value_of("%r = nn.relu %x\n%b = abs %y\n%a = subtract %r, %b"))


def test_what_an_abandoned_alternative_matched_is_forgotten():
    inner, x = is_op("nn.relu")(wildcard()), wildcard()
    pattern = is_op("subtract")(inner | x, is_op("abs")(x))
    match = pattern.match(value_of("%r = nn.relu %x\n%b = abs %r\n%a = subtract %r, %b"))
    assert match is not None and x in match


def test_an_optional_part_may_be_there_or_not():
    add = wildcard() + wildcard()
    pattern = add.optional(lambda v: is_op("nn.relu")(v))
    match = pattern.match(value_of("%a = add %x, %y\n%b = nn.relu %a"))
    assert match is not None and match[add] is not match[pattern]
    assert pattern.matches(value_of("%a = add %x, %y"))
    assert not pattern.matches(value_of("%a = add %x, %y\n%b = abs %a"))


def test_attributes_are_matched():
    leaky = value_of("%a = nn.leaky_relu %x {alpha = 0.25 : f64}")
    assert is_op("nn.leaky_relu").has_attr({"alpha": 0.25}).matches(leaky)
    assert not is_op("nn.leaky_relu").has_attr({"alpha": 0.5}).matches(leaky)
    assert not has_attr({"alpha": 0.25}).matches(value_of("%a = nn.relu %x"))
    assert is_op("nn.leaky_relu").has_attr({"absent": None}).matches(leaky)
    assert is_op("nn.leaky_relu").has_attr({"alpha": 0.25})(wildcard()).matches(leaky)


def test_the_fusion_pattern_is_matched_like_an_attribute():
    elementwise = wildcard().has_attr({"TOpPattern": Fusion.ELEMWISE})
    assert elementwise(wildcard()).matches(value_of("%a = nn.relu %x"))
    assert not elementwise.matches(value_of("%a = add %x, %y"))


def test_types_shapes_and_element_types_are_matched():
    value = value_of("%a = nn.relu %x")
    assert has_type(TensorType(f32, [4])).matches(value) and not has_type(TensorType(f32, [5])).matches(value)
    assert has_shape([4]).matches(value) and not has_shape([4, 1]).matches(value)
    assert has_dtype("float32").matches(value) and not has_dtype("int32").matches(value)
    relu = is_op("nn.relu")
    assert relu.has_type(TensorType(f32, [4])).has_shape([4]).has_dtype("float32").matches(value)
    assert not relu.has_shape([5]).matches(value)


TUPLE = f"tuple<{T}, {T}>"


def test_tuples_and_their_fields_are_matched():
    value = value_of(f"""
        %a = add %x, %y
        %t = relay.tuple(%a, %x) : ({T}, {T}) -> {TUPLE}
        %b = relay.tuple_get %t[1] : {TUPLE} -> {T}""")
    tuple_value = operands_of(value)[0]
    assert is_tuple().matches(tuple_value) and is_tuple([is_op("add"), is_var()]).matches(tuple_value)
    assert not is_tuple([is_var(), is_var()]).matches(tuple_value) and not is_tuple([wildcard()]).matches(tuple_value)
    assert is_tuple_get_item(is_tuple()).matches(value) and is_tuple_get_item(wildcard(), 1).matches(value)
    assert not is_tuple_get_item(wildcard(), 0).matches(value) and not is_tuple().matches(value)


# -- dominators -------------------------------------------------------------------------------------------------------

ELEMENTWISE = wildcard().has_attr({"TOpPattern": Fusion.ELEMWISE})(wildcard())


def diamond() -> DFPattern:
    """From a product to a sum, through elementwise operations of one operand."""
    return dominates(is_op("multiply")(wildcard(), wildcard()), ELEMENTWISE, wildcard() + wildcard())


@pytest.mark.parametrize(
    "body",
    [
        "%m = multiply %x, %y\n%a = nn.relu %m\n%b = abs %m\n%s = add %a, %b",
        "%m = multiply %x, %y\n%a = nn.relu %m\n%b = nn.relu %a\n%c = abs %m\n%s = add %b, %c",
        "%m = multiply %x, %y\n%a = nn.relu %m\n%s = add %a, %a",
        "%m = multiply %x, %y\n%a = nn.relu %m\n%b = nn.relu %a\n%c = abs %a\n%s = add %b, %c",
        "%m = multiply %x, %y\n%a = nn.relu %m\n%s = add %m, %a",
        "%m = multiply %x, %y\n%s = add %m, %m",
    ],
)
def test_diamonds_of_any_shape_match_a_dominator(body: str):
    assert diamond().matches(value_of(body))


@pytest.mark.parametrize(
    "body",
    [
        "%m = multiply %x, %y\n%a = nn.relu %m\n%s = add %a, %y",  # a way around
        "%m = multiply %x, %y\n%n = multiply %x, %y\n%s = add %m, %n",  # two parents
        "%m = multiply %x, %y\n%a = subtract %m, %m\n%s = add %a, %m",  # what does not match the path
        "%a = nn.relu %x\n%s = add %a, %a",  # no parent
        "%m = multiply %x, %y\n%a = nn.relu %m\n%b = abs %a\n%s = add %m, %m\n%u = add %s, %b",  # child too early
    ],
)
def test_what_is_no_diamond_does_not_match(body: str):
    assert not diamond().matches(value_of(body))


def test_a_use_that_leaves_the_diamond_spoils_it():
    function = func("%m = multiply %x, %y\n%a = nn.relu %m\n%s = add %a, %a\n%o = abs %a\n%u = subtract %s, %o")
    total = next(op for op in function.body.block.ops if isinstance(op, AddOp)).results[0]
    assert not diamond().matches(total)


def test_the_path_of_a_dominator_may_hold_what_has_nothing_to_do_with_the_parent():
    pattern = (wildcard() + wildcard()).dominates(is_op("multiply")(wildcard(), wildcard()))
    assert pattern.matches(value_of(f"{CONSTANT}\n%m = multiply %x, %y\n%a = subtract %m, %c\n%s = add %a, %x"))


def test_operations_on_the_path_are_known_afterwards():
    match = diamond().match(value_of("%m = multiply %x, %y\n%a = nn.relu %m\n%b = abs %m\n%s = add %a, %b"))
    assert match is not None and sorted(op.name for op in match.path) == ["relay.abs", "relay.nn.relu"]


# -- rewriting --------------------------------------------------------------------------------------------------------


class AddToSubtract(DFPatternCallback):
    """a + b -> a - b."""

    def __init__(self, rewrite_once: bool = False):
        super().__init__(rewrite_once)
        self.a, self.b = wildcard(), wildcard()
        self.pattern = self.a + self.b

    def callback(self, value: SSAValue, match: Match, rewriter: PatternRewriter) -> SSAValue | None:
        return rewriter.insert(SubtractOp(match[self.a], match[self.b])).results[0]


class ReluTwice(DFPatternCallback):
    """relu(x) -> relu(relu(x)): for ever, if it is let."""

    def __init__(self) -> None:
        super().__init__(rewrite_once=True)
        self.x = wildcard()
        self.pattern = is_op("nn.relu")(self.x)

    def callback(self, value: SSAValue, match: Match, rewriter: PatternRewriter) -> SSAValue | None:
        inner = rewriter.insert(ReluOp(match[self.x]))
        return rewriter.insert(ReluOp(inner)).results[0]


class DoubleRelu(DFPatternCallback):
    """relu(relu(x)) -> relu(x)."""

    def __init__(self) -> None:
        super().__init__()
        self.x = wildcard()
        self.inner = is_op("nn.relu")(self.x)
        self.pattern = is_op("nn.relu")(self.inner)

    def callback(self, value: SSAValue, match: Match, rewriter: PatternRewriter) -> SSAValue | None:
        return match[self.inner]


def test_matches_are_rewritten_until_there_are_none():
    function = func("%a = add %x, %y\n%b = add %a, %x\n%c = nn.relu %b")
    assert rewrite(AddToSubtract(), function)
    assert ops(function) == ["subtract", "subtract", "nn.relu", "return"]
    assert not rewrite([AddToSubtract()], function)
    function.verify()


def test_a_callback_can_be_kept_from_its_own_results():
    function = func("%a = nn.relu %x")
    assert rewrite([ReluTwice()], function)
    assert ops(function) == ["nn.relu", "nn.relu", "return"]


def test_several_callbacks_work_together():
    function = func("%a = add %x, %y\n%b = nn.relu %a\n%c = nn.relu %b\n%d = nn.relu %c")
    rewrite([AddToSubtract(), DoubleRelu()], function)
    assert ops(function) == ["subtract", "nn.relu", "return"]


def test_a_callback_may_decline():
    class Decline(AddToSubtract):
        def callback(self, value: SSAValue, match: Match, rewriter: PatternRewriter) -> SSAValue | None:
            return None

    function = func("%a = add %x, %y")
    assert not rewrite(Decline(), function) and ops(function) == ["add", "return"]


def test_a_match_with_an_inner_value_used_outside_is_left_and_remarked_on():
    function = func("%a = nn.relu %x\n%b = nn.relu %a\n%c = add %a, %b")
    with remarks.collect() as said:
        assert not rewrite(DoubleRelu(), function)
    assert {r.pass_name for r in said} == {"DoubleRelu"} and "has a use outside" in said[0].message


def test_rewriting_keeps_locations_and_names():
    function = func("%a = add %x, %y")
    for op in function.body.block.ops:
        op.location = ModuleOp([]).location
    rewrite(AddToSubtract(), function)
    assert returned(function).name_hint == "a"


# -- partitioning -----------------------------------------------------------------------------------------------------


def partitions(function: FuncOp) -> list[PrimitiveOp]:
    return [op for op in function.body.block.ops if isinstance(op, PrimitiveOp)]


def test_matches_are_put_into_regions():
    function = func("%a = add %x, %y\n%b = nn.relu %a\n%c = abs %b")
    pattern = is_op("nn.relu")(wildcard() + wildcard())
    assert partition(pattern, function, {"Composite": "weft.add_relu"})
    function.verify()
    assert ops(function) == ["primitive", "abs", "return"]
    (region,) = partitions(function)
    assert [op.name for op in region.body.block.ops] == ["relay.add", "relay.nn.relu", "relay.yield"]
    assert {k: str(v) for k, v in region.attributes.items()} == {
        "PartitionedFromPattern": '"add_nn.relu_"',
        "Composite": '"weft.add_relu"',
    }
    assert [a.name_hint for a in region.body.block.args] == ["x", "y"]


def test_constants_in_a_pattern_are_copied_into_the_region():
    function = func(f"{CONSTANT}\n%a = add %x, %c\n%b = nn.relu %a")
    assert partition(is_op("nn.relu")(wildcard() + is_constant()), function)
    (region,) = partitions(function)
    assert ops(function) == ["primitive", "return"] and len(region.arguments) == 1
    function.verify()


def test_constants_that_match_wildcards_become_operands():
    function = func(f"{CONSTANT}\n%a = add %x, %c\n%b = nn.relu %a")
    assert partition(is_op("nn.relu")(wildcard() + wildcard()), function)
    assert ops(function) == ["constant", "primitive", "return"]


def test_every_match_is_partitioned_once_and_overlaps_go_to_the_later():
    function = func("%a = nn.relu %x\n%b = nn.relu %a\n%c = nn.relu %b\n%d = nn.relu %c\n%e = nn.relu %d")
    partition(is_op("nn.relu")(is_op("nn.relu")(wildcard())), function)
    assert ops(function) == ["nn.relu", "primitive", "primitive", "return"]
    function.verify()


def test_a_match_with_an_inner_value_used_outside_is_not_partitioned():
    function = func("%a = add %x, %y\n%b = nn.relu %a\n%c = subtract %a, %b")
    with remarks.collect() as said:
        assert not partition(is_op("nn.relu")(wildcard() + wildcard()), function)
    assert len(said) == 1 and said[0].op_name == "relay.add"


def test_a_check_may_refuse_a_match():
    function = func("%a = add %x, %y\n%b = nn.relu %a")
    x = wildcard()
    pattern = is_op("nn.relu")(x + wildcard())
    assert not partition(pattern, function, check=lambda match: match[x].name_hint != "x")
    assert partition(pattern, function, check=lambda match: match[x].name_hint == "x")


def test_a_diamond_is_partitioned_with_its_path():
    function = func("%m = multiply %x, %y\n%a = nn.relu %m\n%b = abs %m\n%s = add %a, %b\n%o = nn.relu %s")
    assert partition(diamond(), function)
    assert ops(function) == ["primitive", "nn.relu", "return"]
    assert len(list(partitions(function)[0].body.block.ops)) == 5
    function.verify()


def test_patterns_and_graphs_of_ten_thousand_operations_do_not_overflow():
    type = TensorType(f32, [4])
    function = FuncOp("f", FunctionType.from_lists([type], [type]))
    value: SSAValue = function.body.block.args[0]
    pattern: DFPattern = is_var()
    for _ in range(10_000):
        relu = ReluOp.create(operands=[value], result_types=[type])
        function.body.block.add_op(relu)
        value = relu.results[0]
        pattern = is_op("nn.relu")(pattern)
    product = MultiplyOp(value, value)
    function.body.block.add_ops([product, ReturnOp(product.results[0])])
    assert pattern.matches(value)
    path = is_op("nn.relu")(wildcard())
    assert dominates(is_var(), path, is_op("multiply")(wildcard(), wildcard())).matches(product.results[0])


def test_a_pattern_knows_which_operations_can_match():
    add = wildcard() + wildcard()
    assert add.root_ops == {"add", "relay.add"}
    assert add.optional(lambda v: is_op("nn.relu")(v)).root_ops == {"add", "relay.add", "nn.relu", "relay.nn.relu"}
    assert (add | wildcard()).root_ops is None and wildcard().has_shape([1]).root_ops is None
    assert diamond().root_ops == {"add", "relay.add"} and is_op("add").has_dtype("float32").root_ops == add.root_ops
