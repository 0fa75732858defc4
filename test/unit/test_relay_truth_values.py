"""Sums of truth values are taken modulo 2, by an operator's direct evaluation as by its `compute`."""

from __future__ import annotations

import numpy as np
import pytest

from weft.dialects.relay.base import RelayOp, Value
from weft.dialects.relay.ops.einsum import EinsumOp
from weft.dialects.relay.ops.nn.dense import BatchMatmulOp, DenseOp
from weft.dialects.relay.ops.scan import CumsumOp
from weft.dialects.relay.ops.scatter import ScatterAddOp
from weft.testing.operators import Input, run_operator

BITS = np.array([[True, True, False], [True, True, True]])


@pytest.mark.parametrize(
    ("op", "inputs", "properties", "expected"),
    [
        (CumsumOp, [BITS], {"axis": 1}, [[True, False, False], [True, False, True]]),
        (ScatterAddOp, [BITS, np.zeros((2, 2), np.int64), BITS[:, :2]], {"axis": 1}, BITS.tolist()),
        (DenseOp, [BITS, BITS], {}, [[False, False], [False, True]]),
        (BatchMatmulOp, [BITS[None], BITS[None]], {}, [[[False, False], [False, True]]]),
        (EinsumOp, [(BITS, BITS)], {"equation": "ij,kj->ik"}, [[False, False], [False, True]]),
    ],
)
def test_sums_are_taken_modulo_2(
    op: type[RelayOp], inputs: list[Input], properties: dict[str, Value], expected: list[object]
) -> None:
    assert run_operator(op, inputs, **properties).tolist() == expected
