"""Assertions: `tir.assert`, a condition that holds or makes the run fail."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, i1
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class AssertOp(IRDLOperation):
    """If the condition does not hold, the run fails with the message. Counterpart of TVM's `AssertStmt`, but what comes
    after it is still done: a block relies on no assertion for where it reads and writes.

    ```mlir
    tir.assert %holds "the rows are of one length"
    ```
    """

    name = "tir.assert"

    condition = operand_def(i1)
    text = prop_def(StringAttr)

    assembly_format = "$condition $text attr-dict"

    def __init__(self, condition: SSAValue, text: str):
        super().__init__(operands=[condition], properties={"text": StringAttr(text)})

    def verify_(self) -> None:
        if not self.text.data:
            raise VerifyException("an assertion says what is wrong where it does not hold")
