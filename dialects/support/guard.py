"""What must not outlast this process, however it ends: files that are being made, and programs that make them.

    with guarded(folder) as guard:
        guard.run(["cc", "-c", "unit.c"], cwd=folder)

A process that is killed cannot clean up. So a shell waits beside it at the end of a pipe, as long as the block lasts.
The pipe closes without a word when this process dies, whatever of; the shell then ends the programs that the guard has
run, with all that they have started, and removes the path. Where there is no such shell, programs are run all the same.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from .knobs import environment_of_program

_SHELL = "/bin/sh"

_WAIT = """
trap '' HUP INT TERM
read -r word && [ "$word" = done ] && exit
kill -TERM 0
sleep 0.05
rm -rf -- "$1"
"""
"""What the shell does. The group that it ends is its own, which the programs are in; it ignores the signal itself."""


class Guard:
    """Runs programs that end with this process."""

    def __init__(self, group: int | None, folder: Path | None):
        self._group, self._folder = group, folder

    def run(
        self, words: Sequence[str], *, input: str | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program and wait for it; what it prints is kept. Standard input is `input`, or empty. Its own temporary
        files are in the guarded folder, if that is one: a compiler that is ended does not always remove them.

        Raises:
            OSError: it cannot be run.
        """
        return subprocess.run(
            words,
            stdin=subprocess.DEVNULL if input is None else None,
            input=input,
            cwd=cwd,
            env=None if self._folder is None else environment_of_program(TMPDIR=str(self._folder)),
            capture_output=True,
            text=True,
            check=False,
            process_group=self._group,
        )


@contextmanager
def guarded(path: Path | None = None) -> Generator[Guard]:
    """A guard for as long as the block lasts; if this process dies in it, `path` is removed, a file or a folder."""
    folder = path.absolute() if path is not None and path.is_dir() else None
    if os.name != "posix" or not os.access(_SHELL, os.X_OK):
        yield Guard(None, folder)
        return
    with subprocess.Popen(
        [_SHELL, "-c", _WAIT, "weft-guard", os.fspath(path.absolute()) if path is not None else ""],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
        bufsize=0,
    ) as shell:
        assert shell.stdin is not None
        finished = False
        try:
            yield Guard(shell.pid, folder)
            finished = True
        finally:
            if not finished:  # an interrupt, perhaps, which only this process has got
                _end_programs(shell.pid)
            with suppress(OSError):
                shell.stdin.write(b"done\n")


def _end_programs(group: int) -> None:
    """End all of the group but the shell, which ignores the signal."""
    with suppress(OSError):
        os.killpg(group, signal.SIGTERM)
