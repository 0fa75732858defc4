"""The scopes of a function's arguments: what is passed lies in the global memory, unless the function says otherwise.

Tensor intrinsics say so of the tiles that they take (`T.match_buffer(a, (16, 16), "float16", scope="wmma.matrix_a")`);
no target has functions whose callers pass other memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, MemRefType, StringAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ..support.hints import isa

ARGUMENT_SCOPES = "tir.scopes"
"""The attribute of a function that says in which scopes its first arguments lie; the others are `global`."""
GLOBAL = "global"


def scope_of_argument(buffer: SSAValue) -> str:
    """The scope of a buffer that a function is given."""
    assert isinstance(buffer, BlockArgument)
    func = buffer.owner.parent_op()
    told = scopes_of_arguments(func) if func is not None else ()
    return told[buffer.index] if buffer.index < len(told) else GLOBAL


def scopes_of_arguments(func: Operation) -> tuple[str, ...]:
    """What a function says of the scopes of its first arguments."""
    told = func.attributes.get(ARGUMENT_SCOPES)
    return tuple(each.data for each in told) if isa(told, ArrayAttr[StringAttr]) else ()


def tell_argument_scopes(func: Operation, scopes: Sequence[str]) -> None:
    """Say in which scopes the first arguments of a function lie."""
    told = list(scopes)
    while told and told[-1] == GLOBAL:
        told.pop()
    if told:
        func.attributes[ARGUMENT_SCOPES] = ArrayAttr([StringAttr(each) for each in told])


def verify_argument_scopes(func: Operation) -> None:
    """
    Raises:
        VerifyException: what is said of scopes is not one for each of the first arguments, which are buffers.
    """
    told = func.attributes.get(ARGUMENT_SCOPES)
    if told is None:
        return
    arguments = func.regions[0].block.args
    if not isa(told, ArrayAttr[StringAttr]) or len(told) > len(arguments):
        raise VerifyException(f"{ARGUMENT_SCOPES} has a text for each of the first arguments")
    for argument, scope in zip(arguments, told, strict=False):
        if not isinstance(argument.type, MemRefType) or not scope.data:
            raise VerifyException(f"{ARGUMENT_SCOPES} has the scopes of buffers, and not of %{argument.name_hint}")
