"""Programs on several devices: the host runs them step by step.

A `HostedProgram` is to an `Executable` what a `Program` is: code in place, constants where the steps want them, and
contexts for running calls. Its entry is a function of Python.
"""

from __future__ import annotations

import struct
import weakref
from collections.abc import Sequence

from ..dialects.support.advice import give_shapes
from ..dialects.support.checks import CHECK_FIELD, EXTENT_FIELD, INDEX_FIELD, RECORD_BYTES, CheckError
from ..dialects.support.diagnostics import Diagnostic, Place
from ..lowering.abi import CompiledGraph
from .devices import copy, device_by_name
from .host import why_not_here
from .jit import LoadedObjects
from .memory import address, aligned_bytes, aligned_copy
from .profiling import Profile
from .program import Context
from .stepping import Stepper


class HostedProgram:
    """A graph on several devices. Any number of threads may call it at once.

    Raises:
        PlatformError: the graph was compiled for another machine.
        LoadError: its code cannot be linked.
        Diagnostic: there is no such device here.
        NotEnoughMemory: there is no room for its constants.
    """

    def __init__(self, graph: CompiledGraph):
        refusal = why_not_here(graph.platform)
        if refusal is not None:
            raise refusal
        self._graph = graph
        self.arena_bytes = graph.devices[0].arena_bytes
        self.devices = [device_by_name(each.name) for each in graph.devices]
        self.code = LoadedObjects(graph.objects, images=graph.images)
        self.constants = [aligned_copy(array) for array in graph.constants]
        self._stepper = Stepper(graph, self.code, self.devices, self._placed_constants())
        self._arenas: dict[int, list[int]] = {}
        """The arenas of each context, by the address of the first."""
        self.free: list[Context] = []
        """Contexts that no call has at the moment."""
        self._records = [
            (argument.device, argument.at)
            for step in graph.steps
            for argument in step.arguments
            if argument.kind == "record"
        ]

    def _placed_constants(self) -> list[list[int]]:
        """Each constant on every device whose kernels read it; they are copied once."""
        placed = [[0] * len(self.constants) for _ in self.devices]
        placed[0] = [address(array) for array in self.constants]
        for step in self._graph.steps:
            for argument in step.arguments:
                if argument.kind == "constant" and not placed[argument.device][argument.at]:
                    device, array = self.devices[argument.device], self.constants[argument.at]
                    place = placed[argument.device][argument.at] = device.allocate(array.nbytes)
                    weakref.finalize(self, device.free, place)
                    copy(self.devices[0], address(array), device, place, array.nbytes)
        return placed

    def new_context(self, arena_bytes: int | None = None) -> Context:
        """A context for a call that has found none in `free`, where it is put afterwards: an arena on each device."""
        context = Context(self.arena_bytes if arena_bytes is None else arena_bytes)
        arenas = self._arenas[context.address] = [context.address]
        for device, each in zip(self.devices[1:], self._graph.devices[1:], strict=True):
            arenas.append(device.allocate(each.arena_bytes))
            weakref.finalize(self, device.free, arenas[-1])
        return context

    def entry(self, inputs: bytes, outputs: bytes, arena: int, threads: int) -> int:
        """Run the graph, as the entry of compiled code does: 0, or the number of the record of a check that failed."""
        tables = [struct.unpack(f"={len(table) // 8}Q", table) for table in (inputs, outputs)]
        bound = self._stepper.bind(tables[0], tables[1], self._arenas[arena], threads)
        self._clear(arena)
        for each in bound:
            each.run()
        for device in self.devices:
            device.synchronize()
        return self._status(arena)

    def _clear(self, arena: int) -> None:
        for device, place, each in zip(self.devices, self._arenas[arena], self._graph.devices, strict=True):
            if each.counter_bytes:
                device.clear(place, each.counter_bytes)

    def _record(self, number: int, arena: int) -> list[int]:
        """The numbers in a record: check, index, extent."""
        device, at = self._records[number]
        memory = aligned_bytes(RECORD_BYTES)
        self.devices[device].read(self._arenas[arena][device] + at, address(memory), RECORD_BYTES)
        fields = (CHECK_FIELD, INDEX_FIELD, EXTENT_FIELD)
        return [int(memory[field : field + 8].view("i8")[0]) for field in fields]

    def _status(self, arena: int) -> int:
        """The number of the first record that tells of something, counted from 1, or 0."""
        return next((n + 1 for n in range(len(self._records)) if self._record(n, arena)[0]), 0)

    def failure(self, status: int, context: Context) -> CheckError:
        """What a call that gave `status` says."""
        check, index, extent = self._record(status - 1, context.address)
        site = self._graph.checks[status - 1][check - 1]
        place = Place(site.file, site.line, site.column) if site.file else None
        return CheckError(site.text, index, extent, place)

    def profile(self, inputs: Sequence[int], outputs: Sequence[int], threads: int, repeat: int) -> Profile:
        """Time every step, and every copy.

        Raises:
            CheckError: an index lies outside of an axis, where that is an error.
        """
        context = self.new_context()

        def end() -> None:
            if status := self._status(context.address):
                raise self.failure(status, context)

        bound = self._stepper.bind(inputs, outputs, self._arenas[context.address], threads)
        try:
            return self._stepper.profile(bound, lambda: self._clear(context.address), end, repeat)
        finally:
            self.free.append(context)


def refuse_to_export(graph: CompiledGraph) -> None:
    """
    Raises:
        Diagnostic: the graph is on several devices, and no function of C runs it; or extents are known only when it is
            called, and C has no way to say them.
    """
    if graph.symbols:
        raise Diagnostic(
            f"C programs cannot say the sizes {', '.join(graph.symbols)}, known only when the graph is called",
            hint=give_shapes(),
        )
    if graph.devices:
        names = ", ".join(each.name for each in graph.devices)
        raise Diagnostic(f"a graph on several devices ({names}) has no entry that C programs could call")
