"""Small questions about vector types that many passes ask."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import VectorType, i1
from xdsl.ir import Attribute


def as_vector(type: Attribute) -> VectorType[Attribute] | None:
    """`type` if it is a vector type, else None."""
    return cast(VectorType[Attribute], type) if isinstance(type, VectorType) else None


def element_type(type: Attribute) -> Attribute:
    """The element type of a vector, and any other type itself."""
    vector = as_vector(type)
    return type if vector is None else vector.element_type


def with_element_type(type: Attribute, element: Attribute) -> Attribute:
    """`element` where `type` is a scalar, else a vector of `element` of the shape of `type`."""
    vector = as_vector(type)
    return element if vector is None else VectorType(element, vector.get_shape(), vector.scalable_dims)


def i1_like(type: Attribute) -> Attribute:
    """The type of a comparison's result: `i1`, or a vector of `i1` of the operands' shape."""
    return with_element_type(type, i1)


def lanes(type: Attribute) -> tuple[int, ...]:
    """The shape of a vector type; `()` for a scalar."""
    vector = as_vector(type)
    return () if vector is None else vector.get_shape()
