"""`weft.topi`: operators as formulas of `te`, held to NumPy."""

# pyright: basic, reportCallIssue=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay, te, topi
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.dialects.te.evaluate import evaluate
from weft.topi import nn, tag
from weft.topi.utils import get_const_int, get_const_tuple

Array = npt.NDArray[Any]


def arrays(shapes: Sequence[tuple[int, ...]], dtype: str = "float32") -> list[Array]:
    random = np.random.default_rng(0)
    return [random.integers(-4, 5, shape).astype(dtype) for shape in shapes]


def check(
    made: Callable[..., te.Tensor | list[te.Tensor]],
    expected: Callable[..., Any],
    *shapes: tuple[int, ...],
    dtype: str = "float32",
) -> None:
    """`made` of tensors gives the elements that `expected` gives of arrays."""
    given = arrays(shapes, dtype)
    inputs = [te.placeholder(shape, dtype, name=f"x{number}") for number, shape in enumerate(shapes)]
    results = made(*inputs)
    wanted = expected(*given)
    several = results if isinstance(results, list) else [results]
    found = evaluate(several, dict(zip(inputs, given, strict=True)))
    for got, want in zip(found, wanted if isinstance(results, list) else [wanted], strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got.astype(np.float64), want.astype(np.float64), rtol=1e-5, atol=1e-6)


def convolved(x: Array, w: Array, stride: int, before: int, after: int, dilation: int = 1) -> Array:
    x = np.pad(x, ((0, 0), (0, 0), (before, after), (before, after)))
    size = (w.shape[2] - 1) * dilation + 1
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows[:, :, ::stride, ::stride, ::dilation, ::dilation], w)


def rows(x: Array, w: Array) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1))), w.shape[2], 2)[:, :, ::2]
    return np.einsum("ncli,oci->nol", windows, w)


def test_elementwise_functions_are_those_of_numpy() -> None:
    for name in ("exp", "abs", "tanh", "floor", "sign", "cos", "negative"):
        check(getattr(topi, name), getattr(np, name), (3, 4))
    check(topi.identity, lambda x: x, (3, 4))
    check(lambda x: topi.clip(x, -1, 2), lambda x: np.clip(x, -1, 2), (3, 4))
    check(lambda x: topi.cast(x, "int8"), lambda x: x.astype(np.int8), (3, 4))
    check(lambda x: topi.full_like(x, 7), lambda x: np.full_like(x, 7), (3, 4))
    check(lambda x, y: topi.elemwise_sum([x, y, x]), lambda x, y: x + y + x, (3,), (3,))


def test_functions_of_two_tensors_broadcast_and_take_numbers() -> None:
    check(topi.subtract, np.subtract, (3, 1, 4), (5, 1))
    check(topi.maximum, np.maximum, (4,), (3, 4))
    check(lambda x: topi.subtract(2, x), lambda x: 2 - x, (3,))
    check(lambda x: topi.floor_divide(x, 3), lambda x: x // 3, (9,), dtype="int32")
    check(lambda x: topi.mod(x, 3), lambda x: np.fmod(x, 3), (9,), dtype="int32")
    check(
        lambda x, y: topi.logical_and(topi.less(x, y), topi.greater(x, 0)), lambda x, y: (x < y) & (x > 0), (9,), (9,)
    )
    check(topi.bitwise_xor, np.bitwise_xor, (9,), (9,), dtype="int32")
    check(lambda x: topi.broadcast_to(x, (2, 3, 4)), lambda x: np.broadcast_to(x, (2, 3, 4)), (3, 1))


def test_functions_of_numbers_in_a_formula_are_of_numbers() -> None:
    check(
        lambda x: te.compute(x.shape, lambda i: topi.cast(topi.add(topi.exp(x[i]), 1), "float32"), "y"),
        lambda x: np.exp(x) + 1,
        (5,),
    )


def test_reductions_are_over_all_dimensions_or_some() -> None:
    check(topi.sum, np.sum, (3, 4))
    check(lambda x: topi.max(x, axis=-1, keepdims=True), lambda x: x.max(-1, keepdims=True), (3, 4))
    check(lambda x: topi.argmax(x, axis=1), lambda x: x.argmax(1), (3, 4))


def test_elements_are_moved_as_numpy_moves_them() -> None:
    check(lambda x: topi.transpose(x, (1, 0, 2)), lambda x: x.transpose(1, 0, 2), (2, 3, 4))
    check(topi.transpose, np.transpose, (2, 3))
    check(lambda x: topi.reshape(x, (4, -1)), lambda x: x.reshape(4, -1), (2, 6))
    check(lambda x: topi.expand_dims(x, 1), lambda x: x[:, None], (2, 3))
    check(lambda x: topi.squeeze(x, 1), lambda x: x[:, 0], (2, 1))
    check(lambda x: topi.flip(x, 1), lambda x: x[:, ::-1], (2, 3))
    check(lambda x: topi.strided_slice(x, [1, 0], [3, 4], [1, 2]), lambda x: x[1:3, 0:4:2], (4, 5))
    check(lambda x, y: topi.concatenate((x, y), 1), lambda x, y: np.concatenate((x, y), 1), (2, 3), (2, 1))
    check(lambda x, y: topi.stack([x, y], 1), lambda x, y: np.stack((x, y), 1), (2, 3), (2, 3))
    check(lambda x: topi.split(x, [1, 3], 1), lambda x: np.split(x, [1, 3], 1), (2, 4))
    check(lambda x: topi.repeat(x, 2, 1), lambda x: x.repeat(2, 1), (2, 3))
    check(lambda x: topi.tile(x, (2, 3)), lambda x: np.tile(x, (2, 3)), (2, 3))
    check(lambda x: topi.cumsum(x, 0), lambda x: x.cumsum(0), (4, 2))
    check(lambda x: topi.sort(x, 1), lambda x: np.sort(x, 1), (3, 5))
    check(lambda x: topi.layout_transform(x, "NC", "NC2c"), lambda x: x.reshape(3, 2, 2), (3, 4))
    check(lambda: topi.arange(2, 11, 3, "int32"), lambda: np.arange(2, 11, 3))


def test_products_of_matrices_are_those_of_numpy() -> None:
    check(topi.matmul, np.matmul, (3, 4), (4, 5))
    check(lambda a, b: topi.matmul(a, b, True, True), lambda a, b: a.T @ b.T, (4, 3), (5, 4))
    check(lambda a, b: topi.einsum("ij,kj->ik", a, b), lambda a, b: a @ b.T, (3, 4), (5, 4))
    check(lambda a, b: topi.tensordot(a, b, 1), lambda a, b: np.tensordot(a, b, 1), (2, 3, 4), (4, 5))
    check(
        lambda a, b: topi.tensordot(a, b, [[0, 2], [1, 0]]),
        lambda a, b: np.tensordot(a, b, ([0, 2], [1, 0])),
        (2, 3, 4),
        (4, 2, 5),
    )
    check(lambda a, b, c: nn.dense(a, b, c), lambda a, b, c: a @ b.T + c, (3, 4), (5, 4), (5,))
    check(nn.batch_matmul, lambda a, b: a @ b.transpose(0, 2, 1), (2, 3, 4), (2, 5, 4))


def test_convolutions_take_their_arguments_as_topi_has_them() -> None:
    shapes = (1, 4, 9, 9), (6, 4, 3, 3)
    check(lambda x, w: nn.conv2d(x, w, 1, 0, 1), lambda x, w: convolved(x, w, 1, 0, 0), *shapes)
    check(lambda x, w: nn.conv2d_nchw(x, w, 2, (1, 1), 1), lambda x, w: convolved(x, w, 2, 1, 1), *shapes)
    check(lambda x, w: nn.conv2d(x, w, 1, "SAME", 2), lambda x, w: convolved(x, w, 1, 2, 2, 2), *shapes)
    check(
        lambda x, w: nn.conv2d(x, w, 1, (0, 0, 1, 1), 1, layout="NCHW"), lambda x, w: convolved(x, w, 1, 0, 1), *shapes
    )
    check(lambda x, w: nn.conv2d(x, w, 1, "SAME", 1), lambda x, w: convolved(x, w, 1, 1, 0), (1, 4, 9, 9), (6, 4, 2, 2))
    check(
        lambda x, w: nn.conv2d(x, w, 1, 1, 1, "NHWC"),
        lambda x, w: convolved(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), 1, 1, 1).transpose(0, 2, 3, 1),
        (1, 9, 9, 4),
        (3, 3, 4, 6),
    )
    check(
        lambda x, w: nn.depthwise_conv2d_nchw(x, w, 1, 1, 1),
        lambda x, w: np.concatenate([convolved(x[:, c : c + 1], w[c, :, None], 1, 1, 1) for c in range(4)], 1),
        (1, 4, 5, 5),
        (4, 2, 3, 3),
    )
    check(
        lambda x, w: nn.conv1d(x, w, 2, 1),
        rows,
        (1, 3, 8),
        (5, 3, 3),
    )


def test_layers_are_what_their_names_say() -> None:
    check(nn.relu, lambda x: np.maximum(x, 0), (3, 4))
    check(lambda x: nn.leaky_relu(x, 0.5), lambda x: np.where(x > 0, x, x * 0.5), (3, 4))
    check(lambda x: nn.pad(x, (1, 0), (2, 1), 7.0), lambda x: np.pad(x, ((1, 2), (0, 1)), constant_values=7), (2, 3))
    check(lambda x: nn.pad(x, (1, 2)), lambda x: np.pad(x, ((1, 1), (2, 2))), (2, 3))
    check(nn.softmax, lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True), (3, 4))
    check(nn.flatten, lambda x: x.reshape(2, -1), (2, 3, 4))
    pooled = [[2, 2], [2, 2], [1, 1], [0, 0, 0, 0]]
    check(lambda x: nn.pool2d(x, *pooled, "max"), lambda x: x.reshape(1, 2, 2, 2, 2, 2).max((3, 5)), (1, 2, 4, 4))
    check(
        lambda x: nn.pool2d(x, 2, 1, 1, (0, 0, 1, 1), "avg"),
        lambda x: np.lib.stride_tricks.sliding_window_view(
            np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1))), (2, 2), (2, 3)
        ).mean((4, 5)),
        (1, 2, 4, 4),
    )
    check(lambda x: nn.global_pool(x, "avg"), lambda x: x.mean((2, 3), keepdims=True), (1, 2, 4, 4))
    check(
        lambda x: nn.adaptive_pool(x, [1, 1], "max", "NCHW4c"), lambda x: x.max((2, 3), keepdims=True), (1, 2, 3, 3, 4)
    )
    check(
        lambda x, g, b: nn.layer_norm(x, g, b, 1, 1e-5),
        lambda x, g, b: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * g + b,
        (3, 4),
        (4,),
        (4,),
    )
    check(
        lambda x, s, t: nn.scale_shift_nchw(x, s, t),
        lambda x, s, t: x * s[:, None, None] + t[:, None, None],
        (1, 2, 3, 3),
        (2,),
        (2,),
    )


def test_what_is_computed_is_scheduled_and_built() -> None:
    n = te.var("n")
    x = te.placeholder((n, 4), name="x")
    y = topi.sum(nn.relu(topi.add(x, 1.0)), axis=1)
    schedule = te.create_schedule(y.op)
    schedule[y].split(y.op.axis[0], factor=4)
    for rows in (1, 7):
        (given,), found = arrays([(rows, 4)]), np.zeros(rows, np.float32)
        weft.build(schedule, [x, y])(given, found)
        np.testing.assert_array_equal(found, np.maximum(given + 1, 0).sum(1))


def test_tags_say_what_a_tensor_is_made_of() -> None:
    x = te.placeholder((3, 4), name="x")
    assert (x + 1).op.tag == topi.negative(x).op.tag == tag.ELEMWISE
    assert (x + x).op.tag == tag.BROADCAST
    assert topi.transpose(x).op.tag == tag.INJECTIVE
    assert topi.sum(x).op.tag == tag.COMM_REDUCE
    assert topi.matmul(x, te.placeholder((4, 2), name="y")).op.tag == ""
    assert tag.is_broadcast(tag.ELEMWISE) and tag.is_injective(tag.INJECTIVE) and not tag.is_injective(tag.COMM_REDUCE)
    with te.tag_scope("own"):
        assert (x + 1).op.tag == topi.negative(x).op.tag == "own"


def test_shapes_are_numbers_where_they_are_known() -> None:
    n = te.var("n")
    assert get_const_tuple((n, 4, te.const(3))) == (n, 4, 3)
    assert get_const_tuple(relay.TensorType((2, relay.Any(), 3)).shape) == (2, -1, 3)
    with pytest.raises(ValueError, match="known only when it runs"):
        get_const_int(n)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda x: topi.logical_or(x, x), "is of truth values"),
        (lambda x: nn.conv2d(x, x, 1, 0, 1), "and the layout .* is of others"),
        (lambda x: nn.conv2d(x, te.placeholder((1, 3, 1, 1)), 1, "VALD", 1), "no padding 'VALD'"),
        (lambda x: nn.pad(x, (1,)), "has 2 dimensions"),
        (lambda x: nn.batch_matmul(x, x), "rank|dimension"),
        (lambda x: topi.tensordot(x, x, [[0], [0, 1]]), "is told 1 dimensions of one"),
        (lambda x: nn.pool2d(x, 1, 1, 1, 0, "sum"), "no pool_type 'sum'"),
        (lambda x: topi.argsort(x, x), "sorts all elements"),
        (lambda x: nn.layer_norm(x, x, x, (0, 1)), "along one dimension"),
        (lambda x: topi.fast_exp(te.const(1.0, "float32")), "is of tensors"),
    ],
)
def test_what_does_not_go_together_is_refused(made: Callable[[te.Tensor], object], why: str) -> None:
    with pytest.raises((UsageError, Diagnostic), match=why):
        made(te.placeholder((3, 4), name="x"))


def test_layers_stand_where_tvm_has_them() -> None:
    from weft.topi.nn.pooling import pool2d
    from weft.topi.nn.utils import get_pad_tuple

    assert pool2d is nn.pool2d is topi.nn.pooling.pool2d and topi.nn.elemwise.relu is nn.relu
    assert get_pad_tuple("SAME", (3, 4)) == (1, 2, 1, 1) and get_pad_tuple("VALID", (3, 4)) == (0, 0, 0, 0)
    assert get_pad_tuple(2, (3, 3)) == (2, 2, 2, 2) == get_pad_tuple((2, 2), (3, 3))
    assert get_pad_tuple((1, 2, 3, 4), (3, 3)) == (1, 2, 3, 4)
    with pytest.raises(UsageError, match="3 numbers"):
        get_pad_tuple((1, 2, 3), (3, 3))
    x = te.placeholder((1, 1, 4, 4), name="x")
    with pytest.raises(UsageError, match="3 numbers"):
        nn.pool2d(x, 2, 1, 1, (0, 1, 0), "max")


def test_schedules_for_any_target_inline_what_does_not_reduce() -> None:
    x = te.placeholder((3, 5), name="x")
    twice = topi.multiply(x, 2.0)
    result = topi.exp(twice)
    assert [stage.is_inlined for stage in topi.generic.schedule_injective([result]).stages if stage.compute] == [
        True,
        False,
    ]
    assert not any(stage.is_inlined for stage in topi.generic.schedule_extern(result).stages)
    makers = (topi.testing.get_elemwise_schedule("llvm"), topi.testing.get_reduce_schedule("llvm"))
    for make, out in zip(makers, (result, topi.sum(twice, axis=1)), strict=True):
        data = arrays([(3, 5)])[0]
        run, given, found = weft.build(make(out), [x, out], "llvm"), weft.nd.array(data), weft.nd.empty(out.shape)
        run(given, found)
        np.testing.assert_allclose(
            found.numpy().astype(np.float64), np.exp(2 * data) if out is result else 2 * data.sum(1), rtol=1e-5
        )


def test_layers_of_arrays_are_convolutions_of_arrays() -> None:
    x, w = arrays([(2, 4, 7, 6), (6, 4, 3, 3)])
    found = topi.testing.conv2d_nchw_python(x, w, 2, 1)
    np.testing.assert_allclose(found, convolved(x, w, 2, 1, 1))
    halves = [convolved(x[:, 2 * g : 2 * g + 2], w[3 * g : 3 * g + 3, :2], 1, 0, 0) for g in (0, 1)]
    np.testing.assert_allclose(topi.testing.conv2d_nchw_python(x, w[:, :2], 1, "VALID", 2), np.concatenate(halves, 1))
    inside, kernel = x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0)
    np.testing.assert_allclose(topi.testing.conv2d_nhwc_python(inside, kernel, 2, 1).transpose(0, 3, 1, 2), found)
    np.testing.assert_allclose(
        topi.testing.conv2d_hwcn_python(inside.transpose(1, 2, 3, 0), kernel, 2, 1).transpose(3, 2, 0, 1), found
    )
    channels = [convolved(x[:, c : c + 1], w[c : c + 1, :1], 1, 1, 1) for c in range(4)]
    each = topi.testing.depthwise_conv2d_python_nchw(x, w[:4, :1], 1, 1)
    np.testing.assert_allclose(each, np.concatenate(channels, 1))
    moved = w[:4, :1].transpose(2, 3, 0, 1)
    np.testing.assert_allclose(
        topi.testing.depthwise_conv2d_python_nhwc(inside, moved, 1, 1).transpose(0, 3, 1, 2), each
    )
    deep = topi.testing.conv3d_ncdhw_python(x[:, :, None], w[:, :, None], (1, 2, 2), (0, 1, 1))
    np.testing.assert_allclose(deep[:, :, 0], found)
    np.testing.assert_allclose(
        topi.testing.conv1d_ncw_python(x[:, :, 0], w[:, :, 0], 2, 1, 1), rows(x[:, :, 0], w[:, :, 0])
    )


def test_layers_of_arrays_are_those_of_numpy() -> None:
    a, b = arrays([(2, 3, 4), (2, 5, 4)])
    np.testing.assert_allclose(topi.testing.batch_matmul(a, b), a @ b.transpose(0, 2, 1))
    exps = np.exp(a)
    np.testing.assert_allclose(topi.testing.softmax_python(a), exps / exps.sum(1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(topi.testing.log_softmax_python(a, 2), a - np.log(exps.sum(2, keepdims=True)), rtol=1e-5)
    wide = np.full((2, 5, 7), -1.0, "float32")
    wide[:, ::2, ::2] = a
    np.testing.assert_array_equal(topi.testing.dilate_python(a, (1, 2, 2), -1), wide)
