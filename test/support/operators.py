"""Build one Relay operator on NumPy arrays and evaluate it: what the tests of single operators need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Block

from weft.dialects.relay.attributes import tensor_type_of
from weft.dialects.relay.base import RelayOp, Value
from weft.dialects.relay.reference import evaluate_compute, evaluate_directly

NDArray = npt.NDArray[Any]


def run_operator(op_type: type[RelayOp], inputs: Sequence[NDArray], **properties: Value) -> NDArray:
    """The operator's first result by `compute`; where it has a direct evaluation, that must be equal."""
    op = op_type(*Block(arg_types=[tensor_type_of(x) for x in inputs]).args, **properties)
    op.verify()
    results = evaluate_compute(op, inputs)
    direct = evaluate_directly(op, inputs)
    for found, expected in zip(direct or results, results, strict=True):
        assert found.dtype == expected.dtype
        assert_close(found, expected, 1e-5)
    return results[0]


def random_floats(*shape: int) -> NDArray:
    """An f32 array from a normal distribution, always the same for a shape."""
    return np.random.default_rng(len(shape) * 100 + sum(shape)).standard_normal(shape).astype(np.float32)


def assert_close(found: npt.ArrayLike, expected: npt.ArrayLike, tolerance: float = 1e-4) -> None:
    """Same shape, and values equal to an absolute and relative `tolerance`."""
    a, b = np.asarray(found).astype(np.float64), np.asarray(expected).astype(np.float64)
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance / 10)
