"""What types answer under TVM's names: `x.checked_type.dtype`, `.concrete_shape`, `.fields`, `.arg_types`, `.ret_type`.

Relay's types are xDSL's, whose classes are final. As MLIR attaches an interface to a type of another dialect, so these
properties are attached to them here, and nothing that they have is replaced. Extents are numbers: `int(type.shape[0])`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType, IntAttr, TensorType, TupleType
from xdsl.ir import Attribute

from ...dialects.relay.base import DYNAMIC, Tensor
from ...dialects.relay.types import AdtType, ParamType, RefType, type_params
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.dtypes import dtype_name
from .data import GlobalTypeVar, TypeKind


def _dtype(type: Tensor) -> str:
    """The name of the element type, as NumPy's."""
    return dtype_name(type.element_type)


def _concrete_shape(type: Tensor) -> tuple[int, ...]:
    """The extents.

    Raises:
        UsageError: one is not known.
    """
    if DYNAMIC in (shape := type.get_shape()):
        raise UsageError(f"{type} has an extent that is not known")
    return shape


class Extent(int):
    """An extent of a shape: a number, which answers `value` as TVM's `IntImm` does."""

    @property
    def value(self) -> int:
        return int(self)


def _at(array: ArrayAttr[Attribute], index: int | slice) -> object:
    """The attribute at a place, or those of a slice; integers are numbers."""
    found = array.data[index]
    return tuple(map(_as_number, found)) if isinstance(found, tuple) else _as_number(found)


def _as_number(attribute: Attribute) -> object:
    return Extent(_number(cast("IntAttr", attribute))) if isinstance(attribute, IntAttr) else attribute


def _number(attribute: IntAttr) -> int:
    """
    Raises:
        TypeError: it is an extent that is not known.
    """
    if attribute.data == DYNAMIC:
        raise TypeError("an extent that is not known is no number")
    return attribute.data


def _ret_type(type: FunctionType) -> Attribute:
    """The type of what a function gives."""
    return type.outputs.data[0]


_VIEWS: Mapping[type, Mapping[str, Callable[[Any], object]]] = {
    TensorType: {"dtype": _dtype, "concrete_shape": _concrete_shape},
    TupleType: {"fields": lambda type: type.types.data},
    FunctionType: {
        "arg_types": lambda type: type.inputs.data,
        "ret_type": _ret_type,
        "type_params": lambda type: [ParamType(label) for label in sorted(type_params(type))],
    },
    RefType: {"value": lambda type: type.of},
    AdtType: {"func": lambda type: GlobalTypeVar(type.symbol), "args": lambda type: type.arguments.data},
    ParamType: {"name_hint": lambda type: type.label.data, "kind": lambda type: TypeKind.Type},
    IntAttr: {"value": _number},
}
_METHODS: Mapping[type, Mapping[str, Callable[..., object]]] = {
    ArrayAttr: {"__getitem__": _at},
    IntAttr: {"__int__": _number, "__index__": _number},
}


def _attach() -> None:
    for kind, views in _VIEWS.items():
        for name, view in views.items():
            _put(kind, name, property(view))
    for kind, methods in _METHODS.items():
        for name, method in methods.items():
            _put(kind, name, method)


def _put(kind: type, name: str, answer: object) -> None:
    assert not hasattr(kind, name), f"xDSL's {kind.__name__} has '{name}' now, of its own"
    setattr(cast(Any, kind), name, answer)


_attach()
