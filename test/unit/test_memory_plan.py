"""The arena: tensors alive together lie apart."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from weft.lowering.graph_to_loops.memory_plan import ALIGNMENT, Lifetime, aligned, plan_memory


def lasting(size: int, first: int, length: int) -> Lifetime:
    return Lifetime(size, first, first + length)


lifetimes = st.builds(lasting, st.integers(0, 700), st.integers(0, 12), st.integers(0, 6))


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.lists(lifetimes, max_size=16))
def test_what_is_alive_together_lies_apart(wanted: list[Lifetime]) -> None:
    plan = plan_memory(wanted)
    for offset, lifetime in zip(plan.offsets, wanted, strict=True):
        assert offset % ALIGNMENT == 0
        assert 0 <= offset and offset + lifetime.size <= plan.size
    for (a, first), (b, second) in combinations(zip(plan.offsets, wanted, strict=True), 2):
        if first.overlaps(second) and first.size and second.size:
            assert a + first.size <= b or b + second.size <= a, f"{first} at {a} meets {second} at {b}"


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(st.lists(lifetimes, min_size=1, max_size=16))
def test_the_arena_is_no_larger_than_all_tensors_together(wanted: list[Lifetime]) -> None:
    plan = plan_memory(wanted)
    assert plan.size <= sum(aligned(each.size) for each in wanted)
    steps = range(20)
    needed = max(sum(each.size for each in wanted if each.first <= step <= each.last) for step in steps)
    assert plan.size >= needed


def test_a_chain_needs_two_places() -> None:
    plan = plan_memory([Lifetime(640, step, step + 1) for step in range(8)])
    assert plan.size == 2 * 640
    assert set(plan.offsets) == {0, 640}


def test_memory_is_used_again_after_its_last_use() -> None:
    assert plan_memory([Lifetime(64, 0, 1), Lifetime(64, 2, 3)]).offsets == (0, 0)
    assert plan_memory([Lifetime(64, 0, 2), Lifetime(64, 2, 3)]).offsets == (0, 64)


def test_nothing_needs_no_memory() -> None:
    assert plan_memory([]).size == 0
    assert plan_memory([Lifetime(0, 0, 3)]).size == 0
