"""What protobuf lets through though it is no sound model: names that are no text, negative extents, names given twice.

Looked for once, before anything is imported, so that no converter has to expect it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast

from ...dialects.support.diagnostics import Diagnostic, Place

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from onnx import GraphProto, ModelProto, TensorProto, TypeProto, ValueInfoProto


def check_sound(model: ModelProto, file: str) -> None:
    """Look through a model.

    Raises:
        Diagnostic: it is not sound; placed at the node or value where that has a name.
    """
    for message in _messages(model, file):
        kind = message.DESCRIPTOR.name
        if kind == "GraphProto":
            _check_graph(cast("GraphProto", message), file)
        elif kind == "TensorProto":
            _check_tensor(cast("TensorProto", message), file)
    # Outputs of a body go by their places: it may hand on one value twice.
    _check_once("the output", model.graph.output, file)
    names = [f"{f.domain}.{f.name}" for f in model.functions]
    if (twice := _repeated(names)) is not None:
        raise Diagnostic(f"the model defines function '{twice}' twice", Place(file))


def _messages(root: Message, file: str) -> Iterator[Message]:
    """All messages in `root`, whose strings are found to be text on the way.

    Raises:
        Diagnostic: one is not.
    """
    pending = [root]
    while pending:
        message = pending.pop()
        yield message
        for field, value in message.ListFields():
            if field.type == field.TYPE_MESSAGE:
                pending += value if field.is_repeated else [value]
            elif field.type == field.TYPE_STRING:
                for text in value if field.is_repeated else [value]:
                    if isinstance(text, bytes):
                        shown = text.decode(errors="backslashreplace")[:80]
                        what = f"{message.DESCRIPTOR.name}.{field.name}"
                        raise Diagnostic(
                            f"{what} is not text in UTF-8: '{shown}'", Place(file), hint="is the file damaged?"
                        )


def _check_graph(graph: GraphProto, file: str) -> None:
    weights = [*graph.initializer, *(sparse.values for sparse in graph.sparse_initializer)]
    _check_once("the initializer", weights, file)
    _check_once("the input", graph.input, file)
    for value in (*graph.input, *graph.output):
        _check_type(value.type, value.name, file)


def _check_once(what: str, entries: Iterable[TensorProto | ValueInfoProto], file: str) -> None:
    if (twice := _repeated(entry.name for entry in entries)) is not None:
        raise _at(file, twice, f"{what} '{twice}' stands twice in the graph")


def _check_type(type: TypeProto, name: str, file: str) -> None:
    for dimension in type.tensor_type.shape.dim:
        if dimension.dim_value < -1:  # some exporters write -1 where they do not know
            raise _at(file, name, f"'{name}' has a dimension of {dimension.dim_value}")


def _check_tensor(tensor: TensorProto, file: str) -> None:
    if min(tensor.dims, default=0) < 0:
        raise _at(file, tensor.name, f"tensor '{tensor.name}' has shape {list(tensor.dims)}")


def _repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _at(file: str, name: str, message: str) -> Diagnostic:
    return Diagnostic(message, Place(f'{file}("{name}")' if name else file))
