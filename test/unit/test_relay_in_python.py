"""`weft.relay`: TVM's names build Weft's operations, types are known at once, and what is wrong is said."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32, i32
from xdsl.irdl import VarOperandDef

import weft
from weft import relay
from weft.dialects.relay import Relay
from weft.dialects.relay.base import RelayOp
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.relay.composites import COMPOSITES
from weft.frontend.relay.namespace import operator_names
from weft.frontend.relay.operators import form_of, operator, operator_classes
from weft.frontend.relay.signatures import call_forms
from weft.testing.examples import OperatorExample, examples_of
from weft.transforms.infra import PassContext

pytestmark = pytest.mark.sampled(3)

NDArray = Any
relay: Any = relay


def random(*shape: int) -> NDArray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def run(expr: Any, *inputs: NDArray) -> list[NDArray]:
    """What an expression gives for its free variables, operator by operator."""
    function = relay.IRModule.from_expr(expr).body.block.first_op
    assert isinstance(function, FuncOp)
    return list(evaluate_function(function, inputs))


@pytest.mark.parametrize("example", examples_of(Relay), ids=str)
def test_an_operator_called_with_the_fields_of_its_example_is_that_example(example: OperatorExample) -> None:
    op, name = example.op, example.op_type.name.removeprefix("relay.")
    form = call_forms().get(name) or form_of(example.op_type)
    definition = example.op_type.get_irdl_definition()
    fields: dict[str, Any] = {}
    for field, operand in definition.operands:
        value = getattr(op, field)
        fields[field] = list(value) if type(operand) is VarOperandDef else value
    fields |= op.properties
    parameters = {p: fields[f] for p, f in form.fields.items() if fields.get(f) is not None}
    left = set(fields) - set(form.fields.values())
    assert left <= OWN_FIELDS.get(name, set()), f"{name}: no argument gives {left}"
    made = operator(name)(**parameters).value.owner
    assert isinstance(made, RelayOp) and type(made) is example.op_type
    assert [r.type for r in made.results] == [r.type for r in op.results]
    assert {k: v for k, v in made.properties.items() if k not in left} == {
        k: v for k, v in op.properties.items() if k not in left
    }


OWN_FIELDS = {
    "gather": {"mode"}, "gather_nd": {"mode"}, "layout_transform": {"extents"}, "nn.space_to_depth": {"mode"},
    "nn.global_max_pool2d": {"output_size"}, "nn.global_avg_pool2d": {"output_size"},
    "scatter": {"out_of_range"}, "scatter_add": {"out_of_range"}, "scatter_nd": {"out_of_range"},
    "reverse_sequence": {"out_of_range"}, "topk": {"zero_is_none"}, "mean": {"none_is_zero"},
}  # fmt: skip
"""Properties that TVM's operators do not have, or do not take."""


@pytest.mark.parametrize("name", call_forms())
def test_a_call_form_names_fields_of_its_operator(name: str) -> None:
    definition = operator_classes()[name].get_irdl_definition()
    assert set(call_forms()[name].fields.values()) <= {f for f, _ in definition.operands} | set(definition.properties)


def test_everything_that_can_be_called_is_found_and_documented() -> None:
    assert {"add", "nn.conv2d", "image.resize2d", "std"} <= operator_names()
    for name in operator_names():
        *prefix, last = name.split(".")
        place: Any = relay
        for part in prefix:
            place = getattr(place, part)
        function = getattr(place, last)
        assert inspect.getdoc(function), name
        assert last in dir(place), name
        assert inspect.signature(function).parameters or name == "nothing"


def test_calls_read_as_tvms() -> None:
    x, w = relay.var("x", shape=(1, 3, 8, 8)), relay.var("w", relay.TensorType((4, 3, 3, 3)))
    y = relay.nn.conv2d(x, w, strides=(2, 2), padding=1, channels=4, kernel_size=(3, 3))
    assert y.checked_type == TensorType(f32, [1, 4, 4, 4])
    assert relay.sum(y, axis=1).shape == (1, 4, 4)
    assert relay.sum(y, axis=[1, 2], keepdims=True).shape == (1, 1, 1, 4)
    assert relay.reshape(y, (0, -1)).shape == (1, 64)
    assert relay.nn.pad(y, ((0, 0), (0, 0), (1, 1), (1, 1))).shape == (1, 4, 6, 6)
    assert len(relay.split(y, 2, axis=1)) == 2
    assert relay.topk(y, k=2, axis=-1).checked_type != y.checked_type
    assert relay.arange(2, 10, 2, dtype="int32").shape == (4,)
    assert relay.one_hot(relay.const([1, 2]), 1.0, 0.0, 4, -1, "float32").shape == (2, 4)
    assert relay.cast(y, "int8").dtype == "int8" and y.astype("float16").dtype == "float16"


def test_an_expression_used_twice_is_one_operation() -> None:
    x = relay.var("x", shape=(4,))
    y = relay.exp(x)
    text = str(relay.Function([x], y * y + y))
    assert text.count("relay.exp") == 1


def test_operators_of_python_are_relays() -> None:
    x = relay.var("x", shape=(4,))
    a = random(4)
    (got,) = run(-(2.0 - x) * x / (x * x + 1.0) + (x < 0.5).astype("float32"), a)
    np.testing.assert_allclose(got, -(2 - a) * a / (a * a + 1) + (a < 0.5), rtol=1e-6)


def test_a_number_beside_an_expression_has_its_element_type() -> None:
    x = relay.var("x", shape=(2,), dtype="int64")
    assert (x + 1).dtype == "int64" and (1 - x).dtype == "int64"
    assert relay.add(x, 1).dtype == "int64"


def test_a_let_names_its_value() -> None:
    x, y = relay.var("x", shape=(4,)), relay.var("y", shape=(4,))
    function = relay.Function([x], relay.Let(y, relay.exp(x), y + y))
    assert "%y = relay.exp %x" in str(function) and str(function).count("%y") == 3
    with pytest.raises(UsageError, match="cannot be bound to a value of type"):
        relay.Let(relay.var("z", shape=(3,)), x, x)


def test_a_function_names_the_variables_that_it_lacks() -> None:
    x, y = relay.var("x", shape=(4,)), relay.var("y", shape=(4,))
    with pytest.raises(UsageError, match="variables that are no parameters: y"):
        relay.IRModule.from_expr(relay.Function([x], x + y))
    with pytest.raises(UsageError, match="stands twice"):
        relay.Function([x, x], x)
    assert [v.name_hint for v in relay.free_vars(x + y)] == ["x", "y"]


def test_a_body_that_is_a_parameter_or_a_constant_is_a_function() -> None:
    x = relay.var("x", shape=(2,))
    np.testing.assert_array_equal(run(x, random(2))[0], random(2))
    np.testing.assert_array_equal(run(relay.const([1.0, 2.0]))[0], [1, 2])


def test_a_constant_is_of_the_type_of_a_tensor() -> None:
    assert relay.const(1, relay.scalar_type("int64")).dtype == "int64"
    assert relay.const([1, 2], relay.TensorType((7,), "float16")).checked_type == relay.TensorType((2,), "float16")
    with pytest.raises(TypeError, match="'dtype' of const is a str"):
        relay.const(1, relay.TupleType([]))


def test_kinds_of_expressions_stand_in_the_module_that_tvm_has_them_in() -> None:
    x = relay.var("x", shape=(2,))
    pair = relay.expr.Tuple([x, relay.exp(x)])
    assert isinstance(pair, relay.expr.Tuple) and relay.expr.Tuple is relay.Tuple
    assert isinstance(relay.expr.Function([x], pair), relay.expr.Function)
    assert isinstance(relay.expr.If(relay.const(True), x, x), relay.expr.If)
    split = relay.split(x, 2)
    assert isinstance(relay.expr.TupleGetItem(split.astuple(), 0), relay.expr.TupleGetItem)
    assert relay.expr.Let(relay.var("y"), x, pair) is not None


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [(1, None, "int32"), (1.0, None, "float32"), ([1, 2], None, "int32"), (True, None, "bool"), (1, "int8", "int8"),
     (np.zeros(2), None, "float32"), (np.int64(1), None, "int32"), (np.zeros(2, "i8"), None, "int32"),
     (np.zeros(2, "i8"), "int64", "int64"), (np.zeros(2, "u8"), None, "uint64"),
     (weft.nd.array(np.zeros(2)), None, "float64")],
)  # fmt: skip
def test_constants_have_the_element_types_that_tvm_gives_them(value: Any, dtype: Any, expected: str) -> None:
    assert relay.const(value, dtype).dtype == expected


def test_a_dynamic_extent_is_any() -> None:
    x = relay.var("x", shape=(relay.Any(), 4))
    assert relay.exp(x).shape == (-1, 4)


MISTAKES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: relay.nn.dense(x), "missing a required argument: 'weight'"),
    (lambda x: relay.nn.softmax(x, axs=1), "did you mean 'axis'"),
    (lambda x: relay.nn.softmax(x, axis=5), "axis 5 is out of range"),
    (lambda x: relay.add(x, relay.const(np.zeros(3, np.float32))), "do not broadcast"),
    (lambda x: x - relay.const(np.zeros(3, np.float32)), "relay.subtract: shapes [4, 8] and [3] do not broadcast"),
    (lambda x: -relay.Tuple([x]), "relay.negative: "),
    (lambda x: x.astype("floaty"), "floaty"),
    (lambda x: x[0], "is no tuple"),
    (lambda x: relay.var("y", "float32", shape=(2,)), "either a type or a shape"),
    (lambda x: relay.var("y", shape=(2,), dtype="floaty"), "no element type 'floaty'"),
]


@pytest.mark.parametrize(("make", "message"), MISTAKES)
def test_mistakes_are_told_as_the_users(make: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        make(relay.var("x", shape=(4, 8)))
    assert message in f"{caught.value.message} {caught.value.hint}"


def test_an_unknown_operator_has_near_names() -> None:
    with pytest.raises(AttributeError, match=r"did you mean 'nn.dense'"):
        relay.nn.dence  # noqa: B018
    with pytest.raises(TypeError, match="no truth value"):
        bool(relay.var("x", shape=()) < 1.0)


COMPOSITE_CASES: dict[str, Callable[[Any], Any]] = {
    "variance": lambda x: np.var(x, axis=1),
    "std": lambda x: np.std(x, axis=1),
    "logsumexp": lambda x: np.log(np.exp(x).sum(axis=1)),
}


@pytest.mark.parametrize("name", COMPOSITE_CASES)
def test_what_is_made_of_operators_gives_what_numpy_gives(name: str) -> None:
    (got,) = run(COMPOSITES[name](relay.var("x", shape=(3, 5)), axis=1), random(3, 5))  # pyright: ignore[reportCallIssue]
    np.testing.assert_allclose(got, COMPOSITE_CASES[name](random(3, 5)), rtol=1e-5)


@pytest.mark.parametrize(("unbiased", "keepdims"), [(False, True), (True, False)])
def test_mean_and_variance_are_two_fields(unbiased: bool, keepdims: bool) -> None:
    x = random(3, 5)
    mean, variance = run(relay.mean_variance(relay.var("x", shape=(3, 5)), 1, keepdims, unbiased=unbiased), x)
    np.testing.assert_allclose(mean, x.mean(axis=1, keepdims=keepdims), rtol=1e-5)
    np.testing.assert_allclose(variance, x.var(axis=1, keepdims=keepdims, ddof=unbiased), rtol=1e-5)


WORKLOADS: dict[str, dict[str, Any]] = {
    "mlp": {},
    "lstm": {"iterations": 3},
    "mobilenet": {"image_shape": (3, 32, 32), "num_classes": 10},
    "resnet": {"num_layers": 18, "image_shape": (3, 32, 32), "num_classes": 10},
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.large] if name == "resnet" else []) for name in WORKLOADS]
)
def test_a_workload_compiles_to_what_its_operators_say(name: str) -> None:
    module, params = getattr(relay.testing, name).get_workload(**WORKLOADS[name])
    assert isinstance(module, ModuleOp)
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    level = 0 if name == "resnet" else 2  # its kernels are those of other tests; what is tested is the graph
    with weft.transform.PassContext(opt_level=level):
        executable = weft.compile(module, params=params, threads=1)
    inputs = {spec.name: random(*spec.shape) for spec in executable.inputs}
    given = {**params, **inputs}
    expected = evaluate_function(function, [given[a.name_hint or ""] for a in function.body.block.args])
    np.testing.assert_allclose(
        np.asarray(executable(*inputs.values()), np.float64), expected[0].astype(np.float64), rtol=1e-3, atol=1e-5
    )
    again, same = getattr(relay.testing, name).get_workload(**WORKLOADS[name])
    assert str(again) == str(module)
    for key, array in params.items():
        np.testing.assert_array_equal(same[key], array)


def test_what_runs_without_the_compiler_knows_its_unknown_extents() -> None:
    """`lowering/abi.py` imports no xDSL, and has the number of its own."""
    from weft.dialects.relay.base import DYNAMIC
    from weft.lowering import abi

    assert abi.DYNAMIC == DYNAMIC
    assert abi.TensorSpec("x", "float32", (DYNAMIC, 4)).type == "tensor<?x4xf32>"


def test_an_if_computes_in_its_branches_what_only_they_need():
    x, c = relay.var("x", shape=(4,)), relay.var("c", shape=(), dtype="bool")
    shared = relay.tanh(x)
    inner = relay.If(c, relay.exp(shared), shared * relay.const(2.0))
    y = relay.If(relay.logical_not(c), inner, x) + shared
    module = relay.IRModule.from_expr(relay.Function([x, c], y))
    module.verify()
    (main,) = (op for op in module.ops if isinstance(op, FuncOp))
    assert [op.name for op in main.body.block.ops if op.regions] == ["relay.if"]
    data = np.array([0.5, -1, 2, 0], np.float32)
    for condition in (True, False):
        (found,) = evaluate_function(main, [data, np.array(condition)])
        expected = (data if condition else np.tanh(data) * 2) + np.tanh(data)
        np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=1e-6)


def test_an_if_has_branches_of_one_type_and_a_truth_value():
    x, c = relay.var("x", shape=(4,)), relay.var("c", shape=(), dtype="bool")
    with pytest.raises(UsageError, match=r"branches of an If are of the types tensor<4xf32> and tensor<4xi32>"):
        relay.If(c, x, x.astype("int32"))
    with pytest.raises(UsageError, match=r"the condition of an If is a tensor<i1>, not tensor<4xf32>"):
        relay.If(x, x, x)


def test_dropout_gives_the_data_and_its_raw_form_the_mask_as_well() -> None:
    x = relay.var("x", shape=(2, 3))
    assert relay.nn.dropout(x, rate=0.2).shape == (2, 3)
    assert len(relay.nn.dropout_raw(x, rate=0.2)) == 2


def test_a_slice_with_too_few_bounds_leaves_the_other_dimensions() -> None:
    x = relay.var("x", shape=(3, 4, 5))
    assert relay.strided_slice(x, [1], [3, 4, 5]).shape == (2, 4, 5)
    assert relay.strided_slice(x, [1, 1], [2]).shape == (1, 3, 5)
    assert relay.strided_slice(x, [1, 1], [2], slice_mode="size").shape == (2, 3, 5)
    row = np.arange(5, dtype=np.float32)
    (backwards,) = run(relay.strided_slice(relay.var("r", shape=(5,)), [3], [], [-1]), row)
    assert backwards.tolist() == [3, 2, 1, 0]


def test_a_part_is_set_with_too_few_bounds_and_without_strides() -> None:
    x, v = relay.var("x", shape=(3, 4)), relay.var("v", shape=(2, 4))
    (changed,) = run(
        relay.strided_set(x, v, relay.const([1]), relay.const([3])), np.zeros((3, 4), np.float32), random(2, 4)
    )
    np.testing.assert_array_equal(changed, np.concatenate([np.zeros((1, 4)), random(2, 4)]).astype(np.float32))


def test_types_have_tvms_names() -> None:
    assert relay.scalar_type("int32") == TensorType(i32, []) == relay.var("i", "int32").checked_type
    pair = relay.TupleType([relay.TensorType((2,)), relay.scalar_type("bool")])
    assert pair == relay.Tuple([relay.var("x", shape=(2,)), relay.var("c", "bool")]).checked_type
    assert str(relay.FuncType([pair], relay.TensorType((2,)))) == f"({pair}) -> tensor<2xf32>"
    assert relay.ty.is_dynamic(relay.TensorType((relay.Any(),))) and not relay.ty.is_dynamic(pair)


def test_a_function_is_of_the_type_that_is_said_and_has_the_attributes_given() -> None:
    x = relay.var("x", shape=(3,))
    function = relay.Function([x], relay.exp(x), relay.TensorType((3,)), attrs={"Compiler": "mine"}, name="f")
    assert function.sym_name.data == "f" and 'Compiler = "mine"' in str(function)
    with pytest.raises(UsageError, match="the body is of type tensor<3xf32>, and 'ret_type' is tensor<f32>"):
        relay.Function([x], x, relay.scalar_type("float32"))
    with pytest.raises(UsageError, match="the type parameters of a function are type variables"):
        relay.Function([x], x, type_params=[x.checked_type])


def test_all_operators_are_in_one_namespace_as_well() -> None:
    assert relay.op.nn.relu is relay.nn.relu and relay.op.add is relay.add
    assert {"add", "nn"} <= set(dir(relay.op))
    with pytest.raises(AttributeError, match="relay has no operator 'ad'"):
        _ = relay.op.ad


@pytest.mark.parametrize(("rank", "layouts"), [(1, ("OIW", "IOW")), (3, ("OIDHW", "IODHW"))])
def test_the_weight_of_a_transposed_convolution_has_its_inputs_where_tvm_says_o(rank: int, layouts: Any) -> None:
    transpose: Any = getattr(relay.nn, f"conv{rank}d_transpose")
    taps = (2,) * rank
    x, w = relay.var("x", shape=(1, 3, *taps)), relay.var("w", shape=(3, 3, *taps))
    data, weight = random(1, 3, *taps), random(3, 3, *taps)
    (default,) = run(transpose(x, w), data, weight)
    middle = default[(0, slice(None), *(1,) * rank)]  # what all elements of the data meet in
    turned = weight[(slice(None), slice(None), *(slice(None, None, -1),) * rank)]
    np.testing.assert_allclose(
        middle, np.einsum("ik,iok->o", data[0].reshape(3, -1), turned.reshape(3, 3, -1)), rtol=1e-5
    )
    (said,) = run(transpose(x, w, kernel_layout=layouts[0]), data, weight)
    np.testing.assert_array_equal(said, default)
    (other,) = run(transpose(x, w, kernel_layout=layouts[1]), data, np.ascontiguousarray(weight.swapaxes(0, 1)))
    np.testing.assert_array_equal(other, default)


def test_one_number_is_the_size_of_a_kernel_along_all_axes() -> None:
    x, w = relay.var("x", shape=(1, 3, 8, 8)), relay.var("w", shape=(4, 3, 3, 3))
    assert relay.nn.conv2d(x, w, kernel_size=3, channels=4).shape == (1, 4, 6, 6)
    with pytest.raises(UsageError, match="'kernel_size' is"):
        relay.nn.conv2d(x, w, kernel_size=5)


def test_tvms_other_name_of_truth_values_is_known() -> None:
    assert relay.var("c", shape=(), dtype="uint1").dtype == "bool"


def test_passes_take_tvms_arguments_in_tvms_order() -> None:
    assert not relay.transform.DeadCodeElimination(True).ignore_impurity
    assert relay.transform.DeadCodeElimination(True, True).ignore_impurity
    assert relay.transform.RemoveUnusedFunctions(["f", "g"]).entry == ("f", "g")
    assert relay.transform.RemoveUnusedFunctions().entry == ("main",)


def test_extents_may_be_numpys_integers() -> None:
    assert relay.TensorType((np.int64(2), np.int32(3))) == TensorType(f32, [2, 3])


@pytest.mark.parametrize("name", ["1x", "input:0", "x_1"])
def test_a_name_that_no_text_has_is_kept(name: str) -> None:
    x = relay.var(name, shape=(2,))
    func = relay.Function([x], relay.nn.relu(x))
    assert x.name_hint == func.params[0].name_hint == name
    exe = weft.compile(relay.IRModule.from_expr(func))
    np.testing.assert_array_equal(cast("Any", exe).run({name: np.array([-1, 1], np.float32)})["out"], [0, 1])


def test_a_variable_is_made_by_its_class_too() -> None:
    x, open_ = relay.Var("x", relay.TensorType((2,), "int8")), relay.Var("y")
    assert isinstance(x, relay.Var) and (x.name_hint, x.shape, x.dtype) == ("x", (2,), "int8")
    assert str(open_.checked_type) == "!relay.incomplete"


def test_parts_of_expressions_have_tvms_names() -> None:
    x, c = relay.var("x", shape=(4,)), relay.var("c", "bool")
    pair = relay.split(x, 2).astuple()
    field = pair[1]
    assert field.tuple_value == pair and field.index == 1
    assert pair.tuple_value == pair  # TVM wraps a tuple that an operator gives
    branch = relay.If(c, x, relay.exp(x))
    assert branch.cond == c and branch.true_branch == x and branch.false_branch.op.name == "exp"
    for wrong in ("tuple_value", "index", "cond", "true_branch", "false_branch"):
        with pytest.raises(AttributeError, match=r"relay variable %x of type tensor<4xf32> is not (a field|an If)"):
            getattr(x, wrong)


def test_what_was_taken_of_a_module_outlives_its_place_there() -> None:
    x = relay.var("x", shape=(4,))
    module = relay.IRModule.from_expr(relay.Function([x], relay.exp(x)))
    before = module["main"].body
    module["main"] = relay.Function([x], relay.exp(x))
    assert relay.structural_equal(module["main"].body, before)


def test_a_tuple_of_a_type_that_is_not_known_has_a_size() -> None:
    wrapped = relay.TupleWrapper(relay.var("t"), 2)
    first, second = wrapped
    assert (
        len(wrapped) == 2
        and (first.index, second.index) == (0, 1)
        and wrapped.astuple() == wrapped == first.tuple_value
    )
    with pytest.raises(IndexError, match="field 2 of a tuple of 2"):
        wrapped[2]
    with pytest.raises(UsageError, match=r"a value of type tuple<tensor<f32>> is no tuple of 2 fields"):
        relay.TupleWrapper(relay.Tuple([relay.const(1.0)]), 2)


def test_a_field_of_a_tuple_that_was_made_is_what_it_was_made_of() -> None:
    x, two = relay.var("x", shape=(3,)), relay.const(2.0)
    pair = relay.Tuple([x, two])
    assert pair[0] == x and pair[-1] == two and list(pair) == pair.fields
    folded = relay.transform.FoldConstant()(relay.IRModule.from_expr(relay.Tuple([x, two + two])))
    assert folded["main"].body[1].data == 4.0
    with pytest.raises(IndexError, match="field 2 of a tuple of 2"):
        pair[2]


def test_a_walk_that_says_nothing_of_a_kind_is_not_implemented() -> None:
    for visited in (relay.const(1.0), relay.GlobalVar("f"), relay.op.get("exp"), relay.Function([], relay.const(1))):
        with pytest.raises(NotImplementedError, match="ExprFunctor does not say what to do with"):
            relay.ExprFunctor().visit(visited)
        relay.ExprVisitor().visit(visited)
        assert relay.ExprMutator().visit(visited) is visited


M: Any = relay.var("m", shape=(1, 3, 8, 8))
W: Any = relay.var("w", shape=(4, 3, 3, 3))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: relay.nn.conv2d(M, W, data_layout=1), "relay.nn.conv2d: 'data_layout' cannot be 1"),
        (lambda: relay.nn.conv2d(M, W, strides="a"), "'strides' cannot be 'a'"),
        (lambda: relay.nn.conv2d(M, W, strides=2**70), "'strides' cannot be 1180591620717411303424"),
        (lambda: relay.nn.conv2d(M, W, strides=2.5), "'strides' cannot be 2.5"),
        (lambda: relay.argmax(M, axis=[None]), r"'axis' cannot be \[None\]"),
        (lambda: relay.zeros((2**70,), "float32"), "'shape' cannot be"),
        (lambda: relay.IRModule(1), "'functions' of IRModule is a mapping"),
        (lambda: weft.PassContext(disabled_pass=cast(Any, range(3))), "the name of a pass is a string, and not 0"),
        (lambda: relay.const(2**70), "does not hold what it is given"),
        (lambda: relay.const([1, [2]]), "a constant is an array of numbers"),
    ],
)
def test_what_a_property_cannot_be_is_said(call: Callable[[], object], words: str) -> None:
    with pytest.raises(Diagnostic, match=words):
        call()


def test_a_tensor_of_more_dimensions_than_there_can_be_is_refused() -> None:
    with pytest.raises(UsageError, match="the result would have rank 1099511627777; 64 is the greatest"):
        relay.expand_dims(relay.var("x", shape=(2,)), 1, 2**40)
    assert relay.expand_dims(relay.var("x", shape=(2,)), 1, 63).shape == (2,) + (1,) * 63


def test_a_call_says_the_types_of_its_arguments() -> None:
    x, y = relay.var("x", shape=(2, 3)), relay.var("y", shape=(3,))
    assert relay.add(x, y).type_args == [x.checked_type, y.checked_type]


def test_blocked_convolutions_have_tvms_lower_case_names() -> None:
    x, w = relay.var("x", shape=(1, 1, 4, 4, 4)), relay.var("w", shape=(1, 1, 3, 3, 4, 4))
    y = relay.nn.contrib_conv2d_nchwc(x, w, data_layout="NCHW4c", kernel_layout="OIHW4i4o", out_layout="NCHW4c")
    assert y.op.name == "nn.contrib_conv2d_NCHWc" and y.shape == (1, 1, 2, 2, 4)


def test_a_deformable_convolution_tells_what_its_weight_and_offsets_are() -> None:
    x = relay.var("x", shape=(1, 4, 6, 6))
    y = relay.nn.deformable_conv2d(
        x, relay.var("offset"), relay.var("w"), deformable_groups=2, channels=8, kernel_size=(3, 3)
    )
    function = relay.Function(relay.analysis.free_vars(y), y)
    (main,) = relay.IRModule.from_expr(function).functions.values()
    assert [relay.Expr(a).shape for a in main.body.block.args] == [(1, 4, 6, 6), (1, 36, 4, 4), (8, 4, 3, 3)]


def test_a_module_is_optimized_as_far_as_its_operators_are_not_fused() -> None:
    x, w = relay.var("x", shape=(1, 4)), relay.var("w", shape=(4, 4))
    module = relay.IRModule.from_expr(relay.Function([x, w], relay.nn.relu(relay.exp(relay.nn.dense(x, w)))))
    given = str(module)
    plain, rest = relay.optimize(module, "llvm", {"w": np.eye(4, dtype=np.float32)})
    with PassContext(opt_level=3, required_pass=["FastMath"]):
        fast, _ = relay.optimize(module, "llvm")
    assert str(module) == given and rest == {}
    assert len(plain["main"].body.block.args) == 1 and "relay.fast_exp" not in str(plain)
    assert len(fast["main"].body.block.args) == 2 and "relay.fast_exp" in str(fast)


def test_element_types_without_a_width_have_32_bits() -> None:
    """As in TVM."""
    x = relay.var("x", shape=(2,), dtype="int")
    assert (x.dtype, relay.cast(x, "float").dtype, relay.const(3, "uint").dtype) == ("int32", "float32", "uint32")
