"""A compiled graph that runs: NumPy arrays in, NumPy arrays out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Self

import numpy as np

from ..dialects.support.arguments import checked
from ..dialects.support.diagnostics import Diagnostic, UsageError
from ..dialects.support.processors import available_processors
from ..lowering.abi import ALIGNMENT, CompiledGraph, Platform, TensorSpec
from . import artefact
from .host import why_not_here
from .memory import NotEnoughMemory, address
from .program import Program
from .sizes import Layout, Sizes, with_room
from .tensors import Input, InputError, Output, Runnable
from .threads import usable_threads

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..lowering.abi import NDArray
    from ..lowering.machine.kernel_cache import CacheCounts
    from ..lowering.phase_texts import PhaseTexts
    from .benchmark import BenchmarkResult
    from .hosted import HostedProgram
    from .profiling import Profile


class Executable(Runnable):
    """A compiled graph, with the number of threads that its calls use.

    Call it with one array for each input, or use `run` with names:

        exe = weft.compile("model.onnx")
        y = exe(x)
        y = exe.run({"data": x})["prob"]

    Any number of threads may call it at once. `inputs` and `outputs` say what it takes and gives. What was compiled
    for another machine can be saved; a call says why it cannot run.
    """

    @checked
    def __init__(
        self,
        graph: CompiledGraph,
        threads: int | None = None,
        phases: PhaseTexts | Callable[[], PhaseTexts] | None = None,
    ):
        """
        Args:
            graph: what the compiler made.
            threads: threads for an inference; as many as there are processors for this process, unless given.
            phases: the text of the phases, or what makes it, where it can be made.
        """
        self.graph = graph
        self.inputs: tuple[TensorSpec, ...] = graph.inputs
        self._phases = phases
        self._refusal = why_not_here(graph.platform) or _missing_device(graph)
        self._program = _loaded(graph) if self._refusal is None else None
        self._takes = tuple(Input(spec) for spec in graph.inputs)
        is_open = bool(graph.symbols) or any(spec.is_found for spec in graph.outputs)
        self._sizes = Sizes(graph) if is_open else None
        decided = 0 if self._sizes is None else self._sizes.decided
        self.outputs: tuple[TensorSpec, ...] = graph.outputs[: len(graph.outputs) - decided]
        self._gives = () if is_open else tuple(Output(spec.shape, spec.dtype, spec.bytes) for spec in graph.outputs)
        self._input_table = Struct(f"={len(graph.inputs)}Q").pack
        self._output_table = Struct(f"={len(graph.outputs)}Q").pack
        self.kernel_counts: CacheCounts | None = None
        """Where the kernels came from, of what was compiled in this process: `2 compiled, 0 from disk, 9 from memory`.
        The graph's own function and the pool of threads count as kernels do."""
        self._threads = 1
        self.threads = threads

    @property
    def target(self) -> Platform:
        """The machine that the code is for."""
        return self.graph.platform

    @property
    def ir(self) -> PhaseTexts:
        """The text of every phase: `exe.ir["relay"]`, `"fuse"`, `"tir"`, `"schedule"`, `"loops"`, `"llvm"`.

        Raises:
            Diagnostic: the executable was loaded from a file, which holds none.
        """
        if self._phases is None:
            raise Diagnostic("a saved executable holds no text", hint="compile the model with weft.compile to see it")
        if callable(self._phases):
            self._phases = self._phases()
        return self._phases

    @property
    def asm(self) -> str:
        """The assembly of each kernel and of the graph's own function, as they were compiled."""
        return self.ir.assembly()

    @property
    def program(self) -> Program | HostedProgram:
        """The linked code.

        Raises:
            PlatformError: it is for another machine.
        """
        if self._program is None:
            assert self._refusal is not None
            raise type(self._refusal)(self._refusal.message, hint=self._refusal.hint)
        return self._program

    @checked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write code and constants to one file, for `weft.load`, whatever machine they are for.

        Raises:
            Diagnostic: the file cannot be written.
        """
        artefact.save(self.graph, path)

    @checked
    def export_library(self, path: str | os.PathLike[str], *, name: str | None = None, cc: str | None = None) -> None:
        """Write a library that C programs call, and its header beside it: `libm.so` and `libm.h`.

        The suffix says what it is: `.so` a shared library, `.a`, `.o` or `.tar` for a linker to put into a program. All
        that the graph needs is in it; the header says how it is called. `weft.load` reads it as well. See
        `docs/running.md`.

        Args:
            path: the library.
            name: what its names in C begin with; that of the file, without `lib`, and with `_` for what is no
                letter, digit or underscore, unless given.
            cc: the C compiler that links it; `$CC` or `cc`, unless given.

        Raises:
            UsageError: the file is of no known kind, or `name` is no name in C.
            LinkError: there is no C compiler for the machine that the code is for, or it has refused.
            Diagnostic: a file cannot be written.
        """
        from .library.exporting import export, name_of
        from .library.interfaces import Piece

        export([Piece(self.graph, name_of(path) if name is None else name)], path, cc)

    @property
    def threads(self) -> int:
        """Threads that share an inference. More than there are processors are as good as those.

        It may be set while calls are running; they go on as they began. `None` stands for the processors that this
        process may use.
        """
        return self._threads

    @threads.setter
    def threads(self, count: int | None) -> None:
        self._threads = self.usable(count)

    @staticmethod
    def usable(count: int | None) -> int:
        """How many threads `count` stands for.

        Raises:
            InputError: it is no positive integer.
        """
        if count is None:
            count = available_processors()
        if not isinstance(count, int | np.integer) or isinstance(count, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"the number of threads is an integer, not {count!r}")
        if count < 1:
            raise InputError(f"{count} threads: at least one is needed", hint="None stands for all processors")
        return usable_threads(int(count))

    def __call__(self, *arrays: npt.ArrayLike) -> NDArray | tuple[NDArray, ...]:
        """Run the graph on its inputs in order. One output is given as an array, several as a tuple.

        Raises:
            InputError: the number of arrays, a shape or a dtype does not fit.
            CheckError: an index lies outside of an axis, where that is an error.
            PlatformError: the code is for another machine.
        """
        # Everything here counts: a small graph takes a microsecond.
        program = self._program or self.program
        takes = self._takes
        if len(arrays) != len(takes):
            raise self.wrong_number(len(arrays))
        sizes, layout = self._sizes, None
        if sizes is None:
            held: list[NDArray] = []
            places: list[int] = []
            for array, wanted in zip(arrays, takes, strict=True):
                if (
                    type(array) is not np.ndarray
                    or array.dtype is not wanted.dtype
                    or array.shape != wanted.shape
                    or not array.flags.c_contiguous
                ):
                    array = wanted.checked(array)
                    held.append(array)
                places.append(address(array))
            gives, table = self._gives, self._input_table(*places)
        else:
            held = [with_room(wanted.checked(array)) for array, wanted in zip(arrays, takes, strict=True)]
            layout = sizes.layout_for(held)
            gives, table = layout.gives, self._input_table(*map(address, held)) + layout.words
        outputs: list[NDArray] = []
        results: list[int] = []
        try:
            for given in gives:
                memory = np.empty(given.bytes + ALIGNMENT, np.uint8)
                start = address(memory)
                offset = -start % ALIGNMENT
                results.append(start + offset)
                outputs.append(np.ndarray(given.shape, given.dtype, memory, offset))
        except (MemoryError, ValueError):
            raise NotEnoughMemory("there is no memory for the outputs") from None
        free = program.free
        try:
            context = free.pop()
        except IndexError:
            context = program.new_context()
        if layout is not None and context.arena.nbytes < layout.arena_bytes:
            context = program.new_context(layout.arena_bytes)
        status = program.entry(table, self._output_table(*results), context.address, self._threads)
        failure = program.failure(status, context) if status else None
        free.append(context)
        if failure is not None:
            raise failure
        if layout is not None and sizes is not None and sizes.has_results:
            outputs = [*sizes.results(outputs, layout)]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    @checked
    def benchmark(
        self, *arrays: npt.ArrayLike, repeat: int = 5, number: int = 5, min_repeat_ms: float = 0
    ) -> BenchmarkResult:
        """Time calls, on memory that stays where it is: `repeat` repetitions of `number` calls, or of as many as
        `min_repeat_ms` milliseconds take. Without arrays, some that fit are made.

        Raises:
            UsageError: a number is not positive.
            InputError: the number of arrays, a shape or a dtype does not fit.
        """
        from .benchmark import benchmark

        return benchmark(self.bind(arrays or self.example_inputs()), repeat, number, min_repeat_ms)

    @checked
    def profile(self, *arrays: npt.ArrayLike, repeat: int = 10) -> Profile:
        """Time each kernel of the graph, with the names of the model's layers: `print(exe.profile())`, or
        `exe.profile().save_chrome_trace("trace.json")`. Without arrays, some that fit are made.

        Raises:
            UsageError: `repeat` is not positive.
            InputError: the number of arrays, a shape or a dtype does not fit.
            CheckError: an index lies outside of an axis, where that is an error.
            Diagnostic: the graph was compiled from its last phase, and nothing is known of its steps.
        """
        if repeat < 1:
            raise UsageError(f"{repeat} repetitions: at least one is needed")
        bound = self.bind(arrays or self.example_inputs())
        if self.graph.parts or self.graph.segments:
            return bound.profile_parts(repeat)
        if self._sizes is not None and self._sizes.decided:
            bound()  # then it is known what data decides
        inputs, outputs = ([address(array) for array in held] for held in (bound.inputs, bound.written))
        sized = None if self._sizes is None else self._sizes.graph_for(bound.inputs, bound.written)
        return self.program.profile(inputs, outputs, self._threads, repeat, sized)

    def example_inputs(self) -> list[NDArray]:
        """Arrays that fit the inputs, the same each time: floats from 0 to 1; zeros, which are indices of anything."""
        return [taken.example(number) for number, taken in enumerate(self._takes)]

    def bind(self, arrays: Sequence[npt.ArrayLike]) -> Binding:
        """The graph with its inputs, in order, and outputs in place: to be run many times on the same memory.

        Raises:
            InputError: the number of arrays, a shape or a dtype does not fit.
            PlatformError: the code is for another machine.
        """
        if isinstance(arrays, np.ndarray) or not isinstance(arrays, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"bind takes a list of arrays, not {type(arrays).__name__}", hint="exe.bind([x])")
        if len(arrays) != len(self._takes):
            raise self.wrong_number(len(arrays))
        inputs = [wanted.checked(array) for array, wanted in zip(arrays, self._takes, strict=True)]
        return Binding(self, inputs)

    def __repr__(self) -> str:
        """Inputs, outputs, target and threads, in one line each."""
        outputs = ", ".join(map(str, self.outputs))
        gpu = ", and a GPU" if self.graph.device_code else ""
        return (
            f"weft.Executable\n  inputs:  {self.names()}\n  outputs: {outputs}\n"
            f"  target:  {self.target}{gpu}\n  threads: {self._threads}"
        )

    def __copy__(self) -> Self:
        """Another executable on the same code, with a number of threads of its own."""
        copy = type(self).__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy

    def __deepcopy__(self, memo: object) -> Self:
        """The same: code and constants never change, so that nothing else is there to copy."""
        return self.__copy__()

    def __reduce__(self) -> str:
        raise UsageError("an executable cannot be pickled", hint="use exe.save(path) and weft.load(path)")


class Binding:
    """An executable with the memory that it reads and writes. Call it to run it; the results are in `outputs`."""

    def __init__(self, executable: Executable, inputs: Sequence[NDArray]):
        self.inputs = tuple(inputs)
        self._executable = executable
        self._program = executable.program
        self._arena_bytes = self._program.arena_bytes
        self._decided: tuple[Sizes, Layout, tuple[NDArray, ...]] | None = None
        self._sizes: Sizes | None = None
        """Where elements of the inputs say sizes, which may change from call to call."""
        self._layout: Layout | None = None
        if (sizes := executable._sizes) is None:  # pyright: ignore[reportPrivateUsage]
            self.outputs = tuple(given.new() for given in executable._gives)  # pyright: ignore[reportPrivateUsage]
            self.written = self.outputs
            self._tables = self._addresses(b"")
            return
        self.inputs = tuple(map(with_room, self.inputs))
        if sizes.reads_elements:
            self._sizes = sizes
        self._make_room(sizes)

    def __repr__(self) -> str:
        return f"weft.Binding({self._executable.names()})"

    def _make_room(self, sizes: Sizes) -> None:
        """Have memory for the sizes that the inputs say, if they say others than before."""
        layout = sizes.layout_for(self.inputs)
        if layout is self._layout:
            return
        self._layout, self._arena_bytes = layout, layout.arena_bytes
        self.outputs = self.written = tuple([given.new() for given in layout.gives])
        """What the graph writes: with what tells what data has decided, and as much as that may be at most."""
        if sizes.has_results:
            self._decided = sizes, layout, self.outputs
        self._tables = self._addresses(layout.words)

    def _addresses(self, words: bytes) -> tuple[bytes, bytes]:
        """The tables of inputs, with the `words` behind them, and of outputs."""
        executable = self._executable
        taken = executable._input_table(*map(address, self.inputs))  # pyright: ignore[reportPrivateUsage]
        given = executable._output_table(*map(address, self.outputs))  # pyright: ignore[reportPrivateUsage]
        return taken + words, given

    def __call__(self) -> None:
        """Run the graph. What the inputs hold now is read, and the outputs are written over; they are others where
        elements of the inputs say sizes, and say others now.

        Raises:
            InputError: these elements say sizes that do not fit.
            CheckError: an index lies outside of an axis, where that is an error. The outputs mean nothing then.
        """
        if self._sizes is not None:
            self._make_room(self._sizes)
        inputs, outputs = self._tables
        program = self._program
        free = program.free
        try:
            context = free.pop()
        except IndexError:
            context = program.new_context(self._arena_bytes)
        if context.arena.nbytes < self._arena_bytes:
            context = program.new_context(self._arena_bytes)
        status = program.entry(inputs, outputs, context.address, self._executable.threads)
        failure = program.failure(status, context) if status else None
        free.append(context)
        if failure is not None:
            raise failure
        self._results()

    def _results(self) -> None:
        """Put what a call has written into `outputs`, as much as there is."""
        if self._decided is not None:
            sizes, layout, written = self._decided
            self.outputs = sizes.results(written, layout)

    def profile_parts(self, repeat: int) -> Profile:
        """Time the steps of a program that branches.

        Raises:
            CheckError: an index lies outside of an axis, where that is an error.
            Diagnostic: it is not known which steps the program takes.
        """
        from .part_steps import PartProfiler

        profiler = PartProfiler(self._executable.graph)
        context = profiler.program.new_context(self._arena_bytes)
        threads = self._executable.threads
        status, profile = profiler.profile(*self._tables, context.address, threads, repeat, self._results)
        if status:
            raise profiler.program.failure(status, context)
        return profile


def _missing_device(graph: CompiledGraph) -> Diagnostic | None:
    """Why the GPU that a graph needs is not here."""
    if not graph.device_code:
        return None
    from .cuda import why_no_driver

    return why_no_driver()


def _loaded(graph: CompiledGraph) -> Program | HostedProgram:
    """The program of a graph: native code, or steps for the host where it is on several devices.

    Raises:
        Diagnostic: it cannot be loaded here; see the two.
    """
    if graph.segments:
        from .branching import BranchingProgram

        return BranchingProgram(graph)
    if not graph.devices:
        return Program(graph)
    from .hosted import HostedProgram

    return HostedProgram(graph)
