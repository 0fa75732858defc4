"""Scopes of blocks: how blocks depend on each other, and which regions, bindings and stages TVM's flags speak of."""

from __future__ import annotations

import pytest

from weft.tir import (
    BlockRV,
    CachedFlags,
    DepKind,
    Schedule,
    ScheduleError,
    ScheduleState,
    StmtSRef,
    from_source,
)


def scheduled(body: str, arguments: str = 'A: T.Buffer[(16,), "float32"], C: T.Buffer[(16,), "float32"]') -> Schedule:
    """A function of statements."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    func = from_source(f"@T.prim_func\ndef f({arguments}):\n{lines}\n")
    return Schedule(func)


def flags(schedule: Schedule, block: str | BlockRV) -> CachedFlags:
    handle = schedule.get_block(block) if isinstance(block, str) else block
    return schedule.state.get_cached_flags(schedule.get_sref(handle))


def dependencies(schedule: Schedule, scope: str = "root") -> list[tuple[str, str, str]]:
    """Source, destination and kind of each."""
    root = schedule.state.get_block_scope(schedule.get_sref(schedule.get_block(scope)))
    blocks = [schedule.get_sref(each) for each in schedule.get_child_blocks(schedule.get_block(scope))]

    def name(place: StmtSRef) -> str:
        return getattr(place.op, "block_name", "root")

    found = [each for block in blocks for each in root.get_deps_by_dst(block)]
    assert set(found) == {each for block in blocks for each in root.get_deps_by_src(block)}
    return [(name(each.src), name(each.dst), each.kind.name) for each in found]


ELEMENTWISE = """
B = T.alloc_buffer((16,), "float32")
for i in range(16):
    with T.block("B"):
        v = T.axis.spatial(16, i)
        B[v] = A[v] + A[v]
for i in range(16):
    with T.block("C"):
        v = T.axis.spatial(16, i)
        C[v] = B[v] * A[v]
"""
STAGES = CachedFlags(affine_binding=True, region_cover=True, stage_pipeline=True)
UNCOVERED = CachedFlags(affine_binding=True, region_cover=False, stage_pipeline=True)
NO_STAGES = CachedFlags(affine_binding=True, region_cover=True, stage_pipeline=False)


def test_a_reader_depends_on_what_writes_before_it() -> None:
    schedule = scheduled(ELEMENTWISE)
    assert dependencies(schedule) == [("B", "C", "RAW")]
    assert [flags(schedule, name) for name in ("B", "C", "root")] == [STAGES] * 3


def test_a_state_answers_without_a_schedule() -> None:
    schedule = scheduled(ELEMENTWISE)
    state = ScheduleState(schedule.mod)
    func = state.function("f")
    assert state.mod is not schedule.mod
    assert state.get_cached_flags(state.get_sref(func)) == STAGES
    with pytest.raises(ScheduleError, match="no block or loop of what is scheduled"):
        state.get_sref(schedule.mod["f"])
    with pytest.raises(ScheduleError, match="no block of what is scheduled"):
        schedule.state.get_cached_flags(schedule.get_sref(schedule.get_loops("B")[0]))


def test_a_reduction_that_is_begun_elsewhere_reads_and_writes_what_that_writes() -> None:
    schedule = scheduled(
        """
for i in range(16):
    with T.block("begin"):
        v = T.axis.spatial(16, i)
        C[v] = T.float32(0)
    for k in range(16):
        with T.block("update"):
            v, vk = T.axis.remap("SR", [i, k])
            C[v] = C[v] + A[vk]
"""
    )
    assert dependencies(schedule) == [("begin", "update", "RAW"), ("begin", "update", "WAW")]
    assert flags(schedule, "update") == flags(schedule, "root") == STAGES
    schedule = scheduled(
        """
for i in range(16):
    for k in range(16):
        with T.block("sum"):
            v, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[v] = T.float32(0)
            C[v] = C[v] + A[vk]
"""
    )
    assert dependencies(schedule) == []


def test_what_is_written_after_it_is_read_is_no_pipeline() -> None:
    schedule = scheduled(
        """
for i in range(16):
    with T.block("C"):
        v = T.axis.spatial(16, i)
        C[v] = A[v]
    with T.block("change"):
        v = T.axis.spatial(16, i)
        A[v] = T.float32(1)
"""
    )
    assert dependencies(schedule) == [("C", "change", "WAR")]
    assert flags(schedule, "root") == NO_STAGES
    assert DepKind.WAR > DepKind.WAW > DepKind.RAW


def test_what_another_iteration_has_written_is_not_covered() -> None:
    body = """
B = T.alloc_buffer((16,), "float32")
for i in range(16):
    with T.block("B"):
        v = T.axis.spatial(16, i)
        B[v] = A[v]
    with T.block("C"):
        v = T.axis.spatial(16, i)
        C[v] = B[{}]
"""
    near = scheduled(body.format("v"))
    assert flags(near, "C") == flags(near, "root") == STAGES
    far = scheduled(body.format("T.max(v - 1, 0)"))
    assert flags(far, "C") == UNCOVERED
    assert flags(far, "root") == NO_STAGES


@pytest.mark.parametrize(("first", "is_covered"), [(8, True), (7, False)])
def test_what_two_blocks_write_one_after_the_other_covers_both_parts(first: int, is_covered: bool) -> None:
    schedule = scheduled(
        f"""
B = T.alloc_buffer((16,), "float32")
for i in range({first}):
    with T.block("low"):
        v = T.axis.spatial({first}, i)
        B[v] = A[v]
for i in range(8):
    with T.block("high"):
        v = T.axis.spatial(8, i)
        B[v + 8] = A[v]
for i in range(16):
    with T.block("C"):
        v = T.axis.spatial(16, i)
        C[v] = B[v]
"""
    )
    assert flags(schedule, "C").region_cover == is_covered
    assert flags(schedule, "root").stage_pipeline == is_covered
    assert dependencies(schedule) == [("low", "high", "WAW"), ("low", "C", "RAW"), ("high", "C", "RAW")]


def test_a_step_that_wraps_around_and_a_diagonal_cover_nothing() -> None:
    body = """
B = T.alloc_buffer((16, 16), "float32")
for i in range(16):
    with T.block("B"):
        v = T.axis.spatial(16, i)
        B[{}] = A[v]
for i in range(16):
    with T.block("C"):
        v = T.axis.spatial(16, i)
        C[v] = B[{}]
"""
    diagonal = scheduled(body.format("v, v", "v, 15 - v"))
    assert not flags(diagonal, "C").region_cover
    wrapped = scheduled(body.format("0, v * 5 % 16", "0, v"))
    assert not flags(wrapped, "C").region_cover
    row = scheduled(body.format("3, v", "3, v"))
    assert flags(row, "C").region_cover


def test_parts_of_an_index_that_tiles_have_together_are_covered() -> None:
    schedule = scheduled(ELEMENTWISE)
    (i,) = schedule.get_loops("B")
    schedule.split(i, [None, 3])
    assert flags(schedule, "B") == flags(schedule, "C") == STAGES, "the predicate keeps it in the buffer"
    (i,) = schedule.get_loops("C")
    outer, _ = schedule.split(i, [None, 5])
    schedule.compute_at("B", outer)
    assert flags(schedule, "C") == flags(schedule, "root") == STAGES


def test_a_block_of_blocks_is_a_scope() -> None:
    schedule = scheduled(
        """
B = T.alloc_buffer((16,), "float32")
for i in range(4):
    with T.block("both"):
        vo = T.axis.spatial(4, i)
        for j in range(4):
            with T.block("B"):
                v = T.axis.spatial(16, vo * 4 + j)
                B[v] = A[v]
        for j in range(4):
            with T.block("C"):
                v = T.axis.spatial(16, vo * 4 + j)
                C[v] = B[v]
"""
    )
    assert dependencies(schedule) == []
    assert dependencies(schedule, "both") == [("B", "C", "RAW")]
    assert [flags(schedule, name) for name in ("B", "C", "both", "root")] == [STAGES] * 4


def test_threads_cover_what_they_have_together() -> None:
    schedule = scheduled(ELEMENTWISE)
    (i,) = schedule.get_loops("C")
    schedule.bind(i, "threadIdx.x")
    (i,) = schedule.get_loops("B")
    schedule.bind(i, "threadIdx.x")
    schedule.set_scope("B", 0, "shared")
    assert flags(schedule, "C") == STAGES


def test_symbolic_extents_are_covered() -> None:
    schedule = scheduled(
        """
A = T.match_buffer(a, (n,), "float32")
C = T.match_buffer(c, (n,), "float32")
"""
        + ELEMENTWISE.strip("\n").replace("16", "n"),
        "a: T.handle, c: T.handle, n: T.int64",
    )
    assert flags(schedule, "C") == flags(schedule, "root") == STAGES


@pytest.mark.parametrize(
    ("value", "is_affine"), [("i * 8 + j", True), ("i * 4 + j % 4", True), ("i * 8 + j % 4", False)]
)
def test_an_iterator_is_bound_to_digits_or_not_affinely(value: str, is_affine: bool) -> None:
    schedule = scheduled(
        f"""
for i in range(16):
    with T.block("all"):
        v = T.axis.spatial(16, i)
        C[v] = A[v]
for i, j in T.grid(2, 8):
    with T.block("C"):
        v = T.axis.spatial(16, {value}, partial=True)
        C[v] = A[v]
"""
    )
    assert flags(schedule, "C").affine_binding == is_affine
