"""Dimensions of memory: one of which begins at the first dimension of a buffer, others where `axis_separators` say.

TVM's `axis_separators`, for memories of several dimensions, such as textures; a processor's has one.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..support.hints import isa

AXIS_SEPARATORS = "axis_separators"
"""An attribute of a buffer: its memory has several dimensions, which begin with the buffer's of these numbers."""
ARGUMENT_SEPARATORS = "tir.axis_separators"
"""The attribute of a function that says the same of its arguments, of the first ones in order; the others have none."""


def separators_in(given: Attribute | None) -> tuple[int, ...]:
    """The numbers in an attribute that says axis separators.

    Raises:
        VerifyException: it is none.
    """
    if given is None:
        return ()
    if isa(given, ArrayAttr[IntegerAttr]):
        return tuple(each.value.data for each in given)
    raise VerifyException(f"{AXIS_SEPARATORS} is an array of integers, not {given}")


def axis_separators_of(buffer: SSAValue) -> tuple[int, ...]:
    """The dimensions of a buffer before which another dimension of its memory begins."""
    if isinstance(buffer.owner, Operation):
        return separators_in(buffer.owner.attributes.get(AXIS_SEPARATORS))
    assert isinstance(buffer, BlockArgument)
    given = _told_of_arguments(buffer)
    return separators_in(given[buffer.index]) if buffer.index < len(given) else ()


def separate_axes(buffer: SSAValue, separators: Sequence[int]) -> None:
    """Let other dimensions of the memory of a buffer, of the function's own or an argument, begin at `separators`."""
    numbers = ArrayAttr[Attribute]([IntegerAttr(each, i64) for each in separators])
    if not isinstance(buffer, BlockArgument):
        op, key, told = buffer.owner, AXIS_SEPARATORS, numbers
    else:
        op, key, given = buffer.owner.parent_op(), ARGUMENT_SEPARATORS, [*_told_of_arguments(buffer)]
        given += [ArrayAttr[Attribute]([])] * (buffer.index + 1 - len(given))
        given[buffer.index] = numbers
        while given and not separators_in(given[-1]):
            given.pop()
        told = ArrayAttr(given)
    assert isinstance(op, Operation)
    if told.data:
        op.attributes[key] = told
    else:
        op.attributes.pop(key, None)


def _told_of_arguments(buffer: BlockArgument) -> Sequence[Attribute]:
    """What the function whose argument `buffer` is says of the axes of its arguments."""
    func = buffer.owner.parent_op()
    told = None if func is None else func.attributes.get(ARGUMENT_SEPARATORS)
    return told.data if isa(told, ArrayAttr[Attribute]) else ()


def verify_separators(separators: Sequence[int], rank: int) -> None:
    """
    Raises:
        VerifyException: there are no such dimensions to begin in a buffer of that rank, or they are out of order.
    """
    if list(separators) != sorted(set(separators)) or any(not 0 < each < rank for each in separators):
        raise VerifyException(f"{AXIS_SEPARATORS} are integers that ascend from 1 to below the rank, {rank}")
