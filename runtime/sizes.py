"""Graphs that are called at several sizes: what follows from the shapes of the inputs.

The inputs say what the graph's symbols are; shapes of outputs and the bytes of memory follow from those. What is found
is kept for the next call of the same sizes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from struct import Struct
from typing import TYPE_CHECKING

import numpy as np

from ..dialects.support.element_types import item_bytes, numpy_dtype_of
from ..lowering.abi import Argument, CompiledGraph, Loop, Step, TensorSpec
from ..lowering.sizes import Range, Size, SymbolExtents, evaluate, range_of, read_extents
from .memory import NotEnoughMemory
from .tensors import InputError, Output

if TYPE_CHECKING:
    from ..lowering.abi import NDArray

_LARGEST = (1 << 63) - 1
"""Of words."""
TOO_MUCH = 1 << 47
"""Bytes that no machine has."""

KEPT = 256
"""As many sizes are kept."""


class Layout:
    """A call of certain sizes: the symbols as words, the shapes and bytes of outputs, the bytes of the arena; where
    data decides an extent, these are for what it is at most."""

    __slots__ = ("arena_bytes", "arenas", "gives", "symbols", "words")

    def __init__(self, graph: CompiledGraph, ranges: Sequence[Range]):
        """
        Raises:
            NotEnoughMemory: something is larger than any memory.
        """
        self.symbols = symbols = tuple([most for _, most in ranges])
        # No extent is as large as what a word does not hold, which is told otherwise: what is made of -2^63, negated.
        self.words = Struct(f"={len(symbols)}q").pack(*[min(symbol, _LARGEST) for symbol in symbols])
        gives: list[Output] = []
        for spec in graph.outputs:
            shape, dtype = _greatest_shape(spec, ranges), "int64" if spec.is_found else spec.dtype
            gives.append(Output(shape, dtype, max(prod(shape), _room(shape)) * item_bytes(dtype)))
        self.gives = tuple(gives)
        """The outputs, with room for what is read of nothing."""
        # What a failed check reads instead of an element that is not there has to be in memory, even of nothing.
        room = [(symbol, max(1, symbol)) for symbol in symbols]
        self.arena_bytes = graph.arena_bytes + _pool_bytes(graph.pools, room)
        self.arenas = tuple(each.arena_bytes + _pool_bytes(each.pools, room) for each in graph.devices)
        for bytes in (*(each.bytes for each in gives), self.arena_bytes, *self.arenas):
            if bytes >= TOO_MUCH:
                raise NotEnoughMemory(f"there is no memory for {bytes:,} bytes")


def _pool_bytes(pools: Iterable[Sequence[Size]], ranges: Sequence[Range]) -> int:
    """The bytes of pools one behind the other, as large as they may be where the symbols lie in `ranges`: a size that
    falls with a symbol, `10 - n`, is largest where that is least."""
    return sum(prod(max(1, range_of(size, ranges)[1]) for size in pool) for pool in pools)


def with_room(array: NDArray) -> NDArray:
    """An array without elements in memory for as many as it had if no extent were 0: a failed check reads the first."""
    if array.size:
        return array
    return np.ndarray(array.shape, array.dtype, np.zeros(_room(array.shape) * array.itemsize, np.uint8))


def _room(shape: Sequence[int]) -> int:
    return min(prod(max(1, extent) for extent in shape), TOO_MUCH)


def shape_of(spec: TensorSpec, symbols: Sequence[int]) -> tuple[int, ...]:
    """The shape of a tensor where the symbols, by number, are `symbols`."""
    if spec.extents is None:
        return spec.shape
    return tuple(max(0, evaluate(size, symbols)) for size in spec.extents)


def _greatest_shape(spec: TensorSpec, ranges: Sequence[Range]) -> tuple[int, ...]:
    """The shape of a tensor where it is largest; of one that the program finds, that of what says where it is."""
    if spec.is_found:
        return (1 + len(spec.shape),)
    if spec.extents is None:
        return spec.shape
    return tuple(max(0, range_of(size, ranges)[1]) for size in spec.extents)


def graph_at(graph: CompiledGraph, symbols: Sequence[int], layout: Layout) -> CompiledGraph:
    """What a graph with symbols is where they, by number, are `symbols`: a graph without any, and without loops of
    steps. Behind them stands what data has decided, if it does."""
    inputs, outputs = (
        tuple(TensorSpec(spec.name, spec.dtype, shape_of(spec, symbols)) for spec in specs)
        for specs in (graph.inputs, graph.outputs)
    )
    steps = tuple(step for _, step in steps_at(graph.steps, lambda: symbols))
    devices = tuple(
        replace(each, arena_bytes=size, pools=()) for each, size in zip(graph.devices, layout.arenas, strict=True)
    )
    return replace(
        graph,
        inputs=inputs,
        outputs=outputs,
        steps=steps,
        arena_bytes=layout.arena_bytes,
        symbols=(),
        pools=(),
        devices=devices,
        extents="",
    )


def steps_at(
    steps: Sequence[Step | Loop], symbols: Callable[[], Sequence[int]], turns: tuple[int, ...] = ()
) -> Iterator[tuple[tuple[int, ...], Step]]:
    """Each step, turn after turn, where the symbols are what `symbols` says when it is the step's turn; before it, the
    numbers by which the step stands among the others, one for it and one for each loop around."""
    for number, step in enumerate(steps):
        known = [*symbols(), *turns]
        if isinstance(step, Loop):
            for turn in range(evaluate(step.turns, known)):
                for path, inner in steps_at(step.steps, symbols, (*turns, turn)):
                    yield (number, *path), inner
        else:
            yield (number,), replace(step, arguments=tuple(_argument_at(each, known) for each in step.arguments))


def _argument_at(argument: Argument, symbols: Sequence[int]) -> Argument:
    if argument.sizes is None:
        return argument
    place, bytes = (evaluate(size, symbols) for size in argument.sizes)
    return Argument(argument.kind, place, bytes, argument.device)


class Sizes:
    """The sizes that a graph is called at."""

    def __init__(self, graph: CompiledGraph):
        self._graph = graph
        self._extents = read_extents(graph.extents, len(graph.symbols))
        defined = {number for number, _ in (*self._extents.defined, *self._extents.read)}
        given = [n for n in range(len(graph.symbols)) if n not in defined]
        self._places = {n: place for n in given if (place := place_of(graph, n)) is not None}
        self._elements = {n: element_of(graph, self._extents, n) for n in given if n not in self._places}
        self._found = tuple(numpy_dtype_of(spec.dtype) if spec.is_found else None for spec in graph.outputs)
        """The dtypes of the results that the program finds memory for."""
        self.finds = any(dtype is not None for dtype in self._found)
        """Whether the program finds memory for results."""
        self.has_results = self.finds or bool(self._extents.read)
        """Whether what the outputs are is known after a call (`results`)."""
        self.reads_elements = bool(self._elements or self._extents.held)
        """Whether elements of the inputs say sizes."""
        self._decided = {number for number, _ in self._extents.read}
        self._order = sorted(defined)  # a symbol that follows from others has a higher number than those
        self._known: dict[tuple[int, ...], Layout] = {}
        self._called: dict[tuple[tuple[int, ...], ...], Layout] = {}
        """By the shapes of the inputs."""

    def symbols(self, arrays: Sequence[NDArray]) -> tuple[int, ...]:
        """What the symbols are in a call with `arrays`, of which each has the rank of its input.

        Raises:
            InputError: an array has another extent than follows from the others.
        """
        found = [0] * len(self._graph.symbols)
        for number, (tensor, axis) in self._places.items():
            found[number] = arrays[tensor].shape[axis]
        for number, (tensor, element) in self._elements.items():
            found[number] = int(arrays[tensor].reshape(-1)[element])
        for number, (_, most) in self._ranges(found):
            found[number] = most
        symbols = tuple(found)
        for spec, array in zip(self._graph.inputs, arrays, strict=True):
            if spec.extents is None or array.shape == shape_of(spec, symbols):
                continue
            said = self._said(symbols)
            raise InputError(
                f"input '{spec.name}' has shape {list(array.shape)}, the graph takes "
                f"{list(shape_of(spec, symbols))} where {said}"
            )
        for least, most, words in self._extents.at_most:
            if evaluate(least, symbols) > evaluate(most, symbols):
                raise InputError(f"the graph takes inputs for which {words}, not {self._said(symbols)}")
        for tensor, element, size in self._extents.held:
            if (held := int(arrays[tensor].reshape(-1)[element])) != (wanted := evaluate(size, symbols)):
                name, said = self._graph.inputs[tensor].name, self._said(symbols)
                raise InputError(
                    f"element {element} of input '{name}' is {held}, the graph takes {wanted} where {said}"
                )
        return symbols

    def _said(self, symbols: Sequence[int]) -> str:
        """The symbols of the inputs, as messages say them."""
        return ", ".join(f"{self._graph.symbols[n]} = {symbols[n]}" for n in sorted({**self._places, **self._elements}))

    def _ranges(self, symbols: Sequence[int]) -> Iterator[tuple[int, Range]]:
        """Between which numbers the symbols lie that follow from those of the inputs, in order."""
        ranges = [(symbol, symbol) for symbol in symbols]
        found = {**dict(self._extents.read), **dict(self._extents.defined)}
        for number in self._order:
            least, most = range_of(found[number], ranges)
            ranges[number] = (0 if number in self._decided else max(0, least), max(0, most))
            yield number, ranges[number]

    @property
    def decided(self) -> int:
        """How many extents data decides: what they are stands in as many outputs, the last ones."""
        return len(self._extents.read)

    def results(self, arrays: Sequence[NDArray], layout: Layout) -> tuple[NDArray, ...]:
        """What the outputs hold that a call has written, without the last, where data has decided their extents."""
        count, shapes = len(arrays), None
        if decided := self.decided:
            count -= decided
            found = list(layout.symbols)
            for (number, _), said in zip(self._extents.read, arrays[count:], strict=True):
                found[number] = min(max(0, int(said[0])), layout.symbols[number])
            for number, size in self._extents.defined:
                found[number] = max(0, evaluate(size, found))
            shapes = [shape_of(spec, found) for spec in self._graph.outputs]
        results: list[NDArray] = []
        for number in range(count):
            array, dtype = arrays[number], self._found[number]
            if dtype is not None:
                array = handed_over(array, dtype)
            elif shapes is not None:
                array = _beginning(array, shapes[number])
            results.append(array)
        return tuple(results)

    def graph_for(self, arrays: Sequence[NDArray], written: Sequence[NDArray] = ()) -> CompiledGraph:
        """What the graph is in a call with `arrays` that has `written` these outputs, of which the last say what data
        has decided.

        Raises:
            InputError: an array has another extent than follows from the others.
            NotEnoughMemory: something is larger than any memory.
        """
        symbols = self.symbols(arrays)
        counts = [int(count[0]) for count in written[len(written) - self.decided :]]
        return graph_at(self._graph, (*symbols, *counts), self.layout(symbols))

    def layout_for(self, arrays: Sequence[NDArray]) -> Layout:
        """What follows from the shapes of the inputs.

        Raises:
            InputError: an array has another extent than follows from the others.
            NotEnoughMemory: something is larger than any memory.
        """
        shapes = tuple([array.shape for array in arrays])
        if self.reads_elements:
            return self.layout(self.symbols(arrays))
        if (known := self._called.get(shapes)) is None:
            if len(self._called) >= KEPT:
                self._called.pop(next(iter(self._called)), None)
            known = self._called[shapes] = self.layout(self.symbols(arrays))
        return known

    def layout(self, symbols: tuple[int, ...]) -> Layout:
        """What follows from the symbols.

        Raises:
            NotEnoughMemory: it is larger than any memory.
        """
        if (known := self._known.get(symbols)) is None:
            if len(self._known) >= KEPT:
                self._known.pop(next(iter(self._known)), None)
            ranges = [(symbol, symbol) for symbol in symbols]
            for number, range in self._ranges(symbols):
                ranges[number] = range
            known = self._known[symbols] = Layout(self._graph, ranges)
        return known


def _beginning(array: NDArray, shape: tuple[int, ...]) -> NDArray:
    """The first elements of an array, in another shape."""
    if array.shape == shape:
        return array
    return array.reshape(-1)[: prod(shape)].reshape(shape)


def place_of(graph: CompiledGraph, number: int) -> tuple[int, int] | None:
    """Which extent of which input a symbol is, if it is one."""
    for tensor, spec in enumerate(graph.inputs):
        for axis, size in enumerate(spec.extents or ()):
            if size == ("n", number):
                return tensor, axis
    return None


def element_of(graph: CompiledGraph, extents: SymbolExtents, number: int) -> tuple[int, int]:
    """Which element of which input a symbol is.

    Raises:
        InputError: none is.
    """
    for tensor, element, size in extents.held:
        if size == ("n", number):
            return tensor, element
    raise InputError(
        f"the size '{graph.symbols[number]}' of the graph is the extent of no input, and no element of one"
    )


@lru_cache(maxsize=1)
def _held() -> Callable[[int], object]:
    """What stands for memory at an address that a program has made for a result: it is given back when no array sees it
    any more. How much there is, the arrays say."""
    free, place_of = _free(), ctypes.addressof
    all_there_may_be = ctypes.c_uint8 * TOO_MUCH

    class Held(all_there_may_be):
        def __del__(self) -> None:
            free(place_of(self))

    return Held.from_address


def handed_over(cell: NDArray, dtype: np.dtype[np.generic]) -> NDArray:
    """The tensor that a program has found memory for: `cell` has its address and its extents."""
    place, *extents = cell.tolist()
    return np.ndarray(extents, dtype, _held()(place))  # pyright: ignore[reportArgumentType]


@lru_cache(maxsize=1)
def _free() -> Callable[[int], None]:
    """What gives memory back that code has made."""
    free = ctypes.CDLL(None).free
    free.argtypes, free.restype = [ctypes.c_void_p], None
    return free
