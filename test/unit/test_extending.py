"""docs/extending.md: its blocks are the files of `examples/softcap`, and its commands do what they show."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from pathlib import Path

import pytest
from softcap_environment import Environment

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "examples" / "softcap"
TEXT = (ROOT / "docs" / "extending.md").read_text()
BLOCKS = re.findall(r'^(```+)(\w*)(?: title="(.+?)")?\n(.*?)^\1$', TEXT, re.MULTILINE | re.DOTALL)


def blocks_by_file() -> dict[str, str]:
    files: defaultdict[str, str] = defaultdict(str)
    for _, _, title, text in BLOCKS:
        if title:
            files[title] += text
    return dict(files)


def without_blank_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def test_the_page_shows_every_file_of_the_package() -> None:
    files = {str(p.relative_to(PACKAGE)) for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert blocks_by_file().keys() == files


@pytest.mark.parametrize("file", blocks_by_file())
def test_the_blocks_of_a_file_are_the_file(file: str) -> None:
    assert without_blank_lines(blocks_by_file()[file]) == without_blank_lines((PACKAGE / file).read_text())


COMMANDS = [
    (command.split("\n")[0], command.split("\n")[1:])
    for _, language, _, text in BLOCKS
    if language == "console"
    for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
]


def test_the_package_is_not_seen_without_being_installed() -> None:
    with pytest.raises(ModuleNotFoundError):
        __import__("softcap.ops")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("extending"))


def test_the_commands_give_what_is_shown(environment: Environment) -> None:
    """`pip install .` is what made the environment; `echo` writes a file; all others are run."""
    ran: list[str] = []
    for command, shown in COMMANDS:
        tool, *arguments = shlex.split(command)
        ran.append(tool)
        if tool == "pip":
            continue
        if tool == "echo":
            text, redirection, file = arguments
            assert redirection == ">"
            (environment.package / file).write_text(text)
            continue
        output = environment.tool(tool, *arguments)
        for line in filter(None, shown):
            assert line in output, f"$ {command}\n{output}"
    assert set(ran) == {"pip", "echo", "weft-opt", "weft-run", "weft-import", "xdsl-opt", "lit", "pytest"}
