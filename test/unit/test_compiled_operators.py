"""The example in the docstring of every Relay operator is compiled to machine code, which gives what NumPy gives: of
those that `test/run` does not run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from operator_kernels import COMPILED, as_kernel
from xdsl.ir import Block

from weft.dialects.relay.base import flatten_types
from weft.dialects.relay.ops.image import Resize2dOp
from weft.dialects.relay.reference import evaluate_compute
from weft.lowering.compiler import compile_graph
from weft.lowering.machine.target import Target
from weft.runtime.executable import Executable
from weft.testing import OperatorExample, assert_close
from weft.testing.operators import type_of

NDArray = npt.NDArray[Any]

TOLERANCE = 1e-5
ROUGH = {"relay.fast_exp": 1e-2, "relay.fast_tanh": 1e-2, "relay.fast_erf": 1e-2, "relay.nn.fast_softmax": 1e-2}
RUN = Path(__file__).parents[1] / "run"
ELEMENTWISE = ("unary_f32", "unary_f64", "binary_f32", "binary_integers")
"""Files of `test/run` whose functions are one operator each, which no pass makes another of: on every kind of value,
their machine code is held against the same definitions."""


def run_elsewhere() -> set[str]:
    """The operators of `ELEMENTWISE`."""
    return {
        name for file in ELEMENTWISE for name in re.findall(r"= (relay\.[\w.]+)", (RUN / f"{file}.mlir").read_text())
    }


EXAMPLES = [example for example in COMPILED if example.op_type.name not in run_elsewhere()]


@pytest.mark.sampled(5)
@pytest.mark.sampled(3)
@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_machine_code_gives_the_results_of_the_definition(example: OperatorExample) -> None:
    op = example.op
    executable = Executable(compile_graph(as_kernel(op), Target(), start="fuse", codegen_level=1, jobs=1), threads=1)
    for inputs in example.trials():
        results = executable(*inputs)
        found = [results] if isinstance(results, np.ndarray) else list(results)
        expected = evaluate_compute(op, inputs)
        assert len(found) == len(expected) == len(flatten_types([r.type for r in op.results]))
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == b.dtype
            assert_close(a, b, ROUGH.get(op.name, TOLERANCE))


def test_bf16_elements_are_moved_by_their_bits() -> None:
    """LLVM cannot select instructions for some vectors of bf16 that are only moved."""
    x = np.arange(90).reshape(3, 3, 2, 5).astype(ml_dtypes.bfloat16)
    properties = {"size": [5, 1], "method": "nearest_neighbor", "coordinate_transformation_mode": "asymmetric"}
    op = Resize2dOp(*Block(arg_types=[type_of(x)]).args, **properties, layout="NCHW")
    executable = Executable(compile_graph(as_kernel(op), Target.parse("llvm -mcpu=native"), start="fuse"), threads=1)
    np.testing.assert_array_equal(executable(x), evaluate_compute(op, [x])[0])
