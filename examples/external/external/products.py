"""What compiled code calls for a region of `blas`. It needs NumPy, and nothing of Weft."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def product(*buffers: np.ndarray[Any, Any]) -> None:
    """Compute products: inputs and constants, what the backend has written down, and where the results go."""
    number = next(n for n, buffer in enumerate(buffers) if buffer.dtype.itemsize == 1)
    values: list[Any] = [*buffers[:number]]
    plan: dict[str, Any] = json.loads(buffers[number].tobytes())
    for step in plan["steps"]:
        a, b, *bias = [values[place] for place in step["operands"]]
        first, second = step["transposed"]
        value: Any = np.matmul(np.swapaxes(a, -1, -2) if first else a, np.swapaxes(b, -1, -2) if second else b)
        for each in bias:
            value += each
        if step["relu"]:
            np.maximum(value, 0, out=value)
        values.append(value)
    for target, result in zip(buffers[number + 1 :], plan["results"], strict=True):
        target[...] = values[result]
