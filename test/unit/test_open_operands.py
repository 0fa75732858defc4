"""Operands whose open extents have to agree: it is asked when the graph is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.relay import Expr
from weft.runtime.tensors import InputError

N = None
Array = npt.NDArray[np.float32]


def compiled(shapes: Sequence[Sequence[int | None]], body: Callable[..., Expr]) -> Callable[..., Any]:
    params = [
        relay.var(f"x{number}", shape=[relay.Any() if n is None else n for n in shape])
        for number, shape in enumerate(shapes)
    ]
    return weft.compile(relay.Function(params, body(*params)), "llvm -opt-level=0", threads=1)


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
    for executable in (weft.compile(function, "llvm -opt-level=0"), weft.compile(function, executor="interpreter")):
        for found, want in zip(executable(np.zeros((1, 3, 0, 4), np.float32)), wanted, strict=True):
            np.testing.assert_array_equal(found, want)
