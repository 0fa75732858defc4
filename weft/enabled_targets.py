"""Whether what is built for a target runs here: what `weft.runtime.enabled` asks, as the runtime knows no targets; and
whether a device is there, which is what `exist` of it asks."""

from __future__ import annotations

from .dialects.relay.devices import PresentDevices, VirtualDevice
from .lowering.loops_to_c.compile import has_compiler
from .lowering.machine.target import Target
from .lowering.machine.target_kinds import kind_named
from .runtime.cuda import driver, why_no_driver
from .runtime.host import why_not_here
from .runtime.loading import Targets


def enabled(target: str) -> bool:
    """The answer of `weft.runtime.enabled`."""
    if (kind := (target.split() or [""])[0]) in ("cpu", "ext_dev"):
        return True
    found = Target.parse({"gpu": "cuda"}.get(target, target))
    if found.is_gpu:
        return why_no_driver() is None
    if kind == "c":
        return has_compiler()
    if kind_named(found.kind).only_described:
        return False
    return why_not_here(found.platform()) is None


def is_present(device: VirtualDevice) -> bool:
    """The answer of `exist` of a device."""
    match device.type:
        case "cpu":
            return True
        case "cuda":
            return why_no_driver() is None and driver().number("cuDeviceGetCount") > device.virtual_device_id
        case _:
            return False


Targets.enabled = staticmethod(enabled)
PresentDevices.has = staticmethod(is_present)
