"""Random functions of `tir` whose extents are symbols, as text in TVMScript: blocks over one another's buffers.

Elements are read at offsets, backwards, beyond the border behind a condition; buffers are as long as a symbol, longer,
or of a known extent. Numbers are small integers, so that whatever order they are added in gives the same.
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

Sizes = dict[str, int]
SYMBOLS = ("n", "m")


class Size(NamedTuple):
    """An extent: a symbol, or nothing, and a number that is added."""

    symbol: str
    plus: int

    def __str__(self) -> str:
        return f"{self.symbol} + {self.plus}" if self.symbol and self.plus else self.symbol or str(self.plus)

    def at(self, sizes: Sizes) -> int:
        return sizes.get(self.symbol, 0) + self.plus


Shape = tuple[Size, ...]


@dataclass(frozen=True)
class SymbolicFunction:
    """A function, the shapes of what it reads, of which the first tells the symbols, and its element type."""

    text: str
    shapes: tuple[Shape, ...]
    dtype: str

    def parse(self) -> PrimFuncOp:
        """The function, verified."""
        func = from_source(self.text)
        assert isinstance(func, PrimFuncOp)
        return func

    def arrays(self, seed: int, sizes: Sizes) -> list[npt.NDArray[np.generic]]:
        """Numbers of both signs, of so many elements."""
        generator = np.random.default_rng(seed)
        shapes = [tuple(size.at(sizes) for size in shape) for shape in self.shapes]
        return [generator.integers(-3, 4, shape).astype(self.dtype) for shape in shapes]


class _Writer:
    def __init__(self, random: Random):
        self.random = random
        self.dtype = random.choice(["int32", "float32"])
        self.symbols = SYMBOLS[: random.choice([1, 2, 2])]
        self.lines: list[str] = []
        self.inputs: dict[str, Shape] = {"X": tuple(Size(symbol, 0) for symbol in self.symbols)}
        self.made: dict[str, Shape] = {}
        self.count = 0

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def size(self) -> Size:
        if self.random.random() < 0.3:
            return Size("", self.random.choice([1, 2, 3, 4, 8]))
        return Size(self.random.choice(self.symbols), self.random.choice([0, 0, 0, 1, 3]))

    def number(self) -> str:
        return f"T.{self.dtype}({self.random.randint(-3, 3)})"

    def index(self, var: str, size: Size, extent: Size) -> tuple[str, str | None] | None:
        """Where `var`, below `size`, may touch an extent, and the condition under which it does."""
        random = self.random
        if size == extent:
            kind = random.random()
            if kind < 0.6:
                return var, None
            if kind < 0.75:
                return f"{extent} - 1 - {var}", None
            by = random.randint(1, 2)
            if kind < 0.9:
                return f"{var} - {by}", f"{by} <= {var}"
            return f"{var} + {by}", f"{var} + {by} < {extent}"
        if size.symbol == extent.symbol and size.plus <= extent.plus:
            return f"{var} + {random.randint(0, extent.plus - size.plus)}", None
        if not extent.symbol and extent.plus and random.random() < 0.5:
            return f"{var} % {extent.plus}", None
        return None

    def element(self, dims: Sequence[tuple[str, Size]]) -> str:
        """An element of a buffer that is there, if one fits, or of a new input."""
        random = self.random
        readable = list({**self.inputs, **self.made}.items())
        for name, shape in random.sample(readable, len(readable)):
            found = [self.index(*random.choice(dims), extent) for extent in shape]
            indices = [each for each in found if each is not None]
            if len(indices) == len(shape):
                return self.read(name, indices)
        chosen = random.sample(dims, random.randint(1, len(dims)))
        shape = tuple(Size(size.symbol, size.plus + random.choice([0, 0, 2])) for _, size in chosen)
        name = self.name("X")
        self.inputs[name] = shape
        found = [self.index(*dim, extent) for dim, extent in zip(chosen, shape, strict=True)]
        return self.read(name, [each for each in found if each is not None])

    def read(self, name: str, indices: Sequence[tuple[str, str | None]]) -> str:
        text = f"{name}[{', '.join(index for index, _ in indices)}]"
        conditions = [condition for _, condition in indices if condition]
        return f"T.if_then_else({' and '.join(conditions)}, {text}, {self.number()})" if conditions else text

    def value(self, dims: Sequence[tuple[str, Size]], depth: int = 2) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.3:
            return self.element(dims)
        a = self.value(dims, depth - 1)
        if kind < 0.5:
            return f"({a} * {self.number()})"
        if kind < 0.6:
            return f"T.max({a}, {self.number()})"
        return f"({a} {self.random.choice('+-')} {self.value(dims, depth - 1)})"

    def block(self, reduces: bool) -> None:
        random = self.random
        made = list(self.made.values())
        shape = (
            random.choice(made)
            if made and random.random() < 0.5
            else tuple(self.size() for _ in range(random.randint(1, 2)))
        )
        steps = tuple(self.size() for _ in range(random.randint(1, 2))) if reduces else ()
        sizes = (*shape, *steps)
        out = self.name("B")
        names = [self.name("i") for _ in sizes]
        dims = [(self.name("v"), size) for size in sizes]
        domain = f"T.grid({', '.join(map(str, sizes))})" if len(names) > 1 else f"range({sizes[0]})"
        kinds = "S" * len(shape) + "R" * len(steps)
        self.lines += [f"    for {', '.join(names)} in {domain}:", f'        with T.block("{out}"):']
        for kind, (var, size), name in zip(kinds, dims, names, strict=True):
            axis = "spatial" if kind == "S" else "reduce"
            self.lines.append(f"            {var} = T.axis.{axis}({size}, {name})")
        place = f"{out}[{', '.join(var for var, _ in dims[: len(shape)])}]"
        if reduces:
            self.lines += ["            with T.init():", f"                {place} = T.{self.dtype}(0)"]
            self.lines.append(f"            {place} = {place} + {self.value(dims, 1)}")
        else:
            self.lines.append(f"            {place} = {self.value(dims)}")
        self.made[out] = shape

    def triangle(self) -> None:
        """A sum of as many steps as the row says: its loop is as long as an outer one has come."""
        rows, out = self.size(), self.name("B")
        row, step, i, j = (self.name(prefix) for prefix in "vvij")
        place = f"{out}[{row}]"
        self.lines += [
            f"    for {i} in range({rows}):",
            f"        for {j} in range({i} + 1):",
            f'            with T.block("{out}"):',
            f"                {row} = T.axis.spatial({rows}, {i})",
            f"                {step} = T.axis.reduce({rows}, {j})",
            "                with T.init():",
            f"                    {place} = T.{self.dtype}(0)",
            f"                {place} = {place} + {self.value([(row, rows), (step, rows)], 1)}",
        ]
        self.made[out] = (rows,)

    def function(self, dependent: bool) -> SymbolicFunction:
        for left in reversed(range(self.random.randint(1, 4))):
            if dependent and left and self.random.random() < 0.6:
                self.triangle()
            else:
                self.block(self.random.random() < 0.35)
        *kept, output = self.made
        passed = {**self.inputs, output: self.made[output]}

        def shape(sizes: Shape) -> str:
            return f'({", ".join(map(str, sizes))},), "{self.dtype}"'

        text = [
            "@T.prim_func",
            f"def k({', '.join(f'h{name}: T.handle' for name in passed)}):",
            *(f'    {symbol} = T.var("int32")' for symbol in self.symbols),
            *(f"    {name} = T.match_buffer(h{name}, {shape(sizes)})" for name, sizes in passed.items()),
            *(f"    {name} = T.alloc_buffer({shape(self.made[name])})" for name in kept),
            *self.lines,
        ]
        return SymbolicFunction("\n".join(text) + "\n", tuple(self.inputs.values()), self.dtype)


def random_symbolic_function(random: Random, dependent: bool = False) -> SymbolicFunction:
    """One to four blocks, element by element and sums, of which the last writes what the function gives; `dependent`
    ones have loops that are as long as others around them say."""
    return _Writer(random).function(dependent)
