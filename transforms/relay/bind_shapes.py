"""Make dynamic inputs of a graph static, by the shapes that a user gives.

    x = 2x4:   relay.func @main(%x: tensor<?x4xf32>) -> ...   ->   relay.func @main(%x: tensor<2x4xf32>) -> ...

What follows from the inputs becomes static by `infer-type`. Counterpart of TVM's `relay.frontend.from_onnx(shape=...)`
for modules that are relay already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.ir import Attribute, BlockArgument

from ...dialects.relay.base import DYNAMIC, shape_of, tensor
from ...dialects.relay.core import FuncOp
from ...dialects.support.diagnostics import Place, UsageError, did_you_mean
from ...dialects.support.retyping import retype
from ...dialects.support.verifier import verify
from .bind_params import input_names
from .infer_type import InferTypePass
from .outline_segments import scanned_functions

Named = list[tuple[str, BlockArgument]]


def bind_shapes(module: ModuleOp, shapes: Mapping[str, Sequence[int]]) -> None:
    """Give inputs their shapes, in place; in every function that has an input of the name,
    but for turns of scans, which take what is scanned.

    Args:
        shapes: shapes by the inputs' names; a dimension of -1 stays as it is.

    Raises:
        UsageError: no function has such an input, its declared type contradicts the shape, or an extent is below -1.
        Diagnostic: an operator does not take its operands with these shapes.
    """
    if not shapes:
        return
    turns = scanned_functions(module)
    functions = [op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data not in turns]
    inputs: dict[FuncOp, Named] = {
        function: list(zip(input_names(function), function.body.block.args, strict=True)) for function in functions
    }
    names = [name for named in inputs.values() for name, _ in named]
    for name in shapes:
        if name not in names:
            hint = did_you_mean(name, names) or f"the inputs are {', '.join(map(repr, dict.fromkeys(names)))}"
            raise UsageError(f"the module has no input '{name}'", hint=hint if names else "the module is no relay")
    for function, named in inputs.items():
        for name, argument in named:
            if name in shapes:
                retype(argument, _bound(name, argument, shapes[name]))
        types = [argument.type for argument in function.body.block.args]
        function.function_type = FunctionType.from_lists(types, function.function_type.outputs.data)
    InferTypePass().apply(Context(), module)
    verify(module)


def below_nothing(name: str, shape: Sequence[int]) -> str:
    """What is told of a shape with a negative extent, which is not the -1 of one that stays as it is."""
    return f"input '{name}' cannot have the shape {list(shape)}: an extent is at least 0, or -1 where it stays open"


def _bound(name: str, argument: BlockArgument, shape: Sequence[int]) -> TensorType[Attribute]:
    declared = shape_of(argument)
    if any(n < -1 for n in shape):
        raise UsageError(below_nothing(name, shape), Place.of_location(argument.location))
    shape = [m if n == -1 else n for m, n in zip(declared, shape, strict=False)] + list(shape[len(declared) :])
    if len(shape) != len(declared) or any(m not in (DYNAMIC, n) for m, n in zip(declared, shape, strict=True)):
        place = Place.of_location(argument.location)
        text = "x".join("?" if n == DYNAMIC else str(n) for n in shape)
        raise UsageError(f"shape {text} does not fit input '{name}' of type {argument.type}", place)
    return TensorType(tensor(argument).element_type, shape)
