"""Mutated `.mlir` files and pipelines: a tool ends in success or in a diagnostic, in time and within 4 GiB."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from mutate import Outcome, corpus, mutated_text, run_cases, run_tool

from weft.lowering.phases import PHASES
from weft.tools import weft_opt, weft_run
from weft.transforms.infra import all_passes, registry

TEXTS = corpus(Path(__file__).parents[1], "*.mlir")
PIECES = [piece for text in TEXTS for piece in text.split("// -----") if len(piece) < 6000]
PIPELINES = [
    "fuse-ops{max-depth=2}",
    "simplify-inference,fold-constant,fuse-ops",
    "builtin.module(relay.func(simplify-expr),fuse-ops{opt-level=1 link-params=true})",
    "any(canonicalize,cse),outline-primitives",
]


def test_mutated_modules_end_in_success_or_a_diagnostic(text_cases: range, tmp_path: Path) -> None:
    def run(case: int) -> None:
        rng = random.Random(case)
        path = tmp_path / "m.mlir"
        path.write_text(mutated_text(rng.choice(PIECES), PIECES, rng), "utf-8", "surrogatepass")
        match rng.randrange(4):
            case 0:
                run_tool(weft_opt.main, [str(path)])
            case 1:
                run_tool(weft_opt.main, [str(path), f"--compile-to={rng.choice(PHASES[1:-1])}"])
            case 2:
                run_tool(weft_opt.main, [str(path), "-p", rng.choice(pass_names())])
            case _:
                run_tool(weft_run.main, [str(path), "--threads", "1", "--quiet"])

    wrong = run_cases(text_cases, run)
    assert not wrong, f"{len(wrong)} of {len(text_cases)}:\n" + "\n".join(wrong[:20])


def pass_names() -> list[str]:
    """Those of Weft and xDSL: what other tests registered in this process may fail as it likes."""
    registered = registry._registered  # pyright: ignore[reportPrivateUsage]
    return sorted(set(all_passes()) - set(registered))


def test_mutated_pipelines_end_in_success_or_a_diagnostic(pipeline_cases: range, tmp_path: Path) -> None:
    path = tmp_path / "relu.mlir"
    path.write_text(
        "relay.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %y = relay.nn.relu %x : tensor<4xf32>\n  relay.return %y : tensor<4xf32>\n}\n"
    )

    def run(case: int) -> None:
        rng = random.Random(case)
        pipelines = [*PIPELINES, *rng.sample(pass_names(), 3)]
        text = mutated_text(rng.choice(pipelines), pipelines, rng)
        run_tool(weft_opt.main, [str(path), f"--pass-pipeline={text}"])

    wrong = run_cases(pipeline_cases, run)
    assert not wrong, f"{len(wrong)} of {len(pipeline_cases)}:\n" + "\n".join(wrong[:20])


def test_a_crash_a_hang_and_a_dead_process_are_found_out() -> None:
    """The harness itself."""

    def run(case: int) -> None:
        if case == 1:
            raise IndexError("a mistake")
        if case == 2:
            os._exit(3)

    wrong = run_cases(range(4), run)
    assert len(wrong) == 2 and "a mistake" in wrong[0] and wrong[1].startswith("case 2: the process ended")


def test_a_tool_may_wait_for_a_busy_machine_but_not_compute_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(arguments: Sequence[str]) -> int:
        time.sleep(0.5)
        return 0

    def compute(arguments: Sequence[str]) -> int:
        while True:
            pass

    monkeypatch.setattr("mutate.SECONDS", 0.2)
    assert run_tool(wait, []) == 0
    with pytest.raises(Outcome, match="still running"):
        run_tool(compute, [])
