"""Build one operator on NumPy arrays and evaluate it: what the tests of single operators need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Block, TypeAttribute

from ..dialects.relay.attributes import tensor_type_of
from ..dialects.relay.base import RelayOp, Value, flatten_types
from ..dialects.relay.reference import evaluate_compute, evaluate_directly
from ..dialects.support.arguments import checked

NDArray = npt.NDArray[Any]
Input: TypeAlias = "NDArray | tuple[NDArray, ...]"
"""What an operand is made of: a tensor, or a tuple of tensors."""


@checked
def run_operator(op_type: type[RelayOp], inputs: Sequence[Input], **properties: Value) -> NDArray:
    """The operator's first result by `compute`; where it has a direct evaluation, that must be equal."""
    return run_results(op_type, inputs, **properties)[0]


@checked
def run_results(op_type: type[RelayOp], inputs: Sequence[Input], **properties: Value) -> list[NDArray]:
    """The operator's results by `compute`, tuples flattened; where it has a direct evaluation, that must be equal.

    Both must have the types that the type relation gives.
    """
    op = op_type(*Block(arg_types=[type_of(x) for x in inputs]).args, **properties)
    op.verify()
    flat = [array for x in inputs for array in (x if isinstance(x, tuple) else (x,))]
    results = evaluate_compute(op, flat)
    for result, type in zip(results, flatten_types([r.type for r in op.results]), strict=True):
        assert tensor_type_of(result) == type
    direct = evaluate_directly(op, flat)
    for found, expected in zip(direct, results, strict=True) if direct is not None else ():
        assert found.dtype == expected.dtype
        assert_close(found, expected, 1e-5)
    return results


def type_of(value: Input) -> TypeAttribute:
    """The type of an array, or of a tuple of arrays."""
    if isinstance(value, tuple):
        return TupleType(ArrayAttr([tensor_type_of(x) for x in value]))
    return tensor_type_of(value)


def random_floats(*shape: int) -> NDArray:
    """An f32 array from a normal distribution, always the same for a shape."""
    return np.random.default_rng(len(shape) * 100 + sum(shape)).standard_normal(shape).astype(np.float32)


@checked
def assert_close(found: npt.ArrayLike, expected: npt.ArrayLike, tolerance: float = 1e-4) -> None:
    """Same shape, and values equal to an absolute and relative `tolerance`."""
    a, b = np.asarray(found).astype(np.float64), np.asarray(expected).astype(np.float64)
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance / 10)
