"""Functions of quantised numbers, looked up in tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import relay
from weft.dialects.support.diagnostics import UsageError

qnn: Any = relay.qnn
tables: Any = qnn.op.canonicalizations


@pytest.mark.parametrize("given, made", [("int8", "int8"), ("uint8", "int8"), ("int8", "uint8"), ("int16", "uint8")])
def test_a_function_is_looked_up_for_every_integer(given: str, made: str) -> None:
    bounds = np.iinfo(given)
    integers = np.arange(bounds.min, bounds.max + 1).astype(given)
    scales = relay.const(np.float32(3 / bounds.max)), relay.const(np.float32(1 / 100))
    zeros = relay.const(np.int32(5)), relay.const(np.int32(7))
    x = relay.var("x", shape=integers.shape, dtype=given)
    parameters = (scales[0], zeros[0], scales[1], zeros[1])
    lookup = tables.create_integer_lookup_op(x, np.tanh, *parameters, in_dtype=given, out_dtype=made)
    evaluate: Any = relay.create_executor().evaluate(relay.Function([x], lookup))
    found = evaluate(integers)
    exact = np.tanh((integers.astype(np.float64) - 5) * np.float32(3 / bounds.max)) * 100 + 7
    assert found.dtype == made
    assert np.abs(found - np.clip(exact, np.iinfo(made).min, np.iinfo(made).max)).max() <= 0.5001


def test_a_constant_expression_is_computed() -> None:
    assert tables.run_const_expr(relay.const(np.float32(2)) * relay.const(np.float32(3))) == 6
    assert qnn.op.qnn.quantize is qnn.quantize  # TVM has the functions in both places


def test_types_without_a_table_are_refused() -> None:
    one, zero = relay.const(np.float32(1)), relay.const(np.int32(0))
    with pytest.raises(UsageError, match="there is no table of 'int32'"):
        tables.create_integer_lookup_table(np.tanh, one, zero, one, zero, in_dtype="int32")
    with pytest.raises(UsageError, match="there is no table of 'float32'"):
        tables.create_integer_lookup_table(np.tanh, one, zero, one, zero, out_dtype="float32")
