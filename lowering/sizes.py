"""Numbers that are known when a graph is called: as compiled code and the runtime agree on them.

A size is an integer, a symbol `("n", 0)`, by its number, or what is made of sizes: `("+", a, b)`, `("*", a, b)`,
`("//", a, b)` and `("%", a, b)`, `("min", a, b)` and `("max", a, b)`. What divides is a positive number, or the
greater of one and a size. Needs no compiler.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeAlias, cast

from ..dialects.support.records import record

Size: TypeAlias = "int | tuple[str, int] | tuple[str, Size, Size]"

OPERATORS = ("+", "*", "//", "%", "min", "max")


def evaluate(size: Size, symbols: Sequence[int]) -> int:
    """What a size is where the symbols, by number, are `symbols`."""
    if isinstance(size, int):
        return size
    if len(size) == 2:
        return symbols[size[1]]
    kind, lhs, rhs = size
    a, b = evaluate(lhs, symbols), evaluate(rhs, symbols)
    match kind:
        case "+":
            return a + b
        case "*":
            return a * b
        case "//":
            return a // b
        case "%":
            return a % b
        case "min":
            return min(a, b)
        case _:
            return max(a, b)


def symbols_of(size: Size) -> set[int]:
    """The numbers of the symbols that a size is made of."""
    if isinstance(size, int):
        return set()
    if len(size) == 2:
        return {size[1]}
    return symbols_of(size[1]) | symbols_of(size[2])


Range: TypeAlias = tuple[int, int]


def range_of(size: Size, ranges: Sequence[Range]) -> Range:
    """The least and the greatest that a size may be where the symbols, by number, lie in `ranges`."""
    if isinstance(size, int):
        return size, size
    if len(size) == 2:
        return ranges[size[1]]
    kind, lhs, rhs = size
    (a, b), (c, d) = range_of(lhs, ranges), range_of(rhs, ranges)
    match kind:
        case "+":
            return a + c, b + d
        case "*":
            products = [x * y for x in (a, b) for y in (c, d)]
            return min(products), max(products)
        case "//":
            return min(a // c, a // d), max(b // c, b // d)
        case "%":
            return (a % c, a % c) if a == b and c == d else (0, d - 1)
        case "min":
            return min(a, c), min(b, d)
        case _:
            return max(a, c), max(b, d)


def product(sizes: Sequence[Size]) -> Size:
    """The product of sizes; 1 of none."""
    found: Size = 1
    for size in sizes:
        found = found * size if isinstance(found, int) and isinstance(size, int) else ("*", found, size)
    return found


def to_json(size: Size) -> object:
    """A size as JSON has it."""
    if isinstance(size, int):
        return size
    return [size[0], *(to_json(part) for part in size[1:])]


def from_json(value: object, symbols: int) -> Size:
    """The size that `to_json` has written, over so many symbols.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, list):
        parts = cast("list[object]", value)
        match parts:
            case ["n", int(number)] if not isinstance(number, bool) and 0 <= number < symbols:
                return "n", number
            case [str(kind), lhs, rhs] if kind in OPERATORS:
                right = from_json(rhs, symbols)
                if kind not in ("//", "%") or _is_positive(right):
                    return kind, from_json(lhs, symbols), right
            case _:
                pass
    raise ValueError(f"{value} is no size over {symbols} symbols")


def _is_positive(size: Size) -> bool:
    """Whether it is above zero whatever the symbols are: a number, or the greater of such and something else."""
    if isinstance(size, int):
        return size > 0
    return len(size) == 3 and size[0] == "max" and (_is_positive(size[1]) or _is_positive(size[2]))


@record
class SymbolExtents:
    """The symbols that follow from others, by number, in an order in which they can be evaluated, and pairs of sizes of
    which the first must not be above the second, with words for it."""

    defined: tuple[tuple[int, Size], ...] = ()
    at_most: tuple[tuple[Size, Size, str], ...] = ()
    read: tuple[tuple[int, Size], ...] = ()
    """The symbols that data decides, and what they are at most: the last outputs of the graph say what they are."""
    held: tuple[tuple[int, int, Size], ...] = ()
    """Elements of inputs, by the numbers of the input and of the element, that are a size."""


def read_extents(text: str, symbols: int = 1 << 31) -> SymbolExtents:
    """What is said of the extents of a graph of so many symbols.

    Raises:
        ValueError: it is nothing that can be.
    """
    if not text:
        return SymbolExtents()
    said = json.loads(text)
    if not isinstance(said, dict):
        raise ValueError(f"{text} says nothing of extents")
    entries = cast("dict[str, object]", said)

    def pairs(key: str) -> tuple[tuple[int, Size], ...]:
        found: list[tuple[int, Size]] = []
        for entry in cast("list[object]", entries.get(key, [])):
            match cast("list[object]", entry):
                case [int(number), size] if 0 <= number < symbols:
                    found.append((number, from_json(size, symbols)))
                case _:
                    raise ValueError(f"{entry} is no symbol and its size")
        return tuple(found)

    at_most: list[tuple[Size, Size, str]] = []
    for entry in cast("list[object]", entries.get("at_most", [])):
        match cast("list[object]", entry):
            case [a, b, str(words)]:
                at_most.append((from_json(a, symbols), from_json(b, symbols), words))
            case _:
                raise ValueError(f"{entry} are no two sizes")
    held: list[tuple[int, int, Size]] = []
    for entry in cast("list[object]", entries.get("held", [])):
        match cast("list[object]", entry):
            case [int(tensor), int(element), size] if tensor >= 0 and element >= 0:
                held.append((tensor, element, from_json(size, symbols)))
            case _:
                raise ValueError(f"{entry} is no element of an input and its size")
    return SymbolExtents(pairs("defined"), tuple(at_most), pairs("read"), tuple(held))
