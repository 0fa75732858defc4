"""Dumps have no line that is wider than 160 columns, where it can be broken."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from weft.dialects.support.columns import WIDTH, broken
from weft.dialects.support.parser import parse_module
from weft.transforms.infra.printing import module_text
from weft.transforms.infra.registry import new_ir_context

PERCEPTRON = Path(__file__).parents[2] / "examples" / "perceptron.mlir"


def test_the_dumps_of_a_graph_are_no_wider_than_they_may_be() -> None:
    exe = weft.compile(PERCEPTRON)
    for phase in ("graph", "fuse", "tir", "schedule", "loops", "llvm"):
        text = exe.ir[phase]
        assert max(map(len, text.split("\n"))) <= WIDTH, phase
    loops = exe.ir["loops"]
    assert module_text(parse_module(loops, new_ir_context(), "loops.mlir")).rstrip() == loops.rstrip()


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("a, " * 70, ["a, " * 52 + "a,", "    " + "a, " * 17]),
        ("x(" + "a, " * 30 + "b) : (" + "c, " * 40 + "d)", ["x(" + "a, " * 30 + "b)", "    : (" + "c, " * 40 + "d)"]),
        ("  f(" + "a, " * 60 + "b) {", ["  f(" + "a, " * 51 + "a,", " " * 10 + "a, " * 8 + "b) {"]),
        ('"' + "a, " * 70 + '"', ['"' + "a, " * 70 + '"']),
        ('"\\"' + "a, " * 70 + '"', ['"\\"' + "a, " * 70 + '"']),
        ("x {a = " + "b" * 200 + ", c}", ["x {a = " + "b" * 200 + ",", "    c}"]),
        ("x {a = 1 : i64" + " " * 200 + "}", ["x {a = 1 : i64" + " " * 200 + "}"]),
        ("%0 = relay.add " + "a, " * 70, ["%0 = relay.add " + "a, " * 70]),
    ],
)
def test_lines_are_broken_between_tokens_and_not_in_text(line: str, parts: list[str]) -> None:
    assert broken(f"short\n{line}\nshort").split("\n") == ["short", *parts, "short"]
    assert broken("short") == "short"
