"""Gradients through branches, calls and recursions, held to finite differences and to formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

from weft import relay
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.testing.gradients import check_gradient
from weft.transforms.relay.first_order_gradient import FirstOrderGradientPass

BRANCHES = {
    "both branches": """
        %y = relay.if %c : (tensor<i1>) -> tensor<3xf32> {
          %0 = relay.exp %x : tensor<3xf32>
          %1 = relay.multiply %0, %z : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
          relay.yield %1 : tensor<3xf32>
        } else {
          %2 = relay.tanh %x : tensor<3xf32>
          relay.yield %2 : tensor<3xf32>
        }""",
    "a branch within a branch, and what is computed before": """
        %a = relay.multiply %x, %z : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
        %y = relay.if %c : (tensor<i1>) -> tensor<3xf32> {
          %0 = relay.if %c : (tensor<i1>) -> tensor<3xf32> {
            %1 = relay.multiply %a, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
            relay.yield %1 : tensor<3xf32>
          } else {
            relay.yield %x : tensor<3xf32>
          }
          %2 = relay.multiply %0, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
          relay.yield %2 : tensor<3xf32>
        } else {
          relay.yield %a : tensor<3xf32>
        }""",
    "several results, one of them a tuple": """
        %p, %t = relay.if %c : (tensor<i1>) -> (tensor<3xf32>, tuple<tensor<3xf32>, tensor<3xf32>>) {
          %0 = relay.tuple(%x, %z) : (tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<3xf32>, tensor<3xf32>>
          relay.yield %x, %0 : tensor<3xf32>, tuple<tensor<3xf32>, tensor<3xf32>>
        } else {
          %1 = relay.exp %z : tensor<3xf32>
          %2 = relay.tuple(%1, %x) : (tensor<3xf32>, tensor<3xf32>) -> tuple<tensor<3xf32>, tensor<3xf32>>
          relay.yield %z, %2 : tensor<3xf32>, tuple<tensor<3xf32>, tensor<3xf32>>
        }
        %u = relay.tuple_get %t[0] : tuple<tensor<3xf32>, tensor<3xf32>> -> tensor<3xf32>
        %v = relay.tuple_get %t[1] : tuple<tensor<3xf32>, tensor<3xf32>> -> tensor<3xf32>
        %w = relay.multiply %u, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
        %y = relay.multiply %w, %p : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>""",
}


@pytest.mark.parametrize("way", [True, False])
@pytest.mark.parametrize("name", BRANCHES)
def test_the_gradient_goes_through_the_branch_that_is_taken(name: str, way: bool) -> None:
    check_gradient(BRANCHES[name], [None, None, np.array(way)], twice=True)  # %x, %z, %c


X = np.array([0.1, 0.5, -0.3])


def program(*names: str, **bodies: Any) -> ModuleOp:
    """The gradients of a program `main` that calls private functions."""
    module = relay.IRModule(bodies)
    for name in names:
        module[name].properties["sym_visibility"] = StringAttr("private")
    found = FirstOrderGradientPass()(module)
    found.verify()
    return found


def gradient_of(module: ModuleOp, *arrays: Any) -> list[np.ndarray[Any, Any]]:
    result: Any = relay.create_executor("debug", module).evaluate()
    return list(result(*arrays)[1])


def variables() -> tuple[relay.Var, relay.Var]:
    return relay.var("i", shape=(), dtype="int32"), relay.var("x", shape=(3,), dtype="float64")


def recursion() -> ModuleOp:
    """tanh(x) * x ** i."""
    i, x = variables()
    power = relay.GlobalVar("power")
    body = relay.If(relay.less(i, relay.const(1)), relay.tanh(x), x * power(i - relay.const(1), x))
    return program("power", power=relay.Function([i, x], body), main=relay.Function([i, x], power(i, x)))


def test_the_gradient_goes_through_a_recursion() -> None:
    expected = 3 * X**2 * np.tanh(X) + X**3 * (1 - np.tanh(X) ** 2)
    none, found = gradient_of(recursion(), np.array(3, np.int32), X)
    np.testing.assert_allclose(found, expected)
    assert none == 0


def test_gradient_puts_functions_beside_those_that_call_themselves_into_their_module() -> None:
    i, x = variables()
    power, j, y = relay.GlobalVar("power"), *variables()
    body = relay.If(relay.less(i, relay.const(1)), relay.tanh(x), x * power(i - relay.const(1), x))
    other = relay.Function([y], y)  # of the name that the gradient would have
    loss = relay.Function([j, y], relay.sum(power(j, y)))
    functions = {power: relay.Function([i, x], body), "power_gradient": other, "loss": loss}
    module = relay.IRModule(functions)
    module["main"] = relay.transform.gradient(module["loss"], module)
    module.verify()
    assert {"power", "power_gradient", "main"} < {name.name_hint for name in module.get_global_vars()}
    expected = 3 * X**2 * np.tanh(X) + X**3 * (1 - np.tanh(X) ** 2)
    np.testing.assert_allclose(gradient_of(module, np.array(3, np.int32), X)[1], expected)


def test_what_a_recursion_gives_is_not_computed_again_where_nothing_needs_it() -> None:
    text = str(recursion())
    backwards = text[text.index("private @power_gradient") :]
    assert backwards.count("relay.if") == 1 and backwards.count("call @power(") == 1


def test_the_gradient_goes_through_functions_that_call_each_other() -> None:
    i, x = variables()
    even, odd = relay.GlobalVar("even"), relay.GlobalVar("odd")
    last, less = relay.less(i, relay.const(1)), i - relay.const(1)
    module = program(
        "even",
        "odd",
        even=relay.Function([i, x], relay.If(last, x, odd(less, x) * x)),
        odd=relay.Function([i, x], relay.If(last, x, relay.exp(even(less, x)))),
        main=relay.Function([i, x], even(i, x)),
    )
    (_, found) = gradient_of(module, np.array(2, np.int32), X)  # exp(x) * x
    np.testing.assert_allclose(found, np.exp(X) * (1 + X))


def test_the_gradient_goes_through_tuples_that_a_recursion_takes_and_gives() -> None:
    i, x = variables()
    step = relay.GlobalVar("step")
    pair = relay.var("pair", relay.TupleType([x.checked_type, x.checked_type]))
    a, b = relay.TupleGetItem(pair, 0), relay.TupleGetItem(pair, 1)
    body = relay.If(relay.less(i, relay.const(1)), pair, step(i - relay.const(1), relay.Tuple([b, a * b])))
    whole = relay.TupleGetItem(step(i, relay.Tuple([x, relay.exp(x)])), 0)
    module = program("step", step=relay.Function([i, pair], body), main=relay.Function([i, x], whole))
    (_, found) = gradient_of(module, np.array(2, np.int32), X)  # x * exp(x)
    np.testing.assert_allclose(found, np.exp(X) * (1 + X))


def test_a_function_value_that_is_known_is_differentiated() -> None:
    _, x = variables()
    y, f = relay.var("y", x.checked_type), relay.var("f", relay.FuncType([x.checked_type], x.checked_type))
    squared = relay.Function([f, y], f(y) * y)
    whole = relay.Call(squared, [relay.Function([y], y * x), x])  # x ** 3
    function = relay.transform.gradient(relay.Function([x], whole))
    (found,) = gradient_of(relay.IRModule({"main": function}), X)
    np.testing.assert_allclose(found, 3 * X**2)


def slope_of(function: Any, module: Any = None) -> Any:
    """The gradient by the only argument, at X."""
    found: Any = relay.create_executor().evaluate(relay.transform.gradient(function, module))
    return found(X)[1][0]


def test_what_a_reference_in_sight_holds_is_differentiated() -> None:
    _, x = variables()
    r, u = relay.var("r"), relay.var("u")
    read = relay.RefRead(r)
    body = relay.Let(r, relay.RefCreate(x), relay.Let(u, relay.RefWrite(r, read * read), relay.RefRead(r) * x))
    np.testing.assert_allclose(slope_of(relay.Function([x], body)), 3 * X**2)


def test_recursion_on_data_that_is_known_is_differentiated() -> None:
    names: Any = relay
    _, x = variables()
    y, module = relay.var("y", x.checked_type), relay.IRModule()
    prelude = names.Prelude(module)
    module.import_from_std("nat.rly")
    thrice = module.get_global_var("nat_iterate")(relay.Function([y], y * y), names.testing.make_nat_expr(prelude, 3))
    module["main"] = relay.Function([x], relay.Call(thrice, [x]))
    np.testing.assert_allclose(slope_of(module["main"], module), 8 * X**7)


def test_a_function_that_calls_itself_needs_a_module() -> None:
    i, x = variables()
    power = relay.GlobalVar("power")
    body = relay.If(relay.less(i, relay.const(1)), x, x * power(i - relay.const(1), x))
    module = relay.IRModule({power: relay.Function([i, x], body), "main": relay.Function([i, x], power(i, x))})
    with pytest.raises(Diagnostic, match="the function that it calls is not known here"):
        relay.transform.gradient(module["main"])


def test_a_function_of_integers_that_gives_integers_is_refused() -> None:
    n, x = relay.var("n", shape=(3,), dtype="int32"), relay.var("x", shape=(3,))
    for body in (n * n, relay.Tuple([n, n > n])):
        with pytest.raises(Diagnostic, match="neither what it takes nor what it gives is of floats"):
            relay.transform.gradient(relay.Function([n], body))
    for function in (relay.Function([n, x], relay.Tuple([n * n, x * x])), relay.Function([n, x], n > n)):
        assert "relay.zeros_like %n" in str(relay.transform.gradient(function))


def test_of_several_results_the_first_one_counts_where_one_function_is_differentiated() -> None:
    """As in TVM: a loss stands before what is told beside it."""
    x = relay.var("x", shape=(3,), dtype="float64")
    loss, told = x * x, relay.exp(x)
    for result in (relay.Tuple([loss, told]), relay.Tuple([relay.argmax(x), relay.Tuple([loss, told]), told])):
        found: Any = relay.create_executor().evaluate(relay.transform.gradient(relay.Function([x], result)))
        np.testing.assert_allclose(found(X)[1][0], 2 * X)
    program_of_both = program("f", f=relay.Function([x], x), main=relay.Function([x], relay.Tuple([loss, told])))
    np.testing.assert_allclose(gradient_of(program_of_both, X)[0], 2 * X + np.exp(X))


def test_a_function_is_differentiated_by_its_name_in_a_module() -> None:
    x, square = relay.var("x", shape=(3,), dtype="float64"), relay.GlobalVar("square")
    module = relay.IRModule({square: relay.Function([x], x * x), "main": relay.Function([x], square(square(x)))})
    module["slope"] = relay.transform.gradient(relay.GlobalVar("main"), module)
    found: Any = relay.create_executor("debug", module).evaluate(module["slope"])
    np.testing.assert_allclose(found(X)[1][0], 4 * X**3)
    with pytest.raises(UsageError, match="is the name of a function"):
        relay.transform.gradient(square)
    with pytest.raises(KeyError, match="no function 'cube'"):
        relay.transform.gradient(relay.GlobalVar("cube"), module)


@pytest.mark.parametrize("executor", ["debug", "vm"])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_as_many_rows_as_are_looked_up_give_a_table_its_gradient(executor: str, axis: int | None) -> None:
    table = relay.var("table", shape=(3, 4), dtype="float64")
    places = relay.var("places", relay.TensorType((relay.Any(),), "int32"))
    taken = relay.take(table, places, axis=axis)
    slope = relay.transform.gradient(relay.Function([table, places], relay.sum(taken * taken)))
    run: Any = relay.create_executor(executor).evaluate(slope)
    values = np.linspace(1, 2, 12).reshape(3, 4)
    for at in ([2, 0, 2, 1, 2], [1], []):
        wanted, taken_from = np.zeros((3, 4)), values if axis is not None else values.reshape(-1)
        added = wanted if axis is not None else wanted.reshape(-1)
        for each in at:
            where = (slice(None), each) if axis == 1 else each
            added[where] += 2 * taken_from[where]
        np.testing.assert_allclose(run(values, np.array(at, np.int32))[1][0], wanted)


def test_numbers_up_to_an_end_that_is_told_have_a_gradient() -> None:
    start, stop, step = (relay.var(name, shape=(), dtype="float64") for name in ("start", "stop", "step"))
    numbers = relay.arange(start, stop, step, "float64")
    run: Any = relay.create_executor().evaluate(relay.transform.gradient(relay.Function([start, stop, step], numbers)))
    assert [float(each) for each in run(2.5, 9.5, 1.8)[1]] == [4, 0, 6]
    assert [float(each) for each in run(2.5, 2.5, 1.8)[1]] == [0, 0, 0]
