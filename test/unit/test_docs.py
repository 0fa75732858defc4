"""What the pages of `docs` show: their Python runs, their commands are known, and what else no other test holds, such
as devices and the drawing of memory."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shlex
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import cast

import numpy as np
import pytest

import weft
from weft.tools.weft_opt import main as weft_opt
from weft.tools.weft_run import main as weft_run
from weft.transforms.infra.registry import get_pass_type

pytest.importorskip("onnx")
from onnx import TensorProto, helper

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


PAGES = [*sorted(path.name for path in (ROOT / "docs").glob("*.md") if not path.name.endswith(".in.md"))]
RUN_BY = {
    "backends.md": "test_backends", "dynamic.md": "test_dynamic_docs",
    "numbers.md": "test_tolerance",
    "pass-infrastructure.md": "test_pass_docs", "relay-passes.md": "test_relay_pass_docs", "running.md": "test_readme",
    "schedules.md": "test_schedule_docs", "strategies.md": "test_strategies",
    "te.md": "test_te_docs", "tuning.md": "test_tuning_docs", "tvmscript.md": "test_tvmscript",
}  # fmt: skip
"""The tests that run the Python of a page and look at what it gives; that of the other pages runs here."""


@pytest.mark.parametrize("name", PAGES)
def test_the_python_of_a_page_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In order, in one namespace; from a file, as functions are read from their text. It prints what is said behind."""
    blocks = re.findall(r"^```python\n(.*?)^```", page(name), re.DOTALL | re.MULTILINE)
    if name in RUN_BY:
        test = (Path(__file__).parent / f"{RUN_BY[name]}.py").read_text()
        assert blocks and name in test and "```python" in test.replace("{language}", "python")
        return
    monkeypatch.chdir(tmp_path)
    Path("page.py").write_text("".join(blocks))
    runpy.run_path("page.py")
    printed = capsys.readouterr().out.splitlines()
    assert [
        told for told in re.findall(r"^print\(.*\)  # (.+)$", "".join(blocks), re.MULTILINE) if told not in printed
    ] == []


TOOLS = ("weft-opt", "weft-run", "weft-import", "weft-bench", "weft-tune", "weft-cache")
TEXTS = {name: page(name) for name in PAGES} | {
    name: (ROOT / name).read_text() for name in ("README.md", "CONTRIBUTING.md", "bench/README.md")
}
SHOWN = sorted(
    {
        (name, " ".join(command.split()))
        for name, text in TEXTS.items()
        for command in (
            *re.findall(r"`((?:weft-|make |python )[^`]*)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)),
            *re.findall(
                r"^(?:\$ )?((?:weft-|make )\S[^#\n]*)", "".join(re.findall(r"```\w*\n(.*?)```", text, re.S)), re.M
            ),
        )
    }
)
"""The commands in the pages, in the text and in blocks."""


@cache
def help_of(tool: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        import_module(f"weft.tools.{tool.replace('-', '_')}").main(["--help"])
    return out.getvalue()


@pytest.mark.parametrize(("name", "command"), SHOWN)
def test_what_a_command_in_a_page_says_is_there(name: str, command: str) -> None:
    """The tool and each of its options; each pass, which begins with a small letter; a file that Python runs; what is
    to be made."""
    tool, *words = command.split()
    if tool == "make":
        assert all(re.search(rf"^{word}:", (ROOT / "Makefile").read_text(), re.M) for word in words if "=" not in word)
    elif tool == "python":
        assert (ROOT / words[0]).is_file()
    else:
        assert tool in TOOLS
        for option in re.findall(r"(?<!\S)--?[a-z][\w-]*", command):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", help_of(tool)), f"{tool} {option}"
        for passes in re.findall(r"-p '?([a-z][\w,-]*)", command):
            assert all(get_pass_type(each) for each in passes.split(","))


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


EMBEDDING = 30522
ACCESS = """relay.func @main(%x: tensor<8xf32>, %n: tensor<64xi32>) -> tensor<64xf32> {
  %0 = relay.call_lowered @take(%x, %n) : (tensor<8xf32>, tensor<64xi32>) -> tensor<64xf32>
  relay.return %0 : tensor<64xf32>
}
tir.prim_func @take(%x: memref<8xf32>, %n: memref<64xi32>, %y: memref<64xf32>) {
  tir.for %i = 0 to 64 {
      tir.block @take(%v: spatial 64) = [%i] reads(%n[%v] : memref<64xi32>, %x : memref<8xf32>)
          writes(%y[%v] : memref<64xf32>) {
        %0 = memref.load %n[%v] : memref<64xi32>
        %1 = arith.index_cast %0 : i32 to index
        %2 = memref.load %x[%1] : memref<8xf32>
        memref.store %2, %y[%v] : memref<64xf32>
      }
  }
}
"""


def test_the_messages_of_running_are_told_as_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"^```\n([^`]*error: [^`]*)```", page("running.md"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    refused, index, access, death = (block.rstrip() for block in blocks)
    with pytest.raises(weft.ArgumentError) as wrong:
        weft.compile(ROOT / "examples" / "perceptron.mlir", threads=cast(int, "2"))
    assert str(wrong.value) == refused
    monkeypatch.chdir(tmp_path)
    value = helper.make_tensor_value_info
    node = helper.make_node("Gather", ["table", "ids"], ["rows"], "embeddings")
    table = value("table", TensorProto.FLOAT, [EMBEDDING, 1])
    graph = helper.make_graph(
        [node], "g", [table, value("ids", TensorProto.INT64, [1])], [value("rows", TensorProto.FLOAT, [1, 1])]
    )
    Path("model.onnx").write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()
    )
    exe = weft.compile("model.onnx", opt_level=0)
    with pytest.raises(weft.CheckError) as outside:
        exe(np.zeros((EMBEDDING, 1), np.float32), np.array([EMBEDDING]))
    assert str(outside.value) == index
    Path("kernel.mlir").write_text(ACCESS)
    np.savez("inputs.npz", x=np.zeros(8, np.float32), n=np.full(64, 8, np.int32))
    assert weft_run(["kernel.mlir", "--bounds-checks", "--inputs", "inputs.npz"]) == 1
    told = capsys.readouterr().err
    assert told.startswith(access), told
    assert death.startswith("llvm.mlir: error: the process that ran the program has died: ")


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
