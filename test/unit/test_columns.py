"""Dumps have no line that is wider than 160 columns, where it can be broken."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from onnx import ModelProto

import weft
from weft.dialects.support.columns import WIDTH, broken
from weft.dialects.support.parser import parse_module
from weft.frontend.onnx import from_onnx
from weft.testing.models import light_model
from weft.transforms.infra.printing import module_text
from weft.transforms.infra.registry import new_ir_context

PERCEPTRON = Path(__file__).parents[2] / "examples" / "perceptron.mlir"


def can_be_broken(line: str) -> bool:
    """Whether a line that is too wide has a space between two of its tokens, apart from those at its beginning."""
    return " " in re.sub(r'"(?:[^"\\]|\\.)*"', '""', line.strip())


def check(model: Path | ModelProto, phases: Iterable[str]) -> None:
    texts = weft.compile(model).ir
    for phase in phases:
        wide = [line for line in texts[phase].split("\n") if len(line) > WIDTH and can_be_broken(line)]
        assert wide == [], phase


def test_no_line_of_a_dump_is_wider_than_it_may_be() -> None:
    check(PERCEPTRON, ("graph", "fuse", "tir", "schedule", "loops", "llvm"))
    check(light_model("squeezenet"), ("import", "fuse", "llvm"))


@pytest.mark.parametrize("generic", [False, True])
def test_broken_lines_are_read_as_what_they_were_before(generic: bool) -> None:
    module = from_onnx(light_model("squeezenet"))
    text = module_text(module, generic=generic, debuginfo=True)
    assert max(map(len, text.split("\n"))) <= WIDTH
    again = parse_module(text, new_ir_context(), "import.mlir")
    assert again.is_structurally_equivalent(module)
    assert module_text(again, generic=generic, debuginfo=True) == text


def test_attributes_and_types_of_an_operator_begin_lines() -> None:
    operator = '    %0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {data_layout = "NCHW16c", kernel_layout = "OIHW16i16o"}'
    types = " : (tensor<1x8x55x55x16xf32>, tensor<1x8x1x1x16x16xf32>) -> tensor<1x1x55x55x16xf32>"
    assert broken(operator + types) == f"{operator}\n       {types}"
    attributes = ", ".join(f"a{number} = array<i64: 0, 0, 0, 0>" for number in range(5))
    assert broken(f"%0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1 {{{attributes}}}{types}") == (
        f"%0 = relay.nn.contrib_conv2d_NCHWc %p0, %p1\n    {{{attributes}}}\n   {types}"
    )


def test_a_list_of_many_elements_takes_no_longer_for_each_than_a_short_one() -> None:
    line = "%0 = relay.constant dense<[" + ", ".join(["1.000000e+00"] * 100_000) + "]> : tensor<100000xf32>"
    begin = time.process_time()
    assert max(map(len, broken(line).split("\n"))) <= WIDTH
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("a, " * 70, ["a, " * 52 + "a,", "    " + "a, " * 17]),
        ("x(" + "a, " * 30 + "b) : (" + "c, " * 40 + "d)", ["x(" + "a, " * 30 + "b)", "    : (" + "c, " * 40 + "d)"]),
        ("  f(" + "a, " * 60 + "b) {", ["  f(" + "a, " * 51 + "a,", " " * 10 + "a, " * 8 + "b) {"]),
        ('"' + "a, " * 70 + '"', ['"' + "a, " * 70 + '"']),
        ('"\\"' + "a, " * 70 + '"', ['"\\"' + "a, " * 70 + '"']),
        ("x {a = " + "b" * 200 + ", c}", ["x", "    {a =", "    " + "b" * 200 + ",", "    c}"]),
        ("%0 = relay.add " + "a, " * 70, ["%0 = relay.add " + "a, " * 47 + "a,", "    " + "a, " * 22]),
        ("f {" + "a, " * 60 + "b} : x", ["f {" + "a, " * 51 + "a,", "    " + "a, " * 8 + "b} : x"]),
        ("f(" + "a" * 150 + ": b" * 9 + ")", ["f(" + "a" * 150 + ": b: b:", "    b" + ": b" * 6 + ")"]),
        ("f(" + "a" * 157 + "b, c)", ["f(", "    " + "a" * 157 + "b,", "    c)"]),
        ("f(" + "a" * 170 + ")", ["f(", "    " + "a" * 170 + ")"]),
    ],
)
def test_lines_are_broken_between_tokens_and_not_in_text(line: str, parts: list[str]) -> None:
    assert broken(f"short\n{line}\nshort").split("\n") == ["short", *parts, "short"]
    assert broken("short") == "short"
