"""Take a weight that is transposed before it is used as one that is given so.

    relay.func @main(%x, %w: tensor<4x3xf32>)           relay.func @main(%x, %w.T: tensor<3x4xf32>)
      %0 = relay.transpose %w {axes = [1, 0]}     ->      %y = relay.nn.dense %x, %w.T
      %y = relay.nn.dense %x, %0

The argument of the function changes its type and its name: who calls it gives the transposed array
(`weft.relay.analysis.search_fc_transpose` names the arguments). So it is done for arguments that are named by
`target-weights`, and that nothing else reads, in functions that are not called.

Counterpart of TVM's `SimplifyFCTranspose`. The transposes of constants are what `fold-constant` is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, TensorType
from xdsl.ir import BlockArgument, Operation

from ...dialects.relay.base import shape_of, tensor
from ...dialects.relay.core import FuncOp
from ...dialects.relay.ops.nn.dense import DenseOp
from ...dialects.relay.ops.transform import TransposeOp
from ...dialects.support.retyping import retype
from ..infra import FunctionPass, remarks, report_changed
from ..infra.walk import walk
from .symbol_names import is_referred_to

NAME = "simplify-fc-transpose"


@dataclass(frozen=True)
class SimplifyFCTransposePass(FunctionPass):
    """Options: `target-weights` are the names of the arguments that may change."""

    name = NAME
    opt_level: ClassVar[int] = 4
    required: ClassVar[tuple[str, ...]] = ("dead-code-elimination",)
    tvm_name: ClassVar[str | None] = "SimplifyFCTranspose"

    target_weights: tuple[str, ...] = ()

    def apply_function(self, ctx: Context, func: FuncOp) -> None:
        changed = False
        for argument in transposed_weights(func):
            if argument.name_hint in self.target_weights:
                changed |= _take_transposed(func, argument)
        report_changed(changed)


def transposed_weights(func: FuncOp) -> list[BlockArgument]:
    """The arguments that are transposed to be the weight of a dense layer, in the order in which these stand."""
    found: dict[BlockArgument, None] = {}
    for op in walk(func):
        if isinstance(op, DenseOp) and isinstance(transpose := op.weight.owner, TransposeOp):
            source = transpose.data
            if isinstance(source, BlockArgument) and source.owner is func.body.block and _swaps(transpose):
                found[source] = None
    return list(found)


def _swaps(op: Operation) -> bool:
    return isinstance(op, TransposeOp) and op.permutation(len(shape_of(op.data))) == (1, 0)


def _take_transposed(func: FuncOp, argument: BlockArgument) -> bool:
    users = {use.operation for use in argument.uses}
    if not all(map(_swaps, users)):
        remarks.missed(NAME, func, f"%{argument.name_hint} is also read as it is")
        return False
    if is_referred_to(func):
        remarks.missed(NAME, func, f"@{func.sym_name.data} is called, by what gives %{argument.name_hint} as it is")
        return False
    for op in users:
        op.results[0].replace_all_uses_with(argument)
        op.detach()
        op.erase()
    rows, columns = shape_of(argument)
    argument.name_hint = f"{argument.name_hint}.T"
    retype(argument, TensorType(tensor(argument).element_type, [columns, rows]))
    func.function_type = FunctionType.from_lists(func.body.block.arg_types, func.function_type.outputs.data)
    return True
