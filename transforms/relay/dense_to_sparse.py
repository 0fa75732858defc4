"""Take weights of dense layers as sparse matrices: `w` by its elements, their columns, and where its rows begin.

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

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, TensorType, i32
from xdsl.ir import Attribute, BlockArgument

from ...dialects.relay.base import tensor
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.nn.dense import DenseOp
from ...dialects.relay.ops.nn.sparse import SparseDenseOp
from ...dialects.support.diagnostics import UsageError
from ..infra import FunctionPass, remarks, report_changed
from .symbol_names import is_referred_to

NAME = "dense-to-sparse"

NUMBERS = 5
"""Of `weight-shape` for each weight."""


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
        if len(self.weight_shape) != NUMBERS * len(self.weight_name):
            raise UsageError(
                f"weight-shape has {len(self.weight_shape)} numbers, and weight-name {len(self.weight_name)} names",
                hint="five for each: blocks, rows and columns of a block, columns, beginnings of rows",
            )
        parts = {
            name: self.weight_shape[NUMBERS * number : NUMBERS * (number + 1)]
            for number, name in enumerate(self.weight_name)
        }
        changed = False
        for argument in list(func.body.block.args):
            if argument.name_hint in parts:
                changed |= _take_sparse(func, argument, parts[argument.name_hint])
        report_changed(changed)


def _take_sparse(func: FuncOp, argument: BlockArgument, extents: tuple[int, ...]) -> bool:
    products = [op for use in argument.uses if isinstance(op := use.operation, DenseOp)]
    if len(products) < len(list(argument.uses)) or any(op.data is argument for op in products):
        remarks.missed(NAME, func, f"%{argument.name_hint} is not only the weight of dense layers")
        return False
    if is_referred_to(func):
        remarks.missed(NAME, func, f"@{func.sym_name.data} is called, by what gives %{argument.name_hint} as it is")
        return False
    element = tensor(argument).element_type
    *block, columns, beginnings = extents
    whole = block if block[1:] != [1, 1] else block[:1]
    types: dict[str, TensorType[Attribute]] = {
        "data": TensorType(element, whole),
        "indices": TensorType(i32, [columns]),
        "indptr": TensorType(i32, [beginnings]),
    }
    body = func.body.block
    made: list[BlockArgument] = []
    for number, (name, type) in enumerate(types.items()):
        made.append(body.insert_arg(type, argument.index + 1 + number))
        made[-1].name_hint = f"{argument.name_hint}.{name}"
    for op in products:
        new = SparseDenseOp(op.data, *made)
        new.location = op.location
        body_of = op.parent
        assert body_of is not None
        body_of.insert_op_before(new, op)
        new.result.name_hint = op.result.name_hint
        op.result.replace_all_uses_with(new.result)
        op.detach()
        op.erase()
    body.erase_arg(argument)
    func.function_type = FunctionType.from_lists(body.arg_types, func.function_type.outputs.data)
    return True
