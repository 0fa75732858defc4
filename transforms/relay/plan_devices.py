"""Decide on which device every value is, and copy where two devices meet.

    %0 = relay.add %a, %b                               %0 = relay.add %a, %b
    %1 = relay.on_device %0 {virtual_device = cpu}  ->  %1 = relay.device_copy %0 {src... = cpu, dst... = cuda}
    %2 = relay.subtract %1, %c                          %2 = relay.subtract %1, %c

What is known comes from notes (`relay.on_device`), copies (`relay.device_copy`), operations on shapes, the memory
scopes of kernels, and what functions were given before. Four phases (`device_planning/`): notes are moved to where they
say what is meant (`hoist`), domains are unified (`constraints`), what is free is chosen (`defaults`), and the plan is
written (`reify`). A module that no plan satisfies is refused, with the two places that contradict one another.

A module that says nothing of devices is left alone. Planning anew changes nothing. A value is never split: where one
use wants it here and another there, without a note between, the module is refused, as in TVM.

Counterpart of TVM's `PlanDevices`, except that copies are shared by all that need them, and that each of two notes one
on the other counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...dialects.relay.devices import DeviceError
from ..infra import ModulePass, report_changed
from .device_planning.constraints import Constraints
from .device_planning.defaults import choose_defaults
from .device_planning.devices import Devices, at, is_annotated
from .device_planning.hoist import hoist_notes
from .device_planning.reify import write_plan


@dataclass(frozen=True)
class PlanDevicesPass(ModulePass):
    """Options: `targets` are those that the program may run on, one for each type of device (without: those that the
    module lists in `relay.devices`, else any device will do); `default-device` is where that goes which nothing
    constrains, a device type or its number.

    Raises:
        Diagnostic: no plan satisfies what the module says; a device that there is not.
    """

    name = "plan-devices"
    opt_level: ClassVar[int] = 0
    required: ClassVar[tuple[str, ...]] = ("infer-type",)
    tvm_name: ClassVar[str | None] = "PlanDevices"
    config_keys: ClassVar[dict[str, str]] = {"relay.fallback_device_type": "default_device"}

    targets: tuple[str, ...] = ()
    default_device: str | int | None = None

    @classmethod
    def holds_in(cls, module: ModuleOp) -> bool:
        return not is_annotated(module)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.targets and not is_annotated(op):
            report_changed(False)
            return
        try:
            devices = Devices.of(op, self.targets, self.default_device)
        except DeviceError as error:
            raise at(op, error) from None
        hoist_notes(op)
        domains = Constraints(op, devices)
        choose_defaults(op, domains)
        write_plan(op, domains, self.name)
