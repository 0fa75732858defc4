"""Tensors on the command line: `x=2x3xf32=[1, 2, 3, 4, 5, 6]`, `x=@in.npy`, `.npz` files, random ones."""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from weft.dialects.relay.base import DYNAMIC
from weft.dialects.support.advice import give_shapes
from weft.dialects.support.diagnostics import Diagnostic, Place, UsageError, did_you_mean
from weft.dialects.support.element_types import MLIR_NAMES, numpy_dtype_of
from weft.lowering.abi import TensorSpec
from weft.tools.output import write_output

if TYPE_CHECKING:
    import numpy.typing as npt

    NDArray: TypeAlias = npt.NDArray[np.generic]

DTYPES = {mlir: name for name, mlir in MLIR_NAMES.items()}
"""Element types as MLIR writes them, by their names in NumPy."""

RANDOM_INTEGERS = 10
"""Random integers are less than this, so that they can be indices; those of 8 bits take all their values."""


def read_input(text: str) -> tuple[str, NDArray]:
    """The name and the value in `NAME=@FILE.npy` or `NAME=SHAPExTYPE=VALUES`.

    Values are nested lists, or one number for all elements: `x=2x3xf32=[[1, 2, 3], [4, 5, 6]]`, `x=2x3xf32=0.5`,
    `n=i64=7`. They may be `nan`, `inf`, `-inf`, `true`, `false`.

    Raises:
        UsageError: it reads otherwise.
        Diagnostic: the file cannot be read.
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise _malformed(text)
    if value.startswith("@"):
        return name, _read_npy(value[1:])
    type, equals, numbers = value.partition("=")
    if not equals:
        raise _malformed(text)
    *dimensions, element = type.split("x")
    if element not in DTYPES or not all(d.isdigit() for d in dimensions):
        hint = did_you_mean(element, DTYPES) or f"element types are {', '.join(DTYPES)}"
        raise UsageError(f"input '{name}': '{type}' is not a tensor type like 2x3xf32", hint=hint)
    shape = tuple(map(int, dimensions))
    return name, _array(name, numbers, shape, numpy_dtype_of(DTYPES[element]))


def _malformed(text: str) -> UsageError:
    return UsageError(f"'{text}' is not an input", hint="write x=@in.npy, x=2x3xf32=[...] or x=2x3xf32=0.5")


def _array(name: str, text: str, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> NDArray:
    spelled = re.sub(r"\binf\b", "Infinity", re.sub(r"\bnan\b", "NaN", text))
    try:
        given = np.array(json.loads(spelled), object)  # integers of Python, of any size
        if not all(isinstance(value, int | float) for value in given.flat):
            raise ValueError("not numbers")
    except (ValueError, RecursionError):
        shown = text if len(text) <= 80 else f"{text[:77]}..."
        raise UsageError(f"input '{name}': '{shown}' is not a list of numbers", hint="as in [1, -2.5, inf]") from None
    try:
        with np.errstate(all="ignore"):
            converted = given.astype(dtype)
        exact = dtype.kind not in "biu" or bool(np.all(converted.astype(object) == given))
    except (OverflowError, ValueError):
        exact = False
        converted = given
    if not exact:
        raise UsageError(f"input '{name}': '{text}' holds what is not of type {dtype.name}")
    if given.ndim == 0:
        if prod(shape) * dtype.itemsize > _memory():
            raise UsageError(f"input '{name}': {list(shape)} elements are more than this machine's memory holds")
        return np.full(shape, converted, dtype)
    if given.shape != shape and not (given.ndim == 1 and given.size == prod(shape)):
        raise UsageError(f"input '{name}': the values have shape {list(given.shape)}, the type {list(shape)}")
    return converted.reshape(shape)


def _read_npy(path: str) -> NDArray:
    try:
        return cast("NDArray", np.load(path, allow_pickle=False))
    except Exception as error:  # whatever NumPy's reader of headers meets in what is damaged
        raise _unreadable(path, error) from error


def read_npz(path: str) -> dict[str, NDArray]:
    """The arrays of an `.npz` file by name.

    Raises:
        Diagnostic: the file cannot be read.
    """
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            raise Diagnostic("this is one array, not a file of named ones", Place(path), hint="give an .npz file")
        with loaded as file:
            arrays = {name: file[name] for name in file.files}
    except Diagnostic:
        raise
    except Exception as error:  # as above, and what the reader of archives does
        raise _unreadable(path, error) from error
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise Diagnostic(f"cannot be read: '{name}' is no array", Place(path))
    return arrays


def write_npz(path: str, arrays: Mapping[str, NDArray]) -> None:
    """Write named arrays, whole or not at all.

    Raises:
        Diagnostic: the file cannot be written.
    """
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    write_output(path, file.getvalue())


def _unreadable(path: str, error: Exception) -> Diagnostic:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if "pickle" in reason:  # what NumPy takes every other file for
        return Diagnostic("this holds no arrays of numbers", Place(path), hint="numpy.save and numpy.savez write such")
    return Diagnostic(f"cannot be read: {reason.lower()}", Place(path))


def complete(
    specs: Sequence[TensorSpec], given: Mapping[str, NDArray], seed: int, integers: int = RANDOM_INTEGERS
) -> dict[str, NDArray]:
    """One array for each input: those given, random ones for the others.

    Raises:
        UsageError: a name that is given is not an input's.
        Diagnostic: an array that is given has not its input's shape or dtype.
    """
    names = [spec.name for spec in specs]
    for name in given:
        if name not in names:
            hint = did_you_mean(name, names) or f"inputs: {', '.join(map(describe, specs))}"
            raise UsageError(f"there is no input '{name}'", hint=hint)
    size = sum(spec.bytes for spec in specs if spec.name not in given and DYNAMIC not in spec.shape)
    if size > _memory():
        raise Diagnostic(f"random inputs of {size} bytes are more than this machine's memory holds")
    generator = np.random.default_rng(seed)
    arrays: dict[str, NDArray] = {}
    for spec in specs:
        if spec.name in given:
            arrays[spec.name] = check_input(spec, given[spec.name])
        elif DYNAMIC in spec.shape:
            raise UsageError(
                f"input '{spec.name}' is {spec.type}",
                hint=give_shapes(spec.name, "x".join("1" if n == DYNAMIC else str(n) for n in spec.shape)),
            )
        else:
            arrays[spec.name] = random_array(spec, generator, integers)
    return arrays


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_input(spec: TensorSpec, array: NDArray) -> NDArray:
    """`array`, if it is what the input `spec` takes.

    Raises:
        Diagnostic: it has another shape or dtype.
    """
    array = restored(spec, array)
    shape = spec.shape
    fits = len(shape) == array.ndim and all(n in (DYNAMIC, m) for n, m in zip(shape, array.shape, strict=True))
    if array.dtype != numpy_dtype_of(spec.dtype) or not fits:
        raise Diagnostic(f"input '{spec.name}' is {spec.type}, not {array.dtype.name} of shape {list(array.shape)}")
    return array


def restored(spec: TensorSpec, array: NDArray) -> NDArray:
    """`bfloat16` comes out of a file as pairs of bytes."""
    dtype = numpy_dtype_of(spec.dtype)
    return array.view(dtype) if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize else array


def random_array(spec: TensorSpec, generator: np.random.Generator, integers: int = RANDOM_INTEGERS) -> NDArray:
    """Random elements: floats of a normal distribution, integers from 0 to `integers`, 8-bit ones of all values."""
    shape, dtype = spec.shape, numpy_dtype_of(spec.dtype)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        low, high = (np.iinfo(dtype.name).min, np.iinfo(dtype.name).max + 1) if dtype.itemsize == 1 else (0, integers)
        return generator.integers(low, high, shape).astype(dtype)
    return generator.standard_normal(shape, np.float32).astype(dtype)


def describe(spec: TensorSpec) -> str:
    """`x: tensor<2x3xf32>`."""
    return str(spec)


def report_arrays(specs: Iterable[TensorSpec], arrays: Mapping[str, NDArray]) -> str:
    """The outputs as text, large ones shortened."""
    lines: list[str] = []
    for spec in specs:
        array = arrays[spec.name]
        shown = array.astype(np.float32) if spec.dtype == "bfloat16" else array
        body = np.array2string(shown, separator=", ", max_line_width=100, threshold=200, precision=6)
        separator = "\n" if "\n" in body else " "
        lines.append(f"{describe(spec)} ={separator}{body}")
    return "\n".join(lines)
