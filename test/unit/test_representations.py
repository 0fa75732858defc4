"""What Python shows of the objects that Weft hands out says what they are, and not where they lie in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft
from weft import te, tir

PERCEPTRON = Path(__file__).parents[2] / "examples" / "perceptron.mlir"


def added() -> list[te.Tensor]:
    a = te.placeholder((4,), name="a")
    return [a, te.compute((4,), lambda i: a[i] + 1, "b")]


def split() -> tir.Schedule:
    schedule = tir.Schedule(te.create_prim_func(added()))
    schedule.split(schedule.get_loops("b")[0], [None, 2])
    return schedule


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (te.create_schedule(added()[1].op), "te.Schedule(a, b)"),
        (split(), "tir.Schedule(@main, 3 instructions)"),
        (split().trace, "Trace(3 instructions)"),
        (weft.PassTimingInstrument(), "PassTimingInstrument()"),
        (weft.PassContext(opt_level=1), "PassContext(opt_level=1)"),
    ],
)
def test_an_object_shows_what_it_is(shown: object, text: str) -> None:
    assert repr(shown) == text


def test_what_was_compiled_shows_what_it_takes_and_gives() -> None:
    exe = weft.compile(PERCEPTRON, threads=1)
    assert repr(exe.ir) == "PhaseTexts(import, graph, fuse, tir, schedule, loops, llvm)"
    nodes = weft.compile(PERCEPTRON, threads=1, executor="graph")
    assert repr(nodes) == f"GraphModule(x -> out, {len(nodes.graph.nodes)} nodes)"
