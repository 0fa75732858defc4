"""A compiled graph that is linked and ready, and what a call of it needs for itself.

A `Program` is immutable: code, and constants that were put in place once. A `Context` is what one running call writes
to beside its outputs. Calls take a context from the program's pool and give it back, so that there are as many as calls
have run at once, and no call waits for another. The pool is a list, whose `pop` and `append` are atomic in Python:
there is no lock that a fork could leave closed. A context that another thread had at the time of a fork is not in the
child's pool, and nobody there misses it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..dialects.support.checks import CHECK_FIELD, EXCEPTION, EXTENT_FIELD, INDEX_FIELD, RECORD_BYTES, CheckError
from ..dialects.support.diagnostics import Diagnostic, Place
from ..lowering.abi import CONSTANTS_TABLE, ENTRY, CompiledGraph
from .host import why_not_here
from .jit import LoadedObjects
from .memory import address, aligned_bytes, aligned_copy

if TYPE_CHECKING:
    from .profiling import Profile


class Context:
    """The memory of one running call: the arena, with what lies between inputs and outputs, and counters."""

    __slots__ = ("address", "arena")

    def __init__(self, arena_bytes: int):
        """
        Raises:
            NotEnoughMemory: the system has not so much.
        """
        self.arena = aligned_bytes(arena_bytes)
        self.address = address(self.arena)


class Program:
    """The code of a graph in memory, with its constants. Any number of threads may call it at once.

    Raises:
        PlatformError: the graph was compiled for another machine.
        LoadError: its code cannot be linked.
        NotEnoughMemory: there is no room for its constants.
    """

    def __init__(self, graph: CompiledGraph, symbols: Mapping[str, int] | None = None):
        """
        Args:
            graph: what was compiled.
            symbols: addresses of what its code calls besides.
        """
        refusal = why_not_here(graph.platform)
        if refusal is not None:
            raise refusal
        self.code = LoadedObjects(graph.objects, symbols, images=graph.images)
        self.constants = [aligned_copy(array) for array in graph.constants]
        if own := self.constants[: graph.code_constants]:
            table = (ctypes.c_void_p * len(own)).from_address(self.code.address(CONSTANTS_TABLE))
            for place, array in enumerate(own):
                table[place] = array.ctypes.data
        self.graph = graph
        self.arena_bytes = graph.arena_bytes
        self.entry = _ENTRY(self.code.address(ENTRY))
        """The function `(table of inputs, table of outputs, arena, threads)`; tables are addresses as bytes. It gives
        0, or the number of the record that says which check has failed."""
        self.checks = graph.checks
        self.records_at = graph.records_at
        self.free: list[Context] = []
        """Contexts that no call has at the moment."""

    def __repr__(self) -> str:
        return f"weft.Program({self.graph.platform}, {len(self.graph.kernels)} kernels)"

    def new_context(self, arena_bytes: int | None = None) -> Context:
        """A context for a call that has found none in `free`, where it is put afterwards; with an arena of as many
        bytes as the graph always works in, unless the call needs more."""
        return Context(self.arena_bytes if arena_bytes is None else arena_bytes)

    def status(self, context: Context) -> int:
        """What the entry gives: the number of the first record that tells of something, counted from 1, or 0."""
        for number in range(len(self.checks)):
            place = context.address + self.records_at + number * RECORD_BYTES + CHECK_FIELD
            if ctypes.c_int64.from_address(place).value:
                return number + 1
        return 0

    def profile(
        self,
        inputs: Sequence[int],
        outputs: Sequence[int],
        threads: int,
        repeat: int,
        sized: CompiledGraph | None = None,
    ) -> Profile:
        """Time every step of the graph on arrays by address, in each of `repeat` runs. `sized` is what the graph is at
        the sizes of the arrays, where it has symbols.

        Raises:
            CheckError: an index lies outside of an axis, where that is an error.
            Diagnostic: it is not known which steps the graph takes.
        """
        from .devices import device_by_name
        from .step_checks import misfit
        from .stepping import Stepper

        graph = sized or self.graph
        if sized is not None and (reason := misfit(sized)) is not None:
            raise Diagnostic(reason)
        context = self.new_context(graph.arena_bytes)

        def begin() -> None:
            ctypes.memset(context.address, 0, self.graph.counter_bytes)

        def end() -> None:
            if status := self.status(context):
                raise self.failure(status, context)

        stepper = Stepper(graph, self.code, [device_by_name("cpu")], [[address(a) for a in self.constants]])
        return stepper.profile(stepper.bind(inputs, outputs, [context.address], threads), begin, end, repeat)

    def failure(self, status: int, context: Context) -> CheckError:
        """What a call that gave `status`, and wrote to `context`, says."""
        start = self.records_at + (status - 1) * RECORD_BYTES
        fields = [start + field for field in (CHECK_FIELD, INDEX_FIELD, EXTENT_FIELD)]
        check, index, extent = (ctypes.c_int64.from_address(context.address + field).value for field in fields)
        site = self.checks[status - 1][check - 1]
        place = Place(site.file, site.line, site.column) if site.file else None
        if EXCEPTION not in site.text:
            return CheckError(site.text, index, extent, place)
        from .packed_calls import take_failure

        if (error := take_failure(index)) is None:
            return CheckError(site.text, index, extent, place)
        said = error.message if isinstance(error, Diagnostic) else str(error)
        text = site.text.replace(EXCEPTION, f"{type(error).__name__}: {said}")
        failure = CheckError(text, index, extent, place)
        failure.__cause__ = error
        return failure


_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64)
