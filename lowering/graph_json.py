"""TVM's graph JSON (v0.10): what a graph executor runs, written and read.

Nodes stand in the order in which they run: `null` nodes, which are inputs and weights, and `tvm_op` nodes, which call a
kernel. Entry `node_row_ptr[n] + k` is output `k` of node `n`; for each entry there are a shape, a dtype, the storage
that it lies in, and, where they are given, the type of its device and its scope. Nothing here needs the compiler.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias, cast

from ..dialects.support.array_bytes import is_possible
from ..dialects.support.diagnostics import Diagnostic, did_you_mean
from ..dialects.support.element_types import MLIR_NAMES

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

NOP, COPY = "__nop", "__copy"
"""What the executor does itself: nothing, since the output lies where the input does; and a copy."""

LAYERS = "layers"
"""An attribute of Weft's own: the layers of the model that a node computes. TVM passes over it."""

JOINS = "joins"
"""An attribute of Weft's own: the node lays its inputs one after the other in memory, in their order. The executor does
that itself where the library has no kernel for it."""

BEGINS = "begins"
"""An attribute of Weft's own: the byte of a node's one input from which on it copies what its output has room for. The
executor does that itself where the library has no kernel for it."""

HELD = "_const_"
"""Stands in the name of a constant of another compiler's kernel, between the kernel's and a number, as in TVM."""

CPU_TYPE = 1
"""The type of device, in DLPack's numbering."""


class GraphJsonError(Diagnostic):
    """A text is not the JSON of a graph."""


@dataclass(frozen=True)
class Ref:
    """An output of a node."""

    node: int
    index: int = 0


@dataclass(frozen=True)
class Node:
    """An input or a weight, or the call of a kernel. The attributes are those beside what is a field here."""

    name: str
    kernel: str | None = None
    inputs: tuple[Ref, ...] = ()
    num_outputs: int = 1
    flatten_data: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class GraphJson:
    """A graph: nodes, which of their outputs it gives, and what is known of each entry."""

    nodes: tuple[Node, ...]
    heads: tuple[Ref, ...]
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    storage_ids: tuple[int, ...]
    device_types: tuple[int, ...] | None = None
    scopes: tuple[str, ...] | None = None

    @cached_property
    def row_ptr(self) -> tuple[int, ...]:
        """The entry of each node's first output, and the number of entries."""
        starts = [0]
        for node in self.nodes:
            starts.append(starts[-1] + node.num_outputs)
        return tuple(starts)

    @cached_property
    def arg_nodes(self) -> tuple[int, ...]:
        """The nodes that are inputs or weights."""
        return tuple(number for number, node in enumerate(self.nodes) if node.kernel is None)

    @cached_property
    def held(self) -> frozenset[str]:
        """The names of constants of other compilers' kernels: no parameters, but what a library holds."""
        kernels = {node.kernel for node in self.nodes}
        names = (self.nodes[number].name for number in self.arg_nodes)
        return frozenset(name for name in names if HELD in name and name.rpartition(HELD)[0] in kernels)

    def entry(self, ref: Ref) -> int:
        """The entry of an output."""
        return self.row_ptr[ref.node] + ref.index

    def text(self) -> str:
        """The JSON."""
        attributes: dict[str, list[object]] = {
            "dltype": ["list_str", list(self.dtypes)],
            "shape": ["list_shape", [list(shape) for shape in self.shapes]],
            "storage_id": ["list_int", list(self.storage_ids)],
        }
        if self.device_types is not None:
            attributes["device_index"] = ["list_int", list(self.device_types)]
        if self.scopes is not None:
            attributes["storage_scope"] = ["list_str", list(self.scopes)]
        nodes = ",\n    ".join(json.dumps(_written(node)) for node in self.nodes)
        parts = {
            "arg_nodes": list(self.arg_nodes),
            "heads": [[ref.node, ref.index, 0] for ref in self.heads],
            "node_row_ptr": list(self.row_ptr),
        }
        lines = [
            f'  "nodes": [\n    {nodes}\n  ]',
            *(f'  "{name}": {json.dumps(part)}' for name, part in parts.items()),
        ]
        inner = ",\n".join(f'    "{name}": {json.dumps(values)}' for name, values in attributes.items())
        return "{\n" + ",\n".join([*lines, f'  "attrs": {{\n{inner}\n  }}']) + "\n}"

    @staticmethod
    def parse(text: str) -> GraphJson:
        """Read a graph.

        Raises:
            GraphJsonError: the text is no JSON, something is missing or unknown, or numbers do not fit together.
        """
        try:
            value = cast("Json", json.loads(text))
        except (ValueError, RecursionError) as error:
            raise GraphJsonError(f"the graph is no JSON: {error}") from None
        return _read(_object(value, "the graph"))


def _written(node: Node) -> dict[str, object]:
    if node.kernel is None:
        return {"op": "null", "name": node.name, "inputs": []}
    attributes = {
        "func_name": node.kernel,
        "num_inputs": str(len(node.inputs)),
        "num_outputs": str(node.num_outputs),
        "flatten_data": str(int(node.flatten_data)),
    }
    inputs = [[ref.node, ref.index, 0] for ref in node.inputs]
    return {"op": "tvm_op", "name": node.name, "attrs": {**node.attributes, **attributes}, "inputs": inputs}


MANDATORY = ("nodes", "arg_nodes", "heads", "node_row_ptr", "attrs")
NODE_KEYS = ("op", "name", "inputs", "attrs", "attr", "control_deps")
ATTRIBUTES = {
    "shape": "list_shape", "dltype": "list_str", "storage_id": "list_int", "device_index": "list_int",
    "storage_scope": "list_str",
}  # fmt: skip
"""The attributes of a graph, and what TVM calls their types."""
PASSED_OVER = ("list_int", "size_t")
"""The types of other attributes, which TVM reads and forgets."""


def _read(graph: Mapping[str, Json]) -> GraphJson:
    for key in graph:
        if key == "metadata":
            break  # TVM reads nothing behind it
        if key not in MANDATORY:
            raise GraphJsonError(f"the graph has an unknown part '{key}'", hint=did_you_mean(key, MANDATORY))
    if missing := [key for key in MANDATORY if key not in graph]:
        raise GraphJsonError(f"the graph has no {' and no '.join(missing)}")
    nodes = tuple(_node(value, number) for number, value in enumerate(_list(graph["nodes"], "nodes")))
    attributes = _object(graph["attrs"], "attrs")
    read = GraphJson(
        nodes,
        tuple(_ref(value, f"heads[{number}]") for number, value in enumerate(_list(graph["heads"], "heads"))),
        tuple(tuple(_integers(shape, "a shape")) for shape in _attribute(attributes, "shape")),
        tuple(_text(value, "a dltype") for value in _attribute(attributes, "dltype")),
        tuple(_integers(_attribute(attributes, "storage_id"), "storage_id")),
        tuple(_integers(_attribute(attributes, "device_index"), "device_index"))
        if "device_index" in attributes
        else None,
        tuple(_text(value, "a storage_scope") for value in _attribute(attributes, "storage_scope"))
        if "storage_scope" in attributes
        else None,
    )
    _check(read, _integers(graph["arg_nodes"], "arg_nodes"), _integers(graph["node_row_ptr"], "node_row_ptr"))
    return read


def _node(value: Json, number: int) -> Node:
    where = f"nodes[{number}]"
    fields = _object(value, where)
    for key in fields:
        if key not in NODE_KEYS:
            raise GraphJsonError(f"{where} has an unknown part '{key}'", hint=did_you_mean(key, NODE_KEYS))
    name = _text(fields.get("name"), f"the name of {where}")
    inputs = tuple(_ref(each, f"an input of {where}") for each in _list(fields.get("inputs", []), f"{where}.inputs"))
    match fields.get("op"):
        case "null":
            return Node(name, None, inputs)
        case "tvm_op":
            pass
        case other:
            raise GraphJsonError(f"{where} is a '{other}', which is neither null nor tvm_op")
    given = _object(fields.get("attrs", fields.get("attr")), f"the attributes of {where}")
    attributes = {key: _text(text, f"'{key}' of {where}") for key, text in given.items()}
    kernel = attributes.pop("func_name", None)
    numbers = {key: attributes.pop(key, None) for key in ("num_inputs", "num_outputs", "flatten_data")}
    if kernel is None or None in numbers.values():
        lacks = [key for key, text in (("func_name", kernel), *numbers.items()) if text is None]
        raise GraphJsonError(f"{where} does not say {', '.join(lacks)}")
    num_inputs, num_outputs, flatten = (_number(text or "", f"'{key}' of {where}") for key, text in numbers.items())
    if num_inputs != len(inputs):
        raise GraphJsonError(f"{where} says that it has {num_inputs} inputs, and has {len(inputs)}")
    if num_outputs < 1:
        raise GraphJsonError(f"{where} has {num_outputs} outputs")
    return Node(name, kernel, inputs, num_outputs, bool(flatten), attributes)


def _check(graph: GraphJson, arg_nodes: Sequence[int], row_ptr: Sequence[int]) -> None:
    """What must hold between the parts."""
    if tuple(row_ptr) != graph.row_ptr:
        raise GraphJsonError(f"node_row_ptr is {list(row_ptr)}, and by the nodes' outputs {list(graph.row_ptr)}")
    if tuple(arg_nodes) != graph.arg_nodes:
        raise GraphJsonError(f"arg_nodes is {list(arg_nodes)}, and the null nodes are {list(graph.arg_nodes)}")
    names: dict[str, int] = {}
    for number in graph.arg_nodes:
        if (other := names.setdefault(graph.nodes[number].name, number)) != number:
            raise GraphJsonError(f"nodes {other} and {number} are both inputs '{graph.nodes[number].name}'")
    for number, node in enumerate(graph.nodes):
        for ref in node.inputs:
            if not 0 <= ref.node < number or not 0 <= ref.index < graph.nodes[ref.node].num_outputs:
                raise GraphJsonError(f"nodes[{number}] reads [{ref.node}, {ref.index}], which is not there before it")
    for ref in graph.heads:
        if not 0 <= ref.node < len(graph.nodes) or not 0 <= ref.index < graph.nodes[ref.node].num_outputs:
            raise GraphJsonError(f"a head is [{ref.node}, {ref.index}], which is not there")
    entries = graph.row_ptr[-1]
    for what, values in (
        ("shape", graph.shapes),
        ("dltype", graph.dtypes),
        ("storage_id", graph.storage_ids),
        ("device_index", graph.device_types),
        ("storage_scope", graph.scopes),
    ):
        if values is not None and len(values) != entries:
            raise GraphJsonError(f"there are {entries} entries, and {len(values)} values of '{what}'")
    for dtype in graph.dtypes:
        if dtype not in MLIR_NAMES:
            raise GraphJsonError(f"'{dtype}' is no dtype", hint=did_you_mean(dtype, MLIR_NAMES))
    if any(extent < 0 for shape in graph.shapes for extent in shape) or any(s < 0 for s in graph.storage_ids):
        raise GraphJsonError("an extent or a storage is a negative number")
    for shape in graph.shapes:
        if not is_possible(shape):
            raise GraphJsonError(f"no tensor has the shape {list(shape)}")
    _check_storages(graph)


def _check_storages(graph: GraphJson) -> None:
    """What a node reads is there still, in every run: inputs have storages of their own, and no other node writes what
    is wanted later."""
    starts, held, same = graph.row_ptr, dict[int, int](), list(range(graph.row_ptr[-1]))
    for number in graph.arg_nodes:
        storage = graph.storage_ids[starts[number]]
        if 0 in graph.shapes[starts[number]]:
            continue
        if storage in held:
            raise GraphJsonError(f"two inputs lie in storage {storage}; one is '{graph.nodes[number].name}'")
        held[storage] = starts[number]
    inputs = frozenset(held)

    def check(ref: Ref, who: str) -> None:
        entry = graph.entry(ref)
        if 0 not in graph.shapes[entry] and held.get(graph.storage_ids[entry]) != same[entry]:
            raise GraphJsonError(
                f"{who} is [{ref.node}, {ref.index}], and another node has written to storage "
                f"{graph.storage_ids[entry]}, where that lies"
            )

    for number, node in enumerate(graph.nodes):
        if node.kernel is None:
            continue
        for ref in node.inputs:
            check(ref, f"what nodes[{number}] reads")
        read = {graph.storage_ids[graph.entry(ref)]: same[graph.entry(ref)] for ref in node.inputs}
        for entry in range(starts[number], starts[number + 1]):
            storage = graph.storage_ids[entry]
            if 0 in graph.shapes[entry]:
                continue
            if node.kernel == NOP and storage in read:
                same[entry] = read[storage]
                continue
            if storage in inputs or (storage in read and node.kernel != COPY):
                whose = "an input's" if storage in inputs else "what it reads"
                raise GraphJsonError(f"nodes[{number}] ('{node.name}') writes to storage {storage}, which is {whose}")
            if held.get(storage, -1) >= starts[number]:
                raise GraphJsonError(f"nodes[{number}] ('{node.name}') has two outputs in storage {storage}")
            held[storage] = entry
    for ref in graph.heads:
        check(ref, "a head")


def _attribute(attributes: Mapping[str, Json], name: str) -> list[Json]:
    """The values of an attribute, for each entry."""
    for key, other in attributes.items():
        if key not in ATTRIBUTES and not (isinstance(other, list) and len(other) == 2 and other[0] in PASSED_OVER):
            raise GraphJsonError(f"attrs has an unknown part '{key}'", hint=did_you_mean(key, ATTRIBUTES))
    pair = _list(attributes.get(name), f"attrs.{name}")
    if len(pair) != 2 or pair[0] != ATTRIBUTES[name]:
        raise GraphJsonError(f'attrs.{name} is not a pair of "{ATTRIBUTES[name]}" and values')
    return _list(pair[1], f"attrs.{name}")


def _ref(value: Json, where: str) -> Ref:
    numbers = _integers(value, where)
    if not 2 <= len(numbers) <= 3:
        raise GraphJsonError(f"{where} is not a node, an output and a version")
    return Ref(numbers[0], numbers[1])


def _object(value: Json, where: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise GraphJsonError(f"{where} is no object of JSON")
    return value


def _list(value: Json, where: str) -> list[Json]:
    if not isinstance(value, list):
        raise GraphJsonError(f"{where} is no list")
    return value


def _text(value: Json, where: str) -> str:
    if not isinstance(value, str):
        raise GraphJsonError(f"{where} is no text")
    return value


def _number(text: str, where: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise GraphJsonError(f"{where} is '{text}', which is no number")
    return int(text)


def _integers(value: Json, where: str) -> list[int]:
    values = _list(value, where)
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in values):
        raise GraphJsonError(f"{where} is no list of integers")
    return cast("list[int]", values)


def entries_of(graph: GraphJson) -> Iterator[tuple[int, int]]:
    """The first entry of each node, and the one behind its last."""
    yield from pairwise(graph.row_ptr)
