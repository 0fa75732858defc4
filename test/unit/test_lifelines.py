"""Processes that others have started end with these, at whatever work; where none can be started, nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support import knobs
from weft.dialects.support.diagnostics import as_diagnostic
from weft.lowering.machine.workers import NoWorkers, Workers

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")

WORK = """
import ctypes, os, sys, time
if {silent}:
    ctypes.CDLL(None).prctl(1, 0)
print(os.getpid(), file=sys.stderr, flush=True)
time.sleep(60)
"""
"""What a process does that was started; `silent` is whether the system does not tell it that its parent has died."""

MEASURING = """
class Work:
    def __reduce__(self):
        return exec, (WORK,)
from weft.tuning.measure import Child
child = Child()
child.begin()
child.connection.send(Work())  # and it never ends reading that
child.connection.recv()
"""
BUILDING = """
from weft.meta_schedule.isolated import work_apart
work_apart(lambda: exec(WORK), 60)
"""
RUNNING = """
from weft.tools.isolation import Isolated
class Executor:
    def run(self, inputs):
        exec(WORK)
Isolated(Executor(), "x.mlir", "loops").run({})
"""


STARTING = """
import os
from weft.tuning.measure import Child
os.environ["PYTHONPATH"] = "{path}"
child = Child()
child.connection.recv()
"""
"""Before `xdsl` is imported there comes what stands under that name on the path."""


def check_ends_with_its_parent(code: str) -> None:
    """Whether the process that a script starts, which tells its number, ends with that of the script."""
    parent = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert parent.stderr is not None
    child = int(parent.stderr.readline())
    assert child != parent.pid
    parent.kill()
    start = time.monotonic()
    parent.communicate(timeout=20)  # the child holds the pipe for as long as it lives
    assert time.monotonic() - start < 5 and parent.returncode == -signal.SIGKILL


@pytest.mark.parametrize("silent", [False, True], ids=["told", "silent"])
@pytest.mark.parametrize("code", [MEASURING, BUILDING, RUNNING], ids=["measuring", "building", "running"])
def test_a_process_ends_with_the_one_that_is_killed(code: str, silent: bool) -> None:
    check_ends_with_its_parent(f"WORK = {WORK.format(silent=silent)!r}\n{code}")


def test_a_process_that_still_imports_weft_ends_too(tmp_path: Path) -> None:
    package = tmp_path / "xdsl"
    package.mkdir()
    (package / "__init__.py").write_text(WORK.format(silent=False))
    check_ends_with_its_parent(STARTING.format(path=tmp_path))


def no_thread(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def one_process(fork: Callable[[], int]) -> Callable[[], int]:
    """A `fork` that works once."""
    left = [True]

    def limited() -> int:
        if not left:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        left.clear()
        return fork()

    return limited


@pytest.mark.parametrize("what", ["threads", "processes"])
def test_a_graph_is_compiled_where_the_system_gives_no(
    what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if what == "threads":
        monkeypatch.setattr(threading.Thread, "start", no_thread)
    else:
        monkeypatch.setattr(os, "fork", one_process(os.fork))
    x = relay.var("x", shape=(3,))
    with knobs.JOBS.set(3), knobs.CACHE_DIR.set(str(tmp_path)):
        exe = weft.compile(relay.Function([x], relay.exp(x)), opt_level=1)
    np.testing.assert_array_equal(exe(np.zeros(3, np.float32)), np.ones(3))


def test_tools_say_that_there_are_no_more_threads() -> None:
    told = as_diagnostic(RuntimeError("can't start new thread"))
    assert told is not None and told.message == "the system gives this process no more threads"
    assert as_diagnostic(RuntimeError("something else")) is None


def test_workers_that_were_forked_end_where_the_others_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    forked: list[int] = []
    fork = one_process(os.fork)

    def noted() -> int:
        process = fork()
        if process:
            forked.append(process)
        return process

    monkeypatch.setattr(os, "fork", noted)
    with pytest.raises(NoWorkers):
        Workers(3)
    (process,) = forked
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) in (1, -signal.SIGKILL)
