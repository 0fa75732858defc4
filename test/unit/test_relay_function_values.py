"""Relay's language in Python: variables without a type, functions as values, references, modules, walks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import relay, te
from weft.dialects.relay.types import IncompleteType
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.relay.calibration import get_calibration_data
from weft.frontend.relay.dataflow_pattern import FunctionPattern, is_if, is_op, is_var, match, wildcard
from weft.transforms.relay.infer_type import InferTypePass


def evaluate(expr: Any, kind: str = "debug", module: ModuleOp | None = None) -> Any:
    return relay.create_executor(kind, module).evaluate(expr)


def vector(name: str) -> relay.Var:
    return relay.var(name, shape=(3,))


ONE = np.array([1, 2, 3], np.float32)


def test_a_variable_without_a_type_gets_that_of_its_value() -> None:
    x, y = vector("x"), relay.var("y")
    body = relay.nn.relu(y + relay.const(1.0))
    assert body.checked_type == IncompleteType()
    whole = relay.Let(y, x * x, body)
    assert whole.checked_type == x.checked_type
    np.testing.assert_array_equal(evaluate(relay.Function([x], whole))(ONE), ONE * ONE + 1)


def test_a_variable_without_a_type_is_bound_to_a_value() -> None:
    x, y = vector("x"), relay.var("y")
    bound = relay.bind(y * y + y, {y: x})
    assert bound.checked_type == x.checked_type


def test_what_does_not_fit_is_refused_when_the_type_is_known() -> None:
    x, y = vector("x"), relay.var("y")
    body = y + relay.const(np.ones(4, np.float32))
    with pytest.raises(Diagnostic, match="do not broadcast"):
        relay.Let(y, x, body)


def test_a_variable_that_nothing_binds_cannot_be_compiled() -> None:
    x = relay.var("x")
    with pytest.raises(Diagnostic, match=r"!relay\.incomplete"):
        weft.compile(relay.IRModule.from_expr(relay.Function([x], relay.exp(x))))


def test_a_pattern_matches_what_has_no_type() -> None:
    x, y = relay.var("x"), relay.var("y")
    assert match(is_op("nn.relu")(is_op("add")(wildcard(), is_var("x"))), relay.nn.relu(x + y))
    assert match(wildcard()(None), x + y) and not match(wildcard()(None), x)
    with pytest.raises(UsageError, match="stands alone"):
        wildcard()(None, wildcard())


def test_a_tuple_without_a_type_has_fields() -> None:
    x, pair = vector("x"), relay.var("pair")
    whole = relay.Let(pair, relay.Tuple([x, x + x]), relay.TupleGetItem(pair, 1))
    np.testing.assert_array_equal(evaluate(relay.Function([x], whole))(ONE), 2 * ONE)


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_a_function_value_sees_the_variables_around_it(kind: str) -> None:
    x, y = vector("x"), vector("y")
    weigh = relay.Function([x], x * y)
    twice = relay.Call(weigh, [relay.Call(weigh, [y])])
    np.testing.assert_array_equal(evaluate(relay.Function([y], twice), kind)(ONE), ONE**3)


def test_a_function_is_given_to_a_function() -> None:
    x, y = vector("x"), vector("y")
    f = relay.var("f", relay.FuncType([x.checked_type], x.checked_type))
    apply_twice = relay.Function([f, x], f(f(x)))
    whole = relay.Call(apply_twice, [relay.Function([y], y + y), x])
    np.testing.assert_array_equal(evaluate(relay.Function([x], whole))(ONE), 4 * ONE)


def test_a_call_gives_the_parameters_of_a_function_their_types() -> None:
    x, y = vector("x"), relay.var("y")
    whole = relay.Call(relay.Function([y], relay.exp(y)), [x])
    assert whole.checked_type == x.checked_type


def test_calls_that_do_not_fit_are_refused() -> None:
    x, y = vector("x"), relay.var("y", shape=(4,))
    with pytest.raises(UsageError, match="do not match the function"):
        relay.Call(relay.Function([x], x), [y])
    with pytest.raises(UsageError, match="is no function"):
        x(y)
    with pytest.raises(UsageError, match="attributes are those of operators"):
        relay.Call(relay.Function([x], x), [x], {"axis": 1})


def counted() -> tuple[relay.IRModule, relay.GlobalVar]:
    name, i = relay.GlobalVar("count"), relay.var("i", shape=(), dtype="int32")
    again = name(i - relay.const(1)) + i
    body = relay.If(relay.equal(i, relay.const(0)), i, again)
    return relay.IRModule({name: relay.Function([i], body), "main": relay.Function([i], name(i))}), name


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_a_function_calls_itself_by_its_name(kind: str) -> None:
    module, _ = counted()
    assert "relay.incomplete" not in str(module)
    assert evaluate(None, kind, module)(np.array(10, np.int32)) == 55


def test_functions_that_call_each_other_say_of_one_another_what_they_give() -> None:
    even, odd, i = relay.GlobalVar("even"), relay.GlobalVar("odd"), relay.var("i", shape=(), dtype="int32")
    done, less = relay.equal(i, relay.const(0)), i - relay.const(1)
    module = relay.IRModule(
        {
            even: relay.Function([i], relay.If(done, relay.const(True), odd(less))),
            odd: relay.Function([i], relay.If(done, relay.const(False), even(less))),
            "main": relay.Function([i], even(i)),
        }
    )
    assert [bool(evaluate(None, "debug", module)(np.array(n, np.int32))) for n in (0, 7, 8)] == [True, False, True]


def test_a_function_that_gives_itself_again_and_again_ends() -> None:
    f, x = relay.GlobalVar("f"), vector("x")
    module = relay.IRModule({f: relay.Function([x], relay.Tuple([f(x)]))})
    assert "relay.incomplete" in str(module)


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_references_are_written_and_read_in_the_order_of_lets(kind: str) -> None:
    x, cell, nothing, old = vector("x"), relay.var("cell"), relay.var("_"), relay.var("old")
    after = relay.Let(nothing, relay.RefWrite(cell, x + old), relay.RefRead(cell) * old)
    whole = relay.Let(cell, relay.RefCreate(x), relay.Let(old, relay.RefRead(cell), after))
    np.testing.assert_array_equal(evaluate(relay.Function([x], whole), kind)(ONE), 2 * ONE * ONE)


def test_a_reference_holds_values_of_one_type() -> None:
    x = vector("x")
    with pytest.raises(UsageError, match="does not go into"):
        relay.RefWrite(relay.RefCreate(x), relay.const(1.0))
    with pytest.raises(UsageError, match="is no reference"):
        relay.RefRead(x)


def test_a_module_is_looked_at_as_in_tvm() -> None:
    module, name = counted()
    assert {each.name_hint for each in module.functions} == {"count", "main"}
    assert module[name] is module["count"] and "count" in module and "none" not in module
    assert module.get_global_var("count") == name and len(module.get_global_vars()) == 2
    with pytest.raises(KeyError, match="did you mean 'count'"):
        module["coutn"]
    x = vector("x")
    module["main"] = relay.Function([x], relay.tanh(x))
    module.update({relay.GlobalVar("other"): relay.Function([x], x)})
    assert [op.sym_name.data for op in module.functions.values()] == ["count", "main", "other"]
    assert isinstance(InferTypePass()(module), relay.IRModule)
    assert relay.IRModule.of(module) is module
    assert relay.IRModule.of(ModuleOp([module["other"].clone()]))["other"].sym_name.data == "other"


def test_an_expression_says_what_it_is_made_of() -> None:
    x, w = relay.var("x", shape=(1, 3, 8, 8)), relay.var("w", shape=(4, 3, 3, 3))
    conv = relay.nn.conv2d(x, w, strides=(2, 2), padding=(1, 1))
    assert isinstance(conv, relay.Call) and not isinstance(conv, relay.Tuple) and isinstance(x, relay.Var)
    assert conv.op == relay.op.get("nn.conv2d") and conv.op != relay.op.get("nn.dense")
    assert conv.args == [x, w] and isinstance(conv.args[0], relay.Var)
    assert conv.attrs.strides == [2, 2] and conv.attrs["data_layout"] == "NCHW" and conv.attrs.channels is None
    assert relay.clip(x, 0, 1).attrs.a_max == 1.0
    with pytest.raises(AttributeError, match="there is no attribute 'stride'"):
        _ = conv.attrs.stride
    pair = relay.Tuple([x, w])
    assert pair.fields == [x, w] and isinstance(pair, relay.Tuple)
    assert relay.const(3).data == 3 and isinstance(relay.const(3), relay.Constant)
    assert isinstance(relay.Function([x], x), relay.Function)
    assert isinstance(relay.If(relay.const(True), x, x), relay.If)
    assert relay.Call(relay.op.get("nn.softmax"), [x], {"axis": 1}).attrs.axis == 1


def test_what_is_no_call_has_nothing_of_one() -> None:
    x = vector("x")
    for name in ("op", "args", "attrs", "fields", "data"):
        assert not hasattr(x, name)


@pytest.mark.parametrize(("count", "expected"), [(3, 6 * ONE), (0, 2 * ONE)])
def test_a_scope_builder_writes_branches_line_by_line(count: int, expected: Any) -> None:
    n, x = relay.var("n", shape=(), dtype="int32"), vector("x")
    builder = relay.ScopeBuilder()
    y = builder.let("y", x + x)
    with builder.if_scope(relay.less(n, relay.const(1))):
        builder.ret(y)
    with builder.else_scope():
        z = builder.let(relay.var("z"), y + x)
        builder.ret(z + z)
    found = evaluate(relay.Function([n, x], builder.get()))(np.array(count, np.int32), ONE)
    np.testing.assert_array_equal(found, expected)


def test_a_scope_builder_that_gives_nothing_is_refused() -> None:
    builder = relay.ScopeBuilder()
    with pytest.raises(UsageError, match="lacks a `ret`"):
        builder.get()
    with pytest.raises(UsageError, match="follows an if_scope"), builder.else_scope():
        pass
    builder.ret(relay.const(1))
    with pytest.raises(UsageError, match="already"):
        builder.ret(relay.const(2))


def test_a_visitor_sees_each_expression_once() -> None:
    class Names(relay.ExprVisitor):
        def __init__(self) -> None:
            super().__init__()
            self.found: list[str] = []

        def visit_call(self, call: relay.Expr) -> None:
            super().visit_call(call)
            self.found.append(getattr(call.op, "name", "a call"))

    x, y = vector("x"), vector("y")
    shared = relay.exp(x)
    names = Names()
    names.visit(
        relay.Function([x], relay.If(relay.const(True), shared + shared, relay.Call(relay.Function([y], y), [x])))
    )
    assert sorted(names.found) == ["a call", "add", "exp"]


def test_a_mutator_makes_anew_what_is_made_of_what_changed() -> None:
    class Doubled(relay.ExprMutator):
        def visit_constant(self, constant: relay.Expr) -> relay.Expr:
            return relay.const(np.concatenate([constant.data] * 2))

    x = relay.var("x", shape=(1,))
    kept, changed = relay.exp(x), relay.const(ONE) * x
    mutator = Doubled()
    whole = mutator.visit(changed + kept)
    assert whole.shape == (6,) and mutator.visit(kept) is mutator.memo_map[kept.value] == kept
    function = Doubled().visit(relay.Function([x], relay.Call(relay.Function([x], x * relay.const(ONE)), [x])))
    np.testing.assert_array_equal(evaluate(function)(np.array([2], np.float32)), 2 * np.concatenate([ONE, ONE]))


def test_a_mutator_changes_parameters_that_nothing_reads() -> None:
    class Renamed(relay.ExprMutator):
        def visit_var(self, var: relay.Var) -> relay.Expr:
            return relay.var("z", shape=(2,)) if var.name_hint == "y" else var

    x, y = relay.var("x", shape=(1,)), relay.var("y", shape=(1,))
    renamed = Renamed().visit(relay.Function([x, y], relay.exp(x)))
    assert [(each.name_hint, each.shape) for each in renamed.params] == [("x", (1,)), ("z", (2,))]


def test_a_walk_without_a_visit_says_so() -> None:
    with pytest.raises(UsageError, match="it has no `visit_var`"):
        relay.ExprFunctor().visit(vector("x"))


def test_patterns_match_branches_and_functions() -> None:
    x, y, c = vector("x"), vector("y"), relay.var("c", shape=(), dtype="bool")
    branch = relay.If(c, x + y, x)
    assert match(is_if(is_var("c"), is_op("add")(is_var(), wildcard()), is_var("x")), branch)
    assert not match(is_if(wildcard(), is_op("subtract")(wildcard(), wildcard()), wildcard()), branch)
    a, b = wildcard(), wildcard()
    function = relay.Function([x, y], x - y)
    assert match(FunctionPattern([a, b], is_op("subtract")(a, b)), function)
    assert not match(FunctionPattern([a, b], is_op("subtract")(b, a)), function)
    assert not match(FunctionPattern([a], wildcard()), function) and match(FunctionPattern(None, wildcard()), function)
    called = relay.Call(function, [relay.exp(x), y])
    pattern = FunctionPattern(None, wildcard())(is_op("exp")(wildcard()), is_var("y"))
    assert match(pattern, called) and not match(pattern, relay.Call(function, [x, y]))


def test_equal_graphs_have_equal_hashes() -> None:
    x, y = vector("x"), vector("y")

    def of(op: Any, a: relay.Var, b: relay.Var) -> int:
        return relay.structural_hash(relay.Function([a, b], op(a, b)))

    assert of(relay.add, x, y) == of(relay.add, y, x) != of(relay.subtract, x, y)
    assert relay.structural_hash(x + x) == relay.structural_hash(x + x) != relay.structural_hash(y + y)
    assert relay.structural_hash(x + x, True) == relay.structural_hash(y + y, True)
    assert relay.structural_hash(counted()[0]) == relay.structural_hash(counted()[0])


def partitioned() -> relay.IRModule:
    x, y = vector("x"), vector("y")
    both = relay.Function([x, y], relay.Tuple([x + y, x - y]), attrs={"Compiler": "other"})
    name, pair = relay.GlobalVar("both"), relay.var("pair")
    whole = relay.Let(pair, name(relay.exp(x), y), relay.TupleGetItem(pair, 0) * relay.TupleGetItem(pair, 1))
    return relay.IRModule({name: both, "main": relay.Function([x, y], whole)})


def test_calibration_data_are_what_a_function_is_given_and_gives() -> None:
    module = partitioned()
    data = get_calibration_data(module, {"x": ONE, "y": 2 * ONE})
    found = data[module.get_global_var("both")]
    given, results = ([each.tolist() for each in found[side]] for side in ("inputs", "outputs"))
    np.testing.assert_allclose(np.array(given), [np.exp(ONE), 2 * ONE], 1e-6)
    np.testing.assert_allclose(np.array(results), [np.exp(ONE) + 2 * ONE, np.exp(ONE) - 2 * ONE], 1e-6)
    with pytest.raises(UsageError, match="no array for the inputs y"):
        get_calibration_data(module, {"x": ONE})
    with pytest.raises(UsageError, match="has no input 'z'"):
        get_calibration_data(module, {"x": ONE, "y": ONE, "z": ONE})


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_a_local_function_calls_itself_by_the_name_that_a_let_gives_it(kind: str) -> None:
    """What it sees around it is given to it in each call; a loop of a million turns is no recursion."""
    loop, (i, step) = relay.var("loop"), (relay.var(name, shape=(), dtype="int32") for name in ("i", "step"))
    limit = relay.const(1000 if kind == "debug" else 1_000_000)
    function = relay.Function([i], relay.If(relay.less(i, limit), loop(i + step), i))
    whole = relay.Let(loop, function, relay.Tuple([loop(relay.const(0)), loop(step)]))
    module = relay.IRModule.from_expr(relay.Function([step], whole))
    assert str(module).count("relay.func") == 2 and "relay.fn" not in str(module)
    first, second = evaluate(None, kind, module)(np.array(7, np.int32))
    assert first == second == (1001 if kind == "debug" else 1_000_006)


@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_loops_of_one_name_stand_within_each_other(kind: str) -> None:
    """Sum of i * j for i, j < n."""
    i, j, total = (relay.var(name, shape=(), dtype="int32") for name in ("i", "j", "total"))
    n, one, zero = relay.var("n", shape=(), dtype="int32"), relay.const(1), relay.const(0)

    def is_below_n(i: relay.Expr, total: relay.Expr) -> relay.Expr:
        return relay.less(i, n)

    def row(i: relay.Expr, total: relay.Expr) -> tuple[relay.Expr, relay.Expr]:
        def element(j: relay.Expr, total: relay.Expr) -> tuple[relay.Expr, relay.Expr]:
            return j + one, total + i * j

        return i + one, relay.loops.while_loop(is_below_n, [j, total], element)(zero, total)[1]

    whole = relay.loops.while_loop(is_below_n, [i, total], row)(zero, zero)[1]
    assert evaluate(relay.Function([n], whole), kind)(np.array(5, np.int32)) == 100


def test_a_loop_gathers_rows_whose_number_is_not_known() -> None:
    i, start = (relay.var(name, shape=(), dtype="int32") for name in ("i", "start"))
    rows = relay.var("rows", shape=(relay.Any(), 1), dtype="int32")

    def goes_on(i: relay.Expr, rows: relay.Expr) -> relay.Expr:
        return relay.less(i, relay.const(4))

    def turn(i: relay.Expr, rows: relay.Expr) -> tuple[relay.Expr, relay.Expr]:
        return i + relay.const(1), relay.concatenate([rows, relay.reshape(i, (1, 1))], axis=0)

    gathered = relay.loops.while_loop(goes_on, [i, rows], turn)(start, relay.const(np.array([[9]], np.int32)))[1]
    found = weft.compile(relay.Function([start], gathered))(np.array(1, np.int32))
    np.testing.assert_array_equal(found, [[9], [1], [2], [3]])


def test_only_a_function_is_made_of_itself() -> None:
    x = vector("x")
    with pytest.raises(UsageError, match="is bound to a value that is made of it"):
        relay.Let(x, x + x, x * x)


def test_functions_are_looked_at_and_called_as_in_tvm() -> None:
    x, y = vector("x"), vector("y")
    function = relay.Function([x, y], relay.exp(x) + y)
    assert [each.name_hint for each in function.params] == ["x", "y"]
    assert function.tree.op == relay.op.get("add") and function.tree.args[1] == function.params[1]
    assert function.ret_type == x.checked_type and function.checked_type == function.function_type
    found = evaluate(relay.Function([x], function(x, x)), "vm")(ONE)
    np.testing.assert_allclose(found, np.exp(ONE) + ONE, rtol=1e-6)
    with pytest.raises(UsageError):
        function(x)


def test_extents_that_are_one_variable_are_one() -> None:
    """By whatever name: two variables of one name are two."""
    n, m, other = te.var("n"), te.size_var("m"), te.var("n")
    x, pair = (
        relay.var("x", relay.TensorType((n, 4))),
        relay.var("pair", relay.TupleType([vector("x").checked_type] * 2)),
    )
    y, z = relay.var("y", shape=(n, m, other)), relay.var("z")
    body = relay.Tuple([relay.exp(x), y, pair[0], relay.nn.bias_add(y, z, axis=0)])
    function = relay.Function([x, pair, y, z], body)
    assert 'dim_names = [["n", ""], [], [], ["n", "m", "n_1"], []]' in str(function)
    assert relay.TensorType((n, 4)) == relay.TensorType((relay.Any(), 4)) == x.checked_type
    run = weft.compile(relay.Function([x, pair, y], relay.Tuple([x, y, pair[1]])))
    rows, planes = np.ones((2, 4), np.float32), np.ones((2, 5, 7), np.float32)
    assert [each.shape for each in run(rows, ONE, ONE, planes)] == [(2, 4), (2, 5, 7), ONE.shape]
    with pytest.raises(Diagnostic, match=r"has shape \[3, 5, 7\], the graph takes \[2, 5, 7\] where n = 2"):
        run(rows, ONE, ONE, np.ones((3, 5, 7), np.float32))
