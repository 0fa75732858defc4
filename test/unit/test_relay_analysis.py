"""`weft.relay.analysis`: TVM's analyses, on graphs whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from weft import relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.data import DEFAULT, MatchOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.support.retyping import retype
from weft.relay import analysis
from weft.transforms.infra.registry import new_ir_context

LANGUAGE = """
relay.adt @list {
  cons(tensor<f32>, !relay.adt<@list>),
  nil()
}
relay.func @main(%c: tensor<i1>, %l: !relay.adt<@list>, %x: tensor<f32>) -> tensor<f32> {
  %0 = relay.if %c : (tensor<i1>) -> tensor<f32> {
    %1 = relay.call @twice(%x) : (tensor<f32>) -> tensor<f32>
    relay.yield %1 : tensor<f32>
  } else {
    relay.yield %x : tensor<f32>
  }
  %2 = relay.match %l : (!relay.adt<@list>) -> tensor<f32>
  case cons(%head: tensor<f32>, %tail: !relay.adt<@list>) {
    %3 = relay.call @main(%c, %tail, %0) : (tensor<i1>, !relay.adt<@list>, tensor<f32>) -> tensor<f32>
    relay.yield %3 : tensor<f32>
  } case nil() {
    relay.yield %0 : tensor<f32>
  }
  relay.return %2 : tensor<f32>
}
relay.func @twice(%x: tensor<f32>) -> tensor<f32> {
  %0 = relay.add %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  relay.return %0 : tensor<f32>
}
"""


def parse(text: str) -> ModuleOp:
    return Parser(new_ir_context(), text).parse_module()


@pytest.fixture(scope="module")
def net() -> ModuleOp:
    """Two convolutions in a row and their sum."""
    x, w, v = relay.var("x", shape=(1, 1, 5, 1)), relay.var("w", shape=(1, 1, 3, 3)), relay.var("v", shape=(1, 1, 3, 3))
    y = relay.nn.conv2d(x, w, padding=(1, 1))
    return relay.IRModule.from_expr(relay.Function([x, w, v], y + relay.nn.conv2d(y, v, padding=(1, 1))))


def test_multiplications_are_those_of_products() -> None:
    x, w = relay.var("x", shape=(1, 4, 8, 8)), relay.var("w", shape=(6, 2, 3, 3))
    assert analysis.get_total_mac_number(relay.nn.conv2d(x, w, groups=2, padding=(1, 1))) == 6 * 64 * 9 * 2
    a, b = relay.var("a", shape=(2, 3, 4)), relay.var("b", shape=(2, 5, 4))
    product = relay.nn.batch_matmul(a, b)
    assert analysis.get_total_mac_number(relay.exp(product)) == 2 * 3 * 4 * 5
    assert analysis.get_total_mac_number(product + product) == 2 * 3 * 4 * 5
    dense = relay.nn.dense(relay.var("x", shape=(10, 7)), relay.var("w", shape=(3, 7)))
    assert analysis.get_total_mac_number(dense) == 10 * 7 * 3
    unknown = relay.nn.dense(relay.var("x", shape=(relay.Any(), 7)), relay.var("w", shape=(3, 7)))
    with pytest.raises(Diagnostic, match="an extent that is not known"):
        analysis.get_total_mac_number(unknown)


def test_operators_and_layers_are_counted(net: ModuleOp) -> None:
    assert analysis.list_op_freqs(net) == {"nn.conv2d": 2, "add": 1}
    assert analysis.count_layers(net, ["nn.conv2d"]) == 2
    assert analysis.count_layers(net, ["add"]) == 1
    assert analysis.all_dtypes(net) == {"float32"}


def test_features_are_those_that_occur(net: ModuleOp) -> None:
    names = {feature.name for feature in analysis.detect_feature(net)}
    assert names == {"fVar", "fFunction", "fOp", "fCall", "fGraph"}
    names = {feature.name for feature in analysis.detect_feature(parse(LANGUAGE))}
    assert names == {"fVar", "fFunction", "fOp", "fCall", "fGraph", "fGlobalVar", "fIf", "fMatch", "fLetRec"}


def test_a_call_graph_tells_callers_and_circles() -> None:
    graph = analysis.CallGraph(parse(LANGUAGE))
    assert graph.callees("main") == {"twice": 1, "main": 1} and graph.callers("twice") == {"main": 1}
    assert graph.is_recursive("main") and not graph.is_recursive("twice")
    assert graph.callees_first() == ["twice", "main"] and graph.entries() == ["main"]
    assert graph.ref_count("main") == 1 and graph.global_call_count("main") == 2 and graph.is_leaf("twice")
    assert "calls @twice 1 times" in str(graph)


def test_cases_that_are_missing_are_named() -> None:
    module = parse(LANGUAGE)
    (match,) = (op for op in module.walk() if isinstance(op, MatchOp))
    assert analysis.unmatched_cases(match) == []
    region = match.detach_region(1)
    one = MatchOp(match.data, [match.res[0].type], {"nil": region})
    (left,) = analysis.unmatched_cases(one, module)
    assert getattr(left, "constructor").name_hint == "cons"  # noqa: B009
    anything = MatchOp(match.data, [match.res[0].type], {DEFAULT: one.detach_region(0)})
    assert analysis.unmatched_cases(anything, module) == []
    with pytest.raises(UsageError, match="no data type @list"):
        analysis.unmatched_cases(anything, ModuleOp([]))


def test_variables_are_free_or_bound() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    assert [v.name_hint for v in analysis.free_vars(relay.exp(x) + y)] == ["x", "y"]
    func = relay.Function([x, y], x + y)
    assert analysis.free_vars(func) == [] and [v.name_hint for v in analysis.bound_vars(func)] == ["x", "y"]
    assert [v.name_hint for v in analysis.all_vars(func)] == ["x", "y"]


def test_type_variables_are_bound_by_what_functions_leave_open() -> None:
    a, b, c = (relay.TypeVar(name) for name in "abc")
    type = relay.FuncType([a, relay.TupleType([b])], b)
    assert analysis.bound_type_vars(type) == analysis.all_type_vars(type) == [a, b]
    assert analysis.free_type_vars(type) == []
    assert analysis.bound_type_vars(relay.RefType(c)) == [] and analysis.free_type_vars(relay.RefType(c)) == [c]
    x, y = relay.Var("x", a), relay.Var("y", relay.TupleType([c]))
    func = relay.Function([x], relay.Tuple([x, x]))
    assert analysis.bound_type_vars(func) == analysis.all_type_vars(func) == [a] and not analysis.free_type_vars(func)
    pair = relay.Tuple([relay.Function([x], x), y])
    assert analysis.bound_type_vars(pair) == [a] and analysis.free_type_vars(pair) == [c]
    assert analysis.all_type_vars(pair) == [a, c]


def test_constants_and_order_of_visits() -> None:
    x, one = relay.var("x", shape=()), relay.const(1.0)
    assert analysis.check_constant(relay.Tuple([one, one])) and not analysis.check_constant(x + one)
    seen: list[object] = []
    analysis.post_order_visit(relay.exp(x) + one, seen.append)
    owners = [node.value.owner for node in seen if isinstance(node, relay.Expr)]
    names = [owner.name for owner in owners if isinstance(owner, Operation)]
    assert names == ["relay.exp", "relay.constant", "relay.add"] and isinstance(seen[0], relay.Var)
    func = relay.Function([x], x + one)
    analysis.post_order_visit(func, seen.append)
    assert seen[-1] is func
    assert analysis.well_formed(func) and analysis.check_basic_block_normal_form(func)
    func.return_op.detach()
    assert not analysis.well_formed(func)


def test_what_has_no_types_yet_is_well_formed_as_far_as_it_has() -> None:
    open_, known = relay.var("open"), relay.var("x", shape=(2,))
    for expr in (relay.TupleGetItem(open_, 1), relay.exp(open_), relay.If(open_, open_, open_)):
        assert analysis.well_formed(expr) and analysis.well_formed(relay.Function([open_], expr))
    wrong = relay.exp(known)
    pair = relay.Tuple([wrong, relay.exp(open_)])
    assert analysis.well_formed(pair)
    retype(wrong.value, relay.TensorType((3,)))
    assert not analysis.well_formed(wrong) and not analysis.well_formed(pair)


def test_an_operation_in_the_middle_is_taken_out(net: ModuleOp) -> None:
    part = analysis.extract_intermdeiate_expr(net, 0)
    (func,) = (op for op in part.ops if isinstance(op, FuncOp))
    assert analysis.list_op_freqs(part) == {"nn.conv2d": 1} and len(func.body.block.args) == 2
    part.verify()
    whole = analysis.extract_intermdeiate_expr(net, 2)
    assert str(whole) == str(net)
    with pytest.raises(UsageError, match="no operation 3: @main has 3"):
        analysis.extract_intermdeiate_expr(net, 3)


def test_kernels_of_fusion_are_functions_of_their_own() -> None:
    x = relay.var("x", shape=(4,))
    functions = analysis.extract_fused_functions(relay.IRModule.from_expr(relay.exp(relay.nn.relu(x))))
    (func,) = functions.values()
    (result,) = evaluate_function(func, [np.array([-1, 0, 1, 2], np.float32)])
    np.testing.assert_allclose(result.astype(np.float64), np.exp([0, 0, 1, 2]), rtol=1e-6)


def test_a_value_is_alive_until_its_last_reader() -> None:
    x = relay.var("x", shape=(256,))
    a = relay.exp(x)
    func = relay.Function([x], relay.log(a) + relay.tanh(a))
    live = analysis.Liveness(func.body.block)
    exp, log, tanh, add = list(func.body.block.ops)[:4]
    assert live.after(exp) == {exp.results[0]} and live.before(exp) == {func.body.block.args[0]}
    assert live.after(log) == {exp.results[0], log.results[0]}
    assert live.after(tanh) == {log.results[0], tanh.results[0]} and live.last_user(exp.results[0]) is tanh
    assert live.after(add) == {add.results[0]}
    assert live.peak_bytes() == 3 * 1024


def test_a_call_graph_is_asked_by_names_and_by_what_stands_for_them() -> None:
    x = relay.var("x", shape=(2,))
    g = relay.GlobalVar("g")
    module = relay.IRModule({g: relay.Function([x], x + x)})
    y = relay.var("y", shape=(2,))
    module["main"] = relay.Function([y], g(y) * g(y))
    graph = relay.analysis.CallGraph(module)
    assert graph.ref_count(g) == graph.ref_count("g") == graph.global_call_count("main") == 2
    assert graph.is_leaf(g) and not graph.is_recursive(g)
    assert "#refs = 2" in graph.print_var(g)
    assert "call site: <g>, calls 2 times" in graph.print_var("main")


def test_the_body_of_a_function_is_what_it_gives() -> None:
    x = relay.var("x", shape=(2,))
    func = relay.Function([x], relay.tanh(x) + x)
    assert relay.analysis.check_basic_block_normal_form(func.body)
    assert [each.name_hint for each in relay.analysis.free_vars(func.body)] == ["x"]
    assert not relay.analysis.check_constant(func.body)
    assert relay.analysis.list_op_freqs(func.body) == {"tanh": 1, "add": 1}
