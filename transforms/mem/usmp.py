"""TVM's Unified Static Memory Planner (`tvm.tir.usmp`) for buffers that a user tells of, and algorithms of users.

    pool = WorkspacePoolInfo("fast", [target], PoolInfoProperties(size_hint_bytes=1024))
    a, b = BufferInfo("a", 512, [pool]), BufferInfo("b", 256, [pool])
    a.set_conflicts([b]), b.set_conflicts([a])
    places = weft.get_global_func("tir.usmp.algo.hill_climb")([a, b], 0)
    places[a].byte_offset

The algorithms are those of `plan-memory`. One that is registered as `tir.usmp.algo.NAME`, with the same arguments,
plans the graphs of compilations under `PassContext(config={"tir.usmp.custom_algorithm": "NAME"})`. Sizes and offsets
are Python's integers, in bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.ir import Attribute

from ...dialects.support.arguments import checked, checked_methods
from ...dialects.support.diagnostics import UsageError
from ...dialects.support.packed import get_global_func, register_func
from ...dialects.support.python_values import attribute_of
from ...dialects.support.whole_number import WholeNumber
from .planning.greedy import order_by_conflicts, order_by_size, plan_of, try_in_order
from .planning.hill_climb import climb_from
from .planning.problem import UNRESTRICTED, Buffers, MemoryPlan, Place, Problem

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

CANDIDATE_MEMORY_POOL_ATTR = "candidate_memory_pools"
"""TVM's annotation of an allocation that says which pools it may lie in."""


@dataclass(frozen=True)
class PoolInfoProperties:
    """What is known of a pool: its bytes, -1 where it is as large as it needs to be, and how fast it is. Algorithms of
    users may ask for all of it; those of TVM ask for the bytes alone."""

    size_hint_bytes: int = UNRESTRICTED
    clock_frequency_hz: int = -1
    read_bandwidth_bytes_per_cycle: int = -1
    write_bandwidth_bytes_per_cycle: int = -1
    read_latency_cycles: int = 0
    write_latency_cycles: int = 0
    target_burst_bytes: Mapping[object, int] = field(default_factory=dict[object, int])


@dataclass(frozen=True, eq=False)
class ConstantInfo:
    """A constant in a pool, `byte_offset` bytes behind its beginning."""

    name_hint: str
    byte_offset: int
    data: npt.NDArray[np.generic]


@checked_methods
class PoolInfo:
    """A pool of memory, by its name, for its targets. Its properties are attributes of it as well:
    `pool.size_hint_bytes`. Two that say the same are one pool: annotations of allocations hold what a pool says."""

    KIND = ""

    def __init__(
        self, pool_name: str, targets: Sequence[object], pool_info_properties: PoolInfoProperties | None = None
    ):
        self.pool_name = pool_name
        self.targets = list(targets)
        self.properties = pool_info_properties or PoolInfoProperties()

    def __getattr__(self, name: str) -> int:
        if name.startswith("_") or name == "properties":
            raise AttributeError(name)
        return getattr(self.properties, name)

    def as_attribute(self) -> Attribute:
        """What the pool says, as the value of an annotation.

        Raises:
            UsageError: there are constants in it.
        """
        return attribute_of(self._said())

    def _said(self) -> dict[str, object]:
        told = asdict(self.properties)
        bursts = {str(target): count for target, count in self.properties.target_burst_bytes.items()}
        targets = [str(target) for target in self.targets]
        return {
            "kind": self.KIND,
            "pool_name": self.pool_name,
            "targets": targets,
            **told,
            "target_burst_bytes": bursts,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PoolInfo) and self._said() == other._said()

    def __hash__(self) -> int:
        return hash((self.KIND, self.pool_name))

    def __repr__(self) -> str:
        size = self.properties.size_hint_bytes
        return f"{type(self).__name__}({self.pool_name}{'' if size == UNRESTRICTED else f', {size} bytes'})"


class WorkspacePoolInfo(PoolInfo):
    """A pool that is read and written."""

    KIND = "workspace"


@checked_methods
class ConstantPoolInfo(PoolInfo):
    """A pool that is only read, with the constants that are in it."""

    KIND = "constant"

    def __init__(
        self,
        pool_name: str,
        targets: Sequence[object],
        constant_info_arr: Sequence[ConstantInfo] | None = None,
        pool_info_properties: PoolInfoProperties | None = None,
    ):
        super().__init__(pool_name, targets, pool_info_properties)
        self.constant_info_array = list(constant_info_arr or ())

    def _said(self) -> dict[str, object]:
        if self.constant_info_array:
            raise UsageError(f"{self!r} has constants in it, which no annotation holds")
        return super()._said()

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, ConstantPoolInfo)
            and not self.constant_info_array
            and not other.constant_info_array
            and super().__eq__(other)
        )

    __hash__ = PoolInfo.__hash__


def pool_of(told: object) -> PoolInfo:
    """A pool, or the one that an annotation tells of.

    Raises:
        UsageError: it tells of none.
    """
    if isinstance(told, PoolInfo):
        return told
    kinds: dict[object, type[PoolInfo]] = {each.KIND: each for each in (WorkspacePoolInfo, ConstantPoolInfo)}
    said = dict(cast("Mapping[str, Any]", told)) if isinstance(told, Mapping) else {}
    if (kind := kinds.get(said.pop("kind", None))) is None:
        raise UsageError(f"no pool of memory is told of by {told!r}")
    try:
        name, targets = said.pop("pool_name"), said.pop("targets")
        return kind(name, targets, pool_info_properties=PoolInfoProperties(**said))
    except (KeyError, TypeError) as error:
        raise UsageError(f"no pool of memory is told of by {told!r}") from error


@checked_methods
class BufferInfo:
    """A buffer, which is itself alone, and the pools that it may lie in, that it would rather lie in first."""

    def __init__(
        self, name_hint: str, size_bytes: int, pool_candidates: Sequence[PoolInfo], alignment: int | None = None
    ):
        """
        Raises:
            UsageError: the size is negative, or the alignment is not positive.
        """
        if size_bytes < 0 or (alignment is not None and alignment < 1):
            raise UsageError(f"a buffer has no {size_bytes} bytes, or none aligned to {alignment}")
        self.name_hint = name_hint
        self.size_bytes = WholeNumber(size_bytes)
        self.pool_candidates = list(pool_candidates)
        self.alignment = alignment or 1
        self.conflicts: list[BufferInfo] = []

    def set_conflicts(self, conflicts: Sequence[BufferInfo]) -> None:
        """Say which buffers it must not overlap with: the algorithms of TVM look for those that are placed before it,
        so that both of a pair are to have each other."""
        self.conflicts = list(conflicts)

    def __repr__(self) -> str:
        return f"BufferInfo({self.name_hint}, {self.size_bytes} bytes)"


@dataclass(frozen=True, eq=False)
class PoolAllocation:
    """A place in a pool."""

    pool_info: PoolInfo
    byte_offset: int

    def __post_init__(self):
        object.__setattr__(self, "byte_offset", WholeNumber(self.byte_offset))


Algorithm: TypeAlias = Callable[[list[BufferInfo], int], object]
"""Gives a mapping from buffers to `PoolAllocation`s, which is checked."""
Planner: TypeAlias = Callable[[Buffers, Sequence[int]], "list[Place | None]"]


@register_func("tir.usmp.algo.greedy_by_size")
@checked
def greedy_by_size(
    buffer_info_arr: Sequence[BufferInfo], memory_pressure: int = 0
) -> Mapping[BufferInfo, PoolAllocation]:
    """Place the largest first, each above all that it is in conflict with. `memory_pressure` says nothing to it.

    Raises:
        UsageError: a buffer has no room in its pools.
    """
    return _planned(buffer_info_arr, lambda all, which: try_in_order(all, order_by_size(all, which), fill_gaps=False))


@register_func("tir.usmp.algo.greedy_by_conflicts")
@checked
def greedy_by_conflicts(
    buffer_info_arr: Sequence[BufferInfo], memory_pressure: int = 0
) -> Mapping[BufferInfo, PoolAllocation]:
    """Place those with most conflicts first, each above all that it is in conflict with. `memory_pressure` says nothing
    to it.

    Raises:
        UsageError: a buffer has no room in its pools.
    """
    return _planned(
        buffer_info_arr, lambda all, which: try_in_order(all, order_by_conflicts(all, which), fill_gaps=False)
    )


@register_func("tir.usmp.algo.hill_climb")
@checked
def hill_climb(buffer_info_arr: Sequence[BufferInfo], memory_pressure: int = 0) -> Mapping[BufferInfo, PoolAllocation]:
    """Try many orders; stop where all take no more than `memory_pressure` bytes.

    Raises:
        UsageError: a buffer has no room in its pools.
    """
    return _planned(buffer_info_arr, lambda all, which: climb_from(all, order_by_size(all, which), memory_pressure))


def _planned(infos: Sequence[BufferInfo], plan: Planner) -> dict[BufferInfo, PoolAllocation]:
    """The places that a planner gives; of equals, TVM takes those with the greater name first."""
    infos = sorted(infos, key=lambda info: info.name_hint, reverse=True)
    numbers = {info: i for i, info in enumerate(infos)}
    pools = list(dict.fromkeys(pool for info in infos for pool in info.pool_candidates))
    buffers = Buffers(
        [info.size_bytes for info in infos],
        [[numbers[other] for other in info.conflicts if other in numbers] for info in infos],
        [None if pool.size_hint_bytes == UNRESTRICTED else pool.size_hint_bytes for pool in pools],
        [[pools.index(pool) for pool in info.pool_candidates] for info in infos],
        [info.alignment for info in infos],
    )
    result: dict[BufferInfo, PoolAllocation] = {}
    for info, place in zip(infos, plan(buffers, range(len(infos))), strict=True):
        if place is None:
            raise UsageError(
                f"the space available in the provided pools is exceeded: {info} has no place in"
                f" {', '.join(map(repr, info.pool_candidates)) or 'no pool'}",
                hint="a greater size_hint_bytes makes a pool larger, and a candidate more leaves a choice",
            )
        result[info] = PoolAllocation(pools[place.pool], place.offset)
    return result


@register_func("tir.usmp.CreateArrayBufferInfo")
@checked
def create_array_buffer_info(buffer_info_map: Mapping[BufferInfo, object]) -> list[BufferInfo]:
    """The buffers of an analysis (`extract_buffer_info`), as the algorithms take them."""
    return list(buffer_info_map)


@register_func("tir.usmp.AssignStmtPoolAllocations")
@checked
def assign_stmt_pool_allocations(
    buffer_info_map: Mapping[BufferInfo, object], buffer_info_to_pool_allocation: Mapping[BufferInfo, PoolAllocation]
) -> dict[object, PoolAllocation]:
    """For each statement that allocates where its memory lies.

    Raises:
        UsageError: a buffer has no place.
    """
    for info in buffer_info_map:
        if info not in buffer_info_to_pool_allocation:
            raise UsageError(f"{info} has no place")
    return {statement: buffer_info_to_pool_allocation[info] for info, statement in buffer_info_map.items()}


def algorithm_of_user(name: str) -> Algorithm:
    """The function that is registered as `tir.usmp.algo.` and a name.

    Raises:
        UsageError: there is none.
    """
    return cast("Algorithm", get_global_func(f"tir.usmp.algo.{name}"))


def plan_as_told(name: str, problem: Problem) -> MemoryPlan:
    """The plan of a user's algorithm, which is given the buffers with their conflicts, and the least bytes that any
    plan takes up.

    Raises:
        UsageError: there is no such algorithm, it gives no mapping, or a buffer no aligned place in a pool that it may
            lie in, or lets buffers overlap that are in conflict.
        DoesNotFit: a buffer lies beyond the end of its pool.
    """
    buffers = problem.buffers
    pools = [WorkspacePoolInfo(f"pool_{i}", [], PoolInfoProperties(UNRESTRICTED if size is None else size))
             for i, size in enumerate(buffers.capacities)]  # fmt: skip
    infos = {i: BufferInfo(f"buffer_{i}", problem.sizes[i], pools, problem.alignment) for i in problem.by_time}
    for i, info in infos.items():
        info.set_conflicts([infos[j] for j in problem.conflicts[i]])
    given = algorithm_of_user(name)(list(infos.values()), problem.lower_bound)
    if not isinstance(given, Mapping):
        raise UsageError(f"the algorithm '{name}' gives {type(given).__name__}, and no place for each buffer")
    places: list[Place | None] = [None] * len(problem.requests)
    for i, info in infos.items():
        told = cast("Mapping[object, object]", given).get(info)
        if (
            not isinstance(told, PoolAllocation)
            or told.pool_info not in pools
            or told.byte_offset < 0
            or told.byte_offset % problem.alignment
        ):
            rule = f"in one of its pools, at a multiple of {problem.alignment} bytes"
            raise UsageError(f"the algorithm '{name}' gives {info} no place {rule}")
        place = Place(pools.index(cast("WorkspacePoolInfo", told.pool_info)), told.byte_offset)
        for j in problem.conflicts[i]:
            if (other := places[j]) and _overlap(place, problem.sizes[i], other, problem.sizes[j]):
                rule = "though both are needed at one time"
                raise UsageError(f"the algorithm '{name}' lets {infos[j]} and {info} overlap, {rule}")
        capacity = buffers.capacities[place.pool]
        if capacity is None or place.offset + problem.sizes[i] <= capacity:
            places[i] = place
    return plan_of(problem, places)


def _overlap(a: Place, a_size: int, b: Place, b_size: int) -> bool:
    return a.pool == b.pool and a.offset < b.offset + b_size and b.offset < a.offset + a_size
