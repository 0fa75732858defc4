"""Graphs that run at every size along an axis of their inputs."""

from typing import Any

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import UsageError
from weft.frontend.mlir import parse_mlir

relay: Any = relay
flexible: Any = relay.transform.FlexibleShapeDispatch
X, W = relay.var("x", shape=(4, 8)), relay.var("w", shape=(5, 8))


def test_one_program_serves_all_sizes() -> None:
    product = relay.IRModule.from_expr(relay.Function([X, W], relay.nn.relu(relay.nn.dense(X, W))))
    rows = weft.compile(flexible([1, 4])(product), threads=1)
    both = weft.compile(flexible([4, 8], axis=1, input_indices=[0, 1], affects_output=False)(product), threads=1)
    rng = np.random.default_rng(0)
    for n in (1, 3, 4, 9):
        x, w = rng.standard_normal((n, 8), np.float32), rng.standard_normal((5, 8), np.float32)
        np.testing.assert_allclose(np.asarray(rows(x, w), np.float32), np.maximum(x @ w.T, 0), atol=1e-5)
        x, w = rng.standard_normal((4, n), np.float32), rng.standard_normal((5, n), np.float32)
        np.testing.assert_allclose(np.asarray(both(x, w), np.float32), np.maximum(x @ w.T, 0), atol=1e-5)


def test_what_cannot_be_left_open_is_refused() -> None:
    module = relay.IRModule.from_expr(relay.Function([X], relay.reshape(X, (2, 16))))
    with pytest.raises(UsageError, match="there is no input 1; there are 1"):
        flexible([1], input_indices=[1])(module)
    with pytest.raises(UsageError, match="which has no axis 2"):
        flexible([1], axis=2)(module)
    with pytest.raises(UsageError, match="nothing is padded, and 3 would be seen"):
        flexible([1], pad_value=3, affects_output=False)(module)
    scalar = relay.var("t", relay.TupleType([relay.TensorType((2,))]))
    with pytest.raises(UsageError, match="an argument of @main is no tensor"):
        flexible([1])(relay.IRModule.from_expr(relay.Function([X, scalar], X)))


def test_names_of_open_extents_stay() -> None:
    size = weft.te.size_var("size")
    y = relay.var("y", shape=(size, 8))
    module = flexible([1], input_indices=[1])(relay.IRModule.from_expr(relay.Function([y, X], relay.Tuple([y, X]))))
    assert 'dim_names = [["size", ""], ["size_1", ""]]' in str(module)


def test_parameters_may_be_bound_beside_open_extents() -> None:
    product = relay.IRModule.from_expr(relay.Function([W, X], relay.nn.dense(X, W)))
    weight, rows = np.ones((5, 8), np.float32), np.ones((3, 8), np.float32)
    exe = weft.compile(flexible([4], input_indices=[1])(product), params={"w": weight}, threads=1)
    assert np.asarray(exe(rows)).tolist() == np.full((3, 5), 8).tolist()


def test_functions_within_take_the_open_extent() -> None:
    """They kept the size that they were written for, and said that they give it."""
    y = relay.var("y", shape=(4, 8))
    twice = relay.Function([y], y + y)
    module = flexible([1])(relay.IRModule.from_expr(relay.Function([X], twice(twice(X)) + X)))
    assert str(module["main"].function_type.outputs.data[0]) == "tensor<?x8xf32>"
    assert (
        np.asarray(weft.compile(module, threads=1)(np.ones((3, 8), np.float32))).tolist() == np.full((3, 8), 5).tolist()
    )


@pytest.mark.parametrize("names", ["[]", '"n"', '[["n"]]'])
def test_names_that_do_not_fit_are_refused(names: str) -> None:
    """They ended in a traceback."""
    text = f"""
    relay.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> attributes {{dim_names = {names}}} {{
      relay.return %x : tensor<1x8xf32>
    }}"""
    with pytest.raises(weft.Diagnostic, match="'dim_names' does not name the dimensions"):
        flexible([1])(parse_mlir(text, "names.mlir"))
