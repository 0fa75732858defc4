"""What the garbage collector does not have to look through."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import gc
gc.disable()
{before}
from weft.dialects.support.garbage import modules_are_old
class Thing: pass
thing = Thing()
modules_are_old()
later = Thing()
modules_are_old()
old, young = gc.get_objects(generation=2), gc.get_objects(generation=0)
print(any(each is thing for each in old), any(each is later for each in young))
"""


def said(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(("before", "known"), [("", "True True"), ("gc.freeze()", "False True")], ids=["not", "frozen"])
def test_what_is_there_is_old_once_and_what_comes_later_is_young(before: str, known: str) -> None:
    assert said(SCRIPT.format(before=before)) == known


def test_a_compilation_does_not_end_with_a_look_through_the_compiler() -> None:
    """What modules hold are some hundred thousand objects; what compiling this leaves is less than half."""
    script = """
import gc, weft
young = []
gc.callbacks.append(lambda phase, _: phase == "start" and young.append(len(gc.get_objects(generation=0))))
weft.compile("examples/perceptron.mlir")
print(2 * max(young) < len(gc.get_objects()) > 100_000)
"""
    assert said(script) == "True"
