"""Operators that say something about a value to a later pass: where it lives, that fusion ends, who compiles it."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    VarConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ... import te
from ...support.operations import irdl_op_definition
from ..base import Fusion, FusionPattern, Moves, NonComputational, RelayOp, Value, flag, is_true, string
from ..devices import FREE, DeviceError, VirtualDevice, VirtualDeviceAttr, device
from ..slopes import slope
from .elementwise import SameTypeOp

if TYPE_CHECKING:
    from ..base import NDArray
    from ..gradient import Gradient, Terms

_ANY_TYPE = VarConstraint("T", AnyAttr())


def _copied(x: te.Tensor) -> te.Tensor:
    return te.compute(x.shape, lambda *i: x[i], "copy")


@irdl_op_definition
class StopFusionOp(SameTypeOp):
    """The operand, which is not fused with what uses it.

    `y = x`

    ```mlir
    %y = relay.annotation.stop_fusion %x : tensor<2x4xf32>
    ```
    """

    name = "relay.annotation.stop_fusion"

    traits = traits_def(FusionPattern(Fusion.OPAQUE), Moves())

    def compute(self, *inputs: te.Tensor) -> te.Tensor:
        return _copied(inputs[0])

    def numpy(self, *inputs: NDArray) -> NDArray:
        return inputs[0]

    gradient = slope(lambda x, y: 1)


class _Placing(RelayOp, ABC):
    """Names devices; in Python each may be the attribute, a `VirtualDevice`, or a device type by name or number."""

    def __init__(self, *operands: SSAValue | Operation, **properties: Value | VirtualDevice):
        given = {name: _as_device(value) if "device" in name else value for name, value in properties.items()}
        super().__init__(*operands, **cast("dict[str, Value]", given))


def _as_device(value: Value | VirtualDevice) -> Attribute | None:
    if value is None or isinstance(value, Attribute):
        return value
    if isinstance(value, VirtualDevice):
        return VirtualDeviceAttr(value)
    if isinstance(value, str | int):
        return device(value)
    raise DeviceError(f"{value!r} is no device", hint='give one by its type, as "cuda", or by `device("cuda", 1)`')


@irdl_op_definition
class DeviceCopyOp(_Placing):
    """The operand, copied from the memory of one device to that of another.

    The operand may be of any type. A copy from a device to itself is none; `plan-devices` drops it.

    `y = x`

    ```mlir
    %y = relay.device_copy %x {src_virtual_device = #relay.virtual_device<cpu>, dst_virtual_device = #relay.virtual_device<cuda>} : tensor<2x4xf32>
    ```
    """  # noqa: E501

    name = "relay.device_copy"

    data = operand_def(_ANY_TYPE)
    result = result_def(_ANY_TYPE)

    src_virtual_device = prop_def(VirtualDeviceAttr)
    dst_virtual_device = prop_def(VirtualDeviceAttr)

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE), Moves())
    assembly_format = "$data attr-dict `:` type($result)"

    def infer(self) -> Sequence[Attribute]:
        return [self.data.type]

    def verify_(self) -> None:
        super().verify_()
        for name, named in (("src", self.src_virtual_device), ("dst", self.dst_virtual_device)):
            if named.data.is_free:
                raise VerifyException(f"{name}_virtual_device says nothing: a copy is from a device to a device")

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        return [_copied(x) for x in inputs]

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        return inputs

    def gradient(self, g: Gradient) -> Terms:
        back = {"src_virtual_device": self.dst_virtual_device, "dst_virtual_device": self.src_virtual_device}
        return [grad and grad.op(DeviceCopyOp, **back) for grad in g.given]


@irdl_op_definition
class OnDeviceOp(_Placing):
    """The operand, which is to be computed on a device, or to be there for what uses it.

    A note to `plan-devices`, which puts a copy in its place, or nothing. `constrain_body` says that the operand is
    computed on the device, `constrain_result` that the result is used there; with neither, a copy is allowed here. The
    operand may be of any type.

    `y = x`

    ```mlir
    %y = relay.on_device %x {virtual_device = #relay.virtual_device<cuda>, constrain_body = true, constrain_result = false} : tensor<2x4xf32>
    ```
    """  # noqa: E501

    name = "relay.on_device"

    body = operand_def(_ANY_TYPE)
    result = result_def(_ANY_TYPE)

    virtual_device = opt_prop_def(VirtualDeviceAttr)
    constrain_body = flag(True)
    constrain_result = flag(False)

    traits = traits_def(Pure(), NonComputational(), FusionPattern(Fusion.OPAQUE), Moves())
    assembly_format = "$body attr-dict `:` type($result)"

    def infer(self) -> Sequence[Attribute]:
        return [self.body.type]

    @property
    def device(self) -> VirtualDevice:
        """The device; the free one where none is named."""
        return FREE if self.virtual_device is None else self.virtual_device.data

    def verify_(self) -> None:
        super().verify_()
        if self.device.is_free and (is_true(self.constrain_body) or is_true(self.constrain_result)):
            raise VerifyException("virtual_device says nothing, so that neither body nor result can be constrained")

    def gradient(self, g: Gradient) -> Terms:
        return g.given


class _Bound(RelayOp, ABC):
    """The operand, at the bound of a region of operators that `partition-graph` hands to another compiler.

    The operand may be of any type. Where nobody partitions the graph, this is a copy.
    """

    data = operand_def(_ANY_TYPE)
    result = result_def(_ANY_TYPE)

    compiler = string()

    traits = traits_def(Pure(), FusionPattern(Fusion.OPAQUE), Moves())
    assembly_format = "$data attr-dict `:` type($result)"

    def infer(self) -> Sequence[Attribute]:
        return [self.data.type]

    def verify_(self) -> None:
        super().verify_()
        if not self.compiler.data:
            raise VerifyException("'compiler' is empty: it names who compiles the region")

    def compute(self, *inputs: te.Tensor) -> Sequence[te.Tensor]:
        return [_copied(x) for x in inputs]

    def numpy(self, *inputs: NDArray) -> Sequence[NDArray]:
        return inputs

    def gradient(self, g: Gradient) -> Terms:
        return g.given


@irdl_op_definition
class CompilerBeginOp(_Bound):
    """The operand, which enters a region of operators for another compiler.

    The operand may be of any type. `merge-compiler-regions` and `partition-graph` read it; where nobody partitions the
    graph, it is a copy.

    `y = x`

    ```mlir
    %y = relay.annotation.compiler_begin %x {compiler = "dnnl"} : tensor<2x4xf32>
    ```
    """

    name = "relay.annotation.compiler_begin"


@irdl_op_definition
class CompilerEndOp(_Bound):
    """The operand, which leaves a region of operators for another compiler.

    The operand may be of any type. `merge-compiler-regions` and `partition-graph` read it; where nobody partitions the
    graph, it is a copy.

    `y = x`

    ```mlir
    %y = relay.annotation.compiler_end %x {compiler = "dnnl"} : tensor<2x4xf32>
    ```
    """

    name = "relay.annotation.compiler_end"


OPS: list[type[Operation]] = [StopFusionOp, DeviceCopyOp, OnDeviceOp, CompilerBeginOp, CompilerEndOp]
"""The annotations."""
