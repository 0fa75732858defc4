"""`weft.tir.Schedule`: handles that survive, a trace that is IR, replay, decisions, failures that change nothing."""

from __future__ import annotations

import pytest
from te_samples import dense, softmax
from tir_run import assert_computes, prim_func
from tvmscript_texts import only, refused
from xdsl.dialects.builtin import ModuleOp

from weft import tir
from weft.dialects.schedule.core import SequenceOp
from weft.dialects.support.parser import parse_module
from weft.dialects.tir.core import BlockOp, ForKind, ForOp
from weft.tir import LoopRV, Schedule, ScheduleError
from weft.transforms.infra.registry import new_ir_context
from weft.transforms.tir.scheduling.trace import Trace

pytestmark = pytest.mark.sampled(3)

STAGE = dense(64, 64, 32)


def new(seed: int | None = 0) -> Schedule:
    return Schedule(prim_func(STAGE), seed=seed, debug_mask="all")


def tiled(schedule: Schedule) -> None:
    """A dense layer in tiles, most of whose factors are sampled."""
    dense, relu = schedule.get_block("dense"), schedule.get_block("relu")
    i, j = schedule.get_loops(relu)
    i_0, i_1 = schedule.split(i, schedule.sample_perfect_tile(i, 2))
    width = schedule.sample_categorical([8, 16], [0.25, 0.75])
    j_0, j_1 = schedule.split(j, [None, width])
    schedule.reorder(i_0, j_0, i_1, j_1)
    schedule.compute_at(dense, j_0, preserve_unit_loops=True)
    k = schedule.get_loops(dense)[-1]
    schedule.decompose_reduction(dense, k)
    schedule.vectorize(j_1)
    schedule.parallel(i_0)


# the trace


def test_a_schedule_computes_the_same() -> None:
    schedule = new()
    tiled(schedule)
    assert_computes(only(schedule), STAGE)


@pytest.mark.parametrize("seed", range(4))
def test_a_trace_gives_the_same_module_again(seed: int) -> None:
    schedule, again = new(seed), new(seed + 100)
    tiled(schedule)
    schedule.trace.apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)
    assert str(again.trace) == str(schedule.trace)


def test_a_trace_that_was_printed_and_parsed_does_the_same() -> None:
    schedule, again = new(), new()
    tiled(schedule)
    module = parse_module(str(schedule.trace.op), new_ir_context(), "trace.mlir")
    module.verify()
    op = module.body.block.first_op
    assert isinstance(op, SequenceOp)
    Trace(op).apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)


def test_a_trace_verifies() -> None:
    schedule = new()
    tiled(schedule)
    schedule.trace.op.verify()


def test_decisions_of_a_trace_can_be_changed() -> None:
    schedule, again = new(), new()
    tiled(schedule)
    trace = schedule.trace
    categorical = next(op for op in trace.decisions if op.kind.name == "SampleCategorical")
    other = 1 if trace.decisions[categorical] == 0 else 0
    trace.apply_to_schedule(
        again, decision_provider=lambda inst, inputs, attrs, known: other if inst == categorical else known
    )
    assert str(again.mod) != str(schedule.mod)
    third = new()
    trace.with_decision(categorical, other).apply_to_schedule(third)
    assert str(third.mod) == str(again.mod)


def test_a_decision_taken_away_is_drawn_anew() -> None:
    schedule = new()
    tiled(schedule)
    texts: set[str] = set()
    for seed in range(20):
        again = new(seed)
        schedule.trace.apply_to_schedule(again, decision_provider=lambda inst, inputs, attrs, known: None)
        texts.add(str(again.mod))
    assert len(texts) > 3


def test_a_replay_can_leave_out_what_repairs() -> None:
    schedule, again = new(), new()
    i, _ = schedule.get_loops(schedule.get_block("relu"))
    schedule.enter_postproc()
    schedule.unroll(i)
    schedule.trace.apply_to_schedule(again, remove_postproc=True)
    assert str(again.mod) == str(new().mod)
    assert "enter_postproc" not in str(schedule.trace.simplified(remove_postproc=True))


def test_what_nothing_uses_can_be_left_out_of_a_trace() -> None:
    schedule, again = new(), new()
    i, _ = schedule.get_loops(schedule.get_block("relu"))
    schedule.get_consumers(schedule.get_block("dense"))
    schedule.sample_perfect_tile(i, 3)
    schedule.unroll(i)
    assert [inst.kind.method for inst in schedule.trace.simplified().insts] == ["get_block", "get_loops", "unroll"]
    schedule.trace.simplified().apply_to_schedule(again)
    assert str(again.mod) == str(schedule.mod)


def test_a_replay_that_does_not_apply_names_the_instruction() -> None:
    text = """schedule.sequence @s {
  %b = schedule.get_block @relu
  %i = schedule.get_loops %b -> 1
}"""
    module = parse_module(text, new_ir_context(), "trace.mlir")
    op = module.body.block.first_op
    assert isinstance(op, SequenceOp)
    with pytest.raises(ScheduleError, match="gives 2 handles here, not 1") as raised:
        Trace(op).apply_to_schedule(new())
    assert raised.value.place is not None and raised.value.place.line == 3


# handles


def test_handles_stand_for_the_same_block_whatever_is_done_around_it() -> None:
    schedule = new()
    dense = schedule.get_block("dense")
    before = schedule.operation(dense)
    tiled(schedule)
    assert schedule.operation(dense) is before and isinstance(before, BlockOp) and before.init is None


def test_a_loop_that_was_split_is_stale() -> None:
    schedule = new()
    i, _ = schedule.get_loops(schedule.get_block("relu"))
    again = schedule.get_loops(schedule.get_block("relu"))[0]
    schedule.split(i, [4, None])
    refused(lambda: schedule.unroll(i), schedule, "the handle %i is stale: schedule.split has made 2 loops of it")
    refused(lambda: schedule.unroll(again), schedule, "is stale: schedule.split")


def test_loops_that_were_fused_are_stale() -> None:
    schedule = new()
    i, j = schedule.get_loops(schedule.get_block("relu"))
    schedule.fuse(i, j)
    for loop in (i, j):
        refused(lambda loop=loop: schedule.unroll(loop), schedule, "stale: schedule.fuse has made one loop of 2")


def test_the_loops_that_a_block_leaves_are_stale() -> None:
    schedule = new()
    dense = schedule.get_block("dense")
    old = schedule.get_loops(dense)
    schedule.compute_at(dense, schedule.get_loops(schedule.get_block("relu"))[0])
    refused(lambda: schedule.unroll(old[0]), schedule, "stale: schedule.compute_at has taken it away")


def test_a_block_that_was_inlined_is_stale() -> None:
    schedule = Schedule(prim_func(softmax(4, 9)), debug_mask="all")
    power = schedule.get_block("power")
    schedule.compute_inline(power)
    refused(lambda: schedule.get_loops(power), schedule, "stale: schedule.compute_inline has taken it away")


def test_a_handle_of_another_schedule_is_refused() -> None:
    schedule, other = new(), new()
    i = other.get_loops(other.get_block("relu"))[0]
    refused(lambda: schedule.unroll(i), schedule, "is none of this schedule")


def test_what_is_no_loop_is_refused() -> None:
    schedule = new()
    block = LoopRV(schedule.get_block("relu").value)
    refused(lambda: schedule.unroll(block), schedule, "takes a loop as handle 0, not a !schedule.block")


def test_a_copy_goes_its_own_way() -> None:
    schedule = new()
    i, j = schedule.get_loops(schedule.get_block("relu"))
    i_0, _ = schedule.split(i, [4, None])
    before = str(schedule.mod)
    copy = schedule.copy()
    assert str(copy.mod) == before and str(copy.trace) == str(schedule.trace)
    copy.unroll(copy.same(i_0))
    assert str(schedule.mod) == before != str(copy.mod)
    schedule.unroll(j)
    refused(lambda: copy.unroll(copy.same(i)), copy, "stale: schedule.split")
    refused(lambda: copy.unroll(i), copy, "stale: schedule.split")
    assert copy.operation(j) is not schedule.operation(j) and copy.get_sref(j) != schedule.get_sref(j)
    (later,) = schedule.split(j, [None])
    refused(lambda: copy.unroll(later), copy, "none of this schedule")
    with pytest.raises(IndexError):
        copy.operation(later)
    copy.copy().unroll(i_0)


def test_the_module_that_is_given_stays_as_it_is() -> None:
    func = prim_func(STAGE)
    module = ModuleOp([func])
    before = str(module)
    tiled(Schedule(module))
    assert str(module) == before


# questions


def test_blocks_are_found_by_name_and_relation() -> None:
    schedule = Schedule(prim_func(softmax(4, 9)))
    names = {block.block_name for block in only(schedule).walk() if isinstance(block, BlockOp)}
    assert names == {"highest", "power", "total", "softmax"}
    power = schedule.get_block("power")

    def named(blocks: list[tir.BlockRV]) -> set[str]:
        found = [schedule.operation(block) for block in blocks]
        return {block.block_name for block in found if isinstance(block, BlockOp)}

    assert named(schedule.get_producers(power)) == {"highest"}
    assert named(schedule.get_consumers(power)) == {"total", "softmax"}
    assert named(schedule.get_child_blocks(schedule.get_loops(power)[0])) == {"power"}


def test_a_block_that_is_not_there_is_refused_with_what_there_is() -> None:
    schedule = new()
    with pytest.raises(ScheduleError, match="has no block @dens") as raised:
        schedule.get_block("dens")
    assert raised.value.hint is not None and "@dense" in raised.value.hint
    refused(lambda: schedule.get_block("dense", number=1), schedule, "1 blocks @dense, none of number 1")
    refused(lambda: schedule.get_block("dense", func_name="f"), schedule, "there is no function @f")


def test_of_several_functions_one_is_worked_on() -> None:
    schedule = Schedule(ModuleOp([prim_func(STAGE, "a"), prim_func(softmax(4, 9), "b")]))
    refused(
        lambda: schedule.get_block("softmax"),
        schedule,
        "does not know which function to be working on: there is @a, @b",
    )
    schedule.work_on("b")
    schedule.get_block("softmax")
    schedule.get_block("dense", func_name="a")
    assert schedule.trace.op.function_name == "b"


# decisions


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_sampled_factors_divide_the_extent(count: int) -> None:
    schedule = new(count)
    loop = schedule.get_loops(schedule.get_block("relu"))[0]
    for _ in range(20):
        product = 1
        factors = [schedule.get(factor) for factor in schedule.sample_perfect_tile(loop, count, 4)]
        for factor in factors:
            assert isinstance(factor, int)
            product *= factor
        assert product == 64
        assert count == 1 or (isinstance(factors[-1], int) and factors[-1] <= 4)


def test_a_seed_decides_what_is_sampled() -> None:
    def drawn(seed: int) -> str:
        schedule = new(seed)
        loop = schedule.get_loops(schedule.get_block("relu"))[0]
        for _ in range(5):
            schedule.sample_perfect_tile(loop, 3)
        return str(schedule.trace)

    assert drawn(1) == drawn(1) != drawn(2)
    assert new(1).fork_seed() == new(1).fork_seed() != new(2).fork_seed()


def test_a_schedule_is_seeded_anew_and_by_minus_one_by_chance() -> None:
    def first_after(seed: int) -> int:
        schedule = new(1)
        schedule.seed(seed)
        return schedule.fork_seed()

    assert first_after(7) == first_after(7)
    assert len({first_after(-1) for _ in range(4)}) > 1


def test_decisions_that_do_not_fit_are_refused() -> None:
    schedule = new()
    dense = schedule.get_block("dense")
    loop = schedule.get_loops(schedule.get_block("relu"))[0]
    refused(lambda: schedule.sample_perfect_tile(loop, 2, decision=[3, 4]), schedule, "does not divide its 64")
    refused(lambda: schedule.sample_categorical([1], [1.0], decision=1), schedule, "no candidate 1")
    refused(lambda: schedule.sample_categorical([1], [-1.0]), schedule, "not negative")
    refused(lambda: schedule.sample_compute_location(dense, decision=-3), schedule, "computed at location -3")


def test_a_decision_that_is_given_may_have_a_larger_factor_than_is_drawn() -> None:
    schedule = new()
    loop = schedule.get_loops(schedule.get_block("relu"))[0]
    outer, inner = schedule.sample_perfect_tile(loop, 2, decision=[2, 32])
    assert (schedule.get(outer), schedule.get(inner)) == (2, 32)
    drawn = [schedule.get(schedule.sample_perfect_tile(loop, 2, max_innermost_factor=4)[1]) for _ in range(20)]
    assert all(isinstance(factor, int) and factor <= 4 for factor in drawn)
    unbounded = {schedule.get(schedule.sample_perfect_tile(loop, 2, max_innermost_factor=-1)[1]) for _ in range(99)}
    assert 64 in unbounded


@pytest.mark.parametrize("decision", [-1, 0, 1])
def test_a_sampled_location_is_one_to_compute_at(decision: int) -> None:
    schedule = new()
    dense = schedule.get_block("dense")
    schedule.compute_at(dense, schedule.sample_compute_location(dense, decision))
    assert len(schedule.get_loops(dense)) == 3
    assert_computes(only(schedule), STAGE, threads=[1])


def test_a_sampled_location_may_be_to_inline() -> None:
    stage = softmax(4, 9)
    schedule = Schedule(prim_func(stage), debug_mask="all")
    power = schedule.get_block("power")
    schedule.compute_at(power, schedule.sample_compute_location(power, -2))
    refused(lambda: schedule.get_loops(power), schedule, "stale")
    assert_computes(only(schedule), stage, threads=[1])


# splits


@pytest.mark.parametrize(
    ("factors", "extents"),
    [
        ([None, 16], [4, 16]),
        ([4, None], [4, 16]),
        ([2, None, 8], [2, 4, 8]),
        ([4, 16], [4, 16]),
        ([5, 16], [5, 16]),
        ([None], [64]),
        ([7, None, 3], [7, 4, 3]),
    ],
)
def test_a_split_gives_loops_of_the_factors(factors: list[int | None], extents: list[int]) -> None:
    schedule = new()
    loop = schedule.get_loops(schedule.get_block("relu"))[0]
    parts = [schedule.operation(part) for part in schedule.split(loop, factors)]
    assert [part.trip_count for part in parts if isinstance(part, ForOp)] == extents
    assert_computes(only(schedule), STAGE, threads=[1])


def test_a_split_into_too_few_iterations_is_refused() -> None:
    schedule = new()
    loop = schedule.get_loops(schedule.get_block("relu"))[0]
    refused(lambda: schedule.split(loop, [3, 16]), schedule, "fewer than its 64 iterations")
    refused(lambda: schedule.split(loop, [None, None]), schedule, "at most one factor")
    refused(lambda: schedule.split(loop, [2, None, 0]), schedule, "must be positive")
    refused(lambda: schedule.split(loop, []), schedule, "into no loops")


def test_a_schedule_shows_itself(capsys: pytest.CaptureFixture[str]) -> None:
    schedule = new()
    schedule.parallel(schedule.get_loops(schedule.get_block("relu"))[0])
    schedule.show()
    printed = capsys.readouterr().out
    assert f"tir.for {ForKind.PARALLEL.value}" in printed and "schedule.parallel %i" in printed


def test_a_split_loop_of_one_iteration_around_a_reduction_lets_it_begin_apart() -> None:
    schedule = new()
    dense = schedule.get_block("dense")
    schedule.split(schedule.add_unit_loop(dense), [None, 2])
    schedule.decompose_reduction(dense, schedule.get_loops(dense)[2])
    assert_computes(only(schedule), STAGE)


def test_a_loop_that_a_reduction_runs_in_twice_does_not() -> None:
    schedule = new()
    dense = schedule.get_block("dense")
    schedule.split(schedule.add_unit_loop(dense), [None, 2])
    op = schedule.operation(dense)
    assert isinstance(op, BlockOp)
    op.set_predicate([])
    loop = schedule.get_loops(dense)[2]
    refused(lambda: schedule.decompose_reduction(dense, loop), schedule, "it reduces anew")
