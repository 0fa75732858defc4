"""What NumPy makes of the text of a computation in `te`: the same words, evaluated at once for all elements.

An axis is the array of its values, shaped so that arrays of several axes broadcast: a formula's own axes come first,
and `STEPS` dimensions for the axes that are reduced over last. What is read outside of an array, behind a
condition that does not hold, is the nearest element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

NDArray: TypeAlias = npt.NDArray[Any]
STEPS = 3
"""The axes of a reduction, at most."""


class Tensor:
    """An array that is read element by element, and may be computed again."""

    def __init__(self, make: Callable[[], NDArray]):
        self.make = make
        self.array = make()

    def __getitem__(self, indices: Any) -> NDArray:
        if not self.array.shape:
            return self.array[()]
        given = np.broadcast_arrays(*_tuple(indices))
        if 0 in self.array.shape:
            return np.zeros(given[0].shape, self.array.dtype)
        return self.array[tuple(np.clip(each, 0, n - 1) for each, n in zip(given, self.array.shape, strict=True))]

    def _with(self, other: Tensor, combine: Callable[[NDArray, NDArray], NDArray]) -> Tensor:
        return Tensor(lambda: combine(self.array, other.array))

    def __add__(self, other: Tensor) -> Tensor:
        return self._with(other, np.add)

    def __sub__(self, other: Tensor) -> Tensor:
        return self._with(other, np.subtract)

    def __mul__(self, other: Tensor) -> Tensor:
        return self._with(other, np.multiply)


class Reduction:
    """Values of which some are combined, by a function of two tuples."""

    def __init__(
        self,
        values: Sequence[Any],
        counts: NDArray,
        combine: Callable[[Any, Any], Sequence[Any]],
        start: Sequence[Any],
        dtypes: Sequence[np.dtype[Any]],
    ):
        self.values, self.counts, self.combine, self.start, self.dtypes = values, counts, combine, start, dtypes

    def reduced(self, shape: tuple[int, ...], steps: tuple[int, ...]) -> list[NDArray]:
        """Arrays of the shape, each element combined over all steps."""
        every = [np.broadcast_to(value, shape + steps) for value in self.values]
        counts = np.broadcast_to(self.counts, shape + steps)
        blank = (1,) * STEPS
        made = tuple(
            np.broadcast_to(start, shape + blank).reshape(shape).astype(dtype)
            for start, dtype in zip(self.start, self.dtypes, strict=True)
        )
        for at in product(*map(range, steps)):
            place = (..., *at)
            found = self.combine(made, tuple(value[place] for value in every))
            made = tuple(np.where(counts[place], new, old) for new, old in zip(found, made, strict=True))
        return [np.asarray(each, dtype) for each, dtype in zip(made, self.dtypes, strict=True)]


class NumpyTe:
    """The words of `te`, for arrays of these names."""

    def __init__(self, arrays: Mapping[str, NDArray]):
        self.arrays = arrays
        self.axes: list[tuple[NDArray, NDArray]] = []
        """Of the formula that is evaluated, the axes that are reduced over, and where each is in its range."""
        self.tensors: list[Tensor] = []

    def placeholder(self, shape: tuple[int, ...], dtype: str, name: str) -> Tensor:
        made = Tensor(lambda: np.array(self.arrays[name]) if name in self.arrays else np.zeros(shape, dtype))
        return self._kept(made)

    def _kept(self, made: Tensor) -> Tensor:
        self.tensors.append(made)
        return made

    def compute(self, shape: tuple[int, ...], function: Callable[..., Any], name: str) -> Any:
        def results() -> list[NDArray]:
            self.axes = []
            rank = len(shape) + STEPS
            axes = [np.arange(n).reshape([-1 if a == d else 1 for a in range(rank)]) for d, n in enumerate(shape)]
            value = function(*axes)
            if isinstance(value, Reduction):
                sizes = [axis.size for axis, _ in self.axes]
                return value.reduced(shape, (*sizes, *[1] * (STEPS - len(sizes))))
            values = _tuple(value)
            return [np.array(np.broadcast_to(each, shape + (1,) * STEPS).reshape(shape)) for each in values]

        count = len(results())
        made = [self._kept(Tensor(lambda number=number: results()[number])) for number in range(count)]
        return made[0] if count == 1 else tuple(made)

    def scan(self, first: Tensor, update: Tensor, state: Tensor, name: str) -> Tensor:
        """Each step of the update, after the state has those before."""
        again = self.tensors[self.tensors.index(state) + 1 : self.tensors.index(update) + 1]

        def steps() -> NDArray:
            begun = len(first.array)
            state.array[:begun] = first.array
            for step in range(begun, len(state.array)):
                for tensor in again:
                    tensor.array = tensor.make()
                state.array[step] = update.array[step]
            return np.array(state.array)

        return self._kept(Tensor(steps))

    def reduce_axis(self, bounds: tuple[Any, Any], name: str) -> NDArray:
        low, high = int(bounds[0]), np.asarray(bounds[1])
        most = max(int(np.max(high, initial=0)), 0)
        values: NDArray = np.arange(low, max(most, low))
        place = len(self.axes)
        axis: NDArray = values.reshape([-1 if place == number else 1 for number in range(STEPS)])
        self.axes.append((axis, axis < high))
        return axis

    # reductions

    def _reduction(
        self,
        values: Sequence[Any],
        axis: Any,
        where: Any,
        start: Sequence[Any],
        combine: Callable[[Any, Any], Sequence[Any]],
        dtypes: Sequence[np.dtype[Any]],
    ) -> Reduction:
        over = cast("list[Any]", axis) if isinstance(axis, list) else [axis]
        counts = np.asarray(True if where is None else where)
        for each, inside in self.axes:
            assert any(each is one for one in over), "each axis is reduced over"
            counts = np.logical_and(counts, inside)
        return Reduction(values, counts, combine, start, dtypes)

    def sum(self, a: Any, axis: Any, where: Any = None, init: Any = None) -> Reduction:
        return self._of_one(a, axis, where, 0 if init is None else init, np.add)

    def prod(self, a: Any, axis: Any, where: Any = None, init: Any = None) -> Reduction:
        return self._of_one(a, axis, where, 1 if init is None else init, np.multiply)

    def max(self, a: Any, b: Any = None, *, axis: Any = None, where: Any = None, init: Any = None) -> Any:
        if axis is None:
            return np.maximum(a, b)
        return self._of_one(a, axis, where, _extreme(a, False) if init is None else init, np.maximum)

    def min(self, a: Any, b: Any = None, *, axis: Any = None, where: Any = None, init: Any = None) -> Any:
        if axis is None:
            return np.minimum(a, b)
        return self._of_one(a, axis, where, _extreme(a, True) if init is None else init, np.minimum)

    def _of_one(self, a: Any, axis: Any, where: Any, start: Any, combine: Callable[[Any, Any], Any]) -> Reduction:
        dtype = np.asarray(a).dtype
        return self._reduction([a], axis, where, [start], lambda x, y: [combine(x[0], y[0])], [dtype])

    def comm_reducer(self, combine: Callable[..., Any], identity: Callable[..., Any], name: str) -> Callable[..., Any]:
        def reduce(value: Any, axis: Any, where: Any = None, init: Any = None) -> Reduction:
            values = _tuple(value)
            dtypes = [np.asarray(each).dtype for each in values]
            start = _tuple(identity(*map(str, dtypes)) if init is None else init)

            def joined(x: Any, y: Any) -> Sequence[Any]:
                return combine(x, y) if isinstance(value, tuple) else [combine(x[0], y[0])]

            return self._reduction(values, axis, where, start, joined, dtypes)

        return reduce

    # elements

    @staticmethod
    def const(value: Any, dtype: str) -> Any:
        return np.dtype(dtype).type(value)

    @staticmethod
    def min_value(dtype: str) -> Any:
        return np.dtype(dtype).type((np.finfo if dtype.startswith("f") else np.iinfo)(dtype).min)

    @staticmethod
    def max_value(dtype: str) -> Any:
        return np.dtype(dtype).type((np.finfo if dtype.startswith("f") else np.iinfo)(dtype).max)

    @staticmethod
    def if_then_else(test: Any, then: Any, other: Any) -> NDArray:
        return cast("NDArray", np.where(test, then, other))

    @staticmethod
    def all(*tests: Any) -> NDArray:
        return np.logical_and.reduce(np.broadcast_arrays(*tests))

    @staticmethod
    def any(*tests: Any) -> NDArray:
        return np.logical_or.reduce(np.broadcast_arrays(*tests))

    @staticmethod
    def truncdiv(a: Any, b: Any) -> NDArray:
        down: NDArray = np.asarray(a // b)
        return np.where((a < 0) & (a % b != 0), down + np.ones_like(down), down)

    @staticmethod
    def truncmod(a: Any, b: Any) -> Any:
        return np.fmod(a, b)

    floor, ceil, trunc, nearbyint, abs = np.floor, np.ceil, np.trunc, np.rint, np.abs


def _tuple(value: Any) -> tuple[Any, ...]:
    """Several values, or one of them."""
    return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)


def _extreme(a: Any, least: bool) -> Any:
    """What a minimum, or a maximum, of nothing is."""
    dtype = np.asarray(a).dtype
    if dtype.kind == "f":
        return dtype.type(np.inf if least else -np.inf)
    return np.iinfo(dtype).max if least else np.iinfo(dtype).min
