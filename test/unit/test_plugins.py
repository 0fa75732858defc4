"""Mistakes of plug-ins are blamed on them, and stop only what needs them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
from warm_tool import warm_tool

ROOT = Path(__file__).parents[2]

UNIVERSE = """
from xdsl.universe import Universe
from weft.transforms.infra.passes import ModulePass

class BadPass(ModulePass):
    \"\"\"Does not work.\"\"\"
    name = "bad-pass"
    def apply(self, ctx, op):
        return [][1]

def dialect():
    from xdsl.dialects.builtin import TensorType
    from xdsl.ir import Dialect
    from xdsl.irdl import irdl_op_definition, operand_def, result_def
    from weft.dialects.relay.base import RelayOp

    class Mine(RelayOp):
        x = operand_def(TensorType)
        result = result_def(TensorType)
        assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    @irdl_op_definition
    class BareOp(Mine):
        name = "mine.bare"

    @irdl_op_definition
    class CrashOp(Mine):
        name = "mine.crash"
        def infer(self):
            raise KeyError("no such shape")

    @irdl_op_definition
    class IdleOp(Mine):
        name = "mine.idle"
        def infer(self):
            return [self.x.type]

    return Dialect("mine", [BareOp, CrashOp, IdleOp])

UNIVERSE = Universe(all_dialects={"mine": dialect}, all_passes={"bad-pass": lambda: BadPass})
"""

MODULE = """relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = OP %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.return %y : tensor<4xf32>
}
"""


def plugin(folder: Path, text: str, value: str = "my_plugin:UNIVERSE") -> None:
    """Install a package `my-plugin` into `folder`."""
    (folder / "my_plugin.py").write_text(text)
    info = folder / "my_plugin-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugin\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[xdsl.universe]\nmy-universe = {value}\n")


class WeftOpt(Protocol):
    """`weft-opt`, which finds what is installed into a folder."""

    def __call__(self, folder: Path, *arguments: str, text: str = "module {}") -> subprocess.CompletedProcess[str]: ...


@pytest.fixture(scope="module")
def weft_opt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeftOpt]:
    with warm_tool(tmp_path_factory.mktemp("streams")) as tool:

        def run(folder: Path, *arguments: str, text: str = "module {}") -> subprocess.CompletedProcess[str]:
            return tool(*arguments, path=[folder], text=text)

        yield run


def test_a_process_that_is_started_finds_a_plugin(tmp_path: Path) -> None:
    """As those below do, which are forked."""
    plugin(tmp_path, UNIVERSE)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "weft.tools.weft_opt", "-p", "bad-pass"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, input="module {}", capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 70 and "this is a mistake in my-plugin" in done.stderr


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("import nothing_of_the_kind", "my_plugin:UNIVERSE", "No module named 'nothing_of_the_kind'"),
        ("1 / 0", "my_plugin:UNIVERSE", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "my_plugin:UNIVERSE", "SystemExit: 3"),
        ("UNIVERSE = 3", "my_plugin:UNIVERSE", "it is int, and no xdsl.universe.Universe"),
        ("", "my_plugin:UNIVERSE", "has no attribute 'UNIVERSE'"),
        ("", "no_module:UNIVERSE", "No module named 'no_module'"),
    ],
)
def test_a_broken_plugin_is_named_and_the_tool_goes_on(
    text: str, value: str, reason: str, weft_opt: WeftOpt, tmp_path: Path
) -> None:
    plugin(tmp_path, text, value)
    done = weft_opt(tmp_path)
    assert done.returncode == 0 and "builtin.module" in done.stdout
    assert "my-plugin: my-universe = " in done.stderr and "warning" in done.stderr and reason in done.stderr


def test_a_crash_in_a_plugins_pass_is_blamed_on_the_plugin(weft_opt: WeftOpt, tmp_path: Path) -> None:
    plugin(tmp_path, UNIVERSE)
    done = weft_opt(tmp_path, "-p", "bad-pass")
    assert done.returncode == 70 and "mistake in Weft" not in done.stderr
    assert "the plug-in 'my-universe' failed: IndexError: list index out of range" in done.stderr
    assert "my_plugin.py:9:1: " in done.stderr and "this is a mistake in my-plugin" in done.stderr


@pytest.mark.parametrize(
    ("op", "code", "message"),
    [
        ("mine.crash", 70, "the plug-in 'my-universe' failed: KeyError: 'no such shape'"),
        ("mine.bare", 1, "'mine.bare': my_plugin.BareOp has no type relation: it lacks `infer`"),
        ("mine.idle", 1, "'mine.idle': cannot become a kernel: my_plugin.IdleOp lacks `compute`"),
    ],
)
def test_what_an_operator_of_a_plugin_lacks_is_said(
    op: str, code: int, message: str, weft_opt: WeftOpt, tmp_path: Path
) -> None:
    plugin(tmp_path, UNIVERSE)
    done = weft_opt(tmp_path, "--compile-to=loops", text=MODULE.replace("OP", op))
    assert (done.returncode, message in done.stderr) == (code, True), done.stderr


HALF = (
    UNIVERSE.replace(
        "UNIVERSE = Universe(",
        """def missing():
    import nothing_of_the_kind

UNIVERSE = Universe(""",
    )
    .replace('"bad-pass": lambda: BadPass', '"bad-pass": lambda: BadPass, "half-pass": missing')
    .replace('{"mine": dialect}', '{"mine": dialect, "half": missing}')
)


def test_a_pass_that_cannot_be_loaded_stops_only_who_asks_for_it(weft_opt: WeftOpt, tmp_path: Path) -> None:
    plugin(tmp_path, HALF)
    relu = MODULE.replace("OP %x : (tensor<4xf32>) ->", "relay.nn.relu %x : tensor<4xf32> //")
    done = weft_opt(tmp_path, "--compile-to=loops", text=relu)
    assert done.returncode == 0 and "scf.for" in done.stdout, done.stderr
    assert done.stderr.count("the plug-in cannot be loaded: ModuleNotFoundError") == 1
    assert "pass 'half-pass'" in done.stderr
    done = weft_opt(tmp_path, "-p", "half-pass")
    assert done.returncode == 70 and "this is a mistake in my-plugin" in done.stderr
    assert "the plug-in 'my-universe' failed: ModuleNotFoundError: No module named 'nothing_of_the_kind'" in done.stderr


@pytest.mark.parametrize("flag", ["--list-passes", "--show-dialects", "--explain=fuse-ops", "--help"])
def test_what_is_shown_does_not_stop_at_a_plugin_that_is_half_there(
    flag: str, weft_opt: WeftOpt, tmp_path: Path
) -> None:
    plugin(tmp_path, HALF)
    done = weft_opt(tmp_path, flag)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("lambda: BadPass", "lambda: BadPass()", "pass 'bad-pass': its function gives BadPass, and no subclass of"),
        ("lambda: BadPass", "lambda: Universe", "pass 'bad-pass': its function gives Universe, and no subclass of"),
        ("def apply(", "def aply(", "pass 'bad-pass': my_plugin.BadPass lacks `apply`"),
    ],
)
def test_what_is_no_pass_is_blamed_on_the_plugin(
    old: str, new: str, message: str, weft_opt: WeftOpt, tmp_path: Path
) -> None:
    plugin(tmp_path, UNIVERSE.replace(old, new))
    done = weft_opt(tmp_path, "-p", "bad-pass", text=MODULE.replace("OP", "relay.exp"))
    assert (done.returncode, message in done.stderr, "mistake in my-plugin" in done.stderr) == (70, True, True)
    listed = weft_opt(tmp_path, "--list-passes")
    assert listed.returncode == 0 and message in listed.stderr and "fuse-ops" in listed.stdout


def test_a_pass_that_says_nothing_of_itself_is_not_described_by_its_fields(weft_opt: WeftOpt, tmp_path: Path) -> None:
    silent = UNIVERSE.replace('    """Does not work."""\n', "    depth: int = 1\n").replace(
        "class", "@dataclass(frozen=True)\nclass", 1
    )
    plugin(tmp_path, f"from dataclasses import dataclass\n{silent}")
    listed = weft_opt(tmp_path, "--list-passes").stdout
    assert "bad-pass" in listed and "BadPass(" not in listed


def test_a_plugins_passes_are_listed_with_what_they_do(weft_opt: WeftOpt, tmp_path: Path) -> None:
    plugin(tmp_path, UNIVERSE)
    listed = weft_opt(tmp_path, "--list-passes").stdout
    assert "of plug-ins:\n  bad-pass  Does not work.\n" in listed, listed
    assert "bad-pass" not in listed[listed.index("of xDSL:") :]


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ('"bad-pass": lambda', '"fuse-ops": lambda', 0, "pass 'fuse-ops': warning: a plug-in brings one of this name"),
        ('{"mine": dialect}', '{"relay": dialect}', 0, "dialect 'relay': warning: a plug-in brings one of this name"),
        ('    name = "bad-pass"', '    name = "bad-pass"\n    joins_phase = "grahp"', 0, "did you mean 'graph'?"),
        ('    name = "bad-pass"', '    name = "bad-pass"\n    joins_after = "fuse-opz"', 0, "did you mean 'fuse-ops'"),
    ],
)
def test_what_a_plugin_gets_wrong_does_not_stop_who_needs_none_of_it(
    old: str, new: str, code: int, message: str, weft_opt: WeftOpt, tmp_path: Path
) -> None:
    assert old in UNIVERSE
    plugin(tmp_path, UNIVERSE.replace(old, new))
    relu = MODULE.replace("OP %x : (tensor<4xf32>) ->", "relay.nn.relu %x : tensor<4xf32> //")
    done = weft_opt(tmp_path, "--compile-to=tir", text=relu)
    assert (done.returncode, "tir.prim_func" in done.stdout) == (code, True), done.stderr
    assert done.stderr.count(message) == 1, done.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("return Dialect", "Dialect", "dialect 'mine': its function gives NoneType, and no xdsl.ir.Dialect"),
        ('"mine.crash"', '"mine.bare"', "dialect 'mine': several of its operations are called 'mine.bare'"),
        ("[self.x.type]", "self.x.type", "`infer` of my_plugin.IdleOp gives TensorType, not a list of a type for each"),
        ("[self.x.type]", "[self.x.type] * 2", "`infer` of my_plugin.IdleOp gives 2 types, not a list of a type"),
        (
            "def dialect():",
            "def dialect():\n    import broken",
            "broken.py:2:6: error: the plug-in 'my-universe' failed",
        ),
    ],
)
def test_what_a_plugin_gets_wrong_is_blamed_on_it(
    old: str, new: str, message: str, weft_opt: WeftOpt, tmp_path: Path
) -> None:
    assert old in UNIVERSE
    plugin(tmp_path, UNIVERSE.replace(old, new))
    (tmp_path / "broken.py").write_text("\nhalf (\n")
    done = weft_opt(tmp_path, text=MODULE.replace("OP", "mine.idle"))
    assert done.returncode in (1, 70) and message in done.stderr, done.stderr
    assert "mistake in Weft" not in done.stderr and "while this was parsed" not in done.stderr
