"""Programs run in one line, and built as TVM's `relay.build` gives them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import weft
from weft import relay, te, tir
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.graph_executor import GraphModule
from weft.runtime.tensors import InputError

pytestmark = pytest.mark.sampled(3)

relay: Any = relay

ONES = np.ones((2, 3), np.float32)


def softmax() -> Any:
    x = relay.var("x", shape=(2, 3))
    return relay.Function([x], relay.nn.softmax(x))


@pytest.mark.parametrize("kind", ["debug", "graph", "vm", "aot"])
def test_every_executor_gives_the_same(kind: str) -> None:
    run = relay.create_executor(kind).evaluate(softmax())
    for result in (run(ONES), run(x=ONES)):
        np.testing.assert_allclose(result, ONES / 3, rtol=1e-6)


def test_results_have_the_structure_of_the_functions_type() -> None:
    x = relay.var("x", shape=(4,))
    parts = relay.split(x, 2)
    nested = relay.Tuple([relay.Tuple([parts[0]]), parts[1]])
    (first,), second = relay.create_executor().evaluate(relay.Function([x], nested))(np.arange(4, dtype=np.float32))
    assert first.tolist() == [0, 1] and second.tolist() == [2, 3]


def test_parameters_of_one_name_are_told_apart_by_their_place() -> None:
    a, b = relay.var("x", shape=(2,)), relay.var("x", shape=(3,))
    run = relay.create_executor().evaluate(relay.Function([a, b], relay.concatenate([b, a], 0)))
    assert run(np.zeros(2, np.float32), np.ones(3, np.float32)).tolist() == [1, 1, 1, 0, 0]


def test_an_expression_is_evaluated_with_what_its_variables_are_bound_to() -> None:
    x = relay.var("x", shape=(2, 3))
    assert relay.create_executor().evaluate(relay.const(1) + relay.const(2)) == 3
    assert (relay.create_executor().evaluate(x + relay.const(1.0), {x: ONES}) == 2).all()
    with pytest.raises(UsageError, match="has variables that nothing is bound to: x"):
        relay.create_executor().evaluate(x + relay.const(1.0))


def test_without_an_expression_main_of_the_module_is_evaluated_with_its_parameters() -> None:
    x, w = relay.var("x", shape=(2, 3)), relay.var("w", shape=(3,))
    module = relay.IRModule.from_expr(relay.Function([x, w], x * w))
    run = relay.create_executor("debug", module, params={"w": np.array([1, 2, 3], np.float32)}).evaluate()
    assert run(ONES).tolist() == [[1, 2, 3], [1, 2, 3]]
    with pytest.raises(UsageError, match="nothing to evaluate"):
        relay.create_executor().evaluate()


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "takes 1 arguments, but 0 are given"),
        ((ONES, ONES), {}, "takes 1 arguments, but 2 are given"),
        ((), {"y": ONES}, "there is no parameter 'y'; parameters: x"),
        ((ONES,), {"x": ONES}, "the parameter 'x' is given twice"),
    ],
)
def test_a_wrong_call_is_refused(args: Any, kwargs: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        relay.create_executor().evaluate(softmax())(*args, **kwargs)


def test_the_interpreter_takes_what_the_types_say() -> None:
    with pytest.raises(Exception, match="has shape"):
        relay.create_executor().evaluate(softmax())(np.ones((2, 4), np.float32))


def test_arrays_whose_open_extents_do_not_go_together_are_refused() -> None:
    x, y = (relay.var(name, shape=(relay.Any(),)) for name in "xy")
    run = relay.create_executor().evaluate(relay.Function([x, y], x + y))
    assert run(np.ones(3, np.float32), np.ones(3, np.float32)).tolist() == [2, 2, 2]
    with pytest.raises(weft.Diagnostic, match=r"'relay.add': shapes \[3\] and \[2\] do not broadcast") as error:
        run(np.ones(3, np.float32), np.ones(2, np.float32))
    assert [note.message for note in error.value.notes] == [
        "operand 1 ('rhs'): expected tensor<3xf32>, found tensor<2xf32>"
    ]


def test_unknown_executors_and_devices_are_refused() -> None:
    with pytest.raises(UsageError, match="there is no executor 'grph'"):
        relay.create_executor("grph")
    assert relay.create_executor("debug", device=weft.cpu()).evaluate(relay.const(2)) == 2
    with pytest.raises(UsageError, match="is for cpu, as its target says, and not for <cuda, id = 0>"):
        relay.create_executor("debug", device=weft.cuda())
    with pytest.raises(UsageError, match="there is no device type 'gpuu'"):
        weft.device("gpuu")


def test_devices_are_taken_where_tvm_takes_them() -> None:
    x = relay.var("x", shape=(3,))
    module = relay.IRModule.from_expr(relay.Function([x], x + x))
    cpu, ones = weft.device("llvm -mcpu=native"), np.ones(3, np.float32)
    assert cpu == weft.cpu(0) == weft.device(1)
    machine = relay.vm.VirtualMachine(relay.vm.compile(module), cpu)
    assert machine.invoke("main", ones).tolist() == [2, 2, 2]
    library = relay.build(module)
    graph = weft.graph_executor.GraphModule(library["default"](cpu))
    again = weft.graph_executor.create(library.graph_json, library, cpu)
    for each in (graph, again):
        each.set_input("x", ones)
        each.run()
        assert each.get_output(0).tolist() == [2, 2, 2]
    with pytest.raises(UsageError, match="runs on the first device of its type, and not on <cpu, id = 1>"):
        library["default"](weft.cpu(1))
    with pytest.raises(UsageError, match="not for <cuda, id = 0>"):
        relay.vm.VirtualMachine(relay.vm.compile(module), [cpu, weft.cuda()])


def test_a_library_unpacks_and_gives_graphs_as_tvms_does() -> None:
    x, w = relay.var("x", shape=(2, 3)), relay.var("w", shape=(4, 3))
    module = relay.IRModule.from_expr(relay.Function([x, w], relay.nn.dense(x, w)))
    graph_json, library, params = relay.build(module, params={"w": np.ones((4, 3), np.float32)})
    first, second = library["default"](), library["default"]()
    assert isinstance(first, GraphModule) and first is not second
    first.set_input("x", ONES)
    first.run()
    assert (first.get_output(0) == 3).all()
    assert np.all(GraphModule(graph_json, first.library, params)(ONES) == 3)
    with pytest.raises(UsageError, match="is called 'default'"):
        library["main"]


def test_variables_are_bound_and_what_is_bound_in_stays_as_it_is() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    z = x + y
    assert relay.structural_equal(relay.bind(z, {y: x}), x + x)
    assert relay.structural_equal(z, x + y)
    assert relay.bind(x, {x: y}).value is y.value and relay.bind(z, {}) is z
    with pytest.raises(UsageError, match="cannot be bound"):
        relay.bind(z, {y: relay.var("w", shape=(3,))})
    function = relay.Function([x, y], z, name="f")
    bound = relay.bind_params_by_name(function, {"y": np.ones(2, np.float32)})
    assert len(bound.body.block.args) == 1 and len(function.body.block.args) == 2
    assert bound.sym_name.data == "f"


def test_a_machine_calls_the_functions_of_an_executable() -> None:
    x, y = relay.var("x", shape=(2, 3)), relay.var("y", shape=(2, 3))
    module = relay.IRModule({"twice": relay.Function([x], x + x)})
    twice = relay.GlobalVar("twice")
    module["main"] = relay.Function([y, w := relay.var("w", shape=(3,))], relay.Tuple([twice(y), y * w]))
    executable = relay.vm.compile(module, "llvm", params={"w": np.array([1, 2, 3], np.float32)})
    machine = relay.vm.VirtualMachine(executable, None)
    first, second = machine.invoke("main", ONES)
    assert (first == 2).all() and second.tolist() == [[1, 2, 3], [1, 2, 3]]
    assert (machine.invoke("twice", x=ONES) == 2).all() and len(machine.get_outputs()) == 1
    machine.set_input("main", y=ONES)
    assert (machine.run()[0] == 2).all() and len(machine.get_outputs()) == 2
    with pytest.raises(UsageError, match="there is no function 'thrice'"):
        machine.invoke("thrice", ONES)
    with pytest.raises(UsageError, match="takes 1 arguments"):
        machine.invoke("main", ONES, ONES)


def test_attributes_of_functions_are_put_on_copies() -> None:
    function = softmax()
    marked = function.with_attr("Compiler", "ccompiler").with_attr({"Inline": 1, "Primitive": True})
    assert not function.attributes and {*marked.attributes} == {"Compiler", "Inline", "Primitive"}
    assert {*marked.without_attr("Inline").attributes} == {"Compiler", "Primitive"}


def test_what_is_no_attribute_of_a_module_is_refused() -> None:
    module = relay.IRModule.from_expr(softmax())
    assert module.with_attr("marked", [1, 2]).get_attr("marked") == [1, 2]
    with pytest.raises(UsageError, match=r"the attribute 'executor' cannot be Executor\('graph'"):
        module.with_attr("executor", relay.backend.Executor("graph"))  # pyright: ignore[reportArgumentType]


def test_a_module_takes_no_functions_of_loops() -> None:
    a = te.placeholder((2,), name="a")
    loops = te.create_prim_func([a, te.compute((2,), lambda i: a[i] + 1, name="b")])
    module = relay.IRModule.from_expr(softmax())
    with pytest.raises(UsageError, match=r"a module of graphs holds no tir\.prim_func"):
        module.update(tir.IRModule({"loops": loops}))
    with pytest.raises(UsageError, match=r"a module of graphs holds no tir\.prim_func"):
        module.update({"loops": loops})  # pyright: ignore[reportArgumentType]
    assert len(module.functions) == 1


def test_a_type_variable_stands_for_a_type() -> None:
    assert relay.TypeVar("a", relay.TypeKind.Type) == relay.TypeVar("a")
    with pytest.raises(UsageError, match="to stand for a ShapeVar"):
        relay.TypeVar("a", relay.TypeKind.ShapeVar)


def test_what_has_no_type_of_its_own_is_refused() -> None:
    a = relay.TypeVar("a")
    same = relay.Function([p := relay.var("p", a)], p, a, [a])
    with pytest.raises(Diagnostic, match=r"@main takes or gives values of any type \(a\)"):
        relay.vm.compile(same)
    unknown = relay.Function([x := relay.var("x"), y := relay.var("y")], relay.nn.dense(x, y))
    for kind in ("debug", "vm"):
        with pytest.raises(UsageError, match="the type of what the function gives is not known"):
            relay.create_executor(kind).evaluate(unknown)


def test_passes_on_quantised_operators_have_tvms_place() -> None:
    x, scale, zero = relay.var("x", shape=(4,), dtype="int8"), relay.const(0.5), relay.const(1)
    module = relay.IRModule.from_expr(relay.qnn.dequantize(x, scale, zero))
    with relay.build_config(opt_level=3):
        assert "qnn" not in str(relay.qnn.transform.CanonicalizeOps()(module))


@pytest.mark.parametrize("kind", ["debug", "graph", "vm"])
def test_what_executors_give_answers_as_tvms_arrays_do(kind: str) -> None:
    x = relay.var("x", shape=(2, 3))
    given = weft.nd.array(np.ones((2, 3), np.float32), weft.cpu())
    result = relay.create_executor(kind, target="llvm").evaluate(relay.Function([x], x + relay.const(1.0)))(given)
    assert type(result.numpy()) is np.ndarray and (result.numpy() == 2).all()
    assert result.copyfrom(np.zeros((2, 3))).asnumpy().sum() == 0
    with pytest.raises(ValueError, match=r"is \[2, 3\], and what is copied \[3\]"):
        result.copyfrom(np.zeros(3))
    assert weft.nd.empty((2,), "int8").dtype == np.int8


def test_a_target_in_scope_is_that_of_calls_that_are_told_none() -> None:
    x = relay.var("x", shape=(2,))
    module = relay.IRModule.from_expr(relay.Function([x], x + x))
    assert weft.Target.current() is None
    with weft.Target("llvm -mcpu=x86-64-v3"):
        with weft.Target("llvm -mcpu=x86-64-v2") as inner:
            assert weft.Target.current() is inner
        assert weft.compile(module, threads=1).target.cpu == "x86-64-v3"
        assert relay.vm.compile(module).target == weft.Target("llvm -mcpu=x86-64-v3")
    with pytest.raises(UsageError, match="no target is in scope"):
        weft.Target.current(allow_none=False)


def test_functions_that_main_does_not_call_are_removed_as_in_tvm() -> None:
    x = relay.var("x", shape=(2,))
    module = relay.IRModule({"main": relay.Function([x], x), "other": relay.Function([x], x)})
    left = relay.transform.RemoveUnusedFunctions()(module)
    assert [name.name_hint for name in relay.IRModule.of(left).functions] == ["main"]


def test_a_function_value_is_given_as_a_callable() -> None:
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(2,))
    weigh = relay.Function([x], relay.Function([y], x * y))
    twice = relay.create_executor("debug").evaluate(relay.Call(weigh, [relay.const(np.array([2, 3], np.float32))]))
    assert twice(np.array([1, 10], np.float32)).numpy().tolist() == [2, 30]
    with pytest.raises(UsageError, match="takes 1 arguments, but 2 are given"):
        twice(np.zeros(2, np.float32), np.zeros(2, np.float32))
    with pytest.raises(InputError, match="numbers of float32"):
        twice(np.array(["a", "b"]))


def test_parameters_of_a_function_are_bound() -> None:
    x, y, w = (relay.var(name, shape=(3,)) for name in ("x", "y", "w"))
    attrs = {"Compiler": "other"}
    function = relay.Function([x, y], x - y, attrs=attrs)
    ones = relay.const(np.ones(3, np.float32))
    expected = relay.Function([y], ones - y, attrs=attrs)
    for named in (x, function.params[0]):
        assert relay.structural_equal(relay.bind(function, {named: ones}), expected)
    assert relay.structural_equal(function, relay.Function([x, y], x - y, attrs=attrs))
    assert relay.structural_equal(
        relay.bind(function, {x: relay.exp(y)}), relay.Function([y], relay.exp(y) - y, attrs=attrs)
    )
    swapped = relay.bind(function, {y: relay.exp(w), x: y})
    values = [np.array([1, 2, 3], np.float32), np.array([0, 1, 2], np.float32)]
    assert [each.name_hint for each in swapped.params] == ["y", "w"]
    (found,) = evaluate_function(swapped, values)
    wanted = np.array([1, 2, 3]) - np.exp(np.array([0, 1, 2]))
    np.testing.assert_allclose(np.asarray(found, np.float32), wanted, rtol=1e-6)
    twice = relay.Function([x, relay.var("x", shape=(3,))], x)
    for one, message in ((function, "@main has no parameter like"), (twice, "@main has several parameters like")):
        with pytest.raises(UsageError, match=message):
            relay.bind(one, {w if one is function else x: ones})
    with pytest.raises(UsageError, match="cannot be bound to a value of type"):
        relay.bind(function, {x: relay.var("v", shape=(4,))})


def test_building_is_in_the_module_that_tvm_has_it_in() -> None:
    build_module: Any = import_module("weft.relay.build_module")
    assert vars(relay)["build_module"] is build_module and build_module.build is relay.build
    assert build_module.bind_params_by_name is relay.bind_params_by_name


@pytest.mark.parametrize("kind", ["debug", "graph", "vm"])
def test_numbers_of_python_take_the_dtype_of_the_parameter(kind: str):
    x, v = relay.var("x", shape=(2,), dtype="int8"), relay.var("v", shape=(), dtype="int8")
    run: Any = relay.create_executor(kind).evaluate(relay.Function([x, v], x + v))
    assert run(np.ones(2, np.int8), 2.0).tolist() == run(np.ones(2, np.int8), v=2).tolist() == [3, 3]
    for number in (300, 2.5, float("nan"), 2**70):
        with pytest.raises(weft.Diagnostic, match="int8"):
            run(np.ones(2, np.int8), number)


@pytest.mark.parametrize("kind", ["debug", "graph", "vm"])
def test_arrays_are_converted_where_the_dtype_holds_their_numbers(kind: str):
    x, y = relay.var("x", shape=(2,), dtype="uint8"), relay.var("y", shape=(2,))
    run: Any = relay.create_executor(kind).evaluate(relay.Function([x, y], relay.Tuple([x, y])))
    kept, rounded = run(np.array([255, 1]), np.array([0.1, np.inf]))
    assert kept.dtype == np.uint8 and kept.tolist() == [255, 1]
    assert rounded.dtype == np.float32 and np.array_equal(rounded, np.array([0.1, np.inf], np.float32))
    for lost in (np.array([256, 1]), np.array([-1, 1]), np.array([1.5, 2]), np.array([np.nan, 0]), np.array([1j, 0])):
        with pytest.raises(InputError, match="the graph takes uint8"):
            run(lost, np.zeros(2, np.float32))
    for lost in (np.array([1e300, 0]), np.array([2**24 + 1, 0])):
        with pytest.raises(InputError, match="the graph takes float32"):
            run(np.zeros(2, np.uint8), lost)


@pytest.mark.parametrize(
    ("lost", "dtype"),
    [
        (np.int8(-1), "uint8"),
        (np.uint8(200), "int8"),
        (np.int64(-1), "uint64"),
        (np.uint64(2**63), "int64"),
        (-1, "uint64"),
    ],
)
def test_numbers_that_the_other_sign_would_read_as_others_are_not_converted(lost: Any, dtype: str):
    x = relay.var("x", shape=(), dtype=dtype)
    run: Any = relay.create_executor("graph").evaluate(relay.Function([x], x))
    with pytest.raises(InputError, match=f"the graph takes {dtype}"):
        run(lost)


def test_constants_are_arguments_too():
    x = relay.var("x", shape=(), dtype="int32")
    assert relay.create_executor().evaluate(relay.Function([x], x + x))(relay.const(3)) == 6


def test_a_function_of_the_module_is_evaluated_by_its_name():
    x, double = relay.var("x", shape=()), relay.GlobalVar("double")
    module = relay.IRModule({double: relay.Function([x], x + x), "main": relay.Function([x], double(x))})
    assert relay.create_executor(mod=module).evaluate(double)(np.float32(2)) == 4
    with pytest.raises(UsageError, match="there is no function @double: the executor has no module"):
        relay.create_executor().evaluate(double)


def test_a_list_of_nothing_is_a_value_of_a_type_that_is_not_known():
    module = relay.IRModule()
    relay.Prelude(module)
    _, _, nil = module.get_type("List")
    value = relay.create_executor(mod=module).evaluate(relay.Function([], nil()))()
    assert value.constructor.name_hint == "Nil" and value.fields == ()


def test_a_library_says_what_its_code_is():
    library = relay.build(softmax(), "llvm -mcpu=x86-64-v3 -opt-level=1")
    assert "define" in library.get_source() and "%ymm" in library.get_source("asm")
    with pytest.raises(UsageError, match="a module for 'llvm' has no source 'ptx'"):
        library.get_source("ptx")
