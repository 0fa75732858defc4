"""Programs that branch, with parts on several devices: code that calls the host for those."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Mapping

from ..lowering.abi import RUN_HOSTED, CompiledGraph, segment_graph
from .hosted import HostedProgram, Watch
from .program import Program

FAILED = 1
"""What a program is told of a part in which something was raised; `BranchingProgram.entry` raises it."""


class BranchingProgram(Program):
    """A program whose segments are the host's to run. Any number of threads may call it at once.

    What its functions hand on is in the memory of the host: each segment copies what it wants elsewhere.

    Raises:
        PlatformError: the program was compiled for another machine.
        LoadError: its code cannot be linked.
        Diagnostic: there is no such device here.
        NotEnoughMemory: there is no room for its constants.
    """

    def __init__(
        self,
        graph: CompiledGraph,
        symbols: Mapping[str, int] | None = None,
        watch: Callable[[int], Watch] | None = None,
    ):
        """
        Args:
            graph: what was compiled.
            symbols: addresses of functions that its code calls besides.
            watch: gives what is told of the steps of a segment, by its number.
        """
        this = weakref.ref(self)

        def run(number: int, inputs: int, outputs: int, arena: int, threads: int) -> int:
            program = this()
            return FAILED if program is None else program.run_segment(number, inputs, outputs, arena, threads)

        self._called = _CALLED(run)
        self._failures: dict[int, BaseException] = {}
        """What was raised in the calls that run at the moment, by their arenas."""
        address = ctypes.cast(self._called, ctypes.c_void_p).value
        assert address is not None
        self._watch = watch
        super().__init__(graph, {**(symbols or {}), RUN_HOSTED: address})
        self.segments = [
            HostedProgram(segment_graph(graph, segment), self.code, self.constants) for segment in graph.segments
        ]
        self._run = self.entry
        self.entry = self._entry

    def _entry(self, inputs: bytes, outputs: bytes, arena: int, threads: int) -> int:
        """Run the program: 0, or the number of the record of a check that failed in its own code.

        Raises:
            CheckError: a check failed in a segment.
            Diagnostic: a device has no memory for a segment.
        """
        status = self._run(inputs, outputs, arena, threads)
        if (raised := self._failures.pop(arena, None)) is not None:
            raise raised
        return status

    def run_segment(self, number: int, inputs: int, outputs: int, arena: int, threads: int) -> int:
        """Run a segment on tables of addresses; 0, or that it failed."""
        try:
            program = self.segments[number]
            segment = self.graph.segments[number]
            given = ctypes.string_at(inputs, 8 * (len(segment.inputs) + len(segment.symbols)))
            wanted = ctypes.string_at(outputs, 8 * len(segment.outputs))
            context = program.context_for(given)
            watch = None if self._watch is None else self._watch(number)
            status = program.entry(given, wanted, context.address, threads, watch)
            failure = program.failure(status, context) if status else None
            program.free.append(context)
            if failure is not None:
                raise failure
            return 0
        except BaseException as error:  # nothing may be raised through code: whoever has called it is told
            self._failures[arena] = error
            return FAILED


_CALLED = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
)
