"""Functions of open extents that were loaded: compiled once, called with arrays of any sizes.

Their program takes, behind its other inputs, what each symbol is: a tensor of one number, as the program's extents say
(`held`). Callers may leave symbols out that follow from the shapes of the arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from ..lowering.sizes import Size, evaluate, read_extents
from .module import Argument, Function
from .sizes import Sizes, shape_of
from .tensors import InputError


class SizedFunction(Function):
    """A function whose program has symbols. Call it with one array for each buffer, and the symbols at their places as
    numbers, or without any."""

    @cached_property
    def _symbols(self) -> dict[int, int]:
        """The inputs that say what a symbol is, and the numbers of these."""
        graph = self.executable.graph
        held = read_extents(graph.extents, len(graph.symbols)).held
        return {tensor: size[1] for tensor, _, size in held if isinstance(size, tuple) and len(size) == 2}

    @cached_property
    def _sizes(self) -> Sizes:
        return Sizes(self.executable.graph)

    def _is_symbol(self, argument: Argument) -> bool:
        return not argument.is_output and argument.number in self._symbols

    @property
    def _buffers(self) -> tuple[Argument, ...]:
        return tuple(each for each in self.arguments if not self._is_symbol(each))

    def _place_of_result(self, count: int) -> int:
        if count != len(self._buffers) - 1 or self.result is None:
            return super()._place_of_result(count)
        return len([each for each in self.arguments[: self.result] if not self._is_symbol(each)])

    def bind(self, *arrays: object) -> Callable[[], None]:
        """The function with its arrays in place, to be run many times on the same memory.

        Raises:
            InputError: the number of arrays, a shape, a dtype or a number does not fit.
        """
        buffers = self._buffers
        order = self.arguments if len(arrays) == len(self.arguments) else buffers
        if len(arrays) != len(order):
            names = ", ".join(argument.name for argument in self.arguments)
            raise InputError(f"'{self.name}' takes {len(self.arguments)} arguments ({names}), got {len(arrays)}")
        given = dict(zip(order, arrays, strict=True))
        held = self.held(buffers, [given[each] for each in buffers])
        said = {self._symbols[each.number]: _size(each.name, given[each]) for each in order if self._is_symbol(each)}
        symbols = self._solved(dict(zip(buffers, held, strict=True)), said)
        scalars = [Argument("", tensor, False) for tensor in self._symbols]
        words: list[npt.NDArray[np.generic]] = [np.array(symbols[self._symbols[each.number]]) for each in scalars]
        layout = self._sizes.layout(symbols)
        return self.runner(
            [*buffers, *scalars],
            [*(given[each] for each in buffers), *words],
            [*held, *words],
            layout.words,
            layout.arena_bytes,
        )

    def _solved(self, arrays: Mapping[Argument, npt.NDArray[np.generic]], said: Mapping[int, int]) -> tuple[int, ...]:
        """What the symbols are, of which some are `said`.

        Raises:
            InputError: one is not known, or an array has another shape than follows from them.
        """
        graph, known = self.executable.graph, dict(said)
        specs = {each: (graph.outputs if each.is_output else graph.inputs)[each.number] for each in arrays}
        extents = [
            (size, extent)
            for each, array in arrays.items()
            for size, extent in zip(specs[each].extents or (), array.shape, strict=False)
        ]
        while (found := next(_followed(extents, known), None)) is not None:
            known[found[0]] = found[1]
        if missing := [name for number, name in enumerate(graph.symbols) if number not in known]:
            what = f"'{self.name}': '{missing[0]}' does not follow from the shapes of the arrays"
            raise InputError(what, hint="give the extents, in the order of the arguments")
        symbols = tuple(known[number] for number in range(len(graph.symbols)))
        for each, array in arrays.items():
            if array.shape != (wanted := shape_of(specs[each], symbols)):
                raise InputError(f"input '{each.name}' has shape {list(array.shape)}, and {list(wanted)} is wanted")
        return symbols


def _followed(extents: Sequence[tuple[Size, int]], known: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Symbols that follow from extents, of which each is what it is, and from those that are known."""
    for size, extent in extents:
        unknown = [*(_numbers(size) - set(known))]
        if len(unknown) == 1 and (value := _value(size, unknown[0], known, extent)) is not None:
            yield unknown[0], value


def _numbers(size: Size) -> set[int]:
    if isinstance(size, int):
        return set()
    if len(size) == 2:
        return {size[1]}
    return _numbers(size[1]) | _numbers(size[2])


def _value(size: Size, number: int, known: Mapping[int, int], extent: int) -> int | None:
    """What a symbol is where a size, a multiple of it plus a number, is `extent`; nothing where none fits. Quotients,
    remainders and extremes of a symbol are what they are for several values of it, and so tell none."""
    if (form := _linear(size, number, known)) is None or not form[0]:
        return None
    value, rest = divmod(extent - form[1], form[0])
    return None if rest or value < 0 else value


def _linear(size: Size, number: int, known: Mapping[int, int]) -> tuple[int, int] | None:
    """The factor and the constant of a size that is a multiple of a symbol plus a number; the others are known."""
    if isinstance(size, int):
        return 0, size
    if len(size) == 2:
        return (1, 0) if size[1] == number else (0, known[size[1]])
    kind, lhs, rhs = size
    a, b = _linear(lhs, number, known), _linear(rhs, number, known)
    if a is None or b is None:
        return None
    if kind == "+":
        return a[0] + b[0], a[1] + b[1]
    if a[0] == b[0] == 0:
        return 0, evaluate((kind, a[1], b[1]), ())
    return (a[0] * b[1] + a[1] * b[0], a[1] * b[1]) if kind == "*" and not (a[0] and b[0]) else None


def _size(name: str, given: object) -> int:
    try:
        size = -1 if isinstance(given, bool) else operator.index(cast("SupportsIndex", given))
    except TypeError:
        size = -1
    if not 0 <= size < 1 << 63:
        raise InputError(f"'{name}' is an extent, and not {given!r}", hint="give an integer that is not negative")
    return size
