"""What functions, their bodies and modules answer under TVM's names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.ir import Block, Region

import weft
from weft import relay, tir

relay: Any = relay
WEFT: Any = weft
X = relay.var("x", shape=(3,))


def test_the_body_of_a_function_answers_as_what_it_gives() -> None:
    function = relay.Function([X], relay.exp(X) + X)
    body = function.body
    assert body.op == relay.op.get("add") and body.args[1] == function.params[0]
    assert body.checked_type == X.checked_type
    assert isinstance(body, relay.Call) and not isinstance(body, relay.Tuple)
    assert weft.ir.structural_equal(body, function.tree) and not weft.ir.structural_equal(body, relay.exp(X))
    assert weft.ir.structural_equal(body, relay.exp(X) + X)
    again = relay.Function(function.params, relay.nn.relu(body))
    assert weft.ir.structural_equal(again, relay.Function([X], relay.nn.relu(relay.exp(X) + X)))
    assert len(list(body.block.ops)) == 3  # it is a region as before
    with pytest.raises(AttributeError):
        body.nothing_of_the_kind  # noqa: B018
    with pytest.raises(AttributeError):
        relay.IRModule.from_expr(function).body.checked_type  # noqa: B018  # of a module, not of a function
    function.detach_region(body)
    with pytest.raises(AttributeError):
        body.checked_type  # noqa: B018  # no function's any more


@pytest.mark.parametrize("sign", ["+", "-", "*", "/", "<", "<=", ">", ">="])
def test_signs_compute_with_what_a_function_gives(sign: str) -> None:
    y, function = relay.sin(relay.var("y", shape=(3,))), relay.Function([X], relay.exp(X))
    given = {"body": function.body, "tree": function.tree, "y": y}
    for text in (f"body {sign} y", f"y {sign} body", f"body {sign} body", f"body {sign} 2.0", f"2.0 {sign} body"):
        made, wanted = eval(text, given), eval(text.replace("body", "tree"), given)
        assert weft.ir.structural_equal(made, wanted) and made.checked_type == wanted.checked_type
    with pytest.raises(TypeError, match="no function's body"):
        eval(f"region {sign} y", {"region": detached(function), "y": y})


def detached(function: Any) -> Any:
    body = function.body
    function.detach_region(body)
    return body


def test_a_body_that_is_a_tuple_has_fields_and_one_that_is_a_function_is_called() -> None:
    two = relay.Function([X], relay.Tuple([relay.exp(X), X]))
    first, second = two.body
    assert weft.ir.structural_equal(first, relay.exp(X)) and weft.ir.structural_equal(second, two.body[1])
    inner = relay.Function([X], relay.exp(X))
    y = relay.var("y", shape=(3,))
    outer = relay.Function([y], inner)
    assert outer.body(y).checked_type == X.checked_type
    assert weft.ir.structural_equal(-inner.body, relay.negative(inner.tree))
    assert inner.body  # a region is there, whatever it gives


def test_a_region_of_xdsl_is_as_xdsl_made_it() -> None:
    op = relay.exp(X).value.owner
    assert not hasattr(Region, "__getattr__")
    assert Region(Block([op.clone()])).op.name == "relay.exp"


def test_attributes_of_functions_are_python_values() -> None:
    function = relay.Function([X], X).with_attr("Composite", "c").with_attr("Primitive", tir.IntImm("int32", 1))
    assert function.attrs["Composite"] == function.attrs.Composite == "c"
    assert dict(function.attrs) == {"Composite": "c", "Primitive": 1}
    with pytest.raises(AttributeError, match="Composite, Primitive"):
        function.attrs.Compiler  # noqa: B018
    value = relay.Call(function, [X]).op
    assert dict(value.attrs) == dict(function.attrs) and isinstance(value, relay.Function)


def test_a_region_of_operators_is_called_as_the_function_that_tvm_has() -> None:
    module = relay.transform.FuseOps()(relay.IRModule.from_expr(relay.nn.relu(relay.exp(X))))
    call = module["main"].body
    assert isinstance(call, relay.Call) and call.args == module["main"].params
    function = call.op
    assert isinstance(function, relay.Function) and function.attrs["Primitive"] == 1
    assert [each.checked_type for each in function.params] == [X.checked_type] == [function.ret_type]
    assert function.body.op.name == "nn.relu" and function.body.args[0].args == function.params


def test_a_variable_says_the_type_that_it_was_made_with() -> None:
    assert X.type_annotation == relay.TensorType((3,)) and relay.var("y").type_annotation is None


def test_a_module_has_attributes_and_text() -> None:
    module = relay.IRModule.from_expr(relay.exp(X))
    marked = module.with_attr("executor", "aot")
    assert (marked.attrs, marked.get_attr("executor")) == ({"executor": "aot"}, "aot")
    assert module.get_attr("executor") is None and not weft.ir.structural_equal(marked, module)
    assert weft.ir.structural_equal(marked["main"], module["main"])
    assert "exp(%x)" in marked.astext() and marked.same_as(marked) and not marked.same_as(module)
    assert relay.transform.InferType()(marked).get_attr("executor") == "aot"


def test_an_operator_has_an_attribute_for_a_while() -> None:
    op, rule = relay.op.get("nn.relu"), object()
    with relay.testing.TempOpAttr("nn.relu", "mine", rule):
        assert op.get_attr("mine") is rule
        with relay.testing.TempOpAttr("nn.relu", "mine", 2):
            assert op.get_attr("mine") == 2
        assert op.get_attr("mine") is rule
    assert not op.has_attr("mine")


def test_an_initializer_fills_parameters() -> None:
    def filled(name: str, array: Any) -> None:
        array[:] = len(name)

    module, params = relay.testing.create_workload(relay.nn.relu(X + relay.var("weight", shape=(3,))), filled)
    assert {name: float(each[0]) for name, each in params.items()} == {"x": 1.0, "weight": 6.0}
    assert module["main"].params[1].name_hint == "weight"
    module, params = relay.testing.synthetic.get_workload()
    exe = WEFT.compile(module, params=params)
    assert exe(np.ones((1, 3, 24, 12), "float32")).shape == (1, 3, 24, 12)


def test_parameters_of_64_bits_are_taken_in_the_type_of_the_input() -> None:
    k, w = relay.var("k", "int32"), relay.var("w", shape=(2,))
    function = relay.Function([k, w], relay.cast(k, "float32") * w)
    bound = relay.bind_params_by_name(function, {"k": np.array(3), "w": np.array([0.1, 2])})
    assert bound.params == [] and bound.body.args[1].data.dtype == np.float32
    wrong: list[Any] = [{"k": np.array(2**40)}, {"k": np.array(0.5)}, {"w": np.zeros(3)}, {"w": np.zeros(2, "float16")}]
    for params in wrong:
        with pytest.raises(weft.Diagnostic, match="the input takes"):
            relay.bind_params_by_name(function, params)


def test_extents_are_numbers() -> None:
    extents = relay.TensorType((2, 3)).shape
    assert extents[0] == 2 and extents[1].value == 3 and extents[0:2] == (2, 3)


def test_an_expression_has_a_text() -> None:
    assert relay.exp(X).astext().endswith("exp(%x)") and "%x" in X.astext()


def test_variables_keep_names_that_no_text_has() -> None:
    data, weight, odd = (relay.var(name, shape=(2,)) for name in ("data_0", "w_12", "0 of x'"))
    function = relay.Function([data, weight, odd], data + weight * odd)
    assert [each.name_hint for each in function.params] == ["data_0", "w_12", "0 of x'"] and not function.attrs
    module = relay.transform.SimplifyExpr()(relay.IRModule.from_expr(function))
    assert [each.name_hint for each in module["main"].params] == ["data_0", "w_12", "0 of x'"]
    one, two, three = (np.full(2, n, np.float32) for n in (1, 2, 3))
    exe: Any = weft.compile(module)
    np.testing.assert_array_equal(exe.run({"data_0": one, "w_12": two, "0 of x'": three})["out"], [7, 7])
    bound = relay.bind_params_by_name(function, {"w_12": two})
    assert [each.name_hint for each in bound.params] == ["data_0", "0 of x'"]
    assert [each.name_hint for each in relay.bind(function, {weight: relay.const(two)}).params] == ["data_0", "0 of x'"]
    assert weft.ir.structural_equal(relay.Function([data], data), relay.Function([weight], weight))
    bodies = [relay.IRModule.from_expr(each)["main"].body for each in (data - weight, data - weight, weight - data)]
    assert weft.ir.structural_equal(*bodies[:2]) and not weft.ir.structural_equal(*bodies[1:])
