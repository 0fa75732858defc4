"""What a text calls `meta[key][number]`: arrays and devices, which stand behind it as TVM writes them.

    #[metadata]
    {
      "root": 1,
      "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
                {"type_key": "Array", "data": [3]}, {"type_key": "relay.Constant", "attrs": {"data": "0", ...}}],
      "b64ndarrays": ["P6G0lvBAXt0AAAAAAAAAAAEAAAA..."],
      "attrs": {"tvm_version": "0.10.0"}
    }

Nodes are called by their numbers, arrays too. Read are constants, devices, and what lists them; a constant of a type
that TVM's arrays have not is no node, and so not given. A device's target is a string, and TVM's is a node.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from ....dialects.relay.devices import VirtualDevice
from ....dialects.support.array_bytes import TYPES, ParamError, Reader, array_bytes
from ....dialects.support.device_types import DEVICE_TYPES
from ....dialects.support.diagnostics import Diagnostic
from ..expr import const

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

T = TypeVar("T")

Table: TypeAlias = Mapping[str, Sequence[object]]
"""What `meta[key][number]` stands for: expressions, devices."""

Node: TypeAlias = dict[str, object]

CONSTANT, DEVICE = "relay.Constant", "VirtualDevice"
NOTHING = "0"
"""The number of the node that is none."""


class Metadata:
    """What stands behind one text, in the order in which it is called."""

    def __init__(self) -> None:
        self._arrays: list[npt.NDArray[np.generic] | None] = []
        self._devices: list[VirtualDevice] = []

    def constant(self, array: npt.NDArray[np.generic] | None) -> str:
        """The name of an array, or of one that is not known."""
        self._arrays.append(array)
        return f"meta[{CONSTANT}][{len(self._arrays) - 1}]"

    def device(self, device: VirtualDevice) -> str:
        """The name of a device, one for all that are equal."""
        if device not in self._devices:
            self._devices.append(device)
        return f"meta[{DEVICE}][{self._devices.index(device)}]"

    @property
    def is_empty(self) -> bool:
        """Whether the text calls nothing."""
        return not self._arrays and not self._devices

    def text(self) -> str:
        """What stands behind the text."""
        writer = _Writer()
        lists = {CONSTANT: [writer.constant(each) for each in self._arrays]} if self._arrays else {}
        if self._devices:
            lists[DEVICE] = [writer.device(each) for each in self._devices]
        return f"\n\n#[metadata]\n{writer.text(lists)}"

    @staticmethod
    def read(text: str) -> Table:
        """What a text says.

        Raises:
            Diagnostic: it is no JSON of nodes, or an array's bytes are none.
        """
        try:
            return _read(cast("object", json.loads(text)))
        except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            raise Diagnostic(f"it is no JSON of TVM's nodes: {error or type(error).__name__}") from None


class _Writer:
    """Numbers nodes and arrays. The first node is none, and the second is the map."""

    def __init__(self) -> None:
        self._nodes: list[Node] = [{"type_key": ""}, {}]
        self._bytes: list[str] = []

    def _node(self, kind: str, **parts: object) -> str:
        self._nodes.append({"type_key": kind, **parts})
        return str(len(self._nodes) - 1)

    def _string(self, text: str) -> str:
        return self._node("runtime.String", repr_str=text)

    def constant(self, array: npt.NDArray[np.generic] | None) -> str:
        if array is None or array.dtype.name not in TYPES:
            return NOTHING
        self._bytes.append(base64.b64encode(array_bytes(CONSTANT, array)).decode())
        rest = dict.fromkeys(("_checked_type_", "span", "virtual_device_"), NOTHING)
        return self._node(CONSTANT, attrs={"data": str(len(self._bytes) - 1), **rest})

    def device(self, device: VirtualDevice) -> str:
        attrs = {
            "device_type_int": str(device.device_type),
            "memory_scope": self._string(device.memory_scope or ""),
            "target": NOTHING if device.target is None else self._string(device.target),
            "virtual_device_id": str(device.device_id),
        }
        return self._node(DEVICE, attrs=attrs)

    def text(self, lists: Mapping[str, Sequence[str]]) -> str:
        numbers = [int(self._node("Array", data=[int(each) for each in nodes])) for nodes in lists.values()]
        self._nodes[1] = {"type_key": "Map", "keys": list(lists), "data": numbers}
        whole = {"root": 1, "nodes": self._nodes, "b64ndarrays": self._bytes, "attrs": {"tvm_version": "0.10.0"}}
        return json.dumps(whole, indent=2)


def _read(whole: object) -> Table:
    """
    Raises:
        ValueError, TypeError, KeyError, IndexError: it is no JSON of nodes.
        Diagnostic: a device or an array is none.
    """
    graph = cast("dict[str, object]", _as(whole, dict))
    nodes = [cast("Node", _as(each, dict)) for each in cast("list[object]", _as(graph["nodes"], list))]
    arrays = [_array(_as(each, str)) for each in cast("list[object]", _as(graph.get("b64ndarrays", []), list))]

    def at(number: object) -> Node:
        return _at(nodes, number, "node")

    def attrs(node: Node) -> dict[str, object]:
        return cast("dict[str, object]", _as(node["attrs"], dict))

    def string(number: object) -> str | None:
        return cast(str, _as(at(number).get("repr_str", ""), str)) or None

    def entry(number: object) -> object:
        node = at(number)
        match node.get("type_key"):
            case "relay.Constant":
                array = _at(arrays, attrs(node)["data"], "array")
                return const(array, array.dtype.name)
            case "VirtualDevice":
                given = attrs(node)
                type, id = (int(str(given[key])) for key in ("device_type_int", "virtual_device_id"))
                names = {code: name for name, code in DEVICE_TYPES.items()}
                scope, target = string(given["memory_scope"]), string(given["target"])
                return VirtualDevice(None if type < 0 else names[type], None if id < 0 else id, target, scope)
            case _:
                return None

    root = at(graph["root"])
    keys, data = (cast("list[object]", _as(root.get(part, []), list)) for part in ("keys", "data"))
    lists = [cast("list[object]", _as(at(number).get("data", []), list)) for number in data]
    return {str(key): [entry(each) for each in numbers] for key, numbers in zip(keys, lists, strict=True)}


def _at(found: Sequence[T], number: object, kind: str) -> T:
    """
    Raises:
        ValueError, IndexError: it is no number of one of them.
    """
    if not 0 <= (index := int(str(number))) < len(found):
        raise IndexError(f"there is no {kind} {index}")
    return found[index]


def _as(value: object, kind: type) -> object:
    """
    Raises:
        TypeError: a value is of another kind.
    """
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.40} stands where a {kind.__name__} is to stand")
    return value


def _array(text: object) -> npt.NDArray[np.generic]:
    try:
        reader = Reader(base64.b64decode(cast(str, text), validate=True))
    except binascii.Error as error:
        raise ParamError(f"an array's bytes are no base64: {error}") from None
    return reader.array(CONSTANT)
