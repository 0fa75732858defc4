"""Are two graphs the same but for names?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import UnitAttr

from weft import relay
from weft.dialects.relay.core import FuncOp
from weft.dialects.support.diagnostics import UsageError
from weft.frontend.mlir import parse_mlir

relay: Any = relay
equal: Any = relay.structural_equal

X, Y = relay.var("x", shape=(3,)), relay.var("y", shape=(3,))
C = relay.var("c", "bool")


def test_sharing_and_order_do_not_count_but_operands_do() -> None:
    shared = relay.exp(X)
    assert equal(shared + shared, relay.exp(X) + relay.exp(X))
    assert equal(relay.Function([X, Y], X - Y), relay.Function([Y, X], Y - X))
    assert not equal(relay.Function([X, Y], X - Y), relay.Function([X, Y], Y - X))


def test_attributes_count_and_a_default_is_what_it_is() -> None:
    m = relay.var("m", shape=(3, 3))
    assert not equal(relay.nn.softmax(m), relay.nn.softmax(m, axis=0))
    text = """
    relay.func @f(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
      %0 = relay.nn.softmax %x : tensor<3x3xf32>
      relay.return %0 : tensor<3x3xf32>
    }"""
    function = parse_mlir(text, "t").body.block.first_op
    assert isinstance(function, FuncOp)
    assert equal(function, relay.Function([m], relay.nn.softmax(m, axis=-1)))
    assert not equal(relay.Function([X], X, attrs={"Compiler": "a"}), relay.Function([X], X, attrs={"Compiler": "b"}))


def test_what_types_say_and_how_an_axis_is_counted_does_not_count() -> None:
    m, w = relay.var("m", shape=(1, 2, 5, 5)), relay.var("w", shape=(4, 2, 3, 3))
    assert equal(relay.nn.conv2d(m, w), relay.nn.conv2d(m, w, channels=4, kernel_size=(3, 3)))
    assert not equal(relay.nn.conv2d(m, w), relay.nn.conv2d(m, w, padding=1))
    assert equal(relay.concatenate([m, m], -1), relay.concatenate([m, m], 3))
    assert not equal(relay.concatenate([m, m], -1), relay.concatenate([m, m], 2))
    assert equal(relay.nn.softmax(m), relay.nn.softmax(m, axis=3))
    assert not equal(relay.stack([X, X], -1), relay.stack([X, X], 0))
    nearly = float(np.float32(1e-3))
    assert equal(relay.nn.leaky_relu(X, nearly), relay.nn.leaky_relu(X, 1e-3))
    assert not equal(relay.nn.leaky_relu(X, 1.001e-3), relay.nn.leaky_relu(X, 1e-3))
    assert equal(relay.clip(X, 0.0, 1e300), relay.clip(X, 0.0, 1e300))
    assert not equal(relay.clip(X, 0.0, 1e300), relay.clip(X, 0.0, 2e300))


def test_free_variables_are_met_in_the_order_of_operands() -> None:
    z = relay.var("z", shape=(3,))
    assert relay.analysis.free_vars(relay.concatenate([X, Y - z, z], 0)) == [X, Y, z]
    assert relay.analysis.free_vars(relay.where(C, Y, X - z)) == [C, Y, X, z]


def test_free_variables_are_one_or_are_mapped() -> None:
    assert not equal(relay.exp(X), relay.exp(Y)) and equal(relay.exp(X), relay.exp(Y), map_free_vars=True)
    assert equal(X - Y, Y - X, map_free_vars=True) and not equal(X - X, X - Y, map_free_vars=True)
    assert not equal(relay.exp(X), relay.exp(relay.var("z", shape=(4,))), map_free_vars=True)


def applied(attrs: Any, swapped: bool = False) -> Any:
    a, b = relay.var("a", shape=(3,)), relay.var("b", shape=(3,))
    made = relay.Function([b, a] if swapped else [a, b], relay.exp(a - b), attrs=attrs)
    return relay.Function([X, Y], made(Y, X) if swapped else made(X, Y))


def test_a_region_is_the_function_that_tvm_makes_of_it() -> None:
    whole = relay.Function([X, Y], relay.exp(X - Y))
    fused = relay.transform.FuseOps(fuse_opt_level=2)(relay.IRModule.from_expr(whole))
    assert equal(fused["main"], applied({"Primitive": 1}))
    assert not equal(fused["main"], applied({})) and not equal(fused["main"], whole)
    pattern = relay.dataflow_pattern.is_op("exp")(relay.dataflow_pattern.wildcard() - relay.dataflow_pattern.wildcard())
    found = pattern.partition(whole, {"Composite": "c"})
    attrs = {"Composite": "c", "PartitionedFromPattern": "subtract_exp_"}
    assert equal(found, applied(attrs)) and not equal(found, applied({**attrs, "Composite": "d"}))


def test_the_order_of_an_applied_functions_parameters_does_not_count() -> None:
    assert equal(applied({}), applied({}, swapped=True))
    a, b = relay.var("a", shape=(3,)), relay.var("b", shape=(3,))
    minus = relay.Function([a, b], a - b)
    assert not equal(minus(X, Y), minus(Y, X))
    assert equal(relay.Tuple([minus(X, Y), minus(Y, X)]), relay.Tuple([minus(X, Y), minus(Y, X)]))
    assert not equal(relay.Tuple([minus(X, Y), minus(Y, X)]), relay.Tuple([minus(X, Y), minus(X, Y)]))


def test_a_region_of_several_results_is_a_function_that_gives_a_tuple() -> None:
    text = """
    relay.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
      %0, %1 = relay.primitive(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      ^bb0(%p: tensor<3xf32>):
        %a = relay.exp %p : tensor<3xf32>
        %b = relay.tanh %p : tensor<3xf32>
        relay.yield %a, %b : tensor<3xf32>, tensor<3xf32>
      }
      %2 = relay.subtract %0, %1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      relay.return %2 : tensor<3xf32>
    }"""
    p = relay.var("p", shape=(3,))

    def both(first: int) -> Any:
        made = relay.Function([p], relay.Tuple([relay.exp(p), relay.tanh(p)]), attrs={"Primitive": 1})(X)
        return relay.Function([X, Y], made[first] - made[1 - first])

    found = parse_mlir(text, "t").body.block.first_op
    assert isinstance(found, FuncOp)
    assert equal(found, both(0)) and not equal(found, both(1))


def test_a_parameter_is_the_variable_that_it_was_made_of() -> None:
    graph = relay.nn.relu(X - Y)
    body = relay.transform.InferType()(relay.IRModule.from_expr(graph))["main"].body
    again = relay.transform.InferType()(relay.IRModule.from_expr(relay.nn.relu(X - Y)))["main"].body
    swapped = relay.transform.InferType()(relay.IRModule.from_expr(relay.nn.relu(Y - X)))["main"].body
    assert equal(body, again) and equal(body, graph) and equal(graph, body) and not equal(body, swapped)
    assert relay.structural_hash(body) == relay.structural_hash(graph)
    assert not equal(X, relay.var("x", shape=(3,))), "two variables that no function has are two"
    other = relay.IRModule.from_expr(relay.nn.relu(X - relay.var("z", shape=(3,))))["main"].body
    assert not equal(body, other) and not equal(graph, other)
    x, same = relay.var("x", shape=(3,)), relay.var("x", shape=(3,))
    twins = relay.IRModule.from_expr(x - same)["main"].body
    assert equal(twins, same - x) and not equal(twins, x - x)


def test_a_field_of_a_tuple_is_what_it_was_made_of() -> None:
    pair = relay.Tuple([X, Y])
    assert equal(pair[1], Y) and not equal(pair[0], Y)
    assert equal(relay.exp(relay.TupleGetItem(pair, 0)), relay.exp(X))


def test_the_layout_of_a_result_is_that_of_the_data_unless_it_is_another() -> None:
    m, w = relay.var("m", shape=(1, 4, 4, 2)), relay.var("w", shape=(1, 1, 2, 2))
    pool = relay.nn.max_pool2d(m, layout="NHWC")
    assert equal(pool, relay.nn.max_pool2d(m, layout="NHWC", out_layout="NHWC"))
    layouts = {"data_layout": "NHWC", "kernel_layout": "HWIO"}
    plain = relay.nn.conv2d(m, w, **layouts)
    assert equal(plain, relay.nn.conv2d(m, w, **layouts, out_layout="NHWC"))
    assert not equal(plain, relay.nn.conv2d(m, w, **layouts, out_layout="NCHW"))


def test_constants_are_compared_by_their_data() -> None:
    large = np.arange(600, dtype=np.float32)
    one, other = relay.const(large) * relay.const(2.0), relay.const(large) * relay.const(2.0)
    named = relay.bind_params_by_name(relay.Function([X], X), {"x": large[:3]})
    assert equal(one, other) and equal(named, relay.Function([], relay.const(large[:3])))
    wide = relay.var("weight", shape=(600,))
    bound = relay.bind_params_by_name(relay.Function([wide], wide * relay.const(2.0)), {"weight": large})
    assert equal(bound, relay.Function([], one)) and not equal(
        bound, relay.Function([], relay.const(large + 1) * relay.const(2.0))
    )


def test_marks_of_functions_are_those_of_tvm() -> None:
    marked = relay.Function([X], X).with_attr("Primitive", 1).with_attr("Inline", 1)
    own = relay.Function([X], X)
    own.attributes |= {"primitive": UnitAttr(), "Inline": UnitAttr()}
    assert equal(marked, own) and not equal(marked, relay.Function([X], X).with_attr("Inline", 1))


def test_functions_of_several_results_give_the_tuple_that_tvm_has() -> None:
    text = """
    relay.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0, %1 = relay.call @two(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
      %2 = relay.subtract %0, %1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      relay.return %2 : tensor<3xf32>
    }
    relay.func @two(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %0 = relay.exp %x : tensor<3xf32>
      relay.return %x, %0 : tensor<3xf32>, tensor<3xf32>
    }"""
    two = relay.GlobalVar("two", relay.FuncType([X.checked_type], relay.TupleType([X.checked_type, X.checked_type])))

    def module(first: int) -> Any:
        both = two(X)
        functions = {"two": relay.Function([X], relay.Tuple([X, relay.exp(X)]))}
        return relay.IRModule({"main": relay.Function([X], both[first] - both[1 - first]), **functions})

    assert equal(parse_mlir(text, "t"), module(0)) and not equal(parse_mlir(text, "t"), module(1))


def test_branches_are_compared() -> None:
    assert equal(relay.If(C, X + Y, X * Y), relay.If(C, X + Y, X * Y))
    assert not equal(relay.If(C, X + Y, X * Y), relay.If(C, X * Y, X + Y))
    nested = relay.If(C, relay.If(C, X, Y), Y)
    assert equal(nested + nested, relay.If(C, relay.If(C, X, Y), Y) + nested)


EFFECTS = """
relay.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {{
  %r = relay.ref_create %x : (tensor<f32>) -> !relay.ref<tensor<f32>>
  relay.ref_write %r, %{0} : !relay.ref<tensor<f32>>, tensor<f32>
  relay.ref_write %r, %{1} : !relay.ref<tensor<f32>>, tensor<f32>
  %v = relay.ref_read %r : (!relay.ref<tensor<f32>>) -> tensor<f32>
  relay.return %v : tensor<f32>
}}"""


def test_the_order_of_effects_counts() -> None:
    first, again, other = (parse_mlir(EFFECTS.format(*order), "t") for order in ("xy", "xy", "yx"))
    assert equal(first, again) and not equal(first, other)


def test_modules_are_compared_by_the_names_of_functions() -> None:
    module = relay.IRModule.from_expr(X + Y)
    assert equal(module, module.clone()) and not equal(
        module, relay.IRModule.from_expr(X + Y, {"f": relay.Function([X], X)})
    )


def test_types_are_compared_and_unlike_things_are_unequal() -> None:
    assert equal(relay.TensorType((3,)), X.checked_type)
    assert equal(relay.TupleType([X.checked_type] * 2), relay.Tuple([X, Y]).checked_type)
    assert not equal(X, X.checked_type)


def test_the_difference_is_shown() -> None:
    relay.assert_structural_equal(X + Y, X + Y)
    with pytest.raises(AssertionError, match=r"(?s)-.*relay.add.*[+].*relay.subtract"):
        relay.assert_structural_equal(X + Y, X - Y)


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_numbers_that_are_one_in_f32_are_not_where_more_digits_are_computed_with(dtype: str) -> None:
    x, f = relay.var("x", shape=(3,), dtype=dtype), relay.var("f", shape=(3,))
    assert not equal(relay.clip(x, 0.0, 16777216.0), relay.clip(x, 0.0, 16777217.0))
    assert equal(relay.clip(f, 0.0, 16777216.0), relay.clip(f, 0.0, 16777217.0))


def test_numbers_are_those_of_f32_where_no_type_is_known_yet() -> None:
    x, others, wide = relay.Var("x"), [relay.Var(name) for name in "abcd"], relay.var("w", shape=(2,), dtype="float64")
    narrow = float(np.float32(1e-5))
    norm = relay.nn.batch_norm(x, *others, epsilon=1e-5)[0]
    assert equal(norm, relay.nn.batch_norm(x, *others, epsilon=narrow)[0])
    assert not equal(norm, relay.nn.batch_norm(x, *others, epsilon=1.1e-5)[0])
    norm, other = (relay.nn.batch_norm(x, wide, *others[1:], epsilon=epsilon)[0] for epsilon in (1e-5, narrow))
    assert not equal(norm, other)


def test_the_new_axis_of_one_hot_counts_in_the_result() -> None:
    i, n = relay.var("i", shape=(relay.Any(),), dtype="int64"), relay.var("n", shape=(), dtype="int64")
    on, off = relay.const(1.0), relay.const(0.0)
    first, last = (relay.dyn.one_hot(i, on, off, n, axis=axis, dtype="float32") for axis in (0, 1))
    assert not equal(first, last)


def test_parameters_of_64_bits_are_other_numbers_neither_beyond_a_float_nor_without_a_sign() -> None:
    for array, dtype in ((np.array([1e300]), "float32"), (np.array([-1]), "uint64"), (np.array([300]), "uint8")):
        x = relay.var("x", shape=(1,), dtype=dtype)
        with pytest.raises(UsageError, match="parameter 'x' is"):
            relay.bind_params_by_name(relay.Function([x], x), {"x": array})


def test_a_slice_is_what_it_takes_and_a_layout_whatever_its_axes_are_called() -> None:
    x = relay.var("x", shape=(2, 8, 6))
    whole = relay.strided_slice(x, [0, 1, 0], [2, -1, 6], [1, 2, 1])
    assert equal(whole, relay.strided_slice(x, [1], [100], [2], axes=[1])) is False
    assert equal(whole, relay.strided_slice(x, [1], [7], [2], axes=[-2]))
    assert equal(relay.strided_slice(x, [1, 2], [1, 3], slice_mode="size"), relay.strided_slice(x, [1, 2], [2, 5]))
    assert not equal(whole, relay.strided_slice(x, [1], [6], [3], axes=[1]))
    moved = relay.layout_transform(x, "NCW", "NWC")
    assert equal(moved, relay.layout_transform(x, "ABD", "ADB")) and not equal(
        moved, relay.layout_transform(x, "NCW", "CNW")
    )
    blocked = relay.layout_transform(x, "NCW", "NCW4c")
    assert equal(blocked, relay.layout_transform(x, "BAW", "BAW4a"))
    assert not equal(blocked, relay.layout_transform(x, "NCW", "NCW2c"))
    n = relay.var("n", shape=(relay.Any(), 4))
    assert not equal(relay.strided_slice(n, [0], [2]), relay.strided_slice(n, [0], [3]))


def test_padding_is_what_it_is_on_both_sides() -> None:
    x, w = relay.var("x", shape=(1, 2, 6, 6)), relay.var("w", shape=(3, 2, 3, 3))
    one = relay.nn.conv2d(x, w, padding=(1, 2))
    assert equal(one, relay.nn.conv2d(x, w, padding=(1, 2, 1, 2)))
    assert not equal(one, relay.nn.conv2d(x, w, padding=(2, 1, 0, 3)))
    assert equal(relay.nn.max_pool2d(x, (2, 2), padding=1), relay.nn.max_pool2d(x, (2, 2), padding=(1, 1, 1, 1)))


def test_what_types_do_not_say_counts() -> None:
    """Units of layers of unknown types were not looked at, and slices of such ended in a traceback."""
    unknown = relay.var("unknown")
    assert not equal(relay.nn.dense(unknown, Y, units=4), relay.nn.dense(unknown, Y, units=8))
    assert equal(relay.strided_slice(unknown, [0], [1]), relay.strided_slice(unknown, [0], [1]))
    assert not equal(relay.strided_slice(unknown, [0], [1]), relay.strided_slice(unknown, [0], [2]))


def test_one_number_for_all_axes_of_a_window_is_one_for_each() -> None:
    m = relay.var("m", shape=(1, 2, 9, 9))
    once, each = relay.nn.max_pool2d(m, 3, strides=2, padding=1), relay.nn.max_pool2d(m, (3, 3), (2, 2), padding=(1, 1))
    assert equal(once, each)
    assert not equal(once, relay.nn.max_pool2d(m, (3, 3), (2, 2), padding=(1, 0)))
    rows = relay.var("rows", shape=(relay.Any(), 4))
    steps = [relay.strided_slice(rows, [0, 0], [4, 4], strides) for strides in ([2], [2, 2])]
    assert not equal(*steps)  # whose numbers are not of windows


def test_a_name_that_two_parameters_have_names_none_to_bind() -> None:
    first, second = relay.var("a", shape=(1,)), relay.var("a", shape=(1,))
    func = relay.Function([first, second], first - second)
    one = {"a": np.ones(1, np.float32)}
    for given in (func, relay.IRModule.from_expr(func)):
        with pytest.raises(UsageError, match="@main has 2 parameters of the name 'a'"):
            relay.bind_params_by_name(given, one)
    bound = relay.bind(func, {func.params[1]: relay.const(np.ones(1, np.float32))})
    assert equal(relay.bind_params_by_name(bound, one).tree, relay.const(one["a"]) - relay.const(one["a"]))
