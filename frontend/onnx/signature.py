"""The inputs and outputs of a model: their types as it declares them, made exact by the shapes that a user gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue

from ...dialects.relay.base import DYNAMIC, compatible, flatten_types, shape_of, tensor
from ...dialects.support.diagnostics import Diagnostic, Place, Severity, UsageError, did_you_mean, emit
from ...transforms.relay.bind_shapes import below_nothing
from .errors import Malformed, Unsupported
from .sequences import input_type, is_open
from .tensors import check_fits, declared_shape, declared_type

if TYPE_CHECKING:
    from onnx import ValueInfoProto

Shapes = Mapping[str, Sequence[int] | Sequence[Sequence[int]] | None]
"""Shapes of inputs, and open dimensions as shapes of rank one, by their names; -1 is open. For a sequence the shapes
of its tensors; for an optional input what it is, or `None` where it is not there."""
FROM_ONNX = "weft.frontend.onnx.from_onnx"
"""What takes them, from Python only."""


def input_types(inputs: Sequence[ValueInfoProto], shapes: Shapes, file: str) -> list[Attribute]:
    """The types of the inputs, which may be sequences and optional.

    Raises:
        UsageError: `shapes` does not fit the model.
        Diagnostic: an input is nothing that Weft knows, or it is a sequence, and its shapes are not given.
    """
    open_inputs = {value.name: value for value in inputs if is_open(value.type)}
    tensors = [value for value in inputs if value.name not in open_inputs]
    of_tensors = _shapes_of_tensors({name: each for name, each in shapes.items() if name not in open_inputs}, file)
    types = dict(zip([value.name for value in tensors], _tensor_types(tensors, of_tensors, file), strict=True))
    for name, value in open_inputs.items():
        place = Place(f'{file}("{name}")')
        if name not in shapes:
            kind = (value.type.WhichOneof("value") or "").replace("_type", "")
            hint = f"{FROM_ONNX}(model, shapes={{'{name}': [[2, 3], [2, 3]]}}) says that it is two tensors"
            if kind == "optional":
                hint = f"{FROM_ONNX}(model, shapes={{'{name}': None}}) says that it is not there; else give its shape"
            raise Diagnostic(f"input '{name}': a value of {kind} type, of which nothing is given", place, hint=hint)
        try:
            types[name] = input_type(value.type, shapes[name])
        except (Unsupported, Malformed) as error:
            raise Diagnostic(f"input '{name}': {error}", place, hint=error.hint) from None
    return [types[value.name] for value in inputs]


def _shapes_of_tensors(shapes: Shapes, file: str) -> dict[str, Sequence[int]]:
    """
    Raises:
        UsageError: one is no shape.
    """
    found: dict[str, Sequence[int]] = {}
    for name, shape in shapes.items():
        numbers = [] if shape is None else [n for n in shape if isinstance(n, int)]
        if shape is None or len(numbers) != len(shape):
            raise UsageError(f"{shape} is no shape for the tensor '{name}'", Place(file))
        found[name] = numbers
    return found


def _tensor_types(inputs: Sequence[ValueInfoProto], shapes: Mapping[str, Sequence[int]], file: str) -> list[Attribute]:
    """The types of tensors; a symbolic dimension that `shapes` gives, by itself or for one input, counts for all.

    Raises:
        UsageError: `shapes` does not fit the model.
        Diagnostic: an input is no tensor that Weft knows.
    """
    for name, shape in shapes.items():
        if any(n < -1 for n in shape):
            raise UsageError(below_nothing(name, shape), Place(file))
    shapes = {name: [DYNAMIC if n == -1 else n for n in shape] for name, shape in shapes.items()}
    names = [value.name for value in inputs]
    params = {d.dim_param: DYNAMIC for v in inputs for d in v.type.tensor_type.shape.dim if d.dim_param}
    symbols: dict[str, int] = {}
    for name, shape in shapes.items():
        if name in names:
            continue
        if name not in params:
            hint = did_you_mean(name, (*names, *params)) or f"the inputs are {', '.join(map(repr, names))}"
            hint += f"; open dimensions are {', '.join(map(repr, params))}" if params and "mean" not in hint else ""
            raise UsageError(f"the model has no input '{name}'", Place(file), hint=hint)
        if len(shape) != 1:
            raise UsageError(f"'{name}' is a dimension, which is a single number", Place(file))
        symbols[name] = shape[0]
    types: list[list[int] | None] = []
    for value in inputs:
        types.append(_bind(value, shapes.get(value.name), symbols, file))
    result: list[Attribute] = []
    for value, shape in zip(inputs, types, strict=True):
        if shape is not None and value.type.tensor_type.HasField("shape"):
            dims = value.type.tensor_type.shape.dim
            shape = [symbols.get(d.dim_param, n) if n == DYNAMIC else n for d, n in zip(dims, shape, strict=True)]
        try:
            result.append(check_fits(declared_type(value.type, shape)))
        except (Unsupported, Malformed) as error:
            place = Place(f'{file}("{value.name}")')
            raise Diagnostic(f"input '{value.name}': {error}", place, hint=error.hint) from None
    return result


def _bind(value: ValueInfoProto, given: list[int] | None, symbols: dict[str, int], file: str) -> list[int] | None:
    """The shape of an input, or `given` for it; its symbolic dimensions are entered into `symbols`."""
    if not value.type.tensor_type.HasField("shape"):
        return given
    dims = value.type.tensor_type.shape.dim
    declared = declared_shape(value.type)
    if given is None:
        return declared
    if len(given) != len(dims) or any(len({DYNAMIC, n, g}) > 2 for n, g in zip(declared, given, strict=True)):
        shown = "x".join("?" if g == DYNAMIC else str(g) for g in given)
        text = "x".join(d.dim_param or ("?" if n == DYNAMIC else str(n)) for d, n in zip(dims, declared, strict=True))
        raise UsageError(f"shape {shown} does not fit input '{value.name}' of shape {text}", Place(file))
    for d, n in zip(dims, given, strict=True):
        if d.dim_param and n != DYNAMIC and symbols.setdefault(d.dim_param, n) != n:
            raise UsageError(
                f"dimension '{d.dim_param}' is {symbols[d.dim_param]} in one input and {n} in '{value.name}'",
                Place(file),
            )
    return given


def names_of_dims(value: ValueInfoProto, type: Attribute) -> list[list[str]]:
    """For each tensor of an input the names of its dimensions; "" for those that have none, or are known."""
    shapes = [shape_of(each) for each in flatten_types([type])]
    names = [[""] * len(shape) for shape in shapes]
    if value.type.WhichOneof("value") == "tensor_type" and value.type.tensor_type.HasField("shape"):
        dims = value.type.tensor_type.shape.dim
        names = [[d.dim_param if n == DYNAMIC else "" for d, n in zip(dims, shapes[0], strict=True)]]
    return names


def check_declared(value: ValueInfoProto, result: SSAValue, file: str) -> None:
    """An output must have the element type that the model declares; another shape is warned about.

    Raises:
        Diagnostic: it has not.
    """
    if value.type.WhichOneof("value") != "tensor_type" or not value.type.tensor_type.HasField("shape"):
        return
    try:
        declared = declared_type(value.type)
    except Unsupported as unsupported:
        place = Place(f'{file}("{value.name}")')
        raise Diagnostic(f"output '{value.name}' is declared with {unsupported}", place) from None
    if compatible(result.type, declared):
        return
    message = f"output '{value.name}' is declared as {declared}, but is {result.type}"
    error = Diagnostic(message, Place(f'{file}("{value.name}")'))
    if declared.element_type != tensor(result).element_type:
        raise error
    # ONNX's own shape inference is off by one for some pools, and exporters guess the rank of what a branch gives:
    # runtimes go by what the operators say.
    error.severity = Severity.WARNING
    emit(error)
