"""The devices that a module may run on: which there are, which is the host, and where goes what nothing constrains.

Counterpart of TVM's `CompilationConfig`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ModuleOp

from ....dialects.relay.core import FuncOp
from ....dialects.relay.devices import (
    DEVICES,
    PARAMETER_DEVICES,
    RESULT_DEVICES,
    DeviceError,
    VirtualDevice,
    device,
    device_type,
    listed_devices,
)
from ....dialects.relay.ops.annotation import DeviceCopyOp, OnDeviceOp
from ....dialects.support.diagnostics import Diagnostic
from ...infra.walk import walk


@dataclass(frozen=True)
class Devices:
    """Which devices there are."""

    targets: Mapping[str, str | None]
    """Device type -> the target of its code, where one is given; empty where any device will do."""
    default: VirtualDevice
    host: VirtualDevice

    @staticmethod
    def of(module: ModuleOp, targets: Sequence[str] = (), default: str | int | None = None) -> Devices:
        """The devices of a module: those of `targets`, else those that the module lists, else any.

        The host is the first CPU, the default the device of the type `default`, else the only one, else the CPU.

        Raises:
            DeviceError: a target or a device that there is not; two targets for one type of device.
        """
        listed = [device(target=t).data for t in targets] or listed_devices(module.attributes.get(DEVICES))
        return Devices.given(listed, default)

    @staticmethod
    def given(listed: Sequence[VirtualDevice], default: str | int | None = None) -> Devices:
        """The devices that are listed, each with its target, or any where none is; host and default as `of` has them.

        Raises:
            DeviceError: as `of`.
        """
        known: dict[str, str | None] = {}
        for each in listed:
            if each.type is None:
                raise DeviceError(f"a device that a module lists has a type, unlike <{each}>")
            if each.type in known:
                raise DeviceError(f"two targets are given for {each.type} devices")
            known[each.type] = each.target
        host = VirtualDevice("cpu", 0, known.get("cpu", "llvm" if known else None))
        if default is not None:
            type = device_type(default)
        else:
            type = next(iter(known)) if len(known) == 1 else "cpu"
        if known and type not in known:
            raise DeviceError(f"the default device is a {type}, which is none of those given: {', '.join(known)}")
        return Devices(known, VirtualDevice(type, 0, known.get(type)), host)

    def canonical(self, device: VirtualDevice) -> VirtualDevice:
        """`device`, with the target that is given for its type.

        Raises:
            DeviceError: its type is none of those given.
        """
        if device.type is None or not self.targets or device.target is not None:
            return device
        if device.type not in self.targets and device.type != self.host.type:
            raise DeviceError(f"there is no {device.type} among the devices given, which are {', '.join(self.targets)}")
        target = self.targets.get(device.type, self.host.target)
        return VirtualDevice(device.type, device.id, target, device.memory_scope)


def is_annotated(module: ModuleOp) -> bool:
    """Whether anything in a module speaks of devices."""
    return DEVICES in module.attributes or any(
        speaks_of_devices(func) for func in module.ops if isinstance(func, FuncOp)
    )


def speaks_of_devices(func: FuncOp) -> bool:
    """Whether anything in a function speaks of devices, or a plan has been made for it."""
    return (
        RESULT_DEVICES in func.attributes
        or PARAMETER_DEVICES in func.attributes
        or any(isinstance(op, OnDeviceOp | DeviceCopyOp) for op in walk(func))
    )


def at(op: object, error: DeviceError) -> Diagnostic:
    """`error`, placed at an operation."""
    from xdsl.ir import Operation

    return Diagnostic.at(cast(Operation, op), error.message, hint=error.hint)
