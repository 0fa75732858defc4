"""What xDSL 0.74 lacks: `memref.prefetch`, and `memref.global` in MLIR's own form (it prints the generic one).

Tools register `MemRef` under the name `memref` in place of xDSL's dialect. The class here is xDSL's, defined by its
operands and properties as that is, with a printer and a parser; whoever asks for xDSL's finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    BoolAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..support.hints import isa
from ..support.interned import integer_attribute

_PRINTED = ("sym_name", "sym_visibility", "type", "initial_value", "constant")


class GlobalOp(memref.GlobalOp):
    """Memory that lives as long as the program.

    ```mlir
    memref.global "private" constant @ones : memref<2xf32> = dense<1.0>
    memref.global "private" @later : memref<64xf32> = uninitialized {alignment = 64 : i64}
    ```
    """

    def __init__(
        self,
        name: str,
        type: MemRefType,
        initial_value: UnitAttr | DenseIntOrFPElementsAttr | None = None,
        *,
        visibility: str = "private",
        constant: bool = False,
        attributes: dict[str, Attribute] | None = None,
    ):
        alignment = (attributes or {}).pop("alignment", None)
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "sym_visibility": StringAttr(visibility),
                "type": type,
                "initial_value": initial_value or UnitAttr(),
                **({"constant": UnitAttr()} if constant else {}),
                **({"alignment": alignment} if alignment is not None else {}),
            },
            attributes=attributes or {},
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.sym_visibility.data)
        printer.print_string(" constant " if self.constant is not None else " ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" : ")
        printer.print_attribute(self.type)
        printer.print_string(" = ")
        if isinstance(self.initial_value, UnitAttr):
            printer.print_string("uninitialized")
        else:
            self.initial_value.print_without_type(printer)
        printer.print_op_attributes({**self.properties, **self.attributes}, reserved_attr_names=_PRINTED)

    @classmethod
    def parse(cls, parser: Parser) -> GlobalOp:
        visibility = parser.parse_optional_str_literal() or "public"
        constant = parser.parse_optional_keyword("constant") is not None
        name = parser.parse_symbol_name().data
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not isa(type, MemRefType[Attribute]):
            parser.raise_error(f"a memref is expected, not {type}")
        parser.parse_punctuation("=", " in a memref.global: uninitialized, or dense<...>")
        value = None
        if parser.parse_optional_keyword("uninitialized") is None:
            parser.parse_keyword("dense", " or 'uninitialized'")
            value = parser.parse_dense_int_or_fp_elements_attr(TensorType(type.element_type, type.get_shape()))  # pyright: ignore
        attributes = parser.parse_optional_attr_dict()
        return cls(name, type, value, visibility=visibility, constant=constant, attributes=attributes)


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Ask for the element at the indices to be brought near, since it will be read or written soon. Nothing is read or
    written, and it may lie outside of the memref.

    ```mlir
    memref.prefetch %m[%i, %j], read, locality<3>, data : memref<4x8xf32>
    ```
    """

    name = "memref.prefetch"

    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    isWrite = prop_def(BoolAttr)
    localityHint = prop_def(IntegerAttr.constr(i32))
    """From 0, where it is not used again, to 3, to be kept as near as can be."""
    isDataCache = prop_def(BoolAttr)

    def __init__(self, base: SSAValue, indices: Sequence[SSAValue], *, locality: int = 3, write: bool = False):
        """To read data, or to write it."""
        super().__init__(
            operands=[base, indices],
            properties={
                "isWrite": integer_attribute(int(write), 1),
                "localityHint": integer_attribute(locality, 32),
                "isDataCache": integer_attribute(1, 1),
            },
        )

    def verify_(self) -> None:
        rank = cast("MemRefType[Attribute]", self.memref.type).get_num_dims()
        if len(self.indices) != rank:
            raise VerifyException(f"a memref of rank {rank} has {rank} indices, not {len(self.indices)}")
        if not 0 <= self.localityHint.value.data <= 3:
            raise VerifyException(f"the locality is from 0 to 3, not {self.localityHint.value.data}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.memref)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_ssa_value)
        access = "write" if self.isWrite.value.data else "read"
        cache = "data" if self.isDataCache.value.data else "instr"
        printer.print_string(f", {access}, locality<{self.localityHint.value.data}>, {cache}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        base = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
        parser.parse_punctuation(",")
        write = parser.parse_optional_keyword("write") is not None
        if not write:
            parser.parse_keyword("read", " or 'write'")
        parser.parse_punctuation(",")
        parser.parse_keyword("locality")
        with parser.in_angle_brackets():
            locality = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_punctuation(",")
        data = parser.parse_optional_keyword("data") is not None
        if not data:
            parser.parse_keyword("instr", " or 'data'")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        op = cls(
            parser.resolve_operand(base, type),
            parser.resolve_operands(indices, [IndexType()] * len(indices), parser.pos),
            locality=locality,
            write=write,
        )
        op.properties["isDataCache"] = BoolAttr.from_bool(data)
        op.attributes |= attributes
        return op


MemRef = Dialect(
    "memref",
    [*(op for op in memref.MemRef.operations if op.name != GlobalOp.name), GlobalOp, PrefetchOp],
    list(memref.MemRef.attributes),
)
