"""Targets under TVM's names (`tvm.target`): by what they are for, functions that are others for some, and devices with
the target of their code. Kinds and tags that users add: see `lowering/machine/target_kinds.py`.

with targets.arm_cpu("rk3399"):
    schedule = chosen(x)                       # a function made by `targets.generic_func`
on_gpu = targets.VirtualDevice(weft.cuda(0), "cuda", memory_scope="global")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from .dialects.relay.devices import VirtualDevice as _Device
from .dialects.relay.devices import type_of_target
from .dialects.support.arguments import checked
from .lowering.machine.binding import llvm_version as _llvm_version
from .lowering.machine.generic_func import GenericFunc as GenericFunc
from .lowering.machine.generic_func import generic_func as generic_func
from .lowering.machine.generic_func import get_native_generic_func as get_native_generic_func
from .lowering.machine.generic_func import override_native_generic_func as override_native_generic_func
from .lowering.machine.named_targets import adreno as adreno
from .lowering.machine.named_targets import arm_cpu as arm_cpu
from .lowering.machine.named_targets import bifrost as bifrost
from .lowering.machine.named_targets import cuda as cuda
from .lowering.machine.named_targets import intel_graphics as intel_graphics
from .lowering.machine.named_targets import llvm as llvm
from .lowering.machine.named_targets import mali as mali
from .lowering.machine.named_targets import riscv_cpu as riscv_cpu
from .lowering.machine.named_targets import rocm as rocm
from .lowering.machine.named_targets import vta as vta
from .lowering.machine.target import Target as Target
from .lowering.machine.target_kinds import TargetKind as TargetKind
from .lowering.machine.target_kinds import add_kind as add_kind
from .lowering.machine.target_kinds import add_tag as add_tag
from .lowering.machine.target_kinds import kinds as kinds
from .lowering.machine.target_kinds import remove_kind as remove_kind
from .lowering.machine.target_kinds import remove_tag as remove_tag
from .lowering.machine.target_kinds import tags as tags

if TYPE_CHECKING:
    from .transform import PassContext

FALLBACK_DEVICE = "plan-devices.default-device"
"""The option of contexts that TVM calls `relay.fallback_device_type`."""


@checked
def VirtualDevice(device: _Device | None = None, target: str | Target | None = None, memory_scope: str = "") -> _Device:
    """A device with the target of the code that it runs, and the memory that data is in; what is not given is free.

    Raises:
        DeviceError: the target is for another type of device.
    """
    given = device or _Device()
    type = type_of_target(str(target)) if given.type is None and target is not None else given.type
    return _Device(type, given.id, None if target is None else str(target), memory_scope or None)


@dataclass(frozen=True)
class CompilationConfig:
    """What a program is compiled for: the targets of its kernels, one for each type of device, and that of its host.
    Counterpart of TVM's `CompilationConfig`; `relay.transform.PlanDevices` takes it."""

    primitive_targets: tuple[Target, ...]
    host_target: Target
    default_primitive_virtual_device: _Device
    """Where that goes which nothing constrains."""
    host_virtual_device: _Device

    @property
    def optional_homogeneous_target(self) -> Target | None:
        """The target of all kernels, where they have one."""
        return self.primitive_targets[0] if len(self.primitive_targets) == 1 else None


@checked
def make_compilation_config(
    ctxt: PassContext,
    target: str | Target | Mapping[Any, object] | Sequence[object],
    target_host: str | Target | Mapping[str, object] | None = None,
) -> CompilationConfig:
    """The configuration for a target or several. What nothing constrains goes to devices of the type that the context
    calls `relay.fallback_device_type`, else to the only one, else to the CPU. The host is `target_host`, else what the
    first target has as its host, else the target that is a processor, else this machine. Counterpart of TVM's.

        config = targets.make_compilation_config(weft.PassContext.current(), ["llvm", "cuda"])
        planned = relay.transform.PlanDevices(config)(module)

    Raises:
        DeviceError: two targets are for one type of device, or none is for the type that the context says.
        TargetError: as `Target`.
    """
    from .transforms.relay.device_planning.devices import Devices

    made = tuple(Target.canon_multi_target_and_host(target, target_host))
    default = cast("str | int | None", ctxt.config.get(FALLBACK_DEVICE))
    devices = Devices.given([VirtualDevice(target=each) for each in made], default)
    host = made[0].host or next((each for each in made if not each.is_gpu), Target())
    return CompilationConfig(made, host, devices.default, _Device("cpu", 0, str(host)))


@checked
def llvm_version_major(allow_none: bool = False) -> int:
    """The first number of the version of LLVM that makes the code; there is always one."""
    return _llvm_version()[0]
