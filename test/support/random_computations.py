"""Random tensor expressions, as text of `weft.te`, and what NumPy makes of the same text.

Stages read one another, and inputs: element by element, at offsets, backwards, in steps and windows, beyond the border
behind a condition, at indices that are read; they broadcast, reduce (sums, products, extremes, reducers of one's own,
of two results too, over ranges that begin anywhere or end where an axis says) and scan. Integers wrap; floats hold
small integers, so that whatever order they are added in gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy_computations import NumpyTe
from random_symbolic_functions import Size, Sizes

from weft import te
from weft.dialects.te.expr import Var

DTYPES = ("int32", "int32", "int8", "uint8", "int16", "int64", "float32", "float32")
FLOATS_TO = 1 << 20
"""Floats are below, so that their sums and products are exact."""
SMALL = 4
"""What the numbers of an input of floats are below, and what others are brought below where they may be too large."""

Shape = tuple[Size, ...]
Arrays = list[npt.NDArray[np.generic]]


class Dim(NamedTuple):
    """A variable, which is below `size`."""

    name: str
    size: Size


class Value(NamedTuple):
    """An expression; of floats, a number that it is not above, nor its negative below."""

    text: str
    bound: float = 0


@dataclass(frozen=True)
class Made:
    """A tensor: its shape, its dtype, a bound if it is of floats, and of indices the number that they are below."""

    shape: Shape
    dtype: str
    bound: float = 0
    below: int | None = None


@dataclass(frozen=True)
class Computation:
    """The text, and the names of the tensors that it is from and to; its symbol is called `n`."""

    text: str
    inputs: dict[str, Made]
    outputs: tuple[str, ...]
    is_symbolic: bool

    def tensors(self) -> tuple[list[te.Tensor], list[te.Tensor], list[Var]]:
        """Inputs, outputs and symbols of `te`."""
        symbols = [te.var("n")] if self.is_symbolic else []
        names = self._run(te, *symbols)
        return [names[name] for name in self.inputs], [names[name] for name in self.outputs], symbols

    def arrays(self, seed: int, sizes: Sizes) -> Arrays:
        """Inputs of so many elements: numbers of both signs, and of integers the extremes among them."""
        generator = np.random.default_rng(seed)
        arrays: Arrays = []
        for made in self.inputs.values():
            shape = tuple(size.at(sizes) for size in made.shape)
            if made.below is not None:
                arrays.append(generator.integers(0, made.below, shape).astype(made.dtype))
            elif made.dtype == "float32":
                arrays.append(generator.integers(1 - SMALL, SMALL, shape).astype(made.dtype))
            else:
                info = np.iinfo(made.dtype)
                array = np.asarray(generator.integers(max(info.min, -9), 10, shape).astype(made.dtype))
                array[generator.random(shape) < 0.1] = info.min
                array[generator.random(shape) < 0.1] = info.max
                arrays.append(array)
        return arrays

    def expected(self, arrays: Arrays, sizes: Sizes) -> Arrays:
        """What NumPy makes of it."""
        given = dict(zip(self.inputs, arrays, strict=True))
        with np.errstate(all="ignore"):
            names = self._run(NumpyTe(given), *sizes.values())
        return [names[name].array for name in self.outputs]

    def _run(self, meaning: object, *symbol: object) -> dict[str, Any]:
        names: dict[str, Any] = {"te": meaning, **dict(zip("n", symbol, strict=False))}
        exec(self.text, names)
        return names


class _Writer:
    def __init__(self, random: Random):
        self.random = random
        self.is_symbolic = random.random() < 0.2
        self.lines: list[str] = []
        self.inputs: dict[str, Made] = {}
        self.made: dict[str, Made] = {}
        self.count = 0
        self.steps: dict[str, tuple[Made, str]] = {}
        """In the formulas of a scan, what it has made before, and in which step that is read."""

    # names and numbers

    def maybe(self, likely: float) -> bool:
        return self.random.random() < likely

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def size(self) -> Size:
        if self.is_symbolic and self.maybe(0.6):
            return Size("n", self.random.choice([0, 0, 0, 1, 3]))
        return Size("", self.random.choice([1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 0 if self.maybe(0.1) else 1]))

    def shape(self, least: int, most: int) -> Shape:
        return tuple(self.size() for _ in range(self.random.randint(least, most)))

    def number(self, dtype: str, least: int = -3, most: int = 3) -> Value:
        value = self.random.randint(max(0, least) if dtype.startswith("u") else least, most)
        return Value(f'te.const({value}, "{dtype}")', abs(value))

    def dtype(self) -> str:
        return self.random.choice(DTYPES)

    def line(self, text: str) -> None:
        self.lines.append(text)

    def input(self, made: Made) -> str:
        name = self.name("X")
        self.inputs[name] = made
        self.line(f'{name} = te.placeholder({tuple_of(made.shape)}, "{made.dtype}", name="{name}")')
        return name

    # what is read

    def index(self, dims: Sequence[Dim], extent: Size) -> tuple[str, str | None] | None:
        """Where an element of an extent is read, and the condition under which it is one."""
        random = self.random
        if not dims:
            return (str(random.randrange(extent.plus)), None) if not extent.symbol and extent.plus else None
        (var, size), (other, more) = random.choice(dims), random.choice(dims)
        kind, by = random.random(), random.randint(1, 2)
        if size == extent:
            if kind < 0.65 or (not extent.symbol and not extent.plus):
                return var, None
            if kind < 0.75:
                return f"{extent} - 1 - {var}", None
            return (f"{var} - {by}", f"{var} >= {by}") if kind < 0.9 else (f"{var} + {by}", f"{var} + {by} < {extent}")
        if size.symbol != extent.symbol or not extent.plus:
            if extent.symbol or not extent.plus:
                return None
            return (f"{var} % {extent}", None) if kind < 0.5 else (f"te.min({var}, {extent.plus - 1})", None)
        room = extent.plus - size.plus
        if room < 0:
            if extent.symbol or kind < 0.3:
                return var, f"{var} < {extent}"
            return (f"{var} % {extent}", None) if kind < 0.6 else (f"{var} // {-(-size.plus // extent.plus)}", None)
        if not extent.symbol and not more.symbol and var != other and size.plus and more.plus:
            if size.plus * more.plus <= extent.plus and kind < 0.3:
                return f"{var} * {more} + {other}", None
            if size.plus + more.plus - 1 <= extent.plus and kind < 0.6:
                return f"{var} + {other}", None
        if not extent.symbol and (size.plus - 1) * 2 < extent.plus and kind < 0.75:
            return f"{var} * 2", None
        return f"{var} + {random.randint(0, room)}", None

    def place(self, dims: Sequence[Dim], extent: Size) -> str:
        """An index that is read."""
        least = Size("", extent.plus) if extent.plus else Size("", 1)
        chosen = self.random.sample(dims, min(1, len(dims)))
        known = [name for name, made in self.inputs.items() if made.below is not None and made.below <= least.plus]
        shape = tuple(dim.size for dim in chosen)
        known = [name for name in known if self.inputs[name].shape == shape]
        name = known[0] if known else self.input(Made(shape, "int32", below=least.plus))
        return f"{name}[{', '.join(dim.name for dim in chosen) or '()'}]"

    def element(self, dims: Sequence[Dim], dtype: str) -> Value:
        """An element of a tensor, as a number of a dtype."""
        if self.steps and self.maybe(0.4):
            name, (made, time) = self.random.choice([*self.steps.items()])
            found = [self.index(dims[1:], extent) for extent in made.shape[1:]]
            places = [each for each in found if each is not None]
            if len(places) == len(found):
                return self.converted(self.read(name, made, [(time, None), *places]), made, dtype)
        readable = [*{**self.inputs, **self.made}.items()]
        weights = [1, *[1] * len(readable)][1 + len(self.made) :] + [3 + 2 * number for number in range(len(self.made))]
        for _ in range(4 if readable else 0):
            name, made = self.random.choices(readable, weights)[0]
            if made.dtype != "bool" and made.below is None:
                if (found := self.found(name, made, dims)) is not None:
                    return self.converted(found, made, dtype)
        chosen = self.random.sample(dims, self.random.randint(0 if self.maybe(0.1) else min(1, len(dims)), len(dims)))
        source = dtype if self.maybe(0.7) else self.dtype()
        shape = tuple(Size(dim.size.symbol, dim.size.plus + self.random.choice([0, 0, 0, 2])) for dim in chosen)
        if self.maybe(0.15) and shape:
            shape = (Size("", 1), *shape[1:])
            chosen[0] = Dim("0", Size("", 1))
        made = Made(shape, source, SMALL)
        name = self.input(made)
        places = [self.index([dim], extent) or ("0", None) for dim, extent in zip(chosen, shape, strict=True)]
        return self.converted(self.read(name, made, places), made, dtype)

    def found(self, name: str, made: Made, dims: Sequence[Dim]) -> str | None:
        """An element of this tensor, if its extents and those of the variables allow it."""
        places: list[tuple[str, str | None]] = []
        for extent in made.shape:
            if self.maybe(0.06) and (extent.plus or extent.symbol == ""):
                if extent.plus:
                    places.append((self.place(dims, extent), None))
                    continue
            if (place := self.index(dims, extent)) is None:
                return None
            places.append(place)
        return self.read(name, made, places)

    def read(self, name: str, made: Made, places: Sequence[tuple[str, str | None]]) -> str:
        text = f"{name}[{', '.join(place for place, _ in places) or '()'}]"
        conditions = [condition for _, condition in places if condition]
        if not conditions:
            return text
        other = "te.const(False, 'bool')" if made.dtype == "bool" else self.number(made.dtype).text
        test = f"te.all({', '.join(conditions)})" if len(conditions) > 1 else conditions[0]
        return f"te.if_then_else({test}, {text}, {other})"

    def converted(self, text: str, made: Made, dtype: str) -> Value:
        """A number of a tensor's as one of a dtype: floats of small numbers, and integers of floats that they hold."""
        if made.dtype != "float32" and dtype != "float32":
            return Value(text if made.dtype == dtype else f'{text}.astype("{dtype}")')
        bound = max(made.bound, SMALL) if made.dtype == "float32" else float("inf")
        if bound > 100:
            least = 0 if made.dtype.startswith("u") else -SMALL
            text = f'te.max(te.min({text}, te.const({SMALL}, "{made.dtype}")), te.const({least}, "{made.dtype}"))'
            bound = SMALL
        if made.dtype == "float32" and dtype.startswith("u"):
            text = f"te.abs({text})"
        return Value(text if made.dtype == dtype else f'{text}.astype("{dtype}")', bound)

    # expressions

    def small(self, value: Value, limit: float = FLOATS_TO) -> Value:
        """A float that is not above a limit."""
        if value.bound <= limit:
            return value
        low, high = (f'te.const({number}, "float32")' for number in (-SMALL, SMALL))
        return Value(f"te.max(te.min({value.text}, {high}), {low})", SMALL)

    def value(self, dims: Sequence[Dim], dtype: str, depth: int = 2) -> Value:
        random = self.random
        kind = random.random()
        if depth == 0 or kind < 0.25:
            if self.maybe(0.12) and dims:
                dim = random.choice(dims)
                return Value(f'{dim.name}.astype("{dtype}")', 16)
            return self.number(dtype) if self.maybe(0.1) else self.element(dims, dtype)
        a = self.value(dims, dtype, depth - 1)
        if kind < 0.4:
            test = self.condition(dims)
            b = self.value(dims, dtype, depth - 1)
            return Value(f"te.if_then_else({test}, {a.text}, {b.text})", max(a.bound, b.bound))
        if kind < 0.55:
            return self.unary(a, dtype)
        b = self.value(dims, dtype, depth - 1) if self.maybe(0.7) else self.number(dtype)
        if kind < 0.65:
            return Value(f"te.{random.choice(['max', 'min'])}({a.text}, {b.text})", max(a.bound, b.bound))
        if kind < 0.75 and dtype != "float32":
            return Value(f"({a.text} {random.choice('&|^')} {b.text})")
        if kind < 0.85:
            return (
                self.small(Value(f"({a.text} * {b.text})", a.bound * b.bound))
                if dtype == "float32"
                else Value(f"({a.text} * {b.text})")
            )
        made = Value(f"({a.text} {random.choice('+-')} {b.text})", a.bound + b.bound)
        return self.small(made) if dtype == "float32" else made

    def unary(self, a: Value, dtype: str) -> Value:
        random = self.random
        if dtype == "float32":
            rounding = random.choice(["floor", "ceil", "trunc", "nearbyint"])
            text = random.choice([f'te.{rounding}({a.text} * te.const(0.5, "float32"))', f"te.abs({a.text})"])
            return Value(text, a.bound + 1)
        by = f'te.const({random.choice([2, 3, 4, 7])}, "{dtype}")'
        forms = [f"({a.text} // {by})", f"({a.text} % {by})", f"te.truncdiv({a.text}, {by})"]
        forms += [f"te.truncmod({a.text}, {by})", f'({a.text} << te.const(1, "{dtype}"))']
        forms += [f'({a.text} >> te.const({random.randint(1, 3)}, "{dtype}"))', f"(~{a.text})"]
        if not dtype.startswith("u"):
            forms += [f"te.abs({a.text})", f"(-{a.text})"]
        return Value(random.choice(forms))

    def condition(self, dims: Sequence[Dim], depth: int = 1) -> str:
        kind = self.random.random()
        compare = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        flags = [name for name, made in self.made.items() if made.dtype == "bool"]
        if flags and kind < 0.4:
            name = self.random.choice(flags)
            if (found := self.found(name, self.made[name], dims)) is not None:
                return found
        if dims and kind < 0.6:
            return f"{self.random.choice(dims).name} {compare} {self.random.randint(0, 4)}"
        if depth and kind < 0.75:
            joined = self.random.choice(["all", "any"])
            return f"te.{joined}({self.condition(dims, depth - 1)}, {self.condition(dims, depth - 1)})"
        dtype = self.dtype()
        return f"{self.element(dims, dtype).text} {compare} {self.number(dtype).text}"

    # stages

    def formula(self, dims: Sequence[Dim], lines: Sequence[str]) -> str:
        name = self.name("f")
        self.line(f"def {name}({', '.join(dim.name for dim in dims)}):")
        self.lines += [f"    {line}" for line in lines]
        return name

    def compute(self, shape: Shape, dims: Sequence[Dim], lines: Sequence[str], prefix: str = "B") -> str:
        formula = self.formula(dims, lines)
        name = self.name(prefix)
        self.line(f'{name} = te.compute({tuple_of(shape)}, {formula}, name="{name}")')
        return name

    def dims(self, shape: Shape, names: str = "ijlmo") -> list[Dim]:
        return [Dim(name, size) for name, size in zip(names, shape, strict=False)]

    def some_shape(self) -> Shape:
        """The shape of a tensor that there is, or another one."""
        known = [made.shape for made in self.made.values()]
        return self.random.choice(known) if known and self.maybe(0.5) else self.shape(0 if self.maybe(0.1) else 1, 3)

    def element_by_element(self) -> None:
        shape = self.some_shape()
        dims = self.dims(shape)
        if self.maybe(0.1):
            self.made[self.compute(shape, dims, [f"return {self.condition(dims)}"])] = Made(shape, "bool")
            return
        dtype = self.dtype()
        value = self.value(dims, dtype)
        self.made[self.compute(shape, dims, [f"return {value.text}"])] = Made(shape, dtype, value.bound)

    def whole_tensors(self) -> None:
        """Two tensors as a whole, of shapes that broadcast."""
        named = [(name, made) for name, made in self.made.items() if made.dtype not in ("bool", "float32")]
        if not named:
            return self.element_by_element()
        name, made = self.random.choice(named)
        other = tuple(Size("", 1) if self.maybe(0.3) else size for size in made.shape)
        operand = self.input(Made(other[self.random.randint(0, len(other)) :], made.dtype))
        result = self.name("B")
        self.line(f"{result} = {name} {self.random.choice('+-*')} {operand}")
        self.made[result] = made
        return None

    def axes(self, dims: Sequence[Dim]) -> tuple[list[Dim], list[str], int]:
        """Axes that are reduced over, what makes them, and how many steps they have at most."""
        made: list[Dim] = []
        lines: list[str] = []
        steps = 1
        for number in range(self.random.choice([1, 1, 1, 2, 2, 3])):
            name, size = f"k{number}", self.size()
            begin, end = (1, f"{size}") if self.maybe(0.1) and size.plus > 1 else (0, f"{size}")
            inner = [dim for dim in dims if dim.size.symbol == size.symbol and dim.size.plus < size.plus]
            if inner and self.maybe(0.15):
                end = f"{self.random.choice(inner).name} + 1"
            lines.append(f'{name} = te.reduce_axis(({begin}, {end}), "{name}")')
            made.append(Dim(name, size))
            steps *= size.plus + (10 if size.symbol else 0)
        return made, lines, steps

    def reduction(self) -> None:
        shape, dtype = self.some_shape(), self.dtype()
        dims = self.dims(shape)
        over, lines, steps = self.axes(dims)
        every = [*over, *over, *dims]
        kind = self.random.choice(["sum", "sum", "sum", "max", "min", "prod", "own", "two"])
        axis = f"[{', '.join(dim.name for dim in over)}]" if len(over) > 1 or self.maybe(0.5) else over[0].name
        value = self.value(_distinct(self.random, every), dtype, self.random.randint(0, 2))
        options = f", where={self.condition([*over, *dims])}" if self.maybe(0.2) else ""
        start = ""
        if self.maybe(0.2):
            start = self.value(dims, dtype, 1 if self.maybe(0.3) else 0).text if dtype != "float32" else ""
            start = start or self.number(dtype).text
        if kind == "two":
            return self.two_results(shape, dims, over, [*lines], value, f"{axis}{options}")
        bound = float("inf")
        if dtype == "float32":
            kind = "sum" if kind == "own" or (kind == "prod" and steps > 8) else kind
            value = self.small(value, SMALL if kind == "prod" else FLOATS_TO / (steps + 1))
            bound = value.bound * (steps + 1) if kind == "sum" else SMALL**9 if kind == "prod" else bound
        options += f", init={start}" if start else ""
        call = f"te.{kind}"
        if kind == "own":
            call = f"te.comm_reducer(lambda x, y: x ^ y, lambda dtype: te.const(0, dtype), name='{self.name('xor')}')"
        lines.append(f"return {call}({value.text}, axis={axis}{options})")
        self.made[self.compute(shape, dims, lines)] = Made(shape, dtype, bound)
        return None

    def two_results(
        self, shape: Shape, dims: Sequence[Dim], over: Sequence[Dim], lines: list[str], value: Value, rest: str
    ) -> None:
        """Where the greatest is, and what it is: of equal ones the first."""
        dtype = self.dtype()
        value = self.value([*over, *dims], dtype, 1)
        which = over[0].name
        if len(over) > 1:
            which = f"{over[0].name} * 16 + {over[1].name}"
        best, pair = self.name("best"), (self.name("B"), self.name("B"))
        self.line(f"{best} = te.comm_reducer({FIRST_OF_GREATEST}, name='{best}')")
        lines.append(f'return {best}((({which}).astype("int32"), {value.text}), axis={rest})')
        formula = self.formula(dims, lines)
        self.line(f'{pair[0]}, {pair[1]} = te.compute({tuple_of(shape)}, {formula}, name="{pair[0]}")')
        self.made[pair[0]] = Made(shape, "int32")
        self.made[pair[1]] = Made(shape, dtype, float("inf"))

    def product(self) -> None:
        """A product of matrices, or of one and a vector."""
        dtype = self.dtype()
        rows, columns, inner = self.size(), self.size(), self.size()
        a = self.input(Made((rows, inner), dtype, SMALL))
        b = self.input(Made((inner, columns), dtype, SMALL))
        lines = [f'k = te.reduce_axis((0, {inner}), "k")', f"return te.sum({a}[i, k] * {b}[k, j], axis=k)"]
        self.made[self.compute((rows, columns), self.dims((rows, columns)), lines)] = Made(
            (rows, columns), dtype, 16 * SMALL * SMALL
        )

    def two_formulas(self) -> None:
        shape = self.some_shape()
        dims, types = self.dims(shape), (self.dtype(), self.dtype())
        values = [self.value(dims, dtype, 1) for dtype in types]
        formula = self.formula(dims, [f"return {values[0].text}, {values[1].text}"])
        names = self.name("B"), self.name("B")
        self.line(f'{names[0]}, {names[1]} = te.compute({tuple_of(shape)}, {formula}, name="{names[0]}")')
        for name, dtype, value in zip(names, types, values, strict=True):
            self.made[name] = Made(shape, dtype, value.bound)

    def scan(self) -> None:
        dtype = self.dtype()
        steps, inner = Size("", self.random.randint(1, 5)), self.shape(0 if self.maybe(0.1) else 1, 2)
        shape = (steps, *inner)
        dims = self.dims(shape, "tijl")
        state = self.name("S")
        first = self.compute((Size("", 1), *inner), dims, [f"return {self.value(dims[1:], dtype, 1).text}"], "I")
        self.line(f'{state} = te.placeholder({tuple_of(shape)}, "{dtype}", name="{state}")')
        self.steps[state] = Made(shape, dtype, float("inf")), "t - 1"
        for _ in range(self.random.choice([0, 1, 1, 2])):
            if self.maybe(0.4):
                size = self.size()
                over = Dim("k", size)
                value = self.value([dims[0], over, *dims[1:]], dtype, 1)
                value = self.small(value, FLOATS_TO / 100) if dtype == "float32" else value
                lines = [f'k = te.reduce_axis((0, {size}), "k")', f"return te.sum({value.text}, axis=k)"]
                bound = value.bound * (size.plus + 16)
            else:
                value = self.value(dims, dtype, 1)
                lines, bound = [f"return {value.text}"], value.bound
            name = self.compute(shape, dims, lines, "H")
            self.steps[name] = Made(shape, dtype, bound), "t"
        value = self.value(dims, dtype, 1)
        update = self.compute(shape, dims, [f"return {value.text}"], "U")
        self.steps.clear()
        result = self.name("R")
        self.line(f'{result} = te.scan({first}, {update}, {state}, name="{result}")')
        self.made[result] = Made(shape, dtype, float("inf"))

    def computation(self) -> Computation:
        kinds = [self.element_by_element] * 5 + [self.reduction] * 4 + [self.product, self.whole_tensors]
        kinds += [self.two_formulas] if self.maybe(0.3) else []
        kinds += [self.scan] * 2 if self.maybe(0.25) else []
        for _ in range(self.random.choice([1, 2, 3, 3, 4, 4, 5])):
            self.random.choice(kinds)()
        *others, last = self.made
        outputs = [*self.random.sample(others, min(len(others), self.random.choice([0, 0, 0, 1]))), last]
        return Computation("\n".join(self.lines) + "\n", self.inputs, tuple(outputs), self.is_symbolic)


FIRST_OF_GREATEST = (
    "lambda x, y: (te.if_then_else(te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0])), x[0], y[0]), "
    "te.max(x[1], y[1])), lambda a, b: (te.max_value(a), te.min_value(b))"
)


def _distinct(random: Random, dims: Sequence[Dim]) -> list[Dim]:
    """The same variables in another order, each once."""
    return list(dict.fromkeys(random.sample(dims, len(dims))))


def tuple_of(shape: Shape) -> str:
    return f"({''.join(f'{size}, ' for size in shape)})"


def random_computation(random: Random) -> Computation:
    """One to five stages, of which the last is an output, and another one may be."""
    return _Writer(random).computation()
