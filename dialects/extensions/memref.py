"""`memref.global` in MLIR's own form, which xDSL 0.74 has not: it prints the generic one.

Tools register `MemRef` under the name `memref` in place of xDSL's dialect. The class here is xDSL's, defined by its
operands and properties as that is, with a printer and a parser; whoever asks for xDSL's finds it.
"""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType, StringAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, Dialect
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.hints import isa

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


MemRef = Dialect(
    "memref",
    [*(op for op in memref.MemRef.operations if op.name != GlobalOp.name), GlobalOp],
    list(memref.MemRef.attributes),
)
