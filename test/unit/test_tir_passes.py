"""Passes from `tir` to `tir` that the compiler does not run by itself: what they make computes the same."""

from __future__ import annotations

import numpy as np
import pytest
from te_samples import dense, softmax
from tir_run import Stage, assert_computes, prim_func
from tvmscript_texts import function as script
from xdsl.dialects.builtin import ModuleOp

from weft import PassContext
from weft.dialects.tir.core import ForKind, ForOp, PrimFuncOp, blocks_under
from weft.tir import Interpreter, Schedule
from weft.transform import get_pass
from weft.transforms.infra.errors import ConfigError
from weft.transforms.infra.remarks import collect

STAGES: dict[str, Stage] = {"dense": dense(4, 6, 5), "softmax": softmax(3, 4)}


def loops(func: PrimFuncOp) -> list[ForOp]:
    return [op for op in func.walk() if isinstance(op, ForOp)]


def function(module: ModuleOp) -> PrimFuncOp:
    func = module.body.block.first_op
    assert isinstance(func, PrimFuncOp)
    return func


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("explicit", [True, False])
def test_unrolled_loops_compute_the_same(name: str, explicit: bool) -> None:
    module = ModuleOp([prim_func(STAGES[name])])
    options = {"auto_max_step": 24, "explicit_unroll": explicit}
    with PassContext(config={"tir.UnrollLoop": options}):
        func = function(get_pass("UnrollLoop")(module))
    if explicit:
        assert len(blocks_under(func)) > len(blocks_under(function(module)))
    else:
        assert ForKind.UNROLLED in {loop.for_kind for loop in loops(func)}
    assert_computes(func, STAGES[name], threads=[2])


@pytest.mark.parametrize(
    ("passes", "options"),
    [
        (["UnrollLoop"], {"auto_max_step": 9}),
        (["LoopPartition"], {}),
        (["LowerInitBlock", "ConvertBlocksToOpaque", "LowerOpaqueBlock", "LoopPartition"], {}),
    ],
)
def test_what_an_iteration_leaves_to_the_next_in_a_private_buffer_stays_there(
    passes: list[str], options: dict[str, int]
) -> None:
    hint = {"pragma_loop_partition_hint": 1} if len(passes) > 1 else {}
    func = script(f"""
@T.prim_func
def f(A: T.Buffer[(4, 3), "float32"], B: T.Buffer[(4,), "float32"], C: T.Buffer[(4, 3), "float32"]):
    t = T.alloc_buffer((4,), "float32", scope="local")
    for i in range(4):
        for k in T.serial(3, annotations={hint}):
            with T.block("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    t[vi] = T.float32(0)
                t[vi] = t[vi] + A[vi, vk]
            with T.block("two"):
                vi = T.axis.spatial(4, i)
                T.where(k < 2)
                B[vi] = t[vi]
            with T.block("all"):
                vi, vk = T.axis.remap("SS", [i, k])
                C[vi, vk] = t[vi]
""")
    module = ModuleOp([func])
    for name in passes:
        module = get_pass(name, **options)(module)
    made = function(module)
    made.verify()
    assert len(blocks_under(made)) > 3
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    two, all = Interpreter(made)([x])
    np.testing.assert_array_equal(two, x[:, :2].sum(1))
    np.testing.assert_array_equal(all, x.cumsum(1))


def test_private_buffers_of_unrolled_loops_are_each_iterations_own() -> None:
    schedule = Schedule(prim_func(STAGES["dense"]))
    block, relu = schedule.get_block("dense"), schedule.get_block("relu")
    outer, rows = schedule.split(schedule.get_loops(relu)[0], [2, 2])
    schedule.compute_at(block, rows)
    schedule.set_scope(block, 0, "local")
    schedule.unroll(rows)
    func = function(get_pass("UnrollLoop")(schedule.mod))
    assert len(loops(func)) == 1 + 2 * 3  # two rows, of which each is a sum and what follows it
    assert str(func).count('tir.alloc_buffer "local"') == 2
    assert_computes(func, STAGES["dense"])
    schedule.unroll(outer)
    with collect() as remarks:
        func = function(get_pass("UnrollLoop")(schedule.mod))
    assert len(loops(func)) == 1 + 2 * 3
    assert [each.message for each in remarks if "not written out" in each.message]
    assert_computes(func, STAGES["dense"])


def test_options_of_a_pass_are_configured_by_themselves_or_all_at_once() -> None:
    module = ModuleOp([prim_func(STAGES["dense"])])
    for config in ({"tir.UnrollLoop.auto_max_extent": 5}, {"tir.UnrollLoop": {"auto_max_extent": 5}}):
        with PassContext(config=config):
            func = function(get_pass("UnrollLoop")(module))
        assert len(loops(func)) < len(loops(function(module)))
    with pytest.raises(ConfigError, match=r"tir.UnrollLoop.auto_max_extend"):
        PassContext(config={"tir.UnrollLoop": {"auto_max_extend": 5}})
    with pytest.raises(ConfigError, match="has type int"):
        PassContext(config={"tir.UnrollLoop": {"auto_max_extent": "five"}})
    with pytest.raises(ValueError, match="'auto-max-step' must be at least 0"):
        get_pass("UnrollLoop", auto_max_step=-1)


def test_without_parallel_loops_the_result_is_the_same() -> None:
    schedule = Schedule(prim_func(STAGES["softmax"]))
    for block in blocks_under(function(schedule.mod)):
        schedule.parallel(schedule.get_loops(schedule.get_block(block.block_name))[0])
    kinds = {loop.for_kind for loop in loops(function(schedule.mod))}
    func = function(get_pass("ConvertForLoopsToSerial")(schedule.mod))
    assert ForKind.PARALLEL in kinds and {loop.for_kind for loop in loops(func)} == {ForKind.SERIAL}
    assert_computes(func, STAGES["softmax"])
