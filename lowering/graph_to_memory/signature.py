"""What a caller must know of a graph: names and tensor types of what it takes and gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DictionaryAttr, StringAttr, TensorType
from xdsl.ir import Attribute, SSAValue

from ...dialects.mem.core import buffer_type
from ...dialects.mem.graph import GraphOp
from ...dialects.relay.base import Tensor, flatten_types
from ...dialects.relay.core import FuncOp
from ...dialects.relay.devices import CALL_DEVICE, PARAMETER_DEVICES, RESULT_DEVICES, SOURCE_DEVICE
from ...dialects.relay.types import type_params
from ...dialects.support.diagnostics import Diagnostic
from ...dialects.support.dtypes import dtype_name
from ...dialects.support.hints import isa
from ...dialects.support.unique_names import argument_names
from ..abi import GRAPH_SYMBOLS, INPUTS, OUTPUTS, POOLS, SYMBOL_EXTENTS, TensorSpec
from ..affine_sizes import sizes_of
from ..sizes import Size

GRAPH_ATTRIBUTES = (
    "primitive", "segment", "input_names", "output_names",
    PARAMETER_DEVICES, RESULT_DEVICES, CALL_DEVICE, SOURCE_DEVICE,
)  # fmt: skip
"""What functions say of themselves that was read when they became buffers and calls."""

UPDATES = "updates"
"""Attribute of a call on a device: what it writes to is the caller's, and keeps what the call does not write."""


def graph_signature(function: FuncOp) -> dict[str, Attribute]:
    """The names and tensor types of a graph's inputs and outputs: attributes for its `func.func`."""
    types = function.function_type
    inputs, outputs = names_of(function)
    return described(inputs, flatten_types(types.inputs.data), outputs, flatten_types(types.outputs.data))


def check_has_types(function: FuncOp) -> None:
    """
    Raises:
        Diagnostic: a graph is for values of any types, of which machine code is made where others call it.
    """
    if left_open := sorted(type_params(function.function_type)):
        raise Diagnostic.at(
            function,
            f"@{function.sym_name.data} takes or gives values of any type ({', '.join(left_open)})",
            hint="machine code is made for the types that it is called with: call it from a function that names them",
        )


def names_of(function: FuncOp) -> tuple[list[str], list[str]]:
    """The names of a graph's inputs and outputs, one for each tensor: the model's own where it has them.

    Raises:
        Diagnostic: it is for values of any types.
    """
    check_has_types(function)
    arguments = function.body.block.args
    inputs, outputs = (
        len(flatten_types(t.data)) for t in (function.function_type.inputs, function.function_type.outputs)
    )
    hinted = argument_names(arguments) if len(arguments) == inputs else None
    return (
        _given(function, "input_names", inputs) or hinted or numbered("in", inputs),
        _given(function, "output_names", outputs) or numbered("out", outputs),
    )


def _given(function: FuncOp, key: str, count: int) -> list[str] | None:
    """
    Raises:
        Diagnostic: the attribute is no list of as many names as there are tensors.
    """
    names = function.attributes.get(key)
    if names is None:
        return None
    if not isa(names, ArrayAttr[StringAttr]) or len(names) != count:
        wanted = "one string" if count == 1 else f"{count} strings"
        raise Diagnostic.at(function, f"the attribute '{key}' is {names}, but a list of {wanted} was expected")
    return [name.data for name in names]


def numbered(prefix: str, count: int) -> list[str]:
    """`out`, or `out0`, `out1`, ... where there are several."""
    return [prefix] if count == 1 else [f"{prefix}{i}" for i in range(count)]


def memory_signature(graph: GraphOp) -> dict[str, Attribute]:
    """The same of a graph over buffers."""
    inputs, outputs = ([_tensor(value) for value in values] for values in (graph.inputs, graph.outputs))
    input_names, output_names = names_of_memory(graph)
    return described(input_names, inputs, output_names, outputs, graph.shapes)


def names_of_memory(graph: GraphOp) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the inputs and outputs of a graph over buffers."""
    inputs = argument_names(graph.inputs) if graph.input_names is None else [name.data for name in graph.input_names]
    given = graph.output_names
    outputs = numbered("out", len(graph.outputs)) if given is None else [name.data for name in given]
    return tuple(inputs), tuple(outputs)


def _tensor(value: SSAValue) -> Tensor:
    type = buffer_type(value)
    return TensorType(type.element_type, type.get_shape())


def described(
    input_names: Sequence[str],
    inputs: Sequence[Tensor],
    output_names: Sequence[str],
    outputs: Sequence[Tensor],
    shapes: ArrayAttr[AffineMapAttr] | None = None,
) -> dict[str, Attribute]:
    """Names and tensor types as attributes of a `func.func`; and extents, where they depend on the graph's symbols: of
    all tensors, or of the inputs alone."""

    def listed(names: Sequence[str], types: Sequence[Tensor], maps: Sequence[AffineMapAttr] | None) -> Attribute:
        entries: list[Attribute] = []
        for number, (name, type) in enumerate(zip(names, types, strict=True)):
            extents: dict[str, Attribute] = {} if not maps else {"extents": maps[number]}
            entries.append(DictionaryAttr({"name": StringAttr(name), "type": type, **extents}))
        return ArrayAttr(entries)

    maps = None if shapes is None else list(shapes)
    return {
        INPUTS: listed(input_names, inputs, None if maps is None else maps[: len(inputs)]),
        OUTPUTS: listed(output_names, outputs, None if maps is None else maps[len(inputs) :]),
    }


def read_signature(attributes: Mapping[str, Attribute]) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...]]:
    """The inputs and outputs that `graph_signature` has described."""
    specs: list[tuple[TensorSpec, ...]] = []
    for key in (INPUTS, OUTPUTS):
        entries = attributes[key]
        assert isa(entries, ArrayAttr[Attribute])
        specs.append(tuple(_spec(entry) for entry in entries))
    return specs[0], specs[1]


def _spec(entry: Attribute) -> TensorSpec:
    assert isinstance(entry, DictionaryAttr)
    name = entry.data["name"]
    assert isinstance(name, StringAttr)
    type = flatten_types([entry.data["type"]])[0]
    extents = entry.data.get("extents")
    sizes = sizes_of(extents) if isinstance(extents, AffineMapAttr) else None
    return TensorSpec(name.data, dtype_name(type.element_type), tuple(type.get_shape()), sizes)


def read_sizes(attributes: Mapping[str, Attribute]) -> tuple[tuple[str, ...], tuple[tuple[Size, ...], ...], str]:
    """The names of the graph's symbols, the bytes of the pools that depend on them, and what is said of extents."""
    names, pools = attributes.get(GRAPH_SYMBOLS), attributes.get(POOLS)
    if not isa(names, ArrayAttr[StringAttr]) or not isa(pools, ArrayAttr[AffineMapAttr]):
        return (), (), ""
    said = attributes.get(SYMBOL_EXTENTS)
    text = said.data if isinstance(said, StringAttr) else ""
    return tuple(name.data for name in names), tuple(sizes_of(pool) for pool in pools), text
