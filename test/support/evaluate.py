"""Compare a graph with what a pass has made of it, by the reference interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from weft.dialects.relay.base import flatten_types
from weft.dialects.relay.core import FuncOp
from weft.dialects.relay.interpreter import evaluate_function
from weft.testing import random_array

NDArray = npt.NDArray[Any]


def functions(module: ModuleOp) -> dict[str, FuncOp]:
    """The functions of a module by name."""
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}


def random_inputs(func: FuncOp, seed: int = 0) -> list[NDArray]:
    """An array for each tensor among the arguments, tuples opened."""
    rng = np.random.default_rng(seed)
    types = flatten_types([argument.type for argument in func.body.block.args])
    return [random_array(type, rng, signed_integers=False) for type in types]


def assert_same_results(before: ModuleOp, after: ModuleOp, *, rtol: float = 1e-4, atol: float = 1e-4) -> None:
    """Both modules have the same public functions, and those give the same on random inputs."""
    changed = functions(after)
    for name, func in functions(before).items():
        if func.sym_visibility is not None:
            continue
        inputs = random_inputs(func)
        assert name in changed
        expected, actual = evaluate_function(func, inputs), evaluate_function(changed[name], inputs)
        for want, got in zip(expected, actual, strict=True):
            assert want.dtype == got.dtype, f"@{name}: {got.dtype} instead of {want.dtype}"
            wide = (got.astype(np.float64), want.astype(np.float64))
            np.testing.assert_allclose(*wide, rtol=rtol, atol=atol, err_msg=f"@{name}")
