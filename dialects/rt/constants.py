"""Memory that holds constants."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..support.shaped import is_memref


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """Memory that holds a value from the start, and that nothing writes. It is part of the code.

    ```mlir
    %c = rt.constant dense<[1.0, 2.0]> : tensor<2xf32> : memref<2xf32>
    ```
    """

    name = "rt.constant"
    value = prop_def(DenseIntOrFPElementsAttr)
    result = result_def(MemRefType)
    assembly_format = "$value attr-dict `:` type($result)"
    traits = traits_def(Pure())

    def __init__(self, value: DenseIntOrFPElementsAttr, type: MemRefType[Attribute]):
        super().__init__(result_types=[type], properties={"value": value})

    def verify_(self, verify_nested_ops: bool = True) -> None:
        type, given = self.result.type, self.value.type
        assert is_memref(type)
        if given.element_type != type.element_type or given.get_shape() != type.get_shape():
            raise VerifyException(f"{type} does not hold a value of type {given}")
