"""What a device does: memory, copies, launches, and when they are done. TVM's counterpart is its `DeviceAPI`."""

from __future__ import annotations

import ctypes
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import perf_counter_ns

from ..dialects.support.diagnostics import Diagnostic
from ..lowering.abi import DeviceCode


class DeviceAccessError(Diagnostic):
    """Memory of one device is given to another, or was never allocated."""


@dataclass(frozen=True)
class Event:
    """A moment of a device, after all that it was told before."""

    ns: int

    def since(self, earlier: Event) -> float:
        """Microseconds from another event to this one."""
        return (self.ns - earlier.ns) / 1e3


@dataclass
class Traffic:
    """Copies to a device from others, and from it to others, with their bytes."""

    copies_in: int = 0
    bytes_in: int = 0
    copies_out: int = 0
    bytes_out: int = 0


class Device(ABC):
    """A device that kernels run on."""

    scopes: tuple[str, ...] = ("global",)
    """The memory scopes that it has."""
    is_addressable = True
    """Whether the host can read and write its memory, while it is opened."""

    def __init__(self, name: str):
        self.name = name
        self.traffic = Traffic()

    @abstractmethod
    def allocate(self, size: int) -> int:
        """The address of so many bytes, at a multiple of `ALIGNMENT`; they are zero.

        Raises:
            NotEnoughMemory: the system has not so much.
        """

    @abstractmethod
    def free(self, place: int) -> None:
        """Give back what was allocated.

        Raises:
            DeviceAccessError: nothing was allocated there.
        """

    @abstractmethod
    def check(self, place: int, size: int, what: str) -> None:
        """See that memory is this device's.

        Raises:
            DeviceAccessError: it is not.
        """

    @abstractmethod
    def opened(self) -> AbstractContextManager[None]:
        """Have the device's memory within reach meanwhile."""

    def read(self, start: int, memory: int, size: int) -> None:
        """Copy from memory of the device to the host's."""
        self.check(start, size, "what is read")
        with self.opened():
            ctypes.memmove(memory, start, size)

    def write(self, memory: int, place: int, size: int) -> None:
        """Copy from the host's memory to that of the device."""
        self.check(place, size, "what is written")
        with self.opened():
            ctypes.memmove(place, memory, size)

    def clear(self, place: int, size: int) -> None:
        """Make memory of the device zero."""
        self.check(place, size, "what is cleared")
        with self.opened():
            ctypes.memset(place, 0, size)

    def launch(self, kernel: Callable[[], None], buffers: Sequence[tuple[int, int]]) -> None:
        """Run a kernel on buffers, by address and bytes, all of which are the device's.

        Raises:
            DeviceAccessError: a buffer is not.
        """
        for number, (place, size) in enumerate(buffers):
            self.check(place, size, f"buffer {number} of the kernel")
        with self.opened():
            kernel()

    def launch_code(self, code: DeviceCode, arguments: Sequence[tuple[int, int | None]]) -> None:
        """Run the kernels of a function of the device's own code on buffers, as `launch` does, and on numbers, which
        have no bytes.

        Raises:
            DeviceAccessError: a buffer is not the device's, or it has no code of its own.
        """
        raise DeviceAccessError(f"{self.name} runs no code of a GPU, such as that of '{code.function}'")

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until all is done that the device was told."""

    def record(self) -> Event:
        """The moment when all is done that the device was told until now."""
        return Event(perf_counter_ns())
