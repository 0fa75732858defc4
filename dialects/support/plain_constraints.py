"""What most of xDSL's constraints say, as functions that take little time.

A constraint's `verify` asks in general terms, with a context, and explains what is wrong. Of those that only look at
the class of an attribute, at what it equals, or at its parameters in the same way, here is a function that sees whether
an attribute is right; of one that it does not find right, the constraint itself has to be asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    ArrayOfConstraint,
    EmptyArrayAttrConstraint,
    StringAttr,
    SymbolNameConstraint,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import (
    AnyAttr,
    AnyInt,
    AnyOf,
    BaseAttr,
    EqAttrConstraint,
    EqIntConstraint,
    MessageConstraint,
    ParamAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
)

Sees: TypeAlias = Callable[[Attribute], bool]
"""Whether an attribute is seen to be right."""


def anything(attribute: Attribute) -> bool:
    """Every attribute is right."""
    return True


def sees_of_each(constraint: RangeConstraint, least: int, most: int | None) -> Sees | None:
    """What sees each of several attributes, of which it is known that there are `least` to `most`; `None` for a
    constraint that says more than of each by itself."""
    if type(constraint) is RangeLengthConstraint:
        length = cast("object", constraint.length)
        is_so = type(length) is AnyInt or (type(length) is EqIntConstraint and length.value == least == most)
        return sees_of_each(constraint.constraint, least, most) if is_so else None
    if type(constraint) is RangeOf:
        return sees(constraint.constr)
    return None


def sees(constraint: object) -> Sees | None:
    """What sees whether an attribute is right; `None` for a constraint that has to be asked itself."""
    return None if (make := _MAKE.get(type(constraint))) is None else make(constraint)


def _of_class(kind: type[Attribute]) -> Sees:
    return lambda attribute: type(attribute) is kind


def _equals(wanted: Attribute) -> Sees:
    return lambda attribute: attribute is wanted or attribute == wanted


def _one_of(parts: Sequence[object]) -> Sees | None:
    found = [part for part in map(sees, parts) if part is not None]
    if anything in found:
        return anything
    return (lambda attribute: any([part(attribute) for part in found])) if found else None


def _with_parameters(kind: type[Attribute], constraints: Sequence[object]) -> Sees | None:
    if not issubclass(kind, ParametrizedAttribute):
        return None
    parts: list[tuple[str, Sees]] = []
    for (name, _), constraint in zip(kind.get_irdl_definition().parameters, constraints, strict=True):
        if (part := sees(constraint)) is None:
            return None
        if part is not anything:
            parts.append((name, part))
    return lambda attribute: type(attribute) is kind and all([part(getattr(attribute, name)) for name, part in parts])


def _array_of(elements: object) -> Sees | None:
    part = sees_of_each(cast(RangeConstraint, elements), 0, None) if isinstance(elements, RangeConstraint) else None
    if part is None:
        return None

    def is_right(attribute: Attribute) -> bool:
        return type(attribute) is ArrayAttr and all(map(part, attribute.data))

    return is_right


def _is_empty(attribute: Attribute) -> bool:
    return type(attribute) is ArrayAttr and not attribute.data


_MAKE: dict[type[object], Callable[[Any], Sees | None]] = {
    AnyAttr: lambda _: anything,
    AnyOf: lambda constraint: _one_of(constraint.attr_constrs),
    ArrayOfConstraint: lambda constraint: _array_of(constraint.elem_range_constraint),
    BaseAttr: lambda constraint: _of_class(constraint.attr),
    EmptyArrayAttrConstraint: lambda _: _is_empty,
    EqAttrConstraint: lambda constraint: _equals(constraint.attr),
    MessageConstraint: lambda constraint: sees(constraint.constr),
    ParamAttrConstraint: lambda constraint: _with_parameters(constraint.base_attr, constraint.param_constrs),
    SymbolNameConstraint: lambda _: _of_class(StringAttr),
}
"""By class, and for no class made from one of them."""
