"""`weft TOOL`: the tools as one command."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from weft.dialects.support import knobs
from weft.tools.command import TOOLS, main

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_every_tool_is_one_of_the_commands() -> None:
    scripts = tomllib.loads(PROJECT.read_text())["project"]["scripts"]
    assert scripts["weft"] == "weft.tools.start:weft"
    assert {name.removeprefix("weft-") for name in scripts} == {*TOOLS, "weft"}


def test_the_cache_is_shown_and_cleared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with knobs.CACHE_DIR.set(str(tmp_path)):
        assert main(["cache"]) == 0
        assert "0 kernels, 0 programs" in capsys.readouterr().out
        assert main(["cache", "--clear"]) == 0
        assert "0 removed" in capsys.readouterr().out


def test_what_is_no_tool_is_refused_with_what_is_near(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cahce"]) == 2
    assert "there is no tool 'cahce'" in (said := capsys.readouterr().err) and "'cache'" in said
    assert main(["--help"]) == 0 and "bench" in capsys.readouterr().out


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("weft ")


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("run m.mlir -p fuse-ops", "-p is for weft-opt"),
        ("opt m.mlir --outputs x.npz", "--outputs is for weft-run"),
        ("run m.mlir --trials 3", "did you mean '--threads'?; --trials is for weft-tune"),
        ("opt m.mlir --verify-eech", "did you mean '--verify-each'?"),
        ("opt m.mlir --canonicalize", "to run the pass canonicalize: -p canonicalize"),
        ("cache --quux", "`weft-cache --help` lists the flags"),
    ],
)
def test_a_flag_that_a_tool_does_not_take_is_told_with_what_does(
    command: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.split()) == 2
    assert capsys.readouterr().err.endswith(f"hint: {hint}\n")
