"""Dot products of a few narrow numbers: `tir.dot`, what some processors do in one instruction."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import UnitAttr, i8, i32
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from .affine import access_map_over, linear, over_dimensions

WIDTH = 4
"""How many products are summed."""


@irdl_op_definition
class DotOp(IRDLOperation):
    """`acc + sum_n lhs[n] * rhs[n]` of four pairs of bytes, in 32 bits, which wrap. Bytes are signed unless it is said
    of their side that they are not. Counterpart of TVM's intrinsics such as `llvm.x86.avx512.vpdpbusd`.

    ```mlir
    %0 = tir.dot %acc + unsigned (%a0, %a1, %a2, %a3) * (%b0, %b1, %b2, %b3)
    ```
    """

    name = "tir.dot"

    acc = operand_def(i32)
    lhs = var_operand_def(i8)
    rhs = var_operand_def(i8)
    lhs_unsigned = opt_prop_def(UnitAttr)
    rhs_unsigned = opt_prop_def(UnitAttr)
    result = result_def(i32)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    def __init__(
        self,
        acc: SSAValue,
        lhs: Sequence[SSAValue],
        rhs: Sequence[SSAValue],
        lhs_unsigned: bool = False,
        rhs_unsigned: bool = False,
    ):
        super().__init__(
            operands=[acc, lhs, rhs],
            result_types=[i32],
            properties={
                "lhs_unsigned": UnitAttr() if lhs_unsigned else None,
                "rhs_unsigned": UnitAttr() if rhs_unsigned else None,
            },
        )

    @property
    def unsigned(self) -> tuple[bool, bool]:
        """Whether the bytes of each side have no sign."""
        return self.lhs_unsigned is not None, self.rhs_unsigned is not None

    def verify_(self) -> None:
        if len(self.lhs) != WIDTH or len(self.rhs) != WIDTH:
            raise VerifyException(f"sums {WIDTH} products, not {len(self.lhs)} by {len(self.rhs)}")

    @classmethod
    def parse(cls, parser: Parser) -> DotOp:
        acc = parser.resolve_operand(parser.parse_unresolved_operand(), i32)
        sides: list[list[SSAValue]] = []
        unsigned: list[bool] = []
        for punctuation in ("+", "*"):
            parser.parse_punctuation(punctuation)
            unsigned.append(parser.parse_optional_keyword("unsigned") is not None)
            names = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
            sides.append([parser.resolve_operand(name, i8) for name in names])
        op = DotOp(acc, sides[0], sides[1], unsigned[0], unsigned[1])
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.acc)
        for punctuation, side, unsigned in zip("+*", (self.lhs, self.rhs), self.unsigned, strict=True):
            printer.print_string(f" {punctuation}{' unsigned' if unsigned else ''} ")
            with printer.in_parens():
                printer.print_list(side, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)


def neighbouring_loads(side: Sequence[SSAValue], iters: Sequence[BlockArgument]) -> list[memref.LoadOp] | None:
    """The loads that a side of a dot product is, if each is of the element after the last one's."""
    loads: list[memref.LoadOp] = []
    dims = over_dimensions(iters)
    first = None
    for number, value in enumerate(side):
        load = value.owner
        if not isinstance(load, memref.LoadOp) or (map := access_map_over(load, dims)) is None:
            return None
        first = map if first is None else first
        if not map.results or (loads and load.memref is not loads[0].memref):
            return None
        apart = [linear(b + a * -1) for a, b in zip(first.results, map.results, strict=True)]
        if any(each.terms for each in apart) or [each.constant for each in apart] != [0] * (len(apart) - 1) + [number]:
            return None
        loads.append(load)
    return loads


def dots_in(body: Block) -> list[DotOp]:
    """The dot products among the operations of a block's body."""
    return [op for op in body.ops if type(op) is DotOp]
