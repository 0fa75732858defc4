"""The lit format that runs tools in lit's worker: what it takes, what the shell is left, and that tests can fail."""

import subprocess
import sys
from pathlib import Path

import pytest

from weft.testing.lit_format import Stage, parse_run_line, run_lines

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("line", "stages"),
    [
        ("weft-opt a.mlir | filecheck a.mlir", [Stage(["weft-opt", "a.mlir"]), Stage(["filecheck", "a.mlir"])]),
        (
            "%dbg(RUN: at line 1) not weft-opt 'a b.mlir' -p \"x{y=1}\" 2>&1 | filecheck a.mlir",
            [
                Stage(["weft-opt", "a b.mlir", "-p", "x{y=1}"], negated=True, merge_stderr=True),
                Stage(["filecheck", "a.mlir"]),
            ],
        ),
        ("weft-opt < in > out 2> err", [Stage(["weft-opt"], stdin=Path("in"), stdout=Path("out"), stderr=Path("err"))]),
        ("weft-opt -p 'builtin.module(cse)'", [Stage(["weft-opt", "-p", "builtin.module(cse)"])]),
    ],
)
def test_lines_of_known_tools_are_run_here(line: str, stages: list[Stage]) -> None:
    assert parse_run_line(line) == stages


@pytest.mark.parametrize(
    "line", ["grep x a.mlir", "weft-opt a && weft-opt b", "weft-opt a; true", "weft-opt 'a", "env A=1 weft-opt a"]
)
def test_other_lines_are_left_to_the_shell(line: str) -> None:
    assert parse_run_line(line) is None


def outcome(*lines: str) -> int | None:
    stages = [parsed for line in lines if (parsed := parse_run_line(line)) is not None]
    assert len(stages) == len(lines)
    failed = run_lines(stages).failed
    return failed.code if failed is not None else None


def test_a_stage_that_fails_fails_the_test(tmp_path: Path) -> None:
    good, bad, checks = tmp_path / "good.mlir", tmp_path / "bad.mlir", tmp_path / "checks"
    good.write_text("func.func @f() { func.return }")
    bad.write_text("func.func @f() {")
    checks.write_text("// CHECK: @f\n// CHECK-NEXT: func.return\n")
    assert outcome(f"weft-opt {good} | filecheck {checks}") is None
    assert outcome(f"weft-opt {bad} | filecheck {checks}") == 1
    assert outcome(f"weft-opt {good}", f"not weft-opt {good}") == 1
    assert outcome(f"not weft-opt {bad} 2> {tmp_path / 'err'}", f"weft-opt {good} | not filecheck {bad}") is None
    assert "error: " in (tmp_path / "err").read_text()


def test_an_internal_error_is_not_the_failure_that_a_test_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import weft.tools.weft_opt

    monkeypatch.setattr(weft.tools.weft_opt, "run", lambda options: 1 // 0)  # pyright: ignore
    assert outcome("not weft-opt -") == 1


def test_lit_reports_a_failing_test(tmp_path: Path) -> None:
    """From discovery to exit status, in lit itself, for a test run here and for one run in the shell."""
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "lit.cfg.py").write_text(
        f"import sys\nsys.path[:0] = [{str(ROOT)!r}]\n"
        "from weft.testing.lit_format import InProcessShTest\n"
        "config.name, config.test_format, config.suffixes = 'suite', InProcessShTest(), ['.mlir']\n"
    )
    module = "func.func @f() { func.return }\n"
    (suite / "passes.mlir").write_text(f"// RUN: weft-opt %s | filecheck %s\n// CHECK: @f\n{module}")
    (suite / "fails.mlir").write_text(f"// RUN: weft-opt %s | filecheck %s\n// CHECK: @g\n{module}")
    (suite / "fails_in_shell.mlir").write_text("// RUN: cat %s | not cat\n")
    (suite / "xfails.mlir").write_text(f"// RUN: weft-opt %s | filecheck %s\n// XFAIL: *\n// CHECK: @g\n{module}")
    (suite / "unsupported.mlir").write_text("// RUN: weft-opt %s\n// REQUIRES: nothing-has-this\n")
    lit = [sys.executable, "-c", "from lit.main import main; main()", "-j1", "-v", str(suite)]
    done = subprocess.run(lit, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    results = {
        line.split()[3]: line.split(":")[0] for line in done.stdout.splitlines() if " :: " in line and "(" in line
    }
    assert results == {
        "passes.mlir": "PASS",
        "fails.mlir": "FAIL",
        "fails_in_shell.mlir": "FAIL",
        "xfails.mlir": "XFAIL",
        "unsupported.mlir": "UNSUPPORTED",
    }
    assert "lit --update-tests --filter fails" in done.stdout
