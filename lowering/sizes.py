"""Numbers that are known when a graph is called: as compiled code and the runtime agree on them.

A size is an integer, a symbol `("n", 0)`, by its number, or what is made of sizes: `("+", a, b)`, `("*", a, b)`,
`("//", a, b)` and `("%", a, b)`, `("min", a, b)` and `("max", a, b)`. Needs no compiler.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

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
                if kind not in ("//", "%") or (isinstance(right, int) and right > 0):
                    return kind, from_json(lhs, symbols), right
            case _:
                pass
    raise ValueError(f"{value} is no size over {symbols} symbols")


@dataclass(frozen=True)
class SymbolExtents:
    """The symbols that follow from others, by number, in an order in which they can be evaluated, and pairs of sizes of
    which the first must not be above the second, with words for it."""

    defined: tuple[tuple[int, Size], ...] = ()
    at_most: tuple[tuple[Size, Size, str], ...] = ()


def read_extents(text: str, symbols: int) -> SymbolExtents:
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
    defined: list[tuple[int, Size]] = []
    for entry in cast("list[object]", entries.get("defined", [])):
        match cast("list[object]", entry):
            case [int(number), size] if 0 <= number < symbols:
                defined.append((number, from_json(size, symbols)))
            case _:
                raise ValueError(f"{entry} is no symbol and its size")
    at_most: list[tuple[Size, Size, str]] = []
    for entry in cast("list[object]", entries.get("at_most", [])):
        match cast("list[object]", entry):
            case [a, b, str(words)]:
                at_most.append((from_json(a, symbols), from_json(b, symbols), words))
            case _:
                raise ValueError(f"{entry} are no two sizes")
    return SymbolExtents(tuple(defined), tuple(at_most))
