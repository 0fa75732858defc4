"""What `weft.build` gives: functions that take all their arrays, and write to some of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from struct import Struct
from typing import cast

import numpy as np
import numpy.typing as npt

from ..dialects.support.arguments import checked_methods
from ..dialects.support.diagnostics import Diagnostic, Place, UsageError, did_you_mean
from ..dialects.support.files import replacing
from .benchmark import BenchmarkResult, benchmark
from .executable import Executable
from .library.exporting import DeviceSource, Exported
from .library.interfaces import FunctionInterface, Piece
from .memory import address, overlaps_itself
from .tensors import Input, InputError

SOURCES = {"llvm": ("ll", "asm"), "c": ("c",), "cuda": ("ptx", "ll")}
"""Target kind -> the texts that there are of a module; the first unless another is asked for."""
LIBRARY, STATIC_LIBRARY = "library", "static_library"
"""The kinds of modules that were loaded: the second is for another to import."""
BITCODE = "bc"
_ALIASES = {"llvm": "ll", "s": "asm", "assembly": "asm", "cu": "ptx", "cuda": "ptx"}


def source_kind(target: str, fmt: str) -> str:
    """The text that `fmt` calls of a module for a kind of target.

    Raises:
        UsageError: there is no such text.
    """
    if target in (LIBRARY, STATIC_LIBRARY):
        raise UsageError("a library holds no text", hint="what weft.build gives does: build it again to see it")
    kinds = SOURCES[target]
    kind = _ALIASES.get(fmt, fmt) or kinds[0]
    if kind not in kinds:
        raise UsageError(f"a module for '{target}' has no source '{fmt}'", hint=f"there is {kinds}")
    return kind


@dataclass(frozen=True)
class Argument:
    """One argument of a function: its name, its number among the inputs or outputs, and whether it is written."""

    name: str
    number: int
    is_output: bool


class Function:
    """A compiled function. Call it with one array for each argument, in order; outputs are written in place. One that
    gives a number (`T.ret`) is called without the argument that holds it."""

    def __init__(
        self,
        name: str,
        executable: Executable | Diagnostic,
        arguments: Sequence[Argument],
        source: Callable[[str], str],
        result: int | None = None,
    ):
        """`executable` may be the reason why there is none; the source is there all the same. `result` is the number of
        the argument that holds what the function gives."""
        self.name = name
        self.result = result
        self._executable = executable
        self.arguments = tuple(arguments)
        self.source = source

    @property
    def executable(self) -> Executable:
        """What runs.

        Raises:
            Diagnostic: there is only source: it says why.
        """
        if isinstance(self._executable, Diagnostic):
            raise type(self._executable)(self._executable.message, hint=self._executable.hint)
        return self._executable

    @cached_property
    def _takes(self) -> tuple[Input, ...]:
        specs = {False: self.executable.inputs, True: self.executable.outputs}
        return tuple(Input(replace(specs[each.is_output][each.number], name=each.name)) for each in self.arguments)

    def __call__(self, *arrays: object) -> float | int | bool | None:
        """Run the function. Gives the number that it gives, if it does.

        Raises:
            InputError: the number of arrays, a shape or a dtype does not fit, or an output cannot be written in place
                or shares memory with another array.
            CheckError: a check of the function fails.
            PlatformError: the code is for another machine.
        """
        if self.result is None:
            self.bind(*arrays)()
            return None
        result = np.empty((), self.result_type)
        self.bind(*self.with_result(arrays, result))()
        return result.item()

    def with_result(self, arrays: Sequence[object], result: npt.NDArray[np.generic] | None = None) -> list[object]:
        """The arrays of a call, and among them that of the number which the function gives, if it gives one.

        Raises:
            InputError: they are not as many as a call has.
        """
        if self.result is None:
            return list(arrays)
        place = self._place_of_result(len(arrays))
        held = np.empty((), self.result_type) if result is None else result
        return [*arrays[:place], held, *arrays[place:]]

    def _place_of_result(self, count: int) -> int:
        """Where the array of the result stands among those of a call, of which `count` are given."""
        if count != len(self.arguments) - 1:
            names = ", ".join(argument.name for number, argument in enumerate(self.arguments) if number != self.result)
            raise InputError(f"'{self.name}' takes {len(self.arguments) - 1} arrays ({names}), got {count}")
        assert self.result is not None
        return self.result

    @property
    def result_type(self) -> np.dtype[np.generic]:
        """The dtype of the number that the function gives."""
        assert self.result is not None
        return self._takes[self.result].dtype

    def bind(self, *arrays: object) -> Callable[[], None]:
        """The function with its arrays in place, to be run many times on the same memory.

        Raises:
            InputError: as a call says.
            PlatformError: the code is for another machine.
        """
        if len(arrays) != len(self.arguments):
            names = ", ".join(argument.name for argument in self.arguments)
            raise InputError(f"'{self.name}' takes {len(self.arguments)} arrays ({names}), got {len(arrays)}")
        held = self.held(self.arguments, arrays)
        return self.runner(self.arguments, arrays, held, b"", self.executable.program.arena_bytes)

    def held(self, arguments: Sequence[Argument], arrays: Sequence[object]) -> list[npt.NDArray[np.generic]]:
        """What the code reads and writes for the arrays that are given for some of the arguments.

        Raises:
            InputError: a shape or a dtype does not fit, or one that is written cannot be, or shares memory.
        """
        takes = dict(zip(self.arguments, self._takes, strict=True))
        held = [self._place(each, takes[each], array) for each, array in zip(arguments, arrays, strict=True)]
        strided = [given for given, _ in _strided(arguments, arrays, held)]
        if any(map(overlaps_itself, strided)):
            raise InputError("an array that is written has elements of one place")
        written = [
            (cast("npt.NDArray[np.generic]", given), array is given)
            for argument, given, array in zip(arguments, arrays, held, strict=True)
            if argument.is_output
        ]
        for (one, one_is_dense), (other, other_is_dense) in combinations(written, 2):
            if not (one_is_dense and other_is_dense) and np.may_share_memory(one, other):
                raise InputError("two arrays that are written, of which one is not dense, may share memory")
        for number, (argument, array) in enumerate(zip(arguments, held, strict=True)):
            for other, shared in zip(arguments[:number], held, strict=False):
                if (argument.is_output or other.is_output) and np.may_share_memory(array, shared):
                    raise InputError(f"'{argument.name}' and '{other.name}' share memory, and one of them is written")
        return held

    def runner(
        self,
        arguments: Sequence[Argument],
        arrays: Sequence[object],
        held: Sequence[npt.NDArray[np.generic]],
        words: bytes,
        arena_bytes: int,
    ) -> Callable[[], None]:
        """What runs the code on what `held` gave for arrays of all inputs and outputs. `words` stand behind the
        addresses of the inputs; the code works in so many bytes."""
        strided = _strided(arguments, arrays, held)
        places = {(each.is_output, each.number): address(array) for each, array in zip(arguments, held, strict=True)}
        if not any(is_output for is_output, _ in places):
            places[True, 0] = 0  # of a function that writes nothing: a tensor without elements
        executable = self.executable
        program = executable.program
        inputs, outputs = (
            Struct(f"={len(specs)}Q").pack(*(places[written, number] for number in range(len(specs))))
            for written, specs in ((False, executable.inputs), (True, executable.outputs))
        )
        inputs += words

        def run() -> None:
            assert held is not None  # their memory is kept
            for given, array in strided:
                array[...] = given
            try:
                context = program.free.pop()
            except IndexError:
                context = program.new_context(arena_bytes)
            if context.arena.nbytes < arena_bytes:
                context = program.new_context(arena_bytes)
            status = program.entry(inputs, outputs, context.address, executable.threads)
            failure = program.failure(status, context) if status else None
            program.free.append(context)
            for given, array in strided:
                given[...] = array
            if failure is not None:
                raise failure

        return run

    @staticmethod
    def _place(argument: Argument, wanted: Input, given: object) -> npt.NDArray[np.generic]:
        if isinstance(given, bool | int | float) and wanted.shape == () and not argument.is_output:
            given = _scalar(given, wanted)
        array = wanted.checked(given)
        is_ours = type(given) is np.ndarray and given.dtype == array.dtype and given.flags.writeable
        if argument.is_output and not (is_ours or (array is given and array.flags.writeable)):
            raise InputError(
                f"'{argument.name}' is written, and so has to be a NumPy array that can be",
                hint=f"make it with np.empty({list(wanted.shape)}, '{wanted.dtype.name}')",
            )
        return array

    def piece(self) -> Piece:
        """What it is in a library.

        Raises:
            Diagnostic: there is only source.
        """
        arguments = tuple((each.name, each.number, each.is_output) for each in self.arguments)
        interface = FunctionInterface(self.name, arguments, self.result)
        return Piece(self.executable.graph, self.name, interface.beside())

    def __repr__(self) -> str:
        return f"weft.Function({self.name}: {', '.join(argument.name for argument in self.arguments)})"


def _strided(
    arguments: Sequence[Argument], arrays: Sequence[object], held: Sequence[npt.NDArray[np.generic]]
) -> list[tuple[npt.NDArray[np.generic], npt.NDArray[np.generic]]]:
    """The arrays that are written and not dense, each with what is written in its place."""
    return [
        (cast("npt.NDArray[np.generic]", given), array)
        for argument, given, array in zip(arguments, arrays, held, strict=True)
        if argument.is_output and array is not given
    ]


def _scalar(number: float, wanted: Input) -> npt.NDArray[np.generic]:
    """A Python number as an array without dimensions.

    Raises:
        InputError: it would be another number.
    """
    exact = wanted.dtype.kind == "f" or wanted.dtype.name == "bfloat16" or isinstance(number, bool | int)
    try:
        if not exact or (wanted.dtype.kind == "b" and not isinstance(number, bool)):
            raise OverflowError
        return np.array(number, wanted.dtype)
    except OverflowError:
        raise InputError(f"input '{wanted.name}' is of type {wanted.dtype.name}, and {number!r} is none") from None


@checked_methods
class Module(Exported, Mapping[str, Function]):
    """Compiled functions by name. Called, it runs the entry: `main`, or the only one. Counterpart of the
    `runtime.Module` that `tvm.build` gives."""

    def __init__(
        self,
        functions: Mapping[str, Function],
        kind: str,
        text: str,
        llvm_file: Callable[[Mapping[str, str], str], bytes] | None = None,
    ):
        """`llvm_file` gives what a file holds, as `ll` or `bc`, of functions' texts by name (their source `module`);
        nothing where there are none."""
        super().__init__()
        self._llvm_file = llvm_file
        self._functions = dict(functions)
        self.type_key = kind
        self.is_dso_exportable = kind != LIBRARY
        self.text = text
        """The module of `tir` that was compiled; nothing of one that was loaded."""

    def __repr__(self) -> str:
        return f"weft.Module({self.type_key}: {', '.join(self._functions)})"

    def __getitem__(self, name: str) -> Function:
        """The function of a name.

        Raises:
            UsageError: there is none.
        """
        if name not in self._functions:
            known = ", ".join(self._functions)
            raise UsageError(
                f"there is no function '{name}' in this module; there is {known}",
                hint=did_you_mean(name, self._functions),
            )
        return self._functions[name]

    def __contains__(self, name: object) -> bool:
        return name in self._functions

    def own_function(self, name: str) -> Function | None:
        """The function of a name, without what the module imports."""
        return self._functions.get(name)

    def pieces(self, name: str) -> list[Piece]:
        """What it has for a library: each function under its own name.

        Raises:
            Diagnostic: a function has no code for one.
        """
        return [function.piece() for function in self._functions.values()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    @property
    def entry(self) -> Function:
        """The function that a call runs.

        Raises:
            UsageError: there are several, and none is called `main`.
        """
        if len(self._functions) == 1:
            return next(iter(self._functions.values()))
        return self["main"]

    @property
    def entry_func(self) -> Function:
        """The function that a call runs, as TVM calls it.

        Raises:
            UsageError: there are several, and none is called `main`.
        """
        return self.entry

    def __call__(self, *arrays: object) -> float | int | bool | None:
        """Run the entry on all its arrays. Gives the number that it gives, if it does.

        Raises:
            InputError: the arrays do not fit.
        """
        return self.entry(*arrays)

    def get_source(self, fmt: str = "") -> str:
        """The text that was compiled: for the target `llvm`, `ll` or `asm`; for `c`, `c`; for `cuda`, `ptx` or `ll`.

        Raises:
            UsageError: there is no such text, or the module was loaded from a library, which holds none.
        """
        kind = source_kind(self.type_key, fmt)
        return "\n".join(function.source(kind) for function in self._functions.values())

    def save(self, file_name: str | os.PathLike[str], fmt: str = "") -> None:
        """Write the module to a file, as what its suffix says, or `fmt`: a text of it (`ll`, `s`, `c`, `ptx`), LLVM's
        bitcode (`bc`), or what `export_library` writes (`o`, `so`, ...). What `ll` and `bc` hold for a processor is one
        module, which LLVM's tools read; of several functions each has an entry `NAME_weft_run`.

        Raises:
            UsageError: there is no such text.
            Diagnostic: the file cannot be written, or as `export_library` says.
        """
        kind = fmt or os.path.splitext(file_name)[1].removeprefix(".")
        known = {text for texts in SOURCES.values() for text in texts}
        if _ALIASES.get(kind, kind) not in {*known, BITCODE}:
            self.export_library(file_name)
            return
        data = self._source_bytes(kind)
        try:
            with replacing(file_name) as file:
                file.write(data)
        except OSError as error:
            place = Place(os.fspath(file_name))
            raise Diagnostic(f"cannot be written: {(error.strerror or str(error)).lower()}", place) from error

    def _source_bytes(self, fmt: str) -> bytes:
        """What `save` writes of a kind of source."""
        kind = _ALIASES.get(fmt, fmt)
        if self._llvm_file is None or kind not in ("ll", BITCODE):
            return self.get_source(fmt).encode()
        return self._llvm_file({name: function.source("module") for name, function in self._functions.items()}, kind)

    @property
    def imported_modules(self) -> Sequence[Exported | DeviceSource]:
        """The code of GPUs, as TVM has it, one module for a target that has such; then those that were imported."""
        code = [DeviceSource(self.type_key, self.get_source())] if self.type_key == "cuda" else []
        return [*code, *self._imports]

    def time_evaluator(
        self, func_name: str, dev: object = None, number: int = 10, repeat: int = 1, min_repeat_ms: int = 0
    ) -> Callable[..., BenchmarkResult]:
        """What measures a function: called with its arrays, it runs it `number` times, and that `repeat` times.

        Args:
            func_name: the function.
            dev: TVM's; the processor is what code is for.
            min_repeat_ms: let a repetition take this long at least, by raising `number`.

        Raises:
            UsageError: there is no such function, or a number is not positive.
        """
        function = self[func_name]
        if number < 1 or repeat < 1:
            raise UsageError("a function is run at least once")

        def measure(*arrays: object) -> BenchmarkResult:
            return benchmark(function.bind(*function.with_result(arrays)), repeat, number, min_repeat_ms)

        return measure
