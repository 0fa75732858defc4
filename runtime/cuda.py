"""NVIDIA GPUs, by the driver's own interface: memory, copies, modules of PTX, launches, events.

The driver's library is loaded when the first device is asked for, and never where none is. All that a process does on
a GPU goes into one stream, in the order in which it was told; copies wait for what was launched before. Memory is known
by the addresses that the driver gave, so that a kernel that is handed other memory is refused, and not run.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from threading import Lock
from time import perf_counter_ns
from typing import Any

from ..dialects.support import knobs
from ..dialects.support.diagnostics import Diagnostic
from ..dialects.support.launch_limits import MAX_GRID
from ..lowering.abi import DeviceCode, Launch
from ..lowering.sizes import evaluate
from .device import Device, DeviceAccessError, Event
from .memory import NotEnoughMemory


class CudaError(Diagnostic):
    """The CUDA driver refuses something, or there is none."""


OUT_OF_MEMORY = 2
_Word = ctypes.c_uint64
_Pointer = ctypes.c_void_p


class Driver:
    """The functions of the driver's library, each of which gives 0 or the number of an error."""

    def __init__(self, library: str):
        """
        Raises:
            CudaError: there is no such library, or the driver does not begin.
        """
        try:
            self._library = ctypes.CDLL(library)
            self.call("cuInit", 0)
        except OSError:
            hint = "NVIDIA's driver brings it; $WEFT_CUDA_LIBRARY may say where it is"
            raise CudaError(f"there is no CUDA driver on this machine: {library} cannot be loaded", hint=hint) from None

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function.

        Raises:
            NotEnoughMemory: the device has not so much.
            CudaError: the driver refuses it.
        """
        try:
            function: Callable[..., int] = getattr(self._library, name)
        except AttributeError:
            raise CudaError(f"the CUDA driver has no function '{name}'", hint="update the driver") from None
        status = function(*arguments)
        if status == OUT_OF_MEMORY:
            raise NotEnoughMemory(f"there is not so much memory on the GPU ({name})")
        if status:
            raise CudaError(f"the CUDA driver refuses {name}: {self._words(status)}")

    def _words(self, status: int) -> str:
        text = ctypes.c_char_p()
        try:
            self._library.cuGetErrorString(status, ctypes.byref(text))
        except AttributeError:
            return f"error {status}"
        return (text.value or b"").decode(errors="replace") or f"error {status}"

    def number(self, name: str, *arguments: Any) -> int:
        """Call a function that gives an `int` by its first argument."""
        found = ctypes.c_int()
        self.call(name, ctypes.byref(found), *arguments)
        return found.value

    def handle(self, name: str, *arguments: Any) -> int:
        """Call a function that gives a handle, or an address, by its first argument."""
        found = _Word()
        self.call(name, ctypes.byref(found), *arguments)
        return found.value


@cache
def _driver(library: str) -> Driver:
    return Driver(library)


def driver() -> Driver:
    """The driver of this machine.

    Raises:
        CudaError: there is none.
    """
    return _driver(knobs.CUDA_LIBRARY.get())


def why_no_driver() -> CudaError | None:
    """Why nothing runs on a GPU here; nothing where it does."""
    try:
        driver()
    except CudaError as error:
        return error
    return None


@dataclass(frozen=True)
class CudaEvent(Event):
    """A moment of a GPU, which it notes itself."""

    device: Cuda
    handle: int

    def since(self, earlier: Event) -> float:
        """Microseconds from another event to this one: by the GPU's clock where both are its own."""
        if not isinstance(earlier, CudaEvent) or earlier.device is not self.device:
            return super().since(earlier)
        milliseconds = ctypes.c_float()
        self.device.call("cuEventSynchronize", _Pointer(self.handle))
        handles = _Pointer(earlier.handle), _Pointer(self.handle)
        self.device.call("cuEventElapsedTime", ctypes.byref(milliseconds), *handles)
        return milliseconds.value * 1e3

    def __del__(self) -> None:
        self.device.call("cuEventDestroy_v2", _Pointer(self.handle))


class Cuda(Device):
    """An NVIDIA GPU.

    Raises:
        CudaError: there is no driver, or no such GPU.
    """

    scopes = ("global", "shared", "local")
    is_addressable = False

    def __init__(self, number: int):
        super().__init__(f"cuda:{number}")
        self._driver = driver()
        count = self._driver.number("cuDeviceGetCount")
        if number >= count:
            raise CudaError(f"there is no GPU {number}: this machine has {count}")
        device = self._driver.number("cuDeviceGet", number)
        self._context = self._driver.handle("cuDevicePrimaryCtxRetain", device)
        self._sizes: dict[int, int] = {}
        self._starts: list[int] = []
        self._modules: dict[str, int] = {}
        self._functions: dict[tuple[str, str], int] = {}
        self._lock = Lock()

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver for this GPU."""
        self._driver.call("cuCtxSetCurrent", _Pointer(self._context))
        self._driver.call(name, *arguments)

    def allocate(self, size: int) -> int:
        place = _Word()
        self.call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(max(size, 1)))
        with self._lock:
            self._sizes[place.value] = size
            self._starts = sorted(self._sizes)
        self.clear(place.value, size)
        return place.value

    def free(self, place: int) -> None:
        with self._lock:
            if self._sizes.pop(place, None) is None:
                raise DeviceAccessError(f"nothing was allocated at {place:#x} on {self.name}")
            self._starts = sorted(self._sizes)
        self.call("cuMemFree_v2", _Word(place))

    def check(self, place: int, size: int, what: str) -> None:
        starts = self._starts
        before = bisect_right(starts, place) - 1
        if before < 0 or place + size > starts[before] + self._sizes.get(starts[before], 0):
            raise DeviceAccessError(f"{what} is not in the memory of {self.name}", hint="copy it before")

    def opened(self) -> nullcontext[None]:
        return nullcontext()

    def read(self, start: int, memory: int, size: int) -> None:
        self.check(start, size, "what is read")
        if size:
            self.call("cuMemcpyDtoH_v2", _Pointer(memory), _Word(start), ctypes.c_size_t(size))

    def write(self, memory: int, place: int, size: int) -> None:
        self.check(place, size, "what is written")
        if size:
            self.call("cuMemcpyHtoD_v2", _Word(place), _Pointer(memory), ctypes.c_size_t(size))

    def clear(self, place: int, size: int) -> None:
        self.check(place, size, "what is cleared")
        if size:
            self.call("cuMemsetD8_v2", _Word(place), ctypes.c_ubyte(0), ctypes.c_size_t(size))

    def launch(self, kernel: Callable[[], None], buffers: Sequence[tuple[int, int]]) -> None:
        """
        Raises:
            DeviceAccessError: always: code of the processor is not a GPU's.
        """
        raise DeviceAccessError(f"{self.name} does not run code of the processor", hint="compile it for cuda")

    def launch_code(self, code: DeviceCode, arguments: Sequence[tuple[int, int | None]]) -> None:
        for number, (place, size) in enumerate(arguments):
            if size is not None:
                self.check(place, size, f"buffer {number} of '{code.function}'")
        values = [value for value, _ in arguments]
        for launch in code.launches:
            self._launch(code, launch, values)

    def _launch(self, code: DeviceCode, launch: Launch, arguments: Sequence[int]) -> None:
        """Launch one kernel; one of no threads does nothing.

        Raises:
            CudaError: its grid is larger than a GPU's, or the driver refuses it.
        """
        grid = [evaluate(size, arguments) for size in launch.grid]
        if min(*grid, *launch.block) <= 0:
            return
        for way, blocks, most in zip("xyz", grid, MAX_GRID, strict=True):
            if blocks > most:
                raise CudaError(f"'{launch.kernel}' has {blocks} blocks along {way}, where {most} are the most")
        values = [arguments[number] for number in launch.arguments]
        function = self._function(code.source, launch.kernel)
        words = (_Word * max(1, len(values)))(*values)
        places = [ctypes.addressof(words) + number * ctypes.sizeof(_Word) for number in range(len(values))]
        table = (_Pointer * max(1, len(values)))(*places)
        sizes = [ctypes.c_uint(size) for size in (*grid, *launch.block)]
        self.call("cuLaunchKernel", _Pointer(function), *sizes, ctypes.c_uint(0), _Pointer(None), table, _Pointer(None))

    def _function(self, source: str, kernel: str) -> int:
        """The handle of a kernel; its module is loaded once."""
        with self._lock:
            if (known := self._functions.get((source, kernel))) is not None:
                return known
            if (module := self._modules.get(source)) is None:
                found = _Word()
                self.call("cuModuleLoadData", ctypes.byref(found), ctypes.c_char_p(source.encode()))
                module = self._modules[source] = found.value
            found = _Word()
            self.call("cuModuleGetFunction", ctypes.byref(found), _Pointer(module), ctypes.c_char_p(kernel.encode()))
            self._functions[source, kernel] = found.value
            return found.value

    def synchronize(self) -> None:
        self.call("cuCtxSynchronize")

    def record(self) -> Event:
        handle = _Word()
        self.call("cuEventCreate", ctypes.byref(handle), ctypes.c_uint(0))
        self.call("cuEventRecord", _Pointer(handle.value), _Pointer(None))
        return CudaEvent(perf_counter_ns(), self, handle.value)
