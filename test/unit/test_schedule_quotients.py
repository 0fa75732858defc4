"""`compute_at` where readers divide an index: only what an iteration reads is computed in it."""

from __future__ import annotations

import numpy as np
import pytest
from tvmscript_texts import function, only

from weft.dialects.tir.interpreter import Interpreter
from weft.tir import Schedule

GROUPS = """
@T.prim_func
def main(X: T.Buffer[({size},), "float32"], C: T.Buffer[({outer}, {inner}), "float32"]):
    B = T.alloc_buffer(({size},), "float32")
    for i in range({size}):
        with T.block("B"):
            vi = T.axis.spatial({size}, i)
            B[vi] = X[vi] * T.float32(2)
    for c, i in T.grid({outer}, {inner}):
        with T.block("C"):
            vc, vi = T.axis.remap("SS", [c, i])
            C[vc, vi] = B[(vc * {step} + vi + {start}) // {divisor}]
"""


@pytest.mark.parametrize(
    ("outer", "inner", "step", "start", "divisor"),
    [
        (2, 360, 360, 0, 16),
        (2, 360, 360, 5, 16),
        (4, 24, 24, 0, 16),
        (5, 7, 7, 3, 4),
        (3, 10, 25, 1, 10),
        (6, 32, 32, 0, 8),
        (7, 2, 3, 0, 5),
        (5, 40, 20, 0, 16),
    ],
)
def test_what_is_read_of_groups_is_computed_for_each_of_them(
    outer: int, inner: int, step: int, start: int, divisor: int
) -> None:
    size = ((outer - 1) * step + inner - 1 + start) // divisor + 1
    given = function(GROUPS.format(size=size, outer=outer, inner=inner, step=step, start=start, divisor=divisor))
    schedule = Schedule(given)
    block = schedule.get_block("B")
    schedule.compute_at(block, schedule.get_loops("C")[0])
    first = [(c * step + start) // divisor for c in range(outer)]
    last = [(c * step + start + inner - 1) // divisor for c in range(outer)]
    read = max(b - a + 1 for a, b in zip(first, last, strict=True))
    _, loop = schedule.get_loops(block)
    assert schedule.operation(loop).size in (read, read + 1)  # pyright: ignore
    assert schedule.operation(loop).size < size  # pyright: ignore
    x = np.arange(size, dtype=np.float32)
    (result,) = Interpreter(only(schedule))([x])
    index = (np.arange(outer)[:, None] * step + np.arange(inner)[None, :] + start) // divisor
    assert np.array_equal(result, 2 * x[index])
