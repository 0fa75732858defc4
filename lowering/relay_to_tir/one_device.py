"""Code is made for one processor: what a plan of devices leaves of a graph that is on it, and the refusal of others."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...dialects.relay.core import FuncOp
from ...dialects.relay.devices import (
    DEVICES,
    PARAMETER_DEVICES,
    RESULT_DEVICES,
    VirtualDevice,
    listed_devices,
)
from ...dialects.relay.ops.annotation import DeviceCopyOp, OnDeviceOp
from ...dialects.support.diagnostics import Diagnostic
from ...transforms.infra import remarks
from ...transforms.infra.walk import walk
from ...transforms.relay.device_planning.constraints import is_outside

_HINT = "write one device for all of it, or leave devices out"


def settle_on_one_device(module: ModuleOp) -> None:
    """Take the plan of devices off a module all of which is in the memory of one CPU.

    Raises:
        Diagnostic: something is elsewhere, or nothing has been planned yet.
    """
    functions = [func for func in module.ops if isinstance(func, FuncOp) and not is_outside(func)]
    ops = [op for func in functions for op in walk(func)]
    for op in ops:
        _check(op)
    for op in ops:
        for name in (PARAMETER_DEVICES, RESULT_DEVICES):
            op.attributes.pop(name, None)
    module.attributes.pop(DEVICES, None)


def _check(op: Operation) -> None:
    if isinstance(op, OnDeviceOp):
        raise Diagnostic.at(op, "is a note to plan-devices, which has not run", hint="run plan-devices before lowering")
    if isinstance(op, DeviceCopyOp):
        source, destination = op.src_virtual_device.data, op.dst_virtual_device.data
        if not (_is_this_processor(source) and _is_this_processor(destination)):
            message = f"cannot copy from <{source}> to <{destination}>: code is made for one processor"
            raise Diagnostic.at(op, message, hint=_HINT)
        remarks.missed("lower-te", op, f"<{source}> and <{destination}> are one memory: there is one processor")
    for name, what in ((PARAMETER_DEVICES, "argument"), (RESULT_DEVICES, "result")):
        for index, device in enumerate(listed_devices(op.attributes.get(name))):
            if not _is_this_processor(device):
                raise Diagnostic.at(
                    op, f"{what} {index} is on <{device}>, but code is made for the memory of one CPU", hint=_HINT
                )


def _is_this_processor(device: VirtualDevice) -> bool:
    return device.type in ("cpu", None) and device.id in (0, None) and device.memory_scope in ("global", None)
