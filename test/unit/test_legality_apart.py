"""Iterations that are shown never to meet, whatever the sizes are, do not at any size."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from xdsl.ir import SSAValue

from weft.dialects.support.parser import parse_module
from weft.dialects.tir.affine import substitute
from weft.dialects.tir.core import BlockOp, ForOp, PrimFuncOp, blocks_under
from weft.dialects.tir.legality.dependence import check_independence
from weft.dialects.tir.loops import enclosing_loops
from weft.dialects.tir.specialize import specialize, symbols_of
from weft.transforms.infra.registry import new_ir_context

FUNCTION = """
tir.prim_func @f(%y: memref<4096xf32>, %z: f32, %n: index, %m: index) {{
  tir.for %o = 0 to %m {{
    tir.for %i = 0 to {rows} {{
      tir.for %j = 0 to {first} {{
        tir.block @one(%v: spatial 4096) = [{one}]{where} reads() writes(%y[%v] : memref<4096xf32>) {{
          memref.store %z, %y[%v] : memref<4096xf32>
        }}
      }}
      tir.for %j = 0 to {second} {{
        tir.block @two(%v: spatial 4096) = [{two}] reads() writes(%y[%v] : memref<4096xf32>) {{
          memref.store %z, %y[%v] : memref<4096xf32>
        }}
      }}
    }}
  }}
}}
"""


SIZES = ((1, 1), (1, 3), (2, 2), (3, 1), (3, 4))
"""Those of %n and %m at which iterations are followed."""


def parsed(**given: str) -> PrimFuncOp:
    func = parse_module(FUNCTION.format(**{"where": "", **given}), new_ir_context()).body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


def places(block: BlockOp, depth: int) -> dict[tuple[int, ...], dict[int, set[int]]]:
    """The elements that a block writes: by the values of the loops outside of the one at `depth`, and by its."""
    (access,) = block.accesses()
    assert access.map is not None
    (index,) = [substitute(each, block.bindings.data.results) for each in access.map.results]
    loops = enclosing_loops(block)
    found: dict[tuple[int, ...], dict[int, set[int]]] = {}
    for point in product(*(range(loop.start, loop.start + loop.trip_count) for loop in loops)):
        at: dict[SSAValue, int] = {loop.var: value for loop, value in zip(loops, point, strict=True)}
        values = [at[v] for v in block.loop_vars]
        if all(condition.eval(values, []) >= 0 for condition in block.conditions):
            found.setdefault(point[:depth], {}).setdefault(point[depth], set()).add(index.eval(values, []))
    return found


def meet(func: PrimFuncOp) -> bool:
    """Whether two iterations of the loop over %i write one element."""
    first, second = (places(block, 1) for block in blocks_under(func))
    return any(
        i != other and not elements.isdisjoint(others)
        for outside, written in first.items()
        for i, elements in written.items()
        for side in (written, second.get(outside, {}))
        for other, others in side.items()
    ) or any(
        i != other and not elements.isdisjoint(others)
        for written in second.values()
        for i, elements in written.items()
        for other, others in written.items()
    )


def loop_of_rows(func: PrimFuncOp) -> ForOp:
    return enclosing_loops(blocks_under(func)[0])[1]


STRIDES = {"%n": "%n", "(%n + 1)": "%n", "(%n * 2)": "%n * 2", "(%n * %m)": "%n", "4": "3", "(%n - 1)": "%n"}
"""Distances of rows, and a length that most of them have room for."""


def index(random: Random, stride: str, offset: str) -> str:
    step = random.choice(["", "", "", "", "", " * 2", " * -1"])
    return f"%i * {stride} + %j{step}{offset}"


def random_function(random: Random) -> PrimFuncOp:
    stride, length = random.choice(list(STRIDES.items()))
    other = stride if random.random() < 0.9 else random.choice(list(STRIDES))
    offsets = random.choice([["", " + %n", " + %o * %n"], ["", " + 1"], [""], [""], [""]])
    lengths = [length, length, length, f"{length} + 1", "%n", "%m", "3"]
    return parsed(
        rows=random.choice(["3", "%m", "%n"]),
        first=random.choice(lengths),
        second=random.choice(lengths),
        one=index(random, stride, random.choice(offsets)),
        two=index(random, other, random.choice(offsets)),
        where=random.choice(["", "", "", " where [%n - %j - 2]"]),
    )


def test_iterations_that_are_shown_apart_are_apart_at_each_size() -> None:
    random = Random(5)
    shown, together = 0, 0
    for _ in range(80):
        func = random_function(random)
        is_shown = not any(check_independence(loop_of_rows(func)))
        known = [dict(zip([each.index for each in symbols_of(func)], sizes, strict=True)) for sizes in SIZES]
        meets = any(meet(specialize(func, sizes)) for sizes in known)
        assert not (is_shown and meets), str(func)
        shown += is_shown
        together += meets
    assert shown >= 8 and together >= 20, (shown, together)


@pytest.mark.parametrize(
    ("first", "second", "one", "two", "apart"),
    [
        ("%n", "%n", "%i * %n + %j", "%i * %n + %j", True),
        ("%n", "%n", "%i * %n + %j", "%i * %n + %j + 1", False),
        ("%n", "%n", "%i * %n + %j + 1", "%i * %n + %j", False),
        ("%n", "%n", "%i * (%n * 2) + %j", "%i * (%n * 2) + %j + %n", True),
        ("%n", "%n + 1", "%i * %n + %j", "%i * %n + %j", False),
        ("%n", "%n", "%i * %n + %j", "%i * %m + %j", False),
    ],
)
def test_rows_of_open_lengths_are_told_apart(first: str, second: str, one: str, two: str, apart: bool) -> None:
    func = parsed(rows="%m", first=first, second=second, one=one, two=two)
    assert (not any(check_independence(loop_of_rows(func)))) == apart
