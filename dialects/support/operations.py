"""Operations that are defined and read quickly.

xDSL reads an operation's assembly format when its class is made. Of the operators of a dialect a text has few, and the
formats of all of them take as long to read as the rest of the dialect: here a format is read when it is first used.

Where an attribute says how many operands there are of each kind, xDSL decodes it for each look at an operand: here it
is decoded once for all operations that say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeVar, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, OpDef
from xdsl.irdl.operations import VariadicAttrAccessor, VarIRConstruct, get_accessors_from_op_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, PyRDLOpDefinitionError

from .definitions import segments
from .insides import operands_of

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
        setattr(kind, name, _quick(value) if type(value) is VariadicAttrAccessor else value)
    return kind


class _Operands(VariadicAttrAccessor):
    """Gives the operands of one kind."""

    def __get__(self, obj: Operation, objtype: object = None) -> Sequence[SSAValue]:
        given = cast("DenseArrayBase[IntegerType]", obj.properties[self.option.attribute_name])
        begin, end = _span(given.data.data, self.idx)
        return operands_of(obj)[begin:end]


def _quick(accessor: VariadicAttrAccessor) -> VariadicAttrAccessor:
    if accessor.construct is not VarIRConstruct.OPERAND or not accessor.option.as_property:
        return accessor
    return _Operands(accessor.construct, accessor.idx, accessor.option)


@lru_cache(maxsize=4096)
def _span(data: bytes, number: int) -> tuple[int, int]:
    """Where the operands of a kind stand."""
    sizes = segments(data)
    begin = sum(sizes[:number])
    return begin, begin + sizes[number]


def _reader_and_printer(definition: OpDef, text: str) -> dict[str, object]:
    @cache
    def program() -> FormatProgram:
        from .format_program import NamingFormatProgram

        try:
            return NamingFormatProgram.of(text, definition)
        except ParseError as error:
            raise PyRDLOpDefinitionError(f"{definition.name}: the assembly format is wrong: {error}") from error

    def parse(cls: type[IRDLOperation], parser: Parser) -> IRDLOperation:
        return program().parse(parser, cls)

    def print(self: IRDLOperation, printer: Printer) -> None:
        program().print(printer, self)

    return {"parse": classmethod(parse), "print": print}
