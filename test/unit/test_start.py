"""Where the commands begin: Ctrl-C while Python imports what they need, or where it can raise nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import tomllib
from pathlib import Path

from weft.tools import start

PROJECT = Path(__file__).parents[2] / "pyproject.toml"

INTERRUPTS_ITSELF = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from weft.tools.start import weft_opt

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(20)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "weft.{module}":
            {what}

class Attribute:
    def __set_name__(self, owner, name):
        interrupt()

class Dropped:
    def __del__(self):
        interrupt()

sys.meta_path.insert(0, Finder())
sys.argv = ["weft-opt", "--version"]
sys.exit(weft_opt())
"""


def interrupted(module: str, what: str) -> tuple[int, str, str]:
    """How `weft-opt --version` ends that does something as it imports a module."""
    code = INTERRUPTS_ITSELF.format(module=module, what=what)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


def test_every_command_begins_there() -> None:
    scripts = tomllib.loads(PROJECT.read_text())["project"]["scripts"]
    assert scripts == {name: f"weft.tools.start:{name.replace('-', '_')}" for name in scripts}
    assert all(callable(getattr(start, name.replace("-", "_"))) for name in scripts)


def test_an_interrupt_while_the_tool_is_imported_shows_no_traceback() -> None:
    assert interrupted("dialects.support.diagnostics", "interrupt()") == (130, "", "")


def test_an_interrupt_while_the_tool_runs_shows_no_traceback() -> None:
    assert interrupted("tools.information", "interrupt()") == (130, "", "")


def test_an_interrupt_while_a_class_is_made_shows_no_error() -> None:
    assert interrupted("tools.information", 'type("Made", (), {"attribute": Attribute()})') == (130, "", "")


def test_python_looks_for_no_garbage_behind_the_end_of_a_tool() -> None:
    told = "import atexit, gc; atexit.register(lambda: print(gc.get_count()[0] < gc.get_freeze_count()))"
    assert interrupted("tools.information", told)[1].splitlines()[-1] == "True"


def test_an_interrupt_where_nothing_can_be_raised_ends_the_tool() -> None:
    assert interrupted("tools.information", "Dropped()") == (130, "", "")


def test_a_tool_that_is_not_interrupted_ends_as_it_ends() -> None:
    code, output, errors = interrupted("tools.information", "pass")
    assert (code, errors) == (0, "") and output.startswith("weft")


def test_a_second_interrupt_ends_the_process_at_once() -> None:
    code = "import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from weft.tools.start import weft; sys.argv = ['weft', '--version']; weft(); os.kill(os.getpid(), 2)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGINT and done.stderr == b""
