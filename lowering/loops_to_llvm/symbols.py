"""Module-level symbols that rules need beside the functions being lowered: run-time functions, strings, constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    AnyDenseElement,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    i8,
)
from xdsl.ir import Attribute, Block, Operation, Region

from ..abi import ALIGNMENT, CONSTANTS_TABLE
from .types import PTR, LoweringError, array_type, byte_size, memory_type, num_elements

CONSTANT_INDEX = "weft.constant_index"
"""Attribute of a `memref.global` without value: its data is found at this place of the constants' table."""

CONSTANT_VALUES, CONSTANT_TYPES = "weft.values", "weft.types"
"""Attributes of the table: the data that its pointers lead to, and the tensor types, by place."""


class Symbols:
    """The symbols of a module, those found in it and those made on demand."""

    def __init__(self, module: ModuleOp, float_divisions: bool):
        self.float_divisions = float_divisions
        """Whether integers of the module are divided as floats."""
        self.constant_index: dict[str, int] = {}
        """Globals whose data is found through the constants' table, and their places in it."""
        self.constants: dict[int, tuple[Attribute, Attribute]] = {}
        """The data and the tensor types of those that say them, by place."""
        self._taken = {name.data for op in module.ops if isinstance(name := op.properties.get("sym_name"), StringAttr)}
        self._made: dict[str, Operation] = {}
        self._strings: dict[str, str] = {}
        self._values: dict[tuple[Attribute, Attribute], str] = {}

    def made(self) -> list[Operation]:
        """The declarations and strings made on demand."""
        return list(self._made.values())

    def declare(self, name: str, operands: Sequence[Attribute], result: Attribute | None) -> None:
        """Declare a function of the run-time library, unless the module has one of that name."""
        if name not in self._taken and name not in self._made:
            type = llvm.LLVMFunctionType(operands, result)
            self._made[name] = llvm.FuncOp(name, type, linkage=llvm.LinkageAttr("external"))

    def string(self, text: str) -> str:
        """The name of a global that holds `text`, ended by a zero."""
        name = self._strings.get(text)
        if name is None:
            number = len(self._strings)
            while f"weft_string_{number}" in self._taken:
                number += 1
            name = self._strings[text] = f"weft_string_{number}"
            self._taken.add(name)
            zero_ended = text + "\0"
            type = llvm.LLVMArrayType(len(zero_ended.encode()), i8)
            self._made[name] = llvm.GlobalOp(type, name, "private", constant=True, value=StringAttr(zero_ended))
        return name

    def constant(self, type: MemRefType, value: DenseIntOrFPElementsAttr) -> str:
        """The name of a global that holds a value, which nothing changes."""
        known = self._values.get((type, value))
        if known is None:
            number = len(self._values)
            while f"weft_value_{number}" in self._taken:
                number += 1
            known = self._values[type, value] = f"weft_value_{number}"
            self._taken.add(known)
            self._made[known] = llvm.GlobalOp(
                array_type(type), known, "private", constant=True, alignment=ALIGNMENT, value=stored_value(type, value)
            )
        return known

    def use_constants_table(self) -> None:
        """Make the table of pointers to constants, large enough for every constant of the module."""
        if CONSTANTS_TABLE not in self._made:
            type = llvm.LLVMArrayType(1 + max(self.constant_index.values()), PTR)
            table = self._made[CONSTANTS_TABLE] = zeroed_global(CONSTANTS_TABLE, type, "external")
            described = [self.constants.get(place) for place in range(type.size.data)]
            if all(described):
                table.attributes[CONSTANT_VALUES] = ArrayAttr([each[0] for each in described if each])
                table.attributes[CONSTANT_TYPES] = ArrayAttr([each[1] for each in described if each])


def zeroed_global(name: str, type: Attribute, linkage: str, align: int = ALIGNMENT) -> llvm.GlobalOp:
    """A variable that starts as zeros."""
    zero = llvm.ZeroOp.create(result_types=(type,))
    body = Region(Block([zero, llvm.ReturnOp(zero.res)]))
    return llvm.GlobalOp(type, name, linkage, alignment=align, body=body)


def stored_value(type: MemRefType, value: DenseIntOrFPElementsAttr) -> Attribute:
    """The initial value with the element type it has in memory; bits, which xDSL packs into bytes, become `i8`."""
    element = memory_type(type.element_type)
    if num_elements(type) * byte_size(type.element_type) != len(value.data.data):
        raise LoweringError(None, f"the initial value does not fill {type}")
    tensor = TensorType(cast(AnyDenseElement, element), type.get_shape())
    return DenseIntOrFPElementsAttr(tensor, value.data)
