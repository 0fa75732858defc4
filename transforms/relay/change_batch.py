"""Give a graph another batch size than it was written for.

    change-batch{data="x" axes=0 batch-size=4}
    relay.func @main(%x: tensor<1x8xf32>)               relay.func @main(%x: tensor<4x8xf32>)
      %y = relay.exp %x : tensor<1x8xf32>         ->      %y = relay.exp %x : tensor<4x8xf32>

The types of all that follows from the inputs are found again. What an operator says by a property, as the shape that
`reshape` gives, stays as it is: where that is of the old size, the pass says that the operator does not fit.

Counterpart of TVM's `ChangeBatch`. A graph that is to run at several sizes has an extent that is left open instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.ir import Attribute, BlockArgument

from ...dialects.relay.base import RelayOp, tensor
from ...dialects.relay.control import ApplyOp, FnOp, IfOp
from ...dialects.relay.core import CallOp, FuncOp, PrimitiveOp, TupleGetOp, TupleOp
from ...dialects.relay.types import IncompleteType
from ...dialects.support.diagnostics import UsageError, did_you_mean
from ...dialects.support.hints import isa
from ...dialects.support.retyping import retype
from ...dialects.support.verifier import verify
from ..infra import ModulePass
from ..infra.walk import walk
from .bind_params import input_names
from .completion import complete_module

NAME = "change-batch"


@dataclass(frozen=True)
class ChangeBatchPass(ModulePass):
    """Options: `data`, the names of inputs; `axes`, which axis of each is the batch; `batch-size`, its new extent."""

    name = NAME
    tvm_name: ClassVar[str | None] = "ChangeBatch"
    ranges: ClassVar[dict[str, tuple[int, int | None]]] = {"batch_size": (0, None)}

    data: tuple[str, ...] = ()
    axes: tuple[int, ...] = ()
    batch_size: int = 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            UsageError: there is no such input, or it has no such axis.
            Diagnostic: an operator, or a function that is called, does not take its operands with these shapes.
        """
        if len(self.data) != len(self.axes):
            raise UsageError(
                f"{NAME}: {len(self.data)} inputs and {len(self.axes)} axes", hint="one axis for each input"
            )
        inputs = [
            (func, name, argument)
            for func in op.ops
            if isinstance(func, FuncOp)
            for name, argument in zip(input_names(func), func.body.block.args, strict=True)
        ]
        names = [name for _, name, _ in inputs]
        changed: dict[FuncOp, None] = {}
        for wanted, axis in zip(self.data, self.axes, strict=True):
            if wanted not in names:
                raise UsageError(f"the module has no input '{wanted}'", hint=did_you_mean(wanted, names))
            for func, name, argument in inputs:
                if name == wanted:
                    self._change(name, argument, axis)
                    changed[func] = None
        for func in changed:
            forget_types(func, NAME)
        complete_module(op)
        verify(op)

    def _change(self, name: str, argument: BlockArgument, axis: int) -> None:
        type = argument.type
        rank = len(type.get_shape()) if isa(type, TensorType[Attribute]) else 0
        if not -rank <= axis < rank:
            raise UsageError(f"input '{name}' is {type}, which has no axis {axis}")
        shape = list(tensor(argument).get_shape())
        shape[axis] = self.batch_size
        retype(argument, TensorType(tensor(argument).element_type, shape))


def forget_types(func: FuncOp, name: str) -> None:
    """Have the types of all that a function computes be found again, in a pass of a name.

    Raises:
        UsageError: the function is fused.
    """
    for op in walk(func):
        if isinstance(op, PrimitiveOp):
            raise UsageError(f"{name}: @{func.sym_name.data} is fused already", hint="change its batch before that")
        if isinstance(op, RelayOp | TupleOp | TupleGetOp | IfOp | CallOp | ApplyOp):
            for result in op.results:
                retype(result, IncompleteType())
        if isinstance(op, FnOp) and all(
            isinstance(use.operation, ApplyOp) and use.index == 0 for use in op.result.uses
        ):
            for value in (*op.body.block.args, op.result):  # of a function that is only called, calls say the types
                retype(value, IncompleteType())
    func.function_type = FunctionType.from_lists(func.body.block.arg_types, [IncompleteType()])
