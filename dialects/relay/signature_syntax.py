"""How the types of operands and results are written where a result may be a function: that stands in parentheses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Region
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

from ..support.columns import Part, attribute_parts, print_parts, to_text


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


def parse_function(parser: Parser, reserved: Sequence[str] = ()) -> tuple[FunctionType, Region, dict[str, Attribute]]:
    """`(%x: A) -> B attributes {...} {...}`: the type of a function, its body and its attributes, which are none of
    `reserved`."""
    arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
    outputs: Sequence[Attribute] = ()
    if parser.parse_optional_punctuation("->"):
        listed = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        outputs = (parser.parse_type(),) if listed is None else listed
    attributes = parser.parse_optional_attr_dict_with_keyword(reserved)
    body = parser.parse_region(arguments)
    type = FunctionType.from_lists([argument.type for argument in arguments], outputs)
    return type, body, {} if attributes is None else dict(attributes.data)


def print_function(
    printer: Printer, body: Region, outputs: Sequence[Attribute], attributes: Mapping[str, Attribute]
) -> None:
    """What `parse_function` reads, broken where it is too long for a line."""
    arguments = [to_text(printer, partial(printer.print_block_argument, a)) for a in body.block.args]
    parts = [Part("(", arguments, ")")]
    results = [to_text(printer, partial(printer.print_attribute, output)) for output in outputs]
    if len(outputs) == 1 and not isinstance(outputs[0], FunctionType):
        parts.append(Part("-> ", results, ""))
    elif outputs:
        parts.append(Part("-> (", results, ")"))
    print_parts(printer, [*parts, *attribute_parts(printer, attributes)])
    printer.print_string(" ")
    printer.print_region(body, False)
