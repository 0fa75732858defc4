"""xDSL scalar types <-> NumPy dtypes, one table both ways."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E3M4Type,
    Float8E4M3B11FNUZType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E4M3Type,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute

from .diagnostics import did_you_mean
from .element_types import MLIR_NAMES, STORAGE_NAMES, numpy_dtype_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


SMALL_FLOATS = (
    Float8E5M2Type, Float8E5M2FNUZType, Float8E4M3Type, Float8E4M3FNType, Float8E4M3FNUZType, Float8E4M3B11FNUZType,
    Float8E3M4Type, Float8E8M0FNUType, Float6E2M3FNType, Float6E3M2FNType, Float4E2M1FNType,
)  # fmt: skip
"""The floats of at most 8 bits."""

_ALL_SMALL = frozenset[object](SMALL_FLOATS)
_NAMES = {mlir: name for name, mlir in STORAGE_NAMES.items()}
_SMALL_FLOATS = {_NAMES[type.name]: type for type in SMALL_FLOATS}


def is_small_float(type: Attribute) -> bool:
    """Whether it is a float of at most 8 bits."""
    return type.__class__ in _ALL_SMALL  # `isinstance` takes long where it says no


def is_storage(type: Attribute) -> bool:
    """Whether elements of this type are kept and moved, but not computed with: floats of at most 8 bits, integers of 2
    and 4."""
    return is_small_float(type) or (isinstance(type, IntegerType) and 1 < type.bitwidth < 8)


def dtype_name(type: Attribute) -> str:
    """NumPy's (and TVM's) name of a scalar type: `f32` -> `"float32"`, `i1` -> `"bool"`, `ui8` -> `"uint8"`.

    Raises:
        TypeError: NumPy has no such type.
    """
    match type:
        case Float32Type():
            return "float32"
        case Float64Type():
            return "float64"
        case Float16Type():
            return "float16"
        case BFloat16Type():
            return "bfloat16"
        case IndexType():
            return "int64"
        case IntegerType():
            width = type.width.data
            if width == 1:
                return "bool"
            if width in (2, 4, 8, 16, 32, 64):
                return f"uint{width}" if type.signedness.data == Signedness.UNSIGNED else f"int{width}"
        case _ if isinstance(type, SMALL_FLOATS):
            return _NAMES[type.name]
        case _:
            pass
    raise TypeError(f"no NumPy dtype for {type}")


def numpy_dtype(type: Attribute) -> np.dtype[np.generic]:
    """The NumPy dtype that holds elements of the scalar type `type`."""
    return numpy_dtype_of(dtype_name(type))


def scalar_type(dtype: npt.DTypeLike | str) -> Attribute:
    """The xDSL scalar type of a NumPy dtype or its name; integers are signless where NumPy's are signed. As in TVM,
    `"int"`, `"uint"` and `"float"` are of 32 bits.

    Raises:
        TypeError: Weft has no such element type.
    """
    return _scalar_type(dtype if isinstance(dtype, str) else _name_of(dtype))


@cache
def _scalar_type(name: str) -> Attribute:
    match name:
        case "float" | "float32":
            return Float32Type()
        case "float64":
            return Float64Type()
        case "float16":
            return Float16Type()
        case "bfloat16":
            return BFloat16Type()
        case "int" | "uint":
            return _scalar_type(f"{name}32")
        case "bool" | "uint1":
            return IntegerType(1)
        case "int2" | "int4" | "int8" | "int16" | "int32" | "int64":
            return IntegerType(int(name[3:]))
        case "uint2" | "uint4" | "uint8" | "uint16" | "uint32" | "uint64":
            return IntegerType(int(name[4:]), Signedness.UNSIGNED)
        case _ if name in _SMALL_FLOATS:
            return _SMALL_FLOATS[name]()
        case _:
            near = did_you_mean(name, MLIR_NAMES)
            raise TypeError(f"weft has no element type for dtype '{name}'" + (f"; {near}" if near else ""))


def _name_of(dtype: npt.DTypeLike) -> str:
    import numpy as np

    return np.dtype(dtype).name


def byte_width(type: Attribute) -> int:
    """Bytes that one element takes in memory (`i1`, `i4` and `f4E2M1FN` take one)."""
    match type:
        case Float64Type() | IndexType():
            return 8
        case Float32Type():
            return 4
        case Float16Type() | BFloat16Type():
            return 2
        case IntegerType():
            return (type.width.data + 7) // 8
        case _ if isinstance(type, SMALL_FLOATS):
            return 1
        case _:
            raise TypeError(f"{type} has no size in memory")
