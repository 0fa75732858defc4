"""From a plan of devices to kernel calls that say where they run; and the refusal of devices that nothing runs on.

Before -> after, where not all is in the memory of one CPU:

```mlir
%1 = relay.call @fused_add(%0, %b) : ...            %1 = relay.call @fused_add(%0, %b)
                                                        {virtual_device = #relay.virtual_device<ext_dev, id = 0>} : ...
```

A call of a copy says where from as well (`src_virtual_device`); constants say where they are wanted. What is on the CPU
says nothing. `bufferize-graph` reads it. A plan that has all on the CPU is taken off the module,
and so are the notes that `plan-devices` has left.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...dialects.relay.base import is_true
from ...dialects.relay.core import CallOp, ConstantOp, FuncOp
from ...dialects.relay.devices import (
    CALL_DEVICE,
    DEVICES,
    PARAMETER_DEVICES,
    RESULT_DEVICES,
    SOURCE_DEVICE,
    VirtualDevice,
    VirtualDeviceAttr,
    listed_devices,
)
from ...dialects.relay.ops.annotation import DeviceCopyOp, OnDeviceOp
from ...dialects.support.diagnostics import Diagnostic
from ...transforms.infra import remarks
from ...transforms.infra.walk import erase, walk
from ...transforms.relay.device_planning.constraints import is_outside
from ...transforms.relay.device_planning.planned import planned_devices
from ..abi import PROCESSORS, RUNNING_DEVICES


def place_calls(module: ModuleOp, devices: Sequence[str] = PROCESSORS) -> None:
    """Note on calls and constants where they are; take the plan off a module all of which is in one CPU's memory. Code
    is made for `devices`.

    Raises:
        Diagnostic: something is where nothing runs, or nothing has been planned yet.
    """
    functions = [func for func in module.ops if isinstance(func, FuncOp) and not is_outside(func)]
    ops = [op for func in functions for op in walk(func)]
    for op in ops:
        _check(op, devices)
    module.attributes.pop(DEVICES, None)
    notes = [op for op in ops if isinstance(op, OnDeviceOp)]
    if all(_is_this_processor(device) for op in ops for device in _named(op)):
        _take_off(notes)
        for op in ops:
            if isinstance(op, DeviceCopyOp):
                source, destination = _named(op)
                remarks.missed("lower-te", op, f"<{source}> and <{destination}> are one memory: there is one processor")
            for name in (PARAMETER_DEVICES, RESULT_DEVICES):
                op.attributes.pop(name, None)
        return
    places = planned_devices(module)
    copies = {
        func.sym_name.data: copy
        for func in functions
        if func.is_primitive and (copy := next((op for op in walk(func) if isinstance(op, DeviceCopyOp)), None))
    }
    for op in ops:
        if isinstance(op, ConstantOp | CallOp) and op.results and (value := op.results[0]) in places:
            _note(op, CALL_DEVICE, places[value])
            if isinstance(op, CallOp) and (copy := copies.get(op.callee.root_reference.data)) is not None:
                _note(op, CALL_DEVICE, copy.dst_virtual_device.data, always=True)
                _note(op, SOURCE_DEVICE, copy.src_virtual_device.data, always=True)
    _take_off(notes)


def _take_off(notes: Sequence[OnDeviceOp]) -> None:
    """Let what notes are around stand in their places: it is on one device before and after them."""
    for note in notes:
        note.result.replace_all_uses_with(note.body)
        erase(note)


def _note(op: Operation, name: str, device: VirtualDevice, *, always: bool = False) -> None:
    if always or not _is_this_processor(device):
        op.attributes[name] = VirtualDeviceAttr(VirtualDevice(device.type or "cpu", device.id or 0))


def _named(op: Operation) -> list[VirtualDevice]:
    """The devices that an operation names."""
    if isinstance(op, DeviceCopyOp):
        return [op.src_virtual_device.data, op.dst_virtual_device.data]
    if isinstance(op, OnDeviceOp):
        return [op.device]
    return [
        device for name in (PARAMETER_DEVICES, RESULT_DEVICES) for device in listed_devices(op.attributes.get(name))
    ]


def _check(op: Operation, devices: Sequence[str]) -> None:
    made_for = f"code is made for {' and '.join(devices)}"
    if isinstance(op, OnDeviceOp) and not (is_true(op.constrain_body) and is_true(op.constrain_result)):
        raise Diagnostic.at(op, "is a note to plan-devices, which has not run", hint="run plan-devices before lowering")
    if isinstance(op, DeviceCopyOp):
        source, destination = _named(op)
        if not (runs(source, devices) and runs(destination, devices)):
            raise Diagnostic.at(op, f"cannot copy from <{source}> to <{destination}>: {made_for}", hint=_HINT)
    for name, what in ((PARAMETER_DEVICES, "argument"), (RESULT_DEVICES, "result")):
        for index, device in enumerate(listed_devices(op.attributes.get(name))):
            if not runs(device, devices):
                raise Diagnostic.at(op, f"{what} {index} is on <{device}>, but {made_for}", hint=_HINT)


_HINT = "write another device, or leave devices out"


def runs(device: VirtualDevice, devices: Sequence[str] = RUNNING_DEVICES) -> bool:
    """Whether programs run on a device."""
    known = device.type in (None, *devices) and device.memory_scope in ("global", None)
    return known and (device.type in ("ext_dev", "cuda") or device.id in (0, None))


def _is_this_processor(device: VirtualDevice) -> bool:
    return device.type in ("cpu", None)


def device_of(op: Operation, name: str = CALL_DEVICE) -> VirtualDeviceAttr | None:
    """What `place_calls` has noted; nothing for the CPU."""
    noted = op.attributes.get(name)
    return noted if isinstance(noted, VirtualDeviceAttr) and not _is_this_processor(noted.data) else None


def argument_devices(function: FuncOp, name: str, values: int) -> list[VirtualDeviceAttr | None]:
    """Where each argument or result of a function is; nothing for the CPU."""
    devices = listed_devices(function.attributes.get(name)) or [VirtualDevice()] * values
    return [
        None if _is_this_processor(each) else VirtualDeviceAttr(VirtualDevice(each.type, each.id or 0))
        for each in devices
    ]


def is_copy_between_devices(op: Operation) -> bool:
    """Whether a call is a copy from one device to another."""
    return SOURCE_DEVICE in op.attributes
