"""Element types by NumPy's names, for code that runs without xDSL; `dtypes` has the same with xDSL's types."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

MLIR_NAMES = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "bool": "i1", "int8": "i8",
    "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32",
    "uint64": "ui64",
}  # fmt: skip
"""NumPy's name of an element type -> MLIR's."""


def numpy_dtype_of(name: str) -> np.dtype[np.generic]:
    """The NumPy dtype of one of `MLIR_NAMES`."""
    import numpy as np

    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def item_bytes(name: str) -> int:
    """Bytes that one element takes in memory."""
    bits = "".join(filter(str.isdigit, name))
    return int(bits) // 8 if bits else 1
