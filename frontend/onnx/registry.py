"""Which ONNX operators are imported, and how.

An operator that a Relay operator is, one to one, is named by that class (`RelayOp.ONNX`). Any other has a converter, a
function of a `Node`. Weft's own stand in the families' tables; those of other packages are found by

* the classes of the dialects that they bring by the entry point `xdsl.universe`,
* the entry point `weft.importers`, a mapping such as `{"com.example.Rotary": {1: rotary}}`: the operator's name with
  its domain, then the first revision, or the first version of its domain, that a converter understands,
* `register_converter`, in a script.

They are looked for when a model has an operator that Weft does not know; what Weft knows, they do not change.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TypeGuard, cast

from xdsl.ir import Operation, SSAValue
from xdsl.irdl import OptOperandDef

from ...dialects.relay import Relay
from ...dialects.relay.base import RelayOp
from ...dialects.support.diagnostics import InternalError
from ...dialects.support.hints import is_mapping, listed
from ...dialects.support.plugins import importers, installed_universes, loaded, note_change, warn, warn_of_taken
from . import (
    drawing,
    einsum,
    elementwise,
    folding,
    indexing,
    learning,
    linear,
    microsoft,
    ngrams,
    normalization,
    older,
    quantization,
    recurrent,
    reductions,
    resize,
    sequences,
    shapes,
    spectrum,
    splitting,
    training,
    vision,
    windows,
)
from .errors import Malformed, Unsupported
from .node import Converter, Node, Outputs, Versions

FIRST_OPSET = 7
LAST_OPSET = 23
"""The opsets whose operators the converters were written for. An operator that a later opset left as it was will do."""

LAST_REVISIONS = {"SpaceToDepth": 28}
"""The operators whose converters understand a revision that is newer still."""

_BROADCASTS_SINCE = 7  # before, two operands broadcast only where an attribute asks for it


def one_to_one(op_type: type[RelayOp]) -> Converter:
    """The converter of an operator that is this one: inputs are operands, attributes properties of the same names."""
    definition = op_type.get_irdl_definition()
    optional = [isinstance(operand, OptOperandDef) for _, operand in definition.operands]
    properties = definition.properties

    def convert(node: Node) -> Outputs:
        for name in node.attributes:
            if name not in properties:
                raise Unsupported(f"attribute '{name}' has no counterpart in {op_type.name}")
        if len(node.inputs) > len(optional):
            raise Malformed(f"{len(node.inputs)} inputs, but {op_type.name} has {len(optional)} operands")
        operands = [node.optional(i) if may_lack else node.input(i) for i, may_lack in enumerate(optional)]
        results = node.emit_all(op_type, *operands, **{name: node.value(name) for name in node.attributes})
        return results[0] if len(results) == 1 else results

    return convert


def named_by_classes(operations: Iterable[type[Operation]]) -> dict[str, Versions]:
    """The converters of the ONNX operators that operators' classes name."""
    found: dict[str, Versions] = {}
    for op in operations:
        if issubclass(op, RelayOp):
            since = _BROADCASTS_SINCE if len(op.get_irdl_definition().operands) > 1 else 1
            found |= {name: {1 if "." in name else since: one_to_one(op)} for name in op.ONNX}
    return found


_NEWER: dict[str, Versions] = {
    **named_by_classes(Relay.operations),
    **elementwise.CONVERTERS,
    **reductions.CONVERTERS,
    **linear.CONVERTERS,
    **einsum.CONVERTERS,
    **windows.CONVERTERS,
    **normalization.CONVERTERS,
    **shapes.CONVERTERS,
    **indexing.CONVERTERS,
    **resize.CONVERTERS,
    **quantization.CONVERTERS,
    **spectrum.CONVERTERS,
    **splitting.CONVERTERS,
    **training.CONVERTERS,
    **drawing.CONVERTERS,
    **vision.CONVERTERS,
    **recurrent.CONVERTERS,
    **folding.CONVERTERS,
    **sequences.CONVERTERS,
    **ngrams.CONVERTERS,
    **learning.CONVERTERS,
    **microsoft.CONVERTERS,
}

CONVERTERS: dict[str, Versions] = {
    **_NEWER,
    **{name: {**versions, **_NEWER.get(name, {})} for name, versions in older.CONVERTERS.items()},
}
"""Weft's own, and what was registered."""


def register_converter(name: str, convert: Converter, since: int = 1) -> None:
    """Have the ONNX operator `name` (`"com.example.Rotary"`), from version `since` on, imported by `convert`."""
    note_change("a converter")
    CONVERTERS[name] = {**CONVERTERS.get(name, {}), since: convert}


@cache
def _from_plugins() -> dict[str, Versions]:
    """The converters of other packages."""
    found: dict[str, Versions] = {}
    for universe in installed_universes(ours=False):
        for name, factory in universe.all_dialects.items():
            if (dialect := loaded(f"dialect '{name}'", factory)) is not None:
                found |= named_by_classes(dialect.operations)
    for title, value in importers():
        if not is_mapping(value):
            warn(title, f"it is {type(value).__name__}, and no mapping of operators to converters")
            continue
        for name, versions in value.items():
            if isinstance(name, str) and _are_versions(versions):
                found[name] = versions
            else:
                warn(title, f"it has no converters by version for {name!r}, but {versions!r}")
    for name in found.keys() & CONVERTERS.keys():
        warn_of_taken("converter", name)
    return found


def _are_versions(versions: object) -> TypeGuard[Versions]:
    return is_mapping(versions) and all(
        isinstance(since, int) and callable(convert) for since, convert in versions.items()
    )


def converter(operator: str, version: int) -> Converter | None:
    """The converter that understands an operator in `version`: its `since_version` in ONNX's own domain, the imported
    version of the domain in others, where the domain stands before the name."""
    versions = CONVERTERS.get(operator)
    if versions is None:
        versions = _from_plugins().get(operator, {})
    fitting = [since for since in versions if since <= version]
    return versions[max(fitting)] if fitting else None


def outputs_of(convert: Converter, node: Node) -> Outputs:
    """What a converter makes of a node.

    Raises:
        InternalError: that is no value, nor a list of them.
    """
    outputs = convert(node)
    found = cast("object", outputs)  # what is annotated, a plug-in may not have kept to
    values = listed(found)
    if found is not None and all(value is None or isinstance(value, SSAValue) for value in values):
        return outputs
    name = f"{convert.__module__}.{getattr(convert, '__qualname__', type(convert).__name__)}"
    raise InternalError(
        f"the converter {name} gives {type(outputs).__name__}, and not the values of the node's outputs",
        hint="a converter returns what node.emit gives, or a list of it",
    )


def is_known(operator: str) -> bool:
    """Whether an operator has a converter for some version."""
    return operator in CONVERTERS or operator in _from_plugins()


def forget_plugins() -> None:
    """Look for plug-ins again when they are next needed."""
    _from_plugins.cache_clear()


def supported_operators() -> list[str]:
    """The ONNX operators that have a converter, sorted. Others that ONNX defines by these are expanded on import."""
    return sorted({**_from_plugins(), **CONVERTERS})
