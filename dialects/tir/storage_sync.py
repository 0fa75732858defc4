"""Waiting for the other threads of a block: `tir.storage_sync`."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def
from xdsl.utils.exceptions import VerifyException

SCOPES = ("shared",)


@irdl_op_definition
class StorageSyncOp(IRDLOperation):
    """Stands between loops and blocks: every thread of a block waits until all have come here, and then sees what the
    others have written to memory of the scope. Counterpart of TVM's `tvm_storage_sync`; `thread-sync` inserts it.

    ```mlir
    tir.storage_sync "shared"
    ```
    """

    name = "tir.storage_sync"

    scope = prop_def(StringAttr)

    assembly_format = "$scope attr-dict"

    def __init__(self, scope: str = "shared"):
        super().__init__(properties={"scope": StringAttr(scope)})

    def verify_(self) -> None:
        if self.scope.data not in SCOPES:
            raise VerifyException(f'threads wait for memory of the scope "shared", not "{self.scope.data}"')


def waits(op: Operation) -> bool:
    """Whether threads wait for one another in `op`."""
    return any(isinstance(inner, StorageSyncOp) for inner in op.walk())
