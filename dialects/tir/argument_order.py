"""The order of a function's arguments."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from ..support.hints import isa
from .buffers import memref_of
from .functions import PrimFuncOp

ARGUMENTS = "weft.arguments"
"""Attribute of a function whose arguments callers give in another order, or with unsigned elements, which `memref`s do
not tell: for each, in the caller's order, the tensor's type, or `index`, and its place among the function's
arguments."""


def told_arguments(arguments: Sequence[SSAValue], unsigned: Sequence[bool]) -> ArrayAttr[DictionaryAttr]:
    """`ARGUMENTS` of a function whose buffers, which stand first, have elements without a sign where that is told."""
    entries: list[DictionaryAttr] = []
    for place, argument in enumerate(arguments):
        type: Attribute = argument.type
        if isinstance(type, MemRefType):
            memory = memref_of(argument)
            element = memory.element_type
            if unsigned[place] and isa(element, IntegerType):
                element = IntegerType(element.width.data, Signedness.UNSIGNED)
            type = TensorType(element, memory.get_shape())
        name = StringAttr(argument.name_hint or f"arg{place}")
        entries.append(DictionaryAttr({"name": name, "place": IntegerAttr(place, i64), "type": type}))
    return ArrayAttr(entries)


def keep_order(func: PrimFuncOp, kept: Sequence[int]) -> None:
    """Let `ARGUMENTS`, if a function has it, be of the arguments that it has now: those that had the numbers `kept`."""
    given = func.attributes.get(ARGUMENTS)
    if not isa(given, ArrayAttr[DictionaryAttr]):
        return
    entries: list[DictionaryAttr] = []
    for entry in given:
        place = entry.data["place"]
        type: Attribute = entry.data["type"]
        assert isinstance(place, IntegerAttr)
        if place.value.data in kept:
            number = kept.index(place.value.data)
            memory = func.region.block.args[number].type
            if isinstance(memory, MemRefType) and isa(type, TensorType[Attribute]):
                type = TensorType(type.element_type, memory.get_shape())
            data: dict[str, Attribute] = {**entry.data, "place": IntegerAttr(number, i64), "type": type}
            entries.append(DictionaryAttr(data))
    func.attributes[ARGUMENTS] = ArrayAttr(entries)


def sort_arguments(func: PrimFuncOp, order: Sequence[int]) -> None:
    """Let the arguments of a function stand in another order; symbols where they are, by whose numbers extents are."""
    block = func.region.block
    old = list(block.args)
    if list(order) == list(range(len(old))):
        return
    for place in order:
        argument = block.insert_arg(old[place].type, len(block.args))
        argument.name_hint = old[place].name_hint
        old[place].replace_all_uses_with(argument)
    for argument in old:
        block.erase_arg(argument)
    func.properties["function_type"] = FunctionType.from_lists([a.type for a in block.args], [])
