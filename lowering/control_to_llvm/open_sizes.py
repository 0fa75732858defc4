"""What follows from the extents of the tensors that a segment takes: code that finds it when a program comes to it.

A segment is a graph whose symbols are extents of what it takes, or elements of such (`held`); what it gives, and the
memory that it works in, has a size that follows from those. `runtime/sizes.py` finds the same for a whole graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import llvm
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, StringAttr, i32, i64
from xdsl.ir import Attribute, SSAValue

from ...dialects.support.hints import isa
from ..abi import GRAPH_SYMBOLS, POOLS, SYMBOL_EXTENTS, TensorSpec
from ..affine_sizes import sizes_of
from ..graph_to_memory.signature import read_signature
from ..sizes import Size, SymbolExtents, read_extents
from .assembly import EQUAL, SIGNED_GREATER, SIGNED_LESS, Assembly

Span: TypeAlias = tuple[SSAValue, SSAValue]
"""The least and the greatest that a number may be; one value where it is known exactly."""


@dataclass(frozen=True)
class OpenGraph:
    """What the function of a graph says of its sizes."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    """The last ones, as many as `extents.read`, hold what data has decided."""
    symbols: int
    pools: tuple[tuple[Size, ...], ...]
    extents: SymbolExtents

    @staticmethod
    def of(attributes: Mapping[str, Attribute]) -> OpenGraph:
        """What the attributes of a graph's function say."""
        inputs, outputs = read_signature(attributes)
        names, pools = attributes.get(GRAPH_SYMBOLS), attributes.get(POOLS)
        said = attributes.get(SYMBOL_EXTENTS)
        count = len(names) if isa(names, ArrayAttr[Attribute]) else 0
        given = [sizes_of(pool) for pool in pools] if isa(pools, ArrayAttr[AffineMapAttr]) else []
        text = said.data if isinstance(said, StringAttr) else ""
        return OpenGraph(inputs, outputs, count, tuple(given), read_extents(text, count))


Dim: TypeAlias = Callable[[int, int], SSAValue]
"""What an extent of an input is, by the numbers of both."""
Element: TypeAlias = Callable[[int, int], SSAValue]
"""What an element of an input is, as a word."""
Refuse: TypeAlias = Callable[[SSAValue, str, SSAValue, SSAValue], None]
"""Fail where a condition holds, with words and two numbers."""


class Sizes:
    """The sizes of one call of a graph."""

    def __init__(self, asm: Assembly, graph: OpenGraph, dim: Dim, element: Element):
        self.asm = asm
        self.graph = graph
        self._dim = dim
        self._element = element
        self.spans: list[Span] = []
        self._find()

    def _find(self) -> None:
        """What the symbols are, in the order of their numbers: such as follow from others come after those."""
        asm, graph = self.asm, self.graph
        defined, read = dict(graph.extents.defined), dict(graph.extents.read)
        for number in range(graph.symbols):
            if number in read:
                most = self.at_least(0, self.span(read[number])[1])
                self.spans.append((asm.integer(0), most))
            elif number in defined:
                low, high = self.span(defined[number])
                most = self.at_least(0, high)
                self.spans.append((most, most) if low is high else (self.at_least(0, low), most))
            else:
                given = self._given(number)
                self.spans.append((given, given))

    def _given(self, number: int) -> SSAValue:
        for tensor, spec in enumerate(self.graph.inputs):
            for axis, size in enumerate(spec.extents or ()):
                if size == ("n", number):
                    return self._dim(tensor, axis)
        tensor, element = next((t, e) for t, e, size in self.graph.extents.held if size == ("n", number))
        return self._element(tensor, element)

    # What follows

    @property
    def words(self) -> list[SSAValue]:
        """The symbols as the graph is passed them: of what data decides, what it is at most."""
        return [high for _, high in self.spans]

    def check(self, refuse: Refuse) -> None:
        """Fail where the inputs do not fit one another, or have other extents than their types say."""
        asm, extents = self.asm, self.graph.extents
        seen: set[Size] = {("n", number) for number, _ in (*extents.defined, *extents.read)}
        for tensor, spec in enumerate(self.graph.inputs):
            wanted: Sequence[Size] = spec.shape if spec.extents is None else spec.extents
            for axis, size in enumerate(wanted):
                if isinstance(size, tuple) and len(size) == 2 and size not in seen:
                    seen.add(size)  # it is what says the symbol
                else:
                    found, right = self._dim(tensor, axis), self.at_least(0, self.span(size)[1])
                    text = f"an extent of {{index}} stands where one of {{extent}} must be, in dimension {axis}"
                    refuse(asm.compare_unequal(found, right), text, found, right)
        for tensor, element, size in extents.held:
            if isinstance(size, tuple) and len(size) == 2 and size not in seen:
                seen.add(size)
                continue
            found, right = self._element(tensor, element), self.span(size)[1]
            text = "the extent {index} is told where one of {extent} must be"
            refuse(asm.compare_unequal(found, right), text, found, right)
        for least, most, words in extents.at_most:
            a, b = self.span(least)[1], self.span(most)[0]
            text = f"it takes sizes for which {words}, and {{index}} is above {{extent}}".replace("<=", "is at most")
            refuse(asm.compare(SIGNED_GREATER, a, b), text, a, b)

    def dims(self, spec: TensorSpec) -> list[SSAValue]:
        """The extents of a tensor, where it is largest."""
        if spec.extents is None:
            return [self.asm.integer(extent) for extent in spec.shape]
        return [self.at_least(0, self.span(size)[1]) for size in spec.extents]

    def pool_bytes(self) -> SSAValue | None:
        """The bytes of the pools that depend on symbols, with room for what is read of nothing; none if there are
        none."""
        asm, total = self.asm, None
        spans = self.spans
        self.spans = [(high, self.at_least(1, high)) for _, high in spans]  # a size may fall with a symbol
        for pool in self.graph.pools:
            bytes: SSAValue | None = None
            for size in pool:
                factor = self.at_least(1, self.span(size)[1])
                bytes = factor if bytes is None else asm.times(bytes, factor)
            if bytes is not None:
                total = bytes if total is None else asm.plus(total, bytes)
        self.spans = spans
        return total

    def decide(self, counts: Sequence[SSAValue]) -> None:
        """Say what the extents are that data has decided."""
        for (number, _), count in zip(self.graph.extents.read, counts, strict=True):
            found = self.at_least(0, self.at_most(count, self.spans[number][1]))
            self.spans[number] = found, found
        for number, size in self.graph.extents.defined:
            found = self.at_least(0, self.span(size)[1])
            self.spans[number] = found, found

    # Numbers

    def at_least(self, least: int, value: SSAValue) -> SSAValue:
        """`value`, but not below a number."""
        return self._extreme(SIGNED_GREATER, value, self.asm.integer(least))

    def at_most(self, value: SSAValue, most: SSAValue) -> SSAValue:
        """The lesser of two values."""
        return self._extreme(SIGNED_LESS, value, most)

    def _extreme(self, predicate: int, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.asm.select(self.asm.compare(predicate, a, b), a, b)

    def span(self, size: Size) -> Span:
        """Between which numbers a size lies."""
        asm = self.asm
        if isinstance(size, int):
            number = asm.integer(size)
            return number, number
        if len(size) == 2:
            return self.spans[size[1]]
        kind, lhs, rhs = size
        (a, b), (c, d) = self.span(lhs), self.span(rhs)
        if a is b and c is d:
            found = self._exactly(kind, a, c)
            return found, found
        match kind:
            case "*":
                products = [self._exactly("*", x, y) for x in (a, b) for y in (c, d)]
                low, high = products[0], products[0]
                for product in products[1:]:
                    low, high = self._exactly("min", low, product), self._exactly("max", high, product)
                return low, high
            case "//":
                low, high = ([self._exactly("//", x, y) for y in (c, d)] for x in (a, b))
                return self._exactly("min", *low), self._exactly("max", *high)
            case "%":
                zero, most = asm.integer(0), asm.add(llvm.SubOp(d, asm.integer(1))).results[0]
                rest, one, other = self._exactly("%", a, c), asm.compare(EQUAL, a, b), asm.compare(EQUAL, c, d)
                low, high = asm.select(other, rest, zero), asm.select(other, rest, most)
                return asm.select(one, low, zero), asm.select(one, high, most)
            case _:
                return self._exactly(kind, a, c), self._exactly(kind, b, d)

    def _exactly(self, kind: str, a: SSAValue, b: SSAValue) -> SSAValue:
        asm = self.asm
        match kind:
            case "+":
                return asm.plus(a, b)
            case "*":
                return asm.times(a, b)
            case "min":
                return self._extreme(SIGNED_LESS, a, b)
            case "max":
                return self._extreme(SIGNED_GREATER, a, b)
            case _:
                quotient, rest = self._divided(a, b)
                return quotient if kind == "//" else rest

    def _divided(self, a: SSAValue, b: SSAValue) -> Span:
        """Quotient, rounded down, and remainder by a positive number."""
        asm = self.asm
        quotient = asm.add(llvm.SDivOp(a, b)).results[0]
        rest = asm.add(llvm.SubOp(a, asm.add(llvm.MulOp(quotient, b)).results[0])).results[0]
        below = asm.compare(SIGNED_LESS, rest, asm.integer(0))
        down = asm.add(llvm.SubOp(quotient, asm.integer(1))).results[0]
        up = asm.add(llvm.AddOp(rest, b)).results[0]
        return asm.select(below, down, quotient), asm.select(below, up, rest)


def word(asm: Assembly, data: SSAValue, element: int, dtype: str) -> SSAValue:
    """An element of a tensor of integers, as a word."""
    if dtype == "int64":
        return asm.load(data, 8 * element, i64)
    return asm.add(llvm.SExtOp(asm.load(data, 4 * element, i32), i64)).results[0]
