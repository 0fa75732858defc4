"""Design spaces under TVM's names: every design of the rules, postprocessed, computes what the function says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest
from tvmscript_texts import function, only

import weft
from weft import meta_schedule as ms
from weft import te
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.tir.core import BlockOp, ForKind, ForOp, PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.kernel import build_kernel
from weft.tir import BlockRV, Schedule, ScheduleError, Trace
from weft.transforms.infra.execution import run
from weft.transforms.tir.inject_virtual_thread import InjectVirtualThreadPass
from weft.transforms.tir.lower_cross_thread_reduction import LowerCrossThreadReductionPass
from weft.transforms.tir.thread_sync import ThreadSyncPass

PRODUCT = """
@T.prim_func
def main(A: T.Buffer[(16, 32), "float32"], B: T.Buffer[(32, 24), "float32"], D: T.Buffer[(16, 24), "float32"]):
    half = T.alloc_buffer((32, 24), "float32")
    C = T.alloc_buffer((16, 24), "float32")
    for k, j in T.grid(32, 24):
        with T.block("half"):
            vk, vj = T.axis.remap("SS", [k, j])
            half[vk, vj] = B[vk, vj] * T.float32(0.5)
    for i, j, k in T.grid(16, 24, 32):
        with T.block("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * half[vk, vj]
    for i, j in T.grid(16, 24):
        with T.block("relu"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
"""

SEEDS = (3, 6)
"""Of designs with as many threads as are asked for."""

FEW = """
@T.prim_func
def main(A: T.Buffer[(4, 256), "float32"], C: T.Buffer[(4,), "float32"]):
    for i, k in T.grid(4, 256):
        with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
"""


def context(text: str, *rules: ms.ScheduleRule, seed: int = 0) -> ms.TuneContext:
    given = ms.space_generator.PostOrderApply(sch_rules=list(rules) or None, seed=seed)
    return ms.TuneContext(function(text), "llvm --num-cores=4", given)


def loops(schedule: Schedule, kind: ForKind) -> list[ForOp]:
    return [op for op in only(schedule).walk() if isinstance(op, ForOp) and op.for_kind is kind]


@pytest.mark.parametrize("text", [PRODUCT, FEW])
def test_each_design_computes_the_same_and_is_done_again_from_its_trace(text: str) -> None:
    random = np.random.default_rng(1)
    shapes = [(16, 32), (32, 24)] if text is PRODUCT else [(4, 256)]
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    (expected,) = Interpreter(function(text))(arrays, None)
    numbers = 0
    for seed in range(3):
        asked = context(text, seed=seed)
        designs = asked.generate_design_space()
        numbers += len(designs)
        for design in designs:
            assert asked.postprocess(design)
            (found,) = Interpreter(only(design))(arrays, None)
            assert np.allclose(cast(Any, found), cast(Any, expected), rtol=1e-4, atol=1e-4)
            again = Schedule(function(text))
            Trace.from_json(design.trace.as_json()).apply_to_schedule(again)
            assert str(again.mod) == str(design.mod)
        kernel = build_kernel(only(designs[-1]), start="schedule", codegen_level=1)
        (found,) = kernel(*arrays)
        assert np.allclose(cast(Any, found), cast(Any, expected), rtol=1e-4, atol=1e-4)
    assert numbers == 9


@pytest.mark.parametrize(("text", "seeds"), [(PRODUCT, SEEDS), (FEW, range(2))])
def test_designs_for_threads_compute_the_same(text: str, seeds: Sequence[int]) -> None:
    random = np.random.default_rng(2)
    shapes = [(16, 32), (32, 24)] if text is PRODUCT else [(4, 256)]
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    (expected,) = Interpreter(function(text))(arrays, None)
    taken = 0
    for seed in seeds:
        given = ms.space_generator.PostOrderApply(seed=seed)
        asked = ms.TuneContext(function(text), "cuda", given)
        for design in asked.generate_design_space():
            if not asked.postprocess(design):
                continue
            taken += 1
            assert "cooperative_fetch" not in str(design.mod)
            for each in (InjectVirtualThreadPass(), LowerCrossThreadReductionPass(), ThreadSyncPass()):
                run(each, design.mod)
            (found,) = Interpreter(only(design))(arrays, None)
            assert np.allclose(cast(Any, found), cast(Any, expected), rtol=1e-4, atol=1e-4)
    assert taken


def test_a_rule_of_ones_own_and_a_filter_choose_blocks() -> None:
    seen: list[str] = []

    class Parallel(ms.ScheduleRule):
        def apply(self, sch: Schedule, block: BlockRV) -> list[Schedule]:
            op = sch.operation(block)
            if not isinstance(op, BlockOp):
                return [sch]
            seen.append(op.block_name)
            other = sch.copy()
            other.parallel(other.get_loops(op.block_name)[0])
            return [sch, other]

    given = ms.space_generator.PostOrderApply(
        f_block_filter=lambda op: getattr(op, "block_name", "root") in ("relu", "half"), sch_rules=[Parallel()]
    )
    designs = ms.TuneContext(function(PRODUCT), space_generator=given).generate_design_space()
    assert [len(loops(each, ForKind.PARALLEL)) for each in designs] == [2, 1, 1, 0]
    assert seen == ["relu", "half", "half"]


def test_a_function_gives_designs() -> None:
    def tiled(schedule: Schedule) -> None:
        loop = schedule.get_loops(schedule.get_block("sum"))[1]
        schedule.split(loop, schedule.sample_perfect_tile(loop, 2))

    (design,) = ms.TuneContext(function(FEW), space_generator=tiled).generate_design_space()
    assert [inst.kind.name for inst in design.trace.insts] == ["GetBlock", "GetLoops", "SamplePerfectTile", "Split"]


def test_words_on_the_root_block_are_carried_out() -> None:
    rule = ms.schedule_rule.ParallelizeVectorizeUnroll(max_jobs_per_core=4, max_vectorize_extent=16)
    asked = context(PRODUCT, rule)
    (design,) = asked.generate_design_space()
    assert "meta_schedule.parallel = 16" in str(design.mod) and "meta_schedule.vectorize = 16" in str(design.mod)
    assert ms.postproc.RewriteParallelVectorizeUnroll().apply(design)
    assert "meta_schedule" not in str(design.mod)
    assert [loop.size for loop in loops(design, ForKind.PARALLEL)] == [32, 16 * 24, 16 * 24]


def test_rules_that_cannot_be_are_refused() -> None:
    with pytest.raises(UsageError, match="of S and R"):
        ms.schedule_rule.MultiLevelTiling("SXR")
    with pytest.raises(UsageError, match="levels of SSRSRS are 1 to 6"):
        ms.schedule_rule.MultiLevelTiling("SSRSRS", reuse_write=ms.schedule_rule.ReuseType("may", [7], "global"))
    with pytest.raises(UsageError, match="no schedule rules for 'hexagon'"):
        ms.ScheduleRule.create("hexagon")
    with pytest.raises(UsageError, match="no postprocessors for 'hexagon'"):
        ms.Postproc.create("hexagon")
    with pytest.raises(UsageError, match="a mapping from Mutator to float"):
        ms.space_generator.PostOrderApply(mutator_probs=cast(Any, {"tile": 0.5}))


def test_a_location_that_is_no_more_is_the_next_one_outside() -> None:
    schedule = Schedule(function(PRODUCT))
    schedule.sample_compute_location("half", decision=7)
    assert schedule.trace.insts[-1].decision == 1  # the loop over k reduces, and has no spatial loop in it
    schedule.sample_compute_location("product", decision=-2)  # a reduction is not inlined: it stays
    assert schedule.trace.insts[-1].decision == -1
    with pytest.raises(ScheduleError, match="cannot be computed at location -3"):
        schedule.sample_compute_location("half", decision=-3)


def test_locations_are_those_that_gain_something() -> None:
    schedule = Schedule(function(PRODUCT))
    i, j, k = schedule.get_loops("product")
    i_0, i_1 = schedule.split(i, [4, 4])
    j_0, j_1 = schedule.split(j, [1, 24])
    k_0, k_1 = schedule.split(k, [8, 4])
    schedule.reorder(i_0, j_0, k_0, i_1, j_1, k_1)
    found: set[object] = set()
    for seed in range(40):
        schedule.seed(seed)
        schedule.sample_compute_location("half")
        found.add(schedule.trace.insts[-1].decision)
    # j_0 has one iteration; i_1 and j_1 are in k_0, which reduces; k_1 has no spatial loop in it.
    assert found == {-2, -1, 0, 2}


def test_an_annotation_has_a_sampled_value_which_its_trace_redraws() -> None:
    schedule = Schedule(function(FEW))
    steps = schedule.sample_categorical([3, 5], [0.5, 0.5], decision=0)
    schedule.annotate(schedule.get_block("root"), "steps", steps)
    assert "steps = 3" in str(schedule.mod)
    again = Schedule(function(FEW))
    changed = schedule.trace.with_decision(schedule.trace.insts[0], 1)
    Trace.from_json(changed.as_json()).apply_to_schedule(again)
    assert "steps = 5" in str(again.mod)
    again.unannotate(again.get_block("root"), "steps")
    assert "steps" not in str(again.mod)


DOTS = """
@T.prim_func
def main(A: T.Buffer[(16, 32), "uint8"], B: T.Buffer[(4, 8, 16, 4), "int8"], C: T.Buffer[(16, 64), "int32"]):
    for i, j, k in T.grid(16, 64, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "int32") * T.cast(B[vj // 16, vk // 4, vj % 16, vk % 4], "int32")
"""


def test_dot_products_stand_in_the_tiles_of_what_they_compute() -> None:
    random = np.random.default_rng(3)
    arrays = [
        random.integers(0, 256, (16, 32)).astype(np.uint8),
        random.integers(-128, 128, (4, 8, 16, 4)).astype("i1"),
    ]
    (expected,) = Interpreter(function(DOTS))(arrays, None)
    asked = ms.TuneContext(function(DOTS), "llvm -mcpu=cascadelake -num-cores=2", rand_state=1)
    designs = asked.generate_design_space()
    assert len(designs) == 3, "with a copy of what is written in two places, and without"
    for design in designs:
        assert asked.postprocess(design)
        text = str(design.mod)
        assert "tir.dot" in text and "tensorize" not in text and loops(design, ForKind.PARALLEL)
        (init,) = [op for op in only(design).walk() if isinstance(op, BlockOp) and op.block_name == "C_init"]
        around = init.parent_op()
        assert isinstance(around, ForOp) and around.for_kind is ForKind.VECTORIZED
        assert np.array_equal(cast(Any, Interpreter(only(design))(arrays, None)[0]), cast(Any, expected))
    (found,) = build_kernel(only(designs[0]), start="schedule", codegen_level=1)(*arrays)
    assert np.array_equal(found, cast(Any, expected))


REUSED = PRODUCT.replace(
    "            D[vi, vj] = T.max(C[vi, vj], T.float32(0))",
    """            C[vi, vj] = T.max(C[vi, vj], T.float32(0))
    for i, j in T.grid(16, 24):
        with T.block("out"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj]""",
)
"""What the product is written to is written once more, in place."""


@pytest.mark.parametrize(("req", "tiled"), [("may", True), ("must", False)])
def test_what_is_written_twice_is_tiled_without_a_copy(req: str, tiled: bool) -> None:
    rule = ms.schedule_rule.MultiLevelTiling("SSRSRS", reuse_write=ms.schedule_rule.ReuseType(req, [1, 2], "global"))
    (design,) = context(REUSED, rule).generate_design_space()
    assert bool(design.trace.simplified().insts) is tiled
    assert "product_" not in str(design.mod)


def test_what_an_intrinsic_does_not_compute_is_tiled_without_it() -> None:
    rule = ms.schedule_rule.MultiLevelTilingWithIntrin("dot_16x4_vnni", "SSRSRS")
    (design,) = context(PRODUCT, rule).generate_design_space()
    assert not design.trace.simplified().insts
    with pytest.raises(ValueError, match="there is no tensor intrinsic dot_17x4"):
        ms.schedule_rule.MultiLevelTilingWithIntrin("dot_17x4", "SSRSRS")
    with pytest.raises(UsageError, match="the structure of tiles is of S and R"):
        ms.schedule_rule.MultiLevelTilingWithIntrin("dot_16x4_vnni", "SX")


def test_a_product_of_one_sample_is_tiled_with_loops_over_it_and_without() -> None:
    text = """
@T.prim_func
def main(A: T.Buffer[(1, 16, 32), "float32"], B: T.Buffer[(32, 24), "float32"], C: T.Buffer[(1, 16, 24), "float32"]):
    for i, j, k in T.grid(16, 24, 32):
        with T.block("product"):
            vb = T.axis.spatial(1, 0)
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vb, vi, vj] = T.float32(0)
            C[vb, vi, vj] = C[vb, vi, vj] + A[vb, vi, vk] * B[vk, vj]
"""
    a, b = te.placeholder((1, 16, 32), name="A"), te.placeholder((32, 24), name="B")
    k = te.reduce_axis((0, 32), name="k")
    c = te.compute((1, 16, 24), lambda n, i, j: te.sum(a[n, i, k] * b[k, j], axis=k), name="C")
    with_loop = te.create_prim_func([a, b, c])
    without = function(text)
    random = np.random.default_rng(2)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in ((1, 16, 32), (32, 24))]
    for given, tiles in ((without, 3), (with_loop, 4)):
        designs = ms.TuneContext(given, "llvm --num-cores=4").generate_design_space()
        assert len(designs) == 3
        for design in designs:
            kinds = [each.kind.name for each in design.trace.insts]
            assert kinds.count("SamplePerfectTile") == tiles
            (found,) = Interpreter(only(design))(arrays, None)
            assert np.allclose(cast(Any, found), arrays[0] @ arrays[1], rtol=1e-4, atol=1e-4)


def test_loops_of_one_iteration_hide_no_locations() -> None:
    schedule = Schedule(function(PRODUCT))
    i, j, k = schedule.get_loops("product")
    i_0, i_1 = schedule.split(i, [4, 4])
    k_0, k_1 = schedule.split(k, [1, 32])
    schedule.reorder(i_0, k_0, i_1, k_1, j)
    found: set[object] = set()
    for seed in range(40):
        schedule.seed(seed)
        schedule.sample_compute_location("half")
        found.add(schedule.trace.insts[-1].decision)
    # k_0 reduces in one step, so that i_1 is as good as around it; k_1 has j in it.
    assert found == {-2, -1, 0, 2, 3}


def test_what_adds_a_bias_takes_the_place_of_a_copy_of_what_is_written() -> None:
    text = PRODUCT.replace("T.max(C[vi, vj], T.float32(0))", "C[vi, vj] + E[vj]").replace(
        ', D: T.Buffer[(16, 24), "float32"]', ', E: T.Buffer[(24,), "float32"], D: T.Buffer[(16, 24), "float32"]'
    )
    assert "E: T.Buffer" in text
    rule = ms.schedule_rule.MultiLevelTiling("SSRSRS", reuse_write=ms.schedule_rule.ReuseType("may", [1, 2], "global"))
    designs = context(text, rule).generate_design_space()
    assert len(designs) == 3 and not any("product_" in str(each.mod) for each in designs)


def test_a_block_is_scheduled_by_the_rule_that_it_names() -> None:
    def halves(sch: Schedule, block: BlockRV) -> list[Schedule]:
        other = sch.copy()
        other.split(other.get_loops(block)[0], [2, None])
        return [sch, other]

    def none(sch: Schedule, block: BlockRV) -> list[object]:
        return [None]

    text = PRODUCT.replace(
        'with T.block("half"):', 'with T.block("half"):\n            T.block_attr({"schedule_rule": NAME})'
    )
    weft.register_func("meta_schedule.cpu.halves", halves)
    weft.register_func("meta_schedule.cpu.none", none)
    rule = ms.schedule_rule.ApplyCustomRule()
    try:
        designs = context(text.replace("NAME", '"halves"'), rule).generate_design_space()
        assert [len(loops(each, ForKind.SERIAL)) for each in designs] == [8, 7]
        assert len(context(text.replace("NAME", '"None"'), rule).generate_design_space()) == 1
        with pytest.raises(UsageError, match=r"'other' of a block is not registered for 'meta_schedule\.cpu\.other'"):
            context(text.replace("NAME", '"other"'), rule).generate_design_space()
        with pytest.raises(UsageError, match="'none' gives schedules"):
            context(text.replace("NAME", '"none"'), rule).generate_design_space()
    finally:
        weft.remove_global_func("meta_schedule.cpu.halves")
        weft.remove_global_func("meta_schedule.cpu.none")


def test_blocks_with_a_branch_are_found_for_rules() -> None:
    text = """
@T.prim_func
def main(A: T.Buffer[(8,), "int32"], B: T.Buffer[(8,), "int32"]):
    for i in T.serial(8):
        with T.block("B"):
            v = T.axis.remap("S", [i])
            B[v] = 0
            if v < 4:
                B[v] = A[v]
"""
    asked = ms.TuneContext(function(text), "llvm -num-cores 4", rand_state=0)
    (design,) = asked.generate_design_space()
    assert asked.postprocess(design) and asked.cores == 4
    root = design.operation(design.get_block("root"))
    assert isinstance(root, PrimFuncOp) and root.name_hint == "root"


def test_a_block_whose_loops_cannot_be_split_is_not_bound_and_gives_no_code_for_threads() -> None:
    text = """
@T.prim_func
def main(A: T.Buffer[(8,), "int32"], B: T.Buffer[(8,), "int32"]):
    for i in T.serial(1, 9):
        with T.block("B"):
            v = T.axis.spatial(8, i - 1)
            B[v] = A[v]
"""
    asked = ms.TuneContext(function(text), "cuda", rand_state=0)
    (design,) = asked.generate_design_space()
    assert not loops(design, ForKind.THREAD_BINDING) and not asked.postprocess(design)
