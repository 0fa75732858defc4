"""Attributes as plain Python values, both ways: what annotations, attributes of functions and properties of
instructions are given as, and read as.

    attribute_of([1, True, "x"])     # [1 : i64, true, "x"]
    value_of(IntegerAttr(3, i64))    # 3
    value_of(IntegerAttr(3, i32))    # itself: 3 would come back as another attribute

`attribute_of(value_of(attribute))` is the attribute, whatever it is. (Operators have properties of types that they
declare: `dialects/relay/fields.py`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast, runtime_checkable

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
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
from xdsl.ir.affine import AffineMap


@runtime_checkable
class Attributed(Protocol):
    """What says itself which attribute it is."""

    def as_attribute(self) -> Attribute:
        """The attribute."""
        ...


def attribute_of(value: object) -> Attribute:
    """The attribute that a Python value stands for; an attribute stands for itself, `None` for `unit`.

    Raises:
        TypeError: there is none.
    """
    match value:
        case Attribute():
            return value
        case bool():
            return IntegerAttr(int(value), i1)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case None:
            return UnitAttr()
        case Attributed():
            return value.as_attribute()
        case AffineMap():
            return AffineMapAttr(value)
        case list() | tuple():
            return ArrayAttr([attribute_of(each) for each in cast("Sequence[object]", value)])
        case dict():
            entries = cast("dict[object, object]", value)
            return DictionaryAttr({str(name): attribute_of(each) for name, each in entries.items()})
        case _:
            raise TypeError(f"there is no attribute for a {type(value).__name__}")


def value_of(attribute: Attribute) -> object:
    """The Python value that an attribute stands for: the attribute itself where there is none."""
    match attribute:
        case IntegerAttr() if attribute.type == i1:
            return bool(attribute.value.data)
        case IntegerAttr() if attribute.type == i64:
            return attribute.value.data
        case FloatAttr() if attribute.type == f64:
            return attribute.value.data
        case StringAttr():
            return attribute.data
        case UnitAttr():
            return None
        case ArrayAttr():
            return [value_of(each) for each in attribute]
        case DictionaryAttr():
            return {name: value_of(each) for name, each in attribute.data.items()}
        case AffineMapAttr():
            return attribute.data
        case _:
            return attribute
