"""What a tool advises, it can do: a flag that a hint names is one of the tool's own, or of the tool that it names."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

import weft
from weft.dialects.support.diagnostics import Diagnostic, UsageError
from weft.frontend.onnx import from_onnx

FUNCTION = """relay.func @{name}(%x: tensor<{shape}xf32>) -> tensor<{shape}xf32> {{
  %0 = "{op}"(%x) : (tensor<{shape}xf32>) -> tensor<{shape}xf32>
  relay.return %0 : tensor<{shape}xf32>
}}
"""
RELU = "relay.nn.relu"
FILES = {
    "open.mlir": FUNCTION.format(name="main", shape="?x4", op=RELU),
    "several.mlir": "".join(FUNCTION.format(name=name, shape="4", op=RELU) for name in ("first", "second")),
    "unknown_dialect.mlir": FUNCTION.format(name="main", shape="4", op="foo.bar"),
    "unknown_operation.mlir": FUNCTION.format(name="main", shape="4", op="relay.nn.relo"),
    "unknown.kind": "no model",
}
COMPILING = ("weft-run", "weft-bench", "weft-tune")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files that no tool can compile as they are."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    tensors = helper.make_tensor_type_proto(1, None)
    kinds = {"sequence": helper.make_sequence_type_proto(tensors), "optional": helper.make_optional_type_proto(tensors)}
    for name, kind in kinds.items():
        node = helper.make_node("SequenceLength" if name == "sequence" else "OptionalHasElement", ["s"], ["y"])
        result = helper.make_tensor_value_info("y", 7 if name == "sequence" else 9, [])
        graph = helper.make_graph([node], "g", [helper.make_value_info("s", kind)], [result])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
        (tmp_path / f"{name}.onnx").write_bytes(model.SerializeToString())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def foreign_flags(tool: str, hint: str) -> list[str]:
    """What a hint advises to give to a tool that does not take it."""
    found: list[str] = []
    for word in re.findall(r"weft-\w+|--[\w-]+", hint):
        if word.startswith("--"):
            parser = import_module(f"weft.tools.{tool.replace('-', '_')}").argument_parser()
            found += [] if word in parser.flags() else [f"{tool} {word}"]
        elif (Path(weft.__file__).parents[1] / "tools" / f"{word.replace('-', '_')}.py").is_file():
            tool = word
    return found


def test_flags_of_another_tool_are_seen() -> None:
    assert foreign_flags("weft-run", "give --shape x=1, or --pass-pipeline") == ["weft-run --pass-pipeline"]
    assert foreign_flags("weft-run", "`weft-opt --pass-pipeline` does it") == []


@pytest.mark.parametrize("file", [*FILES, "sequence.onnx", "optional.onnx"])
@pytest.mark.parametrize("tool", COMPILING)
def test_a_hint_names_flags_that_the_tool_has(
    tool: str, file: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = import_module(f"weft.tools.{tool.replace('-', '_')}").main([file])
    said = capsys.readouterr().err
    assert (code, said.count("hint: ")) in [(1, 1), (2, 1)], said
    assert foreign_flags(tool, said.partition("hint: ")[2]) == []


@pytest.mark.parametrize("tool", COMPILING)
def test_what_is_advised_for_several_functions_helps(
    tool: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main = import_module(f"weft.tools.{tool.replace('-', '_')}").main
    assert main(["several.mlir"]) == 2
    assert "there are @first, @second; say which one is meant: --function first" in capsys.readouterr().err
    few = {"weft-run": [], "weft-bench": ["--rounds=1"], "weft-tune": ["--trials=1", "--rounds=1"]}[tool]
    assert main(["several.mlir", "--function=second", *few]) == 0


@pytest.mark.parametrize("file", [*FILES, "sequence.onnx", "optional.onnx"])
def test_what_python_is_advised_names_no_flag(file: str, folder: Path) -> None:
    try:
        weft.compile(file)
    except Diagnostic as error:
        assert not re.search(r"(?<!weft-opt )--\w", error.hint or "")
    else:
        assert file == "open.mlir"


def test_python_is_told_how_to_choose_a_function_and_values(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"say which one is meant: weft.compile\(..., function='first'\)"):
        weft.compile("several.mlir")
    weft.compile("several.mlir", function="first")
    with pytest.raises(Diagnostic, match="sequence type") as told:
        weft.compile("sequence.onnx")
    assert "weft.frontend.onnx.from_onnx(model, shapes={'s': [[2, 3], [2, 3]]})" in str(told.value)
    exe = weft.compile(from_onnx("sequence.onnx", shapes={"s": [[2, 3], [2, 3]]}))
    assert exe.run({name: np.zeros((2, 3), np.float32) for name in ("s.0", "s.1")})["y"] == 2
