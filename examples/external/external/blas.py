"""The backend `blas`: matrix products, with bias and relu behind them, by NumPy and the BLAS that it is built with."""

from __future__ import annotations

import json
from collections.abc import Sequence

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import Operation, SSAValue

from weft import Backend, ExternalKernel
from weft.dialects.relay.base import is_true, tensor
from weft.dialects.relay.core import ConstantOp, FuncOp, PrimitiveOp, YieldOp
from weft.dialects.relay.ops.nn.dense import BatchMatmulOp, BiasAddOp, DenseOp
from weft.dialects.support.diagnostics import Diagnostic
from weft.transforms.relay.backends import PatternEntry
from weft.transforms.relay.dataflow.match import Match
from weft.transforms.relay.dataflow.pattern import is_op, wildcard


def is_product(op: Operation) -> bool:
    """Whether BLAS has such a product: of two tensors of one type, f32 or f64; of any extents, open ones too."""
    if not isinstance(op, DenseOp | BatchMatmulOp):
        return False
    types = [tensor(value) for value in (*op.operands, *op.results)]
    same = all(type.element_type == types[0].element_type for type in types)
    return same and isinstance(types[0].element_type, Float32Type | Float64Type)


class Blas(Backend):
    """Takes `nn.dense` and `nn.batch_matmul`."""

    name = "blas"

    def patterns(self) -> Sequence[PatternEntry]:
        product = is_op("nn.dense")(wildcard(), wildcard())
        bias = is_op("nn.bias_add")(product, wildcard())

        def wanted(match: Match) -> bool:
            added = match[bias].owner
            columns = isinstance(added, BiasAddOp) and added.axis.value.data in (-1, 1)
            return columns and isinstance(dense := match[product].owner, DenseOp) and is_product(dense)

        return (("blas.dense_bias_relu", is_op("nn.relu")(bias), wanted), ("blas.dense_bias", bias, wanted))

    def supports(self, op: Operation) -> bool:
        return is_product(op)

    def lower(self, function: FuncOp) -> ExternalKernel:
        """One product after the other: their operands are inputs, constants, or results of those before."""
        block, results = function.body.block, function.return_op.arguments
        constants = [op for op in block.ops if isinstance(op, ConstantOp)]
        values: list[SSAValue] = [*block.args, *(op.result for op in constants)]
        steps: list[dict[str, object]] = []
        for op in block.ops:
            if op is not function.return_op and op not in constants:
                steps.append(_step(op, [values.index(value) for value in op.operands]))
                values.append(op.results[0])
        metadata = {"steps": steps, "results": [values.index(value) for value in results]}
        arrays = [array for op in constants if (array := op.numpy()) is not None]
        return ExternalKernel("packed", "blas.product", arrays, json.dumps(metadata).encode())


def _step(op: Operation, operands: list[int]) -> dict[str, object]:
    """What the Python function has to know of one product."""
    inner = [op]
    if isinstance(op, PrimitiveOp):
        inner = [each for each in op.body.block.ops if not isinstance(each, YieldOp)]
    product = inner[0]
    if not isinstance(product, DenseOp | BatchMatmulOp):
        raise Diagnostic.at(op, "is no matrix product")
    names = [each.name for each in inner[1:]]
    transposed = (False, True)
    if isinstance(product, BatchMatmulOp):
        transposed = (is_true(product.transpose_a), is_true(product.transpose_b))
    return {"operands": operands, "transposed": transposed, "relu": "relay.nn.relu" in names}
