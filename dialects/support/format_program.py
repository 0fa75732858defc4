"""xDSL's assembly formats, which say which property is wrong where one is."""

from __future__ import annotations

from xdsl.irdl import OpDef
from xdsl.irdl.declarative_assembly_format import FormatProgram, ParsingState
from xdsl.utils.exceptions import VerifyException

from .definitions import check_properties


class NamingFormatProgram(FormatProgram):
    """Reads and prints an operation by its assembly format."""

    @classmethod
    def of(cls, text: str, definition: OpDef) -> NamingFormatProgram:
        """The program of a format.

        Raises:
            ParseError: the text is no format of such operations.
        """
        return cls(FormatProgram.from_str(text, definition).stmts)

    def resolve_constraint_variables(self, state: ParsingState, op_def: OpDef) -> None:
        try:
            super().resolve_constraint_variables(state, op_def)
        except VerifyException:
            check_properties(op_def, {**state.attributes, **state.properties})
            raise
