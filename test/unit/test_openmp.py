"""How OpenMP's library is loaded: its threads sleep when they wait, unless the environment says otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from ctypes.util import find_library

import pytest

LOADS = """
import os
from weft.runtime.openmp import load_for
before = dict(os.environ)
load_for([b"... GOMP_parallel ..."])
assert dict(os.environ) == before
"""


@pytest.mark.skipif(find_library("gomp") is None, reason="GCC's library of OpenMP is not installed")
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({}, "OMP_WAIT_POLICY = 'PASSIVE'"),
        ({"OMP_WAIT_POLICY": "active"}, "OMP_WAIT_POLICY = 'ACTIVE'"),
        ({"GOMP_SPINCOUNT": "500"}, "GOMP_SPINCOUNT = '500'"),
    ],
    ids=["nothing", "policy", "count"],
)
def test_threads_sleep_when_they_wait_unless_the_environment_says_how(said: dict[str, str], shown: str) -> None:
    left = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    environment = {**left, "OMP_DISPLAY_ENV": "verbose", **said}
    done = subprocess.run([sys.executable, "-c", LOADS], env=environment, capture_output=True, text=True, check=True)
    assert shown in done.stderr
