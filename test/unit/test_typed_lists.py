"""Lists of numbers of one type are read at once, into what xDSL's parser makes of them."""

from __future__ import annotations

import pytest
from xdsl.ir import Attribute
from xdsl.parser import Parser

from weft.dialects.support.diagnostics import Diagnostic
from weft.dialects.support.parser import LocatedParser, parse_module
from weft.transforms.infra.printing import module_text
from weft.transforms.infra.registry import new_ir_context


def read(text: str) -> Attribute:
    return parse_module(f"module attributes {{a = {text}}} {{}}", new_ir_context(), "m.mlir").attributes["a"]


@pytest.mark.parametrize(
    "text",
    [
        "[1 : i64]",
        "[1 : i64, -2 : i64, 1 : i64]",
        "[ 1:i8 ,2 : i8\n , 3 : // a comment, 4 : i8\n i8 ]",
        "[0 : index, 7 : index]",
        "[1 : ui8, 255 : ui8]",
        "[-1 : si8, 127 : si8]",
        "[1.5 : f32, -0.0 : f32, 1.0e-3 : f32, 3 : f32]",
        "[0.1 : bf16, 0.1 : f16, 0.1 : f64]",
        "[1 : i64, 2 : i32]",
        "[1 : i6, 2 : i64]",
        "[1 : i64, 2]",
        "[1, 2.5, true]",
        "[0x7FC00000 : f32, 1.0 : f32]",
        "[[1 : i64, 2 : i64], [3 : i64]]",
        '["a", 1 : i64]',
        "[1 : !llvm.ptr]",
        "[]",
    ],
)
def test_a_list_is_what_xdsl_reads(text: str) -> None:
    try:
        expected = Parser(new_ir_context(), text).parse_attribute()
    except Exception:
        with pytest.raises(Diagnostic):
            read(text)
    else:
        assert read(text) == expected


def test_the_numbers_of_a_long_list_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    text = ", ".join(f"{number} : i32" for number in range(1000))
    calls: list[None] = []
    parse_attribute = LocatedParser.parse_attribute

    def counted(parser: LocatedParser) -> Attribute:
        calls.append(None)
        return parse_attribute(parser)

    monkeypatch.setattr(LocatedParser, "parse_attribute", counted)
    module = parse_module(f"module attributes {{a = [{text}]}} {{}}", new_ir_context())
    assert len(calls) < 10
    assert module_text(parse_module(module_text(module), new_ir_context())) == module_text(module)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("[1 : i8, 300 : i8]", 1, "out of range"),
        ("[1 : i64, 2.5 : i64]", 43, "not valid for integer"),
        ("[1 : i64, 2 : i64", 41, "expected"),
    ],
)
def test_what_is_wrong_in_a_list_is_told_in_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(Diagnostic, match=message) as caught:
        read(text)
    assert caught.value.place is not None and caught.value.place.column == column
