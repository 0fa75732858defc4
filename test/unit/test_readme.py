"""What README.md shows runs: its Python in order, in one namespace, and its commands."""

from __future__ import annotations

import re
import shlex
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from weft.lowering.machine.target import Target
from weft.lowering.phases import PHASES, phase_passes, rest_passes

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^\$ (weft-.*)$", README, re.MULTILINE)


@pytest.fixture(autouse=True)
def in_a_copy_of_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text names files below the repository's root and writes to `build`."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)


def test_the_python_in_the_readme_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 3
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)


def test_the_python_of_running_compiled_graphs_runs(capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "running.md").read_text(), re.DOTALL)
    assert len(blocks) == 6
    for block in blocks:
        if "export_library" not in block or shutil.which("cc") is not None:
            exec(block, namespace)
    assert "weft.Executable\n  inputs:  x: tensor<1x64xf32>" in capsys.readouterr().out
    assert Path("build/perceptron-arm.weft").is_file()


def test_the_commands_in_the_readme_succeed(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(COMMANDS) >= 7
    for command in COMMANDS:
        tool, *arguments = shlex.split(command)
        main = import_module(f"weft.tools.{tool.replace('-', '_')}").main
        assert main(arguments) == 0, command
    shown = re.search(r"^out: [^=]*=\n(\[\[[^]]*\]\])", README, re.MULTILINE)
    printed = re.search(r"^out: [^=]*=\n(\[\[[^]]*\]\])", capsys.readouterr().out, re.MULTILINE)
    assert shown is not None and printed is not None
    numbers = [[float(n) for n in re.findall(r"[\d.]+", text[1])] for text in (shown, printed)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-4)


SHOWN = [block for block in re.findall(r"```console\n\$ (weft-opt .*?)```", README, re.DOTALL) if "\n " in block]
"""Commands with the lines of IR that they are shown to print."""


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: shown.splitlines()[0].split("=")[-1])
def test_the_ir_in_the_readme_is_what_is_printed(shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    """On a processor with vectors of 16 floats; `...` stands for what is left out."""
    command, *lines = shown.splitlines()
    _, *arguments = shlex.split(command)
    main = import_module("weft.tools.weft_opt").main
    assert main([*arguments, "--target=llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    pattern = ".*".join(re.escape(" ".join(piece.split())) for piece in "\n".join(lines).split("..."))
    assert re.search(pattern, text), text


def test_the_table_of_tools_has_their_flags(capsys: pytest.CaptureFixture[str]) -> None:
    rows = re.findall(r"^\| `(weft-\w+)([^`]*)` \|(.*)\|$", README, re.MULTILINE)
    tools = ["weft-opt", "weft-import", "weft-run", "weft-tune", "weft-cache", "weft-bench"]
    assert [tool for tool, _, _ in rows] == tools
    for tool, usage, does in rows:
        with pytest.raises(SystemExit) as done:
            raise SystemExit(import_module(f"weft.tools.{tool.replace('-', '_')}").main(["--help"]))
        assert done.value.code == 0
        text = capsys.readouterr().out
        for flag in re.findall(r"(?<![\w-])--?[a-z][\w-]*", f"{usage} {does}"):
            assert flag in text, f"{tool} {flag}"


@pytest.mark.parametrize("path", [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"])
def test_every_file_that_the_documentation_links_to_exists(path: Path) -> None:
    text = re.sub(r"`[^`\n]+`", "", path.read_text())  # in code, brackets are no links
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_every_page_of_the_documentation_is_linked_to() -> None:
    pages = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md") if not path.name.endswith(".in.md")}
    assert pages <= set(re.findall(r"\]\((docs/[^)#]+)", README))


def test_the_table_of_phases_lists_their_passes() -> None:
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|", (ROOT / "docs" / "architecture.md").read_text(), re.MULTILINE)
    listed = {
        phase: {name for name in re.split(r"[,\s]+", passes) if name} for phase, passes in rows if phase in PHASES
    }
    assert tuple(listed) == PHASES
    target = Target.parse("llvm -mcpu=icelake-server -mtriple=x86_64-unknown-linux-gnu")  # which sums products of bytes
    for phase in PHASES[:-1]:
        assert listed[phase] == {type(p).name for p in (*phase_passes(phase, target), *rest_passes(phase))}, phase
