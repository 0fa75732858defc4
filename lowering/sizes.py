"""Numbers that are known when a graph is called: as compiled code and the runtime agree on them.

A size is an integer, a symbol `("n", 0)`, by its number, or what is made of sizes: `("+", a, b)`, `("*", a, b)`,
`("//", a, b)` and `("%", a, b)`. Needs no compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

Size: TypeAlias = "int | tuple[str, int] | tuple[str, Size, Size]"

OPERATORS = ("+", "*", "//", "%")


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
        case _:
            return a % b


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
