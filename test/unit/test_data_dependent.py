"""Graphs are changed by what their parameters hold, as TVM's `relay.data_dep_optimization` does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import relay
from weft.dialects.support.diagnostics import UsageError
from weft.transforms.relay.dense_to_sparse import DenseToSparsePass

relay: Any = relay


def layer() -> Any:
    x, w, b = relay.var("x", shape=(4, 32)), relay.var("w", shape=(16, 32)), relay.var("b", shape=(16,))
    return relay.Function([x, w, b], relay.nn.relu(relay.nn.bias_add(relay.nn.dense(x, w), b)))


def params(block: tuple[int, int]) -> dict[str, Any]:
    """A weight of which a third of the blocks is not zero; one row of blocks has none."""
    rng, (height, width) = np.random.default_rng(0), block
    there = rng.random((16 // height, 32 // width)) < 0.3
    there[1] = False
    weight = rng.standard_normal((16, 32)) * np.kron(there, np.ones(block))
    return {"w": weight.astype(np.float32), "b": rng.standard_normal(16).astype(np.float32)}


@pytest.mark.parametrize("block", [(4, 2), (1, 1)])
@pytest.mark.parametrize("kind", ["debug", "vm"])
def test_weights_that_are_mostly_zeros_are_taken_as_sparse_matrices(block: tuple[int, int], kind: str) -> None:
    given, x = params(block), np.random.default_rng(1).standard_normal((4, 32)).astype(np.float32)
    func, sparse = relay.data_dep_optimization.bsr_dense.convert(layer(), given, block, 0.5)
    assert relay.analysis.list_op_freqs(relay.IRModule.from_expr(func)).get("nn.sparse_dense") == 1
    named = {name: sparse[name] for name in ("w.data", "w.indices", "w.indptr", "b")}
    assert named["w.data"].size < given["w"].size / 2
    result = relay.create_executor(kind, relay.IRModule.from_expr(func), params=named).evaluate()(x)
    expected = np.maximum(x.astype(np.float64) @ given["w"].astype(np.float64).T + given["b"], 0)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_weights_with_fewer_zeros_stay() -> None:
    func, given = relay.data_dep_optimization.bsr_dense.convert(layer(), params((4, 4)), (4, 4), 0.99)
    assert relay.structural_equal(func, layer()) and set(given) == {"w", "b"}


def test_blocks_must_divide_a_weight() -> None:
    with pytest.raises(UsageError, match="a matrix of 16 x 32 has no blocks of 4 x 5"):
        relay.data_dep_optimization.bsr_dense.convert(layer(), params((4, 4)), (4, 5), 0.5)


def test_extents_are_asked_for_each_weight() -> None:
    with pytest.raises(UsageError, match="weight-shape has 4 numbers, and weight-name 1 names"):
        DenseToSparsePass(("w",), (1, 2, 3, 4))(relay.IRModule.from_expr(layer()))


def test_weights_that_are_transposed_are_given_so() -> None:
    x, w = relay.var("x", shape=(2, 4)), relay.var("w", shape=(4, 3))
    func = relay.Function([x, w], relay.nn.dense(x, relay.transpose(w, [1, 0])))
    weight = np.arange(12, dtype=np.float32).reshape(4, 3)
    changed, given = relay.data_dep_optimization.simplify_fc_transpose.convert(func, {"w": weight})
    np.testing.assert_array_equal(given["w.T"], weight.T)
    assert [each.name_hint for each in changed.params] == ["x", "w.T"]
