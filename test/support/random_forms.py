"""Random functions of `tir` in forms that `random_functions` does not write, as text in TVMScript.

Buffers are of several element types, Booleans and unsigned integers of 64 bits among them. Blocks stand in blocks, and
have loops, variables, branches and `while` loops in them; reductions are guarded, of several outputs, over strides, and
at places that data tells. Conditions stand around blocks. Extents are numbers, or symbols with something added, doubled
or halved. Floats hold small whole numbers, so that whatever order they are added in gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from weft.dialects.tir.core import PrimFuncOp
from weft.tir import from_source

DTYPES = (
    *("int32", "int32", "int8", "uint8", "int16", "uint16", "uint32", "int64", "uint64", "float32", "float64", "bool"),
)
SYMBOLS = ("n", "m")
Sizes = dict[str, int]
Shape = tuple[str, ...]


class Dim(NamedTuple):
    """A number from 0 to below `extent`, as text."""

    text: str
    extent: str


@dataclass(frozen=True)
class FormedFunction:
    """A function, the shapes and the element types of what it reads, and of what it gives."""

    text: str
    inputs: tuple[tuple[Shape, str], ...]
    outputs: tuple[tuple[Shape, str], ...]
    places: frozenset[int]
    """The inputs that are read as places, whatever they hold."""

    def parse(self) -> PrimFuncOp:
        """The function, verified."""
        func = from_source(self.text)
        assert isinstance(func, PrimFuncOp)
        return func

    @property
    def is_open(self) -> bool:
        return 'T.var("int32")' in self.text

    def arrays(self, seed: int, sizes: Sizes) -> list[npt.NDArray[np.generic]]:
        """Small numbers, of both signs where there are such; of integers, the extremes among them."""
        generator = np.random.default_rng(seed)
        made: list[npt.NDArray[np.generic]] = []
        for number, (shape, dtype) in enumerate(self.inputs):
            extents = tuple(value_of(extent, sizes) for extent in shape)
            kind = np.dtype(dtype).kind
            least, most = {"b": (0, 2), "u": (0, 9)}.get(kind, (-5, 6))
            array = generator.integers(least, most, extents).astype(dtype)
            if kind in "iu" and number not in self.places:
                info = np.iinfo(dtype)
                array[generator.random(extents) < 0.1] = info.min
                array[generator.random(extents) < 0.1] = info.max
            made.append(array)
        return made


def value_of(extent: str, sizes: Sizes) -> int:
    """An extent at sizes."""
    return int(eval(extent, {}, dict(sizes)))


class _Writer:
    def __init__(self, random: Random, is_open: bool):
        self.random = random
        self.is_open = is_open
        self.lines: list[str] = []
        self.inputs: dict[str, tuple[Shape, str]] = {}
        self.made: dict[str, tuple[Shape, str]] = {}
        self.places: set[str] = set()
        self.count = 0
        if is_open:
            self.inputs["X"] = (SYMBOLS, "int32")

    # names and text

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def extent(self) -> str:
        random = self.random
        if self.is_open and random.random() < 0.6:
            symbol = random.choice(SYMBOLS)
            return random.choice([symbol, symbol, f"({symbol} + 1)", f"({symbol} * 2)", f"(({symbol} + 1) // 2)"])
        return str(random.choice([1, 2, 3, 4, 5, 6, 7, 8]))

    def shape(self, least: int, most: int) -> Shape:
        return tuple(self.extent() for _ in range(self.random.randint(least, most)))

    def some_shape(self) -> Shape:
        """The shape of what was made, or a new one."""
        if self.made and self.random.random() < 0.6:
            return self.random.choice(list(self.made.values()))[0]
        return self.shape(1, 3)

    def dtype(self) -> str:
        return self.random.choice(DTYPES)

    def literal(self, value: int, dtype: str) -> str:
        if dtype == "bool":
            return f"T.bool({bool(value % 2)})"
        return f"T.{dtype}({abs(value) if dtype.startswith('u') else value})"

    def number(self, dtype: str) -> str:
        return self.literal(self.random.randint(-3, 3), dtype)

    def cast(self, text: str, have: str, want: str) -> str:
        """A value as one of another type: a float stays small, and what is made of one is in its type's range."""
        if have == want:
            return text
        if want == "bool":
            return f"({text} != {self.literal(0, have)})"
        if have == "bool":
            return f"T.Select({text}, {self.literal(1, want)}, {self.literal(0, want)})"
        if want.startswith("float"):
            return f"T.max(T.min(T.cast({text}, '{want}'), T.{want}(8)), T.{want}(-8))"
        if have.startswith("float") and want.startswith("u"):
            return f"T.cast(T.cast({text}, 'int32'), '{want}')"
        return f"T.cast({text}, '{want}')"

    def small(self, text: str, dtype: str) -> str:
        """A value that fits what reads it: floats are cut off."""
        if dtype.startswith("float"):
            return f"T.max(T.min({text}, T.{dtype}(8)), T.{dtype}(-8))"
        return text

    # expressions

    def source(self, exclude: frozenset[str]) -> tuple[str, Shape, str]:
        """A buffer that can be read, or a new input."""
        readable = {name: each for name, each in {**self.inputs, **self.made}.items() if name not in exclude}
        if readable and self.random.random() < 0.75:
            name = self.random.choice(list(readable))
            return (name, *readable[name])
        name, found = self.name("X"), (self.shape(1, 3), self.dtype())
        self.inputs[name] = found
        return (name, *found)

    def index(self, dims: Sequence[Dim], extent: str) -> tuple[str, list[str]]:
        """A place in an extent, and the conditions under which it is one."""
        random = self.random
        if not dims:
            return "0", [f"0 < {extent}"] if not extent.isdigit() else []
        dim, other = random.choice(dims), random.choice(dims)
        kind = random.random()
        if kind < 0.45 and (same := [each for each in dims if each.extent == extent]):
            each = random.choice(same)
            return random.choice([each.text, each.text, f"{extent} - 1 - {each.text}"]), []
        if kind < 0.52 and extent.isdigit():
            return f"{dim.text} % {extent}", []
        if kind < 0.6 and extent.isdigit() and not self.is_open:
            return self.told(dims, extent), []
        text = random.choice(
            [
                f"{dim.text} * {random.randint(2, 3)} + {random.randint(0, 1)}",
                f"{dim.text} // {random.randint(2, 3)}",
                f"{dim.text} + {other.text}",
                f"{dim.text} * 2 - {other.text}",
                f"{dim.text} * {random.randint(2, 4)} % 5",
                f"{dim.text} + {random.randint(1, 2)}",
                f"{dim.text} - {random.randint(1, 2)}",
                f"({dim.text} + {random.randint(0, 3)}) // 2 * 2",
            ]
        )
        return text, [f"0 <= {text}", f"{text} < {extent}"]

    def told(self, dims: Sequence[Dim], extent: str) -> str:
        """A place that data tells, whatever the data is."""
        dim = self.random.choice(dims)
        name = next((n for n in self.places if self.inputs[n][0] == (dim.extent,)), None)
        if name is None or self.random.random() < 0.4:
            name = self.name("J")
            self.inputs[name] = ((dim.extent,), self.random.choice(["int32", "int64", "uint8"]))
            self.places.add(name)
        at = f"T.cast({name}[{dim.text}], 'int32')"
        return self.random.choice([f"T.floormod({at}, {extent})", f"T.max(T.min({at}, {int(extent) - 1}), 0)"])

    def element(self, dims: Sequence[Dim], want: str, exclude: frozenset[str]) -> str:
        """An element of a buffer, as a value of a type."""
        name, shape, have = self.source(exclude)
        found = [self.index(dims, extent) for extent in shape]
        text = f"{name}[{', '.join(index for index, _ in found)}]"
        value = self.small(self.cast(text, have, want), want)
        if conditions := [condition for _, each in found for condition in each]:
            return f"T.if_then_else({' and '.join(conditions)}, {value}, {self.number(want)})"
        return value

    def value(self, dims: Sequence[Dim], want: str, depth: int = 2, exclude: frozenset[str] = frozenset()) -> str:
        random = self.random
        kind = random.random()
        if depth == 0 or kind < 0.3:
            return self.element(dims, want, exclude)
        a = self.value(dims, want, depth - 1, exclude)
        dim = random.choice(dims) if dims else Dim("0", "1")
        if kind < 0.4:
            other = self.dtype()
            b = self.value(dims, other, depth - 1, exclude)
            compare = random.choice(["<", "<=", "==", "!=", ">"]) if other != "bool" else random.choice(["==", "!="])
            return f"T.Select({b} {compare} {self.number(other)}, {a}, {self.number(want)})"
        if kind < 0.5:
            condition = f"{dim.text} {random.choice(['<', '>=', '=='])} {random.randint(0, 4)}"
            return f"T.if_then_else({condition}, {a}, {self.number(want)})"
        b = self.value(dims, want, depth - 1, exclude)
        if want == "bool":
            return random.choice([f"({a} and {b})", f"({a} or {b})", f"({a} != {b})", f"T.Not({a})"])
        if want.startswith("float"):
            return self.small(f"({a} {random.choice('+-*')} {b})", want)
        if kind < 0.58:
            divide, zero = random.choice(["floordiv", "floormod", "truncdiv", "truncmod"]), self.literal(0, want)
            return f"T.{divide}({a}, T.Select({b} != {zero}, {b}, {self.literal(1, want)}))"
        if kind < 0.64:
            return f"({a} {random.choice(['&', '|', '^'])} {b})"
        if kind < 0.7:
            return f"T.{random.choice(['shift_left', 'shift_right'])}({a}, {self.literal(random.randint(0, 5), want)})"
        if kind < 0.76:
            return f"T.{random.choice(['max', 'min'])}({a}, {b})"
        return f"({a} {random.choice('+-*')} {b})"

    # blocks

    def loops(self, extents: Sequence[str], spatial: int, depth: int) -> tuple[list[str], list[str], int]:
        """Loops over extents, of which the first are `spatial`: what iterators are bound to, what keeps these inside,
        and the depth within."""
        random, bindings, inside = self.random, list[str](), list[str]()
        for number, extent in enumerate(extents):
            name, kind = self.name("i"), random.random()
            if kind < 0.3:
                by = random.randint(2, 4)
                outer = f"({extent} + {by - 1}) // {by}"
                self.line(depth, f"for {name}, {name}i in T.grid({outer}, {by}):")
                bindings.append(f"{name} * {by} + {name}i")
                inside.append(f"{name} * {by} + {name}i < {extent}")
            elif kind < 0.4 and number < spatial:
                self.line(depth, f"for {name} in range({extent}):")
                bindings.append(f"{extent} - 1 - {name}")
            else:
                self.line(depth, f"for {name} in range({extent}):")
                bindings.append(name)
            depth += 1
        return bindings, inside, depth

    def block(self, name: str, spatial: Sequence[str], reduced: Sequence[str] = ()) -> tuple[list[Dim], list[Dim], int]:
        """A block and the loops around it: its iterators of both kinds, and the depth of its body."""
        extents = [*spatial, *reduced]
        bindings, inside, depth = self.loops(extents, len(spatial), 1)
        if self.random.random() < 0.12:  # a condition around the block that holds
            self.line(depth, f"if 0 <= {bindings[0]}:")
            depth += 1
        self.line(depth, f'with T.block("{name}"):')
        dims: list[Dim] = []
        for number, (binding, extent) in enumerate(zip(bindings, extents, strict=True)):
            kind, iterator = "spatial" if number < len(spatial) else "reduce", self.name("v")
            self.line(depth + 1, f"{iterator} = T.axis.{kind}({extent}, {binding})")
            dims.append(Dim(iterator, extent))
        if inside:
            self.line(depth + 1, f"T.where({' and '.join(inside)})")
        return dims[: len(spatial)], dims[len(spatial) :], depth + 1

    def elementwise(self) -> None:
        shape = self.some_shape()
        outs = [(self.name("B"), self.dtype()) for _ in range(self.random.choice([1, 1, 2, 3]))]
        dims, _, depth = self.block(outs[0][0], shape)
        for out, dtype in outs:
            store = f"{out}[{', '.join(dim.text for dim in dims)}]"
            kind = self.random.random()
            if kind < 0.2:
                self.line(depth, f"if {dims[-1].text} < {self.random.randint(0, 5)}:")
                self.line(depth + 1, f"{store} = {self.value(dims, dtype)}")
                self.line(depth, "else:")
                self.line(depth + 1, f"{store} = {self.value(dims, dtype)}")
            elif kind < 0.4:
                let = self.name("t")
                self.line(depth, f"{let}: T.{dtype} = {self.value(dims, dtype)}")
                what = f"T.Not({let})" if dtype == "bool" else self.small(f"({let} * {let} - {let})", dtype)
                self.line(depth, f"{store} = {what}")
            else:
                self.line(depth, f"{store} = {self.value(dims, dtype)}")
        self.made |= {out: (shape, dtype) for out, dtype in outs}

    def reduction(self) -> None:
        """Sums and extremes, of one or two results, some steps of which are left out."""
        random = self.random
        shape, steps = self.shape(0, 2) or ("1",), self.shape(1, 2)
        outs = [self.name("B") for _ in range(random.choice([1, 1, 2]))]
        dtype = random.choice([each for each in DTYPES if each != "bool"])
        dims, rest, depth = self.block(outs[0], shape, steps)
        operation = random.choice(["{} + {}", "T.max({}, {})", "T.min({}, {})"])
        neutral = {"{} + {}": self.literal(0, dtype), "T.max({}, {})": f"T.min_value('{dtype}')"}
        first = neutral.get(operation, f"T.max_value('{dtype}')")
        stores = [f"{out}[{', '.join(dim.text for dim in dims)}]" for out in outs]
        self.line(depth, "with T.init():")
        for store in stores:
            self.line(depth + 1, f"{store} = {first}")
        for store in stores:
            step = self.value([*dims, *rest], dtype, 1)
            if random.random() < 0.3:
                step = f"T.if_then_else({rest[-1].text} % 2 == {random.randint(0, 1)}, {step}, {first})"
            self.line(depth, f"{store} = {operation.format(store, step)}")
        self.made |= {out: (shape, dtype) for out in outs}

    def strided(self) -> None:
        """A sum over windows that are strides apart, of what is as long as that takes."""
        random = self.random
        length, width, stride, dilation = (
            self.extent(),
            random.randint(1, 3),
            random.randint(1, 3),
            random.randint(1, 2),
        )
        dtype = random.choice(["int32", "int64", "float32", "int16"])
        long = f"({length} - 1) * {stride} + {(width - 1) * dilation + 1}" if not self.is_open else ""
        long = str(value_of(long, {})) if long else f"{length} * {stride} + {(width - 1) * dilation}"
        x, w, out = self.name("X"), self.name("X"), self.name("B")
        self.inputs |= {x: ((long,), dtype), w: ((str(width),), dtype)}
        (o,), (k,), depth = self.block(out, (length,), (str(width),))
        self.line(depth, "with T.init():")
        self.line(depth + 1, f"{out}[{o.text}] = {self.literal(0, dtype)}")
        read = f"{x}[{o.text} * {stride} + {k.text} * {dilation}]"
        self.line(depth, f"{out}[{o.text}] = {out}[{o.text}] + {read} * {w}[{k.text}]")
        self.made[out] = ((length,), dtype)

    def nested(self) -> None:
        """A block of tiles, with a block for each element in it, some of which do not exist."""
        by = self.random.randint(2, 4)
        length, dtype, out = self.extent(), self.dtype(), self.name("B")
        outer, inner, tile, v = self.name("i"), self.name("i"), self.name("v"), self.name("v")
        self.line(1, f"for {outer} in range(({length} + {by - 1}) // {by}):")
        self.line(2, f'with T.block("{out}o"):')
        self.line(3, f"{tile} = T.axis.spatial(({length} + {by - 1}) // {by}, {outer})")
        self.line(3, f"for {inner} in range({by}):")
        self.line(4, f'with T.block("{out}"):')
        self.line(5, f"{v} = T.axis.spatial({length}, {tile} * {by} + {inner})")
        self.line(5, f"T.where({tile} * {by} + {inner} < {length})")
        self.line(5, f"{out}[{v}] = {self.value([Dim(v, length)], dtype)}")
        self.made[out] = ((length,), dtype)

    def looped(self) -> None:
        """A block that computes an element by loops of its own, or for as long as a condition holds."""
        random = self.random
        shape, dtype, out = self.shape(1, 2), random.choice(["int32", "int64", "int16", "uint16"]), self.name("B")
        dims, _, depth = self.block(out, shape)
        store = f"{out}[{', '.join(dim.text for dim in dims)}]"
        self.line(depth, f"{store} = {self.value(dims, dtype, 1)}")
        if random.random() < 0.5:
            step, extent = self.name("s"), str(random.randint(1, 4))
            self.line(depth, f"for {step} in range({extent}):")
            inner = self.value([*dims, Dim(step, extent)], dtype, 1)
            self.line(depth + 1, f"{store} = {store} * {self.literal(2, dtype)} + {inner}")
        else:
            limit = self.literal(random.randint(20, 60), dtype)
            self.line(depth, f"while {self.literal(0, dtype)} < {store} and {store} < {limit}:")
            self.line(depth + 1, f"{store} = {store} * {self.literal(2, dtype)} + {self.literal(1, dtype)}")
        self.made[out] = (shape, dtype)

    def scattered(self) -> None:
        """Sums at places that data, or a number of steps, tells; places beyond the end are left out."""
        random = self.random
        length, steps, out = str(random.randint(2, 6)), self.extent(), self.name("B")
        dtype = random.choice(["int32", "float64"])
        (z,), _, depth = self.block(f"{out}z", (length,))
        self.line(depth, f"{out}[{z.text}] = {self.number(dtype)}")
        i, v = self.name("i"), self.name("v")
        self.line(1, f"for {i} in range({steps}):")
        self.line(2, f'with T.block("{out}"):')
        self.line(3, f"{v} = T.axis.{random.choice(['opaque', 'reduce'])}({steps}, {i})")
        at = f"{v} * {random.randint(1, 3)}" if self.is_open else self.told([Dim(v, steps)], length)
        self.line(3, f"if {at} < {length}:")
        self.line(4, f"{out}[{at}] = {out}[{at}] + {self.value([Dim(v, steps)], dtype, 1, frozenset({out}))}")
        self.made[out] = ((length,), dtype)

    def halves(self) -> None:
        """A buffer whose even places one block writes and whose odd ones another."""
        half, out, dtype = self.extent(), self.name("B"), self.dtype()
        for odd in self.random.sample([0, 1], 2):
            (v,), _, depth = self.block(f"{out}{'eo'[odd]}", (half,))
            self.line(depth, f"{out}[{v.text} * 2 + {odd}] = {self.value([v], dtype, 1)}")
        self.made[out] = ((f"{half} * 2" if self.is_open else str(2 * int(half)),), dtype)

    def function(self) -> FormedFunction:
        random = self.random
        kinds = [self.elementwise, self.elementwise, self.reduction, self.reduction, self.strided]
        kinds += [self.nested, self.looped, self.scattered, self.halves]
        for _ in range(random.randint(1, 4)):
            random.choice(kinds)()
        names = list(self.made)
        outputs = names[-random.choice([1, 1, 2, 3]) :]
        passed = {**self.inputs, **{name: self.made[name] for name in outputs}}

        def buffer(shape: Shape, dtype: str) -> str:
            return f'({", ".join(shape)},), "{dtype}"'

        text = [
            "@T.prim_func",
            f"def k({', '.join(f'h{name}: T.handle' for name in passed)}):",
            *(f'    {symbol} = T.var("int32")' for symbol in SYMBOLS if self.is_open),
            *(f"    {name} = T.match_buffer(h{name}, {buffer(*each)})" for name, each in passed.items()),
            *(f"    {name} = T.alloc_buffer({buffer(*self.made[name])})" for name in names if name not in outputs),
            *self.lines,
        ]
        given = list(self.inputs)
        places = frozenset(given.index(name) for name in self.places)
        made = tuple(self.made[name] for name in outputs)
        return FormedFunction("\n".join(text) + "\n", tuple(self.inputs.values()), made, places)


def random_formed_function(random: Random, is_open: bool = False) -> FormedFunction:
    """One to four kinds of blocks, of which the last ones write what the function gives; of `is_open` ones, extents are
    symbols that the first input tells."""
    return _Writer(random, is_open).function()
