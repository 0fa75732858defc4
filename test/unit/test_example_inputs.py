"""The inputs on which examples are run tell every operator from one that does nothing, and from one constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from weft.dialects.relay import Relay
from weft.dialects.relay.reference import evaluate_compute
from weft.testing import OperatorExample, examples_of

pytestmark = pytest.mark.sampled(3)

NDArray = npt.NDArray[Any]

IDENTITIES = {
    **dict.fromkeys(
        (
            "relay.copy", "relay.device_copy", "relay.annotation.stop_fusion", "relay.annotation.compiler_begin",
            "relay.annotation.compiler_end", "relay.nn.dropout",
        ),
        "that is what it means",
    ),
    **dict.fromkeys(
        (
            "relay.reshape", "relay.reshape_like", "relay.squeeze", "relay.expand_dims", "relay.nn.batch_flatten",
        ),
        "the shape changes, not the elements",
    ),
    "relay.cast_like": "the type changes, not the numbers",
    "relay.data_extent": "the number that data decides, which is below its bound",
}  # fmt: skip
"""Operators that give an operand as it is, and why that is right."""

CONSTANTS = {
    **dict.fromkeys(
        ("relay.zeros", "relay.ones", "relay.zeros_like", "relay.ones_like", "relay.full", "relay.full_like"),
        "that is what it means",
    ),
    "relay.nn.dropout": "the mask, which lets everything through in inference",
    "relay.unique_rows": "how many rows there are of each that differs from the others, which are all",
}
"""Operators whose examples have results of one value, and why that is right."""


def same(a: NDArray, b: NDArray) -> bool:
    """Whether the elements are the same, whatever the shape."""
    x, y = (array.reshape(-1).astype(np.float64) for array in (a, b))
    return np.array_equal(x, y, equal_nan=True)


EXAMPLES = [e for e in examples_of(Relay) if e.op_type.has_compute()]


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_operator_is_not_the_identity_on_its_inputs(example: OperatorExample) -> None:
    def is_identity(inputs: list[NDArray]) -> bool:
        result = evaluate_compute(example.op, inputs)[0]
        return any(same(result, operand) for operand in inputs)

    assert all(map(is_identity, example.trials())) == (str(example) in IDENTITIES)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_operator_is_not_a_constant_on_its_inputs(example: OperatorExample) -> None:
    def is_constant(inputs: list[NDArray]) -> bool:
        results = evaluate_compute(example.op, inputs)
        return any(result.size > 1 and np.all(result == result.reshape(-1)[0]) for result in results)

    assert all(map(is_constant, example.trials())) == (str(example) in CONSTANTS)


def test_the_lists_of_exceptions_name_operators() -> None:
    assert IDENTITIES.keys() | CONSTANTS.keys() <= {str(example) for example in EXAMPLES}
