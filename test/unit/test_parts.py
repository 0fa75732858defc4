"""Private symbols of parts keep apart: what two parts have under one name is the same, or gets another name."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from weft.transforms.infra.parts import Part, rename_what_is_taken, symbol_name


def part(name: str, *private: tuple[str, int]) -> Part:
    """A part with private functions, each by its name and a mark that tells it from others."""
    functions = [FuncOp(symbol, ([], []), visibility="private") for symbol, _ in private]
    for function, (_, mark) in zip(functions, private, strict=True):
        function.attributes |= {f"mark_{mark}": function.sym_name}
    return Part(name, ModuleOp([*functions, FuncOp(name, ([], []))]), FuncOp.external(name, [], []))


def names(part: Part) -> list[str | None]:
    return [symbol_name(op) for op in part.module.ops]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("f", 1), ("f", 1), "f"),
        (("f", 1), ("f", 2), "b.f"),
        (("a.f", 1), ("b.f", 1), "b.f"),
        (("a.f", 1), ("a.f", 1), "b.a.f"),
    ],
    ids=["the_same_is_shared", "another_is_renamed", "own_names_stay", "the_name_of_another_part_is_its_own"],
)
def test_private_symbols_of_parts_keep_apart(first: tuple[str, int], second: tuple[str, int], expected: str) -> None:
    a, b = part("a", first), part("b", second)
    taken: dict[str, str] = {}
    rename_what_is_taken(a, taken)
    rename_what_is_taken(b, taken)
    assert names(a) == [first[0], "a"]
    assert names(b) == [expected, "b"]
