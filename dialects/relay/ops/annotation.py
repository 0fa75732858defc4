"""Operators that say something about a value to a later pass: where it lives, that fusion ends here."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import AnyAttr, VarConstraint, irdl_op_definition, operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure

from ... import te
from ..base import Fusion, FusionPattern, NonComputational, RelayOp, flag, string
from .elementwise import SameTypeOp

if TYPE_CHECKING:
    from ..base import NDArray

_ANY_TYPE = VarConstraint("T", AnyAttr())


class _Identity(SameTypeOp, ABC):
    """The operand, of which nothing is known to fusion."""

    traits = traits_def(FusionPattern(Fusion.OPAQUE))

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        (x,) = inputs
        return te.compute(x.shape, lambda *i: x[i], "copy")

    def numpy(self, *inputs: NDArray) -> NDArray:
        return inputs[0]


@irdl_op_definition
class StopFusionOp(_Identity):
    """The operand, which is not fused with what uses it.

    `y = x`

    ```mlir
    %y = relay.annotation.stop_fusion %x : tensor<2x4xf32>
    ```
    """

    name = "relay.annotation.stop_fusion"


@irdl_op_definition
class DeviceCopyOp(_Identity):
    """The operand, copied from the memory of one device to that of another.

    A device is written `cpu`, `cuda`, ..., with a memory scope `cpu@scope`.

    `y = x`

    ```mlir
    %y = relay.device_copy %x {src_virtual_device = "cpu", dst_virtual_device = "cuda"} : tensor<2x4xf32>
    ```
    """

    name = "relay.device_copy"

    src_virtual_device = string()
    dst_virtual_device = string()


@irdl_op_definition
class OnDeviceOp(RelayOp):
    """The operand, which is to be computed on a device, or to be there for what uses it.

    A note for whoever places computations; on a machine with one kind of device it means nothing.

    `constrain_body` says that the operand is computed on the device, `constrain_result` that the result is used there.
    The operand may be of any type.

    `y = x`

    ```mlir
    %y = relay.on_device %x {virtual_device = "cuda", constrain_body = true, constrain_result = false} : tensor<2x4xf32>
    ```
    """

    name = "relay.on_device"

    body = operand_def(_ANY_TYPE)
    result = result_def(_ANY_TYPE)

    virtual_device = opt_prop_def(StringAttr)
    constrain_body = flag(True)
    constrain_result = flag(False)

    traits = traits_def(Pure(), NonComputational(), FusionPattern(Fusion.OPAQUE))
    assembly_format = "$body attr-dict `:` type($result)"

    def infer(self) -> Sequence[Attribute]:
        return [self.body.type]


OPS: list[type[Operation]] = [StopFusionOp, DeviceCopyOp, OnDeviceOp]
"""The annotations."""
