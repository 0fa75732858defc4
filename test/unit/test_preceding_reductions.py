"""A reduction whose result only another one reads, for the same element, is computed in its tiles."""

from __future__ import annotations

import pytest
from te_samples import softmax
from tir_run import Stage, assert_computes, prim_func
from xdsl.dialects.builtin import f32, i32

from weft.dialects import te
from weft.dialects.tir.core import BlockOp, ForKind, PrimFuncOp, blocks_under, enclosing_loops
from weft.transforms.tir.rules.registers import VectorRegisters
from weft.transforms.tir.schedule_rules import schedule_by_rules

pytestmark = pytest.mark.sampled(5)


def place_of_maximum(steps: int, *shape: int, also: bool = False) -> Stage:
    """The first place of the maximum along the first axis; `also` the maximum."""
    x = te.placeholder((steps, *shape), f32, "x")
    k, m = te.reduce_axis(steps, "k"), te.reduce_axis(steps, "m")
    most = te.compute(shape, lambda *i: te.reduce("max", x[(k, *i)], [k]), "most")

    def place(*i: te.IterVar) -> te.Expr:
        return te.reduce("min", te.select(x[(m, *i)] == most[i], te.cast(m, i32), te.const(steps - 1, i32)), [m])

    found = te.compute(shape, place, "place")
    return [x], [found, *([te.compute(shape, lambda *i: most[i] * 2.0, "twice")] if also else [])]


def scheduled(stage: Stage) -> PrimFuncOp:
    func = prim_func(stage)
    schedule_by_rules(func, VectorRegisters())
    func.verify()
    return func


def named(func: PrimFuncOp, name: str) -> BlockOp:
    return next(block for block in blocks_under(func) if block.block_name == name)


@pytest.mark.parametrize("shape", [(640,), (23, 32), (5, 37), (3, 7, 48)])
def test_both_are_done_tile_by_tile(shape: tuple[int, ...]) -> None:
    stage = place_of_maximum(40, *shape)
    func = scheduled(stage)
    (outer, *_, lanes), (other, *_) = (enclosing_loops(named(func, name)) for name in ("most", "place"))
    assert outer is other
    assert lanes.for_kind == ForKind.VECTORIZED
    assert_computes(func, stage)


def test_what_another_block_reads_too_is_computed_before() -> None:
    stage = place_of_maximum(40, 640, also=True)
    func = scheduled(stage)
    assert enclosing_loops(named(func, "most"))[0] is not enclosing_loops(named(func, "place"))[0]
    assert_computes(func, stage)


def test_rows_of_a_softmax_stay_rows() -> None:
    stage = softmax(12, 48)
    assert_computes(scheduled(stage), stage)
