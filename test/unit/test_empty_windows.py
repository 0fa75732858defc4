"""Convolutions and normalisations of tensors without elements, on the interpreter and as machine code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import weft
from weft import relay


def check(expr: relay.Expr, shapes: Sequence[Sequence[int]], result: Sequence[int]) -> None:
    """What is not empty holds sums of nothing, zeros."""
    module = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(expr), expr))
    given = [np.zeros(shape, np.float32) for shape in shapes]
    interpreter: Any = relay.create_executor("debug", mod=module)
    compiled: Any = weft.compile(module)(*given)
    for found in (compiled, interpreter.evaluate()(*given).numpy()):
        np.testing.assert_array_equal(np.asarray(found), np.zeros(result, np.float32))


@pytest.mark.parametrize(
    ("data", "weight", "groups", "result"),
    [
        ((0, 4, 5, 5), (4, 2, 3, 3), 2, (0, 4, 3, 3)),
        ((2, 4, 5, 5), (0, 2, 3, 3), 2, (2, 0, 3, 3)),
        ((1, 0, 5, 5), (4, 0, 3, 3), 2, (1, 4, 3, 3)),
        ((0, 0, 3, 3), (0, 0, 3, 3), 2, (0, 0, 1, 1)),
    ],
)
def test_convolutions(data: Sequence[int], weight: Sequence[int], groups: int, result: Sequence[int]) -> None:
    x, w = relay.var("x", shape=data), relay.var("w", shape=weight)
    check(relay.nn.conv2d(x, w, groups=groups, kernel_size=(3, 3)), (data, weight), result)


@pytest.mark.parametrize(
    ("data", "weight", "groups", "result"),
    [
        ((0, 4, 5, 5), (4, 2, 3, 3), 1, (0, 2, 7, 7)),
        ((2, 4, 5, 5), (4, 0, 3, 3), 1, (2, 0, 7, 7)),
        ((2, 4, 5, 5), (4, 0, 3, 3), 2, (2, 0, 7, 7)),
        ((1, 0, 5, 5), (0, 2, 3, 3), 1, (1, 2, 7, 7)),
        ((1, 0, 5, 5), (0, 2, 3, 3), 2, (1, 4, 7, 7)),
    ],
)
def test_transposed_convolutions(
    data: Sequence[int], weight: Sequence[int], groups: int, result: Sequence[int]
) -> None:
    x, w = relay.var("x", shape=data), relay.var("w", shape=weight)
    check(relay.nn.conv2d_transpose(x, w, groups=groups, kernel_size=(3, 3)), (data, weight), result)


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 0, 3), (2, 4, 0)])
def test_groups_of_channels(shape: Sequence[int]) -> None:
    x, gamma, beta = (
        relay.var(name, shape=each) for name, each in (("x", shape), ("g", shape[1:2]), ("b", shape[1:2]))
    )
    check(relay.nn.group_norm(x, gamma, beta, num_groups=2), (shape, shape[1:2], shape[1:2]), shape)


@pytest.mark.parametrize("extents", [(0, 8), (5, 0), (0, 0)])
def test_an_image_without_elements_has_no_boxes(extents: tuple[int, int]) -> None:
    data = relay.var("x", shape=(1, 5, *extents))
    boxes = relay.vision.multibox_prior(data, sizes=[0.5, 0.25], ratios=[1.0, 2.0])
    check(boxes, [(1, 5, *extents)], (1, 0, 4))
