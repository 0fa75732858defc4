"""Operators that are told by expressions what TVM's builders take as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import relay
from weft.dialects.support.diagnostics import UsageError

relay: Any = relay

X = relay.var("x", shape=(6,))
S = relay.var("s", shape=(2,), dtype="int64")


def name(expr: Any) -> str:
    return expr.value.owner.name.removeprefix("relay.")


@pytest.mark.parametrize(
    ("made", "operator", "shape"),
    [
        (relay.reshape(X, relay.const([2, -1])), "reshape", (2, 3)),
        (relay.reshape(X, S), "dyn.reshape", (-1, -1)),
        (relay.reshape(X, S, allowzero=True), "dyn.reshape", (-1, -1)),
        (relay.reshape(X, [relay.take(S, relay.const(0)), 2]), "dyn.reshape", (-1, -1)),
        (relay.tile(X, S), "dyn.tile", (-1, -1)),
        (relay.zeros(S, "float32"), "dyn.zeros", (-1, -1)),
        (relay.full(1.5, S, "float32"), "dyn.full", (-1, -1)),
        (relay.broadcast_to(X, S), "dyn.broadcast_to", (-1, -1)),
        (relay.nn.pad(X, relay.reshape(S, (1, 2))), "dyn.nn.pad", (-1,)),
        (relay.strided_slice(X, relay.take(S, relay.const([0])), [4]), "dyn.strided_slice", (-1,)),
        (relay.strided_slice(X, relay.const([1]), [4]), "strided_slice", (3,)),
        (relay.topk(X, relay.const(2), ret_type="values"), "topk", (2,)),
    ],
)
def test_constants_are_numbers_and_all_else_makes_the_operator_dynamic(made: Any, operator: str, shape: Any) -> None:
    assert name(made) == operator and made.shape == shape


def test_a_dynamic_form_computes_what_the_static_one_does() -> None:
    run = relay.create_executor().evaluate(relay.Function([X, S], relay.nn.pad(X, relay.reshape(S, (1, 2)), 7.0)))
    padded = run(np.zeros(6, np.float32), np.array([1, 2]))
    assert padded.dtype == np.float32 and padded.tolist() == [7, 0, 0, 0, 0, 0, 0, 7, 7]


def test_a_slice_of_the_first_dimensions_keeps_the_extents_of_the_others() -> None:
    data, at = relay.var("data", shape=(4, 5, 6)), relay.var("at", shape=(1,), dtype="int64")
    rows = relay.strided_slice(data, at, at + relay.const([2], "int64"))
    assert name(rows) == "dyn.strided_slice" and rows.shape == (-1, 5, 6)
    array = np.arange(120, dtype=np.float32).reshape(4, 5, 6)
    run = relay.create_executor().evaluate(relay.Function([data, at], rows))
    assert (run(array, np.array([1])) == array[1:3]).all()


def test_what_the_dynamic_form_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="'axes' needs what the others say to be constants"):
        relay.strided_slice(X, relay.take(S, relay.const([0])), [4], axes=[0])
    with pytest.raises(UsageError, match="missing a required argument"):
        relay.reshape(X)
