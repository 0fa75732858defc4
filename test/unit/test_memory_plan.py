"""Plans of memory: buffers needed together lie apart, whatever the strategy; and none is larger than it should be."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weft
from weft.dialects.support.alignment import aligned
from weft.lowering.machine.target import Target
from weft.lowering.phases import pipeline
from weft.transforms.infra import PassContext
from weft.transforms.infra.errors import ConfigError
from weft.transforms.mem.plan_memory import PlanMemoryPass
from weft.transforms.mem.planning import hill_climb
from weft.transforms.mem.planning.best import CLIMBING, best
from weft.transforms.mem.planning.greedy import by_size, in_time, place_in_order
from weft.transforms.mem.planning.problem import Buffers, DoesNotFit, MemoryPlan, Place, Problem, Request
from weft.transforms.mem.planning.strategies import STRATEGIES
from weft.transforms.mem.planning.tvm_greedy import stacked, tvm_greedy


def lasting(size: int, first: int, length: int) -> Request:
    return Request(size, first, first + length)


requests = st.builds(lasting, st.integers(0, 700), st.integers(0, 12), st.integers(0, 6))
problems = st.builds(
    Problem, st.lists(requests, max_size=16).map(tuple), st.sampled_from([1, 16, 64])
)  # pools are tried below
PLANNERS = {**STRATEGIES, "in-time": in_time, "stacked": stacked}


def assert_sound(problem: Problem, plan: MemoryPlan, *, is_aligned: bool = True) -> None:
    for place, request in zip(plan.places, problem.requests, strict=True):
        assert not is_aligned or place.offset % problem.alignment == 0
        if request.size:
            assert 0 <= place.offset and place.offset + request.size <= plan.pools[place.pool]
    for (a, first), (b, second) in combinations(zip(plan.places, problem.requests, strict=True), 2):
        together = first.first <= second.last and second.first <= first.last
        if together and first.size and second.size and a.pool == b.pool:
            apart = a.offset + first.size <= b.offset or b.offset + second.size <= a.offset
            assert apart, f"{first} at {a} meets {second} at {b}"


@pytest.mark.parametrize("strategy", PLANNERS)
@settings(max_examples=40)
@given(problem=problems)
def test_what_is_alive_together_lies_apart(strategy: str, problem: Problem) -> None:
    assert_sound(problem, PLANNERS[strategy](problem))


def naive_lower_bound(problem: Problem) -> int:
    steps = range(20)
    live = (sum(aligned(r.size, problem.alignment) for r in problem.requests if r.first <= s <= r.last) for s in steps)
    return max(live)


@settings(max_examples=40)
@given(problem=problems)
def test_the_best_plan_is_between_the_bound_and_what_tvm_needs(problem: Problem) -> None:
    assert problem.lower_bound == naive_lower_bound(problem)
    assert problem.without_reuse == sum(problem.sizes)
    plan = best(problem)
    assert problem.lower_bound <= plan.size <= min(problem.without_reuse, stacked(problem).size)


@settings(max_examples=40)
@given(problem=problems)
def test_conflicts_are_counted_as_they_are_listed(problem: Problem) -> None:
    assert sum(map(len, problem.conflicts)) == 2 * problem.num_conflicts


@settings(max_examples=40)
@given(problem=problems, capacities=st.lists(st.integers(0, 900), min_size=1, max_size=3).map(tuple))
def test_pools_are_not_made_larger_than_they_are(problem: Problem, capacities: tuple[int, ...]) -> None:
    bounded = Problem(problem.requests, problem.alignment, capacities)
    try:
        plan = best(bounded)
    except DoesNotFit as error:
        assert bounded.requests[error.request].size
    else:
        assert_sound(bounded, plan)
        assert all(used <= capacity for used, capacity in zip(plan.pools, capacities, strict=True))


def test_what_has_no_room_in_a_pool_goes_to_the_next() -> None:
    plan = best(Problem((Request(64, 0, 1), Request(64, 0, 1), Request(32, 2, 2)), capacities=(64, 1000)))
    assert {place.pool for place in plan.places[:2]} == {0, 1}
    assert plan.places[2].pool == 0


def test_a_chain_needs_two_places() -> None:
    plan = best(Problem(tuple(Request(640, step, step + 1) for step in range(8)), 64))
    assert plan.size == 2 * 640
    assert {place.offset for place in plan.places} == {0, 640}


def test_memory_is_used_again_after_its_last_use() -> None:
    assert best(Problem((Request(64, 0, 1), Request(64, 2, 3)))).size == 64
    assert best(Problem((Request(64, 0, 2), Request(64, 2, 3)))).size == 128


def test_nothing_needs_no_memory() -> None:
    assert best(Problem(())).size == 0
    assert best(Problem((Request(0, 0, 3),))).size == 0


def test_a_gap_is_filled_unless_it_shall_not_be() -> None:
    problem = Problem((Request(100, 0, 1), Request(90, 1, 3), Request(80, 0, 0), Request(10, 2, 3)))
    assert place_in_order(problem, by_size(problem)).size == 190
    assert place_in_order(problem, by_size(problem), fill_gaps=False).size == 200


def test_tvm_hands_on_the_storage_that_fits_best_within_a_factor_of_sixteen() -> None:
    def storages(*sizes: int, last: int) -> list[int]:
        """The storage that `last` bytes get when storages of `sizes` bytes have been given back."""
        given_back = [Request(size, 0, 0, rank) for rank, size in enumerate(sizes)]
        plan = tvm_greedy(Problem((*given_back, Request(last, 1, 1))))
        return [plan.places[-1].pool, plan.pools[plan.places[-1].pool]]

    assert storages(10, 20, 40, last=15) == [1, 20]  # the smallest that is large enough
    assert storages(10, 20, last=30) == [1, 30]  # the largest that is too small, which grows
    assert storages(10, 10, last=30) == [1, 30]  # of equals the one that was given back last
    assert storages(320, last=20) == [0, 320]
    assert storages(321, last=20) == [1, 20]  # more than 16 times as large
    assert storages(10, last=160) == [0, 160]
    assert storages(9, last=160) == [1, 160]  # more than 16 times as small


def network(count: int, width: int) -> Problem:
    random = Random(count)
    return Problem(tuple(Request(random.randrange(1, 1 << 20), i, i + random.randrange(width)) for i in range(count)))


def test_planning_grows_little_faster_than_the_graph() -> None:
    """Ten times the buffers take less than twenty times the time."""

    def seconds(count: int) -> float:
        problem = network(count, 8)
        start = time.process_time()
        best(problem)
        return time.process_time() - start

    seconds(100)
    small, large = min(seconds(800) for _ in range(3)), min(seconds(8000) for _ in range(2))
    assert large < 20 * small


@pytest.mark.parametrize("seed", range(8))
def test_networks_that_read_what_lies_far_back_are_planned_within_a_twentieth_of_the_bound(seed: int) -> None:
    random = Random(seed)
    last = list(range(110))
    for step in range(1, len(last)):
        last[step - 1] = step
        if random.random() < 0.3:
            last[random.randrange(step)] = step
    kinds = (lambda: random.randint(1, 4096) * 64, lambda: 2 ** random.randint(6, 22))
    problem = Problem(tuple(Request(random.choice(kinds)(), i, end) for i, end in enumerate(last)), 64)
    plan = best(problem)
    assert_sound(problem, plan)
    assert plan.size <= 1.05 * problem.lower_bound


def test_of_three_thousand_with_hundreds_needed_at_a_time_some_are_laid_by_size() -> None:
    random = Random(0)
    sizes = [random.choice((random.randint(1, 4096) * 64, 2 ** random.randint(6, 22))) for _ in range(3000)]
    problem = Problem(tuple(Request(s, i, i + 1 + int(random.expovariate(1 / 300))) for i, s in enumerate(sizes)), 64)
    assert problem.num_conflicts > 750_000
    assert best(problem).size <= 1.05 * problem.lower_bound


def test_very_many_that_are_needed_together_are_planned_without_listing_pairs() -> None:
    problem = Problem(tuple(Request(64, i, 4000 + i) for i in range(2000)))
    assert best(problem).size == problem.lower_bound
    assert "conflicts" not in vars(problem)


def test_a_strategy_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no strategy 'tvm-gredy'; did you mean 'tvm-greedy'"):
        PlanMemoryPass(strategy="tvm-gredy")
    with pytest.raises(ValueError, match="makes its own pools"):
        PlanMemoryPass(strategy="tvm-greedy", pools=(64,))


@pytest.mark.parametrize(
    ("config", "strategy"),
    [
        ({}, "best"),
        ({"tir.usmp.algorithm": "hill_climb"}, "best"),  # which is not asked for
        ({"tir.usmp.enable": True}, "greedy-by-size"),
        ({"tir.usmp.enable": True, "tir.usmp.algorithm": "greedy_by_conflicts"}, "greedy-by-conflicts"),
        ({"tir.usmp.enable": True, "tir.usmp.algorithm": "hill_climb"}, "hill-climb"),
    ],
)
def test_tvms_options_name_the_algorithm_that_a_compilation_plans_by(config: dict[str, object], strategy: str) -> None:
    with PassContext(config=config):
        text = str(pipeline(Target.parse("llvm")))
    assert ("plan-memory," if strategy == "best" else f'plan-memory{{strategy="{strategy}"}}') in text


def test_the_option_of_the_pass_names_the_strategy_of_a_compilation() -> None:
    """It was passed over without a word, whatever it named."""
    with PassContext(config={"plan-memory.strategy": "hill-climb"}):
        weft.compile("examples/perceptron.mlir")
    config = {"plan-memory.strategy": "hill-clim"}
    with PassContext(config=config), pytest.raises(ConfigError, match="no strategy 'hill-clim'; did you mean"):
        weft.compile("examples/perceptron.mlir")


def test_an_algorithm_that_tvm_has_not_is_refused_when_a_compilation_begins() -> None:
    config = {"tir.usmp.enable": True, "tir.usmp.algorithm": "hillclimb"}
    with PassContext(config=config), pytest.raises(ConfigError, match="'hillclimb'") as raised:
        pipeline(Target.parse("llvm"))
    assert "hill_climb" in str(raised.value.hint)


@pytest.mark.parametrize("together", [0, 1])
def test_what_is_in_nobodys_way_is_not_laid_again_and_again(monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    tried = 0
    lay = hill_climb.try_in_order

    def counted(buffers: Buffers, order: Iterable[int]) -> list[Place | None]:
        nonlocal tried
        tried += 1
        return lay(buffers, order)

    monkeypatch.setattr(hill_climb, "try_in_order", counted)
    count = 200
    requests = [Request(100 if i % 2 else 10, 2 * i, 2 * i + (2 * together if not i else 0)) for i in range(count)]
    plan = best(Problem(tuple(requests), 1, (50, None)))
    assert plan.size == 110 and tried <= 2 + CLIMBING // count


@pytest.mark.parametrize("capacities", [(), (200,)])
def test_climbing_finds_what_the_order_by_size_does_not_and_stops_there(
    monkeypatch: pytest.MonkeyPatch, capacities: tuple[int, ...]
) -> None:
    sizes = (50, 70, 80, 10, 30, 20, 50, 90, 90, 70)
    times = ((7, 7), (1, 5), (7, 9), (0, 2), (2, 2), (6, 10), (3, 7), (1, 2), (8, 9), (0, 0))
    requests = [Request(size, first, last) for size, (first, last) in zip(sizes, times, strict=True)]
    without = Problem(tuple(requests), 1)
    assert place_in_order(without, by_size(without)).size == 240
    tried = 0
    lay = hill_climb.try_in_order

    def counted(buffers: Buffers, order: Iterable[int]) -> list[Place | None]:
        nonlocal tried
        tried += 1
        return lay(buffers, order)

    monkeypatch.setattr(hill_climb, "try_in_order", counted)
    plan = hill_climb.climb(Problem(tuple(requests), 1, capacities), 5000)
    assert plan.size == 200 and 1 < tried < 500
