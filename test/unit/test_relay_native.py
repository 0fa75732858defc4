"""The example of every Relay operator gives the same as machine code, lowered from its `compute` without a schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from native import Native, aligned
from relay_examples import OPERATORS, example, operation_under_test, parse, random_inputs
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from weft.dialects import te
from weft.dialects.relay.base import RelayOp
from weft.dialects.relay.reference import evaluate_compute
from weft.dialects.support.dtypes import numpy_dtype, scalar_type
from weft.lowering.relay_to_tir.te_to_tir import create_prim_func
from weft.lowering.tir_to_loops.convert_tir_to_loops import ConvertTirToLoopsPass
from weft.transforms.infra.registry import new_ir_context

NDArray = npt.NDArray[Any]


def run_natively(op: RelayOp, inputs: list[NDArray]) -> list[NDArray]:
    """The results of `op` by a kernel made of its `compute` alone."""
    tensors = [te.placeholder(x.shape, scalar_type(x.dtype)) for x in inputs]
    outputs = op.compute(*tensors)
    outputs = [outputs] if isinstance(outputs, te.Tensor) else list(outputs)
    module = ModuleOp([create_prim_func("kernel", tensors, outputs)])
    module.verify()
    ConvertTirToLoopsPass().apply(new_ir_context(), module)
    (kernel,) = [f for f in module.ops if isinstance(f, FuncOp) and f.sym_name.data == "kernel"]
    results = [aligned(t.shape, numpy_dtype(t.element_type)) for t in outputs]
    own = kernel.function_type.inputs.data[len(inputs) + len(results) : -1]  # workspaces, and counters of work sharing
    arguments = [np.ascontiguousarray(x) for x in inputs] + results + [memory(type) for type in own]
    Native(str(module), opt_level=1)("kernel", *arguments, 1)
    return results


def memory(type: Attribute) -> NDArray:
    """Zeroed memory for an argument that a kernel needs for itself."""
    assert isinstance(type, MemRefType)
    return aligned(type.get_shape(), numpy_dtype(type.element_type))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


@pytest.mark.parametrize("name", [name for name, op in OPERATORS.items() if op.has_compute()])
def test_machine_code_gives_what_the_compute_says(name: str):
    op = operation_under_test(parse(example(OPERATORS[name])), name)
    inputs = random_inputs(op)
    for found, expected in zip(run_natively(op, inputs), evaluate_compute(op, inputs), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=2e-5, atol=1e-6)
