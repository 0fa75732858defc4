"""Where data is: devices as types name them, as attributes spell them, and what an operation says of its operands'.

    #relay.virtual_device<cuda>
    #relay.virtual_device<cuda, id = 1, target = "cuda -arch=sm_80", memory_scope = "global">
    #relay.virtual_device<?, memory_scope = "global">     any device, that scope
    #relay.virtual_device<?>                              anything

In Python: `device("cuda", 1)` is the attribute, `VirtualDevice("cuda", 1)` the value that it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import OpTrait

from ..support.device_types import DEVICE_TYPES as DEVICE_TYPES
from ..support.diagnostics import UsageError, did_you_mean

TARGET_KINDS: dict[str, str] = {
    "llvm": "cpu",
    "c": "cpu",
    "cuda": "cuda",
    "nvptx": "cuda",
    "opencl": "opencl",
    "aocl": "aocl",
    "sdaccel": "sdaccel",
    "vulkan": "vulkan",
    "metal": "metal",
    "rocm": "rocm",
    "ext_dev": "ext_dev",
    "webgpu": "webgpu",
    "hexagon": "hexagon",
}
"""The first word of a target -> the type of the devices that its code runs on."""


class DeviceError(UsageError, ValueError):
    """A device that there is not, or whose parts contradict one another; as in TVM a `ValueError`."""


def device_type(name: str | int) -> str:
    """The device type of a name or of a DLPack number.

    Raises:
        DeviceError: there is none; the message lists them.
    """
    if isinstance(name, int):
        found = next((known for known, number in DEVICE_TYPES.items() if number == name), None)
        if found is None:
            numbers = ", ".join(f"{number} ({known})" for known, number in DEVICE_TYPES.items())
            raise DeviceError(f"there is no device type {name}; device types are {numbers}")
        return found
    if name not in DEVICE_TYPES:
        hint = did_you_mean(name, DEVICE_TYPES)
        raise DeviceError(f"there is no device type '{name}'; device types are {', '.join(DEVICE_TYPES)}", hint=hint)
    return name


def type_of_target(target: str) -> str:
    """The type of the devices that code for `target` runs on.

    Raises:
        DeviceError: there is no such kind of target; the message lists them.
    """
    kind = (target.split() or [""])[0]
    if kind not in TARGET_KINDS:
        hint = did_you_mean(kind, TARGET_KINDS)
        raise DeviceError(f"there is no target kind '{kind}'; target kinds are {', '.join(TARGET_KINDS)}", hint=hint)
    return TARGET_KINDS[kind]


@dataclass(frozen=True)
class VirtualDevice:
    """Where data is, as far as it is known: `None` stands for what is free. Counterpart of TVM's `VirtualDevice`.

    Raises:
        DeviceError: a part names nothing known, or the target is for another type of device.
    """

    type: str | None = None
    id: int | None = None
    target: str | None = None
    memory_scope: str | None = None

    def __post_init__(self) -> None:
        if self.type is not None:
            device_type(self.type)
        if self.id is not None and self.id < 0:
            raise DeviceError(f"a device has an id from 0 on, not {self.id}")
        if self.memory_scope == "":
            raise DeviceError("a memory scope has a name", hint="leave it out to have it free")
        if self.target is not None and (needs := type_of_target(self.target)) != self.type:
            has = "a free type" if self.type is None else f"the type {self.type}"
            raise DeviceError(f"the target '{self.target}' is for {needs} devices, and this one has {has}")

    @property
    def device_type(self) -> int:
        """The type by DLPack's number, as TVM's devices have it; `-1` where it is free."""
        return -1 if self.type is None else DEVICE_TYPES[self.type]

    @property
    def device_id(self) -> int:
        """Which of its type it is; `-1` where that is free."""
        return -1 if self.id is None else self.id

    device_type_int = device_type

    @property
    def virtual_device_id(self) -> int:
        """TVM's number of it: the first of its type, 0, where none is named; `-1` where the type is free too."""
        return -1 if self.type is None else self.id or 0

    @property
    def exist(self) -> bool:
        """Whether this machine has it, so that what is compiled for it runs; TVM's word."""
        from ..support.provided import load  # no device is asked where modules are processed

        load("relay.present_devices")
        return PresentDevices.has(self)

    @property
    def is_free(self) -> bool:
        """Whether nothing is known."""
        return self == FREE

    @property
    def is_known(self) -> bool:
        """Whether no part is free."""
        return None not in (self.type, self.id, self.target, self.memory_scope)

    def join(self, other: VirtualDevice) -> VirtualDevice | None:
        """What both say together; `None` where they contradict one another."""
        parts: list[str | int | None] = []
        for mine, its in zip(self._parts(), other._parts(), strict=True):
            if mine is not None and its is not None and mine != its:
                return None
            parts.append(its if mine is None else mine)
        type, id, target, memory_scope = cast("tuple[str | None, int | None, str | None, str | None]", tuple(parts))
        if target is not None and type_of_target(target) != type:
            return None
        return VirtualDevice(type, id, target, memory_scope)

    def default(self, other: VirtualDevice) -> VirtualDevice:
        """The same, with what is free taken from `other`: its target and its memory scope only where they are for this
        type of device."""
        type = other.type if self.type is None else self.type
        target = self.target
        if target is None and other.target is not None and type_of_target(other.target) == type:
            target = other.target
        id = other.id if self.id is None else self.id
        memory_scope = self.memory_scope
        if memory_scope is None and type == other.type:
            memory_scope = other.memory_scope
        return VirtualDevice(type, id, target, memory_scope)

    def _parts(self) -> tuple[str | int | None, ...]:
        return (self.type, self.id, self.target, self.memory_scope)

    def __str__(self) -> str:
        """The parts as they stand in the text of the attribute."""
        parts = [self.type or "?"]
        if self.id is not None:
            parts.append(f"id = {self.id}")
        if self.target is not None:
            parts.append(f'target = "{self.target}"')
        if self.memory_scope is not None:
            parts.append(f'memory_scope = "{self.memory_scope}"')
        return ", ".join(parts)


class PresentDevices:
    """Which devices this machine has: what runs programs says it (`provide`)."""

    has: ClassVar[Callable[[VirtualDevice], bool]]


FREE = VirtualDevice()
"""The device of which nothing is known."""


@irdl_attr_definition
class VirtualDeviceAttr(Data[VirtualDevice]):
    """A device, as far as it is known; a part that is left out is free.

    ```mlir
    %y = relay.on_device %x {virtual_device = #relay.virtual_device<cuda, id = 1>} : tensor<4xf32>
    ```
    """

    name = "relay.virtual_device"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> VirtualDevice:
        start = parser.pos
        with parser.in_angle_brackets():
            if parser.parse_optional_punctuation("?"):
                type = None
            else:
                type = parser.parse_identifier(f", one of the device types {', '.join(DEVICE_TYPES)}, or `?`")
            given: dict[str, str | int] = {}
            while parser.parse_optional_punctuation(","):
                at = parser.pos
                part = parser.parse_identifier(", one of id, target, memory_scope")
                if part not in ("id", "target", "memory_scope"):
                    parser.raise_error(f"a device has no '{part}', but id, target, memory_scope", at, parser.pos)
                if part in given:
                    parser.raise_error(f"'{part}' is given twice", at, parser.pos)
                parser.parse_punctuation("=")
                given[part] = parser.parse_integer() if part == "id" else parser.parse_str_literal()
            end = parser.pos
        try:
            return VirtualDevice(type, **given)  # pyright: ignore[reportArgumentType]
        except DeviceError as error:
            hint = f"; {error.hint}" if error.hint else ""
            parser.raise_error(f"{error.message}{hint}", start, end)

    def print_parameter(self, printer: Printer) -> None:
        device = self.data
        with printer.in_angle_brackets():
            printer.print_string(device.type or "?")
            if device.id is not None:
                printer.print_string(f", id = {device.id}")
            for name, text in (("target", device.target), ("memory_scope", device.memory_scope)):
                if text is not None:
                    printer.print_string(f", {name} = ")
                    printer.print_string_literal(text)


def device(
    type: str | int | None = None, id: int | None = None, target: str | None = None, memory_scope: str | None = None
) -> VirtualDeviceAttr:
    """The attribute of a device, as `device("cuda", 1)`; the type may be DLPack's number.

    A target alone says the type too: `device(target="llvm")` is a `cpu`.

    Raises:
        DeviceError: a part names nothing known, or the target is for another type of device.
    """
    if type is None and target is not None:
        type = type_of_target(target)
    return VirtualDeviceAttr(VirtualDevice(None if type is None else device_type(type), id, target, memory_scope))


class Place(Enum):
    """What an operation says of the device of one operand or result."""

    SHARED = "shared"
    """It is on one device with all others that are shared; which one may differ from operation to operation."""
    HOST = "host"
    """It is in the memory of the processor that runs the program."""
    ANY = "any"
    """It may be anywhere."""
    NAMED = "named"
    """It is on the operation's `virtual_device`."""


@dataclass(frozen=True)
class DevicePlaces(OpTrait):
    """Where an operation has its operands and results. Without this trait all of them are on one device."""

    operands: tuple[Place, ...]
    results: tuple[Place, ...]


DEVICES = "relay.devices"
"""The attribute of a module that lists the devices it may run on, with their targets."""

PARAMETER_DEVICES = "param_virtual_devices"
"""The attribute of a function that says where each of its arguments is."""

RESULT_DEVICES = "result_virtual_devices"
"""The attribute of a function that says where each of its results is."""


CALL_DEVICE, SOURCE_DEVICE = "virtual_device", "src_virtual_device"
"""Attributes of a lowered call, and of a constant beside it: where it is; and where a copy is from."""


def listed_devices(attribute: Attribute | None) -> list[VirtualDevice]:
    """The devices that an array attribute lists; none where it is absent.

    Raises:
        DeviceError: it is something else.
    """
    if attribute is None:
        return []
    if isinstance(attribute, ArrayAttr):
        items = cast("ArrayAttr[Attribute]", attribute).data
        devices = [item.data for item in items if isinstance(item, VirtualDeviceAttr)]
        if len(devices) == len(items):
            return devices
    raise DeviceError(f"expected a list of devices, got {attribute}", hint="write [#relay.virtual_device<cpu>]")


def check_places(attributes: Mapping[str, Attribute], type: FunctionType) -> None:
    """Check that a function has as many places as it has arguments and results, where it says them.

    Raises:
        DeviceError: it has not, or they are something else.
    """
    for name, types, what in (
        (PARAMETER_DEVICES, type.inputs, "arguments"),
        (RESULT_DEVICES, type.outputs, "results"),
    ):
        if name in attributes and (count := len(listed_devices(attributes[name]))) != len(types):
            raise DeviceError(f"{name} lists {count} devices for {len(types)} {what}")
