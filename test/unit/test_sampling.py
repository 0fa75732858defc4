"""`make test` takes a sample of tests that are many of a kind, and `make rest` all others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAMPLED = "test/unit/test_te_layouts.py"
"""A module of few tests, one in five of which is in the sample."""


def collected(*options: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "-p", "no:cacheprovider", *options, SAMPLED]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [line for line in told.splitlines() if "::" in line]


def test_each_test_is_in_the_sample_or_in_the_rest() -> None:
    everything, sample, rest = collected("-m", ""), collected(), collected("-m", "rest")
    assert sample == everything[::5] and sample
    assert sorted(sample + rest) == sorted(everything)
