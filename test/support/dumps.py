"""Dumps of small graphs at every phase, and editing them as a person does: numbers, operands, types, operations."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from native import parse
from tir_run import HOST

from weft.lowering.compiler import lower
from weft.lowering.phases import PHASES
from weft.transforms.infra.execution import run
from weft.transforms.infra.registry import get_pass_type
from weft.transforms.infra.sequential import Sequential

GRAPHS = (
    """relay.func @main(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) -> tensor<4x6xf32> {
  %0 = relay.nn.dense %x, %w : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  %1 = relay.nn.relu %0 : tensor<4x6xf32>
  %2 = relay.nn.softmax %1 : tensor<4x6xf32>
  relay.return %2 : tensor<4x6xf32>
}""",
    """relay.func @main(%x: tensor<2x9xi32>, %y: tensor<9xi32>) -> tensor<2xi32> {
  %0 = relay.floor_divide %x, %y : (tensor<2x9xi32>, tensor<9xi32>) -> tensor<2x9xi32>
  %1 = relay.maximum %0, %x : (tensor<2x9xi32>, tensor<2x9xi32>) -> tensor<2x9xi32>
  %2 = relay.sum %1 {axis = array<i64: 1>} : (tensor<2x9xi32>) -> tensor<2xi32>
  relay.return %2 : tensor<2xi32>
}""",
    """relay.func @main(%x: tensor<5x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  %0 = relay.take %x, %i {axis = 0, mode = "error"} : (tensor<5x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  %1 = relay.exp %0 : tensor<3x4xf32>
  relay.return %1 : tensor<3x4xf32>
}""",
)

MEMORY = ("outline-segments", "bufferize-graph", "elide-copies", "plan-memory")
"""The passes that lead from `schedule` to a graph over planned memory."""


def dumps(graph: str) -> Mapping[str, str]:
    """The texts of a graph at every phase but the last, and as `memory`, on its way from `schedule` to `loops`."""
    texts = {"import": graph}
    for phase in PHASES[1:-1]:
        module = parse(graph)
        lower(module, HOST, phase)
        texts[phase] = str(module)
        if phase == "schedule":
            run(Sequential([get_pass_type(name)() for name in MEMORY], name="memory"), module)
            texts["memory"] = str(module)
    return texts


_VALUE = re.compile(r"%[\w.]+")
_NUMBER = re.compile(r"(?<![\w%@.])-?\d+(?![\w.])")
_TYPE = re.compile(r"\b(?:f32|f64|f16|i1|i8|i32|i64|index)\b")
_EXTENT = re.compile(r"(?<=[<x])\d+(?=x)")
_WORDS = ("parallel", "vectorized", "unrolled", "spatial", "reduce", "global", "local")
_SWAPS = (
    ("arith.addi", "arith.subi"), ("arith.muli", "arith.divsi"), ("arith.divui", "arith.remui"),
    ("arith.maxsi", "arith.shli"), ("arith.addf", "arith.mulf"), ("memref.load", "memref.store"), ("slt", "sge"),
    ("floordiv", "mod"), ("llvm.add", "llvm.mul"),
)  # fmt: skip


def edited(text: str, rng: random.Random) -> str:
    """`text` with one to three edits."""
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        edit = rng.choice((_number, _value, _operation, _line) * 2 + (_type, _extent, _word))
        place = rng.randrange(len(lines))
        for turn in range(len(lines)):  # the next line to which the edit applies
            at = (place + turn) % len(lines)
            changed = edit(lines, at, rng)
            if changed is not None:
                lines[at : at + 1] = changed
                break
    return "\n".join(lines)


def _replaced(pattern: re.Pattern[str], line: str, rng: random.Random, choices: Sequence[str]) -> list[str] | None:
    found = list(pattern.finditer(line))
    if not found:
        return None
    match = rng.choice(found)
    others = [choice for choice in choices if choice != match.group()]
    return [line[: match.start()] + rng.choice(others) + line[match.end() :]] if others else None


def _number(lines: Sequence[str], at: int, rng: random.Random) -> list[str] | None:
    numbers = [int(text) for text in _NUMBER.findall(lines[at])]
    near = [str(n + step) for n in numbers for step in (-1, 1, 64)] + [str(2 * n) for n in numbers]
    return _replaced(_NUMBER, lines[at], rng, ["0", "1", "-1", "2", "7", "1000", *near])


def _value(lines: Sequence[str], at: int, rng: random.Random) -> list[str] | None:
    return _replaced(_VALUE, lines[at], rng, _VALUE.findall("\n".join(lines[max(0, at - 8) : at + 2])))


def _type(lines: Sequence[str], at: int, rng: random.Random) -> list[str] | None:
    return _replaced(_TYPE, lines[at], rng, ["f32", "f64", "i1", "i8", "i32", "i64", "index"])


def _extent(lines: Sequence[str], at: int, rng: random.Random) -> list[str] | None:
    return _replaced(_EXTENT, lines[at], rng, ["0", "1", "2", "3", "7", "8", "16", "64", "1000"])


def _word(lines: Sequence[str], at: int, rng: random.Random) -> list[str] | None:
    if "tir.for %" in lines[at] and rng.random() < 0.7:
        return [lines[at].replace("tir.for", f"tir.for {rng.choice(_WORDS[:3])}")]
    return _replaced(re.compile("|".join(rf"\b{word}\b" for word in _WORDS)), lines[at], rng, _WORDS)


def _operation(lines: Sequence[str], at: int, rng: random.Random) -> list[str] | None:
    swaps = [pair for both in _SWAPS for pair in (both, both[::-1]) if pair[0] in lines[at]]
    if not swaps:
        return None
    old, new = rng.choice(swaps)
    return [lines[at].replace(old, new)]


def _line(lines: Sequence[str], at: int, rng: random.Random) -> list[str] | None:
    """Gone, doubled, or before the line above it."""
    if not lines[at].strip() or lines[at].rstrip().endswith(("{", "}")):
        return None
    return rng.choice(([], [lines[at], lines[at]], [lines[at], lines[max(0, at - 1)]]))
