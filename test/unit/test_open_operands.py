"""Operands whose open extents have to agree: it is asked when the graph is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from open_graphs import graph_of, opened

import weft
from weft import relay
from weft.dialects.relay import Relay
from weft.dialects.support.diagnostics import Diagnostic
from weft.lowering.compiler import lower
from weft.lowering.machine.target import Target
from weft.relay import Expr
from weft.runtime.tensors import InputError
from weft.testing import examples_of
from weft.testing.examples import OperatorExample
from weft.testing.random_graphs import fuzzed

N = None
Array = npt.NDArray[np.float32]


def compiled(shapes: Sequence[Sequence[int | None]], body: Callable[..., Expr]) -> Callable[..., Any]:
    params = [
        relay.var(f"x{number}", shape=[relay.Any() if n is None else n for n in shape])
        for number, shape in enumerate(shapes)
    ]
    return weft.compile(relay.Function(params, body(*params)), threads=1)


def array(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).uniform(-1, 1, shape).astype(np.float32)


def test_a_variance_has_a_mean_for_each_of_its_places():
    def variance(x: Expr, mean: Expr) -> Expr:
        return relay.variance(x, axis=1, with_mean=mean)

    executable = compiled([(2, N, N), (N, 1, N)], variance)
    for x in (array(2, 5, 3), array(2, 1, 1)):
        mean = x.mean(1, keepdims=True)
        np.testing.assert_allclose(executable(x, mean), x.var(1), rtol=1e-5, atol=1e-6)
    for wrong in ((1, 1, 3), (2, 1, 4)):
        with pytest.raises(InputError, match="the graph takes"):
            executable(array(2, 5, 3), array(*wrong))


@pytest.mark.parametrize("shape", [(N, 3), (2, N), (N, N)])
def test_there_are_diagonals_for_each_matrix(shape: tuple[int | None, ...]):
    executable = compiled([(2, 3, 4), shape], relay.matrix_set_diag)
    x, diagonal = array(2, 3, 4), array(2, 3)
    expected = x.copy()
    expected[:, range(3), range(3)] = diagonal
    np.testing.assert_array_equal(executable(x, diagonal), expected)
    with pytest.raises(InputError):
        executable(x, array(*(1 if n is None else n for n in shape)))


@pytest.mark.parametrize(("rows", "beginnings"), [(N, 3), (2, N)])
def test_a_matrix_has_as_many_rows_as_what_is_added_to_it(rows: int | None, beginnings: int | None):
    def added(x: Expr, places: Expr) -> Expr:
        starts = relay.cast(places, "int32")
        return relay.nn.sparse_add(x, [relay.ones((3,), "float32"), relay.const(np.array([0, 2, 1], np.int32)), starts])

    executable = compiled([(rows, 3), (beginnings,)], added)
    x = array(2, 3)
    found = executable(x, np.array([0, 2, 3], np.float32))
    np.testing.assert_array_equal(found, x + np.array([[1, 0, 1], [0, 1, 0]], np.float32))
    with pytest.raises(InputError):
        executable(array(3, 3), np.array([0, 2, 3], np.float32))


def test_a_sum_is_collapsed_to_the_extents_of_another():
    executable = compiled([(2, N, N), (1, N)], relay.collapse_sum_like)
    x = array(2, 3, 5)
    np.testing.assert_allclose(executable(x, array(1, 5)), x.sum((0, 1))[None], rtol=1e-5)
    with pytest.raises(InputError, match="the graph takes"):
        executable(x, array(1, 4))


def test_a_grid_names_places_by_as_many_numbers_as_images_have_axes():
    executable = compiled([(N, 1, 4, 4), (N, N, 2, 2)], relay.image.grid_sample)
    x, corners = array(3, 1, 4, 4), np.array([[[-1, 1], [-1, 1]], [[-1, -1], [1, 1]]], np.float32)
    np.testing.assert_allclose(executable(x, np.stack([corners] * 3)), x[:, :, ::3, ::3], atol=1e-5)
    for wrong in ((3, 1, 2, 2), (2, 2, 2, 2)):
        with pytest.raises(InputError, match="the graph takes"):
            executable(x, array(*wrong))


@pytest.mark.parametrize("size", [(), (2, 2)])
def test_adaptive_pools_of_nothing(size: Sequence[int]):
    x = relay.var("x", shape=(1, 3, 0, 4))
    pools = [relay.nn.adaptive_avg_pool2d(x, size or None), relay.nn.adaptive_max_pool2d(x, size or None)]
    function = relay.Function([x], relay.Tuple(pools))
    wanted = [np.full((1, 3, *(size or (0, 4))), value, np.float32) for value in (np.nan, -np.inf)]
    for executable in (weft.compile(function), weft.compile(function, executor="interpreter")):
        for found, want in zip(executable(np.zeros((1, 3, 0, 4), np.float32)), wanted, strict=True):
            np.testing.assert_array_equal(found, want)


EXAMPLES = [pytest.param(example, id=str(example)) for example in fuzzed(examples_of(Relay))]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("example", EXAMPLES)
def test_an_operator_asks_what_it_needs_of_open_extents(example: OperatorExample):
    """What it reads lies within its operands, be their extents what they may; else it says that it has to know them."""
    if (graph := opened(graph_of(example.op), lambda _: True)) is None:
        pytest.skip("its type asks for extents")
    try:
        lower(graph, Target.parse("llvm"), "tir")
    except Diagnostic as error:
        assert "cannot be computed where an extent is known only when it runs" in str(error)


def test_losses_and_gathered_elements_ask_for_extents():
    def loss(p: Expr, t: Expr) -> Expr:
        return relay.nn.cross_entropy_with_logits(p, t)

    def gathered(x: Expr, i: Expr) -> Expr:
        return relay.gather(x, 1, relay.cast(i, "int64"))

    p, t = array(3, 4), array(3, 4)
    executable = compiled([(N, N), (N, N)], loss)
    np.testing.assert_allclose(executable(p, t), -(p * t).sum() / 3, rtol=1e-5)
    with pytest.raises(InputError, match="the graph takes"):
        executable(p, array(3, 5))
    executable = compiled([(N, N), (N, 2)], gathered)
    places = np.array([[1, 3], [0, 0]], np.float32)
    np.testing.assert_array_equal(executable(p, places), np.take_along_axis(p[:2], places.astype(np.int64), 1))
    with pytest.raises(InputError, match="takes inputs for which"):
        executable(p[:1], places)


def test_boxes_have_four_numbers():
    boxes, scores = relay.var("boxes", shape=(1, 3, 5)), relay.var("scores", shape=(1, 2, 3))
    limits = (relay.const(2, "int64"), relay.const(0.5, "float32"), relay.const(0.1, "float32"))
    with pytest.raises(Diagnostic, match="expected boxes of 4 numbers"):
        relay.vision.all_class_non_max_suppression(boxes, scores, *limits)


@pytest.mark.parametrize("computes", [False, True])
@pytest.mark.parametrize("shape", [(N, 3, N), (N, 3, 1), (N, 2)])
def test_a_squeeze_without_axes_takes_no_open_extent_that_is_one(computes: bool, shape: Sequence[int | None]):
    def squeezed(x: Expr) -> Expr:
        return relay.exp(relay.squeeze(x)) if computes else relay.squeeze(x)

    executable = compiled([shape], squeezed)
    sized = [4 if n is None else n for n in shape]
    assert executable(array(*sized)).shape == tuple(n for n in sized if n != 1)
    with pytest.raises(InputError, match="2 <= x0"):
        executable(array(1, *sized[1:]))


def test_a_reshape_to_an_equal_type_may_be_to_other_extents():
    def reshaped(x: Expr) -> Expr:
        return relay.reshape(x, (-4, -1, 2, -3))

    executable = compiled([(N, 2, N)], reshaped)
    x = array(4, 2, 3)
    np.testing.assert_array_equal(executable(x), x.reshape(2, 2, 6))


def test_weights_in_blocks_are_as_many_as_units_ask_for():
    def product(x: Expr, w: Expr) -> Expr:
        return relay.nn.contrib_dense_pack(x, w, "NK4n", units=6)

    executable = compiled([(2, N), (N, N, 4)], product)
    x, w = array(2, 5), array(2, 5, 4)
    np.testing.assert_allclose(executable(x, w), (x @ w.transpose(1, 0, 2).reshape(5, 8))[:, :6], rtol=1e-5, atol=1e-5)
    with pytest.raises(InputError):
        executable(x, array(1, 5, 4))
