"""Devices under TVM's names: `weft.cpu()`, `weft.cuda()`, `weft.device("llvm")`.

What a program runs on is what its target says. Where TVM takes a device beside a target, one is taken here too, and has
to be the one that the target is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .dialects.relay.devices import TARGET_KINDS, VirtualDevice, device_type, type_of_target
from .dialects.support.arguments import checked

Devices: TypeAlias = "VirtualDevice | Sequence[VirtualDevice] | None"
"""A device, or several; none is that of the target."""


@checked
def cpu(index: int = 0) -> VirtualDevice:
    """The processor."""
    return VirtualDevice("cpu", index)


@checked
def cuda(index: int = 0) -> VirtualDevice:
    """A GPU of Nvidia."""
    return VirtualDevice("cuda", index)


@checked
def device(name: str | int, index: int = 0) -> VirtualDevice:
    """The device of a type, by name or by DLPack's number, or of a target.

    Raises:
        UsageError: there is none of that name.
    """
    if isinstance(name, str) and (name.split() or [""])[0] in TARGET_KINDS:
        return VirtualDevice(type_of_target(name), index)
    return VirtualDevice(device_type(name), index)


def check_devices(given: Devices, target: object) -> None:
    """Refuse a device that code for `target` does not run on.

    Raises:
        UsageError: it is of another type, or not the first of its type.
    """
    from .dialects.support.given_devices import check_given

    check_given(given, type_of_target(str(target)))
