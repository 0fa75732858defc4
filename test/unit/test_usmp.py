"""Memory planned as TVM's Unified Static Memory Planner does it, for buffers and by algorithms of users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import TypeAlias, cast

import numpy as np
import pytest
from native import parse
from tir_run import HOST

import weft
from weft import Diagnostic, PoolInfoProperties, WorkspacePoolInfo
from weft.dialects.support.diagnostics import UsageError
from weft.lowering.compiler import compile_graph
from weft.runtime.executable import Executable
from weft.transforms.infra import PassContext
from weft.transforms.mem.plan_memory import PlanMemoryPass
from weft.transforms.mem.planning.problem import Problem, Request
from weft.transforms.mem.usmp import BufferInfo, PoolAllocation, plan_as_told

ALGORITHMS = ["greedy_by_size", "greedy_by_conflicts", "hill_climb"]
CHAIN = """relay.func @main(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %0 = relay.nn.softmax %x : tensor<4x64xf32>
  %1 = relay.nn.softmax %0 {axis = 0 : i64} : tensor<4x64xf32>
  %2 = relay.nn.softmax %1 : tensor<4x64xf32>
  %3 = relay.nn.softmax %2 {axis = 0 : i64} : tensor<4x64xf32>
  relay.return %3 : tensor<4x64xf32>
}"""


def planned(algorithm: str, buffers: list[BufferInfo], pressure: int = 0) -> Mapping[BufferInfo, PoolAllocation]:
    return weft.get_global_func(f"tir.usmp.algo.{algorithm}")(buffers, pressure)


def fan_out(pool: WorkspacePoolInfo) -> list[BufferInfo]:
    """Two branches of one buffer that come together again, each needed by the next."""
    sizes = {"a": 10, "b": 20, "c": 100, "d": 40, "e": 50, "f": 60}
    a, b, c, d, e, f = (BufferInfo(name, size, [pool]) for name, size in sizes.items())
    for buffer, conflicts in [(a, [b, c]), (b, [a, c, d, e]), (c, [a, b, d, e]), (d, [b, c, e, f]), (e, [c, b, d, f])]:
        buffer.set_conflicts(conflicts)
    f.set_conflicts([d, e])
    return [a, b, c, d, e, f]


@pytest.mark.parametrize(
    ("algorithm", "size"), [("greedy_by_size", 220), ("greedy_by_conflicts", 250), ("hill_climb", 210)]
)
def test_an_algorithm_places_a_fan_out_as_tvm_does(algorithm: str, size: int) -> None:
    places = planned(algorithm, fan_out(WorkspacePoolInfo("pool", [])), 210)
    assert max(place.byte_offset + buffer.size_bytes for buffer, place in places.items()) == size


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_of_equals_the_one_with_the_greater_name_lies_lower(algorithm: str) -> None:
    pool = WorkspacePoolInfo("pool", ["c"])
    buffers = [BufferInfo(name, 10, [pool]) for name in "abc"]
    for buffer in buffers:
        buffer.set_conflicts([other for other in buffers if other is not buffer])
    assert [planned(algorithm, buffers)[buffer].byte_offset for buffer in buffers] == [20, 10, 0]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(4))
def test_buffers_in_conflict_lie_apart_in_pools_that_have_room(algorithm: str, seed: int) -> None:
    random = Random(seed)
    small = WorkspacePoolInfo("small", [], PoolInfoProperties(600))
    pools = [small, WorkspacePoolInfo("large", [])]
    buffers = [
        BufferInfo(str(i), random.randrange(1, 400), random.choice([pools, pools[1:]]), random.choice([1, 16, 64]))
        for i in range(24)
    ]
    for buffer in buffers:
        for other in random.sample(buffers, 3):
            if other is not buffer and other not in buffer.conflicts:
                buffer.conflicts.append(other)
                other.conflicts.append(buffer)
    places = planned(algorithm, buffers)
    for buffer, place in places.items():
        end = place.byte_offset + buffer.size_bytes
        assert place.pool_info in buffer.pool_candidates
        assert place.byte_offset % buffer.alignment == 0
        assert place.pool_info is not small or end <= 600
        for other in buffer.conflicts:
            if places[other].pool_info is place.pool_info:
                start = places[other].byte_offset
                assert end <= start or start + other.size_bytes <= place.byte_offset
    assert {place.pool_info for place in places.values()} == set(pools)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_buffers_without_room_are_refused(algorithm: str) -> None:
    pool = WorkspacePoolInfo("tiny", [], PoolInfoProperties(size_hint_bytes=10))
    assert pool.size_hint_bytes == 10
    a, b = BufferInfo("a", 10, [pool]), BufferInfo("b", 10, [pool])
    a.set_conflicts([b])
    b.set_conflicts([a])
    with pytest.raises(UsageError, match=r"exceeded: .*a, 10 .* no place in WorkspacePoolInfo\(tiny"):
        planned(algorithm, [a, b])


def run(**config: object) -> None:
    """Compile the chain and hold it to NumPy."""
    with PassContext(config=config):
        executable = Executable(compile_graph(parse(CHAIN), HOST, codegen_level=1, jobs=1), threads=1)
    x = np.linspace(-2, 2, 256, dtype=np.float32).reshape(4, 64)
    expected = x
    for axis in (1, 0, 1, 0):
        power = np.exp(expected)
        expected = power / power.sum(axis, keepdims=True)
    np.testing.assert_allclose(np.asarray(executable(x), np.float32), expected, rtol=1e-4)


Planner: TypeAlias = Callable[[list[BufferInfo], int], dict[BufferInfo, PoolAllocation]]


def registered(algorithm: Planner) -> str:
    weft.register_func("tir.usmp.algo.of_a_test", algorithm, override=True)
    return "of_a_test"


def stacked(buffers: list[BufferInfo], _: int) -> dict[BufferInfo, PoolAllocation]:
    ends = [sum(b.size_bytes for b in buffers[:i]) for i in range(len(buffers))]
    return {b: PoolAllocation(b.pool_candidates[0], end) for b, end in zip(buffers, ends, strict=True)}


def test_an_algorithm_of_a_user_plans_compilations() -> None:
    asked: list[int] = []

    def watched(buffers: list[BufferInfo], pressure: int) -> dict[BufferInfo, PoolAllocation]:
        asked.append(pressure)
        return stacked(buffers, pressure)

    run(**{"tir.usmp.custom_algorithm": registered(watched)})
    assert asked and asked[0] > 0


def as_list(buffers: list[BufferInfo], _: int) -> list[BufferInfo]:
    return buffers


def as_numbers(buffers: list[BufferInfo], _: int) -> dict[BufferInfo, int]:
    return dict.fromkeys(buffers, 0)


WRONG: list[tuple[Planner, str]] = [
    (lambda buffers, _: {b: PoolAllocation(b.pool_candidates[0], 0) for b in buffers}, "overlap, though both"),
    (lambda buffers, _: {}, "no place in one of its pools"),
    (cast("Planner", as_numbers), "no place in one of its pools"),
    (cast("Planner", as_list), "gives list, and no place for each buffer"),
    (lambda buffers, _: {b: PoolAllocation(b.pool_candidates[0], 68) for b in buffers}, "at a multiple of 64 bytes"),
    (lambda buffers, _: {b: PoolAllocation(WorkspacePoolInfo("other", []), 0) for b in buffers}, "no place in one"),
]


@pytest.mark.parametrize(("algorithm", "message"), WRONG)
def test_a_plan_that_a_user_gets_wrong_is_refused(algorithm: Planner, message: str) -> None:
    problem = Problem((Request(64, 0, 1), Request(64, 1, 2)), 64)
    with pytest.raises(UsageError, match=message):
        plan_as_told(registered(algorithm), problem)


def test_an_algorithm_that_nobody_has_registered_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no Python function is registered as 'tir\.usmp\.algo\.invalid'"):
        PlanMemoryPass(strategy="custom:invalid")


def test_the_first_pool_with_room_is_taken_and_the_last_may_be_without_end() -> None:
    run(**{"plan-memory.pools": (1024, -1)})
    with pytest.raises(Diagnostic, match="there is no room"):
        run(**{"plan-memory.pools": (512,)})
