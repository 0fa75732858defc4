"""Arrays under TVM's names (`tvm.nd`): NumPy's, with `numpy()`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .devices import cpu as cpu
from .devices import cuda as cuda
from .dialects.relay.devices import VirtualDevice
from .dialects.support.arguments import checked
from .dialects.support.dtypes import numpy_dtype, scalar_type
from .dialects.support.nd import NDArray as NDArray
from .dialects.support.nd import as_nd

__all__ = ["NDArray", "array", "cpu", "cuda", "empty"]


@checked
def array(arr: npt.ArrayLike, device: VirtualDevice | None = None) -> NDArray:
    """A copy of an array; on the host, whatever the device, where executors take it from."""
    return as_nd(np.array(arr, order="C"))


@checked
def empty(shape: Sequence[int], dtype: str = "float32", device: VirtualDevice | None = None) -> NDArray:
    """An array whose elements are anything."""
    return as_nd(np.empty(tuple(shape), numpy_dtype(scalar_type(dtype))))
