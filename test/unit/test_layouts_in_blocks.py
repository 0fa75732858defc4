"""Channels in blocks where `ConvertLayout` and rules of users ask for them: the layouts, and the same numbers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.ir import Operation

from weft import relay, transform
from weft.dialects.relay.base import shape_of
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.relay.attrs import Attrs
from weft.transforms.infra import Pass
from weft.transforms.relay.op_rules import ALTER, CONVERT

NDArray = npt.NDArray[np.float32]
ConvertLayout = cast("Callable[[dict[str, list[str]]], Pass]", relay.transform.ConvertLayout)
AlterOpLayout = cast("Callable[[], Pass]", relay.transform.AlterOpLayout)


def at_level_3(change: Pass, module: relay.IRModule) -> relay.IRModule:
    with transform.PassContext(opt_level=3):
        return cast(relay.IRModule, change(module))


def ops(module: relay.IRModule, name: str) -> list[Operation]:
    return [op for op in module.walk() if op.name == f"relay.{name}"]


def layouts(module: relay.IRModule) -> list[tuple[object, object]]:
    """From where to where values are brought, in order."""
    made = [Attrs(op) for op in ops(module, "layout_transform")]
    return [(each.src_layout, each.dst_layout) for each in made]


def results(function: FuncOp, inputs: Sequence[NDArray]) -> Sequence[NDArray]:
    return [np.asarray(each, np.float32) for each in evaluate_function(function, list(inputs))]


def converted(body: relay.Expr, wanted: dict[str, list[str]], inputs: Sequence[NDArray]) -> relay.IRModule:
    """The module of an expression in the layouts that are wanted, which must give the same numbers."""
    module = relay.IRModule.from_expr(body)
    after = at_level_3(ConvertLayout(wanted), module)
    after.verify()
    for found, given in zip(results(after["main"], inputs), results(module["main"], inputs), strict=True):
        np.testing.assert_allclose(found, given, rtol=1e-4, atol=1e-4)
    return after


def array(*shape: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def conv(data: relay.Expr, outputs: int, taps: int = 3, **attrs: object) -> relay.Expr:
    inputs = data.shape[1]
    weight = relay.const(array(outputs, inputs // int(str(attrs.get("groups", 1))), taps, taps))
    return relay.nn.conv2d(
        data, weight, channels=outputs, kernel_size=(taps, taps), padding=(taps // 2, taps // 2), **attrs
    )


BLOCKED = {"nn.conv2d": ["NCHW4c", "OIHW4i4o"]}


def test_what_follows_a_convolution_in_blocks_is_computed_in_them() -> None:
    x = relay.var("x", shape=(1, 8, 6, 6))
    y = relay.nn.relu(relay.nn.bias_add(conv(x, 16), relay.const(array(16))))
    y = relay.nn.max_pool2d(y, pool_size=(2, 2), strides=(2, 2))
    y = relay.nn.pad(y, ((0, 0), (4, 0), (1, 1), (0, 2)))
    y = relay.concatenate([y, y * relay.const(array(1, 1, 5, 1))], axis=1)
    y = relay.nn.global_avg_pool2d(relay.nn.upsampling(y))
    after = converted(y, BLOCKED, [array(1, 8, 6, 6)])
    assert layouts(after) == [
        ("NCHW", "NCHW4c"),
        ("OIHW", "OIHW4i4o"),
        ("NCHW", "NCHW4c"),
        ("NCHW", "NCHW1c"),  # one channel for all
        ("NCHW4c", "NCHW"),
    ]
    assert ops(after, "nn.contrib_conv2d_NCHWc") and not ops(after, "nn.conv2d")


def test_a_batch_norm_after_a_convolution_in_blocks_is_its_arithmetic() -> None:
    x = relay.var("x", shape=(1, 4, 5, 5))
    vectors = [relay.const(np.abs(array(8)) + np.float32(0.5)) for _ in range(4)]
    y = relay.nn.relu(relay.nn.batch_norm(conv(x, 8), *vectors)[0])
    after = converted(y, BLOCKED, [array(1, 4, 5, 5)])
    assert not ops(after, "nn.batch_norm")
    assert layouts(after)[-1] == ("NCHW4c", "NCHW")
    assert [shape_of(op.operands[0]) for op in ops(after, "nn.relu")] == [(1, 2, 5, 5, 4)]


def test_statistics_of_a_batch_norm_keep_it_as_it_is() -> None:
    x = relay.var("x", shape=(1, 4, 5, 5))
    norm = relay.nn.batch_norm(conv(x, 8), *[relay.const(np.abs(array(8))) for _ in range(4)])
    after = converted(relay.Tuple([norm[0], norm[1]]), BLOCKED, [array(1, 4, 5, 5)])
    assert ops(after, "nn.batch_norm")


def test_sums_splits_and_slices_are_between_blocks() -> None:
    x = relay.var("x", shape=(2, 8, 6, 6))
    y = conv(x, 16)
    parts = relay.split(y, indices_or_sections=[4, 12], axis=1)
    sums = relay.sum(relay.strided_slice(y, begin=[0, 8, 1, 0], end=[2, 16, 6, 6]), axis=[1, 3])
    mean = relay.mean(y, axis=[1], keepdims=True) + y
    apart = relay.strided_slice(y, begin=[0, 2, 0, 0], end=[2, 10, 6, 6])
    after = converted(relay.Tuple([parts[0], parts[2], sums, mean, apart]), BLOCKED, [array(2, 8, 6, 6)])
    (split,), (reduced,), (averaged,) = ops(after, "split"), ops(after, "sum"), ops(after, "mean")
    assert (Attrs(split).indices_or_sections, Attrs(reduced).axis, Attrs(averaged).axis) == ([1, 3], [1, 3, 4], [1, 4])
    whole, between = ops(after, "strided_slice")
    assert (len(cast("list[int]", Attrs(whole).begin)), len(shape_of(between.operands[0]))) == (4, 4)


def test_channels_that_blocks_do_not_divide_stay_as_they_are() -> None:
    x = relay.var("x", shape=(1, 3, 6, 6))
    after = converted(relay.nn.relu(conv(conv(x, 8), 6)), BLOCKED, [array(1, 3, 6, 6)])
    assert len(ops(after, "nn.conv2d")) == 2 and not layouts(after)


def test_of_a_block_that_is_open_nothing_is_put_into_blocks() -> None:
    x, w = relay.var("x", shape=(1, relay.Any(), 4, 4)), relay.var("w", shape=(8, relay.Any(), 1, 1))
    module = relay.IRModule.from_expr(relay.nn.conv2d(x, w, channels=8, kernel_size=(1, 1)))
    assert not layouts(at_level_3(ConvertLayout(BLOCKED), module))


def test_orders_and_blocks_are_one_step() -> None:
    x = relay.var("x", shape=(1, 4, 5, 8))
    weight = relay.const(array(3, 3, 8, 4))
    y = relay.nn.relu(relay.nn.conv2d(x, weight, padding=1, data_layout="NHWC", kernel_layout="HWIO"))
    after = converted(y, {"nn.conv2d": ["NCHW4c", "default"]}, [array(1, 4, 5, 8)])
    assert layouts(after) == [("NHWC", "NCHW4c"), ("HWIO", "OIHW4i4o"), ("NCHW4c", "NHWC")]


@pytest.mark.parametrize("groups", [2, 8])
def test_groups_are_convolved_in_blocks(groups: int) -> None:
    x = relay.var("x", shape=(1, 8, 5, 5))
    after = converted(conv(x, 8, groups=groups), {"nn.conv2d": ["NCHW2c", "default"]}, [array(1, 8, 5, 5)])
    assert layouts(after)[0] == ("NCHW", "NCHW2c")


def test_any_layout_of_blocks_is_a_layout() -> None:
    x = relay.var("x", shape=(2, 8, 5, 5))
    after = converted(conv(x, 12), {"nn.conv2d": ["NHWC4c", "HWOI4i2o"]}, [array(2, 8, 5, 5)])
    assert layouts(after) == [("NCHW", "NHWC4c"), ("OIHW", "HWOI4i2o"), ("NHWC4c", "NCHW")]


def test_a_layout_of_other_axes_is_refused() -> None:
    module = relay.IRModule.from_expr(conv(relay.var("x", shape=(1, 8, 5, 5)), 8))
    with pytest.raises(Diagnostic, match="NCDW4c is not an order of the axes of NCHW"):
        at_level_3(ConvertLayout({"nn.conv2d": ["NCDW4c", "OIHW4i4o"]}), module)


def test_layers_are_skipped_while_a_configuration_says_so() -> None:
    module = relay.IRModule.from_expr(conv(conv(relay.var("x", shape=(1, 8, 5, 5)), 8), 8))
    with relay.transform.LayoutConfig(skip_layers=[0]):
        after = at_level_3(ConvertLayout(BLOCKED), module)
    assert (len(ops(after, "nn.conv2d")), len(ops(after, "nn.contrib_conv2d_NCHWc"))) == (1, 1)
    assert not ops(at_level_3(ConvertLayout(BLOCKED), module), "nn.conv2d")


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_give_the_same_numbers_in_blocks(seed: int) -> None:
    draw = random.Random(seed)
    x = relay.var("x", shape=(1, 8, 6, 6))
    values = [x, conv(x, draw.choice([4, 8, 12]), draw.choice([1, 3]))]
    for _ in range(8):
        value = draw.choice(values[-3:])
        shape = value.shape
        channels = shape[1] if len(shape) == 4 else 1
        choice = draw.randrange(11) if len(shape) == 4 else 6
        if choice == 0:
            value = conv(value, draw.choice([4, 6, 8]), draw.choice([1, 3]))
        elif choice == 1:
            value = relay.concatenate([value, draw.choice([v for v in values if v.shape == shape])], axis=1)
        elif choice == 2:
            value = relay.nn.max_pool2d(value, pool_size=(2, 2), padding=(1, 1))
            value = relay.strided_slice(value, begin=[0, 0, 0, 0], end=[1, channels, *shape[2:]])
        elif choice == 3:
            cut = draw.randrange(1, channels + 1)
            value = relay.strided_slice(value, begin=[cut // 2], end=[cut], axes=[1])
        elif choice == 4 and channels > 1:
            value = relay.split(value, [draw.randrange(channels)], axis=1)[draw.randrange(2)]
            value = value if value.shape[1] else values[-1]
        elif choice == 5:
            value = value + relay.sum(value, axis=[draw.choice([1, 2, 3])], keepdims=True)
        elif choice == 6:
            value = relay.tanh(value)
        elif choice == 7:
            value = relay.multiply(relay.const(array(*draw.choice([(channels, 1, 1), (1, 1), (shape[-1],)]))), value)
        elif choice == 8:
            value = relay.nn.prelu(value, relay.const(array(channels)))
        elif choice == 9:
            value = relay.nn.pad(value, ((0, 0), (0, draw.choice([0, 2, 4])), (0, 0), (0, 0)), 0.5)
        else:
            value = relay.transpose(relay.transpose(value, [0, 2, 3, 1]), [0, 3, 1, 2])
        values.append(value)
    ends = [value for value in values[-2:] if value.shape]
    block = draw.choice([2, 4])
    wanted = {"nn.conv2d": [f"NCHW{block}c", "default"], "nn.max_pool2d": [draw.choice(["NCHW2c", "NHWC"])]}
    converted(relay.Tuple(ends), wanted, [array(1, 8, 6, 6)])


@pytest.fixture
def rule() -> Iterator[list[str]]:
    """Layouts by which a rule of a user computes convolutions, while a test runs."""
    chosen: list[str] = ["NCHW4c", "OIHW4i4o"]

    def in_blocks(attrs: Attrs, inputs: list[relay.Expr], types: object, told: object) -> relay.Expr | None:
        if not chosen:
            return None
        texts = cast("list[str]", told) if isinstance(told, list) else chosen
        twice = relay.multiply(inputs[1], relay.const(np.float32(2)))
        return relay.nn.conv2d(inputs[0], twice, **{**attrs, "data_layout": texts[0], "kernel_layout": texts[1]})

    op = relay.op.get("nn.conv2d")
    relay.op.register_alter_op_layout("nn.conv2d", in_blocks)
    relay.op.register_convert_op_layout("nn.conv2d", in_blocks)
    yield chosen
    for kind in (ALTER, CONVERT):
        op.reset_attr(kind)


def test_a_rule_of_a_user_says_how_an_operator_is_computed(rule: list[str]) -> None:
    x = relay.var("x", shape=(1, 8, 5, 5))
    module = relay.IRModule.from_expr(relay.nn.relu(conv(x, 8)))
    before = results(module["main"], [array(1, 8, 5, 5)])[0]
    for change in (AlterOpLayout(), ConvertLayout(BLOCKED)):
        after = at_level_3(change, module)
        assert layouts(after) == [("NCHW", "NCHW4c"), ("OIHW", "OIHW4i4o"), ("NCHW4c", "NCHW")]
        found = results(after["main"], [array(1, 8, 5, 5)])[0]
        np.testing.assert_allclose(found, 2 * before, rtol=1e-4, atol=1e-4)


def test_a_rule_that_gives_nothing_leaves_an_operator_as_it_is(rule: list[str]) -> None:
    rule.clear()
    module = relay.IRModule.from_expr(conv(relay.var("x", shape=(1, 16, 5, 5)), 16))
    assert relay.structural_equal(at_level_3(AlterOpLayout(), module), module)


def test_an_operator_in_blocks_may_be_put_into_others_by_a_rule(rule: list[str]) -> None:
    rule[:] = ["NCHW2c", "OIHW2i2o"]
    x, w = relay.var("x", shape=(1, 2, 5, 5, 4)), relay.const(array(2, 2, 1, 1, 4, 4))
    y = relay.nn.conv2d(x, w, channels=8, kernel_size=(1, 1), data_layout="NCHW4c", kernel_layout="OIHW4i4o")
    module = relay.IRModule.from_expr(relay.nn.relu(y))
    after = at_level_3(AlterOpLayout(), module)
    assert layouts(after) == [("NCHW4c", "NCHW2c"), ("OIHW4i4o", "OIHW2i2o"), ("NCHW2c", "NCHW4c")]
    given = [array(1, 2, 5, 5, 4)]
    twice = 2 * results(module["main"], given)[0]
    np.testing.assert_allclose(results(after["main"], given)[0], twice, rtol=1e-4, atol=1e-4)


def test_a_rule_whose_blocks_do_not_divide_is_refused(rule: list[str]) -> None:
    module = relay.IRModule.from_expr(conv(relay.var("x", shape=(1, 6, 5, 5)), 8))
    with pytest.raises(Diagnostic, match=r"wants NCHW4c of \[1, 6, 5, 5\], which is no whole blocks"):
        at_level_3(AlterOpLayout(), module)


def test_a_rule_of_a_level_that_is_taken_is_refused(rule: list[str]) -> None:
    with pytest.raises(UsageError, match="FTVMAlterOpLayout"):
        relay.op.register_alter_op_layout("nn.conv2d", relay.op.get("nn.conv2d").get_attr(ALTER))
