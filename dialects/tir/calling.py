"""What the interpreter calls for a `tir.call`: C through `ctypes`, Python as it is, LLVM's intrinsics by NumPy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import Float32Type, Float64Type, IndexType, IntegerType, MemRefType
from xdsl.ir import Attribute

from ..support.checks import EXCEPTION, CheckError
from ..support.diagnostics import Diagnostic
from ..support.dtypes import numpy_dtype
from ..support.hints import isa
from ..support.nd import as_nd
from ..support.packed import as_scalar, extern_address, get_global_func
from .buffers import memref_of
from .calls import CallOp, Convention, Effect, root_of

if TYPE_CHECKING:
    import numpy.typing as npt

FAILED = "the packed function '{name}' failed: {{exception}}"
"""What is said of a packed function that raises an exception."""


def _fma(a: Any, b: Any, c: Any) -> Any:
    return a.dtype.type(np.float64(a) * np.float64(b) + np.float64(c))


def _population(x: int, width: int) -> int:
    return (x & (1 << width) - 1).bit_count()


def _leading_zeros(x: int, zero_is_poison: int, width: int) -> int:
    return width - (x & (1 << width) - 1).bit_length()


def _largest(a: int, b: int, width: int) -> int:
    return max(a, b)


def _least(a: int, b: int, width: int) -> int:
    return min(a, b)


def _absolute(a: int, least_is_poison: int, width: int) -> int:
    return -a if -(1 << (width - 1)) < a < 0 else a


INTRINSICS: Mapping[str, Callable[..., Any]] = {
    **{
        f"llvm.{name}": getattr(np, ufunc)
        for name, ufunc in {
            "sqrt": "sqrt", "fabs": "abs", "sin": "sin", "cos": "cos", "exp": "exp", "exp2": "exp2", "log": "log",
            "log2": "log2", "log10": "log10", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint",
            "nearbyint": "rint", "roundeven": "rint", "copysign": "copysign", "pow": "power", "minnum": "fmin",
            "maxnum": "fmax", "minimum": "minimum", "maximum": "maximum",
        }.items()
    },
    "llvm.fma": _fma,
    "llvm.fmuladd": _fma,
    "llvm.ctpop": _population,
    "llvm.ctlz": _leading_zeros,
    "llvm.smax": _largest,
    "llvm.smin": _least,
    "llvm.abs": _absolute,
}  # fmt: skip
"""What is known of intrinsics on scalars, by their names without the type; of integers the width comes last."""

_C_TYPES: Mapping[type, Any] = {Float32Type: ctypes.c_float, Float64Type: ctypes.c_double, IndexType: ctypes.c_int64}


def c_type(type: Attribute) -> Any:
    """The type of a scalar for `ctypes`."""
    if isa(type, IntegerType):
        return ctypes.c_int32 if type.width.data == 32 else ctypes.c_int64
    return _C_TYPES[type.__class__]


class Caller:
    """Makes one call. It takes scalars as they are, and buffers as the list of their elements and a place in it."""

    def __init__(self, op: CallOp):
        self.op = op
        self.effects = [effect for _, effect in op.buffers]

    def __call__(self, given: Sequence[Any]) -> Any:
        """What the function gives.

        Raises:
            Diagnostic: there is no such function.
            CheckError: it raises an exception.
        """
        if self.op.kind == Convention.INTRIN:
            return self._intrinsic(given)
        effects = iter(self.effects)
        arguments: list[Any] = []
        written: list[tuple[list[Any], npt.NDArray[np.generic]]] = []
        for value, argument in zip(self.op.arguments, given, strict=True):
            if not isinstance(value.type, MemRefType):
                arguments.append(argument)
                continue
            memory, place = cast("tuple[list[Any], int]", argument)
            type = memref_of(root_of(value))
            array = np.zeros(len(memory), numpy_dtype(type.element_type))
            array[:] = [0 if element is None else element for element in memory]
            if next(effects) != Effect.READ:
                written.append((memory, array))
            elif self.op.kind == Convention.PACKED:
                array.flags.writeable = False
            arguments.append((array.reshape(type.get_shape()), place))
        result = self._extern(arguments) if self.op.kind == Convention.EXTERN else self._packed(arguments)
        for memory, array in written:
            memory[:] = [int(x) for x in array] if array.dtype.kind in "biu" else list(array)
        return result

    def _packed(self, arguments: Sequence[Any]) -> Any:
        name = self.op.callee.data
        try:
            function = get_global_func(name)
            result = function(*map(_given, arguments))
            if not self.op.results:
                return None
            type = self.op.results[0].type
            return as_scalar(result, None if isinstance(type, IndexType) else numpy_dtype(type))
        except Exception as error:
            said = error.message if isinstance(error, Diagnostic) else str(error)
            text = FAILED.format(name=name).replace(EXCEPTION, f"{error.__class__.__name__}: {said}")
            raise CheckError.of(self.op, text, 1, 1) from error

    def _extern(self, arguments: Sequence[Any]) -> Any:
        name = self.op.callee.data
        if (address := extern_address(name)) is None:
            hint = "weft.load_library(path) loads the library that it stands in"
            raise Diagnostic.at(self.op, f"there is no C function '{name}' in this process", hint=hint)
        types = [
            ctypes.c_void_p if isinstance(value.type, MemRefType) else c_type(value.type) for value in self.op.arguments
        ]
        results = [result.type for result in self.op.results]
        function = ctypes.CFUNCTYPE(c_type(results[0]) if results else None, *types)(address)
        given: list[Any] = []
        for argument in arguments:
            if isinstance(argument, tuple):
                array, place = cast("tuple[npt.NDArray[np.generic], int]", argument)
                given.append(array.ctypes.data + place * array.itemsize)
            else:
                given.append(argument.item() if isinstance(argument, np.generic) else argument)
        result = function(*given)
        if not results:
            return None
        return result if isinstance(result, int) else numpy_dtype(results[0]).type(result)

    def _intrinsic(self, given: Sequence[Any]) -> Any:
        name = bare_name(self.op.callee.data)
        if (known := INTRINSICS.get(name)) is None:
            raise Diagnostic.at(
                self.op, f"the interpreter does not know the intrinsic '{name}'", hint="machine code has it, perhaps"
            )
        type = self.op.operands[0].type
        with np.errstate(all="ignore"):
            return known(*given, type.width.data) if isa(type, IntegerType) else known(*given)


def bare_name(name: str) -> str:
    """An intrinsic's name without the type that it is on: `llvm.sqrt` of `llvm.sqrt.f32`."""
    head, _, last = name.rpartition(".")
    return head if last in ("f32", "f64", "i32", "i64") else name


def _given(argument: object) -> object:
    """What a function of Python takes: an array, or a number of Python's own, as machine code gives it."""
    if isinstance(argument, tuple):
        return as_nd(cast("tuple[Any, int]", argument)[0])
    return cast("object", argument.item()) if isinstance(argument, np.generic) else argument
