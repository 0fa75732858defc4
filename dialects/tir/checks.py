"""Checks: `tir.check`, an index that is inside or makes the run fail."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from ..support.interned import index


@irdl_op_definition
class CheckOp(IRDLOperation):
    """`at`, an index from 0 to below `extent`. If it is none, the run fails, and the result is the nearest that is
    (0 where there is none), so that what it addresses is in memory even then.

    `text` says what is wrong where `{index}` and `{extent}` stand for the numbers; the index that is told of is
    `given`, of which `at` was made.

    ```mlir
    %0 = tir.check %at of %given in 10 "index {index} lies outside of the axis of {extent} elements"
    ```

    An extent that is known when the function is called is a value: `tir.check %at of %given within %n "..."`.
    """

    name = "tir.check"

    at = operand_def(index)
    given = operand_def(index)
    bound = opt_operand_def(index)
    extent = opt_prop_def(IntegerAttr.constr(i64))
    text = prop_def(StringAttr)
    result = result_def(index)

    assembly_format = "$at `of` $given (`in` $extent^)? (`within` $bound^)? $text attr-dict"

    def __init__(self, at: SSAValue, given: SSAValue, extent: int | SSAValue, text: str):
        super().__init__(
            operands=[at, given, extent if isinstance(extent, SSAValue) else None],
            result_types=[index],
            properties={
                "extent": IntegerAttr(extent, i64) if isinstance(extent, int) else None,
                "text": StringAttr(text),
            },
        )

    @property
    def limit(self) -> int | SSAValue:
        """The extent: a number, or a value."""
        if self.extent is not None:
            return self.extent.value.data
        assert self.bound is not None
        return self.bound

    def verify_(self) -> None:
        if (self.extent is None) is (self.bound is None):
            raise VerifyException("the extent is a number or a value, one of them")
        if self.extent is not None and self.extent.value.data < 0:
            raise VerifyException(f"the extent {self.extent.value.data} is negative")
