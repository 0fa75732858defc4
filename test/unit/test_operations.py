"""Operations whose assembly format is read late."""

import pytest
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.irdl import IRDLOperation, OpDef, operand_def, result_def
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.utils.exceptions import PyRDLOpDefinitionError

from weft.dialects.relay import Relay
from weft.dialects.support.operations import irdl_op_definition


def test_every_format_of_relay_can_be_read() -> None:
    formats = 0
    for kind in Relay.operations:
        definition = getattr(kind, "get_irdl_definition")()  # noqa: B009
        assert isinstance(definition, OpDef)
        if definition.assembly_format is not None:
            FormatProgram.from_str(definition.assembly_format, definition)
            formats += 1
    assert formats > 150


def test_a_format_is_read_when_it_is_used_and_a_wrong_one_is_named_then() -> None:
    @irdl_op_definition
    class WrongOp(IRDLOperation):
        name = "test.wrong"
        out = result_def(i32)
        assembly_format = "$nothing_of_that_name attr-dict"

    op = WrongOp.create(result_types=[i32])
    with pytest.raises(PyRDLOpDefinitionError, match=r"test\.wrong: the assembly format is wrong"):
        str(ModuleOp([op]))


def test_an_operation_has_a_format_or_methods_and_not_both() -> None:
    class BothOp(IRDLOperation):
        name = "test.both"
        value = operand_def(i32)
        assembly_format = "$value attr-dict `:` type($value)"

        def print(self, printer: object) -> None:
            raise NotImplementedError

    with pytest.raises(PyRDLOpDefinitionError):
        irdl_op_definition(BothOp)
