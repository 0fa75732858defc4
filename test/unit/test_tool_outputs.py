"""What tools write: whole or not at all, to what can be written, and never over the model that they read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from onnx import TensorProto, helper

from weft.tools import weft_bench, weft_import, weft_opt, weft_run, weft_tune

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a module and its weights, an ONNX model, and a folder."""
    for name in ("perceptron.mlir", "perceptron.weights.npz"):
        shutil.copy(ROOT / "examples" / name, tmp_path)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y"))
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (tmp_path / "relu.onnx").write_bytes(model.SerializeToString())
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("place", ["out", "out/", ".", "..", "/", "", "relu.onnx/x", "nowhere/x"])
@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (weft_opt.main, ["perceptron.mlir", "-o"]),
        (weft_opt.main, ["perceptron.mlir", "--emit=dot", "-o"]),
        (weft_import.main, ["relu.onnx", "-o"]),
        (weft_run.main, ["perceptron.mlir", "--executor=interpreter", "--outputs"]),
    ],
)
def test_what_cannot_be_written_is_told_and_leaves_nothing(
    tool: Callable[[list[str]], int], words: list[str], place: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))
    assert tool([*words, place]) == 1
    assert "error: cannot be written: " in capsys.readouterr().err
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before


@pytest.mark.parametrize("place", ["out", "nowhere/x", "relu.onnx/x", "closed/x"])
@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (weft_run.main, ["perceptron.mlir", "--save"]),
        (weft_bench.main, ["perceptron.mlir", "--json"]),
        (weft_tune.main, ["perceptron.mlir", "--trials=1", "--records"]),
    ],
)
def test_what_could_not_be_written_in_the_end_is_told_before_anything_is_compiled(
    tool: Callable[[list[str]], int],
    words: list[str],
    place: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (folder / "closed").mkdir(0o555)
    access = os.access

    def is_allowed(path: str, mode: int) -> bool:  # root may write everywhere
        return "closed" not in path and access(path, mode)

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("it is compiled")

    monkeypatch.setattr(os, "access", is_allowed)
    for driver in ("weft.tools.run_program.compile", "weft.tuning.tune.load_static"):
        monkeypatch.setattr(driver, refuse)
    assert tool([*words, place]) == 1
    told = capsys.readouterr().err
    assert f"{place}: error: " in told and ("cannot be written: " in told or "in a regular file" in told)


def test_records_are_not_read_from_a_device_that_never_ends(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert weft_tune.main(["perceptron.mlir", "--trials=1", "--records", "/dev/zero"]) == 1
    assert "/dev/zero: error: records are kept in a regular file" in capsys.readouterr().err


def test_no_module_is_left_whose_weights_cannot_be_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "new.weights.npz").mkdir()
    assert weft_opt.main(["perceptron.mlir", "-o", "new.mlir"]) == 1
    assert "new.weights.npz: error: cannot be written: is a directory" in capsys.readouterr().err
    assert not (folder / "new.mlir").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_takes_a_module_without_its_weights(folder: Path) -> None:
    os.mkfifo("pipe.mlir")
    with ThreadPoolExecutor(1) as pool:
        text = pool.submit(Path("pipe.mlir").read_text)
        assert weft_opt.main(["perceptron.mlir", "-o", "pipe.mlir"]) == 0
        assert "relay.nn.dense" in text.result(10)
    assert Path("pipe.mlir").is_fifo() and not Path("pipe.weights.npz").exists()


@pytest.mark.parametrize(
    "command",
    [
        lambda: weft_import.main(["relu.onnx", "-o", "./relu.onnx"]),
        lambda: weft_run.main(["perceptron.mlir", "--save", "out/../perceptron.mlir"]),
        lambda: weft_run.main(["perceptron.mlir", "--outputs", "perceptron.mlir"]),
        lambda: weft_bench.main(["perceptron.mlir", "--json", "perceptron.mlir"]),
        lambda: weft_tune.main(["perceptron.mlir", "--records", "perceptron.mlir"]),
    ],
)
def test_a_model_is_not_overwritten_by_what_is_made_of_it(
    command: Callable[[], int], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert command() == 2
    assert "is the model, which this would overwrite" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("seed", ["-1", "", "1.5", "x", "¹"])
def test_a_seed_is_a_number_from_0_on(seed: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for tool in (weft_run, weft_bench, weft_tune):
        assert tool.main(["perceptron.mlir", f"--seed={seed}"]) == 2
        assert f"error: '{seed}' is no seed" in capsys.readouterr().err


def test_an_input_that_memory_does_not_hold_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for type in ("99999999999999999999xf32", "4000000x4000000xf32"):
        assert weft_run.main(["perceptron.mlir", "--input", f"x={type}=1"]) == 2
        assert "more than this machine's memory holds" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux")
def test_a_file_whose_name_is_no_text_is_read_and_told_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = os.fsdecode(b"r\xff\xfe.onnx")
    shutil.copy("relu.onnx", name)
    assert weft_bench.main([name, "--rounds=1", "--threads=1"]) == 0
    assert r"r\udcff\udcfe" in capsys.readouterr().out
    assert weft_import.main([name, "--mlir-print-debuginfo"]) == 0
    assert weft_import.main([name, "--mlir-print-debuginfo", "-o", "made.mlir"]) == 0
    assert weft_opt.main(["made.mlir"]) == 0


@pytest.mark.parametrize("word", ["--help", "--nothing"])
def test_the_maker_of_models_takes_no_flag_for_a_folder(word: str, folder: Path) -> None:
    command = [sys.executable, str(ROOT / "bench" / "make_models.py"), word]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == (0 if word == "--help" else 2)
    assert not (folder / word).exists()


@pytest.mark.parametrize("stream", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_what_a_shell_has_opened_is_written_on_and_not_replaced(folder: Path, stream: str) -> None:
    (folder / "kept").write_text("before\n")
    with (folder / "kept").open("ab") as kept:
        words = [sys.executable, "-m", "weft.tools.weft_opt", "perceptron.mlir", "--emit=dot", "-o", stream]
        subprocess.run(words, stdout=kept, check=True)
        kept.write(b"after\n")
    lines = (folder / "kept").read_text().splitlines()
    assert (lines[0], lines[-1]) == ("before", "after") and len(lines) > 2


def test_the_weights_of_a_model_are_not_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = (folder / "perceptron.weights.npz").read_bytes()
    assert weft_run.main(["perceptron.mlir", "--outputs", "perceptron.weights.npz"]) == 2
    assert "is a file of the model, which this would overwrite" in capsys.readouterr().err
    assert (folder / "perceptron.weights.npz").read_bytes() == weights
