"""Models of other frameworks under TVM's names (`tvm.relay.frontend`): `weft.relay.frontend`.

    module, params = relay.frontend.from_onnx(model, shape={"x": (1, 3, 224, 224)})
    library = relay.build(module, "llvm", params=params)

`weft.compile` takes a model as it is, and does without this.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from .dialects.support.arguments import checked
from .dialects.support.diagnostics import UsageError, did_you_mean
from .dialects.support.dtypes import dtype_name, scalar_type
from .dialects.support.hints import isa
from .dialects.support.nd import NDArray, as_nd
from .frontend.relay.expr import AnyExtent, Expr, Operand, as_value
from .frontend.relay.module import IRModule
from .transforms.relay.bind_params import input_names

if TYPE_CHECKING:
    from onnx import ModelProto

Extent: TypeAlias = int | AnyExtent
ONNX_DEFAULT_CONFIGS = {"use_nt_batch_matmul": True}
"""What TVM's importer can be told of how it writes operators. Weft's has one way, whose products take their right side
as the model has it."""


@checked
def from_onnx(
    model: ModelProto | str | os.PathLike[str],
    shape: Mapping[str, Sequence[Extent]] | None = None,
    dtype: str | Mapping[str, str] = "float32",
    opset: int | None = None,
    freeze_params: bool = True,
    convert_config: Mapping[str, bool] | None = None,
) -> tuple[IRModule, dict[str, NDArray]]:
    """Import an ONNX model: its module, and the values of its weights by their names.

    Args:
        model: a model, or its file.
        shape: the shapes of inputs, by their names; what is `relay.Any()` or -1 stays open.
        dtype: the dtypes of inputs, by their names, which have to be those of the model; one name for all says nothing,
            as in TVM.
        opset: the version that operators are taken to be of, if it is not the one that the model says.
        freeze_params: the weights are constants of the module, and there are no values of them; otherwise `@main` takes
            them behind the model's inputs.
        convert_config: `use_nt_batch_matmul`, which says nothing.

    Raises:
        UsageError: there is no such input, or it is of another shape or dtype, or there is no such configuration.
        Diagnostic: the model is broken, or has operators that Weft cannot import.
    """
    from .frontend.onnx import from_onnx as imported
    from .frontend.onnx import from_onnx_with_weights

    for name in convert_config or {}:
        if name not in ONNX_DEFAULT_CONFIGS:
            hint = did_you_mean(name, ONNX_DEFAULT_CONFIGS) or f"there is {', '.join(ONNX_DEFAULT_CONFIGS)}"
            raise UsageError(f"the importer has no configuration '{name}'", hint=hint)
    if opset is not None:
        model = _of_opset(model, opset)
    shapes = {name: [each if isinstance(each, int) else -1 for each in given] for name, given in (shape or {}).items()}
    if freeze_params:
        module, weights = IRModule.of(imported(model, shapes)), {}
    else:
        found, weights = from_onnx_with_weights(model, shapes)
        module = IRModule.of(found)
    if not isinstance(dtype, str):
        _check_dtypes(module, dtype)
    return module, {name: as_nd(array) for name, array in weights.items()}


def _of_opset(model: ModelProto | str | os.PathLike[str], opset: int) -> ModelProto:
    """A copy of a model that says to be of another opset of ONNX's own operators."""
    import onnx

    from .frontend.onnx.files import load

    copy = onnx.ModelProto()
    copy.CopyFrom(load(model).proto)
    own = next((each for each in copy.opset_import if each.domain in ("", "ai.onnx")), None)
    if own is None:
        own = copy.opset_import.add()
    own.version = opset
    return copy


def _check_dtypes(module: IRModule, dtypes: Mapping[str, str]) -> None:
    """
    Raises:
        UsageError: an input is of another dtype than is said, or there is none of that name.
    """
    main = module["main"]
    types = dict(zip(input_names(main), main.function_type.inputs, strict=True))
    for name, dtype in dtypes.items():
        if name not in types:
            raise UsageError(f"the model has no input '{name}'", hint=did_you_mean(name, types))
        type = types[name]
        if isa(type, TensorType[Attribute]) and type.element_type != scalar_type(dtype):
            raise UsageError(f"input '{name}' of the model is {dtype_name(type.element_type)}, and not {dtype}")


@checked
def infer_type(node: Operand, mod: IRModule | None = None) -> Expr:
    """The expression itself: its type is known since it was made."""
    return Expr(as_value(node))


@checked
def infer_shape(inputs: Operand, mod: IRModule | None = None) -> tuple[int, ...]:
    """The shape of an expression, a tensor."""
    return tuple(Expr(as_value(inputs)).shape)


common = ModuleType(f"{__name__}.common", "What importers ask of expressions, by the module that TVM has that in.")
common.__dict__.update(infer_shape=infer_shape, infer_type=infer_type)

__all__ = ["common", "from_onnx"]
