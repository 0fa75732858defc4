"""What `docs/tuning.md` shows runs."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tuning.md").read_text()


def test_the_commands_and_the_python_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    (commands,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for command in commands.splitlines():
        tool, *arguments = shlex.split(command)
        assert import_module(f"weft.tools.{tool.replace('-', '_')}").main(arguments) == 0, capsys.readouterr().err
    assert "equal to interpreter" in capsys.readouterr().out
    assert (tmp_path / "build" / "tuning.svg").read_text().startswith("<svg")
    namespace: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        exec(compile(block, "docs/tuning.md", "exec"), namespace)
    assert "by the rules" in capsys.readouterr().out
