"""Result types are inferred once for operators that are alike: most layers of a network are, and each is asked when it
is made, when types are inferred, and when it is verified."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ..support.looks import Looks, look_of_operands
from .attributes import ResourceAttr

MAX_KNOWN = 10_000

_known: dict[Hashable, Sequence[Attribute]] = {}
"""Result types by what they were inferred from. Only what was right is here."""


Infer = TypeVar("Infer", bound=Callable[..., Sequence[Attribute]])

_BY_TYPES: set[object] = set()


def by_types(infer: Infer) -> Infer:
    """Say of an `infer` that it does not look at the data of constants, so that operators on different ones (weights,
    most often) are alike. One that overrides it is asked for each constant again, unless it says so as well."""
    _BY_TYPES.add(infer)
    return infer


def inferred_once(op: Operation, infer: Callable[[], Sequence[Attribute]]) -> Sequence[Attribute]:
    """What `infer` gives for `op`, which looks at its operands' types, its properties, and at constants among its
    operands.

    Raises:
        VerifyException: as `infer`.
    """
    if not op.operands or op.regions:
        return infer()
    told = _told(op)
    if (types := _known.get(told)) is None:
        types = infer()
        if len(_known) >= MAX_KNOWN:
            _known.clear()
        _known[told] = types
    return types


def beside_look(op: Operation) -> Sequence[Attribute] | None:
    """What an operator's types depend on beside its look: nothing, unless it has constants, or more than operands."""
    if op.regions or (not _looks_at_types(op) and any([_constant(operand) is not None for operand in op.operands])):
        return None
    return ()


def _looks_at_types(op: Operation) -> bool:
    return getattr(type(op), "infer", None) in _BY_TYPES


def _told(op: Operation) -> Hashable:
    """What tells operators apart that may have different result types."""
    infer = getattr(type(op), "infer", None)
    constants = () if _looks_at_types(op) else tuple([_constant(operand) for operand in op.operands])
    return infer, constants, look_of_operands(op, Looks().number)


def _constant(value: SSAValue) -> Hashable:
    """What tells a constant from others; not its data, which may be large."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.operands:
        return None
    held = owner.properties.get("value")
    if isinstance(held, ResourceAttr):
        return held.data.token
    return hash(held.data.data) if isinstance(held, DenseIntOrFPElementsAttr) else None
