"""What an operator was called with: `call.attrs.strides`, under TVM's names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, StringAttr, i1
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation

from ...dialects.relay.devices import VirtualDeviceAttr


def python_value(attribute: Attribute) -> object:
    """A property as Python's numbers, text, a list of numbers, or a device; others as they are."""
    match attribute:
        case StringAttr():
            return attribute.data
        case IntegerAttr():
            return bool(attribute.value.data) if attribute.type == i1 else attribute.value.data
        case FloatAttr():
            return attribute.value.data
        case DenseArrayBase():
            return list(cast("DenseArrayBase[IntegerType]", attribute).get_values())
        case VirtualDeviceAttr():
            return attribute.data
        case _:
            return attribute


class NamedValues(Mapping[str, object]):
    """Values by name, which are attributes too: `attrs.strides`."""

    _values: Mapping[str, object]

    def __getitem__(self, name: str) -> object:
        return self._values[name]

    def __getattr__(self, name: str) -> object:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(f"there is no attribute '{name}'; they are: {', '.join(self._values)}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Attrs(NamedValues):
    """The properties of an operation, which have TVM's names, with their defaults; `None` for what is not given."""

    def __init__(self, op: Operation):
        known = op.get_irdl_definition().properties if isinstance(op, IRDLOperation) else {}
        values: dict[str, object] = {}
        for field, default in known.items():
            given = op.properties.get(field, default.default_value)
            values[field] = None if given is None else python_value(given)
        self._values = values
