"""Locks over forks of the process."""

import os
import subprocess
import sys

import pytest

CODE = """
import os, sys
from threading import Lock
from weft.dialects.support.forks import hold_over_forks

late, early = Lock(), Lock()
hold_over_forks(early)
registered = []
def begins():  # as a module that another thread imports while this one forks
    if not registered:
        registered.append(hold_over_forks(late))
os.register_at_fork(before=begins)
for _ in range(2):
    if (child := os.fork()) == 0:
        free = [lock.acquire(timeout=5) for lock in (late, early)]
        os._exit(0 if all(free) else 1)
    assert os.waitpid(child, 0)[1] == 0
assert not late.locked() and not early.locked()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_fork_that_had_begun_gives_back_no_lock_that_it_has_not_taken() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
