"""What a program does about shapes and memory while it runs: TVM's `vm` and `memory` operators.

Shapes, sizes and offsets are numbers for the processor that runs the program; the tensors may be on any device.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr, TensorType, i64
from xdsl.ir import Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_attr_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryAllocEffect, MemoryFreeEffect, MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from ..support.operations import irdl_op_definition
from .base import DYNAMIC, Fusion, FusionPattern, NonComputational, Stateful, shape_of
from .devices import DevicePlaces, Place, VirtualDeviceAttr


@irdl_attr_definition
class StorageType(ParametrizedAttribute, TypeAttribute):
    """Memory that tensors can be put into. Counterpart of TVM's `Storage`."""

    name = "relay.storage"


def _check_shape(shape: SSAValue, result: SSAValue) -> None:
    """
    Raises:
        VerifyException: `shape` does not hold an extent for each dimension of `result`.
    """
    extents, rank = shape_of(shape), len(shape_of(result))
    if len(extents) != 1 or extents[0] not in (rank, DYNAMIC):
        raise VerifyException(f"the shape of a {result.type} has {rank} extents, and is no {shape.type}")


@irdl_op_definition
class ShapeOfOp(IRDLOperation):
    """The extents of a tensor, wherever it is. Unlike `relay.shape_of` it is not computed where the tensor is.

    ```mlir
    %s = relay.vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
    ```
    """

    name = "relay.vm.shape_of"

    data = operand_def(TensorType)
    result = result_def(TensorType)

    assembly_format = "$data attr-dict `:` functional-type($data, $result)"
    traits = traits_def(
        Pure(), FusionPattern(Fusion.OPAQUE), NonComputational(), DevicePlaces((Place.ANY,), (Place.HOST,))
    )

    def verify_(self) -> None:
        if self.result.type != (wanted := TensorType(i64, [len(shape_of(self.data))])):
            raise VerifyException(f"the extents of {self.data.type} are a {wanted}, not {self.result.type}")


@irdl_op_definition
class ReshapeTensorOp(IRDLOperation):
    """A tensor's elements under a shape that is computed.

    ```mlir
    %y = relay.vm.reshape_tensor %x, %s : (tensor<2x8xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>
    ```
    """

    name = "relay.vm.reshape_tensor"

    data = operand_def(TensorType)
    shape = operand_def(TensorType)
    result = result_def(TensorType)

    assembly_format = "$data `,` $shape attr-dict `:` functional-type(operands, $result)"
    traits = traits_def(
        Pure(),
        FusionPattern(Fusion.OPAQUE),
        NonComputational(),
        DevicePlaces((Place.SHARED, Place.HOST), (Place.SHARED,)),
    )

    def verify_(self) -> None:
        _check_shape(self.shape, self.result)


@irdl_op_definition
class AllocStorageOp(IRDLOperation):
    """Take memory of a size, aligned as told, on a device.

    ```mlir
    %m = relay.memory.alloc_storage %size, %alignment {virtual_device = #relay.virtual_device<cuda>, dtype = "float32"} : (tensor<i64>, tensor<i64>) -> !relay.storage
    ```
    """  # noqa: E501

    name = "relay.memory.alloc_storage"

    size = operand_def(TensorType)
    alignment = operand_def(TensorType)
    result = result_def(StorageType)
    virtual_device = prop_def(VirtualDeviceAttr)
    dtype = prop_def(StringAttr)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$size `,` $alignment attr-dict `:` functional-type(operands, $result)"
    traits = traits_def(
        MemoryAllocEffect(),
        FusionPattern(Fusion.OPAQUE),
        NonComputational(),
        DevicePlaces((Place.HOST, Place.HOST), (Place.NAMED,)),
    )

    def verify_(self) -> None:
        if self.virtual_device.data.type is None:
            raise VerifyException("memory is taken on a device of a known type")


@irdl_op_definition
class AllocTensorOp(IRDLOperation):
    """A tensor of a shape that is computed, in memory from an offset on.

    ```mlir
    %x = relay.memory.alloc_tensor %m, %offset, %s : (!relay.storage, tensor<i32>, tensor<2xi64>) -> tensor<3x2xf32>
    ```
    """

    name = "relay.memory.alloc_tensor"

    storage = operand_def(StorageType)
    offset = operand_def(TensorType)
    shape = operand_def(TensorType)
    result = result_def(TensorType)

    assembly_format = "$storage `,` $offset `,` $shape attr-dict `:` functional-type(operands, $result)"
    traits = traits_def(
        MemoryAllocEffect(),
        FusionPattern(Fusion.OPAQUE),
        NonComputational(),
        DevicePlaces((Place.SHARED, Place.HOST, Place.HOST), (Place.SHARED,)),
    )

    def verify_(self) -> None:
        _check_shape(self.shape, self.result)


@irdl_op_definition
class KillOp(IRDLOperation):
    """The memory of a tensor is not read any more.

    ```mlir
    relay.memory.kill %x : tensor<3x2xf32>
    ```
    """

    name = "relay.memory.kill"

    data = operand_def(TensorType)

    assembly_format = "$data attr-dict `:` type($data)"
    traits = traits_def(
        MemoryFreeEffect(),
        FusionPattern(Fusion.OPAQUE),
        NonComputational(),
        Stateful(),
        DevicePlaces((Place.ANY,), ()),
    )


@irdl_op_definition
class InvokeTvmOp(IRDLOperation):
    """Run a function of operators on inputs, and write what it gives into outputs that there is memory for.

    ```mlir
    relay.vm.invoke_tvm_op @fused_nn_relu(%x), (%y) : (tensor<3x2xf32>), (tensor<3x2xf32>)
    ```
    """

    name = "relay.vm.invoke_tvm_op"

    func = prop_def(SymbolRefAttr)
    inputs = var_operand_def(TensorType)
    outputs = var_operand_def(TensorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$func `(` $inputs `)` `,` `(` $outputs `)` attr-dict `:` `(` type($inputs) `)` `,` `(` type($outputs) `)`"
    )
    traits = traits_def(
        MemoryWriteEffect(),
        MemoryReadEffect(),
        FusionPattern(Fusion.OPAQUE),
        NonComputational(),
        Stateful(),
    )

    def verify_(self) -> None:
        if not self.outputs:
            raise VerifyException("a function that writes nothing is not run")


OPS: list[type[Operation]] = [ShapeOfOp, ReshapeTensorOp, AllocStorageOp, AllocTensorOp, KillOp, InvokeTvmOp]
"""Shapes and memory of a running program."""
