"""Devices: memory, copies, launches, and when they are done, behind one interface.

| | memory | runs kernels |
|---|---|---|
| `cpu` | this process's own | with the pool of threads |
| `ext_dev:0`, `ext_dev:1`, ... | an address space apart, for each | with the pool of threads |
| `cuda:0`, `cuda:1`, ... | an NVIDIA GPU's | itself (`cuda.py`) |

The second kind is a processor with memory of its own, as an accelerator is, made of this one: so what goes wrong
between devices goes wrong here, on any machine. Its memory is mapped apart from all else, between pages that may not be
touched, and is closed as a whole unless a kernel of its own runs, or a copy: whoever else reads or writes it gets a
segmentation fault. A launch with memory of another device is refused before. Copies are counted.

The first two kinds do what they are told at once; `synchronize` has nothing to wait for, and an `Event` is a time.
"""

from __future__ import annotations

import ctypes
import mmap
from bisect import bisect_right
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, lru_cache
from threading import Lock
from typing import TYPE_CHECKING

from ..dialects.support.diagnostics import Diagnostic
from ..lowering.abi import ALIGNMENT, RUNNING_DEVICES
from .device import Device, DeviceAccessError, Event, Traffic
from .memory import NotEnoughMemory, address, aligned_bytes

if TYPE_CHECKING:
    from .memory import Bytes

__all__ = ["Apart", "Cpu", "Device", "DeviceAccessError", "Event", "Traffic", "copy", "counted", "device_by_name"]


def copy(source: Device, start: int, target: Device, place: int, size: int) -> None:
    """Copy from one device's memory to another's.

    Raises:
        DeviceAccessError: the memory is not theirs.
    """
    source.check(start, size, "what is copied from")
    target.check(place, size, "what is copied to")
    with source.opened(), target.opened():
        if source.is_addressable:
            target.write(start, place, size)
        elif target.is_addressable:
            source.read(start, place, size)
        else:
            between = aligned_bytes(size)
            source.read(start, address(between), size)
            target.write(address(between), place, size)
    if source is not target:
        source.traffic.copies_out += 1
        source.traffic.bytes_out += size
        target.traffic.copies_in += 1
        target.traffic.bytes_in += size


class Cpu(Device):
    """This process."""

    def __init__(self) -> None:
        super().__init__("cpu")
        self._held: dict[int, Bytes] = {}

    def allocate(self, size: int) -> int:
        memory = aligned_bytes(size)
        memory.fill(0)
        self._held[place := address(memory)] = memory
        return place

    def free(self, place: int) -> None:
        if self._held.pop(place, None) is None:
            raise DeviceAccessError(f"nothing was allocated at {place:#x} on {self.name}")

    def check(self, place: int, size: int, what: str) -> None:
        for device in _APART:
            if device.has(place, max(size, 1)):
                raise DeviceAccessError(
                    f"{what} is in the memory of {device.name}, and not of {self.name}", hint="copy it before"
                )

    def opened(self) -> nullcontext[None]:
        return nullcontext()

    def synchronize(self) -> None:
        """Nothing is ever left to do."""


HOST = Cpu()


class Apart(Device):
    """A processor with memory of its own, of this one's kind."""

    def __init__(self, name: str):
        super().__init__(name)
        self._maps: dict[int, mmap.mmap] = {}
        self._starts: list[int] = []
        self._sizes: dict[int, int] = {}
        self._lock = Lock()
        self._users = 0
        _APART.append(self)

    def allocate(self, size: int) -> int:
        page = mmap.PAGESIZE
        room = -(-max(size, 1) // page) * page
        try:
            mapped = mmap.mmap(-1, room + 2 * page, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except (OSError, ValueError, OverflowError):
            raise NotEnoughMemory(f"there is no memory for {size:,} bytes on {self.name}") from None
        begin = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
        # What is used ends where the guard behind it begins, as far as alignment allows.
        place = begin + page + (room - size) // ALIGNMENT * ALIGNMENT
        with self._lock:
            _protect(begin, page, _NONE)
            _protect(begin + page + room, page, _NONE)
            _protect(begin + page, room, _ALL if self._users else _NONE)
            self._maps[place] = mapped
            self._sizes[place] = size
            self._starts = sorted(self._sizes)
        return place

    def free(self, place: int) -> None:
        with self._lock:
            mapped = self._maps.pop(place, None)
            if mapped is None:
                raise DeviceAccessError(f"nothing was allocated at {place:#x} on {self.name}")
            size = self._sizes.pop(place)
            self._starts = sorted(self._sizes)
            # The map itself goes when Python drops it; until then nothing may be read there.
            _protect(*_pages(place, size), _NONE)

    def has(self, place: int, size: int) -> bool:
        """Whether some of so many bytes are this device's."""
        starts = self._starts
        for start in starts[max(0, bisect_right(starts, place) - 1) : bisect_right(starts, place + size - 1)]:
            if start < place + size and place < start + max(1, self._sizes.get(start, 0)):
                return True
        return False

    def check(self, place: int, size: int, what: str) -> None:
        starts = self._starts
        before = bisect_right(starts, place) - 1
        if before < 0 or place + size > starts[before] + self._sizes.get(starts[before], 0):
            raise DeviceAccessError(f"{what} is not in the memory of {self.name}", hint="copy it before")

    def opened(self) -> _Opened:
        return _Opened(self)

    def synchronize(self) -> None:
        """Nothing is ever left to do."""

    def enter(self) -> None:
        """Another thread may read and write what lies there."""
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._set(_ALL)

    def leave(self) -> None:
        """It does so no more."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._set(_NONE)

    def _set(self, protection: int) -> None:
        for place, size in self._sizes.items():
            _protect(*_pages(place, size), protection)


class _Opened(AbstractContextManager[None]):
    """The memory of a device within reach, for as long as somebody needs it."""

    def __init__(self, device: Apart):
        self._device = device

    def __enter__(self) -> None:
        self._device.enter()

    def __exit__(self, *_: object) -> None:
        self._device.leave()


_APART: list[Apart] = []
_NONE, _ALL = 0, mmap.PROT_READ | mmap.PROT_WRITE


def _pages(place: int, size: int) -> tuple[int, int]:
    """The pages that an allocation takes: where they begin, and their bytes."""
    begin = place // mmap.PAGESIZE * mmap.PAGESIZE
    return begin, -(-(place + max(size, 1) - begin) // mmap.PAGESIZE) * mmap.PAGESIZE


def _protect(place: int, size: int, protection: int) -> None:
    if _library().mprotect(ctypes.c_void_p(place), ctypes.c_size_t(size), protection):
        raise DeviceAccessError("the system does not protect memory", hint="it is needed for devices apart")


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


@cache
def device_by_name(name: str) -> Device:
    """The device of a name: `cpu`, or `ext_dev:0`; one in a process for each.

    Raises:
        Diagnostic: there is none.
    """
    type, _, number = name.partition(":")
    if name == "cpu":
        return HOST
    if type == "ext_dev" and number.isdecimal():
        return Apart(name)
    if type == "cuda" and number.isdecimal():
        from .cuda import Cuda

        return Cuda(int(number))
    raise Diagnostic(f"there is no device '{name}' here", hint=f"those that run are {', '.join(RUNNING_DEVICES)}")


@contextmanager
def counted(*devices: Device) -> Generator[dict[str, Traffic]]:
    """What is copied meanwhile, for each device by name."""
    before = {device.name: Traffic(**vars(device.traffic)) for device in devices}
    found: dict[str, Traffic] = {}
    yield found
    for device in devices:
        now, then = vars(device.traffic), vars(before[device.name])
        found[device.name] = Traffic(**{key: now[key] - then[key] for key in now})
