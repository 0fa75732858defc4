"""The tensors of a graph that runs node by node, each in the memory of a device."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..dialects.support.arguments import ArgumentError
from ..dialects.support.device_types import DEVICE_TYPES
from ..dialects.support.diagnostics import Diagnostic, UsageError
from ..dialects.support.element_types import item_bytes, numpy_dtype_of
from ..dialects.support.nd import as_nd
from ..lowering.abi import ALIGNMENT, CompiledGraph, DeviceCode
from ..lowering.graph_json import CPU_TYPE, GraphJson
from .cuda import why_no_driver
from .devices import HOST, Cpu, Device, copy, device_by_name
from .memory import address, aligned_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..lowering.abi import NDArray


class Absent(Cpu):
    """A device that is not on this machine: what it would hold is in the host's memory, and to run something is
    refused with the reason."""

    def __init__(self, name: str, reason: Diagnostic):
        super().__init__()
        self.name, self._reason = name, reason

    def launch_code(self, code: DeviceCode, arguments: Sequence[tuple[int, int | None]]) -> None:
        """Refuse.

        Raises:
            Diagnostic: the reason.
        """
        raise type(self._reason)(self._reason.message, hint=self._reason.hint)


def devices_of(library: CompiledGraph) -> dict[int, Device]:
    """The devices of a library, by their types in DLPack's numbering: the first of each. A GPU may be absent."""
    found: dict[int, Device] = {CPU_TYPE: HOST}
    for memory in library.devices[1:]:
        type = memory.name.partition(":")[0]
        if DEVICE_TYPES[type] in found:
            continue
        reason = why_no_driver() if type == "cuda" else None
        found[DEVICE_TYPES[type]] = device_by_name(memory.name) if reason is None else Absent(memory.name, reason)
    return found


class Storage:
    """So many bytes in the memory of a device, zeros at first. They are given back when no tensor lies there."""

    def __init__(self, device: Device, size: int):
        """
        Raises:
            NotEnoughMemory: the device has not so much.
        """
        self.device, self.bytes = device, size
        self.array: NDArray | None = None
        """The bytes, where they are in the memory of this process."""
        if device is HOST:
            self.array = aligned_bytes(size)
            self.array.fill(0)
            self.address = address(self.array)
            return
        self.address = device.allocate(size)
        weakref.finalize(self, device.free, self.address)


@dataclass(frozen=True)
class Tensor:
    """A tensor that begins where its storage does, or, on the host, an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    device: Device
    address: int
    array: NDArray | None
    """The tensor, where it is in the memory of this process."""
    storage: Storage | None

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"

    def read(self) -> NDArray:
        """A copy."""
        if self.array is not None:
            return self.array.copy()
        found = np.empty(self.shape, self.dtype)
        copy(self.device, self.address, HOST, address(found), self.nbytes)
        return found

    def write(self, value: NDArray) -> None:
        """Have it hold what an array of its shape and dtype does."""
        if self.array is not None:
            np.copyto(self.array, value)
            return
        dense = np.ascontiguousarray(value)
        copy(HOST, address(dense), self.device, self.address, self.nbytes)

    def at(self, other: Tensor) -> Tensor:
        """This tensor where another lies, which is as large."""
        array = None if other.array is None else other.array.reshape(-1).view(self.dtype).reshape(self.shape)
        return replace(self, device=other.device, address=other.address, array=array, storage=other.storage)


def on_host(array: NDArray) -> Tensor:
    """An array as a tensor."""
    return Tensor(array.shape, array.dtype, HOST, address(array), array, None)


def allocated(graph: GraphJson, devices: Mapping[int, Device]) -> list[Tensor]:
    """Each entry of a graph, in memory for each storage, which is as large as the largest of its entries.

    Raises:
        Diagnostic: an entry is on another device, or a storage in another scope, or on two devices.
        NotEnoughMemory: a device has not so much.
    """
    types = graph.device_types or (CPU_TYPE,) * len(graph.shapes)
    for number, type in enumerate(types):
        if type not in devices:
            known = " and ".join(device.name for device in devices.values())
            raise Diagnostic(f"entry {number} of the graph is on a device of type {type}, and there is only {known}")
    for scope in graph.scopes or ():
        if scope not in ("", "global"):  # TVM's planner says nothing of the usual memory
            raise Diagnostic(f"a storage of the graph is in the scope '{scope}', and there is only 'global'")
    sizes: dict[int, int] = {}
    places: dict[int, int] = {}
    for storage, shape, dtype, type in zip(graph.storage_ids, graph.shapes, graph.dtypes, types, strict=True):
        sizes[storage] = max(sizes.get(storage, 0), prod(shape) * item_bytes(dtype))
        if places.setdefault(storage, type) != type:
            raise Diagnostic(f"storage {storage} of the graph is on devices of the types {places[storage]} and {type}")
    storages = {storage: Storage(devices[places[storage]], size) for storage, size in sizes.items()}
    return [
        _in(storages[storage], shape, numpy_dtype_of(dtype))
        for storage, shape, dtype in zip(graph.storage_ids, graph.shapes, graph.dtypes, strict=True)
    ]


def _in(storage: Storage, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Tensor:
    array = None
    if storage.array is not None:
        array = storage.array[: prod(shape) * dtype.itemsize].view(dtype).reshape(shape)
    return Tensor(shape, dtype, storage.device, storage.address, array, storage)


def _check_is_array(value: object, what: str) -> None:
    kind = type(value)
    if not issubclass(kind, np.ndarray) or issubclass(kind, np.ma.MaskedArray):
        raise ArgumentError(f"{what} stands in an array of NumPy, and not in a {kind.__name__}")


def copied(held: Tensor, out: NDArray | None) -> NDArray:
    """A copy of a tensor, or `out` with its elements.

    Raises:
        ArgumentError: `out` is no array.
        UsageError: it is another than the tensor, or cannot be written.
    """
    if out is None:
        return as_nd(held.read())
    _check_is_array(out, "out")
    if out.shape != held.shape or out.dtype != held.dtype:
        raise UsageError(f"out is {out.dtype}{list(out.shape)}, and what is read is {held}")
    if not out.flags.writeable:
        raise UsageError("out cannot be written")
    np.copyto(out, held.read() if held.array is None else held.array)
    return out


def in_place(held: Tensor, given: NDArray, what: str, *, is_written: bool) -> Tensor:
    """`given`, if it can be where `held` is.

    Raises:
        ArgumentError: it is no array.
        UsageError: it is another than the tensor, its memory is not aligned, or no array can be there.
    """
    _check_is_array(given, what)
    if held.array is None:
        raise UsageError(f"{what} is in the memory of {held.device.name}, where no array is", hint="copy it: set_input")
    if given.shape != held.shape or given.dtype != held.dtype:
        raise UsageError(f"{what} is {held}, and the array {given.dtype}{list(given.shape)}")
    if not given.flags.c_contiguous or address(given) % ALIGNMENT:
        raise UsageError(
            f"the array is not dense, or not at a multiple of {ALIGNMENT} bytes",
            hint="weft.runtime.memory.aligned_copy(array) is",
        )
    if is_written and not given.flags.writeable:
        raise UsageError(f"the array cannot be written, and {what} is")
    return on_host(given)
