"""Element types by NumPy's names, for code that runs without xDSL; `dtypes` has the same with xDSL's types."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

STORAGE_NAMES = {
    "float8_e5m2": "f8E5M2", "float8_e5m2fnuz": "f8E5M2FNUZ", "float8_e4m3": "f8E4M3", "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e4m3b11fnuz": "f8E4M3B11FNUZ", "float8_e3m4": "f8E3M4",
    "float8_e8m0fnu": "f8E8M0FNU", "float6_e2m3fn": "f6E2M3FN", "float6_e3m2fn": "f6E3M2FN",
    "float4_e2m1fn": "f4E2M1FN", "int4": "i4", "uint4": "ui4", "int2": "i2", "uint2": "ui2",
}  # fmt: skip
"""The types of few bits, which numbers are kept in and moved about in, but not computed in: the names that `ml_dtypes`
gives them -> MLIR's. An element takes a byte in memory."""

MLIR_NAMES = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "bool": "i1", "int8": "i8",
    "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32",
    "uint64": "ui64", **STORAGE_NAMES,
}  # fmt: skip
"""NumPy's name of an element type -> MLIR's."""


def numpy_dtype_of(name: str) -> np.dtype[np.generic]:
    """The NumPy dtype of one of `MLIR_NAMES`."""
    import numpy as np

    if name == "bfloat16" or name in STORAGE_NAMES:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
    return np.dtype(name)


def item_bytes(name: str) -> int:
    """Bytes that one element takes in memory."""
    if name == "bool" or name in STORAGE_NAMES:
        return 1
    return int("".join(filter(str.isdigit, name))) // 8
