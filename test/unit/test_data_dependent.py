"""Graphs are changed by what their parameters hold, as TVM's `relay.data_dep_optimization` does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft import relay
from weft.dialects.support.diagnostics import UsageError
from weft.transforms.relay.dense_to_sparse import DenseToSparsePass

pytestmark = pytest.mark.sampled(5)

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
    for shape in ((2, 3, 4, 2, 3), (2, 1, 4, 2, 2)):
        with pytest.raises(UsageError, match=r"weight-shape: .* parts of 'w'"):
            DenseToSparsePass(("w",), shape)(relay.IRModule.from_expr(layer()))


def convolution(layout: str, side: int, weight_layout: str) -> tuple[Any, dict[str, Any]]:
    """A layer of convolution, and a weight of which few blocks of four output channels are not zero."""
    rng, sizes = np.random.default_rng(0), {"O": 8, "I": 6, "H": side, "W": side}
    weight = rng.standard_normal([sizes[axis] for axis in weight_layout])
    there = rng.random([sizes[axis] // 4 if axis == "O" else sizes[axis] for axis in weight_layout]) < 0.2
    weight *= np.repeat(there, 4, weight_layout.index("O"))
    x = relay.var("x", shape=(1, 6, 5, 7) if layout == "NCHW" else (1, 5, 7, 6))
    y = relay.nn.conv2d(
        x, w := relay.var("w", shape=weight.shape), padding=side // 2, data_layout=layout, kernel_layout=weight_layout
    )
    return relay.Function([x, w], relay.nn.relu(y)), {"w": weight.astype(np.float32)}


@pytest.mark.parametrize(("layout", "side", "kernel"), [("NCHW", 1, "OIHW"), ("NHWC", 3, "HWIO"), ("NCHW", 3, "OIHW")])
def test_convolutions_with_weights_that_are_mostly_zeros_are_sparse(layout: str, side: int, kernel: str) -> None:
    func, given = convolution(layout, side, kernel)
    shape: tuple[int, ...] = func.params[0].shape
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    expected = relay.create_executor("debug", relay.IRModule.from_expr(func), params=given).evaluate()(x)
    convert = relay.data_dep_optimization.bsr_conv2d
    named, sparse = convert.convert(func, given, (4, 1), 0.5, layout, side)
    assert set(sparse) == {"w.data", "w.indices", "w.indptr"} and set(given) == {"w"}
    bound, none = convert.convert2(relay.bind_params_by_name(func, given), {}, (4, 1), 0.5, layout, side)
    assert none == {}
    both: list[Any] = [(named, sparse), (bound, {})]
    for made, params in both:
        module = relay.IRModule.from_expr(made)
        assert relay.analysis.list_op_freqs(module).get("nn.sparse_conv2d") == 1
        for kind in ("debug", "vm"):
            result = relay.create_executor(kind, module, params=params).evaluate()(x)
            np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_convolutions_with_fewer_zeros_stay() -> None:
    func, given = convolution("NCHW", 3, "OIHW")
    convert = relay.data_dep_optimization.bsr_conv2d
    assert relay.structural_equal(convert.convert(func, given, (4, 1), 0.99, "NCHW", 3)[0], func)
    assert relay.structural_equal(convert.convert(func, given, (4, 1), 0.1, "NCHW", 1)[0], func)
    with pytest.raises(UsageError, match="NHWC or NCHW, not 'NCWH'"):
        convert.convert(func, given, (4, 1), 0.5, "NCWH", 3)


def test_weights_that_are_transposed_are_given_so() -> None:
    x, w = relay.var("x", shape=(2, 4)), relay.var("w", shape=(4, 3))
    func = relay.Function([x, w], relay.nn.dense(x, relay.transpose(w, [1, 0])))
    weight = np.arange(12, dtype=np.float32).reshape(4, 3)
    changed, given = relay.data_dep_optimization.simplify_fc_transpose.convert(func, {"w": weight})
    np.testing.assert_array_equal(given["w.T"], weight.T)
    assert [each.name_hint for each in changed.params] == ["x", "w.T"]
