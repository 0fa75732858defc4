"""Buffers: `memref` values, and the operation that gives a function one of its own."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import MemRefType, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


def memref_of(buffer: SSAValue) -> MemRefType[Attribute]:
    """The type of a buffer."""
    type = buffer.type
    assert isinstance(type, MemRefType)
    return cast("MemRefType[Attribute]", type)


class Scope(StrEnum):
    """Where a buffer lives: `GLOBAL` in the memory that all threads share, `LOCAL` in each thread's own (registers,
    where the loops over it are unrolled)."""

    GLOBAL = "global"
    LOCAL = "local"


@irdl_op_definition
class AllocBufferOp(IRDLOperation):
    """A buffer of the function's own, alive in the region where it stands. Counterpart of TVM's `alloc_buffers`.

    One of scope `"global"` is one for all threads, and lives through the whole function wherever it stands. One of
    scope `"local"` is each thread's own, so all blocks that use it stand in one nest of loops.

    ```mlir
    %acc = tir.alloc_buffer "local" : memref<7x2x16xf32>
    ```
    """

    name = "tir.alloc_buffer"

    scope = prop_def(StringAttr)
    buffer = result_def(MemRefType)

    assembly_format = "$scope attr-dict `:` type($buffer)"

    def __init__(self, type: MemRefType[Attribute], scope: Scope = Scope.GLOBAL):
        super().__init__(result_types=[type], properties={"scope": StringAttr(scope.value)})

    def verify_(self) -> None:
        if self.scope.data not in tuple(Scope):
            raise VerifyException(f'unknown scope "{self.scope.data}"; known: {", ".join(Scope)}')

    @property
    def is_private(self) -> bool:
        """Whether each thread has a buffer of its own."""
        return self.scope.data == Scope.LOCAL.value
