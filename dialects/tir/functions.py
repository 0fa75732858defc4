"""Functions: `tir.prim_func`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..support.columns import Part, print_parts, to_text
from .legality.function import check_function


@irdl_op_definition
class PrimFuncOp(IRDLOperation):
    """A function on buffers: inputs first, then the buffers it writes. Counterpart of TVM's `PrimFunc`.

    ```mlir
    tir.prim_func @double(%x: memref<8xf32>, %y: memref<8xf32>) {
      tir.for parallel %i = 0 to 8 {
        tir.block @double(%vi: spatial 8) = [%i]
            reads(%x[%vi] : memref<8xf32>) writes(%y[%vi] : memref<8xf32>) {
          %0 = memref.load %x[%vi] : memref<8xf32>
          %1 = arith.addf %0, %0 : f32
          memref.store %1, %y[%vi] : memref<8xf32>
        }
      }
    }
    ```
    """

    name = "tir.prim_func"

    sym_name = prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    def __init__(
        self,
        name: str,
        argument_types: Sequence[Attribute],
        body: Region | None = None,
        attributes: dict[str, Attribute] | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(argument_types, []),
            },
            attributes=attributes or {},
            regions=[Region(Block(arg_types=argument_types)) if body is None else body],
        )

    def verify_(self) -> None:
        if tuple(a.type for a in self.body.block.args) != self.function_type.inputs.data:
            raise VerifyException(f"the body's arguments differ from the type of @{self.sym_name.data}")
        check_function(self)

    @classmethod
    def parse(cls, parser: Parser) -> PrimFuncOp:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        attributes = parser.parse_optional_attr_dict_with_keyword(("sym_name", "function_type"))
        body = parser.parse_region(arguments)
        return PrimFuncOp(
            name.data, [a.type for a in arguments], body, dict(attributes.data) if attributes is not None else None
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        arguments = [to_text(printer, partial(printer.print_block_argument, a)) for a in self.body.block.args]
        print_parts(printer, [Part("(", arguments, ")")])
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
