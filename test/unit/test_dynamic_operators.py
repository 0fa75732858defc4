"""Operators that are told by data what they give: evaluated, replaced where the data is known, refused elsewhere."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.relay import Relay
from weft.dialects.relay.base import RelayOp
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.relay.reference import evaluate_op
from weft.dialects.relay.told import DynOp
from weft.dialects.support.checks import CheckError
from weft.dialects.support.diagnostics import Diagnostic
from weft.frontend.mlir import parse_mlir
from weft.testing.examples import OperatorExample, examples_of, formula

pytestmark = pytest.mark.sampled(5)

DYNAMIC = [each for each in examples_of(Relay) if issubclass(each.op_type, DynOp)]


@pytest.mark.parametrize("example", DYNAMIC, ids=str)
def test_it_gives_what_the_operator_that_replaces_it_gives(example: OperatorExample):
    op, inputs = example.op, example.inputs()
    assert isinstance(op, DynOp)
    names = [name for name, _ in op.get_irdl_definition().operands]
    values = dict(zip(names, inputs, strict=True))
    told = op.told_by(*(values[name] for name in op.TOLD))
    wanted = evaluate_op(told, [values[name] for name in names if name not in op.TOLD])
    told.erase()
    found = evaluate_op(op, inputs)
    text = formula(op.__class__)
    if text is not None:
        named: dict[str, Any] = {"np": np}
        named |= {v.name_hint or "?": array for v, array in zip(example.operands(), inputs, strict=True)}
        np.testing.assert_array_equal(found[0], eval(text, named).astype(found[0].dtype))
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("example", DYNAMIC, ids=str)
def test_its_open_type_holds_its_result(example: OperatorExample):
    op = example.op
    assert isinstance(op, DynOp)
    shapes = re.findall(r"tensor<([^>]*)x\w+>", str(op.open_type()))
    found = evaluate_op(op, example.inputs())
    for shape, array in zip(shapes, found, strict=True):
        extents = shape.split("x")
        assert len(extents) == array.ndim
        assert all(n in ("?", str(m)) for n, m in zip(extents, array.shape, strict=True))


def test_a_shape_that_follows_from_shapes_is_known_when_a_graph_is_compiled():
    x = relay.var("x", shape=(4, 6))
    rows = relay.strided_slice(relay.shape_of(x, dtype="int64"), begin=[0], end=[1])
    shape = relay.concatenate([rows, relay.const([2, 3], "int64")], axis=0)
    y = relay.dyn.reshape(x, shape)
    z = relay.nn.relu(relay.dyn.tile(y, relay.const([1, 2, 1], "int64")))
    function = relay.Function([x], z)
    array = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    wanted = np.tile(array.reshape(4, 2, 3), (1, 2, 1)).clip(0)
    np.testing.assert_array_equal(evaluate_function(function, [array])[0], wanted)
    np.testing.assert_array_equal(weft.compile(function)(array), wanted)


def test_a_shape_that_is_an_input_is_read():
    x, s = relay.var("x", shape=(4, 6)), relay.var("s", shape=(2,), dtype="int64")
    function = relay.Function([x, s], relay.dyn.reshape(x, s))
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    found = evaluate_function(function, [array, np.array([3, -1])])
    np.testing.assert_array_equal(found[0], array.reshape(3, 8))
    exe = weft.compile(function)
    for shape in ([3, 8], [24, 1], [2, 12]):
        np.testing.assert_array_equal(exe(array, np.array(shape)), array.reshape(shape))
    for shape, message in (([3, -1], "24 <="), ([3, 7], "24 <= (s_0 * s_1)"), ([5, 5], "(s_0 * s_1) <= 24")):
        with pytest.raises(Diagnostic) as caught:
            exe(array, np.array(shape))
        assert message in caught.value.message


def test_in_a_shape_that_data_decides_zero_is_an_extent_of_the_data_and_minus_one_what_remains():
    x, s = relay.var("x", shape=(relay.Any(), 6)), relay.var("s", shape=(2,), dtype="int32")
    exe = weft.compile(relay.Function([x, s], relay.reshape(x, s - relay.const(1))))
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    for shape, wanted in (
        ([3, -1], (3, 8)),
        ([-1, 12], (2, 12)),
        ([0, -1], (4, 6)),
        ([0, 0], (4, 6)),
        ([-1, 0], (4, 6)),
    ):
        np.testing.assert_array_equal(exe(array, np.array(shape, np.int32) + 1), array.reshape(wanted))
    for rows, shape in ((4, [-2, -12]), (4, [-1, -1]), (0, [-3, -4])):
        with pytest.raises(Diagnostic):
            exe(array[:rows], np.array(shape, np.int32) + 1)


def test_a_shape_is_put_together_of_numbers_and_inputs():
    x, s = relay.var("x", shape=(2, relay.Any(), 4)), relay.var("s", shape=(2,), dtype="int64")
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for first, given, last, wanted in (
        ([], [0, 0], [2, 2], (2, 3, 2, 2)),
        ([-1], [0, 0], [], (2, 3, 4)),
        ([2], [-1, 0], [1], (2, 3, 4, 1)),
        ([4, 3], [2, -1], [], (4, 3, 2, 1)),
        ([0], [3, 4], [-1], (2, 3, 4, 1)),
    ):
        before, after = ([relay.const(numbers, "int64")] if numbers else [] for numbers in (first, last))
        shape = relay.concatenate([*before, s, *after], 0)
        found = weft.compile(relay.Function([x, s], relay.reshape(x, shape)))(array, np.array(given))
        np.testing.assert_array_equal(found, array.reshape(wanted))


def test_a_result_that_no_shape_was_told_of_has_open_extents():
    x, k = relay.var("x", shape=(2, 5)), relay.var("k", shape=(), dtype="int64")
    made = relay.dyn.topk(x, k, axis=1).value.owner
    assert isinstance(made, RelayOp)
    assert str(made.results[0].type) == "tuple<tensor<2x?xf32>, tensor<2x?xi32>>"


@pytest.mark.parametrize(("count", "taken"), [(0, 5), (-1, 5), (2, 2)])
def test_as_many_elements_are_taken_whether_their_number_is_computed_of_constants_or_given(
    count: int, taken: int
) -> None:
    x, k = relay.var("x", shape=(2, 5)), relay.var("k", shape=(1,), dtype="int64")
    array = np.arange(10, dtype=np.float32).reshape(2, 5)
    given = relay.Function([x, k], relay.topk(x, k, axis=1, ret_type="values"))
    sums = relay.subtract(relay.const([count + 3], "int64"), relay.const([3], "int64"))
    computed = relay.Function([x], relay.topk(x, sums, axis=1, ret_type="values"))
    wanted = np.sort(array, axis=1)[:, ::-1][:, :taken]
    numbers = [np.array([count])]
    for function, arrays in ((given, [array, *numbers]), (computed, [array])):
        (found,) = evaluate_function(function, arrays)
        np.testing.assert_array_equal(found, wanted)
    (found,) = weft.compile(computed).run({"x": array}).values()
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(weft.compile(given)(array, *numbers), wanted)


def test_all_elements_are_taken_where_their_number_is_computed_as_none_when_it_runs() -> None:
    x, k = relay.var("x", shape=(2, relay.Any())), relay.var("k", shape=(1, 3), dtype="int64")
    given = relay.Function([x, k], relay.topk(x, relay.sum(k, axis=1), axis=1, ret_type="values"))
    run = weft.compile(given)
    for size, count, taken in ((5, 0, 5), (5, -3, 5), (5, 2, 2), (1, 1, 1), (3, 0, 3)):
        array = np.arange(2 * size, dtype=np.float32).reshape(2, size)
        wanted = np.sort(array, axis=1)[:, ::-1][:, :taken]
        np.testing.assert_array_equal(run(array, np.array([[count + 1, 2, -3]])), wanted)
    with pytest.raises(CheckError, match="outside"):
        run(np.zeros((2, 3), np.float32), np.array([[4, 0, 0]]))


def test_no_elements_are_taken_where_zero_says_so() -> None:
    x, k = relay.var("x", shape=(2, 5)), relay.var("k", shape=(1,), dtype="int64")
    array = np.arange(10, dtype=np.float32).reshape(2, 5)
    function = relay.Function([x, k], relay.dyn.topk(x, k, axis=1, ret_type="values", zero_is_none=True))
    for count, taken in ((0, 0), (-1, 5), (2, 2)):
        (found,) = evaluate_function(function, [array, np.array([count])])
        assert found.shape == (2, taken)


@pytest.mark.parametrize("begin, end, stride", [(1, 3, 1), (2, 9, 1), (1, 9, 2), (3, 5, 2)])
def test_a_slice_is_cut_off_where_an_open_axis_ends(begin: int, end: int, stride: int) -> None:
    """Also where it would begin beyond, and on an axis of no elements."""
    x = relay.var("x", shape=(relay.Any(), 2))
    run = weft.compile(relay.Function([x], relay.strided_slice(x, [begin], [end], strides=[stride])))
    for rows in (0, 1, 2, 3, 7):
        given = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
        np.testing.assert_array_equal(run(given), given[begin:end:stride])


PART = """
relay.func @main(%x: tensor<5x{columns}xf32>, %b: tensor<2xi64>, %e: tensor<2xi64>, %s: tensor<2xi64>) -> tensor<2x1xf32> {{
  %y = relay.dyn.strided_slice %x, %b, %e, %s {{slice_mode = "{mode}"}} : (tensor<5x{columns}xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<2x1xf32>
  %z = relay.negative %y : tensor<2x1xf32>
  relay.return %z : tensor<2x1xf32>
}}
"""  # noqa: E501
FAR = 1 << 62
GIVES_TWO_BY_ONE = [
    ([0, 0], [2, 1], [1, 1]),
    ([-2, 2], [FAR, 3], [1, 1]),
    ([3, -1], [FAR * 2 - 1, -FAR * 2], [1, -FAR]),
    ([FAR, 1], [0, -3], [-3, -1]),
    ([-4, 1], [-1, 2], [2, 1]),
]
GIVES_OTHERS = [
    ([4, 0], [6, 1], [1, 1]),
    ([0, 0], [2, 2], [1, 1]),
    ([-1, 0], [1, 1], [1, 1]),
    ([0, 3], [2, 4], [1, 1]),
    ([0, 0], [2, 1], [2, 1]),
    ([0, 0], [2, 1], [0, 1]),
]


def test_a_slice_of_a_known_size_lies_where_data_says_or_the_run_fails():
    module = parse_mlir(PART.format(columns=3, mode="end"), "part")
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    run = weft.compile(module)
    x = np.arange(15, dtype=np.float32).reshape(5, 3)
    for begin, end, step in GIVES_TWO_BY_ONE:
        told = [np.array(each) for each in (begin, end, step)]
        wanted = -x[begin[0] : end[0] : step[0], begin[1] : end[1] : step[1]]
        np.testing.assert_array_equal(evaluate_function(main, [x, *told])[0], wanted, strict=True)
        np.testing.assert_array_equal(run(x, *told), wanted, strict=True)
    for bounds in GIVES_OTHERS:
        told = [np.array(each) for each in bounds]
        with pytest.raises(Diagnostic):
            evaluate_function(main, [x, *told])
        with pytest.raises(Diagnostic, match="are taken, not"):
            run(x, *told)


def test_so_many_elements_from_where_data_says():
    module = parse_mlir(PART.format(columns=3, mode="size"), "part")
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    run = weft.compile(module)
    x = np.arange(15, dtype=np.float32).reshape(5, 3)
    for begin, size, rows in (([1, 0], [2, 1], slice(1, 3)), ([-2, 2], [-1, -1], slice(3, 5))):
        told = [np.array(begin), np.array(size), np.array([7, 7])]
        wanted = -x[rows, begin[1] : begin[1] + 1]
        np.testing.assert_array_equal(evaluate_function(main, [x, *told])[0], wanted, strict=True)
        np.testing.assert_array_equal(run(x, *told), wanted, strict=True)
    with pytest.raises(Diagnostic, match="1 elements of an axis of 5 are taken, not 2"):
        run(x, np.array([4, 0]), np.array([2, 1]), np.array([1, 1]))


def test_no_slice_of_a_known_size_lies_in_an_axis_of_no_elements():
    run = weft.compile(parse_mlir(PART.format(columns=0, mode="end"), "part"))
    with pytest.raises(Diagnostic, match="0 elements of an axis of 0 are taken, not 1"):
        run(np.zeros((5, 0), np.float32), np.array([0, 0]), np.array([2, 1]), np.array([1, 1]))


def test_a_slice_of_no_elements_that_data_bounds_is_refused():
    text = PART.format(columns=3, mode="end").replace("2x1x", "0x1x")
    with pytest.raises(Diagnostic) as error:
        weft.compile(parse_mlir(text, "part"))
    assert error.value.message.endswith("whether a slice is empty is known only when it runs")
    assert "sound" not in error.value.message and error.value.place is not None


def test_an_extent_is_made_of_a_number_below_zero_that_is_brought_above_it() -> None:
    k = relay.var("k", shape=(1,), dtype="int64")
    extent = relay.maximum(k, relay.const([0], "int64")) + relay.const([5], "int64")
    run = weft.compile(relay.Function([k], relay.full(relay.const(1.0), extent, "float32")))
    for number in (-7, -1, 0, 3):
        np.testing.assert_array_equal(run(np.array([number])), np.ones(max(number, 0) + 5, np.float32))
