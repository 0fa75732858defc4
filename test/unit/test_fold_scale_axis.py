"""Folding of factors takes time that grows with the graph, not with its square."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, f32
from xdsl.ir import Operation, SSAValue

from weft.dialects.relay.core import ConstantOp, FuncOp, ReturnOp
from weft.dialects.relay.ops.broadcast import AddOp, MultiplyOp
from weft.dialects.relay.ops.nn.activation import ReluOp
from weft.dialects.relay.ops.nn.convolution import Conv2dOp
from weft.transforms.infra import PassContext
from weft.transforms.relay.fold_scale_axis import FoldScaleAxisPass

COUNT = 1_050
"""More than Python's limit of recursion."""


@pytest.mark.parametrize(
    ("between", "count"),
    [([], COUNT), ([ReluOp], 40), ([AddOp], 40), ([AddOp, ReluOp], COUNT)],
    ids=["alone", "rectified", "added", "both"],
)
def test_a_long_chain_of_multiplications_ends_in_one_weight(between: list[type[Operation]], count: int):
    type = TensorType(f32, [1, 2, 3, 3])
    func = FuncOp("main", FunctionType.from_lists([type], [type]))
    block = func.body.block

    def add(op: Operation) -> SSAValue:
        block.add_op(op)
        return op.results[0]

    scale = add(ConstantOp.from_numpy(np.array([[[2.0]], [[0.5]]], np.float32)))
    inverse = add(ConstantOp.from_numpy(np.array([[[0.5]], [[2.0]]], np.float32)))
    value = add(Conv2dOp(block.args[0], add(ConstantOp.from_numpy(np.ones((2, 2, 1, 1), np.float32)))))
    for i in range(count):
        for kind in between:
            value = add(AddOp(value, scale) if kind is AddOp else ReluOp(value))
        value = add(MultiplyOp(value, inverse if i % 2 else scale))
    block.add_op(ReturnOp(value))
    with PassContext(opt_level=3):
        after = FoldScaleAxisPass()(ModuleOp([func]))
    assert not any(isinstance(op, MultiplyOp) for op in after.walk())
    assert sum(isinstance(op, Conv2dOp) for op in after.walk()) == 1
