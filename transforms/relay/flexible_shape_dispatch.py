"""Let a graph run at every size along an axis of its inputs.

    flexible-shape-dispatch{axis=0}
    relay.func @main(%x: tensor<1x8xf32>)               relay.func @main(%x: tensor<?x8xf32>)
      %y = relay.exp %x : tensor<1x8xf32>         ->      %y = relay.exp %x : tensor<?x8xf32>

The extent is left open, one for all inputs that are named, and the types of all that follows are found again. What an
operator says by a property, as the shape that `reshape` gives, stays as it is: where that is of the old size, the pass
says that the operator does not fit.

Counterpart of TVM's `FlexibleShapeDispatch`, which makes a function for each of several sizes, pads what lies between,
and cuts the result. Here one program serves all sizes, so there is nothing to pad: `buckets` and `auto-pad` say
nothing, and sizes beyond the largest bucket run too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute

from ...dialects.relay.base import DYNAMIC, tensor
from ...dialects.relay.core import FuncOp
from ...dialects.relay.graph_arguments import DIM_NAMES, dim_names
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.hints import isa
from ...dialects.support.retyping import retype
from ...dialects.support.unique_names import free_name
from ...dialects.support.verifier import verify
from ..infra import ModulePass
from .bind_params import input_names
from .change_batch import forget_types
from .completion import complete_module

NAME = "flexible-shape-dispatch"


@dataclass(frozen=True)
class FlexibleShapeDispatchPass(ModulePass):
    """Options: `axis`, which is left open, of the inputs of `@main` whose numbers are `input-indices`; `pad-value` has
    to be 0 unless it `affects-output`; `buckets` and `auto-pad` say nothing."""

    name = NAME
    tvm_name: ClassVar[str | None] = "FlexibleShapeDispatch"

    buckets: tuple[int, ...] = ()
    axis: int = 0
    auto_pad: bool = True
    pad_value: int = 0
    input_indices: tuple[int, ...] = (0,)
    affects_output: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Raises:
            UsageError: there is no such input, or it has no such axis; or what TVM pads with would be seen.
            Diagnostic: an operator, or a function that is called, does not take its operands with an open extent; or
            `dim_names` does not fit the arguments.
        """
        if self.pad_value != 0 and not self.affects_output:
            raise UsageError(f"{NAME}: nothing is padded, and {self.pad_value} would be seen in the result")
        main = _main(op)
        names, arguments = input_names(main), main.body.block.args
        for number in self.input_indices:
            if not 0 <= number < len(arguments):
                raise UsageError(f"{NAME}: there is no input {number}; there are {len(arguments)}")
            type = arguments[number].type
            rank = len(type.get_shape()) if isa(type, TensorType[Attribute]) else 0
            if not -rank <= self.axis < rank:
                raise UsageError(f"input '{names[number]}' is {type}, which has no axis {self.axis}")
            shape = list(tensor(arguments[number]).get_shape())
            shape[self.axis] = DYNAMIC
            retype(arguments[number], TensorType(tensor(arguments[number]).element_type, shape))
        main.attributes[DIM_NAMES] = _names_with(main, self.input_indices, self.axis)
        forget_types(main, NAME)
        complete_module(op)
        verify(op)


def _main(module: ModuleOp) -> FuncOp:
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    found = [op for op in functions if op.sym_name.data == "main" or len(functions) == 1]
    if not found:
        raise UsageError(f"{NAME}: the module has no function @main")
    return found[0]


def _names_with(main: FuncOp, opened: Sequence[int], axis: int) -> ArrayAttr[ArrayAttr[StringAttr]]:
    """The names of the open extents of a function's arguments, with one name for those that are opened."""
    arguments = main.body.block.args
    if any(not isinstance(argument.type, TensorType) for argument in arguments):
        raise UsageError(f"{NAME}: an argument of @{main.sym_name.data} is no tensor")
    names = dim_names(main, list(map(tensor, arguments)))
    new = free_name("size", {name for each in names for name in each})
    for number in opened:
        names[number][axis] = new
    return ArrayAttr(ArrayAttr(StringAttr(name) for name in each) for each in names)
