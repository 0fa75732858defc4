"""What a product of matrices streams by is copied side by side where its rows would take one another's place."""

from __future__ import annotations

import pytest
from te_samples import batch_matmul
from tir_run import Stage, assert_computes, prim_func
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32

from weft.dialects import te
from weft.dialects.support.machine_model import MachineModel
from weft.dialects.tir.core import AllocBufferOp, BlockOp, ForKind, PrimFuncOp, blocks_under, enclosing_loops
from weft.transforms.tir.loop_partition import LoopPartitionPass
from weft.transforms.tir.rules import packed_panels
from weft.transforms.tir.rules.registers import VectorRegisters
from weft.transforms.tir.schedule_rules import schedule_by_rules

pytestmark = pytest.mark.sampled(5)

SMALL = MachineModel(l1=1024, l1_ways=2, l2=32 << 10)
"""A cache of which rows 512 bytes apart share one place."""


def scheduled(stage: Stage, machine: MachineModel = SMALL) -> PrimFuncOp:
    func = prim_func(stage)
    schedule_by_rules(func, VectorRegisters(32, 16, machine))
    func.verify()
    LoopPartitionPass().apply(Context(), ModuleOp([func]))
    func.detach()
    return func


def copies(func: PrimFuncOp) -> list[BlockOp]:
    return [block for block in blocks_under(func) if block.block_name == "p1_local"]


@pytest.mark.parametrize(
    ("batch", "rows", "columns", "inner"),
    [(1, 60, 128, 16), (1, 67, 128, 16), (2, 60, 128, 8), (3, 57, 256, 5)],
)
def test_a_panel_is_copied_for_all_tiles_of_rows(batch: int, rows: int, columns: int, inner: int) -> None:
    stage = batch_matmul(batch, rows, columns, inner)
    func = scheduled(stage)
    (copy, *_) = copies(func)
    buffer = copy.writes[0].owner
    assert isinstance(buffer, AllocBufferOp) and buffer.scope.data == "local"
    outer, *_, lanes = enclosing_loops(copy)
    assert outer.for_kind == ForKind.PARALLEL and lanes.for_kind == ForKind.VECTORIZED
    assert any(block.block_name == "matmul" for block in blocks_under(outer))
    assert_computes(func, stage)


@pytest.mark.parametrize(
    ("rows", "columns", "inner", "machine"),
    [
        (12, 128, 16, SMALL),  # too few tiles of rows
        (60, 132, 16, SMALL),  # rows of the panel fall into all places
        (60, 128, 2, SMALL),  # few enough of them to stay
        (60, 16, 16, SMALL),  # too few panels to share
        (60, 128, 16, MachineModel(l1=1024, l1_ways=2, l2=1024)),  # no room for a copy
    ],
)
def test_a_panel_whose_copy_does_not_pay_is_read_where_it_lies(
    rows: int, columns: int, inner: int, machine: MachineModel
) -> None:
    stage = batch_matmul(1, rows, columns, inner)
    func = scheduled(stage, machine)
    assert not copies(func)
    assert_computes(func, stage)


def test_a_panel_in_many_pages_is_copied_for_few_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = batch_matmul(1, 24, 132, 16)
    assert not copies(scheduled(stage))
    monkeypatch.setattr(packed_panels, "MANY_PAGES", 2)
    func = scheduled(stage)
    assert copies(func)
    assert_computes(func, stage)


def test_a_panel_that_a_batch_shares_is_copied_once_for_it() -> None:
    x, w = te.placeholder((3, 24, 16), f32, "x"), te.placeholder((16, 128), f32, "w")
    k = te.reduce_axis(16, "k")
    matmul = te.compute((3, 24, 128), lambda b, i, j: te.sum(x[b, i, k] * w[k, j], k), "matmul")
    stage: Stage = ([x, w], [matmul])
    func = scheduled(stage)
    (copy,) = copies(func)
    assert len(enclosing_loops(copy)) <= 4  # columns, steps, vectors, lanes
    assert_computes(func, stage)
