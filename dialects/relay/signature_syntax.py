"""`(operands) -> results` in an assembly format, where a result may be a function: that stands in parentheses."""

from __future__ import annotations

from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    FunctionalTypeDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer


@irdl_custom_directive
class Signature(CustomDirective):
    """`custom<Signature>(type($operands), type($results))`: as `functional-type` reads it.

    Without the parentheses `(A) -> (B) -> C` would be read as `(A) -> (B)`.
    """

    given: TypeDirective
    results: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        FunctionalTypeDirective(self.given.inner, self.results.inner).parse(parser, state)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_function_type(self.given.inner.get_types(op), self.results.inner.get_types(op))
        state.should_emit_space = True
        state.last_was_punctuation = False
