"""A model's file, with large weights left where they are.

Protobuf copies what it parses, and once more what is read out of that: of hundreds of MiB of weights this takes longer
than all else that an import does. So protobuf is given a message without the large ones (`onnx_fields`), which stay in
the bytes of the file: those that were read, or, of a large file, the file itself, mapped, as data beside a model is.
A file that is not written in the ordinary way is left to protobuf as a whole; so is a weight whose data is not just
what its elements are in memory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, TypeAlias

from ...dialects.support.dtypes import numpy_dtype
from ...dialects.support.file_facts import is_large
from ...dialects.support.mapped_files import is_watched, mapped
from ...dialects.support.onnx_fields import LARGE, Unusual, without_weights
from .errors import Unsupported
from .tensors import element_type

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnx import ModelProto, TensorProto

    NDArray: TypeAlias = npt.NDArray[np.generic]


def load_apart(path: Path) -> tuple[ModelProto, Mapping[str, NDArray]] | None:
    """A model, and those of its weights that it does not hold, by name; nothing where it is not worth it.

    Raises:
        OSError: the file cannot be read.
        DecodeError: it holds no model.
    """
    import onnx

    data = _read(path)
    if data is None:
        return None
    try:
        message, places = without_weights(data.data)
    except Unusual:
        return onnx.load_model_from_string(data.tobytes()), {}
    model = onnx.load_model_from_string(message)
    return model, _arrays(model.graph.initializer, [data[start:end] for start, end in places])


def _read(path: Path) -> npt.NDArray[np.uint8] | None:
    """What is in an ordinary file, unless that is little. A large one is mapped where somebody finds out if it is
    written to before the weights are in a program."""
    import numpy as np

    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        if sys.byteorder != "little" or not S_ISREG(status.st_mode) or status.st_size < LARGE:
            return None
        if is_large(status) and is_watched():
            return mapped(path, np.uint8)
        return np.frombuffer(file.read(), np.uint8)


def _arrays(weights: Sequence[TensorProto], places: Sequence[npt.NDArray[np.uint8]]) -> dict[str, NDArray]:
    """Weights that were left in the file, as arrays; the others get their data back."""
    arrays: dict[str, NDArray] = {}
    for weight, data in zip(weights, places, strict=True):
        if not data.size:
            continue
        dtype = _plain_dtype(weight)
        shape = tuple(weight.dims)
        if dtype is None or min(shape, default=0) < 0 or prod(shape) * dtype.itemsize != len(data):
            weight.raw_data = data.tobytes()
        elif weight.name in arrays:  # which is not sound, and said so
            weight.raw_data = data.tobytes()
        else:
            arrays[weight.name] = data.view(dtype).reshape(shape)
    return arrays


def _plain_dtype(weight: TensorProto) -> np.dtype[np.generic] | None:
    """The NumPy type of a weight that holds elements as they are in memory."""
    import onnx

    if weight.data_location == onnx.TensorProto.EXTERNAL or weight.HasField("segment"):
        return None
    try:
        dtype = numpy_dtype(element_type(weight.data_type))
    except Unsupported:
        return None
    return dtype if dtype.kind in "fiu" and dtype.isbuiltin == 1 else None
