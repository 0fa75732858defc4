"""Attributes of loops, blocks and functions as Python literals, and from MLIR's text."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    Builtin,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute
from xdsl.parser import Parser

TEXT = "T.attribute"
"""`T.attribute("dense<0> : tensor<2xi8>")`: an attribute that is no Python literal."""


def attribute_from_text(text: str) -> Attribute:
    """An attribute from MLIR's text."""
    context = Context()
    context.load_dialect(Builtin)
    return Parser(context, text).parse_attribute()


def literal_of(attribute: Attribute) -> str:
    """The Python text that stands for an attribute."""
    match attribute:
        case IntegerAttr() if attribute.type == i1:
            return str(bool(attribute.value.data))
        case IntegerAttr() if attribute.type == i64:
            return str(attribute.value.data)
        case FloatAttr() if attribute.type == f64 and abs(attribute.value.data) < float("inf"):
            return repr(attribute.value.data)
        case StringAttr():
            return repr(attribute.data)
        case UnitAttr():
            return "None"
        case ArrayAttr():
            return f"[{', '.join(literal_of(each) for each in attribute.data)}]"
        case DictionaryAttr():
            return literal_of_all(attribute.data)
        case _:
            return f"{TEXT}({str(attribute)!r})"


def literal_of_all(attributes: Mapping[str, Attribute]) -> str:
    """The Python text of a dictionary of attributes."""
    return "{" + ", ".join(f"{name!r}: {literal_of(value)}" for name, value in attributes.items()) + "}"
