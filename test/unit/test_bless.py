"""`make bless` writes CHECK lines that pass, where a reader looks for them."""

from pathlib import Path

from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser, pattern_for_opts

from weft.testing import bless

OUTPUT = """builtin.module {
  relay.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = relay.nested(%x) {a = [[1, 2], [3]]} {
      relay.inner
    }
    relay.return %y : tensor<4xf32>
  }
  relay.func private @made_by_the_pass(%x: tensor<4xf32>) -> tensor<4xf32> {
    relay.return %x : tensor<4xf32>
  }
}
"""

TEST = """// RUN: weft-opt %s -p some-pass | filecheck %s

// A comment stays.
// CHECK-LABEL: relay.func @first
// CHECK-NEXT:    stale {{.*}}
relay.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  relay.return %x : tensor<4xf32>
}
"""


def filecheck_passes(test: Path, output: str) -> bool:
    options = parse_argv_options(["filecheck", str(test)])
    with test.open() as file:
        parser = Parser(options, file, *pattern_for_opts(options))
        return Matcher(options, FInput("<stdin>", output), parser).run() == 0


def test_check_lines_stand_before_the_function_they_check_and_pass(tmp_path: Path) -> None:
    test = tmp_path / "some_pass.mlir"
    test.write_text(TEST)
    assert not filecheck_passes(test, OUTPUT)
    bless.rewrite(test, ["filecheck", str(test)], OUTPUT)
    text = test.read_text()
    assert "stale" not in text and "// A comment stays." in text
    assert text.index("CHECK-LABEL: relay.func @first") < text.index("\nrelay.func @first")
    assert text.index("\nrelay.func @first") < text.index("CHECK-LABEL: relay.func private @made_by_the_pass")
    assert filecheck_passes(test, OUTPUT)


def test_the_rewritten_lines_fail_on_other_output(tmp_path: Path) -> None:
    test = tmp_path / "some_pass.mlir"
    test.write_text(TEST)
    bless.rewrite(test, ["filecheck", str(test)], OUTPUT)
    assert not filecheck_passes(test, OUTPUT.replace("relay.inner", "relay.other"))


def test_only_the_prefix_at_fault_is_rewritten(tmp_path: Path) -> None:
    test = tmp_path / "some_pass.mlir"
    test.write_text(TEST)
    bless.rewrite(test, ["filecheck", str(test), "--check-prefix=OTHER"], OUTPUT)
    assert "stale" in test.read_text() and "// OTHER-LABEL: relay.func @first" in test.read_text()


def test_a_test_without_output_is_left_alone(tmp_path: Path) -> None:
    test = tmp_path / "some_pass.mlir"
    test.write_text(TEST)
    bless.rewrite(test, ["filecheck", str(test)], "\n")
    assert test.read_text() == TEST


def test_a_header_over_several_lines_is_checked_with_its_body(tmp_path: Path) -> None:
    test = tmp_path / "some_pass.mlir"
    test.write_text(TEST)
    head = "  relay.func @first(%x: tensor<4xf32>) -> tensor<4xf32>"
    output = OUTPUT.replace(f"{head} {{", f"{head}\n          attributes {{a}} {{")
    bless.rewrite(test, ["filecheck", str(test)], output)
    assert filecheck_passes(test, output)
    for line in ("attributes {a}", "relay.inner", "relay.return %y"):
        assert not filecheck_passes(test, output.replace(line, "other")), line
