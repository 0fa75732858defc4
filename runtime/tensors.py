"""What a call takes and gives: the checks of an input, and the memory of an output, prepared once for each."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from ..dialects.support.algebraic import ADT
from ..dialects.support.diagnostics import Diagnostic, Severity, did_you_mean, emit
from ..dialects.support.element_types import MLIR_NAMES, numpy_dtype_of
from ..lowering.abi import DYNAMIC, TensorSpec
from .memory import NotEnoughMemory, aligned_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..lowering.abi import NDArray


NUMBERS = "biufc"
"""The kinds of NumPy's own dtypes that can be converted to what a graph takes."""


class InputError(Diagnostic):
    """An input is missing, unknown, or of the wrong shape or dtype. Nothing has run."""


def warn(message: str) -> None:
    """Tell of what does not hinder a run."""
    emit(Diagnostic(message, severity=Severity.WARNING))


def warn_of_unset(names: dict[str, None]) -> None:
    """Tell of inputs that a run reads and nobody has set; once."""
    if names:
        one = len(names) == 1
        warn(f"{'input' if one else 'inputs'} {', '.join(names)} {'was' if one else 'were'} not set")
        names.clear()


_Given = TypeVar("_Given")


def by_name_or_number(
    key: str | int | None, value: _Given | None, params: Mapping[str, _Given]
) -> list[tuple[str | int, _Given]]:
    """The inputs that TVM's `set_input(key, value, **params)` is given, and what each of them is.

    Raises:
        InputError: there is a key without an array, or an array without a key.
    """
    if key is None:
        if value is not None:
            raise InputError("it is not said which input the array is of", hint='name it: set_input("x", array)')
        return list(params.items())
    if value is None:
        raise InputError(f"there is no array for the input '{key}'")
    return [(key, value), *params.items()]


class Input:
    """One input of a graph."""

    __slots__ = ("dtype", "name", "shape")

    def __init__(self, spec: TensorSpec):
        self.name = spec.name
        self.shape = spec.shape
        self.dtype = numpy_dtype_of(spec.dtype)

    def checked(self, value: object) -> NDArray:
        """`value` as a dense array of the input's dtype and shape.

        Raises:
            InputError: it is no array, or one of another dtype or shape.
            NotEnoughMemory: it is not dense, and the system has not so much for a copy.
        """
        array = self._array(value)
        if array.dtype != self.dtype and type(value) in (bool, int, float):  # Python's numbers have no dtype
            array = self._held(array)
        if array.dtype != self.dtype:
            if array.dtype.kind not in NUMBERS and array.dtype.name not in MLIR_NAMES:
                raise InputError(f"input '{self.name}' takes numbers of {self.dtype.name}, and no {_described(value)}")
            found, given = _dtype_text(array.dtype), self.name if self.name.isidentifier() else "x"
            hint = f"convert it: {given}.astype('{self.dtype.name}')"
            if self.dtype.name in MLIR_NAMES and (array.dtype.kind, array.itemsize) == ("u", self.dtype.itemsize):
                hint = f"if these are the bits of its numbers: {given}.view('{self.dtype.name}')"
            raise InputError(f"input '{self.name}' has dtype {found}, the graph takes {self.dtype.name}", hint=hint)
        if array.shape != self.shape and not self._fits(array.shape):
            wanted = ", ".join("?" if extent == DYNAMIC else str(extent) for extent in self.shape)
            raise InputError(f"input '{self.name}' has shape {list(array.shape)}, the graph takes [{wanted}]")
        if array.flags.c_contiguous:  # `ascontiguousarray` would make a scalar an array of one element
            return array
        try:
            return np.ascontiguousarray(array)
        except MemoryError:
            raise NotEnoughMemory(f"there is no memory for a dense copy of input '{self.name}'") from None

    def converted(self, value: object) -> NDArray:
        """`value` as `checked` gives it, converted first where the input's dtype holds its numbers.

        Raises:
            InputError: it is no array, or one of another shape, or of numbers that are not held.
            NotEnoughMemory: it is not dense, and the system has not so much for a copy.
        """
        return self.checked(self._held(self._array(value)))

    def example(self, seed: int) -> NDArray:
        """An array that fits: floats from 0 to 1, all else zero.

        Raises:
            InputError: the input has open extents, so that a shape has to be given.
        """
        if DYNAMIC in self.shape:
            raise InputError(f"input '{self.name}' takes several shapes: say one, by giving an array")
        array = np.zeros(self.shape, self.dtype)
        if array.dtype.kind not in "biu":
            array[...] = np.random.default_rng(seed).random(self.shape).astype(self.dtype)
        return array

    def _held(self, array: NDArray) -> NDArray:
        from ..dialects.support.held import held_as

        return held_as(array, self.dtype)

    def _fits(self, shape: tuple[int, ...]) -> bool:
        """Whether a shape is one of those that an input with open extents may have."""
        return len(shape) == len(self.shape) and all(
            wanted in (DYNAMIC, extent) for wanted, extent in zip(self.shape, shape, strict=True)
        )

    def _array(self, value: object) -> NDArray:
        if type(value) is np.ndarray:
            return cast("NDArray", value)
        if isinstance(value, ADT) and not isinstance(value, tuple):  # NumPy would make an array of its fields
            raise InputError(f"input '{self.name}' takes numbers of {self.dtype.name}, and no {_described(value)}")
        mask = getattr(value, "mask", None)  # of a `numpy.ma.MaskedArray`, which takes time to import
        if isinstance(mask, np.ndarray | np.bool_) and mask.any():
            raise InputError(
                f"input '{self.name}' has elements that are masked, and a graph has none",
                hint="say what stands for them: x.filled(0)",
            )
        if isinstance(value, np.ndarray):
            return cast("NDArray", value)
        try:
            if hasattr(value, "__dlpack__"):
                return cast("NDArray", np.from_dlpack(value))  # pyright: ignore[reportArgumentType]
            return cast("NDArray", np.asarray(value))
        except Exception as error:  # whatever the object's own methods raise
            raise InputError(
                f"input '{self.name}' cannot be read as an array: {type(error).__name__}: {error}"
            ) from error


def _described(value: object) -> str:
    """What is given as numbers, and holds none."""
    return f"array of {cast('NDArray', value).dtype.name}" if isinstance(value, np.ndarray) else type(value).__name__


def _dtype_text(dtype: np.dtype[np.generic]) -> str:
    """A dtype by name, with its byte order where that is not this machine's."""
    if dtype.isnative:
        return dtype.name
    return f"{dtype.name} in {'big' if sys.byteorder == 'little' else 'little'}-endian order"


class Output:
    """One output of a graph."""

    __slots__ = ("bytes", "dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: str, bytes: int):
        self.shape = shape
        self.dtype = numpy_dtype_of(dtype)
        self.bytes = bytes
        """At least those of its elements."""

    def new(self) -> NDArray:
        """An uninitialised array in aligned memory."""
        return np.ndarray(self.shape, self.dtype, aligned_bytes(self.bytes))


class Runnable:
    """A graph that is called with its inputs in order, or run with them by name."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]

    @abstractmethod
    def __call__(self, *arrays: npt.ArrayLike) -> NDArray | tuple[NDArray, ...]:
        """Run the graph on its inputs in order. One output is given as an array, several as a tuple."""

    def run(self, inputs: Mapping[str, npt.ArrayLike]) -> dict[str, NDArray]:
        """Run the graph on inputs by name; gives its outputs by name.

        Raises:
            InputError: a name is missing or unknown, or a shape or dtype does not fit.
            CheckError: an index lies outside of an axis, where that is an error.
            PlatformError: the code is for another machine.
        """
        if not isinstance(inputs, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(
                f"run takes a mapping from names to arrays, not {type(inputs).__name__}",
                hint=f"exe.run({{{self.inputs[0].name!r}: x}})" if self.inputs else None,
            )
        known = {spec.name for spec in self.inputs}
        for name in inputs:
            if name not in known:
                hint = did_you_mean(name, known) if isinstance(name, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InputError(f"there is no input '{name}'; inputs: {self.names()}", hint=hint)
        missing = [spec.name for spec in self.inputs if spec.name not in inputs]
        if missing:
            raise InputError(f"{_count(len(missing), 'input')} missing: {', '.join(missing)}")
        outputs = self(*(inputs[spec.name] for spec in self.inputs))
        arrays = outputs if isinstance(outputs, tuple) else (outputs,)
        return {spec.name: array for spec, array in zip(self.outputs, arrays, strict=True)}

    def names(self) -> str:
        """The inputs, with their types."""
        return ", ".join(map(str, self.inputs))

    def wrong_number(self, given: int) -> InputError:
        """What is said of another number of arrays than there are inputs."""
        return InputError(f"the graph takes {_count(len(self.inputs), 'input')} ({self.names()}), got {given}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
