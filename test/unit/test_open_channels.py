"""Convolutions whose numbers of channels are known when the graph is called: those of data and weight are one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import weft
from weft import relay
from weft.dialects.relay.interpreter import evaluate_function
from weft.dialects.support.diagnostics import Diagnostic

pytestmark = pytest.mark.sampled(5)

OPEN = relay.Any()


def var(name: str, *shape: Any) -> Any:
    return relay.var(name, shape=shape)


def plain() -> Any:
    x, w = var("x", OPEN, OPEN, OPEN, OPEN), var("w", OPEN, OPEN, 3, 3)
    return relay.Function([x, w], relay.nn.conv2d(x, w, padding=(1, 1)))


def grouped() -> Any:
    x, w = var("x", 1, OPEN, 6, 6), var("w", OPEN, OPEN, 3, 3)
    return relay.Function([x, w], relay.nn.conv2d(x, w, padding=(1, 1), groups=2))


def depthwise() -> Any:
    x, w = var("x", 1, OPEN, 6, 6), var("w", OPEN, 1, 3, 3)
    return relay.Function([x, w], relay.nn.conv2d(x, w, padding=(1, 1), groups=4))


def transposed() -> Any:
    x, w = var("x", 1, OPEN, 4, 4), var("w", OPEN, 3, 3, 3)
    return relay.Function([x, w], relay.nn.conv2d_transpose(x, w, channels=3, kernel_size=(3, 3)))


@pytest.mark.parametrize(
    "graph, shapes",
    [
        (
            plain,
            [((n, c, 5, 7), (o, c, 3, 3)) for n, c, o in ((1, 1, 1), (2, 33, 8), (3, 5, 17), (1, 0, 2), (0, 4, 4))],
        ),
        (grouped, [((1, 2 * c, 6, 6), (o, c, 3, 3)) for c, o in ((1, 2), (3, 6), (16, 34))]),
        (depthwise, [((1, 4, 6, 6), (o, 1, 3, 3)) for o in (4, 8)]),
        (transposed, [((1, c, 4, 4), (c, 3, 3, 3)) for c in (1, 5, 16)]),
    ],
)
def test_any_number_of_channels_is_computed(
    graph: Callable[[], Any], shapes: list[tuple[tuple[int, ...], ...]]
) -> None:
    function, random = graph(), np.random.default_rng(0)
    exe = weft.compile(function)
    for each in shapes:
        arrays: list[npt.NDArray[Any]] = [np.asarray(random.standard_normal(shape), np.float32) for shape in each]
        got, wanted = exe(*arrays), evaluate_function(function, arrays)[0]
        assert isinstance(got, np.ndarray) and got.shape == wanted.shape
        assert np.allclose(got, wanted, rtol=1e-4, atol=1e-4)


def test_channels_that_do_not_fit_are_refused() -> None:
    x, w = np.zeros((1, 4, 6, 6), np.float32), np.zeros((3, 2, 3, 3), np.float32)
    with pytest.raises(Diagnostic, match="input 'w' has shape"):
        weft.compile(plain())(x, w)
    with pytest.raises(Diagnostic, match="takes inputs for which w_d0 <="):
        weft.compile(grouped())(x, w)
