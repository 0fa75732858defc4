"""Operations that are defined quickly: their assembly format is read when it is first used.

xDSL reads an operation's assembly format when its class is made. Of the operators of a dialect a text has few, and the
formats of all of them take as long to read as the rest of the dialect.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeVar

from xdsl.irdl import IRDLOperation, OpDef
from xdsl.irdl.operations import get_accessors_from_op_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, PyRDLOpDefinitionError

if TYPE_CHECKING:
    from xdsl.irdl.declarative_assembly_format import FormatProgram

Kind = TypeVar("Kind", bound=IRDLOperation)


def irdl_op_definition(kind: type[Kind]) -> type[Kind]:
    """Define an operation, as the decorator of this name in `xdsl.irdl`.

    Raises:
        PyRDLOpDefinitionError: the class is no definition; where its assembly format is none, when that is first used.
    """
    definition = OpDef.from_pyrdl(kind)
    text, definition.assembly_format = definition.assembly_format, None
    members = get_accessors_from_op_def(definition, getattr(kind, "verify_", None))
    if text is not None:
        definition.assembly_format = text
        members |= _reader_and_printer(definition, text)
    for name, value in members.items():
        setattr(kind, name, value)
    return kind


def _reader_and_printer(definition: OpDef, text: str) -> dict[str, object]:
    @cache
    def program() -> FormatProgram:
        from xdsl.irdl.declarative_assembly_format import FormatProgram

        try:
            return FormatProgram.from_str(text, definition)
        except ParseError as error:
            raise PyRDLOpDefinitionError(f"{definition.name}: the assembly format is wrong: {error}") from error

    def parse(cls: type[IRDLOperation], parser: Parser) -> IRDLOperation:
        return program().parse(parser, cls)

    def print(self: IRDLOperation, printer: Printer) -> None:
        program().print(printer, self)

    return {"parse": classmethod(parse), "print": print}
