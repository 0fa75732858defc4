"""The example of every Relay operator gives the same as machine code, lowered from its `compute` without a schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from native import Native, aligned
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from weft.dialects import te
from weft.dialects.relay import Relay
from weft.dialects.relay.base import RelayOp
from weft.dialects.relay.reference import evaluate_compute
from weft.dialects.rt.checks import RecordType
from weft.dialects.rt.core import SLOT_BYTES, SlotsType
from weft.dialects.support.checks import RECORD_BYTES
from weft.dialects.support.dtypes import numpy_dtype, scalar_type
from weft.dialects.support.verifier import verify
from weft.lowering.relay_to_tir.te_to_tir import create_prim_func
from weft.lowering.tir_to_loops.convert_tir_to_loops import ConvertTirToLoopsPass
from weft.testing import OperatorExample, assert_close, examples_of
from weft.transforms.infra.registry import new_ir_context

NDArray = npt.NDArray[Any]


def run_natively(op: RelayOp, inputs: list[NDArray]) -> list[NDArray]:
    """The results of `op` by a kernel made of its `compute` alone."""
    tensors = [te.placeholder(x.shape, scalar_type(x.dtype)) for x in inputs]
    outputs = op.compute(*tensors)
    outputs = [outputs] if isinstance(outputs, te.Tensor) else list(outputs)
    module = ModuleOp([create_prim_func("kernel", tensors, outputs)])
    verify(module)
    ConvertTirToLoopsPass().apply(new_ir_context(), module)
    (kernel,) = [f for f in module.ops if isinstance(f, FuncOp) and f.sym_name.data == "kernel"]
    results = [aligned(t.shape, numpy_dtype(t.element_type)) for t in outputs]
    own = kernel.function_type.inputs.data[len(inputs) + len(results) : -1]  # workspaces, and counters of work sharing
    arguments = [np.ascontiguousarray(x) for x in inputs] + results + [memory(type) for type in own]
    Native(module, opt_level=1)("kernel", *arguments, 1)
    return results


def memory(type: Attribute) -> NDArray:
    """Zeroed memory for an argument that a kernel needs for itself."""
    if isinstance(type, SlotsType):
        return aligned([type.count.data * SLOT_BYTES], np.uint8)
    if isinstance(type, RecordType):
        return aligned([RECORD_BYTES], np.uint8)
    assert isinstance(type, MemRefType)
    return aligned(type.get_shape(), numpy_dtype(type.element_type))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


EXAMPLES = [pytest.param(e, id=str(e)) for e in examples_of(Relay) if e.op_type.has_compute()]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("example", EXAMPLES)
def test_machine_code_gives_what_the_compute_says(example: OperatorExample):
    inputs = example.inputs()
    for found, expected in zip(run_natively(example.op, inputs), evaluate_compute(example.op, inputs), strict=True):
        assert found.dtype == expected.dtype
        assert_close(found, expected, 2e-5)
