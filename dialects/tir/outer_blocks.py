"""Blocks of loops and blocks: `tir.outer_block`, what `blockize` makes of a loop."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from ..support.walking import all_within


@irdl_op_definition
class OuterBlockOp(IRDLOperation):
    """Loops and blocks that are one block to those around them. Counterpart of a TVM `Block` that has blocks in it.

    The loops and blocks in it mean what they would mean without it: their iterators are bound to the variables of all
    loops around them, those outside of the outer block included. What it reads and writes, and which values its own
    iterators take, follow from that.

    ```mlir
    tir.for %i = 0 to 8 {
      tir.outer_block @copy_o {
        tir.for %i_1 = 0 to 16 {
          tir.block @copy(%vi: spatial 128) = [%i * 16 + %i_1]
              reads(%x[%vi] : memref<128xf32>) writes(%y[%vi] : memref<128xf32>) {
            %0 = memref.load %x[%vi] : memref<128xf32>
            memref.store %0, %y[%vi] : memref<128xf32>
          }
        }
      }
    }
    ```
    """

    name = "tir.outer_block"

    sym_name = prop_def(StringAttr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator())

    def __init__(self, name: str, body: Region | None = None, attributes: dict[str, Attribute] | None = None):
        super().__init__(
            properties={"sym_name": StringAttr(name)},
            attributes=attributes or {},
            regions=[Region(Block()) if body is None else body],
        )

    @property
    def block_name(self) -> str:
        return self.sym_name.data

    name_hint = block_name
    """TVM's word for it."""

    def same_as(self, other: object) -> bool:
        """Whether both are one block."""
        return self is other

    def verify_(self) -> None:
        if self.body.block.args:
            raise VerifyException("an outer block's body has no arguments: what is in it is bound to loops")
        if self.body.block.is_empty:
            raise VerifyException("an outer block holds loops or blocks")

    @classmethod
    def parse(cls, parser: Parser) -> OuterBlockOp:
        name = parser.parse_symbol_name()
        attributes = parser.parse_optional_attr_dict_with_keyword(("sym_name",))
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        return OuterBlockOp(name.data, body, None if attributes is None else dict(attributes.data))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.block_name)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def statements_of(block: Block) -> Iterator[Operation]:
    """The operations of `block`, those of an outer block instead of it."""
    for op in block.ops:
        if isinstance(op, OuterBlockOp):
            yield from statements_of(op.body.block)
        else:
            yield op


def dissolve(func: Operation) -> None:
    """Let the contents of each outer block in `func` take its place."""
    for outer in all_within(func, OuterBlockOp):
        assert outer.parent is not None
        for op in list(outer.body.block.ops):
            op.detach()
            outer.parent.insert_op_before(op, outer)
        outer.detach()
        outer.erase()
