"""Run a te schedule on the interpreter of `tir` and as machine code, and compare both with what its tensors say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import te
from weft.dialects.support.dtypes import numpy_dtype
from weft.dialects.te.evaluate import evaluate
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter

Arrays: TypeAlias = list[npt.NDArray[Any]]


def inputs_for(tensors: Sequence[te.Tensor], seed: int = 0) -> Arrays:
    """Normally distributed floats, integers from 0 to 3."""
    generator = np.random.default_rng(seed)
    arrays: Arrays = []
    for tensor in tensors:
        dtype = numpy_dtype(tensor.element_type)
        integral = dtype.kind in "iub"
        values = generator.integers(0, 4, tensor.shape) if integral else generator.standard_normal(tensor.shape)
        arrays.append(np.asarray(values, dtype))
    return arrays


def assert_scheduled(
    schedule: te.Schedule, args: Sequence[te.Tensor], rtol: float = 1e-4, target: str = "llvm -mcpu=native"
) -> ModuleOp:
    """What `schedule` makes of `args`, inputs first, computes what they say, on the interpreter and compiled. Gives the
    lowered module."""
    inputs = [tensor for tensor in args if tensor.producer is None]
    outputs = [tensor for tensor in args if tensor.producer is not None]
    arrays = inputs_for(inputs)
    expected = evaluate(outputs, dict(zip(inputs, arrays, strict=True)))
    module = weft.lower(schedule, args)
    module.verify()
    (function,) = module.ops
    assert isinstance(function, PrimFuncOp)
    for given, wanted in zip(Interpreter(function)(arrays, 0), expected, strict=True):
        np.testing.assert_allclose(given.astype(float), wanted.astype(float), rtol=rtol, atol=1e-4)
    built = weft.build(schedule, args, target)
    for threads in (1, 3):
        results = [np.empty(tensor.shape, numpy_dtype(tensor.element_type)) for tensor in outputs]
        built.entry.executable.threads = threads
        built(*arrays, *results)
        for given, wanted in zip(results, expected, strict=True):
            np.testing.assert_allclose(given.astype(float), wanted.astype(float), rtol=rtol, atol=1e-4)
    return module


def computed(output: te.Tensor, *inputs: te.Tensor) -> Any:
    """What a tensor is on random inputs, and the inputs."""
    arrays = inputs_for(inputs)
    return evaluate([output], dict(zip(inputs, arrays, strict=True)))[0], *arrays
