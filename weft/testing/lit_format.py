# pyright: basic
# lit has no types
"""A lit test format that runs Weft's tools and filecheck inside lit's worker.

In a suite's `lit.cfg.py`:

    from weft.testing import bless
    from weft.testing.lit_format import InProcessShTest

    config.name, config.suffixes, config.test_format = "mine", [".mlir"], InProcessShTest()
    config.test_source_root = os.path.dirname(__file__)
    lit_config.test_updaters.append(bless.update)

A RUN line made only of these tools, joined by `|` and with plain redirections, runs in a forked child of the warm
worker, so that a test costs a fork instead of an interpreter start per command. Any other RUN line makes the whole
test fall back on lit's own shell.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import lit.formats
import lit.Test
import lit.TestRunner as runner

from .bless import rewrite

if TYPE_CHECKING:
    from lit.LitConfig import LitConfig
    from lit.Test import Test

TIMEOUT_S = 120

Tool = Callable[[Sequence[str]], object]

MODULES = {
    tool: f"weft.tools.{tool.replace('-', '_')}"
    for tool in ("weft-opt", "weft-run", "weft-import", "weft-bench", "weft-tune")
}


def load_tool(name: str) -> Tool:
    """The function that takes the tool's arguments."""
    if name == "filecheck":
        main = import_module("filecheck.main").main
        return lambda args: main(["filecheck", *args])
    return import_module(MODULES[name]).main


@dataclass
class Stage:
    """One command of a RUN line."""

    argv: list[str]
    negated: bool = False
    merge_stderr: bool = False
    stdin: Path | None = None
    stdout: Path | None = None
    stderr: Path | None = None


@dataclass
class Outcome:
    """What a stage did."""

    stage: Stage
    code: int
    stdin: bytes
    stdout: bytes
    stderr: bytes


@dataclass
class Report:
    """What the RUN lines of a test did, up to the first failure."""

    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    blessed: str = ""
    """What was rewritten on request."""

    @property
    def failed(self) -> Outcome | None:
        return next((o for o in self.outcomes if o.code), None)

    def __str__(self) -> str:
        text = "".join(
            f"$ {shlex.join(o.stage.argv)}\n# exit status {o.code}\n{o.stderr.decode(errors='replace')}"
            for o in self.outcomes
        )
        if (failed := self.failed) is not None:
            text += f"\n# standard input of the failed command:\n{failed.stdin.decode(errors='replace')[:20000]}"
            text += f"\n# its standard output:\n{failed.stdout.decode(errors='replace')[:20000]}"
        return text + self.blessed


def parse_run_line(line: str) -> list[Stage] | None:
    """The stages of a RUN line, or `None` where it needs a real shell."""
    line = re.sub(r"%dbg\([^)]*\)", "", line).strip()
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    stages: list[Stage] = []
    try:
        words = list(lexer)
    except ValueError:
        return None
    for part in _split(words, "|"):
        stage = _parse_stage(part)
        if stage is None:
            return None
        stages.append(stage)
    return stages


def _split(words: list[str], separator: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == separator:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _parse_stage(words: list[str]) -> Stage | None:
    stage = Stage([])
    while words:
        word = words.pop(0)
        if words[:2] == [">&", "1"] and word == "2":
            stage.merge_stderr = True
            words = words[2:]
        elif word == "2" and words[:1] == [">"]:
            stage.stderr = Path(words[1])
            words = words[2:]
        elif word in ("<", ">"):
            path = Path(words.pop(0))
            if word == "<":
                stage.stdin = path
            else:
                stage.stdout = path
        elif set(word) <= set("();<>|&"):
            return None
        else:
            stage.argv.append(word)
    if stage.argv[:1] == ["not"]:
        stage.negated, stage.argv = True, stage.argv[1:]
    known = stage.argv[:1] and stage.argv[0] in {*MODULES, "filecheck"}
    return stage if known else None


def run_stage(stage: Stage, stdin: bytes) -> Outcome:
    """Run a stage in this process, with its standard streams replaced."""
    if stage.stdin is not None:
        stdin = stage.stdin.read_bytes()
    out, err = io.BytesIO(), io.BytesIO()
    saved = sys.stdin, sys.stdout, sys.stderr, sys.argv
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
    sys.stderr = sys.stdout if stage.merge_stderr else io.TextIOWrapper(err, encoding="utf-8", write_through=True)
    sys.argv = list(stage.argv)
    try:
        code = load_tool(stage.argv[0])(stage.argv[1:])
    except SystemExit as exit:
        code = exit.code
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        kept = {sys.stdout, sys.stderr}  # closing them would close the buffers
        sys.stdin, sys.stdout, sys.stderr, sys.argv = saved
        for stream in kept:
            stream.flush()
    failed = code if isinstance(code, int) else int(code is not None)
    if stage.negated:
        failed = int(failed in (0, 70))  # an internal error is not a failure that a test can ask for
    outcome = Outcome(stage, failed, stdin, out.getvalue(), err.getvalue())
    for stream in kept:
        stream.detach()
    if stage.stdout is not None:
        stage.stdout.write_bytes(outcome.stdout)
        outcome.stdout = b""
    if stage.stderr is not None:
        stage.stderr.write_bytes(outcome.stderr)
    return outcome


def run_lines(lines: Sequence[Sequence[Stage]], bless: Path | None = None) -> Report:
    """Run RUN lines until one fails; a line fails where any of its stages does.

    The CHECK lines of the test `bless` are rewritten where they are what fails, once for each RUN line.
    """
    report = _run_lines(lines)
    for _ in lines:
        failed = report.failed
        if bless is None or failed is None or failed.stage.argv[0] != "filecheck":
            break
        blessed = report.blessed + rewrite(bless, failed.stage.argv, failed.stdin.decode())
        report = _run_lines(lines)
        report.blessed = blessed
    return report


def _run_lines(lines: Sequence[Sequence[Stage]]) -> Report:
    report = Report()
    for stages in lines:
        data = b""
        for stage in stages:
            outcome = run_stage(stage, data)
            report.outcomes.append(outcome)
            data = outcome.stdout
        if report.failed is not None:
            break
    return report


class InProcessShTest(lit.formats.ShTest):
    """`ShTest`, run in the worker where that is possible.

    Args:
        bless: the command that a failing test prints, by which its CHECK lines are rewritten; `{name}` is the test's.
    """

    def __init__(self, bless: str = "lit --update-tests --filter {name} .", **options: Any):
        super().__init__(**options)
        self.bless = bless

    def advice(self, test: Test) -> str:
        name = os.path.splitext(test.path_in_suite[-1])[0]
        return f"\nIf the new output is right: {self.bless.format(name=name)}\n"

    def execute(self, test: Test, litConfig: LitConfig) -> lit.Test.Result:
        lines = self._parse(test, litConfig)
        if lines is None:
            result = cast("lit.Test.Result", super().execute(test, litConfig))
            if result.code is lit.Test.FAIL:
                result.output += self.advice(test)
            return result
        for tool in {stage.argv[0] for stages in lines for stage in stages}:
            warm_up(tool)
        source = Path(test.getSourcePath()) if litConfig.update_tests else None
        code, output = in_child(lambda: run_lines(lines, source), cwd=os.path.dirname(test.getExecPath()))
        if code is None:
            return lit.Test.Result(lit.Test.TIMEOUT, f"took longer than {TIMEOUT_S} s, or was killed\n{output}")
        if code:
            output += self.advice(test)
        return lit.Test.Result(lit.Test.FAIL if code else lit.Test.PASS, output)

    def _parse(self, test: Test, config: LitConfig) -> list[list[Stage]] | None:
        if test.config.unsupported or config.noExecute:
            return None
        script = runner.parseIntegratedTestScript(test)
        if isinstance(script, lit.Test.Result):
            return None
        tmp_dir, tmp_base = runner.getTempPaths(test)
        substitutions = runner.getDefaultSubstitutions(test, tmp_dir, tmp_base)
        conditions = {feature: True for feature in test.config.available_features}
        script = runner.applySubstitutions(
            script, substitutions, conditions, recursion_limit=test.config.recursiveExpansionLimit
        )
        Path(tmp_base).parent.mkdir(parents=True, exist_ok=True)
        parsed = [parse_run_line(line) for line in script]
        return None if None in parsed else cast("list[list[Stage]]", parsed)


COMPILING = ("weft-run", "weft-bench", "weft-tune")
"""The tools that do little else."""


@cache
def warm_up(tool: str) -> None:
    """Import in the worker, once, what nearly every test needs that runs a tool."""
    if tool == "filecheck":
        modules = ("filecheck.main", "filecheck.matcher")
    else:
        modules = (MODULES[tool], "weft.tools.driver", "weft.tools.run_program", "weft.dialects.relay")
    for module in modules:
        import_module(module)
    if tool in COMPILING:
        from ..lowering.machine.target import Target
        from ..lowering.phases import pipeline

        pipeline(Target())  # which imports its passes


def in_child(work: Callable[[], Report], cwd: str) -> tuple[int | None, str]:
    """Do `work` in a forked child: 0 or 1 and its report, or `None` where the child was killed."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        signal.alarm(TIMEOUT_S)
        code, text = b"1", ""
        try:
            os.chdir(cwd)
            report = work()
            code, text = b"1" if report.failed is not None else b"0", str(report)
        except BaseException:
            text = traceback.format_exc()
        with os.fdopen(write, "wb") as pipe:
            pipe.write(code + text.encode(errors="replace"))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        result = pipe.read()
    os.waitpid(pid, 0)
    return (int(result[:1]), result[1:].decode()) if result else (None, "")
