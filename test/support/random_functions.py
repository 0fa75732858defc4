"""Random functions of `tir`, as text in TVMScript: blocks over one another's buffers, of one element type.

Loops do not start at 0, run in two parts or backwards; blocks are guarded, partial, update what stands there, reduce
from 5 on; elements are read at offsets, beyond the border behind a condition, divided by what may be 0. Integers wrap.
Floats hold small integers, so that whatever order they are added in gives the same; and of what is the greatest of a
row, and where, there is one.
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

DTYPES = ("int32", "int32", "int32", "int8", "uint8", "int16", "int64", "float32")


class Dim(NamedTuple):
    """A number from 0 to `extent - 1`, as text."""

    text: str
    extent: int


class Binding(NamedTuple):
    """What an iterator is bound to; it `overruns` where a condition has to keep it inside of its extent."""

    text: str
    overruns: bool


@dataclass(frozen=True)
class RandomFunction:
    """A function, the shapes of what it reads, and its element type."""

    text: str
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    gathered: tuple[int | None, ...] = ()
    """Of each input, the number below which its elements are, which are indices; `None` of one that has values."""
    ranked: frozenset[int] = frozenset()
    """The inputs in whose rows no two elements are equal: which is the greatest does not depend on an order."""

    def parse(self) -> PrimFuncOp:
        """The function, verified."""
        func = from_source(self.text)
        assert isinstance(func, PrimFuncOp)
        return func

    def arrays(self, seed: int) -> list[npt.NDArray[np.generic]]:
        """Numbers of both signs; of integers, the extremes among them."""
        generator = np.random.default_rng(seed)
        least, most = (0, 6) if self.dtype.startswith("u") else (-2, 3) if self.dtype == "float32" else (-9, 10)
        arrays = [generator.integers(least, most, shape).astype(self.dtype) for shape in self.shapes]
        if self.dtype != "float32":
            info = np.iinfo(self.dtype)
            for array in arrays:
                array[generator.random(array.shape) < 0.1] = info.min
                array[generator.random(array.shape) < 0.1] = info.max
        for number, below in enumerate(self.gathered):
            if below is not None:
                arrays[number] = generator.integers(0, below, self.shapes[number]).astype("int32")
        for number in sorted(self.ranked):
            rows, columns = self.shapes[number]
            places = np.tile(np.arange(columns), (rows, 1)) + (1 if self.dtype.startswith("u") else -(columns // 2))
            arrays[number] = generator.permuted(places, axis=1).astype(self.dtype)
        return arrays


class _Writer:
    def __init__(self, random: Random, gathers: bool):
        self.random = random
        self.gathers = gathers
        self.places: dict[str, tuple[tuple[int, ...], int]] = {}
        self.ranked: set[str] = set()
        self.dtype = random.choice(DTYPES)
        self.lines: list[str] = []
        self.inputs: dict[str, tuple[int, ...]] = {}
        self.made: dict[str, tuple[int, ...]] = {}
        self.count = 0
        self.depth = 0
        """How deep the body of the last block stands."""

    # names and text

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def names(self, prefix: str, number: int) -> list[str]:
        return [self.name(prefix) for _ in range(number)]

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def extent(self) -> int:
        return self.random.choice([1, 2, 3, 4, 4, 5, 6, 7, 8, 8])

    def shape(self, least: int, most: int) -> tuple[int, ...]:
        return tuple(self.extent() for _ in range(self.random.randint(least, most)))

    def number(self, least: int, most: int) -> str:
        return self.literal(self.random.randint(least, most))

    def literal(self, value: int) -> str:
        if self.dtype.startswith("u"):
            value %= 1 << int(self.dtype[4:])
        return f"T.{self.dtype}({value})"

    def input(self, shape: tuple[int, ...]) -> str:
        name = self.name("X")
        self.inputs[name] = shape
        return name

    # expressions

    def element(self, dims: Sequence[Dim], readable: dict[str, tuple[int, ...]]) -> str:
        """An element of a buffer, or of a new input, at indices that speak of `dims`."""
        random = self.random
        if readable and random.random() < 0.8:
            name, shape = random.choice(list(readable.items()))
        else:
            shape = tuple(dim.extent for dim in dims) if dims and random.random() < 0.5 else self.shape(1, 3)
            name = self.input(shape)
        indices: list[str] = []
        conditions: list[str] = []
        for extent in shape:
            dim = random.choice(dims) if dims else Dim("0", 1)
            if self.gathers and random.random() < 0.15:
                indices.append(self.place(dims, extent))
                continue
            kind, by = random.random(), -(-dim.extent // extent)
            if dim.extent <= extent and kind < 0.75:
                offset = 0 if kind < 0.5 else random.randint(0, extent - dim.extent)
                indices.append(f"{dim.text} + {offset}" if offset else dim.text)
            elif kind < 0.82:
                indices.append(f"{dim.text} % {extent}")
            elif kind < 0.87:
                indices.append(f"{dim.text} // {by}")
            elif kind < 0.9:
                indices.append(str(random.randint(0, extent - 1)))
            elif kind < 0.95 and dim.extent <= extent:
                indices.append(f"{extent - 1} - {dim.text}")
            else:
                offset = random.randint(-2, 2)
                index = f"{dim.text} + {offset}" if offset >= 0 else f"{dim.text} - {-offset}"
                indices.append(index)
                conditions += [f"0 <= {index}"] * (offset < 0)
                conditions += [f"{index} < {extent}"] * (dim.extent + offset > extent)
        text = f"{name}[{', '.join(indices)}]"
        if conditions:
            return f"T.if_then_else({' and '.join(conditions)}, {text}, {self.number(-1, 1)})"
        return text

    def place(self, dims: Sequence[Dim], extent: int) -> str:
        """An index below `extent` that an input holds."""
        shape = tuple(dim.extent for dim in dims[:2]) or (1,)
        name = next((each for each, place in self.places.items() if place == (shape, extent)), None)
        if name is None:
            name = self.name("J")
            self.places[name] = shape, extent
        return f"{name}[{', '.join(dim.text for dim in dims[:2]) or '0'}]"

    def value(self, dims: Sequence[Dim], readable: dict[str, tuple[int, ...]], depth: int = 2) -> str:
        random = self.random
        kind = random.random()
        if depth == 0 or kind < 0.33:
            return self.element(dims, readable)
        a = self.value(dims, readable, depth - 1)
        dim = random.choice(dims) if dims else Dim("0", 1)
        if kind < 0.37 and self.dtype != "float32":
            narrow = random.choice(["int8", "uint8", "int16", "int64"])
            return f"T.cast(T.cast({a}, '{narrow}'), '{self.dtype}')"
        if kind < 0.43:
            return f"({a} * {self.number(-3, 3)})"
        if kind < 0.48:
            return f"T.Select({a} > {self.number(-2, 2)}, {a}, {self.number(-3, 3)})"
        if kind < 0.53:
            return f"({a} + T.cast({dim.text}, '{self.dtype}'))"
        if kind < 0.56:
            return f"({self.literal(0)} - {a})"
        b = self.value(dims, readable, depth - 1)
        if kind < 0.62:
            return f"T.if_then_else({dim.text} < {random.randint(0, dim.extent)}, {a}, {b})"
        if kind < 0.69:
            return f"T.{random.choice(['max', 'min'])}({a}, {b})"
        if kind < 0.76 and self.dtype != "float32":
            divide = random.choice(["floordiv", "floormod", "truncdiv", "truncmod"])
            zero = self.literal(0)
            guard = random.choice([f"T.if_then_else({b} != {zero}, {{}}, {zero})", "{}"])
            return guard.format(f"T.{divide}({a}, {b})")
        if kind < 0.8 and self.dtype != "float32":
            return f"({a} {random.choice('&|^')} {b})"
        return f"({a} {random.choice('++-')} {b})"

    # blocks

    def loops(self, extents: Sequence[int], backwards: bool, plain: bool) -> tuple[list[Binding], int]:
        """Loops over all of `extents`, what iterators are bound to, and the depth of what is in the loops."""
        random = self.random
        names = self.names("i", len(extents))
        if plain or random.random() < 0.4:
            domain = f"T.grid({', '.join(map(str, extents))})" if len(names) > 1 else f"range({extents[0]})"
            self.line(1, f"for {', '.join(names)} in {domain}:")
            return [Binding(name, False) for name in names], 2
        bindings: list[Binding] = []
        for depth, (name, extent) in enumerate(zip(names, extents, strict=True), 1):
            kind = random.random()
            if kind < 0.2:
                first = random.randint(1, 3)
                self.line(depth, f"for {name} in range({first}, {first + extent}):")
                bindings.append(Binding(f"{name} - {first}", False))
            elif kind < 0.4 and extent > 1:
                by = random.randint(2, 4)
                outer = -(-extent // by)
                self.line(depth, f"for {name}, {name}i in T.grid({outer}, {by}):")
                bindings.append(Binding(f"{name} * {by} + {name}i", outer * by > extent))
            else:
                self.line(depth, f"for {name} in range({extent}):")
                turned = backwards and kind < 0.5
                bindings.append(Binding(f"{extent - 1} - {name}" if turned else name, False))
        return bindings, 1 + len(names)

    def block(
        self, name: str, spatial: Sequence[int], reduced: Sequence[int] = (), plain: bool = False
    ) -> tuple[list[Dim], list[Dim], int]:
        """A block and the loops around it: its iterators of both kinds, and the depth of its body."""
        bindings, depth = self.loops([*spatial, *reduced], not reduced, plain)
        self.line(depth, f'with T.block("{name}"):')
        inside: list[str] = []
        dims: list[Dim] = []
        for number, (binding, extent) in enumerate(zip(bindings, [*spatial, *reduced], strict=True)):
            iterator = self.name("v")
            first = 0 if plain or number < len(spatial) else self.random.choice([0, 0, 0, 2, 5])
            kind, domain = ("reduce", f"({first}, {first + extent})") if first else ("spatial", str(extent))
            if number >= len(spatial):
                kind = "reduce"
            plus = f" + {first}" if first else ""
            self.line(depth + 1, f"{iterator} = T.axis.{kind}({domain}, {binding.text}{plus})")
            dims.append(Dim(f"({iterator} - {first})" if first else iterator, extent))
            if binding.overruns:
                inside.append(f"{binding.text} < {extent}")
        if inside:
            self.line(depth + 1, f"T.where({' and '.join(inside)})")
        self.depth = depth + 1
        return dims[: len(spatial)], dims[len(spatial) :], depth + 1

    def elementwise(self) -> None:
        random = self.random
        readable = self.readable()
        shape = random.choice(list(readable.values())) if readable and random.random() < 0.6 else self.shape(1, 3)
        outs = self.names("B", 2 if random.random() < 0.15 else 1)
        dims, _, depth = self.block(outs[0], shape)
        indices = [dim.text for dim in dims]
        for out in outs:
            if random.random() < 0.1 and len(set(shape)) == 1:
                random.shuffle(indices)
            self.line(depth, f"{out}[{', '.join(indices)}] = {self.value(dims, readable)}")
            self.made[out] = shape

    def reduction(self) -> None:
        random = self.random
        readable = self.readable()
        shape, out = self.shape(0, 2) or (1,), self.name("B")
        dims, steps, depth = self.block(out, shape, self.shape(1, 2))
        kind = random.choice(["sum", "sum", "max", "min", "prod"] if self.dtype != "float32" else ["sum", "max", "min"])
        place = f"{out}[{', '.join(dim.text for dim in dims)}]"
        first = {
            "sum": self.literal(0),
            "prod": self.literal(1),
            "max": f"T.min_value('{self.dtype}')",
            "min": f"T.max_value('{self.dtype}')",
        }[kind]
        neutral = first
        if random.random() < 0.15:
            first = self.number(-3, 3)
        self.line(depth, "with T.init():")
        self.line(depth + 1, f"{place} = {first}")
        step = self.value([*dims, *steps], readable, 1)
        if random.random() < 0.15:
            step = f"T.if_then_else({steps[-1].text} <= {dims[0].text}, {step}, {neutral})"
        operation = {"sum": "{} + {}", "prod": "{} * {}", "max": "T.max({}, {})", "min": "T.min({}, {})"}[kind]
        self.line(depth, f"{place} = {operation.format(place, step)}")
        self.made[out] = shape

    def convolution(self) -> None:
        random = self.random
        length, kernel, padding = random.randint(3, 9), random.randint(1, 3), random.randint(0, 2)
        stride, dilation, channels = random.randint(1, 2), random.randint(1, 2), random.randint(1, 3)
        wide, span = length + 2 * padding, dilation * (kernel - 1) + 1
        if wide < span:
            return self.reduction()
        x, w, padded, out = self.input((channels, length)), self.input((channels, kernel)), *self.names("B", 2)
        (c, i), _, depth = self.block(padded, (channels, wide))
        inside = f"{padding} <= {i.text} and {i.text} < {length + padding}"
        read = f"{x}[{c.text}, {i.text} - {padding}]"
        self.line(depth, f"{padded}[{c.text}, {i.text}] = T.if_then_else({inside}, {read}, {self.literal(0)})")
        (o,), (c, k), depth = self.block(out, ((wide - span) // stride + 1,), (channels, kernel))
        self.line(depth, "with T.init():")
        self.line(depth + 1, f"{out}[{o.text}] = {self.literal(0)}")
        read = f"{padded}[{c.text}, {o.text} * {stride} + {k.text} * {dilation}]"
        self.line(depth, f"{out}[{o.text}] = {out}[{o.text}] + {read} * {w}[{c.text}, {k.text}]")
        self.made |= {padded: (channels, wide), out: ((wide - span) // stride + 1,)}

    def copy(self, name: str, shape: tuple[int, ...]) -> str:
        """A buffer that holds what another does."""
        out = self.name("B")
        dims, _, depth = self.block(out, shape, plain=True)
        indices = ", ".join(dim.text for dim in dims)
        self.line(depth, f"{out}[{indices}] = {name}[{indices}]")
        self.made[out] = shape
        return out

    def product(self) -> None:
        """A product of matrices, sometimes of copies and copied itself, which padding needs."""
        random = self.random
        rows, columns, steps = [random.choice([2, 4, 4, 6, 8, self.extent()]) for _ in range(3)]
        turned, copied = random.random() < 0.5, random.random() < 0.5
        shapes = (rows, steps), (columns, steps) if turned else (steps, columns)
        a, b = [self.input(shape) for shape in shapes]
        if copied:
            a, b = self.copy(a, shapes[0]), self.copy(b, shapes[1])
        out = self.name("B")
        (i, j), (k,), depth = self.block(out, (rows, columns), (steps,), plain=random.random() < 0.8)
        self.line(depth, "with T.init():")
        self.line(depth + 1, f"{out}[{i.text}, {j.text}] = {self.literal(0)}")
        factors = f"{a}[{i.text}, {k.text}]", f"{b}[{f'{j.text}, {k.text}' if turned else f'{k.text}, {j.text}'}]"
        self.line(depth, f"{out}[{i.text}, {j.text}] = {out}[{i.text}, {j.text}] + {' * '.join(factors)}")
        self.made[out] = (rows, columns)
        if copied:
            self.copy(out, (rows, columns))

    def window(self) -> None:
        """What is computed, and read again around each element: a part of it is enough at a time."""
        random = self.random
        size, length = random.randint(2, 4), self.extent() + 1
        shape = (length + size - 1, *self.shape(0, 1))
        readable, made, out = self.readable(), *self.names("B", 2)
        dims, _, depth = self.block(made, shape)
        self.line(depth, f"{made}[{', '.join(dim.text for dim in dims)}] = {self.value(dims, readable, 1)}")
        dims, _, depth = self.block(out, (length, *shape[1:]))
        first, *rest = [dim.text for dim in dims]
        reads = [f"{made}[{', '.join([f'{first} + {n}', *rest])}]" for n in range(size)]
        self.line(depth, f"{out}[{', '.join([first, *rest])}] = {' + '.join(reads)}")
        self.made |= {made: shape, out: (length, *shape[1:])}

    def update(self) -> None:
        """A block that changes what another has written."""
        if not self.made:
            return self.elementwise()
        name, shape = self.random.choice(list(self.made.items()))
        dims, _, depth = self.block(self.name("U"), shape)
        place = f"{name}[{', '.join(dim.text for dim in dims)}]"
        others = {other: shape for other, shape in self.readable().items() if other != name}
        self.line(depth, f"{place} = {place} * {self.literal(2)} + {self.value(dims, others, 1)}")

    def triangle(self) -> None:
        """A square that is filled, and written again on one side of its diagonal."""
        random = self.random
        readable = self.readable()
        extent, out = self.extent() + 1, self.name("B")
        (i, j), _, depth = self.block(f"{out}f", (extent, extent))
        self.line(depth, f"{out}[{i.text}, {j.text}] = {self.number(-3, 3)}")
        a, b, u, v = [*self.names("i", 2), *self.names("v", 2)]
        dims = [Dim(u, extent), Dim(v, extent)]
        relation = random.choice(["<=", "<", ">", ">="])
        self.line(1, f"for {a}, {b} in T.grid({extent}, {extent}):")
        self.line(2, f'with T.block("{out}g"):')
        self.line(3, f"{u}, {v} = T.axis.remap('SS', [{a}, {b}])")
        store = f"{out}[{u}, {v}] = {self.value(dims, readable, 1)}"
        if random.random() < 0.5:
            self.line(3, f"T.where({a} {relation} {b})")
            self.line(3, store)
        else:
            self.line(3, f"if {u} {relation} {v}:")
            self.line(4, store)
        self.made[out] = (extent, extent)

    def parts(self) -> None:
        """A buffer that two blocks write, each a part of it; sometimes one that is written there again."""
        random, readable, out = self.random, self.readable(), self.name("B")
        rows = self.shape(0, 1)
        first, second = self.extent(), self.extent()
        for extent, offset in random.sample([(first, 0), (second, first)], 2):
            *dims, dim = self.block(self.name(f"{out}p"), (*rows, extent))[0]
            depth = self.depth
            place = f"{out}[{', '.join([*(each.text for each in dims), f'{dim.text} + {offset}'])}]"
            self.line(depth, f"{place} = {self.value([*dims, dim], readable, 1)}")
        self.made[out] = (*rows, first + second)
        if random.random() < 0.4:
            *dims, dim = self.block(self.name(f"{out}u"), (*rows, second))[0]
            place = f"{out}[{', '.join([*(each.text for each in dims), f'{dim.text} + {first}'])}]"
            self.line(self.depth, f"{place} = {place} + {self.value([*dims, dim], readable, 1)}")

    def prefix(self) -> None:
        """What goes on from the element before it, whose order stays."""
        random, readable, out = self.random, self.readable(), self.name("B")
        shape = (*self.shape(0, 1), self.extent() + 1)
        dims, _, depth = self.block(f"{out}s", shape)
        self.line(depth, f"{out}[{', '.join(dim.text for dim in dims)}] = {self.value(dims, readable, 1)}")
        names, iters = self.names("i", len(shape)), self.names("v", len(shape))
        rows = [*shape[:-1], shape[-1] - 1]
        domain = f"T.grid({', '.join(map(str, rows))})" if len(names) > 1 else f"range({rows[0]})"
        self.line(1, f"for {', '.join(names)} in {domain}:")
        self.line(2, f'with T.block("{out}c"):')
        for name, iterator, extent in zip(names, iters, rows, strict=True):
            kind = "opaque" if iterator == iters[-1] else random.choice(["spatial", "spatial", "opaque"])
            self.line(3, f"{iterator} = T.axis.{kind}({extent}, {name})")
        lead, last = iters[:-1], iters[-1]
        place, before = (f"{out}[{', '.join([*lead, last + plus])}]" for plus in (" + 1", ""))
        operation = random.choice(["{} + {}", "T.max({}, {})", "{} - {}"])
        self.line(3, f"{place} = {operation.format(place, before)}")
        self.made[out] = shape

    def counts(self) -> None:
        """Sums at places that are computed, or read: of several elements at one place."""
        random, readable, out = self.random, self.readable(), self.name("B")
        extent, (steps, *_) = self.extent() + 1, self.shape(1, 1)
        (dim,), _, depth = self.block(f"{out}z", (extent,), plain=random.random() < 0.5)
        self.line(depth, f"{out}[{dim.text}] = {self.number(-2, 2)}")
        name, v = self.name("i"), self.name("v")
        self.line(1, f"for {name} in range({steps}):")
        self.line(2, f'with T.block("{out}a"):')
        self.line(3, f"{v} = T.axis.{random.choice(['opaque', 'reduce'])}({steps}, {name})")
        step = Dim(v, steps)
        place = random.choice([f"{v} % {extent}", f"{v} // 2 % {extent}", self.place([step], extent)])
        self.line(3, f"{out}[{place}] = {out}[{place}] + {self.value([step], readable, 1)}")
        self.made[out] = (extent,)

    def greatest(self) -> None:
        """The greatest of each row, and where it is."""
        random, (rows, columns) = self.random, (self.extent(), self.extent())
        x = self.input((rows, columns))
        self.ranked.add(x)
        value, place = self.names("B", 2)
        (i,), (k,), depth = self.block(f"{value}m", (rows,), (columns,))
        self.line(depth, "with T.init():")
        self.line(depth + 1, f"{place}[{i.text}] = {self.literal(0)}")
        self.line(depth + 1, f"{value}[{i.text}] = T.min_value('{self.dtype}')")
        read, least = f"{x}[{i.text}, {k.text}]", f"{value}[{i.text}]"
        at, number = self.names("t", 2)
        where = f"T.cast({k.text}, '{self.dtype}')"
        keeps = random.choice([f"{least} >= {read}", f"{least} > {read}"])
        self.line(depth, f"{at}: T.{self.dtype} = T.Select({keeps}, {place}[{i.text}], {where})")
        self.line(depth, f"{number}: T.{self.dtype} = T.Select({keeps}, {least}, {read})")
        self.line(depth, f"{place}[{i.text}] = {at}")
        self.line(depth, f"{value}[{i.text}] = {number}")
        self.made |= {place: (rows,), value: (rows,)}

    def together(self) -> None:
        """Blocks that share loops: what is made for a row, and read of it, and of rows before."""
        random, readable = self.random, self.readable()
        rows, columns = self.extent() + 1, self.extent()
        made, out = self.names("B", 2)
        i, j, k, v, w, r, s, u = [*self.names("i", 3), *self.names("v", 5)]
        self.line(1, f"for {i} in range({rows}):")
        self.line(2, f"for {j} in range({columns}):")
        self.line(3, f'with T.block("{made}"):')
        self.line(4, f"{v}, {w} = T.axis.remap('SS', [{i}, {j}])")
        self.line(4, f"{made}[{v}, {w}] = {self.value([Dim(v, rows), Dim(w, columns)], readable, 1)}")
        self.line(2, f"for {k} in range({columns}):")
        self.line(3, f'with T.block("{out}"):')
        kind = random.random()
        if kind < 0.5:  # a sum of the row
            self.line(4, f"{r}, {s} = T.axis.remap('SR', [{i}, {k}])")
            self.line(4, "with T.init():")
            self.line(5, f"{out}[{r}] = {self.literal(0)}")
            self.line(4, f"{out}[{r}] = {out}[{r}] + {made}[{r}, {s}]")
            self.made |= {made: (rows, columns), out: (rows,)}
            return
        self.line(4, f"{r}, {u} = T.axis.remap('SS', [{i}, {k}])")
        turned = f"{columns - 1} - {u}" if random.random() < 0.5 else u
        text = f"{made}[{r}, {turned}]"
        if kind < 0.75:
            text += f" + T.if_then_else(1 <= {r}, {made}[{r} - 1, {u}], {self.number(-2, 2)})"
        self.line(4, f"{out}[{r}, {u}] = {text}")
        self.made |= {made: (rows, columns), out: (rows, columns)}

    def readable(self) -> dict[str, tuple[int, ...]]:
        return {**self.inputs, **self.made}

    def function(self) -> RandomFunction:
        random = self.random
        kinds = [self.elementwise] * 3 + [self.reduction] * 2
        for _ in range(random.randint(1, 4)):
            every = [*kinds, self.convolution, self.product, self.window, self.update, self.triangle]
            if self.gathers:
                every += [self.parts, self.prefix, self.counts, self.greatest, self.together]
            random.choice(every)()
        names = list(self.made)
        outputs = names[-2:] if random.random() < 0.3 else names[-1:]

        def buffer(shape: tuple[int, ...]) -> str:
            return f'(({", ".join(map(str, shape))},), "{self.dtype}")'

        passed = {**self.inputs, **{name: self.made[name] for name in outputs}}
        written = ", ".join(
            [
                *(f'{name}: T.Buffer({shape}, "int32")' for name, (shape, _) in self.places.items()),
                *(f"{name}: T.Buffer{buffer(shape)}" for name, shape in passed.items()),
            ]
        )
        kept = [f"    {name} = T.alloc_buffer{buffer(self.made[name])}" for name in names if name not in outputs]
        text = "\n".join(["@T.prim_func", f"def k({written}):", *kept, *self.lines]) + "\n"
        shapes = (*(shape for shape, _ in self.places.values()), *self.inputs.values())
        ranked = (len(self.places) + number for number, name in enumerate(self.inputs) if name in self.ranked)
        gathered = tuple(below for _, below in self.places.values())
        return RandomFunction(text, shapes, self.dtype, gathered, frozenset(ranked))


def random_function(random: Random, gathers: bool = False) -> RandomFunction:
    """One to four kinds of blocks, of which the last, or the last two, write what the function gives; with `gathers`,
    some read at indices that are read."""
    return _Writer(random, gathers).function()
