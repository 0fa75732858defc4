# pyright: basic
# lit has no types
"""Rewrite the CHECK lines of a test from what its tools print now: `make bless T=name`, `lit --update-tests`.

Every line of the prefix at fault is replaced by the whole output, function by function, each before the function of
the same name in the input, with those that it was taken apart into (`@name.part`).
What is then in the file is what the tools do, not what they should: read the difference.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_PREFIX_FLAG = re.compile(r"--?check-prefix(?:es)?(?:=(.*))?$")
_SYMBOL = re.compile(r"^\s*\S.*?\s(?:private )?@([\w$.-]+)")


def update(result: Any, test: Any, commands: Sequence[Any]) -> str | None:
    """The hook of `lit --update-tests`, for tests that ran in lit's own shell."""
    argvs = [list(command.args) for command in commands]
    if not argvs or Path(argvs[-1][0]).name != "filecheck":
        return None
    data = b""
    for argv in argvs[:-1]:
        done = subprocess.run(argv, input=data, stdout=subprocess.PIPE, env=dict(test.config.environment), check=False)
        if done.returncode:
            return None
        data = done.stdout
    return rewrite(Path(test.getSourcePath()), argvs[-1], data.decode())


def rewrite(test: Path, filecheck: Sequence[str], output: str) -> str:
    """Make the CHECK lines of `test` match `output`, which `filecheck` was given; says what was done."""
    if not output.strip():
        return f"\n{test.name} is left as it is: there was no output\n"
    prefix = _prefix(filecheck)
    own = re.compile(
        rf"^\s*//\s*{re.escape(prefix)}(-NEXT|-SAME|-LABEL|-NOT|-DAG|-EMPTY|-COUNT-\d+)?(\{{.*?\}})?:.*\n?", re.M
    )
    kept = own.sub("", test.read_text()).rstrip("\n").split("\n")
    result: list[str] = []
    blocks = _functions(output, prefix)
    for line in kept:
        if (match := _SYMBOL.match(line)) is not None and not line.lstrip().startswith("//"):
            parts = [name for name in blocks if name == match[1] or name.startswith(f"{match[1]}.")]
            result += [checked for name in parts for checked in blocks.pop(name)]
        result.append(line)
    for block in blocks.values():
        result += ["", *block]
    test.write_text("\n".join(_without_double_gaps(result)) + "\n")
    return f"\n{test.name}: the {prefix} lines are rewritten\n"


def _prefix(filecheck: Sequence[str]) -> str:
    for word, following in zip(filecheck, [*filecheck[1:], ""], strict=True):
        if (match := _PREFIX_FLAG.match(word)) is not None:
            return (match[1] or following).split(",")[0]
    return "CHECK"


def _functions(output: str, prefix: str) -> dict[str, list[str]]:
    """Symbol -> the lines that check it; what stands before the first symbol, and between modules, is left out."""
    blocks: dict[str, list[str]] = {}
    current: list[str] | None = None
    depth = indent = 0
    for line in output.split("\n"):
        match = _SYMBOL.match(line)
        begins = len(line) - len(line.lstrip())
        if depth <= 1 and begins <= indent:
            current = None
        if match is not None and depth <= 1:
            indent = begins
            current = blocks.setdefault(match[1], [])
            current.append(f"// {prefix}-LABEL: {_escaped(line.strip())}")
        elif current is not None:
            blank = f"// {prefix}-EMPTY:"
            current.append(f"// {prefix}-NEXT:  {_escaped(line[2:])}" if line.strip() else blank)
        depth += line.count("{") - line.count("}")
        if depth <= 1 and line.strip() == "}":
            current = None
    if not blocks:
        lines = [line for line in output.split("\n") if line.strip()]
        blocks[""] = [f"// {prefix}{'-NEXT' if i else ''}: {_escaped(line)}" for i, line in enumerate(lines)]
    return blocks


def _escaped(text: str) -> str:
    return re.sub(r"\{\{|\[\[", lambda m: "{{" + re.escape(m[0]) + "}}", text)


def _without_double_gaps(lines: Sequence[str]) -> list[str]:
    return [line for i, line in enumerate(lines) if line or i == 0 or lines[i - 1]]
