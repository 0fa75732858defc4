"""Folding of factors takes time that grows with the graph, not with its square."""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f32
from xdsl.ir import Operation, SSAValue

from weft import relay
from weft.dialects.relay.core import ConstantOp, FuncOp, ReturnOp
from weft.dialects.relay.ops.broadcast import AddOp, MultiplyOp
from weft.dialects.relay.ops.nn.activation import ReluOp
from weft.dialects.relay.ops.nn.convolution import Conv2dOp
from weft.testing.operators import random_floats
from weft.transforms.infra import PassContext
from weft.transforms.relay.backward_fold_scale_axis import BackwardFoldScaleAxisPass
from weft.transforms.relay.fold_scale_axis import FoldScaleAxisPass
from weft.transforms.relay.forward_fold_scale_axis import ForwardFoldScaleAxisPass

pytestmark = pytest.mark.sampled(3)

COUNT = 1_050
"""More than Python's limit of recursion."""


@pytest.mark.parametrize(
    ("between", "count"),
    [([], COUNT), ([ReluOp], 40), ([AddOp], 40), ([AddOp, ReluOp], COUNT)],
    ids=["alone", "rectified", "added", "both"],
)
def test_a_long_chain_of_multiplications_ends_in_one_weight(between: list[type[Operation]], count: int):
    type = TensorType(f32, [1, 2, 3, 3])
    func = FuncOp("main", FunctionType.from_lists([type], [type]))
    block = func.body.block

    def add(op: Operation) -> SSAValue:
        block.add_op(op)
        return op.results[0]

    scale = add(ConstantOp.from_numpy(np.array([[[2.0]], [[0.5]]], np.float32)))
    inverse = add(ConstantOp.from_numpy(np.array([[[0.5]], [[2.0]]], np.float32)))
    value = add(Conv2dOp(block.args[0], add(ConstantOp.from_numpy(np.ones((2, 2, 1, 1), np.float32)))))
    for i in range(count):
        for kind in between:
            value = add(AddOp(value, scale) if kind is AddOp else ReluOp(value))
        value = add(MultiplyOp(value, inverse if i % 2 else scale))
    block.add_op(ReturnOp(value))
    with PassContext(opt_level=3):
        after = FoldScaleAxisPass()(ModuleOp([func]))
    assert not any(isinstance(op, MultiplyOp) for op in after.walk())
    assert sum(isinstance(op, Conv2dOp) for op in after.walk()) == 1


LAYOUTS = [  # groups, shapes of data and weight, layouts of data and kernel, shape of the factors
    (1, (1, 4, 3, 3), (2, 4, 1, 1), "NCHW", "OIHW", (4, 1, 1)),
    (1, (1, 2, 3, 3, 2), (2, 2, 1, 1, 2, 1), "NCHW2c", "OIHW2i1o", (1, 2, 1, 1, 2)),
    (1, (1, 2, 3, 3, 2), (2, 4, 1, 1), "NCHW2c", "OIHW", (2, 1, 1, 2)),
    (4, (1, 3, 3, 2, 2), (1, 1, 1, 2, 2), "NHWC2c", "HWIO2o", (2, 2)),
    (4, (1, 3, 3, 4), (1, 1, 1, 4), "NHWC", "HWIO", (4,)),
    (2, (1, 3, 3, 4), (1, 1, 2, 2), "NHWC", "HWIO", (4,)),  # the factors of a group stand along two axes
]


@pytest.mark.parametrize(("groups", "data", "weight", "layout", "kernel", "factors"), LAYOUTS)
@pytest.mark.parametrize("up", [False, True])
def test_weights_given_at_run_time_take_factors(
    up: bool,
    groups: int,
    data: tuple[int, ...],
    weight: tuple[int, ...],
    layout: str,
    kernel: str,
    factors: tuple[int, ...],
):
    x, w = relay.var("x", shape=data), relay.var("w", shape=weight)
    told = {"groups": groups, "data_layout": layout, "kernel_layout": kernel}
    if up:
        y = relay.nn.relu(relay.nn.conv2d(x, w, **told))
        scale = 0.5 + random_floats(*_outputs(factors, y.shape)) ** 2
        y = y * relay.const(scale)
        fold = BackwardFoldScaleAxisPass
    else:
        scale = 0.5 + random_floats(*factors) ** 2
        b = relay.const(random_floats(*factors))
        y = relay.nn.conv2d(relay.nn.relu(x * relay.const(scale)) + b, w, **told)
        fold = ForwardFoldScaleAxisPass
    before = relay.IRModule.from_expr(relay.Function([x, w], y))
    with PassContext(opt_level=3):
        after = fold(always=True)(before)
    products = [op for op in after.walk() if isinstance(op, MultiplyOp)]
    assert [op.operands[0].name_hint for op in products] == ["w"]
    given = random_floats(*data), random_floats(*weight)
    wanted, found = (relay.create_executor("debug", each).evaluate() for each in (before, after))
    np.testing.assert_allclose(cast(Any, found)(*given), cast(Any, wanted)(*given), rtol=1e-4, atol=1e-5)


def _outputs(factors: tuple[int, ...], result: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of factors of the result's channels, which stand where those of the data do."""
    return tuple(1 if n == 1 else m for n, m in zip(factors, result[len(result) - len(factors) :], strict=True))


def test_weights_given_at_run_time_are_left_where_that_is_less_work():
    x, w = relay.var("x", shape=(1, 2, 1, 1)), relay.var("w", shape=(8, 2, 3, 3))
    y = relay.nn.conv2d(x * relay.const(np.array([[[2.0]], [[3.0]]], np.float32)), w, padding=(1, 1))
    module = relay.IRModule.from_expr(relay.Function([x, w], y))

    def scaled(always: bool) -> list[str | None]:
        with PassContext(opt_level=3):
            after = ForwardFoldScaleAxisPass(always)(module)
        return [op.operands[0].name_hint for op in after.walk() if isinstance(op, MultiplyOp)]

    assert scaled(always=False) == ["x"] and scaled(always=True) == ["w"]


@pytest.mark.parametrize("fold", [FoldScaleAxisPass, ForwardFoldScaleAxisPass])
def test_factors_of_weights_stay_where_the_data_has_more_axes(fold: type[FoldScaleAxisPass | ForwardFoldScaleAxisPass]):
    a, b = relay.var("a", shape=(1, 6, 3, 3, 1)), relay.var("b", shape=(12, 1, 1, 1))
    weight = b * relay.const(np.float32(-2))
    told = {"data_layout": "NCHW1c", "kernel_layout": "OHWI", "out_layout": "NCHW", "groups": 6}
    before = relay.IRModule.from_expr(relay.Function([a, b], relay.nn.conv2d(a, weight, **told)))
    with PassContext(opt_level=3):
        after = fold()(before)
    given = random_floats(1, 6, 3, 3, 1), random_floats(12, 1, 1, 1)
    wanted, found = (relay.create_executor("debug", each).evaluate() for each in (before, after))
    np.testing.assert_allclose(cast(Any, found)(*given), cast(Any, wanted)(*given), rtol=1e-5)


@pytest.mark.parametrize("factor", [1e25, 1e-30, np.inf])
@pytest.mark.parametrize("up", [False, True])
def test_factors_whose_products_with_weights_may_have_no_place_in_the_type_stay(up: bool, factor: float):
    x, w = relay.var("x", shape=(1, 2, 3, 3)), relay.const(np.full((2, 2, 1, 1), 1e18 if factor > 1 else 1e-12, "f4"))
    scale = relay.const(np.array([[[factor]], [[1.0]]], np.float32))
    y = relay.nn.conv2d(x, w) * scale if up else relay.nn.conv2d(x * scale, w)
    module = relay.IRModule.from_expr(relay.Function([x], y))
    given = np.full((1, 2, 3, 3), 1e-30 if factor > 1 else 1e20, np.float32)
    with np.errstate(all="ignore"):
        wanted = cast(Any, relay.create_executor("debug", module).evaluate())(given)
        found = cast(Any, relay.create_executor("aot", module).evaluate())(given)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    with PassContext(opt_level=3):
        after = FoldScaleAxisPass()(module)
    assert [op.operands[1].owner for op in after.walk() if isinstance(op, MultiplyOp)], "it is computed at run time"


def test_factors_that_a_weight_does_not_hold_together_stay():
    x, w = relay.var("x", shape=(1, 2, 3, 3)), relay.const(np.full((2, 2, 1, 1), 10, np.float32))
    scale = relay.const(np.array([[[1e19]], [[1e18]]], np.float32))
    module = relay.IRModule.from_expr(relay.Function([x], relay.nn.conv2d(x * scale, w) * scale))
    given = np.full((1, 2, 3, 3), 1e-10, np.float32)
    wanted = cast(Any, relay.create_executor("debug", module).evaluate())(given)
    found = cast(Any, relay.create_executor("aot", module).evaluate())(given)
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    for fold in (BackwardFoldScaleAxisPass(), ForwardFoldScaleAxisPass()):
        with PassContext(opt_level=3):
            module = fold(module)
    assert sum(isinstance(op, MultiplyOp) for op in module.walk()) == 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kind", ["matmul", "convolution", "convolution of a constant"])
def test_factors_of_a_longer_type_than_the_operands_of_a_product_stay(kind: str, dtype: str):
    half = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    shapes = ((5, 4), (4, 6)) if kind == "matmul" else ((1, 2, 9, 9), (4, 2, 3, 3))
    given = [random_floats(*shape).astype(half) for shape in shapes]
    x, w = (relay.var(name, shape=shape, dtype=dtype) for name, shape in zip("xw", shapes, strict=True))
    arguments = [x, w]
    if kind == "convolution of a constant":
        w = relay.const(given.pop())
        arguments.pop()
    product = relay.nn.matmul if kind == "matmul" else relay.nn.conv2d
    y = product(x, w, out_dtype="float32") * relay.const(np.float32(3.3))
    module = relay.IRModule.from_expr(relay.Function(arguments, y))
    wanted, found = (cast(Any, relay.create_executor(each, module).evaluate())(*given) for each in ("debug", "aot"))
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
