"""What users are told: the renderer, the family of exceptions, the placing of xDSL's own errors."""

import io
from pathlib import Path

import pytest
from xdsl.dialects import test as test_dialect
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, NameLoc, StringAttr, UnknownLoc
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input, Span

from weft.dialects.support.diagnostics import (
    Diagnostic,
    Diagnostics,
    InternalError,
    Note,
    Place,
    Severity,
    UsageError,
    as_diagnostic,
    did_you_mean,
    emit,
    handled_by,
    print_to,
    render,
    warn,
)
from weft.dialects.support.parser import parse_module
from weft.dialects.support.verifier import find_failures, verify
from weft.dialects.tir.buffers import Scope
from weft.transforms.infra.registry import new_ir_context


def place_at(line: int, column: int, file: str = "m.mlir") -> FileLineColLoc:
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))


def operation(line: int, column: int) -> test_dialect.TestOp:
    return test_dialect.TestOp.create(location=place_at(line, column))


def test_a_diagnostic_shows_its_line_a_caret_notes_and_a_hint() -> None:
    diagnostic = Diagnostic(
        "too large", Place("m.mlir", 2, 3, 4), notes=[Note("set here", Place("m.mlir", 1, 1))], hint="make it smaller"
    )
    text = render(diagnostic, {"m.mlir": "first\n  kernel = 9\n"})
    assert text == (
        "m.mlir:2:3: error: too large\n"
        "  kernel = 9\n"
        "  ^~~~\n"
        "m.mlir:1:1: note: set here\n"
        "first\n"
        "^\n"
        "hint: make it smaller"
    )


def test_the_caret_keeps_to_tabs_and_to_the_end_of_the_line() -> None:
    text = render(Diagnostic("bad", Place("m.mlir", 1, 3, 40, "\t\tx y")))
    assert text.split("\n")[1:] == ["\t\tx y", "\t\t^~~"]


def test_of_a_long_line_only_the_part_around_the_caret_is_shown() -> None:
    line = "a" * 5000 + "HERE" + "b" * 5000
    for column in (1, 5001, len(line)):
        _, source, caret = render(Diagnostic("bad", Place("m.mlir", 1, column, 4, line))).split("\n")
        assert len(source) < 210
        assert source[caret.index("^")] == line[column - 1]
    assert "HERE" in render(Diagnostic("bad", Place("m.mlir", 1, 5001, 4, line)))


def test_a_diagnostic_without_a_place_is_still_told() -> None:
    assert render(Diagnostic("no such thing")) == "error: no such thing"
    assert render(Diagnostic("empty", Place("m.mlir"))) == "m.mlir: error: empty"


def test_a_line_is_read_from_the_file_on_disk(tmp_path: Path) -> None:
    file = tmp_path / "m.mlir"
    file.write_text("one\ntwo\n")
    assert render(Diagnostic("bad", Place(str(file), 2, 1, 3))).split("\n")[1:] == ["two", "^~~"]


def test_a_line_of_a_file_that_was_edited_is_that_of_now(tmp_path: Path) -> None:
    file, diagnostic = tmp_path / "m.mlir", Diagnostic("bad", Place(str(tmp_path / "m.mlir"), 1, 1, 3))
    for text in ("one", "three"):
        file.write_text(f"{text}\n")
        assert render(diagnostic).split("\n")[1] == text


def test_colors_are_used_only_when_asked_for() -> None:
    diagnostic = Diagnostic("bad", Place("m.mlir", 1, 1, text="x"), hint="good")
    assert "\033[" in render(diagnostic, color=True)
    assert "\033[" not in render(diagnostic)


def test_a_diagnostic_about_an_operation_stands_where_the_operation_does() -> None:
    op = operation(7, 5)
    diagnostic = Diagnostic.at(op, "cannot be", hint="leave it out")
    assert str(diagnostic) == "m.mlir:7:5: error: 'test.op': cannot be\nhint: leave it out"


def test_places_are_found_within_names_and_calls() -> None:
    named = NameLoc(StringAttr("layer1/conv"), place_at(3, 4))
    assert Place.of_location(named) == Place("m.mlir", 3, 4)
    assert Place.of_location(NameLoc(StringAttr("layer1/conv"), UnknownLoc())) == Place('"layer1/conv"')
    assert Place.of_location(UnknownLoc()) is None


def test_exit_codes_follow_the_kind_of_mistake() -> None:
    assert [kind("x").exit_code for kind in (Diagnostic, UsageError, InternalError)] == [1, 2, 70]


def test_several_diagnostics_can_be_raised_at_once() -> None:
    both = Diagnostics([Diagnostic("one"), Diagnostic("two")])
    assert str(both) == "error: one\nerror: two"
    stream = io.StringIO()
    print_to(stream)(both)
    assert stream.getvalue() == "error: one\nerror: two\n"


def test_warnings_go_to_the_handler_and_raise_nothing() -> None:
    heard: list[Diagnostic] = []
    with handled_by(heard.append):
        warn(operation(1, 2), "slow")
        emit(Diagnostic("note this", severity=Severity.REMARK))
    assert [str(d) for d in heard] == ["m.mlir:1:2: warning: 'test.op': slow", "remark: note this"]


def test_without_a_handler_warnings_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    warn(test_dialect.TestOp(), "slow")
    assert capsys.readouterr().err == "warning: 'test.op': slow\n"


def test_errors_of_xdsl_and_of_files_become_diagnostics() -> None:
    span = Span(4, 6, Input("a\nb cd", "m.mlir"))
    parse_error = as_diagnostic(ParseError(span, "what is this"))
    assert parse_error is not None and parse_error.place == Place("m.mlir", 2, 3, 2, "b cd")
    verify_error = as_diagnostic(VerifyException("no"), Place("m.mlir", 1, 1))
    assert verify_error is not None and verify_error.place == Place("m.mlir", 1, 1)
    missing = as_diagnostic(FileNotFoundError(2, "No such file or directory", "x.onnx"))
    assert str(missing) == "x.onnx: error: no such file or directory"
    assert as_diagnostic(KeyError("x")) is None


def test_only_near_names_are_suggested() -> None:
    assert did_you_mean("relay.ad", ["relay.add", "relay.abs", "relay.nn.conv2d"]) == "did you mean 'relay.add'?"
    assert did_you_mean("canonicalise", ["canonicalize", "cse"]) == "did you mean 'canonicalize'?"
    assert did_you_mean("zzz", ["relay.add"]) is None


def test_parsed_operations_carry_the_place_of_their_name() -> None:
    text = (
        'func.func @f() {\n  %x = arith.constant 1 : i32\n  "test.op"() : () -> () loc("given":8:9)\n  func.return\n}\n'
    )
    module = parse_module(text, new_ir_context(), "m.mlir")
    assert [str(op.location) for op in module.walk()] == [
        'loc("m.mlir":1:1)',
        'loc("m.mlir":1:1)',
        'loc("m.mlir":2:8)',
        'loc("given":8:9)',
        'loc("m.mlir":4:3)',
    ]


@pytest.mark.parametrize("text", ["", "\n// only a comment\n"])
def test_an_empty_text_is_an_empty_module(text: str) -> None:
    assert not parse_module(text, new_ir_context()).ops


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("func.func @f() {\n  func.return", 2, 14, "expected an operation, a block or '}'"),
        ("}", 1, 1, "expected an operation"),
        ('"test.op', 1, 1, "End of file reached before closing string literal."),
        ("func.func @f(%a: !relay.nothing) { func.return }", 1, 19, "type 'relay.nothing' is not registered"),
        ("func.func @f() {\n  %x, %y = arith.constant 1 : i32\n}", 2, 3, "Operation has 1 results"),
        ("func.func @f() {\n  cf.br ^nowhere\n}", 2, 9, "block '^nowhere' is used but not defined"),
    ],
)
def test_wrong_text_is_an_error_at_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(Diagnostic) as raised:
        parse_module(text, new_ir_context(), "m.mlir")
    assert raised.value.exit_code == 1
    assert message in raised.value.message
    assert raised.value.place is not None
    assert (raised.value.place.line, raised.value.place.column) == (line, column)


def test_a_value_that_is_not_defined_has_a_near_name_of_those_in_reach() -> None:
    text = """func.func @f(%weight: i32) {
  %sum = arith.addi %weigth, %weight : i32
  func.return
}"""
    with pytest.raises(Diagnostic, match="value '%weigth' is used but not defined") as raised:
        parse_module(text, new_ir_context(), "m.mlir")
    assert raised.value.hint == "did you mean '%weight'?"


def test_what_is_not_closed_is_named() -> None:
    """Where a text ends before its regions do, it is the innermost one that could have been closed there."""
    with pytest.raises(Diagnostic) as raised:
        parse_module(
            "func.func @f() {\n  func.return\n}\nfunc.func @g() {\n  func.return\n", new_ir_context(), "m.mlir"
        )
    (note,) = raised.value.notes
    assert note.message == "the '}' of this is missing"
    assert note.place is not None and (note.place.line, note.place.column) == (4, 1)


def test_text_nested_too_deeply_is_an_error_and_not_a_crash() -> None:
    depth = 5000
    text = '"test.op"() ({' * depth + "}) : () -> ()" * depth
    with pytest.raises(Diagnostic, match="nested too deeply"):
        parse_module(text, new_ir_context())


def test_the_verifier_finds_all_failures_in_order_and_only_the_innermost() -> None:
    text = """
func.func @f(%a: i32) -> i64 {
  func.return %a : i32
}
func.func @g() {
  %y = arith.addi %z, %z : i32
  %z = arith.constant 1 : i32
  func.return
}
"""
    failures = find_failures(parse_module(text, new_ir_context(), "m.mlir"))
    assert [(f.place.line if f.place else 0, f.message[:13]) for f in failures] == [
        (3, "'func.return'"),
        (6, "'arith.addi':"),
    ]


def test_a_value_may_not_be_used_by_the_operation_that_defines_it() -> None:
    text = (
        'func.func @f() {\n  %x = "test.op"() ({\n    "test.op"(%x) : (i32) -> ()\n  }) : () -> i32\n  func.return\n}'
    )
    with pytest.raises(Diagnostics, match="uses '%x'"):
        verify(parse_module(text, new_ir_context()))


def test_unreachable_blocks_may_use_what_does_not_dominate_them() -> None:
    text = """
func.func @f() {
  func.return
^bb1:
  %x = arith.constant 1 : i32
  func.return
^bb2:
  %y = arith.addi %x, %x : i32
  func.return
}
"""
    verify(parse_module(text, new_ir_context()))


def test_a_word_of_an_enumeration_is_called_by_its_name() -> None:
    assert did_you_mean("global.vtcm", Scope) == "did you mean 'global'?"
