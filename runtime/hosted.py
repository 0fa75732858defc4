"""Programs on several devices: the host runs them step by step.

A `HostedProgram` is to an `Executable` what a `Program` is: code in place, constants where the steps want them, and
contexts for running calls. Its entry is a function of Python.
"""

from __future__ import annotations

import ctypes
import struct
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, TypeAlias

from ..dialects.support.checks import CHECK_FIELD, EXTENT_FIELD, INDEX_FIELD, RECORD_BYTES, CheckError
from ..dialects.support.diagnostics import Diagnostic, Place
from ..lowering.abi import CompiledGraph, Loop, Step, steps_within
from ..lowering.sizes import read_extents
from .devices import Device, copy, device_by_name
from .host import why_not_here
from .jit import LoadedObjects
from .memory import address, aligned_bytes, aligned_copy
from .profiling import Profile
from .program import Context
from .sizes import KEPT, Layout, graph_at
from .step_checks import misfit
from .stepping import Bound, Stepper

if TYPE_CHECKING:
    from ..lowering.abi import NDArray

Watch: TypeAlias = Callable[[int, Bound, int, int], None]
"""Is told the number of a step, the step, and when it began and ended, in nanoseconds."""


class HostedContext(Context):
    """What one running call works in: an arena on each device, given back when nothing needs them."""

    __slots__ = ("__weakref__", "_bytes", "_devices", "_freed", "arenas")

    def __init__(self, arena_bytes: int, devices: Sequence[Device]):
        """
        Raises:
            NotEnoughMemory: there is not so much on the host.
        """
        super().__init__(arena_bytes)
        self._devices = tuple(devices)
        self.arenas = [self.address, *(0 for _ in devices[1:])]
        self._bytes = [arena_bytes, *(-1 for _ in devices[1:])]
        self._freed: list[weakref.finalize[..., HostedContext] | None] = [None for _ in devices]

    def have(self, needed: Sequence[int]) -> None:
        """See that the arenas of other devices than the host have so many bytes.

        Raises:
            NotEnoughMemory: a device has not so much.
        """
        for number in range(1, len(needed)):
            if self._bytes[number] >= needed[number]:
                continue
            device = self._devices[number]
            if (freed := self._freed[number]) is not None:
                freed()
                self._bytes[number] = -1
            self.arenas[number] = device.allocate(needed[number])
            self._freed[number] = weakref.finalize(self, device.free, self.arenas[number])
            self._bytes[number] = needed[number]


class HostedProgram:
    """A graph on several devices. Any number of threads may call it at once.

    Raises:
        PlatformError: the graph was compiled for another machine.
        LoadError: its code cannot be linked.
        Diagnostic: there is no such device here.
        NotEnoughMemory: there is no room for its constants.
    """

    def __init__(
        self, graph: CompiledGraph, code: LoadedObjects | None = None, constants: Sequence[NDArray] | None = None
    ):
        """
        Args:
            graph: what was compiled.
            code: its code, and the data of its constants, where they are in place already.
            constants: see there.
        """
        refusal = why_not_here(graph.platform)
        if refusal is not None:
            raise refusal
        self._graph = graph
        self.arena_bytes = graph.devices[0].arena_bytes
        self.devices = [device_by_name(each.name) for each in graph.devices]
        self.code = code or LoadedObjects(graph.objects, images=graph.images)
        self.constants = [aligned_copy(a) for a in graph.constants] if constants is None else list(constants)
        self._stepper = Stepper(graph, self.code, self.devices, self._placed_constants())
        self._contexts: weakref.WeakValueDictionary[int, HostedContext] = weakref.WeakValueDictionary()
        """By the addresses of their arenas on the host."""
        self._sized: dict[tuple[int, ...], CompiledGraph] = {} if graph.symbols else {(): graph}
        """What the graph is where its symbols are known, and behind them what data has decided."""
        self._decided = [number for number, _ in read_extents(graph.extents, len(graph.symbols)).read]
        """The symbols that data decides: what they are stands in the last outputs."""
        self.free: list[Context] = []
        """Contexts that no call has at the moment."""
        self._records = [
            (argument.device, argument.at)
            for step in steps_within(graph.steps)
            for argument in step.arguments
            if argument.kind == "record"
        ]

    def _placed_constants(self) -> list[list[int]]:
        """Each constant on every device whose kernels read it; they are copied once."""
        placed = [[0] * len(self.constants) for _ in self.devices]
        placed[0] = [address(array) for array in self.constants]
        for step in steps_within(self._graph.steps):
            for argument in step.arguments:
                if argument.kind == "constant" and not placed[argument.device][argument.at]:
                    device, array = self.devices[argument.device], self.constants[argument.at]
                    place = placed[argument.device][argument.at] = device.allocate(array.nbytes)
                    weakref.finalize(self, device.free, place)
                    copy(self.devices[0], address(array), device, place, array.nbytes)
        return placed

    def new_context(self, arena_bytes: int | None = None) -> Context:
        """A context for a call that has found none in `free`, where it is put afterwards: an arena on each device."""
        context = HostedContext(self.arena_bytes if arena_bytes is None else arena_bytes, self.devices)
        self._contexts[context.address] = context
        return context

    def context_for(self, inputs: bytes) -> Context:
        """A context that is large enough for a call of such a table of inputs, behind which the symbols stand.

        Raises:
            NotEnoughMemory: the host has not so much.
        """
        needed = self._at(struct.unpack(f"={len(inputs) // 8}Q", inputs)[len(self._graph.inputs) :]).arena_bytes
        while True:
            try:
                context = self.free.pop()
            except IndexError:
                return self.new_context(needed)
            if context.arena.nbytes >= needed:
                return context

    def _at(self, symbols: tuple[int, ...], counts: Sequence[int] | None = None) -> CompiledGraph:
        """What the graph is where its symbols are these, and what data decides is what `counts` say, else the most.

        Raises:
            Diagnostic: it would use what is not there.
        """
        if counts is None:
            counts = [symbols[number] for number in self._decided]
        key = (*symbols, *counts)
        if (known := self._sized.get(key)) is None:
            layout = Layout(self._graph, [(symbol, symbol) for symbol in symbols])
            known = graph_at(self._graph, key, layout)
            if (reason := misfit(known)) is not None:
                raise Diagnostic(reason)
            if len(self._sized) >= KEPT:
                self._sized.pop(next(iter(self._sized)), None)
            self._sized[key] = known
        return known

    def entry(self, inputs: bytes, outputs: bytes, arena: int, threads: int, watch: Watch | None = None) -> int:
        """Run the graph, as the entry of compiled code does: 0, or the number of the record of a check that failed.
        `watch` is told of each step when it has ended."""
        taken, given = (struct.unpack(f"={len(table) // 8}Q", table) for table in (inputs, outputs))
        count = len(self._graph.inputs)
        graph = self._at(taken[count:])
        context = self._contexts[arena]
        context.have([each.arena_bytes for each in graph.devices])
        bind = partial(self._stepper.bind, taken[:count], given, context.arenas, threads)
        bound = self._decide(bind, taken[count:], given) if self._decided else bind(graph.steps)
        self._clear(arena)
        for number, each in enumerate(bound):
            begin = perf_counter_ns()
            each.run()
            if watch is not None:
                each.device.synchronize()
                watch(number, each, begin, perf_counter_ns())
        for device in self.devices:
            device.synchronize()
        return self._status(arena)

    def _decide(
        self, bind: Callable[[Sequence[Step | Loop]], list[Bound]], symbols: tuple[int, ...], outputs: Sequence[int]
    ) -> Iterator[Bound]:
        """The steps, each as it is when those before it have run: it may be as large as they have found out.

        Raises:
            Diagnostic: a step would use what is not there.
        """
        first = len(outputs) - len(self._decided)
        most = [symbols[number] for number in self._decided]
        counts = list(most)
        graph = self._at(symbols)
        for number, step in enumerate(steps_within(self._graph.steps)):
            (bound,) = bind(graph.steps[number : number + 1])
            yield bound
            said = [each.at - first for each in step.arguments if each.kind == "output" and each.at >= first]
            if not said:
                continue
            bound.device.synchronize()
            for place in said:
                found = ctypes.c_int64.from_address(outputs[first + place]).value
                counts[place] = min(max(0, found), most[place])
            graph = self._at(symbols, counts)

    def _clear(self, arena: int) -> None:
        arenas = self._contexts[arena].arenas
        for device, place, each in zip(self.devices, arenas, self._graph.devices, strict=True):
            if each.counter_bytes:
                device.clear(place, each.counter_bytes)

    def _record(self, number: int, arena: int) -> list[int]:
        """The numbers in a record: check, index, extent."""
        device, at = self._records[number]
        memory = aligned_bytes(RECORD_BYTES)
        self.devices[device].read(self._contexts[arena].arenas[device] + at, address(memory), RECORD_BYTES)
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

    def profile(
        self,
        inputs: Sequence[int],
        outputs: Sequence[int],
        threads: int,
        repeat: int,
        sized: CompiledGraph | None = None,
    ) -> Profile:
        """Time every step, and every copy. `sized` is what the graph is at the arrays' sizes, where it has symbols.

        Raises:
            CheckError: an index lies outside of an axis, where that is an error.
            Diagnostic: the steps would use what is not there.
        """
        graph = sized or self._graph
        if sized is not None and (reason := misfit(sized)) is not None:
            raise Diagnostic(reason)
        context = HostedContext(graph.arena_bytes, self.devices)
        self._contexts[context.address] = context
        context.have([each.arena_bytes for each in graph.devices])

        def end() -> None:
            if status := self._status(context.address):
                raise self.failure(status, context)

        bound = self._stepper.bind(inputs, outputs, context.arenas, threads, graph.steps)
        return self._stepper.profile(bound, lambda: self._clear(context.address), end, repeat)
