"""Timing a program that branches: its code runs, and its parts step by step; those on several devices are so anyway.

The code is loaded once more, with another function in the place of that which has the threads of the pool run a part:
one that takes the steps one after the other, and times them. Code made of C has a variable for that function.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import TypeAlias

from ..dialects.support.diagnostics import Diagnostic
from ..lowering.abi import RUN, RUN_PART, Argument, CompiledGraph, ProgramPart, Step, steps_within
from .branching import BranchingProgram
from .hosted import Watch
from .kernels import Kernels
from .memory import address
from .profiling import Profile, Span, StepTimes
from .program import Program
from .sizes import steps_at
from .stepping import CPU, Bound, constant_bytes, is_clear, name_of, traffic

_Key: TypeAlias = tuple[str, tuple[int, ...]]
"""A step: the part, and by which numbers it stands there (`steps_at`)."""


class _Times:
    """The times of one step: of each run when it was first, how long all together; the bytes of the largest; and each
    time in the last run."""

    def __init__(self) -> None:
        self.begins: list[float] = []
        self.lasts: list[float] = []
        self.bytes = 0
        self.spans: list[Span] = []


class PartProfiler:
    """A program whose parts are taken step by step.

    Raises:
        Diagnostic: it is not known which steps its parts take.
    """

    def __init__(self, graph: CompiledGraph):
        if not graph.parts and not graph.segments:
            raise _unknown()
        self._graph = graph
        self._called = _CALLED(self._run)
        place = ctypes.cast(self._called, ctypes.c_void_p).value
        assert place is not None
        functions = {RUN: place}
        self.program = BranchingProgram(graph, functions, self._watch) if graph.segments else Program(graph, functions)
        if any(RUN_PART.encode() in image for image in graph.objects):
            ctypes.c_void_p.from_address(self.program.code.address(RUN_PART)).value = place
        self._constants = [address(array) for array in self.program.constants]
        taken = dict(zip(graph.kernels, graph.parameters, strict=True))
        used = {step.kernel for part in graph.parts for step in steps_within(part.steps)}
        self._kernels = Kernels(self.program.code, {name: taken[name] for name in taken if name in used})
        self._parts = {self.program.code.address(part.thread): part for part in graph.parts}
        self._times: dict[_Key, _Times] = {}
        self._steps: dict[_Key, Step] = {}
        self._devices: dict[_Key, str] = {}
        """Where steps are; on the CPU, unless it is said."""
        self._start = 0
        self._turn = 0
        self._is_last = False
        self._raised: BaseException | None = None

    def profile(
        self, inputs: bytes, outputs: bytes, arena: int, threads: int, repeat: int, ended: Callable[[], object]
    ) -> tuple[int, Profile]:
        """Run the program on tables of addresses, once without counting, then `repeat` times. What its entry gave,
        where that tells of a failure, which ends it; and the times. `ended` is called behind each run, which may have
        made memory for its results."""
        for turn in range(repeat + 1):
            if turn == 1:
                self._times.clear()
            self._turn, self._is_last = max(0, turn - 1), turn == repeat
            self._start = perf_counter_ns()
            status = self.program.entry(inputs, outputs, arena, threads)
            if self._raised is not None:
                raise self._raised
            if status:
                return status, Profile(())
            ended()
        found = [(self._steps[key], self._devices.get(key, CPU), times) for key, times in self._times.items()]
        return 0, Profile(
            tuple(
                StepTimes(
                    name_of(step),
                    step.layers,
                    device,
                    times.bytes,
                    _whole(times.begins, repeat),
                    _whole(times.lasts, repeat),
                    tuple(times.spans),
                    constant_bytes(step),
                )
                for step, device, times in found
            )
        )

    def _run(self, function: int, context: int, threads: int) -> None:
        """What the pool does: here, the steps of the part that threads would run."""
        try:
            if self._raised is None:
                if function not in self._parts:
                    raise _unknown()
                self._take(self._parts[function], [*(ctypes.c_uint64 * 4).from_address(context)])
        except BaseException as error:  # nothing may be raised through code
            self._raised = error

    def _take(self, part: ProgramPart, context: Sequence[int]) -> None:
        inputs, outputs, arena, threads = context
        count = part.inputs + part.symbols
        taken = (ctypes.c_int64 * max(1, count)).from_address(inputs)[:count]
        given = (ctypes.c_int64 * max(1, part.outputs)).from_address(outputs)[: part.outputs]
        symbols = taken[part.inputs :]
        counts = given[part.outputs - part.decided :]

        def known() -> list[int]:
            return [*symbols, *(ctypes.c_int64.from_address(each).value for each in counts)]

        for path, step in steps_at(part.steps, known):
            values = [self._value(each, taken, given, arena, threads) for each in step.arguments]
            table, bytes = (ctypes.c_uint64 * len(values))(*values), traffic(step)
            begin = perf_counter_ns()
            if step.kernel:
                self._kernels.call(step.kernel, ctypes.addressof(table), threads)
            elif is_clear(step):
                ctypes.memset(values[0], 0, bytes)
            else:
                ctypes.memmove(values[1], values[0], bytes)
            self._note((part.thread, path), step, begin, perf_counter_ns(), bytes)

    def _watch(self, segment: int) -> Watch:
        """What is told of the steps that the host takes of a segment."""

        def ended(number: int, bound: Bound, begin: int, end: int) -> None:
            key = (f"segment {segment}", (number,))
            self._devices[key] = bound.device.name
            self._note(key, bound.step, begin, end, traffic(bound.step))

        return ended

    def _value(
        self, argument: Argument, inputs: Sequence[int], outputs: Sequence[int], arena: int, threads: int
    ) -> int:
        at = argument.at
        match argument.kind:
            case "input":
                return inputs[at]
            case "output":
                return outputs[at]
            case "constant":
                return self._constants[at]
            case "threads" | "team":
                return threads
            case "extent":
                return at
            case _:
                return arena + at

    def _note(self, key: _Key, step: Step, begin: int, end: int, bytes: int) -> None:
        self._steps[key] = step
        times = self._times.setdefault(key, _Times())
        times.bytes = max(times.bytes, bytes)
        began, lasts = (begin - self._start) / 1e3, (end - begin) / 1e3
        if len(times.lasts) <= self._turn:
            missed = [0.0] * (self._turn - len(times.lasts))
            times.begins += [*missed, began]
            times.lasts += [*missed, 0.0]
        times.lasts[self._turn] += lasts
        if self._is_last:
            times.spans.append(Span(began, lasts, bytes))


def _unknown() -> Diagnostic:
    return Diagnostic(
        "it is not known which steps this program takes",
        hint="programs that are compiled from a phase before 'loops' have steps",
    )


def _whole(values: Sequence[float], count: int) -> tuple[float, ...]:
    """A number for each run: 0 of one that did not come there."""
    return (*values, *[0.0] * (count - len(values)))


_CALLED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
