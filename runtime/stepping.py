"""Running a graph step by step, as a profile does: kernels one at a time, with the graph's own memory."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from time import perf_counter_ns

from ..dialects.support.diagnostics import Diagnostic
from ..lowering.abi import Argument, CompiledGraph, Step
from .kernels import Kernels
from .memory import address
from .profiling import COPY, Profile, StepTimes
from .program import Context, Program

CPU = "cpu"


class Stepper:
    """The steps of a graph on arrays that are given once.

    Raises:
        Diagnostic: the graph has no steps.
    """

    def __init__(self, graph: CompiledGraph, program: Program, threads: int):
        if not graph.steps:
            raise Diagnostic(
                "it is not known which steps this graph takes",
                hint="graphs that are compiled from a phase before 'loops' have steps; compile the model again",
            )
        self._graph, self._program, self._threads = graph, program, threads
        taken = dict(zip(graph.kernels, graph.parameters, strict=True))
        self._kernels = Kernels(program.code, {step.kernel: taken[step.kernel] for step in graph.steps if step.kernel})

    def profile(self, inputs: Sequence[int], outputs: Sequence[int], repeat: int) -> Profile:
        """Time every step in each of `repeat` runs, after one that does not count. The tables are addresses.

        Raises:
            CheckError: an index lies outside of an axis, where that is an error.
        """
        context = self._program.new_context()
        tables = [self._table(step, inputs, outputs, context) for step in self._graph.steps]
        runs = [self._run(context, tables) for _ in range(repeat + 1)][1:]
        return Profile(
            tuple(
                StepTimes(
                    step.kernel or COPY,
                    step.layers,
                    CPU,
                    _traffic(step),
                    tuple((begin - run[0][0]) / 1e3 for run in runs for begin, _ in run[number : number + 1]),
                    tuple((end - begin) / 1e3 for run in runs for begin, end in run[number : number + 1]),
                )
                for number, step in enumerate(self._graph.steps)
            )
        )

    def _run(self, context: Context, tables: Sequence[ctypes.Array[ctypes.c_uint64]]) -> list[tuple[int, int]]:
        """One run: when each step began and ended, in nanoseconds."""
        ctypes.memset(context.address, 0, self._graph.counter_bytes)
        times: list[tuple[int, int]] = []
        for step, table in zip(self._graph.steps, tables, strict=True):
            begin = perf_counter_ns()
            if step.kernel:
                self._kernels.call(step.kernel, ctypes.addressof(table), self._threads)
            else:
                source, target = table
                ctypes.memmove(target, source, step.arguments[0].bytes)
            times.append((begin, perf_counter_ns()))
        if status := self._program.status(context):
            raise self._program.failure(status, context)
        return times

    def _table(
        self, step: Step, inputs: Sequence[int], outputs: Sequence[int], context: Context
    ) -> ctypes.Array[ctypes.c_uint64]:
        """What a step's kernel is given."""

        def value(argument: Argument) -> int:
            match argument.kind:
                case "input":
                    return inputs[argument.at]
                case "output":
                    return outputs[argument.at]
                case "constant":
                    return address(self._program.constants[argument.at])
                case "threads":
                    return self._threads
                case _:
                    return context.address + argument.at

        return (ctypes.c_uint64 * len(step.arguments))(*map(value, step.arguments))


def _traffic(step: Step) -> int:
    """The bytes of a step's tensors; of a copy those that are copied."""
    if not step.kernel:
        return step.arguments[0].bytes
    return sum(argument.bytes for argument in step.arguments if argument.kind not in ("slots", "record"))
