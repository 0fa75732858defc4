"""Programs and files that are being made end with the process that has them made, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.dialects.support.guard import guarded

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the guard is a shell")


def becomes(condition: Callable[[], bool]) -> bool:
    """Whether a condition holds within a minute."""
    for _ in range(6000):
        if condition():
            return True
        time.sleep(0.01)
    return False


def is_gone(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def slow_compiler(folder: Path) -> Path:
    """A C compiler that says its number and that of a program it has started, and never ends; it makes files too."""
    compiler = folder / "cc"
    pids = folder / "pids"
    compiler.write_text(
        f"#!/bin/sh\ntouch $TMPDIR/made.s made.o\nsleep 300 &\necho $$ $! > {pids}.part\nmv {pids}.part {pids}\nwait\n"
    )
    compiler.chmod(0o755)
    return compiler


RUN = """
import os, tempfile
from pathlib import Path
from weft.dialects.support.guard import guarded
with tempfile.TemporaryDirectory() as folder, guarded(Path(folder)) as guard:
    guard.run([os.environ["CC"]], cwd=Path(folder))
"""
COMPILE = """
from weft.lowering.loops_to_c.compile import compile_c
from weft.lowering.machine.target import Target
compile_c("int f;", Target("c"))
"""
SAVE = """
import sys
from pathlib import Path
from weft.dialects.support.guard import guarded
with guarded(Path("half")), open("half", "w") as file:
    file.write("x")
    file.flush()
    Path("pids").write_text("")
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("code", "number"),
    [
        (RUN, signal.SIGKILL),
        (RUN, signal.SIGTERM),
        (RUN, signal.SIGABRT),
        (RUN, signal.SIGINT),
        (COMPILE, signal.SIGKILL),
    ],
    ids=["kill", "term", "abort", "interrupt", "compile"],
)
def test_a_killed_process_leaves_no_program_no_file_and_no_pipe(
    code: str, number: signal.Signals, tmp_path: Path
) -> None:
    compiler, temporary = slow_compiler(tmp_path), tmp_path / "tmp"
    temporary.mkdir()
    environment = {**os.environ, "CC": str(compiler), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=tmp_path
    )
    assert becomes((tmp_path / "pids").exists)
    programs = [int(word) for word in (tmp_path / "pids").read_text().split()]
    parent.send_signal(number)
    parent.communicate(timeout=10)  # a pipe that a compiler held would keep this waiting
    assert parent.returncode == -number
    assert all(becomes(lambda p=p: is_gone(p)) for p in programs)
    assert becomes(lambda: not list(temporary.iterdir()))


def test_a_killed_process_leaves_no_half_written_file(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    parent = subprocess.Popen([sys.executable, "-c", SAVE], stdin=subprocess.PIPE, env=environment, cwd=tmp_path)
    assert becomes((tmp_path / "pids").exists)
    parent.kill()
    parent.communicate(timeout=10)
    assert becomes(lambda: not (tmp_path / "half").exists())


def test_what_is_made_stays_where_the_block_ends(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with guarded(file) as guard:
        file.write_text("whole")
        done = guard.run(["cat"], input="said")
        assert (done.stdout, done.returncode) == ("said", 0)
        assert guard.run(["sh", "-c", "cat; pwd"], cwd=tmp_path).stdout.strip() == str(tmp_path)
    assert file.read_text() == "whole"


def test_what_a_failing_block_has_started_is_ended(tmp_path: Path) -> None:
    said = "0"
    with pytest.raises(RuntimeError), guarded() as guard:
        said = guard.run(["sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $!"]).stdout
        raise RuntimeError
    assert becomes(lambda: is_gone(int(said)))
