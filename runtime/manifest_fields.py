"""The fields of a saved graph's manifest: JSON, of which each value is read as the type that it has to be of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

from ..dialects.support.diagnostics import did_you_mean
from ..dialects.support.element_types import MLIR_NAMES
from ..lowering.abi import (
    DYNAMIC,
)
from ..lowering.sizes import Size, from_json
from .archive_members import ArtefactError

if TYPE_CHECKING:
    pass


MANIFEST = "manifest.json"

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def parsed(text: bytes) -> Json:
    try:
        return cast("Json", json.loads(text))
    except (ValueError, RecursionError) as error:
        raise ArtefactError(f"not a saved Weft executable ({MANIFEST}: {error})") from None


class Fields:
    """An object of the manifest, whose fields are read with their types. `where` is its place: `inputs[0].`."""

    def __init__(self, value: Json, where: str):
        if not isinstance(value, dict):
            raise ArtefactError(f"not a saved Weft executable ('{where.rstrip('.') or MANIFEST}' is no object)")
        self._value: Mapping[str, Json] = value
        self._where = where

    def _wrong(self, name: str, wanted: str) -> ArtefactError:
        if name not in self._value:
            return ArtefactError(f"not a saved Weft executable (its manifest has no '{self._where}{name}')")
        return ArtefactError(f"not a saved Weft executable ('{self._where}{name}' in its manifest is not {wanted})")

    def integer(self, name: str) -> int:
        value = self._value.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._wrong(name, "an integer")
        return value

    def size(self, name: str) -> int:
        value = self.integer(name)
        if not 0 <= value < TOO_MUCH:
            raise self._wrong(name, "a number of bytes")
        return value

    def string(self, name: str) -> str:
        value = self._value.get(name)
        if not isinstance(value, str):
            raise self._wrong(name, "a string")
        return value

    def one_of(self, name: str, values: Sequence[str]) -> str:
        value = self.string(name)
        if value not in values:
            raise self._wrong(name, f"one of {', '.join(values)}")
        return value

    def _list(self, name: str, wanted: str) -> list[Json]:
        value = self._value.get(name)
        if not isinstance(value, list):
            raise self._wrong(name, wanted)
        return value

    def strings(self, name: str) -> list[str]:
        values = self._list(name, "a list of strings")
        if not all(isinstance(value, str) for value in values):
            raise self._wrong(name, "a list of strings")
        return cast("list[str]", values)

    def inner(self, name: str) -> Fields:
        if name not in self._value:
            raise self._wrong(name, "an object")
        return Fields(self._value[name], f"{self._where}{name}.")

    def each(self, name: str) -> list[Fields]:
        values = self._list(name, "a list of objects")
        return [Fields(value, f"{self._where}{name}[{number}].") for number, value in enumerate(values)]

    def groups(self, name: str) -> list[list[Fields]]:
        """A list of lists of objects."""
        groups = self._list(name, "a list of lists of objects")
        return [Fields({str(n): group}, f"{self._where}{name}.").each(str(n)) for n, group in enumerate(groups)]

    def names(self) -> list[str]:
        """What fields there are."""
        return list(self._value)

    def has(self, name: str) -> bool:
        """Whether there is such a field."""
        return name in self._value

    def sizes(self, name: str, symbols: int) -> tuple[Size, ...]:
        """A list of sizes over so many symbols."""
        try:
            return tuple(from_json(value, symbols) for value in self._list(name, "a list of sizes"))
        except (ValueError, RecursionError):
            raise self._wrong(name, "a list of sizes") from None

    def sizes_in(self, name: str, symbols: int) -> list[tuple[Size, ...]]:
        """A list of lists of sizes."""
        groups = self._list(name, "a list of lists of sizes")
        return [
            Fields({str(n): group}, f"{self._where}{name}.").sizes(str(n), symbols) for n, group in enumerate(groups)
        ]

    def dtype(self) -> str:
        name = self.string("dtype")
        if name not in MLIR_NAMES:
            raise ArtefactError(
                f"'{self._where}dtype' in its manifest is '{name}', which is no element type",
                hint=did_you_mean(name, MLIR_NAMES),
            )
        return name

    def open_shape(self, name: str) -> tuple[int, ...]:
        """Extents, of which some are not known."""
        values = self._list(name, "a list of extents")
        if not all(value is None or (type(value) is int and value >= 0) for value in values):
            raise self._wrong(name, "a list of extents")
        return tuple(DYNAMIC if value is None else cast("int", value) for value in values)

    def shape(self, name: str = "shape") -> tuple[int, ...]:
        values = self._list(name, "a list of extents")
        if not all(isinstance(value, int) and not isinstance(value, bool) and value >= 0 for value in values):
            raise self._wrong(name, "a list of extents")
        shape = tuple(cast("list[int]", values))
        if prod(shape) >= TOO_MUCH:
            raise self._wrong(name, "that of a tensor which fits in memory")
        return shape

    def extents(self, name: str) -> tuple[int, int, int]:
        """Three numbers: along x, y and z."""
        shape = self.shape(name)
        if len(shape) != 3:
            raise self._wrong(name, "three extents")
        return shape[0], shape[1], shape[2]


MANY = 1 << 31
"""Arguments that no function has."""
TOO_MUCH = 1 << 48
"""Bytes that no machine has."""
