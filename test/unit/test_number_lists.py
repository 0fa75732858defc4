"""Lists of numbers in `dense<...>` and `array<...>`: read in runs, and as xDSL reads them, mistakes included."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import AnyDenseElement, DenseArrayBase, DenseIntOrFPElementsAttr, RankedStructure
from xdsl.parser import Parser
from xdsl.utils.mlir_lexer import MLIRToken

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.lexer import LinearLexer
from weft.dialects.support.parser import LocatedParser
from weft.transforms.infra.registry import new_ir_context


class AsXDSL(LocatedParser):
    """Reads a token for each number and each comma."""

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        return Parser.parse_dense_int_or_fp_elements_attr(self, type)

    def _parse_builtin_densearray_attr(self) -> DenseArrayBase | None:
        return Parser._parse_builtin_densearray_attr(self)


def outcome(parser: type[LocatedParser], literal: str, type: str) -> tuple[str, ...]:
    """The module with a literal that is read, or the mistake and its place."""
    return read(parser, f"dense<{literal}> : tensor<{type}>")


def read(parser: type[LocatedParser], attribute: str) -> tuple[str, ...]:
    """The module with an attribute that is read, or the mistake and its place."""
    context = new_ir_context()
    context.allow_unregistered = True
    text = f'"test.op"() {{a = {attribute}}} : () -> ()'
    try:
        return (str(parser(context, text).parse_module()),)
    except Diagnostic as error:
        return error.message, str(error.place)


def value(literal: str, type: str) -> str:
    (text,) = outcome(LocatedParser, literal, type)
    return text.partition("dense")[2].partition(" : ")[0]


NUMBERS = [
    "0",
    "7",
    "-3",
    "255",
    "1.5",
    "-0.0",
    "2.",
    "0.5e-3",
    "0x7F",
    "0x3F800000",
    "-0x10",
    "true",
    "false",
    "(1, -2)",
    "(1.0,2.5)",
    "(1, 2.0)",
    "- 5",
    "x",
    "1e5",
    "0xZ",
    "9" * 40,
    "9" * 5000,
    "1 2",
    "",
]
TYPES = [
    "i1",
    "i4",
    "i8",
    "ui8",
    "si8",
    "i32",
    "i64",
    "index",
    "f16",
    "bf16",
    "f32",
    "f64",
    "complex<f32>",
    "complex<i32>",
]


@st.composite
def lists(draw: st.DrawFn) -> str:
    pool = draw(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=2))
    gaps = draw(st.lists(st.sampled_from(["", "", " ", "\n", "// note, 1]\n"]), min_size=1, max_size=3))
    turns: Iterator[int] = iter(range(1 << 30))

    def one(depth: int, size: int) -> str:
        turn = next(turns)
        gap = gaps[turn % len(gaps)]
        if depth == 0:
            return gap + pool[turn % len(pool)] + gap
        return gap + "[" + ",".join(one(depth - 1, size) for _ in range(size)) + "]" + gap

    depth, size = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    text = one(depth, size)
    if draw(st.booleans()):
        return text
    cut = draw(st.integers(0, len(text)))
    return text[:cut] + draw(st.sampled_from(list("[],>1x. -("))) + text[cut:]


@settings(max_examples=150, deadline=None)
@given(lists(), st.sampled_from(TYPES), st.sampled_from(["", "0x", "1x", "3x", "2x2x", "3x3x3x"]))
def test_lists_are_read_as_xdsl_reads_them(literal: str, element: str, shape: str) -> None:
    expected, found = (outcome(parser, literal, shape + element) for parser in (AsXDSL, LocatedParser))
    if "inconsistent" in expected[0] + found[0]:  # whose place is that of what differs here
        assert len(expected) == len(found) == 2
    else:
        assert found == expected


@settings(max_examples=150, deadline=None)
@given(lists(), st.sampled_from([*TYPES, "x"]), st.sampled_from([":", ":", ":", " : ", ""]))
def test_arrays_are_read_as_xdsl_reads_them(literal: str, element: str, colon: str) -> None:
    numbers = literal.replace("[", "").replace("]", "")
    expected, found = (read(parser, f"array<{element}{colon}{numbers}>") for parser in (AsXDSL, LocatedParser))
    assert found == expected


@pytest.mark.parametrize("number", ["12", "-1.5", "0x7FC00000", "true", "(1.0, 2.0)"])
def test_a_long_list_is_no_long_row_of_tokens(number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    lex = LinearLexer.lex

    def counted(self: LinearLexer) -> MLIRToken:
        nonlocal count
        count += 1
        return lex(self)

    monkeypatch.setattr(LinearLexer, "lex", counted)
    type = {"true": "i1", "12": "i32"}.get(number, "complex<f32>" if number.startswith("(") else "f32")
    rows = ", ".join([f"[{', '.join([number] * 100)}]"] * 20)
    assert len(outcome(LocatedParser, f"[{rows}]", f"20x100x{type}")) == 1
    assert count < 60
    count = 0
    if "x" not in number and type in ("i32", "f32"):
        assert len(read(LocatedParser, f"array<{type}: {', '.join([number] * 2000)}>")) == 1
        assert count < 60


def test_what_is_wrong_in_a_long_list_has_its_place() -> None:
    ones = ", ".join(["1"] * 1000)
    assert outcome(LocatedParser, f"[{ones}, x]", "1001xi32") == (
        "Expected either a float, integer, or complex literal",
        f"<string>:1:{25 + len(ones) + 2}",
    )
    assert outcome(LocatedParser, f"[{ones}, 1.5]", "1001xi32") == (
        "Expected integer value",
        f"<string>:1:{25 + len(ones) + 2}",
    )
    assert outcome(LocatedParser, f"[{ones}, -1]", "1001xui8")[1] == f"<string>:1:{25 + len(ones) + 2}"


def test_lists_of_other_lengths_are_told_where_they_differ() -> None:
    assert outcome(LocatedParser, "[[1, 2], [3]]", "2x2xi32") == (
        "Tensor literal has inconsistent ranks between elements",
        "<string>:1:33",
    )
    assert outcome(LocatedParser, "[" * 300 + "]" * 300, "1xi32")[0].startswith("lists of more than 256 dimensions")


def test_elements_are_those_of_their_type() -> None:
    assert value("[255, -1, 3]", "3xi8") == "<[-1, -1, 3]>"
    assert value("[255, 0]", "2xui8") == "<[255, 0]>"
    assert value("[true, false, 1]", "3xi1") == "<[true, false, true]>"
    assert value("[0x3F800000, 2, 0.5]", "3xf32") == "<[1.000000e+00, 2.000000e+00, 5.000000e-01]>"
    assert value("[]", "0xi32") == "<>"
