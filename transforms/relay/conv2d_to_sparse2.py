"""Compute convolutions with weights that are nearly all zeros as sparse ones; the weights are constants.

    %y = relay.nn.conv2d %x, %w    ->    %y = relay.nn.sparse_conv2d %x, %data, %indices, %indptr

Which convolutions can be, `conv2d-to-sparse` says; those are whose blocks of `block` are all zeros in a share of at
least `sparsity-threshold`. Counterpart of TVM's `Conv2dToSparse2`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context

from ...dialects.relay.core import ConstantOp, FuncOp
from ...dialects.relay.ops.nn.convolution import Conv2dOp
from ...dialects.relay.ops.nn.sparse_conv2d import SparseConv2dOp
from ...dialects.support.diagnostics import UsageError
from ..infra import FunctionPass, remarks, report_changed
from ..infra.walk import walk
from .conv2d_to_sparse import check_layout
from .sparse_weights import as_matrix, block_sparse, put_in_place, why_not_sparse

NAME = "conv2d-to-sparse2"


@dataclass(frozen=True)
class Conv2dToSparse2Pass(FunctionPass):
    """Options: `layout`, of the data; `kernel-size`, how many taps there are each way; `block`, the rows and columns of
    a block; `sparsity-threshold`, the share of zeros that there is at least."""

    name = NAME
    opt_level: ClassVar[int] = 4
    required: ClassVar[tuple[str, ...]] = ("dead-code-elimination",)
    tvm_name: ClassVar[str | None] = "Conv2dToSparse2"
    ranges: ClassVar[dict[str, tuple[int, int | None]]] = {"kernel_size": (1, None)}

    layout: str = "NHWC"
    kernel_size: int = 1
    block: tuple[int, ...] = (1, 1)
    sparsity_threshold: float = 0.0

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        """
        Raises:
            UsageError: there is no such layout, or a block has not two extents.
        """
        check_layout(self.layout)
        if len(self.block) != 2 or min(self.block) < 1:
            raise UsageError(f"a block has rows and columns, and not {list(self.block)}")
        changed = False
        for op in list(walk(func)):
            if isinstance(op, Conv2dOp):
                changed |= self._made_sparse(op)
        report_changed(changed)

    def _made_sparse(self, op: Conv2dOp) -> bool:
        weight = op.weight.owner
        if (obstacle := why_not_sparse(op, self.layout, self.kernel_size)) is not None:
            remarks.missed(NAME, op, f"it stays as it is: {obstacle}")
            return False
        if not isinstance(weight, ConstantOp) or (array := weight.numpy()) is None:
            remarks.missed(NAME, op, "it stays as it is: its weight is no constant", "bind the parameters")
            return False
        matrix = as_matrix(array, op.layouts()[1].text, self.layout)
        rows, columns = self.block
        if matrix.shape[0] % rows or matrix.shape[1] % columns:
            remarks.missed(NAME, op, f"it stays as it is: its weight has no blocks of {rows} x {columns}")
            return False
        parts = block_sparse(matrix, (rows, columns))
        if 1 - parts[0].size / max(1, matrix.size) < self.sparsity_threshold:
            remarks.missed(NAME, op, f"it stays as it is: too few of its blocks are zeros ({len(parts[0])} are not)")
            return False
        constants = [ConstantOp.from_numpy(part) for part in parts]
        assert op.parent is not None
        op.parent.insert_ops_before(constants, op)
        size = (self.kernel_size, self.kernel_size)
        values = (each.result for each in constants)
        put_in_place(op, SparseConv2dOp(op.data, *values, layout=self.layout, kernel_size=size))
        return True
