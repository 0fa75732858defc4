"""Tools whose standard streams are closed, or lead to a full device."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = f"{sys.executable} -m weft.tools"
pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (
            f"{TOOL}.weft_opt examples/perceptron.mlir > /dev/full",
            1,
            "<stdout>: error: cannot be written: no space left",
        ),
        (
            f"{TOOL}.weft_run examples/perceptron.mlir > /dev/full",
            1,
            "<stdout>: error: cannot be written: no space left",
        ),
        (f"{TOOL}.weft_opt examples/perceptron.mlir >&-", 1, "<stdout>: error: cannot be written: it is closed"),
        (f"{TOOL}.weft_run examples/perceptron.mlir >&-", 1, "<stdout>: error: cannot be written: it is closed"),
        (f"{TOOL}.weft_opt --list-passes >&-", 1, "<stdout>: error: cannot be written: it is closed"),
        (f"{TOOL}.weft_opt <&-", 1, "<stdin>: error: cannot be read: it is closed"),
        (f"{TOOL}.weft_opt nowhere.mlir 2>&-", 1, ""),
    ],
)
def test_a_stream_that_takes_nothing_is_told_and_no_crash(
    command: str, code: int, message: str, tmp_path: Path
) -> None:
    """In a newcomer's environment, where Python holds its output back (no `PYTHONUNBUFFERED`)."""
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=120, env=environment)
    assert (done.returncode, done.stderr.count("\n")) == (code, bool(message)) and message in done.stderr
