"""ONNX's own definitions of its operators: the revision that an opset has, its inputs and attributes, its meaning."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from xdsl.ir import SSAValue

from ...dialects.support.diagnostics import did_you_mean
from .errors import Malformed, Unsupported
from .tensors import type_proto

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, NodeProto, OperatorSetIdProto


class AttributeKind(Protocol):
    """`onnx.defs.OpSchema.AttrType`; its values are those of `AttributeProto.AttributeType`."""

    value: int


class AttributeDefinition(Protocol):
    """`onnx.defs.OpSchema.Attribute`."""

    required: bool
    type: AttributeKind
    default_value: AttributeProto


class Schema(Protocol):
    """The part of `onnx.defs.OpSchema` that the importer reads; ONNX's type stubs leave out the second half."""

    since_version: int
    min_input: int
    max_input: int
    min_output: int
    max_output: int
    attributes: dict[str, AttributeDefinition]
    has_function: bool
    function_opset_versions: list[int]
    has_context_dependent_function: bool
    context_dependent_function_opset_versions: list[int]

    def get_function_with_opset_version(self, version: int, /) -> bytes: ...

    def get_context_dependent_function_with_opset_version(
        self, version: int, node: bytes, types: list[bytes], /
    ) -> bytes: ...


def count(number: int, noun: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def domain_name(name: str) -> str:
    """ONNX's default domain has two names."""
    return "" if name == "ai.onnx" else name


def domain_of(node: NodeProto) -> str:
    return domain_name(node.domain)


def operator_name(node: NodeProto) -> str:
    """An operator's name in messages: with its domain, but for the default one."""
    return f"{node.domain}.{node.op_type}" if domain_of(node) else node.op_type


WAYS_ROUND = {
    "ai.onnx.ml.ZipMap": "skl2onnx writes one tensor of probabilities with options={'zipmap': False}",
    "com.microsoft.nchwc": "ONNX Runtime saves what every processor can run up to the level ORT_ENABLE_EXTENDED",
}
"""How to have a model without operators that are not imported, by their names or domains."""


def way_round(node: NodeProto) -> str | None:
    """How to have a model without such a node, where that is known."""
    return WAYS_ROUND.get(operator_name(node), WAYS_ROUND.get(domain_of(node)))


def opsets(imports: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    """Domain -> version."""
    return {domain_name(entry.domain): entry.version for entry in imports}


def newest_opset() -> int:
    """The newest opset of the default domain that the installed `onnx` package knows."""
    import onnx

    return onnx.defs.onnx_opset_version()


def values_read(nodes: Iterable[NodeProto]) -> set[str]:
    """The names of the values that nodes take as inputs, those inside of their graphs included."""
    found: set[str] = set()
    for node in nodes:
        found.update(node.input)
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                found |= values_read(graph.node) | {value.name for value in graph.output}
    return found - {""}  # an input that a node leaves out is no value


def schema_of(node: NodeProto, opset: int) -> Schema:
    """The definition of a node's operator, in the revision that `opset` has.

    Raises:
        Unsupported: ONNX knows no such operator, or not yet in this opset.
        Malformed: no opset can have this number.
    """
    import onnx

    domain = domain_of(node)
    if not 0 < opset < 1 << 31:
        raise Malformed(f"there is no opset {opset} of '{node.domain or 'ai.onnx'}'")
    try:
        return cast(Schema, onnx.defs.get_schema(node.op_type, opset, domain))
    except onnx.defs.SchemaError:
        pass
    known = {schema.name: schema.since_version for schema in onnx.defs.get_all_schemas() if schema.domain == domain}
    if node.op_type in known:
        raise Unsupported(f"opset {opset} has no such operator (newest revision: opset {known[node.op_type]})")
    if domain and not known:
        raise Unsupported(f"no installed package brings a converter for an operator of the domain '{domain}'")
    raise Unsupported("ONNX has no such operator", did_you_mean(node.op_type, known))


def check(node: NodeProto, attributes: Mapping[str, AttributeProto], schema: Schema) -> None:
    """Hold a node against its operator's definition.

    Raises:
        Malformed: too few or many inputs or outputs, or an attribute that is unknown, missing, or of the wrong type.
    """
    for what, number, low, high in (
        ("input", len(node.input), schema.min_input, schema.max_input),
        ("output", len(node.output), schema.min_output, schema.max_output),
    ):
        if not low <= number <= high:
            wanted = str(low) if low == high else f"{low} or more" if high > 1 << 16 else f"{low} to {high}"
            raise Malformed(f"{count(number, what)}, but the operator has {wanted}")
    for name, attribute in attributes.items():
        if name not in schema.attributes:
            raise Malformed(f"there is no attribute '{name}'", did_you_mean(name, schema.attributes))
        wanted = schema.attributes[name].type.value
        if attribute.type != wanted:
            kind = type(attribute).AttributeType.Name
            raise Malformed(f"attribute '{name}' has type {kind(attribute.type)}, but must have type {kind(wanted)}")
    for name, expected in schema.attributes.items():
        if expected.required and name not in attributes:
            raise Malformed(f"attribute '{name}' is missing")


def check_known(node: NodeProto, attributes: Mapping[str, AttributeProto], schema: Schema, last_opset: int) -> None:
    """A revision newer than the converters is understood as long as the node uses nothing new.

    Raises:
        Unsupported: it has an attribute or an input that no revision up to `last_opset` has.
    """
    import onnx

    if schema.since_version <= last_opset:
        return
    try:
        known = onnx.defs.get_schema(node.op_type, last_opset)
    except onnx.defs.SchemaError:
        return  # the operator itself is newer, and so is its converter
    new = [f"attribute '{name}'" for name in attributes if name not in known.attributes]
    new += ["a further input"] if len(node.input) > known.max_input else []
    if new:
        raise Unsupported(f"{new[0]} came with opset {schema.since_version}; opsets up to {last_opset} are understood")


def default_attributes(schema: Schema) -> dict[str, AttributeProto]:
    """The attributes that a node which leaves them out has all the same."""
    return {name: a.default_value for name, a in schema.attributes.items() if a.default_value.name}


def definition(schema: Schema, node: NodeProto, inputs: Sequence[SSAValue | None], opset: int) -> FunctionProto:
    """ONNX's own definition, by simpler operators, of an operator that has one.

    Raises:
        Unsupported: it has one in later opsets only.
    """
    import onnx

    versions = (
        schema.function_opset_versions if schema.has_function else schema.context_dependent_function_opset_versions
    )
    version = max((v for v in versions if v <= opset), default=None)
    if version is None:
        raise Unsupported(f"there is no counterpart in relay before opset {min(versions)}")
    if schema.has_function:
        body = schema.get_function_with_opset_version(version)
    else:
        types = [onnx.TypeProto() if value is None else type_proto(value.type) for value in inputs]
        body = schema.get_context_dependent_function_with_opset_version(
            version, node.SerializeToString(), [t.SerializeToString() for t in types]
        )
    return onnx.FunctionProto.FromString(body)


def instantiate(node: NodeProto, given: Mapping[str, AttributeProto], absent: Collection[str]) -> NodeProto:
    """A node of a function's body, with the call's attributes, and without the inputs that the call leaves out."""
    import onnx

    result = onnx.NodeProto()
    result.CopyFrom(node)
    del result.attribute[:]
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            result.attribute.append(attribute)
        elif attribute.ref_attr_name in given:
            actual = result.attribute.add()
            actual.CopyFrom(given[attribute.ref_attr_name])
            actual.name = attribute.name
    result.input[:] = ["" if name in absent else name for name in node.input]
    return result
