"""The parts of a compiled graph, read from the fields of a manifest (`lowering/manifest.py` writes them).

Each raises `ArtefactError` where a field is missing, or is not what it has to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..dialects.support.element_types import item_bytes, numpy_dtype_of
from ..lowering.abi import (
    ALIGNMENT,
    ARGUMENTS,
    DYNAMIC,
    PARAMETERS,
    Argument,
    DeviceCode,
    DeviceMemory,
    HostedSegment,
    Launch,
    Loop,
    Parameter,
    ProgramPart,
    Site,
    Step,
    TensorSpec,
)
from ..lowering.sizes import read_extents
from .archive_members import ArtefactError
from .manifest_fields import MANY, Fields

if TYPE_CHECKING:
    from ..lowering.abi import NDArray


def read_constants(fields: Fields, blob: memoryview) -> Iterator[NDArray]:
    position = 0
    for entry in fields.each("constants"):
        dtype, shape = entry.dtype(), entry.shape()
        size = prod(shape) * item_bytes(dtype)
        if position + size > len(blob):
            raise ArtefactError("the constants are fewer bytes than their types say")
        yield np.frombuffer(blob[position : position + size], numpy_dtype_of(dtype)).reshape(shape)
        position += size + -size % ALIGNMENT
    if position != len(blob):
        raise ArtefactError("the constants are more bytes than their types say")


def read_site(entry: Fields) -> Site:
    return Site(entry.string("text"), entry.string("file"), entry.size("line"), entry.size("column"))


def read_parameter(entry: Fields) -> Parameter:
    element = entry.string("element") if entry.has("element") else ""
    shape = entry.shape() if entry.has("shape") else None
    return Parameter(entry.one_of("kind", PARAMETERS), entry.size("bytes"), element, shape)


def read_part(entry: Fields) -> ProgramPart:
    symbols, decided = entry.size("symbols"), entry.size("decided")
    steps = read_steps(entry, symbols + decided)
    return ProgramPart(entry.string("thread"), entry.size("inputs"), entry.size("outputs"), symbols, decided, steps)


def read_segment(entry: Fields) -> HostedSegment:
    symbols = tuple(entry.strings("symbols")) if entry.has("symbols") else ()
    count = len(symbols)
    extents = entry.string("extents") if entry.has("extents") else ""
    known = count + len(read_extents(extents, count).read)
    segment = HostedSegment(
        tuple(read_spec(spec, count) for spec in entry.each("inputs")),
        tuple(read_spec(spec, count) for spec in entry.each("outputs")),
        tuple(tuple(read_site(site) for site in record) for record in entry.groups("checks")),
        tuple(read_step(step, known) for step in entry.each("steps")),
        tuple(read_device(device, count) for device in entry.each("devices")),
        symbols,
        extents,
    )
    if not segment.devices or not segment.steps:
        raise ArtefactError("a part of the program is on no device, or does nothing")
    return segment


def read_device(entry: Fields, symbols: int) -> DeviceMemory:
    pools = tuple(entry.sizes_in("pools", symbols)) if entry.has("pools") else ()
    return DeviceMemory(entry.string("name"), entry.size("arena_bytes"), entry.size("counter_bytes"), pools)


def read_steps(entry: Fields, symbols: int) -> tuple[Step | Loop, ...]:
    """The steps and loops of a graph, of a part of a program, or of a loop."""
    return tuple(
        _read_loop(step, symbols) if step.has("turns") else read_step(step, symbols) for step in entry.each("steps")
    )


def _read_loop(entry: Fields, symbols: int) -> Loop:
    match entry.sizes("turns", symbols):
        case (turns,):
            return Loop(turns, read_steps(entry, symbols + 1))
        case _:
            raise ArtefactError("a loop of steps has one number of turns")


def read_step(entry: Fields, symbols: int) -> Step:
    arguments = tuple(read_argument(argument, symbols) for argument in entry.each("arguments"))
    return Step(entry.string("kernel"), tuple(entry.strings("layers")), arguments, entry.size("device"))


def read_argument(entry: Fields, symbols: int) -> Argument:
    at, bytes, device = entry.size("at"), entry.size("bytes"), entry.size("device")
    sizes = None
    if entry.has("sizes"):
        match entry.sizes("sizes", symbols):
            case (place, length):
                sizes = place, length
            case _:
                raise ArtefactError("an argument of a step has no place and length")
    return Argument(entry.one_of("kind", ARGUMENTS), at, bytes, device, sizes)


def read_device_code(entry: Fields) -> DeviceCode:
    launches: list[Launch] = []
    for each in entry.each("launches"):
        grid, arguments = each.sizes("grid", MANY), each.shape("arguments")
        if len(grid) != 3:
            raise ArtefactError("a grid of a GPU has three sizes")
        launches.append(Launch(each.string("kernel"), (grid[0], grid[1], grid[2]), each.extents("block"), arguments))
    return DeviceCode(entry.string("function"), entry.string("source"), tuple(launches))


def read_spec(entry: Fields, symbols: int) -> TensorSpec:
    if not entry.has("extents"):
        return TensorSpec(entry.string("name"), entry.dtype(), entry.shape())
    extents = entry.sizes("extents", symbols)
    shape = tuple(extent if isinstance(extent, int) else DYNAMIC for extent in extents)
    return TensorSpec(entry.string("name"), entry.dtype(), shape, extents)


def read_output(entry: Fields, symbols: int) -> TensorSpec:
    """The same of an output, which a program may find the extents of."""
    if not entry.has("found"):
        return read_spec(entry, symbols)
    return TensorSpec(entry.string("name"), entry.dtype(), entry.open_shape("found"))
