"""Checks in a running program: operations, and the type of the record that tells of the first that failed.

Every kernel call that makes checks has a record, which is zero when the inference begins. A check that fails writes
there, unless another was first, and goes on with an index that is inside: no thread stops, and nothing outside of a
buffer is touched. Whoever has started the inference looks through the records when it has ended.

TVM's counterpart is `tir.AssertStmt`, which leaves the function at once.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, MemRefType, i8, i64
from xdsl.ir import ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..support.checks import RECORD_BYTES
from ..support.interned import index
from ..support.shaped import is_memref


@irdl_attr_definition
class RecordType(ParametrizedAttribute, TypeAttribute):
    """Where the first failed check of a kernel call is told: `!rt.record`."""

    name = "rt.record"


@irdl_op_definition
class RecordOp(IRDLOperation):
    """The record that stands in memory, from a byte on. It must be zero before the first check.

    ```mlir
    %record = rt.record %arena[256] : memref<4096xi8> to !rt.record
    ```
    """

    name = "rt.record"
    memory = operand_def(MemRefType)
    offset = prop_def(IntegerAttr.constr(i64))
    result = result_def(RecordType)
    assembly_format = "$memory `[` $offset `]` attr-dict `:` type($memory) `to` type($result)"
    traits = traits_def(Pure())

    def __init__(self, memory: SSAValue, offset: int):
        super().__init__(
            operands=[memory], result_types=[RecordType()], properties={"offset": IntegerAttr(offset, i64)}
        )

    def verify_(self, verify_nested_ops: bool = True) -> None:
        memory, start = self.memory.type, self.offset.value.data
        assert is_memref(memory)
        if memory.element_type != i8 or memory.get_num_dims() != 1:
            raise VerifyException(f"a record stands in a memref of bytes, not in {memory}")
        if start < 0 or start % RECORD_BYTES:
            raise VerifyException(f"the offset {start} is not a multiple of a record's {RECORD_BYTES} bytes")
        if 0 <= memory.get_shape()[0] < start + RECORD_BYTES:
            raise VerifyException(f"the record ends at byte {start + RECORD_BYTES}, outside of {memory}")


@irdl_op_definition
class CheckOp(IRDLOperation):
    """`at`, if it is from 0 to below `extent`. If not, `record` tells of check number `number` and of `given`, unless
    it tells of another, and the result is the nearest index that is (0 where there is none).

    ```mlir
    %0 = rt.check %at of %given in 10 else %record[2]
    ```

    An extent that is known when it runs is a value: `rt.check %at of %given within %n else %record[2]`.
    """

    name = "rt.check"
    at = operand_def(index)
    given = operand_def(index)
    record = operand_def(RecordType)
    bound = opt_operand_def(index)
    extent = opt_prop_def(IntegerAttr.constr(i64))
    number = prop_def(IntegerAttr.constr(i64))
    result = result_def(index)
    assembly_format = "$at `of` $given (`in` $extent^)? (`within` $bound^)? `else` $record `[` $number `]` attr-dict"

    def __init__(self, at: SSAValue, given: SSAValue, extent: int | SSAValue, record: SSAValue, number: int):
        super().__init__(
            operands=[at, given, record, extent if isinstance(extent, SSAValue) else None],
            result_types=[index],
            properties={
                "extent": IntegerAttr(extent, i64) if isinstance(extent, int) else None,
                "number": IntegerAttr(number, i64),
            },
        )

    def verify_(self, verify_nested_ops: bool = True) -> None:
        if (self.extent is None) is (self.bound is None):
            raise VerifyException("the extent is a number or a value, one of them")
        for what, value in (("extent", self.extent), ("number", self.number)):
            if value is not None and value.value.data < 0:
                raise VerifyException(f"the {what} {value.value.data} is negative")
