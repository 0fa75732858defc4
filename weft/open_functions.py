"""What `weft.build` gives for a function with symbols: it is compiled once, and called with arrays of any sizes.

n = te.var("n")
A = te.placeholder((n,), name="A")
B = te.compute((n,), lambda i: A[i] + 1.0, name="B")
add = weft.build(te.create_schedule(B.op), [n, A, B])
add(5, a, b)  # or add(a, b): what n is follows from the shapes
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import SupportsIndex, cast

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType

from .dialects.support.diagnostics import Diagnostic, UsageError
from .dialects.support.dtypes import dtype_name
from .dialects.support.hints import isa
from .dialects.tir.core import PrimFuncOp
from .dialects.tir.functions import RESULT
from .dialects.tir.specialize import known_shape, sizes_of_call, symbols_of
from .gpu_kernel import GPUKernel
from .kernel import Kernel, build_kernel
from .lowering.abi import ALIGNMENT, TensorSpec
from .lowering.compiler import compile_graph
from .lowering.machine.codegen import compile_to_assembly
from .lowering.machine.target import Target
from .lowering.prim_func_graph import argument_types, caller_order, described_arguments, graph_of, result_place
from .lowering.te_schedule.prim_func import ARGUMENTS
from .runtime.executable import Executable
from .runtime.library.interfaces import FunctionInterface, Piece
from .runtime.memory import address, aligned_empty, overlaps_itself
from .runtime.module import Argument, Function
from .runtime.tensors import Input, InputError


class OpenFunction(Function):
    """A compiled function whose symbols are what its arrays say. Call it with one array for each buffer, in order;
    buffers that it writes are written in place. Symbols may be left out, or all be given at their places, as numbers.

    Raises:
        Diagnostic: something in the function cannot be lowered.
    """

    def __init__(self, function: PrimFuncOp, target: Target, threads: int | None):
        name = function.sym_name.data
        described = described_arguments(function)
        self._target, self._function = target, function
        self._kernel = _kernel(function, target, threads)
        self._symbols = {symbol.index: symbol.name_hint or "" for symbol in symbols_of(self._kernel.function)}
        self._order = [place for _, place in caller_order(function)]
        types = argument_types(function)
        self._inputs = {
            place: Input(TensorSpec(label, dtype_name(type.element_type), type.get_shape()))
            for label, place in caller_order(function)
            if isa(type := types[place], TensorType)
        }
        arguments = [Argument(*each) for each in described]
        super().__init__(name, UsageError(NO_EXECUTABLE), arguments, self._source, result_place(function))

    def piece(self) -> Piece:
        """What it is in a library: a program for all sizes, with the symbols as inputs.

        Raises:
            Diagnostic: it is for a GPU, or something in it cannot be lowered.
        """
        if self._target.is_gpu:
            raise UsageError("a function of open extents for a GPU is in no library")
        made = compile_graph(graph_of(self._function), self._target, start="schedule")
        arguments = tuple((each.name, each.number, each.is_output) for each in self.arguments)
        return Piece(made, self.name, FunctionInterface(self.name, arguments, self.result).beside())

    def _place_of_result(self, count: int) -> int:
        if count != len(self._inputs) - 1:
            return super()._place_of_result(count)
        before = self._order[: self.result]
        return len([place for place in before if place in self._inputs])

    @property
    def result_type(self) -> np.dtype[np.generic]:
        """The dtype of the number that the function gives."""
        assert self.result is not None
        return self._inputs[self._order[self.result]].dtype

    def _source(self, kind: str) -> str:
        source = self._kernel.source
        match kind:
            case "asm":
                return compile_to_assembly(source["ll"], self._target.processor)
            case "module":
                return self._target.machine().linked([source["ll"]])
            case _:
                return source[kind]

    def bind(self, *arrays: object) -> Callable[[], None]:
        """The function with its arrays in place, to be run many times on the same memory.

        Raises:
            InputError: the number of arrays, a shape, a dtype or a number does not fit.
        """
        places = self._order if len(arrays) == len(self._order) else [p for p in self._order if p in self._inputs]
        if len(arrays) != len(places):
            names = ", ".join(argument.name for argument in self.arguments)
            raise InputError(f"'{self.name}' takes {len(self._order)} arguments ({names}), got {len(arrays)}")
        given = dict(zip(places, arrays, strict=True))
        sizes = {name: _size(name, given[place]) for place, name in self._symbols.items() if place in given}
        held = {place: self._array(place, given[place]) for place in sorted(self._inputs)}
        try:
            known = sizes_of_call(self._kernel.function, [array.shape for array in held.values()], sizes)
        except Diagnostic as error:
            raise InputError(f"'{self.name}': {error.message}", hint=error.hint) from None
        for place, array in held.items():
            wanted = known_shape(self._kernel.function.region.block.args[place], known)
            if array.shape != wanted:
                name = self._inputs[place].name
                raise InputError(f"input '{name}' has shape {list(array.shape)}, and {list(wanted)} is wanted")
        written = {argument_place for argument_place, is_output in self._written() if is_output}
        self._check_apart(held, written)
        dense = {place: _dense(array) for place, array in held.items()}
        kernel = self._kernel

        def run() -> None:
            for place, array in held.items():
                if dense[place] is not array:
                    dense[place][...] = array
            kernel.update(list(dense.values()), known)
            for place in written:
                if dense[place] is not held[place]:
                    held[place][...] = dense[place]

        return run

    def _written(self) -> list[tuple[int, bool]]:
        return [(place, each.is_output) for place, each in zip(self._order, self.arguments, strict=True)]

    def _array(self, place: int, given: object) -> npt.NDArray[np.generic]:
        """An array as it was given, of the right dtype and rank."""
        wanted = self._inputs[place]
        if isinstance(given, bool | int | float) and wanted.shape == ():
            given = np.array(given, wanted.dtype)
        array = wanted.checked(given)
        is_ours = type(given) is np.ndarray or isinstance(given, np.ndarray)
        if dict(self._written())[place] and not (is_ours and cast("npt.NDArray[np.generic]", given).flags.writeable):
            raise InputError(f"'{wanted.name}' is written, and so has to be a NumPy array that can be")
        return cast("npt.NDArray[np.generic]", given) if is_ours else array

    def _check_apart(self, held: dict[int, npt.NDArray[np.generic]], written: set[int]) -> None:
        for place, array in held.items():
            if place in written and overlaps_itself(array):
                raise InputError("an array that is written has elements of one place")
            for other, shared in held.items():
                if other < place and {place, other} & written and np.may_share_memory(array, shared):
                    one, two = self._inputs[other].name, self._inputs[place].name
                    raise InputError(f"'{one}' and '{two}' share memory, and one of them is written")


NO_EXECUTABLE = "a function of open extents is no executable: call it, or ask for its source"


def _kernel(function: PrimFuncOp, target: Target, threads: int | None) -> Kernel | GPUKernel:
    plain = function.clone()
    plain.attributes.pop(ARGUMENTS, None)
    plain.attributes.pop(RESULT, None)
    if target.is_gpu:
        return GPUKernel(plain, target)
    return build_kernel(plain, target, threads=Executable.usable(threads), start="schedule")


def _size(name: str, given: object) -> int:
    try:
        size = -1 if isinstance(given, bool) else operator.index(cast("SupportsIndex", given))
    except TypeError:
        size = -1
    if size < 0:
        raise InputError(f"'{name}' is an extent, and not {given!r}", hint="give an integer that is not negative")
    return size


def _dense(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """The array where the kernel can take it as it is, else room for a copy."""
    if array.flags.c_contiguous and not address(array) % ALIGNMENT and array.flags.writeable:
        return array
    return aligned_empty(array.shape, array.dtype)
