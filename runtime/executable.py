"""A compiled graph that runs: NumPy arrays in, NumPy arrays out."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..dialects.support.diagnostics import Diagnostic, did_you_mean
from ..dialects.support.dtypes import dtype_name, numpy_dtype
from ..lowering.compiler import CompiledGraph, TensorSpec
from ..lowering.entry.add_entry_point import ENTRY
from ..lowering.loops_to_llvm.symbols import CONSTANTS_TABLE
from ..lowering.machine.codegen import compile_to_assembly
from ..lowering.phase_texts import PhaseTexts
from . import artefact, openmp
from .jit import LoadedObjects

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

ALIGNMENT = 64


class InputError(Diagnostic):
    """An input is missing, unknown, or of the wrong shape or dtype. Nothing has run."""


class Executable:
    """A compiled graph in memory.

    Call it with one array for each input, or use `run` with names:

        exe = weft.compile("model.onnx")
        y = exe(x)
        y = exe.run({"data": x})["prob"]

    `threads` may be set between calls. An executable runs one inference at a time: it owns one arena.
    """

    def __init__(self, graph: CompiledGraph, threads: int | None = None, phases: PhaseTexts | None = None):
        """
        Args:
            graph: what the compiler made.
            threads: threads for an inference; the number of processors, unless given.
            phases: the text of the phases, where it can be made.
        """
        self._phases = phases
        self.graph = graph
        self.inputs: tuple[TensorSpec, ...] = graph.inputs
        self.outputs: tuple[TensorSpec, ...] = graph.outputs
        openmp.load()
        self._code = LoadedObjects(graph.objects)
        self._constants = [aligned_copy(array) for array in graph.constants]
        self._arena = aligned_empty((graph.arena_bytes,), np.dtype(np.uint8))
        self._run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
            self._code.address(ENTRY)
        )
        if self._constants:
            table = (ctypes.c_void_p * len(self._constants)).from_address(self._code.address(CONSTANTS_TABLE))
            for place, array in enumerate(self._constants):
                table[place] = array.ctypes.data
        self._threads = 1
        self.threads = os.cpu_count() or 1 if threads is None else threads

    @property
    def ir(self) -> PhaseTexts:
        """The text of every phase: `exe.ir["relay"]`, `"fuse"`, `"tir"`, `"schedule"`, `"loops"`, `"llvm"`.

        Raises:
            Diagnostic: the executable was loaded from a file, which holds none.
        """
        if self._phases is None:
            raise Diagnostic("a saved executable holds no text", hint="compile the model with weft.compile to see it")
        return self._phases

    @property
    def asm(self) -> str:
        """The assembly of all of it, compiled again."""
        return compile_to_assembly(self.ir.module("llvm"), self.ir.target)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write code and constants to one file, for `weft.load`."""
        artefact.save(self.graph, path)

    @property
    def threads(self) -> int:
        """Threads that share an inference. More than one needs an OpenMP runtime; without it there is one."""
        return self._threads

    @threads.setter
    def threads(self, count: int) -> None:
        if count < 1:
            raise InputError(f"{count} threads: at least one is needed")
        self._threads = openmp.usable_threads(count)

    def __call__(self, *arrays: npt.ArrayLike) -> NDArray | tuple[NDArray, ...]:
        """Run the graph on its inputs in order. One output is given as an array, several as a tuple.

        Raises:
            InputError: the number of arrays, a shape or a dtype does not fit.
        """
        outputs = self._invoke(self._in_order(arrays))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def run(self, inputs: Mapping[str, npt.ArrayLike]) -> dict[str, NDArray]:
        """Run the graph on inputs by name; gives its outputs by name.

        Raises:
            InputError: a name is missing or unknown, or a shape or dtype does not fit.
        """
        known = {spec.name for spec in self.inputs}
        for name in inputs:
            if name not in known:
                raise InputError(f"there is no input '{name}'; inputs: {self._names()}", hint=did_you_mean(name, known))
        missing = [spec.name for spec in self.inputs if spec.name not in inputs]
        if missing:
            raise InputError(f"{_count(len(missing), 'input')} missing: {', '.join(missing)}")
        outputs = self._invoke([self._checked(inputs[spec.name], spec) for spec in self.inputs])
        return {spec.name: array for spec, array in zip(self.outputs, outputs, strict=True)}

    def bind(self, arrays: Sequence[npt.ArrayLike]) -> Binding:
        """The graph with its inputs, in order, and outputs in place: to be run many times on the same memory.

        Raises:
            InputError: the number of arrays, a shape or a dtype does not fit.
        """
        inputs = self._in_order(arrays)
        return Binding(self, inputs, self._new_outputs())

    def _in_order(self, arrays: Sequence[npt.ArrayLike]) -> list[NDArray]:
        if len(arrays) != len(self.inputs):
            raise InputError(
                f"the graph takes {_count(len(self.inputs), 'input')} ({self._names()}), got {len(arrays)}"
            )
        return [self._checked(array, spec) for array, spec in zip(arrays, self.inputs, strict=True)]

    def _names(self) -> str:
        return ", ".join(f"{spec.name}: {spec.type}" for spec in self.inputs)

    def _checked(self, value: npt.ArrayLike, spec: TensorSpec) -> NDArray:
        """`value` as a dense array of the input's dtype and shape."""
        if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
            array = cast("NDArray", np.from_dlpack(value))  # pyright: ignore[reportArgumentType]
        else:
            array = cast("NDArray", np.asarray(value))
        wanted = numpy_dtype(spec.type.element_type)
        if array.dtype != wanted:
            name = dtype_name(spec.type.element_type)
            raise InputError(
                f"input '{spec.name}' has dtype {array.dtype.name}, the graph takes {name}",
                hint=f"convert it: x.astype('{name}')",
            )
        if array.shape != spec.type.get_shape():
            raise InputError(
                f"input '{spec.name}' has shape {list(array.shape)}, the graph takes {list(spec.type.get_shape())}"
            )
        return np.ascontiguousarray(array)

    def _invoke(self, arrays: Sequence[NDArray]) -> list[NDArray]:
        outputs = self._new_outputs()
        self.invoke(_pointers(arrays), _pointers(outputs))
        return outputs

    def _new_outputs(self) -> list[NDArray]:
        return [aligned_empty(spec.type.get_shape(), numpy_dtype(spec.type.element_type)) for spec in self.outputs]

    def invoke(self, inputs: ctypes.Array[ctypes.c_void_p], outputs: ctypes.Array[ctypes.c_void_p]) -> None:
        """Run the graph on addresses of dense arrays; nothing is checked."""
        self._run(inputs, outputs, self._arena.ctypes.data, self._threads)


class Binding:
    """An executable with the memory that it reads and writes. Call it to run it; the results are in `outputs`."""

    def __init__(self, executable: Executable, inputs: Sequence[NDArray], outputs: Sequence[NDArray]):
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self._executable = executable
        self._pointers = _pointers(inputs), _pointers(outputs)

    def __call__(self) -> None:
        self._executable.invoke(*self._pointers)


def _pointers(arrays: Sequence[NDArray]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def aligned_empty(shape: Sequence[int], dtype: np.dtype[np.generic]) -> NDArray:
    """An uninitialised array whose data starts at a multiple of 64 bytes, as wide vectors like it."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(tuple(shape))


def aligned_copy(array: NDArray) -> NDArray:
    """A dense copy of `array` in aligned memory; the array itself where it already is."""
    if array.flags.c_contiguous and array.ctypes.data % ALIGNMENT == 0:
        return array
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy
