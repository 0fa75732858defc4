"""A factor that the vectors of a product read across is turned once, for all tiles of rows."""

from __future__ import annotations

import numpy as np
import pytest
from te_samples import batch_matmul, dense
from tir_run import Stage, assert_computes, prim_func
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, bf16, f16, f32, f64, i8, i32
from xdsl.ir import Attribute

import weft
from weft.dialects import te
from weft.dialects.support.machine_model import MachineModel
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import AllocBufferOp, BlockOp, ForKind, PrimFuncOp, blocks_under, enclosing_loops
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.loop_partition import LoopPartitionPass
from weft.transforms.tir.rules.registers import VectorRegisters
from weft.transforms.tir.schedule_rules import schedule_by_rules

pytestmark = pytest.mark.sampled(5)


def scheduled(stage: Stage, machine: MachineModel | None = None, bytes: int = 64) -> PrimFuncOp:
    func = prim_func(stage)
    schedule_by_rules(func, VectorRegisters(32, bytes, machine or MachineModel()))
    func.verify()
    LoopPartitionPass().apply(Context(), ModuleOp([func]))
    func.detach()
    return func


def copies(func: PrimFuncOp) -> list[BlockOp]:
    return [block for block in blocks_under(func) if block.block_name == "p1_global"]


def scope(copy: BlockOp) -> str:
    buffer = copy.writes[0].owner
    assert isinstance(buffer, AllocBufferOp)
    return buffer.scope.data


@pytest.mark.parametrize(
    ("bytes", "batch", "rows", "columns", "inner"),
    [(64, 1, 20, 128, 16), (32, 1, 4, 140, 37), (64, 2, 33, 129, 7), (16, 3, 57, 256, 5)],
)
def test_panels_are_turned_where_they_are_read(bytes: int, batch: int, rows: int, columns: int, inner: int) -> None:
    stage = batch_matmul(batch, rows, columns, inner, transposed=True)
    func = scheduled(stage, bytes=bytes)
    found = copies(func)
    assert found and {scope(copy) for copy in found} == {"local"}
    assert enclosing_loops(found[0])[-1].for_kind == ForKind.VECTORIZED
    for copy in found:
        outer = enclosing_loops(copy)[0]
        assert any(block.block_name == "matmul" for block in blocks_under(outer))
    assert_computes(func, stage)


@pytest.mark.parametrize(
    ("columns", "machine"),
    [(48, MachineModel()), (40, MachineModel()), (256, MachineModel(l1=1024, l1_ways=2, l2=1024))],
    ids=["few panels", "and a rest", "no room"],
)
def test_all_of_a_factor_is_turned_before_where_panels_cannot_be(columns: int, machine: MachineModel) -> None:
    stage = batch_matmul(1, 20, columns, 24, transposed=True)
    func = scheduled(stage, machine)
    found = copies(func)
    assert found and {scope(copy) for copy in found} == {"global"}
    for copy in found:
        outer, *_, lanes = enclosing_loops(copy)
        assert lanes.for_kind == ForKind.VECTORIZED
        assert not any(block.block_name == "matmul" for block in blocks_under(outer))
    assert_computes(func, stage)


@pytest.mark.parametrize(("inner", "shared"), [(680, False), (704, True)])
def test_threads_share_a_copy_where_there_is_enough_to_copy(inner: int, shared: bool) -> None:
    (copy, *_) = copies(scheduled(batch_matmul(1, 20, 48, inner, transposed=True)))
    assert (enclosing_loops(copy)[0].for_kind == ForKind.PARALLEL) is shared


@pytest.mark.parametrize(
    "stage",
    [
        batch_matmul(1, 3, 128, 16, transposed=True),  # few rows
        batch_matmul(1, 20, 12, 16, transposed=True),  # not a vector of columns
        batch_matmul(1, 20, 128, 16),  # side by side as it is
        batch_matmul(1, 20, 128, 1, transposed=True),
    ],
    ids=["rows", "columns", "not across", "no sums"],
)
def test_a_factor_that_need_not_be_turned_is_read_where_it_lies(stage: Stage) -> None:
    func = scheduled(stage)
    assert not copies(func)
    assert_computes(func, stage)


def test_a_factor_that_is_read_twice_is_left() -> None:
    x, w = te.placeholder((20, 16), f32, "x"), te.placeholder((128, 17), f32, "w")
    k = te.reduce_axis(16, "k")
    matmul = te.compute((20, 128), lambda i, j: te.sum(x[i, k] * (w[j, k] - w[j, k + 1]), k), "matmul")
    stage: Stage = ([x, w], [matmul])
    func = scheduled(stage)
    assert not copies(func)
    assert_computes(func, stage)


def test_a_batch_shares_what_is_turned() -> None:
    x, w = te.placeholder((3, 24, 16), f32, "x"), te.placeholder((160, 16), f32, "w")
    k = te.reduce_axis(16, "k")
    matmul = te.compute((3, 24, 160), lambda b, i, j: te.sum(x[b, i, k] * w[j, k], k), "matmul")
    stage: Stage = ([x, w], [matmul])
    func = scheduled(stage)
    (copy,) = copies(func)
    assert enclosing_loops(copy)[0].likely_trips == 5
    assert_computes(func, stage)


@pytest.mark.parametrize("type", [f16, bf16, f64, i8, i32], ids=str)
def test_factors_of_any_type_are_turned(type: Attribute) -> None:
    x, w = te.placeholder((20, 24), type, "x"), te.placeholder((256, 24), type, "w")
    k = te.reduce_axis(24, "k")
    total = f32 if type in (f16, bf16) else i32 if type == i8 else type
    matmul = te.compute((20, 256), lambda i, j: te.sum(x[i, k].astype(total) * w[j, k].astype(total), k), "matmul")
    stage: Stage = ([x, w], [matmul])
    func = scheduled(stage)
    assert copies(func)
    assert_computes(func, stage)


def test_a_dense_layer_of_two_inputs_and_what_follows_it() -> None:
    stage = dense(40, 136, 24)
    func = scheduled(stage)
    assert copies(func)
    assert_computes(func, stage)


def test_rows_may_be_open() -> None:
    source = """
relay.func @main(%x: tensor<?x24xf32>, %w: tensor<136x24xf32>) -> tensor<?x136xf32> {
  %0 = relay.nn.dense %x, %w {units = 136 : i64} : (tensor<?x24xf32>, tensor<136x24xf32>) -> tensor<?x136xf32>
  relay.return %0 : tensor<?x136xf32>
}
"""
    exe = weft.compile(parse_module(source, new_ir_context()))
    assert "@p1_global" in exe.ir["schedule"]
    generator = np.random.default_rng(0)
    w = generator.standard_normal((136, 24), np.float32)
    for rows in (1, 3, 17, 64):
        x = generator.standard_normal((rows, 24), np.float32)
        np.testing.assert_allclose(exe.run({"x": x, "w": w})["out"].astype(np.float32), x @ w.T, rtol=1e-4, atol=1e-4)
