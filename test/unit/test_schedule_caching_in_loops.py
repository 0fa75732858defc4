"""`cache_read` and `cache_write` in loops that both write a buffer and read it."""

# The bodies of the functions here are read by @T.prim_func, and are no Python to be checked.
# pyright: basic, reportAttributeAccessIssue=false, reportIndexIssue=false, reportUndefinedVariable=false
# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false, reportInvalidTypeForm=false, reportCallIssue=false
# ruff: noqa: F821

import numpy as np
import pytest

import weft
from weft.script import tir as T
from weft.tir import Interpreter, Schedule, ScheduleError, Trace, structural_equal


@T.prim_func
def chained(X: T.Buffer[(32,), "float32"], B: T.Buffer[(32,), "float32"], C: T.Buffer[(32,), "float32"]):
    A = T.alloc_buffer((32,), "float32")
    for i in range(4):
        for j in range(8):
            with T.block("A"):
                vi = T.axis.spatial(32, i * 8 + j)
                A[vi] = X[vi] * T.float32(2)
        for j in range(8):
            with T.block("B"):
                vi = T.axis.spatial(32, i * 8 + j)
                B[vi] = A[vi] + T.float32(1)
    for i in range(32):
        with T.block("C"):
            vi = T.axis.spatial(32, i)
            C[vi] = A[vi]


def assert_same(schedule: Schedule) -> None:
    x = np.arange(32, dtype=np.float32)
    b, c = Interpreter(schedule.mod["chained"])([x])
    assert (np.asarray(b) == 2 * x + 1).all() and (np.asarray(c) == 2 * x).all()


def extents(schedule: Schedule, block: str) -> list[int]:
    return [schedule.operation(loop).trip_count for loop in schedule.get_loops(schedule.get_block(block))]


def test_what_an_iteration_has_written_is_copied_before_it_is_read() -> None:
    schedule = Schedule(chained)
    schedule.cache_read("B", 0, "global")
    assert extents(schedule, "A_global") == [4, 8]
    assert schedule.mod.script().count("A_global[vi]") == 4  # in reads and bodies of B and C
    assert_same(schedule)


def test_named_consumers_alone_read_the_copy() -> None:
    schedule = Schedule(chained)
    schedule.cache_read("B", 0, "global", ["C"])
    assert extents(schedule, "A_global") == [32]
    assert_same(schedule)
    schedule = Schedule(chained)
    schedule.cache_read("B", 0, "local", ["B"])
    assert extents(schedule, "A_local") == [4, 8]
    assert_same(schedule)


def test_what_an_iteration_writes_is_copied_after_it() -> None:
    schedule = Schedule(chained)
    schedule.cache_write("A", 0, "global")
    assert extents(schedule, "A_global") == [4, 8]
    assert_same(schedule)
    schedule = Schedule(chained)
    schedule.cache_write("A", 0, "global", consumer_blocks=["B"])
    assert extents(schedule, "A_global") == [32]
    assert_same(schedule)


def test_a_recorded_schedule_copies_for_the_same_blocks() -> None:
    schedule = Schedule(chained)
    schedule.cache_write("A", 0, "global", consumer_blocks=["B"])
    schedule.cache_read("C", 0, "local")
    again = Schedule(chained)
    schedule.trace.apply_to_schedule(again, remove_postproc=False)
    T.assert_structural_equal(again.mod, schedule.mod)


def test_a_part_that_an_iteration_does_not_write_alone_is_not_copied_in_it() -> None:
    schedule = Schedule(chained)
    _, j = schedule.get_loops(schedule.get_block("A"))
    schedule.split(j, [None, 3])  # with a predicate
    with pytest.raises(ScheduleError, match="does not write all of a part of its buffer"):
        schedule.cache_write("A", 0, "global")
    with pytest.raises(ScheduleError, match="not just what would be copied in the loop"):
        schedule.cache_read("B", 0, "global", ["B"])


def test_copies_are_made_in_loops_before_kinds_are_chosen() -> None:
    schedule = Schedule(chained)
    schedule.parallel(schedule.get_loops(schedule.get_block("A"))[0])
    for make in (schedule.cache_read, schedule.cache_write):
        with pytest.raises(ScheduleError, match="whose iterations run at the same time"):
            make("B" if make == schedule.cache_read else "A", 0, "global")


def test_a_consumer_that_reads_something_else_is_refused() -> None:
    schedule = Schedule(chained)
    with pytest.raises(ScheduleError, match="block @A does not read %A"):
        schedule.cache_read("B", 0, "global", ["A"])
    with pytest.raises(ScheduleError, match="does not only read %A, after block @A"):
        schedule.cache_write("A", 0, "global", consumer_blocks=["A"])


@T.prim_func
def in_place(data: T.Buffer[(8,), "int32"]):
    copy = T.alloc_buffer((8,), "int32")
    for i in range(8):
        with T.block("copy_in"):
            vi = T.axis.spatial(8, i)
            copy[vi] = data[vi] + 1
    for i in range(8):
        with T.block("copy_out"):
            vi = T.axis.spatial(8, i)
            data[vi] = copy[7 - vi]


def test_what_is_written_after_all_readers_is_copied_before_them() -> None:
    schedule = Schedule(in_place)
    schedule.cache_read("copy_in", 0, "local", ["copy_in"])
    weft.build(schedule.mod["in_place"].clone())(data := np.arange(8, dtype=np.int32))
    assert data.tolist() == list(range(8, 0, -1))


def test_what_the_loop_writes_that_a_block_reads_keeps_it_outside() -> None:
    schedule = Schedule(in_place)
    with pytest.raises(ScheduleError, match=r"@copy_out writes %data, .*, and its later iterations would read"):
        schedule.compute_at("copy_in", schedule.get_loops("copy_out")[0])


@T.prim_func
def through_a_row(A: T.Buffer[(64,), "float32"], B: T.Buffer[(64,), "float32"]):
    row = T.alloc_buffer((8,), "float32")
    C = T.alloc_buffer((64,), "float32")
    for i in range(8):
        for k in range(8):
            with T.block("row"):
                vi = T.axis.opaque(8, i)
                vk = T.axis.spatial(8, k)
                row[vk] = A[vi * 8 + vk]
        for k in range(8):
            with T.block("C"):
                v = T.axis.spatial(64, i * 8 + k)
                C[v] = row[v % 8] * T.float32(2)
    for j, k in T.grid(8, 8):
        with T.block("B"):
            v = T.axis.spatial(64, j * 8 + k)
            B[v] = C[v] + T.float32(1)


@pytest.mark.parametrize("how", ["compute_at", "of blocks", "inline"])
def test_what_reads_a_row_that_each_iteration_writes_anew_stays_in_their_loop(how: str) -> None:
    schedule = Schedule(through_a_row)
    with pytest.raises(ScheduleError, match=r"@row writes %row, which block @C reads, anew in later iterations"):
        if how == "inline":
            schedule.compute_inline("C")
        else:
            block = schedule.blockize(schedule.get_loops("C")[1]) if how == "of blocks" else "C"
            schedule.compute_at(block, schedule.get_loops("B")[0])


def test_what_reads_elements_that_are_written_once_leaves_their_loop() -> None:
    schedule = Schedule(chained)
    schedule.cache_write("B", 0, "global")
    schedule.compute_at("B", schedule.get_loops("B_global")[0])
    x = np.arange(32, dtype=np.float32)
    for out, copy in zip(Interpreter(chained)([x]), Interpreter(schedule.mod["chained"])([x]), strict=True):
        np.testing.assert_array_equal(out, copy)


@T.prim_func
def diagonal(X: T.Buffer[(4, 8), "float32"], C: T.Buffer[(8,), "float32"]):
    A = T.alloc_buffer((4, 8), "float32")
    for i, j in T.grid(4, 8):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = X[vi, vj] * T.float32(2)
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = T.if_then_else(vi < 3, A[vi + 1, vi], T.float32(-1))


def test_an_iterator_that_the_place_of_another_restricts_is_partial_and_its_loop_may_be_cut() -> None:
    schedule = Schedule(diagonal, debug_mask="all")
    schedule.compute_at("A", schedule.get_loops("C")[0])
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    wanted = np.array([*(2 * x[n + 1, n] for n in range(3)), *[-1] * 5], np.float32)
    np.testing.assert_array_equal(Interpreter(schedule.mod["diagonal"])([x])[0], wanted)
    c = np.zeros(8, np.float32)
    weft.build(schedule.mod, threads=1)(x, c)
    np.testing.assert_array_equal(c, wanted)


@T.prim_func
def summed(X: T.Buffer[(2, 8), "float32"], C: T.Buffer[(8,), "float32"]):
    A = T.alloc_buffer((2, 8), "float32")
    for i, j in T.grid(2, 8):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = X[vi, vj] * T.float32(2)
    for i, j, k in T.grid(8, 2, 1):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SRR", [i, j, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vj, vi + vk * 2]


def test_an_iterator_of_one_value_reads_no_more_where_its_loop_is_longer() -> None:
    """Else the copy, moved to where it is read, would take elements that are not there yet."""
    schedule = Schedule(summed)
    schedule.cache_read("C", 0, "local")
    i, _, k = schedule.get_loops(schedule.get_block("C"))
    schedule.compute_at("A_local", i)
    schedule.compute_at("A", i)
    schedule.split(k, [None, 2])
    schedule.compute_at("A_local", schedule.get_loops(schedule.get_block("C"))[1])
    x = np.arange(16, dtype=np.float32).reshape(2, 8)
    (c,) = Interpreter(schedule.mod["summed"])([x])
    assert (np.asarray(c) == 2 * x.sum(0)).all()


@T.prim_func
def in_a_scope(X: T.Buffer[(32,), "float32"], B: T.Buffer[(32,), "float32"], C: T.Buffer[(32,), "float32"]):
    A = T.alloc_buffer((32,), "float32")
    for i in range(4):
        with T.block("scope"):
            vo = T.axis.spatial(4, i)
            for j in range(8):
                with T.block("A"):
                    vi = T.axis.spatial(32, vo * 8 + j)
                    A[vi] = X[vi] * T.float32(2)
            for j in range(8):
                with T.block("B"):
                    vi = T.axis.spatial(32, vo * 8 + j)
                    B[vi] = A[vi] + T.float32(1)
    for i in range(32):
        with T.block("C"):
            vi = T.axis.spatial(32, i)
            C[vi] = A[vi]


def assert_still_same(schedule: Schedule) -> None:
    """The function computes what it did, and the trace makes the same of it."""
    x = np.arange(32, dtype=np.float32)
    b, c = Interpreter(schedule.mod["main"])([x])
    assert (np.asarray(b) == 2 * x + 1).all() and (np.asarray(c) == 2 * x).all()
    again = Schedule(in_a_scope)
    exec("\n".join(schedule.trace.as_python()), {"sch": again})
    assert structural_equal(again.mod, schedule.mod)
    again = Schedule(in_a_scope)
    Trace.apply_json_to_schedule(schedule.trace.as_json(), again)
    assert structural_equal(again.mod, schedule.mod)


def names_in(schedule: Schedule, block: str) -> list[str]:
    return [schedule.operation(each).block_name for each in schedule.get_child_blocks(schedule.get_block(block))]


def test_what_a_block_in_a_block_writes_is_copied_there() -> None:
    schedule = Schedule(in_a_scope)
    schedule.cache_write("B", 0, "global")
    assert names_in(schedule, "scope") == ["A", "B", "B_global"]
    assert_still_same(schedule)


def test_a_block_of_blocks_writes_a_buffer_of_its_own_which_it_reads_itself() -> None:
    schedule = Schedule(in_a_scope)
    schedule.cache_write("scope", "A", "global")
    assert names_in(schedule, "root") == ["scope", "A_global", "C"] and names_in(schedule, "scope") == ["A", "B"]
    assert "B[vi] = A_global[vi] + T.float32(1)" in schedule.mod.script()
    assert_still_same(schedule)


def test_a_block_of_blocks_reads_a_copy() -> None:
    schedule = Schedule(in_a_scope)
    schedule.cache_read("scope", 0, "global")
    assert names_in(schedule, "root") == ["X_global", "scope", "C"]
    assert "A[vi] = X_global[vi] * T.float32(2)" in schedule.mod.script()
    assert_still_same(schedule)


def test_what_makes_a_buffer_itself_does_not_read_a_copy_that_another_block_is_given() -> None:
    schedule = Schedule(in_a_scope)
    schedule.cache_read("C", 0, "global")
    assert names_in(schedule, "root") == ["scope", "A_global", "C"] and names_in(schedule, "scope") == ["A", "B"]
    assert "B[vi] = A[vi] + T.float32(1)" in schedule.mod.script()
    assert_still_same(schedule)


def test_producers_and_consumers_are_blocks_of_one_scope() -> None:
    schedule = Schedule(in_a_scope)

    def names(found):
        return [schedule.operation(each).block_name for each in found]

    assert names(schedule.get_producers("C")) == ["scope"] and names(schedule.get_consumers("scope")) == ["C"]
    assert names(schedule.get_producers("B")) == ["A"] and names(schedule.get_consumers("A")) == ["B"]


def test_readers_that_are_named_are_written_into_the_trace() -> None:
    schedule = Schedule(chained)
    schedule.cache_read("B", 0, "global", ["C"])
    again = Schedule(chained)
    exec("\n".join(schedule.trace.as_python()), {"sch": again})
    assert structural_equal(again.mod, schedule.mod)
    assert schedule.trace.as_python()[-1].count("consumer_blocks=[") == 1


@pytest.mark.parametrize(("thread", "scope", "is_own"), [
    ("blockIdx.x", "shared", True), ("threadIdx.x", "local", True), ("threadIdx.y", "wmma.accumulator", True),
    ("threadIdx.x", "shared", False), ("threadIdx.x", "wmma.accumulator", False), ("blockIdx.x", "global", False),
])  # fmt: skip
def test_copies_are_made_in_loops_over_threads_of_own_memory(thread: str, scope: str, is_own: bool) -> None:
    schedule = Schedule(chained)
    schedule.bind(schedule.get_loops(schedule.get_block("A"))[0], thread)
    if not is_own:
        with pytest.raises(ScheduleError, match="whose iterations run at the same time"):
            schedule.cache_read("B", 0, scope, ["B"])
        return
    schedule.cache_read("B", 0, scope, ["B"])
    assert f'scope="{scope}"' in schedule.mod.script()
    x = np.arange(32, dtype=np.float32)
    results = Interpreter(schedule.mod["main"])([x])
    assert np.array_equal(results[0], x * 2 + 1)


def test_a_part_of_what_is_written_is_copied() -> None:
    @T.prim_func
    def parts(X: T.Buffer[(32,), "float32"], B: T.Buffer[(32,), "float32"]):
        A = T.alloc_buffer((32,), "float32")
        for i in range(2):
            for j in range(16):
                with T.block("A"):
                    vi = T.axis.spatial(32, i * 16 + j)
                    A[vi] = X[vi] * T.float32(2)
            for k in range(2):
                for j in range(8):
                    with T.block("B"):
                        vi = T.axis.spatial(32, i * 16 + k * 8 + j)
                        B[vi] = A[vi] + T.float32(1)

    schedule = Schedule(parts)
    copy = schedule.cache_read("B", 0, "global", ["B"])
    assert schedule.operation(schedule.get_loops(copy)[-1]).trip_count in (8, 16)
    x = np.arange(32, dtype=np.float32)
    assert np.array_equal(Interpreter(schedule.mod["main"])([x])[0], x * 2 + 1)
