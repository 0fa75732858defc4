"""What Python calls a program in a library by: beside its artefact stands whether it is a function or a graph.

A function (`weft.build`) has a name, and arguments, each an input or an output of the program; of open extents, callers
need not give all of the inputs that say what a symbol is. A graph (`relay.build`)
has a name, its JSON as TVM writes it, names of outputs, and parameters: those that are constants of the program anyway
are named by their number, and the others stand in TVM's format. A program that is run as a whole (`relay.build` for the
executor `aot`) has a name. What has no such word, as what
`weft.Executable.export_library` writes, is a function of its inputs and outputs, in this order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np

from ...lowering.abi import CompiledGraph
from ...lowering.sizes import read_extents
from ..archive_members import ArtefactError
from ..manifest_fields import Json
from ..param_dict import load_param_dict, save_param_dict

if TYPE_CHECKING:
    from ...lowering.abi import NDArray

INTERFACE, PARAMS = "interface.json", "params"
FUNCTION, GRAPH, PROGRAM = "function", "graph", "program"


@dataclass(frozen=True)
class Piece:
    """A program that a library is made of: what C calls it, and what stands beside it in its artefact."""

    graph: CompiledGraph
    name: str
    beside: Mapping[str, bytes] = field(default_factory=dict[str, bytes])


@dataclass(frozen=True)
class FunctionInterface:
    """A function: for each argument its name, its number among the program's inputs or outputs, and whether it is an
    output; and the number of the argument that holds what the function gives, if it gives something."""

    name: str
    arguments: tuple[tuple[str, int, bool], ...]
    result: int | None = None

    def beside(self) -> dict[str, bytes]:
        """What stands in the artefact."""
        described = {"kind": FUNCTION, "name": self.name, "arguments": self.arguments, "result": self.result}
        return {INTERFACE: json.dumps(described).encode()}


@dataclass(frozen=True)
class ProgramInterface:
    """A graph that is run as a whole."""

    name: str
    device_type: str

    def beside(self) -> dict[str, bytes]:
        """What stands in the artefact."""
        return {INTERFACE: json.dumps({"kind": PROGRAM, "name": self.name, "device_type": self.device_type}).encode()}


@dataclass(frozen=True)
class GraphInterface:
    """A graph that is run node by node."""

    name: str
    device_type: str
    json: str
    outputs: tuple[str, ...]
    params: Mapping[str, NDArray]

    def beside(self, graph: CompiledGraph) -> dict[str, bytes]:
        """What stands in the artefact of `graph`."""
        places = {name: _place(array, graph.constants) for name, array in self.params.items()}
        others = {name: array for name, array in self.params.items() if places[name] is None}
        described = {
            "kind": GRAPH,
            "name": self.name,
            "device_type": self.device_type,
            "graph": self.json,
            "outputs": self.outputs,
            "params": places,
        }
        found = {INTERFACE: json.dumps(described).encode()}
        return {**found, PARAMS: bytes(save_param_dict(others))} if others else found


def _place(array: NDArray, constants: Sequence[NDArray]) -> int | None:
    """The number of the constant that an array is, bit for bit."""
    for number, each in enumerate(constants):
        if each.dtype == array.dtype and each.shape == array.shape and (each is array or _bytes(each) == _bytes(array)):
            return number
    return None


def _bytes(array: NDArray) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def interface_of(
    graph: CompiledGraph, beside: Mapping[str, bytes]
) -> FunctionInterface | GraphInterface | ProgramInterface:
    """What an artefact in a library is called by.

    Raises:
        ArtefactError: what stands there is none, or does not fit the graph.
    """
    if INTERFACE not in beside:
        inputs = [(spec.name, number, False) for number, spec in enumerate(graph.inputs)]
        return FunctionInterface("main", (*inputs, *((s.name, n, True) for n, s in enumerate(graph.outputs))))
    try:
        said = cast("Json", json.loads(beside[INTERFACE]))
    except (ValueError, RecursionError) as error:
        raise ArtefactError(f"not a library of Weft ({INTERFACE}: {error})") from None
    match said:
        case {"kind": "function", "name": str(name), "arguments": list(arguments), "result": int() | None as result}:
            return _function(graph, name, arguments, result)
        case {"kind": "program", "name": str(name), "device_type": str(device)}:
            return ProgramInterface(name, device)
        case {
            "kind": "graph", "name": str(name), "device_type": str(device), "graph": str(text),
            "outputs": list(outputs), "params": dict(params),
        }:  # fmt: skip
            if not all(isinstance(output, str) for output in outputs):
                raise ArtefactError(f"the outputs of the graph '{name}' have no names")
            others = load_param_dict(beside[PARAMS]) if PARAMS in beside else {}
            found = {each: _param(graph, each, place, others) for each, place in params.items()}
            return GraphInterface(name, device, text, tuple(cast("list[str]", outputs)), found)
        case _:
            raise ArtefactError(f"not a library of Weft ({INTERFACE} is of no known kind)")


def _function(graph: CompiledGraph, name: str, arguments: list[Json], result: int | None) -> FunctionInterface:
    found: list[tuple[str, int, bool]] = []
    for argument in arguments:
        match argument:
            case [str(called), int(number), bool(is_output)]:
                found.append((called, number, is_output))
            case _:
                raise ArtefactError(f"an argument of '{name}' has no name, number and direction")
    implied = {tensor for tensor, _, _ in read_extents(graph.extents, len(graph.symbols)).held}
    empty = {number for number, spec in enumerate(graph.outputs) if 0 in spec.shape}  # of what writes nothing
    for is_output, specs in ((False, graph.inputs), (True, graph.outputs)):
        numbers = [number for _, number, written in found if written == is_output]
        wanted = set(range(len(specs)))
        left_out = wanted - set(numbers)
        if (
            len(numbers) != len(set(numbers))
            or not wanted.issuperset(numbers)
            or left_out - ((set() if numbers else empty) if is_output else implied)
        ):
            raise ArtefactError(f"the arguments of '{name}' are not those of its program")
    if result is not None and (isinstance(result, bool) or not 0 <= result < len(found) or not found[result][2]):
        raise ArtefactError(f"what '{name}' gives is none of its arguments")
    return FunctionInterface(name, tuple(found), result)


def _param(graph: CompiledGraph, name: str, place: Json, others: Mapping[str, NDArray]) -> NDArray:
    if place is None and name in others:
        return others[name]
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(graph.constants):
        raise ArtefactError(f"there is nothing for the parameter '{name}'")
    return graph.constants[place]
