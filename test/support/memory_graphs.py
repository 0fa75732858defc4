"""Small graphs whose tensors lie in memory in different ways, and what they give in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

PAIR = "tuple<tensor<1x8xf32>, tensor<1x8xf32>>"
GRAPHS: dict[str, tuple[str, Callable[[Array], list[Array]]]] = {
    "an input that is returned": (
        "relay.return %x, %x : tensor<1x8xf32>, tensor<1x8xf32>",
        lambda x: [x, x],
    ),
    "a constant that is returned": (
        "%c = relay.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>\n"
        "%d = relay.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>\n"
        "relay.return %c, %d : tensor<1x2xf32>, tensor<1x2xf32>",
        lambda x: [np.array([[1, 2]], np.float32)] * 2,
    ),
    "a value that is returned twice": (
        "%0 = relay.negative %x : tensor<1x8xf32>\nrelay.return %0, %0 : tensor<1x8xf32>, tensor<1x8xf32>",
        lambda x: [-x, -x],
    ),
    "an intermediate that is returned too": (
        "%0 = relay.exp %x : tensor<1x8xf32>\n"
        "%1 = relay.sum %0 : (tensor<1x8xf32>) -> tensor<f32>\n"
        "relay.return %1, %0 : tensor<f32>, tensor<1x8xf32>",
        lambda x: [np.exp(x).sum(), np.exp(x)],
    ),
    "a reshape of an input": (
        "%0 = relay.reshape %x {newshape = array<i64: 2, 4>} : (tensor<1x8xf32>) -> tensor<2x4xf32>\n"
        "relay.return %0, %x : tensor<2x4xf32>, tensor<1x8xf32>",
        lambda x: [x.reshape(2, 4), x],
    ),
    "a reshape between two kernels": (
        "%0 = relay.sum %x {axis = array<i64: 0>} : (tensor<1x8xf32>) -> tensor<8xf32>\n"
        "%1 = relay.reshape %0 {newshape = array<i64: 2, 4>} : (tensor<8xf32>) -> tensor<2x4xf32>\n"
        "%2 = relay.sum %1 {axis = array<i64: 1>} : (tensor<2x4xf32>) -> tensor<2xf32>\n"
        "relay.return %2, %1 : tensor<2xf32>, tensor<2x4xf32>",
        lambda x: [x.reshape(2, 4).sum(1), x.reshape(2, 4)],
    ),
    "a concatenation whose parts are used again": (
        "%0 = relay.nn.softmax %x : tensor<1x8xf32>\n"
        "%1 = relay.nn.softmax %0 : tensor<1x8xf32>\n"
        f"%t = relay.tuple(%0, %1) : (tensor<1x8xf32>, tensor<1x8xf32>) -> {PAIR}\n"
        f"%2 = relay.concatenate %t {{axis = 1 : i64}} : ({PAIR}) -> tensor<1x16xf32>\n"
        "%3 = relay.nn.softmax %2 : tensor<1x16xf32>\n"
        "relay.return %3, %1 : tensor<1x16xf32>, tensor<1x8xf32>",
        lambda x: [_softmax(np.concatenate([_softmax(x), _softmax(_softmax(x))], 1)), _softmax(_softmax(x))],
    ),
    "a concatenation of concatenations": (
        "%0 = relay.nn.softmax %x : tensor<1x8xf32>\n"
        "%1 = relay.nn.softmax %0 : tensor<1x8xf32>\n"
        f"%t = relay.tuple(%0, %1) : (tensor<1x8xf32>, tensor<1x8xf32>) -> {PAIR}\n"
        f"%2 = relay.concatenate %t {{axis = 1 : i64}} : ({PAIR}) -> tensor<1x16xf32>\n"
        "%u = relay.tuple(%2, %x) : (tensor<1x16xf32>, tensor<1x8xf32>) -> tuple<tensor<1x16xf32>, tensor<1x8xf32>>\n"
        "%3 = relay.concatenate %u {axis = 1 : i64} :"
        " (tuple<tensor<1x16xf32>, tensor<1x8xf32>>) -> tensor<1x24xf32>\n"
        "relay.return %3, %0 : tensor<1x24xf32>, tensor<1x8xf32>",
        lambda x: [np.concatenate([_softmax(x), _softmax(_softmax(x)), x], 1), _softmax(x)],
    ),
}


def _softmax(x: Array) -> Array:
    power = np.exp(x - x.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)
