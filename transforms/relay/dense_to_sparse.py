"""Take weights of dense layers as sparse matrices, `w` by its elements, their columns, and where its rows begin.

    relay.func @main(%x, %w: tensor<64x32xf32>)         relay.func @main(%x, %w.data, %w.indices, %w.indptr)
      %y = relay.nn.dense %x, %w                    ->    %y = relay.nn.sparse_dense %x, %w.data, %w.indices, %w.indptr

The function takes three arguments in place of one: who calls it gives the matrix so, and
`weft.relay.analysis.sparse_dense.process_params` makes it of an array
(`weft.relay.data_dep_optimization.bsr_dense.convert` does both). So it is done for arguments that are named by
`weight-name`, and that nothing else reads, in functions that are not called. `weight-shape` has five numbers for each:
those of blocks of elements, of rows and columns of a block, of columns, and of beginnings of rows.

Counterpart of TVM's `DenseToSparse`. It pays for matrices that are nearly all zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...dialects.relay.base import tensor
from ...dialects.relay.core import FuncOp
from ...dialects.relay.functions import name_of
from ...dialects.relay.ops.nn.dense import DenseOp
from ...dialects.relay.ops.nn.sparse import SparseDenseOp
from ..infra import FunctionPass, report_changed
from .sparse_weights import parts_of, take_sparse, why_not_in_floats

NAME = "dense-to-sparse"


@dataclass(frozen=True)
class DenseToSparsePass(FunctionPass):
    """Options: `weight-name`, the names of the arguments; `weight-shape`, the extents of their parts."""

    name = NAME
    opt_level: ClassVar[int] = 4
    required: ClassVar[tuple[str, ...]] = ("dead-code-elimination",)
    tvm_name: ClassVar[str | None] = "DenseToSparse"

    weight_name: tuple[str, ...] = ()
    weight_shape: tuple[int, ...] = ()

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        """
        Raises:
            UsageError: there are not five numbers for each weight.
        """
        parts = parts_of(self.weight_name, self.weight_shape)
        named = [(each, parts[name]) for each in func.body.block.args if (name := name_of(each)) in parts]
        report_changed(any([self._take_sparse(func, *each) for each in named]))

    def _take_sparse(self, func: FuncOp, weight: BlockArgument, extents: Sequence[int]) -> bool:
        def obstacle(op: Operation) -> str | None:
            if not isinstance(op, DenseOp) or op.data is weight:
                return "it is not only the weight of dense layers"
            if (rank := len(tensor(op.data).get_shape())) != 2:
                return f"the data is of rank {rank}, and no matrix"
            return why_not_in_floats(op)

        def sparse(op: Operation, parts: Sequence[SSAValue]) -> Operation:
            assert isinstance(op, DenseOp)
            return SparseDenseOp(op.data, *parts)

        return take_sparse(NAME, func, weight, extents, obstacle, sparse, whole_elements=True)
