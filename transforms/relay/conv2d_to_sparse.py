"""Take weights of convolutions as sparse matrices, `w` by its blocks, their columns, and where its rows begin.

    relay.func @main(%x, %w: tensor<64x32x1x1xf32>)     relay.func @main(%x, %w.data, %w.indices, %w.indptr)
      %y = relay.nn.conv2d %x, %w                   ->    %y = relay.nn.sparse_conv2d %x, %w.data, %w.indices, %w.indptr

It is done for arguments that are named by `weight-name`, as `dense-to-sparse` says; `weight-shape` has five numbers for
each. All that reads one has to be a convolution in steps of one, without groups, of data in the layout `layout` and
with `kernel-size` x `kernel-size` taps, whose result is as large as its data.

Counterpart of TVM's `Conv2dToSparse`, which takes other convolutions for such.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...dialects.relay.core import FuncOp
from ...dialects.relay.functions import name_of
from ...dialects.relay.ops.nn.convolution import Conv2dOp
from ...dialects.relay.ops.nn.sparse_conv2d import ORDERS, SparseConv2dOp
from ...dialects.support.diagnostics import UsageError
from ..infra import FunctionPass, report_changed
from .sparse_weights import parts_of, take_sparse, why_not_sparse

NAME = "conv2d-to-sparse"


def check_layout(layout: str) -> None:
    """
    Raises:
        UsageError: it is no layout of data of sparse convolutions.
    """
    if layout not in ORDERS:
        raise UsageError(f"the layout of data of sparse convolutions is {' or '.join(ORDERS)}, not '{layout}'")


@dataclass(frozen=True)
class Conv2dToSparsePass(FunctionPass):
    """Options: `weight-name`, the names of the arguments; `weight-shape`, the extents of their parts; `layout`, of the
    data; `kernel-size`, how many taps there are each way."""

    name = NAME
    opt_level: ClassVar[int] = 4
    required: ClassVar[tuple[str, ...]] = ("dead-code-elimination",)
    tvm_name: ClassVar[str | None] = "Conv2dToSparse"
    ranges: ClassVar[dict[str, tuple[int, int | None]]] = {"kernel_size": (1, None)}

    weight_name: tuple[str, ...] = ()
    weight_shape: tuple[int, ...] = ()
    layout: str = "NHWC"
    kernel_size: int = 1

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        """
        Raises:
            UsageError: there are not five numbers for each weight, or there is no such layout.
        """
        check_layout(self.layout)
        parts = parts_of(self.weight_name, self.weight_shape)
        named = [(each, parts[name]) for each in func.body.block.args if (name := name_of(each)) in parts]
        report_changed(any([self._take_sparse(func, *each) for each in named]))

    def _take_sparse(self, func: FuncOp, weight: BlockArgument, extents: Sequence[int]) -> bool:
        def obstacle(op: Operation) -> str | None:
            if not isinstance(op, Conv2dOp) or op.data is weight:
                return "it is not only the weight of convolutions"
            return why_not_sparse(op, self.layout, self.kernel_size)

        def sparse(op: Operation, parts: Sequence[SSAValue]) -> Operation:
            assert isinstance(op, Conv2dOp)
            size = (self.kernel_size, self.kernel_size)
            return SparseConv2dOp(op.data, *parts, layout=self.layout, kernel_size=size)

        return take_sparse(NAME, func, weight, extents, obstacle, sparse, whole_elements=False)
