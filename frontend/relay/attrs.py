"""What an operator was called with: `call.attrs.strides`, under TVM's names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, StringAttr, i1
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation

from .signatures import call_forms


def python_value(attribute: Attribute) -> object:
    """A property as Python's numbers, text, or a list of numbers; others as they are."""
    match attribute:
        case StringAttr():
            return attribute.data
        case IntegerAttr():
            return bool(attribute.value.data) if attribute.type == i1 else attribute.value.data
        case FloatAttr():
            return attribute.value.data
        case DenseArrayBase():
            return list(cast("DenseArrayBase[IntegerType]", attribute).get_values())
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
    """The properties of an operation by TVM's names of them, with their defaults; `None` for what is not given."""

    def __init__(self, op: Operation):
        form = call_forms().get(op.name.removeprefix("relay."))
        known = op.get_irdl_definition().properties if isinstance(op, IRDLOperation) else {}
        names = {field: name for name, field in form.fields.items()} if form is not None else {}
        values: dict[str, object] = {}
        for field, default in known.items():
            given = op.properties.get(field, default.default_value)
            values[names.get(field, field)] = None if given is None else python_value(given)
        self._values = values
