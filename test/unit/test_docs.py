"""What the pages of `docs` say that no other test holds: the analyzer's example, devices, the drawing of memory."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from weft.tools.weft_opt import main as weft_opt

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def test_the_examples_of_the_analyzer_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", page("analyzer.md"), re.DOTALL)
    assert [block.count("assert ") for block in blocks] == [2, 2, 1]
    for block in blocks:
        exec(compile(block, "docs/analyzer.md", "exec"), {})


def test_the_devices_that_are_shown_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```mlir\n(.*?)```", page("devices.md"), re.DOTALL)
    devices = block.split("\n")[:-1]
    assert len(devices) == 3
    notes = [
        f"  %{n} = relay.on_device %x {{virtual_device = {device}}} : tensor<4xf32>" for n, device in enumerate(devices)
    ]
    text = "\n".join(["relay.func @main(%x: tensor<4xf32>) {", *notes, "  relay.return", "}"])
    (tmp_path / "devices.mlir").write_text(text)
    assert weft_opt([str(tmp_path / "devices.mlir")]) == 0, capsys.readouterr().err
    printed = capsys.readouterr().out
    for device in devices:
        assert device in printed


CONFLICT = """relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {

  %0 = relay.negative %x : tensor<4xf32>
  %1 = relay.on_device %0 {virtual_device = #relay.virtual_device<cpu>} : tensor<4xf32>
  %2 = relay.on_device %0 {virtual_device = #relay.virtual_device<cuda>} : tensor<4xf32>
  %3 = relay.add %1, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relay.return %3 : tensor<4xf32>
}
"""


def test_the_conflict_of_devices_is_told_as_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"^```\n(net\.mlir.*?)```", page("devices.md"), re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    Path("net.mlir").write_text(CONFLICT)
    assert weft_opt(["net.mlir", "-p", "plan-devices"]) == 1
    told = capsys.readouterr().err
    for line in block.splitlines():
        assert line in told, told


def test_the_drawing_of_memory_is_made_by_the_commands_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"^```\n(weft-opt model\.mlir.*?)```", page("architecture.md"), re.DOTALL | re.MULTILINE)
    first, second = (shlex.split(command)[1:] for command in block.split("|"))
    monkeypatch.chdir(tmp_path)
    Path("model.mlir").write_text(CONFLICT.replace("cuda", "cpu"))
    assert weft_opt(first) == 0
    Path("scheduled.mlir").write_text(capsys.readouterr().out)
    assert weft_opt(["scheduled.mlir" if argument == "-" else argument for argument in second]) == 0
    assert Path("memory.svg").read_text().startswith("<svg")
