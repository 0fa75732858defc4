"""Calls out of a running program: of functions of C, and of Python functions by name."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_result_def, prop_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from ..support.interned import index


@irdl_op_definition
class CallOp(IRDLOperation):
    """Call the function of a symbol that the loader finds, or one of LLVM's intrinsics. A memref is passed as its
    address.

    ```mlir
    %0 = rt.call "cosf"(%x) : (f32) -> f32
    ```
    """

    name = "rt.call"
    callee = prop_def(StringAttr)
    arguments = var_operand_def()
    result = opt_result_def()
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $result)"

    def __init__(self, callee: str, arguments: Sequence[SSAValue], result: Attribute | None = None):
        super().__init__(operands=[arguments], result_types=[result], properties={"callee": StringAttr(callee)})


@irdl_op_definition
class CallPackedOp(IRDLOperation):
    """Call a Python function. `what` is its name, the types that it is called with and the type that it gives, divided
    by `|`: `"show|const float32[4x8],int64|float64"`, `const` before what it only reads. Behind a buffer stand its
    extents that are `?` there. The status is 0, or says that it has failed.

    ```mlir
    %status = rt.call_packed "show|float32[?x16]|"(%rows, %n) : (memref<?xf32>, index) -> index
    ```
    """

    name = "rt.call_packed"
    what = prop_def(StringAttr)
    arguments = var_operand_def()
    status = result_def(index)
    result = opt_result_def()
    assembly_format = "$what `(` $arguments `)` attr-dict `:` functional-type($arguments, results)"

    def __init__(self, what: str, arguments: Sequence[SSAValue], result: Attribute | None = None):
        super().__init__(operands=[arguments], result_types=[index, result], properties={"what": StringAttr(what)})

    def verify_(self, verify_nested_ops: bool = True) -> None:
        parts = self.what.data.split("|")
        if len(parts) != 3 or not parts[0]:
            raise VerifyException("what is called is a name, argument types and a result's type: name|types|type")
        types = parts[1].split(",") if parts[1] else []
        if len(types) + parts[1].count("?") != len(self.arguments) or bool(parts[2]) is not bool(self.result):
            raise VerifyException(f"'{self.what.data}' does not fit {len(self.arguments)} arguments")
