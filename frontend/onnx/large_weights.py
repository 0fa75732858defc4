"""A model's file read once, with large weights left where they are.

Protobuf copies what it parses, and once more what is read out of that: of hundreds of MiB of weights this takes longer
than all else that an import does. So the fields of the file are walked down to the data of the graph's weights,

    ModelProto.graph = 7 -> GraphProto.initializer = 5 -> TensorProto.raw_data = 9

and protobuf is given a message without the large ones, which stay in the bytes that were read. A file that is not
written in the ordinary way (a graph or data twice, an old kind of field, an end that is missing) is left to protobuf as
a whole; so is a weight whose data is not just what its elements are in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, TypeAlias

from ...dialects.support.dtypes import numpy_dtype
from .errors import Unsupported
from .tensors import element_type

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from onnx import ModelProto, TensorProto

    NDArray: TypeAlias = npt.NDArray[np.generic]

LARGE = 1 << 14
"""Bytes of a weight that is worth it, and of a file."""
GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9
_BYTES = 2
"""The kind of a field that says its length first."""
_LONGEST_VARINT = 10


class Unusual(Exception):
    """The file is to be left to protobuf."""


@dataclass(frozen=True)
class _Field:
    """A field of a message: where it begins, and where its contents are."""

    number: int
    kind: int
    begin: int
    start: int
    end: int


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
        message, places = without_weights(data)
    except Unusual:
        return onnx.load_model_from_string(bytes(data)), {}
    model = onnx.load_model_from_string(message)
    return model, _arrays(model.graph.initializer, [data[start:end] for start, end in places])


def _read(path: Path) -> memoryview | None:
    """What is in an ordinary file, unless that is little."""
    import numpy as np

    with open(path, "rb", buffering=0) as file:
        status = path.stat()
        if sys.byteorder != "little" or not S_ISREG(status.st_mode) or status.st_size < LARGE:
            return None
        memory = np.empty(status.st_size, np.uint8)  # in huge pages, where there are such
        view, taken = memory.data, 0
        while got := file.readinto(view[taken:]):
            taken += got
        memory.flags.writeable = False
        return memory[:taken].data


def without_weights(data: memoryview) -> tuple[bytes, list[tuple[int, int]]]:
    """The message of a model without the data of large weights, and for each weight of its graph where the data is;
    where it was left in, a place of no bytes.

    Raises:
        Unusual: it is not written in the ordinary way.
    """
    places: list[tuple[int, int]] = []
    graphs = [field for field in _fields(data, 0, len(data)) if field.number == GRAPH]
    if len(graphs) != 1 or graphs[0].kind != _BYTES:
        raise Unusual
    graph = graphs[0]
    pieces: list[bytes | memoryview] = []
    kept = graph.start
    for field in _fields(data, graph.start, graph.end):
        if field.number != INITIALIZER:
            continue
        place = _large_data(data, field)
        places.append((place.start, place.end) if place is not None else (0, 0))
        if place is not None:
            tensor = [data[field.start : place.begin], data[place.end : field.end]]
            length = sum(map(len, tensor))
            pieces += [data[kept : field.begin], _tag(INITIALIZER), _varint(length), *tensor]
            kept = field.end
    pieces.append(data[kept : graph.end])
    size = sum(map(len, pieces))
    whole = [data[: graph.begin], _tag(GRAPH), _varint(size), *pieces, data[graph.end :]]
    return b"".join(whole), places


def _large_data(data: memoryview, tensor: _Field) -> _Field | None:
    """The data of a weight, if it is large."""
    if tensor.kind != _BYTES:
        raise Unusual
    found = [field for field in _fields(data, tensor.start, tensor.end) if field.number == RAW_DATA]
    if len(found) > 1 or any(field.kind != _BYTES for field in found):
        raise Unusual
    return found[0] if found and found[0].end - found[0].start >= LARGE else None


def _arrays(weights: Sequence[TensorProto], places: Sequence[memoryview]) -> dict[str, NDArray]:
    """Weights that were left in the file, as arrays; the others get their data back."""
    import numpy as np

    arrays: dict[str, NDArray] = {}
    for weight, data in zip(weights, places, strict=True):
        if not data:
            continue
        dtype = _plain_dtype(weight)
        shape = tuple(weight.dims)
        if dtype is None or min(shape, default=0) < 0 or prod(shape) * dtype.itemsize != len(data):
            weight.raw_data = bytes(data)
        elif weight.name in arrays:  # which is not sound, and said so
            weight.raw_data = bytes(data)
        else:
            arrays[weight.name] = np.frombuffer(data, dtype).reshape(shape)
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


def _fields(data: memoryview, at: int, end: int) -> Iterator[_Field]:
    """The fields of a message, which stands from `at` to `end`.

    Raises:
        Unusual: there are groups, or the last field goes on beyond the end.
    """
    while at < end:
        begin = at
        tag, at = _read_varint(data, at, end)
        number, kind = tag >> 3, tag & 7
        start = at
        match kind:
            case 0:
                _, at = _read_varint(data, at, end)
            case 1:
                at += 8
            case 2:
                length, start = _read_varint(data, at, end)
                at = start + length
            case 5:
                at += 4
            case _:
                raise Unusual
        if at > end:
            raise Unusual
        yield _Field(number, kind, begin, start, at)


def _read_varint(data: memoryview, at: int, end: int) -> tuple[int, int]:
    """A number, and where it ends."""
    value = 0
    for place in range(at, min(end, at + _LONGEST_VARINT)):
        byte = data[place]
        value |= (byte & 0x7F) << 7 * (place - at)
        if byte < 0x80:
            return value, place + 1
    raise Unusual


def _tag(number: int) -> bytes:
    return _varint(number << 3 | _BYTES)


def _varint(value: int) -> bytes:
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
