"""Running a graph step by step: as a profile does, and as the host runs what is on several devices."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from ..dialects.support.diagnostics import Diagnostic
from ..lowering.abi import NUMBERS, Argument, CompiledGraph, Loop, Step, steps_within
from .devices import Device, Event, copy
from .jit import LoadedObjects
from .kernels import Kernels
from .profiling import CLEAR, COPY, Profile, StepTimes

CPU = "cpu"


@dataclass(frozen=True)
class Bound:
    """A step with its arguments in place."""

    step: Step
    device: Device
    run: Callable[[], None]


class Stepper:
    """The steps of a graph.

    Args:
        graph: the graph.
        code: its code.
        devices: where it runs, by their numbers.
        constants: for each device the addresses of the constants there; 0 where one is not.

    Raises:
        Diagnostic: the graph has no steps.
    """

    def __init__(
        self,
        graph: CompiledGraph,
        code: LoadedObjects,
        devices: Sequence[Device],
        constants: Sequence[Sequence[int]],
    ):
        if not graph.steps:
            raise Diagnostic(
                "it is not known which steps this graph takes",
                hint="graphs that are compiled from a phase before 'loops' have steps; compile the model again",
            )
        self._graph, self.devices, self._constants = graph, tuple(devices), constants
        taken = dict(zip(graph.kernels, graph.parameters, strict=True))
        self._graphics = {each.function: each for each in graph.device_code}
        called = {step.kernel: None for step in steps_within(graph.steps) if step.kernel}
        native = [kernel for kernel in called if kernel not in self._graphics]
        self._kernels = Kernels(code, {name: taken[name] for name in native})

    def bind(
        self,
        inputs: Sequence[int],
        outputs: Sequence[int],
        arenas: Sequence[int],
        threads: int,
        steps: Sequence[Step | Loop] | None = None,
    ) -> list[Bound]:
        """The steps on memory, by address: the caller's, and an arena on each device. `steps` are those of the graph at
        the sizes of a call, where it has symbols, which has no loops (`sizes.graph_at`)."""
        taken = steps_within(self._graph.steps if steps is None else steps)
        return [self._bound(step, inputs, outputs, arenas, threads) for step in taken]

    def _bound(
        self, step: Step, inputs: Sequence[int], outputs: Sequence[int], arenas: Sequence[int], threads: int
    ) -> Bound:
        def value(argument: Argument) -> int:
            match argument.kind:
                case "input":
                    return inputs[argument.at]
                case "output":
                    return outputs[argument.at]
                case "constant":
                    return self._constants[argument.device][argument.at]
                case "threads" | "team":
                    return threads
                case "extent":
                    return argument.at
                case _:
                    return arenas[argument.device] + argument.at

        values = [value(argument) for argument in step.arguments]
        device = self.devices[step.device]
        if is_clear(step):
            return Bound(step, device, partial(device.clear, values[0], step.arguments[0].bytes))
        if not step.kernel:
            source, target = step.arguments
            origin = self.devices[source.device]
            return Bound(step, device, partial(copy, origin, values[0], device, values[1], target.bytes))
        if (graphics := self._graphics.get(step.kernel)) is not None:
            return Bound(step, device, partial(device.launch_code, graphics, _given(step, values)))
        table = (ctypes.c_uint64 * len(values))(*values)

        def call() -> None:
            self._kernels.call(step.kernel, ctypes.addressof(table), threads)

        if len(self.devices) == 1:
            return Bound(step, device, call)
        return Bound(step, device, partial(device.launch, call, _buffers(step, values)))

    def profile(
        self, bound: Sequence[Bound], begin: Callable[[], None], end: Callable[[], None], repeat: int
    ) -> Profile:
        """Time every step in each of `repeat` runs, after one that does not count. `begin` and `end` are called before
        and after each."""
        runs: list[list[tuple[Event, Event]]] = []
        for _ in range(repeat + 1):
            begin()
            times: list[tuple[Event, Event]] = []
            for each in bound:
                start = each.device.record()
                each.run()
                each.device.synchronize()
                times.append((start, each.device.record()))
            end()
            runs.append(times)
        del runs[0]
        return Profile(
            tuple(
                StepTimes(
                    name_of(each.step),
                    each.step.layers,
                    each.device.name,
                    traffic(each.step),
                    tuple(run[number][0].since(run[0][0]) for run in runs),
                    tuple(run[number][1].since(run[number][0]) for run in runs),
                    constant_bytes=constant_bytes(each.step),
                )
                for number, each in enumerate(bound)
            )
        )


def _given(step: Step, values: Sequence[int]) -> list[tuple[int, int | None]]:
    """The memory that a step is given, by addresses and bytes, and the numbers."""
    return [
        (value, None if argument.kind in NUMBERS else argument.bytes)
        for value, argument in zip(values, step.arguments, strict=True)
    ]


def _buffers(step: Step, values: Sequence[int]) -> list[tuple[int, int]]:
    """The memory that a step is given: addresses and bytes."""
    return [
        (place, argument.bytes)
        for place, argument in zip(values, step.arguments, strict=True)
        if argument.kind not in NUMBERS
    ]


def is_clear(step: Step) -> bool:
    """Whether a step makes memory zero."""
    return not step.kernel and len(step.arguments) == 1


def name_of(step: Step) -> str:
    """What a profile calls the kernel of a step."""
    return step.kernel or (CLEAR if is_clear(step) else COPY)


def constant_bytes(step: Step) -> int:
    """The bytes of the constants that a step reads."""
    return sum(argument.bytes for argument in step.arguments if argument.kind == "constant")


def traffic(step: Step) -> int:
    """The bytes of a step's tensors; of a copy those that are copied, of what is cleared those."""
    if not step.kernel:
        return step.arguments[0].bytes
    return sum(argument.bytes for argument in step.arguments if argument.kind not in ("slots", "record", *NUMBERS))
