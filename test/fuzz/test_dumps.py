"""Edited dumps of every phase: `weft-run` ends in a diagnostic, or computes what the interpreter of the phase does."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from dumps import GRAPHS, dumps, edited
from mutate import Outcome, run_cases, run_tool

from weft.interpreted import PHASES as INTERPRETED
from weft.tools import weft_run
from weft.tools.isolation import OPEN_PHASES

PHASES = (*INTERPRETED, "tir", "schedule", "memory", "loops", "llvm")
"""What is edited: `tir` more often, where most can be said."""


@cache
def texts(number: int) -> dict[str, str]:
    return dict(dumps(GRAPHS[number]))


def run_unedited(number: int, folder: Path) -> int:
    path = folder / "import.mlir"
    path.write_text(texts(number)["import"])
    return weft_run.main([str(path), "--threads", "3", "--quiet", *indices(number)])


def indices(number: int) -> list[str]:
    """Those that lie inside, where a graph takes any."""
    return ["--input", "i=3xi64=[4, 0, 2]"] if "%i" in GRAPHS[number] else []


def run(case: int, folder: Path) -> None:
    rng = random.Random(case)
    number, phase = case % len(GRAPHS), PHASES[case // len(GRAPHS) % len(PHASES)]
    path = folder / f"{phase}.mlir"
    path.write_text(edited(texts(number)[phase], rng))
    arguments = [str(path), "--threads", str(rng.choice((1, 3))), "--quiet", *indices(number)]
    if phase in INTERPRETED:
        arguments += ["--compare", "interpreter"]
    if phase in ("tir", "schedule"):
        arguments.append("--bounds-checks")
    try:
        run_tool(weft_run.main, arguments, wrong="differs from interpreter", has_child=phase in OPEN_PHASES)
    except Outcome as outcome:
        if phase in OPEN_PHASES and "still running" in str(outcome):
            return  # a loop that was made endless is what stands there
        raise Outcome(f"{phase}: {outcome}\n{path.read_text()}") from None


def test_edited_dumps_end_in_a_diagnostic_or_compute_what_they_say(dump_cases: range, tmp_path: Path) -> None:
    for number in range(len(GRAPHS)):
        assert run_unedited(number, tmp_path) == 0  # what all cases need is there then
    wrong = run_cases(dump_cases, lambda case: run(case, tmp_path))
    assert not wrong, f"{len(wrong)} of {len(dump_cases)}:\n" + "\n".join(wrong[:20])
