"""TIR's own concepts."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def


@irdl_op_definition
class PrimFuncOp(IRDLOperation):
    name = "tir.prim_func"
    sym_name = prop_def(StringAttr)
    function_type = prop_def(FunctionType)
    body = region_def("single_block")
