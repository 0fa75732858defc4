"""The search of designs: mutators, spaces of traces, and tuning of functions."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np
import pytest
from imagined_pool import Imagined
from tvmscript_texts import function, only
from xdsl.dialects.builtin import ModuleOp

import weft
from weft import meta_schedule as ms
from weft.dialects.support.diagnostics import UsageError
from weft.dialects.tir.core import PrimFuncOp
from weft.dialects.tir.interpreter import Interpreter
from weft.lowering.machine.target import Target
from weft.tir import Schedule, Trace, from_source
from weft.transforms.tir.scheduling.tuning_records import Status
from weft.tuning.jobs import Effort, Measurement
from weft.tuning.space import Candidate, RuleSpace, UnionSpace, schedule_of

PRODUCT = """
@T.prim_func
def product(A: T.Buffer[(16, 32), "float32"], B: T.Buffer[(32, 24), "float32"], D: T.Buffer[(16, 24), "float32"]):
    C = T.alloc_buffer((16, 24), "float32")
    for i, j, k in T.grid(16, 24, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(16, 24):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.max(C[vi, vj], T.float32(0))
"""
TARGET = "llvm -mcpu=native -num-cores=2"


def told(mutator: ms.Mutator, target: str = TARGET) -> ms.Mutator:
    given = ms.space_generator.PostOrderApply(sch_rules=[], postprocs=[], mutator_probs={mutator: 1.0})
    ms.TuneContext(function(PRODUCT), target, given)
    return mutator


def tiled(*, most: int = 8, tile: tuple[int, ...] = (4, 3, 2), parallel: int = 4) -> Schedule:
    sch = Schedule(function(PRODUCT), seed=0)
    block, root = sch.get_block("C"), sch.get_block("root")
    loop = sch.get_loops(block)[1]
    sch.split(loop, sch.sample_perfect_tile(loop, len(tile), most, decision=tile))
    sch.annotate(root, "meta_schedule.parallel", parallel)
    sch.annotate(root, "meta_schedule.unroll_explicit", sch.sample_categorical([0, 16, 64], [0.5, 0.5, 0.0], 0))
    return sch


def chosen(trace: Trace | None, kind: str) -> Any:
    assert trace is not None
    return next(decision for inst, decision in trace.decisions.items() if inst.kind.name == kind)


# Mutators


def test_a_factor_moves_to_another_part_of_the_tile_and_the_innermost_stays_small() -> None:
    mutator, sch, random = told(ms.mutator.MutateTileSize()), tiled(), Random(0)
    found = {tuple(chosen(mutator.apply(sch.trace, random), "SamplePerfectTile")) for _ in range(200)}
    assert all(np.prod(tile) == 24 and tile[-1] <= 8 and min(tile) > 0 for tile in found)
    assert (4, 3, 2) not in found and {(2, 6, 2), (1, 3, 8), (4, 1, 6), (8, 3, 1)} <= found
    assert chosen(sch.trace, "SamplePerfectTile") == [4, 3, 2], "what is given stays as it is"
    assert told(ms.mutator.MutateTileSize()).apply(tiled(most=2, tile=(24, 1)).trace, random) is not None
    assert mutator.apply(tiled(most=1, tile=(24, 1)).trace, random) is None
    assert mutator.apply(Schedule(function(PRODUCT)).trace, random) is None


def test_other_steps_are_written_out_and_none_that_are_never_chosen() -> None:
    mutator, random = told(ms.mutator.MutateUnroll()), Random(0)
    assert {chosen(mutator.apply(tiled().trace, random), "SampleCategorical") for _ in range(6)} == {1}
    assert mutator.apply(Schedule(function(PRODUCT)).trace, random) is None


def test_threads_share_other_loops() -> None:
    mutator, random = told(ms.mutator.MutateParallel(64)), Random(0)

    def limits(parallel: int) -> set[int]:
        trace = tiled(parallel=parallel).trace
        made = [mutator.apply(trace, random) for _ in range(6)]
        return {cast(int, trace.insts[-3].inputs[1]) for trace in made if trace is not None}

    # The loops are 16, 4, 3, 2 and 16, 24; no more than 128 pieces of work.
    assert limits(1) == {64} and limits(16) == {64} and limits(128) == {16, 64}
    assert mutator.apply(Schedule(function(PRODUCT)).trace, random) is None
    with pytest.raises(UsageError, match="told of no function"):
        ms.mutator.MutateParallel(1).apply(tiled().trace)


def test_a_block_is_computed_in_another_loop() -> None:
    sch = Schedule(function(PRODUCT), seed=0)
    block = sch.get_block("C")
    sch.compute_at(block, sch.sample_compute_location(block, decision=0))
    mutator, random = told(ms.mutator.MutateComputeLocation()), Random(0)
    assert {chosen(mutator.apply(sch.trace, random), "SampleComputeLocation") for _ in range(20)} == {-1, 1}
    assert mutator.apply(Schedule(function(PRODUCT)).trace, random) is None


def test_a_loop_is_split_for_another_number_of_threads() -> None:
    sch = Schedule(function(PRODUCT), seed=0)
    loop = sch.get_loops(sch.get_block("D"))[1]
    sch.sample_categorical([1, 2], [0.5, 0.5], 0)
    factor = sch.sample_categorical([4, 8, 12], [0.3, 0.3, 0.4], 1)
    sch.bind(sch.split(loop, [None, factor])[1], "threadIdx.x")
    mutator, random = ms.mutator.MutateThreadBinding(), Random(0)
    for _ in range(10):
        made = mutator.apply(sch.trace, random)
        assert made is not None
        first, second = (decision for decision in made.decisions.values())
        assert first == 0 and second in (0, 2)
    assert mutator.apply(tiled().trace, random) is None


def test_mutators_of_a_kind_are_those_of_tvm() -> None:
    assert sum(ms.Mutator.create("llvm").values()) == pytest.approx(1.0)
    assert [type(each).__name__ for each in ms.Mutator.create("cuda")] == [
        "MutateTileSize",
        "MutateUnroll",
        "MutateThreadBinding",
    ]
    with pytest.raises(UsageError, match="no mutators for 'llwm'"):
        ms.Mutator.create("llwm")


# Spaces


def test_each_candidate_computes_the_same_and_is_applied_from_its_text() -> None:
    random, arrays = Random(0), np.random.default_rng(0)
    given = [arrays.standard_normal(shape).astype(np.float32) for shape in ((16, 32), (32, 24))]
    (expected,) = Interpreter(function(PRODUCT))(given, None)
    context = ms.TuneContext(function(PRODUCT), TARGET, rand_state=0)
    space = context.space()
    assert space.why_closed is None and space.first == ()
    found: dict[str, Candidate] = {}
    for _ in range(4):
        drawn = space.drawn(random)
        assert drawn is not None and drawn.genes == ()
        for made in (drawn, space.mutated(drawn, random), space.crossed(drawn, drawn, random)):
            if made is not None:
                found[made.schedule] = made
    assert len(found) > 4
    for made in found.values():
        other = function(PRODUCT.replace("def product", "def renamed"))
        (computed,) = Interpreter(only(schedule_of(made.schedule, other)))(given, None)
        assert np.allclose(cast(Any, computed), cast(Any, expected), rtol=1e-4, atol=1e-4)


def test_candidates_of_one_design_are_crossed_and_of_two_are_not() -> None:
    def designs(sch: Schedule) -> list[Schedule]:
        other = sch.copy()
        for each, name in ((sch, "C"), (other, "D")):
            for loop in each.get_loops(name)[:2]:
                each.split(loop, each.sample_perfect_tile(loop, 2, -1))
            each.annotate(each.get_block(name), "design", name)
        other.unannotate(other.get_block("D"), "design")
        return [sch, other]

    context = ms.TuneContext(function(PRODUCT), TARGET, designs)
    space, random = context.space(), Random(1)
    drawn = [made for _ in range(12) if (made := space.drawn(random)) is not None]
    first = [each for each in drawn if "unannotate" not in each.schedule]
    second = [each for each in drawn if "unannotate" in each.schedule]
    assert first and second and space.crossed(first[0], second[0], random) is None
    one, other = first[0], next(each for each in first if each.schedule != first[0].schedule)
    children = {made.schedule for _ in range(20) if (made := space.crossed(one, other, random)) is not None}
    assert len(children) > 2 or children == {one.schedule, other.schedule}


def test_what_postprocessors_reject_is_no_candidate() -> None:
    class Never(ms.Postproc):
        def apply(self, sch: Schedule) -> bool:
            return False

    given = ms.space_generator.PostOrderApply(postprocs=[Never()])
    space = ms.TuneContext(function(PRODUCT), TARGET, given).space()
    assert space.drawn(Random(0)) is None
    assert (
        ms.TuneContext(function(PRODUCT), TARGET, lambda sch: []).space().why_closed == "the generator gives no design"
    )


def test_a_union_varies_each_candidate_as_its_own_space_does() -> None:
    given = ms.space_generator.SpaceGenerator.create("union")
    context = ms.TuneContext(function(PRODUCT), TARGET, given, rand_state=0)
    space, random = context.space(), Random(0)
    assert isinstance(space, UnionSpace) and len(context.generate_design_space()) > 1
    (first,) = space.first
    assert first == RuleSpace(function(PRODUCT), Target.parse(TARGET)).default()
    drawn = [made for _ in range(8) if (made := space.drawn(random)) is not None]
    by_rules, by_traces = [each for each in drawn if each.genes], [each for each in drawn if not each.genes]
    assert by_rules and by_traces
    varied = space.mutated(by_rules[0], random)
    assert varied is not None and varied.genes
    assert space.crossed(by_rules[0], by_traces[0], random) is None
    with pytest.raises(UsageError, match="no space generator 'post-order'"):
        ms.space_generator.SpaceGenerator.create("post-order")


def test_the_rules_are_a_generator_of_one_design() -> None:
    context = ms.TuneContext(function(PRODUCT), TARGET, ms.space_generator.WeftRules())
    (design,) = context.generate_design_space()
    assert "vectorized" in str(design.mod)


# Tuning


def test_a_function_is_tuned_by_tvms_rules_and_goes_on_with_what_is_known(tmp_path: Path) -> None:
    pool = Imagined()
    model = from_source(PRODUCT)
    database = ms.tune_tir(model, TARGET, tmp_path, 10, threads=1, runner=pool)
    assert len(database) == 10 and not any(record.decisions for record in database.get_all_tuning_records())
    assert len({record.schedule for record in database.get_all_tuning_records()}) == 10
    assert len(ms.tune_tir(model, TARGET, tmp_path, 14, threads=1, space="union", runner=pool)) == 14
    assert database.has_workload(model) and database.query_tuning_record(model, "llvm -mcpu=generic") is None
    best = database.query_tuning_record(model, TARGET)
    assert best is not None and best.ratio == min(each.ratio for each in database.get_all_tuning_records())


def test_a_model_is_tuned_by_tvms_names(tmp_path: Path) -> None:
    model, target = str(Path(__file__).parents[2] / "examples/perceptron.mlir"), "llvm -mcpu=native"
    space = ms.space_generator.PostOrderApply()
    pool = Imagined(lambda job: Measurement(Status.MEASURED, (0.5, 0.5), 5e-6, 1e-5, spent={"compile": 0.5}))
    given = ms.relay_integration.tune_relay(model, None, target, tmp_path, 6, space=space, threads=1, runner=pool)
    assert isinstance(given, ms.Database)
    records = given.get_all_tuning_records()
    assert len(records) == 6 and all("enter_postproc" in each.schedule for each in records)
    exe = ms.relay_integration.compile_relay(given, model, target, threads=1)
    assert "weft.tuned" in exe.ir["tir"]
    with given:
        assert "weft.tuned" in weft.compile(model, threads=1).ir["tir"]
    none = ms.Database(work_dir=tmp_path / "none")
    plain = ms.relay_integration.compile_relay(none, model, target, threads=1)
    assert "weft.tuned" not in plain.ir["tir"]
    inputs = exe.example_inputs()
    for one, other in zip(exe(*inputs), plain(*inputs), strict=True):
        assert np.allclose(one, other, rtol=1e-4, atol=1e-5)


def test_functions_are_measured_and_built_as_the_database_says(tmp_path: Path) -> None:
    second = from_source(PRODUCT.replace("def product", "def another"))
    third = from_source(
        "@T.prim_func\n"
        'def twice(x: T.Buffer[(64,), "float32"], y: T.Buffer[(64,), "float32"]):\n'
        "    for i in T.serial(64):\n"
        '        with T.block("twice"):\n'
        '            v = T.axis.remap("S", [i])\n'
        "            y[v] = x[v] * T.float32(2)\n"
    )
    assert isinstance(second, PrimFuncOp) and isinstance(third, PrimFuncOp)
    module = ModuleOp([function(PRODUCT), second, third])
    effort = Effort(rounds=1, min_ms=0.1)
    database = ms.tune_tir(module, TARGET, tmp_path, 4, threads=1, effort=effort)
    assert {record.status.value for record in database.get_all_tuning_records()} == {"measured"}
    schedule = ms.compile_tir(database, module, TARGET)
    assert schedule is not None
    built = weft.build(schedule.mod, target="llvm -mcpu=native", threads=1)
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float32) for shape in ((16, 32), (32, 24)))
    for name in ("product", "another"):
        result = np.zeros((16, 24), np.float32)
        built[name](a, b, result)
        assert np.allclose(result, np.maximum(a @ b, 0), rtol=1e-4, atol=1e-4)
    again = Schedule(module)
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)


def test_what_cannot_be_measured_by_itself_is_refused(tmp_path: Path) -> None:
    adds = (
        "@T.prim_func\n"
        'def adds(x: T.Buffer[(64,), "float32"], y: T.Buffer[(64,), "float32"]):\n'
        "    for i in T.serial(64):\n"
        '        with T.block("adds"):\n'
        '            v = T.axis.remap("S", [i])\n'
        "            y[v] = y[v] + x[v]\n"
    )
    with pytest.raises(UsageError, match=r"@adds cannot be measured by itself: .*block @adds reads %y before"):
        ms.tune_tir(function(adds), TARGET, tmp_path, 4)
    with pytest.raises(UsageError, match="no function to tune"):
        ms.tune_tir(ModuleOp([]), TARGET, tmp_path, 4)
    assert ms.compile_tir(ms.Database(work_dir=tmp_path), function(PRODUCT), TARGET) is None
    with pytest.raises(UsageError, match="one of both"):
        ms.Database()
