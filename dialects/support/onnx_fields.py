"""The fields of an ONNX model's file, walked down to the data of the graph's weights, without protobuf:

    ModelProto.graph = 7 -> GraphProto.initializer = 5 -> TensorProto.raw_data = 9

A file that is not written in the ordinary way (a graph or data twice, an old kind of field, an end that is missing) is
not read here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

LARGE = 1 << 14
"""Bytes of a weight that is left out."""
GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9
_BYTES = 2
"""The kind of a field that says its length first."""
_LONGEST_VARINT = 10


class Unusual(Exception):
    """The file is not written in the ordinary way."""


@dataclass(frozen=True)
class _Field:
    """A field of a message: where it begins, and where its contents are."""

    number: int
    kind: int
    begin: int
    start: int
    end: int


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
